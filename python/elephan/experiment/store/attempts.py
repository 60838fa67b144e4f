"""The attempts at the trials of a store: when each run ran, how long, where, and what it failed of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def schema() -> pa.Schema:
    """Returns the columns of a part of attempts."""
    import pyarrow as pa

    fields = [(name, pa.string()) for name in ("key", "host", "on", "error")]
    return pa.schema([*fields, ("process", pa.int64()), ("begun_s", pa.float64()), ("wall_s", pa.float64())])


def table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Returns attempts as a table."""
    import pyarrow as pa

    return pa.Table.from_pylist(list(rows), schema=schema())
