"""The bench of many short runs, small: all places and the store are measured."""

from __future__ import annotations

import json

import pytest
from elephan.bench import sweeps


@pytest.mark.slow
def test_a_small_bench_has_every_figure(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from elephan.cli.command.bench import command

    small = sweeps.run(40, 3000)
    assert [row["place"] for row in small["places"]] == ["threads", "threads", "processes", "dask"]
    assert all(row["beside_engine_s"] > 0 for row in small["places"])
    assert small["store"]["trials"] == 3000
    monkeypatch.setattr("elephan.cli.command.bench.run_sweeps", lambda _runs: small)
    assert command(["sweep"], json=True) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 40
    assert command(["sweep"]) == 0
    assert "two plain processes" in capsys.readouterr().out
