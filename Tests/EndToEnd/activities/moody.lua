-- Handlers that fail, each where a person's name or a parameter asks for it.
local moody = {
  identifier = "org.activityhost.test.moody",
  metadata = { title = "Moody" },
  parameters = { start = "enum(well,fail,loop,reject)?" },
  messages = {
    say = { text = "string" },
    refresh = {},
    wink = { "transient", text = "string" },
    peek = { "latest", text = "string" },
    random = { "script", text = "string" },
  },
  on = {},
}

function moody.start(session)
  session.state.joins = 0
  session.state.said = list()
  local way = session.parameters.start
  if way == "fail" then error("no start today") end
  if way == "reject" then session:reject("Not now.", "not_now") end
  while way == "loop" do end
end

function moody.join(session, participant)
  session.state.joins = session.state.joins + 1
  if participant.name == "Fails at join" then error("no join today") end
end

function moody.leave(session, participant, reason)
  session.state.joins = session.state.joins + 100
  error("no leave today")
end

function moody.change(session)
  session.state.joins = 1000
  error("no change today")
end

function moody.on.say(session, message)
  session.state.said[#session.state.said + 1] = message.text
  session:send("random", { text = math.random(1, 1000000) .. " " .. session:uuid() })
end

function moody.on.refresh(session)
  session:refresh(session.participants)
  return false
end

-- Transient and latest messages only read.
function moody.on.wink(session, message)
  session.state.joins = -1
end

function moody.on.peek(session, message)
  session:after(1000, "never")
end

function moody.view(session, participant)
  if participant.name == "Fails at view" or (participant.name == "Fails later" and #session.state.said > 0) then
    error("no view today")
  end
  return session.state
end

return moody
