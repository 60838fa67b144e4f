"""Every number in the answer of a library scenario is an input of it, or what its runs give."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan.base.quantity import seconds, size_bytes
from elephan.scenario.source import library
from held import Held, agrees, free


@cache
def swept(name: str) -> el.Sweep:
    return el.sweep(name, progress=False)


def mean(name: str, label: str, statistic: str) -> float:
    """The mean over the repetitions of the variant of the library's own sweep whose label has these words."""
    sweep = swept(name)
    (found,) = [one for one in sweep.labels if all(part in one for part in label.split(", "))]
    return sweep.interval(found, statistic).mean


@cache
def run(name: str, seed: int = 1, **settings: Any) -> el.Run:
    return el.run(name, set={key.replace("__", "."): value for key, value in settings.items()}, seed=seed)


def means(name: str, statistic: str, seeds: int = 5, **settings: Any) -> float:
    """The mean of a statistic over seeds from 1 on."""
    return float(np.mean([run(name, seed, **settings).statistic(statistic) for seed in range(1, seeds + 1)]))


def busy_again(control: str) -> float:
    """Seconds after the line is fast again until a second brings 95 % of the best."""
    one = run("capacity-change", traffic__bulk__congestion_control=control).flow_samples.to_pydict()
    time, bytes_ = np.array(one["time_ns"]) / 1e9, np.array(one["delivered_bytes"], dtype=float)
    rate = (bytes_[10:] - bytes_[:-10]) / (time[10:] - time[:-10])
    late = time[10:] > 61
    return float(time[10:][late & (rate >= 0.95 * rate[late].max())][0] - 60)


def wire_time_s(payload_bytes: float, rate_bps: float) -> float:
    """An Ethernet packet of 1500 B on the wire takes 1538 B (IEEE 802.3: 14 + 4 + 8 + 12)."""
    return (payload_bytes + 38) * 8 / rate_bps


def managed(key: str, read: Callable[[str], float], **settings: Any) -> float:
    """A value of the congestion management of short-and-fat."""
    return read(run("short-and-fat", **settings).resolved["congestion_management"][key])


def first_minute(traffic: str) -> float:
    """bit/s in the deepest buffer."""
    return means("bbr-vs-cubic", f"goodput_bps[{traffic}].sum", template__queue__limit="20 bdp")


HELD: dict[str, list[Held]] = {
    "all-reduce": [
        Held("Of {16} links", lambda: [4 * 4]),
        Held("runs at {10} of {100} Gb/s", lambda: [10, 100]),
        Held("In each of {62} steps", lambda: [2 * (32 - 1)]),
        Held(
            "from host[{7}] to host[{8}] take it",
            lambda: [
                int(run("all-reduce").iterations.to_pylist()[0][end].removeprefix("host[").removesuffix("]"))
                for end in ("straggler", "straggler_to")
            ],
        ),
        Held(
            "an iteration takes {6.59} ms, {9} times",
            lambda: [
                mean("all-reduce", "ecmp=flow, order=packed", "iteration_time.mean") / 1e6,
                mean("all-reduce", "ecmp=flow, order=packed", "iteration_slowdown.mean"),
            ],
        ),
        Held(
            "an iteration takes {1.95} ms",
            lambda: [mean("all-reduce", "ecmp=packet, order=packed", "iteration_time.mean") / 1e6],
        ),
    ],
    "aqm": [
        Held("here {1 000} packets, which is {0.6} s at 20 Mb/s", lambda: [1000, 1000 * wire_time_s(1500, 20e6)]),
        Held(
            "let them wait for about {15} and {7} ms",
            lambda: [mean("aqm", f"kind={kind}", "queue_mean_bytes.max") * 8 / 20e6 * 1e3 for kind in ("pie", "codel")],
        ),
        Held("about {50} ms here", lambda: [mean("aqm", "kind=red", "queue_mean_bytes.max") * 8 / 20e6 * 1e3], 0.05),
    ],
    "bbr-vs-cubic": [
        Held(
            "Of {47} Mb/s BBR keeps {42}, {41}, {28}, {20} and {19} Mb/s in 0.5",
            lambda: [
                mean("bbr-vs-cubic", "limit=20 bdp", "goodput_bps.sum") / 1e6,
                *(
                    mean("bbr-vs-cubic", f"limit={limit} bdp", "goodput_bps[bbr].sum") / 1e6
                    for limit in ("0.5", "1", "2", "5", "20")
                ),
            ],
        ),
        Held(
            "BBR has only {5} Mb/s in the first one",
            lambda: [first_minute("bbr") / 1e6],
        ),
    ],
    "capacity-change": [
        Held("needs {fourteen} seconds to fill it", lambda: [busy_again("reno")]),
        Held("`) {fourteen}, BBR", lambda: [busy_again("cubic")]),
        Held("BBR {two}", lambda: [busy_again("bbr")]),
    ],
    "congestion-spreading": [
        Held("send {9} Gb/s to `hot`", lambda: [3 * 3]),
        Held("but for {8} ms only 2", lambda: [14 - 6]),
    ],
    "cubic-vs-reno": [
        Held("(Jain {0.99} over five seeds", lambda: [means("cubic-vs-reno", "goodput_bps.jain", template__delay="5 ms")]),
    ],
    "dcqcn-victim": [
        Held(
            "gets {a fifth} of what is left of it",
            lambda: [
                mean("dcqcn-victim", "=none", "goodput_bps[the bystander].sum")
                / mean("dcqcn-victim", "=none", "goodput_bps.sum")
                * 2
            ],
        ),
        Held("of it, {4.6} Gb/s", lambda: [mean("dcqcn-victim", "=none", "goodput_bps[the bystander].sum") / 1e9]),
        Held("of its link, {13} Gb/s", lambda: [mean("dcqcn-victim", "=dcqcn", "goodput_bps[the bystander].sum") / 1e9]),
    ],
    "disk-to-disk": [
        Held("pace ({941} Mb/s)", lambda: [el.theory.max_goodput("1 Gbps", timestamps=True) / 1e6]),
        Held(
            "C / (N - W), {5.1} s for 256 MB, {941} and {538} Mb/s",
            lambda: [
                el.theory.cache_full_after("256 MB", el.theory.max_goodput("1 Gbps", timestamps=True), "538 Mbps"),
                el.theory.max_goodput("1 Gbps", timestamps=True) / 1e6,
                mean("disk-to-disk", "window=1 MiB", "copy_bps.sum") / 1e6,
            ],
            0.005,
        ),
        Held("(RAID {5}: {538} Mb/s)", lambda: [5, mean("disk-to-disk", "window=1 MiB", "copy_bps.sum") / 1e6], 0.005),
        Held("hold it at {85} Mb/s", lambda: [mean("disk-to-disk", "window=64 KiB", "copy_bps.sum") / 1e6]),
        Held("(W / RTT: {87})", lambda: [el.theory.socket_buffer_rate("64 KiB", "6.002 ms") / 1e6]),
    ],
    "forbidden-area": [
        Held("Half of what it needs, {2.3} MB", lambda: [622.08e6 * 0.158 / 8 * (1 - 0.62208) / 2 / 1e6]),
        Held("below {16} ms of round trip", lambda: [el.theory.forbidden_rtt_min("1 Gbps", "0.5 MB") * 1e3]),
    ],
    "incast": [
        Held(
            "done after {75} ms instead of {851} ms, with {131} timeouts instead of {35}",
            lambda: [
                mean("incast", f"clients=32, rto_min={rto}", statistic) / unit
                for statistic, unit in (("fct_ns.max", 1e6), ("timeouts.sum", 1))
                for rto in ("1 ms", "200 ms")
            ],
        ),
    ],
    "l4s": [
        Held("holds at {15} ms", lambda: [15]),
        Held("Below about {12} Mb/s", lambda: [(1500 + 38) * 8 / 1e-3 / 1e6]),
    ],
    "load-latency": [
        Held("{0.25} packets at half load and {4} at {90} %", lambda: [el.theory.md1_queue(0.5), el.theory.md1_queue(0.9), 90]),
    ],
    "parking-lot": [
        Held(
            "gets about {a third} of what",
            lambda: [means("parking-lot", "goodput_bps[long].sum") / means("parking-lot", "goodput_bps[cross].mean")],
        ),
        Held(
            "{11} and {35} Mb/s",
            lambda: [means("parking-lot", "goodput_bps[long].sum") / 1e6, means("parking-lot", "goodput_bps[cross].mean") / 1e6],
        ),
        Held("round trip of {80} ms", lambda: [2 * (5 + 3 * 10 + 5)]),
    ],
    "pause-head-of-line": [
        Held("keeps {6.6} Gb/s", lambda: [mean("pause-head-of-line", "=none", "goodput_bps[TCP to the fast receiver].sum") / 1e9]),
    ],
    "qcn-hotspot": [Held("set point of {26} kB", lambda: [26.176])],
    "rtt-fairness": [Held("up to {50} ms", lambda: [run("rtt-fairness").statistic("queue_max_bytes.max") * 8 / 50e6 * 1e3])],
    "sack-processing": [
        Held("{120} ms about", lambda: [2 * 60]),
        Held("about {10 000} segments are in flight", lambda: [1e9 * 0.12 / 8 / 1538], 0.05),
        Held("makes {10 000} duplicate ACKs", lambda: [1e9 * 0.12 / 8 / 1538], 0.05),
        Held("look at all {10 000} segments", lambda: [1e9 * 0.12 / 8 / 1538], 0.05),
        Held("one comes every {12} us", lambda: [wire_time_s(1500, 1e9) * 1e6]),
        Held("busy for {three} seconds", lambda: [mean("sack-processing", "sack=full", "logger_gap_ns.max") / 1e9]),
        Held("not drop {nine} ACKs in ten", lambda: [mean("sack-processing", "sack=full", "host_drops.sum") / 1e3], 0.05),
    ],
    "short-and-fat": [
        Held(
            "{866} kB wait for that port, all {eight} senders",
            lambda: [
                means("short-and-fat", "queue_max_bytes.max", congestion_management__kind="none") / 1e3,
                sum(
                    row["pauses_received"] > 0 for row in run("short-and-fat", congestion_management__kind="none").ports.to_pylist()
                ),
            ],
        ),
        Held("done after {6.9} ms", lambda: [mean("short-and-fat", "kind=none", "fct_ns.max") / 1e6]),
        Held("queue is {250} kB at most", lambda: [means("short-and-fat", "queue_max_bytes.max") / 1e3]),
        Held("(set point {20} kB) nothing", lambda: [managed("set_point", size_bytes) / 1e3]),
        Held(
            "(a cycle is {15} ms or {150} kB)",
            lambda: [managed("cycle_time", seconds) * 1e3, managed("cycle_bytes", size_bytes) / 1e3],
        ),
        Held(
            "set point, {66} kB", lambda: [managed("set_point", size_bytes, congestion_management__preset="hoti-2011-high") / 1e3]
        ),
        Held("slowest answer takes {14} ms", lambda: [mean("short-and-fat", "kind=qcn", "fct_ns.max") / 1e6]),
        Held(
            "it takes {10} ms", lambda: [means("short-and-fat", "fct_ns.max", congestion_management__preset="hoti-2011-high") / 1e6]
        ),
    ],
    "slow-receiver": [
        Held("handles {66 667} packets a second, {82} %", lambda: [1 / 15e-6, 100 * wire_time_s(1500, 1e9) / 15e-6]),
        Held("{40 637} a second in the mean", lambda: [0.5 / wire_time_s(1500, 1e9)]),
        Held(
            "backlog of 300 packets is full ({1 669} packets, {20.5} ms)",
            lambda: [300 / (1 - wire_time_s(1500, 1e9) / 15e-6), 300e3 / (1 / wire_time_s(1500, 1e9) - 1 / 15e-6)],
        ),
        Held("about {366} packets each time", lambda: [300 * 15e-6 / wire_time_s(1500, 1e9)]),
        Held("a plain drop {18} % of", lambda: [100 * (1 - wire_time_s(1500, 1e9) / 15e-6)]),
    ],
    "socket-buffer": [
        Held("64 KiB over 100 ms are {5.2} Mb/s", lambda: [mean("socket-buffer", "=64 KiB", "goodput_bps.sum") / 1e6]),
        Held("to fill 1 Gb/s takes {12.5} MB", lambda: [1e9 * 0.1 / 8 / 1e6]),
    ],
    "tcp-background": [Held("H = {0.9}) offer {20} % of the link", lambda: [(3 - 1.2) / 2, 100 * 20 / 100])],
    "udp-burst": [
        Held(
            "= {566} ({567} here",
            lambda: [
                el.theory.burst_first_lost("1 Gbps", "155.52 Mbps", "0.5 MB", 1046),
                run("udp-burst").statistic("burst_first_lost.min"),
            ],
        ),
        Held("{five} of six are lost", lambda: [6 * run("udp-burst").statistic("loss.max")], 0.01),
    ],
}


def text(name: str) -> str:
    return " ".join(library()[name].notes.look_for.split())


def inputs(name: str) -> str:
    """The file of a scenario without its answer."""
    lines, skip = [], False
    for line in library()[name].path.read_text(encoding="utf-8").splitlines():
        skip = line.startswith("[answer]") or (skip and not line.startswith("["))
        lines += [] if skip else [line]
    return "\n".join(lines)


@pytest.mark.parametrize("name", sorted(library()))
def test_every_number_of_an_answer_is_held(name: str) -> None:
    assert free(text(name), inputs(name), HELD.get(name, [])) == []


DEPTHS = ("0.5", "1", "2", "5", "20")
PAIR = [f"goodput_bps[{one}].sum" for one in ("bbr", "cubic")]


@pytest.mark.parametrize("name", sorted(HELD))
def test_the_numbers_of_an_answer_are_right(name: str) -> None:
    assert [wrong for one in HELD[name] for wrong in one.wrong(text(name))] == []


def test_a_number_agrees_with_what_it_rounds_from() -> None:
    assert agrees("15", 15.49)
    assert not agrees("15", 15.51)
    assert agrees("0.99", 0.9852)
    assert not agrees("0.99", 0.9849)
    assert agrees("1 669", 1669.4)
    assert agrees("fourteen", 13.6)
    assert not agrees("fourteen", 13.4)
    assert agrees("a quarter", 0.28)
    assert not agrees("a quarter", 0.30)
    assert agrees("50", 52.4, 0.05)
    assert not agrees("50", 52.6, 0.05)


def test_what_nothing_holds_is_found() -> None:
    held = [Held("a queue of {26} kB", lambda: [26.2])]
    said = "a queue of 26 kB at 20 Mb/s, for 3 s; 802.3x and RFC 9332 are names"
    assert free(said, 'rate = "20 Mbps"', held) == ["...ueue of 26 kB at 20 Mb/s, for 3 s; 802.3x and RFC 9332 are n..."]
    assert free(said, 'rate = "20 Mbps"\nend = "3 s"', held) == []
    assert held[0].wrong("a queue of 26 kB") == []
    assert held[0].wrong("a queue") == ['the text does not say "a queue of 26 kB"']
    assert Held("a queue of {26} kB", lambda: [27.0]).wrong(said) == ['"a queue of 26 kB": 26 is written, 27 is right']
