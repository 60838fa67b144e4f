"""What if, for one long path: time to transfer, what limits it, which settings help."""

from pathlib import Path
from typing import Annotated

from elephan.cli.options import FilesFrom, Json, NoReport, PythonFrom, Seed, Set, Workers, out_option, whole
from elephan.cli.parser import Option
from elephan.cli.show import show
from elephan.cli.where import Kept
from elephan.experiment.path.path import path as ask
from elephan.experiment.path.question import SIZE
from elephan.experiment.path.settings import as_file, check_file, write_file
from elephan.result.command import command_line
from elephan.result.folder import check_target, default_folder
from elephan.scenario.settings import settings


def command(
    rate: Annotated[str, Option(help="Rate of the path, as 1Gbps.")],
    rtt: Annotated[str, Option(help="Round-trip time, as 196ms.")],
    buffer: Annotated[str | None, Option(help='Buffer at the bottleneck, as 2MB; default "1 bdp".')] = None,
    loss: Annotated[str, Option(help="Share of the packets that the path loses, as 1e-6.")] = "0",
    mtu: Annotated[str, Option(help="MTU in bytes.")] = "1500",
    streams: Annotated[str | None, Option(metavar="N,N", help="Numbers of streams; default 1,4.")] = None,
    size: Annotated[str | None, Option(help="What is transferred; default 10GB.")] = None,
    congestion_control: Annotated[
        str | None, Option("--congestion-control", "-c", metavar="CONTROL,CONTROL", help="Default: the usual ones.")
    ] = None,
    stack: Annotated[
        str | None, Option(help="TCP stack of the hosts, one of `elephan list stacks`; the answer says which is assumed.")
    ] = None,
    window: Annotated[str | None, Option(help="Socket buffers, as 64KiB; default: the stack's.")] = None,
    host_rate: Annotated[
        str | None, Option("--host-rate", "--nic", help="Rate of the hosts' links; default: the next of Ethernet.")
    ] = None,
    txqueuelen: Annotated[str | None, Option(metavar="N", help="Packets in the sender's queue; default: no bound.")] = None,
    ring: Annotated[str | None, Option(metavar="N", help="Packets in the ring of the sender's driver.")] = None,
    pacing: Annotated[str | None, Option(help="Rate at which the sender's device sends, as 900Mbps.")] = None,
    disk_read: Annotated[str | None, Option(help="Rate of the sender's disk, as 3Gbps or 400MB/s.")] = None,
    disk_write: Annotated[str | None, Option(help="Rate of the receiver's disk.")] = None,
    repetitions: Annotated[
        int | None,
        Option("--repetitions", "-n", parser=whole(), metavar="N", help="Runs of each case; default 3, or 1 if nothing is random."),
    ] = None,
    whole: Annotated[bool, Option("--whole", help="Simulate the whole transfer, however long that takes.")] = False,
    set: Set = None,
    seed: Seed = None,
    workers: Workers = None,
    settings_file: Annotated[
        Path | None, Option("--settings", metavar="FILE", help="Write the advised settings there, for /etc/sysctl.d.")
    ] = None,
    out: Annotated[Path | None, out_option("results/path")] = None,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    no_report: NoReport = False,
    json: Json = False,
    *,
    where: Kept,
) -> int:
    folder = out or default_folder("path", {"command": command_line()})
    check_target(folder, "path")
    if settings_file is not None:
        check_file(settings_file)
    result = out or Path("results") / "path"
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
        report=False,
        python_from=python_from,
        files_from=files_from,
        **where.named(result),
    )
    if settings_file is not None:
        write_file(settings_file, as_file(done.advice.words, done.settings))
    show(done, folder, json, draw=not no_report)
    return 1 if done.failures else 0
