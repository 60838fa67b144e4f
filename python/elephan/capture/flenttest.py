"""A test of Flent: its times, its series, and which of them is what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

# Units in which Flent writes rates and times, by their names: bit/s, ns.
RATES = {"mbits/s": 1e6, "mbit/s": 1e6, "mbps": 1e6, "kbits/s": 1e3, "kbit/s": 1e3, "gbits/s": 1e9, "bits/s": 1.0}
TIMES = {"ms": 1e6, "s": 1e9, "us": 1e3}
# What `ss` says of a flow (`NAME::tcp_rtt`), with the units of Flent.
OF_SOCKET = {
    "tcp_cwnd": "packets",
    "tcp_rtt": "ms",
    "tcp_rtt_var": "ms",
    "tcp_pacing_rate": "Mbits/s",
    "tcp_delivery_rate": "Mbits/s",
}
_COMPUTED = re.compile(r"(?:^|[ :])(?:avg|average|mean|sum|totals?|fairness)$", re.IGNORECASE)
_OF_TIME = re.compile(r"\(ms\)|^ping\b|\blatency$", re.IGNORECASE)  # names of series of ms
_COMPUTES = ("AverageRunner", "SumRunner", "FairnessRunner", "DiffMinRunner")
_RATE_FIRST = ("tcp", "udp", "sctp")  # words that begin the name of a flow


def moment(value: Any) -> int | None:
    """Returns a time of the metadata, ns since 1970; a time without a zone is UTC. None where it is none."""
    try:
        when = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return round(when.timestamp() * 1e6) * 1000 if when.year >= 1970 else None


@dataclass(frozen=True)
class Series:
    """Values at the times of a test; None where one is unknown."""

    name: str
    values: list[float | None]
    about: Mapping[str, Any]

    @property
    def parent(self) -> str:
        """The flow that `ss` looked at; empty for other series."""
        name, _, key = self.name.rpartition("::")
        return name if key.startswith("tcp_") else ""

    @property
    def unit(self) -> str:
        """The unit, as Flent calls it; empty where nobody knows it."""
        if self.parent:
            return OF_SOCKET.get(self.name.rpartition("::")[2], "")
        if "fairness" in self.name.lower():
            return ""  # versions of Flent wrote Mbits/s for this index
        told = self.about.get("UNITS")
        if isinstance(told, str) and told:
            return told
        first = self.name.split(" ")[0].lower()
        return "Mbits/s" if first in _RATE_FIRST else "ms" if _OF_TIME.search(self.name) else ""

    @property
    def is_computed(self) -> bool:
        """Whether Flent computed it of other series."""
        return _COMPUTED.search(self.name) is not None or self.about.get("RUNNER") in _COMPUTES

    @property
    def is_rate(self) -> bool:
        """Whether it says how fast data went, of a flow or of several."""
        return not self.parent and self.unit.lower() in RATES

    @property
    def is_flow(self) -> bool:
        """Whether it is the rate of one flow."""
        return self.is_rate and not self.is_computed

    @property
    def is_latency(self) -> bool:
        """Whether it has round-trip times beside the flows, measured or averaged."""
        return not self.parent and self.unit.lower() in TIMES

    @property
    def is_probe(self) -> bool:
        """Whether it has round-trip times that were measured beside the flows."""
        return self.is_latency and not self.is_computed

    @property
    def factor(self) -> float:
        """What a value is multiplied with: to bit/s, to ns."""
        return RATES.get(self.unit.lower()) or TIMES.get(self.unit.lower()) or 1.0


@dataclass(frozen=True)
class Test:
    """A result of Flent. Times and lengths of steps are in s from the begin of the test."""

    name: str
    metadata: Mapping[str, Any]
    times: list[float]
    spans: list[float]
    series: dict[str, Series]
    raw: Mapping[str, Any]
    begin_ns: int | None

    def text(self, name: str) -> str:
        """Returns a text of the metadata; empty where there is none."""
        value = self.metadata.get(name)
        return value if isinstance(value, str) else ""

    @cached_property
    def hosts(self) -> list[str]:
        """The hosts that the test connected to."""
        listed = self.metadata.get("HOSTS")
        found = [one for one in (listed if isinstance(listed, list) else []) if isinstance(one, str) and one]
        return found or [self.text("HOST") or "server"]

    @cached_property
    def local(self) -> str:
        """The host that ran the test."""
        return self.text("LOCAL_HOST") or "client"

    def host_of(self, name: str) -> str:
        """Returns the remote host of a series: the one that its name ends with, else the first."""
        return next((host for host in self.hosts if name.endswith(f" {host}")), self.hosts[0])

    @cached_property
    def load_s(self) -> tuple[float, float] | None:
        """When the flows carried something: from when to when; None if they never did."""
        times = [
            (time, time + span)
            for one in self.series.values()
            if one.is_flow
            for time, span, value in zip(self.times, self.spans, one.values, strict=True)
            if value
        ]
        return (min(begin for begin, _ in times), max(end for _, end in times)) if times else None
