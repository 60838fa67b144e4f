"""The transmit side of hosts: by hand, in the library's scenario, in `elephan path`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.experiment.path.disks import copied
from elephan.experiment.path.forms import bounds, closed_forms
from elephan.experiment.path.question import from_dict, read_question
from elephan.experiment.path.settings import Tuning, queue_wanted, worth_a_look
from elephan.experiment.path.verdict import Evidence, what_limits
from elephan.report.figure.run_figures import REGISTRY
from elephan.report.words.view import View
from elephan.scenario.congestion import read_controllers
from fake import PATH_TCP


def test_by_hand() -> None:
    side = el.host.Transmit(rate=1e9, txqueuelen="2 p", ring=1)
    assert [side.offer(0.0, 1250) for _ in range(5)] == [(0.0, 1e-5), (1e-5, 2e-5), (2e-5, 3e-5), (3e-5, 4e-5), None]
    assert (side.waiting(0.0), side.waiting(2.5e-5), side.refused) == ((2, 1), (0, 1), 1)
    assert el.host.parameters(side) == {"txqueuelen": "2 p", "ring": "1 p", "delay": "0 s"}


def test_a_pace_by_hand() -> None:
    side = el.host.Transmit(rate=1e9, pacing="622.08 Mbps")
    starts = [side.offer(0.0, 1538)[0] for _ in range(3)]
    assert starts == pytest.approx([0.0, 1538 * 8 / 622.08e6, 2 * 1538 * 8 / 622.08e6], abs=2e-12)
    gap = 1538 * 8 * (1 / 622.08e6 - 1 / 1e9)
    spaced = el.host.Transmit(rate=1e9, gap=gap)
    assert [spaced.offer(0.0, 1538)[0] for _ in range(3)] == pytest.approx(starts, abs=2e-12)


def test_bursts_by_hand() -> None:
    side = el.host.Transmit(rate=1e9, txqueuelen="1 p", ring="1 p", burst="4 KB")
    taken = [side.offer(0.0, 1040, payload=1000) is not None for _ in range(12)]
    # one burst on the wire and behind it two of four segments each: the first of the third burst is refused
    assert taken == [True] * 8 + [False] * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"txqueuelen": "0 p", "ring": "0 p"}, "no packet could wait"),
        ({"ring": "64 KiB"}, "a count is needed"),
        ({"pacing": "1 Gbps", "gap": "1 us"}, "keeps one of them"),
        ({"burst": "1 MiB"}, "512 KiB"),
        ({"txqueuelen": 10, "qdisc": 3}, "unknown key"),
    ],
)
def test_what_cannot_be(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        el.host.Transmit(**words)


def test_what_must_fit() -> None:
    assert el.theory.txqueuelen_needed(8000) == 4000  # slow start without delayed ACKs
    assert el.theory.txqueuelen_needed(9000, growth=1.5) == pytest.approx(3000)
    assert el.theory.txqueuelen_needed(8000, 2, nic="1 Gbps", path="622.08 Mbps") == pytest.approx(8000 * (1 - 1 / 1.24416))
    assert el.theory.txqueuelen_needed(8000, 2, nic="10 Gbps", path="1 Gbps") == 0
    assert el.theory.txqueuelen_needed(8000, 2, nic="1 Gbps", path="10 Gbps") == 4000
    with pytest.raises(ValueError, match="1 or more"):
        el.theory.txqueuelen_needed(8000, 0.5)


@pytest.mark.parametrize(
    ("room", "growth", "mbps"),
    [(356, 2, 83), (556, 2, 124), (1256, 2, 222), (2256, 2, 395), (100, 2, 47), (1000, 2, 149)],
)
def test_what_a_stall_leaves(room: int, growth: float, mbps: float) -> None:
    """Means of a minute at 100 ms by an independent model lie within; it counts slow start too, a second and a half of 60."""
    low, high = el.theory.stalled_goodput(room, "100 ms", "60 s", growth=growth)
    assert low * (1 - 1.5 / 60) <= mbps * 1e6 <= high


def test_the_scenario_of_the_library() -> None:
    run = el.run("txqueuelen", set={"duration": "8 s"})
    stalls = run.flows["send_stall"].to_pylist()[0]
    assert stalls >= 1
    assert run.events["kind"].to_pylist().count("send_stall") == stalls
    samples = run.transmit_samples
    assert max(samples["send_stalls"].to_pylist()) == stalls
    assert max(samples["found_max_packets"].to_pylist()) == 356  # 100 and 256
    drawing = REGISTRY["transmit"].draw(View(run))
    assert f"{stalls} refused in all; ticks" in drawing.caption
    roomy = el.run("txqueuelen", set={"duration": "8 s", "hosts.sender.transmit.txqueuelen": "5000 p"})
    # it is full only when the wire has been: the sender is the bottleneck, and this is its buffer
    assert roomy.flows["goodput_bps"].to_pylist()[0] > 4 * run.flows["goodput_bps"].to_pylist()[0]


def ask(rate: str, rtt: str, **more: Any) -> Any:
    tcp = PATH_TCP | more.pop("tcp", {})
    question = read_question(rate, rtt, **more)
    return question, bounds(question, tcp)


def test_what_is_slower_than_the_path() -> None:
    assert ask("1Gbps", "100ms")[1].wire_is == "wire"
    _, nic = ask("1Gbps", "100ms", host_rate="100Mbps")
    assert nic.wire_is == "NIC"
    assert nic.wire_bps == pytest.approx(el.theory.max_goodput("100 Mbps", 1500, True))
    question, paced = ask("1Gbps", "100ms", pacing="900Mbps")
    assert (paced.wire_is, question.room_packets) == ("pacing", 1256)
    assert "txqueuelen: 1000, as Linux" in question.assumed
    _, disk = ask("1Gbps", "100ms", disk_read="800Mbps", disk_write="50MB/s")
    assert (disk.disk_is, disk.disk_bps, disk.top_bps) == ("disk (writing)", 4e8, 4e8)
    assert from_dict(json.loads(json.dumps(question.as_dict()))).pacing_bps == 9e8


def test_verdicts() -> None:
    limits = ask("100Mbps", "100ms", host_rate="100Mbps", txqueuelen=100, disk_write="30Mbps")[1]
    evidence = Evidence(10.0, 62.5e6, 1.0, 6.25e6, 0.0, overflows=0, lost=0.0, stalls=3)
    assert what_limits(evidence, limits, 1, 50e6) == "disk (writing)"
    assert what_limits(evidence, limits, 1, 20e6) == "send queue"
    assert what_limits(Evidence(10.0, 62.5e6, 1.0, 6.25e6, 0.0, overflows=9, lost=0.0, stalls=3), limits, 1, 20e6) == "buffer"


def test_closed_forms_and_settings_of_the_sender() -> None:
    question, limits = ask("1Gbps", "100ms", host_rate="1Gbps", txqueuelen=100)
    forms = {form.name: form.value for form in closed_forms(question, limits)}
    window = 1e9 * 1448 / 1538 * 0.1 / 8 / 1448
    assert forms["host_queue"] == pytest.approx(window)  # full it holds W, with W on the path; half of that fills the path
    assert forms["stalled_low"] == pytest.approx((356 + 300) * 1448 * 8 / 0.1)
    lines = lines_of("1Gbps", "100ms", host_rate="1Gbps", txqueuelen=100)
    assert "ip link set dev eth0 txqueuelen 7900" in lines  # 8127 less the ring, to two digits
    assert "tc qdisc replace dev eth0 root pfifo" in lines
    # a device of 1.5 times the path leaves a quarter of the window waiting, and the queue is the path's
    question, limits = ask("1Gbps", "100ms", host_rate="1.5Gbps")
    assert {form.name: form.value for form in closed_forms(question, limits)}["host_queue"] == pytest.approx(window / 4)


def test_a_queue_that_stalls_all_the_same_is_doubled() -> None:
    question, limits = ask("1Gbps", "100ms", host_rate="1Gbps", txqueuelen=9000)
    assert queue_wanted(question, limits, stalled=False) is None
    assert queue_wanted(question, limits, stalled=True) == 19_000  # 18 512 less the ring, to two digits


def test_the_queue_that_is_advised_leaves_no_stall_in_the_way() -> None:
    """622 Mb/s and 100 ms: half of W + W fills the wire when slow start has filled a queue of one window."""
    path: dict[str, Any] = {
        "host_rate": "622 Mbps",
        "stack": "linux-2.4",
        "window": "40 MB",
        "streams": 1,
        "congestion_control": "reno",
    }
    short = el.path("622 Mbps", "100 ms", txqueuelen=100, **path)
    assert short.best.limit == "send queue"
    (line,) = [line.text for line in short.settings if "txqueuelen" in line.text]
    answer = el.path("622 Mbps", "100 ms", txqueuelen=line.rpartition(" ")[2], **path)
    assert answer.best.limit == "wire"
    assert answer.best.goodput_bps.mean > 0.95 * answer.limits.wire_bps
    assert not any("txqueuelen" in line.text for line in answer.settings)


def lines_of(rate: str, rtt: str, fq: bool = False, **more: Any) -> list[str]:
    question, limits = ask(rate, rtt, **more)
    tuning = Tuning(read_controllers("fast")[0], 1, fq=fq, txqueuelen=queue_wanted(question, limits, stalled=False))
    return [line.text for line in tuning.lines(question, limits, "")]


def test_a_queue_that_suffices_is_let_alone() -> None:
    for words in ({"rtt": "1ms"}, {"rtt": "15ms"}, {"rtt": "100ms", "txqueuelen": 8000}):
        lines = lines_of("1Gbps", host_rate="1Gbps", **words)
        assert not any("txqueuelen" in line or "qdisc" in line for line in lines), words


def test_fq_has_a_limit_of_its_own() -> None:
    lines = lines_of("6Gbps", "100ms", fq=True, host_rate="10Gbps", buffer="100KB")
    assert not any("txqueuelen" in line for line in lines)
    # 1514 of 1538 bytes; 48 765 segments
    assert "tc qdisc replace dev eth0 root fq maxrate 5906371kbit limit 49000 flow_limit 49000" in lines


def test_rings_and_offload() -> None:
    """What is not simulated is no advice, but worth a look."""

    def looks(paced: bool = False, **more: Any) -> list[str]:
        return [line.text for line in worth_a_look(ask("10Gbps", "100ms", host_rate="25Gbps", **more)[0], paced)]

    assert "ethtool -K eth0 tso off gso off" in looks(buffer="20KB")  # 64 KiB x 0.6 are more than 20 kB
    assert "ethtool -K eth0 tso off gso off" not in looks(paced=True, buffer="20KB")
    assert "ethtool -G eth0 rx 1024 tx 1024" in looks(buffer="20KB")  # a millisecond of 1.23 us, as a power of two
    assert "ethtool -G eth0 rx 1024" in looks(ring=4096)


def test_a_window_of_tcp_ends() -> None:
    """40 Gb/s and 150 ms are 750 MB, with the buffer 1.5 GB: a sysctl of Linux is an int, and a window 1 GiB."""
    question, limits = ask("40Gbps", "150ms")
    controller = read_controllers("cubic")[0]
    lines = Tuning(controller, 1).lines(question, limits, "")
    assert lines[0].text == "net.core.rmem_max = 2147483647"
    assert "use 2 streams" in lines[0].why
    assert Tuning(controller, 2).lines(question, limits, "")[0].text == f"net.core.rmem_max = {1431 * 2**20}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--txqueuelen", "many"], "not a number of packets"),
        (["--txqueuelen", "0", "--ring", "0"], "no packet could wait"),
        (["--pacing", "fast"], "pacing"),
        (["--disk-write", "-3"], "disk-write"),
    ],
)
def test_bad_words_of_path(words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = cli.status_of(["path", "--rate", "1Gbps", "--rtt", "10ms", "--out", str(tmp_path / "out"), *words])
    said = capsys.readouterr()
    assert status == 2
    assert message in said.err + said.out
    assert not (tmp_path / "out").exists()


def test_a_path_with_a_short_queue(tmp_path: Path) -> None:
    answer = el.path(
        "100 Mbps",
        "100 ms",
        host_rate="100 Mbps",
        txqueuelen=20,
        ring=20,
        size="40 MB",
        congestion_control="reno",
        streams=1,
        out=tmp_path / "out",
    )
    row = answer.rows[0]
    assert (row.limit, row.drops) == ("send queue", 0)
    assert row.stalls >= 1
    again = el.load(tmp_path / "out")
    assert again.rows[0].stalls == row.stalls
    assert "transmit = { txqueuelen" in (tmp_path / "out" / "scenario.toml").read_text()
    roomy = el.path("100 Mbps", "100 ms", host_rate="100 Mbps", size="40 MB", congestion_control="reno", streams=1)
    assert roomy.rows[0].time_s.mean < 0.8 * row.time_s.mean


def test_a_path_with_a_slow_disk() -> None:
    """What a hole that slow start tears holds back is not caught up: packet by packet (`disk-copy`, gridftp) it is 4.835 s."""
    asked: dict[str, Any] = {"disk_write": "200 Mbps", "congestion_control": "cubic", "streams": 1, "stack": "rfc"}
    row = el.path("1 Gbps", "20 ms", size="100 MB", **asked).rows[0]
    assert row.time_s.mean == pytest.approx(4.835, rel=0.01)
    assert row.limit == "buffer"  # the disk works 4 of 4.8 s
    assert "disk (writing) as a queue" in row.method
    longer = el.path("1 Gbps", "20 ms", size="1 GB", **asked)
    row = longer.rows[0]
    assert row.limit == "disk (writing)"
    assert 40.03 < row.time_s.mean < 41.5
    assert longer.curves_table.column("delivered_bytes").to_numpy()[-1] == pytest.approx(1e9)


@pytest.mark.parametrize("disk", ["disk_read", "disk_write"])
def test_a_network_that_is_now_slower_now_faster_than_the_disk(disk: str) -> None:
    """A disk of 50 MB/s, windows of 25 MB of which 5 MB are in flight, and a network at 100 and 25 MB/s by turns of 2 s: of the
    50 MB that a slow turn loses the 20 MB of the buffer come back, and the 5 MB more of the fast turn's last round trip."""
    question, limits = ask(
        "1Gbps", "100ms", size="1 GB", streams=1, tcp={"receive_window": "25 MB", "send_buffer": "25 MB"}, **{disk: "400 Mbps"}
    )
    times = np.arange(0.0, 40.01, 0.01)
    fast = (times % 4) < 2
    delivered = np.concatenate([[0.0], np.cumsum(np.where(fast[1:], 100e6, 25e6) * 0.01)])
    found = copied(question, limits, 1, times, delivered)
    done = np.interp([4.0, 8.0], found.time_s, found.written_bytes)
    assert done[1] - done[0] == pytest.approx(50e6 * 4 - 50e6 + 20e6 + 5e6, rel=0.01)


def test_beyond_the_curve_of_the_network_its_second_half_goes_on() -> None:
    """Of 10 MB/s the 5 of the disk, of 2 MB/s all."""
    question, limits = ask("1Gbps", "100ms", size="100 MB", streams=1, disk_write="40 Mbps", tcp={"receive_window": "500 KB"})
    times = np.linspace(0.0, 1.0, 11)
    found = copied(question, limits, 1, times, 10e6 * times)
    assert found.until(100e6) == pytest.approx(20.0, rel=0.01)
    slow = copied(question, limits, 1, times, 2e6 * times)
    assert slow.until(100e6) == pytest.approx(50.0, rel=0.01)
