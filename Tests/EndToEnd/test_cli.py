"""Contract section 7: commands, lines, exit codes."""

import json
import re
import signal
import subprocess

import pytest

from client import Client
from host import FIXTURES, Lines, binary, run


@pytest.fixture
def folder(tmp_path):
    """Activities good and broken."""
    (tmp_path / "good.lua").write_text(
        'return {\n  identifier = "org.test.good", version = 3,\n  metadata = { title = { en = "Good one", ["zh-Hans"] = "好" } },\n}\n')
    (tmp_path / "syntax.lua").write_text('local x = 1\n\nreturn {\n  identifier = \n}\n')
    (tmp_path / "schema.lua").write_text(
        'return {\n  identifier = "org.test.schema", metadata = { title = "S" },\n  messages = { add = { points = "integr" } },\n}\n')
    (tmp_path / "raises.lua").write_text('\nerror("at load")\n')
    (tmp_path / "Wrong Name.lua").write_text("return {}\n")
    (tmp_path / "paged").mkdir()
    (tmp_path / "paged" / "activity.lua").write_text('return { identifier = "org.test.paged", metadata = { title = "Paged" } }\n')
    return tmp_path


def test_version_is_one_line():
    result = run("--version")
    assert result.returncode == 0 and re.fullmatch(r"activityhost \d+\.\d+\.\d+\S*\n", result.stdout) and result.stderr == ""


def test_help_names_the_commands():
    result = run("help")
    assert result.returncode == 0 and all(command in result.stdout for command in ("start", "serve", "list"))
    assert run("--help").returncode == 0


@pytest.mark.parametrize("arguments", [
    ["dance"], ["serve", "--no-such-option"], ["serve", "--listen"], ["serve", "--listen", "nowhere"], ["serve", "--limit", "no_such_limit=1"],
    ["serve", "--limit", "participants=many"], ["serve", "--limit", "participants=-1"], ["start"], ["list", "--data"], ["serve", "--listen", "127.0.0.1:99999"],
    ["serve", "--public-url", "not a url"],
])
def test_wrong_usage_ends_with_2_and_says_what_to_do(arguments):
    result = run(*arguments)
    assert result.returncode == 2, (arguments, result)
    assert result.stdout == "" and result.stderr.strip()


def test_list_shows_titles_and_where_what_is_broken(folder):
    result = run("list", "--activities", str(folder), "--no-color")
    text = result.stdout + result.stderr
    assert "good" in text and "Good one" in text and "paged" in text
    assert "syntax.lua:" in text and "raises.lua:2" in text and "schema.lua" in text
    assert "\x1b" not in text


def test_list_json_prints_one_object_a_line(folder):
    result = run("list", "--json", "--activities", str(folder))
    rows = {row["name"]: row for row in map(json.loads, result.stdout.splitlines())}
    assert {"good", "syntax", "schema", "raises", "paged"} <= set(rows)
    assert rows["good"]["identifier"] == "org.test.good" and rows["good"]["version"] == 3
    assert rows["good"]["metadata"]["title"] == {"en": "Good one", "zh-Hans": "好"}
    for name, place in (("syntax", r"syntax\.lua:[45]"), ("raises", r"raises\.lua:2"), ("schema", "schema.lua")):
        assert re.search(place, json.dumps(rows[name])), rows[name]
    assert "did you mean" in json.dumps(rows["schema"]) or "integer" in json.dumps(rows["schema"])


def test_serve_json_prints_only_json(hosts):
    host = hosts()
    assert host.ready["event"] == "listening" and host.ready["url"].startswith("http://")
    assert re.fullmatch(r"127\.0\.0\.1:\d+", host.ready["listen"])
    host.signal(signal.SIGTERM)
    assert host.wait(5) == 0
    assert all(isinstance(json.loads(line), dict) for line in host.output.rest())


async def test_start_json_prints_the_group_first(hosts):
    host = hosts(start="talk")
    ready = host.ready
    assert ready["event"] == "started"
    assert set(ready) >= {"event", "url", "host_url", "code", "token", "session", "listen"}
    assert ready["url"].endswith(f"/j/{ready['code']}") and ready["token"] not in ready["url"]
    assert ready["host_url"].endswith(f"/j/{ready['code']}#seat={ready['token']}")
    async with await Client.attend(host, ready, "Ada") as ada:
        assert ada.joined["state"]["said"] == []
    async with await Client.enter(host, ready, "Hanna", token=ready["token"]) as hanna:
        assert hanna.member["role"] == "host"
    host.signal(signal.SIGINT)
    assert host.wait(5) == 0


async def test_start_asks_the_host_that_runs_on_this_machine_already(hosts):
    running = hosts()
    process = subprocess.Popen([binary(), "start", "talk", "--json", "--data", str(running.data), "--activities", str(FIXTURES)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        output = Lines(process.stdout)
        ready = json.loads(output.wait_for('"started"', timeout=15))
        assert ready["listen"] == running.ready["listen"]
        async with await Client.attend(running, ready, "Ada") as ada:
            assert ada.joined["state"]["said"] == []
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 0
        assert running.is_alive()
    finally:
        process.kill()
        process.wait()


async def test_start_takes_parameters(hosts):
    host = hosts("--title", "Minutes", start="talk")
    async with await Client.attend(host, host.ready, "Ada") as ada:
        assert ada.joined["parameters"] == {"title": "Minutes"}


def test_start_of_an_unknown_activity_fails_and_names_those_there_are(tmp_path):
    result = run("start", "no-such-thing", "--listen", "127.0.0.1:0", "--activities", str(FIXTURES), "--data", str(tmp_path))
    assert result.returncode == 1 and "no-such-thing" in result.stderr
    result = run("start", "tolk", "--listen", "127.0.0.1:0", "--activities", str(FIXTURES), "--data", str(tmp_path))
    assert result.returncode in (1, 2) and "talk" in result.stderr


def test_start_of_a_broken_activity_tells_file_and_line(folder, tmp_path):
    result = run("start", "raises", "--listen", "127.0.0.1:0", "--activities", str(folder), "--data", str(tmp_path / "data"))
    assert result.returncode == 1 and "raises.lua:2" in result.stderr


def test_start_prints_link_code_and_qr_for_people(tmp_path):
    process = subprocess.Popen(
        [binary(), "start", "talk", "--listen", "127.0.0.1:0", "--activities", str(FIXTURES), "--data", str(tmp_path), "--no-color"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        output = Lines(process.stdout)
        link = output.wait_for("/j/")
        code = re.search(r"/j/([A-Z]{6})", link).group(1)
        output.wait_for("█") if not any("█" in line or "▀" in line for line in output.all) else None
        process.send_signal(signal.SIGINT)
        text = "\n".join(output.rest())
        assert process.wait(5) == 0
        assert f"{code[:3]}-{code[3:]}" in text
        assert "this machine" in text.lower()
        assert "\x1b" not in text
    finally:
        process.kill()
        process.wait()


def test_doctor_tells_what_it_found():
    result = run("doctor")
    assert result.returncode in (0, 1) and "lua" in result.stdout.lower()


def test_settings_come_from_the_environment_and_a_flag_wins(hosts):
    host = hosts(environment={"ACTIVITYHOST_LISTEN": "127.0.0.1:1"})
    assert host.port != 1
    result = run("list", "--json", env={"PATH": "/usr/bin", "ACTIVITYHOST_ACTIVITIES": str(FIXTURES)})
    assert "talk" in [json.loads(line)["name"] for line in result.stdout.splitlines()]


async def test_a_script_dropped_into_the_folder_is_found_and_a_broken_save_disturbs_nothing(hosts, folder):
    host = hosts(activities=[folder])
    group = host.group("good")
    async with await Client.attend(host, group) as ada:
        (folder / "fresh.lua").write_text('return { identifier = "org.test.fresh", metadata = { title = "Fresh" } }\n')
        while (answer := await ada.start("fresh"))["type"] != "started":
            assert answer["code"] in ("no_such_activity", "rate_limited")
            await ada.host_time(passes=200)
        (folder / "good.lua").write_text("return {")
        await ada.host_time(passes=1500)
        assert (await ada.settle()) is not None
        assert not [envelope for envelope in ada.log if envelope["type"] == "invalidated"]
