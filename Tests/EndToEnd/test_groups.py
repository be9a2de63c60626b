"""Contract section 4: roles, sessions of a group, and who may do what."""

import asyncio

from client import Client


async def test_roles_order_what_people_may_do_to_each_other(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Hanna", token=group["token"]) as hanna, await Client.enter(host, group, "Mo") as mo:
        async with await Client.enter(host, group, "Ada") as ada, await Client.enter(host, group, "Ben") as ben:
            def role(by, of, to):
                return by.request("role", member=of.member["id"], role=to)

            assert (await role(ada, ben, "viewer"))["code"] == "forbidden"
            assert (await role(hanna, mo, "moderator"))["type"] == "accepted"
            await mo.until(lambda envelope: envelope["type"] == "members" and any(
                one["id"] == mo.member["id"] and one["role"] == "moderator" for one in envelope["changed"]))
            assert (await role(mo, ben, "viewer"))["type"] == "accepted"
            assert (await role(mo, ada, "host"))["code"] == "forbidden"
            assert (await role(mo, hanna, "participant"))["code"] == "forbidden"
            assert (await mo.request("remove", member=hanna.member["id"]))["code"] == "forbidden"
            assert (await ada.request("remove", member=ben.member["id"]))["code"] == "forbidden"
            assert (await ada.request("lock", locked=True))["code"] == "forbidden"
            assert (await ada.request("new_code"))["code"] == "forbidden"
            assert (await role(mo, ben, "emperor"))["type"] == "rejected"
            assert (await mo.request("role", member="m999", role="viewer"))["type"] == "rejected"


async def test_a_viewer_sees_but_sends_and_starts_nothing(host):
    group = host.group("relay")
    async with await Client.attend(host, group, "Hanna", token=group["token"]) as hanna, await Client.attend(host, group, "Vera") as vera:
        assert (await hanna.request("role", member=vera.member["id"], role="viewer"))["type"] == "accepted"
        await vera.until(lambda envelope: envelope["type"] == "participants" and envelope["changed"]
                         and envelope["changed"][0]["role"] == "viewer")
        assert (await vera.send("draw", {}))["code"] == "forbidden"
        assert (await vera.start("relay"))["code"] == "forbidden"
        await hanna.send("draw", {})
        await vera.message("draw")


async def test_a_removed_member_is_closed_with_4403_and_stays_out(host):
    group = host.group("relay")
    async with await Client.attend(host, group, "Hanna", token=group["token"]) as hanna:
        ada = await Client.attend(host, group, "Ada")
        assert (await hanna.request("remove", member=ada.member["id"]))["type"] == "accepted"
        assert await ada.closed() == 4403
        left = await hanna.until(lambda envelope: envelope["type"] == "participants" and envelope["left"])
        assert left["left"] == [{"id": ada.participant, "reason": "removed"}]
        await hanna.until(lambda envelope: envelope["type"] == "members" and ada.member["id"] in envelope["left"])
        again = await Client.open(host)
        await again.put({"type": "hello", "protocol": 1, "group": group["code"], "name": "Ada", "token": ada.token, "client": "x", "locale": "en"})
        assert await again.closed() in (4401, 4403)


async def test_a_locked_group_lets_only_its_members_in(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Hanna", token=group["token"]) as hanna, await Client.enter(host, group, "Ada") as ada:
        assert (await hanna.request("lock", locked=True))["type"] == "accepted"
        stranger = await Client.open(host)
        await stranger.put({"type": "hello", "protocol": 1, "group": group["code"], "name": "Eve", "token": None, "client": "x", "locale": "en"})
        assert await stranger.closed() == 4404
        async with await Client.enter(host, group, "Ada", token=ada.token) as again:
            assert again.welcome["group"]["locked"] is True
        assert (await hanna.request("lock", locked=False))["type"] == "accepted"
        async with await Client.enter(host, group, "Eve"):
            pass


async def test_a_new_code_replaces_the_old_one(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Hanna", token=group["token"]) as hanna:
        assert (await hanna.request("new_code"))["type"] == "accepted"
        code = (await hanna.next("group"))["group"]["code"]
        assert code != group["code"]
        async with await Client.enter(host, code, "Ada") as ada:
            assert ada.member["role"] == "participant" and ada.welcome["group"]["code"] == code
        old = await Client.open(host)
        await old.put({"type": "hello", "protocol": 1, "group": group["code"], "name": "Eve", "token": None, "client": "x", "locale": "en"})
        assert await old.closed() in (4401, 4404)


async def test_replacing_is_one_step_and_a_second_one_comes_too_late(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada, await Client.enter(host, group, "Hanna", token=group["token"]) as hanna:
        old = (await ada.start("relay"))["session"]
        await ada.join(old)
        await hanna.join(old)
        answers = await asyncio.gather(
            ada.start("talk", replaces=old), hanna.start("talk", replaces=old), ada.start("talk", replaces=old))
        started = [answer for answer in answers if answer["type"] == "started"]
        assert len(started) == 1
        assert [answer["code"] for answer in answers if answer["type"] == "rejected"] == ["no_such_session"] * 2
        for person in (ada, hanna):
            gone = await person.next("invalidated", session=old)
            assert gone["reason"] == "replaced" and gone["replaced_by"] == started[0]["session"]
        sessions = (await open_and_leave(host, group))["group"]["sessions"]
        assert started[0]["session"] in [session["id"] for session in sessions] and old not in [session["id"] for session in sessions]


async def open_and_leave(host, group):
    async with await Client.enter(host, group, "Cem") as cem:
        return cem.welcome


async def test_a_session_is_not_replaced_when_the_new_one_cannot_start(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada:
        old = (await ada.start("relay"))["session"]
        await ada.join(old)
        assert (await ada.start("talk", {"title": 5}, replaces=old))["code"] == "invalid_message"
        assert (await ada.start("no-such-thing", replaces=old))["code"] == "no_such_activity"
        assert (await ada.send("still", {}, session=old))["type"] == "accepted"


async def test_only_the_initiator_and_moderators_may_replace(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ada") as ada, await Client.enter(host, group, "Ben") as ben:
        old = (await ada.start("relay"))["session"]
        assert (await ben.start("relay", replaces=old))["code"] == "forbidden"


async def test_an_open_host_lets_participants_replace_change_and_end(hosts):
    host = hosts("--open")
    group = host.group("talk")
    async with await Client.attend(host, group, "Ben") as ben:
        assert (await ben.request("change", session=group["session"], parameters={"title": "Mine"}))["type"] == "accepted"
        new = await ben.start("relay", replaces=group["session"])
        assert new["type"] == "started"
        assert (await ben.request("end", session=new["session"]))["type"] == "accepted"


async def test_one_person_with_two_tabs_is_one_member_with_two_participants(host):
    group = host.group("relay")
    async with await Client.attend(host, group, "Ada", client="tab1") as one:
        async with await Client.attend(host, group, "Ada", token=one.token, client="tab2") as two:
            assert one.member["id"] == two.member["id"] and one.participant != two.participant
            await one.send("draw", {"by": "one"})
            assert (await two.message("draw"))["from"] == one.participant
            # Refs are counted per tab, so both may use the same ones.
            assert (await two.send("draw", {"by": "two"}, ref=1000))["type"] == "accepted"
            assert (await one.send("draw", {"by": "one"}, ref=1000))["type"] == "accepted"
            await one.message("draw", body={"by": "two"})
            await two.message("draw", body={"by": "one"})


async def test_names_are_cleaned_or_refused_but_never_dangerous(host):
    group = host.group("relay")
    for name in ("", " ", "x" * 500, "a\u0000b", "\u202eevil", "<img src=x onerror=alert(1)>", "🙂" * 100):
        person = await Client.open(host)
        await person.put({"type": "hello", "protocol": 1, "group": group["code"], "name": name, "token": None, "client": "x", "locale": "en"})
        answer = await person.until(lambda envelope: envelope["type"] in ("welcome", "rejected"), what="an answer to hello")
        if answer["type"] == "welcome":
            given = answer["member"]["name"]
            assert given.strip() and len(given) <= 100 and "\u0000" not in given and "\u202e" not in given
        await person.close()


async def test_a_member_with_the_same_name_is_another_member_with_another_colour(host):
    group = host.group("relay")
    async with await Client.enter(host, group, "Ana") as one, await Client.enter(host, group, "Ana") as two:
        assert one.member["id"] != two.member["id"] and one.member["color"] != two.member["color"]
