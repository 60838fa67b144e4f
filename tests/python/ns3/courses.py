"""What is compared: courses by name, with the same parameters spelled out for both sides.

`tolerance` is the share by which the mean queue (of a load that does not respond) or the mean window (of TCP) may differ; None
where the two differ for a reason that docs/ns3.md gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Course:
    """A bottleneck, its queue and what is sent: `controller`, `queue`, `tcp` are elephan's, `disc` and `settings` ns-3's."""

    queue: dict[str, Any]
    disc: str
    settings: dict[str, Any]
    controller: dict[str, Any] = field(default_factory=lambda: {"kind": "reno", "preset": "linux"})
    peer_controller: str = "TcpLinuxReno"
    tcp: dict[str, Any] = field(default_factory=dict)
    rate_bps: float = 20e6
    delay_s: float = 0.05
    duration_s: float = 220
    warmup_s: float = 20
    flows: int = 1
    udp_bps: float = 0
    poisson: bool = False
    every_s: float = 0.05
    seeds: int = 1
    tolerance: float | None = 0.03


def fifo(packets: int) -> Course:
    return Course({"kind": "fifo", "limit": f"{packets} packets"}, "Fifo", {"FifoQueueDisc::MaxSize": f"{packets}p"})


RED = Course(
    {
        "kind": "red",
        "limit": "300 packets",
        "min": "20 packets",
        "max": "60 packets",
        "probability": 0.1,
        "weight": 0.002,
        "avpkt": "1502 B",
        "gentle": True,
    },
    "Red",
    {
        "RedQueueDisc::MaxSize": "300p",
        "RedQueueDisc::MinTh": 20,
        "RedQueueDisc::MaxTh": 60,
        "RedQueueDisc::LInterm": 10,
        "RedQueueDisc::QW": 0.002,
        "RedQueueDisc::Gentle": "true",
        # The gap that ns-2 keeps between two drops is not in the paper.
        "RedQueueDisc::Wait": "false",
        "RedQueueDisc::MeanPktSize": 1502,
        "RedQueueDisc::LinkBandwidth": "20Mbps",
    },
)
CODEL = Course(
    {"kind": "codel", "limit": "1000 packets", "target": "5 ms", "interval": "100 ms"},
    "CoDel",
    {"CoDelQueueDisc::MaxSize": "1000p", "CoDelQueueDisc::Target": "5ms", "CoDelQueueDisc::Interval": "100ms"},
)
PIE = Course(
    {"kind": "pie", "limit": "1000 packets", "target": "15 ms", "tupdate": "15 ms", "alpha": 2, "beta": 20},
    "Pie",
    {
        "PieQueueDisc::MaxSize": "1000p",
        "PieQueueDisc::A": 0.125,
        "PieQueueDisc::B": 1.25,
        "PieQueueDisc::UseDerandomization": "true",
    },
)
FQ_CODEL = Course(
    {"kind": "fq_codel", "limit": "10240 packets", "quantum": "1514 B", "flows": 1024, "ecn": False},
    "FqCoDel",
    {"FqCoDelQueueDisc::MaxSize": "10240p", "FqCoDelQueueDisc::Flows": 1024, "FqCoDelQueueDisc::UseEcn": "false"},
)
FQ_PIE = Course(
    {"kind": "fq_pie", "limit": "10240 packets", "quantum": "1514 B", "flows": 1024},
    "FqPie",
    {"FqPieQueueDisc::MaxSize": "10240p", "FqPieQueueDisc::UseDerandomization": "true", "FqPieQueueDisc::UseEcn": "false"},
)
CAKE = Course(
    {"kind": "cake", "rtt": "100 ms"},
    "FqCobalt",
    {
        "FqCobaltQueueDisc::EnableSetAssociativeHash": "true",
        "FqCobaltQueueDisc::UseEcn": "false",
        # BLUE that a long wait sets off is ns-3's own.
        "FqCobaltQueueDisc::BlueThreshold": "1000s",
    },
)


def load(course: Course, share: float, **other: Any) -> Course:
    """A load that does not respond, as a share of the link."""
    return replace(course, udp_bps=share * course.rate_bps, delay_s=0.02, duration_s=120, **other)


def settled(course: Course, packets: int, **other: Any) -> Course:
    """TCP whose slow start ends at this window, so that nothing of its overshoot is left to be measured."""
    tcp = course.tcp | {"ssthresh_initial": f"{packets * 1448} B"}
    settings = course.settings | {"TcpSocket::InitialSlowStartThreshold": packets * 1448}
    return replace(course, tcp=tcp, settings=settings, **other)


def marking(course: Course, **other: Any) -> Course:
    """The same with packets marked instead of dropped."""
    name = f"{course.disc}QueueDisc::UseEcn"
    queue = course.queue if course.disc == "FqCobalt" else course.queue | {"ecn": True}
    settings = course.settings | {name: "true", "TcpSocketBase::UseEcn": "On"}
    if course.disc == "Red":
        settings["RedQueueDisc::UseHardDrop"] = "false"
    return replace(course, queue=queue, settings=settings, tcp=course.tcp | {"ecn": "classic"}, **other)


def controller(
    ours: str, peer: str, *, of: dict[str, Any] | None = None, peers: dict[str, Any] | None = None, **other: Any
) -> Course:
    """A congestion control alone at a FIFO of one bandwidth-delay product."""
    course = settled(fifo(166), 166, controller={"kind": ours, **(of or {})}, peer_controller=peer, **other)
    return replace(course, settings=course.settings | (peers or {}))


def small(course: Course, **other: Any) -> Course:
    """On a shorter path: ns-3's controllers that grow by whole bytes an ACK lose little there."""
    settings = course.settings | fifo(66).settings | {"TcpSocket::InitialSlowStartThreshold": 66 * 1448}
    tcp = course.tcp | {"ssthresh_initial": f"{66 * 1448} B", "abc": False}
    return replace(course, queue=fifo(66).queue, settings=settings, tcp=tcp, delay_s=0.02, **other)


# ns-3 marks what finds 20 packets or more, elephan what finds more than `mark_above`.
STEP = Course(
    {"kind": "fifo", "limit": "1000 packets", "mark_above": "19 packets"},
    "Red",
    {
        "RedQueueDisc::MaxSize": "1000p",
        "RedQueueDisc::MinTh": 20,
        "RedQueueDisc::MaxTh": 20,
        "RedQueueDisc::QW": 1,
        "RedQueueDisc::Gentle": "false",
        "RedQueueDisc::UseEcn": "true",
        "RedQueueDisc::UseHardDrop": "false",
        "TcpSocketBase::UseEcn": "On",
    },
    controller={"kind": "dctcp"},
    peer_controller="TcpDctcp",
    tcp={"ecn": "dctcp"},
    delay_s=0.02,
)

LOADS = {
    "fifo, 0.9, Poisson": load(fifo(100), 0.9, poisson=True, seeds=8, tolerance=0.05),
    "fifo, 1.05": load(fifo(100), 1.05, tolerance=0.01),
    "red, 1.05": load(RED, 1.05, seeds=3, tolerance=0.02),
    "red, 1.3": load(RED, 1.3, seeds=3),
    "adaptive red, 1.05": load(
        replace(RED, queue=RED.queue | {"adaptive": True}, settings=RED.settings | {"RedQueueDisc::AdaptMaxP": "true"}),
        1.05,
        seeds=3,
        tolerance=0.02,
    ),
    "codel, 1.05": load(CODEL, 1.05, tolerance=0.08),
    "codel, 1.3": load(CODEL, 1.3, tolerance=0.01),
    "pie, 1.05": load(PIE, 1.05, seeds=3, tolerance=0.01),
    "pie, 1.3": load(PIE, 1.3, seeds=3, tolerance=0.01),
    "fq_codel, 1.05": load(FQ_CODEL, 1.05, tolerance=0.08),
    "fq_codel, 1.3": load(FQ_CODEL, 1.3, tolerance=0.02),
    "fq_pie, 1.05": load(FQ_PIE, 1.05, seeds=3, tolerance=0.01),
    "fq_pie, 1.3": load(FQ_PIE, 1.3, seeds=3, tolerance=0.01),
    "cake, 1.05": load(CAKE, 1.05, tolerance=0.01),
    "cake, 1.3": load(CAKE, 1.3, tolerance=0.01),
}
QUEUES = {
    "reno, codel": settled(CODEL, 166, tolerance=0.02),
    "reno, codel, ecn": settled(marking(CODEL), 166, tolerance=0.02),
    "reno, pie": settled(PIE, 166, seeds=3),
    "reno, red": settled(RED, 166, seeds=3, tolerance=None),
    "reno, red, ecn": settled(marking(RED), 166, seeds=3, tolerance=None),
    "reno, fq_codel, ecn": settled(marking(FQ_CODEL), 166, tolerance=0.02),
    "reno, cake": settled(CAKE, 166, tolerance=0.02),
    "reno, cake, ecn": settled(marking(CAKE), 166, tolerance=0.02),
    "four renos, codel": settled(CODEL, 166, flows=4, tolerance=0.05),
    "four renos, fq_codel, ecn": settled(marking(FQ_CODEL), 166, flows=4, tolerance=None),
    "four renos, cake, ecn": settled(marking(CAKE), 166, flows=4, tolerance=0.05),
    "four renos, pie, ecn": settled(marking(PIE), 166, flows=4, tolerance=None),
}
CONTROLLERS = {
    "reno": controller("reno", "TcpLinuxReno", of={"preset": "linux"}, tolerance=0.02),
    "reno, by ACKs": small(controller("reno", "TcpNewReno"), tolerance=0.02),
    "cubic": controller("cubic", "TcpCubic", peers={"TcpCubic::HyStart": "false"}),
    "highspeed": controller("highspeed", "TcpHighSpeed"),
    "scalable": controller("scalable", "TcpScalable", of={"preset": "linux-2.6"}),
    "bic": controller(
        "bic",
        "TcpBic",
        of={"preset": "linux", "fast_convergence": False},
        peers={"TcpBic::FastConvergence": "false", "TcpBic::SmoothPart": 20},
    ),
    "westwood": small(controller("westwood", "TcpWestwood", peers={"TcpWestwood::ProtocolType": "WestwoodPlus"})),
    "vegas": controller("vegas", "TcpVegas", tolerance=0.02),
    "veno": small(controller("veno", "TcpVeno"), tolerance=None),
    "hybla": controller("hybla", "TcpHybla", of={"rtt0": "50 ms"}, peers={"TcpHybla::RRTT": "50ms"}, tolerance=0.02),
    "dctcp": settled(STEP, 66),
    "bbr": replace(fifo(100), controller={"kind": "bbr"}, peer_controller="TcpBbr", delay_s=0.02),
    "htcp": controller("htcp", "TcpHtcp", tolerance=None),
    "illinois": controller("illinois", "TcpIllinois", tolerance=None),
    "yeah": controller("yeah", "TcpYeah", tolerance=0.02),
    "ledbat": controller("ledbat", "TcpLedbat", of={"target": "60 ms"}, peers={"TcpLedbat::TargetDelay": "60ms"}, tolerance=None),
    "lp": controller("lp", "TcpLp", tolerance=None),
}
COURSES = LOADS | QUEUES | CONTROLLERS
