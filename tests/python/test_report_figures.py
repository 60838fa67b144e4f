"""What a reader of a run's report sees: that figures, tables and words agree with each other and with the run."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pyarrow as pa
import pytest
from elephan import cli
from elephan.base.declared import read_all
from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.base.stats import Interval
from elephan.report import sketch
from elephan.report.figure import declared
from elephan.report.figure.dots import dot_columns
from elephan.report.figure.run_figures import REGISTRY
from elephan.report.figure.run_figures import draw as draw_figure
from elephan.report.figure.terminal import braille
from elephan.report.page import page as page_module
from elephan.report.page import run_page, sweep_page, trace_page
from elephan.report.page.page import Page, Table, render, write_page
from elephan.report.style import BLUE, Drawing, new_figure
from elephan.report.words.answer import answer
from elephan.report.words.view import View
from elephan.result import folder
from elephan.result.run import Run, load_run
from pyarrow import parquet


def tables(run: Run) -> list[Table]:
    return [table for section in run_page.page(run).sections for table in section.tables if section.title != "What happened"]


@pytest.fixture(scope="module")
def transfers() -> Run:
    """Transfers of 250 kB, 20 s of them, of which the first 5 s are warm-up."""
    return el.run("short-flows", set={"duration": "20 s"})


@pytest.mark.parametrize(
    ("scenario", "more", "compared"),
    [
        ("cubic-vs-reno", {"duration": "5 s", "warmup": "1 s"}, True),
        # Two paths without a link in common.
        ("long-fat", {"duration": "5 s", "warmup": "1 s"}, False),
        # Four downloads and a call of 64 kb/s, which wants no more.
        ("aqm", {"duration": "5 s", "warmup": "1 s"}, False),
        ("pause-head-of-line", {"duration": "60 ms", "warmup": "55 ms"}, False),
        ("shared-switch", {"duration": "12 ms"}, True),
        # Three thousand transfers beside a long flow: an index of 0.0004 says nothing, and no line can be drawn.
        ("tcp-background", {"duration": "12 s"}, False),
    ],
)
def test_shares_are_compared_of_flows_that_compete_alike(scenario: str, more: dict[str, str], compared: bool) -> None:
    run = el.run(scenario, set=more)
    assert ("Jain's index" in " ".join(answer(run))) == compared
    assert REGISTRY["sharing"].possible(View(run)) == compared


def test_what_the_question_is_about_comes_first() -> None:
    assert answer(el.run("aqm", set={"duration": "20 s"}))[0].startswith("Half of the messages took")
    held = answer(el.run("pause-head-of-line", set={"duration": "60 ms", "warmup": "55 ms"}))
    assert "the victims: TCP to the fast receiver" in held[0]


def test_the_longest_queue_is_of_the_whole_run() -> None:
    """4 MiB of window over 100 ms leave no queue once it stands; the burst of slow start left one of 1.9 MB before that."""
    line = " ".join(answer(el.run("socket-buffer", set={"duration": "12 s"})))
    mean, unit, most = re.search(
        r"its queue ([0-9.]+) (k?B) \(.*\) on average, ([0-9.]+) MB at most in the whole run", line
    ).groups()
    assert float(mean) * {"B": 1, "kB": 1e3}[unit] < 2000
    assert float(most) == pytest.approx(1.94, abs=0.02)
    assert "in the whole run" not in " ".join(answer(el.run("pcp-start")))


def test_completion_times_are_of_the_transfers_that_the_answer_counts(transfers: Run) -> None:
    done = re.match(r"([0-9]+) of ([0-9]+) transfers completed", answer(transfers)[0])
    assert done is not None
    caption = draw_figure(transfers, "completion").caption
    assert caption.startswith(f"{done[1]} transfers that began after the warm-up completed")
    line = draw_figure(transfers, "completion").figure.axes[0].lines[0]
    assert np.asarray(line.get_xdata()).max() * 1e9 == pytest.approx(transfers.statistic("fct_ns.max"))
    # Not all did, and the line ends at the share that has.
    assert np.asarray(line.get_ydata()).max() == pytest.approx(int(done[1]) / int(done[2])) != 1


def test_transfers_are_listed_by_their_time(transfers: Run) -> None:
    table = tables(transfers)[0]
    cells = [dict(zip((column.title for column in table.columns), (cell.text for cell in row), strict=True)) for row in table.rows]
    worst = max(float(took) for took in transfers.flows["fct_ns"].to_pylist() if took is not None)
    # One that began 30 ms before the end of the run is not complete, and not slow.
    assert any(took is None for took in transfers.flows["fct_ns"].to_pylist())
    assert cells[0]["completion"] == f"{worst * 1e-9:.3g} s"
    # 250 kB in its own time, not in 15 s
    assert cells[0]["goodput"] == f"{250e3 * 8e9 / worst / 1e6:.3g} Mb/s"
    assert re.fullmatch(r"transfers [0-9]+", cells[0]["flow"])


ENTRIES = ("up", "down", "web", "people", "bg", "rpc", "copies")


def entries(count: int, connections: int = 2) -> Run:
    """So many traffic entries, of some flows each."""
    head = 'duration = "400 ms"\n[template]\nkind = "dumbbell"\npairs = 2\nrate = "50 Mbps"\ndelay = "2 ms"\n'
    one = '[[traffic]]\nname = "{}"\nkind = "bulk"\nfrom = "sender"\nto = "receiver"\nconnections = {}\n'
    names = (*ENTRIES, *(f"more {i}" for i in range(count)))[:count]
    return el.run(head + "".join(one.format(name, connections) for name in names) + '[record]\nevery = "20 ms"\n')


def test_seven_entries_have_colours_and_names() -> None:
    run = entries(7)
    for name in ("goodput", "windows"):
        axes = draw_figure(run, name).figure.axes[0]
        assert {*ENTRIES[:-1], "copies (dashed)"} <= {text.get_text() for text in axes.texts}
        assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 7
    # Of more than twelve the smallest are one line.
    assert list(View(entries(14, 1)).goodput_series()[0])[-1] == "3 others"


def test_flows_that_go_the_same_way_are_called_by_their_traffic() -> None:
    names = list(View(entries(2)).flow_names.values())
    assert len(set(names)) == 8
    assert {name for name in names if "[1]" in name} == {
        f"{entry} {k}, sender[1] → receiver[1]" for entry in ("up", "down") for k in (3, 4)
    }


def test_tables_have_no_value_where_it_has_no_meaning() -> None:
    flows, ports = tables(el.run("load-latency", set={"duration": "120 ms"}))
    assert [cell.text for cell in flows.rows[0]][4:] == ["\u2013"] * 3
    assert not any("n/a" in cell.text for table in (flows, ports) for row in table.rows for cell in row)
    assert "< 1 B" in [cell.text for row in ports.rows for cell in row]


def test_a_drop_is_seen_beside_a_burst_of_them() -> None:
    """168 packets in slow start, then one at each cut of the window."""
    axes = draw_figure(el.run("sawtooth"), "drops").figure.axes[0]
    low, high = axes.get_ylim()
    place = axes.transData.transform
    least = min(bar.get_height() for bar in axes.patches if bar.get_height() > 0)
    assert least == 1
    share = (place((0, least))[1] - place((0, low))[1]) / (place((0, high))[1] - place((0, low))[1])
    assert share > 0.05


def test_figures_over_time_have_one_axis_and_lines_end_with_their_flows() -> None:
    run = el.run("incast")
    for name in ("sawtooth", "windows", "goodput", "rtt"):
        assert draw_figure(run, name).figure.axes[-1].get_xlim() == (0.0, 1.0)
    ends = [row["end_ns"] * 1e-9 for row in run.flows.to_pylist()]
    last = [line.get_xdata()[-1] for line in draw_figure(run, "windows").figure.axes[0].lines]
    assert len(last) == 32
    assert all(x <= end + 1e-3 for x, end in zip(last, ends, strict=True))


def test_of_many_flows_a_figure_shows_the_largest() -> None:
    run = el.run("tcp-background", set={"duration": "12 s"})
    for name in ("windows", "rtt"):
        drawing = draw_figure(run, name)
        assert "those that delivered most" in drawing.caption
        assert len(drawing.figure.axes[0].lines) == 12
        assert "long" in {text.get_text() for text in drawing.figure.axes[0].texts}


def test_what_one_figure_of_a_page_shows_no_other_shows_again() -> None:
    expected = (("bbr-vs-cubic", "goodput-window", {"queue", "rtt"}), ("sawtooth", "sawtooth", {"goodput", "rtt"}))
    for scenario, first, beside in expected:
        page = run_page.page(el.run(scenario, set={"duration": "12 s", "warmup": "4 s"}))
        sections = [section for section in page.sections if section.title != "What happened"]
        assert [drawing.name for drawing in sections[0].drawings] == [first]
        assert sections[1].title == "Over time"
        assert {drawing.name for drawing in sections[1].drawings} == beside


def test_a_full_transmit_queue_is_told_with_the_window_of_that_moment() -> None:
    """With delayed ACKs a third of the window waits: 356 packets of room are full at three to four times as many segments."""
    found = re.search(r"at a window of ([0-9\u202f]+) segments", answer(el.run("txqueuelen", set={"duration": "3 s"}))[0])
    assert found is not None
    window = int(found[1].replace("\u202f", ""))
    assert 3 * 356 <= window <= 4 * 356
    # Linux halves the window of that moment, and its threshold says so.
    run = el.run("txqueuelen", set={"duration": "3 s"})
    assert window == pytest.approx(2 * run.flows["cur_ssthresh"][0].as_py() / 1448, abs=2)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("limit", ["0.5 bdp", "1 bdp", "5 bdp", "20 bdp"])
def test_who_gets_what_is_told_by_name(limit: str, seed: int) -> None:
    """BBR takes a shallow buffer for itself and yields in a deep one (Hock, Bless and Zitterbart 2017; Ware et al. 2019)."""
    run = el.run("bbr-vs-cubic", seed=seed, set={"template.queue.limit": limit})
    got = {name: run.statistic(name) for name in run.curated_statistics if name.endswith("].sum")}
    assert list(got) == ["goodput_bps[bbr].sum", "goodput_bps[cubic].sum"]
    ratio = got["goodput_bps[bbr].sum"] / got["goodput_bps[cubic].sum"]
    assert ratio > 2 if limit in ("0.5 bdp", "1 bdp") else ratio < 1


def test_a_sweep_of_which_nothing_is_random_says_so() -> None:
    page = sweep_page.page(
        el.sweep("sawtooth", set={"template.queue.limit": ["0.5 bdp", "1 bdp"], "duration": "12 s"}, repetitions=2)
    )
    assert "interval" not in page.fine + page.sections[0].drawings[0].caption
    assert render(page).count("alike: nothing in them is random") == 1


def test_times_that_differ_a_hundredfold_stand_on_a_logarithmic_axis() -> None:
    """One answer takes 2 ms; of two one waits for the retransmission timer of 200 ms."""
    done = el.sweep("incast", set={"template.clients": [1, 2], "tcp.rto_min": "200 ms", "stack": "rfc"}, repetitions=2)
    by_name = {drawing.name: drawing.figure.axes[0] for section in sweep_page.page(done).sections for drawing in section.drawings}
    assert by_name["fct-ns-max"].get_yscale() == "log"
    assert by_name["timeouts-sum"].get_yscale() == "linear"


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    page = Page(kicker="", title="", question="", answer=["It took 5 ms at 9.4 Gb/s, 3 % of 2 hosts."], version="1", command="")
    assert "5\u00a0ms at 9.4\u00a0Gb/s, 3\u00a0% of 2 hosts." in render(page)


def test_rows_that_are_all_zero_have_seconds() -> None:
    figure = dot_columns(["a", "b"], [("until it is used again", "ns", [("", [Interval(0.0, 0.0, 0.0, 2)] * 2)])])
    assert figure.axes[0].get_title(loc="left") == "until it is used again, s"


def test_peaks_between_samples_are_told() -> None:
    """At 80 % load 44 kB wait at worst; samples every millisecond see 29 kB at most."""
    run = el.run("load-latency")
    seen = max(run.port_samples["queue_bytes"].to_pylist())
    most = max(run.ports["queue_max_bytes"].to_pylist())
    assert most > 1.2 * seen
    assert f"between them it was up to {show(most, 'bytes')}." in draw_figure(run, "queue").caption
    assert "between them" not in draw_figure(el.run("sawtooth"), "sawtooth").caption


def test_a_line_of_few_samples_has_no_holes_on_a_terminal() -> None:
    x = np.array([0.0, 50.0, 100.0])
    (line,) = braille(x, np.array([2.0, 2.0, 2.0]), 5, 3.0, rows=1)
    assert "\u2800" not in line
    (line,) = braille(x, np.array([2.0, np.nan, 2.0]), 5, 3.0, rows=1)
    assert "\u2800" in line
    (left, right) = braille(np.arange(2.0), np.array([0.0, 7.0]), 1, 7.0, rows=2)
    assert (left, right) == ("\u28b8", "\u2878"), "a jump is a line"


def test_a_value_that_a_capture_cannot_show_has_its_reason(tmp_path: Path) -> None:
    """At the receiver nobody sees what is in flight at the sender."""
    run = el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s"}, pcap=True, out=tmp_path / "run")
    files = {file.stem: file for file in run.captures}
    for host, said in (("receiver[0]", True), ("sender[0]", False)):
        page = trace_page.page(el.analyze(files[host]))
        listed = page.sections[-1].tables
        unseen = any(cell.text == "n/a" for table in listed for row in table.rows for cell in row)
        assert (unseen, any("a capture at the receiver" in table.note for table in listed)) == (said, said)


def test_a_figure_that_a_run_cannot_have_says_why() -> None:
    assert all(kind.why_not for kind in REGISTRY.values())
    run = el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s"})
    coarse = el.run({**run.resolved, "record": {"events": False, "messages": False}})
    for one, name, why in (
        (run, "sharing", "it compares two flows or more that want alike, have no end and share a port"),
        (run, "latency", "it is of more than 20 messages or transfers that begin after the warm-up"),
        (run, "pause-tree", "no port sent PAUSE"),
        (run, "memory", "no switch has a limit of memory"),
        (coarse, "queue", "it is of samples: set record.every"),
        (coarse, "drops", "it is of events: set record.events"),
        (coarse, "latency", "it is of messages: set record.messages"),
    ):
        with pytest.raises(el.InputError) as caught:
            one.figure(name)
        assert str(caught.value) == f'no figure "{name}" of this run: {why}'


@pytest.mark.parametrize("scenario", ["sawtooth", "congestion-spreading"])
def test_every_colour_of_a_figure_follows_the_page_into_the_dark(scenario: str) -> None:
    run = el.run(scenario)
    drawn = 0
    for name in REGISTRY:
        try:
            figure = json.dumps(draw_figure(run, name).drawn.data(), allow_nan=False)
        except InputError:  # this run has nothing for it
            continue
        drawn += 1
        assert re.findall("#[0-9a-f]{3,8}", figure) == [], name
    assert drawn >= 5


def test_the_script_of_a_page_knows_every_call() -> None:
    script = (Path(page_module.__file__).parent / "sketch.js").read_text(encoding="utf-8")
    assert {name for name in sketch.CALLS if f'case "{name}"' not in script} == set()
    assert {name for name in sketch.OF_FIGURES if f'of("{name}")' not in script} == set()
    _, (axes,) = new_figure()
    with pytest.raises(AttributeError, match="a page cannot draw pie"):
        axes.pie([1, 2])


def test_a_figure_keeps_what_it_was_given_when_it_was_given() -> None:
    """An array that is added to afterwards does not move what was drawn with it."""
    figure, (axes,) = new_figure()
    heights = np.ones(3)
    axes.bar(np.arange(3), heights, color=BLUE)
    heights += 1
    drawing = Drawing("bars", "Bars", "", figure)
    assert [patch.get_height() for patch in drawing.figure.axes[0].patches] == [1, 1, 1]
    assert drawing.drawn.data()["axes"] == [[["bar", [[0, 1, 2], [1.0, 1.0, 1.0]], {"color": "var(--s0)"}]]]


def test_a_page_lists_what_stands_on_it_and_beside_it(tmp_path: Path) -> None:
    out = tmp_path / "run"
    el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s"}, out=out)
    page = (out / "report.html").read_text()
    titles = [html.unescape(title) for title in re.findall("<h2>([^<]+)", page)]
    assert [html.unescape(title) for title in re.findall('<a href="#[^"]+">([^<]+)', page)] == titles
    assert set(re.findall('<a href="#([^"]+)"', page)) <= set(re.findall('<section id="([^"]+)"', page))
    listed = re.findall('<li><a href="([^"]+)"', page)
    assert {"flows.parquet", "scenario.toml", "manifest.json"} <= {*listed}
    assert all((out / name).exists() for name in listed)


BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.skipif(BROWSER is None, reason="no browser")
def test_a_browser_draws_the_figures_of_a_page(tmp_path: Path) -> None:
    """The script writes the words that matplotlib writes: headings, names of axes, of lines and of reference lines."""
    run = el.run("congestion-spreading")
    file = write_page(run_page.page(run), tmp_path / "report.html")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,2000", "--dump-dom", file.as_uri()]
    page = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    for name in ("pause-timeline", "pause-tree", "sawtooth", "memory", "pause"):
        section = page.partition(f'id="figure-{name}"')[2].partition("</figure>")[0]
        words = {html.unescape(word) for word in re.findall("<tspan[^>]*>([^<]*)</tspan>", section)}
        drawn = draw_figure(run, name).figure
        texts = {text.get_text() for axes in drawn.axes for text in axes.texts if text.get_text()}
        texts |= {axes.get_title(loc="left") for axes in drawn.axes} | {axes.get_xlabel() for axes in drawn.axes[-1:]}
        assert texts - {""} <= words, name
        assert section.count("<path") >= 5


DECLARED = """
from elephan.report.figure.registry import figure
from elephan.report.style import Drawing, new_figure
from elephan.statistic import needs


def possible(view):
    return view.run.flows.num_rows == 1 and view.run.events.num_rows > 0


@figure("sizes", "segments that were sent", possible, why_not="it is of one flow", needs=(needs.recorded_events,),
        order=35, section="Sizes", instead_of=("drops",))
def sizes(view):
    figure, (axes,) = new_figure()
    axes.plot([0, 1], [0, view.run.flows.num_rows])
    return Drawing("sizes", "Sizes", "One flow.", figure)
"""


def test_a_figure_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """A file in the package of declarations is all that lists, reports, `run.figure` and reasons for a missing figure need."""
    (tmp_path / "of_sizes.py").write_text(DECLARED, encoding="utf-8")
    monkeypatch.setattr(declared, "__path__", [*declared.__path__, str(tmp_path)])
    try:
        read_all("elephan.report.figure.declared")
        assert cli.status_of(["list", "figures"]) == 0
        assert re.search(r"sizes +segments that were sent", capfd.readouterr().out)
        run = el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s"})
        shown = {section.title: [drawing.name for drawing in section.drawings] for section in run_page.page(run).sections}
        assert shown["Sizes"] == ["sizes"]
        assert {"sizes", "drops"} & set(shown.get("More figures", [])) == set()
        assert 'id="figure-sizes"' in render(run_page.page(run))
        assert run.figure("sizes").axes[0].lines[0].get_ydata()[1] == 1
        for silent, why in (
            ({"record.events": False}, "it is of events: set record.events"),
            ({"template.pairs": 2}, "it is of one flow"),
        ):
            with pytest.raises(el.InputError, match=f'no figure "sizes" of this run: {why}'):
                el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s", **silent}).figure("sizes")
    finally:
        REGISTRY.pop("sizes", None)
        sys.modules.pop("elephan.report.figure.declared.of_sizes", None)


def test_a_report_takes_events_by_the_million(tmp_path: Path) -> None:
    """A Python object for each of two million drops would take several seconds; its columns take a tenth of one."""
    run = el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s"}, out=tmp_path / "run", report=False)
    drop = next(row for row in run.events.to_pylist() if row["kind"] == "drop")
    count = 2_000_000
    times = np.sort(np.random.default_rng(1).integers(0, run.duration_ns, count))
    same = {name: pa.repeat(pa.scalar(drop[name], run.events.schema.field(name).type), count) for name in run.events.column_names}
    parquet.write_table(pa.table(same | {"time_ns": times}), tmp_path / "run" / "events.parquet")
    folder.wrote(tmp_path / "run", ["events.parquet"])  # its digest too
    begun = time.process_time()
    page = run_page.page(load_run(tmp_path / "run"))
    assert time.process_time() - begun < 2.5
    caption = next(drawing.caption for section in page.sections for drawing in section.drawings if drawing.name == "drops")
    assert caption.startswith("2\u202f000\u202f000 packets dropped")


@pytest.fixture
def reader(tmp_path: Path) -> Any:
    """A reader of the report of a run."""
    playwright = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("no browser")
    run = el.run("cubic-vs-reno", set={"duration": "12 s", "warmup": "4 s"})
    file = write_page(run_page.page(run), tmp_path / "report.html")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(accept_downloads=True)
        page.goto(file.as_uri())
        yield page
        browser.close()


def test_a_reader_sorts_zooms_and_takes_away(reader: Any, tmp_path: Path) -> None:
    table = "#flows-and-ports table >> nth=1"
    ports = lambda: [row.split("\t") for row in reader.locator(table).inner_text().splitlines()[1:]]  # noqa: E731
    head = reader.locator(table).get_by_role("button", name="sort by busy")
    for descending in (False, True):
        head.click()
        busy = [float(row[1].split()[0]) for row in ports()]
        assert busy == sorted(busy, reverse=descending)
    with reader.expect_download() as taken:
        reader.get_by_role("button", name="this table as CSV").last.click()
    lines = Path(taken.value.path()).read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [row[0] for row in ports()]

    with reader.expect_download() as taken:
        reader.get_by_role("button", name="the figure rtt as SVG").click()
    drawing = Path(taken.value.path()).read_text()
    assert drawing.startswith("<svg")
    assert "var(--" not in drawing
    assert "#0072b2" in drawing

    ticks = lambda name: re.findall(r">([\d.]+)<", reader.locator(f"#figure-{name} svg").inner_html())  # noqa: E731
    before = ticks("rtt")
    other = reader.locator(".sketch svg").first
    other.scroll_into_view_if_needed()
    box = other.bounding_box()
    reader.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.25 * box["height"])
    reader.mouse.down()
    reader.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.25 * box["height"], steps=3)
    reader.mouse.up()
    assert ticks("rtt") != before
    places = [float(x) for x in re.findall(r'<tspan x="(-?[\d.]+)"', reader.locator("#figure-rtt svg").inner_html())]
    assert max(places) < 832  # marks of a time that is out of view push nothing away
    reader.locator("#figure-rtt .sketch").dblclick(position={"x": 200, "y": 60})
    assert ticks("rtt") == before
