"""Rows that logs of all kinds have."""

from __future__ import annotations

from typing import Any

Found = tuple[list[dict[str, Any]], list[dict[str, Any]], int, list[str]]  # connections, samples, begin in ns, notes


def closed(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns what the columns of a connection say about its time, from its samples."""
    begin, end = min(s["time_ns"] - s["span_ns"] for s in samples), max(s["time_ns"] for s in samples)
    return {"start_ns": begin, "end_ns": end, "data_start_ns": begin, "data_end_ns": end}
