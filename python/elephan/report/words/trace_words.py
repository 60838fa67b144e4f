"""What a capture says about a connection: what limited it, what was retransmitted and why, how long the set-up took."""

from __future__ import annotations

from typing import Any

from elephan.base.quantity import counted, show
from elephan.capture.limits import Limits, limits_of

SHARE_MIN = 0.05  # of the time; what takes less is not named

_KINDS = (
    ("segs_retrans_fast", "fast"),
    ("segs_retrans_timeout", "after a timeout"),
    ("segs_retrans_probe", "as a tail probe"),
)


def connection_lines(row: dict[str, Any]) -> list[str]:
    """Sentences about one TCP connection of a capture; none about a log or about datagrams."""
    if row["protocol"] != "tcp" or not row["segs_out"] or row["rwin_closed_ns"] is None:
        return []
    lines = [_setup(row), _limited(row), _closed(row), _retransmissions(row)]
    return [line for line in lines if line]


def _setup(row: dict[str, Any]) -> str:
    if row["setup_ns"] is None:
        return ""
    again = f", with {counted(row['syn_retrans'], 'retransmitted SYN')}" if row["syn_retrans"] else ""
    return f"Its set-up took {show(row['setup_ns'], 'ns', 3)}{again}."


def _limited(row: dict[str, Any]) -> str:
    found = limits_of(row)
    if found is None:
        return ""
    named = [(share, words) for share, words in _shares(row, found) if share >= SHARE_MIN]
    if not named:
        return ""
    named.sort(key=lambda one: -one[0])
    said = ", then by ".join(f"{words} ({show(share, '%', 2)} of the time)" for share, words in named)
    unknown = []
    if found.idle is None:
        unknown.append("at the receiver a capture does not see an idle sender or a full window")
    elif found.window is None:
        unknown.append("the scale of the receiver's window is not known, so a full window is not seen")
    return f"It was limited by {said}{'; ' + unknown[0] if unknown else ''}."


def _shares(row: dict[str, Any], found: Limits) -> list[tuple[float, str]]:
    cuts = row["cong_signals"]
    seen = f"{counted(cuts, 'cut')} of the window" if cuts else "no loss seen"
    return [
        (found.idle or 0.0, "the sender, which had nothing in flight"),
        (found.closed, "the receiver's closed window"),
        (found.window or 0.0, "the receiver's full window"),
        (found.loss, "losses that were being repaired"),
        (found.path, f"the path or the congestion window, {seen}"),
    ]


def _closed(row: dict[str, Any]) -> str:
    if not row["rwin_closed_ns"]:
        return ""
    times = "" if row["zero_rwin_rcvd"] < 2 else f" ({row['zero_rwin_rcvd']} times)"
    probes = f"; the sender sent {counted(row['window_probes'], 'probe')}" if row["window_probes"] else ""
    return f"The receiver's window was closed for {show(row['rwin_closed_ns'], 'ns', 3)} in all{times}{probes}."


def _retransmissions(row: dict[str, Any]) -> str:
    if not row["segs_retrans"]:
        return ""
    named = [f"{row[key]:,} {words}".replace(",", "\u202f") for key, words in _KINDS if row[key]]
    needless = row["segs_retrans_needless"]
    spurious = f"; {needless} of them needless, as D-SACK shows" if needless else ""
    # A log counts them and does not say what caused each.
    kinds = f": {', '.join(named)}" if named else ""
    return f"{counted(row['segs_retrans'], 'retransmission')}{kinds}{spurious}."
