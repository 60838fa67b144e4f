"""What only the native engine can do: what needs files, folders, and the other rooms of elephan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from elephan.explore.engine import Engine

if TYPE_CHECKING:
    from elephan.explore.session import Request
    from elephan.explore.start import Start

Give = Callable[[Mapping[str, Any]], bool]


class Native:
    """The methods in Python of an engine."""

    def __init__(self, engine: Engine, start: Start) -> None:
        self.engine, self.start = engine, start

    def register(self) -> None:
        """Lets the engine answer them."""
        self.engine.methods.update({"results": self.results})

    def results(self, request: Request, give: Give) -> Mapping[str, Any]:
        """The results that are kept below `results` in the working folder."""
        return {"value": []}
