"""What only the native engine can do: what needs files, folders, and the other rooms of elephan."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.explore.engine import Engine
from elephan.result.folder import read_manifest

if TYPE_CHECKING:
    from elephan.explore.session import Request
    from elephan.explore.start import Start

Give = Callable[[Mapping[str, Any]], bool]
_RESULTS = Path("results")
_MOST = 1000  # results that are listed


class Native:
    """The methods in Python of an engine."""

    def __init__(self, engine: Engine, start: Start) -> None:
        self.engine, self.start = engine, start

    def register(self) -> None:
        """Lets the engine answer them."""
        self.engine.methods.update({"results": self.results, "load": self.load, "open": self.open})

    def results(self, request: Request, give: Give) -> Mapping[str, Any]:
        """The results that are kept below `results` in the working folder, the newest first."""
        found: list[dict[str, Any]] = []
        for file in _RESULTS.glob("*/manifest.json"):
            manifest = read_manifest(file.parent)
            if manifest:
                words = {key: manifest.get(key) for key in ("kind", "title", "scenario", "seed", "created")}
                found.append({"path": str(file.parent), "name": file.parent.name, "at_s": file.stat().st_mtime, **words})
        found.sort(key=lambda one: float(one["at_s"]), reverse=True)
        return {"value": found[:_MOST]}

    def load(self, request: Request, give: Give) -> Mapping[str, Any]:
        """Opens a result or a capture: the one of the command line, one that `results` lists or, with trust, any."""
        given = request.params.get("path")
        if not isinstance(given, str) or not given:
            raise InputError("path is missing: the folder of a result, or a capture")
        path = Path(given)
        kept = path.parent == _RESULTS and path.name not in ("..", ".")
        if not (given == self.start.load or kept or self.start.trust):
            raise InputError(f"{given}: a page opens what results lists; start elephan explore with this path, or with --trust")
        if path.is_file():
            return self._capture(path, path.name)
        from elephan.open import load

        result = load(path)
        if result.kind == "trace":
            return self._traced(result, path.name)
        if result.kind != "run":
            return {"kind_of": result.kind, "name": path.name, "title": getattr(result, "title", ""), "value": result.as_dict()}
        return self._run(result, path.name)

    def open(self, request: Request, give: Give) -> Mapping[str, Any]:
        """Opens what was dropped on the page: a capture, an iperf3 result, a log of ss."""
        given = request.params.get("name")
        name = Path(given).name if isinstance(given, str) and given else "capture"
        with tempfile.TemporaryDirectory(prefix="elephan-explore-") as folder:
            path = Path(folder) / "dropped"
            path.write_bytes(request.payload)
            try:
                return self._capture(path, name)
            except InputError as error:
                raise InputError(str(error).replace(str(path), name)) from None

    def _capture(self, path: Path, name: str) -> Mapping[str, Any]:
        from elephan.capture.trace import analyze

        return self._traced(analyze(path, report=False), name)

    def _traced(self, trace: Any, name: str) -> Mapping[str, Any]:
        tables = {"connections": trace.connections, "connection_samples": trace.samples, "trace_events": trace.events}
        summary = {**trace.summary, "span_ns": int(trace.span_ns)}
        handle = self.engine.desk.load(None, json.dumps(summary), tables)
        return {"kind_of": "capture", "handle": handle, "name": name, "summary": summary}

    def _run(self, run: Any, name: str) -> Mapping[str, Any]:
        text = run.scenario
        handle = self.engine.desk.load(text, json.dumps(run.summary), {table: run.tables[table] for table in run.tables})
        return {"kind_of": "run", "handle": handle, "name": name, "text": text, "seed": run.seed, "summary": run.summary}
