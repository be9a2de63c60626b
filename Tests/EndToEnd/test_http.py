"""Contract section 6: routes, files, origins, framing."""

import json
import os

import pytest

from raw import Raw, request


def test_health_routes_answer(host):
    assert host.request("GET", "/healthz")[0] == 200
    assert host.request("GET", "/readyz")[0] == 200
    status, headers, body = host.request("GET", "/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain") and b"# TYPE" in body


def test_pages_are_served_with_a_strict_policy(host):
    group = host.group("relay")
    for path in ("/", f"/j/{group['code']}"):
        status, headers, body = host.request("GET", path)
        assert status == 200 and headers["Content-Type"].startswith("text/html"), path
        policy = headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy and "unsafe-inline" not in policy and "unsafe-eval" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert b"<script>" not in body
        assert "Server" not in headers


def test_the_browser_sdk_is_a_module(host):
    status, headers, body = host.request("GET", "/sdk/activityhost.js")
    assert status == 200 and "javascript" in headers["Content-Type"] and b"export" in body


def test_head_gives_what_get_gives_without_the_body(host):
    _, got, body = host.request("GET", "/sdk/activityhost.js")
    status, headers, nothing = host.request("HEAD", "/sdk/activityhost.js")
    assert status == 200 and nothing == b"" and headers["Content-Length"] == got["Content-Length"] == str(len(body))


def test_a_group_is_made_and_shown(host):
    status, headers, body = host.request("POST", "/v1/groups", {"activity": "talk", "parameters": {"title": "Minutes"}})
    group = json.loads(body)
    assert status == 201 and set(group) >= {"code", "url", "token", "session"}
    assert headers["Content-Type"].startswith("application/json")
    assert f"/j/{group['code']}" in group["url"] and group["token"] not in group["url"]
    card = host.get_json(f"/v1/groups/{group['code'][:3].lower()}-{group['code'][3:]}")
    text = json.dumps(card)
    assert "Talk" in text and group["token"] not in text


@pytest.mark.parametrize(("body", "statuses"), [
    ({"activity": "no-such-thing", "parameters": {}}, (400, 404)), ({"activity": "talk", "parameters": {"title": 5}}, (400, 422)),
    ({"activity": 5}, (400, 422)), ("not json", (400,)), ("[]", (400, 422)), ("", (400, 422)), ({"activity": "../talk", "parameters": {}}, (400, 404)),
])
def test_a_bad_request_for_a_group_is_refused_with_a_code(host, body, statuses):
    status, _, answer = host.request("POST", "/v1/groups", body, {"Content-Type": "application/json"})
    assert status in statuses, (status, answer)
    assert isinstance(json.loads(answer), dict)


def test_a_body_that_is_too_long_is_refused(host):
    status, _, _ = host.request("POST", "/v1/groups", json.dumps({"activity": "x" * (2 << 20)}), {"Content-Type": "application/json"})
    assert status == 413


def test_activities_are_listed_with_schemas(host):
    activities = host.get_json("/v1/activities")
    rows = activities if isinstance(activities, list) else activities["activities"]
    talk = next(row for row in rows if row["name"] == "talk")
    assert talk["identifier"] == "org.activityhost.test.talk"
    one = host.get_json("/v1/activities/talk")
    text = json.dumps(one)
    assert "echo_three" in text and '"type": "object"' in text
    assert host.request("GET", "/v1/activities/no-such-thing")[0] == 404


def test_the_errors_of_broken_activities_are_for_the_operator(hosts, tmp_path):
    (tmp_path / "broken.lua").write_text("\nreturn {\n")
    host = hosts("--public-url", "http://party.test", activities=[tmp_path])
    bearer = {"Authorization": f"Bearer {(host.data / 'operator-token').read_text().strip()}"}
    assert b"broken.lua:" in host.request("GET", "/v1/activities", headers=bearer)[2]
    status, _, body = host.request("GET", "/v1/activities")
    assert status == 200 and b"broken.lua:" not in body


def test_unknown_paths_and_methods_are_refused(host):
    assert host.request("GET", "/nothing/here")[0] == 404
    assert host.request("DELETE", "/v1/groups")[0] in (404, 405)
    assert host.request("GET", "/v1/socket")[0] in (400, 426)


def test_exports_are_for_those_with_a_seat(host):
    group = host.group("clock")
    path = f"/v1/groups/{group['code']}/sessions/{group['session']}/export/csv"
    bearer = {"Authorization": f"Bearer {group['token']}"}
    status, headers, body = host.request("GET", path, headers=bearer)
    assert (status, body) == (200, b"member,vote\n")
    assert headers["Content-Type"].startswith("text/csv") and headers["Content-Disposition"].startswith("attachment")
    assert host.request("GET", path, headers={"Authorization": "Bearer wrong"})[0] in (401, 403)
    assert host.request("GET", path.replace("csv", "broken"), headers=bearer)[0] == 500
    assert host.request("GET", path.replace("csv", "nothing"), headers=bearer)[0] == 404


def test_with_a_public_url_only_the_token_makes_an_operator(hosts):
    host = hosts("--public-url", "http://party.test")
    body = json.dumps({"activity": "relay", "parameters": {}})
    kind = {"Content-Type": "application/json"}
    assert host.request("POST", "/v1/groups", body, kind)[0] in (401, 403)
    assert host.request("GET", "/metrics")[0] in (401, 403)
    file = host.data / "operator-token"
    assert file.stat().st_mode & 0o777 == 0o600
    bearer = {"Authorization": f"Bearer {file.read_text().strip()}"}
    assert host.request("POST", "/v1/groups", body, {**kind, **bearer})[0] == 201
    assert host.request("GET", "/metrics", headers=bearer)[0] == 200


@pytest.mark.parametrize("header", ["Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4"])
def test_a_forwarded_request_from_loopback_is_not_the_operators(host, header):
    name, _, value = header.partition(": ")
    assert host.request("GET", "/metrics", headers={name: value})[0] in (401, 403)


ORIGINS = ["https://evil.example", "null", "http://127.0.0.1.evil.example", "http://10.0.0.9", "http://127.0.0.1:1", "http://localhost.evil.example"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_cross_origin_upgrades_and_posts_are_refused(host, origin):
    with Raw(host) as raw:
        assert raw.upgrade(Origin=origin) == 403
    for kind in ("text/plain", "application/json"):
        status, _, _ = host.request("POST", "/v1/groups", '{"activity":"relay","parameters":{}}', {"Origin": origin, "Content-Type": kind})
        assert status == 403


def test_same_origin_and_no_origin_are_fine(host):
    for origin in (None, f"http://{host.authority}", f"http://localhost:{host.port}"):
        with Raw(host) as raw:
            authority = origin.removeprefix("http://") if origin else host.authority
            assert raw.upgrade(Origin=origin, Host=authority) == 101


@pytest.mark.parametrize("name", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_host_name_that_was_not_given_is_refused(host, name):
    status, _ = request(host, f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n")
    assert 400 <= status < 500
    with Raw(host) as raw:
        assert 400 <= raw.upgrade(Host=name) < 500


# C036

@pytest.fixture
def planted(hosts, tmp_path):
    """A host with an activity that has a page, dot files and links that lead out, and a secret above them."""
    (tmp_path / "secret.txt").write_text("SECRET")
    page = tmp_path / "activities" / "shown" / "page"
    (page / "sub").mkdir(parents=True)
    (page.parent / "activity.lua").write_text('return { identifier = "org.test.shown", metadata = { title = "Shown SECRET" } }\n')
    (page.parent / "secret.txt").write_text("SECRET")
    (page / "index.html").write_text("<!doctype html><title>shown</title>")
    (page / "sub" / "a file.txt").write_text("hello")
    (page / "big.bin").write_bytes(bytes(range(256)) * 16)
    (page / ".hidden").write_text("SECRET")
    (page / ".git").mkdir()
    (page / ".git" / "config").write_text("SECRET")
    (page / "link.txt").symlink_to(tmp_path / "secret.txt")
    (page / "folder-link").symlink_to(tmp_path)
    (page / "inner-link.txt").symlink_to(page / "index.html")
    return hosts(activities=[tmp_path / "activities"])


TRAVERSALS = [
    "/../secret.txt", "/%2e%2e/secret.txt", "/%252e%252e/secret.txt", "/..%2fsecret.txt", "/..%5csecret.txt", "/a/..//../secret.txt", "//etc/passwd",
    "/x%00.html", "/.git/config", "/activities/shown/../secret.txt", "/activities/shown/../activity.lua", "/activities/shown/%2e%2e/activity.lua",
    "/activities/shown/..%2factivity.lua", "/activities/shown/activity.lua", "/activities/shown/.hidden", "/activities/shown/.git/config",
    "/activities/shown/%2ehidden", "/activities/shown/link.txt", "/activities/shown/folder-link/secret.txt", "/activities/shown/inner-link.txt",
    "/activities/../secret.txt", "/activities/%2e%2e/secret.txt", "/activities/shown/index.html%00.txt", "/activities/shown/sub/../../secret.txt",
    "/activities/shown/sub/..%2f..%2f..%2fsecret.txt", "/activities/shown/%ff", "/activities/shown/%", "/activities/shown/%zz",
    "/sdk/../../Package.swift", "/sdk/%2e%2e/index.html", "/web/../sdk/../../Package.swift", "/activities/shown/./../activity.lua",
    "/activities//shown/activity.lua", "/activities/SHOWN/../shown/activity.lua",
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_nothing_outside_a_page_is_served(planted, path):
    status, body = request(planted, f"GET {path} HTTP/1.1\r\nHost: {planted.authority}\r\nConnection: close\r\n\r\n")
    assert status in (400, 403, 404) and b"SECRET" not in body and b"identifier" not in body and b"root:" not in body


def test_files_of_a_page_are_served(planted):
    status, headers, body = planted.request("GET", "/activities/shown/")
    assert status == 200 and headers["Content-Type"].startswith("text/html") and b"shown" in body
    assert planted.request("GET", "/activities/shown/sub/a%20file.txt")[2] == b"hello"
    assert planted.request("GET", "/activities/shown/sub/")[0] == 404
    assert planted.request("GET", "/activities/shown/missing.txt")[0] == 404


def test_media_is_served_with_exact_ranges(hosts, tmp_path):
    content = os.urandom(100000)
    (tmp_path / "clip.mp4").write_bytes(content)
    host = hosts("--media", str(tmp_path))
    status, headers, body = host.request("GET", "/media/clip.mp4")
    assert (status, body) == (200, content) and headers["Accept-Ranges"] == "bytes"
    for given, first, last in (("bytes=0-0", 0, 0), ("bytes=500-999", 500, 999), ("bytes=99990-", 99990, 99999), ("bytes=-10", 99990, 99999),
                               ("bytes=99990-200000", 99990, 99999)):
        status, headers, body = host.request("GET", "/media/clip.mp4", headers={"Range": given})
        assert status == 206 and body == content[first:last + 1], given
        assert headers["Content-Range"] == f"bytes {first}-{last}/100000"
    status, headers, _ = host.request("GET", "/media/clip.mp4", headers={"Range": "bytes=100000-"})
    assert status == 416 and headers["Content-Range"] == "bytes */100000"
    for path in ("/media/../operator-token", "/media/%2e%2e/operator-token", "/media/"):
        assert host.request("GET", path)[0] in (400, 404)


# C034

FRAMING = {
    "an unknown transfer encoding": "Transfer-Encoding: xchunked\r\n\r\n",
    "a space before the colon": "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a length and chunks": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "two lengths in one header": "Content-Length: 5, 6\r\n\r\nhello",
    "a negative length": "Content-Length: -5\r\n\r\n",
    "a length with a sign": "Content-Length: +5\r\n\r\nhello",
    "a length that is no number": "Content-Length: five\r\n\r\nhello",
    "a folded header": "X-A: 1\r\n continued\r\nContent-Length: 0\r\n\r\n",
    "a header without a colon": "nothing\r\n\r\n",
    "a NUL in a header": "X-A: a\0b\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.parametrize("headers", FRAMING.values(), ids=FRAMING.keys())
def test_ambiguous_framing_is_refused_and_the_connection_closed(host, headers):
    with Raw(host) as raw:
        raw.write(f"POST /v1/groups HTTP/1.1\r\nHost: {host.authority}\r\n{headers}"
                  f"GET /healthz HTTP/1.1\r\nHost: {host.authority}\r\n\r\n")
        answer = raw.read_to_end()
        assert answer.count(b"HTTP/1.1 ") <= 1 and (not answer or answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501")))


@pytest.mark.parametrize("text", [
    "GET /healthz HTTP/1.1\nHost: {authority}\n\n", "GET /healthz HTTP/3.0\r\nHost: {authority}\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x00\xa5\x01\r\n\r\n",
    "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: {authority}\r\n\r\n", "GET /healthz HTTP/1.1\r\n\r\n", "GET  /healthz HTTP/1.1\r\nHost: {authority}\r\n\r\n",
])
def test_request_lines_that_are_none_are_refused(host, text):
    with Raw(host) as raw:
        raw.write(text.format(authority=host.authority))
        raw.socket.shutdown(1)
        answer = raw.read_to_end()
        assert b" 200 " not in answer.partition(b"\r\n")[0]


@pytest.mark.parametrize("start", [
    "GET /" + "a" * 10_000_000, "GET / HTTP/1.1\r\nHost: x\r\nX-Big: " + "a" * 10_000_000, "GET / HTTP/1.1\r\n" + "a: 1\r\n" * 1_000_000,
])
def test_endless_headers_are_cut_off(host, start):
    before = host.resident_bytes()
    with Raw(host) as raw:
        raw.write(start)
        try:
            answer = raw.read_to_end()
        except TimeoutError:
            raise AssertionError("the host goes on reading headers") from None
        assert not answer or answer.split(b" ")[1] in (b"400", b"414", b"431")
    assert host.resident_bytes() - before < 4 << 20


def test_a_connection_is_kept_for_the_next_request(host):
    with Raw(host) as raw:
        for _ in range(3):
            raw.write(f"GET /healthz HTTP/1.1\r\nHost: {host.authority}\r\n\r\n")
            head = raw.read_head()
            assert head.startswith("HTTP/1.1 200")
            length = next(int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length"))
            raw.read_exactly(length)


def test_activities_without_a_page_get_the_generic_one(host):
    status, headers, _ = host.request("GET", "/activities/talk/")
    assert status == 200 and headers["Content-Type"].startswith("text/html")
