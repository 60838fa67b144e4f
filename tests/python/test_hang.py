"""Ctrl-C ends a run and an experiment in which a congestion control of the user never returns."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HANGS = """
import elephan as el
from pathlib import Path

class Hangs(el.CongestionControl):
    def on_ack(self, ack):
        Path("hangs").touch()
        while True:
            pass
"""


@pytest.mark.parametrize(("kind", "other"), [("run", ""), ("sweep", ",reno")])
def test_one_ctrl_c_ends_what_hangs_in_python(tmp_path: Path, kind: str, other: str) -> None:
    (tmp_path / "mine.py").write_text(HANGS)
    command = [sys.executable, "-m", "elephan", kind, "sawtooth", "--no-report"]
    command += ["-s", f"traffic.reno.congestion_control=mine.py:Hangs{other}"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 30
        while not (tmp_path / "hangs").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)  # as Ctrl-C, also where a shell has SIGINT ignored
        told = process.communicate(timeout=10)[1]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, told
    assert told.endswith("elephan: interrupted\n")
    assert "Traceback" not in told
