-- What a script must not be able to do to others.
local hostile = {
  identifier = "org.activityhost.test.hostile",
  metadata = { title = "Hostile" },
  messages = {
    loop = {}, catch_loop = {}, pattern = {}, gsub = {}, repeat_text = {}, memory = {}, recursion = {}, deep_state = {}, coroutines = {},
    sort = {}, big_state = {}, many_sends = {}, many_timers = {}, set_global = {}, bad_text = {}, infinite = {}, concat_handler = {},
    say = { text = "string" }, result = { "script", text = "any" }, reach = {},
  },
  on = {},
}

function hostile.start(session)
  session.state.count = 0
end

function hostile.on.say(session)
  session.state.count = session.state.count + 1
end

local function spoil(session)
  session.state.count = -1000
  session:send("result", { text = "never" })
end

function hostile.on.loop(session)
  spoil(session)
  while true do end
end

function hostile.on.catch_loop(session)
  spoil(session)
  while true do
    pcall(function() while true do end end)
  end
end

function hostile.on.pattern(session)
  spoil(session)
  string.find(("a"):rep(240), (".-"):rep(4) .. "b")
end

function hostile.on.gsub(session)
  spoil(session)
  for _ = 1, 1000 do
    ("a"):rep(30000):gsub("a*b", "")
  end
end

function hostile.on.repeat_text(session)
  spoil(session)
  return ("x"):rep(1 << 40)
end

function hostile.on.memory(session)
  spoil(session)
  local kept = {}
  for index = 1, 1e9 do
    kept[index] = ("x"):rep(100000) .. index
  end
end

function hostile.on.recursion(session)
  spoil(session)
  local function deeper() return (("x"):gsub("x", deeper)) end
  deeper()
end

function hostile.on.deep_state(session)
  spoil(session)
  local root = {}
  local at = root
  for _ = 1, 100000 do
    at.next = {}
    at = at.next
  end
  session.state.root = root
end

function hostile.on.coroutines(session)
  spoil(session)
  for _ = 1, 1e7 do
    coroutine.wrap(function() for _ = 1, 50 do end end)()
  end
end

function hostile.on.sort(session)
  spoil(session)
  local values = {}
  for index = 1, 200000 do
    values[index] = index % 7
  end
  table.sort(values, function() return true end)
end

function hostile.on.big_state(session)
  spoil(session)
  session.state.big = list()
  for index = 1, 10 do
    session.state.big[index] = ("x"):rep(900000)
  end
end

function hostile.on.many_sends(session)
  spoil(session)
  for index = 1, 100000 do
    session:send("result", { text = index })
  end
end

function hostile.on.many_timers(session)
  spoil(session)
  for index = 1, 100000 do
    session:after(1000, "later", { index = index })
  end
end

function hostile.on.set_global(session)
  spoil(session)
  leaked = 1
end

function hostile.on.bad_text(session)
  session.state.count = -1000
  session:send("result", { text = "\xff\x80" })
end

function hostile.on.infinite(session)
  spoil(session)
  session.state.count = 1 / 0
end

function hostile.on.concat_handler(session)
  spoil(session)
  setmetatable({}, { __concat = function() return "z" end })
end

-- Tells which of the things that must not be there are there.
function hostile.on.reach(session)
  local found = {}
  for _, name in ipairs({ "io", "os", "package", "debug", "dofile", "loadfile", "load", "collectgarbage" }) do
    if _G[name] ~= nil then
      found[#found + 1] = name
    end
  end
  for _, pair in ipairs({ { string, "dump" }, { math, "randomseed" }, { coroutine, "close" } }) do
    if pair[1][pair[2]] ~= nil then
      found[#found + 1] = pair[2]
    end
  end
  if getmetatable("") ~= nil then
    found[#found + 1] = "metatable of strings"
  end
  if tostring({}):find("0x") or tostring(print):find("0x") then
    found[#found + 1] = "addresses"
  end
  session:send("result", { text = table.concat(found, " ") })
end

return hostile
