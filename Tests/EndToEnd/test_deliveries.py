"""Contract sections 3.1 to 3.3: who gets which message, in which order."""

import contextlib

import pytest

from client import Client


@contextlib.asynccontextmanager
async def three(host, activity="talk"):
    group = host.group(activity)
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        async with await Client.attend(host, group, "Cem") as cem:
            yield group, ada, ben, cem


async def flush(*people):
    """A last message from the first person has reached the others: what came before it has, too."""
    first, *others = people
    mark = f"flush {first.ref()}"
    assert (await first.send("say", {"text": mark}))["type"] == "accepted"
    for person in others:
        await person.message("say", body={"text": mark})
        await person.settle()


async def test_a_durable_message_goes_to_all_others_with_its_seq(host):
    async with three(host) as (group, ada, ben, cem):
        accepted = await ada.send("say", {"text": "hi"})
        for person in (ben, cem):
            message = await person.message("say")
            assert message == {"type": "message", "session": group["session"], "seq": accepted["seq"], "from": ada.participant, "name": "say",
                               "body": {"text": "hi"}}
        assert ada.messages("say") == []


async def test_a_transient_message_carries_no_seq_and_is_never_sent_again(host):
    async with three(host) as (group, ada, ben, cem):
        await ada.post("wink", {"text": ";-)"})
        message = await ben.message("wink")
        assert "seq" not in message and message["from"] == ada.participant
        async with await Client.attend(host, group, "Dora") as dora:
            await flush(ada, dora)
            assert dora.messages("wink") == []


async def test_a_newcomer_gets_the_current_latest_messages_after_joined(host):
    async with three(host) as (group, ada, ben, cem):
        for x in range(5):
            await ada.post("cursor", {"x": x, "y": 1})
        await ben.post("cursor", {"x": 100, "y": 2})
        await ada.settle()
        await ben.settle()
        await cem.message("cursor", body={"x": 4, "y": 1})
        await cem.message("cursor", body={"x": 100, "y": 2})
        async with await Client.attend(host, group, "Dora") as dora:
            await flush(ada, dora)
            cursors = {message["from"]: message["body"] for message in dora.messages("cursor")}
            assert cursors == {ada.participant: {"x": 4, "y": 1}, ben.participant: {"x": 100, "y": 2}}
            assert len(dora.messages("cursor")) == 2 and all("seq" not in message for message in dora.messages("cursor"))
            kinds = [envelope["type"] for envelope in dora.log]
            assert kinds.index("joined") < kinds.index("message")


async def test_a_latest_message_is_gone_when_its_sender_leaves_or_sends_null(host):
    async with three(host) as (group, ada, ben, cem):
        await ada.post("cursor", {"x": 1, "y": 1})
        await ben.post("cursor", {"x": 2, "y": 2})
        await cem.message("cursor", **{"from": ada.participant})
        await cem.message("cursor", **{"from": ben.participant})
        await ada.post("cursor", None)
        assert (await cem.message("cursor", **{"from": ada.participant}))["body"] is None
        await ben.request("leave", session=group["session"])
        async with await Client.attend(host, group, "Dora") as dora:
            await flush(ada, dora)
            assert dora.messages("cursor") == []


async def test_a_latest_message_to_one_person_is_not_shown_to_newcomers(host):
    async with three(host) as (group, ada, ben, cem):
        await ada.post("peek", {"x": 1}, to=[ben.participant])
        await ben.message("peek")
        async with await Client.attend(host, group, "Dora") as dora:
            await flush(ada, dora, cem)
            assert dora.messages("peek") == [] and cem.messages("peek") == []


async def test_a_targeted_message_reaches_only_those_it_names(host):
    async with three(host) as (group, ada, ben, cem):
        assert (await ada.send("whisper", {"text": "psst"}, to=[cem.participant]))["type"] == "accepted"
        await flush(ada, ben, cem)
        assert [message["body"] for message in cem.messages("whisper")] == [{"text": "psst"}] and ben.messages("whisper") == []
        assert (await ada.send("whisper", {"text": "all"}))["type"] == "accepted"
        await flush(ada, ben, cem)
        assert len(ben.messages("whisper")) == 1 and len(cem.messages("whisper")) == 2


@pytest.mark.parametrize(("name", "to", "code"), [
    ("say", ["p1"], "forbidden"), ("cursor", ["p1"], "forbidden"), ("whisper", ["p999"], "no_such_participant"),
])
async def test_a_receiver_that_may_not_be_named_is_refused(host, name, to, code):
    async with three(host) as (group, ada, ben, cem):
        body = {"x": 1, "y": 1} if name == "cursor" else {"text": "psst"}
        assert (await ada.send(name, body, to=to))["code"] == code


async def test_a_message_to_somebody_who_left_tells_the_sender(host):
    async with three(host) as (group, ada, ben, cem):
        await ben.request("leave", session=group["session"])
        answer = await ada.send("whisper", {"text": "psst"}, to=[ben.participant])
        assert answer["code"] == "no_such_participant"


async def test_rights_of_messages_are_kept(host):
    group = host.group("talk")
    async with await Client.attend(host, group, "Hanna", token=group["token"]) as hanna, await Client.attend(host, group, "Ada") as ada:
        for name in ("announce", "govern", "reign", "lead"):
            assert (await ada.send(name, {"text": "me"}))["code"] == "forbidden", name
        assert (await hanna.send("announce", {"text": "me"}))["code"] == "forbidden"
        for name in ("govern", "reign", "lead"):
            assert (await hanna.send(name, {"text": "me"}))["type"] == "accepted", name
        assert (await hanna.request("role", member=ada.member["id"], role="moderator"))["type"] == "accepted"
        assert (await ada.send("govern", {"text": "me"}))["type"] == "accepted"
        assert (await ada.send("lead", {"text": "me"}))["type"] == "accepted"
        assert (await ada.send("reign", {"text": "me"}))["code"] == "forbidden"


async def test_the_initiator_may_send_what_is_the_initiators(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada, await Client.enter(host, group, "Ben") as ben:
        session = (await ada.start("talk"))["session"]
        await ada.join(session)
        await ben.join(session)
        assert (await ada.send("lead", {"text": "follow me"}))["type"] == "accepted"
        assert (await ben.send("lead", {"text": "no, me"}))["code"] == "forbidden"


async def test_what_a_handler_keeps_back_goes_nowhere_but_is_accepted(host):
    async with three(host) as (group, ada, ben, cem):
        accepted = await ada.send("swallow", {"text": "gulp"})
        assert accepted["type"] == "accepted"
        await flush(ada, ben, cem)
        assert ben.messages("swallow") == ada.messages("swallow") == []
        async with await Client.attend(host, group, "Dora") as dora:
            assert dora.joined["state"]["notes"]["swallowed"] == "gulp"


async def test_a_returned_table_goes_instead_and_to_the_sender_too(host):
    async with three(host) as (group, ada, ben, cem):
        accepted = await ada.send("stamp", {"text": "letter"})
        for person in (ada, ben, cem):
            message = await person.message("stamp")
            assert message["body"] == {"text": "letter (Ada, integer)"}
            assert message["from"] == ada.participant and message["seq"] == accepted["seq"]
        await ada.send("stamped", {"text": "letter"}, to=[ben.participant])
        await flush(ada, ben, cem)
        assert len(ada.messages("stamped")) == len(ben.messages("stamped")) == 1 and cem.messages("stamped") == []


async def test_the_relay_comes_first_then_the_scripts_sends_with_one_seq_in_one_frame(host):
    async with three(host) as (group, ada, ben, cem):
        for name in ("Ben", "Cem"):
            await ada.message("announce", body={"text": f"{name} is here"})
        accepted = await ada.send("echo_three", {"text": "la"})
        await flush(ada, ben, cem)
        for person in (ben, cem):
            caused = [message for message in person.messages() if message.get("seq") == accepted["seq"]]
            assert [(message["name"], message["from"], message["body"]["text"]) for message in caused] == [
                ("echo_three", ada.participant, "la"), ("announce", None, "la 1"), ("announce", None, "la 2"), ("announce", None, "la 3")]
            assert len([frame for frame in person.frames if f'"seq":{accepted["seq"]},' in frame or f'"seq":{accepted["seq"]}}}' in frame]) == 1


async def test_accepted_stands_after_what_the_input_sent_to_its_sender(host):
    async with three(host) as (group, ada, ben, cem):
        seq = (await ada.send("echo_three", {"text": "la"}))["seq"]
        stamped = (await ada.send("stamp", {"text": "letter"}))["seq"]
        of = {number: [envelope["type"] for envelope in ada.log if envelope.get("seq") == number] for number in (seq, stamped)}
        assert of == {seq: ["message", "message", "message", "accepted"], stamped: ["message", "accepted"]}


async def test_accepted_has_its_place_among_the_messages_of_others(host):
    async with three(host) as (group, ada, ben, cem):
        for turn in range(30):
            for person in (ada, ben, cem):
                await person.post("say", {"text": f"{person.name} {turn}"}, ref=person.ref())
        for person in (ada, ben, cem):
            await person.until(lambda envelope: person.log and len(
                [one for one in person.log if one["type"] == "accepted"]) == 30 and len(person.messages("say")) >= 60)
            seqs = [envelope["seq"] for envelope in person.log if envelope["type"] in ("message", "accepted", "participants") and "seq" in envelope]
            assert seqs == sorted(seqs)
            heard = [envelope["seq"] for envelope in person.log if envelope["type"] == "accepted" or envelope.get("name") == "say"]
            assert len(set(heard)) == 90 and max(heard) - min(heard) == 89


async def test_the_script_chooses_receivers_by_to_and_except(host):
    async with three(host) as (group, ada, ben, cem):
        await ada.send("tell", {"to": [ben.participant], "text": "to ben"})
        await ada.send("tell", {"except": [ben.participant], "text": "but ben"})
        await ada.send("tell", {"text": "everyone"})
        await flush(ada, ben, cem)
        heard = {person.name: [message["body"]["text"] for message in person.messages("announce") if "is here" not in message["body"]["text"]]
                 for person in (ada, ben, cem)}
        assert heard == {"Ada": ["but ben", "everyone"], "Ben": ["to ben", "everyone"], "Cem": ["but ben", "everyone"]}


async def test_what_was_refused_leaves_no_trace(host):
    async with three(host) as (group, ada, ben, cem):
        before = (await ada.send("say", {"text": "before"}))["seq"]
        refused = await ada.send("refuse", {"text": "please"})
        assert refused["code"] == "refused" and refused["reason"] == "not_today" and refused["data"] == {"asked": "please"}
        assert refused["message"] == "Not today."
        failed = await ada.send("fail", {"text": "please"})
        assert failed["code"] == "activity_failed" and "talk.lua" not in failed["message"] and "purpose" not in failed["message"]
        after = (await ada.send("say", {"text": "after"}))["seq"]
        assert after == before + 1
        await flush(ada, ben, cem)
        assert not [message for message in ben.messages() if message["body"].get("text") == "never" or message["name"] in ("refuse", "fail")]
        async with await Client.attend(host, group, "Dora") as dora:
            assert dora.joined["state"]["notes"] == {}


async def test_join_sends_reach_everyone_but_the_newcomer_who_has_them_in_the_view(host):
    async with three(host) as (group, ada, ben, cem):
        await ada.message("announce", body={"text": "Cem is here"})
        await ben.message("announce", body={"text": "Cem is here"})
        await flush(ada, cem)
        assert [message for message in cem.messages("announce") if "Cem" in message["body"]["text"]] == []


async def test_a_join_that_the_script_refuses_changes_nothing(host):
    async with three(host) as (group, ada, ben, cem):
        async with await Client.enter(host, group, "Unwelcome") as guest:
            answer = await guest.join(group["session"])
            assert answer["code"] == "refused" and answer["reason"] == "unwelcome"
            await flush(ada, ben)
            assert not [envelope for envelope in ben.log if envelope["type"] == "participants" and
                        any(one["name"] == "Unwelcome" for one in envelope["joined"])]


async def test_a_handler_knows_sender_seq_time_and_receivers(host):
    async with three(host) as (group, ada, ben, cem):
        accepted = await ada.send("context", {"text": "?"}, to=[ben.participant, cem.participant])
        async with await Client.attend(host, group, "Dora") as dora:
            seen = dora.joined["state"]["notes"]["context"]
            assert isinstance(seen.pop("time"), int)
            assert seen == {"sender": ada.participant, "member": ada.member["id"], "role": "participant", "seq": accepted["seq"],
                            "to": f"{ben.participant},{cem.participant}", "addressed": True}


async def test_a_refreshed_view_comes_as_a_snapshot(host):
    async with three(host) as (group, ada, ben, cem):
        accepted = await ada.send("change_view", {"text": "new"})
        for person in (ada, ben, cem):
            snapshot = await person.next("snapshot")
            assert snapshot["seq"] == accepted["seq"] and snapshot["epoch"] == person.joined["epoch"]
            assert snapshot["state"]["notes"]["shown"] == "new" and len(snapshot["participants"]) == 3 and snapshot["parameters"] == {}


async def test_the_script_can_finish_its_session(host):
    async with three(host) as (group, ada, ben, cem):
        assert (await ada.send("finish", {"reason": "all done"}))["type"] == "accepted"
        for person in (ada, ben, cem):
            assert (await person.next("invalidated"))["reason"] == "ended"


async def test_a_relay_takes_every_name_but_only_valid_ones(host):
    async with three(host, "relay") as (group, ada, ben, cem):
        assert (await ada.send("anything_at_all", [1, {"a": None}]))["type"] == "accepted"
        assert (await ben.message("anything_at_all"))["body"] == [1, {"a": None}]
        for name in ("", "1st", "with space", "x" * 65, "card.move"):
            assert (await ada.send(name, {}))["code"] == "unknown_message", name


async def test_timers_fire_and_can_be_cancelled(host):
    group = host.group("clock")
    async with await Client.attend(host, group, "Ada") as ada:
        await ada.send("remind", {"after": 80, "text": "cancelled"})
        await ada.send("cancel", {})
        await ada.send("remind", {"after": 120, "text": "tea"})
        rang = await ada.message("rang")
        assert rang["body"] == {"text": "tea", "late": False, "name": "bell"} and rang["from"] is None
        async with await Client.attend(host, group, "Ben") as ben:
            assert ben.joined["seq"] > rang["seq"]


async def test_a_timer_that_falls_due_while_nobody_is_there_fires_late_at_the_next_join(host):
    group = host.group("clock")
    async with await Client.enter(host, group, "Hanna", token=group["token"]) as hanna, await Client.attend(host, group, "Ada") as ada:
        await ada.send("remind", {"after": 60, "text": "tea"})
        await ada.request("leave", session=group["session"])
        await hanna.host_time(passes=150)
        await ada.join(group["session"])
        rang = await ada.message("rang")
        assert rang["body"] == {"text": "tea", "late": True, "name": "bell"} and rang["seq"] > ada.joined["seq"]
        await hanna.host_time(passes=100)
        await ada.settle()
        assert len(ada.messages("rang")) == 1


async def test_everybody_gets_a_view_of_their_own(host):
    group = host.group("clock")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        await ada.send("vote", {"value": "coffee-4711"})
        await ben.send("vote", {"value": "tea"})
        async with await Client.attend(host, group, "Ben", token=ben.token, client="second") as again:
            assert again.joined["state"] == {"mine": "tea"}
        async with await Client.attend(host, group, "Cem") as cem:
            assert cem.joined["state"] in ({}, [])
            assert "4711" not in "".join(cem.frames + ben.frames + again.frames)


async def test_a_session_that_lives_with_its_initiator_ends_when_they_leave(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada, await Client.enter(host, group, "Ben") as ben:
        session = (await ada.start("clock"))["session"]
        await ada.join(session)
        await ben.join(session)
        await ada.request("leave", session=session)
        assert (await ben.next("invalidated", session=session))["reason"] == "ended"
