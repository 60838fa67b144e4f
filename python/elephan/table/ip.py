"""The version of IP below the traffic of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elephan.result.run import Run

IP_HEADER_BYTES = {"v4": 20, "v6": 40}  # RFC 791, RFC 8200
TCP_HEADER_BYTES = 20  # without options
UDP_HEADER_BYTES = 8


def ip_header_bytes(run: Run, traffic: str) -> int:
    """Returns the bytes of the IP header of the packets of a traffic entry."""
    resolved = run.resolved
    entries = {entry.get("name"): entry for entry in resolved.get("traffic", [])}
    version = entries.get(traffic, {}).get("ip") or resolved.get("ip", "v4")
    return IP_HEADER_BYTES[version]
