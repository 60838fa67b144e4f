"""One run: its tables, its summary, its scenario with every default spelled out, and how it draws itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base import kinds
from elephan.base.errors import InputError, shown
from elephan.base.progress import run_bar
from elephan.base.quantity import seconds
from elephan.base.seed import seed_or_none
from elephan.base.signals import from_outside
from elephan.result import folder
from elephan.scenario import core
from elephan.scenario.guestsource import provenance
from elephan.scenario.places import places_of
from elephan.scenario.source import Source, check_regular, open_source, read_json, read_object, read_text
from elephan.statistic import measures
from elephan.statistic.measures import statistic
from elephan.table.classes import RUN, TRACE, RunTables
from elephan.table.flow_phases import flow_phases
from elephan.table.spreading import spreading

if TYPE_CHECKING:
    import pyarrow as pa

    from elephan.table.phases import Phases
    from elephan.table.spreading import Tree

Late = Any  # a value, or a function that gives it


def read_table(file: Path, columns: Sequence[str] | None = None, pick: Callable[[Any], pa.Table] | None = None) -> pa.Table:
    """Returns a table, or some of its columns with each text held once, from its file; raises one line about why not.

    `pick`: takes the open `ParquetFile` and returns the part of the table that is wanted.
    """
    import pyarrow as pa
    from pyarrow import parquet

    check_regular(file)
    if not file.is_file():
        kept = (folder.read_manifest(file.parent) or {}).get("kept")
        why = f"is left out: of this run {kept['what']} are kept" if kept else f"is missing; {folder.AGAIN}"
        raise InputError(f"{file}: the table {file.stem} {why}")
    folder.verify(file)  # before anything is made of its bytes
    try:
        # Without threads of its own: if memory is short, pyarrow waits for ever for those that it could not start.
        with parquet.ParquetFile(file, pre_buffer=False, read_dictionary=columns) as opened:
            names = opened.schema_arrow.names
            table = opened.read(columns=columns, use_threads=False) if pick is None else pick(opened)
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError) as error:  # also of nonsense in its footer
        if from_outside(error):
            raise
        raise InputError(f"{file}: damaged: the table {file.stem} cannot be read; {folder.AGAIN}") from None
    if lacking := [name for name in {**RUN, **TRACE}.get(file.stem, ()) if name not in names]:
        raise InputError(f"{file}: damaged: not the table {file.stem}, it has no column {lacking[0]}; {folder.AGAIN}")
    return table


class Tables(Mapping[str, "pa.Table"]):
    """The tables of a run by name; from a folder they are read when first asked for."""

    def __init__(self, loaded: Mapping[str, Any] | None = None, path: Path | None = None) -> None:
        self._loaded: dict[str, Any] = dict(loaded or {})
        self._path = path

    def __getitem__(self, name: str) -> pa.Table:
        import pyarrow as pa

        if name not in RUN:
            raise KeyError(name)
        table = self._loaded.get(name)
        if table is None:
            table = self._read(name)
        elif not isinstance(table, pa.Table):
            table = pa.table(table)
        self._loaded[name] = table
        return table

    def columns(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Returns some columns of a table; those of a table with millions of rows are read in a tenth of its time."""
        if self._path is None or name in self._loaded:
            return self[name].select(columns)
        return read_table(self._path / f"{name}.parquet", columns)

    @property
    def path(self) -> Path | None:
        """The folder that the tables are in, if they are in one."""
        return self._path

    def _read(self, name: str) -> pa.Table:
        if self._path is None:
            raise InputError(f"the run has no table {name}")
        return read_table(self._path / f"{name}.parquet")

    def __iter__(self) -> Iterator[str]:
        return iter(RUN)

    def __len__(self) -> int:
        return len(RUN)


class Run(folder.Result, RunTables):
    """The result of one run. Tables are pyarrow Tables; `.to_pylist()` gives rows, `.to_pandas()` a data frame (extra `pandas`).

    >>> run = el.run("sawtooth", set={"duration": "30 s"})
    >>> run
    <elephan.Run sawtooth seed 1: 1 flow>
    >>> run.flows.num_rows, run.seed
    (1, 1)
    >>> round(run.statistic("utilisation.max"), 3)
    1.0
    >>> run.phases().recovers
    True
    >>> run.spreading(), run.as_dict()["kind"]
    ([], 'run')
    >>> len(run.figure("sawtooth").axes)
    2
    >>> run.report("sawtooth.html")
    PosixPath('sawtooth.html')
    """

    kind = "run"
    tables: Tables

    def __init__(
        self, tables: Tables, summary: Late, scenario: Late, provenance: Late, manifest: Late, resolved: Late = None
    ) -> None:
        """All but the tables may be functions, called when they are first asked for: few runs of a sweep are."""
        self.tables = tables
        self._origin: tuple[Source, Mapping[str, Any]] | None = None
        self._beginning: core.Beginning | None = None
        self._late = {
            "summary": summary,
            "scenario": scenario,
            "provenance": provenance,
            "manifest": manifest,
            "resolved": resolved,
        }

    def __getstate__(self) -> dict[str, Any]:
        """All but what only this process has."""
        return {**self.__dict__, "_beginning": None}

    def _given(self, name: str) -> Any:
        found = self._late[name]
        return found() if callable(found) else found

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The figures of `summary.json`."""
        return dict(self._given("summary"))

    @cached_property
    def scenario(self) -> str:
        """The scenario in TOML, every default spelled out."""
        return str(self._given("scenario"))

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The resolved scenario as plain Python values."""
        return dict(self._given("resolved") or core.toml_values(self.scenario))

    @cached_property
    def provenance(self) -> Any:
        """Each parameter with where its value is from."""
        return self._given("provenance")

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """How the run came about."""
        return dict(self._given("manifest"))

    @property
    def captures(self) -> list[Path]:
        """The capture files (pcapng), one for each host or port that was captured; a run without a folder has none."""
        where = self.tables.path
        return [where / name for name in self.manifest.get("captures", [])] if where else []

    @property
    def name(self) -> str:
        return str(self.manifest.get("name", "scenario"))

    @property
    def title(self) -> str:
        return str(self.resolved.get("title", "")) or self.name

    @property
    def question(self) -> str:
        return str(self.resolved.get("question", ""))

    @property
    def seed(self) -> int:
        return int(self.manifest["seed"])

    @property
    def duration_ns(self) -> int:
        planned = round(seconds(self.resolved["duration"]) * 1e9)
        if "returned" in self.summary:  # programs end when they have returned
            return min(planned, round(float(self.summary["simulated_s"]) * 1e9))
        return planned

    @property
    def warmup_ns(self) -> int:
        return round(seconds(self.resolved.get("warmup", 0)) * 1e9)

    def statistic(self, name: str) -> float:
        """Returns one number by name, such as `"latency_ns.p99"` (see `elephan.statistic.measures`).

        Raises InputError for a run of which thinned samples are kept: the rows that stay would give other numbers.
        """
        if (self.manifest.get("kept") or {}).get("within"):
            raise InputError(f"{self.name}: its samples are thinned; the store has the statistics of its trial")
        return statistic(self, name)

    def spreading(self, by: str = "root") -> list[Tree]:
        """Returns trees of paused ports and their victims: for each root, or with `by="episode"` for each episode."""
        return spreading(self, by)

    def phases(self, flow: int | None = None) -> Phases:
        """Returns the phases of a TCP flow (the one that delivered most). Raises InputError where it is too short to have any."""
        return flow_phases(self, flow)

    @property
    def curated_figure(self) -> str:
        """The figure that the scenario chose for its answer, if any."""
        return str(self.manifest.get("figure", ""))

    @property
    def curated_statistics(self) -> tuple[str, ...]:
        """The statistics that the scenario chose for its answer, if any."""
        return tuple(str(name) for name in self.manifest.get("statistics", []))

    def figure(self, name: str = "") -> Any:
        """Returns a matplotlib Figure of this run by name; without a name the one that fits (see `elephan list figures`)."""
        if not isinstance(name, str):
            raise InputError(f"a figure is named by a text such as sawtooth, not {name!r}")
        return kinds.of(self).figures.draw(self, name or self.curated_figure).figure

    def as_dict(self) -> dict[str, Any]:
        """Returns how the run came about, its summary, and its statistics: those that the scenario names, then the usual ones."""
        return {**self.manifest, "summary": self.summary, "statistics": measures.usual(self, self.curated_statistics)}

    def fill(self, partial: Path) -> None:
        """Writes the tables, unless they are there, and what belongs to them."""
        from pyarrow import parquet

        for name in self.tables if self.tables.path != partial else ():
            parquet.write_table(self.tables[name], partial / f"{name}.parquet")
        fill_words(self, partial)

    def __repr__(self) -> str:
        flows = f"{self.flows.num_rows} flow{'' if self.flows.num_rows == 1 else 's'}"
        return shown(f"<elephan.Run {self.name} seed {self.seed}: {flows}>")


def fill_words(run: Run, partial: Path, about: Mapping[str, Any] | None = None) -> None:
    """Writes all of a run's folder but its tables; `about` is added to the manifest."""
    (partial / "scenario.toml").write_text(run.scenario, encoding="utf-8")
    folder.write_json(partial / "summary.json", run.summary)
    folder.write_json(partial / "provenance.json", run.provenance)
    folder.write_json(partial / "manifest.json", {**run.manifest, **(about or {})})


def guests(source: Source, resolved: Mapping[str, Any]) -> dict[str, Any]:
    """`guests` of a manifest: congestion controls in Python with the hashes of their sources; nothing if there are none."""
    rows = provenance(resolved, source.name, source.agreed)
    return {"guests": rows} if rows else {}


def _manifest(source: Source, overrides: Mapping[str, Any], result: Any) -> dict[str, Any]:
    origins, resolved = json.loads(result.provenance), json.loads(result.resolved)
    places = places_of(source.text)
    return {
        **folder.manifest_head("run", source.stem),
        **vars(source.noted(overrides)),
        **experiment(str(result.resolved_toml)),
        "seed": int(resolved.get("seed", 0)),
        "overrides": dict(overrides),
        "dropped_overrides": origins.get("dropped", []) if isinstance(origins, dict) else [],
        **guests(source, resolved),
        "wall_s": float(result.wall_s),
        "events": int(result.events),
        "packet_hops": int(result.packet_hops),
        "captures": list(result.captures),
        **({"places": {name: list(place) for name, place in places.items()}} if places else {}),
        **({"shared_s": float(result.shared_s)} if result.shared_s else {}),
    }


def finish(source: Source, overrides: Mapping[str, Any], result: Any, tables: Tables) -> Run:
    """The run that a result of the core is."""
    run = Run(
        tables,
        lambda: json.loads(result.summary),
        lambda: result.resolved_toml,
        lambda: json.loads(result.provenance),
        lambda: _manifest(source, overrides, result),
        lambda: json.loads(result.resolved),
    )
    run._origin = (source, overrides)
    return run


def check_answer(source: Source, overrides: Mapping[str, Any]) -> None:
    """Raises InputError, with file and line, if a scenario is answered by a figure or a statistic that there is not."""
    found = source.noted(overrides)
    checks: list[tuple[str, Callable[[str], Any]]] = [(name, measures.parse) for name in found.statistics]
    for name, check in [*checks, *([(found.figure, kinds.of(Run).figures.known)] if found.figure else [])]:
        try:
            check(name)
        except InputError as error:
            raise InputError(f"{source.place(name)}: answer: {error}") from None


def capturing(source: Source, overrides: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
    """The overrides with which a run captures: as given if the scenario then captures anything, else at every host."""
    record = core.toml_values(core.resolved_toml(source, overrides, seed)).get("record", {})
    given = record.get("captures", "none") not in ("none", [])
    return dict(overrides) if given else {**overrides, "record.captures": "hosts"}


def experiment(resolved: str) -> dict[str, Any]:
    """What a manifest says of the experiment that a run is: the hash of its resolved scenario, seed included."""
    import hashlib

    return {"scenario_sha256": hashlib.sha256(resolved.encode()).hexdigest()}


def check_same(out: str | os.PathLike[str], resolved: str) -> None:
    """Refuses a folder with the result of another experiment."""
    if folder.holds_other(out, experiment(resolved)):
        raise InputError(f"{out}: holds the result of another scenario or seed; choose another folder, or say replace")


def run(
    scenario: Any,
    *,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | core.Progress = False,
    report: bool = True,
    pcap: bool = False,
    replace: bool = False,
    python_from: Any = None,
    files_from: Any = None,
) -> Run:
    """Runs a scenario once; returns its `Run`.

    `scenario`: a path, the name of a library scenario, TOML or JSON text, or an `elephan.Scenario`.
    `set`: overrides by path, such as `{"switches.sw.memory": "96 KiB"}`. `out`: a folder for tables, manifest and, with `report`,
    the report; without it the tables stay in memory. `progress`: a bar, or a function of (share done, events). `pcap`: capture
    packets in `out`, at every host with traffic unless the scenario's `record.captures` says where. `replace`: whether the result
    of another scenario, or of another seed, in `out` may go; without it that is an InputError.
    `python_from`: modules, files and folders whose congestion controls may be loaded, besides files beside the scenario and what
    `set` names (docs/trust.md). `files_from`: files and folders that the scenario may read, besides its own folder.

    >>> run = el.run("sawtooth", seed=2, set={"duration": "12 s", "template.rate": "20 Mbps"})
    >>> run.flows["congestion_control"].to_pylist()
    ['reno']
    """
    overrides, seed = core.as_overrides(set), seed_or_none(seed)
    source = open_source(scenario).with_trust(python_from, overrides, files_from=files_from).packed()
    if pcap:
        if out is None:
            raise InputError("captures are files: say with out where to write them")
        overrides = capturing(source, overrides, seed)
    check_answer(source, overrides)
    if out is not None and not replace:
        check_same(out, core.resolved_toml(source, overrides, seed))

    def execute(where: Path | None) -> Any:
        with run_bar(source.stem, progress) as tick:
            return core.execute_interruptible(source, overrides, seed, str(where) if where else None, tick)

    if out is None:
        result = execute(None)
        return finish(source, overrides, result, Tables(result.tables))
    with folder.result_folder(out, "run") as partial:
        finished = finish(source, overrides, execute(partial), Tables(path=partial))
        finished.fill(partial)
    done = load_run(out)
    done._origin = (source, overrides)
    if report:
        done.add_report(Path(out), progress is True)
    return done


def load_run(path: str | os.PathLike[str]) -> Run:
    """A finished run from its folder; tables are read when asked for."""
    where, manifest = folder.open_result(path)
    if manifest.get("kind") != "run":
        raise InputError(f"{where}: holds a {manifest.get('kind')}, not a single run")
    if not isinstance(manifest.get("seed"), int):
        raise InputError(f"{where / 'manifest.json'}: damaged: no seed")
    summary, provenance = read_object(where / "summary.json"), read_json(where / "provenance.json")
    scenario = read_text(where / "scenario.toml")
    run = Run(Tables(path=where), summary, scenario, provenance, manifest)
    try:
        _ = run.resolved, run.duration_ns, run.warmup_ns
    except KeyError as error:
        raise InputError(f"{where / 'scenario.toml'}: damaged: no {error.args[0]}") from None
    except (ValueError, TypeError, AttributeError):
        raise InputError(f"{where / 'scenario.toml'}: damaged") from None
    return run
