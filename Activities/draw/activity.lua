-- One canvas for everybody. What lies on it is an item; items lie in the order in which they came. An erased one leaves
-- a mark in its place: so it stays erased, and the member who erased it can bring it back to where it was.
local place, size = "number(-1000000,1000000)", "number(0.1,500)"
local item = { -- points are x and y in turn, counted from the item's own x and y
    id = "id", kind = "enum(ink,line,arrow,rectangle,ellipse,text)?", x = place .. "?", y = place .. "?",
    points = place .. "[4000]", pressures = "number(0,1)[2000]?", text = "string(280)?",
    color = "color", fill = "color?", size = size .. "?", opacity = "number(0,1)?",
}
local change = { id = "id", x = item.x, y = item.y, points = item.points .. "?", text = item.text,
                 color = "color?", size = item.size }
local draw = {
    identifier = "org.activityhost.draw",
    metadata = { type = "create_together", symbol = "✏️", title = { en = "Draw Together", ["zh-Hans"] = "一起画画" },
                 subtitle = { en = "One canvas for everybody", ["zh-Hans"] = "大家共用一块画布" } },
    parameters = { title = "string(80)?" },
    messages = {
        upsert_stroke = item, add_items = { items = { item, max = 100 } },
        edit_items = { items = { change, max = 200 } }, clear_canvas = { "moderator" },
        delete_items = { ids = "id[1000]" }, restore_items = { items = { item, max = 100 } },
        draw_ink = { "transient", id = "id", color = "color", size = size, -- of a stroke that is not finished
                     from = "integer(0,4000)", points = place .. "[400]", pressures = "number(0,1)[200]?" },
        drag_items = { "latest", ids = "id[200]", x = place, y = place }, move_cursor = { "latest", x = place, y = place },
    },
    on = {},
}

function draw.start(session) session.state.items = {} end

local function put(session, item, context, eraser) -- eraser: who must have erased it
    local old = session.state.items[item.id]
    if old and old.erased ~= eraser then session:reject("Somebody erased this.", "gone", { id = item.id }) end
    if #item.points == 0 or #item.points % 2 == 1 then session:reject("points: x and y in turn expected", "invalid") end
    session.state.items[item.id] = item
    session.state.items[item.id].by = old and old.by or context.sender.member
end
draw.on.upsert_stroke = put
function draw.on.add_items(session, message, context)
    for _, item in ipairs(message.items) do put(session, item, context) end
end
function draw.on.restore_items(session, message, context)
    for _, item in ipairs(message.items) do put(session, item, context, context.sender.member) end
end

function draw.on.edit_items(session, message)
    local changed = {} -- what is erased stays as it is
    for _, change in ipairs(message.items) do
        local item = session.state.items[change.id]
        if item and not item.erased then
            for key, value in pairs(change) do item[key] = value end
            table.insert(changed, change)
        end
    end
    if #changed == 0 then session:reject("Somebody erased this.", "gone") end
    return { items = changed }
end

local function erase(session, id, member)
    local item = session.state.items[id]
    if item and not item.erased then session.state.items[id] = { by = item.by, erased = member } end
end
function draw.on.delete_items(session, message, context)
    for _, id in ipairs(message.ids) do erase(session, id, context.sender.member) end
end
function draw.on.clear_canvas(session, _, context)
    for id in pairs(session.state.items) do erase(session, id, context.sender.member) end
end
return draw
