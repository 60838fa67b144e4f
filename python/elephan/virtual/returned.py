"""What programs returned, as results hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """A value as JSON holds it, or its text."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def as_json(returned: Mapping[str, Any]) -> str:
    """What programs returned, by host, as a JSON object."""
    return json.dumps({host: plain(value) for host, value in returned.items()})
