"""The tables and sentences of `report.html` over the library and random scenarios, computed again from rows."""

from __future__ import annotations

import html
import json
import math
import re
from typing import Any

import elephan as el
import pytest
from drawn import scenario
from elephan.report.page import run_page
from elephan.report.page.page import Table, render
from elephan.scenario.source import library
from statements import judge
from stories import NUMBER, QUANTITY, Rows, near, value
from test_explain_random import answered

FAST = {"sawtooth", "incast", "udp-burst", "short-and-fat", "pause-head-of-line", "disk-to-disk"}
RANDOM = 5  # of the fast suite
DASH = "\u2013"


def cells(table: Table) -> list[dict[str, Any]]:
    return [dict(zip((column.title for column in table.columns), row, strict=True)) for row in table.rows]


def told(cell: Any, expected: float | None, unit: float = 1.0, digits: int = 3) -> None:
    """Holds if a cell says a number to people, and the same one to scripts."""
    if expected is None or math.isnan(expected):
        assert cell.text == DASH
        return
    assert re.fullmatch(rf"{QUANTITY}|{NUMBER}|< 1 B", cell.text), cell
    if cell.text != "< 1 B":
        near(cell.text, expected, digits)
    assert cell.numbers[""] == pytest.approx(expected * unit, rel=1e-12)


def flows(rows: Rows, table: Table) -> int:
    """Each flow of the table is one of the rows, and a transfer's goodput is over its own time."""
    own = {rows.names[row["flow"]]: row for row in rows.run.flows.to_pylist()}
    by_path = {f"{name}|{row['source']} → {row['destination']}": row for name, row in own.items()}
    by_path |= {
        f"{name.removesuffix(', ' + path)}|{path}": row
        for name, row in own.items()
        for path in [f"{row['source']} → {row['destination']}"]
    }
    for cell in cells(table):
        row = by_path[f"{cell['flow'].text}|{cell['path'].text}"]
        assert cell["congestion control"].text == (row["congestion_control"] or "UDP")
        rate = row["goodput_bps"]
        if row["size_bytes"] is not None:
            lasted = row["fct_ns"] if row["fct_ns"] is not None else max(rows.run.duration_ns - row["start_ns"], 1)
            rate = row["delivered_bytes"] * 8e9 / lasted
        told(cell["goodput"], rate)
        if row["congestion_control"]:
            told(cell["retransmitted"], row["segs_retrans"], digits=9)
            told(cell["timeouts"], row["timeouts"] + row["subsequent_timeouts"], digits=9)
            told(cell["least RTT"], row["min_rtt_ns"], 1e-9)
        if "completion" in cell and cell["completion"].text != "not complete":
            told(cell["completion"], row["fct_ns"], 1e-9)
        elif "completion" in cell:
            assert row["fct_ns"] is None
    if found := re.match(rf"{NUMBER} of ({NUMBER}) flows", table.note):
        assert value(found[1]) == len(own)
    return len(table.rows)


def ports(rows: Rows, table: Table) -> int:
    for cell in cells(table):
        row = rows.ports[cell["port"].text]
        told(cell["busy"], row["utilisation"])
        told(cell["drops"], row["drops"], digits=9)
        told(cell["mean queue"], row["queue_mean_bytes"])
        told(cell["longest queue"], row["queue_max_bytes"])
        told(cell["paused"], row["paused_ns"], 1e-9)
    dropped = sorted((row["drops"] for row in rows.ports.values()), reverse=True)
    assert sum(value(cell["drops"].text) > 0 for cell in cells(table)) == min(sum(one > 0 for one in dropped), len(table.rows))
    return len(table.rows)


def read(name: str | int) -> int:
    """Fails if a table of the report of a scenario, or a sentence, is not that of its rows; returns how many rows it has."""
    run = el.run(name) if isinstance(name, str) else el.run(json.dumps(scenario(name)), seed=name)
    rows, page = Rows(run), run_page.page(run)
    tables = {table.title: table for section in page.sections for table in section.tables if table.title}
    seen = flows(rows, tables["flows"]) if "flows" in tables else 0
    seen += ports(rows, tables["ports"])
    findings = el.explain(run).findings
    for finding in findings:
        judge(rows, finding)
    story = next((section.tables[0] for section in page.sections if section.title == "What happened"), None)
    assert [row[2].text for row in (story.rows if story else ())] == [one.text for one in findings]
    answered(rows, list(page.answer))
    # All of it stands in the file as people read it.
    text = re.sub(r"[ \n]+", " ", html.unescape(re.sub(r"<[^>]+>", "", render(page))).replace("\u00a0", " "))
    for table in tables.values():
        for row in table.rows:
            for cell in row:
                assert cell.text in text, cell
    for line in (*page.answer, *page.warnings, *(one.text for one in findings)):
        assert re.sub(r"[ \n]+", " ", line) in text, line
    return seen


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one in FAST else pytest.mark.slow) for one in sorted(library())])
def test_the_report_of_the_library_is_that_of_its_rows(name: str) -> None:
    assert read(name) > 0


@pytest.mark.parametrize("seed", [pytest.param(one, marks=() if one < RANDOM else pytest.mark.slow) for one in range(200)])
def test_the_report_of_a_random_scenario_is_that_of_its_rows(seed: int) -> None:
    assert read(seed) > 0
