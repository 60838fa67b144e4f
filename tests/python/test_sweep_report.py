"""What the report of a sweep says: its numbers are those of the tables, its figures join what belongs together."""

from __future__ import annotations

import html
import itertools
import json
import math
import random
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trial, Variant
from elephan.report.figure.sweep_figures import draw_all
from elephan.report.page import sweep_page, variants
from elephan.report.page.page import render, write_page
from elephan.report.palette import look
from elephan.report.words import baseline
from elephan.report.words.effects import effects
from elephan.report.words.swept import Swept
from scipy.optimize import curve_fit
from scipy.stats import t as student

RATE, LIMIT, CONTROL, QUEUE = "template.rate", "template.queue.limit", "traffic.a.congestion_control", "template.queue.kind"
GOODPUT, LOSS, TIMEOUTS = "goodput_bps.sum", "loss.max", "timeouts.sum"
RATES, LIMITS, CONTROLS = ("1 Mbps", "2 Mbps", "5 Mbps", "10 Mbps"), ("10 kB", "50 kB", "100 kB"), ("reno", "cubic", "bbr")


def grid(**values: Sequence[str]) -> list[dict[str, Any]]:
    paths = {"rate": RATE, "limit": LIMIT, "control": CONTROL, "queue": QUEUE}
    return [dict(zip((paths[key] for key in values), one, strict=True)) for one in itertools.product(*values.values())]


def made(
    points: Sequence[Mapping[str, Any]],
    value: Callable[[Mapping[str, Any], int], Mapping[str, float]],
    seeds: int = 5,
    **facts: Any,
) -> Sweep:
    """A sweep whose runs have the values that a function gives to a point and a seed; without any the run has failed."""
    variants = [
        Variant(", ".join(f"{key.rpartition('.')[2]}={one}" for key, one in point.items()), dict(point)) for point in points
    ]
    found = [(v, seed, value(v.parameters, seed)) for v in variants for seed in range(1, seeds + 1)]
    rows = [Trial(v.label, seed, values) for v, seed, values in found if values]
    failures = [f"{v.label} seed {seed}: made up" for v, seed, values in found if not values]
    first = {"provenance": []}
    return Sweep("made up", variants, rows, {"first": first, "failures": failures, "scenario_sha256": "", **facts})


def number(text: str) -> float:
    return float(text.split()[0])


def noisy(point: Mapping[str, Any], seed: int) -> dict[str, float]:
    draw = random.Random(f"{sorted(point.items())} {seed}")
    goodput = 1e6 * number(point[RATE]) * (1 + 0.1 * draw.gauss(0, 1)) * (1.5 if point.get(CONTROL) == "cubic" else 1.0)
    return {GOODPUT: goodput, LOSS: min(1.0, max(0.0, draw.gauss(0.5, 0.4))), TIMEOUTS: 3.0}


def test_arrays_have_the_intervals_of_the_tables() -> None:
    """Also of shares, which end at 1, of statistics that a run lacks, and where every run failed."""

    def value(point: Mapping[str, Any], seed: int) -> dict[str, float]:
        found = noisy(point, seed)
        if point[RATE] == "1 Mbps" and seed > 1:
            return {}
        if point[RATE] == "2 Mbps":
            return {}
        return {key: one for key, one in found.items() if (key, seed) != (GOODPUT, 3)}

    sweep = made(grid(rate=RATES, control=CONTROLS), value)
    swept = Swept(sweep)
    for statistic in sweep.statistics:
        estimates = swept.estimates(statistic)
        for row, label in enumerate(sweep.labels):
            wanted, found = sweep.interval(label, statistic), estimates.at(row)
            assert found.n == wanted.n
            assert [found.mean, found.low, found.high] == pytest.approx(
                [wanted.mean, wanted.low, wanted.high], rel=1e-12, nan_ok=True
            )
    differences = swept.difference(GOODPUT, np.full(12, 9))
    wanted = sweep.difference(sweep.labels[10], sweep.labels[9], GOODPUT)
    assert differences.at(10).low == pytest.approx(wanted.low, rel=1e-9)
    assert differences.at(9).n == differences.at(3).n == 0  # itself, and one whose runs all failed


def test_the_part_of_each_parameter() -> None:
    def roles(*points: Mapping[str, Any]) -> tuple[str, str, str, list[str], bool]:
        found = Swept(made(points, lambda _point, seed: {GOODPUT: float(seed)})).roles
        assert found is not None
        names = (one.words if one else "" for one in (found.color, found.panel))
        return (found.x.words, *names, [one.words for one in found.averaged], found.drawn)

    assert roles(*grid(rate=RATES)) == ("rate", "", "", [], False)
    assert roles(*grid(limit=LIMITS, rate=RATES)) == ("rate", "queue limit", "", [], False)
    both = grid(rate=RATES, queue=("red", "fifo"), control=CONTROLS)
    assert roles(*both) == ("rate", "congestion control of a", "queue", [], False)
    assert roles(*grid(queue=("red", "fifo"), control=CONTROLS)) == ("queue", "congestion control of a", "", [], False)
    many = [{**one, "template.delay": f"{delay} ms"} for one in both for delay in range(1, 14)]
    assert roles(*many) == ("delay", "congestion control of a", "queue", ["rate"], False)
    # Side by side: numbers that grow together are one axis, names with numbers are rows.
    assert roles({RATE: "1 Mbps", LIMIT: "1 kB"}, {RATE: "2 Mbps", LIMIT: "3 kB"})[0] == "rate and queue limit"
    assert roles({RATE: "1 Mbps", CONTROL: "reno"}, {RATE: "2 Mbps", CONTROL: "bbr"})[0] == "rate and congestion control of a"
    # Of drawn points no two differ in one parameter only.
    drawn = [{RATE: f"{7 * k % 16 + 1} Mbps", LIMIT: f"{3 * k % 16 + 1} kB"} for k in range(16)]
    assert roles(*drawn)[-1]


def test_lines_join_what_differs_in_one_parameter_only() -> None:
    sweep = made(grid(rate=RATES, queue=("red", "fifo"), control=CONTROLS), noisy)
    figure = draw_all(Swept(sweep), [GOODPUT])[0].figure
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["red", "fifo"]
    for axes, queue in zip(figure.axes, ("red", "fifo"), strict=True):
        lines = [line for line in axes.lines if len(line.get_xdata()) == len(RATES)]
        for line, control in zip(lines, CONTROLS, strict=True):
            labels = [f"rate={rate}, kind={queue}, congestion_control={control}" for rate in RATES]
            assert line.get_ydata() == pytest.approx([sweep.interval(label, GOODPUT).mean * 1e-6 for label in labels])
            assert line.get_color() == look(control).color
    # One scale for all panels.
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


def test_drawn_points_are_not_joined() -> None:
    points = [{RATE: f"{1 + 7 * k % 32} Mbps", LIMIT: f"{1 + 11 * k % 32} kB"} for k in range(32)]
    drawing = draw_all(Swept(made(points, noisy)), [GOODPUT])[0]
    figure = drawing.figure
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["rate, Mb/s", "queue limit, kB"]
    for axes in figure.axes:
        clouds = [line for line in axes.lines if len(line.get_xdata()) == 32]
        assert [line.get_linestyle() for line in clouds] == ["None"]
    # Of thousands there are only means.
    many = [{RATE: f"{1 + 7 * k % 4096} Mbps", LIMIT: f"{1 + 11 * k % 4096} kB"} for k in range(4096)]
    swept = Swept(made(many, noisy, seeds=1))
    drawing = draw_all(swept, [GOODPUT])[0]
    assert drawing.caption.startswith("4\u202f096 variants are too many to draw")
    assert max(len(line.get_xdata()) for line in drawing.figure.axes[0].lines) == 12


def test_a_heat_map_has_the_means() -> None:
    sweep = made(grid(rate=RATES, limit=LIMITS), noisy)
    drawing = draw_all(Swept(sweep), [GOODPUT])[1]
    texts = {text.get_position(): text.get_text() for text in drawing.figure.axes[0].texts}
    assert len(texts) == 12
    means = [sweep.interval(f"rate={rate}, limit={limit}", GOODPUT).mean for rate, limit in itertools.product(RATES, LIMITS)]
    assert texts[3, 1] == f"{means[10] * 1e-6:.3g}"
    assert drawing.caption == f"Means, from {show(min(means), 'bps')} (pale) to {show(max(means), 'bps')} (strong)."


def test_main_effects_of_a_sum_are_its_parts() -> None:
    """y = 3 r + (2 for cubic) + seed: over a grid of r from 1 to 10 the rate does 27, the congestion control 2."""

    def value(point: Mapping[str, Any], seed: int) -> dict[str, float]:
        return {GOODPUT: 3 * number(point[RATE]) + 2 * (point[CONTROL] == "cubic") + seed}

    found = effects(Swept(made(grid(rate=RATES, control=("reno", "cubic")), value)), GOODPUT)
    assert [(one.axis.words, one.frm, one.to) for one in found] == [
        ("rate", "1 Mbps", "10 Mbps"),
        ("congestion control of a", "reno", "cubic"),
    ]
    assert [one.interval.mean for one in found] == pytest.approx([27, 2])
    assert [one.interval.high - one.interval.low for one in found] == pytest.approx([0, 0], abs=1e-9)


def test_main_effects_in_a_grid_are_differences_of_means_seed_by_seed() -> None:
    sweep = made(grid(rate=RATES, control=CONTROLS), noisy)
    rate = effects(Swept(sweep), GOODPUT)[0]

    def mean(rate: str, seed: int) -> float:
        return float(np.mean([sweep.by_seed(f"rate={rate}, congestion_control={c}", GOODPUT)[seed] for c in CONTROLS]))

    wanted = el.stats.mean_interval([mean("10 Mbps", seed) - mean("1 Mbps", seed) for seed in range(1, 6)])
    assert [rate.interval.mean, rate.interval.low, rate.interval.high] == pytest.approx([wanted.mean, wanted.low, wanted.high])


def test_main_effects_of_a_drawn_design_are_those_of_a_straight_line() -> None:
    """scipy's least squares gives the same slopes and standard errors."""
    points = [{RATE: f"{1 + 7 * k % 32} Mbps", LIMIT: f"{1 + 11 * k % 32} kB"} for k in range(32)]
    sweep = made(points, noisy)
    found = {one.axis.words: one.interval for one in effects(Swept(sweep), GOODPUT)}
    x = np.array([[number(point[RATE]), number(point[LIMIT])] for point in points]).T
    y = [sweep.interval(label, GOODPUT).mean for label in sweep.labels]
    slopes, covariance = curve_fit(lambda x, a, b, c: a + b * x[0] + c * x[1], x, y)
    for place, words in ((1, "rate"), (2, "queue limit")):
        half = student.ppf(0.975, 29) * math.sqrt(covariance[place, place]) * 31
        assert found[words].mean == pytest.approx(31 * slopes[place], rel=1e-5)
        assert found[words].high - found[words].mean == pytest.approx(half, rel=1e-5)


def test_parameters_that_cannot_be_told_apart_have_no_effect_of_their_own() -> None:
    points = [{RATE: rate, LIMIT: limit} for rate, limit in zip(RATES, ("10 kB", "50 kB", "10 kB", "50 kB"), strict=True)]
    assert effects(Swept(made(points, noisy)), GOODPUT) == []


def test_what_is_the_same_everywhere_is_left_out_and_named() -> None:
    page = sweep_page.page(made(grid(rate=RATES), noisy))
    assert [drawing.name for section in page.sections for drawing in section.drawings] == ["goodput-bps-sum", "loss-max"]
    (table,) = [section for section in page.sections if section.variants]
    assert "The same in all variants, and left out: retransmission timeouts (3)." in table.intro
    assert [one["title"] for one in (table.variants or {})["statistics"]] == [
        "goodput of all flows together",
        "loss at the worst port",
    ]
    # Unless nothing varies at all.
    alone = sweep_page.page(made(grid(rate=RATES), lambda _point, _seed: {TIMEOUTS: 3.0}))
    assert next(section.variants for section in alone.sections if section.variants)["statistics"][0]["mean"] == [3.0] * 4


def test_that_repetitions_are_alike_is_said_once() -> None:
    sweep = made(grid(rate=RATES), lambda point, _seed: {GOODPUT: 1e6 * number(point[RATE]), LOSS: 0.1 * number(point[RATE]) / 10})
    text = html.unescape(render(sweep_page.page(sweep)))
    assert text.count("are all alike") == 1


@pytest.mark.parametrize(
    ("condition", "words", "rows"),
    [
        ("rate == 2 Mbps and congestion_control == bbr", "rate 2 Mbps, bbr", [5] * 12),
        ("rate == 2 Mbps", "rate == 2 Mbps, all else alike", [3, 4, 5] * 4),
        ("congestion_control=cubic", "congestion_control=cubic, all else alike", [1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10]),
    ],
)
def test_a_baseline_is_a_variant_or_its_like(condition: str, words: str, rows: list[int]) -> None:
    sweep = made(grid(rate=RATES, control=CONTROLS), noisy)
    found = baseline.chosen(Swept(sweep), condition)
    assert (found.words, found.rows.tolist()) == (words, rows)
    data = variants.data(Swept(sweep.against(condition)), found, True)
    assert data["base"] == {"words": words, "rows": rows, "asked": True}


def test_a_wrong_baseline_is_one_line() -> None:
    swept = Swept(made(grid(rate=RATES, control=CONTROLS), noisy))
    with pytest.raises(InputError, match="6 variants are such; name one value of each parameter of the baseline"):
        baseline.chosen(swept, "rate > 2 Mbps")
    with pytest.raises(InputError, match="no variant is such"):
        baseline.chosen(swept, "rate == 2 Mbps and rate == 5 Mbps")


def test_a_filter_keeps_variants_runs_and_their_failures() -> None:
    sweep = made(grid(rate=RATES, control=CONTROLS), lambda p, seed: noisy(p, seed) if (p[CONTROL], seed) != ("bbr", 2) else {})
    few = sweep.where("rate >= 5 Mbps and congestion_control == bbr")
    assert few.labels == ["rate=5 Mbps, congestion_control=bbr", "rate=10 Mbps, congestion_control=bbr"]
    assert few.failures == [f"{label} seed 2: made up" for label in few.labels]
    assert few.by_seed(few.labels[0], GOODPUT) == sweep.by_seed(few.labels[0], GOODPUT)
    assert {trial.seed for trial in sweep.where("seed in (1, 3)").trials} == {1, 3}
    assert "Only rate >= 5 Mbps: 6 of 12 variants." in sweep_page.page(sweep.where("rate >= 5 Mbps")).fine
    with pytest.raises(InputError, match="no run is such; there are 56 runs of 12 variants"):
        sweep.where("seed == 9")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small real sweep on disk."""
    set = {"duration": "3 s", "warmup": "1 s", RATE: ["10 Mbps", "20 Mbps"], LIMIT: ["20 kB", "60 kB"]}
    out = tmp_path_factory.mktemp("sweep") / "s"
    el.sweep("sawtooth", set=set, repetitions=2, out=out, store=False)
    return out


def test_a_report_is_filtered_by_the_command(saved: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["report", str(saved), "--filter", "limit >= 50 kB", "--baseline", "rate == 20 Mbps"]) == 0
    page = html.unescape((saved / "report.html").read_text())
    assert "Only limit >= 50 kB: 2 of 4 variants." in page
    assert '"asked":true' in page
    assert cli.status_of(["report", str(saved)]) == 0
    assert "Only limit" not in (saved / "report.html").read_text()
    capfd.readouterr()
    for words, why in (
        (["--filter", "limt >= 50 kB"], '--filter \'limt >= 50 kB\': no parameter "limt"; did you mean "limit"?'),
        (["--filter", "rate == 15 Mbps"], "template.rate is never 15 Mbps; it is 10 Mbps, 20 Mbps"),
        (["--baseline", "limit > 1 kB"], "name one value of each parameter"),
    ):
        assert cli.status_of(["report", str(saved), *words]) == 2
        assert why in capfd.readouterr().err


def test_a_wrong_filter_ends_a_sweep_before_its_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "sawtooth", "-s", "template.rate=10Mbps,20Mbps", "--out", str(tmp_path / "o"), "--filter", "rat > 1 Mbps"]
    assert cli.status_of(words) == 2
    assert 'no parameter "rat"; did you mean "rate"?' in capfd.readouterr().err
    assert not (tmp_path / "o").exists()


def test_only_sweeps_are_filtered(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s"}, out=tmp_path / "r")
    assert cli.status_of(["report", str(tmp_path / "r"), "--filter", "rate > 1 Mbps"]) == 2
    assert "--filter and --baseline choose variants of a sweep; this result is of the kind run" in capfd.readouterr().err


BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
SAY = """<script>(() => {{ const said = []; try {{ {script} }} catch (error) {{ said.push("error " + error.stack); }}
const out = document.createElement("pre"); out.id = "said";
out.textContent = JSON.stringify(said); document.body.append(out); }})()</script>"""


def said(file: Path, script: str, width: int = 1280) -> list[Any]:
    """What a script says that a browser runs at the end of a page."""
    text = file.read_text(encoding="utf-8").replace("</body>", SAY.format(script=script) + "</body>")
    probe = file.with_name("probe.html")
    probe.write_text(text, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},2000", "--dump-dom"]
    page = subprocess.run([str(BROWSER), *flags, probe.as_uri()], capture_output=True, text=True, timeout=120, check=True).stdout
    found: list[Any] = json.loads(html.unescape(page.partition('<pre id="said">')[2].partition("</pre>")[0]))
    return found


TABLE = """
const place = document.querySelector(".variants");
const rows = () => [...place.querySelectorAll("tr")].slice(1).map(tr => [...tr.children].map(td => td.textContent));
const set = (node, value, kind) => { node.value = value; node.dispatchEvent(new Event(kind)); };
said.push(rows());
set(place.querySelector("input"), "10 mbps cubic", "input"); said.push(rows().map(row => row.slice(0, 2)));
set(place.querySelector("input"), "", "input");
set(place.querySelector("select[data-axis='1']"), 2, "change"); said.push(rows().map(row => row.slice(0, 2)));
set(place.querySelector("select[data-axis='1']"), "", "change");
place.querySelectorAll("th button")[2].click(); said.push(rows().map(row => row.slice(0, 2)));
place.querySelectorAll("th button")[2].click(); said.push(rows().map(row => row.slice(0, 2)));
place.querySelectorAll("th button")[0].click();
set(place.querySelector(".base"), "axis 1 0", "change"); said.push(rows());
set(place.querySelector(".base"), "row 4", "change"); said.push(rows());
"""


def _cell(interval: Any, unit: str, plus: bool = False) -> str:
    """What a cell shows: a mean and, if it is one, its interval."""
    mean, low, high = (show(one, unit, 4).replace(" ", "\u00a0") for one in (interval.mean, interval.low, interval.high))
    return ("+" if plus and interval.mean > 0 else "") + mean + (f"{low} to\u00a0{high}" if low != high else "")


@pytest.mark.skipif(BROWSER is None, reason="no browser")
def test_the_table_of_variants_sorts_filters_and_compares(tmp_path: Path) -> None:
    sweep = made(grid(rate=RATES, control=CONTROLS), noisy)
    file = write_page(sweep_page.page(sweep), tmp_path / "report.html")
    whole, typed, chosen, up, down, alike, one = said(file, TABLE)
    points = list(itertools.product(RATES, CONTROLS))
    means = {point: sweep.interval(label, GOODPUT).mean for point, label in zip(points, sweep.labels, strict=True)}
    assert whole == [
        [*point, _cell(sweep.interval(label, GOODPUT), "bps"), _cell(sweep.interval(label, LOSS), "%")]
        for point, label in zip(points, sweep.labels, strict=True)
    ]
    assert typed == [["10 Mbps", "cubic"]]
    assert chosen == [[rate, "bbr"] for rate in RATES]
    ordered = sorted(points, key=lambda point: means[point])
    assert [tuple(row) for row in up] == ordered
    assert [tuple(row) for row in down] == ordered[::-1]
    by_name = dict(zip(points, sweep.labels, strict=True))
    for row in alike:
        rate, control = row[:2]
        if control == "reno":
            assert row[2:] == ["baseline"] * 2
        else:
            found = sweep.difference(by_name[rate, control], by_name[rate, "reno"], GOODPUT)
            assert row[2] == _cell(found, "bps", plus=True)
            assert row[3].partition("\u00a0")[2].startswith("pp")
    for row in one:
        label = by_name[tuple(row[:2])]
        wanted = (
            "baseline" if label == sweep.labels[4] else _cell(sweep.difference(label, sweep.labels[4], GOODPUT), "bps", plus=True)
        )
        assert row[2] == wanted


FIGURE = """
const place = document.querySelector(".sketch"), box = place.querySelector("svg").getBoundingClientRect();
const words = () => [...place.querySelectorAll("tspan")].map(t => t.textContent);
const event = (kind, x, y) => new PointerEvent(kind, { clientX: box.left + x, clientY: box.top + y, bubbles: true });
const send = (kind, x, y, to = place) => to.dispatchEvent(event(kind, x, y));
const dot = [...place.querySelectorAll("path")].map(p => /^M([\\d.]+) ([\\d.]+)a/.exec(p.getAttribute("d"))).filter(Boolean)[0];
send("pointermove", +dot[1] + 2, +dot[2]); said.push([...place.querySelectorAll(".tip div")].map(d => d.textContent));
const count = () => place.querySelectorAll("path").length, before = count();
const name = () => place.querySelector("[data-gid=cubic]");
name().dispatchEvent(new MouseEvent("click", { bubbles: true })); said.push(before - count());
name().dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true })); said.push(before - count());
send("pointerdown", 200, 60); send("pointermove", 420, 120); send("pointerup", 420, 120, window); said.push(words());
place.dispatchEvent(new MouseEvent("dblclick")); said.push(words());
said.push([document.documentElement.scrollWidth, innerWidth]);
"""


@pytest.mark.skipif(BROWSER is None, reason="no browser")
def test_a_figure_answers_the_pointer(tmp_path: Path) -> None:
    sweep = made(grid(rate=RATES, control=CONTROLS), noisy)
    file = write_page(sweep_page.page(sweep), tmp_path / "report.html")
    tip, hidden, again, zoomed, back, _ = said(file, FIGURE)
    first = sweep.interval(sweep.labels[0], GOODPUT)
    assert tip[0] == "reno, 1 Mbps"
    assert tip[1] == f"{first.mean * 1e-6:.4g}\u00a0Mb/s ({first.low * 1e-6:.4g} to {first.high * 1e-6:.4g})"
    assert hidden == 4  # line, points, band, intervals
    assert again == 0
    assert "1 Mbps" in back
    assert "1 Mbps" not in zoomed
    # Nothing but tables and figures in boxes of their own is wider than a phone.
    wide, room = said(file, FIGURE, 390)[-1]
    assert wide <= max(room, 500)


@pytest.mark.slow
def test_a_report_of_thousands_of_variants(tmp_path: Path) -> None:
    """5 000 variants: differences to one baseline only, which the page says by what it offers."""
    points = [
        {RATE: f"{r} Mbps", LIMIT: f"{limit} kB", CONTROL: control}
        for r in range(1, 51)
        for limit in range(1, 26)
        for control in (*CONTROLS, "htcp")
    ]
    swept = Swept(made(points, noisy, seeds=30))
    data = variants.data(swept, baseline.usual(swept), False)
    assert data["values"] is None
    assert "--baseline" in data["limit"]
    assert len(data["statistics"][0]["differences"][0]) == 5000
    assert len(render(sweep_page.page(swept.sweep))) < 6_000_000


@pytest.mark.skipif(BROWSER is None, reason="no browser")
def test_panels_stand_below_one_another_where_a_page_is_narrow(tmp_path: Path) -> None:
    """Five panels in two rows of three: the sixth place is empty, which once made every place of the figure NaN."""
    queues = ("fifo", "red", "codel", "pie", "blue")
    sweep = made(grid(rate=RATES, queue=queues, control=CONTROLS), noisy)
    file = write_page(sweep_page.page(sweep), tmp_path / "report.html")
    script = f"""
    const svg = document.querySelector(".sketch svg"), [, , wide, tall] = svg.getAttribute("viewBox").split(" ").map(Number);
    const titles = [...svg.querySelectorAll("tspan")].filter(t => {[*queues]}.includes(t.textContent));
    said.push(svg.outerHTML.includes("NaN"), wide, tall, new Set(titles.map(t => t.getAttribute("x"))).size);"""
    broken, wide, tall, columns = said(file, script)
    assert (broken, columns) == (False, 3)
    file.write_text(file.read_text(encoding="utf-8").replace("max-width: 880px", "max-width: 390px"), encoding="utf-8")
    broken, narrow, long, columns = said(file, script)
    assert (broken, columns) == (False, 1)
    assert narrow < wide
    assert long > 1.5 * tall
