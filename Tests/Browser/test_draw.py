"""Several people at one canvas."""

import json
import math
import pathlib
import re
import time

import pytest
from playwright.sync_api import expect

from conftest import HERE, ROOT
from people import same_picture

BIG_LIBRARY = ROOT.parent / "shared" / "data" / "line-drawings.excalidrawlib"


def test_three_people_draw_at_the_same_time_and_end_with_the_same_picture(party):
    people = [party.person(name).join() for name in ("Ana", "Ben", "Cem")]
    for turn in range(5):
        y = 0.2 + turn * 0.1
        strokes = [person.slowly((0.2 + 0.2 * index, y), (0.3 + 0.2 * index, y + 0.05), (0.45 + 0.1 * index, y)) for index, person in
                   enumerate(people)]
        # One move each in turn: all three pens are down at the same time.
        for _ in zip(*strokes):
            pass
        for stroke in strokes:
            for _ in stroke:
                pass
    for person in people:
        person.wait_for_items(15)
    items = same_picture(*people)
    assert len({item["id"] for item in items}) == 15
    assert len({item["by"] for item in items}) == 3


def test_the_others_see_a_stroke_while_it_is_drawn(party):
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    ink_before = sum("draw_ink" in str(text) for text in ben.frames_received)
    stroke = ana.slowly((0.2, 0.2), (0.8, 0.8), steps=30)
    for _ in range(20):
        next(stroke)
        ana.page.wait_for_timeout(10)
    ben.wait(lambda: sum("draw_ink" in str(text) for text in ben.frames_received) > ink_before, "ink while the pen is down")
    assert ben.items() == []
    for _ in stroke:
        pass
    ben.wait_for_items(1)
    same_picture(ana, ben)


def test_a_late_joiner_sees_the_picture_within_a_second(party):
    ana = party.person("Ana").join()
    for turn in range(12):
        ana.stroke((0.2, 0.1 + turn * 0.06), (0.8, 0.15 + turn * 0.06))
    ana.wait_for_items(12)
    waits = []
    for name in ("Dora", "Emil", "Fay"):
        late = party.person(name).enter()
        started = time.monotonic()
        late.accept()
        late.wait_for_items(12)
        waits.append(time.monotonic() - started)
        assert late.text() == ana.text()
    assert max(waits) < 1, f"it took {waits}"


def test_undo_takes_back_ones_own_work_only(party):
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    ana.stroke((0.2, 0.2), (0.4, 0.2))
    ana.wait_for_items(1)
    ben.stroke((0.2, 0.4), (0.4, 0.4))
    ben.wait_for_items(2)
    ana.stroke((0.2, 0.6), (0.4, 0.6))
    same_picture(ana, ben)
    ana.wait_for_items(3)
    bens = [item for item in ana.items() if item["by"] == ben.items()[1]["by"]]
    ana.press("Control+z")
    ana.press("Control+z")
    for person in (ana, ben):
        person.wait_for_items(1)
    assert same_picture(ana, ben) == bens
    # Nothing of Ana's is left: a third undo takes nothing of Ben's.
    ana.press("Control+z")
    ben.press("Control+z")
    for person in (ana, ben):
        person.wait_for_items(0)
    ana.press("Control+Shift+z")
    ana.press("Control+Shift+z")
    ben.wait_for_items(2)
    same_picture(ana, ben)


def test_a_cleared_canvas_comes_back_whole_for_who_cleared_it(party):
    hanna, ben = party.person("Hanna").join(party.host_path()), party.person("Ben").join()
    hanna.stroke((0.2, 0.2), (0.4, 0.2))
    hanna.wait_for_items(1)
    ben.stroke((0.2, 0.4), (0.4, 0.4))
    hanna.wait_for_items(2)
    before = same_picture(hanna, ben)
    hanna.choose("Clear canvas")
    hanna.frame.get_by_role("dialog").get_by_role("button", name="Clear").click()
    ben.wait_for_items(0)
    # Not Ben's to undo.
    ben.press("Control+z")
    hanna.press("Control+z")
    for person in (hanna, ben):
        person.wait_for_items(2)
    assert same_picture(hanna, ben) == before, "in their places, and each its author's"


def test_an_erased_stroke_stays_erased_though_somebody_offline_moved_it(party):
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    ben.may_lose_network = True
    ana.stroke((0.4, 0.4), (0.6, 0.4))
    ana.stroke((0.4, 0.7), (0.6, 0.7))
    same_picture(ana, ben)
    ben.wait_for_items(2)
    ben.context.set_offline(True)
    ben.press("v")
    x, y = ben.at(0.5, 0.4)
    ben.page.mouse.move(x, y)
    ben.page.mouse.down()
    ben.page.mouse.move(x + 30, y + 30, steps=5)
    ben.page.mouse.up()
    ana.press("e")
    ana.stroke((0.5, 0.3), (0.5, 0.5))
    ana.wait_for_items(1)
    ben.context.set_offline(False)
    ben.wait_for_items(1, timeout=20)
    assert len(same_picture(ana, ben)) == 1
    # A newcomer doesn't see it either.
    dora = party.person("Dora").join()
    same_picture(ana, ben, dora)
    assert len(dora.items()) == 1


def test_who_goes_offline_for_five_seconds_and_draws_on_loses_and_doubles_nothing(party):
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    ben.may_lose_network = True
    ben.stroke((0.1, 0.1), (0.3, 0.1))
    same_picture(ana, ben)
    ben.context.set_offline(True)
    gone_at = time.monotonic()
    for turn in range(4):
        ben.stroke((0.1, 0.2 + turn * 0.1), (0.3, 0.2 + turn * 0.1))
        ana.stroke((0.6, 0.2 + turn * 0.1), (0.8, 0.2 + turn * 0.1))
    ana.wait_for_items(5)
    ben.wait(lambda: time.monotonic() - gone_at > 5, "end of five seconds")
    assert len(ben.items()) == 5 and ben.pending() == 4, "what is drawn offline is seen at once and kept"
    ben.context.set_offline(False)
    for person in (ana, ben):
        person.wait_for_items(9, timeout=20)
    items = same_picture(ana, ben)
    assert len({item["id"] for item in items}) == 9


def test_a_reload_comes_back_to_the_same_picture(party):
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    ben.stroke((0.2, 0.2), (0.4, 0.4))
    ana.wait_for_items(1)
    ben.page.reload()
    ben.arrive()
    ben.wait_for_items(1)
    ben.stroke((0.2, 0.6), (0.4, 0.6))
    ana.wait_for_items(2)
    same_picture(ana, ben)


def test_a_new_canvas_moves_everyone_who_accepts(party):
    hanna = party.person("Hanna").join(party.host_path())
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    ana.stroke((0.2, 0.2), (0.4, 0.4))
    same_picture(hanna, ana, ben)
    before = hanna.frame.url
    hanna.choose("New canvas…")
    hanna.frame.get_by_role("dialog").get_by_role("button", name="New canvas").click()
    for person in (ana, ben):
        expect(person.page.get_by_text("Hanna started a new one")).to_be_visible()
    ana.page.get_by_role("button", name="Join", exact=True).click()
    ana.wait(lambda: ana.frame is not None and ana.frame.url != before, "new canvas")
    hanna.wait(lambda: hanna.frame is not None and hanna.frame.url != before, "new canvas")
    ana.arrive()
    hanna.arrive()
    assert ana.items() == [] and hanna.items() == []
    hanna.stroke((0.2, 0.2), (0.4, 0.4))
    ana.wait_for_items(1)
    same_picture(hanna, ana)
    # Ben did not accept, and stays where he is until he does.
    assert before == ben.frame.url
    ben.page.get_by_role("button", name="Join", exact=True).click()
    ben.wait(lambda: ben.frame is not None and ben.frame.url != before, "new canvas")
    ben.arrive()
    same_picture(hanna, ana, ben)


def test_one_leaves_and_the_others_notice_nothing_but_the_avatar(party):
    ana, ben, cem = (party.person(name).join() for name in ("Ana", "Ben", "Cem"))
    expect(ana.page.get_by_role("button", name="People, 3 here")).to_be_visible()
    stroke = ana.slowly((0.2, 0.2), (0.8, 0.2), steps=20)
    for _ in range(8):
        next(stroke)
    url = ana.frame.url
    cem.page.get_by_role("button", name=re.compile("Back to the group")).click()
    expect(cem.page.get_by_role("heading", name="Happening now")).to_be_visible()
    expect(ana.page.get_by_role("button", name="People, 2 here")).to_be_visible()
    for _ in stroke:
        pass
    for person in (ana, ben):
        person.wait_for_items(1)
        assert person.frame.url == url
        expect(person.page.locator(".cover")).to_be_hidden()
        expect(person.page.get_by_role("dialog")).to_have_count(0)
    same_picture(ana, ben)
    cem.accept()
    same_picture(ana, ben, cem)


def strokes_of(path):
    """Points and pressures of every freehand stroke in an Excalidraw file."""
    library = json.loads(path.read_text())
    return [([number for point in element["points"] for number in point], element["pressures"])
            for item in library["libraryItems"] for element in item["elements"] if element["type"] == "freedraw"]


def import_file(person, path):
    with person.page.expect_file_chooser() as chooser:
        person.choose("Import Excalidraw file…")
    chooser.value.set_files(path)


@pytest.mark.parametrize("path", [HERE / "fixtures" / "strokes.excalidrawlib", BIG_LIBRARY], ids=["a few strokes", "the whole library"])
def test_an_imported_library_is_the_same_for_all_point_for_point(party, path):
    if not path.is_file():
        pytest.skip("the library is not on this machine")
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    expected = strokes_of(path)
    import_file(ana, path)
    ana.wait(lambda: ana.pending() == 0 and len(ana.items()) >= len(expected), "imported strokes", timeout=30)
    ben.wait(lambda: len(ben.items()) == len(ana.items()), "the same strokes", timeout=30)
    items = same_picture(ana, ben)
    found = [(item["points"], item.get("pressures")) for item in items if item["kind"] == "ink"]
    assert sorted(found, key=str) == sorted(expected, key=str), "points and pressures are those of the file, to the last digit"
    dora = party.person("Dora").join()
    dora.wait(lambda: len(dora.items()) == len(items), "the same strokes", timeout=10)
    same_picture(ana, ben, dora)
    assert all(math.isfinite(number) for item in items for number in item["points"])


def test_a_viewer_sees_everything_and_changes_nothing(party):
    hanna, vera = party.person("Hanna").join(party.host_path()), party.person("Vera").join()
    hanna.page.get_by_role("button", name=re.compile("^People, ")).click()
    hanna.page.get_by_label("Role of Vera").select_option("viewer")
    hanna.page.keyboard.press("Escape")
    hanna.stroke((0.2, 0.2), (0.4, 0.4))
    vera.wait_for_items(1)
    expect(vera.frame.get_by_text("View only")).to_be_visible()
    expect(vera.frame.get_by_role("button", name="Pen")).to_be_hidden()
    vera.stroke((0.6, 0.6), (0.8, 0.8))
    hanna.stroke((0.2, 0.6), (0.4, 0.6))
    vera.wait_for_items(2)
    assert len(same_picture(hanna, vera)) == 2


def test_shapes_reach_the_others(party):
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    shapes = {"l": "line", "a": "arrow", "r": "rectangle", "o": "ellipse"}
    for turn, key in enumerate(shapes):
        ana.press(key)
        ana.stroke((0.2, 0.15 + turn * 0.15), (0.5, 0.25 + turn * 0.15))
        ben.wait_for_items(turn + 1)
    assert [item["kind"] for item in same_picture(ana, ben)] == list(shapes.values())


def test_text_is_text_for_everybody_and_nothing_else(party):
    ana, ben = party.person("Ana").join(), party.person("Ben").join()
    ana.press("t")
    ana.page.mouse.click(*ana.at(0.4, 0.4))
    words = "<img src=x onerror=alert(1)> Grüße 你好 🙂"
    ana.page.keyboard.insert_text(words)
    ana.page.keyboard.press("Escape")
    ana.page.mouse.click(*ana.at(0.8, 0.8))
    ana.page.keyboard.press("Escape")
    ben.wait_for_items(1)
    item, = same_picture(ana, ben)
    assert item["kind"] == "text" and item["text"] == words
    assert ben.frame.locator("img").count() == 0


def test_downloads_hold_the_picture(party):
    ana = party.person("Ana").join()
    ana.stroke((0.2, 0.2), (0.6, 0.5))
    ana.wait_for_items(1)
    for kind in ("SVG", "PNG"):
        ana.choose("Download…")
        dialog = ana.frame.get_by_role("dialog", name="Download")
        dialog.get_by_label(kind).check()
        with ana.page.expect_download() as download:
            dialog.get_by_role("button", name="Download").click()
        data = pathlib.Path(download.value.path()).read_bytes()
        assert data.startswith(b"\x89PNG") if kind == "PNG" else b"<svg" in data and b"<path" in data
