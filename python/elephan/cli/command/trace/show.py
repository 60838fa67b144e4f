"""Describe a trace that a link follows, and draw it: Mahimahi's format or CSV."""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.cli.options import Json
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.statistic.linktrace import read_link_trace


def command(
    file: Annotated[Path, Argument(metavar="FILE", help="A trace of rates.")],
    out: Annotated[Path | None, Option(metavar="FILE", help="Draw its rate over time: a name that ends in .png or .svg.")] = None,
    json: Json = False,
) -> None:
    if out is not None and out.suffix not in (".png", ".svg"):
        raise InputError(f"--out {out}: a figure's name ends in .png or .svg")
    trace = read_link_trace(file)
    if out is not None:
        from elephan.report.figure.linktrace_figure import linktrace_figure

        drawing = linktrace_figure(trace, file.name)
        try:
            out.write_bytes(drawing.png() if out.suffix == ".png" else drawing.svg().encode())
        except OSError as error:
            raise InputError(f"{out}: {error.strerror}") from None
    if json:
        print_json(trace.as_dict())
        return
    width = show(trace.duration_s / len(trace.rates_bps), "s", 3)
    low, high = show(trace.quantile(0.05), "bps", 3), show(trace.quantile(0.95), "bps", 3)
    print(f"{file}: {show(trace.duration_s, 's')}, {show(trace.mean_bps, 'bps')} in the mean")
    print(f"90 % of the windows of {width} have {low} to {high}")
    outages = trace.outages_s
    if outages:
        print(f"{len(outages)} outage{'s' if len(outages) > 1 else ''}, the longest {show(max(outages), 's')}")
    if out is not None:
        print(f"figure: {out}")
