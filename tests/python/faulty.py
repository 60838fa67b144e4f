"""Sweeps of which one call of the system fails: `python faulty.py PLACE FIRST STEP LAST`, with the library of `faults.c` preloaded.

Each sweep is a process of its own, forked from this one once everything is imported. The same command follows, and has to give the
table of a sweep that nobody disturbed. Prints a line for each sweep after which something is wrong, then how many calls one makes.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import elephan as el
from elephan.cli import status_of
from elephan.experiment.store.store import Store

KINDS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EINTR": errno.EINTR, "short": -1, "EMFILE": errno.EMFILE}
WORDS = [
    "sweep",
    "sawtooth",
    "-s",
    "duration=1s",
    "-s",
    "warmup=100ms",
    "-s",
    "template.rate=1Mbps,2Mbps",
    "-n",
    "2",
    "--no-report",
]
WORDS += ["--keep", "runs", "--workers", "1"]
AGAIN = (b"open", b"read", b"pread", b"write", b"pwrite", b"fsync")  # what Python and Rust call again after EINTR
CPU_S = 60  # of processor time, after which a sweep hangs

faults = ctypes.CDLL(None)
faults.faults_hit.restype = ctypes.c_char_p
faults.faults_count.restype = ctypes.c_long


def swept(place: Path) -> tuple[int, str]:
    """The status of the sweep, and what it says."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        status = status_of([*WORDS, "--store", str(place / "s"), "--out", str(place / "r")])
    return status, said.getvalue()


def disturbed(place: Path, when: int, kind: str) -> str:
    """What is wrong with a sweep of which a call fails; empty if nothing is."""
    faults.faults_arm(ctypes.c_long(when), KINDS[kind])
    status, said = swept(place)
    faults.faults_arm(ctypes.c_long(0), 0)
    what = f"at {(faults.faults_hit() or b'no call').decode()}, status {status}: {said!r}"
    if status not in (0, 1, 2) or "internal error" in said or "Traceback" in said:
        return f"badly told {what}"
    if status and not said:
        return f"not told {what}"
    needless = kind == "short" or (kind == "EINTR" and (faults.faults_hit() or b"").startswith(AGAIN))
    return f"failed without need {what}" if needless and status else ""


def continued(place: Path, whole: Path) -> str:
    """What is wrong with the same command after that; empty if nothing is."""
    found = (
        [line for line in Store.at(place / "s").check() if ".partial" not in line] if (place / "s" / "store.json").exists() else []
    )
    status, said = swept(place)
    if status:
        return f"the same command ends with {status}: {said!r}"
    after = Store.at(place / "s").check()
    same = el.load(place / "r").table.equals(el.load(whole / "r").table)
    kept = Store.at(place / "s").rows()
    if found or after or not same or len(kept) != 4 or any(row.error for row in kept):
        return f"damage {found} {after}, same table {same}, {len(kept)} trials, {[row.error for row in kept]}"
    return ""


def apart(work: Callable[[], str]) -> str:
    """What a function says in a process of its own."""
    ours, theirs = os.pipe()
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
        said = "raised"
        try:
            said = work()
        except BaseException as error:
            said = f"raised {type(error).__name__}: {error}"
        finally:
            os.write(theirs, said.encode()[:60_000])
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return f"ended by {signal.Signals(status & 0x7F).name}" if status & 0x7F else said


def counted(place: Path) -> str:
    """How many calls a sweep makes."""
    faults.faults_arm(ctypes.c_long(1 << 40), errno.EIO)
    swept(place)
    return str(faults.faults_count())


def main() -> None:
    place, (first, step, last) = Path(sys.argv[1]), map(int, sys.argv[2:5])
    kinds = sys.argv[5:] or list(KINDS)
    swept(place / "warm")
    swept(place / "whole")
    for number, when in enumerate(range(first, last, step)):
        kind, one = kinds[number % len(kinds)], place / "one"
        for wrong in (apart(lambda: disturbed(one, when, kind)), apart(lambda: continued(one, place / "whole"))):  # noqa: B023
            if wrong:
                print(f"call {when}, {kind}: {wrong}", flush=True)
        shutil.rmtree(one, ignore_errors=True)
    print(f"calls: {apart(lambda: counted(place / 'counted'))}")


if __name__ == "__main__":
    main()
