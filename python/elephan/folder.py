"""Result folders: written beside their final name, renamed when whole, replaced only when they are ours.

`DIR.partial` becomes `DIR` in one rename. A result is whole without its report: where only that cannot be drawn, the tables stay.
A folder is ours if its `manifest.json` says `"format": "elephan"`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elephan.errors import ElephanError, InputError, OutputError

FORMAT = "elephan"
FORMAT_VERSION = 1


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a result folder, or None when the folder is not one."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) and manifest.get("format") == FORMAT else None


def _check_ours(folder: Path) -> None:
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: exists and is not a folder")
    if read_manifest(folder) is None and any(folder.iterdir()):
        raise InputError(f"{folder}: exists and is not a result of elephan; choose another folder")


def _check_free(partial: Path) -> None:
    """Refuses a folder that a live process is writing; what a dead one left behind may go."""
    manifest = read_manifest(partial) or {}
    if manifest.get("host") != socket.gethostname() or not isinstance(manifest.get("process"), int):
        return
    try:
        os.kill(manifest["process"], 0)
    except ProcessLookupError:
        return
    except PermissionError:
        pass
    raise InputError(f"{partial}: process {manifest['process']} is writing it; choose another folder or wait")


def _why(error: OSError, folder: Path) -> OutputError:
    return OutputError(f"cannot write {folder}: {error.strerror or error}")


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _named(target: str | os.PathLike[str]) -> Path:
    folder = Path(target)
    if folder.name in ("", ".."):
        raise InputError(f'"{target}" is not a name for a result folder; give one such as results/first')
    return folder


def check_target(target: str | os.PathLike[str]) -> None:
    """Refuses a folder that a result cannot be written to, before any work is done."""
    folder = _named(target)
    try:
        _check_ours(folder)
    except OSError as error:
        raise _why(error, folder) from None


class _Undrawn(Exception):
    """What went wrong in drawing."""


@contextmanager
def drawing() -> Iterator[None]:
    """In a result folder that is whole: what goes wrong in drawing its report does not cost the result."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise _Undrawn from error


@contextmanager
def result_folder(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives `DIR.partial` to write into; renames it to `DIR` at the end, removes it if anything goes wrong."""
    folder = _named(target)
    partial = folder.with_name(folder.name + ".partial")
    try:
        _check_ours(folder)
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
        write_json(partial / "manifest.json", mark | {"host": socket.gethostname(), "process": os.getpid()})
        yield partial
        _replace(partial, folder)
    except _Undrawn as undrawn:
        shutil.rmtree(partial / "figures", ignore_errors=True)
        (partial / "report.html").unlink(missing_ok=True)
        _replace(partial, folder)
        why = f"{type(undrawn.__cause__).__name__}: {undrawn.__cause__}"
        raise ElephanError(
            f"{folder}: the tables are written, but the report could not be drawn ({why}); please report it. "
            f"`elephan report {folder}` draws again"
        ) from undrawn.__cause__
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise _why(error, folder) from None
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _replace(partial: Path, folder: Path) -> None:
    if not folder.exists():
        partial.rename(folder)
        return
    old = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    folder.rename(old)
    try:
        partial.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def open_result(folder: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """A finished result folder and its manifest, or one line about why it is not one."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path}: no such result folder")
    manifest = read_manifest(path)
    if manifest is None:
        raise InputError(f"{path}: not a result of elephan (no manifest.json)")
    if not manifest.get("complete"):
        raise InputError(f"{path}: an unfinished result")
    if manifest.get("version") != FORMAT_VERSION:
        raise InputError(f"{path}: written in version {manifest.get('version')} of the format, this is {FORMAT_VERSION}")
    return path, manifest


def manifest_head(kind: str, name: str) -> dict[str, Any]:
    """What every complete result says of itself first: of what kind it is, and how and where it came about."""
    from elephan import core

    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "complete": True,
        "kind": kind,
        "name": name,
        "elephan": core.call("version"),
        "command": command_line(),
        "host": host(),
    }


def host() -> dict[str, Any]:
    """What a result should remember about the machine: kind, not name."""
    import platform

    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
    }


def command_line() -> str:
    """The exact command, as one would type it again."""
    import shlex

    words = list(sys.argv)
    words[0] = Path(words[0]).name
    return shlex.join(words)


def as_error(error: BaseException) -> ElephanError | None:
    """An `ElephanError` for an exception that is one or wraps an operating-system failure."""
    if isinstance(error, ElephanError):
        return error
    return OutputError(f"{error.filename or 'output'}: {error.strerror}") if isinstance(error, OSError) else None
