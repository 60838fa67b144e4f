"""One end of a TCP connection without a network: segments in, segments out.

    a, b = el.tcp.Endpoint(isn=100), el.tcp.Endpoint(isn=300)
    b.listen(0.0); a.connect(0.0)
    for seg in a.poll_transmit(0.0): b.on_segment(0.001, seg)

Times are seconds and never go back, sizes bytes. A segment is a dict: `seq`, `ack`, `len` (payload), `flags` ("SYN|ACK"; a list of
names or a number is read too; `AE` is one of them), `window` (as on the wire, unscaled), `sack` (a list of up to four pairs), `ts`
(TSval, TSecr; or None), `ecn` (codepoint 0 to 3), `accecn`, and in a SYN `mss`, `wscale`, `sack_permitted` and `fast_open` (the
cookie as bytes, `b""` asks for one, or None). What a segment leaves out is zero or none. `accecn` is the option of RFC 9768 or
None: a dict of `order` and, in this order, the counters `e0b`, `ceb`, `e1b`, or in order 1 `e1b`, `ceb`, `e0b`; the last of them
may be absent.
"""

from __future__ import annotations

from typing import Any

from elephan.base.errors import InputError
from elephan.scenario import core
from elephan.scenario.model import plain


def Endpoint(stack: str = "rfc", *, isn: int = 0, auto_read: bool = False, **options: Any) -> Any:
    """Returns a closed endpoint with the options of a stack and those given over them.

    `options` are the TCP options of a scenario; here a number for a time is seconds and for a size bytes, and `congestion_control`
    may be a class. `isn`: initial sequence number. `auto_read`: the application reads at once what arrives, instead of by `read`.

    `connect(now)`, `listen(now)`, `close(now)`, `abort(now)` (a reset goes out); `write(now, n, more=False, eor=False)` and
    `read(n)` return how many bytes were taken; `on_segment(now, seg)`; `on_timer(now)`, due at `next_timer()` (None: never);
    `poll_transmit(now)` returns the list of segments to send, and `on_local_drop(now, seg)` says that the host refused one of
    them. `set(now, nodelay=, cork=, send_buffer=, receive_buffer=, congestion_control=)` changes what an application may change
    while the connection lives. `info()` returns a dict with the names and units of Linux's `tcp_info` (`state` and `ca_state` as
    words), `ss()` the same as a line.

    TCP Fast Open: `connect(now, fast_open=True, cookie=, mss=)` asks for a cookie, or with a cookie sends what has been written
    so far in the SYN (`mss`: what the server announced before). `listen(now, cookie=)` grants the cookie and takes such data.

    Properties: `state` (such as "established"), `phase`, `cwnd`, `ssthresh`, `pacing_rate` (bit/s), `inflight`, `pipe`, `acked`,
    `received`, `mss`, `srtt`, `rto`, and `stats`, the statistics of RFC 4898 as a dict (times in ns).

    >>> a, b = el.tcp.Endpoint(isn=100), el.tcp.Endpoint(isn=300)
    >>> b.listen(0.0)
    >>> a.connect(0.0)
    >>> for now, ours, theirs in ((0.0, a, b), (0.1, b, a), (0.2, a, b)):
    ...     for segment in ours.poll_transmit(now):
    ...         theirs.on_segment(now + 0.1, segment)
    ...
    >>> a.state, b.state
    ('established', 'established')
    """
    if isinstance(isn, bool) or not isinstance(isn, int) or not 0 <= isn < 2**32:
        raise InputError(f"isn is a whole number from 0 to 4294967295, not {isn!r}")
    return core.build("TcpEndpoint", stack, isn, auto_read, **plain(options))
