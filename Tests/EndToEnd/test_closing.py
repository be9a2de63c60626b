"""Close codes, deadlines and signals."""

import asyncio
import concurrent.futures
import signal
import struct
import time

import pytest

from client import Client
from host import run
from raw import Raw


async def refused(host, **fields):
    person = await Client.open(host)
    await person.put({"type": "hello", "protocol": 1, "token": None, "client": "x", "locale": "en", "name": "Eve", **fields})
    return await person.closed()


async def test_a_wrong_token_or_group_is_told_by_the_close_code(hosts):
    host = hosts()
    group = host.group("relay")
    assert await refused(host, group=group["code"], token="AAAAAAAAAAAAAAAAAAAAAA") == 4401
    assert await refused(host, group="BBBBBB") == 4404
    assert await refused(host, group="not a code") == 4401


async def test_deadlines_hold_for_those_who_say_nothing(hosts):
    """The ten-second deadlines, all at once: no hello, a header byte by byte, nothing at all; idle sockets live on."""
    host = hosts(limits={"connections": 1000})
    group = host.group("relay")

    async def no_hello():
        started = time.monotonic()
        person = await Client.open(host)
        assert await person.closed(timeout=20) == 4408
        assert 8 < time.monotonic() - started < 14

    def silent(start, drip):
        started = time.monotonic()
        with Raw(host, timeout=1) as raw:
            raw.write(start)
            while time.monotonic() - started < 20:
                try:
                    if not raw.read_more():
                        break
                except TimeoutError:
                    if drip and not raw.write(drip):
                        break
            assert 5 < time.monotonic() - started < 16, f"{start!r}: {time.monotonic() - started:.1f} s"

    async def drip(start, drip):
        await asyncio.to_thread(silent, start, drip)

    async with await Client.attend(host, group, "Ada") as ada:
        asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(40))
        tasks = [asyncio.create_task(task) for task in (
            *(no_hello() for _ in range(5)), *(drip(f"GET / HTTP/1.1\r\nX{n}: ", "a") for n in range(20)), drip("", ""), drip("G", ""))]
        # Meanwhile a normal user gets in at once.
        started = time.monotonic()
        async with await Client.attend(host, group, "Ben") as ben:
            assert time.monotonic() - started < 1
            await ben.send("draw", {})
            await ada.message("draw")
        await asyncio.gather(*tasks)
        await ada.settle()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_the_host_with_1012_and_exit_code_0(hosts, number):
    host = hosts()
    group = host.group("tally")
    people = [await Client.attend(host, group, f"P{n}") for n in range(20)]
    for n in range(50):
        await people[0].post("add", {"n": n}, ref=100 + n)
    started = time.monotonic()
    host.signal(number)
    codes = await asyncio.gather(*(person.closed() for person in people))
    assert codes == [1012] * 20
    assert await asyncio.to_thread(host.wait, 5) == 0
    assert time.monotonic() - started < 5
    # What was accepted had been relayed to the others.
    accepted = {envelope["seq"] for envelope in people[0].log if envelope["type"] == "accepted"}
    for person in people[1:]:
        assert accepted <= {message["seq"] for message in person.messages("add")}


async def test_a_client_that_never_answers_the_close_does_not_hold_up_the_stop(hosts):
    host = hosts()
    group = host.group("relay")
    with Raw(host, receive_buffer=4096) as raw:
        assert raw.upgrade() == 101
        raw.hello(group)
        host.signal(signal.SIGTERM)
        assert await asyncio.to_thread(host.wait, 5) == 0
        assert raw.close_code() == 1012


def test_a_second_signal_ends_the_host_at_once(hosts):
    host = hosts()
    host.signal(signal.SIGTERM)
    host.signal(signal.SIGTERM)
    assert host.wait(5) in (0, 130, 143, -signal.SIGTERM)


def test_other_signals_do_no_harm(hosts):
    host = hosts()
    host.signal(signal.SIGPIPE)
    host.signal(signal.SIGHUP)
    assert host.request("GET", "/healthz")[0] == 200


async def test_a_peer_that_resets_in_the_middle_of_a_write_does_no_harm(host):
    group = host.group("tally")
    async with await Client.attend(host, group, "Ada") as ada:
        for _ in range(20):
            with Raw(host, receive_buffer=4096) as raw:
                assert raw.upgrade() == 101
                raw.hello(group)
                raw.join(group["session"])
                # A reset in place of an orderly end.
                raw.socket.setsockopt(1, 13, struct.pack("ii", 1, 0))
            await ada.send("note", {"text": "x" * 50000})
        await ada.settle()


async def test_connections_that_are_gone_leave_no_descriptor_behind(hosts):
    host = hosts(limits={"connections": 1000, "grace_ms": 100})
    group = host.group("relay")
    async with await Client.attend(host, group, "Ada") as ada:
        before = host.descriptors()
        people = [await Client.attend(host, group, f"P{n}") for n in range(50)]
        assert host.descriptors() >= before + 50
        for person in people:
            person.cut()
        left = set()
        while len(left) < 50:
            news = await ada.until(lambda envelope: envelope["type"] == "members" and envelope["left"])
            left |= set(news["left"])
        assert host.descriptors() <= before + 2


async def test_a_group_ended_by_the_operator_closes_with_4410(hosts):
    host = hosts()
    group = host.group("relay")
    async with await Client.attend(host, group) as ada:
        result = await asyncio.to_thread(run, "end", group["code"], "--data", str(host.data), "--listen", f"127.0.0.1:{host.port}")
        if result.returncode == 2 and "command" in result.stderr:
            pytest.skip("this build has no end command yet")
        assert result.returncode == 0, result.stderr
        assert await ada.closed() == 4410


def test_an_address_in_use_is_an_error_with_advice(host):
    result = run("serve", "--listen", f"127.0.0.1:{host.port}", "--data", str(host.data / "other"))
    assert result.returncode == 1 and str(host.port) in result.stderr
