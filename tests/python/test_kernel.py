"""The stack `linux` beside the kernel of this machine: one TCP connection through a link of the same rate, delay and buffer.

The expectations are what the kernel does. The link is a program (`kernel/link.py`) that keeps time to some ten microseconds, which
is little beside the 0.6 ms of a packet; what is left differs as the kernel sends pairs of segments (segmentation offload) and as
its clock counts microseconds. BBR draws the phase that it probes with first: the kernel is asked three times, each phase is
simulated, and the kernel's runs must be some of them. Where the link draws, means over draws are compared. A run in which the link
was late with more than 0.3 % of the packets is repeated. A figure outside its margin is said in `kernel/courses.py`, with
the reason, and must still be as far outside as it says there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel.compare import TooBusy, distance, figures, inside, kernel, missing, simulated
from kernel.courses import COURSES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]


@pytest.mark.parametrize("name", COURSES)
def test_the_stack_linux_does_what_the_kernel_does(name: str, tmp_path: Path) -> None:
    case = COURSES[name]
    try:
        reals = [kernel(case, tmp_path, seed) for seed in range(case.draws)]
    except TooBusy:
        pytest.skip("this machine is too busy to keep the time of a link")
    ours = simulated(case, reals)
    told = figures(case, reals), figures(case, ours)
    for quantity, real in told[0].items():
        own = told[1][quantity]
        apart = case.apart.get(quantity)
        if apart is None:
            assert inside(quantity, real, own), f"{quantity}: the kernel's {real.mean:.2f}, elephan's {own.mean:.2f}"
        else:
            share = own.mean / real.mean
            assert apart.least <= share <= apart.most, f"{quantity} is not as far from {real.mean:.2f} as said: {own.mean:.2f}"
    # Half of the time the windows lie within 3 % of each other, where the courses are the same ones.
    if not case.drawn and not case.apart:
        assert all(distance(case, *both) < 0.03 for both in zip(reals, ours, strict=True))


def asked(case: str) -> Any:
    """Returns what this machine's kernel does beside the scripted peer of `kernel/peer.py`."""
    space = "elephan-p"
    subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL, check=False)
    subprocess.run(["ip", "netns", "add", space], check=True)
    try:
        subprocess.run(["ip", "-n", space, "link", "set", "lo", "up"], check=True)
        command = ["ip", "netns", "exec", space, sys.executable, str(Path(__file__).with_name("kernel") / "peer.py"), case]
        return json.loads(subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout)
    finally:
        subprocess.run(["ip", "netns", "del", space], check=False)


@pytest.mark.parametrize("case", ["slow start", "slow start, paced"])
def test_hystart_of_the_kernel_ends_at_36(case: str) -> None:
    """The literals of `hystart_of_a_slow_link_ends_at_36` in crates/tcp/tests/loopback/linux.rs."""
    windows = [window for window, _ in asked(case)]
    assert windows == [*range(12, 38, 2), *[36] * 9, *[37] * 6]


def test_the_kernel_paces_from_the_eleventh_segment_on() -> None:
    """The literal of `the_first_ten_segments_leave_at_once`, which has bursts of two segments here too."""
    assert asked("at once") == 10


def test_the_kernel_compresses_acks() -> None:
    """`acks_beyond_a_hole_are_compressed`: three at once, then one every 1.0 to 1.1 ms, by the clock of a busy machine."""
    times = asked("compressed")
    assert times[2] < 0.5
    assert all(0.95 < gap < 2.0 for gap in np.diff(times[2:6]))
