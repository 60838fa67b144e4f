"""What a burst of datagrams tells about the path: the slow link's rate and the memory before it, from a receiver's log.

A burst leaves the sender with one packet every `gap`; behind a slower link packets come one every `spacing`, longer than `gap`,
and what waits before the link grows by 1 - gap / spacing packets for each that is sent. The first one that is lost, number n,
found M bytes of memory full: `M = n B (1 - gap / spacing)`, with B the bytes that a packet takes of it (its frame, without
preamble and gap on the wire). It is known to about a packet: B, in bytes. Source: the method of 45 000 UDP packets of 1 kB that
Meijer, de Laat and others used at Amsterdam (2002, 2003).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elephan.base.errors import InputError
from elephan.base.quantity import bits_per_second
from elephan.scenario import kinds
from elephan.table.ip import UDP_HEADER_BYTES, ip_header_bytes
from elephan.table.rows import Array, column, texts
from elephan.table.steps import line_rate

if TYPE_CHECKING:
    from elephan.result.run import Run

# What a link's framing puts around an IP packet: what a queue counts, and what the wire carries.
FRAME_BYTES = {"ethernet": 18, "ppp": 2, "none": 0}
WIRE_BYTES = {"ethernet": 38, "ppp": 2, "none": 0}
ENOUGH = 20  # received packets from which a spacing is taken


@dataclass(frozen=True)
class Reading:
    """What a log of a burst says. Packets are counted from 0."""

    packets: int
    received: int
    first_lost: int | None  # None: nothing was lost
    gap_s: float  # from packet to packet at the sender
    spacing_s: float  # the same at the receiver where the slow link was busy; NaN if too few came
    frame_bytes: float
    memory_bytes: float  # NaN if nothing was lost: then it is at least `reached_bytes`
    reached_bytes: float  # the most that has waited, by the same formula

    @property
    def lost(self) -> int:
        return self.packets - self.received

    @property
    def lost_share(self) -> float:
        """Share of those after the first lost one that did not come either."""
        return math.nan if self.first_lost is None else self.lost / (self.packets - self.first_lost)

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, ready for JSON."""
        return {**vars(self), "lost": self.lost, "lost_share": self.lost_share}


def read_log(seq: npt.ArrayLike, time_s: npt.ArrayLike, packets: int, gap_s: float, frame_bytes: float) -> Reading:
    """Reads a receiver's log: `seq` and `time_s`, the numbers (from 0) and times of arrival of n datagrams; returns a `Reading`.

    `packets` and `gap_s`: how many were sent, and how far apart in seconds. `frame_bytes`: what each takes of a memory. Errors:
    ValueError for arrays of different lengths, an empty log or numbers that were not sent.
    """
    number, time = np.asarray(seq, dtype=np.int64), np.asarray(time_s, dtype=float)
    if number.ndim != 1 or number.shape != time.shape or not number.size:
        raise ValueError("a log of a burst needs as many times as numbers, at least one")
    if number.min() < 0 or number.max() >= packets:
        raise ValueError(f"a burst of {packets} packets has numbers from 0 to {packets - 1}, not {number.min()} to {number.max()}")
    came = np.zeros(packets, dtype=bool)
    came[number] = True
    lost = np.flatnonzero(~came)
    first = int(lost[0]) if lost.size else None
    spacing = _spacing(time)
    growth = max(0.0, 1 - gap_s / spacing) if spacing > 0 else math.nan
    reached = (packets if first is None else first) * frame_bytes * growth
    return Reading(
        packets=packets,
        received=int(came.sum()),
        first_lost=first,
        gap_s=gap_s,
        spacing_s=spacing,
        frame_bytes=frame_bytes,
        memory_bytes=math.nan if first is None else reached,
        reached_bytes=reached,
    )


def _spacing(time: Array) -> float:
    """Time from packet to packet where they come one right behind the other: the mean over all but the first tenth."""
    if time.size < ENOUGH:
        return math.nan
    begin = time.size // 10
    return float((time[-1] - time[begin]) / (time.size - 1 - begin))


def _framing(run: Run) -> str:
    framings = {str(link["framing"]) for link in run.resolved["links"]}
    if len(framings) > 1:
        raise InputError("links of this run have different framings: say with frame_bytes what a packet takes of the memory")
    return framings.pop()


def _bursts(run: Run) -> dict[str, dict[str, Any]]:
    """The entries that are bursts, by their names."""
    traffic = run.resolved.get("traffic", [])
    return {str(entry["name"]): entry for entry in traffic if kinds.traffic(entry).get("is_burst")}


def read_burst(run: Run, traffic: str = "", frame_bytes: float | None = None) -> Reading:
    """Returns what the log of a run's burst says. `traffic`: the entry, if there are several; the first flow of it is read.

    The run must have recorded the log (`record.datagrams`, as long as the burst). `frame_bytes` follows from the framing of the
    links unless these differ.

    >>> reading = el.read_burst(el.run("udp-burst"))
    >>> reading.first_lost, reading.lost, round(reading.lost_share, 2)
    (567, 37523, 0.84)
    """
    entries = _bursts(run)
    if not entries:
        raise InputError('this run has no burst of datagrams: a traffic entry such as kind = "burst"')
    if traffic and traffic not in entries:
        raise InputError(f'no burst "{traffic}": {", ".join(entries)}')
    name = traffic or next(iter(entries))
    entry = entries[name]
    rows = [i for i, one in enumerate(texts(run.flows, "traffic")) if one == name]
    row = run.flows.slice(rows[0], 1)
    flow, source = int(column(row, "flow")[0]), texts(row, "source")[0]
    log = run.datagrams
    mine = column(log, "flow") == flow
    burst = kinds.traffic(entry)
    payload = int(burst["payload_bytes"])
    packets = int(burst["flow_bytes"]) // payload
    received = int(column(row, "data_segs_in")[0])
    if int(mine.sum()) < received:
        raise InputError(f"the log of this run holds {int(mine.sum())} of {received} datagrams: set record.datagrams to {packets}")
    framing = _framing(run) if frame_bytes is None else ""
    packet = payload + UDP_HEADER_BYTES + ip_header_bytes(run, name)
    frame = packet + FRAME_BYTES[framing] if frame_bytes is None else frame_bytes
    if int(column(row, "data_segs_out")[0]) < packets:
        raise InputError("the run ended before the burst was sent")
    if not received:
        raise InputError("nothing of the burst has come")
    gap = _gap_s(run, entry, source, packet)
    return read_log(column(log, "seq")[mine], column(log, "time_ns")[mine] * 1e-9, packets, gap, frame)


def _gap_s(run: Run, entry: dict[str, Any], source: str, packet_bytes: float) -> float:
    """Seconds from packet to packet as they are sent: bytes on the sender's wire over its rate, or over the rate given."""
    first, framing = line_rate(run, source)
    rate = bits_per_second(entry["rate"]) if "rate" in entry else first
    return (packet_bytes + WIRE_BYTES[framing]) * 8 / min(rate, first)


def memory_from_burst(run: Run, traffic: str = "", frame_bytes: float | None = None) -> float:
    """Returns the bytes of memory before the slow link of a run, measured from the first packet that its burst lost.

    Arguments as for `read_burst`. Errors: InputError if nothing was lost (the memory is then at least `reached_bytes` of the
    reading) or the log is not there.

    >>> el.memory_from_burst(el.run("udp-burst"))
    500845.8874402376
    """
    reading = read_burst(run, traffic, frame_bytes)
    if reading.first_lost is None:
        raise InputError(f"the burst lost nothing: the memory is at least {reading.reached_bytes:.0f} B; send more packets")
    if math.isnan(reading.memory_bytes):
        raise InputError(f"only {reading.received} packets came: too few to see the rate of the slow link")
    return reading.memory_bytes
