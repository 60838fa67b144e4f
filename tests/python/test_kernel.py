"""The stack `linux` beside the kernel of this machine: one TCP connection through a link of the same rate, delay and buffer.

The expectations are what the kernel does. The link is a program (`kernel/link.py`) that keeps time to some ten microseconds, which
is little beside the 0.6 ms of a packet; what is left differs as the kernel sends pairs of segments (segmentation offload) and as
its clock counts microseconds. A run in which the link was late with more than 0.3 % of the packets is repeated.
"""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

import numpy as np
import pytest
from kernel.compare import COURSES, SAMPLE_S, TooBusy, kernel, simulated


def reason() -> str:
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())
    if platform.system() != "Linux" or release < (6, 16):
        return "no Linux from 6.16 on, whose defaults the stack has"
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists() or shutil.which("ip") is None:
        return "needs root, /dev/net/tun and ip"
    return ""


pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(reason()), reason=reason())]


@pytest.mark.parametrize("name", COURSES)
def test_the_stack_linux_does_what_the_kernel_does(name: str, tmp_path: Path) -> None:
    case = COURSES[name]
    try:
        real = kernel(case, tmp_path)
    except TooBusy:
        pytest.skip("this machine is too busy to keep the time of a link")
    ours = simulated(case)
    assert ours.acked_bytes == pytest.approx(real.acked_bytes, rel=0.01)
    assert ours.retransmits == pytest.approx(real.retransmits, rel=0.1, abs=2)
    grid = np.arange(0.1, case.duration_s - 0.1, SAMPLE_S)
    windows = [np.interp(grid, seen.time_s, seen.cwnd) for seen in (real, ours)]
    assert windows[1].mean() == pytest.approx(windows[0].mean(), rel=0.03)
    trips = [np.interp(grid, seen.time_s, seen.srtt_s) for seen in (real, ours)]
    assert trips[1].mean() == pytest.approx(trips[0].mean(), rel=0.03)
    # Half of the time the windows lie within 3 % of each other.
    assert np.median(np.abs(windows[1] / windows[0] - 1)) < 0.03
