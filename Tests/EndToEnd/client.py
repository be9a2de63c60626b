"""A client that speaks raw envelopes: it keeps every frame as it came, and waits for what a test names."""

import asyncio
import itertools
import json

import websockets
from websockets.asyncio.client import connect

PATIENCE = 8
ANSWERS = ("accepted", "joined", "rejected", "started")
_numbers = itertools.count(1)


def matches(envelope, wanted):
    return all(key in envelope and envelope[key] == value for key, value in wanted.items())


class Client:
    """One connection. `log` holds all envelopes in the order they came, `frames` the texts."""

    def __init__(self, socket):
        self.socket = socket
        self.frames = []
        self.log = []
        self.member = self.session = self.participant = self.joined = self.welcome = self.token = None
        self.code = None
        self.name = None
        self.client_id = f"c{next(_numbers)}"
        self._waiting = []
        self._refs = itertools.count(1)
        self._news = asyncio.Condition()
        self._open = True
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, host, port=None, **options):
        url = f"ws://127.0.0.1:{port}/v1/socket" if port else host.socket_url
        options = {"subprotocols": ["activityhost.v1"], "compression": None, "ping_interval": None, "max_size": None, "max_queue": None,
                   "open_timeout": PATIENCE, "close_timeout": 1, "proxy": None, **options}
        return cls(await connect(url, **options))

    @classmethod
    async def enter(cls, host, group, name="Ada", token=None, port=None, client=None):
        """Connects and says hello."""
        self = await cls.open(host, port=port)
        code = group["code"] if isinstance(group, dict) else group
        await self.hello(code, name, token=token, client=client)
        return self

    @classmethod
    async def attend(cls, host, group, name="Ada", token=None, port=None, client=None):
        """Connects, says hello and joins the group's session."""
        self = await cls.enter(host, group, name, token=token, port=port, client=client)
        await self.join(group["session"])
        return self

    async def _read(self):
        try:
            async for frame in self.socket:
                envelopes = json.loads(frame)
                async with self._news:
                    self.frames.append(frame)
                    self.log += envelopes
                    self._waiting += envelopes
                    self._news.notify_all()
        except websockets.ConnectionClosed:
            pass
        finally:
            async with self._news:
                self._open = False
                self._news.notify_all()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()

    async def close(self):
        await self.socket.close()
        await self._reader

    def cut(self):
        """Loses the connection without a word."""
        self.socket.transport.abort()

    # Sending

    async def raw(self, text):
        await self.socket.send(text)

    async def put(self, *envelopes):
        await self.socket.send(json.dumps(envelopes, separators=(",", ":")))

    def ref(self):
        return next(self._refs)

    async def request(self, type, **fields):
        """Sends one request with a ref of its own and gives its answer."""
        ref = fields.pop("ref", None) or self.ref()
        await self.put({"type": type, "ref": ref, **fields})
        return await self.answer(ref)

    async def hello(self, code, name="Ada", token=None, client=None, **fields):
        self.code, self.name = code, name
        self.client_id = client or self.client_id
        await self.put({"type": "hello", "protocol": 1, "group": code, "name": name, "token": token, "client": self.client_id,
                        "locale": "en", **fields})
        self.welcome = await self.next("welcome")
        self.member, self.token = self.welcome["member"], self.welcome["token"]
        self._refs = itertools.count(self.welcome["acknowledged"] + 1)
        return self.welcome

    async def start(self, activity, parameters=None, replaces=None):
        return await self.request("start", activity=activity, parameters=parameters or {}, replaces=replaces)

    async def join(self, session, participant=None, since=None):
        answer = await self.request("join", session=session, participant=participant, since=since)
        if answer["type"] == "joined":
            self.session, self.participant, self.joined = session, answer["participant"], answer
        return answer

    async def send(self, name, body, **fields):
        return await self.request("send", session=fields.pop("session", self.session), name=name, body=body, **fields)

    async def post(self, name, body, **fields):
        await self.put({"type": "send", "session": self.session, "name": name, "body": body, **fields})

    # Receiving

    async def next(self, type=None, timeout=PATIENCE, **wanted):
        """The first envelope not taken yet that has this type and these members; it is taken, the others stay."""
        if type is not None:
            wanted["type"] = type
        return await self.until(lambda envelope: matches(envelope, wanted), timeout=timeout, what=wanted)

    async def until(self, condition, timeout=PATIENCE, what="an envelope"):
        async with self._news:
            try:
                async with asyncio.timeout(timeout):
                    while True:
                        for index, envelope in enumerate(self._waiting):
                            if condition(envelope):
                                return self._waiting.pop(index)
                        if not self._open:
                            raise AssertionError(f"closed with {self.socket.close_code} before {what} came; last: {self.log[-5:]}")
                        await self._news.wait()
            except TimeoutError:
                raise AssertionError(f"{self.name}: no {what} within {timeout} s; last: {self.log[-5:]}") from None

    async def answer(self, ref, timeout=PATIENCE):
        return await self.until(
            lambda envelope: envelope.get("ref") == ref and envelope["type"] in ANSWERS, timeout=timeout, what=f"answer to {ref}")

    async def message(self, name, timeout=PATIENCE, **wanted):
        return await self.next("message", timeout=timeout, name=name, **wanted)

    async def settle(self):
        """Waits until the host has handled all that was sent before, and gives what came meanwhile without taking it."""
        mark = next(_numbers)
        await self.put({"type": "ping", "time": mark})
        await self.next("pong", time=mark)
        return list(self._waiting)

    async def host_time(self, passes):
        """Asks the host for the time until this many milliseconds have gone by there."""
        start = None
        while True:
            await self.put({"type": "ping", "time": 0})
            received = (await self.next("pong", time=0))["received"]
            start = start or received
            if received - start >= passes:
                return
            await asyncio.sleep(0.005)

    async def closed(self, timeout=PATIENCE):
        """The close code."""
        async with asyncio.timeout(timeout):
            await self.socket.wait_closed()
            await self._reader
        return self.socket.close_code

    def messages(self, name=None):
        return [envelope for envelope in self.log if envelope["type"] == "message" and (name is None or envelope["name"] == name)]
