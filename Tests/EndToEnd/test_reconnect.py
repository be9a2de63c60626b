"""Contract section 4: resuming, taking over, refs over reconnects, and the edges of membership (C020, C021)."""

import asyncio

from client import Client


def position(person):
    """Where a participant stands: the last seq it saw."""
    seqs = [envelope["seq"] for envelope in person.log if envelope.get("session") == person.session and "seq" in envelope]
    return {"epoch": person.joined["epoch"], "seq": max(seqs)}


async def come_back(host, group, old, since=None, participant=None, client=None):
    """A new connection of the same seat and client that asks to resume."""
    again = await Client.enter(host, group, old.name, token=old.token, client=client or old.client_id)
    answer = await again.join(group["session"], participant=participant or old.participant, since=since or position(old))
    return again, answer


async def test_resuming_gives_exactly_what_was_missed(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        ben = await Client.attend(host, group, "Ben")
        await ada.send("add", {"n": 1})
        await ben.message("add", body={"n": 1})
        stands = position(ben)
        ben.cut()
        for n in range(2, 30):
            await ada.send("add", {"n": n})
        again, joined = await come_back(host, group, ben, since=stands)
        async with again:
            assert joined["type"] == "joined" and "state" not in joined
            assert joined["participant"] == ben.participant
            await ada.send("add", {"n": 30})
            await again.message("add", body={"n": 30})
            assert [message["body"]["n"] for message in again.messages("add")] == list(range(2, 31))
            seqs = [message["seq"] for message in again.messages("add")]
            assert seqs == sorted(set(seqs)) and min(seqs) > stands["seq"]


async def test_a_lost_connection_keeps_its_place_and_nobody_hears_of_it(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        ben = await Client.attend(host, group, "Ben")
        await ada.until(lambda envelope: envelope["type"] == "participants" and envelope["joined"][0]["name"] == "Ben")
        ben.cut()
        again, joined = await come_back(host, group, ben)
        async with again:
            await ada.send("add", {"n": 1})
            await again.message("add")
            assert not [envelope for envelope in ada.log if envelope["type"] == "participants" and envelope["left"]]
            assert not [envelope for envelope in ada.log if envelope["type"] == "members" and envelope["left"]]


async def test_a_newer_connection_takes_over_and_the_older_is_closed_with_4409(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        ben = await Client.attend(host, group, "Ben")
        again, joined = await come_back(host, group, ben)
        async with again:
            assert joined["participant"] == ben.participant
            assert await ben.closed() == 4409
            await ada.send("add", {"n": 1})
            await again.message("add")


async def test_another_seat_or_client_cannot_resume_somebodys_place(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        await ada.send("add", {"n": 1})
        async with await Client.enter(host, group, "Eve") as eve:
            joined = await eve.join(group["session"], participant=ben.participant, since={"epoch": ben.joined["epoch"], "seq": ben.joined["seq"]})
            assert joined["participant"] not in (ben.participant, ada.participant)
            assert joined["state"]["numbers"] == [1]
        other_tab, joined = await come_back(host, group, ben, client="another-tab")
        async with other_tab:
            assert joined["participant"] != ben.participant and "state" in joined
        assert (await ben.send("add", {"n": 2}))["type"] == "accepted"


async def test_a_position_that_makes_no_sense_gives_a_new_view(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        await ada.send("add", {"n": 1})
        for since in ({"epoch": "e999", "seq": 1}, {"epoch": ada.joined["epoch"], "seq": 99999}, {"epoch": ada.joined["epoch"], "seq": -1}):
            ben = await Client.attend(host, group, "Ben")
            ben.cut()
            again, joined = await come_back(host, group, ben, since=since)
            async with again:
                assert joined["type"] == "rejected" or joined["state"]["numbers"] == [1], (since, joined)


async def test_what_was_accepted_under_a_ref_is_not_applied_again(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        ben = await Client.attend(host, group, "Ben")
        first = await ben.send("add", {"n": 1}, ref=11)
        second = await ben.send("add", {"n": 2}, ref=12)
        ben.cut()
        again, joined = await come_back(host, group, ben)
        async with again:
            assert again.welcome["acknowledged"] == 12 and joined["acknowledged"] == 12
            answers = [await again.send("add", {"n": n}, ref=ref) for n, ref in ((1, 11), (2, 12), (3, 13), (2, 12))]
            assert [answers[0]["seq"], answers[1]["seq"], answers[3]["seq"]] == [first["seq"], second["seq"], second["seq"]]
            await ada.message("add", body={"n": 3})
            await ada.settle()
            assert [message["body"]["n"] for message in ada.messages("add")] == [1, 2, 3]


async def test_what_was_rejected_may_be_tried_again_under_the_same_ref(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        assert (await ada.send("add", {"n": "x"}, ref=21))["type"] == "rejected"
        assert (await ada.send("add", {"n": 1}, ref=21))["type"] == "accepted"


async def test_an_old_ref_that_the_host_no_longer_remembers_is_still_not_applied(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        for start in range(0, 1200, 300):
            batch = range(start + 1, start + 301)
            await ada.put(*({"type": "send", "ref": 100 + n, "session": ada.session, "name": "add", "body": {"n": n}} for n in batch))
            for n in batch:
                answer = await ada.answer(100 + n)
                while answer["type"] == "rejected" and answer["code"] == "rate_limited":
                    await ada.host_time(passes=answer["retry_ms"])
                    answer = await ada.send("add", {"n": n}, ref=100 + n)
                assert answer["type"] == "accepted"
        await ada.put({"type": "send", "ref": 101, "session": ada.session, "name": "add", "body": {"n": 1}})
        await ada.answer(101)
        async with await Client.attend(host, group, "Ben") as ben:
            assert ben.joined["state"]["numbers"].count(1) == 1


async def test_after_the_grace_time_the_participant_has_left_and_a_return_is_a_new_one(hosts):
    host = hosts(limits={"grace_ms": 300})
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        await ada.send("add", {"n": 1})
        ben = await Client.attend(host, group, "Ben")
        ben.cut()
        left = await ada.until(lambda envelope: envelope["type"] == "participants" and envelope["left"])
        assert left["left"] == [{"id": ben.participant, "reason": "disconnected"}]
        await ada.until(lambda envelope: envelope["type"] == "members" and ben.member["id"] in envelope["left"])
        again, joined = await come_back(host, group, ben)
        async with again:
            assert again.member["id"] == ben.member["id"], "the seat stays good"
            assert joined["participant"] != ben.participant and joined["state"]["numbers"] == [1]
        await ada.settle()
        leaves = [envelope for envelope in ada.log if envelope["type"] == "participants" and envelope["left"]
                  and envelope["left"][0]["id"] == ben.participant]
        assert len(leaves) == 1


async def test_a_session_waits_for_the_group_to_come_back(hosts):
    host = hosts(limits={"grace_ms": 100})
    group = host.group("tally")
    async with await Client.enter(host, group, "Hanna", token=group["token"]) as hanna:
        ada = await Client.attend(host, group, "Ada")
        await ada.send("add", {"n": 7})
        await ada.close()
        await hanna.until(lambda envelope: envelope["type"] == "members" and ada.member["id"] in envelope["left"])
        joined = await hanna.join(group["session"])
        assert joined["state"]["numbers"] == [7]


async def test_an_empty_session_ends_after_its_time(hosts):
    host = hosts(limits={"grace_ms": 100, "empty_session_ms": 300})
    group = host.group("tally")
    ada = await Client.attend(host, group, "Ada")
    await ada.close()
    async with asyncio.timeout(8):
        while host.request("GET", f"/v1/groups/{group['code']}")[0] == 200:
            await asyncio.sleep(0.05)
    late = await Client.open(host)
    await late.put({"type": "hello", "protocol": 1, "group": group["code"], "name": "Ada", "token": ada.token, "client": "x", "locale": "en"})
    assert await late.closed() in (4401, 4404, 4410)


async def test_what_is_sent_the_moment_join_returns_reaches_all_listed_participants(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        for n in range(10):
            async with await Client.enter(host, group, f"Ben {n}") as ben:
                await ben.put({"type": "join", "ref": 1, "session": group["session"], "participant": None, "since": None},
                              {"type": "send", "ref": 2, "session": group["session"], "name": "add", "body": {"n": n}})
                assert (await ben.answer(1))["type"] == "joined" and (await ben.answer(2))["type"] == "accepted"
                await ada.message("add", body={"n": n})


async def test_a_join_in_flight_gets_each_message_in_the_view_or_after_it_never_neither(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        for n in range(50):
            person = await Client.enter(host, group, "Cem")
            _, joined = await asyncio.gather(ada.send("add", {"n": n}), person.join(group["session"]))
            if n not in joined["state"]["numbers"]:
                await person.message("add", body={"n": n})
            else:
                await person.settle()
                assert {"n": n} not in [message["body"] for message in person.messages("add")]
            await person.close()
