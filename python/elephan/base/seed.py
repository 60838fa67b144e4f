"""The seed of a run, as a user gives it."""

from __future__ import annotations

import operator
from typing import Any

from elephan.base.errors import InputError


def read_seed(seed: Any) -> int:
    """A seed as Python's own number, of numpy's too; InputError for what is none."""
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 2**63:
        raise InputError(f"a seed is a whole number from 0 to 2^63 - 1, not {seed!r}")
    return number


def seed_or_none(seed: Any) -> int | None:
    """The same where there may be none."""
    return None if seed is None else read_seed(seed)
