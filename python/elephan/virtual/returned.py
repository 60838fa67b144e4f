"""What programs returned, as results hold it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

_DEPTH_MAX = 50
_LARGEST = 1 << 53  # of whole numbers that a float holds


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON holds it, and what it cannot hold as its text; each part of a table or a list by itself.

    >>> from elephan.virtual.returned import plain
    >>> plain({"a": float("nan"), "b": 2, 3: {1}})
    {'a': 'nan', 'b': 2, '3': '{1}'}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, Integral) and abs(int(value)) <= _LARGEST:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral):
        return float(value) if math.isfinite(value) else str(float(value))
    if depth < _DEPTH_MAX and isinstance(value, Mapping):
        return {plain(key if isinstance(key, str) else _text(key)): plain(inner, depth + 1) for key, inner in value.items()}
    if depth < _DEPTH_MAX and isinstance(value, list | tuple):
        return [plain(inner, depth + 1) for inner in value]
    return _text(value)


def _text(value: Any) -> str:
    try:
        return repr(value).encode(errors="backslashreplace").decode()
    except Exception:
        return f"<{type(value).__name__}>"


def as_json(returned: Mapping[str, Any]) -> str:
    """What programs returned, by host, as a JSON object."""
    return json.dumps({host: plain(value) for host, value in returned.items()})
