"""How a result draws itself: the one place where what lies below reports names one of them.

A result has a kind, the word in its manifest. `elephan.report.page.<kind>_page` has two functions for it: `page(result)` gives
the report, `notebook(result)` what a notebook shows. The module is found by its name when somebody asks for a picture, so that
results import no report, and a new kind is one file more in `report/page`.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any, ClassVar

from elephan.base.errors import shown


def pages(kind: str) -> Any:
    """Returns the module that draws results of a kind."""
    return importlib.import_module(f"elephan.report.page.{kind}_page")


def write_report(kind: str, result: Any, path: Path, figures: Path | None = None) -> Path:
    """Writes the report of a result, and its figures into a folder; returns the path of the report."""
    page = pages(kind).page(result)
    return Path(importlib.import_module("elephan.report.page.page").write_page(page, path, figures))


class Drawn:
    """A result with a report and a picture in a notebook."""

    kind: ClassVar[str]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the self-contained HTML report of this result; returns its path."""
        return write_report(self.kind, self, Path(path))

    def _repr_html_(self) -> str:
        return shown(pages(self.kind).notebook(self))
