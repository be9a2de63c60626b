-- Numbers in the order in which they came: shows gaps, doubles and disorder.
local tally = {
  identifier = "org.activityhost.test.tally",
  metadata = { title = "Tally" },
  parameters = { padding = "integer(0,4000000)?" },
  messages = {
    add = { n = "integer", filler = "string(0,100000)?" },
    note = { text = "string(0,100000)" },
    tick = { "transient", n = "integer" },
    pointer = { "latest", n = "integer", filler = "string(0,100000)?" },
  },
  on = {},
}

function tally.start(session)
  session.state.numbers = list()
  session.state.note = ""
  session.state.padding = list()
  local padding = session.parameters.padding or 0
  while padding > 0 do
    session.state.padding[#session.state.padding + 1] = ("x"):rep(math.min(padding, 100000))
    padding = padding - 100000
  end
end

function tally.on.add(session, message)
  session.state.numbers[#session.state.numbers + 1] = message.n
end

function tally.on.note(session, message)
  session.state.note = message.text
end

return tally
