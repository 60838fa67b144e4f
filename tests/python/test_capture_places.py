"""What captures at three places tell of the limits of a transfer is what its sender counted, where the place can know it."""

from __future__ import annotations

from pathlib import Path

import capture_places
import pytest

POINTS = 0.05
UNKNOWN_MAX = 0.1
# What no capture there can know, and why.
BEYOND = {
    ("send buffer of 64 KB", "sender"): "a full send buffer looks like a congestion window",
    ("send buffer of 64 KB", "middle"): "a full send buffer looks like a congestion window",
    ("send buffer of 64 KB", "receiver"): "a full send buffer looks like a congestion window",
    ("20 KB each 50 ms, bbr", "sender"): "pacing looks like a congestion window",
}
FAST = ("cubic, queue of 1 bdp", "receive buffer of 128 KB", "a reader of 2 Mb/s", "20 KB each 50 ms", "an outage of 3 s")


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in capture_places.SCENARIOS]
)
def test_shares_are_those_that_the_sender_counted(name: str, tmp_path: Path) -> None:
    counted, told = capture_places.measured(name, tmp_path)
    assert set(told) == set(capture_places.PLACES)
    for place, shares in told.items():
        assert shares.window == pytest.approx(counted.window, abs=POINTS), place
        assert shares.application <= counted.application + POINTS, place
        assert shares.unknown <= UNKNOWN_MAX, place
        knows = abs(shares.application - counted.application) <= POINTS
        assert knows != ((name, place) in BEYOND), place


def test_there_are_forty_and_what_is_beyond_a_place_is_among_them() -> None:
    assert len(capture_places.SCENARIOS) == 40
    assert {name for name, _ in BEYOND} | set(FAST) <= set(capture_places.SCENARIOS)


@pytest.mark.slow
def test_the_table_of_the_page_is_what_comes_out() -> None:
    text = capture_places.PAGE.read_text(encoding="utf-8")
    assert capture_places.table() in text
