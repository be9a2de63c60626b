return {
  identifier = "org.activityhost.test.relay",
  metadata = { title = "Relay" },
  messages = { ["*"] = "any" },
}
