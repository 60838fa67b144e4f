"""Intervals and differences of many samples at once, as the core's crate `stats` computes them for reports and the page."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elephan import _core


def intervals(
    rows: npt.NDArray[np.float64], low: npt.NDArray[np.float64], top: npt.NDArray[np.float64], level: float = 0.95
) -> npt.NDArray[np.float64]:
    """Returns for each row of values its number of values, mean, low, high, least and largest value, spread, and 1 if it is clear.

    `low` and `top`: the bounds of each row. NaN values are left out. The spread is the distance of the largest from the least
    value over the mean. An interval is clear if it leaves out 0; that of equal values never is.
    """
    given = [np.ascontiguousarray(one, dtype=np.float64) for one in (rows, low, top)]
    found = _core.intervals(given[0].tobytes(), rows.shape[1], given[1].tobytes(), given[2].tobytes(), level)
    return np.frombuffer(found, dtype=np.float64).reshape(-1, 8)


def differences(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns `a - b` of arrays of one shape; 0 where both are equal but for rounding."""
    first, second = (np.ascontiguousarray(one, dtype=np.float64) for one in (a, b))
    return np.frombuffer(_core.differences(first.tobytes(), second.tobytes()), dtype=np.float64).reshape(first.shape)
