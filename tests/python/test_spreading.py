"""Congestion spreading: trees of paused ports and their victims, from real runs."""

from __future__ import annotations

import re
from pathlib import Path

import elephan as el
import pytest
from elephan.base.errors import InputError
from elephan.report.figure.run_figures import draw
from elephan.report.words.answer import answer
from elephan.report.words.spreading_table import victim_table
from elephan.report.words.view import View
from elephan.statistic import measures
from elephan.table.rows import windows


@pytest.fixture(scope="module")
def run() -> el.Run:
    return el.run("congestion-spreading")


def test_the_tree_of_the_library_scenario(run: el.Run) -> None:
    (tree,) = run.spreading()
    assert tree.root == "rack-b->hot"
    assert (tree.episodes, tree.depth) == (1, 3)
    above = {port.port: (port.parent, port.depth) for port in tree.ports}
    assert above["spine->rack-b"] == ("rack-b->hot", 1)
    assert above["rack-a->spine"] == ("spine->rack-b", 2)
    assert all(above[f"a[{i}]->rack-a"] == ("rack-a->spine", 3) for i in range(4))
    assert tree.ports[0].paused_by == "rack-b"
    assert "b[1]->rack-b" not in above
    places = [port.port for port in tree.ports]
    assert all(port.parent == tree.root or port.parent in places[:i] for i, port in enumerate(tree.ports))
    # The hotspot begins at 6 ms, and nothing is paused before.
    assert 6e6 < tree.begin_ns < 6.5e6
    paused = dict(zip(run.ports["name"].to_pylist(), run.ports["paused_ns"].to_pylist(), strict=True))
    for port in tree.ports:
        assert 0 <= paused[port.port] - port.paused_ns <= port.pause_intervals, port


def test_victims_are_who_never_went_there(run: el.Run) -> None:
    (tree,) = run.spreading()
    assert {victim.name for victim in tree.victims} == {"neighbour", "crossing"}
    assert tree.culprits == (0, 1, 2)
    by_name = {victim.name: victim for victim in tree.victims}
    crossing = by_name["crossing"]
    assert crossing.goodput_paused_bps < 0.5 * crossing.goodput_otherwise_bps
    assert by_name["neighbour"].ports == ("a[2]->rack-a",)
    neighbour = by_name["neighbour"]
    assert neighbour.goodput_otherwise_bps == pytest.approx(2e9 * 1472 / 1538, rel=0.01), "UDP payload of 2 Gb/s on the wire"
    assert neighbour.goodput_paused_bps < 0.9 * neighbour.goodput_otherwise_bps
    table = victim_table(run)
    assert table is not None
    assert {row[0].text for row in table.rows} == {"neighbour", "crossing"}
    line = answer(run)[0]
    assert "root rack-b → hot" in line
    assert "crossing (held" in line
    assert "up to 3 in a row" in line


def test_episodes_and_roots(run: el.Run) -> None:
    assert [tree.root for tree in run.spreading("episode")] == ["rack-b->hot"]
    with pytest.raises(InputError, match='by "root" or "episode"'):
        run.spreading("port")


def test_the_figures_and_a_folder(tmp_path: Path, run: el.Run) -> None:
    for name in ("pause-timeline", "pause-tree"):
        assert "rack-b" in draw(run, name).svg()
    done = el.run(
        "congestion-spreading",
        out=tmp_path / "r",
        set={"duration": "7 ms", "change": [{"at": "6 ms", "set": {"links.rack-b->hot.forward.rate": "2 Gbps"}}]},
    )
    assert done.spreading()[0].root == "rack-b->hot"
    page = (tmp_path / "r" / "report.html").read_text()
    assert "Congestion spreading" in page
    assert "neighbour" in page
    # A folder from before these tables is drawn all the same.
    for name in ("pauses", "holds"):
        (tmp_path / "r" / f"{name}.parquet").unlink()
    old = el.load(tmp_path / "r")
    assert isinstance(old, el.Run)
    assert old.spreading() == []
    old.report(tmp_path / "again.html")


def test_a_run_without_pauses_has_no_trees() -> None:
    done = el.run(
        "congestion-spreading", set={f"switches.{name}.flow_control.kind": "none" for name in ("rack-a", "spine", "rack-b")}
    )
    assert done.spreading() == []
    assert not any("root" in line for line in answer(done))
    with pytest.raises(InputError, match="pause-tree"):
        draw(done, "pause-tree")


def test_charts_name_flows_and_show_udp(run: el.Run) -> None:
    view = View(run)
    expected = ["a[0] → hot", "a[1] → hot", "a[2] → hot", "crossing", "neighbour", "bystander"]
    assert list(view.flow_names.values()) == expected
    series, _ = view.goodput_series()
    assert list(series) == expected
    # Until the receiver becomes slow at 6 ms nothing is in the way of the UDP streams.
    for name, rate in (("a[1] → hot", 3e9), ("bystander", 2e9)):
        time, goodput = series[name]
        assert goodput[(time > 1e6) & (time < 5.5e6)].mean() == pytest.approx(rate * 1472 / 1538, rel=0.02)
    assert list(view.flow_series("cwnd_bytes")) == ["crossing"]
    assert measures.statistic(run, "cwnd_bytes.count") == run.flow_samples.column("cwnd_bytes").null_count // 5
    # Shares are those of flows that answer to congestion, which is one here; goodput is that of all.
    assert measures.statistic(run, "goodput_1ms_bps.max") > 13e9
    assert windows(run, 1_000_000)[2] == [3]


def test_the_answer_tells_what_each_change_did() -> None:
    done = el.run("link-failure")
    first, *rest = answer(done)
    # Four flows go over the link, and the ACKs of one; routes are new after 50 ms, but timers ring only after 200 ms.
    assert first.startswith("leaf[0] → spine[0] was down from 500 ms to 1 s (new routes after 50 ms): 5 of 6 flows stood still")
    assert re.fullmatch(
        r"Goodput of all flows together: .* until 500 ms; .* while down \(500 ms to 1 s\); .* once up \(from 1 s\)\.", rest[0]
    )
    hot = answer(el.run("qcn-hotspot"))
    line = next(line for line in hot if line.startswith("Queue of sw → receiver"))
    assert "with rate 2 Gb/s (20 ms to 80 ms)" in line
    assert "The port sw → receiver sent " in " ".join(hot)
    victim = " ".join(answer(el.run("dcqcn-victim", set={"duration": "22 ms"})))
    assert "to one receiver " in victim
    assert "(6 flows, " in victim
    assert "the bystander " in victim
