"""Captures of one simulated transfer at both of its ends, and what happens to such files: other clocks, lost packets."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import elephan as el

ETHERNET = 14

SCENARIO = """
duration = "{duration}"
seed = 5
[hosts.sender]
[hosts.receiver]
[switches.a]
[switches.b]
[[links]]
between = ["sender", "a"]
rate = "1 Gbps"
delay = "1 us"
[[links]]
between = ["a", "b"]
rate = "{rate}"
delay = "{back}"
forward = {{ delay = "{there}", {forward} }}
backward = {{ {backward} }}
[[links]]
between = ["b", "receiver"]
rate = "1 Gbps"
delay = "1 us"
[[traffic]]
name = "bulk"
from = "sender"
to = "receiver"
kind = "bulk"
{traffic}
[record]
captures = ["sender", "receiver"]
{more}
"""


def scenario(**values: str) -> str:
    """A transfer over a path of 20 Mb/s, 10 ms there and 10 ms back unless `values` says otherwise."""
    usual = {"duration": "4 s", "rate": "20 Mbps", "there": "10 ms", "back": "10 ms"}
    usual |= {"forward": 'queue = { kind = "fifo", limit = "30 p" }', "backward": "", "traffic": "", "more": ""}
    text = SCENARIO.format(**(usual | values))
    return text.replace(", }", " }").replace("backward = {  }\n", "")


def captured(folder: Path, **values: str) -> tuple[el.Run, Path, Path]:
    """Runs a transfer; returns it with its captures at the sender and at the receiver."""
    run = el.run(scenario(**values), out=folder / "run", pcap=True, report=False)
    files = {file.stem: file for file in run.captures}
    return run, files["sender"], files["receiver"]


@dataclass(frozen=True)
class Packet:
    """A packet of a pcapng file, and the block that holds it."""

    time_ns: int
    data: bytes
    length: int
    block: bytes

    def field(self, at: int, form: str) -> int:
        return int(struct.unpack_from(form, self.data, ETHERNET + at)[0])

    @property
    def payload(self) -> int:
        return self.length - ETHERNET - 20 - (self.field(32, ">B") >> 4) * 4

    @property
    def seq(self) -> int:
        return self.field(24, ">I")

    @property
    def source(self) -> bytes:
        return self.data[ETHERNET + 12 : ETHERNET + 16]

    def written(self) -> bytes:
        """The block, with the time, the data and the length that the packet has now."""
        head = struct.pack("<IIII", self.time_ns >> 32, self.time_ns & 0xFFFFFFFF, len(self.data), self.length)
        return self.block[:12] + head + self.data + self.block[28 + len(self.data) :]

    def patched(self, at: int, new: bytes) -> Packet:
        """The packet with other bytes in its IP packet."""
        at += ETHERNET
        return replace(self, data=self.data[:at] + new + self.data[at + len(new) :])


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield kind, data[at : at + length]
        at += length


def packets(file: Path) -> list[Packet]:
    """The packets of a little-endian pcapng file with times in nanoseconds."""
    found = []
    for kind, block in _blocks(file.read_bytes()):
        if kind == 6:
            high, low, kept, length = struct.unpack_from("<IIII", block, 12)
            found.append(Packet(high << 32 | low, block[28 : 28 + kept], length, block))
    return found


def rewritten(file: Path, out: Path, change: Callable[[list[Packet]], list[Packet]]) -> Path:
    """Writes a file again with other packets."""
    head = b"".join(block for kind, block in _blocks(file.read_bytes()) if kind != 6)
    out.write_bytes(head + b"".join(packet.written() for packet in change(packets(file))))
    return out


def moved(file: Path, out: Path, offset_ns: int, ppm: float = 0.0) -> Path:
    """Writes a file as a clock would that is `offset_ns` ahead at its first packet, and gains `ppm`."""

    def change(all: list[Packet]) -> list[Packet]:
        begin = all[0].time_ns
        return [replace(p, time_ns=p.time_ns + offset_ns + round((p.time_ns - begin) * ppm / 1e6)) for p in all]

    return rewritten(file, out, change)


def without(file: Path, out: Path, places: set[int]) -> Path:
    """Writes a file as a capture would that has dropped the segments with payload at some places, counted from 0."""

    def change(all: list[Packet]) -> list[Packet]:
        data = [number for number, packet in enumerate(all) if packet.payload > 0]
        gone = {data[place] for place in places}
        return [packet for number, packet in enumerate(all) if number not in gone]

    return rewritten(file, out, change)


def _alike(one: Packet, other: Packet) -> bool:
    """Whether ACK and options are the same."""
    ack, options = slice(ETHERNET + 28, ETHERNET + 32), slice(ETHERNET + 40, len(one.data))
    return one.data[ack] == other.data[ack] and one.data[options] == other.data[options]


def offloaded(file: Path, out: Path, most: int) -> Path:
    """Writes a file as a host would that leaves cutting to its NIC: segments in a row with the same options are one."""

    def change(all: list[Packet]) -> list[Packet]:
        joined: list[Packet] = []
        for packet in all:
            last = joined[-1] if joined else None
            follows = last is not None and last.payload > 0 and packet.payload > 0 and last.source == packet.source
            if last is not None and follows and last.seq + last.payload == packet.seq and _alike(last, packet):
                length = last.length + packet.payload
                if length <= most:
                    joined[-1] = replace(last.patched(2, struct.pack(">H", length - ETHERNET)), length=length)
                    continue
            joined.append(packet)
        return joined

    return rewritten(file, out, change)
