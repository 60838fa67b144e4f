"""The words of the pages that tell what a run gave, with the run (`modelled`): `HELD` for every day, `LONG` for the slow tests."""

from __future__ import annotations

import modelled as m
import modelled_l2 as l2
import modelled_l4s as l4s
from held import Held


def _aqm(kind: str, words: str) -> Held:
    return Held(words, lambda: m.aqm(kind))


def _measured(words: str, rate: str, delay: str, both: bool = True, **queue: object) -> Held:
    """The last columns of the measurements: with a target of 0 s, where the page has it, and with the default."""
    runs = [l4s.NO_TARGET, {}] if both else [{}]
    return Held(words, lambda: [l4s.over_cubic(rate, delay, 3, {"template.queue": queue, **one}) for one in runs])


HELD: dict[str, list[Held]] = {
    "models/aqm": [
        _aqm("codel", "| {9.1} ms, link {99.9} % busy |"),
        _aqm("pie", "| `pie` | arrival | delay at 15 ms | off | {15.2} ms, {100} % |"),
        _aqm("pi2", "delay at 15 ms | off | {15.0} ms, {100} % |"),
        _aqm("dualpi2", "| always | {15.2} ms, {100} % |"),
        _aqm("fq_codel", "| on | {5.1} ms, {99.0} % |"),
        _aqm("fq_pie", "| {18.3} ms, {100} % |"),
        _aqm("cake", "| {4.6} ms, {98.0} % |"),
        Held(
            "gets {0.36} of what CUBIC gets at 10 Mb/s, and {0.03} at 4 Mb/s",
            lambda: [l4s.over_cubic(rate, "10 ms", 1, l4s.LINUX_STEP) for rate in ("10 Mbps", "4 Mbps")],
        ),
        Held("At 10 Mb/s a full frame takes {1.2} ms", lambda: [1538 * 8 / 10e6 * 1e3]),
    ],
    "models/bbr": [
        Held(
            "loses {8.8} % of its packets at a bucket of 200 kB and {10.4} % at 1 MB",
            lambda: [m.policed("200 KB"), m.policed("1 MB")],
        ),
        Held("it loses {21.3} and {17.7} %", lambda: [m.policed("200 KB", False), m.policed("1 MB", False)]),
        Held("(20 to 50 kB) gives up its rate by itself within the rounds of the filter: {3} to {4} %", m.shallow),
        Held("lose {8.0} %, {11.3} % without, and shares are less equal (Jain's index {0.72}, {0.76} without)", m.w1_bbr),
    ],
    "models/copa": [
        Held("| {2.9}, {13.2} | {3.1}, {12.3} | {6.4}, {10.8} | {9.2}, {9.7} |", lambda: m.copa("100 Mbps", "1 ms")),
        Held("| {46.3}, {170} | {47.3}, {173} | {70.4}, {133} | {92.7}, {98.0} |", lambda: m.copa("1 Gbps", "10 us")),
        Held("| {90}, {91} | | | |", lambda: m.copa("1 Gbps", "1 ms", 3, 3)),
    ],
    "models/ecm": [
        Held("of {80.7} Gb/s offered", lambda: [10 * 0.85 * 10 * 1460 / 1538]),
        Held(
            "| TCP, ECM | {78.0} Gb/s; with a minimum RTO of 5 ms {80.4} Gb/s |",
            lambda: [l2.gbps("ecm", False), l2.gbps("ecm", False, hosts__C__tcp__rto_min="5 ms")],
        ),
        Held("| TCP, PAUSE alone | all | {1 116} |", lambda: l2.paused("none")[1:]),
        Held("| TCP, ECM & PAUSE | {44} Gb/s | {26 680} |", lambda: l2.paused("ecm")),
        Held("(steps of 33.6 Mb/s at most) | {66} Gb/s | {16 775} |", lambda: l2.paused("q6")),
        Held("the backlog of the start | {2 196} |", lambda: l2.paused("qcn")[1:]),
        Held(
            "({377} packets instead of {174})",
            lambda: [l2.hosts_at_85(kind, False)["drops"] for kind in ("ecm", "none")],
        ),
    ],
    "models/fast-to-slow": [
        Held("# {500846.0}: bytes", m.memory_of_burst, 1e-6),
        Held("# first_lost {567}, lost {37523}, spacing {54.84} us", m.read_burst),
    ],
    "models/lp": [
        Held("| one-way delay, delayed ACKs | {887} Mbit/s | {0.05} |", lambda: m.w1_row("lp")),
        Held("| round-trip times, delayed ACKs | {43} Mbit/s | {0.99} |", lambda: m.w1_row(m.ROUND_TRIP)),
        Held("| one-way delay, an ACK for each segment | {375} Mbit/s | {0.91} |", lambda: m.w1_row("lp", **m.EACH)),
        Held("| round-trip times, an ACK for each segment | {537} Mbit/s | {0.76} |", lambda: m.w1_row(m.ROUND_TRIP, **m.EACH)),
        Held(
            "for each segment {375} Mbit/s in ticks of 1 ms, {106} of 100 us, {541} of 1 us",
            lambda: [m.w1_row("lp", tcp__timestamp_granularity=tick, **m.EACH)[0] for tick in ("1 ms", "100 us", "1 us")],
        ),
        Held("{96} of 100 flows stay there", lambda: [m.at_one_segment()]),
        Held("it gets {0.25} of 20 Mbit/s over 100 ms in 60 s, and {8.4} in", lambda: [m.lone_lp("1 ms"), m.lone_lp("1 us")]),
    ],
    "models/pcp": [
        Held(
            "of 15 ms uses {98} % of that link. {5} KB wait in the mean, and never more than {37.5} KB",
            lambda: [100 * m.pcp(1)[1], m.pcp(1)[2], m.pcp(1)[4]],
        ),
        Held("| 2 | {0.94} | {0.97} | {9} | {40} |", lambda: m.pcp(2)[:4]),
        Held("| 5 | {0.92} | {0.97} | {16} | {172} |", lambda: m.pcp(5)[:4]),
        Held("| 10 | {0.83} | {0.97} | {27} | {660} |", lambda: m.pcp(10)[:4]),
        Held("| 20 | {0.85} | {0.98} | {47} | {1780} |", lambda: m.pcp(20)[:4]),
        Held(
            "has {11} of 40 Mbit/s. Five have {4} each where Reno has {17}. Beside two, one has {7}.",
            lambda: [m.pcp_beside_reno(1, 1)[0], *m.pcp_beside_reno(5, 1), m.pcp_beside_reno(1, 2)[0]],
        ),
    ],
    "models/pfc": [
        Held("lets {1.3} of these 2 Gb/s through, PFC of priority 3 all", lambda: [l2.bystander(l2.PORT_PAUSE)]),
        Held("gets all it offers (with PAUSE {63} %)", lambda: [50 * l2.bystander(l2.PORT_PAUSE)]),
    ],
    "models/qcn": [
        Held("for 300 ms after {91} ms instead of {240}", lambda: [l2.regained("10 ms"), l2.regained("0 s")]),
        Held(
            "is {0.75} to {0.97} (six seeds, `seed-2007`), with `af-qcn` {0.96} to {1}, with `fqcn` {1}.",
            lambda: [*l2.limited_jain("none"), *l2.limited_jain("af-qcn"), l2.limited_jain("fqcn")[0]],
        ),
    ],
    "models/receive": [
        Held(
            "lose {599}, {343}, {643} and {730}",
            lambda: [
                l2.burst_lost(room)
                for room in (
                    [("backlog_full", "drop")],
                    [("backlog_full", "hold")],
                    [("napi", True)],
                    [("backlog_full", "throttle")],
                )
            ],
        ),
    ],
    "models/swift": [
        Held(
            "start at 0, 5 and 10 ms the third gets {9.2} Gb/s, without it {a third}",
            lambda: [l2.swift(True)[2], l2.swift(False)[2] / 10],
        ),
    ],
    "models/timely": [
        Held("are left with {8} Mb/s each. After {69} ms they fill 90 %", l2.timely_start),
        Held("is used to {0.91} to {0.97} (4, 10, 20 and 40 flows). Shares differ (Jain {0.15} to {0.57})", l2.timely),
    ],
    "models/traffic": [
        Held("the largest of n sizes grows as n^{0.83}", lambda: [1 / 1.2]),
        Held("one of 4 B by {3} %", lambda: [100 * (m.rounded_exponential(4) / 4 - 1)]),
    ],
    "models/xcp": [
        Held(
            'They get {6.3} to {9.5} Gb/s, with `queue_time_min = "2 us"` {9.2} to {9.5}',
            lambda: [*l2.xcp_star(None), *l2.xcp_star("2 us")],
        ),
        Held("is more than {97} % used. Less than {2} %", m.xcp_used, 0.03),
    ],
    "conformance": [
        Held("Of {105} mutants {11} do what their class does. Of the other {94} the checks notice {92};", m.mutants),
    ],
}

LONG: dict[str, list[Held]] = {
    "models/dctcp": [
        Held("Here it is {45.1}, {477} and {54.9} Mb/s on the wire (goodput {42.4}, {449.5} and {51.7})", l4s.two_bottlenecks),
    ],
    "models/fair-queueing": [
        Held(
            "| processor sharing | {96.3} | {108.9} | {128.4} | {162.5} | {237.5} | {537.5} |",
            lambda: [m.shared(load) for load in m.LOADS],
        ),
        *(
            Held(words, lambda rtts=rtts: [m.told(load, rtts)[0] for load in m.LOADS])  # type: ignore[misc]
            for rtts, words in (
                (1, "| `queue_rtts = 1` | {99.4} | {111.7} | {131.5} | {164.6} | {238.5} | {510.5} |"),
                (0.5, "| `queue_rtts = 0.5` | {100.4} | {113.5} | {134.7} | {169.7} | {246.5} | {523.7} |"),
                (0, "| `queue_rtts = 0` | {102.6} | {118.7} | {145.9} | {194.3} | {298.6} | {713.3} |"),
            )
        ),
        Held(
            "| {7.4}, {0.6} | {15.7}, {1.6} | {25.4}, {2.7} | {37.1}, {3.3} | {53.8}, {3.3} | {84.4}, {3.6} |",
            lambda: [m.told(load, rtts)[1] for load in m.LOADS for rtts in (1, 0)],
        ),
        Held("| dropped packets | {0} | {0} | {0} | {0} | {0} | {0} |", lambda: [m.told(load)[3] for load in m.LOADS]),
        Held("Queues reach {320} kB", lambda: [max(m.told(load)[2] for load in m.LOADS)]),
        Held(
            "{0.5} to {0.7} % of the packets are dropped. The mean is then {5} to {14} % above",
            m.limited_transfers,
        ),
    ],
    "models/prague": [
        Held("| 4 Mb/s | {0.86} | {0.97} | {1.29} | {1.15} | {1.14} |", lambda: l4s.row("4 Mbps")),
        Held("| 12 Mb/s | {0.75} | {0.91} | {1.23} | {1.16} | {1.04} |", lambda: l4s.row("12 Mbps")),
        Held("| 40 Mb/s | {0.92} | {1.26} | {2.18} | {1.78} | {1.62} |", lambda: l4s.row("40 Mbps")),
        Held("| 120 Mb/s | {1.29} | {1.57} | {2.38} | {1.70} | {1.59} |", lambda: l4s.row("120 Mbps")),
        Held("| 200 Mb/s | {1.25} | {1.70} | {2.43} | {1.63} | {0.95} |", lambda: l4s.row("200 Mbps")),
        Held('With `rtt_target = "0 s"` the ratio is {1.8} to {2.0}', l4s.without_target),
        Held("gets {1.9} to {2.6} times as much from 20 ms and 40 Mb/s on, and {1.1} times as", l4s.beside_reno),
        Held("waited for at most {2.2} ms at 40 Mb/s, {0.8} ms at 100 Mb/s and {0.6} ms at 200 Mb/s", l4s.waits_of_prague),
        Held("Those of CUBIC waited {15} ms in the median where they fill the line, and up to {33} ms", l4s.waits_of_cubic),
        Held("the median is {0.2} ms at 200 Mb/s. At 40 Mb/s it is {1} ms", l4s.median_waits),
        Held(
            "a line of 4 Mb/s gives Prague {0.03} to {0.04} of what CUBIC gets. A line of 12 Mb/s gives it {0.13} to {0.55}",
            l4s.linux_steps,
        ),
        Held("| 4 Mb/s, 20 ms | {0.82} | {20} ms | {1.31} | {21} ms |", lambda: l4s.bbr3_row("4 Mbps", "10 ms")),
        Held("| 40 Mb/s, 5 ms | {2.21} | {3.3} ms | {0.93} | {2.2} ms |", lambda: l4s.bbr3_row("40 Mbps", "2.5 ms")),
        Held("| 40 Mb/s, 20 ms | {1.75} | {4.8} ms | {2.27} | {1.6} ms |", lambda: l4s.bbr3_row("40 Mbps", "10 ms")),
        Held("| 40 Mb/s, 100 ms | {6.39} | {15.7} ms | {1.80} | {1.5} ms |", lambda: l4s.bbr3_row("40 Mbps", "50 ms")),
        Held("| 200 Mb/s, 20 ms | {3.45} | {1.3} ms | {2.33} | {0.3} ms |", lambda: l4s.bbr3_row("200 Mbps", "10 ms")),
        _measured("50 Mb/s, 10 ms | 2.73, 2.61 | {2.61} | {1.32} |", "50 Mbps", "5 ms", kind="dualpi2"),
        _measured("50 Mb/s, 20 ms | 2.17, 2.05 | {2.00} | {2.23} |", "50 Mbps", "10 ms", kind="dualpi2"),
        _measured("50 Mb/s, 80 ms | 1.66, 1.71 | {1.90} | {1.90} |", "50 Mbps", "40 ms", kind="dualpi2"),
        _measured("10 Mb/s, 10 ms | 2.12, 2.13 | {1.19} | {0.81} |", "10 Mbps", "5 ms", kind="dualpi2", preset="rfc9332"),
        _measured("10 Mb/s, 20 ms | 1.81, 1.86 | {1.18} | {1.23} |", "10 Mbps", "10 ms", kind="dualpi2", preset="rfc9332"),
        _measured("10 Mb/s, 80 ms | 1.70, 1.74 | {0.99} | {0.99} |", "10 Mbps", "40 ms", kind="dualpi2", preset="rfc9332"),
        _measured("50 Mb/s, 20 ms | 24, 25 | | {17} |", "50 Mbps", "10 ms", False, kind="fq_codel", flows=1),
        _measured("50 Mb/s, 20 ms | 23, 23 | | {18} |", "50 Mbps", "10 ms", False, kind="pie", ecn=True),
        _measured("50 Mb/s, 20 ms | 1.03, 1.03 | | {1.02} |", "50 Mbps", "10 ms", False, kind="fq_codel"),
        Held("marks a packet that waits for another, gives it {0.02} to {0.55}.", l4s.measured_steps),
        Held("Prague and CUBIC get {23.5} and {23.2} Mb/s", l4s.one_queue_for_all),
        Held("| l4s-use | {99} % | at least 90 % | {99} % | {99} % |", lambda: l4s.score_row("use", 0.01)),
        Held("| l4s-queue | {1.2} ms | at most 2 ms | {1.3} ms | {1.2} ms |", lambda: l4s.score_row("queue", 1e6)),
        Held("40 Mb/s | {5.1} marks a round trip | 0.5 to 8 | {6.5} | {5.1} |", lambda: l4s.score_row("signals")),
        Held("160 Mb/s | {5.8} marks a round trip | 0.5 to 8 | {7.8} | {5.8} |", lambda: l4s.score_row("signals-fast")),
        Held("20 ms to 5 ms | {1.04} | 0.5 to 2 | {0.12} | {1.04} |", lambda: l4s.score_row("round-trips")),
        Held("| l4s-beside-cubic-5 | {0.89} | 0.5 to 2 | {2.9} | {0.89} |", lambda: l4s.score_row("beside-cubic-5")),
        Held("| l4s-beside-cubic-20 | {1.94} | 0.5 to 2 | {1.97} | {1.94} |", lambda: l4s.score_row("beside-cubic-20")),
        Held("| l4s-beside-cubic-100 | {1.63} | 0.5 to 2 | {1.63} | {1.63} |", lambda: l4s.score_row("beside-cubic-100")),
        Held("| {8} % left to CUBIC | at least 10 % | {8} % | {45} % |", lambda: l4s.score_row("at-classic-marks", 0.01)),
        Held("`classic_fallback` gives it {45} %", lambda: l4s.score_row("at-classic-marks", 0.01)[2:]),
    ],
    "models/bbr3": [
        Held("there are {1.8} marks a round trip at 40 Mb/s", lambda: [l4s.scores("bbr3:l4s=true")["signals"]]),
    ],
}
