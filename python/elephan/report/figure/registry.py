"""The register of figures of one run: each says what it shows, whether a run has the data, and draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elephan.report.style import Drawing
from elephan.report.words.view import View


@dataclass(frozen=True)
class Kind:
    """A figure that can be asked for by name."""

    name: str
    about: str
    possible: Callable[[View], bool]
    draw: Callable[[View], Drawing]


REGISTRY: dict[str, Kind] = {}


def figure(
    name: str, about: str, possible: Callable[[View], bool]
) -> Callable[[Callable[[View], Drawing]], Callable[[View], Drawing]]:
    """Registers a figure."""

    def register(function: Callable[[View], Drawing]) -> Callable[[View], Drawing]:
        REGISTRY[name] = Kind(name, about, possible, function)
        return function

    return register
