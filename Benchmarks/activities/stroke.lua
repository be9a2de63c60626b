-- The smallest script that does a drawing's work: every message adds a point to its sender's stroke.
-- The reference figures were measured with a handler like this one.
local stroke = {
  identifier = "org.activityhost.benchmark.stroke",
  metadata = { title = "Stroke (benchmark)" },
  messages = { upsert_stroke = { id = "id", color = "color", points = "number[400]" } },
  on = {},
}

function stroke.start(session)
  session.state.strokes = {}
end

function stroke.on.upsert_stroke(session, message)
  local points = session.state.strokes[message.id]
  if not points or #points >= 400 then
    session.state.strokes[message.id] = { message.points[3], message.points[4] }
  else
    points[#points + 1] = message.points[3]
    points[#points + 1] = message.points[4]
  end
end

return stroke
