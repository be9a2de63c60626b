"""People with browsers: each has a context of their own, as if on a machine of their own."""

import json
import re
import time

from playwright.sync_api import expect

# What a page may say on its console without a mistake of ours: the browser's own words when the network is gone on purpose.
OFFLINE_WORDS = ("ERR_INTERNET_DISCONNECTED", "WebSocket is closed", "ERR_CONNECTION_REFUSED", "WebSocket connection to")


class Person:
    """One person in one browser context."""

    def __init__(self, party, name, **context):
        self.party = party
        self.name = name
        self.context = party.browser.new_context(locale="en-US", **{"viewport": {"width": 1100, "height": 760}, **context})
        self.context.set_default_timeout(10000)
        self.problems = []
        self.foreign = []
        self.frames_received = []
        self.may_lose_network = False
        self.page = self.new_page()

    def new_page(self):
        page = self.context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"uncaught: {error}"))
        page.on("request", self._request)
        page.on("websocket", lambda socket: socket.on("framereceived", lambda text: self.frames_received.append(text)))
        return page

    def _console(self, message):
        if message.type not in ("error", "warning"):
            return
        if self.may_lose_network and any(words in message.text for words in OFFLINE_WORDS):
            return
        self.problems.append(f"{message.type}: {message.text}")

    def _request(self, request):
        url = request.url
        if not url.startswith((self.party.origin, self.party.origin.replace("http", "ws", 1), "data:", "blob:", "about:")):
            self.foreign.append(url)

    # The way in

    def visit(self, path=None):
        self.page.goto(self.party.origin + (path or f"/j/{self.party.code}"))
        return self

    def tell_name(self):
        self.page.get_by_label("Your name").fill(self.name)
        self.page.get_by_role("button", name="Join the group").click()
        return self

    def enter(self, path=None):
        """Up to the lobby."""
        self.visit(path).tell_name()
        expect(self.page.get_by_role("heading", name=re.compile("Happening now"))).to_be_visible()
        return self

    def join(self, path=None):
        """Up to the canvas."""
        self.enter(path)
        self.accept()
        return self

    def accept(self):
        self.page.get_by_role("button", name=re.compile(r"^Join: ")).first.click()
        return self.arrive()

    def arrive(self):
        """Waits for the canvas of the session that is on screen."""
        self.wait(lambda: self.frame is not None and self.frame.evaluate("() => window.drawing !== undefined"), "the canvas")
        expect(self.page.locator(".cover")).to_be_hidden()
        return self

    @property
    def frame(self):
        found = [frame for frame in self.page.frames if "/activities/draw/" in frame.url]
        return found[-1] if found else None

    # Drawing

    @property
    def canvas(self):
        return self.frame.get_by_role("application", name="Drawing canvas")

    def box(self):
        return self.canvas.bounding_box()

    def at(self, x, y):
        """A place on the canvas, given in shares of its width and height, in coordinates of the page."""
        box = self.box()
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def press(self, keys):
        self.canvas.focus()
        self.page.keyboard.press(keys)

    def choose(self, entry):
        """An entry of the canvas's menu."""
        self.frame.get_by_role("button", name="Menu").click()
        self.frame.get_by_role("menuitem", name=entry).click()

    def stroke(self, *places, steps=6):
        """A stroke through places given in shares of the canvas."""
        for _ in self.slowly(*places, steps=steps):
            pass

    def slowly(self, *places, steps=6):
        """A stroke as a generator: others can draw between two of its moves."""
        points = [self.at(*place) for place in places]
        self.page.mouse.move(*points[0])
        self.page.mouse.down()
        for start, end in zip(points, points[1:]):
            for step in range(1, steps + 1):
                share = step / steps
                self.page.mouse.move(start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
                yield
        self.page.mouse.up()
        yield

    def items(self):
        return self.frame.evaluate("() => window.drawing.items()")

    def text(self):
        return json.dumps(self.items(), sort_keys=True)

    def pending(self):
        return self.frame.evaluate("() => window.drawing.pending")

    # Waiting

    def wait(self, condition, what, timeout=10):
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f"{self.name}: no {what} within {timeout} s; console: {self.problems}"
            self.page.wait_for_timeout(20)

    def wait_for_items(self, count, timeout=10):
        self.wait(lambda: len(self.items()) == count and self.pending() == 0, f"{count} items (there are {len(self.items())})", timeout)


def same_picture(*people, timeout=10):
    """Waits until all are done and have the same items in the same order; gives these."""
    first, *others = people

    def equal():
        return all(person.pending() == 0 for person in people) and len({person.text() for person in people}) == 1

    first.wait(equal, f"common picture: {[len(person.items()) for person in people]} items", timeout)
    return first.items()


class Party:
    """A host with a group and a drawing session, and the people in it."""

    def __init__(self, browser, host, origin):
        self.browser = browser
        self.host = host
        self.origin = origin
        self.code = host.ready["code"]
        self.people = []

    def person(self, name, **context):
        self.people.append(Person(self, name, **context))
        return self.people[-1]

    def host_path(self):
        return self.host.ready["host_url"].partition("/j/")[2].join(["/j/", ""])
