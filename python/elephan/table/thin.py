"""Samples thinned to a stated error: of each flow or port the rows from which a line gives all the others.

A row stays if a straight line between the rows that stay around it misses any of its numbers by more than a share of that column's
range (largest less smallest value of the flow or port). Rows where a text changes, or a value comes or goes, stay with the row
before. The rows are chosen as Ramer (Computer Graphics and Image Processing 1, 1972) and Douglas and Peucker (Cartographica 10,
1973) choose the points of a line, over all columns at once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]


def thinned(table: pa.Table, by: str, within: float) -> pa.Table:
    """Returns the rows of a table of samples that tell the others within a share of each column's range; by flow or port."""
    groups = table.column(by).to_numpy()
    stays = [place[_kept(table.take(place), by, within)] for one in np.unique(groups) for place in [np.flatnonzero(groups == one)]]
    return table.take(np.sort(np.concatenate(stays))) if stays else table


def _kept(rows: pa.Table, by: str, within: float) -> npt.NDArray[np.intp]:
    """Places of the rows that stay, of one flow or port."""
    import pyarrow.types as kinds

    breaks = np.zeros(rows.num_rows, bool)
    breaks[[0, -1]] = True
    numbers: list[Array] = []
    for name in (name for name in rows.column_names if name not in ("time_ns", by)):
        column = rows.column(name)
        missing = column.is_null().to_numpy()
        _mark(breaks, missing[1:] != missing[:-1])
        if kinds.is_integer(column.type) or kinds.is_floating(column.type):
            values = column.cast("double").to_numpy()
            known = np.where(np.isfinite(values), values, 0.0)
            if span := float(np.ptp(known[~missing])) if not missing.all() else 0.0:
                numbers.append(known / span)
        else:
            codes = column.dictionary_encode().combine_chunks().indices.to_numpy(zero_copy_only=False)
            _mark(breaks, codes[1:] != codes[:-1])
    if numbers:
        _split(rows.column("time_ns").to_numpy().astype(float), np.array(numbers), breaks, within)
    return np.flatnonzero(breaks)


def _mark(breaks: npt.NDArray[np.bool_], changes: npt.NDArray[np.bool_]) -> None:
    """Both rows around each change stay."""
    breaks[1:] |= changes
    breaks[:-1] |= changes


def _split(time: Array, numbers: Array, stays: npt.NDArray[np.bool_], within: float) -> None:
    """Marks rows until every row between two that stay is told by their line. `numbers`: a row per column, over its range."""
    spans = list(pairwise(np.flatnonzero(stays).tolist()))
    while spans:
        begin, end = spans.pop()
        if end - begin < 2:
            continue
        share = (time[begin + 1 : end] - time[begin]) / (time[end] - time[begin] or 1.0)
        line = numbers[:, [begin]] + (numbers[:, [end]] - numbers[:, [begin]]) * share
        error = np.abs(numbers[:, begin + 1 : end] - line).max(axis=0)
        worst = int(error.argmax())
        if error[worst] > within:
            middle = begin + 1 + worst
            stays[middle] = True
            spans += [(begin, middle), (middle, end)]
