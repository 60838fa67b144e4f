"""The selector of the loop: where it waits, the network runs. Simulated time passes nowhere else."""

from __future__ import annotations

import math
import selectors
from collections.abc import Callable, Mapping
from typing import Any

from elephan.virtual.host import refuse
from elephan.virtual.network import PS_PER_S, Network

# A program that polls (`await asyncio.sleep(0)` in a loop) lets no time pass: after so many turns at one instant, each takes 1 us.
# One that goes on polling would never come to the end: the time of a turn doubles every so many of them, up to 1 ms.
TURNS_AT_ONE_INSTANT = 1000
TURN_PS = 1_000_000
TURN_DOUBLES_AFTER = 20_000
TURN_MOST_PS = 1_000_000_000


class Over(BaseException):
    """Nothing more can happen, or nothing more may; `why` is `idle`, `end` or `done`."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


_NEVER = 1 << 63  # picoseconds: beyond the end of every scenario


def instant(when: float) -> int:
    """Returns the first picosecond that a clock of floats in seconds does not show as before `when`."""
    if when == math.inf:
        return _NEVER
    numerator, denominator = when.as_integer_ratio()
    return max(0, -(-numerator * PS_PER_S // denominator))


class Selector(selectors.BaseSelector):
    """Sockets of the simulated network by descriptor, and the passing of time."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._shared: dict[int, list[int]] = {}  # descriptors of the core that several sockets share
        self._turns = 0
        self._polls = 0  # turns since the loop last waited
        self.next_timer: Callable[[], float | None] = lambda: None
        self.may_end: Callable[[bool], float | None] = lambda idle: None  # when to end, if nothing happens before; raises Over
        self.after_end = False  # what is left is cleaned up: time goes on beyond the end of the scenario, the network does not

    # What is watched.

    def _number(self, fileobj: Any) -> int:
        return fileobj if isinstance(fileobj, int) else int(fileobj.fileno())

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        number = self._number(fileobj)
        if number in self._keys:
            raise KeyError(f"{fileobj!r} (FD {number}) is already registered")
        socket = self.network.open.get(number)
        if socket is None:
            if number < 0:
                raise ValueError(f"Invalid file descriptor: {number}")
            refuse(f"the loop is to watch descriptor {number}", "it watches sockets of the simulated network only")
        key = self._keys[number] = selectors.SelectorKey(fileobj, number, events, data)
        if socket.descriptor != number or (socket.port is not None and len(socket.port.sockets) > 1):
            self._shared.setdefault(socket.descriptor, []).append(number)
        self.network.core.watch(socket.descriptor, events)
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        key = self._keys.pop(self._number(fileobj))
        socket = self.network.open.get(key.fd)
        if socket is not None:
            others = self._shared.get(socket.descriptor)
            if others is not None and key.fd in others:
                others.remove(key.fd)
            if not others:
                self._shared.pop(socket.descriptor, None)
                self.network.core.watch(socket.descriptor, 0)
        return key

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        number = self._number(fileobj)
        key = self._keys[number]
        if events != key.events:
            socket = self.network.open.get(number)
            if socket is not None:
                self.network.core.watch(socket.descriptor, events)
        key = self._keys[number] = selectors.SelectorKey(key.fileobj, number, events, data)
        return key

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys[self._number(fileobj)]

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys

    def close(self) -> None:
        self._keys.clear()
        self._shared.clear()

    # The passing of time.

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        network = self.network
        if network.refusal is not None and not self.after_end:
            raise network.refusal
        is_turn = timeout is not None and timeout <= 0
        if is_turn:
            self._turns += 1
            self._polls += 1
            takes = min(TURN_PS << min(self._polls // TURN_DOUBLES_AFTER, 32), TURN_MOST_PS)
            passes = self._turns > TURNS_AT_ONE_INSTANT or self._polls > TURN_DOUBLES_AFTER
            until = network.now + takes * passes
        else:
            self._polls = 0
            until = network.now if self._shared and self._left_over() else self._until()
        ready = network.core.wait(min(until, network.end))
        now = network.core.now
        if now >= network.end:
            now = self._beyond(until, is_turn, ready)
        if now != network.now:
            self._turns = 0
            network.pass_to(now)
        return self._found(ready)

    def _until(self) -> int:
        """The time to which the network may run, picoseconds. Raises Over if nothing can come."""
        network = self.network
        when = self.next_timer()
        if when == math.inf:
            when = None
        idle = when is None and network.core.is_idle() and not network.core.wait(network.now)
        last = self.may_end(idle)
        if idle:
            raise Over("idle")
        until = max(network.end, network.now) if when is None else instant(when)
        return until if last is None else min(until, instant(last))

    def _beyond(self, until: int, is_turn: bool, ready: list[tuple[int, int]]) -> int:
        """The time when the scenario has ended, after which there is no network. Raises Over if nothing can come."""
        if not self.after_end:
            # What was due at the end may still run, but not for ever.
            if not ready and (not is_turn or self._turns > TURNS_AT_ONE_INSTANT):
                self.network.pass_to(self.network.end)
                raise Over("end")
            return self.network.end
        if not ready and not is_turn and self.next_timer() is None:
            raise Over("idle")
        return max(until, self.network.now)

    def _left_over(self) -> bool:
        return any(port.arrived.get(number) for port, number in self._sharing())

    def _sharing(self) -> list[tuple[Any, int]]:
        open_ = self.network.open
        return [(open_[number].port, number) for numbers in self._shared.values() for number in numbers if number in open_]

    def _found(self, ready: list[tuple[int, int]]) -> list[tuple[selectors.SelectorKey, int]]:
        keys, found = self._keys, []
        for fd, bits in ready:
            key = keys.get(fd)
            if key is not None and fd not in self._shared:
                found.append((key, bits & key.events))
            elif fd in self._shared:
                port = self.network.open[self._shared[fd][0]].port
                if port is not None:
                    port.sort()
        if self._shared:
            waiting = [keys[number] for port, number in self._sharing() if port.arrived.get(number)]
            found += [(key, selectors.EVENT_READ) for key in waiting]
        return found
