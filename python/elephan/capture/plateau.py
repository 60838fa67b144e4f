"""What the path carries of a connection, which is the plateau of its phases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.table.flow_phases import chosen_flow, plateau_bps
from elephan.theory import closed as theory

if TYPE_CHECKING:
    from elephan.capture.trace import Trace

SHARE_MIN = 0.05  # of what the largest connection delivers: what carries less takes nothing that matters from it


def plateau_of(trace: Trace, row: dict[str, Any]) -> float | None:
    """What the path carries of a connection: of the rate that was given, else as the run beside says; None if it is shared."""
    if trace.beside_share(row) > SHARE_MIN:
        return None
    rate = trace.manifest.get("rate_bps")
    if rate is None:
        return _beside_plateau(trace)
    # The MSS of a SYN counts options (RFC 6691), that of a log does not.
    seen = bool(trace.summary["packets"])
    least = min((row[key] for key in ("mss_sent", "mss_rcvd") if row[key]), default=None)
    headers = theory.TCP_IP_HEADER_BYTES + (0 if seen else theory.TIMESTAMP_OPTION_BYTES)
    return theory.max_goodput(rate, least + headers if least else 1500, row["time_stamps"] or not seen)


def _beside_plateau(trace: Trace) -> float | None:
    try:
        return plateau_bps(trace.beside, chosen_flow(trace.beside)) if trace.beside is not None else None
    except InputError:
        return None
