"""A connection of QUIC as one endpoint logged it: what it sent and received, its round-trip times and its congestion control."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from elephan.base.quantity import counted, show
from elephan.capture.fields import COUNT, PORTS, Fields, record, records
from elephan.capture.intervals import Intervals
from elephan.capture.logrows import Line, Row, round_trips
from elephan.capture.quicpackets import Received, Sent, Way

_RTT_MS = 1e9
_RATE_BPS = 1e15
CLOCK_MS = 1e11  # a time that is larger is one since 1970
_CATEGORIES = ("transport", "recovery", "connectivity", "quic")
_PEERS = {"client": "server", "server": "client"}

Object = Mapping[str, Any]


class Endpoint:
    """One connection at one vantage point. Times that go back count as the time before them."""

    def __init__(self, file: int, group: str, point: str, flow: str, every_ns: int | None, fields: Fields) -> None:
        self.file, self.group, self.point, self._flow = file, group, point, flow
        self.fields = fields
        self.wall_ms: float | None = None  # when the log began, where its times do not say it
        self.knows_states = False
        self._begin_ms: float | None = None
        self._now_ns = self._start_ns = self._back = self._metrics = 0
        self._sent = Sent(Intervals(every_ns))
        self._received = Received(Intervals(every_ns))
        self._rtts = array("d")
        self._has_latest = self._closed = False
        self._flying_max: int | None = None
        self._cuts: list[Row] = []
        self._ends: tuple[str, int, str, int] | None = None
        self._takes = {
            "packet_sent": self._sent.take,
            "packet_received": self._receive,
            "packet_lost": self._sent.lose,
            "packets_acked": self._sent.acknowledge_listed,
            "metrics_updated": self._measure,
            "recovery_metrics_updated": self._measure,
            "congestion_state_updated": self._change,
            "connection_started": self._start,
            "connection_closed": self._close,
        }

    def take(self, time_ms: float, name: str, data: Object) -> None:
        """Takes an event; those of other protocols say nothing here."""
        category, _, event = name.partition(":")
        taker = self._takes.get(event)
        if taker is None or category not in _CATEGORIES:
            return
        if self._begin_ms is None:
            self._begin_ms = time_ms
        now = round((time_ms - self._begin_ms) * 1e6)
        self._back += now < self._now_ns
        self._now_ns = max(now, self._now_ns)
        taker(self._now_ns, data)

    def _receive(self, now_ns: int, data: Object) -> None:
        frames = records(data.get("frames"))
        self._received.take(now_ns, data)
        for frame in frames:
            if frame.get("frame_type") == "ack":
                self._sent.acknowledge(now_ns, frame, record(data.get("header")))

    def _measure(self, now_ns: int, data: Object) -> None:
        """Takes what the sender measures of the path, and its windows."""
        self._metrics += 1
        one = self._sent.intervals.at(now_ns)
        fields = self.fields
        latest, smoothed = (fields.number(data, name, _RTT_MS) for name in ("latest_rtt", "smoothed_rtt"))
        self._has_latest |= latest is not None
        rtt = latest if self._has_latest else smoothed
        if rtt:
            value = round(rtt * 1e6)
            self._rtts.append(value)
            one.rtt_sum, one.rtt_count = one.rtt_sum + value, one.rtt_count + 1
            one.rtt_min = value if one.rtt_min is None else min(one.rtt_min, value)
        if (window := fields.count(data, "congestion_window")) is not None:
            one.cwnd = window
        # A sender without a threshold yet writes the largest number it knows.
        threshold = data.get("ssthresh")
        if isinstance(threshold, int) and not isinstance(threshold, bool) and 0 < threshold < COUNT:
            one.ssthresh = threshold
        if (pace := fields.number(data, "pacing_rate", _RATE_BPS)) is not None:
            one.pacing = pace
        if (flying := fields.count(data, "bytes_in_flight")) is not None:
            one.flying = flying
            one.most = max(flying, one.most or 0)
            self._flying_max = max(flying, self._flying_max or 0)

    def _change(self, now_ns: int, data: Object) -> None:
        self.knows_states = True
        if str(data.get("new", "")).lower() == "recovery" and str(data.get("old", "")).lower() != "recovery":
            self._cuts.append({"time_ns": now_ns, "kind": "cut", "seq_bytes": self._sent.highest, "size_bytes": 0})

    def _start(self, _now_ns: int, data: Object) -> None:
        """Takes addresses: of `src` and `dst` (0.3), or of `local` and `remote`."""
        here, there = record(data.get("local")), record(data.get("remote"))
        fields = self.fields
        local = next((one for key in ("ip_v4", "ip_v6") if (one := fields.text(here, key, ""))), fields.text(data, "src_ip", ""))
        remote = next((one for key in ("ip_v4", "ip_v6") if (one := fields.text(there, key, ""))), fields.text(data, "dst_ip", ""))
        ports = [
            next((port for key in ("port_v4", "port_v6") if (port := fields.count(side, key, PORTS))), None)
            or fields.count(data, name, PORTS)
            or 0
            for side, name in ((here, "src_port"), (there, "dst_port"))
        ]
        if local and remote:
            self._ends = local, ports[0], remote, ports[1]

    def _close(self, _now_ns: int, _data: Object) -> None:
        self._closed = True

    @property
    def sent_any(self) -> bool:
        """Whether it logged what it sent."""
        return self._sent.packets > 0

    @property
    def has_rows(self) -> bool:
        """Whether there is anything to make a row of."""
        return bool(self._sent.packets or self._received.packets or self._metrics or self._sent.lost)

    @property
    def begin_ns(self) -> int | None:
        """When its first event was, ns since 1970; None if nobody knows."""
        if self._begin_ms is not None and self._begin_ms >= CLOCK_MS:
            return round(self._begin_ms * 1e6)
        return None if self.wall_ms is None else round(self.wall_ms * 1e6)

    def meets(self, peer: Endpoint) -> None:
        """Takes the addresses that the client knows and the earlier begin of both ends: its two rows are one connection."""
        swapped = None if peer._ends is None else (*peer._ends[2:], *peer._ends[:2])
        self._ends = (swapped or self._ends) if self.point == "server" else (self._ends or swapped)
        if self.begin_ns is not None and peer.begin_ns is not None:
            self._start_ns = min(peer.begin_ns - self.begin_ns, 0)

    def _named(self) -> tuple[str, int, str, int]:
        """Hosts and ports of this end and of the other."""
        if self._ends is not None:
            return self._ends
        point = self._flow if self.point == "network" else self.point
        here = point if point in _PEERS else "local"
        return here, 0, _PEERS.get(here, "peer"), 0

    def lines(self, several: bool, at_both_ends: bool) -> list[Line]:
        """Returns a row for what it sent, and one for what it received if the other end did not log it.

        A direction without payload has a row if it has measurements, or if it is the only one.
        """
        framed = self._sent.framed or self._received.framed
        here = self._line(self._sent, framed, several)
        here.row |= {"max_inflight_bytes": self._flying_max, "cong_signals": len(self._cuts) if self.knows_states else None}
        here.events += self._cuts + self._sent.events
        here.told += self._told()
        there = self._line(self._received, framed, several)
        carries = bool(there.row["delivered_bytes"]) and not at_both_ends
        speaks = bool(self._metrics or self._sent.lost or here.row["delivered_bytes"])
        return [line for line, shown in ((here, speaks or not carries), (there, carries)) if shown]

    def _line(self, way: Way, framed: bool, several: bool) -> Line:
        """The row and the series of a direction."""
        host, port, peer, peer_port = self._named()
        group = f" {self.group[:8]}" if several and self.group else ""
        if self._ends is None:
            host, peer, group = host + group, peer + group, ""
        ends, ports = (host, peer), (port, peer_port)
        back = way is self._received
        if back:
            ends, ports = ends[::-1], ports[::-1]
        samples = way.samples(framed)
        row: Row = {"protocol": "quic", "fin": self._closed, "segs_in": (self._sent if back else self._received).packets}
        row |= {"vantage": "between" if self.point == "network" else "receiver" if back else "sender"}
        row |= {"source": ends[0], "source_port": ports[0], "destination": ends[1], "destination_port": ports[1]}
        row |= {"start_ns": self._start_ns, "end_ns": self._now_ns, "data_start_ns": None, "data_end_ns": None}
        row |= way.row(framed) | round_trips(self._rtts)
        return Line(row, samples, f"{ends[0]} → {ends[1]}{group}")

    def _told(self) -> list[str]:
        sent, lost = self._sent.packets, self._sent.lost
        found = []
        if sent or lost:
            share = f" ({show(lost / sent, '%', 2)})" if sent and lost else ""
            found.append(f"Its sender logged {counted(sent, 'packet')} and declared {counted(lost, 'packet')} lost{share}.")
        if self.knows_states:
            found.append(f"Its congestion control entered recovery {counted(len(self._cuts), 'time')}.")
        return found

    def notes(self) -> list[str]:
        """Returns sentences about what the log does not say."""
        notes = []
        who = f"{self.point or 'endpoint'} {self.group[:8]}".strip()
        if not self._sent.packets and not self._received.packets:
            notes.append(f"{who}: the log has no packets: what was delivered is unknown")
        elif not (self._sent.framed or self._received.framed):
            notes.append(f"{who}: the log does not say which frames packets carry: bytes are those of packets with their headers")
        if self._sent.packets and not self._sent.acknowledged:
            notes.append(f"{who}: the log has no acknowledgements: what is called delivered is what was sent")
        if self._back:
            notes.append(
                f"{who}: {counted(self._back, 'event')} with an earlier time than the event before: they count at its time"
            )
        return notes
