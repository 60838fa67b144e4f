"""An experiment as a SLURM array: each element runs its share of the trials, a job after them writes the report.

A trial belongs to element `key mod n`, which is fixed when the array is submitted. Each element writes its own parts of the store,
so nothing has to run between them, and submitting again goes on with what is missing. A signal comes before the time limit, so
that an element ends with whole trials.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elephan.base.errors import ElephanError, InputError, OutputError
from elephan.experiment.store import parts

ELEMENTS = 16
ARRAY_MAX = 1001  # SLURM's default of MaxArraySize
GRACE_S = 60  # between the signal and the time limit
PASSED = ("account", "constraint", "cpus-per-task", "mem", "mem-per-cpu", "partition", "qos", "reservation", "time")
PATIENCE_S = 60.0  # for a command of SLURM


@dataclass(frozen=True)
class Array:
    """The two scripts of an array: of its elements, and of the report after them."""

    elements: Path
    report: Path

    def submit(self, wait: bool) -> str:
        """Submits both; returns what happened in a line. Without `sbatch` it says how to."""
        if shutil.which("sbatch") is None:
            return f"no sbatch here: submit {self.elements}, and {self.report} after it"
        job = _submitted(["sbatch", "--parsable", str(self.elements)])
        after = ["--wait"] if wait else []
        report = _submitted(["sbatch", "--parsable", *after, f"--dependency=afterany:{job}", str(self.report)], wait)
        return f"submitted array {job}, and {report} for the report; the same command goes on with what is missing"


def check(options: Sequence[str], elements: int) -> dict[str, str]:
    """The options for SLURM by name, from `KEY=VALUE`."""
    found = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or name not in PASSED or not re.fullmatch(r"[\w.:,@%/+-]+", value):
            raise InputError(f"--slurm {option}: write KEY=VALUE, with KEY one of {', '.join(PASSED)}")
        found[name] = value
    if not 1 <= elements <= (most := array_max()):
        raise InputError(f"--elements {elements}: an array has 1 to {most} elements here")
    return found


def array_max() -> int:
    """The most elements that an array has here."""
    if shutil.which("scontrol") is None:
        return ARRAY_MAX - 1
    try:
        text = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True, timeout=PATIENCE_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ARRAY_MAX - 1
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", text, re.MULTILINE)
    return max(1, (int(match[1]) if match else ARRAY_MAX) - 1)


def write(command: Sequence[str], store: Path, options: dict[str, str], elements: int) -> Array:
    """Writes the scripts for a command of elephan (its words, without where it runs) into the store."""
    parts.create(store)
    folder = store / "slurm"
    head = [f"#SBATCH --{name}={value}" for name, value in options.items()]
    call = shlex.join([sys.executable, "-m", "elephan", *command, "--store", str(store)])
    array = [
        *head,
        f"#SBATCH --array=0-{elements - 1}",
        f"#SBATCH --output={folder}/%A_%a.out",
        f"#SBATCH --signal=B:INT@{GRACE_S}",
        f"exec {call} --workers ${{SLURM_CPUS_PER_TASK:-1}} --shard ${{SLURM_ARRAY_TASK_ID}}/{elements}",
    ]
    report = [*head, f"#SBATCH --output={folder}/report-%j.out", f"exec {call} --on kept"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, lines in (("array.sh", array), ("report.sh", report)):
            sbatch = [line for line in lines if line.startswith("#SBATCH")]
            rest = [line for line in lines if not line.startswith("#SBATCH")]
            text = ["#!/bin/bash", "#SBATCH --job-name=elephan", *sbatch, f"cd {shlex.quote(os.getcwd())} || exit 1", *rest]
            (folder / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from None
    return Array(folder / "array.sh", folder / "report.sh")


def _submitted(command: Sequence[str], wait: bool = False) -> str:
    """The number of the job that a command of SLURM submits."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=None if wait else PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ElephanError(f"sbatch does not answer: {error}") from None
    if not done.stdout.strip():
        raise ElephanError(f"sbatch refuses the job: {done.stderr.strip().partition(chr(10))[0]}")
    return done.stdout.strip().partition(";")[0]
