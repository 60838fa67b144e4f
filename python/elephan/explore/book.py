"""Serves the book with live figures: below `live/` is the page of `elephan explore`, whose engine runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from elephan.explore.server import PAGE, WASM


def application(book: Path) -> Starlette:
    """Returns an application of files alone: what it serves is in every copy of elephan."""
    routes: list[Any] = []
    if WASM.is_dir() and (PAGE / "index.html").is_file():
        routes += [Mount("/live/wasm", StaticFiles(directory=WASM)), Mount("/live", StaticFiles(directory=PAGE, html=True))]
    return Starlette(routes=[*routes, Mount("/", StaticFiles(directory=book, html=True))])
