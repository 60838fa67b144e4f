"""Reading and writing quantities."""

from __future__ import annotations

import math

import pytest
from elephan.base import quantity


def test_reading() -> None:
    assert quantity.seconds("5 ms") == pytest.approx(0.005)
    assert quantity.seconds("1.5us") == pytest.approx(1.5e-6)
    assert quantity.seconds(2) == 2.0
    assert quantity.bits_per_second("10 Gbps") == 1e10
    assert quantity.bits_per_second("622.08 Mb/s") == pytest.approx(622.08e6)
    assert quantity.bits_per_second("1.25 GB/s") == 1e10
    assert quantity.size_bytes("48 KiB") == 49152
    assert quantity.size_bytes("48 KB") == 48000
    assert quantity.size_bytes("4 Mb") == 500_000


@pytest.mark.parametrize("text", ["", "5", "fast", "5 lightyears", "-5 ms", "5 Gbps"])
def test_not_a_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|unit"):
        quantity.seconds(text)


def test_any() -> None:
    assert quantity.parse_any("10 ms") == (pytest.approx(0.01), "s")
    assert quantity.parse_any("3.6 Gbps") == (3.6e9, "bps")
    assert quantity.parse_any("48 KiB") == (49152, "bytes")
    assert quantity.parse_any("none") is None


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (9.4928e9, "bps", "9.49 Gb/s"),
        (999.96e6, "bps", "1 Gb/s"),
        (49152, "bytes", "49.2 kB"),
        (1.5e6, "ns", "1.5 ms"),
        (213_000, "ns", "213 µs"),
        (12, "ns", "12 ns"),
        (0.0123, "%", "1.23 %"),
        (0.99871, "1", "0.999"),
        (0.00122, "bytes", "< 1 B"),
        (9.1e-8, "1", "9.1 \u00d7 10⁻⁸"),
        (12345, "1", "12\u202f345"),
        (0, "bps", "0 b/s"),
        (math.nan, "bps", "n/a"),
        (math.inf, "s", "∞"),
        (1e300, "1", "1 \u00d7 10³⁰⁰"),
        (2.5e200, "bps", "2.5 \u00d7 10¹⁸⁸ Tb/s"),
        (1.234e-13, "1", "1.23 \u00d7 10⁻¹³"),
        (999_999_999_999_999, "1", "999\u202f999\u202f999\u202f999\u202f999"),
    ],
)
def test_showing(value: float, unit: str, text: str) -> None:
    assert quantity.show(value, unit) == text


def test_axis_scale() -> None:
    assert quantity.scale_for(9.5e9, "bps") == (pytest.approx(1e-9), "Gb/s")
    assert quantity.scale_for(2e6, "ns") == (pytest.approx(1e-6), "ms")
    assert quantity.scale_for(0.5, "%") == (100.0, "%")
    assert quantity.scale_for(3, "1") == (1.0, "")
