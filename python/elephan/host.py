"""The models of hosts without a network, by hand.

    t = el.host.Transmit(rate=1e9, txqueuelen="100 p", ring="256 p")
    t.offer(0.0, 1538)                 # (0.0, 1.2304e-05): when the first and the last bit leave, or None: refused
    t.waiting(0.0), t.refused          # packets in (qdisc, ring); how often None was the answer

Times are seconds and never go back, sizes bytes, rates bit/s. Parameters are those of `[hosts.NAME]`, where a number for a time is
seconds, for a size bytes, for a rate bit/s and for a count packets. Equations and sources: docs/models/transmit.md.
"""

from __future__ import annotations

import json
from typing import Any

from elephan import core
from elephan._model import plain


def Transmit(*, rate: float = 1e9, **params: Any) -> Any:
    """The transmit side of a host in front of a wire of `rate` bit/s: qdisc, ring of the driver, device.

    `offer(now, wire_bytes, payload=0, flow=0)` hands it a packet; the answer is (start, end) in seconds, when its first and
    its last bit leave the host, or None if it is refused. With `burst`, packets offered at one instant by one `flow` with
    `payload` bytes each join a burst. `waiting(now)`: packets in the qdisc and in the ring. `refused`: a count. Raises
    InputError.
    """
    return core.build("TransmitSide", float(rate), **plain(params))


def parameters(model: Any) -> dict[str, Any]:
    """The parameters of a model, defaults included, as a scenario writes them."""
    found: dict[str, Any] = json.loads(model.parameters())
    return found
