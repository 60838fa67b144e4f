"""One long path: closed forms against literals, limits that are known, whole answers."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan import cli
from elephan.base import stats
from elephan.base.errors import InputError
from elephan.experiment.path.forms import Bounds, bounds, reno_share, response_bps
from elephan.experiment.path.onemore import at_full_windows, window_cost, with_one_loss
from elephan.experiment.path.question import Question, default_stack, read_question
from elephan.experiment.path.rest import BY_ROUNDS, FORMS_ALONE, MANY_LOSSES, WINDOW_FULL, by_rounds, goes_by_rounds
from elephan.experiment.path.row import Row
from elephan.experiment.path.settings import Tuning, as_file, as_text, fq_rate, overflows, queue_wanted, socket_memory
from elephan.experiment.path.simulate import Ask, Case, episodes, simulate_all, tcp_options
from elephan.experiment.path.verdict import Evidence, what_limits
from elephan.experiment.pool import How, run_jobs
from elephan.open import redraw
from elephan.open.kind.path import print_rows
from elephan.report.figure.path_figures import responses
from elephan.report.page.path_page import answer_lines, how, results_table
from elephan.scenario import core
from elephan.scenario.congestion import read_controllers
from fake import PATH_TCP
from rich.console import Console


@pytest.fixture
def few_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulates 100,000 packets of a run, so that transfers which are quick to simulate whole are carried on."""
    monkeypatch.setitem(simulate_all.__kwdefaults__ or {}, "packets", 100_000)


def ask(rate: str = "1Gbps", rtt: str = "196ms", **more: Any) -> tuple[Question, Bounds]:
    tcp = PATH_TCP | more.pop("tcp", {})
    question = read_question(rate, rtt, **more)
    return question, bounds(question, tcp)


def forms(**more: Any) -> dict[str, float]:
    from elephan.experiment.path.forms import closed_forms

    question, limits = ask(**more)
    return {form.name: form.value for form in closed_forms(question, limits)}


def test_closed_forms_of_the_gigabit_over_196_ms() -> None:
    found = forms(mtu=9000)
    assert found["bdp"] == pytest.approx(24.5e6)  # 1 Gb/s x 196 ms
    assert found["goodput_max"] == pytest.approx(990.1e6, rel=1e-4)  # 8948 of 9038 bytes on the wire
    assert found["time_wire"] == pytest.approx(10e9 * 8 / (1e9 * 8948 / 9038) + 0.294)
    assert found["buffer_needed"] == pytest.approx(0.9 * 24.5e6)  # (f - s) / f s RTT with f = 10 Gb/s
    assert found["reno_share"] == 1.0  # a buffer of one bandwidth-delay product
    assert found["reno_recovery"] == pytest.approx(2711 / 2 * 0.196, rel=1e-3)  # nothing waits: half of 2711 segments are gone
    assert found["reno_recovery_full"] == 0.0  # half of 2 BDP in flight fills the wire
    half = forms(mtu=9000, buffer="12.25MB")
    assert half["reno_recovery_full"] == pytest.approx(2711 / 4 * 0.196, rel=1e-3)  # 1.5 BDP fall to 0.75


def test_the_row_that_a_loss_would_cost_is_named() -> None:
    """1.4 MB in flight fill 100 Mb/s over 100 ms (1.18 MB of payload), and nothing is lost in 34 s. A packet lost in the middle
    halves them: Reno then needs more than the rest of the transfer to come back, with two thirds of the wire."""
    named: dict[str, Any] = {"window": "1.4 MB", "streams": 1, "congestion_control": "reno"}
    answer = el.path("100 Mbps", "100 ms", size="400 MB", **named)
    row = answer.row("reno", 1)
    assert (row.drops, row.lost) == (0, 0)
    assert 1.1 * row.time_s.mean < row.one_loss_s < 1.3 * row.time_s.mean
    assert any(
        line.startswith("If the path loses one packet more, reno with 1 stream takes up to") for line in answer_lines(answer)
    )


def test_a_stack_that_counts_acks_comes_back_half_as_fast() -> None:
    """RFC 2581 equation 2 behind delayed ACKs: half a segment a round trip, so a loss costs BDP round trips, not BDP / 2."""
    ways = [
        {
            form.name: form.value
            for form in el.path("100 Mbps", "20 ms", stack=stack, streams=1, congestion_control="reno", size="1 MB").forms
        }
        for stack in ("rfc", "linux-2.4")
    ]
    assert ways[1]["reno_recovery"] == pytest.approx(2 * ways[0]["reno_recovery"])
    assert ways[1]["loss_reno"] == pytest.approx(ways[0]["loss_reno"] / 2)


@pytest.mark.parametrize(
    ("stack", "rtts"),
    [
        ("linux-2.4", 20.5),  # an ACK for two segments counts as one: 2, 3, 4.5 ... 6650 after 20 round trips, 9976 after 21
        ("rfc", 9.67),  # bytes are counted, two segments an ACK: 10, 20 ... 5120 after 9, 10240 after 10
    ],
)
def test_slow_start_goes_by_what_an_ack_counts(stack: str, rtts: float) -> None:
    """8127 segments fill 1 Gb/s over 100 ms."""
    answer = el.path("1 Gbps", "100 ms", host_rate="1 Gbps", stack=stack, streams=1, congestion_control="reno", size="1 MB")
    found = {form.name: form for form in answer.forms}
    assert found["window"].value == pytest.approx(8127, abs=1)
    assert found["slow_start"].value == pytest.approx(0.1 * rtts, rel=0.001)


@pytest.mark.parametrize(
    ("tcp", "growth"),
    [
        ({}, 2.0),
        ({"abc": False}, 1.5),
        ({"abc_limit": 1}, 1.5),
        ({"abc": False, "delayed_ack_segments": 1}, 2.0),
        ({"abc_limit": 0, "delayed_ack_segments": 4}, 2.0),
        ({"delayed_ack_segments": 4}, 1.5),
    ],
)
def test_growth_in_slow_start(tcp: dict[str, Any], growth: float) -> None:
    assert ask(tcp=tcp)[1].growth == growth


def test_the_figure_of_responses_is_the_closed_form() -> None:
    """Mathis et al. 1997, random loss and delayed ACKs that are counted: 0.93 / sqrt(1e-6) = 930 of 1448 B in 0.1 s, 107.7 Mb/s."""
    question, limits = ask("1Gbps", "100ms", loss=1e-6, controllers="reno", tcp={"abc": False})
    assert response_bps(question.controllers[0], question, limits, 1) == pytest.approx(107.7e6, rel=5e-3)
    drawing = responses(question, limits)
    assert drawing is not None
    x, y = drawing.figure.axes[0].lines[0].get_data()
    assert np.interp(-6.0, np.log10(np.asarray(x, dtype=float)), y) == pytest.approx(107.7, rel=0.01)  # Mb/s


def test_the_forbidden_area_of_the_fact_sheet() -> None:
    found = forms(rate="100Mbps", rtt="50ms", buffer="0.5MB", host_rate="1Gbps")
    assert found["forbidden_low"] == pytest.approx(87.69e6, rel=1e-4)
    assert found["forbidden_high"] == pytest.approx(912.31e6, rel=1e-4)


def test_windows_that_are_too_small() -> None:
    _, limits = ask("1Gbps", "100ms", window="64KiB", tcp={"receive_window": "64 KiB", "send_buffer": "64 KiB"})
    assert limits.window_bps(1) == pytest.approx(5.24e6, rel=1e-3)  # 64 KiB / 100 ms
    assert limits.window_bps(8) == pytest.approx(8 * 5.24288e6)
    assert limits.window_is == "receive window"
    _, unscaled = ask("1Gbps", "100ms", tcp={"window_scaling": False})
    assert unscaled.window_bytes == 65_535  # RFC 9293: 16 bits
    _, sending = ask("1Gbps", "100ms", tcp={"send_buffer": "16 KiB"})
    assert sending.window_is == "send buffer"


@pytest.mark.parametrize(("buffer", "share"), [(0.0, 0.75), (1.0, 1.0), (3.0, 1.0)])
def test_renos_sawtooth(buffer: float, share: float) -> None:
    assert reno_share(buffer) == pytest.approx(share)


def goodput(controller: str = "reno", **more: Any) -> float:
    """Of one stream by rounds, from a window of 70 segments on, over 10 GB."""
    question, limits = ask("10Gbps", "100ms", size="1TB", **more)
    after = by_rounds(question, limits, read_controllers(controller)[0], 1, 1)
    start = 70.0 * limits.mss_bytes
    after.follow(0, [0.0], [0.0], [False], [0.1], [False], [start], [start])
    seconds, delivered, _ = after.run(10e9, 1_000_000)
    assert delivered == pytest.approx(10e9)
    return float(delivered * 8 / seconds)


def test_reno_by_rounds_under_loss() -> None:
    """Near the windows of Mathis et al. 1997: sqrt(3/2) / sqrt(p) for periodic loss, 1.31 / sqrt(p) for random loss."""
    segment = 1448 * 8 / 0.1
    assert math.sqrt(1.5 / 1e-4) * segment * 0.97 < goodput(loss=1e-4) < 1.31 * 100 * segment * 1.03
    # a stack that counts delayed ACKs grows by half a segment a round trip: 0.71 of it
    assert goodput(loss=1e-4, tcp={"abc": False}) == pytest.approx(math.sqrt(0.5) * goodput(loss=1e-4), rel=0.05)


@pytest.mark.parametrize(
    ("path", "controllers"),
    [
        ({"rate": "1 Gbps", "rtt": "50 ms", "buffer": "100 KB", "size": "6 GB"}, "cubic,htcp"),
        ({"rate": "1 Gbps", "rtt": "100 ms", "host_rate": "1 Gbps", "txqueuelen": 100, "size": "5 GB"}, "reno,cubic,bic"),
    ],
)
def test_rounds_go_on_as_the_whole_simulation_does(few_packets: None, path: dict[str, Any], controllers: str) -> None:
    part, whole = (el.path(**path, streams=1, congestion_control=controllers, stack="rfc", whole=whole) for whole in (False, True))
    for row in part.rows:
        assert row.method == BY_ROUNDS
        assert row.simulated_share < 0.6
        assert row.time_s.low <= whole.row(row.controller, 1).time_s.mean <= row.time_s.high
        assert row.time_s.mean == pytest.approx(whole.row(row.controller, 1).time_s.mean, rel=0.03)


def test_curves_go_to_the_end_of_the_transfer(few_packets: None) -> None:
    answer = el.path("1 Gbps", "50 ms", buffer="100 KB", size="6 GB", streams=1, congestion_control="cubic")
    curve, row = answer.curves_table, answer.rows[0]
    times, delivered = curve.column("time_s").to_numpy(), curve.column("delivered_bytes").to_numpy()
    assert times[-1] == pytest.approx(row.time_s.mean)
    assert delivered[-1] == pytest.approx(6e9)
    assert (delivered[1:] >= delivered[:-1]).all()
    simulated = curve.column("simulated").to_numpy(zero_copy_only=False)
    assert times[simulated][-1] == pytest.approx(row.simulated_share * row.time_s.mean, rel=0.1)


def test_an_overflow_in_several_samples_is_one() -> None:
    """Samples of a quarter of a round trip of 0.4 s: seven in a row, and one that comes a second later."""
    times = np.arange(40) * 0.05
    drops = np.cumsum([*[0] * 5, *[3] * 7, *[0] * 20, 1, *[0] * 7]).astype(float)
    assert episodes(times, drops, 0.4) == 2
    assert episodes(times, drops, 0.2) == 3
    assert episodes(times, np.zeros(40), 0.4) == 0


def _halving() -> el.Answer:
    return el.path(
        "622 Mbps", "100 ms", buffer="0.5 MB", stack="linux-2.4", window="16 MB", congestion_control="reno,htcp", streams=1
    )


def test_a_best_row_that_is_an_estimate_is_simulated_whole() -> None:
    """H-TCP's estimate of 160 s is less than half of what its 6.9 million packets take."""
    answer = _halving()
    assert not answer.best.is_rough
    htcp = answer.row("htcp", 1)
    assert (htcp.method, htcp.simulated_share) == ("", 1.0)
    assert htcp.time_s.mean > 300


def test_an_estimate_competes_with_the_longest_time_of_its_range() -> None:
    """An estimate of 90 s that may be 130 s is not shorter than 100 s that are simulated; one that may be 99 s is."""
    answer = el.path("100 Mbps", "20 ms", size="1 MB", streams=1, congestion_control="reno", whole=True)
    reno = answer.rows[0]
    known = replace(reno, time_s=replace(reno.time_s, mean=100.0), one_loss_s=math.nan)

    def best(high: float) -> str:
        rough = replace(known, controller="bbr", method=FORMS_ALONE, time_s=replace(reno.time_s, mean=90.0, low=80.0, high=high))
        return type(answer)(answer.question, answer.limits, [known, rough], [], answer.facts, answer.advice).best.controller

    assert best(130.0) == "reno"
    assert best(97.0) == "bbr"
    rough = replace(known, controller="bbr", method=FORMS_ALONE, time_s=replace(reno.time_s, mean=90.0, low=80.0, high=130.0))
    assert rough.is_rough
    assert not replace(rough, time_s=replace(rough.time_s, high=99.0)).is_rough
    (cells,) = results_table([rough]).rows
    assert (cells[2].text, cells[2].range) == ("about 90 s", "80\u00a0s to\u00a0130\u00a0s")


def test_another_queue_is_not_carried_on_by_rounds() -> None:
    """Rounds are of a drop-tail queue: what is set by hand may be none."""
    question, limits = ask("1Gbps", "50ms", set={"links[1].queue.kind": "codel"})
    controller = read_controllers("cubic")[0]
    assert not goes_by_rounds(question, limits, controller)
    assert goes_by_rounds(*ask("1Gbps", "50ms", set={"tcp.initial_window": 3}), controller)


def test_the_congestion_control_of_the_settings_has_its_own_reason() -> None:
    """200 MB over 1 Gb/s and 100 ms: Linux's 4 MiB of send buffer are 336 Mb/s at most, so a setting helps."""
    answer = el.path("1 Gbps", "100 ms", size="500 MB", streams=1, congestion_control="reno,cubic", stack="linux")
    (line,) = [one for one in answer.settings if "tcp_congestion_control" in one.text]
    assert line.why.endswith("as fast within 2 %") or line.why == "the shortest time of those tried, one packet lost or not"
    advice = answer.advice
    assert advice.now is not None
    assert advice.after is not None
    assert advice.now.limit == "send buffer"
    assert advice.after.time_s.mean < 0.98 * advice.now.time_s.mean


def test_what_makes_nothing_faster_is_not_advised() -> None:
    """20 Mb/s over 40 ms are 100 kB, which every socket of Linux holds."""
    answer = el.path("20 Mbps", "40 ms", size="5 MB", streams=1, congestion_control="reno,cubic", stack="linux")
    assert answer.settings == []
    assert "No setting tried here makes Linux as it is" in " ".join(answer_lines(answer))


def test_rounds_are_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="cubik"):
        el.rounds.new("cubik", rate="1 Gbps", rtt="50 ms")
    with pytest.raises(InputError, match="loss must be from 0 to below 1, not 2"):
        el.rounds.new("cubic", rate="1 Gbps", rtt="50 ms", loss=2.0)
    with pytest.raises(InputError, match="streams"):
        el.rounds.new("cubic", 0, rate="1 Gbps", rtt="50 ms")
    with pytest.raises(InputError, match="rate must be above 0"):
        el.rounds.new("cubic", rate=0.0, rtt="50 ms")


def evidence(**more: Any) -> Evidence:
    """Ten seconds at half of 100 Mb/s; slow start took one second and half of what it could have carried."""
    found = {
        "end_s": 10.0,
        "delivered_bytes": 62.5e6,
        "slow_start_end_s": 1.0,
        "slow_start_bytes": 6.25e6,
        "window_limited": 0.0,
        "overflows": 0,
        "lost": 0.0,
    }
    return Evidence(**(found | more))


LIMITS = Bounds(
    wire_bps=100e6,
    mss_bytes=1448,
    window_bytes=2**30,
    window_is="receive window",
    initial_window=10,
    timestamps=True,
    rtt_s=0.1,
)


@pytest.mark.parametrize(
    ("found", "limit"),
    [
        ({}, "congestion control"),
        ({"overflows": 3}, "buffer"),
        ({"overflows": 3, "lost": 10.0}, "loss"),
        ({"slow_start_end_s": 6.0, "slow_start_bytes": 20e6, "overflows": 3}, "slow start"),
    ],
)
def test_what_limits(found: dict[str, Any], limit: str) -> None:
    assert what_limits(evidence(**found), LIMITS, 1, 50e6) == limit


def test_a_full_wire_is_the_limit_whatever_was_lost() -> None:
    assert what_limits(evidence(overflows=9, lost=99.0), LIMITS, 1, 91e6) == "wire"


def test_a_window_limits_only_where_it_is_smaller_than_the_wire() -> None:
    small = Bounds(**{**vars(LIMITS), "window_bytes": 625_000})  # 50 Mb/s over 100 ms
    assert what_limits(evidence(window_limited=0.9), small, 1, 50e6) == "receive window"
    assert what_limits(evidence(window_limited=0.9), LIMITS, 1, 50e6) == "congestion control"
    # It filled while the transfer began, of which the rest gets less than half of what the window allows.
    assert what_limits(evidence(window_limited=0.9, lost=99.0), small, 1, 20e6) == "loss"


def lines_of(question: Question, limits: Bounds, controller: str, streams: int = 1, **more: Any) -> list[str]:
    return [
        line.text for line in Tuning(read_controllers(controller)[0], streams, **more).lines(question, limits, "the shortest time")
    ]


def test_settings() -> None:
    question, limits = ask(mtu=9000, buffer="2MB")
    assert socket_memory(question, 1) == 51 * 2**20  # twice 24.5 MB + 2 MB, in whole MiB
    lines = lines_of(question, limits, "htcp", fq=True)
    assert "net.core.rmem_max = 53477376" in lines
    assert "net.ipv4.tcp_rmem = 4096 131072 53477376" in lines
    assert "net.ipv4.tcp_wmem = 4096 16384 53477376" in lines
    assert "net.ipv4.tcp_congestion_control = htcp" in lines
    assert "ip link set dev eth0 mtu 9000" in lines
    # 2 MB are less than 22 MB; 9014 of the 9038 bytes on the wire are seen; 2711 segments, 678 of each of 4 streams
    assert overflows(question)
    assert "tc qdisc replace dev eth0 root fq maxrate 997344kbit limit 10000 flow_limit 2800" in lines
    assert "tc qdisc replace dev eth0 root fq maxrate 249336kbit limit 10000 flow_limit 680" in lines_of(
        question, limits, "htcp", 4, fq=True
    )
    assert not any("congestion_control" in line for line in lines_of(question, limits, "fast"))
    assert queue_wanted(*ask(host_rate="1Gbps"), stalled=False) is None  # nothing bounds the queue that is simulated
    wanted = queue_wanted(*ask(host_rate="1Gbps", txqueuelen=100), stalled=False)
    assert wanted is not None
    assert wanted > 10_000
    assert queue_wanted(*ask(host_rate="1Gbps", pacing="900Mbps", txqueuelen=100), stalled=True) is None  # pfifo would unpace it


def test_what_is_set_is_what_is_simulated() -> None:
    """The question of a tuning has the memory, less Linux's half of it, and the pace of its lines."""
    question, _ = ask("10Gbps", "150ms", buffer="2MB", stack="linux")
    tuning = Tuning(read_controllers("cubic")[0], 4, fq=True)
    tuned = tuning.question(question)
    assert tuned.window_bytes == socket_memory(question, 4) // 2
    assert tuned.fq_bps is not None
    assert tuned.fq_bps == pytest.approx(2.5e9, rel=1e-5)  # of the wire; 2 460 988 kbit/s as a qdisc sees its frames
    assert fq_rate(question, 4) == 2_460_988
    assert 'kind = "dumbbell"' in tuned.scenario()
    assert f'pacing = "{round(tuned.fq_bps)} bps"' in tuned.scenario()
    hosts = tomllib.loads(core.resolve(tuned.source(), {}, 1)["toml"])["hosts"]
    assert hosts["sender"]["count"] == 4


def test_lines_can_be_pasted(tmp_path: Path) -> None:
    """Comments stand on lines of their own: sysctl takes what follows a value for a part of it."""
    question, limits = ask("10Gbps", "150ms", buffer="2MB", stack="linux")
    lines = Tuning(read_controllers("cubic")[0], 1, fq=True).lines(question, limits, "the shortest time")
    for text in (as_text(lines), as_file(["why"], lines).splitlines()):
        assert all("#" not in line for line in text if not line.startswith("#"))
    sysctl = [line for line in as_file(["why"], lines).splitlines() if line and not line.startswith("#")]
    assert all(line.startswith("net.") and " = " in line for line in sysctl)
    assert any("fq maxrate" in line for line in as_file(["why"], lines).splitlines() if line.startswith("#"))


def test_a_file_of_settings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["path", "--rate", "1Gbps", "--rtt", "100ms", "--size", "300MB", "--streams", "1", "-c", "cubic", "--stack", "linux"]
    file = tmp_path / "90-path.conf"
    assert cli.status_of([*words, "--settings", str(file), "--out", str(tmp_path / "o")]) == 0
    assert "net.ipv4.tcp_wmem" in file.read_text()
    other = tmp_path / "other.conf"
    other.write_text("net.core.rmem_max = 1\n")
    capfd.readouterr()
    assert cli.status_of([*words, "--settings", str(other), "--out", str(tmp_path / "p")]) == 2
    assert "exists and is not a file of settings" in capfd.readouterr().err
    assert other.read_text() == "net.core.rmem_max = 1\n"


def test_the_stack_that_is_assumed_is_said() -> None:
    """One place has the default: the scenario language."""
    assert read_question("1 Gbps", "50 ms").stack == default_stack()
    assert f"the stack of the hosts: {default_stack()}" in read_question("1 Gbps", "50 ms").assumed
    assert not any("stack" in words for words in read_question("1 Gbps", "50 ms", stack="linux").assumed)


def test_what_a_small_window_costs() -> None:
    """64 KiB over 100 ms: 45 segments of 1448 B are 5.21 Mb/s at most, and 10 GB take more than four hours, of which a part is
    simulated."""
    answer = el.path("1 Gbps", "100 ms", window="64 KiB", streams=1, congestion_control="reno", size="10 GB")
    (row,) = answer.rows
    assert row.limit == "receive window"
    assert row.goodput_bps.mean == pytest.approx(5.21e6, rel=0.03)
    assert row.method == WINDOW_FULL
    assert row.simulated_share < 0.2
    assert row.time_s.low < row.time_s.mean < row.time_s.high < 1.06 * row.time_s.low


def test_no_interval_leaves_the_wire() -> None:
    """941.5 Mb/s of payload at 1 Gb/s: 1460 of 1538 B, less 12 B of timestamps."""
    for row in el.path("1 Gbps", "100 ms", streams=4, congestion_control="bbr", size="3 GB").rows:
        assert row.goodput_bps.high <= 941.5e6
        assert row.time_s.low >= 3e9 * 8 / 941.5e6


def test_a_short_transfer_ends_in_slow_start() -> None:
    row = el.path("1 Gbps", "100 ms", streams=1, congestion_control="reno", size="1 MB").row("reno", 1)
    assert row.limit == "slow start"
    assert row.method == ""
    # one round trip of handshake, 10 segments doubled: 690 segments want 7 round trips at most and 6.1 at least
    assert 0.65 < row.time_s.mean < 0.8


@pytest.mark.parametrize("streams", [1, 4])
def test_nothing_arrives_before_it_can(streams: int) -> None:
    """A round trip of handshake and half a one are 294 ms, and 1 kB at 941.5 Mb/s 8.5 us."""
    row = el.path("1 Gbps", "196 ms", size="1 KB", streams=streams, congestion_control="reno").rows[0]
    assert row.time_s.mean >= 0.294008
    assert row.time_s.mean == pytest.approx(0.294, rel=0.15)


def test_a_slow_wire_is_the_limit() -> None:
    row = el.path("10 Mbps", "20 ms", streams=1, congestion_control="reno", size="20 MB").row("reno", 1)
    assert row.limit == "wire"
    assert row.time_s.mean == pytest.approx(20e6 * 8 / (10e6 * 1448 / 1538), rel=0.02)


def test_loss_is_the_limit() -> None:
    """Reno at one packet lost in a thousand over 100 ms: between 0.93 (delayed ACKs) and 1.31 of MSS / RTT / sqrt(p)."""
    answer = el.path("100 Mbps", "100 ms", loss=1e-3, streams=1, congestion_control="reno", size="100 MB")
    (row,) = answer.rows
    assert row.limit == "loss"
    unit = 1448 * 8 / 0.1 / math.sqrt(1e-3)
    assert 0.85 * unit < row.goodput_bps.mean < 1.5 * unit
    assert row.time_s.n == 3
    assert row.time_s.low < row.time_s.mean < row.time_s.high


def test_time_and_rate_are_of_one_transfer() -> None:
    """10 GB in 708 s are 113 Mb/s, whatever the mean of the single rates is."""
    answer = el.path("1 Gbps", "196 ms", stack="linux-2.4", window="64 MB", loss=1e-6, streams=1, congestion_control="reno")
    (row,) = answer.rows
    assert row.time_s.high > 1.5 * row.time_s.low
    assert row.goodput_bps.mean * row.time_s.mean == pytest.approx(80e9)
    assert row.goodput_bps.low * row.time_s.high == pytest.approx(80e9)
    assert row.goodput_bps.high * row.time_s.low == pytest.approx(80e9)
    assert row.limit == "loss"  # the one overflow that ends slow start is one, however long it lasts


def test_a_small_buffer_is_the_limit() -> None:
    row = el.path("200 Mbps", "100 ms", buffer="50 KB", streams=1, congestion_control="reno", size="100 MB").row("reno", 1)
    assert row.limit == "buffer"
    assert row.drops > 0


def test_the_rest_of_a_transfer_is_near_what_the_whole_takes(few_packets: None) -> None:
    """Reno's fluid against the simulation of everything."""
    named: dict[str, Any] = {"buffer": "100 KB", "streams": 1, "congestion_control": "reno", "size": "1 GB", "mtu": 1500}
    whole = el.path("100 Mbps", "40 ms", whole=True, **named).row("reno", 1)
    part = el.path("100 Mbps", "40 ms", **named).row("reno", 1)
    assert whole.method == ""
    assert part.method
    assert part.time_s.mean == pytest.approx(whole.time_s.mean, rel=0.03)


def test_an_answer_on_disk(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["path", "--rate", "20Mbps", "--rtt", "40ms", "--size", "5MB", "--streams", "1,2", "-c", "reno,cubic:preset=linux"]
    out = tmp_path / "o"
    assert cli.status_of([*words, "--out", str(out), "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert json.loads((out / "path.json").read_text()) == {k: v for k, v in found.items() if k not in ("folder", "warnings")}
    assert found["warnings"] == []
    assert [(one["controller"], one["streams"], one["time_s"]["n"]) for one in found["results"]] == [
        ("reno", 1, 1),
        ("reno", 2, 3),
        ("cubic preset linux", 1, 1),
        ("cubic preset linux", 2, 3),
    ]
    again = el.load(out)
    assert again.as_dict() == {k: v for k, v in found.items() if k not in ("folder", "warnings")}
    redraw(out, figures=True)
    assert (out / "figures" / "times.png").exists()
    page = (out / "report.html").read_text()
    assert '<span class="option">--whole</span>' in page  # no line breaks within
    assert page.index("How long do 5 MB take") < page.index("Results") < page.index("Settings of Linux hosts")
    before = (out / "figures" / "times.svg").read_text()
    assert cli.status_of(["report", str(out), "--figures"]) == 0
    assert (out / "figures" / "times.svg").read_text() == before
    assert cli.status_of(["diff", str(out), str(out)]) == 2


def test_for_people(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["path", "--rate", "20Mbps", "--rtt", "40ms", "--size", "2MB", "--streams", "1", "-c", "reno", "--buffer", "50KB"]
    assert cli.status_of([*words, "--out", str(tmp_path / "o")]) == 0
    out = capfd.readouterr().out
    assert "2 MB take" in out
    assert "Linux as it is" in out
    assert "Closed forms:" in out
    assert "the next rate of Ethernet" in out


RIGHT = {"--rate": "1Gbps", "--rtt": "10ms"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"--rate": "1000"}, "no unit"),
        ({"--rate": "0bps"}, "above zero"),
        ({"--rtt": "soon"}, "rtt"),
        ({"--loss": "1.5"}, "a probability"),
        ({"--loss": "some"}, "a probability"),
        ({"--mtu": "20"}, "between 128 and 65535"),
        ({"--mtu": "big"}, "mtu"),
        ({"--streams": "0"}, "between 1 and 1000"),
        ({"--streams": "two"}, "whole number"),
        ({"--streams": "1,1"}, "different numbers"),
        ({"--size": "10"}, "no unit"),
        ({"--buffer": "lots"}, "buffer"),
        ({"--window": "0B"}, "above zero"),
        ({"--window": "1kB"}, "window: 1kB cannot hold one segment, 1460 B"),
        ({"--buffer": "125B"}, "buffer: 125B cannot hold one packet, 1518 B"),
        ({"--mtu": "9000", "--buffer": "9017B"}, "one packet, 9018 B"),
        ({"--stack": "rfcc"}, 'did you mean "rfc"'),
        ({"-c": "cubbic"}, 'did you mean "cubic"'),
        ({"-n": "0"}, "repetitions"),
        ({"-s": "template.hops[9].rate=1Mbps"}, "hops"),
        ({"--out": "."}, "not a name for a result folder"),
    ],
)
def test_bad_questions(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [word for pair in (RIGHT | given).items() for word in pair]
    assert cli.status_of(["path", *words]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    assert why in err
    assert list(tmp_path.iterdir()) == []


def test_a_question_of_the_api() -> None:
    with pytest.raises(InputError, match="rate"):
        el.path(0, 0.1)
    with pytest.raises(InputError, match="repetitions"):
        el.path(1e6, 0.1, repetitions=0)


def test_what_follows_from_options_is_not_set() -> None:
    with pytest.raises(InputError, match=r"traffic\.transfer\.connections follows from streams"):
        el.path("1 Gbps", "50 ms", set={"traffic.transfer.connections": 3})


def test_heavy_loss_and_tiny_buffers_go_on_as_they_were(few_packets: None) -> None:
    """Many cuts are a sample: the second half of the simulation says more than rounds, which know no bursts and no timeouts."""
    lossy = el.path("100 Mbps", "50 ms", loss=0.05, size="200 MB", streams=1, congestion_control="reno")
    tiny = el.path("100 Mbps", "50 ms", buffer="3 KB", size="1 GB", streams=1, congestion_control="cubic")
    assert [one.rows[0].method for one in (lossy, tiny)] == [MANY_LOSSES, MANY_LOSSES]
    whole = el.path("100 Mbps", "50 ms", buffer="3 KB", size="1 GB", streams=1, congestion_control="cubic", whole=True)
    assert tiny.rows[0].time_s.mean == pytest.approx(whole.rows[0].time_s.mean, rel=0.03)


def test_a_buffer_that_is_not_given_holds_some_packets() -> None:
    """A bandwidth-delay product of 125 B held none: 10 packets of 1518 B are more; 25 MB are a product of their own."""
    small, usual = read_question("10 Mbps", "100 us"), read_question("1 Gbps", "200 ms")
    assert (small.buffer_bytes, usual.buffer_bytes) == (15_180, 25_000_000)
    assert "the buffer: 10 packets, which are more than a bandwidth-delay product" in small.assumed
    assert "the buffer: one bandwidth-delay product" in usual.assumed


def test_several_streams_say_how_they_start() -> None:
    assert "several streams start within 50 ms" in read_question("1 Gbps", "50 ms").assumed
    together = read_question("1 Gbps", "50 ms", set={"traffic.transfer.start": "0 s"})
    assert not any("start" in words for words in [*together.assumed, *read_question("1 Gbps", "50 ms", streams=1).assumed])


@pytest.mark.parametrize("streams", [1, 4])
def test_a_short_transfer_is_limited_by_slow_start(streams: int) -> None:
    """Streams that have not begun have not left slow start either."""
    row = el.path("1 Gbps", "100 ms", size="1 MB", streams=streams, congestion_control="reno").rows[0]
    assert row.limit == "slow start"


def test_data_behind_a_hole_are_waited_for() -> None:
    """BBR's start overflows the queue so that nothing arrives for a second. By that second a terabyte took 80 days; a full wire
    takes 85 s."""
    row = el.path("100 Gbps", "10 ms", size="1 TB", streams=1, congestion_control="bbr", stack="rfc").rows[0]
    assert 85 < row.time_s.mean < 100


def test_slow_start_behind_a_full_window_is_not_simulated_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 KiB over 100 ms: 5.24 Mb/s from the first second on, in a slow start that never ends."""
    from elephan.experiment.path import simulate

    counted: list[int] = []
    jobs = simulate.run_jobs

    def counting(work: Any, *more: Any, **named: Any) -> Any:
        counted.append(len(work))
        return jobs(work, *more, **named)

    monkeypatch.setattr(simulate, "run_jobs", counting)
    row = el.path("1 Gbps", "100 ms", size="1 GB", window="64 KiB", streams=1, congestion_control="reno").rows[0]
    assert row.goodput_bps.mean == pytest.approx(45 * 1448 * 8 / 0.1, rel=0.03)
    assert counted[0] == 1  # and no simulation was made longer


def test_a_byte_needs_no_disk() -> None:
    row = el.path("1 Gbps", "50 ms", size="1 B", streams=1, congestion_control="cubic").rows[0]
    assert row.method == ""
    assert row.time_s.mean == pytest.approx(0.075, rel=1e-3)  # a round trip of handshake and half of one


@pytest.mark.parametrize(("name", "stalls_cut"), [("reno_like", True), ("slowstart_exit_only", False), ("ignore", False)])
def test_local_drops_by_the_names_of_2003(name: str, stalls_cut: bool) -> None:
    run = el.run(
        read_question("1 Gbps", "20 ms", host_rate="1 Gbps", txqueuelen=20, ring=10).scenario(),
        set={"duration": "2 s", "hosts.sender.tcp.local_drop": name},
    )
    flow = run.flows.to_pylist()[0]
    assert flow["send_stall"] > 0
    assert (flow["cong_signals"] > 0) == stalls_cut
    assert el.tcp.Endpoint(local_drop=name).state == "closed"


def test_runs_without_a_loss_give_no_interval() -> None:
    """Three runs in which no packet is lost are alike; one in 10^9 could be."""
    answer = el.path("100 Mbps", "10 ms", size="20 MB", loss=1e-9, streams=1, congestion_control="reno")
    (row,) = answer.rows
    assert (row.lost, row.time_s.n) == (0, 3)
    assert math.isnan(row.time_s.low)
    assert math.isnan(row.goodput_bps.high)
    assert how(row) == "simulated, 3 runs, none of which lost a packet"


@pytest.mark.parametrize("streams", [float("nan"), object(), b"x", [1, "x"], [[1]], 1.5])
def test_streams_that_are_no_numbers(streams: Any) -> None:
    with pytest.raises(InputError, match="streams: "):
        el.path("1 Gbps", "10 ms", streams=streams)


@pytest.mark.parametrize(
    ("controller", "segments", "rtt", "seconds"),
    [
        ("reno", 8000, "100 ms", 100.1),  # 8000 / 8 round trips of 0.1 s, and one more
        ("cubic", 8000, "100 ms", 1.4628),  # K = cbrt(8000 x 0.3 / 0.4) = 18.171 s; 0.3 K / 4, and 0.1 s
        ("cubic", 64, "10 ms", 0.0644),  # Reno-friendly: 64 x 0.09 / (2 x 0.9 / 1.7) = 5.44 round trips, and one more
        ("bbr", 8000, "100 ms", math.nan),
        ("cubic:beta=0.5", 8000, "100 ms", math.nan),
    ],
)
def test_what_a_loss_costs_where_the_window_limits(controller: str, segments: int, rtt: str, seconds: float) -> None:
    """RFC 5681 section 3.1 and RFC 9438 sections 4.2 and 4.3, integrated by hand until the window is back at W."""
    question, limits = ask("10 Gbps", rtt, controllers=controller, tcp={"receive_window": segments * 1448})
    assert window_cost(limits, question.controllers[0]) == pytest.approx(seconds, rel=1e-3, nan_ok=True)


@pytest.mark.parametrize(("controller", "seconds"), [("reno", 1.02), ("cubic", 0.0)])
def test_a_loss_where_the_window_limits_as_it_is_simulated(controller: str, seconds: float) -> None:
    """W = 400 segments over 20 ms. Reno halves what is in flight (RFC 5681 equation 4) and needs 400 / 8 + 1 round trips more than
    without the loss. CUBIC cuts its window, which slow start has left at 2 W: 1.4 W are no less than W."""
    question = read_question(
        "1 Gbps", "20 ms", window=400 * 1448, stack="rfc", streams=1, controllers=controller, size=f"{250_000 * 1448} B"
    )
    limits = bounds(question, tcp_options(core.resolve(question.source(), question.set, 1)["toml"]))
    one = Ask(question, limits, Case(question.controllers[0], 1, 1))
    found, _ = simulate_all([one, with_one_loss(one)], whole=True, how=How(workers=1))
    plain, lost = (result.time_s for result in found if result is not None)
    assert lost - plain == pytest.approx(seconds, abs=0.02)
    assert lost - plain <= 1.01 * window_cost(limits, question.controllers[0])


def test_one_packet_more_where_the_window_limits(few_packets: None) -> None:
    """Issue 32 and a helper's paths: 1 Gb/s x 100 ms with half of its window. CUBIC takes 19.52 s with one loss; the loss in the
    second half of the simulation made a trend of it, up to 27.4 s."""
    answer = el.path("1 Gbps", "100 ms", window="6.25 MB", stack="rfc", streams=1, congestion_control="cubic", size="1.1584 GB")
    (row,) = answer.rows
    assert row.method == WINDOW_FULL
    (lost,) = [at_full_windows(answer.limits, controller, row) for controller in answer.question.controllers]
    assert 19.52 < lost < 22


@pytest.mark.parametrize(("rate", "rtt"), [("1 Mbps", "1 ms"), ("10 Mbps", "1 ms"), ("10 Gbps", "1 ms")])
def test_an_answer_needs_no_more_than_its_packets(few_packets: None, monkeypatch: pytest.MonkeyPatch, rate: str, rtt: str) -> None:
    """Twelve runs of the question (their budget is a tenth here), twelve of 1.5 budgets to choose the advice, three to check it.
    BBR never leaves slow start on a path of less than a packet: it was simulated five times, each time for longer, so the three
    answers took 120, 104 and 94 budgets."""
    budgets = []

    def counted(*given: Any) -> Any:
        outcomes = run_jobs(*given)
        budgets.extend(one.measured.series["delivered_bytes"][-1] / 1448 / 100_000 for one in outcomes)
        return outcomes

    monkeypatch.setattr("elephan.experiment.path.simulate.run_jobs", counted)
    el.path(rate, rtt, size="1 GB", workers=1)
    assert sum(budgets) < 65


def test_a_window_of_the_advice_is_one_that_tcp_has() -> None:
    """100 Gb/s x 200 ms asks for 5 GB; RFC 7323 section 2.3 allows 65,535 x 2^14 B, less than half of what a sysctl may say."""
    question, _ = ask("100 Gbps", "200 ms")
    tuned = Tuning(question.controllers[0], 1).question(question)
    assert tuned.window_bytes == 1_073_725_440
    assert core.resolve(tuned.source(), tuned.set, 1)["toml"]


def test_rows_fit_into_80_columns(capfd: pytest.CaptureFixture[str]) -> None:
    """No figure is broken, and how a row is known stands below the table."""
    times = stats.Interval(35_815.0, 34_542.0, 97_185.0, 3)
    method = "as in its second half, with full windows of the sockets"
    row = Row("cubic", 16, times, replace(times, mean=223.4e6), "congestion control", 0.0017, method, 1e9, 0, 0)
    print_rows(Console(width=80), [("after: ", row), ("now: ", replace(row, controller="reno"))])
    lines = capfd.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    wide = "about 35\u202f815 s  34\u202f542 s to 97\u202f185 s  223 Mb/s"
    assert sum(wide in line for line in lines) == 2
    assert " ".join(" ".join(lines).split()).endswith(f"How it is known (all): 0.17 % simulated, 3 runs; then {method}.")
