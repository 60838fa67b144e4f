"""The model of WREN 2009: goodput from the number of timeouts, their length, and the time between packets.

Its constants were fitted to the testbed. Of the time between packets the notes that we have disagree by a factor of ten
(0.45 or 4.5 for one sender, without a certain unit), so it is a parameter here.
"""

from __future__ import annotations

MSS_BYTES = 1448


def timeouts(senders: int) -> float:
    """Returns R, the timeouts during a transfer: 3.5 for each sender up to ten senders, 35 beyond."""
    return 3.5 * min(senders, 10)


def time_without(size_bytes: float, rate_bps: float, wait_s: float) -> float:
    """Returns L, the time of a sender without timeouts: its bytes at the rate of the link, and a wait between packets."""
    return size_bytes * 8 / rate_bps + size_bytes / MSS_BYTES * wait_s


def goodput(senders: int, size_bytes: float, rate_bps: float, timeout_s: float, wait_s: float = 0.0) -> float:
    """Returns S D / (L + R r) in bit/s, for S senders of D bytes and timeouts of r."""
    spent = time_without(size_bytes, rate_bps, wait_s) + timeouts(senders) * timeout_s
    return senders * size_bytes * 8 / spent
