"""The answer about a path, and its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan import _renamed
from elephan.base.errors import InputError, shown
from elephan.experiment.path.advice import Advice, advice_from
from elephan.experiment.path.forms import Bounds, Form, bounds, closed_forms
from elephan.experiment.path.question import Question, from_dict
from elephan.experiment.path.row import Row, row_from
from elephan.experiment.path.settings import Line, as_file
from elephan.experiment.path.simulate import VALUES, tcp_options
from elephan.experiment.trials import Trials
from elephan.result import folder
from elephan.result.run import read_table
from elephan.scenario.source import read_text

if TYPE_CHECKING:
    import pyarrow as pa

NEAR = 1.02  # times as long counts as equal


class Answer(folder.Result):
    """The answer about a path. `rows`: a `Row` for each controller and number of streams; `forms`: what needs no simulation.

    >>> answer = el.path("10 Mbps", "10 ms", size="1 MB", streams=[1, 2], congestion_control="reno")
    >>> answer.best.name
    'reno with 1 stream'
    >>> answer.row("reno", 2).streams, len(answer.rows)
    (2, 2)
    >>> answer.curves_table.column_names
    ['controller', 'streams', 'seed', 'time_s', 'delivered_bytes', 'simulated']
    >>> sorted(answer.as_dict())[:3], answer.manifest()["kind"]
    (['advice', 'best', 'closed_forms'], 'path')
    >>> answer.save("asked")
    PosixPath('asked')
    """

    kind = "path"

    def __init__(
        self,
        question: Question,
        limits: Bounds,
        rows: Sequence[Row],
        curves: Sequence[Mapping[str, Any]],
        facts: Mapping[str, Any],
        advice: Advice,
        trials: Trials | None = None,
    ) -> None:
        self.question, self.limits, self.trials = question, limits, trials or Trials([])
        self.rows, self.advice = list(rows), advice
        self.curves = list(curves)  # controller, streams, seed, time_s, delivered_bytes, simulated
        self.facts = dict(facts)

    @property
    def forms(self) -> list[Form]:
        return closed_forms(self.question, self.limits)

    @property
    def best(self) -> Row:
        """The shortest time; of those within 2 % of it the one with the fewest streams.

        An estimate competes with the longest time of its range, and a row that was asked what one packet more lost would cost
        with that time.
        """
        return min(self.near, key=lambda row: (row.streams, row.claimed_s))

    @property
    def near(self) -> list[Row]:
        """The rows within 2 % of the shortest time."""
        shortest = min(row.claimed_s for row in self.rows)
        return [row for row in self.rows if row.claimed_s <= NEAR * shortest]

    @property
    def known(self) -> list[Row]:
        """The rows that are more than a rough estimate; all of them if none is."""
        return [row for row in self.rows if not row.is_rough] or self.rows

    @property
    def settings(self) -> list[Line]:
        """Lines for the hosts, each of them simulated; empty where nothing that could be set makes the transfer faster."""
        return self.advice.lines

    @_renamed.keywords(law="controller")
    def row(self, controller: str, streams: int) -> Row:
        """Returns the row of a controller with a number of streams. Raises InputError if there is none."""
        for one in self.rows:
            if (one.controller, one.streams) == (controller, streams):
                return one
        there = ", ".join(f"{one.controller} with {one.streams}" for one in self.rows)
        raise InputError(f"no result for {controller} with {streams} streams; there are {there}")

    @property
    def curves_table(self) -> pa.Table:
        """What had been delivered when: controller, streams, seed, time_s, delivered_bytes, simulated (or carried on)."""
        import pyarrow as pa

        parts = []
        for one in self.curves:
            rows = len(one["time_s"])
            parts.append(pa.table({key: value if key in _ARRAYS else [value] * rows for key, value in one.items()}))
        return pa.concat_tables(parts)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "question": self.question.as_dict(),
            "closed_forms": [form.as_dict() for form in self.forms],
            "results": [row.as_dict() for row in self.rows],
            "best": {"controller": self.best.controller, "streams": self.best.streams, "rough": self.best.is_rough},
            "advice": self.advice.as_dict(),
            "settings": [line.as_dict() for line in self.settings],
            "failures": self.failures,
        }

    def manifest(self) -> dict[str, Any]:
        """How the answer came about; of a loaded one, how it did then."""
        if "manifest" in self.facts:
            return dict(self.facts["manifest"])
        return {
            **folder.manifest_head("path", "path"),
            "seed": self.facts["seed"],
            "runs": len(self.curves),
            "failures": self.failures,
        }

    def fill(self, partial: Path) -> None:
        """Writes `path.json`, `runs.parquet`, `curves.parquet`, the scenario, the settings and the manifest."""
        from pyarrow import parquet

        folder.write_json(partial / "path.json", self.as_dict())
        folder.write_json(partial / "provenance.json", self.facts["provenance"])
        parquet.write_table(self.trials.table(self.trials.statistics), partial / "runs.parquet")
        parquet.write_table(self.curves_table, partial / "curves.parquet")
        (partial / "scenario.toml").write_text(self.facts["scenario"], encoding="utf-8")
        if self.settings:
            (partial / "settings.conf").write_text(as_file(self.advice.words, self.settings), encoding="utf-8")
        folder.write_json(partial / "manifest.json", self.manifest())

    def __repr__(self) -> str:
        about = "about " if self.best.is_rough else ""
        return shown(f"<elephan.Answer: {about}{self.best.time_s.mean:.4g} s, {self.best.name}>")


_ARRAYS = ("time_s", "delivered_bytes", "simulated")


def load_answer(where: Path) -> Answer:
    """An answer from its folder."""
    place, manifest = folder.open_result(where)
    found = _renamed.current(json.loads(read_text(place / "path.json")))
    question, scenario = from_dict(found["question"]), read_text(place / "scenario.toml")
    table = read_table(place / "curves.parquet")
    groups: dict[tuple[str, int, int], dict[str, Any]] = {}
    for row in _renamed.current(table.to_pylist()):
        key = (row["controller"], row["streams"], row["seed"])
        one = groups.setdefault(key, {"controller": key[0], "streams": key[1], "seed": key[2], **{name: [] for name in _ARRAYS}})
        for name in _ARRAYS:
            one[name].append(row[name])
    facts = {
        "seed": manifest["seed"],
        "scenario": scenario,
        "provenance": json.loads(read_text(place / "provenance.json")),
        "failures": found["failures"],
        "manifest": manifest,
    }
    limits, advice = bounds(question, tcp_options(scenario)), advice_from(found["advice"])
    runs = place / "runs.parquet"  # which older results do not have
    trials = Trials.of_table(read_table(runs), lambda name: name in VALUES) if runs.is_file() else Trials([])
    return Answer(question, limits, [row_from(one) for one in found["results"]], list(groups.values()), facts, advice, trials)
