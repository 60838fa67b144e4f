"""Kinds of results: a kind is one file in `elephan/open/kind`, and its name is the word in a manifest.

The file declares `KIND`, everything about the kind. It is found by its name when somebody asks for it, so that a result imports
neither the report that draws it nor the code that opens it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from elephan.report.page.page import Page
    from elephan.report.screen import Screen

_PACKAGE = "elephan.open.kind"


@dataclass(frozen=True)
class Compared:
    """What results are compared by: values by variant, statistic and seed, and the most flows of a run of each variant."""

    values: Mapping[str, Mapping[str, Mapping[int, float]]]
    flows: Mapping[str, int] = field(default_factory=dict)


class SideBySide(Protocol):
    """Two results of a kind, compared by what only this kind has."""

    def as_dict(self) -> Any:
        """Returns what `elephan diff --json` prints."""

    def tables(self, screen: Screen, /) -> None:
        """Prints what differs."""


@dataclass(frozen=True)
class Kind:
    """Everything about a kind of results.

    `holds`: patterns of the files in its folder, besides manifest, report and figures. `load` reads a finished result from its
    folder. `title`, `answer` and `warnings` say what a terminal shows first, `tables` prints the rest. `page` returns the report
    of a result, `notebook` the HTML that a notebook shows. `compared` returns the values that `elephan diff` compares; without it
    there are none. `side_by_side` compares two loaded results of this kind in its own way instead. `figures`: the module that
    draws, for results that ask it for a figure.
    """

    holds: Sequence[str]
    load: Callable[[Path], Any]
    title: Callable[[Any], str]
    answer: Callable[[Any], Sequence[str]]
    warnings: Callable[[Any], Sequence[str]]
    tables: Callable[[Any, Screen], None]
    page: Callable[[Any], Page]
    notebook: Callable[[Any], str]
    compared: Callable[[Path], Compared] | None = None
    side_by_side: Callable[[Any, Any], SideBySide] | None = None
    figures: Any = None


def later(module: str, name: str) -> Callable[[Any], Any]:
    """Returns a function of a result that is imported when it is called: an answer on the terminal need not wait for it."""
    return lambda result: getattr(importlib.import_module(module), name)(result)


def find(name: Any) -> Kind | None:
    """Returns the kind of this name, or None if there is none."""
    known = (one.name for one in pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__))
    return importlib.import_module(f"{_PACKAGE}.{name}").KIND if name in known else None


def of(result: Any) -> Kind:
    """Returns the kind of a result."""
    kind: Kind = importlib.import_module(f"{_PACKAGE}.{result.kind}").KIND
    return kind
