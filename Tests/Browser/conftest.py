import pathlib
import re
import socket
import sys

import pytest
from playwright.sync_api import sync_playwright

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "EndToEnd"))

from host import ROOT, Host  # noqa: E402
from people import Party  # noqa: E402

ARTIFACTS = HERE / "artifacts"
# A name that is no secure context: what people have in a local network. It never leaves this machine.
NAME = "party.test"


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", f"--host-resolver-rules=MAP {NAME} 127.0.0.1", "--force-prefers-reduced-motion", "--disable-gpu"])
        yield browser
        browser.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def make_party(browser, request):
    """Makes parties; afterwards nobody's console may hold an error and no request may have left the machine."""
    made = []

    def make(*extra, insecure=True, activity="draw", **options):
        port = free_port()
        origin = f"http://{NAME if insecure else '127.0.0.1'}:{port}"
        public = ["--public-url", origin] if insecure else []
        host = Host(*public, *extra, start=activity, listen=f"127.0.0.1:{port}", activities=[ROOT / "Activities"], **options)
        made.append(Party(browser, host, origin))
        return made[-1]

    yield make
    failed = getattr(request.node, "failed", True)
    problems = []
    for party in made:
        for person in party.people:
            if failed:
                ARTIFACTS.mkdir(exist_ok=True)
                test = re.sub(r"\W+", "-", request.node.name)[:80]
                try:
                    person.page.screenshot(path=ARTIFACTS / f"{test}-{person.name}.png", timeout=5000)
                except Exception as problem:
                    print(f"no screenshot of {person.name}: {problem}")
            problems += [f"{person.name}: {problem}" for problem in person.problems]
            problems += [f"{person.name} asked for {url}" for url in person.foreign]
            person.context.close()
        party.host.stop()
    assert failed or not problems, problems


@pytest.fixture
def party(make_party):
    return make_party()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.failed = report.failed
    return report
