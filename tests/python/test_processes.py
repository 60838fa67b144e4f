"""Runs in processes of this machine: the same tables, also when a worker is killed; nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from waiting import PATIENCE_S, until

SHORT = {"duration": "2 s", "warmup": "1 s", "template.rate": ["5 Mbps", "10 Mbps", "20 Mbps"]}

GUEST = """
import os, elephan as el

class Mine(el.CongestionControl):
    def __init__(self, dies=False):
        self.dies = dies
    def on_round(self, round):
        print("a guest that prints")
        if self.dies:
            os._exit(1)
        self.cwnd += self.mss
"""


def _children(process: int) -> list[int]:
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def _workers() -> list[int]:
    return [one for one in _children(os.getpid()) if b"place.worker" in Path(f"/proc/{one}/cmdline").read_bytes()]


def test_processes_give_what_threads_give(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(GUEST)
    chosen: dict[str, Any] = {**SHORT, "traffic.reno.congestion_control": {"python": f"{tmp_path / 'mine.py'}:Mine"}}
    for settings in (SHORT, chosen):
        here, there = (el.sweep("sawtooth", set=settings, repetitions=4, on=on, workers=2) for on in ("threads", "processes"))
        assert there.table.equals(here.table)
    assert _workers() == []


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    settings = SHORT | {"duration": "60 s"}
    whole = el.sweep("sawtooth", set=settings, repetitions=20)
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while len(killed) < 3 and not over.wait(0.15):
            for one in _workers()[:1]:
                os.kill(one, signal.SIGKILL)
                killed.append(one)

    other = threading.Thread(target=kill)
    other.start()
    swept = el.sweep("sawtooth", set=settings, repetitions=20, on="processes", workers=2, store=tmp_path / "kept")
    over.set()
    other.join()
    assert killed
    assert swept.table.equals(whole.table)


def test_a_run_that_kills_every_worker_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(GUEST)
    kinds = [{"python": f"{tmp_path / 'mine.py'}:Mine", "params": {"dies": dies}} for dies in (False, True)]
    short = {"duration": "1 s", "warmup": "1 ms", "traffic.reno.congestion_control": kinds}
    swept = el.sweep("sawtooth", set=short, repetitions=8, on="processes", workers=1)
    assert len(swept.failures) == 8
    assert all("3 workers died while they ran it" in line for line in swept.failures)
    assert len(swept.trials) == 8


LONG = """import elephan as el
el.sweep("sawtooth", set={"duration": "100000 s", "template.rate": ["1 Gbps", "2 Gbps"]}, on="processes")"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_driver(how: signal.Signals) -> None:
    driver = subprocess.Popen([sys.executable, "-c", LONG], stderr=subprocess.DEVNULL)
    workers = until(lambda: _children(driver.pid), "a worker")
    time.sleep(1.0)
    driver.send_signal(how)
    driver.wait(timeout=PATIENCE_S)
    until(lambda: not [one for one in workers if Path(f"/proc/{one}").exists()], "the end of the workers")
