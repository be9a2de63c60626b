"""Contract section 4: every limit is told with its numbers, and the connection stays."""

import asyncio
import json

import pytest

from client import Client


def check(rejected, code, limit, allowed, found=None, retry=False):
    assert rejected["type"] == "rejected", rejected
    assert (rejected["code"], rejected["limit"], rejected["allowed"]) == (code, limit, allowed), rejected
    assert isinstance(rejected["found"], (int, float)) and (found is None or rejected["found"] == found), rejected
    assert not retry or rejected["retry_ms"] > 0, rejected


async def test_a_body_over_message_bytes_is_refused_and_one_of_just_that_size_is_not(host):
    group = host.group("relay")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        fits = "x" * (262144 - 2)
        assert (await ada.send("load", fits))["type"] == "accepted"
        assert (await ben.message("load"))["body"] == fits
        check(await ada.send("load", fits + "x"), "too_large", "message_bytes", 262144, 262145)
        assert (await ada.send("load", "x"))["type"] == "accepted"


async def test_a_frame_over_frame_bytes_closes_with_1009(host):
    group = host.group("relay")
    async with await Client.attend(host, group) as ada:
        await ada.raw("[" + " " * 1048576 + "]")
        assert await ada.closed() == 1009


async def test_messages_over_the_rate_are_refused_and_taken_again_later(hosts):
    host = hosts(limits={"messages_per_second": 50, "message_burst": 20})
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        refs = [ada.ref() for _ in range(60)]
        await ada.put(*({"type": "send", "ref": ref, "session": ada.session, "name": "add", "body": {"n": n}} for n, ref in enumerate(refs)))
        answers = [await ada.answer(ref) for ref in refs]
        accepted = [answer for answer in answers if answer["type"] == "accepted"]
        assert 20 <= len(accepted) < 40
        refused = answers[-1]
        assert refused["code"] == "rate_limited" and refused["limit"] == "messages_per_second" and refused["retry_ms"] > 0
        assert "allowed" in refused and "found" in refused
        await ada.host_time(passes=refused["retry_ms"])
        assert (await ada.send("add", {"n": 60}))["type"] == "accepted"


async def test_requests_over_the_rate_are_refused_and_taken_again_later(hosts):
    host = hosts(limits={"requests_per_second": 5, "sessions": 1000})
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada:
        answers = [await ada.start("relay") for _ in range(30)]
        refused = [answer for answer in answers if answer["type"] == "rejected"]
        assert refused and len(refused) < 30
        check(refused[0], "rate_limited", "requests_per_second", 5, retry=True)
        await ada.host_time(passes=refused[-1]["retry_ms"])
        assert (await ada.start("relay"))["type"] == "started"


async def newest(host, group):
    """The newest session of a group, as its preview or a member's welcome tells it."""
    async with await Client.enter(host, group, "Hanna", token=group["token"]) as hanna:
        return hanna.welcome["group"]["sessions"][-1]["id"]


async def test_participants_sessions_and_members_are_counted(hosts):
    host = hosts(limits={"participants": 2, "sessions": 2, "members": 4, "requests_per_second": 100, "grace_ms": 50})
    group = host.group("relay")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        async with await Client.enter(host, group, "Cem") as cem:
            check(await cem.join(group["session"]), "limit_reached", "participants", 2, 3)
            await ben.request("leave", session=group["session"])
            assert (await cem.join(group["session"]))["type"] == "joined"
            assert (await ada.start("relay"))["type"] == "started"
            check(await ada.start("relay"), "limit_reached", "sessions", 2, 3)
            # In place of an old one there may be a new one: it is one more only for a moment.
            assert (await ada.start("relay", replaces=(await newest(host, group))))["type"] == "started"
            dora = await Client.open(host)
            await dora.put({"type": "hello", "protocol": 1, "group": group["code"], "name": "Dora", "token": None, "client": "d", "locale": "en"})
            check(await dora.next("rejected"), "limit_reached", "members", 4, 5)
            await dora.close()


async def test_connections_of_a_seat_are_counted(hosts):
    host = hosts(limits={"connections": 64})
    group = host.group("relay")
    ada = await Client.enter(host, group, "Ada")
    more = [await Client.enter(host, group, "Ada", token=ada.token) for _ in range(7)]
    ninth = await Client.open(host)
    await ninth.put({"type": "hello", "protocol": 1, "group": group["code"], "name": "Ada", "token": ada.token, "client": "nine", "locale": "en"})
    refused = await ninth.next("rejected")
    assert refused["code"] == "limit_reached" and refused["limit"] == "connections" and refused["allowed"] == 8
    await asyncio.gather(*(person.close() for person in (ada, ninth, *more)))


async def test_connections_of_an_address_are_counted_and_free_again_after_closing(hosts):
    host = hosts(limits={"connections": 5})
    group = host.group("relay")
    people = [await Client.enter(host, group, f"P{n}") for n in range(5)]
    with pytest.raises(Exception):
        await Client.enter(host, group, "one too many")
    await people[0].close()
    async with asyncio.timeout(5):
        while True:
            try:
                people[0] = await Client.enter(host, group, "again")
                break
            except Exception:
                await asyncio.sleep(0.05)
    for person in people:
        await person.settle()
        await person.close()


async def test_the_sends_and_timers_of_a_handler_are_counted(host):
    group = host.group("hostile")
    async with await Client.attend(host, group) as ada:
        for name in ("many_sends", "many_timers"):
            answer = await ada.send(name, {})
            assert answer["code"] in ("activity_failed", "limit_reached"), answer
        async with await Client.attend(host, group, "Ben") as ben:
            assert ben.joined["state"] == {"count": 0}


async def test_a_state_over_its_limit_is_refused_but_can_shrink(hosts):
    host = hosts(limits={"state_bytes": 60000})
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        assert (await ada.send("note", {"text": "x" * 50000}))["type"] == "accepted"
        refused = await ada.send("note", {"text": "x" * 70000})
        assert refused["code"] == "limit_reached" and refused["limit"] == "state_bytes" and refused["allowed"] == 60000
        assert refused["found"] > 60000
        async with await Client.attend(host, group, "Ben") as ben:
            assert ben.joined["state"]["note"] == "x" * 50000
        assert (await ada.send("note", {"text": ""}))["type"] == "accepted"
        assert (await ada.send("add", {"n": 1}))["type"] == "accepted"


async def test_welcome_tells_the_limits_that_the_operator_set(hosts):
    host = hosts(limits={"message_bytes": 1000, "grace_ms": 1234})
    group = host.group("relay")
    async with await Client.attend(host, group) as ada:
        assert (ada.welcome["limits"]["message_bytes"], ada.welcome["limits"]["grace_ms"]) == (1000, 1234)
        check(await ada.send("load", "x" * 1000), "too_large", "message_bytes", 1000, 1002)


async def test_wrong_codes_are_limited_on_every_route_that_takes_one(hosts):
    host = hosts()
    group = host.group("relay")
    codes = [letters * 3 for letters in ("BC", "CD", "DF", "FG", "GH", "HJ", "JK", "KL", "LM", "MN", "NP", "PQ", "QR", "RS", "ST", "TV", "VW", "WX",
                                         "XZ", "ZB")]
    closes = []
    for code in codes * 3:
        person = await Client.open(host)
        await person.put({"type": "hello", "protocol": 1, "group": code, "name": "Eve", "token": None, "client": "x", "locale": "en"})
        closes.append(await person.closed())
        if closes[-1] == 4429:
            break
    assert closes[-1] == 4429 and set(closes[:-1]) <= {4401, 4404} and len(closes) > 3
    for method, path in (("GET", f"/v1/groups/{codes[0]}"), ("GET", f"/v1/groups/{codes[1]}/sessions/s1/export/csv")):
        status, headers, _ = host.request(method, path, headers={"Authorization": "Bearer nothing"})
        assert status == 429 and int(headers["Retry-After"]) > 0, path
    # Who is in already is not touched by it.
    assert json.loads(host.request("GET", "/v1/activities")[2])
    assert group["code"]
