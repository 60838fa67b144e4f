"""Notebooks: results show themselves, tables as tables and figures without `%matplotlib inline`; those of docs/notebooks run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.base import notebook

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
QUICK = "first-run"


def _run(file: Path, folder: Path) -> dict[str, Any]:
    """Returns a notebook with what a fresh kernel shows."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel", reason="make docs installs the packages of notebooks")
    document = nbformat.read(file, as_version=4)
    return nbclient.NotebookClient(document, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()


def _shown(document: dict[str, Any], mime: str) -> list[str]:
    outputs = [output for cell in document["cells"] for output in cell.get("outputs", ())]
    return [output["data"][mime] for output in outputs if mime in output.get("data", {})]


@pytest.mark.parametrize(
    "file", [pytest.param(file, id=file.stem, marks=[] if file.stem == QUICK else [pytest.mark.slow]) for file in NOTEBOOKS]
)
def test_it_runs(file: Path, tmp_path: Path) -> None:
    done = _run(file, tmp_path)
    assert _shown(done, "text/html") or _shown(done, "image/png")
    if file.stem == QUICK:
        answer, table = _shown(done, "text/html")
        assert "<svg" in answer
        assert "time_ns" in table
        assert "rows, " in table
        assert len(_shown(done, "image/png")) == 1
        assert "%matplotlib" not in json.dumps(done)


def test_there_are_four_and_they_hold_no_outputs() -> None:
    assert len(NOTEBOOKS) >= 4
    for file in NOTEBOOKS:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), file.name


def test_a_table_shows_its_ends_and_says_what_is_left_out() -> None:
    run = el.run("sawtooth", set={"duration": "12 s"})
    shown = notebook.table_html(run.flow_samples) or ""
    rows = re.findall(r"<tr>.*?</tr>", shown)
    assert len(rows) == 1 + notebook.ROWS + 1  # heads, rows, and one that stands for the others
    assert f"{run.flow_samples.num_rows} rows, {run.flow_samples.num_columns} columns; " in shown
    assert 'title="Congestion window' in shown
    assert "1 row, " in (notebook.table_html(run.flows) or "")
    assert len(re.findall("<tr>", notebook.table_html(run.flows) or "")) == 2
    assert len(shown) < 20_000


def test_texts_of_a_table_cannot_be_markup() -> None:
    import pyarrow as pa

    field = pa.field("<b>", pa.string(), metadata={"unit": "<i>"})
    shown = notebook.table_html(pa.table([["<script>" + "x" * 99]], schema=pa.schema([field]))) or ""
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;" in shown


def test_tables_of_others_stay_as_they_are() -> None:
    import pyarrow as pa

    assert notebook.table_html(pa.table({"a": [1]})) is None


def test_a_figure_shows_itself() -> None:
    figure = el.run("sawtooth", set={"duration": "12 s"}).figure("sawtooth")
    assert figure._repr_png_().startswith(b"\x89PNG")
