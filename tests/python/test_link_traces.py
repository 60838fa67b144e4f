"""A link that follows a trace, beside a naive model of it: every chance is looked at, every packet waits in a list."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.statistic.linktrace import read_link_trace


def packets(file: Path) -> Iterator[tuple[int, int, bytes]]:
    """Gives the packets of a capture of elephan's: time in ns, bytes of the IP packet, first bytes."""
    blob, at = file.read_bytes(), 0
    while at < len(blob):
        kind, total = struct.unpack_from("<II", blob, at)
        if kind == 6:
            _, high, low, caught, length = struct.unpack_from("<5I", blob, at + 8)
            head = blob[at + 28 : at + 28 + caught]
            yield (high << 32) + low, length, head
        at += total


def naive(chances_ms: list[int], arrivals: list[tuple[int, int]], chance: int = 1504, overhead: int = 4) -> list[int]:
    """Returns when each packet (ns, bytes) leaves a link of Mahimahi's, in ms.

    As its documentation and code say: each chance carries so many bytes of what waits, a packet may end in the next one, and what
    a chance has left when nothing waits is lost. The trace begins again at its last time stamp.
    """
    left: list[int] = []
    waiting: list[int] = []
    base, place, came = 0, 0, 0
    while len(left) < len(arrivals):
        now = base + chances_ms[place]
        place += 1
        if place == len(chances_ms):
            base, place = base + chances_ms[-1], 0
        while came < len(arrivals) and arrivals[came][0] < now * 1_000_000:
            waiting.append(arrivals[came][1] + overhead)
            came += 1
        room = chance
        while room and waiting:
            taken = min(room, waiting[0])
            room -= taken
            waiting[0] -= taken
            if waiting[0] == 0:
                waiting.pop(0)
                left.append(now)
    return left


def cellular(seconds: int, seed: int) -> list[int]:
    """Returns the chances of a link whose mean rate of 5.2 Mb/s wanders, with outages."""
    draw, rate, found = random.Random(seed), 430.0, []
    for ms in range(1, 1000 * seconds + 1):
        if ms % 200 == 0:
            rate = 0.0 if draw.random() < 0.02 else min(430 * draw.lognormvariate(-0.3, 0.8), 3000.0)
        found += [ms] * sum(draw.random() < rate / 4000 for _ in range(4))
    return found


CONTROLS = ("reno", "cubic", "bbr", "vegas")
TRAFFIC: Mapping[str, tuple[dict[str, Any], str]] = {
    **{control: ({"kind": "bulk", "congestion_control": control}, "1460 B") for control in CONTROLS},
    **{f"segments of {mss} B": ({"kind": "bulk", "congestion_control": "cubic"}, f"{mss} B") for mss in (200, 536, 900)},
    **{
        f"datagrams of {size} B": ({"kind": "cbr", "rate": "3 Mbps", "packet_size": f"{size} B"}, "1460 B")
        for size in (100, 700, 1472)
    },
}


def scenario(traffic: Mapping[str, Any], mss: str, rate: Any, seed: int) -> dict[str, Any]:
    return {
        "duration": "20 s",
        "seed": seed,
        "tcp": {"mss": mss, "receive_window": "100 kB"},
        "hosts": {"a": {}, "b": {}},
        "links": [
            {"between": ["a", "b"], "rate": "1 Gbps", "delay": "10 ms", "framing": "none", "forward": {"rate": rate}},
        ],
        "traffic": [{"name": "t", "from": "a", "to": "b", **traffic}],
    }


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", TRAFFIC)
def test_departures_are_those_of_a_naive_model(name: str, seed: int, tmp_path: Path) -> None:
    chances = cellular(9, seed)
    (tmp_path / "cell.trace").write_text("\n".join(map(str, chances)))
    words = scenario(*TRAFFIC[name], {"trace": str(tmp_path / "cell.trace")}, seed)
    run = el.run(words, out=tmp_path / "r", pcap=True, report=False, files_from=tmp_path)
    sender, receiver = run.captures
    given = [(time, size) for time, size, head in packets(sender) if head[15] == 1]
    left = [time - 10_000_000 for time, size, head in packets(receiver) if head[15] == 1]
    assert len(left) > 500
    assert [1_000_000 * ms for ms in naive(chances, given)][: len(left)] == left


def test_a_file_with_one_line_is_twelve_megabits(tmp_path: Path) -> None:
    rate = {"trace": {"text": "1\n", "chance": "1500 B", "overhead": "0 B"}}
    run = el.run(scenario({"kind": "bulk", "congestion_control": "cubic"}, "1460 B", rate, 1), report=False)
    # 1448 of 1500 bytes are payload, with time stamps.
    assert run.flows.to_pylist()[0]["goodput_bps"] == pytest.approx(12e6 * 1448 / 1500, rel=0.02)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "an empty trace"),
        ("1\n\n", ":2: an empty line"),
        ("5\n4\n", ":2: 4 ms is before the 5 ms"),
        ("0\n", ":1: the last time is 0 ms"),
        ("time_s,rate\n0,10\n", ':2: rate "10" has no unit'),
        ("time_s,speed\n0,10\n", ':1: "speed" is no column'),
    ],
)
def test_what_is_wrong_with_a_trace_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.trace").write_text(text)
    with pytest.raises(InputError) as wrong:
        el.run(scenario({"kind": "bulk"}, "1460 B", {"trace": str(tmp_path / "x.trace")}, 1), report=False, files_from=tmp_path)
    assert words in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_a_file_of_too_many_rows_is_refused(tmp_path: Path) -> None:
    """A head, two million rows, and one more on line 2,000,002."""
    file = tmp_path / "long.csv"
    file.write_text("time_ms,rate_mbps\n" + "".join(f"{ms},5\n" for ms in range(2_000_001)))
    with pytest.raises(InputError, match=r"long\.csv:2000002: more than 2000000 rows$"):
        el.run(scenario({"kind": "bulk"}, "1460 B", {"trace": str(file)}, 1), report=False, files_from=tmp_path)


HEADED = "time_s,rate_mbps,delay_ms,loss\n0,10,20,0\n"
WRONG: Mapping[str, tuple[str, str, str]] = {
    "nothing": ("rate", "", ":1: an empty trace"),
    "comments alone": ("rate", "# none\n", ":1: an empty trace"),
    "a delay of nothing": ("delay", "", ":1: an empty trace"),
    "a loss of nothing": ("loss", "", ":1: an empty trace"),
    "an empty line at the end": ("rate", "1\n2\n\n", ":3: an empty line"),
    "chances that go back": ("rate", "3\n7\n7\n6\n", ":4: 6 ms is before the 7 ms of the line before it"),
    "zeros": ("rate", "0\n0\n", ":2: the last time is 0 ms"),
    "half a millisecond": ("rate", "1\n2.5\n", ':2: "2.5" is no whole number of milliseconds'),
    "a chance below 0": ("rate", "1\n-2\n", ':2: "-2" is no whole number of milliseconds'),
    "a chance too late": ("rate", "1\n5000000000\n", ':2: "5000000000" is no whole number'),
    "chances of a delay": ("delay", "1\n2\n", ":1: Mahimahi's format has rates, no delay"),
    "chances of a loss": ("loss", "1\n2\n", ":1: Mahimahi's format has rates, no loss"),
    "a head alone": ("rate", "time_s,rate_mbps\n", ":1: a head without rows"),
    "a row alone": ("rate", "time_s,rate_mbps\n3,10\n", ":1: one row says nothing but its value"),
    "times that go back": ("rate", HEADED + "5,10,20,0\n4,10,20,0\n", ":4: time 4 s is not after that of the row before it"),
    "a time twice": ("loss", HEADED + "0,10,20,0\n", ":3: time 0 s is not after that of the row before it"),
    "a time below 0": ("rate", "time_s,rate_mbps\n-1,10\n", ":2: time -1 s is not from 0 to"),
    "a time that is none": ("rate", HEADED + "soon,10,20,0\n", ':3: "soon" is no time'),
    "a time without a unit": ("rate", "time,rate_mbps\n0 s,10\n5,10\n", ':3: time "5" has no unit'),
    "a rate without a unit": ("rate", "time_s,rate\n0,10\n", ':2: rate "10" has no unit'),
    "a delay without a unit": ("delay", "time_s,delay\n0,20\n", ':2: delay "20" has no unit'),
    "a rate in ms": ("rate", "time_s,rate\n0,10 ms\n", ':2: "10 ms" is no rate'),
    "a head in parsecs": ("rate", "time_pc,rate_mbps\n0,10\n", ':1: "time_pc" is no column of a trace'),
    "a rate below 0": ("rate", HEADED + "5,-1,20,0\n", ':3: rate "-1" is out of range'),
    "a delay below 0": ("delay", HEADED + "5,10,-1,0\n", ':3: delay "-1" is out of range'),
    "a loss above 1": ("loss", HEADED + "5,10,20,1.5\n", ':3: loss "1.5" is out of range'),
    "a loss that is none": ("loss", HEADED + "5,10,20,often\n", ':3: "often" is no share of packets'),
    "a rate that is no number": ("rate", HEADED + "5,nan,20,0\n", ':3: "nan" is no rate'),
    "too few cells": ("rate", HEADED + "5,10,20\n", ":3: 3 cells, but the head has 4"),
    "no column of times": ("rate", "rate_mbps,loss\n10,0\n", ":1: no column time"),
    "no column of delays": ("delay", "time_s,rate_mbps\n0,10\n5,10\n", ":1: no column delay"),
    "two columns of rates": ("rate", "time_s,rate_mbps,rate_kbps\n0,10,10\n", ":1: two columns rate"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_trace_has_its_file_and_line(name: str, tmp_path: Path) -> None:
    what, text, words = WRONG[name]
    file = tmp_path / "x.trace"
    file.write_text(text)
    scenario_of = scenario({"kind": "bulk"}, "1460 B", "8 Mbps", 1)
    scenario_of["links"][0]["forward"] = {what: {"trace": str(file)}}
    with pytest.raises(InputError) as wrong:
        el.run(scenario_of, report=False, files_from=tmp_path)
    assert f"{file}{words}" in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("name", [name for name, (what, _, _) in WRONG.items() if what == "rate"])
def test_a_trace_that_is_described_says_the_same(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text, words = WRONG[name]
    file = tmp_path / "x.trace"
    file.write_text(text)
    assert cli.status_of(["trace", "show", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"{file}{words}" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "last_s"),
    [
        ("1\n250", 0.25),
        ("7\n\n", 0.007),
        ("# a\ntime_ms,rate_mbps\n0,1\n1500,1\n# end\n\n", 1.5),
        ("rate,time\n1 Mbps,0 s\n1 Mbps,90 ms\n", 0.09),
        ("time_us,rate_mbps\r\n0,1\r\n50000,1\r\n", 0.05),
    ],
)
def test_a_trace_ends_with_its_last_line(text: str, last_s: float, tmp_path: Path) -> None:
    """Of "7" with an empty line behind it the core says what is wrong."""
    (tmp_path / "x.trace").write_text(text)
    if text == "7\n\n":
        with pytest.raises(InputError, match=":2: an empty line"):
            read_link_trace(tmp_path / "x.trace")
    else:
        assert read_link_trace(tmp_path / "x.trace").duration_s == pytest.approx(last_s)


def csv(rows: list[tuple[float, str, str, str]]) -> str:
    return "\n".join(["time_s,rate,delay,loss", *(f"{time},{rate},{delay},{loss}" for time, rate, delay, loss in rows)]) + "\n"


STEPS = csv([(0, "8 Mbps", "20 ms", "0"), (5, "4 Mbps", "5 ms", "10 %"), (10, "8 Mbps", "20 ms", "0")])


def datagrams(**link: Any) -> el.Run:
    """Datagrams of 1,000 B each 2 ms over a link of 8 Mb/s, unless told otherwise."""
    words = scenario({"kind": "cbr", "rate": "4 Mbps", "packet_size": "972 B", "gaps": "fixed"}, "1460 B", "8 Mbps", 1)
    words["links"][0]["forward"] |= link
    return el.run(words | {"record": {"datagrams": 10_000}}, report=False)


def test_losses_follow_a_trace() -> None:
    """From 5 to 10 s and from 15 to 20 s a tenth of the packets is lost: a twentieth of all, with a standard deviation of 0.3 %."""
    run = datagrams(loss={"trace": {"text": STEPS}})
    port = run.ports.to_pylist()[0]
    assert port["lost"] / port["tx_packets"] == pytest.approx(0.05, abs=0.01)


def test_a_delay_that_gets_shorter_lets_no_packet_overtake() -> None:
    run = datagrams(delay={"trace": {"text": STEPS}})
    port = run.ports.to_pylist()[0]
    assert (port["lost"], port["drops"]) == (0, 0)
    rows = run.datagrams.to_pylist()
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    # With fixed gaps of 2 ms, and 1 ms of transmission: until 5 s each comes 21 ms after it was sent, then 6 ms.
    took = {row["seq"]: row["time_ns"] - 2_000_000 * row["seq"] for row in rows}
    assert took[100] - took[4000] == pytest.approx(15e6, abs=1e4)


def test_a_delay_that_gets_shorter_lets_packets_overtake_if_asked() -> None:
    """A packet each 2 ms is on the wire for 1 ms. Until 5 s it comes 21 ms after it was sent, then 6 ms.

    The packet of 5.000 s comes at 5.006 s, before those of 4.986 to 4.998 s, which come from 5.007 s on. The same happens at 15 s.
    """
    run = datagrams(delay={"trace": {"text": STEPS, "reorder": True}})
    assert (run.summary["reordered"], run.summary["reordered_datagrams"], run.summary["drops"]) == (14, 14, 0)
    seqs = [row["seq"] for row in run.datagrams.to_pylist()]
    assert seqs[2493:2496] == [2500, 2493, 2501]
    assert sorted(seqs) == list(range(len(seqs)))


def test_the_share_of_the_capacity_that_is_used() -> None:
    """4 Mb/s over 6 Mb/s in the mean."""
    run = datagrams(rate={"trace": {"text": STEPS}})
    assert run.statistic("capacity_used.max") == pytest.approx(4 / 6, rel=0.01)
    full = el.run(scenario({"kind": "bulk"}, "1460 B", {"trace": {"text": "1\n"}}, 1), report=False)
    assert full.statistic("capacity_used.max") == pytest.approx(1, abs=0.01)


def test_a_fixed_rate_ends_a_trace_and_none_begins_during_a_run() -> None:
    words = scenario({"kind": "bulk"}, "1460 B", {"trace": {"text": STEPS}}, 1)
    change = {"at": "10 s", "set": {"links.a->b.forward.rate": "1 Mbps"}}
    run = el.run(words | {"change": [change]}, report=False)
    assert run.ports.to_pylist()[0]["tx_bytes"] == pytest.approx((5 * 8e6 + 5 * 4e6 + 10 * 1e6) / 8, rel=0.02)
    change = {"at": "10 s", "set": {"links.a->b.forward.rate": {"trace": {"text": "1\n"}}}}
    with pytest.raises(InputError, match="no change can begin one"):
        el.run(scenario({"kind": "bulk"}, "1460 B", "1 Mbps", 1) | {"change": [change]}, report=False)


def test_models_of_links(tmp_path: Path) -> None:
    assert el.link_trace("cellular", 5, seed=7) == el.link_trace("cellular", 5, seed=7) != el.link_trace("cellular", 5, seed=8)
    # 32 packets of 1,504 B at 300 Mb/s and 250 us, in every fourth turn.
    wifi = el.link_trace("wifi", 200).split()
    turn = 250e-6 + 32 * 8 * 1504 / 300e6
    assert 8 * 1504 * len(wifi) / 200 == pytest.approx(32 * 8 * 1504 / (4 * turn), rel=0.03)
    # Without a wall at 0 or at the top the mean is that of the parameters.
    calm = el.link_trace("cellular", 200, given={"sigma_mbps": 0.5}).split()
    assert 8 * 1504 * len(calm) / 200 == pytest.approx(6e6, rel=0.05)
    rows = [line.split(",") for line in el.link_trace("leo", 60).splitlines()[1:]]
    assert sorted({float(time) for time, _, _, loss in rows if float(loss) > 0}) == [0, 15, 30, 45]
    assert len({rate for _, rate, _, _ in rows}) == 4


def test_a_trace_is_made_and_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.status_of(["trace", "make", "cellular", "--duration", "10 s", "-s", "sigma_mbps=0.5"]) == 0
    assert cli.status_of(["trace", "show", "cellular.trace", "--json", "--out", "c.svg"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed[printed.rindex("{") :])["mean_bps"] == pytest.approx(6e6, rel=0.4)
    assert "<svg" in Path("c.svg").read_text()
    for wrong in (
        ["trace", "make", "cellula"],
        ["trace", "make", "leo", "-s", "x=1"],
        ["trace", "show", "none"],
        ["trace", "make", "leo", "-s", "y"],
    ):
        assert cli.status_of(wrong) == 2
        assert capsys.readouterr().err.count("\n") == 1
