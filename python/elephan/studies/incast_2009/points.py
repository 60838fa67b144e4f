"""Points that follow from a formula: numbers of servers with fragments or blocks of a fixed size."""

from __future__ import annotations

from elephan.experiment.study import Point

SERVERS = (1, 2, 4, 8, 12, 16, 32, 47)
POWERS = (4, 8, 16, 32, 64)
SENDERS = (1, 2, 4, 8, 16, 32, 47)
MINIMA_US = (50, 100, 200, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 200_000)
BUFFERS_KB = (32, 64, 128, 256, 512, 1024)
FRAGMENTS_KB = (10, 100, 256, 1000, 8000)


def servers() -> list[Point]:
    """Returns numbers of servers that each send a fragment of the same size."""
    return [Point(str(n), {"hosts.server.count": n}, float(n)) for n in SERVERS]


def powers() -> list[Point]:
    """Returns the numbers of servers of the simulations of FAST 2008."""
    return [Point(str(n), {"hosts.server.count": n}, float(n)) for n in POWERS]


def senders() -> list[Point]:
    """Returns numbers of senders of the testbed of WREN 2009."""
    return [Point(str(n), {"hosts.server.count": n}, float(n)) for n in SENDERS]


def _blocks(size: int) -> list[Point]:
    return [Point(str(n), {"hosts.server.count": n, "traffic.read.size": f"{size // n} B"}, float(n)) for n in POWERS]


def block_1mb() -> list[Point]:
    """Returns numbers of servers that share a block of 1 MB: 256 KB of each of four, as the simulations have it."""
    return _blocks(1_024_000)


def block_4mb() -> list[Point]:
    """Returns numbers of servers that share a block of 4 MB."""
    return _blocks(4_096_000)


def words_of(us: int) -> str:
    """Returns a time in the words of a label."""
    return f"{us} us" if us < 1000 else f"{us // 1000} ms"


def minima() -> list[Point]:
    """Returns the minimum timeouts of the simulations of FAST 2008."""
    return [Point(words_of(us), {"tcp.rto_min": words_of(us), "tcp.rto_max": "1 s"}, us * 1e-6) for us in MINIMA_US]


def buffers() -> list[Point]:
    """Returns the buffers of the simulations of FAST 2008, whose packets have 1000 bytes."""
    return [Point(f"{kb} KB", {"links.sw->client.queue.limit": f"{kb} p"}, kb * 1e3) for kb in BUFFERS_KB]


def fragments() -> list[Point]:
    """Returns the sizes of fragments of the simulations of FAST 2008."""
    return [Point(f"{kb} KB", {"traffic.read.size": f"{kb} KB"}, kb * 1e3) for kb in FRAGMENTS_KB]
