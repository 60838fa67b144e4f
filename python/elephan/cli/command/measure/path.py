"""A path, from a log of iperf3, ss or ping: a trace that a link of a scenario follows.

iperf3 -J and ss -tin give rates, ping gives delays and losses. A rate that a
transfer reached is a lower bound of what the link could carry.
"""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.base.quantity import seconds as read_seconds
from elephan.base.quantity import show
from elephan.capture.pathlog import DELAYS, WINDOW_S, Asked, path_trace, scenario_line
from elephan.cli.options import Json
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json


def command(
    file: Annotated[Path, Argument(metavar="FILE", help="What iperf3 -J, ss -tin in a loop, or ping has written.")],
    out: Annotated[Path | None, Option(metavar="FILE", help="The trace; default: the log's name with .csv.")] = None,
    share: Annotated[float, Option(metavar="SHARE", help="Which share of a round trip the delay of one way is.")] = 0.5,
    delay: Annotated[
        str | None, Option(metavar="WHICH", help="Of a transfer's round trips: least (the default), each, none.")
    ] = None,
    window: Annotated[str, Option(metavar="TIME", help="Over how long the lost share of probes is taken.")] = f"{WINDOW_S:g} s",
    every: Annotated[
        str | None, Option(metavar="TIME", help="Between two probes, or two calls of ss, where the log has no times.")
    ] = None,
    received: Annotated[bool, Option(help="Take what the log's host received, where data went both ways.")] = False,
    json: Json = False,
) -> None:
    if not 0 < share <= 1:
        raise InputError(f"--share {share:g}: a share of a round trip is above 0 and at most 1")
    if delay is not None and delay not in DELAYS:
        raise InputError(f"--delay {delay}: there are {', '.join(DELAYS)}")
    apart = read_seconds(every) if every is not None else None
    over = read_seconds(window)
    for name, value in (("--window", over), ("--every", apart)):
        if value is not None and not value > 0:
            raise InputError(f"{name} is a time above 0")
    trace = path_trace(file, Asked(share, delay or "", over, apart, received))
    target = out or file.with_suffix(".csv")
    if target.resolve() == file.resolve():
        raise InputError(f"{target}: the trace would replace its log: choose another name with --out")
    try:
        target.write_text(trace.text([f"of {file.name}, a log of {trace.kind}, by elephan measure path"]), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{target}: {error.strerror}") from None
    if json:
        print_json({"trace": str(target), **trace.as_dict()})
        return
    said = {"rate_mbps": (1e6, "bps"), "delay_ms": (1e-3, "s"), "loss": (1.0, "%")}
    means = ", ".join(
        f"{column.partition('_')[0]} {show(trace.mean(column) * said[column][0], said[column][1], 3)}" for column in trace.columns
    )
    print(f"{target}: {show(trace.end_s, 's', 3)} of a log of {trace.kind}; in the mean {means}")
    for note in trace.notes:
        print(f"- {note}")
    print(f"in a scenario: {scenario_line(target, trace)}")
