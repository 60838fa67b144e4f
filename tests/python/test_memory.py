"""What memory grows with: connections, but not simulated time. Each figure is the peak of a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from elephan.bench import workloads

pytestmark = pytest.mark.slow

# VmHWM and not ru_maxrss, which starts from the peak of whoever started the process: here pytest's.
_PEAK = """
import json, sys
import elephan._core as core
text, overrides = sys.argv[1:]
result = core.run(text, "w1.toml", "toml", overrides, 1)
lines = open("/proc/self/status").read().splitlines()
print(json.dumps([result.events, *(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))]))
"""


def _peak(duration: str) -> tuple[int, int]:
    """Events, and the peak of memory in bytes, of W1 without samples and events."""
    text = Path(workloads.__file__).with_name("w1.toml").read_text(encoding="utf-8")
    overrides = json.dumps({"duration": duration, "record.events": False})
    command = [sys.executable, "-c", _PEAK, text, overrides]
    events, peak = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return events, peak


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_ten_times_the_simulated_time_needs_no_more_memory() -> None:
    """A byte kept for each event would be more than 20 MB; what is allowed is what a queue that was once longer leaves behind."""
    (few, short), (many, long) = _peak("10 s"), _peak("100 s")
    assert many > few + 20_000_000
    assert long < short + 2**20


def test_100_000_idle_connections_need_half_a_gibibyte() -> None:
    command = [sys.executable, "-m", "elephan", "bench", "connections", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (row,) = json.loads(done.stdout)
    assert row["flows"] == 100_000
    assert row["peak_rss_bytes"] <= 512 * 2**20
