"""The commands of `elephan` and their options. What they print is in `elephan.cli.show`."""

from __future__ import annotations

import json as json_module
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="elephan: a laboratory for the performance of TCP.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
study_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Published experiments, made executable.")
app.add_typer(study_app, name="study")
measure_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Real hardware, as profiles for the models.")
app.add_typer(measure_app, name="measure")


def _whole(least: float = -math.inf, most: float = math.inf) -> Callable[[str], int]:
    """Reads a whole number; the error tells the value and what is valid."""
    valid = "a whole number" if math.isinf(least) else f"a whole number from {least} to {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise typer.BadParameter(f"{text} is not {valid}") from None
        if not least <= number <= most:
            raise typer.BadParameter(f"{text} is not {valid}")
        return number

    return read


Scenario = Annotated[str, typer.Argument(metavar="FILE|NAME", help="A scenario file, or one of `elephan list scenarios`.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help='Change a parameter: -s switches.sw.memory="96 KiB"; may be repeated.'),
]
Seed = Annotated[
    int | None, typer.Option(parser=_whole(0, 2**63 - 1), metavar="N", help="Seed of all random draws; default: the scenario's.")
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for tables and report.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Workers = Annotated[
    int | None, typer.Option(parser=_whole(1, 1024), metavar="N", help="Runs at the same time; default: one per core.")
]


def _be_verbose(asked: bool) -> None:
    from elephan import cli

    cli.verbose = asked


Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", callback=_be_verbose, help="With the traceback of a congestion control in Python that fails."),
]


def _version(asked: bool) -> None:
    if asked:
        from elephan import core

        typer.echo(f"elephan {core.call('version')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """elephan: a laboratory for the performance of TCP."""


@app.command()
def run(
    scenario: Scenario,
    set: Set = None,
    seed: Seed = None,
    out: Out = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture packets (pcapng): at every host, or where the scenario's record.captures says.")
    ] = False,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """One run: a summary on the terminal, tables and report in a folder.

    The tables are Parquet files; elephan schema --tables says what is in them. With PAUSE or PFC the tables pauses and holds
    say which port was paused when and by whom, and whose packets waited; in Python run.spreading() makes trees of them.
    """
    from elephan import core, runs
    from elephan.cli import show
    from elephan.settings import settings
    from elephan.source import open_source

    source, changes = open_source(scenario), settings(set or [])
    resolved = core.resolve(source, changes, seed)
    folder = out or Path("results") / f"{source.stem}-{resolved['seed']}"
    done = runs.run(source, seed=seed, set=changes, out=folder, progress=True, pcap=pcap)
    if json:
        show.run_json(done, folder)
    else:
        show.run(done, folder, ignored_sweep=bool(resolved.get("has_sweep")))


@app.command()
def sweep(
    scenario: Scenario,
    set: Annotated[list[str] | None, typer.Option("--set", "-s", metavar="KEY=V1,V2", help="Change or sweep a parameter.")] = None,
    repetitions: Annotated[
        int | None,
        typer.Option("--repetitions", "-n", parser=_whole(), metavar="N", help="Runs of each variant, with paired seeds."),
    ] = None,
    seed: Seed = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            help="A statistic such as latency_ns.p99 or drops[at sw->h[0]].sum (elephan list statistics); may be repeated."
        ),
    ] = None,
    workers: Workers = None,
    out: Out = None,
    json: Json = False,
) -> int:
    """Every variant that a scenario's sweep table or -s key=v1,v2 asks for, each with the same seeds."""
    from elephan import sweeps
    from elephan.cli import show
    from elephan.folder import check_target
    from elephan.settings import axes
    from elephan.source import open_source

    source = open_source(scenario)
    folder = out or Path("results") / f"{source.stem}-sweep"
    check_target(folder, "sweep")
    done = sweeps.sweep(
        source,
        set=axes(set or []),
        repetitions=repetitions,
        seed=seed,
        statistics=statistic or (),
        workers=workers,
        out=folder,
        progress=True,
    )
    if json:
        show.sweep_json(done, folder)
    else:
        show.sweep(done, folder)
    return 1 if done.failures or done.missing else 0


@app.command()
def compare(
    laws: Annotated[str, typer.Argument(metavar="LAW,LAW...", help="Congestion controls: reno,cubic:preset=linux,mine.py:Mine.")],
    scenario: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Compare on this scenario instead of the standard panel.")
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions", "-n", parser=_whole(), metavar="N", help="Runs of each variant, with paired seeds; default 5."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs and 3 repetitions.")] = False,
    rate: Annotated[str | None, typer.Option(help="Rate of the bottleneck; default 50Mbps.")] = None,
    rtt: Annotated[str | None, typer.Option(help="Round-trip time; default 40ms.")] = None,
    buffer: Annotated[str | None, typer.Option(help='Buffer at the bottleneck, as 250KB or "1 bdp"; default 1 bdp.')] = None,
    set: Set = None,
    seed: Seed = None,
    workers: Workers = None,
    out: Out = None,
    json: Json = False,
) -> int:
    """Congestion controls side by side: alone, in pairs, with other round trips, joining, friendliness to Reno."""
    from elephan.cli import show
    from elephan.errors import InputError
    from elephan.panel import panel
    from elephan.settings import settings
    from elephan.source import open_source

    if scenario is not None and (rate or rtt or buffer or quick):
        raise InputError("--rate, --rtt, --buffer and --quick belong to the standard panel; change a scenario with -s")
    source = open_source(scenario) if scenario is not None else None
    folder = out or Path("results") / (f"compare-{source.stem}" if source else "compare")
    done = panel.compare(
        laws,
        scenario=source,
        repetitions=repetitions,
        quick=quick,
        rate=rate or panel.RATE,
        rtt=rtt or panel.RTT,
        buffer=buffer or panel.BUFFER,
        set=settings(set or []),
        seed=seed,
        workers=workers,
        out=folder,
        progress=True,
    )
    if json:
        show.compare_json(done, folder)
    elif source is not None:
        show.sweep(done, folder)
    else:
        show.compare(done, folder)
    return 1 if done.failures else 0


@app.command()
def path(
    rate: Annotated[str, typer.Option(help="Rate of the path, as 1Gbps.")],
    rtt: Annotated[str, typer.Option(help="Round-trip time, as 196ms.")],
    buffer: Annotated[str | None, typer.Option(help='Buffer at the bottleneck, as 2MB; default "1 bdp".')] = None,
    loss: Annotated[str, typer.Option(help="Share of the packets that the path loses, as 1e-6.")] = "0",
    mtu: Annotated[str, typer.Option(help="MTU in bytes.")] = "1500",
    streams: Annotated[str | None, typer.Option(metavar="N,N", help="Numbers of streams; default 1,4.")] = None,
    size: Annotated[str | None, typer.Option(help="What is transferred; default 10GB.")] = None,
    congestion_control: Annotated[
        str | None, typer.Option("--congestion-control", "-c", metavar="LAW,LAW", help="Default: the usual ones.")
    ] = None,
    stack: Annotated[str, typer.Option(help="TCP stack of the hosts, one of `elephan list stacks`.")] = "rfc",
    window: Annotated[str | None, typer.Option(help="Socket buffers, as 64KiB; default: the stack's.")] = None,
    host_rate: Annotated[
        str | None, typer.Option("--host-rate", "--nic", help="Rate of the hosts' links; default: the next of Ethernet.")
    ] = None,
    txqueuelen: Annotated[str | None, typer.Option(metavar="N", help="Packets in the sender's queue; default: no bound.")] = None,
    ring: Annotated[str | None, typer.Option(metavar="N", help="Packets in the ring of the sender's driver.")] = None,
    pacing: Annotated[str | None, typer.Option(help="Rate at which the sender's device sends, as 900Mbps.")] = None,
    disk_read: Annotated[str | None, typer.Option(help="Rate of the sender's disk, as 3Gbps or 400MB/s.")] = None,
    disk_write: Annotated[str | None, typer.Option(help="Rate of the receiver's disk.")] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions", "-n", parser=_whole(), metavar="N", help="Runs of each case; default 3, or 1 if nothing is random."
        ),
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Simulate the whole transfer, however long that takes.")] = False,
    set: Set = None,
    seed: Seed = None,
    workers: Workers = None,
    out: Out = None,
    json: Json = False,
) -> int:
    """What if, for one long path: time to transfer, what limits it, which settings help."""
    from elephan.cli import show
    from elephan.folder import check_target
    from elephan.longpath.path import path as ask
    from elephan.longpath.question import SIZE
    from elephan.settings import settings

    folder = out or Path("results") / "path"
    check_target(folder, "path")
    done = ask(
        rate,
        rtt,
        buffer=buffer,
        loss=loss,
        mtu=mtu,
        streams=streams,
        size=size or SIZE,
        congestion_control=congestion_control,
        stack=stack,
        window=window,
        host_rate=host_rate,
        txqueuelen=txqueuelen,
        ring=ring,
        pacing=pacing,
        disk_read=disk_read,
        disk_write=disk_write,
        set=settings(set or []),
        repetitions=repetitions,
        whole=whole,
        seed=1 if seed is None else seed,
        workers=workers,
        out=folder,
        progress=True,
    )
    if json:
        show.path_json(done, folder)
    else:
        show.path(done, folder)
    return 1 if done.failures else 0


@app.command()
def analyze(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A capture (pcap, pcapng), iperf3 -J, or a log of ss -tin.")],
    every: Annotated[str | None, typer.Option(help="Interval of the series, as 10ms; default: 2000 in a connection.")] = None,
    burst_gap: Annotated[str | None, typer.Option(help="Segments closer than this are one burst; default 15us.")] = None,
    at: Annotated[str | None, typer.Option(metavar="PLACE", help="Where it was captured: sender, receiver, between.")] = None,
    compare: Annotated[Path | None, typer.Option(metavar="RUN", help="The folder of a run to draw beside it.")] = None,
    rate: Annotated[
        str | None,
        typer.Option(help="Rate on the wire of the path's slowest link, as 1Gbps; default: of RUN, else the highest seen."),
    ] = None,
    remaining: Annotated[
        str | None, typer.Option(metavar="SIZE", help="What is still to be sent, as 10GB: whether it recovers before it finishes.")
    ] = None,
    connection: Annotated[
        int | None,
        typer.Option(
            parser=_whole(), metavar="N", help="The connection whose phases, windows and stream are shown; default: the largest."
        ),
    ] = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """A real capture or log, with the figures of a run."""
    from elephan.analysis.trace import analyze as read
    from elephan.cli import show

    folder = out or Path("results") / f"{file.stem}-trace"
    done = read(
        file,
        out=folder,
        every=every,
        burst_gap=burst_gap,
        at=at,
        compare=compare,
        rate=rate,
        remaining=remaining,
        connection=connection,
        progress=True,
    )
    if json:
        show.trace_json(done, folder)
    else:
        show.trace(done, folder)


@study_app.command("list")
def study_list(json: Json = False) -> None:
    """The studies that there are."""
    from elephan import study
    from elephan.cli import show

    show.listing([(name, study.open_study(name).title) for name in study.names()], json)


@study_app.command("run")
def study_run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of `elephan study list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions and points: a minute at most.")] = False,
    out: Out = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 if a claim fails.")] = False,
    workers: Workers = None,
    json: Json = False,
) -> int:
    """Run a study, judge its claims, write its report."""
    from elephan import study
    from elephan.cli import show

    folder = out or Path("results") / (f"{name}-quick" if quick else name)
    results, verdicts = study.run_study(name, quick=quick, out=folder, workers=workers, progress=True)
    if json:
        show.study_json(results, verdicts, folder)
    else:
        show.study(results, verdicts, folder)
    refuted = strict and any(verdict.verdict == "fails" for verdict in verdicts)
    return 1 if refuted or results.facts["failures"] else 0


@measure_app.callback()
def measure_root() -> None:
    """Real hardware, as profiles for the models."""


@measure_app.command("disk")
def measure_disk(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder on the disk; a file is written there, read and removed.")],
    size: Annotated[str, typer.Option(help="Size of the file; take more than the disk's own cache holds.")] = "1 GiB",
    block: Annotated[str, typer.Option(help="Bytes of a request.")] = "1 MiB",
    read_ahead: Annotated[
        str | None, typer.Option(metavar="SIZE,SIZE", help="Read-ahead windows; default: 32 KiB to 4 MiB.")
    ] = None,
    repetitions: Annotated[
        int,
        typer.Option("--repetitions", "-n", parser=_whole(), metavar="N", help="Measurements of each point; the median counts."),
    ] = 1,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The profile.")] = Path("disk.toml"),
    json: Json = False,
) -> None:
    """A real disk: its rates of writing, and of reading with several read-ahead windows, as a profile for a scenario."""
    from elephan import diskmeasure
    from elephan.cli import show

    windows = [part.strip() for part in read_ahead.split(",")] if read_ahead is not None else None
    with diskmeasure.profile_file(out) as partial:
        done = diskmeasure.measure(path, size=size, block=block, windows=windows, repetitions=repetitions, progress=True)
        diskmeasure.write_profile(done, partial, out)
    if json:
        show.print_json(done.as_dict())
    else:
        show.disk(done, out)


@app.command("list")
def list_things(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help="scenarios, studies, congestion-controls, stacks, queues, traffic, disks, ...; all kinds if left out",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """What there is, with one line each; without KIND, of what there are lists."""
    from elephan.cli import show
    from elephan.cli.listing import rows

    show.listing(rows(kind), json)


@app.command()
def report(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A result folder.")]) -> None:
    """Draw the report of a result again."""
    from elephan.results import redraw

    typer.echo(str(redraw(folder)))


@app.command()
def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="A result folder.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    json: Json = False,
) -> None:
    """Two results side by side; runs with the same seed are compared in pairs."""
    from elephan.cli import show
    from elephan.results import compare, scenario_of

    show.diff(compare(a, b), (scenario_of(a), scenario_of(b)), json)


@app.command()
def schema(
    tables: Annotated[bool, typer.Option("--tables", help="The data dictionary of the result tables instead.")] = False,
) -> None:
    """Print the JSON Schema of the scenario language."""
    from elephan import core

    if tables:
        typer.echo(core.call("data_dictionary"))
    else:
        typer.echo(json_module.dumps(json_module.loads(core.call("schema")), indent=2))


@app.command()
def bench(
    workloads: Annotated[
        list[str] | None, typer.Argument(metavar="[W1 W3 W4 ...]", help="Workloads (elephan list workloads); default: W1 to W4.")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option("--repetitions", "-n", parser=_whole(1, 1000), metavar="N", help="Runs of each; default 5.")
    ] = None,
    against: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of ns-3 programs to build and run beside.")] = None,
    json: Json = False,
) -> int:
    """The standard workloads: wall time, memory, and what was simulated."""
    from elephan.bench import run_bench
    from elephan.cli import show

    rows, broken = run_bench(workloads or [], repetitions, against)
    if json:
        show.print_json(rows)
    else:
        show.bench(rows)
    for line in broken:
        typer.echo(f"elephan: {line}", err=True)
    return 1 if broken else 0
