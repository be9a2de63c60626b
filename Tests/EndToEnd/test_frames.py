"""C031 and RFC 6455: WebSocket bytes that are wrong, and some that only look so."""

import json
import time

import pytest

from raw import BINARY, CLOSE, CONTINUATION, PING, PONG, Raw, TEXT, frame_bytes


@pytest.fixture
def upgraded(host):
    with Raw(host) as raw:
        assert raw.upgrade() == 101
        yield raw


@pytest.fixture
def witness(host):
    """Another connection that has to stay untouched."""
    group = host.group("relay")
    with Raw(host) as raw:
        assert raw.upgrade() == 101
        raw.hello(group, "Witness")
        yield raw
        raw.send({"type": "ping", "time": 7})
        assert raw.read_until("pong")[-1]["time"] == 7


def test_the_upgrade_answers_with_the_subprotocol_and_the_key(host):
    with Raw(host) as raw:
        raw.write(
            f"GET /v1/socket HTTP/1.1\r\nHost: {host.authority}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: activityhost.v1\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
        head = raw.read_head().lower()
        assert head.startswith("http/1.1 101") and "s3pplmbitxaq9kygzzhzrbk+xoo=" in head
        assert "sec-websocket-protocol: activityhost.v1" in head and "permessage-deflate" not in head


def test_a_control_frame_in_the_middle_of_a_fragmented_message_is_answered(host):
    group = host.group("relay")
    with Raw(host) as raw:
        assert raw.upgrade() == 101
        hello = json.dumps([{"type": "hello", "protocol": 1, "group": group["code"], "name": "Ada", "token": None, "client": "x"}])
        raw.frame(TEXT, hello[:20], fin=False)
        raw.frame(PING, "x")
        raw.frame(CONTINUATION, hello[20:])
        assert raw.read_frame() == (PONG, b"x")
        assert raw.read_until("welcome")


WRONG = {
    "a ping in fragments": frame_bytes(PING, b"x", fin=False),
    "a ping of 126 bytes": frame_bytes(PING, b"x" * 126),
    "a continuation first": frame_bytes(CONTINUATION, b"x"),
    "a text inside a fragmented text": frame_bytes(TEXT, b"[", fin=False) + frame_bytes(TEXT, b"]"),
    "RSV1 without the extension": frame_bytes(TEXT, b"[]", rsv=4),
    "RSV2": frame_bytes(TEXT, b"[]", rsv=2),
    "RSV3": frame_bytes(TEXT, b"[]", rsv=1),
    "a frame that is not masked": frame_bytes(TEXT, b"[]", mask=False),
    "opcode 3": frame_bytes(3, b"x"),
    "opcode 11": frame_bytes(11, b"x"),
    "a length with the top bit set": b"\x81\xff" + b"\xff" * 8 + b"abcd",
    "a close of one byte": frame_bytes(CLOSE, b"x"),
    "a close with a reserved code": frame_bytes(CLOSE, (1005).to_bytes(2, "big")),
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG.keys())
def test_a_protocol_error_closes_with_1002_and_touches_nobody_else(upgraded, witness, data):
    upgraded.write(data)
    assert upgraded.close_code() == 1002


def test_a_length_of_a_terabyte_is_refused_without_waiting_for_it(upgraded, witness):
    upgraded.write(b"\x81\xff" + (1 << 40).to_bytes(8, "big") + b"abcd")
    assert upgraded.close_code() == 1009


def test_a_frame_over_frame_bytes_closes_with_1009_and_one_that_fits_does_not(host, witness):
    group = host.group("relay")
    with Raw(host) as raw:
        assert raw.upgrade() == 101
        raw.hello(group)
        raw.frame(TEXT, "[" + " " * (1048576 - 26) + '{"type":"ping","time":1}]')
        assert raw.read_until("pong")
        raw.frame(TEXT, "[" + " " * 1048576 + "]")
        assert raw.close_code() == 1009


def test_fragments_that_add_up_to_too_much_close_with_1009(upgraded, witness):
    upgraded.frame(TEXT, "[", fin=False)
    for _ in range(40):
        if not upgraded.frame(CONTINUATION, " " * 65536, fin=False):
            break
    assert upgraded.close_code() == 1009


def test_a_million_empty_fragments_cost_nothing(host, upgraded, witness):
    before, started = host.resident_bytes(), time.monotonic()
    upgraded.frame(TEXT, "[", fin=False)
    piece = frame_bytes(CONTINUATION, b"", fin=False) * 10000
    for _ in range(100):
        if not upgraded.write(piece):
            break
    else:
        upgraded.frame(CONTINUATION, '{"type":"x"}]')
    # Closed for the protocol error, for anything before hello, or for the flood: closed in the end.
    assert upgraded.close_code() in (1002, 1009)
    assert host.resident_bytes() - before < 8 << 20 and time.monotonic() - started < 8


@pytest.mark.parametrize(("opcode", "payload", "code"), [
    (TEXT, b"[\"\xff\x80\"]", 1007), (TEXT, b"[\"\xed\xa0\x80\"]", 1007), (TEXT, b"[\"\xc0\xaf\"]", 1007), (BINARY, b"[]", 1003),
])
def test_text_that_is_no_utf_8_and_binary_frames_are_refused(upgraded, witness, opcode, payload, code):
    upgraded.frame(opcode, payload)
    assert upgraded.close_code() == code


def test_a_character_split_between_two_fragments_is_whole(host):
    group = host.group("relay")
    with Raw(host) as raw:
        assert raw.upgrade() == 101
        raw.hello(group)
        text = '[{"type":"rename","ref":5,"name":"Zoë 🙂"}]'.encode()
        for index in range(len(text)):
            raw.frame(CONTINUATION if index else TEXT, text[index:index + 1], fin=index == len(text) - 1)
        assert raw.read_until("accepted")


def test_a_close_is_answered_with_a_close(host):
    group = host.group("relay")
    with Raw(host) as raw:
        assert raw.upgrade() == 101
        raw.hello(group)
        raw.frame(CLOSE, (1000).to_bytes(2, "big") + b"bye")
        assert raw.close_code() == 1000


def test_the_upgrade_wants_the_right_version_and_path(host):
    with Raw(host) as raw:
        assert raw.upgrade(Sec_WebSocket_Version="12") in (400, 426)
    with Raw(host) as raw:
        assert raw.upgrade(path="/v1/other") in (400, 404, 426)
    with Raw(host) as raw:
        assert raw.upgrade(Sec_WebSocket_Key=None) in (0, 400)
