"""Captures of every kind of file: link layers, tunnels, fragments, packet blocks, compression, pipes, several files, filters.

Each right value is a literal: it is what the packets of the file carry, counted by hand.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import elephan as el
import pyarrow as pa
import pytest
import segments as s
from elephan.report.page.trace_page import answer
from segments import SERVER, Capture, rows, trace

# Encapsulation.


def mac(ether_type: int, rest: bytes) -> bytes:
    return s.ETHERNET + struct.pack(">H", ether_type) + rest


def udp(port: int, payload: bytes) -> bytes:
    return s.ipv4(struct.pack(">HHHH", 9999, port, 8 + len(payload), 0) + payload, ("192.0.2.1", "192.0.2.2"), protocol=17)


def gre(ether_type: int, payload: bytes, flags: int = 0, more: bytes = b"") -> bytes:
    return s.ipv4(struct.pack(">HH", flags, ether_type) + more + payload, ("192.0.2.1", "192.0.2.2"), protocol=47)


def minimal(packet: bytes) -> bytes:
    """The packet in the form of RFC 2004: both addresses in front of its payload."""
    header = packet[9:10] + b"\x80\0\0" + packet[16:20] + packet[12:16]
    return s.ipv4(header + packet[20:], ("192.0.2.1", "192.0.2.2"), protocol=55)


OUTER = ("192.0.2.1", "192.0.2.2")
WRAPS = {
    "VLAN": lambda p: mac(0x8100, b"\0\5\x08\0" + p),
    "two VLANs": lambda p: mac(0x88A8, b"\0\5\x81\0\0\6\x08\0" + p),
    "SNAP": lambda p: mac(8 + len(p), b"\xaa\xaa\3\0\0\0\x08\0" + p),
    "MPLS": lambda p: mac(0x8847, b"\0\1\0\x40\0\2\1\x40" + p),
    "MPLS with Ethernet": lambda p: mac(0x8847, b"\0\1\1\x40" + b"\0\0\0\0" + mac(0x0800, p)),
    "PPPoE": lambda p: mac(0x8864, b"\x11\0\0\7" + struct.pack(">H", 2 + len(p)) + b"\0\x21" + p),
    "GRE": lambda p: mac(0x0800, gre(0x0800, p)),
    "GRE with key and checksum": lambda p: mac(0x0800, gre(0x0800, p, 0xA000, b"\0" * 8)),
    "GRE with Ethernet": lambda p: mac(0x0800, gre(0x6558, mac(0x0800, p))),
    "ERSPAN": lambda p: mac(0x0800, gre(0x88BE, b"\0" * 8 + mac(0x0800, p), 0x1000, b"\0\0\0\1")),
    "IP in IP": lambda p: mac(0x0800, s.ipv4(p, OUTER, protocol=4)),
    "IP in IPv6": lambda p: mac(0x86DD, s.ipv6(p, ("fd00::9", "fd00::8"), protocol=4)),
    "VXLAN": lambda p: mac(0x0800, udp(4789, b"\x08\0\0\0\0\0\1\0" + mac(0x0800, p))),
    "Geneve": lambda p: mac(0x0800, udp(6081, b"\1\0\x65\x58\0\0\1\0" + b"\0" * 4 + mac(0x0800, p))),
    "GTP-U": lambda p: mac(0x0800, udp(2152, b"\x30\xff" + struct.pack(">H", len(p)) + b"\0\0\0\1" + p)),
}
# Headers of their own before the packet; the second is the tunnel that is told, nothing for a tag.
FURTHER = {
    "VN-Tag": (lambda p: mac(0x8926, b"\x80\0\0\1\x08\0" + p), None),
    "HSR": (lambda p: mac(0x892F, b"\0\x40\0\1\x08\0" + p), None),
    "802.1CB": (lambda p: mac(0xF1C1, b"\0\0\0\1\x08\0" + p), None),
    "MACsec in the clear": (lambda p: mac(0x88E5, b"\x20\0" + b"\0" * 12 + b"\x08\0" + p + b"\0" * 16), None),
    "802.1ah": (lambda p: mac(0x88E7, b"\0\0\0\7" + mac(0x0800, p)), "802.1ah"),
    "802.1ah with VLANs": (lambda p: mac(0x88A8, b"\0\5\x88\xe7\0\0\0\7" + mac(0x8100, b"\0\6\x08\0" + p)), "802.1ah"),
    "TRILL": (lambda p: mac(0x22F3, b"\0\5\0\1\0\2" + mac(0x0800, p)), "TRILL"),
    "TRILL with options": (lambda p: mac(0x22F3, b"\0\x45\0\1\0\2" + b"\0" * 4 + mac(0x0800, p)), "TRILL"),
    "NSH": (lambda p: mac(0x894F, b"\x0f\xc2\2\1\0\0\1\xff" + p), "NSH"),
    "EoIP": (lambda p: mac(0x0800, gre(0x6400, mac(0x0800, p), 0x2001, struct.pack(">HH", 14 + len(p), 256))), "EoIP"),
    "EtherIP": (lambda p: mac(0x0800, s.ipv4(b"\x30\0" + mac(0x0800, p), OUTER, protocol=97)), "EtherIP"),
    "minimal encapsulation": (lambda p: mac(0x0800, minimal(p)), "minimal encapsulation"),
    "routes in GRE": (lambda p: mac(0x0800, gre(0x0800, p, 0x4000, b"\0" * 4 + b"\x08\0\0\4" + b"\0" * 8)), "GRE"),
    "WCCP": (lambda p: mac(0x0800, gre(0x883E, b"\0\0\0\0" + p)), "GRE"),
    "Frame Relay in GRE": (lambda p: mac(0x0800, gre(0x6559, b"\x18\x41\3\xcc" + p)), "GRE"),
    "MPLS in GRE": (lambda p: mac(0x0800, gre(0x8847, b"\0\1\1\x40" + p)), "GRE"),
    "PPTP": (lambda p: mac(0x0800, gre(0x880B, b"\xff\3\0\x21" + p, 0x3001, b"\0" * 8)), "GRE"),
    "GRE in UDP": (lambda p: mac(0x0800, udp(4754, b"\0\0\x08\0" + p)), "GRE"),
    "MPLS in UDP": (lambda p: mac(0x0800, udp(6635, b"\0\1\1\x40" + p)), "MPLS"),
    "VXLAN-GPE": (lambda p: mac(0x0800, udp(4790, b"\x0c\0\0\1\0\0\1\0" + p)), "VXLAN"),
    "LISP": (lambda p: mac(0x0800, udp(4341, b"\x08\0\0\0\0\0\0\1" + p)), "LISP"),
    "L2TP": (lambda p: mac(0x0800, udp(1701, b"\0\2\0\1\0\2\xff\3\0\x21" + p)), "L2TP"),
    "L2TP with length and numbers": (lambda p: mac(0x0800, udp(1701, b"\x48\2" + b"\0" * 10 + b"\0\x21" + p)), "L2TP"),
    "L2TP over IP": (
        lambda p: mac(0x0800, s.ipv4(b"\0\0\0\7" + b"\1\2\3\4" + mac(0x0800, p), OUTER, protocol=115)),
        "L2TP",
    ),
}
LINKS = {
    0: lambda p: b"\2\0\0\0" + p,
    9: lambda p: b"\xff\3\0\x21" + p,
    50: lambda p: b"\x21" + p,
    101: lambda p: p,
    104: lambda p: b"\x0f\0\x08\0" + p,
    107: lambda p: b"\x18\x41\3\xcc" + p,
    105: lambda p: b"\x88\1" + b"\0" * 22 + b"\0\0" + b"\xaa\xaa\3\0\0\0\x08\0" + p,
    113: lambda p: b"\0\0\0\1\0\6" + b"\2" * 8 + b"\x08\0" + p,
    127: lambda p: b"\0\0\x08\0\0\0\0\0" + b"\x08\1" + b"\0" * 22 + b"\xaa\xaa\3\0\0\0\x08\0" + p,
    228: lambda p: p,
    276: lambda p: b"\x08\0" + b"\0" * 18 + p,
}


def plain(c: Capture) -> Capture:
    c.handshake()
    c.exchange(1.05, 1001, 10)
    return c


@pytest.mark.parametrize("name", WRAPS)
def test_what_is_common_is_unwrapped(name: str, tmp_path: Path) -> None:
    found = trace(plain(Capture(wrap=WRAPS[name])), tmp_path)
    (row,) = found.connections.to_pylist()
    assert (row["source"], row["delivered_bytes"], row["data_segs_out"], row["segs_retrans"]) == ("10.0.0.1", 10_000, 10, 0)
    assert (found.summary["tcp_segments"], found.summary["other"]) == (23, 0)
    tunnel = name.split(" with ")[0] if "VLAN" not in name and name != "SNAP" else None
    assert found.summary["tunnels"] == ({{"IP in IPv6": "IP in IP"}.get(name, tunnel): 23} if tunnel else {})


@pytest.mark.parametrize("name", FURTHER)
def test_further_headers_are_unwrapped(name: str, tmp_path: Path) -> None:
    wrap, tunnel = FURTHER[name]
    found = trace(plain(Capture(wrap=wrap)), tmp_path)
    (row,) = found.connections.to_pylist()
    assert (row["source"], row["delivered_bytes"], row["data_segs_out"], row["segs_retrans"]) == ("10.0.0.1", 10_000, 10, 0)
    assert found.summary["tunnels"] == ({tunnel: 23} if tunnel else {})


@pytest.mark.parametrize("before", [b"", b"\0\0\x12\x34\1\2\3\4", b"\0\1\0\0" + b"\0" * 9 + b"\0\0\x12\x34\1\2\3\4"])
def test_teredo(before: bytes, tmp_path: Path) -> None:
    found = trace(plain(Capture(version=6, wrap=lambda p: mac(0x0800, udp(3544, before + p)))), tmp_path)
    (row,) = found.connections.to_pylist()
    assert (row["source"], row["delivered_bytes"], found.summary["tunnels"]) == ("fd00::1", 10_000, {"Teredo": 23})


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("MACsec", mac(0x88E5, b"\x2c\0" + b"\0" * 60)),
        ("EoIP keepalive", mac(0x0800, gre(0x6400, b"", 0x2001, b"\0\0\0\1"))),
        ("GRE keepalive", mac(0x0800, gre(0, b""))),
        ("L2TP control", mac(0x0800, s.ipv4(b"\0\0\0\0" + b"\0" * 20, OUTER, protocol=115))),
    ],
)
def test_what_a_tunnel_has_beside_packets_is_named(name: str, frame: bytes, tmp_path: Path) -> None:
    c = plain(Capture())
    c.frames.append((2.0, frame, len(frame)))
    assert trace(c, tmp_path).summary["skipped"] == {name: 1}


@pytest.mark.parametrize("link_type", LINKS)
def test_link_layers(link_type: int, tmp_path: Path) -> None:
    (row,) = rows(plain(Capture(wrap=LINKS[link_type], link_type=link_type)), tmp_path)
    assert (row["delivered_bytes"], row["data_segs_out"]) == (10_000, 10)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_fragments_are_put_together(order: tuple[int, ...], tmp_path: Path) -> None:
    """A segment of 4000 B in fragments of 1480 B: one segment, whatever their order."""
    c = Capture()
    c.handshake()
    packet = c.ip(1001, 5001, length=4000, ident=77)
    data, pieces = packet[20:], []
    for at in range(0, len(data), 1480):
        more = 0x2000 if at + 1480 < len(data) else 0
        pieces.append(s.ipv4(data[at : at + 1480], ("10.0.0.1", "10.0.0.2"), ident=77, place=more | at // 8))
    for i, piece in enumerate(order):
        c.put(1.05 + i * 1e-5, pieces[piece])
    c.segment(1.06, 5001, 5001, by=SERVER)
    found = trace(c, tmp_path)
    (row,) = found.connections.to_pylist()
    assert (row["data_segs_out"], row["data_octets_out"], row["delivered_bytes"], row["missed_bytes"]) == (1, 4000, 4000, 0)
    counts = {key: found.summary[key] for key in ("packets", "tcp_segments", "fragments", "other")}
    assert counts == {"packets": 7, "tcp_segments": 5, "fragments": 2, "other": 0}


def test_every_packet_is_in_a_count(tmp_path: Path) -> None:
    c = plain(Capture())
    ping = s.ipv4(b"\x08\0" + b"\0" * 62, OUTER, protocol=1)
    lone = s.ipv4(b"x" * 100, OUTER, ident=9, place=185)
    for i in range(3):
        c.frames.append((2.0 + i, mac(0x0806, b"\0" * 46), 60))
    c.put(5.0, ping)
    c.put(5.1, lone)
    c.put(5.2, s.ipv4(b"\0" * 24, OUTER, protocol=89))
    c.frames.append((5.3, mac(0x1234, b"\0" * 46), 60))
    c.put(5.4, udp(53, b"?" * 30))
    found = trace(c, tmp_path)
    counts = found.summary
    assert (counts["packets"], counts["tcp_segments"], counts["udp_datagrams"], counts["other"]) == (31, 23, 1, 7)
    expected = {"ARP": 3, "ICMP": 1, "OSPF": 1, "EtherType 0x1234": 1, "fragments without their first one": 1}
    assert counts["skipped"] == expected
    (note,) = [note for note in found.notes if "not analysed" in note]
    assert note.startswith("7 packets were not analysed: 3 ARP, ")


def test_a_capture_without_tcp_or_udp_says_what_it_has(tmp_path: Path) -> None:
    c = Capture()
    c.frames += [(1.0 + i, mac(0x0806, b"\0" * 46), 60) for i in range(4)]
    assert answer(trace(c, tmp_path)) == ["4 packets, no TCP or UDP among them: 4 ARP."]
    c = Capture(link_type=147, wrap=lambda packet: packet)
    c.handshake()
    assert answer(trace(c, tmp_path)) == ["3 packets, and nobody knows whether TCP or UDP is among them: 3 link type 147."]


def test_packet_blocks_of_every_kind(tmp_path: Path) -> None:
    """Of a pcapng file: enhanced, simple (without a time), obsolete; an interface that is not described is said."""
    c = plain(Capture())
    frames = [(time, frame) for time, frame, _ in c.frames]
    data = s.SECTION + s.INTERFACE
    for i, (time, frame) in enumerate(frames):
        data += s.simple(frame) if i == 5 else s.obsolete(time, frame) if i % 2 else s.enhanced(time, frame)
    data += s.enhanced(9.0, frames[0][1], interface=3)
    file = tmp_path / "c.pcapng"
    file.write_bytes(data)
    found = el.analyze(file)
    (row,) = found.connections.to_pylist()
    assert (row["delivered_bytes"], row["data_segs_out"], row["segs_retrans"]) == (10_000, 10, 0)
    assert (found.summary["packets"], found.summary["tcp_segments"]) == (24, 23)
    assert found.summary["skipped"] == {"of an interface that the file does not describe": 1}
    assert any("1 packet has no time" in note for note in found.notes)


# Files.


def test_several_files_are_one_capture(tmp_path: Path) -> None:
    c = plain(Capture())
    whole = trace(c, tmp_path).connections
    parts = []
    for i, part in enumerate((c.frames[:8], c.frames[8:15], c.frames[15:])):
        parts.append(Capture(frames=part).write(tmp_path / f"ring{(i + 1) % 3}.pcap"))
    found = el.analyze(sorted(parts))
    assert found.connections.equals(whole)
    assert found.summary["packets"] == 23


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_compressed_files(kind: str, tmp_path: Path) -> None:
    c = plain(Capture())
    whole = trace(c, tmp_path).connections
    file = tmp_path / f"c.pcap.{'gz' if kind == 'gzip' else 'zst'}"
    with pa.CompressedOutputStream(str(file), kind) as out:
        out.write((tmp_path / "c.pcap").read_bytes())
    found = el.analyze(file)
    assert found.connections.equals(whole)
    assert found.name == "c"
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(file.read_bytes()[:-9])
    with contextlib.suppress(el.InputError):
        assert el.analyze(cut).summary["packets"] <= 23


def test_a_compressed_log(tmp_path: Path) -> None:
    data = (Path(__file__).parent / "data" / "ss.log").read_bytes()
    with gzip.open(tmp_path / "ss.log.gz", "wb") as out:
        out.write(data)
    (tmp_path / "ss.log").write_bytes(data)
    assert el.analyze(tmp_path / "ss.log.gz").connections.equals(el.analyze(tmp_path / "ss.log").connections)


def test_a_pipe(tmp_path: Path) -> None:
    file = plain(Capture()).write(tmp_path / "c.pcap")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    writer.start()
    found = el.analyze(pipe)
    writer.join()
    assert found.connections.equals(el.analyze(file).connections)


def test_the_command_reads_standard_input_and_several_files(tmp_path: Path) -> None:
    file = plain(Capture()).write(tmp_path / "c.pcap")
    words = [sys.executable, "-c", "from elephan.cli import main; main()", "analyze", "--out", str(tmp_path / "t")]
    done = subprocess.run([*words, "-"], input=file.read_bytes(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "10.0.0.1 → 10.0.0.2 delivered 10 kB" in done.stdout.decode()
    assert el.load(tmp_path / "t").name == "stdin"
    later = Capture()
    later.handshake(20.0, port=40_001)
    done = subprocess.run([*words, str(file), str(later.write(tmp_path / "d.pcap"))], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "26 packets in 19 s: 2 connections." in done.stdout
    done = subprocess.run([*words, "-"], input=b"", capture_output=True, text=False, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().strip() == "elephan: standard input: an empty file"


def test_a_filter(tmp_path: Path) -> None:
    c = plain(Capture())
    c.handshake(2.0, port=40_001)
    c.segment(2.05, 1001, 5001, length=300, port=40_001)
    c.segment(2.06, 5001, 1301, by=SERVER, port=40_001)
    c.put(3.0, udp(53, b"?" * 30))
    assert [row["delivered_bytes"] for row in rows(c, tmp_path, port=40_001)] == [300]
    assert [row["delivered_bytes"] for row in rows(c, tmp_path, host="192.0.2.2")] == [30]
    assert [row["delivered_bytes"] for row in rows(c, tmp_path, host=["10.0.0.1"], port=[40_000, 53])] == [10_000]
    # The first packet is at 1 s: until 1.15 s there are five segments, whose ACKs come 10 ms later.
    (row,) = rows(c, tmp_path, until="145 ms")
    assert (row["data_segs_out"], row["delivered_bytes"]) == (5, 5000)
    found = trace(c, tmp_path, since="1.5 s")
    assert found.summary["packets"] == 29
    assert found.summary["skipped"] == {"left out by the filter": 28}
    assert [row["protocol"] for row in found.connections.to_pylist()] == ["udp"]
    for wrong in ({"port": 70_000}, {"since": "5 s", "until": "1 s"}, {"since": "soon"}):
        with pytest.raises(el.InputError):
            trace(c, tmp_path, **wrong)
