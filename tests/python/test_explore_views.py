"""What the views of the page say in a browser: chance, the network, names after a change, and why a flow is not faster."""

import re

import elephan as el
import pytest
from explored import CHROMIUM, Server, ask, becomes, open_scenario, settled, until

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def server():
    server = Server()
    yield server
    server.stop()


def run_seeds(page, count):
    page.get_by_role("button", name="Chance", exact=True).click()
    page.get_by_label("Seeds").fill(str(count))
    page.locator(".chance .row button").first.click()
    page.get_by_text(f"{count} of {count} seeds").wait_for()
    page.locator(".chance tbody tr").first.wait_for()


def shorten(page, seconds):
    ask(page, 'void s.type(s.text.replace(/duration *= *"[^"]*"/, x).replace(/warmup *= *"[^"]*"/, \'warmup = "1 s"\'))', seconds)
    settled(page)


def bounds(cell):
    """The numbers of a cell, in its own units: mean, low and high."""
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?", cell.replace("\u2212", "-"))]
    if "±" in cell:
        mean, half = numbers
        return mean, mean - half, mean + half
    return tuple(numbers) if len(numbers) == 3 else (numbers[0],) * 3


def test_no_interval_of_the_page_reaches_beyond_what_its_number_can_be(page, server):
    open_scenario(page, server.address, "bbr-vs-cubic")
    settled(page)
    shorten(page, 'duration = "12 s"')
    run_seeds(page, 3)
    rows = {
        row.locator("td").first.inner_text(): row.locator("td").nth(1).inner_text()
        for row in page.locator(".chance tbody tr").all()
    }
    most = {"loss": 100, "utilisation": 100, "Jain's index": 1}
    least = {"Jain's index": 0.5}
    for name, cell in rows.items():
        mean, low, high = bounds(cell)
        assert least.get(name, 0) <= low <= mean <= high <= most.get(name, float("inf")), (name, cell)
    runs = [el.run(ask(page, "s.text"), seed=seed).summary["jain"] for seed in (1, 2, 3)]
    assert bounds(rows["Jain's index"])[0] == pytest.approx(sum(runs) / 3, rel=0.006)
    page.locator(".chance [data-band]").first.wait_for()


def test_what_stands_beside_a_table_is_of_its_own_runs(page, server):
    """A count, and what the runs are means of, come from the runs of the table, not from what is typed meanwhile."""
    open_scenario(page, server.address, "incast")
    settled(page)
    run_seeds(page, 5)
    drops = [el.run("incast", seed=seed).summary["drops"] for seed in range(1, 6)]
    cell = page.locator(".chance tbody tr", has_text="drops").locator("td").nth(1)
    assert bounds(cell.inner_text())[0] == pytest.approx(sum(drops) / 5, rel=0.006)
    told = page.locator(".chance [aria-live]")
    page.get_by_label("Seeds").fill("3")
    page.locator(".chance .row button").first.click()
    becomes(page, told.inner_text, "3 of 3 seeds")
    assert bounds(cell.inner_text())[0] == pytest.approx(sum(drops[:3]) / 3, rel=0.006)
    page.get_by_role("button", name="Sweep", exact=True).click()
    page.locator(".sweep select").first.select_option("template.queue.limit")
    page.get_by_label("Values across").fill("32 KiB, 64 KiB")
    page.get_by_role("button", name="run", exact=True).click()
    page.get_by_text("2 of 2 points").wait_for()
    page.get_by_label("Seeds").fill("7")
    page.get_by_label("Show").select_option("drops")
    becomes(page, page.locator(".heat caption").inner_text, "drops across limit (network · star)")
    assert page.locator(".sweep .fine").first.inner_text() == "2 of 2 points"


def test_events_that_are_left_out_are_counted(page, server):
    open_scenario(page, server.address, "short-flows")
    settled(page)
    until(page, "s.events !== null")
    of, shown = ask(page, "[s.events.of, s.events.shown]")
    assert of > shown == 200
    note = page.locator(".events [role=status]")
    becomes(page, lambda: re.sub(r"\s", "", note.inner_text()), f"The200of{of}eventsthatmattermost.Zoomintoseetheothers.")


def test_events_that_were_not_recorded_are_not_known(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    until(page, "s.events !== null && s.events.recorded")
    ask(page, "void s.type(s.text.replace('[record]', '[record]\\nevents = false'))")
    settled(page)
    until(page, "s.events !== null && !s.events.recorded")
    page.locator(".events [role=status]", has_text="is not known. Set record.events = true.").wait_for()
    assert "Nothing was dropped" not in page.locator(".events").inner_text()


def test_equal_seeds_are_warned_of_and_claim_nothing(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    shorten(page, 'duration = "8 s"')
    ask(page, "s.pin()")
    ask(page, "s.set('template.queue.limit', '0.5 bdp')")
    until(page, "/0.5 bdp/.test(s.text)")
    settled(page)
    run_seeds(page, 5)
    warning = page.locator("[data-warning]")
    warning.wait_for()
    assert "all alike: nothing in them is random" in warning.inner_text()
    page.locator(".chance tbody td").nth(3).wait_for()
    assert page.locator(".chance td.clear").count() == 0
    assert "±" not in page.locator(".chance tbody").inner_text()


def test_a_network_draws_what_it_knows(page, server):
    open_scenario(page, server.address, "congestion-spreading")
    settled(page)
    text = ask(page, "s.text")
    page.get_by_role("button", name="Network", exact=True).click()
    ask(page, "void (s.cursor_ns = 10e6)")
    until(page, "document.querySelectorAll('.network .load').length > 0")
    until(page, "document.querySelectorAll('.network .rail.unknown').length === 0")
    tips = dict(tip.split(": ", 1) for tip in page.locator(".network svg g title").all_text_contents() if ": " in tip)
    # The tree of pauses reaches the hosts, whose ports the run itself does not sample.
    assert ["paused" in tips[f"a[{host}] → rack-a"] for host in range(4)] == [True] * 4
    assert "paused" not in tips["b[0] → rack-b"]
    # Without a time between samples nothing is known, and nothing is drawn as idle.
    ask(page, "void s.type(x)", re.sub(r'every *= *"[^"]*"\n', "", text))
    settled(page)
    until(page, "document.querySelectorAll('.network .rail.unknown').length === document.querySelectorAll('.network .rail').length")
    page.get_by_text("no load and no queue is known").wait_for()
    assert "not known" in page.locator(".network svg g title").first.text_content()
    assert page.locator(".network .load").count() == 0


def test_legend_title_and_story_are_of_the_run_that_is_drawn(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    until(page, "s.story.length > 0")
    assert page.locator('[data-panel="goodput"] .chips').inner_text() == "reno"
    ask(page, "s.set('traffic[0].congestion_control', 'cubic')")
    until(page, "/cubic/.test(s.text)")
    settled(page)
    until(page, "s.story.length > 0")
    for panel in ("goodput", "window", "rtt"):
        assert "reno" not in page.locator(f'[data-panel="{panel}"] .chips').inner_text().lower()
    assert page.locator('[data-panel="goodput"] .chips').inner_text() == "cubic"
    assert "reno" not in page.locator(".story").inner_text().lower()
    assert "changed: congestion control cubic" in page.locator(".bar .name").inner_text()


def test_the_picture_before_leaves_the_scale_to_the_run(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    ask(page, "s.set('template.queue.limit', '20 bdp')")
    until(page, "/20 bdp/.test(s.text)")
    settled(page)
    ask(page, "s.set('template.queue.limit', '1 bdp')")
    until(page, '/"1 bdp"/.test(s.text)')
    settled(page)
    before = ask(
        page, "Math.max(...s.ghost.lines.filter(l => l.panel === 'queue' && l.role === 'main').flatMap(l => Array.from(l.y)))"
    )
    now = ask(
        page, "Math.max(...s.picture.lines.filter(l => l.panel === 'queue' && l.role === 'main').flatMap(l => Array.from(l.y)))"
    )
    assert before > 3 * now
    assert "beyond this scale" in page.locator('[data-panel="queue"] .chips').inner_text()


def test_why_not_faster_says_that_the_link_is_full(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    until(page, "s.why.length > 0")
    chip = page.locator(".ribbon .chips li", has_text="full link left → right")
    chip.wait_for()
    assert float(chip.locator("b").inner_text().split()[0]) > 90
