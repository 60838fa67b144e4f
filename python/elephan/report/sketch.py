"""Figures as data: a figure's function draws in the words of matplotlib, and the calls are kept.

The script of a page (`page/sketch.js`) draws them in the browser, and `elephan.report.paint` draws them with matplotlib when
somebody asks for a file or a `matplotlib.figure.Figure`. So a report needs no matplotlib, whose import and drawing take seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from elephan.report.palette import VARIABLES

# What both know to draw, with the arguments that matplotlib gives them.
CALLS = frozenset(
    (
        *("plot", "step", "stairs", "fill_between", "axvspan", "axhspan", "axvline", "axhline", "vlines", "hlines", "bar", "barh"),
        *("broken_barh", "annotate", "text", "set_title", "set_xlabel", "set_ylabel", "set_xlim", "set_ylim", "set_xscale"),
        *("set_yscale", "set_xticks", "set_yticks", "locator_params", "minorticks_off", "tick_params", "grid", "set_axis_off"),
        *("set_visible", "legend", "number_format", "hide_spine", "tips", "tick_names"),
    )
)
OF_FIGURES = frozenset({"legend", "supxlabel", "supylabel"})
DIGITS = 6  # of a number on a page: a two-thousandth of a pixel


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a function of matplotlib's axes or figures."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]


class Recorder:
    """Keeps the calls of some functions."""

    known: frozenset[str] = OF_FIGURES

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.known:
            raise AttributeError(f"a page cannot draw {name}; it can draw {', '.join(sorted(self.known))}")
        return partial(self.keep, name)

    def keep(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Keeps a call with its arrays as they are now; returns it, or of lines, as matplotlib, a list of it."""
        call = Call(name, tuple(one.copy() if isinstance(one, np.ndarray) else one for one in arguments), options)
        self.calls.append(call)
        return [call] if name == "plot" else call

    def last(self, name: str, count: int) -> tuple[Any, ...]:
        """Returns the arguments of the last call of a function that had so many, or nothing."""
        return next((call.arguments for call in reversed(self.calls) if call.name == name and len(call.arguments) == count), ())


class Axes(Recorder):
    """What a figure draws on, as `matplotlib.axes.Axes`."""

    known = CALLS

    def __init__(self, figure: Figure) -> None:
        super().__init__()
        self.figure = figure

    def get_figure(self) -> Figure:
        return self.figure

    def get_xlim(self) -> tuple[float, float]:
        return self._limits("x")

    def get_ylim(self) -> tuple[float, float]:
        return self._limits("y")

    def _limits(self, axis: str) -> tuple[float, float]:
        """Returns the limits that were set, or those that matplotlib would choose."""
        if found := self.last(f"set_{axis}lim", 2):
            return float(found[0]), float(found[1])
        from elephan.report.paint import painted

        low, high = getattr(painted(self.figure).axes[self.figure.axes.index(self)], f"get_{axis}lim")()
        return float(low), float(high)

    def get_yscale(self) -> str:
        return str((*self.last("set_yscale", 1), "linear")[0])

    def get_title(self, loc: str = "left") -> str:
        return str((*self.last("set_title", 1), "")[0])

    def get_xaxis_transform(self) -> str:
        return "xaxis"

    @property
    def transAxes(self) -> str:
        return "axes"

    def get_legend_handles_labels(self) -> tuple[list[Call], list[str]]:
        """Returns the calls with a label, and the labels."""
        named = [call for call in self.calls if call.options.get("label")]
        return named, [str(call.options["label"]) for call in named]


class Figure(Recorder):
    """Axes in rows and columns, as `matplotlib.figure.Figure`."""

    def __init__(self, rows: int, columns: int, height: float, options: dict[str, Any], wrap: int = 0) -> None:
        super().__init__()
        self.rows, self.columns, self.height, self.options, self.wrap = rows, columns, height, options, wrap
        self.axes = [Axes(self) for _ in range(rows * columns)]

    def data(self) -> dict[str, Any]:
        """Returns the figure as plain values for the script of a page."""
        shape = {"rows": self.rows, "columns": self.columns, "height": self.height, "options": _plain(self.options)}
        shape |= {"wrap": self.wrap} if self.wrap else {}
        return {**shape, "axes": [_plain(axes.calls) for axes in self.axes], "calls": _plain(self.calls)}


def _plain(value: Any) -> Any:
    """Returns a value of a call as JSON has it: colours of the palette as variables of the page, numbers with few digits."""
    if isinstance(value, Call):
        return [value.name, _plain(value.arguments), _plain(value.options)]
    if isinstance(value, str):
        return VARIABLES.get(value, value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None
