"""Whether the manifest of a result is what elephan wrote: the types of what it says, and its `seal`, a digest of it all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_place(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))


_TYPES: dict[str, Callable[[Any], bool]] = {
    "files": lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
    "digests": lambda value: isinstance(value, dict) and all(isinstance(one, str) for one in value.values()),
    "places": lambda value: isinstance(value, dict) and all(_is_place(one) for one in value.values()),
    "kept": lambda value: isinstance(value, dict) and _is_number(value.get("within")) and isinstance(value.get("what"), str),
}


def well_typed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a manifest without what has another type than elephan writes."""
    return {key: value for key, value in manifest.items() if key not in _TYPES or _TYPES[key](value)}


def seal(manifest: Mapping[str, Any]) -> str:
    """Returns a digest of all that a manifest says: 32 hexadecimal digits of BLAKE2b."""
    rest = {key: value for key, value in manifest.items() if key != "seal"}
    return hashlib.blake2b(json.dumps(rest, sort_keys=True).encode(), digest_size=16).hexdigest()


def is_sound(manifest: Mapping[str, Any]) -> bool:
    """Returns whether a manifest has the types that elephan writes, and the right seal; an older one has no seal."""
    return well_typed(manifest) == dict(manifest) and manifest.get("seal", own := seal(manifest)) == own
