"""Ctrl-C and SIGTERM end a run and an experiment in which a congestion control of the user never returns."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import ANSWER_S, end, until

HANGS = """
import elephan as el
from pathlib import Path
import socket, threading, time

class Hangs(el.CongestionControl):
    def on_ack(self, ack):
        Path("hangs").touch()
        {body}
"""
BODIES = {
    "loop": "while True: pass",
    "sleep": "time.sleep(3600)",
    "lock": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "socket": "server = socket.create_server(('127.0.0.1', 0)); server.accept()",
    "deaf": """
        while True:
            try:
                time.sleep(0.01)
            except BaseException:
                pass""",
}


def hanging(place: Path, body: str, *words: str) -> subprocess.Popen[str]:
    """A command whose congestion control hangs."""
    (place / "mine.py").write_text(HANGS.format(body=BODIES[body]))
    command = [sys.executable, "-m", "elephan", *words]
    process = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until((place / "hangs").exists, "the call that hangs")
    return process


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("body", list(BODIES))
@pytest.mark.parametrize(("kind", "other"), [("run", ""), ("sweep", ",reno")])
def test_one_signal_ends_what_hangs_in_python(tmp_path: Path, kind: str, other: str, body: str, how: signal.Signals) -> None:
    control = f"traffic.reno.congestion_control=mine.py:Hangs{other}"
    process = hanging(tmp_path, body, kind, "sawtooth", "--no-report", "-s", control)
    _, told, used_s = end(process, how)
    assert process.returncode == 130, told
    assert told.endswith("elephan: interrupted\n")
    assert "Traceback" not in told
    assert used_s < ANSWER_S + 2 * (body == "loop")  # the loop itself works until it is left


LIBRARY = """
import signal, sys
import elephan as el
try:
    el.{call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    if {caught}:
        sys.exit(7)
    raise
"""
CALLS = {
    "run": 'run("sawtooth", set={"traffic.reno.congestion_control": {"python": "mine.py:Hangs"}})',
    "sweep": 'sweep("sawtooth", set={"traffic.reno.congestion_control": {"python": "mine.py:Hangs"}}, repetitions=3)',
}


@pytest.mark.parametrize("caught", [False, True])
@pytest.mark.parametrize("call", list(CALLS))
def test_a_program_ends_that_has_left_a_hanging_run(tmp_path: Path, call: str, caught: bool) -> None:
    """The thread that waits is left behind; it neither keeps the program nor lets the interpreter crash at its end."""
    (tmp_path / "mine.py").write_text(HANGS.format(body=BODIES["sleep"]))
    code = LIBRARY.format(call=CALLS[call], caught=caught)
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until(lambda: (tmp_path / "hangs").exists() or process.poll() is not None, "the call that hangs")
    out, told, _ = end(process)
    assert out == "interrupted\n", told
    assert process.returncode == (7 if caught else -signal.SIGINT), told
