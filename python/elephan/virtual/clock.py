"""Clocks for programs: those of the module `time` say the simulated time where a program runs, and the real one elsewhere."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from elephan.virtual.host import HOST, Host, refuse

_NS_PER_PS = 1000
_sleep, _localtime, _gmtime, _clock_gettime = time.sleep, time.localtime, time.gmtime, time.clock_gettime


def _now(host: Host) -> float:
    network = host.network
    return network.seconds + network.delay if network.delay else network.seconds


def _now_ns(host: Host) -> int:
    network = host.network
    return network.now // _NS_PER_PS + (round(network.delay * 1e9) if network.delay else 0)


def _seconds(real: Callable[[], float], wall: bool = False) -> Callable[[], float]:
    def clock() -> float:
        host = HOST.get()
        if host is None:
            return real()
        return host.network.epoch + _now(host) if wall else _now(host)

    return clock


def _nanoseconds(real: Callable[[], int], wall: bool = False) -> Callable[[], int]:
    def clock() -> int:
        host = HOST.get()
        if host is None:
            return real()
        return _now_ns(host) + (round(host.network.epoch * 1e9) if wall else 0)

    return clock


def sleep(seconds: float) -> None:
    """Refuses to sleep for real; in a function of an executor, the result comes as much later."""
    host = HOST.get()
    if host is None:
        return _sleep(seconds)
    if host.network.delay is None:
        refuse(f"time.sleep({seconds:g}) sleeps for real", "use await asyncio.sleep")
    host.network.delay += seconds
    return None


def _broken_down(real: Callable[..., Any]) -> Callable[..., Any]:
    def convert(seconds: float | None = None) -> Any:
        host = HOST.get()
        if seconds is None and host is not None:
            seconds = host.network.epoch + _now(host)
        return real() if seconds is None else real(seconds)

    return convert


def clock_gettime(clock: int) -> float:
    """Returns the simulated time for the clocks of the day and of the machine."""
    host = HOST.get()
    if host is None or clock not in (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC):
        return _clock_gettime(clock)
    return _now(host) + (host.network.epoch if clock == time.CLOCK_REALTIME else 0.0)


class _DateMeta(type):
    """Lets what is a date of the system be one for programs too."""

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, _datetime)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _datetime)


_datetime = datetime.datetime


class Datetime(_datetime, metaclass=_DateMeta):
    """`datetime.datetime` whose `now`, `utcnow` and `today` are simulated; what it makes are dates of the system.

    A checker of types wants the class itself from each of these: compiled libraries take the system's alone.
    """

    def __new__(cls, *args: Any, **named: Any) -> _datetime:  # type: ignore[misc]
        return _datetime(*args, **named)

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _datetime:  # type: ignore[override]
        host = HOST.get()
        return _datetime.now(tz) if host is None else _datetime.fromtimestamp(host.network.epoch + _now(host), tz)

    @classmethod
    def today(cls) -> _datetime:  # type: ignore[override]
        return cls.now()

    @classmethod
    def utcnow(cls) -> _datetime:  # type: ignore[override]
        return cls.now(datetime.UTC).replace(tzinfo=None)


def _dates() -> ModuleType:
    """The module `datetime` as programs see it. The real one stays as it is: compiled libraries keep what they find there."""
    module = ModuleType("datetime", datetime.__doc__)
    vars(module).update(vars(datetime), datetime=Datetime)
    return module


# What stands for what while programs run.
CLOCKS: dict[Any, Any] = {
    time.time: _seconds(time.time, wall=True),
    time.time_ns: _nanoseconds(time.time_ns, wall=True),
    time.monotonic: _seconds(time.monotonic),
    time.monotonic_ns: _nanoseconds(time.monotonic_ns),
    time.perf_counter: _seconds(time.perf_counter),
    time.perf_counter_ns: _nanoseconds(time.perf_counter_ns),
    time.sleep: sleep,
    time.localtime: _broken_down(_localtime),
    time.gmtime: _broken_down(_gmtime),
    time.clock_gettime: clock_gettime,
    datetime: _dates(),
    _datetime: Datetime,
}
