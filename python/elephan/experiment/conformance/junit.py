"""JUnit XML of a conformance run: a suite for each area, a case for each check."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

from elephan.base.errors import InputError, OutputError, shown
from elephan.experiment.conformance.judge import FAILED, PASSED, Finding


def check_junit(path: Path) -> None:
    """Refuses a path to which nothing can be written, before minutes of runs."""
    if path.is_dir():
        raise InputError(f"--junit {path} is a folder; name a file")
    there = next(parent for parent in path.absolute().parents if parent.exists())
    if not path.exists() and not (there.is_dir() and os.access(there, os.W_OK)):
        raise InputError(f"--junit {path}: nothing can be written in {there}")


def write_junit(path: Path, label: str, findings: Sequence[Finding], wall_s: float) -> Path:
    """Writes the findings; a check that is not sure or not applicable counts as skipped."""
    failed = sum(one.verdict == FAILED for one in findings)
    skipped = sum(one.verdict not in (PASSED, FAILED) for one in findings)
    counts = {"tests": str(len(findings)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}
    root = ElementTree.Element("testsuites", {"name": f"elephan conformance {shown(label)}", **counts, "time": f"{wall_s:.3f}"})
    for area in dict.fromkeys(one.check.area for one in findings):
        mine = [one for one in findings if one.check.area == area]
        failed = sum(one.verdict == FAILED for one in mine)
        skipped = sum(one.verdict not in (PASSED, FAILED) for one in mine)
        counts = {"tests": str(len(mine)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}
        suite = ElementTree.SubElement(root, "testsuite", {"name": area, **counts})
        for one in mine:
            case = ElementTree.SubElement(suite, "testcase", {"classname": f"conformance.{area}", "name": one.check.id})
            if one.verdict == FAILED:
                text = [
                    one.check.title,
                    one.check.learn,
                    one.check.source,
                    one.message,
                    f"elephan run {one.story}" if one.story else one.no_story,
                ]
                failure = ElementTree.SubElement(case, "failure", {"message": shown(one.words), "type": "conformance"})
                failure.text = shown("\n".join(filter(None, text)))
            elif one.verdict != PASSED:
                ElementTree.SubElement(case, "skipped", {"message": shown(f"{one.verdict}: {one.words}")})
            else:
                ElementTree.SubElement(case, "system-out").text = shown(one.words)
    ElementTree.indent(root)
    # A link, a device or a pipe (/dev/stdout, /dev/null) is written to, never replaced.
    is_kept = path.is_symlink() or (path.exists() and not path.is_file())
    draft = path if is_kept else path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(root).write(draft, encoding="utf-8", xml_declaration=True)
        if not is_kept:
            draft.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if not is_kept:
            with suppress(OSError):  # a read-only folder has said so already
                draft.unlink(missing_ok=True)
    return path
