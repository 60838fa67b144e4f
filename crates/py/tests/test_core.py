"""The boundary: what crosses it arrives as what it was, and nothing but two kinds of exception comes back."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest
from elephan import _core
from elephan.base.errors import OutputError
from pyarrow import parquet

LINK = """
title = "Two hosts and a switch"
duration = "20 ms"
[hosts.client]
[hosts.server]
[switches.sw]
[[links]]
between = ["client", "sw"]
rate = "1 Gbps"
delay = "10 us"
[[links]]
between = ["sw", "server"]
rate = "100 Mbps"
delay = "10 us"
queue = { kind = "fifo", limit = "20 p" }
[[traffic]]
name = "upload"
from = "client"
to = "server"
kind = "bulk"
[record]
every = "1 ms"
"""

TABLES = [
    "flows",
    "messages",
    "datagrams",
    "flow_samples",
    "statistics",
    "info",
    "ports",
    "port_samples",
    "switch_samples",
    "queue_delays",
    "pauses",
    "holds",
    "limiter_samples",
    "copies",
    "copy_samples",
    "iterations",
    "ranks",
    "operations",
    "hosts",
    "host_samples",
    "logger_gaps",
    "transmit_samples",
    "events",
]


def run(text: str = LINK, **named: object) -> _core.Result:
    return _core.run(text, "two.toml", "toml", **named)


def tables(result: _core.Result) -> dict[str, pa.Table]:
    return {name: pa.table(table) for name, table in result.tables.items()}


def test_a_run_returns_all_tables_summary_and_scenario() -> None:
    result = run(seed=7)
    found = tables(result)
    assert list(found) == TABLES
    assert found["flows"].num_rows == 1
    assert found["flows"]["source"].to_pylist() == ["client"]
    assert found["flow_samples"].num_rows == result.tables["flow_samples"].num_rows > 0
    assert found["flows"].schema.field("fct_ns").metadata[b"unit"] == b"ns"
    summary = json.loads(result.summary)
    assert summary["seed"] == 7
    assert (summary["events"], summary["packet_hops"]) == (result.events, result.packet_hops)
    assert result.packet_hops > 0
    assert result.wall_s > 0
    # Read again, the resolved scenario is the same run.
    again = run(result.resolved_toml)
    assert again.resolved_toml == result.resolved_toml
    assert tables(again) == found


def test_a_folder_gets_the_same_tables(tmp_path: Path) -> None:
    kept, written = run(), run(folder=tmp_path)
    assert written.tables == {}
    assert written.summary == kept.summary
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{name}.parquet" for name in TABLES)
    for name, table in tables(kept).items():
        assert parquet.read_table(tmp_path / f"{name}.parquet").equals(table), name


def test_same_seed_same_bytes_on_any_thread(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    threads = [threading.Thread(target=run, kwargs={"folder": folder}) for folder in folders]
    for folder, thread in zip(folders, threads, strict=True):
        folder.mkdir()
        thread.start()
    for thread in threads:
        thread.join()
    for name in TABLES:
        first, second = ((folder / f"{name}.parquet").read_bytes() for folder in folders)
        assert first == second, name


@pytest.mark.parametrize("overrides", ['{"duration": "10 ms"}', {"duration": "10 ms"}, [("duration", "10 ms")]])
def test_overrides_in_each_form(overrides: object) -> None:
    assert json.loads(run(overrides=overrides).summary)["simulated_s"] == 0.01


def test_resolve_says_where_each_value_is_from() -> None:
    found = json.loads(_core.resolve(LINK, "two.toml", "toml", {"links[1].rate": "50 Mbps"}, 3))
    rows = {row["path"]: row for row in found["provenance"]["parameters"]}
    assert rows["title"] == {"path": "title", "value": "Two hosts and a switch", "from": "given"}
    assert rows["warmup"]["from"] == "default"
    assert found["seed"] == 3
    assert not found["has_sweep"]
    assert found["plan"]["hosts"] == 2
    assert found["plan"]["flows"] == 1


def test_json_scenarios_are_read_as_well() -> None:
    import tomllib

    text = json.dumps(tomllib.loads(LINK))
    resolve = json.loads(_core.resolve(text, "two.json", "json"))
    assert resolve["toml"] == json.loads(_core.resolve(LINK, "two.toml", "toml"))["toml"]


SWEEP = LINK + '\n[sweep]\n"links[1].rate" = ["50 Mbps", "100 Mbps"]\nrepetitions = 2\n'


def test_variants_pair_their_seeds() -> None:
    rows = json.loads(_core.variants(SWEEP, "two.toml", "toml", {"title": 'a "quoted, title"'}))
    assert [(row["parameters"]["links[1].rate"], row["seed"]) for row in rows] == [
        ("50 Mbps", 1),
        ("50 Mbps", 2),
        ("100 Mbps", 1),
        ("100 Mbps", 2),
    ]
    assert rows[0]["overrides"] == rows[0]["parameters"]
    assert len(json.loads(_core.variants(SWEEP, "two.toml", "toml", repetitions=5))) == 10
    assert json.loads(_core.variants(LINK, "two.toml", "toml", seed=9))[0]["seed"] == 9


@pytest.mark.parametrize("overrides", [[("links[1].rate", "1 Mbps, 2 Mbps")], {"links[1].rate": ["1 Mbps", "2 Mbps"]}])
def test_lists_of_values_are_swept(overrides: object) -> None:
    rows = json.loads(_core.variants(LINK, "two.toml", "toml", overrides))
    assert [row["parameters"] for row in rows] == [{"links[1].rate": "1 Mbps"}, {"links[1].rate": "2 Mbps"}]


def test_a_list_of_one_value_is_a_parameter_too() -> None:
    rows = json.loads(_core.variants(SWEEP, "two.toml", "toml", {"duration": ["5 ms"]}, 1))
    assert [row["overrides"] for row in rows] == [
        {"duration": "5 ms", "links[1].rate": "50 Mbps"},
        {"duration": "5 ms", "links[1].rate": "100 Mbps"},
    ]


def test_wrong_input_is_one_line_with_its_place() -> None:
    with pytest.raises(_core.ScenarioError) as caught:
        run(LINK.replace("100 Mbps", "100 Mpbs"))
    assert str(caught.value).startswith("two.toml:13:8: ")
    assert "\n" not in str(caught.value)
    assert len(caught.value.errors) == 1
    with pytest.raises(_core.ScenarioError) as caught:
        run(LINK.replace("100 Mbps", "100 Mpbs").replace("1 Gbps", "1"))
    assert str(caught.value).endswith(" (and 1 more)")
    assert len(caught.value.errors) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.run(LINK, "x", "yaml"),
        lambda: _core.run(LINK, "x", "toml", "[]"),
        lambda: _core.run(LINK, "x", "toml", "{"),
        lambda: _core.run(LINK, "x", "toml", {"duration": math.nan}),
        lambda: _core.run(LINK, "x", "toml", [("durations", "1 s")]),
        lambda: _core.run("", "x", "toml"),
        lambda: _core.variants(SWEEP, "x", "toml", repetitions=0),
        lambda: _core.variants(SWEEP, "x", "toml", {"duration": []}),
        lambda: _core.variants(SWEEP, "x", "toml", {"duration": ["1 s", "2 m/s"]}),
        lambda: _core.listing("congestion"),
        lambda: _core.describe_cc("renno"),
        lambda: _core.Cc("renno"),
        lambda: _core.Cc("reno", mss=0),
        lambda: _core.Cc("reno", initial_window=-1),
        lambda: _core.Cc("cubic", betta=0.5),
        lambda: _core.Cc("cubic", beta=math.inf),
        lambda: _core.Cc("reno").on_ack(-1.0, 1448, 0.1, 14480),
        lambda: _core.Cc("reno").on_ack(math.nan, 1448, 0.1, 14480),
        lambda: _core.Cc("reno").on_loss(1.0, 1448, math.inf),
        lambda: _core.Cc("reno").poke(nothing=1.0),
        lambda: _core.RttEstimator("solaris"),
        lambda: _core.RttEstimator(rto_min="3 B"),
        lambda: _core.RttEstimator(rto_min=-1.0),
        lambda: _core.RttEstimator(rto_rule="rfc793"),
        lambda: _core.RttEstimator().sample(1.0, -0.1),
    ],
)
def test_wrong_arguments_are_scenario_errors(call: object) -> None:
    with pytest.raises(_core.ScenarioError) as caught:
        call()
    assert str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_not_there_and_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot write .*nowhere/flows.parquet: No such file or directory"):
        run(folder=tmp_path / "nowhere")
    (tmp_path / "flow_samples.parquet").symlink_to("/dev/full")
    with pytest.raises(OutputError, match=r"cannot write .*flow_samples.parquet: No space left on device"):
        run(folder=tmp_path)


LONG = LINK.replace('"20 ms"', '"1000 s"')


def test_a_run_reports_progress_and_stops_when_asked() -> None:
    cancel, seen = _core.Cancel(), []

    def watch(share: float, events: int) -> None:
        seen.append((share, events))
        if len(seen) == 3:
            cancel.cancel()

    begin = time.monotonic()
    with pytest.raises(_core.Cancelled):
        run(LONG, progress=watch, cancel=cancel)
    assert cancel.cancelled
    assert len(seen) == 3
    assert seen == sorted(seen)
    assert all(0 < share < 1 and events > 0 for share, events in seen)
    assert time.monotonic() - begin >= 0.3, "at most ten reports a second"


def test_what_progress_raises_stops_the_run() -> None:
    def watch(*_: object) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(LONG, progress=watch)


def test_ctrl_c_stops_a_run() -> None:
    import signal

    # A shell starts what it runs in the background with the interrupt ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(LONG)
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_python_runs_on_while_a_run_runs() -> None:
    cancel = _core.Cancel()
    ends: list[type[BaseException]] = []

    def work() -> None:
        try:
            run(LONG, cancel=cancel)
        except BaseException as error:
            ends.append(type(error))

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    begin = time.monotonic()
    while time.monotonic() - begin < 0.2:
        turns += 1
        time.sleep(0.001)
    cancel.cancel()
    thread.join()
    assert ends == [_core.Cancelled]
    assert turns > 20


def test_lists_descriptions_and_documents() -> None:
    for kind in ["congestion-controls", "stacks", "queues", "traffic", "templates"]:
        rows = _core.listing(kind)
        assert rows
        assert all(name == name.strip() and line and line == line.strip() and "\n" not in line for name, line in rows)
    about = json.loads(_core.describe_cc("cubic"))
    assert {row["name"]: row["default"] for row in about["parameters"]}["c"] == 0.4
    assert json.loads(_core.schema())["type"] == "object"
    assert "## flow_samples" in _core.data_dictionary()
    assert _core.version().count(".") == 2


def test_reno_by_hand() -> None:
    """RFC 5681: slow start adds what is acknowledged; a loss halves FlightSize; a timeout leaves one segment."""
    c = _core.Cc("reno", mss=1000, initial_window=10)
    assert (c.cwnd, c.ssthresh, c.pacing_rate, c.name) == (10_000.0, math.inf, None, "reno")
    c.on_sent(0.0, 10_000, 0)
    c.on_ack(0.1, 2000, 0.1, 10_000)
    assert c.cwnd == 12_000.0
    c.on_loss(0.2, 1000, 12_000)
    assert (c.cwnd, c.ssthresh, c.in_slow_start) == (6000.0, 6000.0, False)
    c.on_rto(1.2, 6000)
    assert (c.cwnd, c.ssthresh) == (1000.0, 3000.0)
    c.poke(cwnd=8000.0, ssthresh=4000.0)
    c.on_ack(1.3, 1000, 0.1, 8000, app_limited=True)
    assert c.cwnd == 8000.0, "no growth while the application is the limit"
    assert isinstance(c.state, dict)


def test_cubic_takes_its_parameters() -> None:
    """RFC 9438 section 4.6: the cut is to beta of the window."""
    c = _core.Cc("cubic", mss=1000, initial_window=100, beta=0.5, fast_convergence=False, reduce_from="cwnd")
    c.on_loss(0.1, 1000, 100_000)
    assert c.cwnd == 50_000.0
    assert c.state["w_max"] == 100_000.0 or c.state["w_max"] == 100.0


def test_rto_by_hand() -> None:
    """RFC 6298 section 2: R = 100 ms gives SRTT 100 ms, RTTVAR 50 ms, RTO 300 ms; then R' = 200 ms."""
    e = _core.RttEstimator(rto_min=0.001, rto_initial="1 s", clock_granularity=0.0)
    assert (e.srtt, e.rttvar, e.rto) == (None, None, 1.0)
    e.sample(0.1, 0.1)
    assert (e.srtt, e.rttvar, e.rto) == (0.1, 0.05, 0.3)
    e.sample(0.3, 0.2)
    assert e.rttvar == pytest.approx(0.75 * 0.05 + 0.25 * 0.1)
    assert e.srtt == pytest.approx(0.875 * 0.1 + 0.125 * 0.2)
    assert e.rto == pytest.approx(0.1125 + 4 * 0.0625)
    e.backoff()
    assert e.rto == pytest.approx(2 * 0.3625)
