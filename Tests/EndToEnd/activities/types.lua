-- One message for each kind of field; what came is kept, so that the way through the state shows as well.
local types = {
  identifier = "org.activityhost.test.types",
  metadata = { title = "Types" },
  messages = {
    text = { value = "string" },
    short = { value = "string(3)" },
    ranged = { value = "string(2,4)" },
    whole = { value = "integer" },
    small = { value = "integer(-5,5)" },
    real = { value = "number" },
    bounded = { value = "number(0,1)" },
    flag = { value = "boolean" },
    ident = { value = "id" },
    unique = { value = "uuid" },
    tint = { value = "color" },
    choice = { value = "enum(a,b,c)" },
    anything = { value = "any" },
    maybe = { value = "string?" },
    numbers = { value = "number[3]" },
    point = { value = { x = "number", y = "number" } },
    points = { value = { { x = "number", y = "number" }, max = 2 } },
    counts = { value = { ["*"] = "integer" } },
  },
  on = {},
}

function types.start(session)
  session.state.kept = {}
end

for name in pairs(types.messages) do
  types.on[name] = function(session, message)
    session.state.kept[name] = message.value
    return { value = session.state.kept[name] }
  end
end

return types
