"""IPv6 below a run's traffic, and links with an MTU: what others read in the captures, and what the run says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import elephan as el
import pytest
import warningchecks
from elephan import cli
from elephan.report.words.warnings import warnings
from stories import Rows

SCENARIO = """
title    = "Two hosts and a switch"
duration = "3 s"
stack    = "rfc"
ip       = "v6"

[hosts.client]
[hosts.server]
[switches.sw]

[[links]]
between = ["client", "sw"]
rate    = "100 Mbps"
delay   = "1 ms"

[[links]]
between = ["sw", "server"]
rate    = "20 Mbps"
delay   = "10 ms"

[[traffic]]
name = "upload"
from = "client"
to   = "server"
kind = "bulk"
size = "200 kB"

[[traffic]]
name = "voice"
from = "server"
to   = "client"
kind = "cbr"
rate = "100 kbps"
packet_size = "160 B"
"""
SMALL = {"links[1].forward.mtu": "1400 B", "ip": "v4"}


def test_packets_have_the_headers_of_ipv6() -> None:
    """Segments of 1440 B less 12 of timestamps; 160 B of payload are 208 B of IPv6, 246 B on Ethernet."""
    run = el.run(SCENARIO, report=False)
    upload, voice = run.flows.to_pylist()
    assert (upload["cur_mss"], upload["delivered_bytes"]) == (1428, 200_000)
    assert voice["data_segs_in"] == pytest.approx(3 * 100e3 / 8 / 246, abs=2)
    assert run.summary["drops"] == 0
    assert el.run(run.scenario, report=False).flows == run.flows, "the resolved scenario gives the same run"


@pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark: apt-get install tshark")
@pytest.mark.parametrize("framing", ["ethernet", "ppp", "none"])
def test_tshark_reads_ipv6(framing: str, tmp_path: Path) -> None:
    """No packet is malformed and no checksum is wrong; addresses are those of docs/captures.md."""
    changes = {f"links[{i}].framing": framing for i in (0, 1)} | {"record.captures": ["client"], "record.snap": "64 KiB"}
    run = el.run(SCENARIO, out=tmp_path / "r", set=changes, report=False)
    (file,) = run.captures
    checks = [f"-o{protocol}.check_checksum:TRUE" for protocol in ("tcp", "udp")]
    fields = ["ipv6.src", "tcp.checksum.status", "udp.checksum.status", "_ws.malformed", "_ws.expert.severity", "tcp.len"]
    command = ["tshark", "-r", str(file), *checks, "-Tfields", *(f"-e{name}" for name in fields)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    assert len(rows) > 200
    assert {row[0] for row in rows} == {"fd00::a00:1", "fd00::a00:2"}
    assert {row[1] for row in rows} == {row[2] for row in rows} == {"", "1"}  # 1: good
    assert {row[3] for row in rows} == {""}
    # Severities of warnings and errors are 6 and 8 in the upper digits (0x600000, 0x800000).
    assert not {int(one) for row in rows for one in row[4].split(",") if one} & {0x600000, 0x800000}
    assert sum(int(row[5] or 0) for row in rows if row[0] == "fd00::a00:1") == 200_000


def test_elephan_reads_its_own_captures_of_ipv6(tmp_path: Path) -> None:
    run = el.run(SCENARIO, out=tmp_path / "r", pcap=True, report=False)
    trace = el.analyze(run.captures[0])
    (row,) = [row for row in trace.connections.to_pylist() if row["protocol"] == "tcp"]
    assert row["data_octets_out"] == 200_000


def test_a_link_with_a_small_mtu_says_so() -> None:
    run = el.run(SCENARIO, set=SMALL, report=False)
    upload = run.flows.to_pylist()[0]
    assert upload["delivered_bytes"] == 0
    assert run.summary["drops_by_reason"] == {"mtu_exceeded": run.statistic("mtu_drops.sum")}
    (said,) = warnings(run)
    warningchecks.judge(Rows(run), said)
    assert said == (
        "sw → server has an MTU of 1400 B, and packets of upload have up to 1500 B: larger packets are dropped. "
        'No sender finds the MTU of a path: say tcp = { mss = "1360 B" } for upload.'
    )
    better = el.run(SCENARIO, set=SMALL | {"traffic.upload.tcp": {"mss": "1360 B"}}, report=False)
    assert (better.flows.to_pylist()[0]["delivered_bytes"], warnings(better)) == (200_000, [])


def test_explain_names_the_mtu() -> None:
    text = " ".join(finding.text for finding in el.explain(el.run(SCENARIO, set=SMALL, report=False)).findings)
    assert "because the link carries no packet so large" in text
    assert "were larger than the MTU of a link on the way" in text


def test_an_mss_that_the_hosts_link_cannot_carry_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO)
    wrong = ["run", str(tmp_path / "x.toml"), "-s", "links[0].mtu=1500 B", "-s", "tcp.mss=1460 B"]
    assert cli.status_of(wrong) == 2
    error = capsys.readouterr().err
    assert "mss" in error
    assert "1440 B at most" in error
    assert error.count("\n") == 1
