"""What only the native engine can do: what needs files, folders, and the other rooms of elephan."""

from __future__ import annotations

import io
import json
import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.errors import ElephanError, InputError
from elephan.base.paths import as_path
from elephan.experiment.job import Job
from elephan.explore.engine import Engine, unframed
from elephan.explore.growing import Growing
from elephan.explore.kept import Book, Part, StoreBook, opened
from elephan.explore.start import is_store
from elephan.explore.told import told
from elephan.open import load
from elephan.result.folder import read_manifest
from elephan.result.run import load_run
from elephan.scenario import core

if TYPE_CHECKING:
    from elephan.explore.session import Request
    from elephan.explore.start import Start

_RESULTS = Path("results")
_MOST = 1000  # results that are listed
_OPEN_MAX = 8  # experiments that stay read
_POINTS = 100_000_000  # of a line that is saved: all


class Native:
    """The methods in Python of an engine."""

    def __init__(self, engine: Engine, start: Start) -> None:
        self.engine, self.start = engine, start
        self.books: OrderedDict[str, Book | Growing] = OrderedDict()  # experiments that pages look at, by path

    def register(self) -> None:
        """Lets the engine answer them."""
        own = (self.results, self.load, self.open, self.trials, self.trial, self.parquet, self.explain)
        self.engine.methods.update({method.__name__: method for method in own})

    def results(self, request: Request) -> Mapping[str, Any]:
        """The results that are kept below `results` in the working folder, the newest first."""
        found: list[dict[str, Any]] = []
        for file in _RESULTS.glob("*/manifest.json"):
            manifest = read_manifest(file.parent)
            if manifest:
                words = {key: manifest.get(key) for key in ("kind", "title", "scenario", "seed", "created")}
                found.append({"path": str(file.parent), "name": file.parent.name, "at_s": file.stat().st_mtime, **words})
        for file in _RESULTS.glob("*/store.json"):
            words = {"kind": "store", "title": "store of trials"}
            found.append({"path": str(file.parent), "name": file.parent.name, "at_s": file.stat().st_mtime, **words})
        found.sort(key=lambda one: float(one["at_s"]), reverse=True)
        return {"value": found[:_MOST]}

    def load(self, request: Request) -> Mapping[str, Any]:
        """Opens a result or a capture: the one of the command line, one that `results` lists or, with trust, any."""
        given = request.params.get("path")
        if not isinstance(given, str) or not given:
            raise InputError("path is missing: the folder of a result or a store, or a capture")
        path = as_path(given, "path")
        kept = path.parent == _RESULTS and path.name not in ("..", ".")
        if not (given == self.start.load or kept or self.start.trust):
            raise InputError(f"{given}: a page opens what results lists; start elephan explore with this path, or with --trust")
        if self.start.growing is not None and given == self.start.load:
            return self._book(given, self.start.growing)
        if path.is_file():
            return self._capture(path, path.name)
        if is_store(path):
            return self._book(given, StoreBook(path, load).book())
        result = load(path)
        if result.kind == "trace":
            return self._traced(result, path.name)
        if result.kind == "run":
            return self._run(result, path.name)
        return self._book(given, opened(result))

    def _book(self, path: str, book: Book | Growing) -> Mapping[str, Any]:
        self.books[path] = book
        self.books.move_to_end(path)
        while len(self.books) > _OPEN_MAX:
            self.books.popitem(last=False)
        return {"kind_of": "trials", "path": path, "name": Path(path).name, **book.head(), **book.state}

    def _part(self, request: Request) -> tuple[Book | Growing, Part]:
        """The part of an experiment that a page looks at; one that was let go of meanwhile is read again."""
        path = request.params.get("path")
        book = self.books.get(path) if isinstance(path, str) else None
        if book is None:
            self.load(request)
            book = self.books.get(str(path))
        if book is None:
            raise InputError(f"{path}: this result has no trials")
        return book, book.part(request.params.get("part", ""))

    def trials(self, request: Request) -> Mapping[str, Any]:
        """The variants of a kept experiment for which a condition holds, with a statistic of their trials."""
        book, part = self._part(request)
        head = part.head()
        if not head["statistics"]:
            return {**head, "statistic": "", "variants": [], "of": 0, "left_off": 0, **book.state}
        wanted = request.params.get("statistic") or head["statistics"][0]["name"]
        condition = request.params.get("where", "")
        if not isinstance(condition, str) or not isinstance(wanted, str):
            raise InputError("statistic and where are texts")
        return {**head, "statistic": wanted, **part.answer(wanted, condition), **book.state}

    def trial(self, request: Request) -> Mapping[str, Any]:
        """Opens a run of a kept experiment: its tables if they are kept, else the scenario that simulates it again."""
        _, part = self._part(request)
        label, seed = request.params.get("variant"), request.params.get("seed")
        if not isinstance(seed, int) or not any(row.variant == label and row.seed == seed for row in part.trials):
            raise InputError(f"no run of this experiment is of the variant {label} with the seed {seed}")
        found = part.run(str(label), seed)
        name = f"{label}, seed {seed}" if label else f"seed {seed}"
        if isinstance(found, Path):
            return self._run(load_run(found), name)
        return {"kind_of": "run", "name": name, "text": self.text(found), "seed": seed}

    def text(self, job: Job) -> str:
        """The scenario of a run: as its author wrote it with the keys changed if that says the same, else with all that it sets."""
        text, whole = job.source.text, job.scenario
        for path, value in {**job.overrides, "seed": job.seed}.items():
            head, _ = self._ask("edit", {"text": text, "path": path, "value": value, "controls": False})
            text = str(head.get("text", ""))
        try:
            return text if core.resolved_toml(replace(job.source, text=text), {}, None) == whole else whole
        except ElephanError:
            return whole

    def _ask(self, method: str, params: Mapping[str, Any], cancel: Any = None) -> tuple[dict[str, Any], bytes]:
        """The desk's own answer to a request."""
        frames: list[bytes] = []

        def keep(frame: bytes) -> bool:
            frames.append(bytes(frame))
            return True

        text = json.dumps({"id": 0, "method": method, "params": params})
        self.engine.desk.serve(text.encode("utf-8", "replace"), b"", keep, cancel or self.engine.token())
        return unframed(frames[-1])

    def explain(self, request: Request) -> Mapping[str, Any]:
        """The statements of `elephan explain` about a finished run, from the tables that its handle has."""
        return {"value": told(lambda method, params: self._asked(method, params, request.cancel), request.params)}

    def _asked(self, method: str, params: Mapping[str, Any], cancel: Any) -> tuple[dict[str, Any], bytes]:
        """The desk's own answer to a request; what it refuses is raised."""
        head, body = self._ask(method, params, cancel)
        if head["kind"] == "error":
            raise InputError(head["message"])
        return head, body

    def parquet(self, request: Request) -> tuple[Mapping[str, Any], bytes]:
        """The samples of some lines as a Parquet file: `series` with all points, and what each line is of."""
        import pyarrow as pa
        from pyarrow import parquet

        lines = request.params.get("lines")
        if not isinstance(lines, list) or not lines or not all(isinstance(one, dict) for one in lines):
            raise InputError("lines is missing: a list of lines as series takes them")
        head, body = self._asked("series", {**request.params, "points": _POINTS}, request.cancel)
        parts = []
        for line, of in zip(head["lines"], lines, strict=True):
            if "error" in line:
                raise InputError(str(line["error"]))
            count = line["count"]
            time, value = (np.frombuffer(body, "<f8", count, line[at]) if count else np.zeros(0) for at in ("offset_t", "offset_y"))
            said = {"name": of.get("name", ""), "table": of["table"], "column": of.get("column", ""), "how": of["how"]} | {
                "unit": line["unit"]
            }
            words = {name: pa.array([text] * count, pa.string()) for name, text in said.items()}
            parts.append(pa.table({**words, "time_ns": time, "value": value}))
        out = io.BytesIO()
        parquet.write_table(pa.concat_tables(parts), out)
        return {"rows": sum(part.num_rows for part in parts)}, out.getvalue()

    def open(self, request: Request) -> Mapping[str, Any]:
        """Opens what was dropped on the page: a capture, or a log of a kind that `analyze` reads."""
        given = request.params.get("name")
        name = as_path(given, "name").name if isinstance(given, str) and given else "capture"
        with tempfile.TemporaryDirectory(prefix="elephan-explore-") as folder:
            path = Path(folder) / "dropped"
            path.write_bytes(request.payload)
            try:
                return self._capture(path, name, request.payload)
            except InputError as error:
                raise InputError(str(error).replace(str(path), name)) from None

    def _capture(self, path: Path, name: str, payload: bytes | None = None) -> Mapping[str, Any]:
        """Opens a capture or a log. `payload`: what is in a file that will not stay."""
        from elephan.capture import logs
        from elephan.capture.trace import analyze

        packets = None if logs.is_log(path) else payload or path.resolve()
        return self._traced(analyze(path, report=False), name, packets)

    def _traced(self, trace: Any, name: str, packets: Path | bytes | None = None) -> Mapping[str, Any]:
        tables = {"connections": trace.connections, "connection_samples": trace.samples, "trace_events": trace.events}
        if packets is not None:
            tables["connection_stretches"] = trace.stretches
        summary = {**trace.summary, "span_ns": int(trace.span_ns)}
        handle = self.engine.desk.load(None, json.dumps(summary), tables, packets)
        return {"kind_of": "capture", "handle": handle, "name": name, "summary": summary, "packets": packets is not None}

    def _run(self, run: Any, name: str) -> Mapping[str, Any]:
        text = run.scenario
        handle = self.engine.desk.load(text, json.dumps(run.summary), {table: run.tables[table] for table in run.tables})
        return {"kind_of": "run", "handle": handle, "name": name, "text": text, "seed": run.seed, "summary": run.summary}
