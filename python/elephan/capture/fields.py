"""Values of records that other programs wrote: a number that is none, negative or wrapped is unknown, and a note says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elephan.base.quantity import counted

PORTS = 1 << 16
COUNT = 1 << 53  # bytes, segments: no transfer has as many, and a table holds their sum
TIME_S = 1e9  # of a test: 30 years


def signed(value: Any) -> int:
    """Returns a count as it was before a 32-bit or 64-bit counter without sign took it: 4294967294 is -2."""
    count = int(value)
    for bits in (32, 64):
        if 1 << (bits - 1) <= count < 1 << bits:
            return count - (1 << bits)
    return count


def record(value: Any) -> Mapping[str, Any]:
    """Returns an object of JSON, empty where the value is something else."""
    return value if isinstance(value, dict) else {}


def records(value: Any) -> list[Mapping[str, Any]]:
    """Returns a list of objects, each empty where the value is something else; no list where it is none."""
    return [record(one) for one in value] if isinstance(value, list) else []


class Fields:
    """Reads fields of records, and counts those whose values cannot be what the field means."""

    def __init__(self) -> None:
        self._damaged: dict[str, int] = {}

    def number(self, one: Mapping[str, Any], name: str, most: float = TIME_S) -> float | None:
        """Returns a number from 0 to below `most`; None where it is unknown."""
        return self.value(one.get(name), name, most)

    def value(self, value: Any, name: str, most: float = TIME_S) -> float | None:
        """Returns the value of a field as a number from 0 to below `most`; None where it is unknown."""
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < most:
            return float(value)
        self._unknown(name)
        return None

    def signed(self, value: Any, name: str, most: float) -> float | None:
        """Returns the value of a field as a number of either sign whose size is below `most`; None where it is unknown."""
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and -most < value < most:
            return float(value)
        self._unknown(name)
        return None

    def count(self, one: Mapping[str, Any], name: str, most: int = COUNT) -> int | None:
        """Returns a whole number from 0 to below `most`; None where it is unknown, as where a counter without sign was negative."""
        value = self.number(one, name, most)
        return None if value is None else round(value)

    def difference(self, one: Mapping[str, Any], name: str) -> int | None:
        """Returns a count that may be negative, also where it has wrapped; None where it is unknown."""
        value = one.get(name)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and abs(signed(value)) < COUNT:
            return signed(value)
        self._unknown(name)
        return None

    def text(self, one: Mapping[str, Any], name: str, otherwise: str) -> str:
        """Returns a text, `otherwise` where there is none."""
        value = one.get(name)
        return value if isinstance(value, str) and value else otherwise

    def _unknown(self, name: str) -> None:
        self._damaged[name] = self._damaged.get(name, 0) + 1

    def notes(self) -> list[str]:
        """Returns a sentence about values that cannot be what their fields mean."""
        if not self._damaged:
            return []
        named = ", ".join(f"{name} ({counted(count, 'time')})" for name, count in self._damaged.items())
        return [f"values that no such field can have are taken as unknown: {named}"]
