-- Timers, views that differ from person to person, exports, and a life that ends with its initiator.
local clock = {
  identifier = "org.activityhost.test.clock",
  metadata = { title = "Clock", lifetime = "ends_when_initiator_leaves" },
  messages = {
    remind = { after = "integer", text = "string" },
    cancel = {},
    vote = { value = "string" },
    rang = { "script", text = "string", late = "boolean", name = "string" },
  },
  on = {},
  export = {},
}

function clock.start(session)
  session.state.votes = {}
  session.state.timer = null
end

function clock.on.remind(session, message)
  session.state.timer = session:after(message.after, "bell", { text = message.text })
  return false
end

function clock.on.cancel(session)
  session:cancel(session.state.timer)
  return false
end

function clock.on.vote(session, message, context)
  session.state.votes[context.sender.member] = message.value
  return false
end

function clock.timer(session, name, data, context)
  session:send("rang", { text = data.text, late = context.late or false, name = name })
end

-- Everybody sees their own vote only.
function clock.view(session, participant)
  return { mine = session.state.votes[participant.member] }
end

function clock.export.csv(session, member)
  local lines = { "member,vote" }
  for name, vote in pairs(session.state.votes) do
    lines[#lines + 1] = name .. "," .. vote
  end
  return table.concat(lines, "\n") .. "\n"
end

function clock.export.broken(session, member)
  error("no export today")
end

return clock
