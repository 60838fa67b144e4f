"""Two captures of one transfer: clocks, one-way delays and fates of packets against what the simulation did to them."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import elephan as el
import pytest
import two_places
from elephan import cli
from elephan.base.errors import InputError
from elephan.capture.pair import Pair
from elephan.open import load
from elephan.report.figure.trace_figures import draw_all

HOUR_NS = 3_600_000_000_000
LOSS = "loss = { periodic = 100 }"


def pair_of(*files: Path, **options: object) -> Pair:
    trace = el.analyze(list(files), **options)  # type: ignore[arg-type]
    assert trace.pair is not None
    return trace.pair


def fates(pair: Pair, **chosen: str) -> dict[str, int]:
    """How many packets went where."""
    found: dict[str, int] = {}
    for row in pair.losses.to_pylist():
        if all(row[name] == value for name, value in chosen.items()):
            found[row["fate"]] = found.get(row["fate"], 0) + 1
    return found


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> tuple[el.Run, Path, Path]:
    return two_places.captured(tmp_path_factory.mktemp("lossy"), forward=LOSS + ', packets = "data"')


def test_clocks_hours_apart_are_aligned(lossy: tuple[el.Run, Path, Path], tmp_path: Path) -> None:
    _, near, far = lossy
    other = two_places.moved(far, tmp_path / "far.pcapng", 5 * HOUR_NS + 12_345_678, ppm=31.0)
    pair = pair_of(near, other)
    clock = pair.clock
    assert clock is not None
    # Both ways are 10 ms long, and a frame of 1514 bytes takes 0.6 ms longer than an ACK: the SYN and the ACKs alone are alike.
    first = two_places.packets(far)[0].time_ns
    middle = 5 * HOUR_NS + 12_345_678 + 31e-6 * (clock.at_ns - first)
    assert clock.offset_ns == pytest.approx(middle, abs=clock.offset_error_ns + 20_000)
    assert clock.drift_ppm == pytest.approx(31.0, abs=max(clock.drift_error_ppm, 0.1))
    assert clock.offset_bound_ns == pytest.approx(10.0e6, rel=0.05)
    assert pair.there is not None
    assert pair.back is not None
    assert pair.there.min_ns + pair.back.min_ns == pytest.approx(20.1e6, rel=0.01)


def test_each_lost_packet_is_found_once(lossy: tuple[el.Run, Path, Path]) -> None:
    run, near, far = lossy
    flow = run.flows.to_pylist()[0]
    lost = sum(row["lost"] + row["drops"] for row in run.ports.to_pylist())
    pair = pair_of(near, far)
    assert pair.retransmitted == flow["segs_retrans"]
    assert fates(pair) == {"between": lost}
    assert (pair.lost_before, pair.lost_behind, pair.missed_near, pair.missed_far) == (0, 0, 0, 0)
    assert pair.lost_between + pair.needless == flow["segs_retrans"]


def test_the_order_of_the_files_does_not_matter(lossy: tuple[el.Run, Path, Path]) -> None:
    _, near, far = lossy
    one, other = el.analyze([near, far]), el.analyze([far, near])
    assert one.pair is not None
    assert other.pair is not None
    assert (one.pair.near, one.pair.far) == (other.pair.near, other.pair.far) == ("sender.pcapng", "receiver.pcapng")
    assert one.connections.equals(other.connections)
    assert one.pair.losses.equals(other.pair.losses)
    assert one.connections.equals(el.analyze(near).connections)


def test_packets_that_a_capture_dropped_were_not_lost(lossy: tuple[el.Run, Path, Path], tmp_path: Path) -> None:
    _, near, far = lossy
    lost = fates(pair_of(near, far))["between"]
    pair = pair_of(near, two_places.without(far, tmp_path / "far.pcapng", {50, 51, 800, 1200}))
    assert fates(pair) == {"between": lost, "missed_far": 4}
    pair = pair_of(two_places.without(near, tmp_path / "near.pcapng", {60, 900}), far)
    assert fates(pair) == {"between": lost, "missed_near": 2}


def test_segments_of_64_kb_are_matched_by_their_bytes(lossy: tuple[el.Run, Path, Path], tmp_path: Path) -> None:
    _, near, far = lossy
    plain = pair_of(near, far)
    big = two_places.offloaded(near, tmp_path / "near.pcapng", 60_000)
    assert len(two_places.packets(big)) < 0.8 * len(two_places.packets(near))
    pair = pair_of(big, two_places.offloaded(far, tmp_path / "far.pcapng", 20_000))
    lost = [sum(row["size_bytes"] for row in one.losses.to_pylist()) for one in (pair, plain)]
    assert lost[0] == lost[1]
    assert pair.connections["matched_bytes"][0] == plain.connections["matched_bytes"][0]


def test_asymmetric_delays_have_a_certain_sum(tmp_path: Path) -> None:
    _, near, far = two_places.captured(tmp_path, there="5 ms", back="35 ms")
    pair = pair_of(near, far)
    assert pair.clock is not None
    # Equal least delays are assumed: 20 ms each. The true ones are 5 and 35 ms, within the bound of 20 ms.
    assert pair.clock.offset_ns == pytest.approx(-15e6, rel=0.02)
    assert pair.clock.offset_bound_ns == pytest.approx(20e6, rel=0.02)
    assert pair.there is not None
    assert pair.there.min_ns == pytest.approx(20e6, rel=0.02)


def test_a_queue_is_on_one_way_only(tmp_path: Path) -> None:
    _, near, far = two_places.captured(tmp_path, forward='queue = { kind = "fifo", limit = "100 p" }')
    pair = pair_of(near, far)
    assert pair.there is not None
    assert pair.back is not None
    # 100 packets of 1534 bytes at 20 Mb/s are 61 ms.
    assert pair.there.max_ns - pair.there.min_ns == pytest.approx(61e6, rel=0.05)
    assert pair.back.max_ns - pair.back.min_ns < 1e6


def test_what_never_reaches_the_first_place_was_lost_before_it(tmp_path: Path) -> None:
    """Captures on the link behind the one that loses packets, and at the receiver."""
    text = two_places.scenario(forward=LOSS + ', packets = "data"')
    text = text.replace('captures = ["sender", "receiver"]', 'captures = ["b->receiver", "receiver->b", "receiver", "sender"]')
    run = el.run(text, out=tmp_path / "run", pcap=True, report=False)
    files = {file.stem: file for file in run.captures}
    near, far = files["sender"], files["receiver"]
    # A host whose own queue loses packets: its capture shows what left the queue, which is what the path delivered.
    gone = {(row["seq_bytes"], row["frame"]) for row in pair_of(near, far).losses.to_pylist()}
    frames = {frame for _, frame in gone}

    def change(all: list[two_places.Packet]) -> list[two_places.Packet]:
        return [packet for number, packet in enumerate(all, 1) if number not in frames]

    pair = pair_of(two_places.rewritten(near, tmp_path / "near.pcapng", change), far)
    assert fates(pair) == {"before": len(frames)}
    assert pair.lost_before == pair.retransmitted == len(frames)


def test_other_addresses_behind_a_nat(lossy: tuple[el.Run, Path, Path], tmp_path: Path) -> None:
    _, near, far = lossy
    plain = pair_of(near, far)
    inside = two_places.packets(near)[0].source

    def change(all: list[two_places.Packet]) -> list[two_places.Packet]:
        outside, port = bytes([192, 0, 2, 1]), struct.pack(">H", 61_000)
        own = [packet.source == inside for packet in all]
        return [
            packet.patched(12, outside).patched(20, port) if sent else packet.patched(16, outside).patched(22, port)
            for packet, sent in zip(all, own, strict=True)
        ]

    pair = pair_of(near, two_places.rewritten(far, tmp_path / "far.pcapng", change))
    assert (pair.matched, fates(pair)) == (plain.matched, fates(plain))


def test_reordered_and_duplicated_packets_are_not_lost(tmp_path: Path) -> None:
    forward = 'reorder = { share = 0.02, extra = "3 ms" }'
    run, near, far = two_places.captured(tmp_path, forward=forward)
    drops = sum(row["lost"] + row["drops"] for row in run.ports.to_pylist())
    pair = pair_of(near, far)
    assert fates(pair) == ({"between": drops} if drops else {})


def test_parts_of_one_capture_stay_one(lossy: tuple[el.Run, Path, Path], tmp_path: Path) -> None:
    _, near, _ = lossy
    half = len(two_places.packets(near)) // 2
    first = two_places.rewritten(near, tmp_path / "1.pcapng", lambda all: all[:half])
    second = two_places.rewritten(near, tmp_path / "2.pcapng", lambda all: all[half:])
    trace = el.analyze([second, first])
    assert trace.pair is None
    assert trace.connections.equals(el.analyze(near).connections)
    with pytest.raises(InputError, match="have no packets in common"):
        el.analyze([first, second], two_places=True)


def test_files_that_are_no_pair_are_one_line(
    lossy: tuple[el.Run, Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _, near, far = lossy
    with pytest.raises(InputError, match="the same packets at the same times: give one of them"):
        el.analyze([near, near])
    with pytest.raises(InputError, match="two files, not 3"):
        el.analyze([near, far, near], two_places=True)
    assert el.analyze([near, far], two_places=False).pair is None
    asked = ["analyze", str(near), str(far), "--two-places", "--one-capture", "--out", str(tmp_path / "out")]
    assert cli.status_of(asked) == 2
    assert capfd.readouterr().err.strip().count("\n") == 0


def test_the_command_and_its_folder(lossy: tuple[el.Run, Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, near, far = lossy
    out = tmp_path / "out"
    assert cli.status_of(["analyze", str(near), str(far), "--json", "--out", str(out)]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["summary"]["pair"]["near"] == "sender.pcapng"
    loaded = load(out)
    assert isinstance(loaded, el.Trace)
    assert loaded.pair is not None
    assert loaded.pair.losses.num_rows == told["summary"]["pair"]["lost_between"]
    assert "one-way-delay" in {drawing.name for drawing in draw_all(loaded)}


def test_one_direction_has_no_offset(lossy: tuple[el.Run, Path, Path], tmp_path: Path) -> None:
    _, near, far = lossy
    data = [
        two_places.rewritten(file, tmp_path / file.name, lambda all: [replace(p) for p in all if p.payload > 0])
        for file in (near, far)
    ]
    pair = pair_of(*data)
    assert pair.clock is None
    assert "is not known" in " ".join(pair.told)
