"""The standard workloads: wall time, memory, and what was simulated."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from elephan.base.errors import shown
from elephan.base.quantity import show
from elephan.bench import run_bench
from elephan.bench.sweeps import RUNS
from elephan.bench.sweeps import run as run_sweeps
from elephan.cli.options import Json, whole
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.report.screen import Screen, grid


def command(
    workloads: Annotated[
        list[str] | None,
        Argument(
            metavar="[W1 W3 W4 ...]",
            help="Workloads (elephan list workloads); default: W1 to W4. sweep: many short runs, and a store.",
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        Option("--repetitions", "-n", parser=whole(1, 100_000), metavar="N", help="Runs of each; default 5, of sweep 10,000."),
    ] = None,
    against: Annotated[Path | None, Option(metavar="DIR", help="A folder of ns-3 programs to build and run beside.")] = None,
    json: Json = False,
) -> int:
    if workloads == ["sweep"]:
        found = run_sweeps(repetitions or RUNS)
        print_json(found) if json else _print_sweeps(found)
        return 0
    rows, broken = run_bench(workloads or [], repetitions, against)
    if json:
        print_json(rows)
    else:
        _print(rows)
    for line in broken:
        print(f"elephan: {shown(line)}", file=sys.stderr)
    return 1 if broken else 0


def _print_sweeps(found: Mapping[str, Any]) -> None:
    """Prints what a run costs in each place, and how long a large store takes."""
    screen = Screen()
    table = grid(f"{found['runs']} runs of 10 ms", "cores", "wall", "a run", "beside the engine")
    for row in found["places"]:
        table.add_row(row["place"], str(row["cores"]), *(show(row[key], "s", 3) for key in ("wall_s", "run_s", "beside_engine_s")))
    screen.print(table)
    for name, times in found["times_one_core"].items():
        screen.print(f"{name}: {show(times, '1', 3)} times one core", style="bold")
    store = found["store"]
    table = grid(f"a store of {store['trials']} trials, {show(store['size_bytes'], 'bytes')}", "time", "memory at most")
    for name, step in store["steps"].items():
        table.add_row(name, show(step["s"], "s"), show(step["peak_bytes"], "bytes"))
    screen.print(table)


def _slowdowns(screen: Screen, row: dict[str, Any]) -> None:
    """Prints the slowdowns of a workload by size of the transfer, if it has them."""
    classes: dict[str, list[str]] = {}
    for key, value in row.items():
        if key.startswith("slowdown "):
            label, _, _ = key.removeprefix("slowdown ").rpartition(" ")
            classes.setdefault(label, []).append(show(value, "1", 3))
    if classes:
        table = grid(f"{row['workload']}: slowdown by size", "p50", "p95", "p99")
        for label, values in classes.items():
            table.add_row(label, *values)
        screen.print(table)


def _print(rows: Sequence[dict[str, Any]]) -> None:
    """Prints the workloads, and those of ns-3 beside them."""
    screen = Screen()
    table = grid("workload", "", "wall", "per hop", "hops", "memory", "goodput", "loss", "Jain", "FCT mean", "99 %")
    for row in rows:
        hops = row["packet_hops"]
        table.add_row(
            row["workload"],
            row.get("simulator", "elephan"),
            show(row["wall_s"], "s"),
            show(row["ns_per_packet_hop"], "ns"),
            f"{show(hops / 1e6, '1')} M",
            show(row["peak_rss_bytes"], "bytes"),
            show(row["goodput_bps"], "bps", 4),
            show(row["loss_rate"], "%", 2),
            show(row["jain"], "1") if row.get("jain") is not None else "",
            show(row["fct_mean_s"], "s") if "fct_mean_s" in row else "",
            show(row["fct_p99_s"], "s") if "fct_p99_s" in row else "",
        )
    screen.print(table)
    for row in rows:
        _slowdowns(screen, row)
        if "times_slower" in row:
            whole, hop = (show(row[key], "1", 3) for key in ("times_slower", "times_slower_per_packet_hop"))
            cpu = show(row["times_slower_cpu_per_packet_hop"], "1", 3)
            line = (
                f"elephan is {whole} times as fast as ns-3, {hop} times per packet-hop ({cpu} in processor time, set-up included)"
            )
            screen.print(f"{row['workload']}: {line}", style="bold")
        if "times_beside_per_packet_hop" in row:
            ratio = show(row["times_beside_per_packet_hop"], "1", 3)
            screen.print(f"{row['workload']}: {ratio} times {row['beside']} per packet-hop, in processor time", style="bold")
