"""Results of Flent: series, units, what is before the load and under it, several files, and files that are damaged.

The files are written here by the description of the format (doc/data-format.rst of Flent): values in Mbits/s and ms at common
times. So 8 Mbits/s in steps of 1 s are 1 000 000 bytes a step.
"""

from __future__ import annotations

import copy
import gzip
import json
import math
import random
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan.report.figure import trace_figures
from elephan.report.page.trace_page import answer, page, series_table

# A test of 10 s with a delay of 2 s before the load: two flows up, one down, two series of ping.
RESULT: dict[str, Any] = {
    "version": 4,
    "metadata": {
        "NAME": "rrul",
        "TITLE": "a router",
        "HOST": "far.example",
        "HOSTS": ["far.example"],
        "LOCAL_HOST": "near",
        "TIME": "2024-05-01T11:59:58.000000Z",
        "T0": "2024-05-01T12:00:00.000000Z",
        "LENGTH": 6,
        "TOTAL_LENGTH": 10,
        "STEP_SIZE": 1,
        "SERIES_META": {
            "TCP upload BE": {"UNITS": "Mbits/s", "TCP_MSS": 1448, "TCP_RETRANSMIT": "35", "RUNNER": "NetperfDemoRunner"},
            "TCP upload BK": {"UNITS": "Mbits/s"},
            "TCP download BE": {"UNITS": "Mbits/s"},
            "TCP upload sum": {"UNITS": "Mbits/s", "RUNNER": "SumRunner"},
            "TCP upload fairness": {"UNITS": "Mbits/s", "RUNNER": "FairnessRunner"},
            "Ping (ms) ICMP": {"UNITS": "ms"},
        },
    },
    "x_values": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "results": {
        "TCP upload BE": [None, None, 8, 8, 8, 8, 16, 8, None, None],
        "TCP upload BK": [None, None, 4, None, 4, 4, 4, 4, None, None],
        "TCP download BE": [None, None, 80, 80, 80, 80, 80, 80, None, None],
        "TCP upload sum": [None, None, 12, 8, 12, 12, 20, 12, None, None],
        "TCP upload fairness": [None, None, 0.9, 0.5, 0.9, 0.9, 0.7, 0.9, None, None],
        "TCP upload BE::tcp_cwnd": [None, None, 10, 20, 30, 40, 50, 60, None, None],
        "TCP upload BE::tcp_rtt": [None, None, 20.5, 30, 40, 50, 60, 70, None, None],
        "TCP upload BE::tcp_pacing_rate": [None, None, 10, 10, 10, 10, 10, 10, None, None],
        "Ping (ms) ICMP": [20, 22, 80, 81, 82, 83, 84, 85, 21, None],
        "Ping (ms) avg": [20, 22, 80, 81, 82, 83, 84, 85, 21, None],
        "HTTP latency": [5, 5, 5, 5, 5, 5, 5, 5, 5, 5],
        "qdisc_stats_router::backlog_bytes": [0, 0, 1514, 3028, 0, 0, 0, 0, 0, -5],
    },
    "raw_values": {},
}


def written(folder: Path, result: Any, name: str = "a.flent") -> Path:
    file = folder / name
    text = result if isinstance(result, str) else json.dumps(result, indent=2)
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


def changed(**metadata: Any) -> dict[str, Any]:
    result = copy.deepcopy(RESULT)
    result["metadata"].update(metadata)
    return result


def rows(trace: el.Trace) -> dict[str, dict[str, Any]]:
    return {trace.label(row["connection"]): row for row in trace.connections.to_pylist()}


@pytest.mark.parametrize("name", ["a.flent", "a.flent.gz", "a.json"])
def test_flows_and_probes_are_rows(name: str, tmp_path: Path) -> None:
    trace = el.analyze(written(tmp_path, RESULT, name))
    found = rows(trace)
    assert list(found) == ["TCP upload BE", "TCP upload BK", "TCP download BE", "Ping (ms) ICMP", "HTTP latency"]
    names = ("protocol", "source", "destination", "vantage", "delivered_bytes", "goodput_bps", "segs_retrans", "mss_sent")
    assert [found["TCP upload BE"][key] for key in names] == ["tcp", "near", "far.example", "sender", 7_000_000, 56e6 / 6, 35, 1448]
    assert [found["TCP download BE"][key] for key in names][:6] == ["tcp", "far.example", "near", "receiver", 60_000_000, 80e6]
    assert found["TCP download BE"]["segs_retrans"] is None
    ping = found["Ping (ms) ICMP"]
    assert [ping[key] for key in ("protocol", "delivered_bytes", "goodput_bps")] == ["probe", None, None]
    assert (ping["count_rtt"], ping["min_rtt_ns"], ping["median_rtt_ns"], ping["max_rtt_ns"]) == (
        9,
        20_000_000,
        81_000_000,
        85_000_000,
    )
    assert (trace.summary["format"], trace.count, trace.summary["begin_ns"]) == ("Flent", 3, 1_714_564_800_000_000_000)
    # What only packets tell is unknown, not 0.
    assert {found["TCP upload BE"][key] for key in ("dup_acks_in", "data_segs_out", "max_inflight_bytes", "burst_max_segs")} == {
        None
    }


def test_what_ss_saw_is_in_the_samples_of_its_flow(tmp_path: Path) -> None:
    trace = el.analyze(written(tmp_path, RESULT))
    names = ("time_ns", "data_octets_out", "cwnd_bytes", "rtt_mean_ns", "pacing_bps")
    of_flow = [[row[name] for name in names] for row in trace.samples.to_pylist() if row["connection"] == 0]
    assert of_flow[0] == [3_000_000_000, 1_000_000, 14_480, 20_500_000, 10e6]
    assert of_flow[-1] == [8_000_000_000, 1_000_000, 86_880, 70_000_000, 10e6]
    assert rows(trace)["TCP upload BE"]["min_rtt_ns"] == 20_500_000
    del (other := changed())["metadata"]["SERIES_META"]["TCP upload BE"]["TCP_MSS"]
    trace = el.analyze(written(tmp_path, other))
    assert trace.samples["cwnd_bytes"].null_count == trace.samples.num_rows
    assert any("does not say how large the segments of 1 flow are" in note for note in trace.notes)


def test_the_answer_says_medians_before_and_under_load(tmp_path: Path) -> None:
    said = answer(el.analyze(written(tmp_path, RESULT)))
    assert 'Flent ran rrul "a router" from near to far.example, 2024-05-01 12:00 UTC.' in said
    assert "The flows carried data from 2 s to 8 s of the test." in said
    assert "Median goodput of each flow: TCP upload BE 8 Mb/s, TCP upload BK 4 Mb/s, TCP download BE 80 Mb/s." in said
    assert "Median of the sums and means that Flent computed: TCP upload sum 12 Mb/s." in said
    assert "Ping (ms) ICMP: median 21 ms before the load, 82.5 ms under load (3.9 times as long)." in said
    assert "HTTP latency: median 5 ms before the load, 5 ms under load (1.0 times as long)." in said


def test_every_series_has_its_numbers_in_the_unit_of_flent(tmp_path: Path) -> None:
    trace = el.analyze(written(tmp_path, RESULT))
    listed = {one["name"]: one for one in trace.summary["series"]}
    assert listed.keys() == RESULT["results"].keys()
    assert listed["TCP upload BK"] == {
        "file": "a",
        "name": "TCP upload BK",
        "unit": "Mbits/s",
        "values": 5,
        "missing": 5,
        "median": 4.0,
        "min": 4.0,
        "max": 4.0,
        "median_before_load": None,
        "median_under_load": 4.0,
    }
    units = [listed[name]["unit"] for name in ("TCP upload BE::tcp_cwnd", "TCP upload BE::tcp_rtt", "HTTP latency")]
    assert units == ["packets", "ms", "ms"]
    assert (listed["TCP upload fairness"]["unit"], listed["TCP upload fairness"]["median"]) == ("", 0.9)
    assert listed["qdisc_stats_router::backlog_bytes"]["min"] == -5
    table = series_table(trace)
    assert table is not None
    assert [cell.text for cell in table.rows[1]] == ["TCP upload BK", "5", "5", "4 Mb/s", "n/a", "4 Mb/s", "4 Mb/s", "4 Mb/s"]


def test_a_missing_value_is_unknown_and_not_0(tmp_path: Path) -> None:
    trace = el.analyze(written(tmp_path, RESULT))
    of_flow = [row for row in trace.samples.to_pylist() if row["connection"] == 1]
    assert [row["time_ns"] // 10**9 for row in of_flow] == [3, 5, 6, 7, 8]
    # Behind the hole the total is unknown; the goodput is that of the known steps.
    assert [row["delivered_bytes"] for row in of_flow] == [500_000, None, None, None, None]
    assert rows(trace)["TCP upload BK"]["goodput_bps"] == 4e6
    assert "a: 1 flow without a value in some steps: TCP upload BK (1 of 6). A missing value is unknown, not 0" in trace.notes
    stretches = trace.known_stretches(1)
    assert [(time.tolist(), total.tolist()) for time, total in stretches] == [
        ([2e9, 3e9], [0.0, 500_000.0]),
        ([4e9, 5e9, 6e9, 7e9, 8e9], [0.0, 500_000.0, 1_000_000.0, 1_500_000.0, 2_000_000.0]),
    ]


def test_the_figure_has_the_rates_of_the_steps_and_nothing_in_holes(tmp_path: Path) -> None:
    trace = el.analyze(written(tmp_path, RESULT))
    assert trace_figures._rates(trace, 2, 1e9, 0.0)[1].tolist() == [80e6] * 6
    time, rate = trace_figures._rates(trace, 1, 1e9, 0.0)
    assert (time / 1e9).tolist() == [2.5, 3.0, 4.5, 5.5, 6.5, 7.5]
    assert np.array_equal(rate, [4e6, math.nan, 4e6, 4e6, 4e6, 4e6], equal_nan=True)


def test_what_flent_measured_fills_holes_of_a_series(tmp_path: Path) -> None:
    """A slow flow has a value in a few steps only; the intervals that netperf measured cover all of the time."""
    result = copy.deepcopy(RESULT)
    begin = 1_714_564_800.0
    result["raw_values"] = {"TCP upload BK": [{"t": begin + 4 + 2 * n, "dur": 2.0, "val": 4.0} for n in range(3)]}
    row = rows(el.analyze(written(tmp_path, result)))["TCP upload BK"]
    assert (row["delivered_bytes"], row["start_ns"], row["end_ns"]) == (3_000_000, 2_000_000_000, 8_000_000_000)


def test_versions(tmp_path: Path) -> None:
    old = changed(T0="2024-05-01T14:00:00.000000")  # of a zone two hours east, which early versions did not write
    old["metadata"].pop("TIME")
    del old["version"]
    old["metadata"]["SERIES_META"]["Ping (ms) ICMP"]["RAW_VALUES"] = [{"t": 1_714_564_800.25, "val": 20.0}]
    del old["raw_values"]
    assert el.analyze(written(tmp_path, old)).summary["begin_ns"] == 1_714_564_800_000_000_000
    for version in (2, 3, 4, "4"):
        assert rows(el.analyze(written(tmp_path, RESULT | {"version": version}))).keys()
    notes = el.analyze(written(tmp_path, RESULT | {"version": 5})).notes
    assert "a: version 5 of the format is newer than 4, the newest that elephan knows" in notes


def test_a_test_of_ping_alone(tmp_path: Path) -> None:
    result = copy.deepcopy(RESULT)
    result["results"] = {"Ping (ms) ICMP": [20, None, 22, 24, 26, 28, 30, 32, 34, 36]}
    trace = el.analyze(written(tmp_path, result))
    assert "Ping (ms) ICMP: median 28 ms." in answer(trace)
    assert trace.count == 0
    assert page(trace).sections


def test_several_files_of_other_times_begin_together(tmp_path: Path) -> None:
    later = changed(T0="2024-05-03T12:00:00Z", TITLE="another router")
    files = [written(tmp_path, RESULT, "one.flent"), written(tmp_path, later, "two.flent.gz")]
    trace = el.analyze(files, out=tmp_path / "out")
    assert [trace.label(n) for n in (0, 5)] == ["one: TCP upload BE", "two: TCP upload BE"]
    starts = trace.connections["start_ns"].to_pylist()
    assert starts[0] == starts[5] == 2_000_000_000
    assert "the files were not recorded at one time: the times of each file begin at 0" in trace.notes
    # They shared no path, so nothing is said of all of them together.
    assert trace.total is None
    assert trace.beside_share(trace.row(0)) == pytest.approx(2.5 / 7, abs=0.1)
    assert el.load(tmp_path / "out").total is None
    together = el.analyze([files[0], written(tmp_path, changed(T0="2024-05-01T12:00:05Z"), "three.flent")])
    assert together.connections["start_ns"].to_pylist()[5] == 7_000_000_000
    assert together.total is not None


NO_NUMBERS = (None, -5, "8", "", True, [], {}, 10**400, math.nan, math.inf, -math.inf, 1e300)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_a_value_that_is_no_number_is_unknown(value: Any, tmp_path: Path) -> None:
    result = copy.deepcopy(RESULT)
    result["results"]["TCP download BE"][4] = value
    result["results"]["Ping (ms) ICMP"][4] = value
    trace = el.analyze(written(tmp_path, result))
    found = rows(trace)
    assert found["TCP download BE"]["delivered_bytes"] == 50_000_000
    assert found["Ping (ms) ICMP"]["count_rtt"] == 8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(RESULT, sort_keys=True)[:-30] + '"x_values"', "damaged or cut-off JSON of Flent"),
        ('{"results": {}, "x_values": []}', "a result of Flent without a value of a flow or of ping"),
        ('{"results": [], "x_values": [1]}', "not a result of Flent (no results at x_values)"),
        ('{"results": {"TCP upload": [1]}, "x_values": {}}', "not a result of Flent (no results at x_values)"),
        ('{"results": {"TCP upload": 7, "Ping (ms)": null}, "x_values": [0, 1]}', "a result of Flent without a value"),
        (
            '{"results": {"TCP upload": []}, "x_values": [], "metadata": {"T0": "2024-05-01T12:00:00Z"}, "raw_values": '
            '{"TCP upload": [{"t": 1714564801, "dur": 1, "val": 2}]}}',
            "a result of Flent without a value",
        ),
        ("[" * 5000 + '"results" "x_values"', ""),
    ],
)
def test_files_that_are_no_results_are_refused_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(el.InputError) as error:
        el.analyze(written(tmp_path, text))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_series_and_times_of_unlike_lengths(tmp_path: Path) -> None:
    result = copy.deepcopy(RESULT)
    result["results"]["TCP download BE"] = [None, None, 80, 80]
    result["results"]["TCP upload BK"] += [4] * 50
    trace = el.analyze(written(tmp_path, result))
    assert rows(trace)["TCP download BE"]["delivered_bytes"] == 20_000_000
    assert rows(trace)["TCP upload BK"]["delivered_bytes"] == 2_500_000
    assert "a: 2 series and the times differ in length: what has no time is left out" in trace.notes


def test_times_that_go_back_are_left_out(tmp_path: Path) -> None:
    result = copy.deepcopy(RESULT)
    result["x_values"] = [0, 1, 2, 3, 2.5, 5, math.nan, "7", 8, 1e30]
    trace = el.analyze(written(tmp_path, result))
    assert "a: 4 steps whose time is unknown or does not ascend are left out" in trace.notes
    assert rows(trace)["TCP download BE"]["delivered_bytes"] == 30_000_000


def test_random_damage_gives_a_trace_or_one_line(tmp_path: Path) -> None:
    """Values of any kind anywhere in the file: a page can be made, or an error says in one line what is wrong."""
    random_ = random.Random(8)

    def places(one: Any) -> list[tuple[Any, Any]]:
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        return [(one, key) for key in keys] + [place for key in keys for place in places(one[key])]

    read, refused = 0, list[str]()
    for _ in range(120):
        result = copy.deepcopy(RESULT)
        for _ in range(random_.choice((1, 1, 2, 5))):
            holder, key = random_.choice(places(result))
            holder[key] = random_.choice(NO_NUMBERS)
        try:
            trace = el.analyze(written(tmp_path, result))
        except el.InputError as error:
            refused.append(str(error))
            continue
        read += 1
        assert answer(trace)
    assert read > 80
    assert not [said for said in refused if "\n" in said]
