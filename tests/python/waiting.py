"""How tests wait for a state, and what an answer costs: processor time, which a busy machine does not stretch.

No test of the fast suite judges by the wall clock (`test_clocks.py`). `PATIENCE_S` only ends what hangs.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 300.0

# What an answer to a signal may cost in processor time: it is some tenths of a second on a fast machine.
ANSWER_S = 3.0


def until(state: Callable[[], Any], what: str = "what is waited for") -> Any:
    """Returns the first true value of `state()`, which is asked again and again."""
    end = time.monotonic() + PATIENCE_S
    while not (found := state()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} never comes")
        time.sleep(0.02)
    return found


def processor_s(pid: int) -> float:
    """Returns the processor time of a process and of the children that it has waited for, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _family(pid: int) -> list[int]:
    """Returns a process and all that descend from it."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _of_family_s(pid: int) -> float:
    """Returns the processor time so far of a process and of all that descend from it."""
    used = 0.0
    for one in _family(pid):
        with contextlib.suppress(OSError):
            used += processor_s(one)
    return used


def _of_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def end(process: subprocess.Popen[Any], how: int = signal.SIGINT, *, group: bool = False) -> tuple[Any, Any, float]:
    """Sends a signal, to the whole group of the process if asked. Returns what the process writes to its two pipes, and the
    processor time in seconds that it used from then to its end.
    """
    children, before = _of_children_s(), _of_family_s(process.pid) if process.poll() is None else 0.0
    os.killpg(process.pid, how) if group else process.send_signal(how)  # which does nothing to a process that is over
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    return out, err, _of_children_s() - children - before
