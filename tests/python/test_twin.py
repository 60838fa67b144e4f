"""Twins of captures that elephan made, so that path, losses and congestion control are known."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import elephan as el
import numpy as np
import pytest
import twins
from elephan.capture.twin import whatif, words
from elephan.capture.twin.packets import Packets
from elephan.capture.twin.twin import twin_of
from elephan.capture.twin.writes import find
from elephan.report.figure.trace_figures import draw_all

CONTROLS = ["reno", "cubic", "bbr", "vegas"]


def test_a_twin_of_cubic(tmp_path: Path) -> None:
    """20 Mb/s, 50 ms and 83 packets are the words of the scenario."""
    run, file = twins.captured("cubic", tmp_path)
    twin = twin_of([file], el.analyze(file).row(0), CONTROLS)
    flow = run.flows.to_pylist()[0]
    assert twin.path.rate_bps == pytest.approx(20e6, rel=0.005)
    assert twin.path.propagation_s == pytest.approx(0.05, rel=0.005)
    assert twin.path.buffer_known
    assert abs(twin.path.buffer_packets - 83) <= 2
    assert twin.best.controller == "cubic"
    assert twin.real.lost.size == flow["segs_retrans"]
    assert twin.real.lost.tolist() == twin.best.packets.lost.tolist()
    assert words.completion_s(twin.best.packets) == pytest.approx(words.completion_s(twin.real), rel=0.005)
    assert words.trust(twin) == "good"
    assert any("cubic comes nearest" in line for line in words.lines(twin))


def test_what_if_says_what_the_changed_path_does(tmp_path: Path) -> None:
    """The transfer again over a link of 40 Mb/s: its own completion lies in the interval."""
    _, file = twins.captured("reno, small buffer", tmp_path)
    twin = twin_of([file], el.analyze(file).row(0), ["reno"])
    answer = whatif.ask(twin, {"rate": "40 Mbps"}, repetitions=6)
    again = el.run(twins.CASES["reno, small buffer"].text, set={"links.left->right.rate": "40 Mbps"}).flows.to_pylist()[0]
    assert answer.low <= again["sender_fct_ns"] / 1e9 <= answer.top
    assert (answer.top - answer.low) / answer.value < 0.2
    assert "would have been" in words.answer_line(answer)


def test_writes_of_an_application() -> None:
    """Three writes of two segments each, a second apart, each acknowledged after 50 ms."""
    sent, answers = [], []
    for second in range(3):
        for place in range(2):
            begin = 2000 * second + 1000 * place
            sent.append((float(second), begin, begin + 1000))
        answers.append((second + 0.05, 2000 * (second + 1)))
    times, begins, ends = (np.array(column, dtype=float) for column in zip(*sent, strict=True))
    at, acks = (np.array(column, dtype=float) for column in zip(*answers, strict=True))
    none, many = np.zeros(6), np.full(3, 2000.0)
    nothing = np.zeros(3)
    packets = Packets(
        *(times, begins, ends, none, none, np.repeat(at, 2), none),
        *(at, acks, many, many, np.full(3, 2.0), np.full(3, 0.05), nothing, nothing),
    )
    writes = find(packets)
    assert (writes.at_s, writes.size, writes.ended) == ((0.0, 1.0, 2.0), (2000, 2000, 2000), True)
    assert packets.inflight(np.array([0.0, 0.04, 0.06, 1.0])).tolist() == [2000, 2000, 0, 2000]


def test_a_folder_keeps_the_twin(tmp_path: Path) -> None:
    _, file = twins.captured("reno, 1 % lost", tmp_path)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "elephan",
            "analyze",
            str(file),
            "--what-if",
            "congestion_control=cubic",
            "--out",
            "traced",
            "--json",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["summary"]["twin"]
    assert told["congestion_control"] == "reno"
    assert told["rate_bps"] == pytest.approx(20e6, rel=0.02)
    assert told["what_if"][0]["change"] == {"congestion_control": "cubic"}
    kept = el.load(tmp_path / "traced")
    assert kept.twin is not None
    assert kept.twin.told == told
    # The scenario is whole: it runs by itself, and loses what the capture lost.
    flow = el.run(tmp_path / "traced" / "twin.toml").flows.to_pylist()[0]
    assert flow["completed"]
    assert "The capture and its twin" in [drawing.title for drawing in draw_all(kept)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"since": "1 s"}, "the capture lacks its beginning"),
        ({"until": "60 ms"}, "data segments are too few for a twin"),
    ],
)
def test_what_a_capture_does_not_show(given: dict[str, str], message: str, tmp_path: Path) -> None:
    _, file = twins.captured("reno, small buffer", tmp_path)
    with pytest.raises(el.InputError, match=message):
        el.analyze(file, twin=True, **given)


def test_a_log_has_no_twin(tmp_path: Path) -> None:
    log = tmp_path / "iperf3.json"
    log.write_text(json.dumps({"start": {}, "intervals": [], "end": {}}))
    with pytest.raises(el.InputError):
        el.analyze(log, twin=True)


@pytest.mark.slow
def test_twenty_twins() -> None:
    """What the issue asks: the losses exactly, completion within 2 %, the congestion control in 18 of 20."""
    rows = [twins.measured(name) for name in twins.CASES]
    assert all(row.same_losses for row in rows)
    assert sum(row.right for row in rows) >= 18
    assert sum(abs(row.completion) <= 0.02 for row in rows) >= 18
