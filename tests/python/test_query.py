"""Questions in SQL: what each kind of parameter looks like in `trials`, and what a question may not reach."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.base.errors import InputError
from elephan.cli import status_of
from elephan.experiment.store.identity import Identity
from elephan.experiment.store.row import Kept, Measured
from elephan.experiment.store.store import Store
from elephan.experiment.trials import Variant

pytest.importorskip("duckdb")

CONTROL = "traffic.reno.congestion_control"
CLASS = """
import elephan as el


class Mine(el.CongestionControl):
    def __init__(self, share: float = 0.5) -> None:
        self.share = share

    def on_ack(self, state, ack) -> None:
        pass

    def on_congestion(self, state, event) -> None:
        pass
"""


SAWTOOTH = """
duration = "12 s"
[template]
kind = "path"
hops = [{ rate = "1 Gbps", delay = "0 s" }, { rate = "10 Mbps", delay = "10 ms" }]
[[traffic]]
name = "reno"
from = "sender"
to   = "receiver"
kind = "bulk"
congestion_control = "reno"
"""


def keep(where: Path, parameters: list[Mapping[str, Any]]) -> None:
    """A store with a trial for each set of parameters; the statistic is the number of the trial."""
    with Store.to(where) as store:
        for number, given in enumerate(parameters):
            one = Identity(f"{where}{number}", 1, "", "engine", "measure")
            store.put(Kept(one, where.stem, Variant(f"v{number}", given), Measured({"goodput_bps.sum": float(number)})), None)


def column(where: Path, name: str) -> tuple[str, list[Any]]:
    """The type and the values of a column of `trials`, in the order of the trials."""
    found = el.query(f'select "{name}" from trials order by "goodput_bps.sum"', where)
    return str(found.schema[0].type), found.column(0).to_pylist()


def test_congestion_controls_are_in_the_plain_column(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CLASS)
    (tmp_path / "own.toml").write_text(SAWTOOTH)
    mine = [{"python": "mine.py:Mine"}, {"python": "mine.py:Mine", "params": {"share": 0.2}}]
    done = el.sweep(
        tmp_path / "own.toml",
        set={"duration": "2 s", "warmup": "1 s", CONTROL: ["reno", "cubic", "bbr", *mine]},
        repetitions=2,
        store=tmp_path / "kept",
        python_from=tmp_path,
    )
    found = el.query(f'select "{CONTROL}" as name, avg("goodput_bps.sum") as mean from trials group by 1', tmp_path).to_pylist()
    assert {row["name"] for row in found} == {"reno", "cubic", "bbr", "Mine", "Mine share 0.2"}
    means = {row["name"]: row["mean"] for row in found}
    for name, mean in means.items():
        assert mean == pytest.approx(done.interval(f"congestion_control={name}", "goodput_bps.sum").mean)
    labels = el.query("select distinct variant from trials", tmp_path).column(0).to_pylist()
    assert set(labels) == set(done.labels) == {f"congestion_control={name}" for name in means}
    assert done.table.column(CONTROL).unique().to_pylist() == ["reno", "cubic", "bbr", "Mine", "Mine share 0.2"]
    assert done.where(f"{CONTROL} == Mine").size == "2 variants, 4 runs"
    text = el.query(f'select distinct "{CONTROL}.text" from trials', tmp_path).column(0).to_pylist()
    assert sorted(json.loads(one)["python"] for one in text if one.startswith("{")) == ["mine.py:Mine", "mine.py:Mine"]


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        (["reno", "cubic"], "string", ["reno", "cubic"]),
        (["5 ms", "40 ms"], "double", [0.005, 0.04]),
        (["1 Mbps", "2.5 Gbps"], "double", [1e6, 2.5e9]),
        (["0.5 bdp", "4 bdp"], "double", [0.5, 4.0]),
        ([1, 10, 200], "int64", [1, 10, 200]),
        ([1, 0.5], "double", [1.0, 0.5]),
        ([True, False], "bool", [True, False]),
        (["none", 12, "5 ms"], "string", ["none", "12", "5 ms"]),
        (["100 p", "50 kB"], "string", ["100 p", "50 kB"]),
        ([True, "auto", 3], "string", ["true", "auto", "3"]),
        ([None, "5 ms", None], "double", [None, 0.005, None]),
        ([{"kind": "cubic", "beta": 0.7}, "reno"], "string", ["cubic beta 0.7", "reno"]),
        ([{"program": "./own/mine"}, {"program": "./mine", "params": {"share": 1}}], "string", ["mine", "mine share 1"]),
        ([{"python": "a.py:Mine"}, {"python": "b.py:Mine"}], "string", ["a.py:Mine", "b.py:Mine"]),
        ([{"python": "lab.controllers:Mine"}, {"python": "x.py:Other"}], "string", ["Mine", "Other"]),
        ([[1, 2], [3]], "string", ["[1, 2]", "[3]"]),
        (["it's", 'a "b"'], "string", ["it's", 'a "b"']),
        ([10**14, -3], "int64", [10**14, -3]),
    ],
    ids=str,
)
def test_a_column_has_the_values_of_its_parameter(given: list[Any], kind: str, values: list[Any], tmp_path: Path) -> None:
    keep(tmp_path / "s", [{"traffic.a.x": one} for one in given])
    assert column(tmp_path, "traffic.a.x") == (kind, values)


def test_a_parameter_that_some_trials_lack_is_null_there(tmp_path: Path) -> None:
    keep(tmp_path / "a", [{"x": "5 ms"}, {"y": "reno"}, {}])
    assert column(tmp_path, "x") == ("double", [0.005, None, None])
    assert column(tmp_path, "y") == ("string", [None, "reno", None])


def test_what_a_column_is_depends_on_all_stores(tmp_path: Path) -> None:
    """Numbers of one store beside names of another: nothing is averaged over both, and nothing vanishes."""
    keep(tmp_path / "a", [{"limit": "50 kB"}])
    keep(tmp_path / "b", [{"limit": "unlimited"}])
    assert sorted(column(tmp_path, "limit")[1]) == ["50 kB", "unlimited"]
    assert sorted(column(tmp_path, "limit.number")[1], key=str) == [50_000.0, None]
    with pytest.raises(InputError, match="avg"):
        el.query('select avg("limit") from trials', tmp_path)


def test_names_that_differ_by_case_alone_are_told_apart(tmp_path: Path) -> None:
    """SQL takes `A` for `a`: the plain name would answer for one of them."""
    keep(tmp_path / "a", [{"traffic.A.x": 1, "traffic.a.x": 2}])
    assert column(tmp_path, "traffic.A.x#1")[1] == [1]
    assert column(tmp_path, "traffic.a.x#2")[1] == [2]
    with pytest.raises(InputError, match="traffic"):
        el.query('select "traffic.a.x" from trials', tmp_path)


def test_the_dictionary_says_unit_and_role(tmp_path: Path) -> None:
    keep(tmp_path / "a", [{"delay": "5 ms", "queue": "red", "limit": "5 p"}, {"limit": "unlimited"}])
    rows = {row["name"]: (row["role"], row["unit"]) for row in el.query("from dictionary", tmp_path).to_pylist()}
    assert rows["delay"] == ("parameter", "s")
    assert rows["queue"] == ("parameter", None)
    assert rows["limit"] == ("parameter", None)
    assert rows["limit.number"][0] == "parameter"
    assert rows["goodput_bps.sum"] == ("statistic", "bit/s")


def test_a_saved_trial_has_the_parameters_that_were_given(tmp_path: Path) -> None:
    given = {"a": "5 ms", "b": True, "c": 3, "d": {"python": "x.py:X", "params": {"n": 1}}, "e": [1, "x"], "f": 0.5}
    keep(tmp_path / "a", [given])
    assert Store.at(tmp_path / "a").rows()[0].variant.parameters == given


OUTSIDE = (
    "select * from read_csv('{file}')",
    "select * from '{file}'",
    "select * from read_text('{file}')",
    "select * from read_blob('{file}')",
    "select * from glob('{folder}/*')",
    "select * from sniff_csv('{file}')",
    "select * from read_parquet('{folder}/other.parquet')",
    "select * from read_json('{file}')",
    "select * from read_csv('https://example.org/x.csv')",
    "with x as (select * from read_text('{file}')) select count(*) from trials, x",
    "select (select content from read_text('{file}')) from trials",
    "from query('select * from read_text(''{file}'')')",
)


@pytest.mark.parametrize("sql", OUTSIDE)
def test_a_question_reads_nothing_but_the_stores(sql: str, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (tmp_path / "other.parquet").write_bytes(b"PAR1")
    keep(tmp_path / "s", [{"x": 1}])
    with pytest.raises(InputError):
        el.query(sql.format(file=tmp_path / "secret.csv", folder=tmp_path), tmp_path / "s")


@pytest.mark.parametrize(
    "sql", ["set enable_external_access = true", "copy (select 1) to 'x.csv'", "attach 'x.db'", "install httpfs"]
)
def test_a_question_changes_nothing(sql: str, tmp_path: Path) -> None:
    keep(tmp_path / "s", [{"x": 1}])
    with pytest.raises(InputError, match="a question is one SELECT"):
        el.query(sql, tmp_path / "s", external=True)


def test_files_are_read_where_the_caller_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "names.csv").write_text("x,name\n1,one\n2,two\n")
    keep(tmp_path / "s", [{"x": 1, "on": True}, {"x": 2, "on": False}])
    sql = f"select name, \"on\" from trials join read_csv('{tmp_path / 'names.csv'}') using (x) order by x"
    assert el.query(sql, tmp_path / "s", external=True).to_pylist() == [{"name": "one", "on": True}, {"name": "two", "on": False}]
    assert status_of(["query", sql, "--store", str(tmp_path / "s")]) == 2
    assert "names.csv" in capfd.readouterr().err
    assert status_of(["query", sql, "--store", str(tmp_path / "s"), "--external", "--csv"]) == 0
    rows = list(csv.reader(io.StringIO(capfd.readouterr().out)))
    assert rows == [["name", "on"], ["one", "true"], ["two", "false"]]


def test_a_store_whose_name_is_a_pattern_is_read(tmp_path: Path) -> None:
    keep(tmp_path / "it's a [1] * store", [{"x": 1}])
    assert column(tmp_path, "x") == ("int64", [1])
