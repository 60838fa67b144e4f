"""A real disk, measured with fio: how fast it writes, and how fast it reads with several read-ahead windows.

A file of `size` bytes is written in requests of `block` bytes and flushed (fio: `rw=write`, `end_fsync=1`), then read from
beginning to end once for each window, without what the system has kept of it (`invalidate=1`). Where the rights allow, the
window is the device's own read-ahead (`/sys/.../queue/read_ahead_kb`, what `blockdev --setra` sets), which is put back
afterwards and whose own value is one of the windows; else each window is read in single requests of so many bytes past the
cache (`direct=1`), which is the equation of the model taken literally, R(A) = A / (L + A / R); where the file system has no such
requests either, as it is, one point. The file is removed whatever happens.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan.base.errors import ElephanError, InputError
from elephan.base.progress import Bar, bar
from elephan.base.quantity import show, size_bytes

FORMAT = "elephan-disk-1"
WINDOWS = ("32 KiB", "64 KiB", "128 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB")
_SPARE = 0.05  # of the file system, that a measurement does not use up
_LEAST_BYTES = 1 << 20
_PAGE_BYTES = 4096  # what requests past the cache, and read-ahead, are multiples of
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_MISSING = "fio is not installed; on Debian and Ubuntu: apt-get install fio"


@dataclass(frozen=True)
class Point:
    """A read-ahead window in bytes and the rate of sequential reads with it in bit/s."""

    read_ahead: int
    rate: float


@dataclass(frozen=True)
class Measured:
    """A measured disk. Rates are bit/s, sizes bytes."""

    path: str
    device: str | None
    tool: str
    taken: str
    size: int
    block: int
    write: float
    read_ahead: int | None
    points: tuple[Point, ...]

    def toml(self) -> str:
        """The profile that `disk = { profile = "FILE" }` of a scenario reads."""
        lines = [
            f"# Measured by `elephan measure disk`; `disk = {{ profile = ... }}` of a host reads it. {self.tool}",
            f'format      = "{FORMAT}"',
            f"path        = {_text(self.path)}",
            *([f"device      = {_text(self.device)}"] if self.device else []),
            f"tool        = {_text(self.tool)}",
            f'taken       = "{self.taken}"',
            f'file_size   = "{_size(self.size)}"',
            f'block       = "{_size(self.block)}"',
            f'write       = "{_rate(self.write)}"',
            *([f'read_ahead  = "{_size(self.read_ahead)}"'] if self.read_ahead else []),
            "read_points = [",
            *(f'    {{ read_ahead = "{_size(p.read_ahead)}", rate = "{_rate(p.rate)}" }},' for p in self.points),
            "]",
        ]
        return "\n".join(lines) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """For machines: sizes in bytes, rates in bit/s."""
        return {
            "format": FORMAT,
            "path": self.path,
            "device": self.device,
            "tool": self.tool,
            "taken": self.taken,
            "file_size": self.size,
            "block": self.block,
            "write_bps": self.write,
            "read_ahead": self.read_ahead,
            "read_points": [{"read_ahead": p.read_ahead, "rate_bps": p.rate} for p in self.points],
        }


def _size(value: int) -> str:
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value % factor == 0:
            return f"{value // factor} {unit}"
    return f"{value} B"


def _text(value: str) -> str:
    """A basic string of TOML: what it cannot hold (names that are not UTF-8) is shown as a question mark."""
    shown = value.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(shown, ensure_ascii=False).replace("\x7f", "\\u007f")


def _rate(bps: float) -> str:
    return f"{bps / 1e6:.3f} Mbps"


def measure(
    path: str | os.PathLike[str],
    *,
    size: str | int = "1 GiB",
    block: str | int = "1 MiB",
    windows: Sequence[str | int] | None = None,
    repetitions: int = 1,
    progress: bool = False,
) -> Measured:
    """Measures the disk below the folder `path`; of several `repetitions` of each point the median.

    `windows`: read-ahead windows; without them those of `WINDOWS` that are not larger than the file.

    Raises InputError where nothing can be measured: no folder, too little space, no fio; ElephanError where fio fails.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; name one on the disk that is to be measured")
    wanted, request = _bytes("size", size), _bytes("block", block)
    if windows is None:
        windows = [window for window in WINDOWS if size_bytes(window) <= max(wanted, _LEAST_BYTES)]
    chosen = sorted({_bytes("read-ahead", window) for window in windows})
    if not chosen:
        raise InputError("read-ahead: no window to measure")
    least = max(_LEAST_BYTES, request, chosen[-1])
    if wanted < least:
        raise InputError(f"size: {_size(wanted)} is too little; at least {_size(least)}")
    for name, value in (("block", request), *(("read-ahead", window) for window in chosen)):
        if value % _PAGE_BYTES:
            raise InputError(f"{name}: {_size(value)} is not a multiple of {_size(_PAGE_BYTES)}")
    if repetitions < 1:
        raise InputError(f"repetitions: {repetitions}: must be at least 1")
    _check_space(folder, wanted)
    fio = shutil.which("fio")
    if fio is None:
        raise ElephanError(_MISSING)
    with _terminated_as_interrupted(), _work_folder(folder) as work:
        job = _Fio(fio, work, wanted)
        with bar("writing", 2 + len(chosen), progress) as shown:
            return _measure(job, folder, request, chosen, repetitions, shown)


def _measure(job: _Fio, folder: Path, block: int, windows: list[int], repetitions: int, shown: Bar) -> Measured:
    # Of the first write the file system makes the room; it is there in the others.
    write = statistics.median(job.write(block, shown, repetition / repetitions) for repetition in range(repetitions))
    device = _Device.below(folder)
    points, method = [], "read-ahead of the device"
    with device.kept() if device else _nothing() as settable:
        direct = not settable and job.has_direct()
        if settable and device and device.read_ahead and device.read_ahead <= job.size:
            windows = sorted({*windows, device.read_ahead})
        elif not settable:
            method = "direct requests of each window" if direct else "as it is"
            windows = windows if direct else [device.read_ahead if device and device.read_ahead else block]
        for done, window in enumerate(windows, 1):
            if settable and device:
                device.set(window)
            request = window if direct else min(block, window)
            rates = [
                job.read(request, direct, (shown, done + n / repetitions, f"reading, {_size(window)}")) for n in range(repetitions)
            ]
            points.append(Point(window, statistics.median(rates)))
    return Measured(
        path=str(folder),
        device=device.name if device else None,
        tool=f"{job.version()}, {method}",
        taken=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        size=job.size,
        block=block,
        write=write,
        read_ahead=device.read_ahead if device else None,
        points=tuple(points),
    )


def _bytes(name: str, value: str | int) -> int:
    try:
        found = size_bytes(value)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
    if not 512 <= found <= 2**50:
        raise InputError(f"{name}: {value}: must be from 512 B to 1 PiB")
    return round(found)


def _check_space(folder: Path, wanted: int) -> None:
    space = shutil.disk_usage(folder)
    room = space.free - _SPARE * space.total
    if wanted > room:
        free = show(float(space.free), "bytes")
        raise InputError(f"{folder}: {free} free, too little for a file of {_size(wanted)} and {_SPARE:.0%} to spare; say --size")


@contextmanager
def _nothing() -> Iterator[bool]:
    yield False


@contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    """A folder that is gone afterwards, whatever happens."""
    try:
        work = Path(tempfile.mkdtemp(prefix=".elephan-measure-", dir=folder))
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None
    try:
        yield work
    finally:
        with _undisturbed():
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM, and a terminal that goes away, clean up as Ctrl-C does."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with _handled(interrupt):
        yield


def _undisturbed() -> AbstractContextManager[None]:
    """What cleans up is not interrupted."""
    return _handled(signal.SIG_IGN)


@contextmanager
def _handled(handler: Any) -> Iterator[None]:
    """The signals that end a program are handled so; outside the main thread they cannot be, and are as they were."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


class _Device:
    """The block device below a folder, and its read-ahead."""

    SYSFS = Path("/sys/dev/block")

    def __init__(self, name: str, file: Path) -> None:
        self.name, self._file = name, file
        self.read_ahead = self._read()

    @classmethod
    def below(cls, folder: Path) -> _Device | None:
        number = os.stat(folder).st_dev
        link = cls.SYSFS / f"{os.major(number)}:{os.minor(number)}"
        if not link.exists():
            return None
        place = link.resolve()
        # A partition has its queue at the device.
        for one in (place, place.parent):
            if (file := one / "queue" / "read_ahead_kb").is_file():
                return cls(f"/dev/{place.name}", file)
        return None

    def _read(self) -> int | None:
        try:
            return int(self._file.read_text()) * 1024 or None
        except (OSError, ValueError):
            return None

    def set(self, window: int) -> None:
        self._file.write_text(f"{max(1, window // 1024)}\n")

    @contextmanager
    def kept(self) -> Iterator[bool]:
        """Whether the read-ahead can be set; afterwards it is what it was."""
        try:
            before = self._file.read_text()
            self._file.write_text(before)
        except OSError:
            yield False
            return
        try:
            yield True
        finally:
            with _undisturbed():
                self._file.write_text(before)


class _Fio:
    """fio on one file of a folder. It works in there: a name with a colon would be several files to it."""

    NAME = "data"

    def __init__(self, program: str, folder: Path, size: int) -> None:
        self._program, self._folder, self.size = program, folder, size

    def version(self) -> str:
        return subprocess.run([self._program, "--version"], capture_output=True, text=True, check=False).stdout.strip() or "fio"

    def write(self, block: int, shown: Bar, done: float) -> float:
        """Rate in bit/s of writing the whole file to the disk."""
        shown.set(done, "writing")
        return self._rate("write", [f"--bs={block}", "--end_fsync=1"])

    def has_direct(self) -> bool:
        """Whether the file system reads past its cache."""
        flag = getattr(os, "O_DIRECT", 0)
        try:
            os.close(os.open(self._folder / self.NAME, os.O_RDONLY | flag))
        except OSError:
            return False
        return bool(flag)

    def read(self, request: int, direct: bool, told: tuple[Bar, float, str]) -> float:
        """Rate in bit/s of reading the whole file in requests of so many bytes."""
        shown, done, label = told
        shown.set(done, label)
        return self._rate("read", [f"--bs={request}", f"--direct={int(direct)}", "--invalidate=1"])

    def _rate(self, way: str, options: list[str]) -> float:
        command = [
            self._program,
            "--name=elephan",
            f"--filename={self.NAME}",
            f"--rw={way}",
            f"--size={self.size}",
            "--ioengine=psync",
            "--thread",
            "--output-format=json",
            *options,
        ]
        out, told, status = _run(command, self._folder)
        if status != 0:
            why = (told.strip() or out.strip()).splitlines()
            raise ElephanError(f"fio failed ({way}): {why[-1] if why else f'status {status}'}")
        try:
            job = json.loads(out[out.index("{") :])["jobs"][0]
            rate = 8.0 * float(job[way]["bw_bytes"])
        except (ValueError, KeyError, IndexError, TypeError):
            raise ElephanError(f"fio ({way}): its answer could not be read") from None
        if rate <= 0:
            raise ElephanError(f"fio ({way}): it measured nothing")
        return rate


def _run(command: list[str], folder: Path) -> tuple[str, str, int]:
    """What a program printed and its status; when we are interrupted it is ended first."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True, cwd=folder) as process:
        try:
            out, told = process.communicate()
        except BaseException:
            with _undisturbed():
                process.terminate()
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            raise
    return out, told, process.returncode


@contextmanager
def profile_file(out: Path) -> Iterator[Path]:
    """A new file beside `out`, to be filled and put in its place by `write_profile`; gone afterwards if it was not.

    Raises InputError where nothing can be written, and for a file in that place that is not a profile.
    """
    if out.is_dir() or not out.parent.is_dir():
        raise InputError(f"{out}: not a place for a file")
    if out.exists():
        try:
            ours = tomllib.loads(out.read_text(encoding="utf-8")).get("format") == FORMAT
        except (OSError, ValueError):
            ours = False
        if not ours:
            raise InputError(f"{out}: exists and is not a profile of a disk; say --out")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror}") from None
    os.close(handle)
    try:
        yield Path(name)
    finally:
        with _undisturbed(), suppress(OSError):
            os.unlink(name)


def write_profile(measured: Measured, partial: Path, out: Path) -> None:
    """Writes the profile whole or not at all."""
    text = measured.toml()
    tomllib.loads(text)
    partial.write_text(text, encoding="utf-8")
    partial.chmod(0o644)
    os.replace(partial, out)
