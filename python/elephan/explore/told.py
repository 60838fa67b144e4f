"""The story of a run that the desk has open: its tables are asked for, and the rules of `elephan explain` read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.errors import InputError
from elephan.report.explain import advice
from elephan.report.explain.facts import Facts
from elephan.result.run import Run, Tables

if TYPE_CHECKING:
    import pyarrow as pa

EVENTS_MAX = 1_000_000  # of simulations that try what would help, while a page waits: a quarter of a second
_ROWS = 1_000_000  # that the desk gives in one answer
_TYPES = {"f64": "<f8", "flag": "<f8", "i64": "<i8"}
Ask = Callable[[str, Mapping[str, Any]], tuple[dict[str, Any], bytes]]


def told(ask: Ask, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns what explain finds in an open run: number, time in ns (None for the whole run), flow, text and help of each.

    `ask` asks the desk. `params`: `handle` and `text` of the run, `seed`, and `summary` as its end said it. Raises InputError for a
    handle that is not open, or a text that is no scenario.
    """
    text, summary = params.get("text"), params.get("summary")
    if not isinstance(text, str) or not isinstance(summary, dict):
        raise InputError("text and summary are missing: the scenario of the run, and what its end said")
    checked, _ = ask("check", {"text": text, "controls": False})
    if not checked["ok"]:
        raise InputError("text is no scenario")
    run = Run(
        _Asked(ask, params.get("handle")), summary, checked["resolved"], [], {"seed": params.get("seed", 1), "name": "explore"}
    )
    facts = Facts(run)
    numbers = {name: number for number, name in facts.view.flow_names.items()}
    return [
        {
            "number": place,
            "at_ns": None if one.begin_s is None else one.begin_s * 1e9,
            "kind": one.rule,
            "flow": numbers.get(one.flow),
            "text": one.text,
            "help": one.help,
        }
        for place, one in enumerate(advice.told(facts, EVENTS_MAX), 1)
    ]


class _Asked(Tables):
    """The tables of a handle, each asked for when it is first wanted."""

    def __init__(self, ask: Ask, handle: Any) -> None:
        super().__init__()
        self._ask, self._handle = ask, handle

    def _read(self, name: str) -> pa.Table:
        import pyarrow as pa

        parts = [self._part(name, 0)]
        while sum(part.num_rows for part, _ in parts) < parts[0][1]:
            parts.append(self._part(name, sum(part.num_rows for part, _ in parts)))
        return pa.concat_tables([part for part, _ in parts])

    def _part(self, name: str, skip: int) -> tuple[pa.Table, int]:
        """Some rows of a table, and how many it has."""
        import pyarrow as pa

        head, body = self._ask("rows", {"handle": self._handle, "table": name, "limit": _ROWS, "skip": skip})
        columns = {column["name"]: _column(column, head["count"], body) for column in head["columns"]}
        return pa.table(columns), head["of"]


def _column(head: Mapping[str, Any], count: int, body: bytes) -> pa.Array:
    import pyarrow as pa

    if head["type"] == "text":
        codes = np.frombuffer(body, "<u4", count, head["offset"]) if count else np.zeros(0, "<u4")
        known = codes < len(head["words"])  # a text that is missing has a number beyond
        places = pa.array(np.where(known, codes, 0).astype(np.int32), mask=~known)
        return pa.DictionaryArray.from_arrays(places, pa.array(head["words"], pa.string())).cast(pa.string())
    values = np.frombuffer(body, _TYPES[head["type"]], count, head["offset"]) if count else np.zeros(0)
    return pa.array(values, from_pandas=True) if head["type"] != "flag" else pa.array(values == 1)
