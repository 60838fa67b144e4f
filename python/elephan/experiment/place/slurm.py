"""An experiment as a SLURM array: each element runs its share of the trials, a job after them writes the report.

A trial belongs to element `key mod n`, which is fixed when the array is submitted. Each element writes its own parts of the store,
so nothing has to run between them, and submitting again goes on with what is missing. A signal comes before the time limit, so
that an element ends with whole trials. Every option of `sbatch` passes through as it is, but those that elephan needs for itself;
whether an option is right, only the SLURM of the cluster knows.
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
OWN = {  # options of sbatch that elephan sets, and why
    "output": "elephan reads what the report prints",
    "dependency": "the report begins when the array has ended",
    "signal": "an element is told before its time limit",
    "wrap": "elephan writes the script",
    "parsable": "elephan reads the number of the job",
    "wait": "elephan's own --wait waits for the report",
    "test-only": "nothing would be submitted",
    "help": "nothing would be submitted",
    "usage": "nothing would be submitted",
    "version": "nothing would be submitted",
}
PATIENCE_S = 60.0  # for a command of SLURM
SILENCE_S = 600.0  # of SLURM, while a job is waited for
LOOK_S = (1.0, 10.0)  # between looks at a job: at first, and at most
REQUEUE_S = 300.0  # for SLURM to put a job back that it took from its node


@dataclass(frozen=True)
class Array:
    """The two scripts of an experiment, of its elements and of the report after them. Long arrays are submitted in pieces."""

    elements: Path
    report: Path
    count: int
    throttle: int | None = None  # elements that run at a time, at most; of each piece

    @cached_property
    def commands(self) -> list[list[str]]:
        """The commands that submit the elements, each as many as an array has here. The last word is the first element."""
        most, at_once = array_max(), f"%{self.throttle}" if self.throttle else ""
        lasts = {first: min(most, self.count - first) - 1 for first in range(0, self.count, most)}
        return [["sbatch", f"--array=0-{last}{at_once}", str(self.elements), str(first)] for first, last in lasts.items()]

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
        """Waits for the report; returns what it printed and its exit status. ElephanError if SLURM ended it, or does not answer.

        A job that SLURM took from its node runs again, if it may be requeued.
        """
        pause, answered = LOOK_S[0], time.monotonic()
        on_its_way = answered  # when the job was last seen to wait or to run
        while True:
            found = _said(["scontrol", "--oneliner", "show", "job", self.report])
            state = re.search(r"\bJobState=(\w+)", found.stdout)
            if state is not None:
                answered = time.monotonic()
            if "Invalid job id" in found.stderr or (state and state[1] in _ENDED):
                break
            if state and state[1] in _TAKEN:
                if "Requeue=0" in found.stdout.split() or time.monotonic() - on_its_way > REQUEUE_S:
                    break
            else:
                on_its_way = time.monotonic()
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


# The states in which a job stays. It may leave all others, also those that a later SLURM has.
_ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "DEADLINE", "OUT_OF_MEMORY", "LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED")
_TAKEN = ("PREEMPTED", "NODE_FAIL", "BOOT_FAIL")  # from its node, and put back if the job and the cluster allow it


@dataclass(frozen=True)
class Options:
    """What the caller says to SLURM: options of `sbatch` with values (None of a switch), elements and throttle of the array."""

    passed: dict[str, str | None]
    elements: int | None = None
    throttle: int | None = None

    @property
    def lines(self) -> list[str]:
        """The options as a script has them."""
        return [f"#SBATCH --{name}{'' if value is None else f'={_quoted(value)}'}" for name, value in self.passed.items()]


def _quoted(value: str) -> str:
    """A value as SLURM reads it in a script, where a space ends it and `#` begins a comment."""
    if re.fullmatch(r"[\w.:,@%/+=^*()\[\]|&!~-]+", value):
        return value
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def check(options: Sequence[str]) -> Options:
    """The options for SLURM, from `KEY=VALUE` and `KEY`. InputError for what is no option, or is elephan's own."""
    found: dict[str, str | None] = {}
    elements = throttle = None
    for option in options:
        name, equals, value = option.removeprefix("--").partition("=")
        if not re.fullmatch(r"[a-z][a-z0-9-]+", name) or (equals and not value) or not value.isprintable():
            raise InputError(f"--slurm {option}: write KEY=VALUE or KEY, as the long options of sbatch are, such as time=30:00")
        if name in OWN:
            raise InputError(f"--slurm {option}: {name} is set by elephan: {OWN[name]}")
        if name == "array":
            elements, throttle = _array(option, value)
        else:
            found[name] = value if equals else None
    return Options(found, elements, throttle)


def _array(option: str, value: str) -> tuple[int | None, int | None]:
    """How many elements an array has, and how many run at a time, as far as it says."""
    match = re.fullmatch(r"(?:0-(\d{1,6}))?(?:%(\d{1,6}))?", value)
    if match is None or not value or (match[2] is not None and int(match[2]) < 1):
        raise InputError(f"--slurm {option}: write array=%10 for at most 10 elements at a time, or array=0-99%10 for 100 of them")
    return int(match[1]) + 1 if match[1] else None, int(match[2]) if match[2] else None


def array_max() -> int:
    """The most elements that an array has here: their numbers go up to MaxArraySize - 1."""
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", _said(["scontrol", "show", "config"]).stdout, re.MULTILINE)
    return max(1, int(match[1]) if match else ARRAY_MAX)


def write(command: Sequence[str], store: Path, options: Options, elements: int) -> Array:
    """Writes the scripts for a command of elephan (its words, without where it runs) into the store."""
    parts.create(store)
    folder = store / "slurm"
    found = Array(folder / "array.sh", folder / "report.sh", elements, options.throttle)
    head = options.lines
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
