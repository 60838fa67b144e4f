"""Result folders: written beside their final name, renamed when whole, replaced only when they are ours.

`DIR.partial` becomes `DIR` in one rename. A result is whole without its report: where only that cannot be drawn, the tables stay.
A folder is ours if its `manifest.json` says `"format": "elephan"`; its `files` are what we wrote. A folder that holds anything
else, or a result of another kind, is not replaced. `digests` has a digest of each file but those that are drawn again, and `seal`
one of the manifest itself, so that a table of another run or an edited figure is known when it is read.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib
import json
import os
import shutil
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

from elephan.base import kinds
from elephan.base.errors import ElephanError, InputError, OutputError, lacks_memory, shown
from elephan.base.paths import as_path
from elephan.base.progress import status
from elephan.base.signals import from_outside
from elephan.result.build import engine, host
from elephan.result.command import asked, command_line
from elephan.result.seal import is_sound, seal, well_typed
from elephan.scenario import core
from elephan.scenario.source import check_regular, read_json, read_object

FORMAT = "elephan"
FORMAT_VERSION = 1
_WRITER = "writer.json"  # says who writes a partial folder, until it is renamed


AGAIN = "make the result again"  # the way on from a damaged result


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a result folder, without what is no list of files or the like, or None when the folder is not one."""
    try:
        manifest = read_json(folder / "manifest.json")
    except InputError:
        return None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        return None
    return well_typed(manifest)


DRAWN = ("report.html", "figures/*.svg", "figures/*.png")
_PASSING = (*DRAWN, "runs/*/*/manifest.json", *(f"runs/*/*/{name}" for name in DRAWN))  # may be written again
_BY_FILE_MANAGERS = (".DS_Store", "Thumbs.db", "desktop.ini")


def _matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns, in none of which a star stands for a slash, is that of the whole name."""
    return any(name.count("/") == pattern.count("/") and fnmatchcase(name, pattern) for pattern in patterns)


def files(folder: Path) -> list[str]:
    """Every file in a folder by its path within it, links to folders included."""
    found = []
    for place, folders, names in os.walk(folder):
        names += [name for name in folders if os.path.islink(os.path.join(place, name))]
        found += [(Path(place) / name).relative_to(folder).as_posix() for name in names]
    return sorted(found)


def _foreign(folder: Path, manifest: dict[str, Any]) -> str | None:
    """The first file of a result folder that elephan did not write."""
    listed = manifest.get("files")
    if isinstance(listed, list):
        # The single runs of a study are results that may have been drawn since.
        written, patterns = set(map(str, listed)), tuple(f"runs/*/*/{name}" for name in DRAWN)
    else:
        kind = kinds.find(manifest.get("kind"))
        written, patterns = set(), ("manifest.json", *DRAWN, *(kind.holds if kind else ()))
    strange = (name for name in files(folder) if name not in written and not _matches(name, patterns))
    return next((name for name in strange if name.rpartition("/")[2] not in _BY_FILE_MANAGERS), None)


def _check_ours(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder that may go, None if there is nothing; InputError where it is not a result of elephan."""
    if not folder.exists() and not folder.is_symlink():
        return None
    if not folder.is_dir():
        raise InputError(f"{folder}: exists and is not a folder")
    manifest = read_manifest(folder)
    if manifest is None and any(folder.iterdir()):
        raise InputError(f"{folder}: exists and is not a result of elephan; choose another folder")
    return manifest


def _check_replaceable(folder: Path, kind: str | None) -> None:
    """Refuses to replace what the user put there, and a result of another kind (`kind`: of the new one, if it is known)."""
    manifest = _check_ours(folder)
    if manifest is None:
        return
    old = manifest.get("kind")
    if kind is not None and old is not None and old != kind:
        raise InputError(f"{folder}: holds a result of the kind {old}, not {kind}; choose another folder or remove it")
    if (foreign := _foreign(folder, manifest)) is not None:
        raise InputError(f"{folder / foreign}: not written by elephan and would be lost; move it or choose another folder")


def _complete(partial: Path, folder: Path) -> None:
    (partial / _WRITER).unlink()
    names = files(partial)
    wrote(partial, names, seals=True)
    for name in names:
        sync(partial / name)
    _replace(partial, folder)
    sync(folder.parent)


def sync(path: Path) -> None:
    """Asks the system to write a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def verify(file: Path) -> None:
    """Raises InputError if a file of a result is not what was written; a file of which no digest is known passes."""
    for folder in list(file.parents)[:4]:  # a run of a study lies three folders below its manifest
        known = (read_manifest(folder) or {}).get("digests") if (folder / "manifest.json").is_file() else None
        written = known.get(file.relative_to(folder).as_posix()) if isinstance(known, dict) else None
        if written is not None:
            check_regular(file)
            if written != _digest(file):
                raise InputError(f"{file}: damaged: it is not what elephan wrote; {AGAIN}")
            return


def _verify_words(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Checks all files of a result but its tables, which are checked when they are read."""
    for name in manifest.get("digests", {}):
        if not name.endswith((".parquet", ".pcapng")):
            if not (folder / name).is_file():
                raise InputError(f"{folder / name}: damaged: it is missing; {AGAIN}")
            verify(folder / name)


def _check_free(partial: Path) -> None:
    """Refuses a folder that a live process is writing; what a dead one left behind may go."""
    try:
        writer = read_object(partial / _WRITER)
    except InputError:
        return
    if writer.get("host") != socket.gethostname() or not isinstance(writer.get("process"), int):
        return
    if not _is_alive(writer["process"]):
        return
    raise InputError(f"{partial}: process {writer['process']} is writing it; choose another folder or wait")


def _why(error: OSError, folder: Path) -> OutputError:
    return OutputError(f"cannot write {folder}: {error.strerror or error}")


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _named(target: str | os.PathLike[str]) -> Path:
    """The folder that a result goes to; of a link, what it points to."""
    folder = as_path(target, "out")
    if folder.name in ("", ".."):
        raise InputError(f'"{target}" is not a name for a result folder; give one such as results/first')
    return Path(os.path.realpath(folder)) if folder.is_symlink() else folder


def check_target(target: str | os.PathLike[str], kind: str | None = None) -> None:
    """Refuses a folder that a result (of this kind) cannot be written to, before any work is done."""
    folder = _named(target)
    try:
        _check_replaceable(folder, kind)
    except OSError as error:
        raise _why(error, folder) from None


def holds_other(target: str | os.PathLike[str], experiment: Mapping[str, Any]) -> bool:
    """Whether a folder holds the result of another experiment: one whose manifest has other values of these keys."""
    manifest = read_manifest(_named(target)) or {}
    return any(key in manifest and asked(manifest[key]) != asked(value) for key, value in experiment.items())


def default_folder(name: str, experiment: Mapping[str, Any]) -> Path:
    """`results/NAME`, or with a few digits of the experiment behind it where that holds the result of another one."""
    folder = Path("results") / name
    if not holds_other(folder, experiment):
        return folder
    items = sorted((key, asked(value)) for key, value in experiment.items())
    digits = hashlib.sha256(repr(items).encode()).hexdigest()[:8]
    return folder.with_name(f"{name}-{digits}")


@contextmanager
def drawing(folder: Path) -> Iterator[None]:
    """For the report of a finished result: what goes wrong in drawing it does not cost the result, and is one line."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        if from_outside(error):
            raise
        short = isinstance(error, MemoryError) or lacks_memory(error)
        why = ": not enough memory" if short else f" ({type(error).__name__}: {error}); please report it"
        raise ElephanError(
            f"{folder}: the tables are written, but the report could not be drawn{why}. `elephan report {folder}` draws again"
        ) from error


@contextmanager
def result_folder(target: str | os.PathLike[str], kind: str | None = None) -> Iterator[Path]:
    """Gives `DIR.partial` to write into; renames it to `DIR` at the end, removes it if anything goes wrong.

    `kind`: of the result; a folder that holds one of another kind is refused.
    """
    folder = _named(target)
    partial = folder.with_name(folder.name + ".partial")
    try:
        _recover(folder)
        _check_replaceable(folder, kind)
        _check_ours(partial)
        _check_free(partial)
        if partial.exists():
            shutil.rmtree(partial)
        partial.mkdir(parents=True)
    except OSError as error:
        raise _why(error, folder) from None
    try:
        # marks the partial folder as ours, so that the next run may remove what a crash left behind
        mark = {"format": FORMAT, "version": FORMAT_VERSION, "complete": False}
        write_json(partial / "manifest.json", mark)
        write_json(partial / _WRITER, {"host": socket.gethostname(), "process": os.getpid()})
        yield partial
        _complete(partial, folder)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        if from_outside(error):
            raise
        raise _why(error, folder) from None
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def wrote(folder: Path, names: Iterable[str], seals: bool = False) -> None:
    """Adds files to those that the manifest of a result lists as written by us. `seals`: also a manifest that has no seal."""
    manifest = read_manifest(folder)
    if manifest is not None and isinstance(manifest.get("files", []), list):
        names = list(names)
        manifest["files"] = sorted({*manifest.get("files", []), *names})
        kept = [name for name in names if name != "manifest.json" and not _matches(name, _PASSING) and (folder / name).is_file()]
        manifest["digests"] = {**manifest.get("digests", {}), **{name: _digest(folder / name) for name in kept}}
        if seals or "seal" in manifest:
            manifest["seal"] = seal(manifest)
        whole = folder / "manifest.json.partial"
        write_json(whole, manifest)
        whole.replace(folder / "manifest.json")


def _replace(partial: Path, folder: Path) -> None:
    if not folder.exists():
        partial.rename(folder)
        return
    old = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    try:
        folder.rename(old)
        partial.rename(folder)
    finally:  # Ctrl-C may come between the two
        if not partial.exists():
            shutil.rmtree(old, ignore_errors=True)
        elif old.exists() and not folder.exists():
            old.rename(folder)


def _recover(folder: Path) -> None:
    """Ends what a process that was killed while it replaced a result has begun: the whole new result takes its place."""
    folder = Path(os.path.abspath(folder))  # "." has no name
    partial = folder.with_name(f"{folder.name}.partial")
    if not folder.exists() and (read_manifest(partial) or {}).get("complete") and not (partial / _WRITER).exists():
        partial.rename(folder)
    for old in folder.parent.glob(f"{glob.escape(folder.name)}.*.partial"):
        process = old.name[len(folder.name) + 1 : -len(".partial")]
        if process.isdigit() and not _is_alive(int(process)) and read_manifest(old) is not None:
            shutil.rmtree(old, ignore_errors=True) if folder.exists() else old.rename(folder)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def open_result(folder: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """A finished result folder and its manifest, or one line about why it is not one, or which file but a table is damaged."""
    path = as_path(folder, "result folder")
    with contextlib.suppress(OSError):
        _recover(path)
    if not path.is_dir():
        raise InputError(f"{path}: no such result folder")
    manifest = read_manifest(path)
    if manifest is None:
        if not (path / "manifest.json").exists():
            raise InputError(f"{path}: not a result of elephan (no manifest.json)")
        said = read_object(path / "manifest.json")
        raise InputError(f'{path / "manifest.json"}: "format" is {said.get("format")!r}, not "{FORMAT}": not a result of elephan')
    if not manifest.get("complete"):
        raise InputError(f"{path}: an unfinished result")
    if manifest.get("version") != FORMAT_VERSION:
        raise InputError(f"{path}: written in version {manifest.get('version')} of the format, this is {FORMAT_VERSION}")
    if not is_sound(read_object(path / "manifest.json")):
        raise InputError(f"{path / 'manifest.json'}: damaged: it is not what elephan wrote; {AGAIN}")
    _verify_words(path, manifest)
    return path, manifest


@contextmanager
def damaged(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Gives what goes wrong in reading a result as one line, if its manifest has no seal. Of a sealed one, whose files are checked,
    the error is elephan's own.
    """
    try:
        yield
    except (ElephanError, OSError, ImportError, MemoryError):
        raise
    except Exception as error:  # whatever nonsense in a file leads to
        where = Path(folder)
        if from_outside(error) or "seal" in (read_manifest(where) or {}):
            raise
        first = str(error).partition(chr(10))[0]
        why = f"no {error.args[0] if error.args else 'such entry'}" if isinstance(error, KeyError) else first
        raise InputError(f"{where}: a damaged result: {why}; {AGAIN}") from error


def manifest_head(kind: str, name: str) -> dict[str, Any]:
    """What every complete result says of itself first: of what kind it is, and how and where it came about."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "complete": True,
        "kind": kind,
        "name": name,
        "elephan": core.call("version"),
        "engine": engine(),
        "command": command_line(),
        "host": host(),
    }


class Result:
    """A result of the kind `kind`, which is declared in `elephan/open/kind` (`elephan.base.kinds`)."""

    kind: ClassVar[str]

    @property
    def failures(self) -> list[str]:
        """A line for each run that failed."""
        return list(getattr(self, "facts", {}).get("failures", []))

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        raise NotImplementedError

    def streamed(self) -> dict[str, Any]:
        """Returns the values of `as_dict`; a long list of rows may be made while it is written."""
        return self.as_dict()

    def fill(self, partial: Path) -> None:
        """Writes everything of the result's folder but the report; a manifest only if `manifest_head` is not all that it says."""
        raise NotImplementedError

    def save(self, out: str | os.PathLike[str], progress: bool = False, report: bool = True) -> Path:
        """Writes a result folder: the files of this kind, the manifest, the report; returns its path."""
        with result_folder(out, self.kind) as partial:
            self.fill(partial)
            if not (read_manifest(partial) or {}).get("complete"):
                write_json(partial / "manifest.json", manifest_head(self.kind, Path(out).name))
        if report:
            self.add_report(Path(out), progress)
        return Path(out)

    def add_report(self, folder: Path, progress: bool = False) -> None:
        """Draws the report into the finished folder of this result, which is whole without it."""
        with drawing(folder), status("drawing the report", progress):
            self.draw(folder)

    def draw(self, folder: Path, figures: bool = False) -> Path:
        """Writes the report, with `figures` each figure as SVG and PNG too, into the folder of this result."""
        before = set(files(folder))
        try:
            return self.report(folder / "report.html", folder / "figures" if figures else None)
        finally:
            if new := [name for name in files(folder) if name not in before]:
                wrote(folder, new)

    def report(self, path: str | os.PathLike[str], figures: Path | None = None) -> Path:
        """Writes the self-contained HTML report of this result, and its figures into a folder; returns the report's path."""
        page = kinds.of(self).page(self)
        return Path(importlib.import_module("elephan.report.page.page").write_page(page, Path(path), figures))

    def _repr_html_(self) -> str:
        return shown(kinds.of(self).notebook(self))
