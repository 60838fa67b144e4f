"""Ranks of a parallel program without a network: what may start, which messages fit, what the end hangs on.

    text = el.ranks.collective("all-reduce", "ring", ranks=8, size="64 MB")
    el.ranks.new(text).ideal(100e9, 2e-6)       # seconds until each rank is done on links that nobody else uses

The program is text in GOAL, and what does it is what the kinds of traffic `collective` and `goal` use
(docs/models/collectives.md). Times are seconds, rates bit/s.
"""

from __future__ import annotations

from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import size_bytes
from elephan.scenario import core

__all__ = ["collective", "new"]

# The rendezvous threshold of LogGOPSim.
EAGER_BYTES = 65_535


def __dir__() -> list[str]:
    """What tab completion offers, without what is imported."""
    return __all__


def collective(operation: str, algorithm: str, ranks: int, size: float | str, chunks: int = 1) -> str:
    """Returns the program of a collective operation, as text in GOAL.

    `operation`: all-reduce, all-gather, reduce-scatter, broadcast or all-to-all; `algorithm`: ring, recursive-doubling,
    halving-doubling, binomial-tree or pairwise. `size`: bytes of the result at a rank, of an all-to-all what each rank sends in
    all, of a broadcast the message. `chunks`: parts in which a ring sends each piece. Errors: InputError.

    >>> print(el.ranks.collective("broadcast", "binomial-tree", 2, "1 KB").strip())
    num_ranks 2
    rank 0 {
    l0: send 1000b to 1 tag 1
    }
    rank 1 {
    l0: recv 1000b from 0 tag 1
    }
    """
    for name, value in (("ranks", ranks), ("chunks", chunks)):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**32:
            raise InputError(f"{name} is a whole number from 1 to {2**32 - 1}, not {value!r}")
    return str(core.call("collective", operation, algorithm, ranks, _whole_bytes("size", size, 1), chunks))


def _whole_bytes(name: str, size: float | str, least: int) -> int:
    """Returns a size as whole bytes; raises InputError if it is out of range."""
    number = size_bytes(size)
    if not least <= number <= 2**50:  # NaN is not either
        raise InputError(f"{name} is from {least} B to {2**50} B, not {size!r}")
    return int(number)


def new(text: str, eager: float | str = EAGER_BYTES) -> Any:
    """Returns a program in GOAL to be stepped; `eager`: the largest message whose send is done as soon as it is handed over.

    `begin(now)`, `computed(now, rank, operation)`, `arrived(now, rank, operation)` and `acknowledged(now, rank, operation)` return
    what is asked for next: `("compute", rank, operation, end)` or `("send", rank, operation, to, bytes, awaited)`. What is
    `awaited` must be acknowledged too. `done`, `count`, `operations`, `bytes`, `pairs` and, when it is done, `critical_path()`:
    (rank, to or None, bytes, begin, end) of each stretch. `ideal(rate, latency)`: when each rank is done alone in the
    network. Errors: InputError, with the line of the text.

    >>> p = el.ranks.new("num_ranks 2 rank 0 { a: calc 1000 b: send 9b to 1 b requires a } rank 1 { recv 9b from 0 }")
    >>> p.begin(0.0)
    [('compute', 0, 0, 1e-06)]
    >>> p.computed(1e-6, 0, 0)
    [('send', 0, 1, 1, 9, False)]
    >>> p.arrived(3e-6, 0, 1), p.done
    ([], True)
    """
    return core.build("Ranks", text, _whole_bytes("eager", eager, 0))
