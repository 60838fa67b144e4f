"""Numbers with units: reading `"10 Gbps"`, `"48 KiB"`, `"5 ms"` and writing them for people.

The core reads a text, as in a scenario: K, M, G are decimal, Ki, Mi, Gi binary; `b` is a bit, `B` a byte. Plain numbers
pass through as SI base units (seconds, bit/s, bytes).
"""

from __future__ import annotations

import math
from typing import Any

from elephan.base.errors import InputError, brief


def _read(kind: str, text: str) -> float:
    """What a text says in base units; raises InputError if it is no quantity of this kind."""
    from elephan._core import quantity

    return quantity(kind, _whole(text))


def _whole(text: str) -> str:
    """A text of which halves of surrogate pairs are written out: the core takes none."""
    return text.encode("utf-8", "backslashreplace").decode()


def number(value: Any, what: str, example: str) -> float:
    """A plain number as float; `what` it is and how to write it are for the error."""
    if isinstance(value, (str, bytes, bool)) or not hasattr(value, "__float__") or (hasattr(value, "shape") and value.shape):
        raise InputError(f"{brief(value)} is not {what}; write it like {example}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{brief(value)} is beyond every number that {what} can be") from None
    except (TypeError, ValueError):
        raise InputError(f"{brief(value)} is not {what}; write it like {example}") from None


def seconds(value: float | str) -> float:
    """A time in seconds, from seconds or a text such as `"5 ms"`."""
    if isinstance(value, str):
        return _read("time", value)
    return number(value, "a time", '"5 ms" or a number of seconds')


def bits_per_second(value: float | str) -> float:
    """A rate in bit/s, from bit/s or a text such as `"10 Gbps"`."""
    if isinstance(value, str):
        return _read("rate", value)
    return number(value, "a rate", '"10 Gbps" or a number of bit/s')


def size_bytes(value: float | str) -> float:
    """A size in bytes, from bytes or a text such as `"48 KiB"`."""
    if isinstance(value, str):
        return _read("size", value)
    return number(value, "a size", '"48 KiB" or a number of bytes')


_LENGTH = {"m": 1.0, "km": 1e3, "cm": 1e-2}  # no scenario has a length: the core knows none


def metres(value: float | str) -> float:
    """A length in metres, from metres or a text such as `"100 m"`."""
    if not isinstance(value, str):
        return number(value, "a length", '"100 m" or a number of metres')
    if (found := _amount(value)) is None:
        raise InputError(f'"{value}" is not a length; write it like "100 m"')
    length, unit = found
    if unit not in _LENGTH:
        wrong = f'unknown unit "{unit}" in "{value}"' if unit else f'"{value}" has no unit'
        raise InputError(f'{wrong}; write a length like "100 m"')
    return length * _LENGTH[unit]


def _amount(text: str) -> tuple[float, str] | None:
    """The number with which a text begins, and what follows it."""
    from elephan._core import amount

    return amount(_whole(text))


def parse_any(text: str) -> tuple[float, str] | None:
    """`(value in base units, base unit)` of any quantity text, or None: `"10 ms"` gives `(0.01, "s")`."""
    for kind, unit in (("time", "s"), ("rate", "bps"), ("size", "bytes")):
        try:
            return _read(kind, text), unit
        except InputError:
            continue
    return None


_IN_TABLES = {"bps": "bit/s", "bytes": "B"}


def unit_parts(value: Any) -> tuple[float, str] | None:
    """`(number, unit)` of a parameter, in base units as tables name them: `"5 ms"` gives `(0.005, "s")`, `"2 bdp"` `(2, "bdp")`.

    A plain number has the unit `""`. None for what is neither.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value, ""
    if not isinstance(value, str) or (found := parse_any(value) or _amount(value)) is None:
        return None
    amount, unit = found
    unit = _IN_TABLES.get(unit, unit)
    return (amount, unit) if all(c.isalpha() or c in "%/" for c in unit) else None


_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"))
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


_PLAIN_MAX = 1e15  # where whole numbers get hard to read, and floats lose them
_PLAIN_MIN = 1e-6
_RAISED = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def raised(value: float, digits: int) -> str:
    """A number with a power of ten, as people write it: 2.5e-8 is 2.5, a sign of multiplication, 10 and a raised -8."""
    number, _, power = f"{value:.{digits - 1}e}".partition("e")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number} {TIMES} 10{str(int(power)).translate(_RAISED)}"


def _digits(value: float, digits: int) -> str:
    """`digits` significant digits, without losing whole digits; `raised` where else would be a row of zeros."""
    if value == 0:
        return "0"
    if not _PLAIN_MIN <= abs(value) < _PLAIN_MAX:
        return raised(value, digits)
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}".replace(",", "\u202f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _pick(value: float, steps: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    for factor, prefix in steps:
        if abs(value) >= factor * 0.9995:
            return value / factor, prefix
    return value / steps[-1][0], steps[-1][1]


# The units that statistics carry, and how a person writes them.
# A difference of two percentages is in percentage points.
POINTS = "points"
_SHOWN = {"bps": ("b/s", _LARGE), "bytes": ("B", _LARGE), "s": ("s", _SMALL), "ns": ("s", _SMALL)}


def show(value: float, unit: str = "1", digits: int = 3) -> str:
    """A value with its unit, as a person writes it: `show(9.4928e9, "bps")` is `"9.49 Gb/s"`.

    Units: `bps`, `bytes`, `s`, `ns`, `%` and `points` (the value is a fraction), and `1` for a pure number.
    """
    if math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if unit in ("%", POINTS):
        return f"{_digits(100 * value, digits)} {unit}"
    if unit not in _SHOWN:
        return _digits(value, digits) if unit in ("1", "") else f"{_digits(value, digits)} {unit}"
    symbol, steps = _SHOWN[unit]
    base = value * 1e-9 if unit == "ns" else value
    if base == 0:
        return f"0 {symbol}"
    if unit == "bytes" and 0 < base < 1:  # a mean: nobody has a part of a byte
        return "< 1 B"
    scaled, prefix = _pick(base, steps)
    return f"{_digits(scaled, digits)} {prefix}{symbol}"


def in_files(unit: str) -> str:
    """The unit of a value as it stands in a file: a share, which `show` writes in per cent, is a number up to 1 there."""
    return "1" if unit in ("%", POINTS) else unit


def counted(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun: `1 packet`, `2 000 packets`; `nouns` is the plural if it takes more than an s."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}".replace(",", "\u202f")


def multiple(value: float, digits: int = 2) -> str:
    """A factor before what it is of: `2.5 times`, and `1.0 times`, since "1 times" is no English."""
    text = show(value, "1", digits)
    return f"{text}.0 times" if text == "1" else f"{text} times"


TIMES = "\u00d7"  # the unit of a ratio, as people write it
_BASE = {"bps": "bit/s", "bytes": "B", "ns": "s", "%": "1", POINTS: "1", "pp": "1", TIMES: "1", "": "1"}


def in_base(value: float, unit: str) -> tuple[float, str]:
    """A value of a statistic in base units, and the unit's name as tables have it: `in_base(28e6, "ns")` is `(0.028, "s")`.

    A share and a difference of shares are numbers up to 1.
    """
    return value / {"ns": 1e9, "pp": 100.0}.get(unit, 1.0), _BASE.get(unit, unit)


def scale_for(values_max: float, unit: str) -> tuple[float, str]:
    """`(factor, label)` for an axis: multiply by the factor, write the label. `(1e-9, "Gb/s")` for 9.5e9 bps."""
    if unit in ("%", POINTS):
        return 100.0, unit
    if unit not in _SHOWN:
        return 1.0, "" if unit == "1" else unit
    symbol, steps = _SHOWN[unit]
    to_base = 1e-9 if unit == "ns" else 1.0
    base = abs(values_max) * to_base
    if base == 0 or not math.isfinite(base):
        return to_base, symbol
    scaled, prefix = _pick(base, steps)
    return to_base * scaled / base, f"{prefix}{symbol}"


def positive(**named: Any) -> None:
    for name, value in named.items():
        if not number(value, f"a number for {name}", "1") > 0:
            raise InputError(f"{name} must be positive, not {value:g}")


def finite(**named: Any) -> None:
    """Positive, and not infinite where that would leave infinity over infinity."""
    positive(**named)
    for name, value in named.items():
        if math.isinf(value):
            raise InputError(f"{name} must be finite, not {value:g}")


def not_negative(**named: Any) -> None:
    for name, value in named.items():
        if not 0 <= number(value, f"a number for {name}", "1") < math.inf:
            raise InputError(f"{name} must be 0 or more and finite, not {value:g}")
