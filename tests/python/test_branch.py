"""A branch is a run of its scenario, which has one `[[change]]` more; what comes before is simulated once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.base.quantity import seconds
from elephan.scenario.source import library

CHANGED = """
duration = "4 s"
seed = 3
template = { kind = "dumbbell", pairs = 2, rate = "10 Mbps", delay = "10 ms", queue = { kind = "fifo", limit = "1 bdp" } }
traffic = [{ name = "bulk", from = "sender", to = "receiver", kind = "bulk" }]
record = { every = "10 ms", events = true }

[[change]]
at = "3 s"
set = { "links.left->right.delay" = "20 ms" }
"""


def same(one: el.Run, other: el.Run) -> None:
    """Both have the same rows, and the same figures but for the number of events, which tells which ports could change."""
    for name in one.tables:
        assert one.tables[name].equals(other.tables[name]), name
    assert {**one.summary, "events": 0} == {**other.summary, "events": 0}


@pytest.mark.parametrize("name", library())
def test_a_branch_without_a_change_in_the_middle_is_the_run(name: str) -> None:
    run = el.run(name, seed=1)
    middle = seconds(run.resolved["duration"]) / 2
    branch = el.branch(run, middle)
    same(run, branch)
    assert branch.manifest["shared_s"] == pytest.approx(middle)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"links.left->right.rate": "5 Mbps"}, '"links.left->right.rate" = "5 Mbps"'),
        (
            {"links.left->right.queue.limit": "3 p", "links.right->left.loss": {"bernoulli": 0.01}},
            '"links.left->right.queue.limit" = "3 p", "links.right->left.loss" = { bernoulli = 0.01 }',
        ),
        (
            {"links.left->right.up": False, "links.right->left.up": False},
            '"links.left->right.up" = false, "links.right->left.up" = false',
        ),
        ({"traffic.bulk.congestion_control": "bbr"}, '"traffic.bulk.congestion_control" = "bbr"'),
    ],
)
def test_a_branch_is_a_run_with_that_change(changes: dict[str, Any], text: str, tmp_path: Path) -> None:
    whole = el.run(f'{CHANGED}\n[[change]]\nat = "1500 ms"\nset = {{ {text} }}\n', out=tmp_path / "whole", report=False)
    branch = el.branch(CHANGED, "1500 ms", set=changes, out=tmp_path / "branch", report=False)
    same(whole, branch)
    for name in whole.tables:
        assert (tmp_path / f"whole/{name}.parquet").read_bytes() == (tmp_path / f"branch/{name}.parquet").read_bytes(), name
    assert branch.manifest["shared_s"] == 1.5
    same(branch, el.run(branch.scenario))  # its scenario says all


def test_a_list_of_changes_and_instants_in_any_order_are_branches_of_one_run() -> None:
    run = el.run(CHANGED)
    slower, lossy = el.branch(
        run, "2 s", set=[{"links.left->right.rate": "5 Mbps"}, {"links.left->right.loss": {"bernoulli": 0.02}}]
    )
    for at, changes, first in [
        ("2 s", {"links.left->right.rate": "5 Mbps"}, slower),
        ("2 s", {"links.left->right.loss": {"bernoulli": 0.02}}, lossy),
        ("3 s", {"links.left->right.rate": "5 Mbps"}, None),
        (1, {"links.left->right.rate": "5 Mbps"}, None),
        ("2 s", {"links.sender[0]->left.rate": "1 Mbps"}, None),
    ]:
        again = el.branch(CHANGED, at, set=changes)
        same(el.branch(run, at, set=changes), again)
        if first is not None:
            same(first, again)
    same(el.branch(run, "2 s"), run)


def test_a_branch_that_captures_is_simulated_from_its_start(tmp_path: Path) -> None:
    text = CHANGED.replace("events = true", 'events = true, captures = "hosts"')
    branch = el.branch(text, "2 s", set={"links.left->right.rate": "5 Mbps"}, out=tmp_path / "branch", report=False)
    whole = el.run(branch.scenario, out=tmp_path / "whole", report=False)
    assert "shared_s" not in branch.manifest
    assert len(branch.captures) == 4
    assert [file.read_bytes() for file in branch.captures] == [file.read_bytes() for file in whole.captures]


class Counter(el.CongestionControl):
    """Adds a segment each tenth ACK, and halves."""

    def __init__(self) -> None:
        self.acks: dict[str, int] = {"all": 0}

    def on_ack(self, ack: Any) -> None:
        self.acks["all"] += 1
        if self.acks["all"] % 10 == 0:
            self.cwnd += self.mss

    def on_congestion(self, signal: Any) -> None:
        self.cwnd = self.ssthresh = max(self.cwnd / 2, 2 * self.mss)


class Locked(Counter):
    """Holds what cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = (row for row in range(3))


def test_a_congestion_control_of_the_users_goes_on_from_its_state() -> None:
    run = el.run(CHANGED, set={"traffic.bulk.congestion_control": Counter})
    same(el.branch(run, "1 s"), run)
    assert el.branch(run, "1 s", set={"links.left->right.rate": "2 Mbps"}).summary["drops"] > run.summary["drops"]


def test_a_congestion_control_that_cannot_be_copied_is_refused_by_name() -> None:
    run = el.run(CHANGED, set={"traffic.bulk.congestion_control": Locked})
    with pytest.raises(el.ElephanError, match=r"Locked.*cannot") as refused:
        el.branch(run, "1 s")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("at", "changes", "message"),
    [
        ("4 s", {}, "at: 4 s is not before the end of the run"),
        ("soon", {}, 'at: "soon" is not a time'),
        (-1, {}, "at must be 0 or more"),
        ("2 s", {"links.left->right.rat": "1 Mbps"}, r'set: links\[1\].rat: no such key; did you mean "links\[1\].rate"'),
        ("2 s", {"duration": "9 s"}, "set: duration cannot change during a run"),
        ("2 s", {"links.left->right.rate": "fast"}, r'set: links\[1\].rate: "fast" is not a rate'),
        ("2 s", 3, "set is a dict"),
        ("2 s", [{}, 3], "set is a dict"),
        (float("nan"), {}, "at must be 0 or more"),
        (None, {}, "not a time"),
    ],
)
def test_what_cannot_be_is_one_line(at: Any, changes: Any, message: str) -> None:
    with pytest.raises(el.InputError, match=message) as refused:
        el.branch(CHANGED, at, set=changes)
    assert "\n" not in str(refused.value)


def test_a_list_takes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(el.InputError, match="one table of changes"):
        el.branch(CHANGED, "2 s", set=[{}, {}], out=tmp_path / "x")
    assert not (tmp_path / "x").exists()


class Box:
    """What both flows count in."""

    def __init__(self) -> None:
        self.acks = 0


BOX = Box()


class Sharing(Counter):
    """Counts the ACKs of all flows in one object, by a method that it keeps, in a slot."""

    __slots__ = ("every",)

    def __init__(self) -> None:
        super().__init__()
        self.every = 7
        self.box = BOX
        self.count = self.one

    def one(self) -> int:
        self.box.acks += 1
        return self.box.acks

    def on_ack(self, ack: Any) -> None:
        if self.count() % self.every == 0:
            self.cwnd += self.mss


def test_what_controllers_share_their_copies_share() -> None:
    def run() -> el.Run:
        BOX.acks = 0
        return el.run(CHANGED, set={"traffic.bulk.congestion_control": Sharing})

    whole = run()
    BOX.acks = 0
    same(el.branch(whole, "1 s"), whole)


def test_a_folder_with_another_result_is_not_replaced_without_a_word(tmp_path: Path) -> None:
    run = el.run(CHANGED, out=tmp_path / "run", report=False)
    with pytest.raises(el.InputError, match="holds the result of another"):
        el.branch(run, "1 s", set={"links.left->right.rate": "5 Mbps"}, out=tmp_path / "run")
    assert el.load(tmp_path / "run").summary == run.summary
    el.branch(run, "1 s", set={"links.left->right.rate": "5 Mbps"}, out=tmp_path / "run", replace=True, report=False)
    assert el.load(tmp_path / "run").summary != run.summary


def test_a_run_in_a_folder_keeps_its_name_and_what_it_brought_along(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text(
        "import elephan as el\nclass Near(el.CongestionControl):\n    def on_ack(self, ack):\n        self.cwnd += 100\n"
    )
    scenario = tmp_path / "near.toml"
    scenario.write_text(CHANGED.replace('kind = "bulk" }', 'kind = "bulk", congestion_control = { python = "near.py:Near" } }'))
    run = el.run(scenario, out=tmp_path / "out", report=False)
    branch = el.branch(run, "1 s")
    same(branch, run)
    assert branch.name == "near"
    assert (
        el.branch(run, "1 s", set={"traffic.bulk.congestion_control": Counter}).flows["congestion_control"][0].as_py() == "Counter"
    )
