"""Names that scripts may still use: each works, with a note that says the present name."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import elephan as el
import pyarrow.parquet as pq
import pytest
from elephan import cli

PATH = {"rate": "10 Mbps", "rtt": "10 ms", "size": "1 MB", "streams": 1, "congestion_control": "reno"}
OLD = {"controllers": "laws", "controller": "law"}


@pytest.fixture(scope="module")
def answer() -> el.Answer:
    return el.path(**PATH)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("elephan.scenario.congestion", "read_laws", "read_controllers"),
        ("elephan.scenario.congestion", "Law", "Controller"),
        ("elephan.scenario.model", "LawFactory", "ControllerFactory"),
    ],
)
def test_members_of_modules(module: str, old: str, new: str) -> None:
    found = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{old} is {new} now"):
        assert getattr(found, old) is getattr(found, new)
    with pytest.raises(AttributeError, match="no attribute 'Lew'"):
        _ = found.Lew


def test_keywords_and_attributes(answer: el.Answer) -> None:
    with pytest.warns(DeprecationWarning, match=r"row\(law=\) is controller= now"):
        row = answer.row(law="reno", streams=1)
    with pytest.warns(DeprecationWarning, match=r"Row\.law is controller now") as noted:
        assert row.law == row.controller == "reno"
    assert noted[0].filename == __file__, "the note names the line of the script"
    with pytest.warns(DeprecationWarning, match=r"compare\(laws=\)"), pytest.raises(el.InputError, match='congestion control "non'):
        el.compare(laws="nonsense")


def test_attributes_of_phases_and_spreading() -> None:
    run = el.run("sawtooth", set={"duration": "30 s"})
    with pytest.warns(DeprecationWarning, match=r"Phases\.discovery_s is startup_s now"):
        assert run.phases().discovery_s == run.phases().startup_s
    port = el.run("congestion-spreading").spreading()[0].ports[0]
    with pytest.warns(DeprecationWarning, match=r"PausedPort\.closures is pause_intervals now"):
        assert port.closures == port.pause_intervals > 0


def _with_old_keys(found: object) -> object:
    if isinstance(found, dict):
        return {OLD.get(key, key): _with_old_keys(value) for key, value in found.items()}
    return [_with_old_keys(one) for one in found] if isinstance(found, list) else found


def _without_digests(where: Path) -> None:
    """Results of the time of the old keys had none."""
    manifest = json.loads((where / "manifest.json").read_text())
    for name in ("digests", "seal", "engine"):
        del manifest[name]
    (where / "manifest.json").write_text(json.dumps(manifest))


def test_a_path_saved_with_old_keys_loads(answer: el.Answer, tmp_path: Path) -> None:
    where = answer.save(tmp_path / "saved")
    found = json.loads((where / "path.json").read_text())
    (where / "path.json").write_text(json.dumps(_with_old_keys(found)))
    _without_digests(where)
    curves = pq.read_table(where / "curves.parquet")
    pq.write_table(curves.rename_columns([OLD.get(name, name) for name in curves.column_names]), where / "curves.parquet")
    assert "laws" in json.loads((where / "path.json").read_text())["question"]
    again = el.load(where)
    assert isinstance(again, el.Answer)
    assert (again.as_dict(), again.curves_table) == (answer.as_dict(), answer.curves_table)


def test_a_comparison_saved_with_old_keys_loads(tmp_path: Path) -> None:
    panel = el.compare("reno", quick=True, repetitions=1, rtt="10 ms", rate="2 Mbps")
    where = panel.save(tmp_path / "saved")
    found = json.loads((where / "compare.json").read_text())
    (where / "compare.json").write_text(json.dumps(_with_old_keys(found)))
    _without_digests(where)
    again = el.load(where)
    assert isinstance(again, el.Panel)
    assert again.as_dict() == panel.as_dict()


def test_an_older_name_of_a_scenario(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="the scenario switch-law is change-controller now"):
        assert el.run("switch-law", set={"template.rate": "1 Mbps"}).flows.num_rows == 1
    words = ["run", "switch-law", "-s", "template.rate=1 Mbps", "--json", "--out", str(tmp_path / "out")]
    assert cli.status_of(words) == 0
    assert capfd.readouterr().err == "elephan: note: the scenario switch-law is change-controller now\n"


def test_an_older_name_of_a_workload(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["bench", "laws-nonsense"]) == 2
    noted, refused = capfd.readouterr().err.splitlines()
    assert noted == "elephan: note: the workload laws-nonsense is controllers-nonsense now"
    assert refused.startswith('elephan: no workload "controllers-nonsense"')
