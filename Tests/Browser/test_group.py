"""The group's page: ways in, refusals, sharing, phones."""

import re
import subprocess

import pytest
from playwright.sync_api import expect

from people import same_picture


def test_a_code_typed_on_the_first_page_leads_to_the_group(party):
    ana = party.person("Ana").visit("/")
    code = party.code
    ana.page.get_by_label("Code").fill(f"{code[:3].lower()} {code[3:].lower()}")
    ana.page.get_by_role("button", name="Join").click()
    ana.tell_name()
    expect(ana.page.get_by_role("heading", name="Happening now")).to_be_visible()
    ana.accept()


def test_the_whole_way_works_without_a_secure_context(party):
    ana = party.person("Ana").join()
    assert ana.page.evaluate("() => isSecureContext") is False
    assert ana.page.evaluate("() => typeof crypto.randomUUID") == "undefined"


def test_the_host_link_gives_host_rights_and_its_secret_leaves_the_address(party):
    hanna = party.person("Hanna").enter(party.host_path())
    assert "seat" not in hanna.page.url
    hanna.page.get_by_role("button", name=re.compile("^People")).first.click()
    expect(hanna.page.get_by_role("dialog").get_by_text("Lock the group")).to_be_visible()
    assert hanna.page.evaluate("() => history.length") <= 3


def test_the_qr_code_leads_to_the_invitation(party, tmp_path):
    ana = party.person("Ana").enter()
    image = ana.page.get_by_role("img", name=re.compile("QR code")).first
    expect(image).to_be_visible()
    image.screenshot(path=tmp_path / "qr.png")
    decoded = subprocess.run(["zbarimg", "-q", "--raw", str(tmp_path / "qr.png")], capture_output=True, text=True, timeout=20)
    assert decoded.stdout.strip() == f"{party.origin}/j/{party.code}"


def test_copying_the_link_works_without_the_clipboard_api(party):
    ana = party.person("Ana").enter()
    ana.page.get_by_role("button", name="Copy link").first.click()
    expect(ana.page.get_by_text("Copied").first).to_be_visible()


REFUSALS = {
    "a code that is no group's": (None, "/j/BBBBBB", "This code doesn’t work"),
    "a removed person": (4403, None, "You were removed from this group"),
    "another tab": (4409, None, "open in another tab"),
    "an ended group": (4410, None, "This group has ended"),
    "a lost seat": (4401, None, "no longer valid"),
    "a group that is gone": (4404, None, "doesn’t work"),
}


@pytest.mark.parametrize(("code", "path", "words"), REFUSALS.values(), ids=REFUSALS.keys())
def test_every_refusal_is_a_screen_with_one_next_step(party, code, path, words):
    ana = party.person("Ana")
    # The browser itself notes a 404 on the console.
    ana.may_lose_network = True
    if code is None:
        ana.visit(path)
    else:
        ana.page.route_web_socket(re.compile("/v1/socket"), lambda socket: socket.close(code=code, reason="test"))
        ana.visit().tell_name()
    expect(ana.page.get_by_role("heading", name=re.compile(words))).to_be_visible()
    assert ana.page.get_by_role("main").get_by_role("button").count() == 1
    ana.problems = [problem for problem in ana.problems if "404" not in problem]


def test_a_second_tab_is_a_second_seat_of_the_same_person(party):
    ana = party.person("Ana").join()
    first = ana.page
    second = ana.new_page()
    second.goto(f"{party.origin}/j/{party.code}")
    expect(second.get_by_role("heading", name="Happening now")).to_be_visible()
    expect(first.locator(".cover")).to_be_hidden()
    ben = party.person("Ben").enter()
    names = ben.page.get_by_role("complementary").get_by_role("listitem").all_inner_texts()
    assert sum("Ana" in name for name in names) == 1


def test_a_locked_group_tells_newcomers(party):
    hanna = party.person("Hanna").enter(party.host_path())
    hanna.page.get_by_role("button", name=re.compile("^People")).first.click()
    hanna.page.get_by_role("switch").check()
    expect(hanna.page.get_by_role("switch")).to_be_checked()
    eve = party.person("Eve").visit()
    name = eve.page.get_by_label("Your name")
    refused = eve.page.get_by_role("heading", name=re.compile("is locked"))
    expect(name.or_(refused)).to_be_visible()
    if name.is_visible():
        eve.tell_name()
    expect(refused).to_be_visible()
    eve.problems = [problem for problem in eve.problems if "404" not in problem and "WebSocket" not in problem]


def test_a_lost_connection_is_told_and_so_is_its_return(party):
    ana = party.person("Ana").join()
    ana.may_lose_network = True
    ana.context.set_offline(True)
    expect(ana.page.get_by_text("Connection lost. Your changes are kept on this device.")).to_be_visible(timeout=20000)
    ana.page.get_by_role("button", name="Retry now").dispatch_event("click")
    ana.context.set_offline(False)
    expect(ana.page.get_by_text("Back online")).to_be_visible(timeout=10000)


def wide(person):
    """How much wider the page is than its window, in the outer page and in the frame."""
    measure = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return [frame.evaluate(measure) for frame in person.page.frames if frame.url.startswith("http")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_everything_fits(party, scheme):
    phone = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "color_scheme": scheme}
    ana = party.person("Ana", **phone)
    ana.visit("/")
    expect(ana.page.get_by_label("Code")).to_be_visible()
    assert wide(ana) == [0]
    ana.visit()
    expect(ana.page.get_by_label("Your name")).to_be_visible()
    assert wide(ana) == [0]
    ana.tell_name()
    expect(ana.page.get_by_role("heading", name="Happening now")).to_be_visible()
    assert wide(ana) == [0]
    ana.accept()
    assert wide(ana) == [0, 0]
    small = ana.frame.evaluate("""() => [...document.querySelectorAll("button")].filter((button) => button.checkVisibility())
        .map((button) => [button.getAttribute("aria-label") || button.textContent, button.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0 && (box.width < 43.5 || box.height < 43.5)).map(([name, box]) => `${name} ${box.width}x${box.height}`)""")
    assert small == [], "targets for fingers are 44 px at least"
    x, y = ana.at(0.5, 0.4)
    ana.page.touchscreen.tap(x, y)
    ana.wait_for_items(1)


@pytest.mark.parametrize("size", [(360, 640), (1280, 800)])
def test_every_button_has_a_name_and_every_field_a_label(party, size):
    ana = party.person("Ana", viewport={"width": size[0], "height": size[1]}).join()
    for frame in ana.page.frames:
        if not frame.url.startswith("http"):
            continue
        nameless = frame.evaluate("""() => [...document.querySelectorAll("button, a[href], input:not([type=hidden]), select, textarea, iframe")]
            .filter((one) => one.checkVisibility() && !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.title ||
                one.textContent.trim() || one.labels?.length)).map((one) => one.outerHTML.slice(0, 200))""")
        assert nameless == []


def test_chinese_browsers_get_chinese(party):
    context = party.browser.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(f"{party.origin}/j/{party.code}")
    expect(page.locator("html")).to_have_attribute("lang", re.compile("^zh"))
    expect(page.get_by_role("heading").first).to_have_text(re.compile("[\u4e00-\u9fff]"))
    context.close()


def test_names_with_markup_are_only_text(party):
    evil = party.person('<img src=x onerror="window.evil=1">').join()
    ana = party.person("Ana").join()
    ana.page.get_by_role("button", name=re.compile("^People, ")).click()
    expect(ana.page.get_by_role("dialog").get_by_text("<img src=x")).to_be_visible()
    assert ana.page.evaluate("() => window.evil") is None and ana.page.locator("img[src=x]").count() == 0
    assert evil.page.evaluate("() => window.evil") is None


def test_a_loopback_host_works_too(make_party):
    party = make_party(insecure=False)
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    ana.stroke((0.2, 0.2), (0.4, 0.4))
    ben.wait_for_items(1)
    same_picture(ana, ben)
