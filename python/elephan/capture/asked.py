"""What `analyze` is asked for, checked: times, the filter, the path and what is still to be sent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.base.errors import InputError
from elephan.base.quantity import bits_per_second, seconds, size_bytes

Filter = tuple[list[str], list[int], int | None, int | None]


def chosen(
    host: str | Sequence[str], port: int | Sequence[int], since: float | str | None, until: float | str | None
) -> Filter | None:
    """Returns which packets are looked at, for the core; None for all."""
    hosts = [host] if isinstance(host, str) else list(host)
    ports = [port] if isinstance(port, int) else list(port)
    if wrong := next((one for one in ports if not 0 <= one <= 65535), None):
        raise InputError(f"port: {wrong} is not between 0 and 65535")
    times = {name: None if value is None else moment(value, name) for name, value in (("since", since), ("until", until))}
    if times["since"] is not None and times["until"] is not None and times["until"] < times["since"]:
        raise InputError("until: the time ends before it begins (since)")
    return (hosts, ports, times["since"], times["until"]) if hosts or ports or since is not None or until is not None else None


def moment(value: float | str, what: str) -> int:
    """Returns a time since the first packet, in ns."""
    if str(value).strip() in ("0", "0.0"):
        return 0
    try:
        span = seconds(value)
    except ValueError as error:
        raise InputError(f"{what}: {error}") from None
    if not 0 <= span <= 1e9:
        raise InputError(f"{what}: {value!r} is not between 0 s and 10^9 s")
    return round(span * 1e9)


def path_and_transfer(rate: float | str | None, remaining: float | str | None) -> dict[str, float]:
    """Returns what a manifest says of the path and the transfer, as far as it was given."""
    values: dict[str, float] = {}
    if rate is not None:
        values["rate_bps"] = bits_per_second(rate)
        if not (math.isfinite(values["rate_bps"]) and values["rate_bps"] > 0):
            raise InputError(f"rate: {rate!r} is {'too large' if values['rate_bps'] > 0 else 'not more than 0'}")
    if remaining is not None:
        # Nothing needs no unit.
        values["remaining_bytes"] = 0.0 if str(remaining).strip() == "0" else size_bytes(remaining)
        if not (math.isfinite(values["remaining_bytes"]) and values["remaining_bytes"] >= 0):
            raise InputError(f"remaining: {remaining!r} is {'too large' if values['remaining_bytes'] > 0 else 'not 0 or more'}")
    return values


def nanoseconds(value: float | str | None, what: str) -> int | None:
    """Returns a length of time in ns."""
    if value is None:
        return None
    try:
        span = seconds(value)
    except ValueError as error:
        raise InputError(f"{what}: {error}") from None
    if not (math.isfinite(span) and 1e-9 <= span <= 86400):
        raise InputError(f"{what}: {value!r} is not between 1 ns and a day")
    return round(span * 1e9)
