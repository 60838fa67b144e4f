"""Read a network of another program and write a scenario: GraphML, GML, JSON, topohub, containerlab, Mininet, tc, htsim.

What a scenario cannot say, and what is assumed, is listed on stderr with file and line.
topohub:NAME is a topology of the package topohub, such as topohub:sndlib/polska.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.base.quantity import counted
from elephan.cli.options import whole
from elephan.cli.parser import Argument, Option
from elephan.scenario.foreign.read import import_network


def command(
    file: Annotated[str, Argument(metavar="FILE", help="A file of another program, or topohub:NAME.")],
    out: Annotated[Path | None, Option(metavar="FILE", help="The scenario; without it, it is printed.")] = None,
    rate: Annotated[
        str | None,
        Option(metavar="RATE", help="Rate of links of which the file says none; default: 1 Gb/s, for a matrix of htsim 100 Gb/s."),
    ] = None,
    demands: Annotated[
        str | None,
        Option(
            metavar="file|gravity",
            help="gravity: a demand for each pair of nodes, in proportion to the product of their populations or numbers of links; "
            "default: those of the file, or a few pairs.",
        ),
    ] = None,
    load: Annotated[
        str | None,
        Option(
            metavar="RATE|PERCENT",
            help='All demands together, or what the busiest link is offered ("50 %", the default), or what links are offered on '
            'average ("mean 20 %").',
        ),
    ] = None,
    flows: Annotated[
        int | None,
        Option(parser=whole(1, 1_000_000), metavar="N", help="The N largest demands of a file, or N pairs drawn by gravity."),
    ] = None,
    traffic: Annotated[str, Option(metavar="messages|transfers", help="What carries the demands over TCP.")] = "messages",
    transport: Annotated[
        str, Option(metavar="tcp|uec", help="What carries the connections of a matrix of htsim; uec: as htsim_uec has them.")
    ] = "tcp",
    size: Annotated[
        str | None,
        Option(
            metavar="SIZE",
            help="Sizes as a scenario has them, or a published distribution such as web-search; default: 100 kB on average.",
        ),
    ] = None,
    open_loop: Annotated[
        str, Option("--open-loop", metavar="PERCENT", help="The share of each demand that datagrams at random times carry.")
    ] = "0 %",
    tc: Annotated[Path | None, Option(metavar="FILE", help="Lines of tc for the links of a containerlab or Mininet file.")] = None,
) -> None:
    if out is not None and any(out.exists() and os.path.exists(one) and out.samefile(one) for one in (file, tc) if one):
        raise InputError(f"--out {out}: it is the file to read")
    made = import_network(
        file,
        rate=rate,
        demands=demands,
        load=load,
        flows=flows,
        traffic=traffic,
        transport=transport,
        size=size,
        open_loop=open_loop,
        tc=tc,
    )
    for line in made.notes:
        print(line, file=sys.stderr)
    if out is None:
        print(made.text, end="")
        return
    try:
        out.write_text(made.text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: {error.strerror}") from None
    counts = (counted(made.switches, "switch", "switches"), counted(made.hosts, "host"), counted(made.links, "link"))
    print(f"{out}: {', '.join(counts)}, {counted(made.flows, 'flow')}")
    print(f"elephan run {out}")
