"""Proportional rate reduction without a network (RFC 9937, RFC 6937).

    p = el.prr.Recovery(mss=1000); p.start(cwnd, ssthresh, inflight); p.on_ack(delivered, pipe)

Sizes are bytes. `on_ack` returns the bytes that may be sent and takes them for sent; `on_sent` corrects that.
"""

from __future__ import annotations

from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.scenario import core

__all__ = ["Recovery"]


def __dir__() -> list[str]:
    """What tab completion offers, without what is imported."""
    return __all__


_OPTIONS = ("mss", "variant")


def Recovery(**options: Any) -> Any:
    """Returns a new recovery; `mss` in bytes (1448), `variant` one of `rfc9937` (default), `rfc6937`, `rfc6937-crb`.

    >>> p = el.prr.Recovery(mss=1000)
    >>> p.start(10_000, 5_000, 10_000)  # cwnd, ssthresh, in flight
    >>> p.on_ack(1000, 9_000)  # delivered, pipe: how many bytes may leave
    500
    """
    for name in options:
        if name not in _OPTIONS:
            raise InputError(f'Recovery has no option "{name}"{nearest(name, list(_OPTIONS))}')
    return core.build("PrrRecovery", **options)
