"""`elephan verify`: which scenarios are published, that the engine still computes them, and what a difference looks like."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import elephan as el
import pyarrow as pa
import pytest
from elephan.cli import status_of
from elephan.experiment.verify import verify
from elephan.experiment.verify.verify import Published, differing, published, said, tables_digest
from elephan.scenario import core
from elephan.scenario.source import library

CASES = published().cases


def test_two_hundred_digests_of_this_version() -> None:
    assert len(CASES) == len({case.digest for case in CASES}) == len({case.name for case in CASES}) == 200
    assert published().version == el.__version__
    assert all(len(case.digest) == 32 and int(case.digest, 16) for case in CASES)


def test_every_kind_is_published() -> None:
    """A kind that is new has its scenario after `make digests`."""
    texts = [core.resolved_toml(core_source(case.base), case.set, case.seed) for case in CASES]
    used = "\n".join(texts)
    for name, _ in core.call("listing", "queues"):
        assert f'kind = "{name}"' in used, name
    for name, _ in core.call("listing", "traffic"):
        if name == "program":  # a run without programs refuses it
            continue
        assert any(f'\nkind = "{name}"' in text for text in texts), name
    for name, _ in core.call("listing", "congestion-controls"):
        assert f'congestion_control = {{ kind = "{name}"' in used or f'congestion_control = "{name}"' in used, name
    for name, _ in core.call("listing", "templates"):
        assert any(f'kind = "{name}"' in case.base or case.base in library() for case in CASES), name
    for kind in ("none", "pause", "pfc"):
        assert f'flow_control = {{ kind = "{kind}"' in used, kind
    for kind in ("none", "qcn", "ecm"):
        assert f'[congestion_management]\nkind = "{kind}"' in used, kind
    assert {case.base for case in CASES} >= set(library())


def core_source(base: str) -> el.scenario.source.Source:
    return el.scenario.source.open_source(base)


def test_the_engine_still_computes_what_is_published() -> None:
    """One in eight; the long tests look at all. After a change of numbers that is meant: `make digests`."""
    assert differing(CASES[::8], workers=2) == []


@pytest.mark.slow
def test_all_are_verified_in_a_minute() -> None:
    begin = time.process_time()
    assert differing(CASES, workers=2) == []
    assert time.process_time() - begin < 60


def test_a_difference_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    few = [*CASES[40:42], replace(CASES[42], digest="0" * 32), replace(CASES[43], set={**CASES[43].set, "duration": "x"})]
    monkeypatch.setattr(verify, "published", lambda: Published(el.__version__, few))
    monkeypatch.setattr("elephan.cli.command.verify.published", lambda: Published(el.__version__, few))
    names = [few[2].name, few[3].name]
    assert status_of(["verify", "--json"]) == 1
    assert json.loads(capfd.readouterr().out) == {"version": el.__version__, "scenarios": 4, "differ": names}
    assert status_of(["verify"]) == 1
    line = f'2 of 4 scenarios differ from what was published with elephan {el.__version__}: "{names[0]}", "{names[1]}"\n'
    assert capfd.readouterr().out == line
    monkeypatch.setattr("elephan.cli.command.verify.published", lambda: Published(el.__version__, few[:2]))
    assert status_of(["verify", "--workers", "1"]) == 0
    assert capfd.readouterr().out == f"all 2 scenarios give the tables that were published with elephan {el.__version__}\n"
    monkeypatch.setattr("elephan.cli.command.verify.published", lambda: Published("9.9.9", few))
    assert status_of(["verify"]) == 2
    assert f"the digests of elephan 9.9.9, this is {el.__version__}" in capfd.readouterr().err


def test_a_damaged_file_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for text in ("", "{", "{}", '{"version": 1, "bases": {}, "cases": [{}]}', "[]"):
        (tmp_path / "published.json").write_text(text)
        monkeypatch.setattr(verify, "DATA", tmp_path / "published.json")
        with pytest.raises(el.InputError, match=r"published\.json: damaged"):
            published()


def test_many_differences_are_one_line() -> None:
    line = said(Published("1.0", CASES), [f"case {n}" for n in range(30)])
    assert line.startswith('30 of 200 scenarios differ from what was published with elephan 1.0: "case 0", "case 1"')
    assert line.endswith("and 22 more")
    assert "\n" not in line


TABLE = pa.table(
    {"a": pa.array([1, None, 3], pa.int64()), "b": [0.5, float("nan"), -0.0], "c": ["x", "", None], "d": [True, False, None]}
)


def test_a_digest_is_of_values_alone() -> None:
    """Chunks, slices and the bytes where nothing is do not count."""
    known = tables_digest({"t": TABLE})
    assert known == tables_digest({"t": pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)])})
    padded = pa.concat_tables([TABLE, TABLE]).slice(3, 3)
    assert known == tables_digest({"t": padded})
    assert known == tables_digest({"t": TABLE.replace_schema_metadata({"k": "v"})})


@pytest.mark.parametrize(
    "other",
    [
        TABLE.slice(0, 2),
        TABLE.rename_columns(["a", "b", "c", "e"]),
        TABLE.select(["b", "a", "c", "d"]),
        TABLE.set_column(0, "a", pa.array([1, 0, 3], pa.int64())),
        TABLE.set_column(0, "a", pa.array([1, None, 3], pa.int32())),
        TABLE.set_column(1, "b", pa.array([0.5, float("nan"), 0.0])),
        TABLE.set_column(1, "b", pa.array([0.5000000000000001, float("nan"), -0.0])),
        TABLE.set_column(2, "c", pa.array(["x", None, None])),
        TABLE.set_column(3, "d", pa.array([True, False, False])),
    ],
    ids=range(9),
)
def test_any_other_value_has_another_digest(other: pa.Table) -> None:
    assert tables_digest({"t": other}) != tables_digest({"t": TABLE})
    assert tables_digest({"u": TABLE}) != tables_digest({"t": TABLE})
