"""Captures of what passes a link: pcap files with nanoseconds, of bare IP packets, as the link itself sees the times."""

from __future__ import annotations

import struct
import time
from pathlib import Path

PLACES = ("sender", "middle", "receiver")
# The headers with all options; the payload is zeros.
KEPT_BYTES = 120
NANOSECONDS, RAW_IP = 0xA1B23C4D, 101


class Taps:
    """Packets by place, in any order of their times."""

    def __init__(self) -> None:
        self.seen: dict[str, list[tuple[float, bytes, int]]] = {place: [] for place in PLACES}
        self.began, self.began_ns = time.perf_counter(), time.time_ns()

    def see(self, place: str, at: float, packet: bytes) -> None:
        self.seen[place].append((at, packet[:KEPT_BYTES], len(packet)))

    def write(self, folder: Path) -> None:
        """Writes a file for each place, as `sender.pcap`."""
        folder.mkdir(parents=True, exist_ok=True)
        for place, packets in self.seen.items():
            parts = [struct.pack("<IHHiIII", NANOSECONDS, 2, 4, 0, 0, KEPT_BYTES, RAW_IP)]
            for at, data, length in sorted(packets, key=lambda packet: packet[0]):
                seconds, nanoseconds = divmod(self.began_ns + int((at - self.began) * 1e9), 1_000_000_000)
                parts += [struct.pack("<IIII", seconds, nanoseconds, len(data), length), data]
            (folder / f"{place}.pcap").write_bytes(b"".join(parts))
