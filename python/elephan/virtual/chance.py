"""Random numbers for programs: those of `os.urandom`, `random`, `secrets` and `uuid` follow from the seed of the run."""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

from elephan.virtual.host import HOST, put

_urandom, _seed = os.urandom, random.Random.seed


class Chance:
    """What the programs of one run draw from."""

    def __init__(self, seed: int) -> None:
        self._stream = random.Random(f"elephan virtual {seed}")
        self.generator = random.Random(int.from_bytes(self._stream.randbytes(32), "big"))  # of the module `random`

    def urandom(self, size: int) -> bytes:
        return self._stream.randbytes(size)


_chances: list[Chance] = []  # of the run that is under way


def urandom(size: int) -> bytes:
    """Returns bytes that follow from the seed where a program runs, and random ones elsewhere."""
    if HOST.get() is None or not _chances:
        return _urandom(size)
    if size < 0:
        raise ValueError("negative argument not allowed")
    return _chances[-1].urandom(size)


def functions() -> dict[str, Callable[..., Any]]:
    """The functions of the module `random` that draw from its own generator, by name."""
    own = vars(random)["_inst"]
    return {name: value for name, value in vars(random).items() if getattr(value, "__self__", None) is own}


def drawing(name: str) -> Callable[..., Any]:
    """The same function of the generator that programs share. Other threads draw from that of the module."""

    def draw(_host: Any, *args: Any, **named: Any) -> Any:
        return getattr(_chances[-1].generator, name)(*args, **named)

    return draw


def _seed_generator(self: random.Random, a: Any = None, version: int = 2) -> None:
    """Seeds a generator that a program makes without a seed."""
    if a is None and HOST.get() is not None and _chances:
        a = int.from_bytes(_chances[-1].urandom(32), "big")
    _seed(self, a, version)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """While programs run."""
    _chances.append(Chance(seed))
    put(random.Random, "seed", _seed_generator)
    uuid = sys.modules.get("uuid")
    safe = getattr(uuid, "_generate_time_safe", None)
    if uuid is not None:
        put(uuid, "_generate_time_safe", None)  # it asks the system for the time
    try:
        yield
    finally:
        if uuid is not None:
            put(uuid, "_generate_time_safe", safe)
        put(random.Random, "seed", _seed)
        _chances.pop()
