"""Sweeps and studies over a made-up core: pairing, failures, folders."""

from __future__ import annotations

import json
from pathlib import Path

import elephan as el
import pytest
from elephan.errors import ElephanError, InputError
from elephan.results import compare, redraw
from elephan.sweeps import Sweep

TEXT = 'title = "t"\n[sweep]\n"switches.sw.flow_control.kind" = ["none", "pause"]\nrepetitions = 3\n'
NONE, PAUSE = "switches.sw.flow_control.kind=none", "switches.sw.flow_control.kind=pause"


@pytest.fixture
def swept(fake_core: None) -> Sweep:
    return el.sweep(TEXT, workers=2)


def test_every_variant_has_the_same_seeds(swept: Sweep) -> None:
    assert swept.labels == [NONE, PAUSE]
    assert list(swept.by_seed(NONE, "drops.sum")) == [1, 2, 3]
    assert list(swept.by_seed(PAUSE, "drops.sum")) == [1, 2, 3]
    assert swept.interval(PAUSE, "drops.sum").mean == 0
    assert swept.difference(NONE, PAUSE, "drops.sum").mean > 0
    assert swept.table.num_rows == 6
    assert swept.means.num_rows == 2
    assert "drops.sum_low" in swept.means.column_names


def test_unknown_names_are_one_line(swept: Sweep) -> None:
    with pytest.raises(InputError, match="no variant"):
        swept.interval("nonesuch", "drops.sum")
    with pytest.raises(InputError, match="no statistic"):
        swept.interval(NONE, "drop.sum")
    with pytest.raises(InputError, match="no measure"):
        el.sweep(TEXT, statistics=["drop.sum"])


def test_a_sweep_is_written_read_drawn_and_compared(swept: Sweep, tmp_path: Path) -> None:
    swept.save(tmp_path / "s")
    again = el.load(tmp_path / "s")
    assert isinstance(again, Sweep)
    assert again.labels == swept.labels
    assert again.values(NONE, "drops.sum") == swept.values(NONE, "drops.sum")
    assert redraw(tmp_path / "s").read_text() == (tmp_path / "s" / "report.html").read_text()
    assert all(d.difference.mean == 0 for d in compare(tmp_path / "s", tmp_path / "s"))
    assert "<table" in swept._repr_html_()


def test_failures_are_reported_with_their_label(fake_core: None) -> None:
    text = '[sweep]\nfail = ["no", "yes"]\n'
    found = el.sweep(text)
    assert found.failures == ["fail=yes seed 1: conservation: 1 byte lost"]
    with pytest.raises(ElephanError, match="every run failed"):
        el.sweep('[sweep]\nfail = ["yes"]\n')


def test_wrong_input_ends_a_sweep(fake_core: None) -> None:
    with pytest.raises(InputError, match="broken"):
        el.sweep("broken = 1\n")
    with pytest.raises(InputError, match="no values"):
        el.sweep(TEXT, set={"a": []})
    with pytest.raises(InputError, match="repetitions"):
        el.sweep(TEXT, repetitions=0)


def test_a_run_in_a_folder(fake_core: None, tmp_path: Path) -> None:
    run = el.run("x = 1\n", out=tmp_path / "r", seed=7)
    assert {p.name for p in (tmp_path / "r").iterdir()} >= {
        "manifest.json", "scenario.toml", "summary.json", "report.html", "figures", "flows.parquet",
    }  # fmt: skip
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert manifest["format"] == "elephan"
    assert manifest["seed"] == 7
    assert run.flows.equals(el.load(tmp_path / "r").flows)  # type: ignore[union-attr]


def test_nothing_is_left_of_a_run_that_fails(fake_core: None, tmp_path: Path) -> None:
    with pytest.raises(ElephanError, match="conservation"):
        el.run("x = 1\n", out=tmp_path / "r", set={"fail": "yes"})
    assert list(tmp_path.iterdir()) == []


def test_a_study_end_to_end(fake_core: None, tmp_path: Path) -> None:
    from elephan.study import load_study, run_study

    results, verdicts = run_study("intel-2004", quick=True, out=tmp_path / "study", workers=2)
    entries = json.loads((tmp_path / "study" / "claims.json").read_text())
    assert [e["id"] for e in entries] == [v.claim.id for v in verdicts]
    assert {f"C000-{i}" for i in range(1, 7)} <= {e["id"] for e in entries}
    assert all(e["verdict"] in ("holds", "fails", "inconclusive") for e in entries)
    assert len(results.runs("main", "NoFC")) == 5
    assert (tmp_path / "study" / "figures" / "throughput.svg").exists()
    _, again = load_study(tmp_path / "study")
    assert [v.verdict for v in again] == [v.verdict for v in verdicts]


def test_seeds_are_checked(fake_core: None) -> None:
    for seed in (-1, 2**63, 1.5, True):
        with pytest.raises(InputError, match="seed"):
            el.run("x = 1\n", seed=seed)  # type: ignore[arg-type]
