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
