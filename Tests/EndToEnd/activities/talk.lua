-- Every way a message can travel.
local talk = {
  identifier = "org.activityhost.test.talk",
  metadata = { title = { en = "Talk", ["zh-Hans"] = "谈话" }, type = "create_together" },
  parameters = { title = "string(60)?", level = "integer(0,9)?" },
  messages = {
    say = { text = "string" },
    wink = { "transient", text = "string" },
    cursor = { "latest", x = "number", y = "number" },
    whisper = { "targeted", text = "string" },
    peek = { "latest", "targeted", x = "number" },
    announce = { "script", text = "string" },
    govern = { "moderator", text = "string" },
    reign = { "host", text = "string" },
    lead = { "initiator", text = "string" },
    swallow = { text = "string" },
    stamp = { text = "string" },
    stamped = { "targeted", text = "string" },
    echo_three = { text = "string" },
    tell = { to = "string[10]?", except = "string[10]?", text = "string" },
    refuse = { text = "string" },
    fail = { text = "string" },
    context = { "targeted", text = "string" },
    change_view = { text = "string" },
    secret = { text = "string" },
    finish = { reason = "string" },
  },
  on = {},
}

function talk.start(session)
  session.state.said = list()
  session.state.notes = {}
end

function talk.on.say(session, message)
  session.state.said[#session.state.said + 1] = message.text
end

function talk.on.swallow(session, message)
  session.state.notes.swallowed = message.text
  return false
end

function talk.on.stamp(session, message, context)
  return { text = message.text .. " (" .. context.sender.name .. ", " .. math.type(context.seq) .. ")" }
end

function talk.on.stamped(session, message)
  return { text = "stamped " .. message.text }
end

function talk.on.echo_three(session, message)
  session:send("announce", { text = message.text .. " 1" })
  session:send("announce", { text = message.text .. " 2" })
  session:send("announce", { text = message.text .. " 3" })
end

function talk.on.tell(session, message)
  session:send("announce", { text = message.text }, { to = message.to, except = message.except })
  return false
end

function talk.on.refuse(session, message)
  session.state.notes.refused = message.text
  session:send("announce", { text = "never" })
  session:reject("Not today.", "not_today", { asked = message.text })
end

function talk.on.fail(session, message)
  session.state.notes.failed = message.text
  session:send("announce", { text = "never" })
  error("it broke on purpose")
end

function talk.on.context(session, message, context)
  local to = {}
  for _, participant in ipairs(context.to or {}) do
    to[#to + 1] = participant.id
  end
  session.state.notes.context = {
    sender = context.sender.id, member = context.sender.member, role = context.sender.role,
    seq = context.seq, time = context.time, to = table.concat(to, ","), addressed = context.to ~= nil,
  }
end

function talk.on.change_view(session, message)
  session.state.notes.shown = message.text
  session:refresh(session.participants)
  return false
end

function talk.on.finish(session, message)
  session:finish(message.reason)
end

function talk.change(session, parameters)
  if parameters.title == "forbidden" then
    session:reject("Not that title.", "bad_title")
  end
  session.state.notes.title = parameters.title
end

function talk.join(session, participant)
  if participant.name == "Unwelcome" then
    session:reject("Nobody by that name.", "unwelcome")
  end
  session:send("announce", { text = participant.name .. " is here" })
end

return talk
