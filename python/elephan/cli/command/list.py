"""What there is, with one line each; without KIND, of what there are lists."""

from collections.abc import Callable
from typing import Annotated

from elephan.base.errors import InputError, nearest
from elephan.cli.options import Json
from elephan.cli.parser import Argument
from elephan.cli.show import listing
from elephan.scenario import core

Rows = list[tuple[str, str]]


def _scenarios() -> Rows:
    from elephan.scenario.source import library

    return [(entry.name, entry.question or entry.title) for entry in library().values()]


def studies() -> Rows:
    """Returns the studies that there are, with their titles."""
    from elephan.experiment import study
    from elephan.scenario.source import studies

    return [(name, study.open_study(name).title) for name in studies()]


def _figures() -> Rows:
    from elephan.report.figure.run_figures import REGISTRY

    return [(figure.name, figure.about) for figure in REGISTRY.values()]


def _statistics() -> Rows:
    from elephan.statistic.measures import MEASURES, TAKES

    takes = ("TAKE", "one of " + ", ".join(TAKES))
    parts = (
        "MEASURE[PART].TAKE",
        "of a part of the run, conditions with commas between: NAME or NAME+NAME (traffic), to HOST, from HOST, with timeouts, "
        "without timeouts, at PORT (sw->host), during 100-400 ms",
    )
    return [*((f"{measure.name}.TAKE", measure.description) for measure in MEASURES.values()), takes, parts]


def _workloads() -> Rows:
    from elephan.bench.workloads import WORKLOADS

    return [(workload.name, workload.about) for workload in WORKLOADS.values()]


def _checks() -> Rows:
    from elephan.experiment.conformance.checks import read_checks

    return [(check.id, f"{check.title} ({check.area})") for check in read_checks()]


# What is listed, and by whom: the core knows the lists without a function.
KINDS: dict[str, tuple[str, Callable[[], Rows] | None]] = {
    "scenarios": ("what `elephan run NAME` and `elephan sweep NAME` know", _scenarios),
    "checks": ("what `elephan conformance` asks", _checks),
    "studies": ("what `elephan study run NAME` knows", studies),
    "congestion-controls": ("values of `congestion_control`", None),
    "stacks": ("values of `stack`", None),
    "queues": ("values of `queue.kind`", None),
    "traffic": ("values of `kind` in an entry of `traffic`", None),
    "templates": ("values of `template.kind`", None),
    "disks": ("values of `disk.profile`", None),
    "figures": ("what a report may draw, `run.figure(NAME)`", _figures),
    "statistics": ("what a sweep or a claim may ask for", _statistics),
    "workloads": ("what `elephan bench NAME` knows", _workloads),
}


def rows(kind: str | None) -> Rows:
    """Returns names and a line on each; without a kind the kinds."""
    if kind is None:
        return [(name, about) for name, (about, _) in KINDS.items()]
    if kind not in KINDS:
        raise InputError(f'no list "{kind}"{nearest(kind, list(KINDS))}')
    own = KINDS[kind][1]
    return own() if own else [(str(name), str(line)) for name, line in core.call("listing", kind)]


def command(
    kind: Annotated[
        str | None,
        Argument(
            metavar="KIND",
            help="scenarios, studies, congestion-controls, stacks, queues, traffic, disks, ...; all kinds if left out",
        ),
    ] = None,
    json: Json = False,
) -> None:
    listing(rows(kind), json)
