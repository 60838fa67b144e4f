"""Reports: self-contained, whole, the same every time."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import elephan as el
import numpy as np
import pytest
from elephan.base.errors import InputError
from elephan.report import paint
from elephan.report.figure import draw
from elephan.report.figure.run_figures import REGISTRY
from elephan.report.figure.run_figures import draw as draw_figure
from elephan.report.figure.terminal import braille
from elephan.report.page import run_page
from elephan.report.page.page import Page, Section, render
from elephan.report.words.answer import answer
from elephan.report.words.view import View, arrow, nice_step
from elephan.result.run import Run
from elephan.scenario.source import library, open_source
from elephan.statistic import measures
from elephan.table.rows import column, texts
from elephan.table.steps import link_of, path_ports


class Outside(HTMLParser):
    """Collects everything that a page would fetch, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and value and not value.startswith(("#", "data:")):
                self.fetched.append(value)


def test_a_report_needs_nothing_else(fake_run: Run, tmp_path: Path) -> None:
    path = fake_run.report(tmp_path / "report.html")
    text = path.read_text()
    parser = Outside()
    parser.feed(text)
    assert parser.fetched == []
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert "What does a made-up network do?" in text
    assert text.index("What does a made-up") < text.index("Delivered: client[0]")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_report_shows_where_parameters_come_from(fake_run: Run) -> None:
    text = render(run_page.page(fake_run))
    assert "switches.sw.memory" in text
    assert 'class="origin given"' in text


def test_text_is_escaped() -> None:
    evil = "<script>alert(1)</script>"
    page = Page(kicker=evil, title=evil, question=evil, answer=[evil], version="1", command=evil, facts=[(evil, evil)])
    page.sections = [Section(evil, evil)]
    assert evil not in render(page)


# Figures that need other runs than the made-up one.
UNUSUAL = (
    "capacity",
    "completion",
    "ranking",
    "limiters",
    "burst",
    "forbidden-area",
    "copy",
    "host",
    "transmit",
    "phases",
    "map",
    "ranks",
    "gantt",
)


@pytest.mark.parametrize("name", [name for name in REGISTRY if name not in UNUSUAL and "pause" not in name])
def test_every_figure_draws(fake_run: Run, name: str) -> None:
    drawing = draw_figure(fake_run, name)
    assert drawing.svg().startswith("<?xml")
    on_page = json.dumps(drawing.drawn.data(), allow_nan=False)
    assert "var(--" in on_page
    assert not re.search("#[0-9a-f]{6}", on_page), "a colour that does not follow the page into the dark"


def test_figures_are_the_same_every_time(fake_run: Run) -> None:
    assert draw_figure(fake_run, "sawtooth").svg() == draw_figure(fake_run, "sawtooth").svg()


def test_figures_that_cannot_be_drawn(fake_run: Run) -> None:
    with pytest.raises(InputError, match="no figure"):
        draw_figure(fake_run, "swatooth")
    with pytest.raises(InputError, match="came to its end"):
        draw_figure(fake_run, "completion")


def test_a_run_draws_itself(fake_run: Run) -> None:
    html = fake_run._repr_html_()
    assert "<svg" in html
    assert "goodput_bps.sum" in html
    assert "Made up" in html


def test_the_answer_has_numbers(fake_run: Run) -> None:
    assert "Gb/s" in answer(fake_run)[0]
    assert "dropped" in answer(fake_run)[0]


@pytest.mark.parametrize(
    ("scenario", "more", "words"),
    [
        # M / (B (1 - s / f)) = 566, packets being whole 567; five of six are lost after it (the scenario's header).
        ("udp-burst", {}, "The first packet lost is number 567: 501 kB of memory."),
        # (1000 - 622.08) / 1000 x 622.08 Mb/s x 158 ms / 8 = 4.64 MB
        ("forbidden-area", {}, "622.08 Mb/s is forbidden"),
        ("forbidden-area", {}, "needs 4.64 MB of memory, router[0] → router[1] has 500 kB. It dropped 3\u202f178 packets."),
        # 1 Gb/s x 100 ms = 8127 frames of 1538 B
        ("txqueuelen", {"duration": "3 s"}, "Qdisc and ring hold 100 + 256 packets; the path holds 8\u202f128"),
        ("txqueuelen", {"duration": "1 s"}, "They were never full."),
        ("sawtooth", {}, "The window is cut 8 times after the warm-up"),
        ("sack-processing", {"duration": "8 s"}, "The links lost 1 packet; no packet was dropped at a port"),
    ],
)
def test_the_answer_is_to_the_question(scenario: str, more: dict[str, str], words: str) -> None:
    text = " ".join(answer(el.run(scenario, set=more)))
    assert words in text
    assert "nothing to send" not in text, "a transfer that has sent its last byte is not limited by its application"


CHANGING = """
duration = "100 ms"
warmup = "50 ms"
[hosts.s]
[hosts.r]
[[links]]
between = ["s", "r"]
rate = "100 Mbps"
delay = "1 ms"
[[traffic]]
from = "s"
to = "r"
kind = "cbr"
rate = "50 Mbps"
[[change]]
at = "60 ms"
set = { "links.s->r.rate" = "20 Mbps" }
[record]
every = "1 ms"
"""


def test_stretches_are_of_the_measured_time() -> None:
    """What they carried together, each for its time, is the goodput of the run."""
    run = el.run(CHANGING)
    text = " ".join(answer(run))
    match = re.search(r"([0-9.]+) Mb/s from 50 ms to 60 ms; ([0-9.]+) Mb/s with rate 20 Mb/s \(from 60 ms\)", text)
    assert match is not None
    total = float(match[1]) * 1e6 * 10e-3 + float(match[2]) * 1e6 * 40e-3
    assert total == pytest.approx(run.statistic("goodput_bps.sum") * 50e-3, rel=0.01)


def test_a_change_in_the_warmup_is_said() -> None:
    text = " ".join(answer(el.run(CHANGING, set={"change[0].at": "20 ms"})))
    assert "Changed before the measured time begins: rate 20 Mb/s at 20 ms." in text
    assert "with rate 20 Mb/s (from 50 ms)" in text


TWO_QUEUES = """
duration = "200 ms"
[hosts.s]
count = 2
[hosts.a]
[hosts.b]
[switches.sw]
[[links]]
between = ["s", "sw"]
rate = "100 Mbps"
delay = "1 ms"
[[links]]
between = ["sw", "a"]
rate = "20 Mbps"
delay = "1 ms"
queue = { kind = "fifo", limit = "20 KB" }
[[links]]
between = ["sw", "b"]
rate = "50 Mbps"
delay = "1 ms"
queue = { kind = "fifo", limit = "20 KB" }
[[traffic]]
from = "s[0]"
to = "a"
kind = "bulk"
[[traffic]]
from = "s[1]"
to = "b"
kind = "bulk"
[record]
every = "1 ms"
"""


def test_drops_are_drawn_where_they_happened() -> None:
    run = el.run(TWO_QUEUES)
    view, lost = View(run), dict(zip(texts(run.ports, "name"), column(run.ports, "drops"), strict=True))
    assert min(lost["sw->a"], lost["sw->b"]) > 0
    for name in ("sw->a", "sw->b"):
        assert view.drops_at([arrow(name)]).size == lost[name]
    assert view.drops_at([arrow("sw->a"), arrow("sw->b")]).size == view.events("drop").size == sum(lost.values())


def test_goodput_of_a_figure_is_what_was_delivered(fake_run: Run) -> None:
    series, step = View(fake_run).goodput_series()
    total = sum(float(rates.sum()) for _, rates in series.values()) * step / 8e9
    assert total == pytest.approx(sum(fake_run.flows["delivered_bytes"].to_pylist()), rel=0.02)


def test_thinning_keeps_the_extremes() -> None:
    y = np.zeros(100_000)
    y[54_321], y[12_345] = 7.0, -3.0
    x, thinned = draw.thin(np.arange(100_000, dtype=float), y)
    assert x.size < 4000
    assert thinned.max() == 7
    assert thinned.min() == -3


def test_distributions() -> None:
    x, y = draw.ccdf(np.array([1.0, 2.0, 3.0, 4.0]))
    assert dict(zip(x, y, strict=True))[2.0] == 0.5
    x, y = draw.cdf(np.array([4.0, 3.0, 2.0, 1.0]))
    assert (x[-1], y[-1]) == (4.0, 1.0)


def test_nice_steps() -> None:
    assert [nice_step(x) for x in (1.0, 1.1, 2.0, 3.0, 7.0, 1e6)] == [1, 2, 2, 5, 10, 1e6]


def test_braille() -> None:
    lines = braille(np.arange(4.0), np.array([0.0, 1.0, 2.0, 3.0]), 2, 3.0, rows=1)
    assert lines == ["⡠⠊"]


def test_powers_of_ten_are_written_without_formulas():
    assert paint.plain_power(r"$\mathdefault{10^{-6}}$") == "10⁻⁶"
    assert paint.plain_power(r"$\mathdefault{2\times10^{12}}$") == "2\u00d710¹²"
    assert paint.plain_power("0.5") == "0.5"


def test_long_numbers_on_an_axis_stand_in_threes() -> None:
    written = {"700000": "700\u202f000", "\u22121250000": "\u22121\u202f250\u202f000", "2500.5": "2\u202f500.5"}
    assert {text: paint.grouped(text) for text in written} == written
    assert [paint.grouped(text) for text in ("0.00001", "250", "0")] == ["0.00001", "250", "0"]


def test_figures_and_statistics_that_the_library_names_exist() -> None:
    for entry in library().values():
        notes = open_source(entry.name).notes
        assert not notes.figure or notes.figure in REGISTRY, entry.name
        for name in notes.statistics:
            measures.parse(name)


def test_a_least_round_trip_in_ticks_says_so() -> None:
    """A path of 196.04 ms: Linux 2.4 takes round trips by its clock of 10 ms once something was sent twice, others by 1 ms."""

    def note(stack: str, limit: str) -> str:
        run = el.run(
            f"""
            duration = "10 s"
            stack = "{stack}"
            [template]
            kind = "path"
            hops = [
                {{ rate = "1 Gbps", delay = "10 us" }},
                {{ rate = "100 Mbps", delay = "98 ms", queue = {{ kind = "fifo", limit = "{limit}" }} }},
            ]
            [[traffic]]
            name = "flow"
            from = "sender"
            to = "receiver"
            kind = "bulk"
            tcp = {{ receive_window = "16 MB", send_buffer = "16 MB" }}
            """
        )
        return _flow_notes(run)

    assert "Least RTT as the stack measures it, in ticks of 10 ms" in note("linux-2.4", "100 KB")
    assert "Least RTT" not in note("linux", "100 KB")
    assert "Least RTT" not in note("linux-2.4", "100 MB")


def _flow_notes(run: el.Run) -> str:
    return " ".join(table.note for section in run_page.page(run).sections for table in section.tables)


def test_links_between_parts_of_a_group() -> None:
    """A chain of switches: link i joins the i-th to the one after it."""
    slow = {"between": ["sw[0-2]", "sw[1-3]"], "rate": "20 Mbps", "delay": "1 ms"}
    fast = [{"between": ends, "rate": "1 Gbps", "delay": "1 ms"} for ends in (["a", "sw[0]"], ["sw[3]", "b"])]
    traffic = [{"name": "long", "kind": "bulk", "from": "a", "to": "b"}]
    nodes = {"hosts": {"a": {}, "b": {}}, "switches": {"sw": {"count": 4}}}
    run = el.run({"duration": "1 s", **nodes, "links": [slow, *fast], "traffic": traffic})
    there, back = link_of(run, "sw[1]", "sw[2]"), link_of(run, "sw[2]", "sw[1]")
    assert there[0] == back[0]
    assert (there[0]["between"], there[0]["rate"]) == (["sw[0-2]", "sw[1-3]"], "20 Mbps")
    assert (there[1], back[1]) == ("forward", "backward")
    assert link_of(run, "sw[3]", "b")[0]["rate"] == "1 Gbps"
    assert run._repr_html_()


def test_a_flow_with_one_sample_has_a_report() -> None:
    run = el.run("sawtooth", set={"duration": "20 s", "warmup": "0 s", "record.every": "15 s"})
    assert "</html>" in render(run_page.page(run))


def test_a_way_through_a_hub_is_the_shortest() -> None:
    run = el.run("incast", set={"duration": "10 ms"})
    source, destination = texts(run.flows, "source")[3], texts(run.flows, "destination")[3]
    hub = path_ports(run, source, destination)[0][1]
    assert path_ports(run, source, destination) == [(source, hub), (hub, destination)]
    assert path_ports(run, source, source) == []
