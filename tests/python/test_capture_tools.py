"""Captures read by tools that know nothing of us: tshark and tcptrace find no fault and count what we count.

Debian has both: `apt-get install tshark tcptrace`. Each connection is looked at where its data come from.

What the tools call by other names, or count otherwise:

- tshark takes a retransmission for a segment out of order when it follows the highest segment closely and is no fast
  retransmission (Wireshark's guide, "TCP Analysis"). At the sender nothing has been reordered: both are retransmissions.
- RFC 5681 section 2 calls an ACK a duplicate only if data are outstanding, if it offers the window of the ACK before it, and if
  it has neither SYN nor FIN. Both tools count the ACK with a D-SACK block (RFC 2883) that answers a needless retransmission
  when all is acknowledged. tshark compares the bare fields of windows, but that of a SYN is never scaled (RFC 7323 section
  2.2): when the first segment of data is lost, the first ACK after the SYN-ACK has the same field and another window.
  tcptrace counts SYN-ACKs that repeat an acknowledgement.
- RFC 4898 counts retransmitted data; tcptrace and tshark count repeated SYNs as well.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import elephan as el
import pytest

TOOLS = ("tshark", "editcap", "tcptrace")
ABSENT = [tool for tool in TOOLS if shutil.which(tool) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(ABSENT), reason=f"no {', '.join(ABSENT)}: apt-get install tshark tcptrace"),
]

SCENARIO = """
title    = "Losses, seen by others"
duration = "8 s"
stack    = "{stack}"

[hosts.client]
count = 2
[hosts.server]
[switches.sw]

[[links]]
between = ["client", "sw"]
rate    = "1 Gbps"
delay   = "1 ms"

[[links]]
between = ["sw", "server"]
rate    = "20 Mbps"
delay   = "10 ms"
queue   = {{ kind = "fifo", {queue} }}
forward = {{ loss = {loss}, packets = "data" }}

[[traffic]]
name = "upload"
from = "client"
to   = "server"
{traffic}
tcp  = {{ {tcp} }}

[record]
captures = ["client"]
snap     = "64 KiB"
"""

PLAIN = {"stack": "rfc", "queue": 'limit = "1 bdp"', "loss": '"none"', "traffic": 'kind = "bulk"\nsize = "4 MB"', "tcp": ""}
AT_RANDOM = {"loss": "{ bernoulli = 0.02 }"}
CASES: dict[str, dict[str, str]] = {
    "random": AT_RANDOM | {"tcp": 'congestion_control = "cubic"'},
    "bursts": {"loss": "{ gilbert_elliott = { to_bad = 0.002, to_good = 0.2 } }"},
    "full queue": {"queue": 'limit = "20 p"', "traffic": 'kind = "bulk"\ncongestion_control = "cubic"'},
    "messages": AT_RANDOM | {"traffic": 'kind = "messages"\nsize = { exponential = "20 KB" }\nload = "5 Mbps"'},
    "marks": AT_RANDOM | {"queue": 'limit = "60 p", mark_above = "20 p"', "tcp": 'ecn = "classic"'},
    "without timestamps": AT_RANDOM | {"stack": "winxp"},
    "without SACK": AT_RANDOM | {"tcp": "sack = false"},
    "impatient": AT_RANDOM | {"tcp": 'rto_min = "1 ms", rto_initial = "15 ms"'},
}

PAUSES = """
duration = "2 ms"

[hosts.client]
count = 3
[hosts.server]

[switches.sw]
memory       = "48 KiB"
flow_control = { kind = "pause", xoff = "21 KiB", xon = "16 KiB" }

[[links]]
between = ["client", "sw"]
rate    = "10 Gbps"
delay   = "500 ns"

[[links]]
between = ["sw", "server"]
rate    = "10 Gbps"
delay   = "500 ns"

[[traffic]]
name = "upload"
from = "client"
to   = "server"
kind = "bulk"

[record]
captures = ["sw->client", "client"]
"""

FIELDS = [
    "frame.number",
    "ip.src",
    "tcp.flags.syn",
    "tcp.nxtseq",
    "tcp.ack",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack_num",
    "tcp.analysis.duplicate_ack_frame",
    "tcp.options.sack_le",
    "tcp.options.wscale",
]
COUNTS = ("segs_out", "segs_in", "segs_retrans", "dup_acks_in", "idle_dup_acks", "sacks_rcvd", "sack_blocks_rcvd")
CHECKS = [word for layer in ("ip", "tcp", "udp") for word in ("-o", f"{layer}.check_checksum:TRUE")]
FAULTS = (
    "_ws.malformed or ip.checksum.status != 1 or tcp.checksum.status != 1 or tcp.analysis.lost_segment"
    " or tcp.analysis.ack_lost_segment or tcp.analysis.reused_ports or tcp.option.len.invalid"
)


def output(*words: Any) -> str:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def frames(capture: Path) -> list[dict[str, str]]:
    """tshark's fields of every frame; empty if a frame has none."""
    words = [word for field in FIELDS for word in ("-e", field)]
    lines = output("tshark", "-n", "-r", capture, "-T", "fields", *words).splitlines()
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines]


def by_tshark(capture: Path, client: str) -> dict[str, int]:
    """What tshark counts, under our names; apart, as `idle_dup_acks`, what repeats an ACK when nothing is outstanding."""
    seen = frames(capture)
    sent = 0
    syns = {frame["frame.number"]: frame for frame in seen if frame["tcp.flags.syn"] == "1"}
    counts = dict.fromkeys(COUNTS, 0)
    for frame in seen:
        if frame["ip.src"] == client:
            counts["segs_out"] += 1
            sent = max(sent, int(frame["tcp.nxtseq"] or 0))
            again = frame["tcp.analysis.retransmission"] or frame["tcp.analysis.out_of_order"]
            counts["segs_retrans"] += bool(again) and frame["frame.number"] not in syns
            continue
        counts["segs_in"] += 1
        counts["sacks_rcvd"] += bool(frame["tcp.options.sack_le"])
        counts["sack_blocks_rcvd"] += len([edge for edge in frame["tcp.options.sack_le"].split(",") if edge])
        if frame["tcp.analysis.duplicate_ack_num"] and int(frame["tcp.ack"]) == sent:
            counts["idle_dup_acks"] += 1
        elif frame["tcp.analysis.duplicate_ack_num"]:
            first = syns.get(frame["tcp.analysis.duplicate_ack_frame"])
            unscaled = first is not None and bool(first["tcp.options.wscale"])
            counts["dup_acks_in"] += not (unscaled and frame["tcp.analysis.duplicate_ack_num"] == "1")
    return counts


def by_tcptrace(capture: Path, pcap: Path) -> dict[str, int]:
    """What tcptrace counts, under our names; it does not read pcapng."""
    output("editcap", "-F", "pcap", capture, pcap)
    text = output("tcptrace", "-n", "-l", "-r", pcap)
    assert text.count("TCP connection 1:") == 1
    assert "TCP connection 2:" not in text

    def pair(name: str) -> tuple[int, int]:
        """The figures of the two directions."""
        found = re.findall(rf"^ +{name}: +(\d+) .*? {name}: +(\d+)", text, re.MULTILINE)
        assert len(found) == 1, name
        return int(found[0][0]), int(found[0][1])

    def repeated_syns(place: int) -> int:
        found = re.findall(r"SYN/FIN pkts sent: +(\d+)/", text)
        return int(found[place]) - 1

    assert pair("truncated packets") == (0, 0)
    assert pair("unique bytes sent")[1] == 0
    return {
        "segs_out": pair("total packets")[0],
        "segs_in": pair("total packets")[1],
        "data_segs_out": pair("actual data pkts")[0],
        "data_octets_out": pair("actual data bytes")[0],
        "segs_retrans": pair("rexmt data pkts")[0] - repeated_syns(0),
        "octets_retrans": pair("rexmt data bytes")[0] - repeated_syns(0),
        "sacks_rcvd": pair("sack pkts sent")[1],
        "dup_acks_in": pair("duplicate acks")[0] - repeated_syns(1),
    }


@pytest.mark.parametrize("case", CASES)
def test_others_count_what_we_count(case: str, tmp_path: Path) -> None:
    run = el.run(SCENARIO.format(**(PLAIN | CASES[case])), out=tmp_path / "r", report=False)
    flows = run.flows.to_pylist()
    assert len(flows) == len(run.captures) == 2
    for number, (flow, capture) in enumerate(zip(flows, run.captures, strict=True), 1):
        assert flow["source"] == capture.stem
        assert flow["segs_retrans"] > 10, "the case has losses"
        assert output("tshark", "-n", *CHECKS, "-r", capture, "-Y", FAULTS) == ""
        tshark = by_tshark(capture, f"10.0.0.{number}")
        idle = tshark.pop("idle_dup_acks")
        assert tshark == {name: flow[name] for name in tshark}
        tcptrace = by_tcptrace(capture, tmp_path / "c.pcap")
        tcptrace["dup_acks_in"] -= idle
        assert tcptrace == {name: flow[name] for name in tcptrace}
        (ours,) = el.analyze(capture).connections.to_pylist()
        assert {name: ours[name] for name in tcptrace | tshark} == tcptrace | tshark


@pytest.mark.parametrize(("framing", "protocol"), [("ethernet", "eth"), ("ppp", "ppp"), ("none", "raw")])
def test_every_framing_is_read(framing: str, protocol: str, tmp_path: Path) -> None:
    changes = {"links[0].framing": framing, "links[1].framing": framing, "duration": "500 ms"}
    changes |= {"record.captures": ["client[0]", "sw->server"], "traffic.upload.kind": "cbr", "traffic.upload.rate": "5 Mbps"}
    run = el.run(SCENARIO.format(**PLAIN), set=changes, out=tmp_path / "r", report=False)
    assert [row["protocol"] for row in run.flows.to_pylist()] == ["udp", "udp"]
    for capture in run.captures:
        assert output("tshark", "-n", *CHECKS, "-r", capture, "-Y", "_ws.malformed or udp.checksum.status != 1") == ""
        layers = output("tshark", "-n", "-r", capture, "-c", 1, "-T", "fields", "-e", "frame.protocols").split(":")
        assert layers[0].strip() == protocol
        assert "udp" in layers


def test_pauses_are_read(tmp_path: Path) -> None:
    run = el.run(PAUSES, out=tmp_path / "r", report=False)
    sent = {row["name"]: row["pauses_sent"] for row in run.ports.to_pylist()}
    assert sum(sent.values()) > 10
    for capture in run.captures:
        pauses = output("tshark", "-n", "-r", capture, "-Y", "macc.opcode == 1").splitlines()
        assert len(pauses) == sent.get(capture.stem.replace(".to.", "->"), 0), "only on the wire"
        assert output("tshark", "-n", "-r", capture, "-Y", "_ws.malformed") == ""
