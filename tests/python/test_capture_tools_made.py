"""Captures of made-up conversations: elephan, tshark and tcptrace agree on what they hold.

Debian has both: `apt-get install tshark tcptrace`. Where they do not agree, docs/analyze.md says who is right, and the counts of
the tools are mended here: an ACK when nothing is outstanding (it brings D-SACK) is no duplicate (RFC 5681 section 2), nor is
one that leaves the window closed (Linux `tcp_may_update_window`); a byte into a closed window is a probe, whatever is outstanding.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from conversations import Conversation, captured
from conversations import Path as Way
from segments import SERVER, Capture

ABSENT = [tool for tool in ("tshark", "tcptrace") if shutil.which(tool) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(ABSENT), reason=f"no {', '.join(ABSENT)}: apt-get install tshark tcptrace"),
]

FIELDS = (
    "tcp.stream",
    "ip.src",
    "tcp.len",
    "tcp.flags.syn",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack",
    "tcp.options.sack_le",
    "tcp.nxtseq",
    "tcp.ack",
    "tcp.window_size_value",
)


def output(*words: Any) -> str:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def by_tshark(file: Path) -> Counter[str]:
    """What tshark counts of the data of 10.0.0.1, under our names."""
    counts: Counter[str] = Counter()
    words = [word for field in FIELDS for word in ("-e", field)]
    streams = set()
    sent: dict[str, int] = {}  # the highest number after the data of each stream
    last: dict[str, tuple[str, str]] = {}
    for line in output("tshark", "-n", "-r", file, "-T", "fields", *words).splitlines():
        one = dict(zip(FIELDS, line.split("\t"), strict=True))
        streams.add(one["tcp.stream"])
        if one["ip.src"] != "10.0.0.1":
            counts["segs_in"] += 1
            counts["dup_acks_in"] += bool(one["tcp.analysis.duplicate_ack"])
            outstanding = int(one["tcp.ack"]) < sent.get(one["tcp.stream"], 0)
            counts["idle_dup_acks"] += bool(one["tcp.analysis.duplicate_ack"]) and not outstanding
            same = last.get(one["tcp.stream"]) == (one["tcp.ack"], "0") and one["tcp.window_size_value"] == "0"
            counts["closed_dup_acks"] += same and outstanding
            last[one["tcp.stream"]] = one["tcp.ack"], one["tcp.window_size_value"]
            blocks = [edge for edge in one["tcp.options.sack_le"].split(",") if edge]
            counts["sacks_rcvd"] += bool(blocks)
            counts["sack_blocks_rcvd"] += len(blocks)
            continue
        length = int(one["tcp.len"])
        sent[one["tcp.stream"]] = max(sent.get(one["tcp.stream"], 0), int(one["tcp.nxtseq"] or 0))
        counts["segs_out"] += 1
        counts["data_segs_out"] += length > 0
        counts["data_octets_out"] += length
        closed = last.get(one["tcp.stream"], ("", ""))[1] == "0"
        probe = length == 1 and closed
        counts["probes"] += probe
        again = one["tcp.analysis.retransmission"] or one["tcp.analysis.out_of_order"]
        counts["again"] += bool(again) and length > 0 and not probe
    counts["connections"] = len(streams)
    return counts


def by_tcptrace(file: Path) -> Counter[str]:
    """What tcptrace counts of the data of the ends that open connections, under our names."""
    text = output("tcptrace", "-n", "-l", "-r", file)
    counts: Counter[str] = Counter()
    names = {
        "total packets": ("segs_out", "segs_in"),
        "actual data pkts": ("data_segs_out", None),
        "actual data bytes": ("data_octets_out", None),
        "rexmt data pkts": ("again", None),
        "outoforder pkts": ("again", None),
        "duplicate acks": ("dup_acks_in", None),
        "sack pkts sent": (None, "sacks_rcvd"),
        "zwnd probe pkts": ("probes", None),
    }
    for name, ours in names.items():
        for pair in re.findall(rf"^ +{name}: +(\d+) .*? {name}: +(\d+)", text, re.MULTILINE):
            for key, value in zip(ours, pair, strict=True):
                if key is not None:
                    counts[key] += int(value)
    counts["connections"] = len(re.findall(r"^TCP connection \d+:", text, re.MULTILINE))
    return counts


def by_elephan(file: Path) -> Counter[str]:
    trace = el.analyze(file)
    counts: Counter[str] = Counter()
    names = ("segs_out", "segs_in", "data_segs_out", "data_octets_out", "dup_acks_in", "sacks_rcvd", "sack_blocks_rcvd")
    for row in trace.connections.to_pylist():
        assert row["source"] == "10.0.0.1"
        counts["connections"] += 1
        counts["again"] += row["segs_retrans"] + row["out_of_order"]
        counts["probes"] += row["window_probes"]
        for name in names:
            counts[name] += row[name] or 0
    return counts


LOSS = Way(loss=0.03)
CASES: dict[str, list[Conversation]] = {
    "loss": [Conversation(LOSS)],
    "loss at the receiver": [Conversation(LOSS, SERVER)],
    "much loss": [Conversation(Way(loss=0.2), seed=3)],
    "reordering": [Conversation(Way(late=0.05))],
    "reordering at the receiver": [Conversation(Way(late=0.05), SERVER)],
    "duplicates on the way": [Conversation(Way(loss=0.02, twice=0.1))],
    "wrap": [Conversation(LOSS, first=2**32 - 90_500)],
    "zero windows": [Conversation(Way(), stalls=(50, 120))],
    "zero windows and loss": [Conversation(LOSS, stalls=(50, 120), seed=5)],
    "without time stamps": [Conversation(LOSS, with_stamps=False)],
    "without SACK": [Conversation(LOSS, with_sack=False)],
    "headers only": [Conversation(LOSS, capture=Capture(snap=96))],
    "many connections": [Conversation(Way(loss=0.05), port=40_000 + i, seed=i, begin=1 + i / 7) for i in range(12)],
    "ports used again": [Conversation(LOSS, seed=i, begin=1 + 20.0 * i, first=1001 + 900_000 * i) for i in range(3)],
}


@pytest.mark.parametrize("case", CASES)
def test_they_agree(case: str, tmp_path: Path) -> None:
    file = captured(*CASES[case]).write(tmp_path / "c.pcap")
    ours, tshark, tcptrace = by_elephan(file), by_tshark(file), by_tcptrace(file)
    tshark["dup_acks_in"] -= tshark["idle_dup_acks"]
    tcptrace["dup_acks_in"] -= tshark["idle_dup_acks"] + tshark["closed_dup_acks"]
    assert {name: tshark[name] for name in ours} == dict(ours)
    assert {name: tcptrace[name] for name in ours if name != "sack_blocks_rcvd"} == {
        name: value for name, value in ours.items() if name != "sack_blocks_rcvd"
    }
