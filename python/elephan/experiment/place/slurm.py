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
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elephan.base.errors import ElephanError, InputError, OutputError
from elephan.experiment.store import parts

ELEMENTS = 16
ARRAY_MAX = 1001  # SLURM's default of MaxArraySize
GRACE_S = 15  # at least, between the signal and the time limit; SLURM makes up to a minute of it
PASSED = (
    "account", "constraint", "cpus-per-task", "exclude", "mail-type", "mail-user", "mem", "mem-per-cpu", "nice", "nodelist",
    "partition", "qos", "reservation", "time",
)  # fmt: skip
PATIENCE_S = 60.0  # for a command of SLURM
SILENCE_S = 600.0  # of SLURM, while a job is waited for
LOOK_S = (1.0, 10.0)  # between looks at a job: at first, and at most


@dataclass(frozen=True)
class Array:
    """The two scripts of an experiment, of its elements and of the report after them. Long arrays are submitted in pieces."""

    elements: Path
    report: Path
    count: int

    @cached_property
    def commands(self) -> list[list[str]]:
        """The commands that submit the elements, each as many as an array has here. The last word is the first element."""
        most = array_max()
        firsts = range(0, self.count, most)
        return [["sbatch", f"--array=0-{min(most, self.count - first) - 1}", str(self.elements), str(first)] for first in firsts]

    @property
    def by_hand(self) -> str:
        """What to type where `sbatch` is."""
        after = f"sbatch --dependency=singleton {shlex.quote(str(self.report))}"
        return "\n".join([*map(shlex.join, self.commands), after])

    def submit(self) -> Submitted:
        """Submits both, the report to begin when all elements have ended. If one is refused, none stays."""
        arrays: list[str] = []
        try:
            for command in self.commands:
                arrays.append(_submitted(command))
            report = _submitted(["sbatch", f"--dependency=afterany:{':'.join(arrays)}", str(self.report)])
        except BaseException:
            if arrays:
                _said(["scancel", *arrays])
            raise
        return Submitted(tuple(arrays), report, self.report.with_name(f"report-{report}.out"))


@dataclass(frozen=True)
class Submitted:
    """The numbers of the jobs, and the file that takes what the report prints."""

    arrays: tuple[str, ...]
    report: str
    output: Path

    @property
    def words(self) -> str:
        return f"array {', '.join(self.arrays)}, and {self.report} for the report"

    def wait(self) -> tuple[str, int]:
        """Waits for the report; returns what it printed and its exit status. ElephanError if SLURM ended it, or does not answer."""
        pause, answered = LOOK_S[0], time.monotonic()
        while True:
            found = _said(["scontrol", "--oneliner", "show", "job", self.report])
            state = re.search(r"\bJobState=(\w+)", found.stdout)
            if state is not None:
                answered = time.monotonic()
            if (state and state[1] not in _ALIVE) or "Invalid job id" in found.stderr:
                break
            if time.monotonic() - answered > SILENCE_S:
                raise ElephanError(f"SLURM does not answer ({_reason(found)}); {self.words}, may go on")
            time.sleep(pause)
            pause = min(1.5 * pause, LOOK_S[1])
        code = re.search(r"\bExitCode=(\d+):(\d+)", found.stdout)
        if state and state[1] not in ("COMPLETED", "FAILED"):
            raise ElephanError(f"the report, job {self.report}, ended as {state[1]}; the same command goes on")
        try:
            return self.output.read_text(encoding="utf-8", errors="replace"), int(code[1]) if code else 0
        except OSError as error:
            raise ElephanError(f"the report, job {self.report}, left no {self.output}: {error.strerror or error}") from None


_ALIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD", "STAGE_OUT", "SIGNALING")


def check(options: Sequence[str]) -> dict[str, str]:
    """The options for SLURM by name, from `KEY=VALUE`."""
    found = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or name not in PASSED or not re.fullmatch(r"[\w.:,@%/+-]+", value):
            raise InputError(f"--slurm {option}: write KEY=VALUE, with KEY one of {', '.join(PASSED)}")
        found[name] = value
    return found


def array_max() -> int:
    """The most elements that an array has here: their numbers go up to MaxArraySize - 1."""
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", _said(["scontrol", "show", "config"]).stdout, re.MULTILINE)
    return max(1, int(match[1]) if match else ARRAY_MAX)


def write(command: Sequence[str], store: Path, options: dict[str, str], elements: int) -> Array:
    """Writes the scripts for a command of elephan (its words, without where it runs) into the store."""
    parts.create(store)
    folder = store / "slurm"
    found = Array(folder / "array.sh", folder / "report.sh", elements)
    head = [f"#SBATCH --{name}={value}" for name, value in options.items()]
    # As the command `elephan`: a module in the folder of the caller is not taken for one of Python's.
    call = shlex.join([sys.executable, "-P", "-m", "elephan", *command, "--store", str(store)])
    array = [
        *head,
        f"#SBATCH {found.commands[0][1]}",
        f"#SBATCH --output={_output(folder, '%A_%a.out')}",
        f"#SBATCH --signal=B:INT@{GRACE_S}",
        f"exec {call} --workers ${{SLURM_CPUS_PER_TASK:-1}} --shard $((SLURM_ARRAY_TASK_ID + ${{1:-0}}))/{elements}",
    ]
    report = [*head, f"#SBATCH --output={_output(folder, 'report-%j.out')}", f"exec {call} --on kept"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, lines in ((found.elements, array), (found.report, report)):
            sbatch = [line for line in lines if line.startswith("#SBATCH")]
            rest = [line for line in lines if not line.startswith("#SBATCH")]
            text = ["#!/bin/bash", "#SBATCH --job-name=elephan", *sbatch, f"cd {shlex.quote(os.getcwd())} || exit 1", *rest]
            file.write_text("\n".join(text) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from None
    return found


def _output(folder: Path, name: str) -> str:
    """The path of a job's output as SLURM reads it, where `%` begins a number of the job."""
    return f'"{str(folder).replace("%", "%%")}/{name}"'


def _said(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What a command of SLURM answers; a failure without an answer is one too."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _reason(found: subprocess.CompletedProcess[str]) -> str:
    """What a command of SLURM said on standard error in one line, without the command's name."""
    lines = [re.sub(r"^\w+: (error: |fatal: )?", "", line) for line in found.stderr.strip().splitlines()]
    return "; ".join(dict.fromkeys(lines)) or "it says nothing"


def _submitted(command: Sequence[str]) -> str:
    """The number of the job that a command submits."""
    found = _said([command[0], "--parsable", *command[1:]])
    if found.returncode or not found.stdout.strip():
        raise ElephanError(f"sbatch refuses the job: {_reason(found)}")
    return found.stdout.strip().partition(";")[0]


def can_submit() -> bool:
    """Whether `sbatch` is here."""
    return shutil.which("sbatch") is not None
