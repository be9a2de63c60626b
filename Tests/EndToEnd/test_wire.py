"""Contract section 5: the bytes, one envelope after the other."""

import json
import re
import time

import pytest

from client import Client

LIMITS = {
    "message_bytes": 262144, "frame_bytes": 1048576, "messages_per_second": 200, "message_burst": 400, "requests_per_second": 20,
    "participants": 100, "sessions": 16, "members": 200, "connections": 64, "backlog_bytes": 1048576, "grace_ms": 30000,
    "empty_session_ms": 43200000, "handler_ms": 50, "handler_instructions": 10000000, "handler_sends": 1000, "timers": 100,
    "log_lines_per_second": 50, "vm_bytes": 67108864, "state_bytes": 4194304,
}


def is_now(milliseconds):
    return isinstance(milliseconds, int) and abs(milliseconds - time.time() * 1000) < 60000


async def test_the_documented_frames_work_byte_for_byte(host):
    group = host.group("relay")
    shown = group["code"][:3] + "-" + group["code"][3:]
    async with await Client.attend(host, group, "Ben") as ben, await Client.open(host) as ada:
        await ada.raw(f'[{{"type":"hello","protocol":1,"group":"{shown}","name":"Ada","token":null,"client":"k3J9x2","locale":"en"}}]')
        await ada.next("welcome")
        await ada.raw('[{"type":"start","ref":1,"activity":"relay","parameters":{},"replaces":null}]')
        session = (await ada.answer(1))["session"]
        await ada.raw(f'[{{"type":"join","ref":2,"session":"{group["session"]}","participant":null,"since":null}}]')
        participant = (await ada.answer(2))["participant"]
        await ada.raw(
            f'[{{"type":"send","ref":3,"session":"{group["session"]}","name":"upsert_stroke",'
            '"body":{"id":"a1","color":"#ff0000","points":[1,2]}}]')
        accepted = await ada.answer(3)
        message = await ben.message("upsert_stroke")
        assert message == {"type": "message", "session": group["session"], "seq": accepted["seq"], "from": participant,
                           "name": "upsert_stroke", "body": {"id": "a1", "color": "#ff0000", "points": [1, 2]}}
        assert accepted == {"type": "accepted", "ref": 3, "session": group["session"], "seq": message["seq"]}
        await ada.raw(f'[{{"type":"leave","ref":4,"session":"{group["session"]}"}},{{"type":"end","ref":5,"session":"{session}"}}]')
        assert (await ada.answer(4))["type"] == "accepted"
        assert (await ada.answer(5))["type"] == "accepted"
        await ada.raw('[{"type":"rename","ref":6,"name":"Ada L."}]')
        assert (await ada.answer(6))["type"] == "accepted"
        await ada.raw('[{"type":"ping","time":1790000000000}]')
        pong = await ada.next("pong")
        assert pong["time"] == 1790000000000 and is_now(pong["received"]) and pong["sent"] >= pong["received"]


async def test_every_frame_from_the_host_is_an_array_of_envelopes_with_a_type(host):
    group = host.group("talk")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        await ada.send("echo_three", {"text": "hi"})
        await ben.message("echo_three")
        for frame in ada.frames + ben.frames:
            envelopes = json.loads(frame)
            assert isinstance(envelopes, list) and envelopes
            assert all(isinstance(envelope["type"], str) for envelope in envelopes)


async def test_welcome_tells_member_group_activities_and_all_limits(hosts):
    host = hosts()
    group = host.group("talk")
    async with await Client.enter(host, group, "Ada") as ada:
        welcome = ada.welcome
        assert welcome["protocol"] == 1
        assert re.fullmatch(r"activityhost/\d+\.\d+\.\d+.*", welcome["host"])
        assert is_now(welcome["time"])
        assert isinstance(welcome["token"], str) and len(welcome["token"]) >= 22
        assert welcome["acknowledged"] == 0
        assert welcome["member"] | {"id": "", "color": ""} == {"id": "", "name": "Ada", "color": "", "role": "participant"}
        assert re.fullmatch(r"#[0-9a-f]{6}", welcome["member"]["color"])
        assert welcome["group"]["code"] == group["code"] and welcome["group"]["locked"] is False
        assert any(member["id"] == welcome["member"]["id"] for member in welcome["group"]["members"])
        session, = welcome["group"]["sessions"]
        assert session["id"] == group["session"] and session["activity"] == "talk" and session["version"] == 1
        assert session["parameters"] == {} and session["participants"] == 0
        assert "metadata" in session and "initiator" in session
        talk, = [activity for activity in welcome["activities"] if activity["name"] == "talk"]
        assert talk["identifier"] == "org.activityhost.test.talk" and talk["version"] == 1
        assert talk["metadata"]["title"] == {"en": "Talk", "zh-Hans": "谈话"}
        assert talk["metadata"]["type"] == "create_together"
        assert {name: welcome["limits"].get(name) for name in LIMITS} == LIMITS


@pytest.mark.parametrize("form", [str.upper, str.lower, lambda code: f" {code[:2]} {code[2:4]}-{code[4:]} "])
async def test_a_code_is_read_in_any_case_with_spaces_and_dashes_ignored(host, form):
    group = host.group("relay")
    assert re.fullmatch("[BCDFGHJKLMNPQRSTVWXZ]{6}", group["code"])
    async with await Client.enter(host, form(group["code"])) as ada:
        assert ada.welcome["group"]["code"] == group["code"]


async def test_an_invitation_links_token_lets_in_like_the_code(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Hanna", token=group["token"]) as hanna:
        await hanna.request("lock", locked=False)
        link = (await hanna.next("group"))["group"]["link"]
        assert len(link) >= 22 and link not in (group["token"], group["code"])
        async with await Client.enter(host, link, "Ada") as ada:
            assert ada.welcome["group"]["code"] == group["code"] and ada.member["role"] == "participant"


async def test_the_token_of_a_new_group_is_the_hosts_seat(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Hanna", token=group["token"]) as hanna:
        assert hanna.member["role"] == "host" and hanna.member["name"] == "Hanna"
        assert hanna.token == group["token"]


async def test_a_seat_makes_a_connection_the_same_member_again(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada, await Client.enter(host, group, "Ada", token=ada.token) as again:
        assert again.member["id"] == ada.member["id"]
        assert len([member for member in again.welcome["group"]["members"] if member["id"] == ada.member["id"]]) == 1
        async with await Client.enter(host, group, "Ada") as other:
            assert other.member["id"] != ada.member["id"]


async def test_joined_tells_everything_about_the_session(host):
    group = host.group("talk", {"title": "Minutes", "level": 3})
    async with await Client.attend(host, group, "Ada") as ada:
        await ada.send("say", {"text": "first"})
        async with await Client.attend(host, group, "Ben") as ben:
            joined = ben.joined
            assert set(joined) >= {"type", "ref", "session", "participant", "participants", "epoch", "seq", "acknowledged", "parameters", "state"}
            assert joined["parameters"] == {"title": "Minutes", "level": 3}
            assert joined["state"]["said"] == ["first"] and joined["state"]["notes"] == {}
            assert joined["acknowledged"] == 0
            assert [entry["name"] for entry in joined["participants"]] == ["Ada", "Ben"]
            for entry in joined["participants"]:
                assert set(entry) >= {"id", "member", "name", "color", "role"}
            change = await ada.until(
                lambda envelope: envelope["type"] == "participants" and any(one["name"] == "Ben" for one in envelope["joined"]))
            assert change["session"] == group["session"] and change["seq"] == joined["seq"]
            assert [entry["id"] for entry in change["joined"]] == [ben.participant]
            assert change["left"] == [] and change["changed"] == []


async def test_members_hear_who_comes_and_goes(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada:
        ben = await Client.enter(host, group, "Ben")
        news = await ada.next("members", joined=[ben.member])
        assert news["left"] == [] and news["changed"] == []
        await ben.request("rename", name="Benno")
        changed = await ada.until(lambda envelope: envelope["type"] == "members" and envelope["changed"])
        assert changed["changed"] == [ben.member | {"name": "Benno"}]
        await ben.close()


async def test_a_start_is_answered_and_told_to_the_whole_group_but_pulls_nobody_in(host):
    group = host.group("relay")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        started = await ada.request("start", activity="talk", parameters={"title": "Minutes"}, replaces=None)
        assert started["type"] == "started" and set(started) >= {"type", "ref", "session"}
        news = await ben.until(lambda envelope: envelope["type"] == "session" and envelope["session"]["id"] == started["session"])
        session = news["session"]
        assert session["activity"] == "talk" and session["version"] == 1 and session["initiator"] == ada.member["id"]
        assert session["parameters"] == {"title": "Minutes"} and session["participants"] == 0
        assert session["metadata"]["title"]["en"] == "Talk"
        assert (await ada.join(started["session"]))["type"] == "joined"
        await ben.settle()
        assert not [envelope for envelope in ben.log if envelope["type"] in ("joined", "invalidated") and envelope["session"] == session["id"]]


async def test_the_session_envelope_is_sent_again_when_participants_come(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada, await Client.attend(host, group, "Ben"):
        await ada.until(lambda envelope: envelope["type"] == "session" and envelope["session"]["participants"] == 1)


async def test_leaving_is_told_to_the_others_and_touches_nobody_else(host):
    group = host.group("relay")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        answer = await ben.request("leave", session=group["session"])
        assert answer["type"] == "accepted"
        assert (await ben.next("invalidated", session=group["session"]))["reason"] == "left"
        left = await ada.until(lambda envelope: envelope["type"] == "participants" and envelope["left"])
        assert left["left"] == [{"id": ben.participant, "reason": "left"}]
        assert (await ada.send("draw", {}))["type"] == "accepted"
        assert (await ben.send("draw", {}))["code"] == "not_joined"
        old = ben.participant
        assert (await ben.join(group["session"]))["type"] == "joined"
        assert ben.participant != old


async def test_the_initiator_ends_a_session_for_everybody(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada, await Client.enter(host, group, "Ben") as ben:
        session = (await ada.start("relay"))["session"]
        await ada.join(session)
        await ben.join(session)
        refused = await ben.request("end", session=session)
        assert refused["code"] == "forbidden"
        assert (await ada.request("end", session=session))["type"] == "accepted"
        for person in (ada, ben):
            assert (await person.next("invalidated", session=session))["reason"] == "ended"
        assert (await ben.join(session))["code"] == "no_such_session"


async def test_requests_in_one_frame_are_handled_in_order_and_each_answered_once(host):
    group = host.group("tally")
    async with await Client.open(host) as ada:
        sends = [{"type": "send", "ref": 10 + n, "session": group["session"], "name": "add", "body": {"n": n}} for n in range(20)]
        await ada.put(
            {"type": "hello", "protocol": 1, "group": group["code"], "name": "Ada", "token": None, "client": "one", "locale": "en"},
            {"type": "join", "ref": 1, "session": group["session"], "participant": None, "since": None}, *sends)
        seqs = [(await ada.answer(10 + n))["seq"] for n in range(20)]
        assert seqs == list(range(seqs[0], seqs[0] + 20))
        await ada.settle()
        answered = [envelope["ref"] for envelope in ada.log if "ref" in envelope]
        assert sorted(answered) == [1, *range(10, 30)]
        assert ada.log[0]["type"] == "welcome"


async def test_a_send_without_ref_is_answered_only_when_it_is_refused(host):
    group = host.group("tally")
    async with await Client.attend(host, group) as ada:
        await ada.post("add", {"n": 1})
        await ada.settle()
        assert [envelope for envelope in ada.log if envelope["type"] in ("accepted", "rejected")] == []
        await ada.post("add", {"n": "one"})
        rejected = await ada.next("rejected")
        assert rejected["code"] == "invalid_message" and rejected.get("ref") is None


async def test_unknown_types_are_rejected_and_unknown_fields_ignored(host):
    group = host.group("relay")
    async with await Client.attend(host, group) as ada:
        assert (await ada.request("dance"))["code"] == "unknown_type"
        answer = await ada.request("send", session=group["session"], name="x", body={}, colour="green")
        assert answer["type"] == "accepted"


@pytest.mark.parametrize("text", [
    '[{"type":"send","ref":"one"}]', '[{"ref":1}]', '[{"type":7,"ref":1}]', '[{"type":"send","ref":-1}]', '[{"type":"join","ref":4}]', "[7]",
    '[{"type":"send","ref":5,"session":"s1","name":"x","body":{},"to":"p1"}]',
])
async def test_an_envelope_of_the_wrong_shape_is_refused_and_the_connection_stays(host, text):
    group = host.group("relay")
    async with await Client.attend(host, group) as ada:
        await ada.raw(text)
        rejected = await ada.next("rejected")
        assert rejected["code"] in ("invalid_frame", "unknown_type") and isinstance(rejected["message"], str)
        await ada.settle()


@pytest.mark.parametrize("text", ["", "hello", "{}", '{"type":"hello"}', "[", "[{]", '[{"type":"ping","time":1}] x', "[NaN]", "null", '"a"'])
async def test_a_frame_that_is_no_json_array_closes_with_4400(host, text):
    group = host.group("relay")
    async with await Client.enter(host, group) as ada:
        await ada.raw(text)
        assert await ada.closed() == 4400


async def test_anything_before_hello_closes_with_4400(host):
    async with await Client.open(host) as ada:
        await ada.raw('[{"type":"join","ref":1,"session":"s1"}]')
        assert await ada.closed() == 4400


async def test_parameters_are_changed_by_the_initiator_and_told_to_all(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada, await Client.enter(host, group, "Ben") as ben:
        session = (await ada.start("talk", {"title": "Episode 1"}))["session"]
        await ada.join(session)
        await ben.join(session)
        assert (await ben.request("change", session=session, parameters={"title": "Mine"}))["code"] == "forbidden"
        accepted = await ada.request("change", session=session, parameters={"title": "Episode 2"})
        assert accepted["type"] == "accepted"
        changed = await ben.next("changed")
        assert changed == {"type": "changed", "session": session, "seq": accepted["seq"], "parameters": {"title": "Episode 2"},
                           "by": ada.member["id"]}
        refused = await ada.request("change", session=session, parameters={"title": "forbidden"})
        assert (refused["code"], refused["reason"]) == ("refused", "bad_title")
        wrong = await ada.request("change", session=session, parameters={"title": 7})
        assert (wrong["code"], wrong["path"]) == ("invalid_message", "title")
