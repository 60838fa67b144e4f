"""A real capture or log, with the figures of a run."""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.capture.sources import stem
from elephan.capture.trace import analyze as read
from elephan.cli.options import Json, NoReport, out_option, whole
from elephan.cli.parser import Argument, Option
from elephan.cli.show import show
from elephan.result.command import command_line
from elephan.result.folder import default_folder
from elephan.scenario.settings import settings


def command(
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="A capture (pcap, pcapng; - is standard input), files of a ring buffer, two captures of one transfer; "
            "iperf3 -J, ss -tin, Flent, qlog.",
        ),
    ],
    every: Annotated[str | None, Option(help="Interval of the series, as 10ms; default: 2000 in a connection.")] = None,
    burst_gap: Annotated[str | None, Option(help="Segments closer than this are one burst; default 15us.")] = None,
    at: Annotated[str | None, Option(metavar="PLACE", help="Where it was captured: sender, receiver, between.")] = None,
    compare: Annotated[Path | None, Option(metavar="RUN", help="The folder of a run to draw beside it.")] = None,
    rate: Annotated[
        str | None,
        Option(help="Rate on the wire of the path's slowest link, as 1Gbps; default: of RUN, else the highest seen."),
    ] = None,
    remaining: Annotated[
        str | None, Option(metavar="SIZE", help="What is still to be sent, as 10GB: whether it recovers before it finishes.")
    ] = None,
    connection: Annotated[
        int | None,
        Option(
            parser=whole(), metavar="N", help="The connection whose phases, windows and stream are shown; default: the largest."
        ),
    ] = None,
    host: Annotated[list[str] | None, Option(metavar="ADDRESS", help="Only packets of this host; may be repeated.")] = None,
    port: Annotated[
        list[int] | None, Option(parser=whole(), metavar="N", help="Only packets of this port; may be repeated.")
    ] = None,
    since: Annotated[str | None, Option(metavar="TIME", help="Only packets from this time after the first on.")] = None,
    until: Annotated[str | None, Option(metavar="TIME", help="Only packets until this time after the first.")] = None,
    twin: Annotated[
        bool, Option("--twin", help="Fit a path to the connection, run its twin, and write its scenario as twin.toml.")
    ] = False,
    what_if: Annotated[
        list[str] | None,
        Option(metavar="KEY=VALUE", help="What if: the twin with this change, as congestion_control=bbr; may be repeated."),
    ] = None,
    two_places: Annotated[bool, Option(help="The two files are captures of one transfer at two places.")] = False,
    one_capture: Annotated[bool, Option(help="The files are one capture, although they hold the same packets.")] = False,
    out: Annotated[Path | None, out_option("results/NAME-trace")] = None,
    no_report: NoReport = False,
    json: Json = False,
) -> None:
    if two_places and one_capture:
        raise InputError("--two-places and --one-capture exclude each other")
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
        twin=twin,
        what_if=settings(what_if) if what_if else None,
        two_places=True if two_places else False if one_capture else None,
        progress=True,
        report=False,
    )
    show(done, folder, json, draw=not no_report)
