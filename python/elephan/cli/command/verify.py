"""Says whether this installation computes what was published with its version: elephan verify."""

import os
from typing import Annotated

from elephan.base.progress import bar
from elephan.cli.options import Json
from elephan.cli.parser import Option
from elephan.cli.show import print_json
from elephan.experiment.place.threads import check_workers
from elephan.experiment.verify.verify import check_version, differing, published, said


def command(
    workers: Annotated[
        int | None, Option("--workers", "-w", metavar="N", help="Threads; without it one for each processor.")
    ] = None,
    json: Json = False,
) -> int:
    check_workers(workers)
    given = published()
    check_version(given)
    with bar("scenarios", len(given.cases), not json) as shown:
        differ = differing(given.cases, workers or os.cpu_count() or 1, shown.set)
    if json:
        print_json({"version": given.version, "scenarios": len(given.cases), "differ": differ})
    else:
        print(said(given, differ))
    return int(bool(differ))
