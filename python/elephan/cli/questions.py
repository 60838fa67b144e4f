"""Commands that answer a question without a scenario file: panels, long paths, traces, disks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elephan.cli.options import Json, PythonFrom, Seed, Set, Workers, out_option, whole


def compare(
    controllers: Annotated[
        str, typer.Argument(metavar="CONTROL,CONTROL...", help="Congestion controls: reno,cubic:preset=linux,mine.py:Mine.")
    ],
    scenario: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Compare on this scenario instead of the standard panel.")
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions", "-n", parser=whole(), metavar="N", help="Runs of each variant, with paired seeds; default 5."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs and 3 repetitions.")] = False,
    rate: Annotated[str | None, typer.Option(help="Rate of the bottleneck; default 50Mbps.")] = None,
    rtt: Annotated[str | None, typer.Option(help="Round-trip time; default 40ms.")] = None,
    buffer: Annotated[str | None, typer.Option(help='Buffer at the bottleneck, as 250KB or "1 bdp"; default 1 bdp.')] = None,
    set: Set = None,
    seed: Seed = None,
    workers: Workers = None,
    out: Annotated[Path | None, out_option("results/compare, with --scenario compare-NAME")] = None,
    python_from: PythonFrom = None,
    json: Json = False,
) -> int:
    """Congestion controls side by side: alone, in pairs, with other round trips, joining, friendliness to Reno."""
    from elephan.base.errors import InputError
    from elephan.cli import show
    from elephan.experiment.compare import panel
    from elephan.result.folder import command_line, default_folder
    from elephan.scenario.settings import settings
    from elephan.scenario.source import open_source

    if scenario is not None and (rate or rtt or buffer or quick):
        raise InputError("--rate, --rtt, --buffer and --quick belong to the standard panel; change a scenario with -s")
    source = open_source(scenario) if scenario is not None else None
    folder = out or default_folder(f"compare-{source.stem}" if source else "compare", {"command": command_line()})
    done = panel.compare(
        controllers,
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
        python_from=python_from,
    )
    if json:
        show.compare_json(done, folder)
    elif source is not None:
        show.sweep(done, folder)
    else:
        show.compare(done, folder)
    return 1 if done.failures else 0


def path(
    rate: Annotated[str, typer.Option(help="Rate of the path, as 1Gbps.")],
    rtt: Annotated[str, typer.Option(help="Round-trip time, as 196ms.")],
    buffer: Annotated[str | None, typer.Option(help='Buffer at the bottleneck, as 2MB; default "1 bdp".')] = None,
    loss: Annotated[str, typer.Option(help="Share of the packets that the path loses, as 1e-6.")] = "0",
    mtu: Annotated[str, typer.Option(help="MTU in bytes.")] = "1500",
    streams: Annotated[str | None, typer.Option(metavar="N,N", help="Numbers of streams; default 1,4.")] = None,
    size: Annotated[str | None, typer.Option(help="What is transferred; default 10GB.")] = None,
    congestion_control: Annotated[
        str | None, typer.Option("--congestion-control", "-c", metavar="CONTROL,CONTROL", help="Default: the usual ones.")
    ] = None,
    stack: Annotated[
        str | None, typer.Option(help="TCP stack of the hosts, one of `elephan list stacks`; the answer says which is assumed.")
    ] = None,
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
            "--repetitions", "-n", parser=whole(), metavar="N", help="Runs of each case; default 3, or 1 if nothing is random."
        ),
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Simulate the whole transfer, however long that takes.")] = False,
    set: Set = None,
    seed: Seed = None,
    workers: Workers = None,
    settings_file: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="Write the advised settings there, for /etc/sysctl.d.")
    ] = None,
    out: Annotated[Path | None, out_option("results/path")] = None,
    python_from: PythonFrom = None,
    json: Json = False,
) -> int:
    """What if, for one long path: time to transfer, what limits it, which settings help."""
    from elephan.cli import show
    from elephan.experiment.path.path import path as ask
    from elephan.experiment.path.question import SIZE
    from elephan.experiment.path.settings import as_file, check_file, write_file
    from elephan.result.folder import check_target, command_line, default_folder
    from elephan.scenario.settings import settings

    folder = out or default_folder("path", {"command": command_line()})
    check_target(folder, "path")
    if settings_file is not None:
        check_file(settings_file)
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
        python_from=python_from,
    )
    if settings_file is not None:
        write_file(settings_file, as_file(done.advice.words, done.settings))
    if json:
        show.path_json(done, folder)
    else:
        show.path(done, folder)
    return 1 if done.failures else 0


def analyze(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A capture (pcap, pcapng; - is standard input), files of a ring buffer, iperf3 -J, a log of ss -tin.",
        ),
    ],
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
            parser=whole(), metavar="N", help="The connection whose phases, windows and stream are shown; default: the largest."
        ),
    ] = None,
    host: Annotated[list[str] | None, typer.Option(metavar="ADDRESS", help="Only packets of this host; may be repeated.")] = None,
    port: Annotated[
        list[int] | None, typer.Option(parser=whole(), metavar="N", help="Only packets of this port; may be repeated.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only packets from this time after the first on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only packets until this time after the first.")] = None,
    out: Annotated[Path | None, out_option("results/NAME-trace")] = None,
    json: Json = False,
) -> None:
    """A real capture or log, with the figures of a run."""
    from elephan.capture.sources import stem
    from elephan.capture.trace import analyze as read
    from elephan.cli import show
    from elephan.result.folder import command_line, default_folder

    folder = out or default_folder(f"{stem(files[0])}-trace", {"command": command_line()})
    done = read(
        files,
        out=folder,
        every=every,
        burst_gap=burst_gap,
        at=at,
        compare=compare,
        rate=rate,
        remaining=remaining,
        connection=connection,
        host=host or (),
        port=port or (),
        since=since,
        until=until,
        progress=True,
    )
    if json:
        show.trace_json(done, folder)
    else:
        show.trace(done, folder)


def measure_disk(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder on the disk; a file is written there, read and removed.")],
    size: Annotated[str, typer.Option(help="Size of the file; take more than the disk's own cache holds.")] = "1 GiB",
    block: Annotated[str, typer.Option(help="Bytes of a request.")] = "1 MiB",
    read_ahead: Annotated[
        str | None, typer.Option(metavar="SIZE,SIZE", help="Read-ahead windows; default: 32 KiB to 4 MiB.")
    ] = None,
    repetitions: Annotated[
        int,
        typer.Option("--repetitions", "-n", parser=whole(), metavar="N", help="Measurements of each point; the median counts."),
    ] = 1,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The profile.")] = Path("disk.toml"),
    json: Json = False,
) -> None:
    """A real disk: its rates of writing, and of reading with several read-ahead windows, as a profile for a scenario."""
    from elephan.capture import fio as diskmeasure
    from elephan.cli import show

    windows = [part.strip() for part in read_ahead.split(",")] if read_ahead is not None else None
    with diskmeasure.profile_file(out) as partial:
        done = diskmeasure.measure(path, size=size, block=block, windows=windows, repetitions=repetitions, progress=True)
        diskmeasure.write_profile(done, partial, out)
    if json:
        show.print_json(done.as_dict())
    else:
        show.disk(done, out)
