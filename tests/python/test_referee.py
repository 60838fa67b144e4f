"""The referee of TCP: this machine's kernel gets the stimuli of `el.tcp.Endpoint` (docs/kernel.md).

The expectations are the kernel's answers. What the busy machine spoils is asked again, and skipped if it stays spoilt.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kernel.referee import compare, play, script, shrink, stimulus, verdicts, wire
from kernel.referee.__main__ import OWN
from kernel.referee.drive import sent_by
from kernel.referee.stacks import Elephan

# Of random senders of Reno and CUBIC.
AGREE_LEAST = 0.2
asks_the_kernel = pytest.mark.skipif(bool(wire.reason()), reason=wire.reason())
HANDSHAKE = """`sysctl -q net.ipv4.tcp_ecn=0`
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  bind(3, ..., ...) = 0
+0  listen(3, 1) = 0
+0  < S 0:0(0) win 60000 <mss 1000,nop,nop,sackOK>
+0  > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK>
+.1 < . 1:1(0) ack 1 win 60000
+0  accept(3, ..., ...) = 4
+0  write(4, ..., 3000) = 3000
+0  > P. 1:3001(3000) ack 1
+0  %{ assert tcpi_snd_cwnd == 10 and tcpi_unacked == 3, (tcpi_snd_cwnd, tcpi_unacked) }%
"""


def in_own_process(code: str) -> Any:
    """Returns what `code` prints as JSON: a namespace belongs to a process, and tests stay in theirs."""
    head = "import json\nfrom pathlib import Path\nfrom kernel.referee import compare, play, stimulus, wire\nwire.in_front()\n"
    ran = subprocess.run(
        [sys.executable, "-c", head + code], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=500, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_a_segment_is_on_the_wire_as_rfc_9293_has_it():
    options = [(script.MSS, b"\x03\xe8"), (script.SACK_OK, b"")]
    packet = wire.encoded(wire.Segment(wire.SYN, 7, window=60000, options=options))
    # RFC 791 and 9293: version and header length, total length, ports, number, 28 bytes of header, SYN, window, MSS 1000.
    assert packet[0] == 0x45
    assert struct.unpack_from("!H", packet, 2) == (48,)
    assert packet[20:34] == bytes.fromhex("c0001f90" "00000007" "00000000" "7002")  # fmt: skip
    assert packet[34:36] == bytes.fromhex("ea60")
    assert packet[40:] == bytes.fromhex("020403e8" "0402" "0101")  # fmt: skip
    read = wire.decoded(packet)
    assert read is not None
    assert (read.flags, read.seq, read.window, read.options) == (wire.SYN, 7, 60000, options)


def test_each_own_script_can_be_read():
    """Each line that begins with a time is one event."""
    for path in sorted(OWN.rglob("*.pkt")):
        text = path.read_text()
        lines = [line for line in text.splitlines() if line[:1] in ("+", "*") or line[:1].isdigit()]
        assert len(script.read(text).events) == len(lines), path


def test_times_and_results_of_a_script():
    read = script.read("0....1 connect(3, ..., ...) = -1 EAGAIN (again)\n+.3~+.31 > P. 1:5(4) ack 1\n")
    call, packet = read.events
    assert (call.relative, call.at, call.end) == (False, 0.0, 0.1)
    assert call.what == script.Call("connect", ["3", "...", "..."], -1, "EAGAIN")
    assert (packet.relative, packet.at, packet.to) == (True, 0.3, 0.31)
    with pytest.raises(script.NotInLanguage, match="line 2"):
        script.read("0 close(3) = 0\nnonsense\n")


def test_timers_of_the_kernel_are_coarser_the_longer_they_are():
    """kernel/time/timer.c at 250 Hz: levels of 4 ms up to 252 ms, 32 ms up to 2016 ms, 256 ms; one jiffy more."""
    assert [round(1e3 * play.timer_grain(seconds)) for seconds in (0.2, 0.3, 2.0, 2.1)] == [8, 36, 36, 260]


def test_what_differs_is_found():
    """Reno halves the window, CUBIC takes 0.7 of it (RFC 5681 section 3.2, RFC 9438 section 4.6)."""
    case = stimulus.Sending(writes=((0.0, 40_000),), lost=((20, 1),))
    reno, cubic = (sent_by(Elephan(law), case) for law in ("reno", "cubic"))
    assert compare.differences(case, reno, reno) == {}
    found = compare.differences(case, reno, cubic)
    assert next(iter(found)) == "ssthresh"
    more = replace(case, lost=((20, 1), (21, 1)))
    assert compare.differences(case, reno, sent_by(Elephan("reno"), more))["transmissions"] == "segment 21: kernel 1, elephan 2"


def test_a_case_shrinks_to_what_matters(monkeypatch):
    """A stack that is wrong if segment 7 is lost and there are more than ten segments."""

    def judged(case: stimulus.Sending, runs: int = 0) -> compare.Outcome:
        wrong = (7, 1) in case.lost and case.total > 10 * stimulus.MSS
        return compare.Outcome(case, {"window": "apart"} if wrong else {})

    monkeypatch.setattr(shrink, "judged", judged)
    case = stimulus.Sending(
        every=2, writes=((0.0, 30_000), (0.1, 5_000)), lost=((2, 1), (7, 1), (9, 1)), late=((4, 0.1),), ack_lost=(3,), rate=4e5
    )
    smallest = shrink.shrunk(judged(case), tries=200).case
    assert smallest == stimulus.Sending(writes=((0.0, 11_000),), lost=((7, 1),))


def test_seeds_give_the_same_cases():
    assert stimulus.sending(5) == stimulus.sending(5) != stimulus.sending(6)
    assert {stimulus.sending(seed).controller for seed in range(30)} == set(stimulus.CONTROLLERS)
    assert stimulus.receiving(5) == stimulus.receiving(5) != stimulus.receiving(6)


@asks_the_kernel
@pytest.mark.parametrize(("old", "new", "verdict"), [("", "", "agrees"), ("cwnd == 10", "cwnd == 11", "differs")])
def test_a_script_is_judged_by_the_kernel(tmp_path, old, new, verdict):
    (tmp_path / "x.pkt").write_text(HANDSHAKE.replace(old, new) if old else HANDSHAKE)
    told = in_own_process(f"told = play.play(Path({str(tmp_path / 'x.pkt')!r}))\nprint(json.dumps([told.verdict, told.line]))")
    if told[0] == "late":
        pytest.skip("this machine is too busy")
    assert told == [verdict, 11 if verdict == "differs" else 0]


@asks_the_kernel
def test_a_sender_without_losses_agrees():
    """Slow start of 30 segments from a window of 10 and its doubling."""
    case = "stimulus.Sending(writes=((0.0, 30_000),))"
    told = in_own_process(f"one = compare.judged({case}, runs=5)\nprint(json.dumps([one.apart, one.spoilt]))")
    if told[1]:
        pytest.skip("this machine is too busy")
    assert told[0] == {}


@asks_the_kernel
@pytest.mark.slow
def test_the_kernel_agrees_with_each_own_script_or_the_reason_is_named():
    code = """
import multiprocessing
from kernel.referee.__main__ import OWN, pool, scripts_in
paths = scripts_in([OWN])
with pool() as workers:
    found = zip(paths, workers.imap(play.play, paths))
    print(json.dumps([[str(path.relative_to(OWN)), one.verdict, str(one)] for path, one in found]))
"""
    for name, verdict, told in in_own_process(code):
        if verdict == "cannot run":
            assert name.split("/")[0] in verdicts.CANNOT_RUN, (name, told)
        elif verdict == "differs":
            assert name in verdicts.DIFFERS, (name, told)


@asks_the_kernel
@pytest.mark.slow
def test_random_senders_agree_as_often_as_the_page_says():
    """docs/kernel.md says that 44 of 120 agree."""
    code = """
from kernel.referee.__main__ import _drawn, pool
with pool() as workers:
    found = workers.map(_drawn, [("senders", seed, "cubic" if seed % 2 else "reno") for seed in range(40)])
print(json.dumps([not isinstance(one, str) and one.kind for _, one in found]))
"""
    kinds = Counter(in_own_process(code))
    assert kinds[""] >= 40 * AGREE_LEAST, kinds
