"""One order for everybody: storms of joins (C019), of sizes (C029), of reconnects (C020)."""

import asyncio
import itertools
import random

import pytest

from client import Client

STORM = {"requests_per_second": 100000, "messages_per_second": 100000, "message_burst": 100000, "connections": 10000, "participants": 1000,
         "members": 10000}


@pytest.fixture(scope="module")
def storm_host():
    from host import Host
    host = Host(limits=STORM)
    yield host
    host.stop()


def check_one_view(joined, messages, last):
    """State and what came after it are 1…last, each once, in order."""
    numbers = joined["state"]["numbers"] + [message["body"]["n"] for message in messages]
    assert numbers == list(range(1, last + 1)), (len(joined["state"]["numbers"]), numbers[-3:], last)
    seqs = [message["seq"] for message in messages]
    assert seqs == sorted(set(seqs)) and (not seqs or seqs[0] > joined["seq"])


async def joiner(host, group, delay, last, padding):
    await asyncio.sleep(delay)
    async with await Client.attend(host, group, "Ben") as ben:
        if last not in ben.joined["state"]["numbers"]:
            await ben.message("add", timeout=30, body={"n": last})
        check_one_view(ben.joined, ben.messages("add"), last)
        assert not padding or sum(map(len, ben.joined["state"]["padding"])) == padding


@pytest.mark.parametrize(("joins", "padding"), [(500, 0), (20, 3_000_000)], ids=["500 joins", "20 joins with a view of 3 MB"])
async def test_joining_at_any_moment_of_a_stream_gives_no_gap_and_no_double(storm_host, joins, padding):
    group = storm_host.group("tally", {"padding": padding} if padding else {})
    last = 1000
    chance = random.Random(19)
    async with await Client.attend(storm_host, group, "Ada") as ada:
        async def stream():
            for n in range(1, last + 1):
                await ada.post("add", {"n": n})
                if n % 5 == 0:
                    # Spread over about four seconds, so that joins fall between any two messages.
                    await asyncio.sleep(0.02)

        # Fifty at a time is what one event loop can follow.
        gate = asyncio.Semaphore(50)

        async def guarded(delay):
            async with gate:
                await joiner(storm_host, group, delay, last, padding)

        await asyncio.gather(stream(), *(guarded(chance.random() * 0.4) for _ in range(joins)))


async def test_ten_thousand_messages_of_changing_size_keep_their_order(storm_host):
    group = storm_host.group("tally")
    big = "x" * 65536
    async with await Client.attend(storm_host, group, "Ada") as ada, await Client.attend(storm_host, group, "Ben") as ben:
        for n in range(1, 10001):
            # A big one every twentieth time: 33 MB in all.
            await ada.post("add", {"n": n, "filler": big} if n % 20 == 0 else {"n": n})
        await ben.until(lambda envelope: envelope.get("name") == "add" and envelope["body"]["n"] == 10000
                        or envelope["type"] == "snapshot" and envelope["state"]["numbers"][-1] == 10000, timeout=40)
        numbers = []
        for envelope in ben.log:
            if envelope["type"] == "snapshot":
                # A receiver that fell behind starts afresh from a view.
                assert envelope["state"]["numbers"][:len(numbers)] == numbers
                numbers = list(envelope["state"]["numbers"])
            elif envelope.get("name") == "add":
                numbers.append(envelope["body"]["n"])
        assert numbers == list(range(1, 10001))


async def test_many_senders_see_one_order(storm_host):
    group = storm_host.group("tally")
    people = [await Client.attend(storm_host, group, f"P{n}") for n in range(12)]
    each = 100

    async def talk(index):
        for n in range(each):
            await people[index].post("add", {"n": index * 1000 + n}, ref=people[index].ref())
            if n % 10 == 0:
                await asyncio.sleep(0)

    await asyncio.gather(*(talk(index) for index in range(len(people))))
    orders = []
    for person in people:
        await person.until(lambda _: len(person.messages("add")) == each * 11 and len(
            [one for one in person.log if one["type"] == "accepted"]) == each, timeout=20)
        own = person.participant
        order = {envelope["seq"]: (envelope["from"], envelope["body"]["n"]) for envelope in person.messages("add")}
        accepted = [envelope["seq"] for envelope in person.log if envelope["type"] == "accepted"]
        assert accepted == sorted(accepted)
        for n, seq in enumerate(accepted):
            order[seq] = (own, people.index(person) * 1000 + n)
        placed = [envelope["seq"] for envelope in person.log if envelope["type"] in ("message", "accepted")]
        assert placed == sorted(placed)
        orders.append(sorted(order.items()))
    assert all(order == orders[0] for order in orders)
    for index, person in enumerate(people):
        own = [n for _, (sender, n) in orders[0] if sender == person.participant]
        assert own == list(range(index * 1000, index * 1000 + each))
    await asyncio.gather(*(person.close() for person in people))


async def test_nothing_is_lost_or_doubled_over_cut_connections(storm_host):
    group = storm_host.group("tally")
    chance = random.Random(20)
    async with await Client.attend(storm_host, group, "Cem") as cem:
        ada = await Client.attend(storm_host, group, "Ada")
        since = {"epoch": ada.joined["epoch"], "seq": ada.joined["seq"]}
        last = 300
        unanswered, next_number, cuts = {}, 1, 0
        # Refs grow over all connections, whatever they are for.
        refs = itertools.count(1001)
        while next_number <= last or unanswered:
            for _ in range(min(chance.randrange(1, 12), last + 1 - next_number)):
                ref = next(refs)
                unanswered[ref] = next_number
                await ada.post("add", {"n": next_number}, ref=ref)
                next_number += 1
            if chance.random() < 0.4 and next_number <= last:
                ada.cut()
                cuts += 1
                again = await Client.enter(storm_host, group, "Ada", token=ada.token, client=ada.client_id)
                joined = await again.request("join", ref=next(refs), session=group["session"], participant=ada.participant, since=since)
                assert joined.get("participant") == ada.participant, joined
                again.session, again.participant = ada.session, ada.participant
                ada = again
                for ref, n in unanswered.items():
                    await ada.post("add", {"n": n}, ref=ref)
            else:
                for ref in list(unanswered):
                    answer = await ada.answer(ref)
                    assert answer["type"] == "accepted", answer
                    del unanswered[ref]
        await cem.message("add", body={"n": last})
        assert [message["body"]["n"] for message in cem.messages("add")] == list(range(1, last + 1))
        assert cuts > 5
        await ada.close()
