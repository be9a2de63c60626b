"""Contract section 3.4 from outside: a hostile script harms its own message only."""

import asyncio
import time

import pytest

from client import Client
from host import Host

ATTACKS = ["loop", "catch_loop", "pattern", "gsub", "repeat_text", "memory", "recursion", "deep_state", "coroutines", "sort", "big_state",
           "many_sends", "many_timers", "set_global", "bad_text", "infinite", "concat_handler"]


@pytest.fixture(scope="module")
def sandbox_host():
    host = Host()
    yield host
    host.stop()


@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_attack_is_refused_the_others_see_nothing_and_stay_quick(sandbox_host, attack):
    target, quiet = sandbox_host.group("hostile"), sandbox_host.group("tally")
    async with await Client.attend(sandbox_host, target, "Mallory") as mallory, await Client.attend(sandbox_host, target, "Ben") as ben:
        async with await Client.attend(sandbox_host, quiet, "Ada") as ada:
            stop = asyncio.Event()
            waits = []

            async def keep_talking():
                while not stop.is_set():
                    started = time.monotonic()
                    assert (await ada.send("tick", {"n": 1}))["type"] in ("accepted", "rejected")
                    waits.append(time.monotonic() - started)
                    await asyncio.sleep(0.01)

            talking = asyncio.create_task(keep_talking())
            started = time.monotonic()
            rejected = await mallory.send(attack, {})
            took = time.monotonic() - started
            stop.set()
            await talking
            assert rejected.get("code") in ("activity_failed", "limit_reached", "refused"), rejected
            assert took < 1, f"the handler ran for {took:.2f} s"
            assert max(waits) < 0.5, f"another session waited for {max(waits):.2f} s"
        assert (await mallory.send("say", {"text": "still here"}))["type"] == "accepted"
        await ben.message("say")
        assert ben.messages("result") == [] and ben.messages(attack) == []
        async with await Client.attend(sandbox_host, target, "Cem") as cem:
            assert cem.joined["state"] == {"count": 1}
    assert sandbox_host.is_alive()


async def test_a_script_reaches_nothing_that_it_must_not(sandbox_host):
    group = sandbox_host.group("hostile")
    async with await Client.attend(sandbox_host, group) as ada:
        answer = await ada.send("reach", {})
        assert answer["type"] == "accepted"
        assert (await ada.message("result"))["body"] == {"text": ""}


async def test_many_attacks_at_once_leave_memory_and_the_host_in_good_order(sandbox_host):
    groups = [sandbox_host.group("hostile") for _ in range(4)]
    people = [await Client.attend(sandbox_host, group, "Mallory") for group in groups]
    for attack in ("memory", "repeat_text", "big_state"):
        await asyncio.gather(*(person.send(attack, {}) for person in people))
    before = sandbox_host.resident_bytes()
    for _ in range(5):
        for attack in ("memory", "repeat_text", "big_state"):
            await asyncio.gather(*(person.send(attack, {}) for person in people))
    assert sandbox_host.resident_bytes() - before < 64 << 20
    for person in people:
        assert (await person.send("say", {"text": "x"}))["type"] == "accepted"
        await person.close()


async def test_the_author_reads_file_and_line_in_the_terminal_and_the_sender_does_not(hosts):
    host = hosts()
    group = host.group("talk")
    async with await Client.attend(host, group) as ada:
        rejected = await ada.send("fail", {"text": "x"})
        assert rejected["code"] == "activity_failed" and "lua" not in str(rejected).lower()
        line = await asyncio.to_thread(either, host, "it broke on purpose")
        assert "talk.lua:" in line


def either(host, *words):
    """The line with these words, from standard output or standard error."""
    deadline = time.monotonic() + 8
    while time.monotonic() < deadline:
        for stream in (host.output, host.errors):
            try:
                return stream.wait_for(*words, timeout=0.1)
            except AssertionError:
                continue
    raise AssertionError(f"no line with {words}; standard output: {host.output.all}; standard error: {host.errors.all}")


async def test_a_script_that_never_ends_loading_is_listed_as_broken(hosts, tmp_path):
    (tmp_path / "endless.lua").write_text("while true do end\n")
    (tmp_path / "bytecode.lua").write_bytes(b"\x1bLuaT\x00\x19\x93\r\n\x1a\n" + b"\x00" * 60)
    (tmp_path / "good.lua").write_text('return { identifier = "org.test.good", metadata = { title = "Good" } }\n')
    host = hosts(activities=[tmp_path])
    group = host.group("good")
    async with await Client.attend(host, group) as ada:
        assert [activity["name"] for activity in ada.welcome["activities"]] == ["good"]
        assert (await ada.start("endless"))["code"] == "no_such_activity"
