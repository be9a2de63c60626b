"""Contract section 3.2: what stays and what goes when a handler fails."""

from client import Client


async def test_a_start_that_fails_starts_nothing(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada:
        for way, code in (("fail", "activity_failed"), ("loop", "activity_failed"), ("reject", "refused")):
            answer = await ada.start("moody", {"start": way})
            assert answer["code"] == code, answer
            status, _, body = host.request("POST", "/v1/groups", {"activity": "moody", "parameters": {"start": way}})
            assert status >= 400, body
        assert answer["reason"] == "not_now" and answer["message"] == "Not now."
        async with await Client.enter(host, group, "Ben") as ben:
            assert [session["activity"] for session in ben.welcome["group"]["sessions"]] == ["relay"]


async def test_a_join_or_a_view_that_fails_lets_nobody_in(host):
    group = host.group("moody")
    async with await Client.attend(host, group, "Ada") as ada:
        for name in ("Fails at join", "Fails at view"):
            async with await Client.enter(host, group, name) as guest:
                answer = await guest.join(group["session"])
                assert answer["code"] == "activity_failed", answer
        async with await Client.attend(host, group, "Ben") as ben:
            assert ben.joined["state"]["joins"] == 2 and ben.joined["seq"] == ada.joined["seq"] + 1
            assert [one["name"] for one in ben.joined["participants"]] == ["Ada", "Ben"]


async def test_a_leave_stands_though_its_handler_fails(host):
    group = host.group("moody")
    async with await Client.attend(host, group, "Ada") as ada:
        async with await Client.attend(host, group, "Ben") as ben:
            assert (await ben.request("leave", session=group["session"]))["type"] == "accepted"
            left = await ada.until(lambda envelope: envelope["type"] == "participants" and envelope["left"])
            assert left["left"] == [{"id": ben.participant, "reason": "left"}]
        async with await Client.attend(host, group, "Cem") as cem:
            assert cem.joined["state"]["joins"] == 3


async def test_a_change_that_fails_changes_nothing(host):
    group = host.group("moody")
    async with await Client.attend(host, group, "Hanna", token=group["token"]) as hanna:
        answer = await hanna.request("change", session=group["session"], parameters={"start": "well"})
        assert answer["code"] == "activity_failed"
        async with await Client.attend(host, group, "Ada") as ada:
            assert ada.joined["parameters"] == {} and ada.joined["state"]["joins"] == 2
        assert not [envelope for envelope in hanna.log if envelope["type"] == "changed"]


async def test_who_cannot_be_shown_a_new_view_is_invalidated_with_failed(host):
    group = host.group("moody")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Fails later") as late:
        await ada.send("say", {"text": "x"})
        assert (await ada.send("refresh", {}))["type"] == "accepted"
        assert (await late.next("invalidated"))["reason"] == "failed"
        assert (await ada.next("snapshot"))["state"]["said"] == ["x"]
        await ada.until(lambda envelope: envelope["type"] == "participants" and envelope["left"])


async def test_transient_and_latest_handlers_cannot_change_anything(host):
    group = host.group("moody")
    async with await Client.attend(host, group, "Ada") as ada, await Client.attend(host, group, "Ben") as ben:
        for name in ("wink", "peek"):
            assert (await ada.send(name, {"text": "x"}))["code"] == "activity_failed"
        await ada.send("say", {"text": "after"})
        await ben.message("say")
        assert ben.messages("wink") == ben.messages("peek") == []
        async with await Client.attend(host, group, "Cem") as cem:
            assert cem.joined["state"]["joins"] == 3


async def test_chance_and_ids_differ_between_messages_and_sessions(host):
    texts = []
    for _ in range(3):
        group = host.group("moody")
        async with await Client.attend(host, group, "Ada") as ada:
            for _ in range(3):
                await ada.send("say", {"text": "x"})
            texts += [(await ada.message("random"))["body"]["text"] for _ in range(3)]
    assert len({text.split()[0] for text in texts}) > 6 and len({text.split()[1] for text in texts}) == 9
