"""Plain sockets: bytes as they are, for what no well-behaved client does."""

import json
import os
import socket
import struct
import time

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
TEXT, BINARY, CLOSE, PING, PONG, CONTINUATION = 1, 2, 8, 9, 10, 0


class Raw:
    """One TCP connection with deadlines."""

    def __init__(self, host, timeout=8, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", host.port))
        self.host = host
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def write(self, data):
        """False when the host has closed its side."""
        try:
            self.socket.sendall(data if isinstance(data, bytes) else data.encode())
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def read_more(self):
        """More bytes, or False at the end of the stream."""
        try:
            piece = self.socket.recv(65536)
        except ConnectionResetError:
            piece = b""
        self.buffer += piece
        return bool(piece)

    def read_exactly(self, count):
        while len(self.buffer) < count:
            if not self.read_more():
                raise EOFError
        piece, self.buffer = self.buffer[:count], self.buffer[count:]
        return piece

    def read_to_end(self, limit=1 << 22):
        """Everything until the host closes. Raises TimeoutError when it doesn't."""
        while len(self.buffer) < limit and self.read_more():
            pass
        return self.buffer

    # HTTP

    def read_head(self):
        while b"\r\n\r\n" not in self.buffer:
            if not self.read_more():
                break
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        return head.decode("latin-1")

    def status(self):
        """The status of the answer; 0 when the connection was closed without one."""
        head = self.read_head()
        return int(head.split(" ")[1]) if head.startswith("HTTP/1.1 ") else 0

    # WebSocket

    def upgrade(self, path="/v1/socket", **headers):
        """Asks for the upgrade; gives the status."""
        fields = {"Host": self.host.authority, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                  "Sec-WebSocket-Key": KEY, "Sec-WebSocket-Protocol": "activityhost.v1",
                  **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items() if value is not None)]
        self.write("\r\n".join(lines) + "\r\n\r\n")
        return self.status()

    def frame(self, opcode, payload=b"", fin=True, rsv=0, mask=True):
        payload = payload if isinstance(payload, bytes) else payload.encode()
        return self.write(frame_bytes(opcode, payload, fin, rsv, mask))

    def send(self, *envelopes):
        return self.frame(TEXT, json.dumps(envelopes))

    def read_frame(self):
        first, second = self.read_exactly(2)
        assert not second & 0x80, "frames from the host are never masked"
        length = second & 0x7F
        if length == 126:
            length, = struct.unpack(">H", self.read_exactly(2))
        elif length == 127:
            length, = struct.unpack(">Q", self.read_exactly(8))
        return first & 0x0F, self.read_exactly(length)

    def read_envelopes(self):
        """The next envelopes; None when the host closed."""
        while True:
            try:
                opcode, payload = self.read_frame()
            except EOFError:
                return None
            if opcode == TEXT:
                return json.loads(payload)
            if opcode == CLOSE:
                return None
            if opcode == PING:
                self.frame(PONG, payload)

    def read_until(self, type, deadline=8):
        """Envelopes up to and with the first of this type."""
        seen = []
        end = time.monotonic() + deadline
        while time.monotonic() < end:
            envelopes = self.read_envelopes()
            assert envelopes is not None, (type, seen[-3:])
            seen += envelopes
            if any(envelope["type"] == type for envelope in envelopes):
                return seen
        raise AssertionError(f"no {type}; there was {[envelope['type'] for envelope in seen]}")

    def close_code(self):
        """The code that the host closes with, or 1006 when it closed without one."""
        try:
            while True:
                opcode, payload = self.read_frame()
                if opcode == CLOSE:
                    return struct.unpack(">H", payload[:2])[0] if payload else 1005
        except EOFError:
            return 1006

    def hello(self, group, name="Raw"):
        self.send({"type": "hello", "protocol": 1, "group": group["code"], "name": name, "token": None, "client": "raw", "locale": "en"})
        return self.read_until("welcome")[-1]

    def join(self, session):
        self.send({"type": "join", "ref": 1, "session": session, "participant": None, "since": None})
        return next(envelope for envelope in self.read_until("joined") if envelope["type"] == "joined")


def frame_bytes(opcode, payload=b"", fin=True, rsv=0, mask=True):
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    flag = 0x80 if mask else 0
    if len(payload) < 126:
        head = struct.pack(">BB", first, flag | len(payload))
    elif len(payload) < 65536:
        head = struct.pack(">BBH", first, flag | 126, len(payload))
    else:
        head = struct.pack(">BBQ", first, flag | 127, len(payload))
    if not mask:
        return head + payload
    key = os.urandom(4)
    repeated = (key * (len(payload) // 4 + 1))[:len(payload)]
    masked = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(payload), "big")
    return head + key + masked


def request(host, text):
    """Sends raw request bytes; gives the status of the first answer and its body's start."""
    with Raw(host) as raw:
        raw.write(text)
        status = raw.status()
        return status, raw.buffer
