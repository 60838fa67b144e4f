"""Figures drawn by matplotlib from their calls, for files and for who asks for a `matplotlib.figure.Figure`."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, LogLocator, NullFormatter, ScalarFormatter

from elephan.base.errors import shown
from elephan.base.quantity import raised, show
from elephan.report import sketch
from elephan.report.palette import SETTINGS, WIDTH_IN

FORMATS: dict[str, Callable[[float], str]] = {
    "plain": lambda value: f"{value:,g}".replace(",", "\u202f") if value < 1e6 else raised(value, 1),
    "time": lambda value: show(value, "ns"),
    "percent": lambda value: f"{100 * value:g} %",
    "count": lambda value: show(value, "1", 9),
}
FOR_PAGES = {"gid", "fit"}  # what a click hides, and the room of a text in units of the data
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Shown(Figure):
    """A figure that a notebook shows without `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        return png(self)


def painted(figure: sketch.Figure) -> Figure:
    """Draws a figure with matplotlib."""
    with mpl.rc_context(SETTINGS):
        engine = ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.06, hspace=0.06, wspace=0.06)
        drawn = Shown(figsize=(WIDTH_IN, figure.height), layout=engine)
        grid = drawn.subplots(figure.rows, figure.columns, squeeze=False, **figure.options)
    artists: dict[sketch.Call, Any] = {}
    for axes, own in zip(grid.flat, figure.axes, strict=True):
        for call in own.calls:
            result = _OWN[call.name](axes, *call.arguments) if call.name in _OWN else _call(axes, call, artists)
            artists[call] = result[0] if isinstance(result, list) and result else result
    for call in figure.calls:
        _call(drawn, call, artists)
    return drawn


def _call(target: Any, call: sketch.Call, artists: dict[sketch.Call, Any]) -> Any:
    """Calls a function of axes or a figure with what its arguments stand for."""

    def meant(value: Any) -> Any:
        if isinstance(value, sketch.Call):
            return artists[value]
        return [meant(one) for one in value] if isinstance(value, list) else value

    options = {name: meant(value) for name, value in call.options.items() if name not in FOR_PAGES}
    if transform := options.get("transform"):
        options["transform"] = target.transAxes if transform == "axes" else target.get_xaxis_transform()
    return getattr(target, call.name)(*map(meant, call.arguments), **options)


def _number_format(axes: Axes, axis: str, kind: str, subs: tuple[float, ...] = ()) -> None:
    which = axes.yaxis if axis == "y" else axes.xaxis
    if subs:
        which.set_major_locator(LogLocator(base=10, subs=subs))
    which.set_major_formatter(FuncFormatter(lambda value, _: FORMATS[kind](value)))
    which.set_minor_formatter(NullFormatter())


def _hide_spine(axes: Axes, side: str) -> None:
    axes.spines[side].set_visible(False)


def _for_pages(*_: Any) -> None:
    """Draws nothing: a file has no pointer."""


_OWN: dict[str, Callable[..., Any]] = {
    "number_format": _number_format,
    "hide_spine": _hide_spine,
    "tips": _for_pages,
    "tick_names": _for_pages,
}


def svg(figure: Figure) -> str:
    """Returns a figure as SVG text, the same bytes every time."""
    text = io.StringIO()
    with mpl.rc_context(SETTINGS):
        _write_numbers_plainly(figure)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": "elephan"})
    figure.set_layout_engine(None)  # the layout is found: drawing again need not look for it
    return shown(text.getvalue())


def png(figure: Figure) -> bytes:
    """Returns a figure, whose layout has been found, as a PNG on white."""
    data = io.BytesIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(data, format="png", dpi=160, facecolor="white", metadata={"Software": "elephan"})
    return data.getvalue()


def plain_power(text: str) -> str:
    """Returns a tick label of a logarithmic axis without mathematics to typeset: `$\\mathdefault{10^{-6}}$` as `10⁻⁶`."""
    inner = text.removeprefix(r"$\mathdefault{").removesuffix("}$").replace(r"\times", "\u00d7")
    return re.sub(r"\^\{([^}]*)\}", lambda power: power[1].translate(_SUPERSCRIPTS), inner)


def grouped(text: str) -> str:
    """Returns a tick label of a linear axis with its digits in threes, as the text has them: `700000` as `700 000`."""
    return re.sub(r"(?<![.\d])\d{4,}", lambda digits: f"{int(digits[0]):,}".replace(",", "\u202f"), text)


class _PlainPowers(LogFormatterSciNotation):
    def __call__(self, x: float, pos: int | None = None) -> str:
        return plain_power(super().__call__(x, pos))


class _Grouped(ScalarFormatter):
    def __call__(self, x: float, pos: int | None = None) -> str:
        return grouped(super().__call__(x, pos))


def _write_numbers_plainly(figure: Figure) -> None:
    """Long numbers in threes, powers without mathematics: to read labels as formulas takes longer than to draw everything else."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if type(axis.get_major_formatter()) is ScalarFormatter:
                axis.set_major_formatter(_Grouped())
            if isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
                axis.set_major_formatter(_PlainPowers())
            if isinstance(axis.get_minor_formatter(), LogFormatterSciNotation):
                axis.set_minor_formatter(_PlainPowers())
