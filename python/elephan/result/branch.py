"""What if: other runs that go on from an instant of a run, each under changes of its own."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.progress import run_bar
from elephan.base.quantity import not_negative, seconds
from elephan.base.seed import seed_or_none
from elephan.result import folder
from elephan.result.run import Run, Tables, check_same, finish, load_run
from elephan.scenario import core
from elephan.scenario.source import open_source
from elephan.scenario.trust import Trust, trust

Changes = Mapping[str, Any]
_LONG_S = 1e7  # beyond it a picosecond is nothing


def branch(
    run: Any,
    at: str | float,
    *,
    set: Changes | Sequence[Changes] | None = None,
    seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | core.Progress = False,
    report: bool = True,
    replace: bool = False,
    python_from: Any = None,
    files_from: Any = None,
) -> Any:
    """Runs what would have come if something had changed at an instant; returns its `Run`, or a list of them for a list of changes.

    `run`: a `Run`, or whatever `elephan.run` takes. `at`: the instant, such as `"30 s"`, or a number of seconds. `set`: what
    changes then, by the paths of `[[change]]`: rates, delays, losses and queue limits of links, congestion controls. Each branch
    is a whole run: its tables begin at zero, and its scenario has one `[[change]]` more. What comes before `at` is simulated
    once for all branches of a `Run`, and kept as long as that object. It is simulated anew for an earlier `at`, and where other
    links change; branches in one list share it all the same. `out`, `progress`, `report`, `replace`, `python_from`,
    `files_from`: as for `elephan.run`; a list of changes takes no `out`. The number of events in the summary tells which ports
    could change.

    Raises InputError for what cannot change during a run, for an instant beyond its end, and for a congestion control of the
    user's that cannot be copied.

    >>> run = el.run("sawtooth", set={"duration": "30 s"})
    >>> changes = [{"links.left->right.rate": "5 Mbps"}, {"traffic.reno.congestion_control": "cubic"}]
    >>> slower, cubic = el.branch(run, "20 s", set=changes)
    >>> slower.statistic("goodput_bps.sum") < run.statistic("goodput_bps.sum")
    True
    >>> el.branch(run, "20 s").flows == run.flows
    True
    """
    several = isinstance(set, Sequence) and not isinstance(set, str)
    changes = [core.as_overrides(one) for one in (set if isinstance(set, Sequence) and several else [set])]
    if several and out is not None:
        raise InputError("out names one folder: give one table of changes, or leave out away")
    time = at if isinstance(at, str) else _text(at)
    if isinstance(run, Run):
        if seed is not None:
            raise InputError("a branch has the seed of its run")
        beginning = _beginning(run, trust(python_from, *changes, files_from=files_from))
    else:
        source = open_source(run).with_trust(python_from, *changes, files_from=files_from).packed()
        beginning = core.Beginning(source, {}, seed_or_none(seed))
    if out is not None and not replace:
        check_same(out, core.resolved_toml(beginning.source, beginning.changed(time, changes[0]), beginning.seed))
    runs = [branch_of(beginning, time, one, changes, out, progress) for one in changes]
    if out is not None and report:
        runs[0].add_report(Path(out), progress is True)
    return runs if several else runs[0]


def _beginning(run: Run, more: Trust) -> core.Beginning:
    """What branches of a run begin with, which it keeps; `more`: what their caller agrees to beside what the run's did."""
    where = run.tables.path
    source, overrides = run._origin or (open_source(where / "scenario.toml" if where else run.scenario).packed(), {})
    agreed = source.agreed.and_also(more)
    if run._beginning is None or run._beginning.source.agreed != agreed:
        run._beginning = core.Beginning(dataclasses.replace(source, agreed=agreed), overrides, run.seed)
    return run._beginning


def _text(at: Any) -> str:
    """An instant in seconds as the core takes it."""
    value = seconds(at)
    not_negative(at=value)
    return f"{round(value * 1e12)} ps" if value < _LONG_S else f"{value!r} s"


def branch_of(
    beginning: core.Beginning,
    at: str,
    set: Changes,
    siblings: Sequence[Changes],
    out: str | os.PathLike[str] | None,
    progress: bool | core.Progress,
) -> Run:
    """Returns the branch under one table of changes; `siblings`: those of branches to come from the same instant."""
    source, overrides = beginning.source, beginning.changed(at, set)

    def execute(where: Path | None) -> Any:
        with run_bar(source.stem, progress) as tick:
            return beginning.branch(at, set, siblings, str(where) if where else None, tick)

    if out is None:
        result = execute(None)
        return finish(source, overrides, result, Tables(result.tables))
    with folder.result_folder(out, "run") as partial:
        finish(source, overrides, execute(partial), Tables(path=partial)).fill(partial)
    done = load_run(out)
    done._origin = (source, overrides)
    return done
