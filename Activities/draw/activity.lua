-- One canvas for everybody. What is on it is an item: ink, a line, an arrow, a rectangle, an ellipse or a text.
-- Items lie in the order in which they came. An erased one keeps its place, so that who erased it can bring it back.
local ROOM = 3 * 1024 * 1024 -- bytes for all items: less than the host allows a state
local place, size, text = "number(-1000000,1000000)", "number(0.1,500)", "string(280)"
local item = { -- points are x and y in turn, counted from the item's own x and y
    id = "id", kind = "enum(ink,line,arrow,rectangle,ellipse,text)?", color = "color", fill = "color?", size = size .. "?", opacity = "number(0,1)?",
    x = place .. "?", y = place .. "?", points = place .. "[4000]", pressures = "number(0,1)[2000]?", text = text .. "?",
}
local change = { id = "id", color = "color?", size = size .. "?", x = place .. "?", y = place .. "?", points = place .. "[4000]?", text = text .. "?" }
local ink = { "transient", id = "id", from = "integer(0,4000)", points = place .. "[400]", pressures = "number(0,1)[200]?", color = "color", size = size }

local draw = {
    identifier = "org.activityhost.draw", version = 1,
    metadata = { title = { en = "Draw Together", ["zh-Hans"] = "一起画画" }, type = "create_together", symbol = "✏️",
                 subtitle = { en = "One canvas for everybody", ["zh-Hans"] = "大家共用一块画布" } },
    parameters = { title = "string(80)?" },
    messages = {
        draw_ink = ink, upsert_stroke = item, add_items = { items = { item, max = 100 } }, edit_items = { items = { change, max = 200 } },
        delete_items = { ids = "id[1000]" }, restore_items = { ids = "id[1000]" }, clear_canvas = { "moderator" },
        forget_items = { "script", ids = "id[1000]" }, -- gone for good, to make room
        drag_items = { "latest", ids = "id[200]", x = place, y = place }, move_cursor = { "latest", x = place, y = place },
    },
    on = {},
}

function draw.start(session)
    local state = session.state
    state.items, state.erased, state.bytes = {}, {}, 0 -- items by id; for each erased id, the member who erased it
end

local function size_of(item) -- in bytes, about
    return 200 + #table.concat(item.points, ",") + #table.concat(item.pressures or {}, ",") + #(item.text or "")
end

local function put(session, item, context)
    local state, old = session.state, session.state.items[item.id]
    if state.erased[item.id] then session:reject("Somebody erased this.", "gone", { id = item.id }) end
    if #item.points == 0 or #item.points % 2 == 1 then session:reject("points: pairs of x and y expected", "invalid") end
    local author = old and old.by or context.sender.member -- who drew it first
    state.bytes = state.bytes + size_of(item) - (old and size_of(old) or 0)
    state.items[item.id] = item
    state.items[item.id].by = author
    while state.bytes > ROOM do -- what was erased first is forgotten first
        local oldest = next(state.erased) or session:reject("This canvas is full. Start a new one.", "full")
        state.bytes = state.bytes - size_of(state.items[oldest])
        state.items[oldest], state.erased[oldest] = nil, nil
        session:send("forget_items", { ids = { oldest } })
    end
end

draw.on.upsert_stroke = put

function draw.on.add_items(session, message, context)
    for _, item in ipairs(message.items) do put(session, item, context) end
end

function draw.on.edit_items(session, message, context) -- erasing beats changing
    local found = false
    for _, change in ipairs(message.items) do
        local item = session.state.items[change.id]
        if item and not session.state.erased[change.id] then
            local changed = {}
            for key, value in pairs(item) do changed[key] = value end
            for key, value in pairs(change) do changed[key] = value end
            put(session, changed, context)
            found = true
        end
    end
    if not found then session:reject("Somebody erased this.", "gone") end
end

local function mark(session, ids, from, to) -- who erased them: nil is nobody
    local erased, found = session.state.erased, false
    for _, id in ipairs(ids) do
        if session.state.items[id] and erased[id] == from then erased[id], found = to, true end
    end
    if not found then return false end -- erasing twice is no news
end

function draw.on.delete_items(session, message, context) return mark(session, message.ids, nil, context.sender.member) end
function draw.on.restore_items(session, message, context) return mark(session, message.ids, context.sender.member, nil) end

function draw.on.clear_canvas(session, _, context)
    for id in pairs(session.state.items) do session.state.erased[id] = session.state.erased[id] or context.sender.member end
end

return draw
