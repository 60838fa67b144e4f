"""`elephan path` against its own simulator, over a grid of paths: the whole simulation lies in the range of every estimate."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import elephan as el
import numpy as np
import pytest
from elephan.experiment.path.forms import bounds
from elephan.experiment.path.question import read_question
from elephan.experiment.path.row import Row, row_of
from elephan.experiment.path.simulate import Ask, cases, simulate_all, tcp_options
from elephan.experiment.pool import How
from elephan.scenario import core

PACKETS = 3_000_000  # of data in a transfer; a third of them is simulated at first
CONTROLLERS = ("reno", "cubic", "bbr")


@dataclass(frozen=True)
class Path:
    rate: str
    rtt: str
    buffer: str
    loss: float
    stack: str
    streams: int
    window: str | None = None


# Rates from 1 Mb/s to 100 Gb/s, 1 to 300 ms, 0.01 to 2 bandwidth-delay products, loss 0 to 1e-4, both stacks, 1 to 16 streams. Slow
# start or timeouts never end on those below 100 Mb/s.
GRID = [
    Path("100 Mbps", "10 ms", "0.1 bdp", 0, "rfc", 1),
    Path("100 Mbps", "300 ms", "1 bdp", 1e-5, "linux", 4),
    Path("100 Mbps", "100 ms", "2 bdp", 1e-4, "rfc", 16),
    Path("200 Mbps", "30 ms", "0.3 bdp", 1e-6, "linux", 1, "1 GB"),
    Path("200 Mbps", "150 ms", "0.03 bdp", 0, "linux", 8),
    Path("300 Mbps", "3 ms", "1 bdp", 1e-4, "linux", 2),
    Path("300 Mbps", "60 ms", "0.05 bdp", 0, "rfc", 16),
    Path("500 Mbps", "20 ms", "0.1 bdp", 1e-4, "rfc", 8),
    Path("500 Mbps", "2 ms", "0.3 bdp", 0, "linux", 1),
    Path("1 Gbps", "10 ms", "0.05 bdp", 0, "rfc", 4),
    Path("1 Gbps", "100 ms", "0.5 bdp", 0, "linux", 1, "1 GB"),
    Path("1 Gbps", "200 ms", "0.02 bdp", 1e-5, "rfc", 2),
    Path("1 Gbps", "50 ms", "2 bdp", 1e-6, "linux", 16),
    Path("1 Gbps", "1 ms", "1 bdp", 1e-4, "rfc", 1),
    Path("2.5 Gbps", "10 ms", "0.02 bdp", 0, "rfc", 8),
    Path("2.5 Gbps", "25 ms", "1 bdp", 1e-5, "rfc", 8),
    Path("2.5 Gbps", "40 ms", "0.3 bdp", 0, "linux", 1, "1 GB"),
    Path("2.5 Gbps", "90 ms", "0.1 bdp", 1e-4, "linux", 4, "1 GB"),
    Path("5 Gbps", "12 ms", "0.2 bdp", 0, "rfc", 4),
    Path("5 Gbps", "100 ms", "1.5 bdp", 1e-6, "linux", 16, "1 GB"),
    Path("5 Gbps", "200 ms", "0.2 bdp", 0, "rfc", 1),
    Path("10 Gbps", "5 ms", "0.1 bdp", 1e-6, "linux", 2),
    Path("10 Gbps", "60 ms", "0.5 bdp", 1e-5, "rfc", 1),
    Path("10 Gbps", "80 ms", "0.2 bdp", 1e-4, "linux", 4, "1 GB"),
    Path("10 Gbps", "150 ms", "0.01 bdp", 0, "rfc", 4),
    Path("10 Gbps", "300 ms", "1 bdp", 0, "linux", 8),
    Path("25 Gbps", "1 ms", "0.5 bdp", 0, "linux", 1),
    Path("25 Gbps", "100 ms", "0.1 bdp", 1e-6, "linux", 1),
    Path("40 Gbps", "10 ms", "1 bdp", 1e-5, "linux", 16),
    Path("40 Gbps", "75 ms", "0.1 bdp", 1e-6, "rfc", 4),
    Path("100 Gbps", "1 ms", "0.5 bdp", 0, "linux", 2),
    Path("100 Gbps", "20 ms", "0.3 bdp", 1e-6, "rfc", 16),
    Path("100 Gbps", "200 ms", "0.02 bdp", 0, "rfc", 1),
    Path("1 Mbps", "1 ms", "15180 B", 0, "linux", 1),
    Path("1 Mbps", "1 ms", "15180 B", 0, "linux", 4),
    Path("10 Mbps", "100 ms", "1 bdp", 0, "linux", 1),
    Path("10 Gbps", "1 ms", "1 bdp", 0, "linux", 4),
]
SAMPLE = [1, 9, 17]  # of the fast test, whose transfers are a tenth


def rows(path: Path, controller: str, packets: float, simulated: int) -> tuple[Row, Row]:
    """A row that is simulated in part, and the whole one."""
    question = read_question(
        path.rate,
        path.rtt,
        buffer=path.buffer,
        loss=path.loss,
        stack=path.stack,
        streams=path.streams,
        window=path.window,
        controllers=controller,
        size=f"{packets * 1448:.0f} B",
    )
    limits = bounds(question, tcp_options(core.resolve(question.source(), question.set, 1)["toml"]))
    asks = [Ask(question, limits, case) for case in cases(question, 1, 1)]
    named = {"how": How(workers=None)}
    found, _ = simulate_all(asks, whole=False, packets=simulated, **named)
    all_of_it, _ = simulate_all(asks, whole=True, **named)
    part, whole = (row_of(question, limits, [one for one in results if one is not None]) for results in (found, all_of_it))
    return part, whole


def check(paths: list[Path], packets: float, simulated: int) -> None:
    errors, outside = [], []
    for path, controller in itertools.product(paths, CONTROLLERS):
        part, whole = rows(path, controller, packets, simulated)
        if not part.is_estimate:
            assert part.time_s.mean == pytest.approx(whole.time_s.mean, rel=1e-3)  # between samples, which are not the same
            continue
        errors.append(abs(part.time_s.mean / whole.time_s.mean - 1))
        if not part.time_s.low <= whole.time_s.mean <= part.time_s.high:
            outside.append(
                f"{path} {controller}: {whole.time_s.mean} not in {part.time_s.low} to {part.time_s.high} ({part.method})"
            )
    assert outside == []
    assert len(errors) > len(paths)
    assert float(np.median(errors)) < 0.05


def test_a_sample_of_the_grid() -> None:
    check([GRID[i] for i in SAMPLE], PACKETS / 10, 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(GRID), 11))
def test_the_grid(first: int) -> None:
    check(GRID[first : first + 11], PACKETS, PACKETS // 3)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, len(GRID), 3))
def test_advice_is_never_worse(number: int) -> None:
    """The settings, simulated whole, against Linux as it is."""
    path = GRID[number]
    answer = el.path(
        path.rate,
        path.rtt,
        buffer=path.buffer,
        loss=path.loss,
        streams=path.streams,
        size=f"{PACKETS / 5 * 1448:.0f} B",
        whole=True,
    )
    advice = answer.advice
    assert advice.now is not None
    if advice.after is None:
        assert answer.settings == []
    else:
        assert advice.after.time_s.mean <= advice.now.time_s.mean
        assert all("pfifo" not in line.text for line in answer.settings) or not advice.fq


@pytest.mark.slow
def test_four_bbr_over_a_long_path() -> None:
    """Issue 32: 10 Gb/s x 150 ms and 2 MB, 1 TB: "about 3.5 Gb/s" for 4 BBR, of which 40 s of packets give 7.39 Gb/s in the mean,
    and 30 s after their start 7.4 to 8.2; one BBR has 8.1 in its first 30 s."""
    question = read_question("10Gbps", "150ms", buffer="2MB", size="1TB", stack="rfc", streams=4, controllers="bbr")
    limits = bounds(question, tcp_options(core.resolve(question.source(), question.set, 1)["toml"]))
    found, _ = simulate_all([Ask(question, limits, case) for case in cases(question, 1, 1)], whole=False, how=How(workers=1))
    row = row_of(question, limits, [one for one in found if one is not None])
    assert row.goodput_bps.low < 7.39e9 < row.goodput_bps.high
    assert row.goodput_bps.mean > 6e9
