"""Contract section 3.1: what a schema takes, what it refuses and with which path; values survive the way through the state."""

import json

import pytest

from client import Client

GOOD = [
    ("text", '""'), ("text", '"é 🙂 \\u0000 \\"quoted\\" \\\\ /"'), ("text", json.dumps("x" * 500)), ("text", json.dumps("🙂" * 500, ensure_ascii=False)),
    ("short", '"äöü"'), ("ranged", '"ab"'), ("ranged", '"abcd"'),
    ("whole", "0"), ("whole", "-1"), ("whole", "9007199254740993"), ("whole", "9223372036854775807"), ("whole", "-9223372036854775808"),
    ("small", "-5"), ("small", "5"),
    ("real", "0.1"), ("real", "0.30000000000000004"), ("real", "1"), ("real", "5e-324"), ("real", "1e308"), ("real", "-0.5"), ("real", "1e21"),
    ("bounded", "0"), ("bounded", "1"), ("bounded", "0.5"),
    ("flag", "true"), ("flag", "false"), ("ident", '"A-z_9"'), ("ident", json.dumps("x" * 64)),
    ("unique", '"123e4567-e89b-12d3-a456-426614174000"'), ("tint", '"#00ff7F"'), ("choice", '"b"'),
    ("anything", '[1,1.5,"x",null,true,{"a":{"b":[]}}]'), ("anything", '{"z":1,"a":2,"m":{}}'),
    ("numbers", "[]"), ("numbers", "[1,2.5,-3]"), ("point", '{"x":1,"y":2.5}'),
    ("points", '[{"x":1,"y":2},{"x":3,"y":4}]'), ("counts", '{"b":1,"a":2}'),
]

BAD = [
    ("text", "7", "value"), ("text", "null", "value"), ("text", json.dumps("x" * 501), "value"), ("text", '"\\ud800"', None),
    ("text", '"\\udc00x"', None), ("short", '"abcd"', "value"), ("ranged", '"a"', "value"), ("ranged", '"abcde"', "value"),
    ("whole", "5.0", "value"), ("whole", "1.5", "value"), ("whole", '"5"', "value"), ("whole", "18446744073709551616", "value"),
    ("whole", "9223372036854775808", "value"), ("whole", "true", "value"), ("small", "6", "value"), ("small", "-6", "value"),
    ("real", "1e400", None), ("real", '"1"', "value"), ("real", "[1]", "value"), ("bounded", "1.1", "value"), ("bounded", "-0.1", "value"),
    ("flag", "1", "value"), ("flag", '"true"', "value"), ("ident", '""', "value"), ("ident", '"a b"', "value"), ("ident", json.dumps("x" * 65), "value"),
    ("unique", '"123e4567e89b12d3a456426614174000"', "value"), ("tint", '"red"', "value"), ("tint", '"#12345"', "value"),
    ("tint", '"red\\" onmouseover=\\"alert(1)"', "value"), ("choice", '"d"', "value"), ("numbers", "[1,2,3,4]", "value"),
    ("numbers", '[1,"2"]', "value[2]"), ("numbers", '{"1":1}', "value"), ("point", '{"x":1}', "value.y"), ("point", '{"x":1,"y":2,"z":3}', "value.z"),
    ("point", '{"x":1,"y":"2"}', "value.y"), ("points", '[{"x":1,"y":2},{"x":1,"y":null}]', "value[2].y"),
    ("points", '[{"x":1,"y":2},{"x":1,"y":2},{"x":1,"y":2}]', "value"), ("counts", '{"a":1.5}', "value.a"), ("anything", "[" * 20 + "]" * 20, None),
]


async def give(person, name, value):
    """Sends a body whose text is given exactly."""
    ref = person.ref()
    await person.raw(f'[{{"type":"send","ref":{ref},"session":"{person.session}","name":"{name}","body":{{"value":{value}}}}}]')
    return await person.answer(ref)


async def test_good_values_come_back_as_they_went_and_survive_in_the_state(host):
    group = host.group("types")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        for name, value in GOOD:
            accepted = await give(ada, name, value)
            assert accepted["type"] == "accepted", (name, value, accepted)
            message = await ben.message(name, seq=accepted["seq"])
            assert message["body"]["value"] == json.loads(value), (name, value)
            assert type(message["body"]["value"]) is type(json.loads(value)), (name, value)
        async with await Client.attend(host, group, "Cem") as cem:
            last = {name: json.loads(value) for name, value in GOOD}
            # An empty object may come back as an empty list: Lua knows no difference.
            kept = cem.joined["state"]["kept"]
            for name, value in last.items():
                assert kept[name] == value or (name == "anything" and kept[name]["m"] in ({}, [])), name
            assert list(kept["counts"]) == sorted(kept["counts"])


async def test_numbers_keep_their_kind_on_the_wire(host):
    group = host.group("types")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        for value in ("1", "1.0", "9007199254740993", "0.1", "-0.0", "1e21", "123456789012345680000.0"):
            seq = (await give(ada, "anything", value))["seq"]
            body = (await ben.message("anything", seq=seq))["body"]["value"]
            assert repr(body) == repr(json.loads(value)), value


async def test_bad_values_are_refused_with_their_path_and_the_handler_does_not_run(host):
    group = host.group("types")
    async with await Client.attend(host, group, "Ada") as ada:
        for name, value, path in BAD:
            rejected = await give(ada, name, value)
            assert rejected.get("code") == "invalid_message", (name, value[:60], rejected)
            assert path is None or rejected["path"] == path, (name, value[:60], rejected)
            assert path is None or rejected["message"].startswith(f"{path}: "), rejected
        async with await Client.attend(host, group, "Ben") as ben:
            assert ben.joined["state"]["kept"] in ({}, [])


@pytest.mark.parametrize(("body", "path"), [
    ("{}", "value"), ('{"value":1,"extra":2}', "extra"), ("[]", None), ("7", None), ('"x"', None), ("null", None),
])
async def test_missing_and_unknown_fields_and_bodies_of_another_kind_are_refused(host, body, path):
    group = host.group("types")
    async with await Client.attend(host, group) as ada:
        await ada.raw(f'[{{"type":"send","ref":9,"session":"{group["session"]}","name":"whole","body":{body}}}]')
        rejected = await ada.answer(9)
        assert rejected["code"] == "invalid_message" and (path is None or rejected["path"] == path)


async def test_duplicate_keys_are_refused(host):
    group = host.group("types")
    async with await Client.attend(host, group) as ada:
        for body in ('{"value":1,"value":2}', '{"value":1,"v\\u0061lue":2}'):
            await ada.raw(f'[{{"type":"send","ref":{ada.ref()},"session":"{group["session"]}","name":"whole","body":{body}}}]')
            assert (await ada.next("rejected"))["code"] == "invalid_message"
        assert (await give(ada, "anything", '{"a":{"b":1,"b":2}}'))["code"] == "invalid_message"


async def test_the_message_of_the_contract_for_a_wrong_type_is_given(host):
    group = host.group("types")
    async with await Client.attend(host, group) as ada:
        rejected = await give(ada, "whole", '"5"')
        assert rejected["message"] == "value: integer expected, got string"


async def test_an_optional_field_may_be_absent_or_null(host):
    group = host.group("types")
    async with await Client.attend(host, group) as ada:
        for body in ("{}", '{"value":null}', '{"value":"x"}'):
            ref = ada.ref()
            await ada.raw(f'[{{"type":"send","ref":{ref},"session":"{group["session"]}","name":"maybe","body":{body}}}]')
            assert (await ada.answer(ref))["type"] == "accepted", body


async def test_deep_nesting_hurts_nobody(host):
    group = host.group("types")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        for value in ("[" * 100000 + "]" * 100000, '{"a":' * 40000 + "1" + "}" * 40000, '{"v":[' * 256 + "]}" * 256):
            rejected = await give(ada, "anything", value)
            assert rejected["code"] in ("invalid_message", "invalid_frame", "too_large")
        await ben.settle()
        # Brackets that never close are no JSON at all.
        await ada.raw("[" * 100000)
        assert await ada.closed() == 4400
        await ben.settle()


async def test_unknown_messages_sessions_and_activities_are_named(host):
    group = host.group("types")
    async with await Client.attend(host, group) as ada:
        assert (await ada.send("nothing", {}))["code"] == "unknown_message"
        # A session that does not exist is one that nobody has joined; either answer tells it.
        assert (await ada.send("text", {"value": "x"}, session="s999"))["code"] == "no_such_session"
        assert (await ada.request("join", session="s999", participant=None, since=None))["code"] == "no_such_session"
        assert (await ada.start("no-such-thing"))["code"] == "no_such_activity"
        assert (await ada.start("../talk"))["code"] == "no_such_activity"
        assert (await ada.start("talk", {"title": 5}))["code"] == "invalid_message"
        assert (await ada.start("talk", {"title": "x", "more": 1}))["path"] == "more"


async def test_sending_before_joining_is_an_error_not_silence(host):
    group = host.group("types")
    async with await Client.enter(host, group) as ada:
        answer = await ada.request("send", session=group["session"], name="text", body={"value": "x"})
        assert answer["code"] == "not_joined"
