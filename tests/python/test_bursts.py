"""Bursts before a slow link: what they lose, what that says of the memory, and where a window loses (the forbidden area)."""

from __future__ import annotations

import math

import elephan as el
import numpy as np
import pytest
from elephan.report.figure.run_figures import draw
from elephan.result.run import Run
from elephan.statistic import titles
from elephan.table.burst import Reading, read_burst, read_log
from elephan.table.steps import find_step, line_rate, names_node, slowest_ports
from elephan.theory import closed as theory

FAST = 1e9
OC = 51.84e6
FRAME, WIRE = 1518, 1538  # of a segment of 1460 B: what a queue counts, what the wire carries

PATH = """
title    = "A fast link before a slow one"
question = "What is lost?"
duration = "{duration:.6f} s"
stack    = "rfc"

[tcp]
rto_min               = "200 ms"
timestamps            = false
scaled_syn_ack_window = true
delayed_ack_segments  = 1
delayed_ack_first     = true

[template]
kind = "path"
hops = [
    {{ rate = "1 Gbps", delay = "0 s" }},
    {{ rate = "{slow:.0f} bps", delay = "{delay_ns:.3f} ns", queue = {{ kind = "fifo", limit = "{memory} B" }} }},
    {{ rate = "1 Gbps", delay = "0 s" }},
]

[[traffic]]
name = "flow"
from = "sender"
to   = "receiver"
kind = "bulk"
"""


def path(slow: float, rtt: float, memory: float, duration: float, extra: dict[str, object]) -> Run:
    text = PATH.format(duration=duration, slow=slow, delay_ns=rtt * 5e8, memory=round(memory))
    return el.run(text, set=extra)


def drops(run: Run) -> int:
    return int(sum(run.ports["drops"].to_pylist()))


def window_at_once(slow: float, rtt: float, share: float, extra: dict[str, object] | None = None) -> int:
    """Packets lost of a window s R that leaves in one burst at f, with `share` of the memory (f - s) / f s R, in frames."""
    segments = round(slow * rtt / 8 / WIRE)
    memory = theory.memory_needed(FAST, slow, segments * WIRE * 8 / slow) * FRAME / WIRE
    sizes = {"tcp.initial_window": segments, "traffic.flow.size": f"{segments * 1460} B"}
    return drops(path(slow, rtt, memory * share, 3 * rtt + 0.1, sizes | (extra or {})))


def window_by_slow_start(slow: float, rtt: float, share: float) -> int:
    """The same in slow start: ACKs come at s, each lets out two segments, and the last doubling ends at the window s R."""
    doublings = int(math.log2(slow * rtt / 8 / WIRE / 8))
    first = round(slow * rtt / 8 / WIRE / 2**doublings)
    segments = first * 2**doublings
    rtt = segments * WIRE * 8 / slow
    memory = theory.memory_needed(FAST, slow, rtt, clocked=True) * FRAME / WIRE
    sizes = {"tcp.initial_window": first, "tcp.receive_window": f"{segments * 1460} B"}
    return drops(path(slow, rtt, memory * share, (doublings + 3.5) * rtt, sizes))


GRID = [(level, rtt) for level in (1, 3, 6, 9, 12) for rtt in (0.02, 0.05, 0.1, 0.158)]
FEW = [(1, 0.05), (9, 0.02), (12, 0.05)]


def check_border(level: int, rtt: float) -> None:
    assert window_at_once(level * OC, rtt, 0.97) > 0
    assert window_at_once(level * OC, rtt, 1.03) == 0


def check_clocked_border(level: int, rtt: float) -> None:
    assert window_by_slow_start(level * OC, rtt, 0.95) > 0
    assert window_by_slow_start(level * OC, rtt, 1.05) == 0


@pytest.mark.parametrize(("level", "rtt"), FEW)
def test_a_window_at_once_loses_where_the_formula_says(level: int, rtt: float) -> None:
    check_border(level, rtt)


@pytest.mark.parametrize(("level", "rtt"), FEW)
def test_slow_start_loses_as_if_sent_at_twice_the_slow_rate(level: int, rtt: float) -> None:
    check_clocked_border(level, rtt)


@pytest.mark.slow
@pytest.mark.parametrize(("level", "rtt"), GRID)
def test_the_border_over_the_grid(level: int, rtt: float) -> None:
    check_border(level, rtt)
    check_clocked_border(level, rtt)


@pytest.mark.parametrize(("level", "rtt"), FEW)
def test_a_window_paced_at_the_slow_rate_needs_two_packets(level: int, rtt: float) -> None:
    """A token bucket of one frame at the sender (its rate counts frames, not the wire): one comes as the one before has gone."""
    slow = level * OC
    rate = f"{slow * FRAME / WIRE:.0f} bps"
    pacing = {"links[0].host_queue": {"kind": "tbf", "rate": rate, "burst": f"{FRAME} B", "limit": "100 MB"}}
    needed = theory.memory_needed(FAST, slow, rtt)
    assert window_at_once(slow, rtt, 2 * FRAME / needed, pacing) == 0
    assert window_at_once(slow, rtt, 2 * FRAME / needed) > 0


def test_closed_forms() -> None:
    """Literals of the slides' numbers: M = 0.5 MB, f = 1 Gb/s, OC-3, packets of 1 kB without headers."""
    assert theory.burst_first_lost("1 Gbps", "155.52 Mbps", "0.5 MB", "1 KB") == pytest.approx(592.08, abs=0.01)
    assert theory.burst_lost(45_000, "1 Gbps", "155.52 Mbps", "0.5 MB", "1 KB") == pytest.approx(37_501.6, abs=0.1)
    assert theory.burst_lost(592, "1 Gbps", "155.52 Mbps", "0.5 MB", "1 KB") == 0
    assert theory.burst_first_lost("1 Gbps", "1 Gbps", "0.5 MB", "1 KB") == math.inf
    assert theory.burst_lost(45_000, "1 Gbps", "1 Gbps", "0.5 MB", "1 KB") == 0
    # a clocked window of OC-3 over 100 ms comes at 311.04 Mb/s: half of the BDP of 1.944 MB
    assert theory.memory_needed("1 Gbps", "155.52 Mbps", "100 ms", clocked=True) == pytest.approx(972_000)
    # 2 M / R = 160 Mb/s at 50 ms; above f / 2 nothing changes
    low, high = theory.forbidden_area(1e9, 0.5e6, 0.05, clocked=True) or (0, 0)
    assert (low, high) == (pytest.approx(160e6), pytest.approx(912.31e6, rel=1e-5))


def burst_through(level: int, memory: int, packets: int = 45_000, seconds: float = 8) -> Reading:
    changes = {
        "links[1].rate": f"{level * OC:.0f} bps",
        "links[1].forward.queue.limit": f"{memory} B",
        "duration": f"{seconds} s",
        "traffic.burst.packets": packets,
        "record.datagrams": packets,
        "record.every": "1 s",
    }
    return read_burst(el.run("udp-burst", set=changes))


def check_burst(level: int, memory: int) -> None:
    """1000 B of payload are 1046 B of memory. First lost within 2; lost in all to 3 packets; memory to 2 packets or 1 %."""
    reading, slow = burst_through(level, memory), level * OC
    assert reading.first_lost is not None
    assert abs(reading.first_lost - theory.burst_first_lost(FAST, slow, memory, 1046)) <= 2
    assert abs(reading.lost - theory.burst_lost(45_000, FAST, slow, memory, 1046)) <= 3
    assert reading.memory_bytes == pytest.approx(memory, abs=2 * 1046)
    assert reading.lost_share == pytest.approx(1 - slow / FAST, rel=0.01)
    # 8 L / s with L = 1066 B on the wire; times are whole nanoseconds
    assert reading.spacing_s == pytest.approx(1066 * 8 / slow, rel=1e-4)
    assert reading.gap_s == pytest.approx(8.528e-6)


@pytest.mark.parametrize(("level", "memory"), [(3, 500_000), (12, 250_000)])
def test_the_first_packet_lost_measures_the_memory(level: int, memory: int) -> None:
    check_burst(level, memory)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [100_000, 250_000, 500_000, 1_000_000])
@pytest.mark.parametrize("level", [1, 3, 6, 9, 12])
def test_bursts_over_the_grid(level: int, memory: int) -> None:
    check_burst(level, memory)


def test_a_burst_that_fits_tells_a_lower_bound() -> None:
    reading = burst_through(3, 500_000, packets=400)
    assert (reading.first_lost, reading.lost) == (None, 0)
    assert reading.reached_bytes == pytest.approx(400 * 1046 * 0.84448, rel=1e-3)
    run = el.run("udp-burst", set={"traffic.burst.packets": 400, "record.datagrams": 400})
    assert bool(run.flows["completed"][0].as_py())
    assert run.flows["size_bytes"][0].as_py() == run.flows["delivered_bytes"][0].as_py() == 400_000
    # the last of 400 packets leaves the slow link 400 x 8528 bit / s after the first bit came to it
    expected = (8528 / 1e9 * 2 + 400 * 8528 / 155.52e6 + 0.05002) * 1e9
    assert run.flows["fct_ns"][0].as_py() == pytest.approx(expected, abs=2)
    with pytest.raises(el.InputError, match="the burst lost nothing: the memory is at least 353"):
        el.memory_from_burst(run)


def test_a_log_by_hand() -> None:
    """Sent 1 us apart, received 2 us apart: half of each packet stays, and number 10 is the first that is missing: 5 packets."""
    seq = [*range(10), *range(10, 100, 2)][:10] + list(range(11, 100, 2))
    time = np.arange(len(seq)) * 2e-6
    reading = read_log(seq, time, 100, 1e-6, 1000)
    assert (reading.first_lost, reading.lost) == (10, 45)
    assert reading.memory_bytes == pytest.approx(5000)
    assert reading.lost_share == pytest.approx(0.5)
    with pytest.raises(ValueError, match="numbers from 0 to 9, not 0 to 10"):
        read_log([0, 10], [0.0, 1.0], 10, 1e-6, 1000)


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(el.InputError, match='no burst of datagrams: a traffic entry such as kind = "burst"'):
        el.memory_from_burst(el.run("sawtooth", set={"duration": "1 s", "warmup": "0 s"}))
    short = el.run("udp-burst", set={"record.datagrams": 100})
    with pytest.raises(el.InputError, match=r"holds 100 of 7477 datagrams: set record\.datagrams to 45000"):
        el.memory_from_burst(short)
    with pytest.raises(el.InputError, match='no burst "other": burst'):
        read_burst(short, "other")
    with pytest.raises(el.InputError, match="the run ended before the burst was sent"):
        read_burst(el.run("udp-burst", set={"duration": "100 ms"}))
    with pytest.raises(el.InputError, match="a burst has 1 to 2147483648 packets, not 0"):
        el.run("udp-burst", set={"traffic.burst.packets": 0})


def test_the_log_is_what_came() -> None:
    """Of a link that takes every tenth packet and doubles some the log has each packet that came, both of those that came twice."""
    changes = {"links[1].forward.loss": {"periodic": 10}, "links[1].forward.duplicate": 0.05, "links[1].rate": "1 Gbps"}
    run = el.run("udp-burst", set=changes | {"traffic.burst.packets": 1000})
    log = run.datagrams.to_pydict()
    assert len(log["seq"]) == run.flows["data_segs_in"][0].as_py()
    assert len(set(log["seq"])) == 900
    assert log["time_ns"] == sorted(log["time_ns"])
    assert set(log["payload_bytes"]) == {1000}
    assert not run.flows["completed"][0].as_py()


def test_links_between_members_of_groups() -> None:
    """One entry links all cross pairs of a parking lot: `cross_sender` to `router[0-2]`."""
    run = el.run("parking-lot", set={"duration": "2 s", "warmup": "0 s"})
    chain = [(f"router[{i}]", f"router[{i + 1}]") for i in range(3)]
    assert slowest_ports(run, "sender", "receiver") == (chain, 50e6, "ethernet")
    assert slowest_ports(run, "cross_sender[1]", "cross_receiver[1]") == ([chain[1]], 50e6, "ethernet")
    assert line_rate(run, "cross_receiver[2]") == (10e9, "ethernet")
    assert [names_node("router[1-3]", f"router[{i}]") for i in range(5)] == [False, True, True, True, False]


def test_steps_and_figures() -> None:
    run = el.run("forbidden-area")
    step = find_step(run)
    assert step is not None
    assert (step.port, step.fast_bps, step.slow_bps, step.memory_bytes) == ("router[0]->router[1]", 1e9, 622.08e6, 500_000)
    assert step.rtt_s == pytest.approx(0.158)
    assert drops(run) > 0
    # The window waits in the sender's own port as well; what the scenario tabulates is the memory before the slow link.
    longest = next(name for name in run.curated_statistics if name.startswith("queue_max_bytes"))
    assert 0.99 * 500_000 < run.statistic(longest) <= 500_000
    assert titles.title(longest) == "longest queue at router[0] → router[1]"
    assert "4.64 MB" in draw(run, "forbidden-area").caption  # 0.37792 x 622.08 Mb/s x 158 ms / 8
    assert "first packet lost is number 567: 501 kB of memory" in draw(el.run("udp-burst"), "burst").caption
    endless = el.run("udp-burst", set={"links[1].forward.queue": {"kind": "fifo"}})
    assert find_step(endless) is None
    with pytest.raises(el.InputError, match='no figure "forbidden-area" of this run'):
        draw(endless, "forbidden-area")
