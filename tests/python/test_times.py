"""Over which time a number is: rates of different times are never added, and nothing counts that came before the measured time."""

from __future__ import annotations

from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan.base import stats
from elephan.base.errors import InputError
from elephan.report.words.answer import answer
from elephan.statistic import measures

# A spine link fails while transfers of web-search sizes cross the fabric; most of them are shorter than the interval of samples.
FABRIC = """
duration = "60 ms"
stack = "linux"
ecmp = "flow"
reroute = "5 ms"
[template]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "10 Gbps"
delay = "1 us"
spine_rate = "40 Gbps"
queue = { kind = "fifo", limit = "1 MB" }
[[traffic]]
name = "web"
from = "host"
to = "host"
kind = "transfers"
size = { cdf = "web-search" }
pairing = "random"
load = "10 Gbps"
[[change]]
at = "20 ms"
set = { "links.leaf[0]->spine[0].up" = false }
[record]
every = "1 ms"
"""

SLOW_START = """
duration = "2 s"
warmup = "1 s"
[template]
kind = "path"
hops = [{ rate = "1 Gbps", delay = "1 ms" }, { rate = "100 Mbps", delay = "9 ms", queue = { kind = "fifo", limit = "200 p" } }]
[[traffic]]
name = "bulk"
from = "sender"
to = "receiver"
kind = "bulk"
[record]
every = "10 ms"
"""

COPIES = """
duration = "8 s"
[template]
kind = "path"
hops = [{ rate = "1 Gbps", delay = "300 us" }, { rate = "1 Gbps", delay = "300 us" }]
""" + "".join(
    f'[[traffic]]\nname = "{name}"\nfrom = "sender"\nto = "receiver"\n'
    f'kind = "disk-copy"\nsize = "50 MB"\nstreams = 4\nstart = "{start} s"\n'
    for name, start in (("a", 0), ("b", 2), ("c", 4), ("d", 6))
)


def rates(line: str) -> list[float]:
    """The rates in Gb/s that a sentence names."""
    scale = {"Gb/s": 1.0, "Mb/s": 1e-3}
    return [float(words.split()[0]) * scale[words.split()[1]] for words in line.split(": ")[1].split("; ")]


@pytest.mark.parametrize("every", ["100 us", "1 ms", "5 ms"])
def test_goodput_around_a_change_is_of_bytes_not_of_samples(every: str) -> None:
    """The two stretches of 20 and 40 ms, weighed by their time, give the goodput of the table."""
    run = el.run(FABRIC, set={"record.every": every})
    (line,) = (line for line in answer(run) if line.startswith("Goodput of all flows together"))
    before, after = rates(line)
    whole = measures.statistic(run, "goodput_bps.sum") * 1e-9
    assert (20 * before + 40 * after) / 60 == pytest.approx(whole, rel=0.01)


def test_rates_of_short_flows_are_not_added() -> None:
    """Each flow over its own time gives far more than what all delivered over the common one."""
    run = el.run(FABRIC)
    together = measures.statistic(run, "delivered_bps.sum")
    assert together == pytest.approx(measures.statistic(run, "goodput_bps.sum"), rel=0.05)
    assert float(np.sum(measures.MEASURES["delivered_bps"].values(run))) > 10 * together


@pytest.mark.parametrize("control", ["reno", "cubic", "bbr", "bbr3"])
def test_what_arrived_before_the_warm_up_ended_is_not_measured(control: str) -> None:
    """A port of 100 Mb/s brings 94.9 Mb/s of payload with timestamps at most, whatever fills which hole (1448 of 1538 bytes)."""
    run = el.run(SLOW_START, set={"traffic.bulk.congestion_control": control})
    assert measures.statistic(run, "goodput_bps.sum") <= 94.2e6
    assert run.summary["goodput_bps"] == measures.statistic(run, "goodput_bps.sum")


@pytest.mark.parametrize("every", [None, "3 ms"])
def test_goodput_is_the_same_with_and_without_samples(every: str | None) -> None:
    changes: dict[str, Any] = {} if every is None else {"record.every": every}
    plain = SLOW_START.replace('[record]\nevery = "10 ms"\n', "")
    run = el.run(plain, set=changes)
    assert measures.statistic(run, "goodput_bps.sum") == measures.statistic(el.run(SLOW_START), "goodput_bps.sum")


def test_transfers_after_each_other_have_the_rate_of_one() -> None:
    """Four files of 50 MB, 2 s apart, each over in 0.43 s: 935 Mb/s while any of them runs, and not four times that."""
    run = el.run(COPIES)
    each = run.copies.column("rate_bps").to_pylist()
    assert measures.statistic(run, "copy_bps.sum") == pytest.approx(np.mean(each), rel=1e-3)
    assert run.summary["copies"]["rate_bps"] == pytest.approx(np.mean(each), rel=1e-3)
    said = " ".join(answer(run))
    assert "16 of 16 streams of transfers from disk to disk completed" in said
    assert "4 transfers from disk to disk ran at 935 Mb/s together while any of them ran" in said


def test_shares_are_of_the_time_that_flows_share() -> None:
    """Two Renos on one path, the second from 5 s on: of 10 s the second has at most half the time, of the shared 5 s its share."""
    text = SLOW_START.replace('"2 s"', '"10 s"').replace('warmup = "1 s"\n', "")
    late = '[[traffic]]\nname = "late"\nfrom = "sender"\nto = "receiver"\nkind = "bulk"\nstart = "5 s"\n[record]'
    text = text.replace("[record]", late)
    run = el.run(text)
    time, total = (run.flow_samples.column(name).to_numpy() for name in ("time_ns", "delivered_bytes"))
    flow = run.flow_samples.column("flow").to_numpy()
    got = [float(total[(flow == one)][-1] - np.interp(5e9, time[flow == one], total[flow == one], left=0.0)) for one in (0, 1)]
    expected = sum(got) ** 2 / (2 * sum(one**2 for one in got))
    assert measures.statistic(run, "goodput_bps.jain") == pytest.approx(expected, rel=1e-3)
    assert "(from 5 s)" in " ".join(answer(run))
    with pytest.raises(InputError, match=r"the flows share the time from 5 s to 10 s only: set record\.every"):
        measures.statistic(el.run(text.replace('[record]\nevery = "10 ms"', "")), "goodput_bps.jain")


def test_statistics_say_which_port_and_which_time_they_are_of() -> None:
    run = el.run(SLOW_START)
    assert measures.time_of(run, "goodput_bps.sum") == "after the warm-up"
    assert measures.time_of(run, "drops.sum") == "whole run"
    assert measures.time_of(run, "utilisation.max") == "after the warm-up"
    assert measures.place_of(run, "utilisation.max") == "router[0]->receiver"
    assert measures.place_of(run, "drops.sum") == ""
    assert measures.time_of(el.run(SLOW_START, set={"warmup": "0 s"}), "drops.sum") == ""
    assert "pauses_sent.sum" not in measures.usual(run)


def test_statistics_by_size() -> None:
    """Web-search transfers (sizes of Alizadeh et al. 2010) by their size: what a table filtered by hand gives."""
    run = el.run(FABRIC)
    sizes, times = (run.flows.column(name).to_numpy(zero_copy_only=False) for name in ("size_bytes", "fct_ns"))
    done = ~np.isnan(times)
    for condition, chosen in (
        ("size < 100 KB", sizes < 100e3),
        ("size >= 100 KB", sizes >= 100e3),
        ("size > 10 KB, size <= 1 MB", (sizes > 10e3) & (sizes <= 1e6)),
    ):
        assert measures.statistic(run, f"fct_ns[{condition}].count") == (chosen & done).sum()
        assert measures.statistic(run, f"fct_ns[{condition}].mean") == pytest.approx(times[chosen & done].mean())
    assert measures.statistic(run, "fct_ns[size < 100 KB].count") > 10
    with pytest.raises(InputError, match='"much" is not a size'):
        measures.statistic(run, "fct_ns[size < much].mean")


@pytest.mark.parametrize("transport", ["tcp", "roce"])
def test_slowdown_by_size(transport: str) -> None:
    """Percentiles of the slowdown in bins of sizes, as HPCC (SIGCOMM 2019) shows them: what a table filtered by hand gives."""
    reroute = 'reroute = "5 ms"\n'
    words = FABRIC.split("[[change]]")[0].replace(reroute, "") + f'transport = "{transport}"\n'
    run = el.run(words.replace("web-search", "cache-follower"))
    sizes, slowdowns = (run.flows.column(name).to_numpy(zero_copy_only=False) for name in ("size_bytes", "slowdown"))
    for low, high in ((0, 1e3), (1e3, 1e5), (1e5, 1e8)):
        values = slowdowns[(sizes > low) & (sizes <= high) & ~np.isnan(slowdowns)]
        assert values.size > 10
        for take, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            found = measures.statistic(run, f"slowdown[size > {low:g} B, size <= {high:g} B].{take}")
            assert found == pytest.approx(stats.quantiles(values, [q])[0])
            assert found >= 1
