"""Offered loads and how long they run, and the parameters of PCP that the paper does not say."""

from __future__ import annotations

from typing import Any

from elephan.study import Point

RATE_BPS = 40e6
PACKET_BYTES = 1250
PACKETS = 200
SERVICE_S = PACKETS * PACKET_BYTES * 8 / RATE_BPS  # 50 ms: a transfer alone on the bottleneck
RTT_S = 0.025
LOADS = (0.15, 0.30, 0.45, 0.60, 0.75, 0.90)
PAIRS = 100
FILLING = 3 * PAIRS  # transfers before measuring: three of each pair, so that every history is filled
MEASURED = 2200  # transfers expected in the measured time; 2000 then complete in all but one of 10^5 runs

PCP = "traffic.transfers.congestion_control"


def per_second(load: float) -> float:
    """Arrivals a second that offer this share of the bottleneck."""
    return load / SERVICE_S


def loads() -> list[Point]:
    """The loads of figure 4: a run lasts as long as its transfers need."""
    found = []
    for load in LOADS:
        rate = per_second(load)
        warmup_s = FILLING / rate
        overrides = {
            "traffic.transfers.arrivals_per_s": round(rate, 9),
            "warmup": f"{warmup_s:.3f} s",
            "duration": f"{warmup_s + MEASURED / rate:.3f} s",
        }
        found.append(Point(f"{100 * load:.0f} %", overrides, load))
    return found
