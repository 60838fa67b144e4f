"""The points of the response functions: which controller at which loss rate, over how long a run, against which closed form.

A run lasts as many loss events as are asked for, so its duration follows from the window that is expected; it begins at
that window, so that slow start, which would overshoot by orders of magnitude, is not part of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from elephan.experiment.study import Point
from elephan.theory import closed as theory

MSS = 1448  # 1500 bytes less 40 of headers and 12 of timestamps


@dataclass(frozen=True)
class Controller:
    """A controller of the response functions: how it is set, the round trip that it is run at, and how it settles."""

    name: str
    congestion_control: Any
    rtt_s: float
    settle: int = 10  # loss events before the window repeats under periodic loss
    words: str = ""

    def window(self, p: float, mode: str = "periodic") -> float:
        """The closed form (or, for htcp and bic, the numerical one) under this kind of loss: mean window in segments."""
        if mode == "bernoulli" and self.name != "bic":
            more = {"htcp": HTCP, "griddt": GRIDDT}.get(self.name, {})
            return theory.response(self.name, p, self.rtt_s, loss="random", **more)
        if self.name == "scalable":
            # ln(1/(1-b)) / a round trips of growth and one of recovery an event; Reno below a window of 16
            return max(1 / p / (-math.log1p(-0.125) / 0.01 + 1), theory.response("reno", p))
        if self.name == "griddt":
            return theory.response("griddt", p, **GRIDDT)
        if self.name == "bic":
            return max(_bic_by_rounds(p), theory.response("reno", p))
        if self.name == "htcp":
            return theory.response("htcp", p, self.rtt_s, **HTCP)
        return theory.response(self.name, p, self.rtt_s)


HTCP: dict[str, Any] = {"adaptive_backoff": False, "rtt_scaling": False}
GRIDDT: dict[str, Any] = {"a": 4.0, "b": 0.125}  # four streams in one (MulTCP): A = n, B = 1 / (2n)

# Window-based controllers do not see the round trip, so theirs is short; those that go by the clock keep 100 ms. Cubic with fast
# convergence off (with it periodic loss does not settle for hundreds of events; without it the window still
# falls by half a percent in ten events after a hundred).
CONTROLLERS = (
    Controller("reno", "reno", 0.01, words="1.2247/√p"),
    Controller("highspeed", "highspeed", 0.01, words="0.12/p^0.835"),
    Controller("scalable", "scalable", 0.01, settle=30, words="0.0697/p"),
    Controller("htcp", {"kind": "htcp", **HTCP}, 0.1, words="numerical, 100 ms"),
    Controller("griddt", {"kind": "griddt", **GRIDDT}, 0.01, words="5.477/√p for A = 4, B = 1/8"),
    Controller("bic", {"kind": "bic", "fast_convergence": False}, 0.01, settle=30, words="numerical"),
    Controller("cubic", {"kind": "cubic", "fast_convergence": False}, 0.1, settle=200, words="1.054 (R/p)^0.75, 100 ms"),
)
# a run at 1e-7 takes as many packets whatever the controller; these two are made for it
RAREST = ("highspeed", "scalable")
BY_NAME = {controller.name: controller for controller in CONTROLLERS}

# one packet in so many; the label is the loss rate
PERIODIC = {
    "1e-2": 100, "3e-3": 333, "1e-3": 1000, "3e-4": 3333, "1e-4": 10_000, "3e-5": 33_333, "1e-5": 100_000,
    "3e-6": 333_333, "1e-6": 1_000_000, "1e-7": 10_000_000,
}  # fmt: skip
BERNOULLI = {"1e-2": 100, "3e-3": 333, "1e-3": 1000, "3e-4": 3333, "1e-4": 10_000, "3e-5": 33_333, "1e-5": 100_000}


def _bic_cycle(top: float) -> tuple[float, float]:
    """Packets and round trips from 7/8 of `top` back to it: half the distance a round trip, 0.01 to 32 segments."""
    window, packets, rounds = 0.875 * top, 0.0, 0.0
    steps = max(0, math.ceil((top - window - 64) / 32))  # of 32 segments, summed at once
    packets, rounds = steps * window + 16 * steps * (steps - 1), float(steps)
    window += 32 * steps
    while top - window > 1e-9:
        packets, rounds = packets + window, rounds + 1
        window += min(max((top - window) / 2, 0.01), 32, top - window)
    return packets, rounds


def _bic_by_rounds(p: float) -> float:
    """BIC's mean window with one step a round trip, which the claims were written down for before the first run.

    `theory.response` has the congestion control as it is built, with a step at every ACK: 0.75 (p = 3e-4) to 0.97 (1e-6) of this.
    """
    low, high = 1.0, 2 / p
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _bic_cycle(middle)[0] < 1 / p else (low, middle)
    packets, rounds = _bic_cycle(low)
    return packets / rounds


def _ms(seconds: float) -> str:
    return f"{max(seconds * 1e3, 1):.3f} ms"


def _point(controller: Controller, label: str, every: int, loss: dict[str, Any], settle: int, events: int) -> Point:
    p = 1 / every
    window = controller.window(p)
    epoch_s = every / window * controller.rtt_s
    changes = {
        "traffic.flow.congestion_control": controller.congestion_control,
        "traffic.flow.tcp.ssthresh_initial": f"{round(window * MSS)} B",
        "links[0].delay": f"{controller.rtt_s * 500:g} ms",
        "links[0].forward.loss": loss,
        "warmup": _ms(settle * epoch_s),
        "duration": _ms((settle + events) * epoch_s),
    }
    return Point(f"{controller.name} {label}", changes, p)


def periodic() -> Iterator[Point]:
    """Every N-th new segment is lost; 30 events after the window has settled."""
    for controller in CONTROLLERS:
        for label, every in PERIODIC.items():
            if label == "1e-7" and controller.name not in RAREST:
                continue
            yield _point(controller, label, every, {"periodic": every}, controller.settle, 30)


def bernoulli() -> Iterator[Point]:
    """Each segment is lost with probability p; 200 events after 10."""
    for controller in CONTROLLERS:
        for label, every in BERNOULLI.items():
            yield _point(controller, label, every, {"bernoulli": 1 / every}, 10, 200)
