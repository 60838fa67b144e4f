"""Counting in whole segments (option `whole_segments`) leaves those alone that set a window of their own.

Linux 6.18 says what Reno and CUBIC do, in the scripts of `tests/packetdrill/congestion_avoidance`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import elephan as el
import pytest

MSS = 1448
# Congestion controls for TCP that Linux does not have in a form that counts segments.
OWN = ["griddt", "compound", "bbr", "bbr3", "ledbat", "fast", "swift", "xcp", "explicit_rate", "copa", "pcp", "prague"]
COUNTING = ["reno", "cubic", "highspeed", "scalable", "bic", "hybla", "htcp", "westwood", "vegas", "veno", "illinois", "yeah", "lp"]
PROGRAM = """#!{python} -SE
import json, sys
for text in sys.stdin:
    line = json.loads(text)
    answer = dict(n=line["n"])
    if line["call"] == "hello":
        answer |= dict(protocol=1, calls=["on_ack"])
    else:
        answer |= dict(cwnd=line["cwnd"] + 0.3 * line["mss"])
    print(json.dumps(answer), flush=True)
"""


class Third(el.CongestionControl):
    """Sets a window of 0.3 segments more for each ACK."""

    def on_ack(self, ack: Any) -> None:
        self.cwnd += 0.3 * self.mss


def windows(controller: Any, whole: bool | None, **named: Any) -> list[int]:
    """Returns the congestion window of a flow on stack `linux` every 10 ms, in bytes."""
    scenario = {
        "title": "One flow",
        "duration": "1 s",
        "stack": "linux",
        "tcp": {} if whole is None else {"whole_segments": whole},
        "hosts": {"a": {}, "b": {}},
        "links": [
            {
                "between": ["a", "b"],
                "rate": "5 Mbps",
                "delay": "20 ms",
                "forward": {"queue": {"kind": "fifo", "limit": "15 packets"}, "loss": {"listed": [150]}, "packets": "data"},
            }
        ],
        "traffic": [
            {"from": "a", "to": "b", "kind": "bulk", "congestion_control": controller, "tcp": {"ssthresh_initial": "14480 B"}}
        ],
        "record": {"every": "10 ms"},
    }
    found = el.run(scenario, **named).flow_samples.column("cwnd_bytes").to_pylist()
    return [bytes_ for bytes_ in found if bytes_]


@pytest.mark.parametrize("name", OWN)
def test_a_congestion_control_that_sets_its_window_keeps_it(name: str) -> None:
    assert windows(name, None) == windows(name, False)


@pytest.mark.parametrize("name", COUNTING)
def test_windows_of_those_of_linux_are_whole(name: str) -> None:
    counted = windows(name, None)
    assert counted != windows(name, False)
    assert {bytes_ % MSS for bytes_ in counted} == {0}


def test_a_class_keeps_its_window() -> None:
    """Each ACK adds 434.4 B, so that the window cannot be whole."""
    counted = windows(Third, None)
    assert counted == windows(Third, False)
    assert max(counted) > 20 * MSS
    assert any(bytes_ % MSS for bytes_ in counted)


def test_a_program_keeps_its_window(tmp_path: Path) -> None:
    program = tmp_path / "third"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    given = el.Program(program=str(program), deadline="10 s")
    counted = windows(given, None, python_from=program)
    assert counted == windows(given, False, python_from=program) == windows(Third, False)


def test_the_stack_of_the_rfcs_keeps_shares_of_a_segment() -> None:
    assert any(bytes_ % MSS for bytes_ in windows("reno", False))
