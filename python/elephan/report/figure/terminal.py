"""A run's picture in characters: braille dots, two by four in each character."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import show
from elephan.report.words.view import View
from elephan.result.run import Run

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_ROWS = 5

Array = npt.NDArray[np.float64]


def braille(x: Array, y: Array, width: int, top: float, rows: int = _ROWS) -> list[str]:
    """A line as `rows` lines of `width` characters; every column shows the range of values in it, cut off at `top`."""
    columns, height = width * 2, rows * 4
    y = np.minimum(y, top)
    if top <= 0 or x[-1] <= x[0]:
        return []
    place = np.minimum(((x - x[0]) / (x[-1] - x[0]) * columns).astype(int), columns - 1)
    cells = np.zeros((rows, width), dtype=int)
    last, drawn = 0, False
    for column in range(columns):
        samples = y[place == column]
        here = samples[~np.isnan(samples)]
        if not here.size:
            if not samples.size and drawn:  # fewer samples than columns: the last one holds
                row = height - 1 - last
                cells[row // 4, column // 2] |= _DOTS[row % 4][column % 2]
            drawn = drawn and not samples.size
            continue
        low = int(min(here.min() / top, 1) * (height - 1))
        high = int(min(here.max() / top, 1) * (height - 1))
        if drawn:  # from where the line is
            low, high = min(low, last + 1), max(high, last - 1)
        drawn = True
        last = int(here[-1] / top * (height - 1))
        for level in range(low, high + 1):
            row = height - 1 - level
            cells[row // 4, column // 2] |= _DOTS[row % 4][column % 2]
    return ["".join(chr(0x2800 + int(cell)) for cell in line) for line in cells]


def picture(run: Run, width: int) -> list[str]:
    """Congestion window and queue (or what there is) over time; of RDMA goodput and the rate that its controller allows."""
    view = View(run)
    if not view.sampled and not run.port_samples.num_rows:
        return []
    lines: list[str] = []
    if view.by_rate():
        goodput, step = view.goodput_series(400)
        for name, (middle, rate) in list(goodput.items())[:1]:
            title = f"goodput of {name} in windows of {show(step, 'ns')}"
            lines += _plot(title, middle + step / 2, rate, "bps", view.run.warmup_ns, width)
    what, unit, series = view.sending()
    if series:
        name, (time, value) = next(iter(series.items()))
        lines += _plot(f"{what} of {name}", time, value, unit, view.run.warmup_ns, width)
    for name, (time, value) in view.queues(1).items():
        lines += _plot(f"queue of {name}", time, value, "bytes", view.run.warmup_ns, width)
    return lines


def _plot(title: str, time: Array, value: Array, unit: str, warmup_ns: float, width: int) -> list[str]:
    """Scaled to the largest value after the warm-up: an overshoot at the start is cut off."""
    measured = value[time >= warmup_ns]
    if not measured.size or np.isnan(measured).all():
        return []
    top = float(np.nanmax(measured))
    body = braille(time, value, width - 2, top)
    end = show(float(time[-1]), "ns")
    most = float(np.nanmax(value))
    cut = f" (up to {show(most, unit)} before the warm-up is over)" if most > 1.02 * top else ""
    return [f"{title}, 0 to {show(top, unit)}{cut}, over {end}:", *(f"  {line}" for line in body)] if body else []
