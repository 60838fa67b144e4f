"""What an ACK says is enough for a controller that is stepped by hand: `begin` only says it earlier."""

from __future__ import annotations

from typing import Any

import elephan as el
import pytest

MSS = 1000
RTT_S = 0.005
TCP = [
    *("reno", "cubic", "highspeed", "scalable", "griddt", "bic", "hybla", "htcp", "westwood", "vegas", "veno", "illinois"),
    *("yeah", "compound", "dctcp", "prague", "bbr", "bbr3", "ledbat", "fast", "swift", "lp", "copa"),
]


def stepped(name: str, begins: bool) -> tuple[float, float, float | None]:
    """Returns window, threshold and pacing rate after 40 round trips of 20 segments, the first half of them in slow start."""
    controller: Any = el.cc.new(name, MSS, 10.0)
    if begins:
        controller.begin(0.0, rtt=RTT_S)
    now = 0.0
    for round_trip in range(40):
        if round_trip == 20:
            controller.on_loss(now, MSS, 20 * MSS)
        for _ in range(20):
            now += RTT_S / 20
            controller.on_ack(now, MSS, RTT_S, 20 * MSS, rate=20 * MSS * 8 / RTT_S, one_way=RTT_S / 2)
    return controller.cwnd, controller.ssthresh, controller.pacing_rate


@pytest.mark.parametrize("name", TCP)
def test_begin_says_nothing_that_the_acks_do_not(name: str) -> None:
    assert stepped(name, begins=False) == stepped(name, begins=True)


def test_prague_grows_by_the_round_trip_of_its_acks() -> None:
    """draft-briscoe-iccrg-prague-congestion-control section 2.4.4: (5 / 25)^2 of a segment a round trip past the transition."""
    controller: Any = el.cc.new("prague", MSS, 20.0)
    controller.poke(ssthresh=20.0 * MSS, rounds=10)
    controller.on_ack(1.0, 20 * MSS, RTT_S, 20 * MSS)
    assert controller.cwnd == pytest.approx(20.04 * MSS, rel=1e-9)
    assert controller.pacing_rate == pytest.approx(20.04 * MSS * 8 / RTT_S, rel=1e-9)
