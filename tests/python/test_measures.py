"""Statistics of a run by name."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from elephan import measures
from elephan.errors import InputError
from elephan.runs import Run


def make(tables: dict[str, pa.Table], duration: str = "10 ms", warmup: str = "2 ms") -> Run:
    """A run with just these tables."""
    return Run(tables, {}, f'duration = "{duration}"\nwarmup = "{warmup}"\n', [], {"seed": 1, "name": "x"})  # type: ignore[arg-type]


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
    starts, shares, flows = measures.windows(run, 1_000_000)
    assert starts.tolist() == [2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6, 9e6]
    assert flows == [0, 1]
    assert shares[:, 0].tolist() == [1000] * 8
    assert shares[:, 1].tolist() == [0, 1000] * 4
    assert measures.statistic(run, "jain_1ms.mean") == pytest.approx(0.75)
    assert measures.statistic(run, "goodput_1ms_bps.max") == pytest.approx(16e6)


def test_samples_coarser_than_the_window_give_nothing() -> None:
    run = make({"flow_samples": samples(5_000_000, [[1, 1], [1, 1]])})
    assert measures.windows(run, 1_000_000)[0].size == 0
    assert math.isnan(measures.statistic(run, "jain_1ms.mean"))
    assert "jain_1ms.mean" not in measures.statistics(run, ("jain_1ms.mean",))


def test_latency_leaves_out_the_warmup_and_the_unfinished() -> None:
    messages = pa.table({"enter_ns": [1_000_000, 2_000_000, 3_000_000, 4_000_000], "latency_ns": pa.array([7, 10, 30, None])})
    run = make({"messages": messages})
    assert measures.statistic(run, "latency_ns.count") == 2
    assert measures.statistic(run, "latency_ns.mean") == 20
    assert measures.statistic(run, "latency_ns.range") == 20
    assert measures.statistic(run, "latency_ns.sd") == pytest.approx(math.sqrt(200))


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


@pytest.mark.parametrize("name", ["latency", "latency_ns", "latency_ns.p98", "latenzy_ns.p99", ""])
def test_unknown_statistics_are_one_line(name: str) -> None:
    with pytest.raises(InputError, match=r"^no measure|no take"):
        measures.parse(name)


def test_all_default_statistics_of_a_run(fake_run: Run) -> None:
    found = measures.statistics(fake_run)
    assert found["timeouts.sum"] == 36
    assert found["goodput_bps.sum"] == pytest.approx(9.3e9, rel=0.01)
    assert 0.3 < found["goodput_bps.jain"] <= 1
    assert "fct_ns.mean" not in found
