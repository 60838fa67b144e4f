"""The lessons of `elephan explore`: every step is a scenario that runs, and what its words say of the run is true."""

import tomllib
from pathlib import Path

import elephan as el
import pytest
from elephan.base.quantity import show
from elephan.explore.lessons import known, lessons
from elephan.scenario.source import library
from elephan.statistic import measures
from explored import CHROMIUM, Server, axe, until

FOLDER = Path(el.__file__).parent / "explore" / "lessons"
KEYS = {"scenario", "set", "view", "panel", "from", "to", "words", "code", "facts"}
VIEWS = {"Time", "Network", "Chance", "Sweep", "Compare"}
PANELS = {"goodput", "window", "queue", "rtt", "inflight", "memory"}


def test_there_are_six_and_the_page_has_them():
    names = [file.stem for file in sorted(FOLDER.glob("*.toml"))]
    assert list(lessons()) == [name.split("-", 1)[1] for name in names]
    assert len(names) == 6


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_what_a_lesson_says_is_true(file):
    lesson = tomllib.loads(file.read_text(encoding="utf-8"))
    assert len(lesson["step"]) >= 4
    runs = {}
    for step in lesson["step"]:
        assert set(step) <= KEYS
        assert step.get("view", "Time") in VIEWS
        assert step.get("panel", "goodput") in PANELS
        name = step.get("scenario", lesson.get("scenario"))
        text = lesson["text"] if name is None else library()[name].path.read_text(encoding="utf-8")
        key = (text, repr(step.get("set", {})))
        run = runs[key] = runs.get(key) or el.run(text, set=step.get("set", {}))
        assert 0 <= step.get("from", 0.0) < step.get("to", 1e9)
        for fact in step.get("facts", ()):
            found = run.statistic(fact["statistic"])
            assert show(found, measures.unit_of(fact["statistic"]), 3) == fact["is"], fact["statistic"]
            assert fact.get("silent") or fact["is"] in step["words"], fact["is"]
    assert sum(len(step.get("facts", ())) for step in lesson["step"]) >= 4


@pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium")
def test_a_lesson_is_played_from_the_command_line_and_the_gallery(page):
    lesson = lessons()["slow-start"]
    server = Server("--lesson", "slow-start")
    try:
        page.goto(server.address)
        box = page.locator(".lesson")
        for number, step in enumerate(lesson["step"][:3]):
            until(page, f"document.querySelector('.lesson')?.dataset.step === '{number}'")
            until(page, "s.picture && s.picture.share >= 1 && s.picture.text === s.text && !s.running")
            run = el.run(lesson["text"], set=step.get("set", {}))
            until(page, "s.picture.summary.drops === x", run.summary["drops"])
            assert step["words"].split()[0] in box.inner_text()
            if "to" in step:
                until(page, "s.view.to_ns === x", 1e9 * step["to"])
            assert page.locator(f'.panel.lit[data-panel="{step["panel"]}"]').count() == 1
            if number < 2:
                box.get_by_role("button", name="next").click()
        assert axe(page) == []
        box.get_by_role("button", name="back").click()
        until(page, "document.querySelector('.lesson').dataset.step === '1'")
        page.locator(".mark").click()
        page.locator(".lessons button", has_text=lessons()["sawtooth"]["title"]).click()
        until(page, "document.querySelector('.lesson')?.dataset.step === '0' && s.picture && s.picture.share >= 1")
        assert page.locator(".lesson h2").inner_text() == lessons()["sawtooth"]["title"]
    finally:
        page.close()  # it asks for nothing more
        server.stop()


def test_an_unknown_lesson_is_one_line():
    with pytest.raises(el.InputError, match='no lesson "slowstart"; did you mean "slow-start"'):
        known("slowstart")
