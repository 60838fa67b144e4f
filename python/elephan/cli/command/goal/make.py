"""A collective operation as a program in GOAL, which `kind = "goal"` and LogGOPSim read.

elephan goal make all-reduce ring --ranks 64 --size "64 MB" -o ring.goal

all-reduce: ring, recursive-doubling, halving-doubling, binomial-tree;
all-gather: ring, recursive-doubling; reduce-scatter: ring, halving-doubling;
broadcast: binomial-tree; all-to-all: pairwise. The size is that of the result at
a rank; of an all-to-all what each rank sends in all, of a broadcast the message.
"""

import sys
from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.cli.options import whole
from elephan.cli.parser import Argument, Option
from elephan.step import ranks as stepped


def command(
    operation: Annotated[str, Argument(metavar="OPERATION", help="What the ranks do together, such as all-reduce.")],
    algorithm: Annotated[str, Argument(metavar="ALGORITHM", help="How, such as ring or halving-doubling.")],
    ranks: Annotated[int, Option(parser=whole(), metavar="N", help="Number of ranks.")],
    size: Annotated[str, Option(help='Size of the result at a rank, such as "64 MB".')],
    chunks: Annotated[int, Option(parser=whole(), metavar="N", help="Parts in which a ring sends each piece.")] = 1,
    out: Annotated[Path | None, Option("--out", "-o", metavar="FILE", help="Default: the terminal.")] = None,
) -> None:
    text = stepped.collective(operation, algorithm, ranks, size, chunks)
    if out is None:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: {error.strerror}") from None
    print(f"elephan goal show {out}")
