"""A page in the browser where a parameter moves and the network answers at once.

Without an argument the page shows the library of scenarios. The server listens on this machine only, and answers only the
page whose address it prints. Ctrl-C ends it.
"""

import sys
from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from elephan.base.browser import show_beside
from elephan.base.errors import InputError
from elephan.cli.options import FilesFrom, PythonFrom, whole
from elephan.cli.parser import Argument, Option
from elephan.explore import serve, start
from elephan.explore.lessons import known
from elephan.scenario.trust import trust as consent


def command(
    what: Annotated[
        str | None,
        Argument(
            metavar="FILE|NAME|DIR", help="A scenario or its name in the library, the folder of a result or a store, or a capture."
        ),
    ] = None,
    port: Annotated[
        int | None, Option(parser=whole(1, 65535), metavar="N", help="Port; default: 8230, or any that is free.")
    ] = None,
    host: Annotated[
        str,
        Option(metavar="ADDRESS", help="Address to listen on; others than this machine can then reach the page, with its token."),
    ] = "127.0.0.1",
    no_open: Annotated[bool, Option("--no-open", help="Print the address and open no browser.")] = False,
    wasm: Annotated[bool, Option("--wasm", help="Serve the static site, whose engine runs in the page.")] = False,
    trust: Annotated[
        bool, Option("--trust", help="Let scenarios of the page load files and congestion controls in Python, as elephan run does.")
    ] = False,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    lesson: Annotated[
        str | None, Option(metavar="NAME", help="Play a lesson: sawtooth, slow-start, shared-switch, incast, your-own or l4s.")
    ] = None,
    wall: Annotated[int, Option("--limit", parser=whole(1), metavar="SECONDS", help="Longest time that a run may compute.")] = 600,
) -> None:
    if (python_from or files_from) and not trust:
        raise InputError("--python-from and --files-from say what --trust lets a page load; they go with it")
    begin = replace(start.start(what, trust), agreed=consent(python_from, files_from=files_from))
    if lesson is not None:
        if what is not None or wasm:
            raise InputError("--lesson plays a lesson; it goes without a scenario, and without --wasm")
        begin = replace(begin, lesson=known(lesson))
    with serve.site(begin, wall, host, port, wasm) as site:
        if host not in ("127.0.0.1", "localhost", "::1"):
            print(
                f"elephan: note: other machines can reach the page at {host}; whoever knows its token can run scenarios here",
                file=sys.stderr,
            )

        def ready() -> None:
            print(f"{site.address}\nCtrl-C ends it.", flush=True)
            if not no_open:
                show_beside(site.page)

        with suppress(KeyboardInterrupt):
            site.server(ready).run([site.listening])
