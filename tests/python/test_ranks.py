"""Ranks of parallel programs: closed forms, statistics recomputed from rows, words that follow from tables, commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pyarrow as pa
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.report.explain.facts import Facts
from elephan.report.explain.rules import findings
from elephan.report.words.answer import answer

# 100 Gb/s and 2 us from host to host, packets of 4096 B with 44 B of headers and no other framing.
STAR = """
duration = "{duration}"
[template]
kind = "star"
clients = {ranks}
servers = 1
rate = "100 Gbps"
delay = "1 us"
server_delay = "1 us"
framing = "none"
[[traffic]]
name = "train"
kind = "collective"
from = "client"
operation = "{operation}"
algorithm = "{algorithm}"
size = "{size} B"
transport = "roce"
roce = {{ mtu = "4096 B", ack_every = 64 }}
congestion_control = "none"
"""


def wire(size: float) -> float:
    """Seconds of a message of so many bytes at 100 Gb/s."""
    return float((size + 44 * np.ceil(size / 4096)) * 8 / 100e9)


def closed(messages: float, size: float, latencies: float) -> float:
    """Messages one after the other; each latency is two links of 1 us, and a full packet on the second of them."""
    return messages * wire(size) + latencies * (2e-6 + wire(4096))


def due(operation: str, algorithm: str, n: int, size: float) -> float:
    steps = int(np.log2(n))
    match operation, algorithm:
        case "all-reduce", "ring":
            return closed(2 * (n - 1), size / n, 2 * (n - 1))
        case _, "ring" | "pairwise":
            return closed(n - 1, size / n, n - 1)
        case "all-reduce", "recursive-doubling":
            return closed(steps, size, steps)
        case "all-reduce", "halving-doubling":
            return closed(2 * (n - 1), size / n, 2 * steps)
        case _, "recursive-doubling" | "halving-doubling":
            return closed(n - 1, size / n, steps)
        case "broadcast", _:
            return closed(steps, size, steps) + (steps - 1) * 2e-6
    return closed(2 * steps, size, 2 * steps) + (steps - 1) * 2e-6


KNOWN = [
    ("all-reduce", "ring"),
    ("all-gather", "ring"),
    ("reduce-scatter", "ring"),
    ("all-reduce", "recursive-doubling"),
    ("all-gather", "recursive-doubling"),
    ("all-reduce", "halving-doubling"),
    ("reduce-scatter", "halving-doubling"),
    ("all-reduce", "binomial-tree"),
    ("broadcast", "binomial-tree"),
    ("all-to-all", "pairwise"),
]


def took(operation: str, algorithm: str, n: int, size: int) -> float:
    text = STAR.format(duration="200 ms", ranks=n, operation=operation, algorithm=algorithm, size=size)
    (row,) = el.run(text).iterations.to_pylist()
    return float(row["end_ns"] - row["begin_ns"]) / 1e9


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "algorithm"), KNOWN)
@pytest.mark.parametrize("n", [2, 16, 128, 1024])
def test_an_empty_network_gives_the_closed_forms(operation: str, algorithm: str, n: int) -> None:
    """Messages of 64 KiB at least, so that packets hide no more than 1 % of a step."""
    per_rank = algorithm in ("ring", "pairwise") or "doubling" in algorithm
    size = n * 65_536 if per_rank else 4_194_304
    if n == 1024 and algorithm == "pairwise":
        pytest.skip("a million connections")
    found = took(operation, algorithm, n, size)
    assert found == pytest.approx(due(operation, algorithm, n, size), rel=0.01)


@pytest.fixture(scope="module")
def slow_link() -> el.Run:
    return el.run("all-reduce")


def rows(run: el.Run, table: str) -> list[dict[str, Any]]:
    return list(getattr(run, table).to_pylist())


def test_statistics_are_of_the_rows(slow_link: el.Run) -> None:
    times = [row["end_ns"] - row["begin_ns"] for row in rows(slow_link, "iterations")]
    assert len(times) == 5
    assert slow_link.statistic("iteration_time.mean") == pytest.approx(np.mean(times))
    ideal = [row["ideal_ns"] for row in rows(slow_link, "iterations")]
    assert slow_link.statistic("iteration_slowdown.max") == pytest.approx(
        max(t / i for t, i in zip(times, ideal, strict=True)), rel=1e-5
    )
    # nccl-tests: 2 (n - 1) / n of S over the time, which has no computing in it here.
    bus = [2 * 31 / 32 * 4e6 * 8 / (time / 1e9) for time in times]
    assert slow_link.statistic("bus_bandwidth.min") == pytest.approx(min(bus), rel=1e-5)
    waited = [row["waited_ns"] for row in rows(slow_link, "ranks")]
    assert len(waited) == 5 * 32
    assert slow_link.statistic("rank_waited.mean") == pytest.approx(np.mean(waited))
    assert slow_link.summary["iteration_time"]["count"] == 5


def test_operations_add_up_to_what_ranks_did(slow_link: el.Run) -> None:
    """The time of a rank in which neither it nor a message of its was busy, from the operations alone."""
    found = rows(slow_link, "operations")
    begin = {row["iteration"]: row["begin_ns"] for row in rows(slow_link, "iterations")}
    for rank in rows(slow_link, "ranks")[::7]:
        mine = [row for row in found if (row["iteration"], row["rank"]) == (rank["iteration"], rank["rank"])]
        assert sum(row["kind"] == "send" for row in mine) == 62
        busy, until = 0, begin[rank["iteration"]]
        for first, last in sorted((row["begin_ns"], row["end_ns"]) for row in mine if row["kind"] != "wait"):
            busy += max(last - max(first, until), 0)
            until = max(until, last)
        assert max(row["end_ns"] for row in mine) == rank["end_ns"]
        # Each time of a row is rounded down to a nanosecond.
        assert rank["end_ns"] - begin[rank["iteration"]] - busy == pytest.approx(rank["waited_ns"], abs=64)


def test_the_straggler_is_the_slow_link(slow_link: el.Run) -> None:
    for row in rows(slow_link, "iterations"):
        assert (row["straggler"], row["straggler_to"]) == ("host[7]", "host[8]")
        assert row["straggling_link"] == "leaf[0]->spine[2]"
        path = row["path_computed_ns"] + row["path_messages_ns"]
        assert path == pytest.approx(row["end_ns"] - row["begin_ns"], abs=128)
    said = " ".join(answer(slow_link))
    assert "5 iterations of ranks took 6.59 ms on average" in said
    assert "Messages from host[7] to host[8] held 5 of them back." in said
    (told,) = [one for one in findings(Facts(slow_link)) if one.rule == "straggler"]
    assert told.port == "leaf[0]->spine[2]"
    assert "Its rate is 10 Gb/s, that of the fastest link 100 Gb/s." in told.text


def test_who_computes_longest_is_named() -> None:
    run = el.run("all-reduce", set={"traffic.train.compute": {"uniform": ["1 ms", "30 ms"]}, "traffic.train.iterations": 1})
    (row,) = rows(run, "iterations")
    computed = {one["host"]: one["computed_ns"] for one in rows(run, "ranks")}
    assert row["straggler"] == max(computed, key=lambda host: computed[host])
    assert row["straggler_ns"] == pytest.approx(max(computed.values()) - np.mean([*computed.values()]), abs=2)
    assert f"{row['straggler']} held it back: it computed" in " ".join(answer(run))


def test_without_ranks_there_are_no_statistics_of_them() -> None:
    with pytest.raises(InputError, match="no traffic of the scenario has ranks"):
        el.sweep("incast", set={"template.clients": 2}, statistics=["iteration_time.mean"], progress=False)


def test_a_result_without_these_tables_is_shown(tmp_path: Path) -> None:
    """As one that an earlier version made."""
    run = el.run("incast", set={"template.clients": 2})
    run.save(tmp_path / "kept")
    for table in ("iterations", "ranks", "operations"):
        (tmp_path / "kept" / f"{table}.parquet").unlink()
    older = el.load(tmp_path / "kept")
    assert answer(older) == answer(run)
    assert findings(Facts(older)) == findings(Facts(run))


def test_figures_show_what_the_tables_have(slow_link: el.Run) -> None:
    times = slow_link.figure("ranks").axes[0]
    highest = max(bar.get_y() + bar.get_height() for bar in times.patches)
    longest = max(row["end_ns"] - row["begin_ns"] for row in rows(slow_link, "iterations"))
    assert highest == pytest.approx(longest / 1e6, rel=1e-5)
    bars = slow_link.figure("gantt").axes[0].patches
    slowest = max(rows(slow_link, "iterations"), key=lambda row: row["end_ns"] - row["begin_ns"])["iteration"]
    assert len(bars) == sum(row["iteration"] == slowest for row in rows(slow_link, "operations"))


def test_a_program_is_stepped() -> None:
    text = el.ranks.collective("all-reduce", "ring", ranks=8, size="64 MB")
    program = el.ranks.new(text)
    assert (program.count, program.operations, len(program.pairs)) == (8, 8 * 14 * 2, 8)
    assert max(program.ideal(100e9, 2e-6)) == pytest.approx(14 * (8e6 * 8 / 100e9 + 2e-6), rel=1e-9)
    small = el.ranks.new("num_ranks 2 rank 0 { a: send 9b to 1 b: calc 5 b requires a } rank 1 { recv 9b from 0 }", eager=1)
    assert small.begin(0.0) == [("send", 0, 0, 1, 9, True)]
    with pytest.raises(InputError, match="operation 0 of rank 0 is still on its way"):
        small.acknowledged(1e-6, 0, 0)
    assert small.arrived(1e-6, 0, 0) == []
    with pytest.raises(InputError, match="the program is not done"):
        small.critical_path()
    with pytest.raises(InputError, match="operation 0 of rank 0 is not on its way"):
        small.arrived(1e-6, 0, 0)
    assert small.acknowledged(2e-6, 0, 0) == [("compute", 0, 1, 2.005e-6)]
    with pytest.raises(InputError, match="now must not go back"):
        small.computed(1e-6, 0, 1)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("all-to-all", "ring", 4, "1 MB"), "ring does no all-to-all; known: pairwise"),
        (("all-reduce", "rings", 4, "1 MB"), "algorithm: unknown variant `rings`"),
        (("all-reduce", "ring", 1, "1 MB"), "1 ranks: at least 2"),
        (("all-reduce", "ring", 0, "1 MB"), "ranks is a whole number from 1 to 4294967295, not 0"),
        (("all-reduce", "ring", 4, "0 B"), "size is from 1 B to"),
        (("all-to-all", "pairwise", 8192, "1 MB"), "has 67108864 messages, more than 16777216"),
    ],
)
def test_what_is_no_collective_is_told(given: tuple[Any, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        el.ranks.collective(*given)


def test_commands_make_and_show_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.status_of(["goal", "make", "all-reduce", "ring", "--ranks", "4", "--size", "4 MB", "-o", "ring.goal"]) == 0
    assert capfd.readouterr().out == "elephan goal show ring.goal\n"
    assert cli.status_of(["goal", "show", "ring.goal", "--rate", "8 Gbps", "--latency", "1 us", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    # Six steps of 1 MB at 1 ns a byte and 1 us.
    assert (found["ranks"], found["operations"], found["bytes"]) == (4, 48, 24_000_000)
    assert found["ideal_s"] == pytest.approx(6 * (1e-3 + 1e-6))
    Path("wrong.goal").write_text("num_ranks 1\nrank 0 {\na: calk 1\n}\n")
    assert cli.status_of(["goal", "show", "wrong.goal"]) == 2
    assert capfd.readouterr().err == 'elephan: wrong.goal:3: "calk": an operation is calc, send or recv\n'


def test_a_scenario_reads_its_program_from_a_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = STAR.format(duration="10 ms", ranks=4, operation="all-reduce", algorithm="ring", size=4_000_000)
    own = text.replace('operation = "all-reduce"\nalgorithm = "ring"\nsize = "4000000 B"\n', 'file = "ring.goal"\n')
    own = own.replace('"collective"', '"goal"')
    (tmp_path / "own.toml").write_text(own)
    (tmp_path / "ring.goal").write_text(el.ranks.collective("all-reduce", "ring", 4, "4 MB"))
    (built,), (read,) = rows(el.run(text), "iterations"), rows(el.run(tmp_path / "own.toml"), "iterations")
    assert (built["end_ns"], built["ideal_ns"]) == (read["end_ns"], read["ideal_ns"])
    assert read["bus_bps"] is None
    said = " ".join(answer(el.run(tmp_path / "own.toml")))
    assert "1 iteration of ranks took 499 µs, as long as alone in the network. The port" in said
    (tmp_path / "ring.goal").write_text("num_ranks 3\nrank 0 { send 5b to 7 }\n")
    assert cli.status_of(["run", str(tmp_path / "own.toml")]) == 2
    assert "ring.goal:2: rank 7: there are 3, from 0 on" in capfd.readouterr().err
    (tmp_path / "ring.goal").write_text("num_ranks 2\nrank 0 { send 5b to 1 }\nrank 1 { recv 5b from 0 }\n")
    assert cli.status_of(["run", str(tmp_path / "own.toml")]) == 2
    assert "has 2 ranks, and 4 hosts are to do it: each host is a rank" in capfd.readouterr().err


def test_columns_of_text_are_texts(slow_link: el.Run) -> None:
    kinds = {row["kind"] for row in rows(slow_link, "operations")}
    assert kinds == {"send", "wait"}
    assert pa.types.is_integer(slow_link.operations.schema.field("peer").type)


TWO = (
    STAR.format(duration="5 ms", ranks=4, operation="all-reduce", algorithm="ring", size=4_000_000)
    + """
[[traffic]]
name = "other"
kind = "collective"
from = "client"
operation = "all-gather"
algorithm = "ring"
size = "1 MB"
transport = "roce"
iterations = 2
"""
)


def test_brackets_take_the_iterations_of_an_entry() -> None:
    run = el.run(TWO)
    for entry in ("train", "other"):
        mine = [row for row in rows(run, "iterations") if row["traffic"] == entry]
        times = [row["end_ns"] - row["begin_ns"] for row in mine]
        assert run.statistic(f"iteration_time[{entry}].mean") == pytest.approx(np.mean(times))
        assert run.statistic(f"bus_bandwidth[{entry}].max") == pytest.approx(max(row["bus_bps"] for row in mine))
        waited = [row["waited_ns"] for row in rows(run, "ranks") if row["traffic"] == entry]
        assert run.statistic(f"rank_waited[{entry}].mean") == pytest.approx(np.mean(waited))
    with pytest.raises(InputError, match="ranks are of a traffic entry, not of a source"):
        run.statistic("iteration_time[from client[0]].mean")


def test_iterations_within_the_warmup_are_not_counted_anywhere() -> None:
    run = el.run(TWO, set={"warmup": "4 ms"})
    assert "All iterations of ranks began within the warm-up." in " ".join(answer(run))
    assert run.statistic("iteration_time.count") == 0


def test_a_program_that_hangs_says_so() -> None:
    program = "num_ranks 4 rank 0 { send 10b to 1 tag 3 } rank 1 { recv 10b from 0 tag 4 }"
    text = STAR.format(duration="1 ms", ranks=4, operation="all-reduce", algorithm="ring", size=4_000_000)
    own = text.replace('operation = "all-reduce"\nalgorithm = "ring"\nsize = "4000000 B"\n', f"program = '{program}'\n")
    run = el.run(own.replace('"collective"', '"goal"'))
    said = "It never can: client[1] waits for a message with tag 4 from client[0]."
    assert said in " ".join(answer(run))
    assert run.statistic("straggling.count") == 0


def test_what_cannot_be_timed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.goal").write_text(el.ranks.collective("broadcast", "binomial-tree", 2, "1 GB"))
    for arguments, told in (
        (["nope.goal"], "nope.goal: No such file or directory"),
        (["a.goal", "--rate", "1 bps"], "a.goal: it takes longer than 213 days"),
        (["a.goal", "--eager", "-1 B"], 'a size cannot be negative: "-1 B"'),
    ):
        assert cli.status_of(["goal", "show", *arguments]) == 2
        assert capfd.readouterr().err.strip() == f"elephan: {told}"
    with pytest.raises(InputError, match="rate must be at least 1 bit/s"):
        el.ranks.new("num_ranks 1 rank 0 { calc 1 }").ideal(0.0, 0.0)
    for wrong in (float("nan"), -1):
        with pytest.raises(InputError):
            el.ranks.new("num_ranks 1 rank 0 { calc 1 }", eager=wrong)


def test_a_refused_step_changes_nothing() -> None:
    program = el.ranks.new("num_ranks 1 rank 0 { a: calc 1000 }")
    program.begin(0.0)
    for wrong in (-1.0, float("nan")):
        with pytest.raises(InputError):
            program.computed(wrong, 0, 0)
    assert program.computed(1e-6, 0, 0) == []
    assert program.done
