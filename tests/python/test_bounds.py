"""Intervals end where their quantity does, and show that they go on."""

from __future__ import annotations

import re
from pathlib import Path

import elephan as el
import pytest
from elephan import open as results
from elephan.base.stats import Interval
from elephan.experiment import claims
from elephan.experiment.compare.panel import Controller, Panel
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trial, Trials, Variant
from elephan.report.figure.dots import dot_columns
from elephan.report.figure.panel_figures import jain_map
from elephan.report.paint import painted
from elephan.report.words.answer import answer
from elephan.report.words.effects import effects
from elephan.report.words.swept import Swept
from elephan.statistic import bounds


def test_jains_index_of_n_flows_is_one_over_n_at_least() -> None:
    """0.5 and 0.9 of two runs: 0.7 +- 12.7 * 0.2."""
    rows = [Trial("a", seed, {"goodput_bps.jain": x, "jain_1ms.mean": x, "jain_1ms.sd": x}) for seed, x in enumerate((0.5, 0.9))]
    sweep = Sweep("made up", [Variant("a", {})], rows, {"flows": {"a": 4}})
    for name in ("goodput_bps.jain", "jain_1ms.mean"):
        assert (sweep.interval("a", name).low, sweep.interval("a", name).high) == (0.25, 1.0)
    assert sweep.interval("a", "jain_1ms.sd").low == 0.0
    # Where nobody counted the flows, as in older results.
    assert bounds.interval("goodput_bps.jain", [0.5, 0.9]).low == 0.0


def test_shares_differ_by_a_hundred_points_at_most() -> None:
    values = {"a": (0.0, 0.1), "b": (0.9, 0.5)}
    rows = [
        Trial(label, seed, {"utilisation.max": x, "drops.sum": x}) for label, both in values.items() for seed, x in enumerate(both)
    ]
    sweep = Sweep("made up", [Variant("a", {}), Variant("b", {})], rows, {})
    share, count = (sweep.difference("b", "a", name) for name in ("utilisation.max", "drops.sum"))
    assert (share.mean, share.low, share.high) == (pytest.approx(0.65), -1.0, 1.0)
    assert (count.low, count.high) == pytest.approx((0.65 - 12.7062 * 0.25, 0.65 + 12.7062 * 0.25))


def test_a_sweep_counts_its_flows(tmp_path: Path) -> None:
    """Two senders and three; saved, loaded and compared with itself the bound is the same."""
    more = {"duration": "300 ms", "warmup": "100 ms", "template.clients": [2, 3]}
    done = el.sweep("incast", set=more, repetitions=2, statistics=["goodput_bps.jain"], out=tmp_path / "a")
    label = done.labels[-1]
    assert done.facts["flows"][label] == 3
    loaded = el.load(tmp_path / "a")
    assert isinstance(loaded, Sweep)
    assert loaded.facts["flows"] == done.facts["flows"]
    one = next(one for one in results.compare(tmp_path / "a", tmp_path / "a") if one.statistic == "goodput_bps.jain")
    assert one.a == loaded.interval(one.variant, "goodput_bps.jain")


def test_the_matrix_of_a_comparison_shows_both_ends_of_what_is_cut_off() -> None:
    """0.6 and 0.9: cut off at 1/2 and 1; 0.8 +- 0.06 is whole."""
    rows = []
    for pair, values in (("x + x", (0.6, 0.9)), ("x + reno", (0.795, 0.805)), ("reno + reno", (1.0, 1.0))):
        more = {"goodput_a_bps": 20.0, "goodput_b_bps": 20.0, "share_a": 0.5}
        rows += [Trial(pair, seed, {**more, "jain": value}, "pair") for seed, value in enumerate(values)]
    panel = Panel([Controller("x", "x"), Controller("reno", "reno")], Trials(rows), [], {"repetitions": 2})
    assert (panel.jain("x", "x").low, panel.jain("x", "x").high) == (0.5, 1.0)
    said = {text.get_text() for text in jain_map(panel).figure.axes[0].texts}
    assert {"0.50 to 1.00", "±0.06"} <= said
    assert not any(text.startswith("±0.2") for text in said)


def test_an_interval_that_leaves_the_axis_has_a_head_there() -> None:
    figure = dot_columns(["a", "b"], [("x", "1", [("", [Interval(1.0, 0.5, 9.0, 2), Interval(2.0, 1.5, 2.5, 2)])])])
    axes = painted(figure).axes[0]
    heads = [line for line in axes.lines if line.get_marker() in ("<", ">")]
    assert [(head.get_marker(), head.get_xdata()[0], head.get_ydata()[0]) for head in heads] == [(">", axes.get_xlim()[1], 0.0)]


def test_an_effect_on_a_share_is_a_hundred_points_at_most() -> None:
    """The effect of p is 0.9 with one seed and 0.1 with the other: 0.5 +- 12.7 * 0.4."""
    rows, variants = [], []
    for p in (1, 2):
        for q in (1, 2):
            label = f"p={p} q={q}"
            variants.append(Variant(label, {"p": p, "q": q}))
            for seed, gain in enumerate((0.9, 0.1)):
                rows.append(Trial(label, seed, {"utilisation.max": gain * (p - 1), "drops.sum": gain * (p - 1)}))
    swept = Swept(Sweep("made up", variants, rows, {}))
    share, count = (effects(swept, name)[0].interval for name in ("utilisation.max", "drops.sum"))
    assert (share.mean, share.low, share.high) == (pytest.approx(0.5), -1.0, 1.0)
    assert (count.low, count.high) == pytest.approx((0.5 - 12.7062 * 0.4, 0.5 + 12.7062 * 0.4))


def test_goodput_over_stretches_of_a_run_is_no_less_than_nothing() -> None:
    """One burst within ten stretches: its mean is a tenth of it, and 2.26 standard errors of as much is more than that."""
    late = {"traffic.reno.start": "9 s", "duration": "10 s", "warmup": "100 ms", "record.every": "10 ms"}
    text = " ".join(answer(el.run("sawtooth", set=late)))
    low = re.search(r"\((\S+) [kM]?b/s to \S+ [kM]?b/s over ten stretches of the run\)", text)
    assert low is not None, text
    assert low[1] == "0"


def test_what_a_callers_function_gives_may_be_negative() -> None:
    """A claim about `each.gain`, -3 and -1: the interval keeps its lower end."""

    class Made:
        def flows(self, *where: str) -> int:
            return 0

        def by_seed(self, *where: str) -> dict[int, float]:
            return {1: -3.0, 2: -1.0}

    part = claims.Part("x", "each.gain", "a", claims.Bounds(-10.0, 0.0))
    shown, _ = claims.measured(part, Made())
    assert shown.low == pytest.approx(-2 - 12.7062)
    assert shown.mean == -2
