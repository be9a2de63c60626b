"""Broken and random input in quantity, and groups that come and go: the host lives and its memory stays flat."""

import asyncio
import json
import random

import pytest
import websockets

from client import Client
from raw import TEXT, Raw

SAMPLES = [
    {"type": "hello", "protocol": 1, "group": "BCD-FGH", "name": "Ada", "token": None, "client": "k3J9x2", "locale": "en"},
    {"type": "start", "ref": 1, "activity": "types", "parameters": {}, "replaces": None},
    {"type": "join", "ref": 2, "session": "s1", "participant": None, "since": {"epoch": "e1", "seq": 3}},
    {"type": "send", "ref": 3, "session": "s1", "name": "points", "body": {"value": [{"x": 1, "y": 2.5}]}, "to": ["p2"]},
    {"type": "send", "ref": 3, "session": "s1", "name": "anything", "body": {"value": {"a": [1, "é", None, True]}}},
    {"type": "change", "ref": 4, "session": "s1", "parameters": {"title": "Episode 2"}},
    {"type": "leave", "ref": 5, "session": "s1"}, {"type": "rename", "ref": 7, "name": "Ada L."},
    {"type": "role", "ref": 8, "member": "m2", "role": "moderator"}, {"type": "remove", "ref": 9, "member": "m3"},
    {"type": "lock", "ref": 10, "locked": True}, {"type": "new_code", "ref": 11}, {"type": "ping", "time": 1790000000000},
]
ODD = [None, True, False, 0, -1, 1.5, 1e308, 2**63, 2**64, "", "\u0000", "x" * 5000, "../..", [], {}, [[]], {"": ""}, "ref", {"seq": -1}, [None] * 50]


def distorted(chance):
    """A frame that is nearly right."""
    envelopes = [json.loads(json.dumps(chance.choice(SAMPLES))) for _ in range(chance.randrange(1, 4))]
    for envelope in envelopes:
        for _ in range(chance.randrange(0, 3)):
            key = chance.choice([*envelope, "type", "extra"])
            envelope[key] = chance.choice(ODD)
        if chance.random() < 0.1:
            del envelope[chance.choice(list(envelope))]
    data = bytearray(json.dumps(envelopes).encode())
    for _ in range(chance.choice([0] * 18 + [1, 3])):
        place = chance.randrange(len(data))
        data[place:place + chance.randrange(0, 3)] = bytes(chance.randrange(0, 256) for _ in range(chance.randrange(0, 3)))
    return bytes(data)


async def test_distorted_frames_end_at_most_their_own_connection(hosts):
    host = hosts(limits={"requests_per_second": 100000, "messages_per_second": 100000, "message_burst": 100000, "connections": 10000})
    chance = random.Random(31)
    group = host.group("types")
    async with await Client.attend(host, group, "Witness") as witness:
        frames = 0
        while frames < 4000:
            person = await Client.enter(host, group, "Eve")
            await person.put({"type": "join", "ref": 1, "session": group["session"], "participant": None, "since": None})
            try:
                for _ in range(40):
                    frames += 1
                    try:
                        await person.socket.send(distorted(chance).decode())
                    except UnicodeDecodeError:
                        continue
                await person.settle()
            except (websockets.ConnectionClosed, AssertionError):
                assert await person.closed() in (4400, 4401, 4403, 4404, 4409, 1009)
            await person.close()
            if frames % 400 == 0:
                assert (await witness.send("whole", {"value": frames}))["type"] == "accepted"
        assert (await witness.send("whole", {"value": 1}))["type"] == "accepted"
    assert host.is_alive()


def test_random_bytes_end_at_most_their_own_connection(host):
    chance = random.Random(32)
    group = host.group("relay")
    for number in range(150):
        with Raw(host) as raw:
            if number % 2:
                raw.write(chance.randbytes(chance.randrange(1, 3000)) + b"\r\n\r\n")
            else:
                assert raw.upgrade() == 101
                raw.hello(group)
                raw.write(chance.randbytes(chance.randrange(1, 3000)))
                raw.frame(TEXT, chance.randbytes(50))
    assert host.request("GET", "/healthz")[0] == 200


async def test_groups_that_come_and_go_leave_nothing_behind(hosts):
    host = hosts(limits={"grace_ms": 50, "empty_session_ms": 400, "connections": 10000})

    async def round_of(count):
        groups = []
        for _ in range(count):
            group = host.group("moody")
            groups.append(group)
            async with await Client.attend(host, group, "Ada") as ada:
                await ada.send("say", {"text": "x"})
        async with asyncio.timeout(20):
            for group in groups[-3:]:
                # Codes of groups that have ended are wrong codes, and those are limited: ask seldom.
                while b'"sessions":[{' in (answer := host.request("GET", f"/v1/groups/{group['code']}"))[2] and answer[0] == 200:
                    await asyncio.sleep(0.1)

    await round_of(150)
    before = host.resident_bytes()
    for _ in range(3):
        await round_of(150)
    grown = host.resident_bytes() - before
    assert grown < 12 << 20, f"450 groups left {grown / 1e6:.1f} MB behind"


@pytest.mark.parametrize("how", ["cut", "close"])
async def test_people_who_come_and_go_leave_nothing_behind(hosts, how):
    host = hosts(limits={"grace_ms": 50, "connections": 10000, "members": 10000, "participants": 10000})
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        async def round_of(count):
            for _ in range(count):
                person = await Client.attend(host, group, "Ben")
                await person.send("add", {"n": 1})
                person.cut() if how == "cut" else await person.close()
            left = set()
            while len(left) < count:
                left |= set((await ada.until(lambda envelope: envelope["type"] == "members" and envelope["left"]))["left"])

        await round_of(150)
        before, descriptors = host.resident_bytes(), host.descriptors()
        for _ in range(3):
            await round_of(150)
        assert host.descriptors() <= descriptors + 3
        grown = host.resident_bytes() - before
        assert grown < 12 << 20, f"450 people left {grown / 1e6:.1f} MB behind"
