"""Closed forms for one path: what can be said before anything is simulated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import size_bytes
from elephan.experiment.path.question import Question
from elephan.scenario.congestion import Controller
from elephan.theory import closed as theory

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Form:
    """A figure that follows from an equation."""

    name: str
    value: float
    unit: str
    about: str
    equation: str

    def as_dict(self) -> dict[str, Any]:
        value = self.value if math.isfinite(self.value) else None
        return {"name": self.name, "value": value, "unit": self.unit, "about": self.about, "equation": self.equation}


@dataclass(frozen=True)
class Bounds:
    """What path, hosts and sockets allow, all streams together. `wire_bps`: goodput that fills the slower of path and device."""

    wire_bps: float
    mss_bytes: int
    window_bytes: int  # the smaller of receive window and send buffer, of one stream
    window_is: str  # which one it is
    initial_window: int
    timestamps: bool
    rtt_s: float
    wire_is: str = "wire"  # what is slower: the path, the NIC or its pacing
    disk_bps: float = math.inf  # the slower of reading and writing, in payload
    disk_is: str = ""
    repairs_at_once: bool = True  # many losses of one window within about a round trip: SACK without rate halving
    reno_step: float = 1.0  # segments a round trip: a half where delayed ACKs are counted, not bytes (RFC 2581 equation 2)
    growth: float = 2.0  # of the window in a round trip of slow start

    @property
    def top_bps(self) -> float:
        """Goodput that neither wire nor disks let pass."""
        return min(self.wire_bps, self.disk_bps)

    def window_bps(self, streams: int) -> float:
        """Goodput that the windows of all streams allow: W / RTT each."""
        return streams * self.window_bytes * 8 / self.rtt_s

    @property
    def bdp_bytes(self) -> float:
        """Payload in flight that fills the wire."""
        return self.wire_bps * self.rtt_s / 8


def bounds(question: Question, tcp: Mapping[str, Any]) -> Bounds:
    """The bounds of a question, with the TCP options of the hosts as resolved."""
    timestamps = bool(tcp["timestamps"])
    receive, send = size_bytes(tcp["receive_window"]), size_bytes(tcp["send_buffer"])
    if not tcp["window_scaling"]:
        receive = min(receive, 65_535)  # RFC 9293: a field of 16 bits
    mss = question.mtu_bytes - theory.TCP_IP_HEADER_BYTES - (theory.TIMESTAMP_OPTION_BYTES if timestamps else 0)
    wire = (
        "wire" if question.device_bps >= question.rate_bps else "NIC" if question.device_bps == question.host_rate_bps else "pacing"
    )
    disks = {"disk (reading)": question.disk_read_bps, "disk (writing)": question.disk_write_bps}
    slowest = min(disks, key=lambda which: disks[which] or math.inf)
    return Bounds(
        wire_is=wire,
        disk_bps=disks[slowest] or math.inf,
        disk_is=slowest if disks[slowest] else "",
        wire_bps=theory.max_goodput(question.narrow_bps, question.mtu_bytes, timestamps),
        mss_bytes=mss,
        window_bytes=int(min(receive, send)),
        window_is="receive window" if receive <= send else "send buffer",
        initial_window=int(tcp["initial_window"]),
        timestamps=timestamps,
        rtt_s=question.rtt_s,
        repairs_at_once=bool(tcp["sack"]) and tcp["reduction"] != "rate-halving",
        reno_step=0.5 if not tcp["abc"] and tcp["delayed_ack_segments"] > 1 else 1.0,
        growth=slow_start_growth(tcp),
    )


def slow_start_growth(tcp: Mapping[str, Any]) -> float:
    """Growth of the window in a round trip of slow start: 1 + min(L, d) / d, with d segments to a delayed ACK, which may count
    for L of them: 1, or with byte counting (RFC 3465) `abc_limit`, 0 being no limit."""
    together = max(1, int(tcp["delayed_ack_segments"]))
    most = (tcp["abc_limit"] or math.inf) if tcp["abc"] else 1
    return 1 + min(most, together) / together


def responses_bps(controller: Controller, loss: Array, limits: Bounds) -> Array | None:
    """Goodput of one stream at each probability of `loss` by the controller's response function; None without a closed form."""
    if not controller.plain:
        return None
    try:
        # BIC has a form for periodic loss only.
        window = theory.response(controller.kind, loss, limits.rtt_s, loss="periodic" if controller.kind == "bic" else "random")
    except ValueError:
        return None
    # Halved at a loss and growing by `a` segments a round trip the mean window goes with sqrt(a / p).
    counted = math.sqrt(limits.reno_step) if controller.kind == "reno" else 1.0
    return counted * window * limits.mss_bytes * 8 / limits.rtt_s


def response_bps(controller: Controller, question: Question, limits: Bounds, streams: int) -> float:
    """Goodput of all streams at the path's loss; NaN without loss or without a closed form."""
    found = responses_bps(controller, np.array([question.loss]), limits) if question.loss else None
    return math.nan if found is None else streams * float(found[0])


def expected_bps(controller: Controller, question: Question, limits: Bounds, streams: int) -> float:
    """Goodput by the closed forms alone: the least of wire, disks, windows and response function."""
    loss = response_bps(controller, question, limits, streams)
    return min(limits.top_bps, limits.window_bps(streams), math.inf if math.isnan(loss) else loss)


def slow_start_rtts(limits: Bounds) -> float:
    """Round trips of slow start until the window fills the path."""
    return max(0.0, math.log(limits.bdp_bytes / limits.mss_bytes / limits.initial_window, limits.growth))


def reno_share(buffer_share: float, beta: float = 0.5) -> float:
    """Share of the wire that Reno uses in its steady sawtooth, with a buffer of `buffer_share` BDPs and no other loss.

    The window goes from beta (1 + b) to 1 + b BDPs by one segment a round trip; below one BDP the rate is W / RTT,
    above it the wire's, with a round trip that grows. b = 0: 0.75; b = 1: 1.
    """
    top = 1 + buffer_share
    bottom = beta * top
    if bottom >= 1:
        return 1.0
    below, above = (1 - bottom * bottom) / 2, buffer_share * (1 + buffer_share / 2)
    return (below + above) / ((1 - bottom) + above)


def reno_way_back(window: float, waiting: float, step: float = 1.0) -> float:
    """Round trips until Reno fills the path again after one loss: `max(0, W - (W + Q) / 2) / a`.

    `window`: W segments fill the path; `waiting`: Q more wait at the bottleneck when the packet is lost, so that W + Q are halved;
    `step`: a segments are added a round trip. A packet that the path loses may find nothing waiting, W / 2a; one that a full
    buffer B drops leaves (W - B) / 2a, nothing if the buffer holds a whole W.
    """
    return max(0.0, window - (window + waiting) / 2) / step


def queue_bytes(question: Question) -> float:
    """Bytes that may wait in front of the slower of path and device."""
    if question.device_bps > question.rate_bps:
        return float(question.buffer_bytes)
    return question.room_packets * (question.mtu_bytes + theory.ETHERNET_OVERHEAD_BYTES)


def start_queue(question: Question, limits: Bounds) -> float:
    """Packets that wait in the sender when slow start has filled the path."""
    segments = limits.bdp_bytes / limits.mss_bytes
    return theory.txqueuelen_needed(segments, limits.growth, question.device_bps, question.narrow_bps)


def host_queue(question: Question, limits: Bounds) -> float:
    """Packets that the sender's queue must hold. At a device no faster than the path slow start goes on until its room Q is full,
    and half of W + Q in flight fills the path from Q = W on; a faster one leaves the queue to the path."""
    if question.device_bps <= question.rate_bps:
        return limits.bdp_bytes / limits.mss_bytes
    return start_queue(question, limits)


def _reno_forms(question: Question, limits: Bounds) -> list[Form]:
    """What Reno makes of the path: its way back, the loss that it bears, its sawtooth."""
    segments, step = limits.bdp_bytes / limits.mss_bytes, limits.reno_step
    held = queue_bytes(question) / theory.bdp(question.narrow_bps, question.rtt_s)  # BDPs
    alone, full = (reno_way_back(segments, waiting, step) * question.rtt_s for waiting in (0.0, held * segments))
    way, after = "Reno's way back to a full wire after one loss", f"max(0, BDP - B) / {2 * step:g} round trips"
    lost = 1.5 * step / segments**2
    return [
        Form("reno_recovery", alone, "s", f"{way} of the path with an empty buffer", f"BDP / {2 * step:g} round trips"),
        Form("reno_recovery_full", full, "s", f"{way} by the full buffer", after),
        Form("loss_reno", lost, "1", "loss at which Reno just fills the wire", f"{1.5 * step:g} / window^2"),
        Form("reno_share", reno_share(held), "%", "share of the wire in Reno's steady sawtooth with this buffer", "fluid model"),
    ]


def closed_forms(question: Question, limits: Bounds) -> list[Form]:
    """The figures of a path that need no simulation."""
    rate, rtt, size = question.rate_bps, question.rtt_s, question.size_bytes
    wire, segments = limits.wire_bps, limits.bdp_bytes / limits.mss_bytes
    growth = limits.growth
    memory = theory.memory_needed(question.device_bps, rate, rtt)
    waiting = host_queue(question, limits)
    start = slow_start_rtts(limits) * rtt
    window = limits.window_bps(1)
    rows: list[tuple[str, float, str, str, str]] = [
        ("bdp", theory.bdp(rate, rtt), "bytes", "bandwidth-delay product: bytes in flight that fill the wire", "rate RTT"),
        ("window", segments, "segments", "the same in segments of payload", "goodput RTT / MSS"),
        ("goodput_max", wire, "bps", "most goodput of the wire", "rate (MTU - headers) / (MTU + 38 B)"),
        ("time_wire", size * 8 / wire + 1.5 * rtt, "s", "the transfer if the wire were always full", "1.5 RTT + size / goodput"),
        ("window_limit", window, "bps", f"what the {limits.window_is} allows one stream", "window / RTT"),
        ("slow_start", start, "s", "slow start until the wire is full", f"RTT log{growth:.4g}(BDP / IW)"),
        ("buffer_needed", memory, "bytes", "buffer that a window sent back to back needs", "(f - s) / f s RTT"),
    ]
    forms = [Form(*row) for row in rows] + _reno_forms(question, limits)
    if waiting > 0:
        about, equation = "that slow start leaves waiting in the sender, in qdisc and ring", f"W (1 - f / ({growth:.4g} s))"
        if question.device_bps <= rate:
            about, equation = "that the sender's qdisc and ring must hold: when they are full, half of all must fill the path", "W"
        forms.append(Form("host_queue", waiting, "packets", about, equation))
    if question.room_packets < start_queue(question, limits):
        step = limits.reno_step
        stalled = theory.stalled_goodput(question.room_packets, rtt, 60.0, limits.mss_bytes, growth, step)
        about = f"Reno in the minute after the sender's {question.room_packets:.0f} packets of queue are full, at least"
        forms.append(
            Form(
                "stalled_low",
                min(stalled[0], wire),
                "bps",
                about,
                f"({growth / (growth - 1) / 2:.4g} Q + T / ({2 / step:g} RTT)) MSS / RTT",
            )
        )
    if limits.disk_is:
        forms.append(
            Form(
                "time_disk",
                size * 8 / limits.disk_bps + 1.5 * rtt,
                "s",
                f"the transfer if only the {limits.disk_is} counts",
                "size / rate",
            )
        )
    area = theory.forbidden_area(question.device_bps, question.buffer_bytes, rtt)
    if area is not None:
        about = "rate of a path at which this buffer loses part of a full window"
        forms.append(Form("forbidden_low", area[0], "bps", f"lowest {about}", "s^2 - f s + f M / RTT = 0"))
        forms.append(Form("forbidden_high", area[1], "bps", f"highest {about}", "s^2 - f s + f M / RTT = 0"))
    for controller in question.controllers:
        goodput = response_bps(controller, question, limits, 1)
        if not math.isnan(goodput):
            about = f"{controller.label} at this loss, one stream, if nothing else limits"
            forms.append(Form(f"response_{controller.label}", goodput, "bps", about, "response function"))
    return forms
