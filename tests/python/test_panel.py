"""Comparisons: the measures on made-up series, and whole panels on a tiny network."""

from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.base.stats import Interval
from elephan.cli.show import show
from elephan.experiment.compare import signals
from elephan.experiment.compare.experiments import PAIR, experiments
from elephan.experiment.compare.network import read_buffer, read_network
from elephan.experiment.compare.panel import Panel, settings, variant_of
from elephan.experiment.trials import Trial, Trials
from elephan.open import redraw
from elephan.report.page.compare_page import _idle
from elephan.scenario.congestion import Controller

TINY = {"rate": "5 Mbps", "rtt": "20 ms", "quick": True, "repetitions": 2}


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> tuple[Panel, Path]:
    out = tmp_path_factory.mktemp("compare") / "tiny"
    return el.compare(["reno", "vegas"], out=out, **TINY), out


def test_delta_fair_is_when_both_have_45_percent() -> None:
    a, b = np.array([9.0, 7.0, 5.6, 5.4, 5.0]), np.array([1.0, 3.0, 4.4, 4.6, 5.0])
    assert signals.delta_fair_s(a, b, 1.0) == 4.0  # 4.6 of 10 is the first share of at least 0.45
    assert signals.delta_fair_s(a, b, 0.5) == 2.0
    assert math.isnan(signals.delta_fair_s(a[:3], b[:3], 1.0))
    assert math.isnan(signals.delta_fair_s(np.zeros(3), np.zeros(3), 1.0))


def test_settled_wants_five_seconds_on_end() -> None:
    b = np.array([1.0, 4.0, 5.0, 9.0, 4.2, 5.8, 5.0, 5.0, 4.1, 1.0])
    assert signals.settled_s(10 - b, b, 1.0) == 4.0  # 40 % to 60 % of the whole from the fifth second on
    assert math.isnan(signals.settled_s(10 - b[:8], b[:8], 1.0))


def test_the_rate_follows_its_steps() -> None:
    steps = [(0.0, 50.0), (30.0, 12.5), (60.0, 50.0)]
    assert signals.rate_at(np.array([0.0, 29.9, 30.0, 59.9, 60.0]), steps).tolist() == [50.0, 50.0, 12.5, 12.5, 50.0]


def test_loss_between_two_times() -> None:
    time = np.array([0.0, 1.0, 2.0, 3.0])
    queue = signals.Queue(time, time, np.array([0.0, 1000.0, 2000.0, 11_000.0]), np.array([7.0, 7.0, 7.0, 8.0]), 1000.0)
    assert signals.loss(queue, 1.0) == pytest.approx(1 / 11)  # 10 packets sent and 1 dropped after the first second
    assert signals.loss(queue, 0.0, 2.0) == 0.0


def test_a_buffer_in_bytes_or_in_products() -> None:
    assert read_buffer("1 bdp", 50e6, 0.04) == 250_000
    assert read_buffer("0.25bdp", 1e9, 0.196) == 6_125_000
    assert read_buffer("2MB", 1e9, 0.196) == 2_000_000


def test_the_round_trips_of_the_dumbbell() -> None:
    network = read_network("50 Mbps", "40 ms", "1 bdp", {})
    same, spread = network.overrides(), network.overrides(4)
    near = 5_000_000_000  # ps: 40 ms = 2 (10 ms + 2 x 5 ms)
    assert same["template.delay"] == "10000000000 ps"
    assert same["template.access_delay"] == f"{near} ps"
    assert spread["template.access_delay"] == {"linear": [f"{near} ps", "35000000000 ps"]}  # 160 ms = 2 (10 ms + 2 x 35 ms)


def test_every_pair_once_and_reno_always() -> None:
    controllers = [Controller("a", "a"), Controller("b", "b")]
    pairs = [variant_of(*setting).label for setting in settings(controllers, [PAIR])]
    assert pairs == ["a + a", "a + b", "a + reno", "b + b", "b + reno", "reno + reno"]
    assert len(settings([Controller("reno", "reno"), *controllers], [PAIR])) == 6


def made_up() -> Panel:
    """A panel by hand: controller x gets 30 and leaves Reno 10, two Renos share 24 and 16."""
    rows = []
    for seed in (1, 2):
        rows.append(Trial("x + x", seed, {"goodput_a_bps": 20.0, "goodput_b_bps": 20.0, "share_a": 0.5, "jain": 1.0}, "pair"))
        rows.append(Trial("x + reno", seed, {"goodput_a_bps": 30.0, "goodput_b_bps": 10.0, "share_a": 0.75, "jain": 0.8}, "pair"))
        rows.append(
            Trial("reno + reno", seed, {"goodput_a_bps": 24.0, "goodput_b_bps": 16.0, "share_a": 0.6, "jain": 0.96}, "pair")
        )
        rows.append(Trial("x", seed, {"delta_fair_ns": 4e9 if seed == 1 else math.nan, "horizon_ns": 100e9}, "join"))
    return Panel([Controller("x", "x")], Trials(rows), [], {"repetitions": 2})


def test_friendliness_is_what_reno_keeps() -> None:
    panel = made_up()
    assert panel.friendliness("x").mean == pytest.approx(0.5)  # 10 beside x, 20 in the mean beside another Reno
    assert panel.friendliness("reno").mean == 1.0


def test_shares_look_the_same_from_both_sides() -> None:
    panel = made_up()
    assert panel.share("x", "reno").mean == 0.75
    assert panel.share("reno", "x").mean == 0.25
    assert panel.jain("reno", "x").mean == panel.jain("x", "reno").mean == 0.8


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("alon", "x", "goodput_bps"), 'no experiment "alon" in this comparison; did you mean "alone"?'),
        (("alone", "y", "goodput_bps"), 'no variant "y" in the experiment alone; it has: x'),
        (("pair", "reno + x", "jain"), 'no variant "reno + x" in the experiment pair; did you mean "reno + reno"?'),
        (("alone", "x", "goodput_bp"), 'no statistic "goodput_bp" in this comparison; did you mean "goodput_bps"?'),
    ],
)
def test_names_that_a_comparison_does_not_have_are_refused(names: tuple[str, str, str], why: str) -> None:
    for ask in (made_up().interval, made_up().by_seed):
        with pytest.raises(InputError) as caught:
            ask(*names)
        assert str(caught.value) == why


def test_a_variant_of_which_every_run_failed_has_no_interval() -> None:
    assert math.isnan(made_up().interval("alone", "x", "goodput_bps").mean)
    assert made_up().interval("join", "x", "horizon_ns").mean == 100e9


def test_a_pair_that_leaves_room_is_named() -> None:
    """x beside y has 15 and 15 of 40 Mb/s in both runs: Jain's index 1, three quarters used."""
    rows = [Trial(controller, seed, {"goodput_bps": 40e6}, "alone") for controller in "xy" for seed in (1, 2)]
    for pair, each in (("x + x", 20e6), ("y + y", 19e6), ("x + y", 15e6)):
        values = {"goodput_a_bps": each, "goodput_b_bps": each, "share_a": 0.5, "jain": 1.0}
        rows += [Trial(pair, seed, values, "pair") for seed in (1, 2)]
    panel = Panel([Controller("x", "x"), Controller("y", "y")], Trials(rows), [], {"repetitions": 2})
    assert panel.most_bps == 40e6
    assert panel.together("y", "x") == Interval(30e6, 30e6, 30e6, 2)
    assert _idle(panel, [("x", "x"), ("x", "y"), ("y", "y")]) == (
        "x beside y leave room: together they get 30 Mb/s of the 40 Mb/s that are to be had."
    )
    assert _idle(panel, [("x", "x"), ("y", "y")]) == ""


def test_what_did_not_happen_counts_with_the_time_watched() -> None:
    interval, late = made_up().until("join", "x", "delta_fair_ns", "horizon_ns")
    assert (interval.mean, late, interval.n) == (52e9, 1, 2)
    assert interval.low == 0.0  # a time is never negative


def test_a_panel(panel: tuple[Panel, Path]) -> None:
    done, _ = panel
    assert done.experiments == [one.name for one in experiments()]
    assert done.failures == []
    for label in ("reno", "vegas"):
        alone = done.interval("alone", label, "goodput_bps")
        assert alone.n == 2
        assert 0.8 * 5e6 < alone.mean < 5e6 * 1448 / 1538
    # Vegas keeps two to four segments in the queue (Brakmo and Peterson 1995); Reno fills a queue of 20 ms
    assert done.interval("alone", "vegas", "queue_delay_mean_ns").mean < 4.5 * 1538 * 8 / 5e6 * 1e9
    assert done.interval("alone", "reno", "queue_delay_p99_ns").mean > 15e6
    assert done.interval("alone", "vegas", "loss").mean == 0.0
    assert done.share("reno", "vegas").mean == pytest.approx(1 - done.share("vegas", "reno").mean)
    assert done.interval("rtt", "reno", "long_over_short").mean < 0.9  # Reno favours short round trips
    with pytest.raises(InputError, match='no congestion control "renno"'):
        done.jain("renno", "vegas")


def test_a_panel_on_disk(panel: tuple[Panel, Path], capfd: pytest.CaptureFixture[str]) -> None:
    done, out = panel
    found = json.loads((out / "compare.json").read_text())
    assert found["network"]["buffer_bytes"] == 12_500
    assert [one["label"] for one in found["controllers"]] == ["reno", "vegas"]
    assert {(one["controller"], one["beside"]) for one in found["pairs"]} == {(a, b) for a in done.labels for b in done.labels}
    for name in ("runs", "means", "series"):
        assert (out / f"{name}.parquet").exists()
    redraw(out, figures=True)
    assert {"overview.svg", "jain.png", "share.svg", "joining.png", "friendliness.svg"} <= {
        f.name for f in (out / "figures").iterdir()
    }
    page = (out / "report.html").read_text()
    assert page.index("How do they behave") < page.index("One flow alone gets") < page.index("Figures of merit")
    # The second colour of Okabe and Ito is vermillion; there is no red in their palette.
    assert page.count("Blue: ") == page.count("vermillion: ") == 1
    assert not re.search(r"\b(red|redder):? ", page)
    again = el.load(out)
    assert again.table.equals(done.table)
    assert again.as_dict() == done.as_dict()
    before = (out / "figures" / "joining.svg").read_text()
    assert cli.status_of(["report", str(out), "--figures"]) == 0
    assert (out / "figures" / "joining.svg").read_text() == before
    assert cli.status_of(["diff", str(out), str(out), "--json"]) == 0
    rows = json.loads(capfd.readouterr().out.partition("\n")[2])
    assert {"goodput_bps", "jain"} <= {row["statistic"] for row in rows}
    assert all(row["difference"]["mean"] == 0 for row in rows)


def test_the_scenarios_of_a_panel_run_again(panel: tuple[Panel, Path]) -> None:
    """What is written beside the report gives the figures of the report."""
    done, out = panel
    run = el.run(out / "scenarios" / "alone.toml")
    assert signals.goodput(run, "a") == done.by_seed("alone", "reno", "goodput_bps")[1]


def test_any_scenario(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = [
        "compare",
        "reno,cubic",
        "--scenario",
        "sawtooth",
        "-s",
        "duration=12 s",
        "-n",
        "1",
        "--out",
        str(tmp_path / "o"),
        "--json",
    ]
    assert cli.status_of(words) == 0
    found = json.loads(capfd.readouterr().out)
    assert [one["variant"] for one in found["variants"]] == ["reno", "cubic"]
    assert json.loads((tmp_path / "o" / "compare.json").read_text()) == {
        k: v for k, v in found.items() if k not in ("folder", "warnings")
    }
    assert el.load(tmp_path / "o").labels == ["reno", "cubic"]
    resolved = el.run("sawtooth", set={"traffic[0].congestion_control": "cubic", "duration": "12 s"}, seed=1)
    goodput = resolved.statistic("goodput_bps.sum")
    assert found["variants"][1]["statistics"]["goodput_bps.sum"]["mean"] == pytest.approx(goodput)


OWN = """import elephan as el

class Reno(el.CongestionControl):
    def on_ack(self, ack):
        if not ack.app_limited:
            self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd
"""


def test_a_controller_of_ones_own_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reno in Python is Reno to the packet, so every run is the same."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    call = ["compare", "reno,own.py:Reno", "--scenario", "sawtooth", "-s", "duration=12 s", "-s", "stack=rfc"]
    call += ["-n", "1", "--out", "r", "--json"]
    assert cli.status_of(call) == 0
    found = json.loads((tmp_path / "r" / "compare.json").read_text())["variants"]
    assert [one["variant"] for one in found] == ["reno", "Reno"]
    assert found[0]["statistics"] == found[1]["statistics"]
    guests = json.loads((tmp_path / "r" / "manifest.json").read_text())["guests"]
    assert [row["python"] for row in guests] == ["own.py:Reno"]


def test_a_class_in_a_panel(tmp_path: Path) -> None:
    class Local(el.CongestionControl):
        def on_round(self, round: Any) -> None:
            self.cwnd += self.mss

    done = el.compare([Local], out=tmp_path / "r", **(TINY | {"repetitions": 1}))
    again = el.load(tmp_path / "r")
    assert again.labels == done.labels == ["Local"]
    assert again.share("Local", "reno").mean == done.share("Local", "reno").mean
    assert len(done.manifest()["guests"][0]["source_sha256"]) == 64


def test_for_people(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "cubic:preset=linux", "--quick", "--rate", "2Mbps", "--rtt", "20ms", "--buffer", "20KB", "-n", "1"]
    assert cli.status_of([*words, "--out", str(tmp_path / "o")]) == 0
    out = capfd.readouterr().out
    assert "2 Mb/s, 20 ms of round trip, 20 kB of buffer" in out
    assert "cubic preset linux" in out
    assert f"report: {tmp_path / 'o' / 'report.html'}" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["cubicc"], 'did you mean "cubic"'),
        (["reno,cubic:preset=linx"], 'did you mean "linux"'),
        (["reno", "-n", "0"], "repetitions"),
        (["reno", "--rate", "50"], "no unit"),
        (["reno", "--rate", "0bps"], "above zero"),
        (["reno", "--rtt", "fast"], "rtt"),
        (["reno", "--buffer", "much"], "buffer"),
        (["reno", "-s", "template.ratte=1Mbps"], "ratte"),
        (["reno", "--scenario", "sawtoth"], 'did you mean "sawtooth"'),
        (["reno", "--scenario", "sawtooth", "--rate", "1Mbps"], "belong to the standard panel"),
        (["reno", "--workers", "0"], "--workers"),
        (["reno", "--out", "."], "not a name for a result folder"),
        ([], "Missing argument"),
    ],
)
def test_bad_comparisons(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.status_of(["compare", *words]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    assert why in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("quick", "rtt"), [(False, "5.1 s"), (True, "2.6 s"), (True, "1 h")])
def test_a_round_trip_longer_than_the_warm_up_is_refused(quick: bool, rtt: str) -> None:
    """With four times the round trip of the others, the longest of all, and 20 s of warm-up, 10 s if quick."""
    with pytest.raises(
        InputError, match=r"^rtt: .* is too long: the experiment .* has flows with a round trip of .* and a warm-up of"
    ):
        el.compare("reno", rtt=rtt, quick=quick)
    with pytest.raises(InputError, match=r'^rate: "1e400 bps" is too large$'):
        el.compare("reno", rate="1e400 bps")


def test_a_network_that_carries_nothing_has_a_report(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is set may be slower than the experiments: the handshake alone takes 50 s there and back."""
    far = {"template.delay": "50 s"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = el.compare("reno", rate="5 Mbps", set=far, quick=True, repetitions=1, out=tmp_path / "c")
    assert {row.values.get("goodput_bps", 0.0) for row in done.trials} == {0.0}
    assert (tmp_path / "c" / "report.html").exists()
    show(done, tmp_path / "c", json=False)
    assert "Of one run each, so without intervals. The quick run" in capfd.readouterr().out


def test_a_change_of_capacity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The scenario has both changes; its measures on a run whose capacity stays: it is used at once."""
    from dataclasses import replace

    from elephan.experiment.compare import change, experiments, panel

    network = read_network("5 Mbps", "20 ms", "1 bdp", {})
    times = change.CHANGE.quick
    text = change.CHANGE.source(network, times).text
    assert text.count("[[change]]") == 2
    assert '"links.left->right.rate" = "1250000 bps"' in text
    steady = replace(change.CHANGE, source=lambda _network, _times: experiments.scenario("alone"))
    monkeypatch.setattr(panel, "experiments", lambda: [steady])
    done = panel.compare(["reno"], rate="5 Mbps", rtt="20 ms", quick=True, repetitions=1)
    found = done.trials[0].values
    assert found["rise_ns"] == 0.0
    assert found["drop_goodput_share"] == pytest.approx((1 - 0.01) / (0.25 - 0.01), rel=0.03)
    assert found["drop_queue_mean_ns"] < found["drop_queue_peak_ns"]
    from elephan.report.figure import panel_figures

    for drawing in panel_figures.change(done):
        drawing.save(tmp_path)
    assert {f.stem for f in tmp_path.iterdir()} == {"capacity", "capacity-delay", "capacity-figures"}
