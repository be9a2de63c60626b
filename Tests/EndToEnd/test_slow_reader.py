"""C025: somebody who reads too slowly, or not at all."""

import asyncio
import time

import pytest

from client import Client
from raw import Raw

FAST = {"messages_per_second": 100000, "message_burst": 100000}


@pytest.fixture
def quick_host(hosts):
    return hosts(limits=FAST)


async def fill(ada, count, size, name="note"):
    """Sends `count` bodies of `size` bytes, at the pace at which the host answers."""
    for n in range(count):
        body = {"text": f"{n:06}" + "x" * size} if name == "note" else {"n": n, "filler": "x" * size}
        if n % 20 == 19:
            assert (await ada.send(name, body))["type"] == "accepted"
        else:
            await ada.post(name, body)
    await ada.settle()


async def test_somebody_who_never_reads_costs_the_host_nothing_and_gets_a_snapshot_later(quick_host):
    group = quick_host.group("tally")
    async with await Client.attend(quick_host, group, "Ada") as ada, await Client.attend(quick_host, group, "Cem") as cem:
        with Raw(quick_host, receive_buffer=4096) as ben:
            assert ben.upgrade() == 101
            ben.hello(group, "Ben")
            joined = ben.join(group["session"])
            await fill(ada, 200, 10000)
            before = quick_host.resident_bytes()
            worst = 0.0
            for turn in range(20):
                await fill(ada, 100, 10000)
                started = time.monotonic()
                await ada.send("add", {"n": turn})
                await cem.message("add", body={"n": turn})
                worst = max(worst, time.monotonic() - started)
            grown = quick_host.resident_bytes() - before
            assert grown < 12 << 20, f"{grown / 1e6:.1f} MB more for a reader that does not read"
            assert worst < 0.5, f"Cem waited {worst:.3f} s"
            # Now Ben reads: what is left is what was on the way, then a view, then what came after it, without a gap.
            await ada.send("add", {"n": 1000})
            position, numbers, snapshots = joined["seq"], [], 0
            deadline = time.monotonic() + 15
            while 1000 not in numbers and time.monotonic() < deadline:
                envelopes = await asyncio.to_thread(ben.read_envelopes)
                assert envelopes is not None, "closed instead of resynchronised"
                for envelope in envelopes:
                    if envelope["type"] in ("message", "snapshot") and "seq" in envelope:
                        assert envelope["seq"] >= position, "the order went back"
                        if envelope["type"] == "message":
                            assert envelope["seq"] == position + 1, f"a gap: {position} then {envelope['seq']}"
                        position = envelope["seq"]
                    if envelope["type"] == "snapshot":
                        snapshots += 1
                        numbers = list(envelope["state"]["numbers"])
                    elif envelope.get("name") == "add":
                        numbers.append(envelope["body"]["n"])
            assert numbers == [*range(20), 1000] and snapshots >= 1


async def test_latest_messages_to_a_slow_reader_are_coalesced(quick_host):
    group = quick_host.group("tally")
    async with await Client.attend(quick_host, group, "Ada") as ada:
        with Raw(quick_host, receive_buffer=4096) as ben:
            assert ben.upgrade() == 101
            ben.hello(group, "Ben")
            ben.join(group["session"])
            count = 2000
            for n in range(1, count + 1):
                await ada.post("pointer", {"n": n, "filler": "x" * 5000})
                if n % 20 == 0:
                    await ada.settle()
            await ada.settle()
            seen = []
            deadline = time.monotonic() + 15
            while (not seen or seen[-1] != count) and time.monotonic() < deadline:
                envelopes = await asyncio.to_thread(ben.read_envelopes)
                assert envelopes is not None
                seen += [envelope["body"]["n"] for envelope in envelopes if envelope.get("name") == "pointer"]
            assert seen == sorted(seen) and seen[-1] == count, "the newest one always arrives"
            assert len(seen) < count, "older ones that were not delivered are dropped"


async def test_answers_participants_and_the_end_are_kept_for_a_slow_reader(quick_host):
    group = quick_host.group("tally")
    async with await Client.attend(quick_host, group, "Hanna", token=group["token"]) as hanna:
        with Raw(quick_host, receive_buffer=4096) as ben:
            assert ben.upgrade() == 101
            ben.hello(group, "Ben")
            ben.join(group["session"])
            await fill(hanna, 400, 10000)
            ben.send({"type": "send", "ref": 77, "session": group["session"], "name": "add", "body": {"n": 7}})
            await hanna.message("add", body={"n": 7})
            cem = await Client.attend(quick_host, group, "Cem")
            await fill(hanna, 400, 10000)
            await cem.request("leave", session=group["session"])
            await hanna.request("end", session=group["session"])
            await cem.close()
            seen = []
            while not any(envelope["type"] == "invalidated" for envelope in seen):
                envelopes = await asyncio.to_thread(ben.read_envelopes)
                assert envelopes is not None
                seen += envelopes
            assert [envelope["ref"] for envelope in seen if envelope["type"] == "accepted"] == [77]
            changes = [envelope for envelope in seen if envelope["type"] == "participants"]
            listed = [envelope for envelope in seen if envelope["type"] == "snapshot"
                      and any(one["name"] == "Cem" for one in envelope["participants"])]
            assert any(one["name"] == "Cem" for envelope in changes for one in envelope["joined"]) or listed
            assert any(one["id"] == cem.participant for envelope in changes for one in envelope["left"])
