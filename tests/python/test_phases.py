"""Phases of a flow: in made-up series with known ends, in runs and their captures; whether it recovers before it finishes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan import cli
from elephan.experiment.study import open_study
from elephan.report.figure.flow_phases import phase_lines, recovery_line
from elephan.report.words.answer import answer
from elephan.table import phases
from elephan.table.flow_phases import chosen_flow, plateau_bps
from scipy import ndimage, stats

Series = tuple[np.ndarray, np.ndarray]


def delivered(time: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Bytes delivered by each time."""
    return np.concatenate([[0], np.cumsum(rate[:-1] * np.diff(time) / 8)])


def sawtooth() -> Series:
    """Doubling every 100 ms to 100 Mb/s, then a plateau to 5 s, halved at 5 s, back up in 5 s, a plateau."""
    time = np.arange(0, 15, 0.01)
    rate = np.where(time < 1, 100e6 * 2.0 ** ((time - 1) / 0.1), 100e6)
    rate = np.where((time >= 5) & (time < 10), 50e6 + 10e6 * (time - 5), rate)
    return time, delivered(time, rate)


def ramp(
    slope: float, every: float = 0.01, noise: float = 0.0, quiet_s: float = 0.0, gain: float = 1e6, end: float = 30.0
) -> Series:
    """1 Mb/s, after `quiet_s` doubling `slope` times in 100 ms up to 128 Mb/s, then `gain` bit/s more each second."""
    time = np.arange(0, end, 0.001)
    exit_s = quiet_s + 0.7 / slope
    rate = 1e6 * 2.0 ** (np.maximum(time - quiet_s, 0) * slope / 0.1)
    rate = np.where(time < exit_s, rate, 128e6 + gain * (time - exit_s))
    if noise:
        each = np.random.default_rng(1).normal(1, noise, time.size // 100 + 1)
        rate *= np.maximum(np.repeat(each, 100)[: time.size], 0.05)
    total = delivered(time, rate)
    chosen = slice(None, None, round(every / 0.001))
    return time[chosen], total[chosen]


def names(found: phases.Phases) -> list[str]:
    return [stretch.name for stretch in found.stretches]


def test_phases_of_a_sawtooth() -> None:
    time, total = sawtooth()
    for given, plateau in (([5.0], 100e6), (None, 100e6), ([5.0], None)):
        found = phases.find(time, total, 0.1, given, plateau)
        assert names(found) == ["startup", "steady rate", "congestion avoidance", "steady rate"]
        assert found.slope_per_rtt == pytest.approx(1.0, abs=0.1)
        assert found.plateau_bps == pytest.approx(100e6, rel=0.01)
        assert found.stretches[2].begin_s == pytest.approx(5.0, abs=0.3)
        # 0.95 of the plateau is reached 4.5 s after the cut.
        assert found.stretches[2].end_s == pytest.approx(9.5, abs=0.3)
        assert (found.cuts, found.recovery_s, found.recovers) == (1, 0.0, True if plateau else None)
        assert found.recovered_s == pytest.approx(4.5, abs=0.3)


def test_a_flow_that_will_not_recover_in_time() -> None:
    time, total = sawtooth()
    early = time < 7
    # At 7 s it has 70 Mb/s and gains 10 a second: 95 come 2.5 s later, after 2.5 s at 82.5 Mb/s, 25.8 MB.
    for remaining, recovers in ((None, None), (0, False), (20e6, False), (30e6, True)):
        found = phases.find(time[early], total[early], 0.1, [5.0], 100e6, remaining_bytes=remaining)
        assert found.recovery_s == pytest.approx(2.5, abs=0.2)
        assert found.recovery_bytes == pytest.approx(25.8e6, rel=0.1)
        assert found.recovers is recovers
        unknown = phases.find(time[early], total[early], 0.1, [5.0], remaining_bytes=remaining)
        assert unknown.recovers is None
        assert "recover before" not in recovery_line(unknown)
        assert "the best that this flow has reached" in recovery_line(unknown)
    with pytest.raises(ValueError, match="at least two points"):
        phases.find([0.0], [0.0], 0.1)


@pytest.mark.parametrize(("slope", "exit_s"), [(1.0, 0.7), (0.58, 1.207)])
@pytest.mark.parametrize("every", [0.01, 0.1, 0.25])
@pytest.mark.parametrize("noise", [0.0, 0.15])
def test_startup_ends_where_the_doubling_stops(slope: float, exit_s: float, every: float, noise: float) -> None:
    time, total = ramp(slope, every, noise, gain=4e6)
    for plateau in (1e9, None):
        found = phases.find(time, total, 0.1, [], plateau)
        assert names(found)[:2] == ["startup", "congestion avoidance"]
        assert found.startup_s == pytest.approx(exit_s, abs=max(0.3, 1.1 * every))
        assert found.cuts == 0
    if every < 0.2 and not noise:
        assert found.slope_per_rtt == pytest.approx(slope, rel=0.15)


@pytest.mark.parametrize(("slope", "exit_s"), [(1.0, 0.7), (0.58, 1.207)])
@pytest.mark.parametrize("noise", [0.0, 0.15])
@pytest.mark.parametrize("known", [True, False])
def test_a_startup_that_is_over_within_an_interval_or_two_is_unknown(
    slope: float, exit_s: float, noise: float, known: bool
) -> None:
    """With a point a second, ten round trips, a startup of 0.7 or 1.2 s is anything up to 2 s."""
    time, total = ramp(slope, 1.0, noise, gain=4e6)
    found = phases.find(time, total, 0.1, [], 1e9, exit_s=math.ceil(exit_s) if known else None)
    assert names(found)[:2] == ["unknown", "congestion avoidance"]
    assert math.isnan(found.startup_s)
    assert math.isnan(found.startup_end_bps)
    assert found.as_dict()["shares"]["startup"] == 0
    assert phase_lines(found)[0].startswith("How long its startup took is unknown, since samples are 1 s apart; of the time ")


def test_a_startup_of_a_few_coarse_intervals_is_told_as_a_range() -> None:
    """Slow start ends between the fourth and the fifth point, 1 s apart."""
    time, total = ramp(1.0, 1.0, gain=4e6)
    found = phases.find(time, total, 0.1, [], 1e9, exit_s=5.0)
    assert phase_lines(found)[0].startswith("Its startup took 4 s to 5 s; ")


@pytest.mark.parametrize("every", ["25 s", "10 s", "2 s"])
def test_a_run_recorded_seldom_does_not_say_how_long_its_startup_took(every: str) -> None:
    """The queue overflows after 308 ms, and recorded finely slow start ends 0.35 s after the first data."""
    fine = el.run("sawtooth", set={"record.every": "10 ms"}).phases()
    assert fine.startup_s == pytest.approx(0.35, abs=0.1)
    run = el.run("sawtooth", set={"record.every": every})
    found = run.phases()
    assert math.isnan(found.startup_s)
    assert not {"startup", "steady rate"} & set(names(found))
    assert "Its startup took" not in " ".join([*answer(run), *(one.text for one in el.explain(run).findings)])


def test_a_known_end_of_slow_start_goes_first() -> None:
    time, total = ramp(1.0)
    found = phases.find(time, total, 0.1, [], 1e9, exit_s=5.0)
    assert found.startup_s == pytest.approx(5.0, abs=0.11)
    assert names(found) == ["startup", "congestion avoidance"]


def test_doubling_after_a_slow_beginning_and_doubling_to_the_end() -> None:
    # two seconds of something small first, as a handshake of TLS and a request are
    assert phases.find(*ramp(1.0, quiet_s=2.0), 0.1, [], 1e9).startup_s == pytest.approx(2.7, abs=0.3)
    found = phases.find(*ramp(0.58, end=1.1), 0.1, [], 1e9)
    assert names(found) == ["startup"]
    assert math.isnan(found.recovery_s)
    assert found.recovers is None


def test_few_intervals_after_the_doubling() -> None:
    # 1, 2, 4 ... 64 Mb/s, then 70 Mb/s and a little more for four round trips: no cut and no plateau, so it has ended.
    rate = [2.0**k for k in range(7)] + [70.0, 71.0, 72.0, 73.0]
    total = np.concatenate([[0], np.cumsum(np.array(rate) * 1e6 * 0.1 / 8)])
    found = phases.find(np.arange(12) * 0.1, total, 0.1, [], 1e9)
    assert found.startup_s == pytest.approx(0.7, abs=0.11)


def test_a_window_that_something_else_bounds_does_not_grow() -> None:
    found = phases.find(*ramp(1.0, gain=0.0), 0.1, [], 1e9)
    assert names(found) == ["startup", "steady rate"]
    # It was never at 1 Gb/s and never cut: there is nothing that it could recover from, however much it has to send.
    assert (found.recovery_s, found.recovers) == (math.inf, None)
    assert recovery_line(found) == "It stayed below the 1 Gb/s that the path carries, without a cut."
    assert phases.find(*ramp(1.0, gain=0.0), 0.1, [], 1e9, remaining_bytes=0).recovers is None
    cut = phases.find(*ramp(1.0, gain=0.0), 0.1, [0.7], 1e9)
    assert (cut.recovery_s, cut.recovers) == (math.inf, False)
    assert recovery_line(cut) == "After its last cut it stayed below its plateau of 1 Gb/s and did not grow."


def test_a_flow_that_stands_still_behind_a_hole_does_not_slow_its_doubling() -> None:
    # Doubling every 100 ms to 0.7 s, then nothing is delivered until slow start is seen to have ended, at 1.4 s.
    time = np.arange(0, 10, 0.01)
    rate = np.where(time < 0.7, 1e6 * 2.0 ** (time / 0.1), np.where(time < 1.4, 0, 64e6))
    found = phases.find(time, delivered(time, rate), 0.1, [1.4], 100e6, exit_s=1.4)
    assert found.startup_s == pytest.approx(1.4, abs=0.11)
    assert found.slope_per_rtt == pytest.approx(1.0, abs=0.15)
    # Ten segments double in the first two round trips of the library's sawtooth, then the link is full.
    assert el.run("sawtooth").phases().slope_per_rtt == pytest.approx(0.59, abs=0.01)


def test_too_little_is_seen_after_the_last_cut() -> None:
    time, total = sawtooth()
    for end, recovers in ((5.15, None), (5.6, None), (6.5, False)):
        early = time < end
        for known in ([5.0], [3.0, 5.0]):
            found = phases.find(time[early], total[early], 0.1, known, 100e6, remaining_bytes=0)
            assert found.recovers is recovers
            said = recovery_line(found)
            assert (said == "Too little of it is seen since its last cut to say whether it will recover.") == (recovers is None)


def test_the_line_sees_through_bursts_that_two_intervals_share_unevenly() -> None:
    # 300 Mb/s and 2 more a second, of which every other interval sees ever less: 95 % of 1 Gb/s are 275 s off.
    time = np.arange(0, 50, 0.1)
    rate = np.where(time < 1, 600e6, (300e6 + 2e6 * time) * np.where(np.arange(500) % 2, 0.8 - 0.008 * time, 1.2 + 0.008 * time))
    found = phases.find(time, delivered(time, rate), 0.1, [1.0], 1e9)
    assert found.recovery_s == pytest.approx(275, rel=0.05)


def test_a_flow_that_only_grows_is_in_no_steady_state_of_a_path_that_nobody_knows() -> None:
    """Reno without cuts on 622 Mb/s x 196 ms: half a segment a round trip, 30 kb/s each 196 ms, from 9 to 18 Mb/s in a minute."""
    time = np.arange(0, 60, 0.05)
    total = delivered(time, np.where(time < 1, 9e6, 9e6 + 30e3 * (time - 1) / 0.196))
    alone, known = (phases.find(time, total, 0.196, [], plateau) for plateau in (None, 585.7e6))
    assert not alone.path_known
    assert (alone.recovers, known.recovers) == (None, None)
    said = " ".join(phase_lines(alone))
    assert "steady state" not in said
    assert "% steady rate" in said
    assert said.endswith("The best that this flow has reached is 17.8 Mb/s.")  # the 98th percentile of 9 to 18
    assert "best that this flow" not in " ".join(phase_lines(known))


def test_growth_that_slows_down_is_not_over_by_the_line() -> None:
    # From 600 to 930 Mb/s, ever slower: a line through all of it is beyond 950 Mb/s when the rate is at 927.
    time = np.arange(0, 30, 0.1)
    rate = np.where(time < 1, 600e6, 930e6 - 330e6 * np.exp(-(time - 1) / 6))
    found = phases.find(time, delivered(time, rate), 0.1, [1.0], 1e9)
    # The latter half gains 2 Mb/s a second.
    assert found.recovery_s == pytest.approx(11, rel=0.3)


def test_a_plateau_below_what_the_series_shows_is_not_the_path_s() -> None:
    time, total = sawtooth()
    for given, known, plateau in ((100e6, True, 100e6), (92e6, True, 92e6), (80e6, False, 100e6), (None, False, 100e6)):
        found = phases.find(time, total, 0.1, [5.0], given)
        assert (found.path_known, found.plateau_bps) == (known, pytest.approx(plateau, rel=0.01))
    # Noise of 15 % around it does not exceed it.
    assert phases.find(*ramp(1.0, noise=0.15, gain=0.0), 0.1, [], 128e6).path_known


def test_no_plateau_of_a_run_is_above_the_wire() -> None:
    """Slow start loses every second packet of a long queue, and each that is repaired delivers two: 18.5 Mb/s for a while."""
    overshoot = {"template.queue": {"kind": "fifo", "limit": "50 p"}, "template.rate": "10 Mbps", "template.delay": "6 ms"}
    overshoot |= {"record.every": "10 ms", "stack": "rfc"}
    run = el.run(NOTHING, set=overshoot)
    row = chosen_flow(run)
    found = run.phases()
    time, total = (np.asarray(run.flow_samples[name], dtype=float) for name in ("time_ns", "delivered_bytes"))
    assert phases.find(time / 1e9, total, row["min_rtt_ns"] / 1e9).plateau_bps > 12e6
    assert (found.path_known, found.plateau_bps) == (True, plateau_bps(run, row))
    # Beside another flow its part is not known, but it is no more than that.
    shared = el.run(NOTHING, set={**overshoot, "template.pairs": 2, "traffic[0].start": {"uniform": ["0 s", "1.5 s"]}}).phases()
    assert not shared.path_known
    assert shared.plateau_bps <= plateau_bps(run, row)


NOTHING = """
duration = "2 s"
[template]
kind  = "dumbbell"
pairs = 1
rate  = "20 Mbps"
delay = "10 ms"
[[traffic]]
from = "sender"
to   = "receiver"
kind = "bulk"
"""


@pytest.mark.parametrize(
    "more",
    [{"duration": "200 ms", "template.delay": "200 ms"}, {"template.loss": {"bernoulli": 0.9999}, "template.packets": "data"}],
    ids=["short", "lossy"],
)
def test_a_bulk_flow_that_delivers_nothing_has_a_report_and_no_phases(tmp_path: Path, more: dict[str, Any]) -> None:
    file = tmp_path / "s.toml"
    file.write_text(NOTHING, encoding="utf-8")
    run = el.run(file, set={**more, "record.captures": ["sender"]}, out=tmp_path / "r")
    assert (tmp_path / "r" / "report.html").exists()
    assert 'id="figure-phases"' not in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert plateau_bps(run, chosen_flow(run)) is None
    with pytest.raises(el.InputError, match="flow 0 delivered nothing"):
        run.phases()
    # Nor does it say what the path of a capture carries.
    whole = el.run(file, set={"record.captures": ["sender"]}, out=tmp_path / "w")
    assert not el.analyze(whole.captures[0], compare=tmp_path / "r").phases().path_known


SLIDE_9 = {"links[1].rate": "1.2 Gbps", "duration": "20 s"}


@pytest.fixture(scope="module")
def stalled(tmp_path_factory: pytest.TempPathFactory) -> el.Run:
    """Slide 9 of uva-2003: the sender's own queue ends slow start, and nothing is lost."""
    study = open_study("uva-2003")
    scenario = study.scenario(next(one for one in study.experiments if one.name == "early"))
    where = tmp_path_factory.mktemp("stalled") / "r"
    return el.run(scenario, set={**SLIDE_9, "record.captures": ["sender", "receiver"]}, out=where)


def capture(run: el.Run, name: str) -> Path:
    return next(path for path in run.captures if path.stem == name)


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_a_stall_that_no_wire_shows(stalled: el.Run, end: str) -> None:
    trace = el.analyze(capture(stalled, end), rate="1 Gbps")
    found = trace.phases()
    assert found.cuts == 0
    assert found.startup_s < 2
    assert found.startup_s == pytest.approx(stalled.phases().startup_s, abs=0.4)
    assert names(found) == ["startup", "congestion avoidance"]
    # 1448 of 1538 bytes on the wire
    assert found.plateau_bps == pytest.approx(941.48e6, rel=1e-4)
    assert found.recovers is None
    assert el.analyze(capture(stalled, end), compare=stalled.tables.path).phases().plateau_bps == pytest.approx(941.48e6, rel=1e-4)
    # about half a segment a round trip: 60 kb/s each 100 ms to 894 Mb/s, over 20 minutes and 50 GB
    assert found.recovery_s > 1000
    assert found.recovery_bytes > 50e9


def test_phases_of_a_run(stalled: el.Run) -> None:
    found = stalled.phases()
    assert found.plateau_bps == pytest.approx(941.48e6, rel=1e-4)
    assert found.cuts == 1
    assert found.startup_s < 2
    assert found.share("congestion avoidance") > 0.9
    assert stalled.phases(0) == found
    assert "with less than that to send it will probably not recover before it finishes" in answer(stalled)[-1]
    where = stalled.tables.path
    assert where is not None
    assert 'id="figure-phases"' in (where / "report.html").read_text(encoding="utf-8")
    with pytest.raises(el.InputError, match="no flow 7"):
        stalled.phases(7)


def test_a_run_that_finishes_before_it_recovers(stalled: el.Run, tmp_path: Path) -> None:
    study = open_study("uva-2003")
    scenario = study.scenario(next(one for one in study.experiments if one.name == "early"))
    more = {**SLIDE_9, "traffic.flow.size": "100 MB"}
    done = el.run(scenario, set=more)
    assert done.phases().remaining_bytes == 0
    assert "It did not recover before it finished: at its pace" in answer(done)[-1]
    under_way = el.run(scenario, set={**more, "duration": "8 s"})
    assert under_way.phases().remaining_bytes == 100e6 - under_way.flows["delivered_bytes"][0].as_py()
    assert "It will probably not recover before it finishes: at its pace" in answer(under_way)[-1]


def test_a_rate_below_what_was_seen_and_none_at_all(stalled: el.Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, where = capture(stalled, "sender"), tmp_path / "t"
    assert cli.status_of(["analyze", str(file), "--out", str(where), "--rate", "10Mbps"]) == 0
    said = capfd.readouterr().out
    note = "more than the 9.41 Mb/s that a path of 10 Mb/s carries: its phases are found with the highest rate it showed"
    assert note in said
    assert "give it with --rate" not in said
    assert note in (where / "report.html").read_text(encoding="utf-8")
    assert not el.load(where).phases().path_known
    assert el.analyze(file, rate="1 Gbps").notes == []
    # A path that nobody describes has no plateau: what is regained is the flow's own best.
    sawtooth = el.run("sawtooth", set={"record.captures": ["sender"]}, out=tmp_path / "s").captures[0]
    assert cli.status_of(["analyze", str(sawtooth), "--out", str(where / "own"), "--remaining", "10GB"]) == 0
    said = capfd.readouterr().out
    assert "It was at the best that this flow has reached (18.8 Mb/s)" in said
    assert "A capture does not show the rate of the path. If you know it, give it with --rate." in said
    assert "plateau" not in said
    assert "steady state" not in said


DATAGRAMS = """
duration = "1 s"
[template]
kind  = "dumbbell"
pairs = 2
rate  = "20 Mbps"
delay = "10 ms"
[[traffic]]
from = "sender"
to   = "receiver"
kind = "cbr"
rate = "1 Mbps"
"""


def test_what_has_no_phases_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(DATAGRAMS, encoding="utf-8")
    run = el.run(file)
    with pytest.raises(el.InputError, match="no TCP flow"):
        run.phases()
    with pytest.raises(el.InputError, match="flow 0 is udp"):
        run.phases(0)
    bulk = DATAGRAMS.replace('kind = "cbr"\nrate = "1 Mbps"', 'kind = "bulk"')
    file.write_text(bulk, encoding="utf-8")
    with pytest.raises(el.InputError, match=r"record\.every"):
        el.run(file, set={"record.every": "0 s"}).phases()


def test_a_shared_port_is_no_plateau(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(DATAGRAMS.replace('kind = "cbr"\nrate = "1 Mbps"', 'kind = "bulk"'), encoding="utf-8")
    found = []
    for pairs in (1, 2):
        run = el.run(file, set={"template.pairs": pairs})
        found.append(plateau_bps(run, chosen_flow(run)))
    # 1448 of 1538 bytes on a wire of 20 Mb/s
    assert found == [pytest.approx(18.83e6, rel=1e-3), None]


def test_the_command_says_whether_it_recovers(stalled: el.Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["analyze", str(capture(stalled, "sender")), "--out", str(tmp_path / "t"), "--rate", "1Gbps"]
    for more, said in (
        ([], "less than that to send it will probably not recover before it finishes."),
        (
            ["--remaining", "1GB"],
            "It will probably not recover before it finishes: at its pace it is back at its plateau of 941 Mb/s",
        ),
        (["--remaining", "1TB"], "It will probably recover before it finishes: "),
        (["--remaining", "0 B"], "It did not recover before it finished: "),
        (["--remaining", "0"], "It did not recover before it finished: "),
    ):
        assert cli.status_of([*words, *more]) == 0
        assert said in capfd.readouterr().out
    # A report that is drawn again says the same.
    page = el.load(tmp_path / "t").report(tmp_path / "t.html").read_text(encoding="utf-8")
    assert "It did not recover before it finished" in page
    assert cli.status_of([*words, "--remaining", "1TB", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["phases"]["recovers"] is True
    for wrong, why in (
        (["--rate", "fast"], "is not a rate"),
        (["--rate", "1"], "no unit"),
        (["--rate", "0 bps"], "rate: '0 bps' is not more than 0"),
        (["--remaining", "1"], "no unit"),
        (["--remaining", "1 s"], "is a time; a size is needed"),
    ):
        assert cli.status_of([*words, *wrong]) == 2
        lines = capfd.readouterr().err.strip().splitlines()
        assert len(lines) == 1
        assert why in lines[0]


LOSSES = """
duration = "6 s"
[template]
kind = "path"
hops = [
    { rate = "1 Gbps", delay = "0 s" },
    { rate = "50 Mbps", delay = "20 ms", loss = { periodic = 500 }, packets = "data", queue = { kind = "fifo", limit = "1 bdp" } },
]
[[traffic]]
name = "flow"
from = "sender"
to   = "receiver"
kind = "bulk"
"""


def test_cuts_of_a_run_do_not_depend_on_how_often_it_is_sampled(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(LOSSES, encoding="utf-8")
    found = []
    for every in ("10 ms", "1 s"):
        run = el.run(tmp_path / "s.toml", set={"record.every": every})
        found.append((run.phases().cuts, run.flows.column("cong_signals").to_pylist()[0]))
    assert found[0][0] == found[0][1] == found[1][0] == found[1][1]
    assert found[0][0] > 6  # more than there are seconds
    # a second is 25 round trips: how often the rate doubled in one is not seen
    assert math.isnan(run.phases().slope_per_rtt)
    assert "doubling" not in answer(run)


def test_another_connection_than_the_largest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = LOSSES + LOSSES[LOSSES.index("[[traffic]]") :].replace('"flow"', '"late"').replace(
        'kind = "bulk"', 'kind = "bulk"\nstart = "4 s"'
    )
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    run = el.run(tmp_path / "s.toml", pcap="sender", out=tmp_path / "run")
    words = ["analyze", str(capture(run, "sender"))]
    assert cli.status_of([*words, "--out", str(tmp_path / "a"), "--json"]) == 0
    largest = json.loads(capfd.readouterr().out)
    others = [row["connection"] for row in largest["connections"] if row["delivered_bytes"] > 0][1:]
    assert cli.status_of([*words, "--out", str(tmp_path / "b"), "--connection", str(others[0]), "--json"]) == 0
    other = json.loads(capfd.readouterr().out)
    assert largest["phases"]["stretches"][0]["begin_s"] < 1 < 3 < other["phases"]["stretches"][0]["begin_s"]
    assert el.load(tmp_path / "b").focus == others[0]
    assert cli.status_of([*words, "--out", str(tmp_path / "c"), "--connection", "99"]) == 2
    assert "no connection 99: they are 0 to 1" in capfd.readouterr().err
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("seed", range(40))
def test_lines_and_filters_are_those_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(3, 90))
    time = np.arange(size) * 0.1 if seed % 2 else np.sort(random.random(size))
    rate = random.random(size) if seed % 3 else np.round(5 * random.random(size))
    slope, level, least, _ = stats.theilslopes(rate, time, alpha=0.99)
    assert phases._theil_sen(time, rate) == (slope, level, least)
    assert (np.median(phases._around(rate, 5), axis=1) == ndimage.median_filter(rate, size=5, mode="nearest")).all()
    width = int(random.integers(1, size + 1))
    assert phases._around(rate, width).mean(axis=1) == pytest.approx(ndimage.uniform_filter1d(rate, width, mode="nearest"))
