import asyncio
import inspect
import sys

import pytest

sys.path.insert(0, __file__.rpartition("/")[0])

from host import Host  # noqa: E402


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
