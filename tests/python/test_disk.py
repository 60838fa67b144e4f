"""Disks by hand, closed forms of copies, and `elephan measure disk` with a fio that only says what it was asked."""

import json
import math
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import elephan as el
import pytest
from elephan.base.errors import InputError
from elephan.capture import fio as diskmeasure
from elephan.cli import status_of
from waiting import PATIENCE_S

FAKE = """#!{python}
import json, os, sys, time
if "--version" in sys.argv:
    print("fio-3.99"); sys.exit()
args = dict(a[2:].split("=", 1) for a in sys.argv[1:] if "=" in a)
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(json.dumps(args) + "\\n")
if os.environ.get("FAKE_FAILS"):
    print("fio: something broke", file=sys.stderr); sys.exit(1)
open(args["filename"], "ab").close()
time.sleep(float(os.environ.get("FAKE_SLEEP", "0")))
# 1 ms a request beside 100 MB/s
bs = int(args["bs"])
bw = 50e6 if args["rw"] == "write" else bs / (1e-3 + bs / 100e6)
print(json.dumps({{"jobs": [{{args["rw"]: {{"bw_bytes": int(bw)}}}}]}}))
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A fio on PATH that measures nothing; the folder to measure, and what fio was asked."""
    tools, disk = tmp_path / "tools", tmp_path / "disk"
    tools.mkdir(), disk.mkdir()
    program = tools / "fio"
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    log = tmp_path / "log"
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_LOG", str(log))
    # No real device is touched.
    monkeypatch.setattr(diskmeasure._Device, "SYSFS", tmp_path / "no-devices")
    return disk, lambda: [json.loads(line) for line in log.read_text().splitlines()]


def test_a_disk_by_hand():
    disk = el.disk.Disk(profile="icp-66x4", raid="raid5", cache="100 MB")
    assert (disk.read_rate, disk.write_rate) == (804e6, 538e6)
    assert disk.read(0.0, 100.5e6) == pytest.approx(1.0)
    cached, on_disk = disk.write(0.0, 67.25e6)
    assert (cached, on_disk) == (0.0, pytest.approx(1.0))
    assert disk.cached_bytes(0.5) == pytest.approx(33.625e6, abs=1)
    # 67.25 MB more do not fit: 34.5 MB must be on the disk first.
    assert disk.write(0.0, 67.25e6)[0] == pytest.approx(34.5e6 * 8 / 538e6)
    disk.read(1.0, 1)
    with pytest.raises(el.InputError, match="must not go back"):
        disk.read(0.5, 1)
    with pytest.raises(el.InputError, match='neither a measured array nor a file; did you mean "icp-66x4"'):
        el.disk.Disk(profile="icp-66x5")
    with pytest.raises(el.InputError, match="give a profile, or read and write"):
        el.disk.Disk(read="1 Gbps")
    # Numbers are seconds, bytes and bit/s.
    disk = el.disk.Disk(read=800e6, write=1e6, read_ahead=100_000, latency=1e-3, block=4096)
    assert disk.read_rate == 400e6 == el.theory.read_ahead_rate(800e6, 100e3, 1e-3)
    assert el.disk.parameters(disk)["latency"] == "1 ms"


def test_closed_forms():
    assert el.theory.socket_buffer_rate("600 kB", "6 ms") == pytest.approx(800e6)
    assert el.theory.socket_buffer_rate("64 kB", "6 ms") == pytest.approx(85.33e6, rel=1e-4)
    assert el.theory.copy_rate("1066 Mbps", "941 Mbps", "538 Mbps") == 538e6
    assert el.theory.copy_rate(600e6, 300e6, 200e6, overlapped=False) == pytest.approx(100e6)
    assert el.theory.cache_full_after("100 MB", "800 Mbps", "400 Mbps") == pytest.approx(2.0)
    # With a cache the disk writes while the next block comes: 1 / (1/600 + 1/300) = 200, or what it writes.
    assert el.theory.copy_rate(600e6, 300e6, 900e6, overlapped=False, cached=True) == pytest.approx(200e6)
    assert el.theory.copy_rate(600e6, 300e6, 150e6, overlapped=False, cached=True) == 150e6
    assert math.isinf(el.theory.cache_full_after("100 MB", "400 Mbps", "400 Mbps"))


def test_a_profile_is_measured_and_read(fake, tmp_path, capsys):
    disk, asked = fake
    out = tmp_path / "mine.toml"
    windows = "64KiB,256KiB,1MiB"
    assert status_of(["measure", "disk", str(disk), "--size", "4MiB", "--read-ahead", windows, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "writes 400 Mb/s" in printed
    assert "profile:" in printed
    found = tomllib.loads(out.read_text())
    assert (found["format"], found["write"], found["file_size"]) == ("elephan-disk-1", "400.000 Mbps", "4 MiB")
    # 64 KiB: 65536 / (1 ms + 0.65536 ms) = 39.590 MB/s
    assert found["read_points"][0] == {"read_ahead": "64 KiB", "rate": "316.721 Mbps"}
    assert [one["rw"] for one in asked()] == ["write", "read", "read", "read"]
    assert [one["bs"] for one in asked()] == ["1048576", "65536", "262144", "1048576"]
    assert asked()[0]["end_fsync"] == "1"
    assert asked()[1]["direct"] == "1"
    assert list(disk.iterdir()) == []
    # The scenario reads it, relative to its own folder; 128 KiB is halfway between 64 and 256 KiB.
    again = el.disk.Disk(profile=str(out), read_ahead="128 KiB")
    low, high = (el.disk.Disk(profile=str(out), read_ahead=f"{kib} KiB").read_rate for kib in (64, 256))
    assert again.read_rate == pytest.approx((low + high) / 2, rel=1e-6)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    run = el.run(tmp_path / "scenario.toml")
    assert run.summary["copies"]["rate_bps"] == pytest.approx(400e6, rel=0.02)
    # Again over the same file: it is ours. Over another: refused.
    assert status_of(["measure", "disk", str(disk), "--size", "4MiB", "--read-ahead", "1MiB", "--out", str(out)]) == 0
    out.write_text("mine = true\n")
    assert status_of(["measure", "disk", str(disk), "--out", str(out)]) == 2
    assert out.read_text() == "mine = true\n"


SCENARIO = """
duration = "2 s"
warmup = "500 ms"

[hosts.a]

[hosts.b]
disk = { profile = "mine.toml", cache = "0 B" }

[[links]]
between = ["a", "b"]
rate = "1 Gbps"
delay = "50 us"

[[traffic]]
kind = "disk-copy"
from = "a"
to = "b"
"""


def test_what_cannot_be_measured(fake, tmp_path, monkeypatch, capsys):
    disk, _ = fake

    def line(*arguments: str) -> str:
        status = status_of(["measure", "disk", *arguments, "--out", str(tmp_path / "p.toml")])
        assert status in (1, 2)
        (said,) = capsys.readouterr().err.splitlines()
        return said

    assert line(str(tmp_path / "none")).endswith("not a folder; name one on the disk that is to be measured")
    assert "1 PiB" not in line(str(disk), "--size", "900 TiB")
    assert "too little for a file of" in line(str(disk), "--size", "900 TiB")
    assert line(str(disk), "--size", "1 KiB").startswith("elephan: size: 1 KiB is too little")
    assert line(str(disk), "--size", "much").startswith("elephan: size:")
    assert line(str(disk), "--read-ahead", "1 KB,x").startswith("elephan: read-ahead:")
    assert line(str(disk), "--read-ahead", "1000 B") == "elephan: read-ahead: 1000 B is not a multiple of 4 KiB"
    assert line(str(disk), "--size", "1 MiB", "--read-ahead", "2 MiB") == "elephan: size: 1 MiB is too little; at least 2 MiB"
    assert line(str(disk), "-n", "0", "--size", "1 MiB").startswith("elephan: repetitions: 0")
    monkeypatch.setenv("FAKE_FAILS", "1")
    assert line(str(disk), "--size", "1 MiB") == "elephan: fio failed (write): fio: something broke"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert line(str(disk), "--size", "1 MiB") == "elephan: fio is not installed; on Debian and Ubuntu: apt-get install fio"
    assert list(disk.iterdir()) == []
    assert [one.name for one in tmp_path.glob("*p.toml*")] == []
    assert status_of(["measure", "disk", str(disk), "--out", str(tmp_path / "none" / "p.toml")]) == 2
    assert capsys.readouterr().err.endswith("not a place for a file\n")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_measurement_leaves_nothing(fake, tmp_path, how):
    disk, asked = fake
    code = "import sys; from elephan.cli import status_of; sys.exit(status_of(sys.argv[1:]))"
    arguments = ["measure", "disk", str(disk), "--size", "1 MiB", "--out", str(tmp_path / "p.toml")]
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], env={**os.environ, "FAKE_SLEEP": "60"})
    deadline = time.monotonic() + 60
    while not (tmp_path / "log").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(disk.iterdir()) != []
    process.send_signal(how)
    assert process.wait(PATIENCE_S) == 130
    assert list(disk.iterdir()) == []
    assert not (tmp_path / "p.toml").exists()
    assert len(asked()) == 1


def test_the_read_ahead_of_a_device_is_put_back(fake, tmp_path, monkeypatch):
    """A device of which the read-ahead can be set: each window is set, and what was there is there again, also after a failure."""
    disk, asked = fake
    number = os.stat(disk).st_dev
    sysfs = tmp_path / "sys"
    queue = sysfs / f"{os.major(number)}:{os.minor(number)}" / "queue"
    queue.mkdir(parents=True)
    (queue / "read_ahead_kb").write_text("128\n")
    monkeypatch.setattr(diskmeasure._Device, "SYSFS", sysfs)
    seen = []
    before = diskmeasure._Device.set
    monkeypatch.setattr(diskmeasure._Device, "set", lambda self, window: (seen.append(window), before(self, window))[1])
    done = diskmeasure.measure(disk, size="4 MiB", windows=["64 KiB", "4 MiB"], repetitions=2)
    assert seen == [65_536, 131_072, 4 * 2**20]
    assert (queue / "read_ahead_kb").read_text() == "128\n"
    assert done.read_ahead == 128 * 1024
    assert "read-ahead of the device" in done.tool
    assert [one["rw"] for one in asked()] == ["write"] * 2 + ["read"] * 6
    assert {one["direct"] for one in asked()[2:]} == {"0"}
    monkeypatch.setattr(diskmeasure._Fio, "read", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        diskmeasure.measure(disk, size="2 MiB", windows=["64 KiB"])
    assert (queue / "read_ahead_kb").read_text() == "128\n"
    assert list(disk.iterdir()) == []


def test_small_files_leave_out_large_windows(fake):
    disk, asked = fake
    done = diskmeasure.measure(disk, size="1 MiB")
    assert [point.read_ahead for point in done.points] == [2**k for k in range(15, 21)]
    assert len(asked()) == 7


def test_names_that_mean_something_to_others(fake, tmp_path):
    """A colon separates files for fio, which is started in the folder; TOML has no surrogates."""
    disk, asked = fake
    (disk / "nas").write_text("mine")
    odd = disk / 'nas:share "\U0001f418\x7f'
    odd.mkdir()
    out = tmp_path / "odd.toml"
    assert status_of(["measure", "disk", str(odd), "--size", "1 MiB", "--read-ahead", "64KiB", "--out", str(out)]) == 0
    assert {one["filename"] for one in asked()} == {"data"}
    assert (disk / "nas").read_text() == "mine"
    assert list(odd.iterdir()) == []
    assert tomllib.loads(out.read_text())["path"] == str(odd)
    strange = diskmeasure.Measured("/\udcff", None, "fio", "now", 1, 1, 1e6, None, ())
    assert tomllib.loads(strange.toml())["path"] == "/?"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_the_real_fio(tmp_path):
    done = diskmeasure.measure(tmp_path, size="32 MiB", windows=["128 KiB", "1 MiB"])
    assert done.write > 1e6
    assert all(point.rate > 1e6 for point in done.points)
    assert done.tool.startswith("fio-")
    (tmp_path / "p.toml").write_text(done.toml())
    disk = el.disk.Disk(profile=str(tmp_path / "p.toml"))
    assert disk.write_rate == pytest.approx(done.write, rel=1e-3)
    assert [one.name for one in Path(tmp_path).iterdir()] == ["p.toml"]


def test_a_copy_is_told_and_drawn():
    run = el.run("disk-to-disk", set={"duration": "3 s", "hosts.sink.disk.cache": "50 MB", "traffic.copy.streams": 2})
    from elephan.report.figure.run_figures import draw
    from elephan.report.words.answer import answer

    drawing = draw(run)
    assert drawing.name == "copy"
    said = " ".join(answer(run))
    assert "The transfer from disk to disk ran at" in said
    assert "limited by the disk that is written" in said
    assert el.measures.statistic(run, "copy_on_disk_bps.sum") == pytest.approx(538e6, rel=0.03)
    shares = [f"copy_{stage}_limited.mean" for stage in ("read", "network", "send_buffer", "receive_buffer", "write")]
    assert sum(el.measures.statistic(run, share) for share in shares) == pytest.approx(1.0)
    assert el.measures.statistic(run, "copy_bps[copy].count") == 1
    with pytest.raises(InputError, match='"other": the run has no such traffic; it has: copy'):
        el.measures.statistic(run, "copy_bps[other].count")
    # A copy that begins after the last sample has nothing to draw.
    late = el.run("disk-to-disk", set={"duration": "100 ms", "record.every": "30 ms", "traffic.copy.start": "95 ms"})
    from elephan.report.figure.run_figures import REGISTRY, View

    assert not REGISTRY["copy"].possible(View(late))
