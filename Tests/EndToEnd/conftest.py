import asyncio
import concurrent.futures
import inspect
import sys
import time

import pytest

sys.path.insert(0, __file__.rpartition("/")[0])

from client import Client  # noqa: E402
from host import Host  # noqa: E402
from raw import Raw  # noqa: E402
from relay import Relay  # noqa: E402


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs tests that are coroutines; each has an event loop of its own and 60 s."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def bounded():
        async with asyncio.timeout(60):
            await pyfuncitem.obj(**arguments)

    asyncio.run(bounded())
    return True


@pytest.fixture(scope="session")
def host():
    """The host that most tests share: each test has a group of its own in it."""
    host = Host(limits={"connections": 1000, "participants": 1000, "members": 1000})
    yield host
    alive = host.is_alive()
    host.stop()
    assert alive, "the shared host did not live to the end of the tests"


@pytest.fixture
def hosts():
    """Makes hosts for one test."""
    made = []

    def make(*extra, **options):
        made.append(Host(*extra, **options))
        return made[-1]

    yield make
    for host in made:
        host.stop()


def stop_in_the_middle_of_a_body(host):
    """How long a request waits for the rest of its body."""
    started = time.monotonic()
    with Raw(host, timeout=80) as raw:
        raw.write(f"POST /v1/groups HTTP/1.1\r\nHost: {host.authority}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{")
        raw.read_to_end()
    return time.monotonic() - started


async def fall_silent():
    """One peer behind a relay that stops passing, one that is idle but answers, one in the middle of a request, one who watches."""
    host = Host(limits={"grace_ms": 1000})
    try:
        group = host.group("tally")
        async with Relay(host) as relay, await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Idle") as idle:
            ben = await Client.attend(host, group, "Ben", port=relay.port)
            relay.passing.clear()
            body = asyncio.create_task(asyncio.to_thread(stop_in_the_middle_of_a_body, host))
            started = time.monotonic()
            left = await ada.until(lambda envelope: envelope["type"] == "participants" and envelope["left"], timeout=80)
            after = time.monotonic() - started
            alive = (await idle.send("add", {"n": 1}))["type"] == "accepted"
            await ada.settle()
            more = [envelope for envelope in ada.log if envelope["type"] == "participants" and envelope["left"]]
            ben.cut()
            return {"left": [one for envelope in more for one in envelope["left"]], "after": after, "participant": ben.participant,
                    "idle_alive": alive and bool(left), "body": await body}
    finally:
        host.stop()


@pytest.fixture(scope="session", autouse=True)
def silence(request):
    """Starts the minute of silence first, so that it passes while the other tests run."""
    if not any("silence" in item.fixturenames and item.name.startswith("test_a_peer_that_falls_silent") for item in request.session.items):
        yield None
        return
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        yield pool.submit(asyncio.run, fall_silent())
