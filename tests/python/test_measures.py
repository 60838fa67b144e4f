"""Statistics of a run by name."""

from __future__ import annotations

import math

import elephan as el
import numpy as np
import pyarrow as pa
import pytest
from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.report.figure.run_figures import REGISTRY, draw
from elephan.report.words.answer import answer
from elephan.report.words.view import View
from elephan.report.words.warnings import warnings
from elephan.result.run import Run
from elephan.statistic import bounds, measures, needs, titles
from elephan.statistic.measure import Scope
from elephan.statistic.measure import measure as declare
from elephan.statistic.observed import port_column
from elephan.table.rows import windows


def make(tables: dict[str, pa.Table], duration: str = "10 ms", warmup: str = "2 ms") -> Run:
    """A run with just these tables; what they do not say of sampled flows is that they lasted from the beginning to the end."""
    if "flow_samples" in tables:
        found = tables["flow_samples"]
        last = found.group_by("flow").aggregate([("delivered_bytes", "max")]).sort_by("flow")
        flows = tables.get("flows", last.select(["flow"]))
        whole = {name: pa.nulls(flows.num_rows, pa.int64()) for name in ("end_ns", "fct_ns")}
        whole |= {"start_ns": pa.array([0] * flows.num_rows), "delivered_bytes": last.column("delivered_bytes_max")}
        for name in [name for name in whole if name not in flows.column_names]:
            flows = flows.append_column(name, whole[name])
        tables = {**tables, "flows": flows}
    return Run(tables, {}, f'duration = "{duration}"\nwarmup = "{warmup}"\n', [], {"seed": 1, "name": "x"})


def samples(every_ns: int, rates: list[list[int]]) -> pa.Table:
    """flow_samples whose flows deliver so many bytes in each interval."""
    delivered = np.cumsum(np.array([[0] * len(rates[0]), *rates]), axis=0)
    n, flows = delivered.shape
    return pa.table(
        {
            "time_ns": np.repeat(np.arange(n) * every_ns, flows),
            "flow": np.tile(np.arange(flows), n),
            "delivered_bytes": delivered.reshape(-1),
        }
    )


def test_windows_count_bytes_after_the_warmup() -> None:
    # 10 intervals of 1 ms: flow 0 gets 1000 B in each, flow 1 only in the odd ones
    run = make({"flow_samples": samples(1_000_000, [[1000, 1000 * (i % 2)] for i in range(10)])})
    starts, shares, flows = windows(run, 1_000_000)
    assert starts.tolist() == [2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6, 9e6]
    assert flows == [0, 1]
    assert shares[:, 0].tolist() == [1000] * 8
    assert shares[:, 1].tolist() == [0, 1000] * 4
    assert measures.statistic(run, "jain_1ms.mean") == pytest.approx(0.75)
    assert measures.statistic(run, "goodput_1ms_bps.max") == pytest.approx(16e6)


PIPE = """
duration = "3 s"
[hosts.a]
[hosts.b]
[[links]]
between = ["a", "b"]
rate = "10 Mbps"
delay = "5 ms"
[[traffic]]
name = "t"
kind = "bulk"
from = "a"
to = "b"
"""
# Payload of a full packet with time stamps over its bytes on the wire.
PIPE_BPS = 10e6 * 1448 / 1538


@pytest.mark.parametrize("begin", ["100", "105", "109.9"])
def test_a_window_of_a_part_does_not_count_what_came_before_it(begin: str) -> None:
    """A pipe that is full from 20 ms on; the part begins at a sample or between two."""
    run = el.run(PIPE, set={"duration": "500 ms", "record.every": "10 ms"})
    for take in ("min", "mean", "max"):
        found = measures.statistic(run, f"goodput_10ms_bps[during {begin}-400 ms].{take}")
        assert found == pytest.approx(PIPE_BPS, rel=0.13), take  # a window has 8 or 9 of its 8.1 packets


@pytest.mark.parametrize("every", ["100 ms", "300 ms", "700 ms"])
def test_windows_need_not_be_whole_numbers_of_samples(every: str) -> None:
    run = el.run(PIPE, set={"duration": "10 s", "warmup": "1 s", "record.every": every})
    for take in ("min", "mean", "max"):
        assert measures.statistic(run, f"goodput_1s_bps.{take}") == pytest.approx(PIPE_BPS, rel=0.003), take
    assert measures.statistic(run, "goodput_1s_bps.cov") < 0.003


def test_windows_count_what_came_after_the_last_sample_of_a_flow() -> None:
    """A megabyte takes 0.865 s, samples are at tenths of a second; ten kilobytes are over before the first."""
    run = el.run(PIPE, set={"traffic.t.size": "1 MB", "record.every": "100 ms"})
    assert measures.statistic(run, "goodput_1s_bps.max") == 8e6
    with pytest.raises(InputError, match=r"rates of different times are not added"):
        measures.statistic(run, "goodput_1s_bps.sum")
    short = PIPE + PIPE[PIPE.index("[[traffic]]") :].replace('"t"', '"short"\nsize = "10 kB"')
    both = el.run(short, set={"traffic.t.size": "1 MB", "record.every": "100 ms"})
    assert measures.statistic(both, "goodput_1s_bps.max") == 8.08e6


def test_samples_coarser_than_the_window_give_nothing() -> None:
    run = make({"flow_samples": samples(5_000_000, [[1, 1], [1, 1]])})
    assert windows(run, 1_000_000)[0].size == 0
    with pytest.raises(InputError, match=r"no jain_1ms\.mean: it is of samples"):
        measures.statistic(run, "jain_1ms.mean")
    assert "jain_1ms.mean" not in measures.statistics(run, ("jain_1ms.mean",))


def test_latency_leaves_out_the_warmup_and_the_unfinished() -> None:
    messages = pa.table(
        {"flow": [0] * 4, "enter_ns": [1_000_000, 2_000_000, 3_000_000, 4_000_000], "latency_ns": pa.array([7, 10, 30, None])}
    )
    run = make({"messages": messages, "flows": pa.table({"flow": [0], "size_bytes": pa.nulls(1, pa.int64())})})
    assert measures.statistic(run, "latency_ns.count") == 2
    assert measures.statistic(run, "latency_ns.mean") == 20
    assert measures.statistic(run, "latency_ns.range") == 20
    assert measures.statistic(run, "latency_ns.sd") == pytest.approx(math.sqrt(200))


MIXED = """
duration = "2 s"
template = { kind = "dumbbell", rate = "20 Mbps", delay = "10 ms", pairs = 2 }
[[traffic]]
name = "rpc"
kind = "messages"
from = "sender[0]"
to = "receiver[0]"
size = "1 KB"
load = "200 kbps"
[[traffic]]
name = "files"
kind = "transfers"
from = "sender[1]"
to = "receiver[1]"
size = "100 KB"
arrivals_per_s = 10
"""


def test_transfers_are_no_messages() -> None:
    """The measure, the words and the figure count what `message_latency` of summary.json does."""
    run = el.run(MIXED, seed=3)
    spread = run.summary["message_latency"]
    assert spread["count"] < run.messages.column("latency_ns").drop_null().length()
    assert measures.statistic(run, "latency_ns.count") == spread["count"]
    assert measures.statistic(run, "latency_ns.max") == pytest.approx(spread["max_s"] * 1e9, abs=1)
    assert f"the slowest {show(spread['max_s'] * 1e9, 'ns')}." in " ".join(answer(run))
    assert draw(run, "latency").caption.startswith(f"{spread['count']} messages")
    alone = el.run(MIXED[: MIXED.index("[[traffic]]")] + MIXED[MIXED.rindex("[[traffic]]") :])
    assert "latency_ns.p50" not in measures.statistics(alone)
    assert not REGISTRY["latency"].possible(View(alone))
    with pytest.raises(InputError, match=r"no traffic of the scenario has messages \(fct_ns is of transfers\)"):
        measures.statistic(alone, "latency_ns.p99")


def test_rounds_end_with_their_last_answer() -> None:
    """Two receivers with two senders each; the first round is of the warm-up, the last of `a` lacks an answer."""
    flows = pa.table({"flow": [0, 1, 2, 3, 4], "traffic": ["q"] * 4 + ["web"], "destination": ["a", "a", "b", "b", "a"]})
    at = [(0, 1, 2), (1, 1, 3), (0, 4, 6), (1, 4, 9), (0, 7, 8), (1, 7, None), (2, 5, 6), (3, 5, 8), (4, 5, 5)]
    flow, enter, exit = zip(*at, strict=True)
    ms = 1_000_000
    messages = pa.table({"flow": flow, "enter_ns": [t * ms for t in enter], "exit_ns": [t and t * ms for t in exit]})
    made = make({"flows": flows, "messages": messages})
    text = made.scenario + '[[traffic]]\nname = "q"\nkind = "incast"\nsize = "1 KB"\n[[traffic]]\nname = "web"\nkind = "messages"\n'
    run = Run(made.tables, {}, text, [], made.manifest)
    assert sorted(measures.MEASURES["round_time"].values(run).tolist()) == [3 * ms, 5 * ms]
    with pytest.raises(InputError, match="of the whole run"):
        measures.statistic(run, "round_time[during 4-9 ms].max")


def test_rounds_with_a_timeout() -> None:
    """Of three rounds of two flows the second has a timeout; one between rounds and one of other traffic count for none."""
    flows = pa.table({"flow": [0, 1, 2], "traffic": ["q", "q", "web"], "destination": ["a"] * 3})
    at = [(0, 4, 6), (1, 4, 9), (0, 10, 14), (1, 10, 15), (0, 20, 21), (1, 20, 22)]
    flow, enter, exit = zip(*at, strict=True)
    ms = 1_000_000
    messages = pa.table({"flow": flow, "enter_ns": [t * ms for t in enter], "exit_ns": [t * ms for t in exit]})
    kinds, times, whose = ["rto", "rto", "rto", "mark"], [12, 17, 5, 21], [1, 0, 2, 0]
    events = pa.table({"kind": kinds, "time_ns": [t * ms for t in times], "flow": whose})
    made = make({"flows": flows, "messages": messages, "events": events})
    text = made.scenario + '[[traffic]]\nname = "q"\nkind = "incast"\nsize = "1 KB"\n[[traffic]]\nname = "web"\nkind = "messages"\n'
    run = Run(made.tables, {}, text, [], made.manifest)
    assert measures.MEASURES["rounds_timed_out"].values(run).tolist() == [0, 1, 0]
    assert measures.statistic(run, "rounds_timed_out.mean") == pytest.approx(1 / 3)


INCAST = """
duration = "60 ms"
[hosts.s]
count = 8
[hosts.c]
[[links]]
between = ["s", "sw"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["sw", "c"]
rate = "10 Gbps"
delay = "1 us"
[switches.sw]
[[traffic]]
name = "q"
from = "s"
to = "c"
kind = "incast"
size = "64 KB"
every = "1 ms"
[[traffic]]
name = "web"
from = "s"
to = "c"
kind = "transfers"
size = { pareto = { shape = 1.5, mean = "20 KB" } }
load = "2 Gbps"
"""


def test_the_summary_and_statistics_agree() -> None:
    """Percentiles of the summary are those of the tables, up to the three digits of its histogram."""
    run = el.run(INCAST)
    assert f" {run.summary['round_time']['count']} rounds completed, in " in " ".join(answer(run))
    for key, name in (("round_time", "round_time"), ("fct", "fct_ns")):
        spread = run.summary[key]
        assert measures.statistic(run, f"{name}.count") == spread["count"] > 20
        for take in ("mean", "sd", "min", "p50", "p95", "p99", "p999", "max"):
            assert measures.statistic(run, f"{name}.{take}") * 1e-9 == pytest.approx(spread[f"{take}_s"], rel=2e-3), (name, take)


def test_what_a_run_does_not_have_is_an_error() -> None:
    """No flow has a timeout; without transfers there are no completion times at all."""
    run = el.run(INCAST)
    assert measures.statistic(run, "fct_ns[web, with timeouts].count") == 0
    assert measures.statistic(run, "fct_ns[web, with timeouts].sum") == 0
    for take in ("mean", "max", "p99"):
        with pytest.raises(InputError, match=r"the run has no fct_ns\[web, with timeouts\]"):
            measures.statistic(run, f"fct_ns[web, with timeouts].{take}")
    alone = INCAST[: INCAST.index('[[traffic]]\nname = "web"')]
    for take in ("sum", "p99"):
        with pytest.raises(InputError, match="no traffic of the scenario has an end"):
            measures.statistic(el.run(alone), f"fct_ns.{take}")


RARE = """
title = "t"
duration = "2 s"
hosts = { a = {}, b = {} }
[[links]]
between = ["a", "b"]
rate = "10 Mbps"
delay = "50 ms"
[[traffic]]
name = "web"
from = "a"
to = "b"
kind = "transfers"
size = "10 KB"
arrivals_per_s = 100
gaps = "fixed"
"""


def test_what_begins_after_the_warm_up_is_counted() -> None:
    """A transfer each 10 ms that takes 158 ms (handshake, half a round trip, 9 kB), 208 ms to its last ACK: of 50 that begin in the
    last half second 34 and 29 end in it. 50 end in it, a third of which began before."""
    run = el.run(RARE, set={"warmup": "1.5 s", "traffic.web.size": "9 KB"})
    for key, name, expected in (("fct", "fct_ns", 34), ("sender_fct", "sender_fct_ns", 29)):
        assert run.summary[key]["count"] == pytest.approx(expected, abs=1)
        assert measures.statistic(run, f"{name}.count") == run.summary[key]["count"]
    incast = el.run(INCAST, set={"warmup": "2 ms"})
    shared = (("round_time", "round_time"), ("message_latency", "latency_ns[q]"), ("fct", "fct_ns"), ("slowdown", "slowdown"))
    for key, name in shared:
        assert measures.statistic(incast, f"{name}.count") == incast.summary[key]["count"] > 0, key


def test_a_run_without_a_flow_has_sums_of_nothing() -> None:
    """A repetition in which nothing came counts as zero, or the mean over repetitions is that of the others."""
    run = el.run(RARE, set={"traffic.web.gaps": "exponential", "traffic.web.arrivals_per_s": 1e-6})
    assert run.flows.num_rows == 0
    assert measures.statistics(run, ("goodput_bps.sum", "goodput_bps[web].sum", "goodput_bps.mean", "copy_bps.sum")) == {
        "goodput_bps.sum": 0,
        "goodput_bps[web].sum": 0,
    }
    assert "goodput_bps[wep].sum" not in measures.statistics(run, ("goodput_bps[wep].sum",), strict=False)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("host_drops.sum", "no host of the scenario has receive or cpu"),
        ("cpu.sum", "no host of the scenario has receive or cpu"),
        ("logger_gap_ns.sum", "no host of the scenario has a logger"),
        ("burst_lost.sum", "no traffic of the scenario is a burst of datagrams"),
    ],
)
def test_what_no_host_models_is_not_zero(name: str, why: str) -> None:
    run = el.run(RARE, set={"duration": "1 ms"})
    with pytest.raises(InputError, match=why):
        measures.statistic(run, name)


def test_wire_rate_of_the_last_hop() -> None:
    run = make(
        {
            "flows": pa.table({"destination": ["server"]}),
            "ports": pa.table({"port": [0, 1], "peer": ["sw", "server"], "tx_bytes": [9, 9]}),
            "port_samples": pa.table({"time_ns": [0, 2_000_000, 10_000_000], "port": [1, 1, 1], "tx_bytes": [0, 100, 8_100]}),
        }
    )
    assert measures.statistic(run, "wire_bps.sum") == pytest.approx(8000 * 8 / 8e-3)


def test_loss_and_limits() -> None:
    ports = pa.table({"tx_packets": [90, 0], "drops": [10, 0]})
    flows = pa.table({f"snd_lim_time_{k}_ns": [v] for k, v in (("rwin", 50), ("cwnd", 40), ("snd", 10))})
    run = make({"ports": ports, "flows": flows})
    assert measures.statistic(run, "loss.max") == pytest.approx(0.1)
    assert measures.statistic(run, "sender_limited.max") == pytest.approx(0.1)


def test_units_and_words() -> None:
    assert measures.unit_of("latency_ns.p99") == "ns"
    assert measures.unit_of("goodput_bps.jain") == "1"
    assert measures.describe("latency_ns.p50").startswith("median: latency")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("goodput_bps.sum", "goodput of all flows together"),
        ("goodput_bps[n].sum", "total goodput of n"),
        ("goodput_bps[v+n].jain", "Jain's index of the goodput of v and n"),
        ("queue_bytes[at sw->h[0], during 100-400 ms].p95", "95th percentile of the queue at sw → h[0] during 100-400 ms"),
        ("queue_max_bytes[at sw->h[0]].max", "longest queue at sw → h[0]"),
        ("fct_ns[to h[0], with timeouts].p50", "median completion time to h[0] with timeouts"),
        ("notifications.max", "largest notifications of congestion sent"),
        ("sender_limited.max", "largest share of time that the sender had nothing to send"),
    ],
)
def test_titles_read_as_a_person_would_write_them(name: str, words: str) -> None:
    assert titles.title(name) == words


def test_every_take_has_words_for_a_title() -> None:
    for take in measures.TAKES:
        assert "goodput" in titles.title(f"goodput_bps[a].{take}")


@pytest.mark.parametrize("name", ["latency", "latency_ns", "latency_ns.p98", "latenzy_ns.p99", ""])
def test_unknown_statistics_are_one_line(name: str) -> None:
    with pytest.raises(InputError, match=r"^no measure|no take"):
        measures.parse(name)


def test_all_default_statistics_of_a_run(fake_run: Run) -> None:
    found = measures.statistics(fake_run)
    assert found["timeouts.sum"] == 3 * (12 + 7)
    assert found["goodput_bps.sum"] == pytest.approx(9.3e9, rel=0.01)
    assert 0.3 < found["goodput_bps.jain"] <= 1
    assert "fct_ns.mean" not in found


SECOND = 1_000_000_000


def two_flows(rates: list[list[int]], end_s: float | None = None) -> Run:
    """Two flows over as many seconds; the second starts at 10 s, the first may end."""
    end = pa.array([None if end_s is None else round(end_s * SECOND), None], pa.int64())
    flows = pa.table({"flow": [0, 1], "traffic": ["a", "b"], "start_ns": [0, 10 * SECOND], "end_ns": end})
    run = {"flows": flows, "flow_samples": samples(SECOND, rates)}
    return make(run, duration=f"{len(rates)} s", warmup="0 s")


def test_convergence_is_a_share_that_lasts() -> None:
    """Near a half for 4 s at 15 s does not last; from 30 s on it does: 20 s after the start."""
    share = [0] * 10 + [1] * 5 + [5] * 4 + [1] * 11 + [4] * 30  # of 10: 4 is 20 % below a half
    run = two_flows([[10 - s, s] for s in share])
    assert measures.statistic(run, "convergence_ns.mean") == 20 * SECOND
    # delta-fair needs 45 % for each, in one second: at 15 s
    assert measures.statistic(run, "delta_fair_ns.mean") == 5 * SECOND


def test_a_convergence_that_does_not_come_counts_to_the_first_end() -> None:
    run = two_flows([[9, 1]] * 60)
    assert measures.statistic(run, "convergence_ns.mean") == 50 * SECOND
    assert measures.statistic(two_flows([[9, 1]] * 60, 40), "convergence_ns.mean") == 30 * SECOND


def test_reclaim_is_the_time_to_80_percent_of_what_all_had() -> None:
    rates = [[6, 4]] * 40 + [[0, 4]] * 7 + [[0, 8]] * 33
    assert measures.statistic(two_flows(rates, 40), "reclaim_ns.mean") == 7 * SECOND
    assert measures.statistic(two_flows([[6, 4]] * 40 + [[0, 7]] * 40, 40), "reclaim_ns.mean") == 40 * SECOND
    with pytest.raises(InputError, match=r"no reclaim_ns\.mean"):
        measures.statistic(two_flows(rates), "reclaim_ns.mean")


def test_a_measure_of_one_traffic_entry() -> None:
    flows = pa.table({"flow": [0, 1, 2], "traffic": ["a", "b c", "b c"], "goodput_bps": [10.0, 2.0, 4.0], "fct_ns": [1, 2, 3]})
    run = make({"flows": flows, "flow_samples": samples(1_000_000, [[1000, 10, 30]] * 10)})
    assert measures.statistic(run, "goodput_bps[a].mean") == 10
    assert measures.statistic(run, "goodput_bps[b c].min/max") == pytest.approx(0.5)
    assert measures.statistic(run, "goodput_bps[a+b c].sum") == 16
    assert measures.statistic(run, "jain_1ms[b c].mean") == pytest.approx(40**2 / (2 * 1000))
    assert measures.statistics(run, ("goodput_bps[d].mean", "goodput_bps[d].count"), strict=False) == {"goodput_bps[d].count": 0}
    found = measures.statistics(run, ("goodput_bps[a].sum", "goodput_bps[b c].sum", "goodput_bps.sum"))
    assert list(found.values()) == [10, 6, 16]
    assert measures.unit_of("goodput_bps[a].mean") == "bps"
    assert "traffic a" in measures.describe("goodput_bps[a].mean")
    with pytest.raises(InputError, match="about ports"):
        measures.parse("drops[a].sum")


def test_a_measure_of_a_host_a_port_and_a_time() -> None:
    flows = pa.table(
        {
            "flow": [0, 1, 2],
            "traffic": ["t"] * 3,
            "source": ["h[1]", "h[2]", "h[0]"],
            "destination": ["h[0]", "h[0]", "h[1]"],
            "timeouts": [0, 2, 0],
            "subsequent_timeouts": [0, 3, 0],
            "goodput_bps": [1.0, 2.0, 4.0],
        }
    )
    # 1000, 10 and 30 B in each millisecond, the second flow nothing from 4 to 7 ms
    rates = [[1000, 0 if 4 <= i < 7 else 10, 30] for i in range(10)]
    ports = pa.table({"port": [4, 6], "name": ["sw->h[0]", "sw->h[1]"], "drops": [9, 5]})
    waiting = pa.table({"time_ns": [1_000_000, 1_000_000, 3_000_000, 3_000_000, 6_000_000, 6_000_000], "port": [4, 6] * 3})
    waiting = waiting.append_column("queue_bytes", [[1, 100, 2, 200, 3, 300]]).append_column("drops", [[0, 0, 4, 1, 9, 5]])
    run = make({"flows": flows, "flow_samples": samples(1_000_000, rates), "ports": ports, "port_samples": waiting}, warmup="0 ms")
    assert measures.statistic(run, "goodput_bps[to h[0]].sum") == 3
    assert measures.statistic(run, "goodput_bps[from h[0]].sum") == 4
    assert measures.statistic(run, "goodput_bps[to h[0], without timeouts].sum") == 1
    assert measures.statistic(run, "delivered_bps[to h[0], during 2-8 ms].sum") == pytest.approx(8e3 * (1000 + 5))
    assert measures.statistic(run, "delivered_bps[during 2000-4000 us, with timeouts].mean") == pytest.approx(8e4)
    with pytest.raises(InputError, match=r"during 2-80 ms.*the run ends at"):
        measures.statistic(run, "delivered_bps[during 2-80 ms].sum")
    assert measures.statistic(run, "silence_ns[with timeouts].min") == 4e6  # from the sample at 4 ms to that at 8 ms
    assert measures.statistic(run, "timeouts.positive") == 1
    assert measures.statistic(run, "timeouts.sum") == 5
    assert measures.statistic(run, "queue_bytes[at sw->h[0]].sum") == 6
    assert measures.statistic(run, "queue_bytes[at sw->h[1], during 2-6 ms].mean") == 250
    assert measures.statistic(run, "drops[at sw->h[1]].sum") == 5
    assert measures.statistic(run, "sampled_drops[at sw->h[0], during 3-6 ms].sum") == 5
    assert "to h[0], without timeouts" in measures.describe("goodput_bps[to h[0], without timeouts].sum")
    for name, words in (
        ("drops[to h[0]].sum", "about ports"),
        ("goodput_bps[during 1-2 ms].sum", "whole run"),
        ("queue_bytes[during soon].sum", "is not a time"),
    ):
        with pytest.raises(InputError, match=words):
            measures.statistic(run, name)


def named(*names: str) -> Run:
    """A run with a flow of each traffic entry, from h[0] to h[1], h[2] ... with 1, 2, 4 ... bit/s; h[9] has no traffic."""
    n = len(names)
    flows = pa.table(
        {
            "flow": list(range(n)),
            "traffic": list(names),
            "source": ["h[0]"] * n,
            "destination": [f"h[{i + 1}]" for i in range(n)],
            "goodput_bps": [2.0**i for i in range(n)],
        }
    )
    ports = pa.table({"name": ["h[0]->sw"], "drops": [3]})
    run = make({"flows": flows, "ports": ports})
    run.resolved["hosts"] = {"h": {"count": 10}}
    return run


def test_names_of_traffic_in_brackets_may_be_any_words() -> None:
    run = named("to C[0]", "from h[0]", "a, b", "c+d", "with timeouts", "web", "to h[1]")
    for name, expected in (
        ("to C[0]", 1),
        ("from h[0]", 2),  # the entry, not the host
        ("a, b", 4),
        ("c+d", 8),
        ("c+d+a, b+web", 4 + 8 + 32),
        ("with timeouts", 16),
        ("to h[1]", 64),
        ("to h[2]", 2),  # no entry of this name: the host
        ("a, b, to h[3]", 4),
        ("to h[9]", 0),  # a host without traffic
    ):
        assert measures.statistic(run, f"goodput_bps[{name}].sum") == expected, name


def test_a_part_that_the_run_does_not_have_is_refused() -> None:
    run = named("web", "bulk")
    for name, words in (
        ("goodput_bps[wep].sum", 'no such traffic; did you mean "web"'),
        ("goodput_bps[web+bulc].sum", '"web\\+bulc": the run has no such traffic'),
        ("goodput_bps[to C[0]].sum", 'neither a host "C\\[0\\]" nor such traffic'),
        ("goodput_bps[to h[10]].sum", "neither a host"),
        ("goodput_bps[to h].sum", "neither a host"),
        ("drops[at h[0]->s].sum", 'no such port; did you mean "h\\[0\\]->sw"'),
    ):
        with pytest.raises(InputError, match=words):
            measures.statistic(run, name)


def test_every_expiry_of_a_back_off_is_a_timeout() -> None:
    """Tables, events, summary and statistic count the same."""
    lossy = PIPE.replace('delay = "5 ms"', 'delay = "5 ms"\npackets = "data"\nloss = { bernoulli = 0.4 }')
    run = el.run(lossy, set={"duration": "60 s"})
    assert run.flows["subsequent_timeouts"][0].as_py() > 0
    expiries = run.events["kind"].to_pylist().count("rto")
    assert measures.statistic(run, "timeouts.sum") == run.summary["timeouts"] == expiries


def test_window_in_segments() -> None:
    """100 segments of 1448 B each 10 ms."""
    flows = pa.table({"goodput_bps": [100 * 1448 * 8 / 0.01], "min_rtt_ns": [10_000_000], "cur_mss": [1448]})
    assert measures.statistic(make({"flows": flows}), "window_segments.mean") == pytest.approx(100)


def test_completions_with_and_without_timeouts() -> None:
    """Flows that began in the warm-up or did not come to their end count nowhere."""
    flows = pa.table(
        {
            "flow": [0, 1, 2, 3, 4],
            "start_ns": [1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000],
            "fct_ns": pa.array([900, 10, 20, 40, None]),
            "sender_fct_ns": pa.array([950, 12, 22, None, None]),
            "slowdown": pa.array([9.0, 1.0, 2.0, 4.0, None]),
            "timeouts": [3, 0, 1, 0, 2],
        }
    )
    run = make({"flows": flows})
    found = {
        name: measures.statistic(run, name) for name in ("fct_ns.count", "fct_ns.max", "fct_rto_ns.mean", "fct_no_rto_ns.mean")
    }
    assert found == {"fct_ns.count": 3, "fct_ns.max": 40, "fct_rto_ns.mean": 20, "fct_no_rto_ns.mean": 25}
    assert measures.statistic(run, "sender_fct_ns.mean") == 17
    assert measures.statistic(run, "slowdown.p50") == 2
    assert measures.statistic(run, "slowdown.p99/p50") == 4 / 2
    assert (measures.unit_of("fct_ns.p99/p50"), measures.unit_of("slowdown.mean")) == ("1", "1")


def test_a_controller_of_marks_without_ecn_is_named() -> None:
    """RFC 8257 is for connections with ECN; without them nothing but losses cuts the window."""
    text = """
    duration = "200 ms"
    [template]
    kind = "dumbbell"
    pairs = 1
    rate = "100 Mbps"
    delay = "5 ms"
    [[traffic]]
    from = "sender"
    to = "receiver"
    kind = "bulk"
    congestion_control = "dctcp"
    """
    assert "1 flow of dctcp has no ECN" in " ".join(warnings(el.run(text)))
    assert "no ECN" not in " ".join(warnings(el.run(text, set={"traffic[0].tcp.ecn": "dctcp"})))


def test_drops_for_a_reason_are_of_the_whole_network() -> None:
    """No part of them is kept, so none is answered with the whole."""
    with pytest.raises(InputError, match="memory_full_drops is of all ports and the whole run"):
        measures.parse("memory_full_drops[at sw->server].sum")


def test_hurst_of_what_ports_send() -> None:
    from elephan.theory import hurst

    n, every_ms = 4096, 100
    similar = np.round(1e6 + 1e5 * hurst.fractional_gaussian_noise(n, 0.8, seed=3))
    independent = np.round(1e6 + 1e5 * hurst.fractional_gaussian_noise(n, 0.5, seed=4))
    sent = np.cumsum(np.vstack([np.zeros(2), np.column_stack([similar, independent])]), axis=0)
    rows = {
        "time_ns": np.repeat(np.arange(n + 1) * every_ms * 1_000_000, 2),
        "port": np.tile([0, 1], n + 1),
        "tx_bytes": sent.reshape(-1).astype(np.int64),
    }
    ports = pa.table({"port": [0, 1], "name": ["a->b", "b->a"]})
    tables = {"flows": pa.table({"traffic": ["web"]}), "ports": ports, "port_samples": pa.table(rows)}
    run = make(tables, f"{n * every_ms} ms", warmup="0 ms")
    for measure in ("hurst_variance_time", "hurst_wavelet"):
        assert measures.statistic(run, f"{measure}[at a->b].mean") == pytest.approx(0.8, abs=0.05)
        assert measures.statistic(run, f"{measure}[at b->a].mean") == pytest.approx(0.5, abs=0.05)
        assert measures.statistic(run, f"{measure}.count") == 2
        with pytest.raises(InputError, match="the run has no"):  # 50 samples are too few
            measures.statistic(run, f"{measure}[at a->b, during 0-5 s].mean")
        # A range of times, as `elephan.theory.hurst` takes it: blocks of 0.8 to 25.6 s.
        estimator = getattr(hurst, measure.removeprefix("hurst_"))
        expected = estimator(similar, 0.1, ("800 ms", "25.6 s")).h
        assert measures.statistic(run, f"{measure}[at a->b, between 0.8-25.6 s].mean") == pytest.approx(expected, rel=1e-12)
        assert measures.statistic(run, f"{measure}[between 800 ms-25.6 s, at a->b].mean") == pytest.approx(expected, rel=1e-12)
        with pytest.raises(InputError, match="the run has no"):  # beyond a quarter of the series
            measures.statistic(run, f"{measure}[at a->b, between 1-200 s].mean")
        for wrong, message in (
            ("5-1 s", "ends before"),
            ("1 s", "not a range"),
            ("0-1 s", "ends before"),
            ("1.2.3-9 s", "not a range"),
        ):
            with pytest.raises(InputError, match=message):
                measures.statistic(run, f"{measure}[between {wrong}].mean")
    with pytest.raises(InputError, match="a range of times between bins"):
        measures.parse("goodput_bps[between 1-2 s].mean")


@pytest.mark.parametrize(("controller", "kind"), [("xcp", "xcp"), ("explicit_rate", "fq")])
def test_a_controller_of_routers_without_one_is_named(controller: str, kind: str) -> None:
    text = f"""
    duration = "1 s"
    [template]
    kind  = "dumbbell"
    pairs = 2
    rate  = "10 Mbps"
    delay = "10 ms"
    [[traffic]]
    from = "sender"
    to   = "receiver"
    kind = "bulk"
    congestion_control = "{controller}"
    """
    assert f"2 flows of {controller} pass no queue that tells a rate" in " ".join(warnings(el.run(text)))
    told = el.run(text, set={"template.queue": {"kind": kind}})
    assert "tells a rate" not in " ".join(warnings(told))


@pytest.mark.parametrize(
    ("traffic", "alike"),
    [
        ('kind = "bulk"', True),
        ('kind = "cbr"\nrate = "1 Mbps"', False),
        ('kind = "bulk"\nsize = "100 kB"', False),
    ],
)
def test_shares_are_usual_of_flows_that_compete_alike(traffic: str, alike: bool) -> None:
    """Neither UDP, which answers to nothing, nor transfers, which are over; asked for by name the index is of all."""
    head = MIXED[: MIXED.index("[[traffic]]")]
    changes = {"duration": "500 ms", "record.every": "1 ms"}
    run = el.run(f'{head}[[traffic]]\nfrom = "sender"\nto = "receiver[0]"\n{traffic}\n', set=changes)
    assert ("goodput_bps.jain" in measures.usual(run)) == alike
    assert 0.5 <= measures.usual(run, ["goodput_bps.jain"])["goodput_bps.jain"] <= 1
    assert "goodput_bps.sum" in measures.usual(run)


@pytest.mark.parametrize("lost", [1, 20])
def test_a_drop_has_its_sequence_number_and_a_lost_tail_is_a_stall(lost: int) -> None:
    """Of twenty segments of 1448 bytes one is lost; its number is that of its first byte.

    If it is the last the flow stands still from the ACK of the others until the timer (rfc: 1 s at least) has brought it. If it is
    the first, three duplicate ACKs bring it at once.
    """
    text = """
        duration = "5 s"
        stack = "rfc"
        record = { events = true }
        hosts = { a = {}, b = {} }
        [[links]]
        between = ["a", "b"]
        rate = "10 Mbps"
        delay = "10 ms"
        framing = "none"
        forward = { loss = { listed = [LOST] }, packets = "data" }
        [[traffic]]
        from = "a"
        to = "b"
        kind = "bulk"
        size = "28960 B"
        """
    run = el.run(text.replace("LOST", str(lost)))
    values = [row["value"] for row in run.events.to_pylist() if row["kind"] == "drop"]
    # The initial sequence number is not in the tables: that of the first segment is, where that is lost.
    first = el.run(text.replace("LOST", "1")).events.to_pylist()
    first = next(row["value"] for row in first if row["kind"] == "drop")
    assert len(values) == 1
    assert (values[0] - first) % 2**32 == (lost - 1) * 1448
    stall = measures.statistic(run, "stall_ns.max")
    assert (1e9 <= stall < 1.1e9) if lost == 20 else stall < 0.1e9


def test_a_statistic_is_one_declaration() -> None:
    """What a file of `elephan.statistic.declared` says is all that titles, bounds and the reasons for a missing value need."""
    drops = port_column("drops")
    declare("dropped_here", "%", "drops of each port: a share", drops, scope=Scope.PORTS, whole=True, noun="share")
    declare("of_logs", "1", "lines of each logger", drops, needs=(needs.logger,))
    try:
        assert titles.title("dropped_here.p99") == "99th percentile of the share"
        assert (bounds.top_of("dropped_here.max"), measures.unit_of("dropped_here.max")) == (1.0, "%")
        assert measures.absent("of_logs.sum", {"traffic": []}) == "no host of the scenario has a logger (cpu.logger)"
        with pytest.raises(InputError, match="dropped_here is about ports, not about flows"):
            measures.parse("dropped_here[to c].max")
        with pytest.raises(InputError, match="of the whole run"):
            measures.parse("dropped_here[at a->b, during 1-2 s].max")
    finally:
        del measures.MEASURES["dropped_here"], measures.MEASURES["of_logs"]
