"""`elephan list KIND`."""

from __future__ import annotations

from elephan.base.errors import InputError, nearest

KINDS = {
    "scenarios": "what `elephan run NAME` and `elephan sweep NAME` know",
    "studies": "what `elephan study run NAME` knows",
    "congestion-controls": "values of `congestion_control`",
    "stacks": "values of `stack`",
    "queues": "values of `queue.kind`",
    "traffic": "values of `kind` in an entry of `traffic`",
    "templates": "values of `template.kind`",
    "disks": "values of `disk.profile`",
    "figures": "what a report may draw, `run.figure(NAME)`",
    "statistics": "what a sweep or a claim may ask for",
    "workloads": "what `elephan bench NAME` knows",
}


def rows(kind: str | None) -> list[tuple[str, str]]:
    """Names and a line on each; without a kind the kinds."""
    if kind is None:
        return list(KINDS.items())
    if kind == "scenarios":
        from elephan.scenario.source import library

        return [(entry.name, entry.question or entry.title) for entry in library().values()]
    if kind == "studies":
        from elephan.experiment import study
        from elephan.scenario.source import studies

        return [(name, study.open_study(name).title) for name in studies()]
    if kind == "figures":
        from elephan.report.figure.run_figures import REGISTRY

        return [(figure.name, figure.about) for figure in REGISTRY.values()]
    if kind == "statistics":
        from elephan.statistic.measures import MEASURES, TAKES

        takes = ("TAKE", "one of " + ", ".join(TAKES))
        parts = (
            "MEASURE[PART].TAKE",
            "of a part of the run, conditions with commas between: NAME or NAME+NAME (traffic), to HOST, from HOST, with timeouts, "
            "without timeouts, at PORT (sw->host), during 100-400 ms",
        )
        return [*((f"{measure.name}.TAKE", measure.description) for measure in MEASURES.values()), takes, parts]
    if kind == "workloads":
        from elephan.bench.workloads import WORKLOADS

        return [(workload.name, workload.about) for workload in WORKLOADS.values()]
    if kind not in KINDS:
        raise InputError(f'no list "{kind}"{nearest(kind, list(KINDS))}')
    from elephan.scenario import core

    return [(str(name), str(line)) for name, line in core.call("listing", kind)]
