"""What a run says of packets that are larger than a link carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elephan.report.words.view import arrow
from elephan.result.run import Run
from elephan.scenario import kinds
from elephan.table.ip import IP_HEADER_BYTES, TCP_HEADER_BYTES

REASON = "mtu_exceeded"  # of drops
LINKS_MAX = 3  # that are named


def too_small(run: Run) -> list[Mapping[str, Any]]:
    """The links of a run whose MTU is below the largest packet that crosses them; empty if the run dropped no packet for an MTU.

    Each has `link`, `mtu_bytes`, `packet_bytes` of this packet, and the `traffic` that sends it.
    """
    if not run.summary.get("drops_by_reason", {}).get(REASON, 0):
        return []
    return list(kinds.scenario(run.scenario).get("small_mtus", []))


def remarks(run: Run) -> list[str]:
    """A sentence for each traffic whose packets a link did not carry."""
    found: dict[tuple[str, int, int], list[Mapping[str, Any]]] = {}
    for one in too_small(run):
        found.setdefault((one["traffic"], one["packet_bytes"], one["mtu_bytes"]), []).append(one)
    return [_remark(key, links) for key, links in found.items()]


def _remark(key: tuple[str, int, int], links: list[Mapping[str, Any]]) -> str:
    traffic, packet, mtu = key
    more = f" and {len(links) - LINKS_MAX} more" if len(links) > LINKS_MAX else ""
    names = ", ".join(arrow(one["link"]) for one in links[:LINKS_MAX]) + more
    have = "have an MTU" if len(links) > 1 else "has an MTU"
    said = f"{names} {have} of {mtu} B, and packets of {traffic} have up to {packet} B: larger packets are dropped."
    if not links[0]["tcp"]:
        return said
    mss = mtu - IP_HEADER_BYTES[links[0]["ip"]] - TCP_HEADER_BYTES
    return f'{said} No sender finds the MTU of a path: say tcp = {{ mss = "{mss} B" }} for {traffic}.'
