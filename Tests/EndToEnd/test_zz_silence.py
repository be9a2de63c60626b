"""C022: no goodbye. The peer falls silent at the start of the run (`conftest.py` sees to that); here is what became of it."""


def test_a_peer_that_falls_silent_is_dropped_after_a_minute_and_leaves_once(silence):
    story = silence.result(timeout=85)
    assert story["left"] == [{"id": story["participant"], "reason": "disconnected"}]
    assert 50 < story["after"] < 75, f"dropped after {story['after']:.1f} s"
    assert story["body"] < 45, f"half a body was waited for {story['body']:.1f} s"
    assert story["idle_alive"], "an idle peer that answers pings stays"
