"""The models of hosts without a network, by hand.

    t = el.host.Transmit(rate=1e9, txqueuelen="100 p", ring="256 p")
    t.offer(0.0, 1538)                 # (0.0, 1.2304e-05): when the first and the last bit leave, or None: refused
    t.waiting(0.0), t.refused          # packets in (qdisc, ring); how often None was the answer

    r = el.host.Receive(packet=15e-6, ring="256 p", backlog_full="hold", interrupts_per_s=0)
    for i in range(5000):
        r.frame(i * 12.304e-6)         # back to back at 1 Gb/s
    r.advance(1.0)
    len(r.served()), len(r.dropped())  # 4657 frames with the instants at which they were done, 343 with a reason

Times are seconds and never go back, sizes bytes, rates bit/s. Parameters are those of `[hosts.NAME]`, where a number for a time is
seconds, for a size bytes, for a rate bit/s and for a count packets. Equations and sources: docs/models/transmit.md,
receive.md and cpu.md.
"""

from __future__ import annotations

import json
from typing import Any

from elephan.base.quantity import number
from elephan.scenario import core
from elephan.scenario.model import plain


def Transmit(*, rate: float = 1e9, **params: Any) -> Any:
    """Returns the transmit side of a host in front of a wire of `rate` bit/s: qdisc, ring of the driver, device.

    `offer(now, wire_bytes, payload=0, flow=0)` hands it a packet; the answer is (start, end) in seconds, when its first and
    its last bit leave the host, or None if it is refused. With `burst`, packets offered at one instant by one `flow` with
    `payload` bytes each join a burst. `waiting(now)`: packets in the qdisc and in the ring. `refused`: a count. Raises
    InputError.

    >>> t = el.host.Transmit(rate=1e9, txqueuelen="100 p", ring="256 p")
    >>> t.offer(0.0, 1538)
    (0.0, 1.2304e-05)
    >>> t.waiting(0.0), t.refused
    ((0, 0), 0)
    """
    return core.build("TransmitSide", number(rate, "a rate", "1e9 bit/s"), **plain(params))


def Receive(*, packet: float = 5e-6, interrupt: float = 0.0, **params: Any) -> Any:
    """Returns the receive side of a host whose processor does nothing else: ring, interrupts, backlog, and a server.

    The server needs `interrupt` seconds for each frame that it takes in hand and `packet` for each that it serves.
    `frame(now)`: a frame is in; returns its number, from 0. `advance(now)` lets time pass. `served()`: (number, instant done) of
    the frames served since the last call; `dropped()`: (number, reason) likewise, reasons being rx_ring, rx_backlog and
    rx_throttle. Properties: `waiting`, frames in the ring and in the backlog; `interrupts`, a count; `busy`, seconds.
    Raises InputError.

    >>> r = el.host.Receive(packet=15e-6, ring="256 p", backlog_full="hold", interrupts_per_s=0)
    >>> for i in range(5000):
    ...     number = r.frame(i * 12.304e-6)  # back to back at 1 Gb/s
    ...
    >>> r.advance(1.0)
    >>> len(r.served()), len(r.dropped())
    (4657, 343)
    """
    return core.build("ReceiveSide", number(packet, "a time", "5e-6 s"), number(interrupt, "a time", "0.0 s"), **plain(params))


def SackWalk(kind: str = "full") -> Any:
    """Returns what a sender looks at for SACK blocks: `full`, `fastpath` or `none`.

    `walk(blocks, ack, in_flight, segment=1448)`: segments looked at for an ACK for `ack` (a wire sequence number) with
    `blocks`, (left, right) in the order of the option, when `in_flight` bytes are outstanding in segments of `segment` bytes.
    Raises InputError.

    >>> el.host.SackWalk("full").walk([(1448, 2896)], 0, 10 * 1448)
    10
    """
    return core.build("SackWalker", kind)


def parameters(model: Any) -> dict[str, Any]:
    """Returns the parameters of a model, defaults included, as a scenario writes them.

    >>> el.host.parameters(el.host.Transmit(txqueuelen="100 p"))["txqueuelen"]
    '100 p'
    """
    found: dict[str, Any] = json.loads(model.parameters())
    return found
