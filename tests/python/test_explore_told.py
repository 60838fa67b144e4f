"""The page tells the story of a run: what `elephan explain` says of the same tables, with its marks."""

import re

import elephan as el
import pytest
from elephan.scenario.source import library
from explored import CHROMIUM, Server, ask, open_scenario, settled, until
from pages import Failed, Page, served


@pytest.fixture(scope="module")
def asked():
    with served() as (address, _), Page(address) as page:
        yield page


@pytest.mark.parametrize("name", ["sawtooth", "incast", "shared-switch", "disk-to-disk", "sack-processing", "load-latency"])
def test_the_story_of_an_open_run_is_that_of_its_tables(asked, name):
    text = library()[name].path.read_text(encoding="utf-8")
    ran = asked.ask("run", text=text)[0]
    told = asked.ask("explain", handle=ran["handle"], text=text, seed=ran["seed"], summary=ran["summary"])[0]["value"]
    story = el.explain(name)
    flows = el.run(name).flows.num_rows
    assert [(one["number"], one["kind"], one["text"], one["help"]) for one in told] == [
        (number, one.rule, one.text, one.help) for number, one in enumerate(story.findings, 1)
    ]
    assert [one["at_ns"] for one in told] == [None if one.begin_s is None else one.begin_s * 1e9 for one in story.findings]
    assert all(one["flow"] is None or one["flow"] < flows for one in told)


def test_what_is_not_open_has_no_story(asked):
    text = library()["sawtooth"].path.read_text(encoding="utf-8")
    with pytest.raises(Failed, match="999"):
        asked.ask("explain", handle=999, text=text, seed=1, summary={})
    with pytest.raises(Failed, match="text and summary are missing"):
        asked.ask("explain", handle=1)
    with pytest.raises(Failed, match="text is no scenario"):
        asked.ask("explain", handle=1, text="duration = 5", seed=1, summary={})


@pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium")
def test_the_page_shows_the_statements_and_their_marks(page):
    server = Server()
    try:
        open_scenario(page, server.address, "sawtooth")
        settled(page)
        page.wait_for_selector(".story li")
        story = el.explain("sawtooth").findings
        said = [re.sub(r"\s+", " ", one) for one in page.locator(".story li").all_inner_texts()]
        assert len(said) == len(story)
        for shown, one in zip(said, story, strict=True):
            assert re.sub(r"\s+", " ", one.text) in shown
            assert re.sub(r"\s+", " ", one.help) in shown
        marks = page.locator("[aria-label=Statements] .mark-of text").all_text_contents()
        assert marks == [str(number) for number, one in enumerate(story, 1) if one.begin_s is not None]
        # An engine in WebAssembly has no rules: nobody asks it, and nothing is said of an error.
        ask(page, "(s.engine.kind = 'wasm', s.story = [], s.told = { ...s.told }, 0)")
        drawn = ask(page, "s.drawn")
        ask(page, "(s.set('seed', '2'), 0)")
        until(page, "s.drawn > x && s.marks.length > 0", drawn)
        page.wait_for_timeout(600)
        assert ask(page, "s.story.length") == 0
        assert ask(page, "[s.untold, s.problem]") == [None, None]
        assert not page.locator(".story").count()
    finally:
        server.stop()
