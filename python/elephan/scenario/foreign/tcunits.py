"""Rates, times, sizes and shares as `tc` writes them: man page tc(8), section "Parameters"."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([A-Za-z%/]*)$")
_TIMES = {"": 1e-6, "s": 1.0, "sec": 1.0, "secs": 1.0, "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "us": 1e-6, "usec": 1e-6,
          "usecs": 1e-6, "ns": 1e-9, "nsec": 1e-9, "nsecs": 1e-9}  # fmt: skip
_SIZES = {"": 1.0, "b": 1.0, "k": 1024.0, "kb": 1024.0, "m": 1024.0**2, "mb": 1024.0**2, "g": 1024.0**3, "gb": 1024.0**3,
          "kbit": 128.0, "mbit": 128.0 * 1024, "gbit": 128.0 * 1024**2}  # fmt: skip
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 1024.0, "mi": 1024.0**2, "gi": 1024.0**3, "ti": 1024.0**4}
_RATE = re.compile(r"([kmgt]i?)?(bit|bps)?$")


def _split(text: str, what: str) -> tuple[float, str]:
    found = _NUMBER.match(text)
    if found is None:
        raise ValueError(f'"{text}" is no {what}')
    return float(found[1]), found[2].lower()


def tc_rate(text: str) -> float:
    """Returns a rate in bit/s. `10mbit` is 10 Mb/s; `1mbps` is a megabyte a second; a bare number is bit/s."""
    number, unit = _split(text, "rate")
    found = _RATE.match(unit)
    if found is None or number <= 0:
        raise ValueError(f'"{text}" is no rate')
    return number * _PREFIXES[found[1] or ""] * (8 if found[2] == "bps" else 1)


def tc_time(text: str) -> float:
    """Returns a time in seconds; a bare number is microseconds."""
    number, unit = _split(text, "time")
    if unit not in _TIMES:
        raise ValueError(f'"{text}" is no time')
    return number * _TIMES[unit]


def tc_size(text: str) -> int:
    """Returns a size in bytes; `k` is 1 024 bytes, and so is `kb`."""
    number, unit = _split(text.partition("/")[0], "size")
    if unit not in _SIZES:
        raise ValueError(f'"{text}" is no size')
    return round(number * _SIZES[unit])


def tc_share(text: str) -> float:
    """Returns a share up to 1 of `1%`; a bare number is per cent too."""
    number, unit = _split(text, "percentage")
    if unit not in ("", "%") or number > 100:
        raise ValueError(f'"{text}" is no percentage')
    return round(number / 100, 12)


def tc_count(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f'"{text}" is no whole number')
    return int(text)
