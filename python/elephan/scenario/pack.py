"""What a run reads of its own: guests, what they import from beside them, and programs, each as it was when it was first read.

An experiment reads a file once. What is edited while it runs is read by the next experiment. A pack travels to workers with the
jobs, so that they load what the caller's process has read, wherever they are.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
import threading
import uuid
from collections import OrderedDict
from pathlib import Path
from typing import Any

from elephan.base.errors import OutputError
from elephan.scenario.watch import Notes, signature

BESIDE_FILES = 1_000  # a program may have at most so many files in its folder and below ...
BESIDE_BYTES = 64_000_000  # ... with so many bytes, so that they can be packed
_PACKS = 4  # of other processes, which a worker keeps
_OWN = ("store.json", "manifest.json", "writer.json")  # a folder with one of them is what elephan writes, no part of a program
_here: OrderedDict[str, Pack] = OrderedDict()
_here_lock = threading.Lock()


class Pack:
    """Files by their real path, as they were first read. `name` tells the pack from all others.

    `of_one_run`: what it has loaded is thrown away with the run. `copies`: programs are started as copies, so that an experiment
    starts the same program each time.
    """

    def __init__(self, name: str = "", copies: bool = False) -> None:
        self.name, self.copies = name or uuid.uuid4().hex, copies
        self.of_one_run = False
        self.lock = threading.RLock()
        self.files: dict[Path, bytes] = {}
        self.modes: dict[Path, int] = {}  # permissions of what may be started
        self.signatures: dict[Path, tuple[int, ...]] = {}  # of the files when they were read
        self.real: dict[str, Path | None] = {}  # where an asked path leads; None if no file was there
        self.folders: dict[str, bool] = {}
        self.admitted: set[Path] = set()  # files that the caller agrees to run
        self.found: dict[tuple[str, str, str | None], Path] = {}  # what a place in a reference has led to
        self.session: dict[str, Path] = {}  # files of classes that the caller handed over, by reference: for workers
        self.beside: dict[Path, list[Path] | None] = {}  # files in the folder of a program; None if they are too many
        self.loaded: dict[Path, Any] = {}  # what this process has run of it, by file
        self.notes: dict[str, Notes] = {}  # what was read when the class of a reference was loaded and made
        self.contents: dict[Path, str] = {}
        self.known: dict[Any, Any] = {}  # what has been worked out
        self._copies: dict[Path, Path] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __reduce__(self) -> Any:
        with self.lock:
            return _arrived, (self.name, self.copies, [type(one)(one) for one in self._travelling()])

    def _travelling(self) -> list[Any]:
        """What a worker needs."""
        return [
            self.files,
            self.modes,
            self.signatures,
            self.real,
            self.folders,
            self.admitted,
            self.found,
            self.session,
            self.beside,
        ]

    def take(self, others: list[Any]) -> None:
        """Takes what the same pack knows in another process."""
        with self.lock:
            for mine, theirs in zip(self._travelling(), others, strict=True):
                mine.update(theirs)

    def anew(self) -> Pack:
        """The same files, of which nothing has been run."""
        other = Pack(self.name, self.copies)
        other.take(self._travelling())
        other.notes, other.known, other.of_one_run = self.notes, self.known, True
        return other

    def find(self, path: Path) -> Path | None:
        """The real path of a file, None if there is none; what it was when it was first asked for."""
        asked = os.path.abspath(path)
        with self.lock:
            if asked not in self.real:
                self.real[asked] = Path(os.path.realpath(asked)) if os.path.isfile(asked) else None
            return self.real[asked]

    def has_modules(self, folder: Path) -> bool:
        """Whether a folder has a module, so that it can be imported as a package."""
        asked = os.path.abspath(folder)
        with self.lock:
            if asked not in self.folders:
                self.folders[asked] = os.path.isdir(asked) and next(Path(asked).glob("*.py"), None) is not None
            return self.folders[asked]

    def read(self, path: Path) -> bytes:
        """The bytes of a file; OSError as `open` raises it."""
        with self.lock:
            real = self.find(path)
            if real is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
            if real not in self.files:
                self.signatures[real] = signature(str(real))
                with real.open("rb") as file:
                    self.modes[real] = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                    self.files[real] = file.read()
            return self.files[real]

    def notes_of(self, reference: str) -> Notes:
        """What was read when a class was loaded, and is being read when it is loaded again."""
        with self.lock:
            return self.notes.setdefault(reference, Notes())

    def content(self, program: Path) -> str:
        """A digest of a program and the files beside it."""
        with self.lock:
            if program in self.contents:
                return self.contents[program]
            parts = hashlib.sha256(self.read(program))
            for path in self.files_beside(program) or ():
                parts.update(f"\0{path.relative_to(program.parent)}\0{self.modes[self.find(path) or path]}\0".encode())
                parts.update(hashlib.sha256(self.read(path)).digest())
            return self.contents.setdefault(program, parts.hexdigest())

    def files_beside(self, program: Path) -> list[Path] | None:
        """The files in the folder of a program and below that it may read, without what elephan has written; None if too many."""
        with self.lock:
            if program not in self.beside:
                self.beside[program] = found = _beside(program)
                for path in found or ():
                    self.read(path)
            return self.beside[program]

    def touched(self, program: Path) -> set[str]:
        """The files beside a program that have changed, if its copy may read them where they are: it names its folder, or works in
        it. A file that has only grown is a log.
        """
        here = f"{program.parent}{os.sep}"
        with self.lock:
            files = {real for path in {program, *(self.files_beside(program) or ())} if (real := self.find(path)) is not None}
            works = f"{os.getcwd()}{os.sep}".startswith(here)
            if not works and not any(here.encode() in self.files[real] for real in files):
                return set()
            new = [real for real in files if signature(str(real)) != self.signatures[real]]
            return {str(real) for real in new if not _grown(real, self.files[real])}

    def copy_of(self, program: Path) -> Path:
        """A copy of a program in a private folder of this process, with the files beside it; the program itself if they are too
        many, or if this is no pack of an experiment.
        """
        with self.lock:
            beside = self.files_beside(program) if self.copies else None
            if beside is None:
                return program
            if program not in self._copies:
                self._folder = self._folder or _private()
                root = Path(tempfile.mkdtemp(dir=self._folder.name))
                for path in {program, *beside}:
                    copy = root / path.relative_to(program.parent)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(self.read(path))
                    copy.chmod(0o600 | self.modes[self.find(path) or path] & 0o777)
                self._copies[program] = root / program.name
            return self._copies[program]


def _arrived(name: str, copies: bool, parts: list[Any]) -> Pack:
    """The pack of another process: one object for all jobs that bring it, with what each of them knows."""
    with _here_lock:
        pack = _here.setdefault(name, Pack(name, copies))
        _here.move_to_end(name)
        while len(_here) > _PACKS:
            _here.popitem(last=False)
    pack.take(parts)
    return pack


def _grown(path: Path, before: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(before)) == before and file.read(1) != b""
    except OSError:
        return False


def _beside(program: Path) -> list[Path] | None:
    found: list[Path] = []
    size = 0
    for folder, below, names in os.walk(program.parent):
        if Path(folder) != program.parent and any(name in names for name in _OWN):
            below.clear()
            continue
        below[:] = sorted(name for name in below if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith(".") or not path.is_file():
                continue
            size += path.stat().st_size
            found.append(path)
            if len(found) > BESIDE_FILES or size > BESIDE_BYTES:
                return None
    return found


def _private() -> tempfile.TemporaryDirectory[str]:
    """A new folder with a random name that only this user reads, removed at the end; programs can be started in it."""
    places = [tempfile.gettempdir(), os.path.join(os.path.expanduser("~"), ".cache")]
    for place in places:
        try:
            os.makedirs(place, exist_ok=True)
            if not hasattr(os, "ST_NOEXEC") or not os.statvfs(place).f_flag & os.ST_NOEXEC:
                return tempfile.TemporaryDirectory(prefix="elephan-", dir=place, ignore_cleanup_errors=True)
        except OSError:
            continue
    raise OutputError(f"programs are started from a private folder, for which there is no room in {' or '.join(places)}")
