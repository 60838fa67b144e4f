"""A page in the browser where a parameter moves and the network answers at once.

Without an argument the page shows the library of scenarios. The server listens on this machine only, and answers only the
page whose address it prints. Ctrl-C ends it.
"""

import secrets
import sys
import threading
from typing import Annotated

from elephan.cli.browser import show
from elephan.cli.options import whole
from elephan.cli.parser import Argument, Option
from elephan.explore import server, start
from elephan.explore.engine import Engine
from elephan.explore.native import Native

_LIMITS = {"open": 64}


def command(
    what: Annotated[
        str | None,
        Argument(metavar="FILE|NAME|DIR", help="A scenario or its name in the library, the folder of a result, or a capture."),
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
    wall: Annotated[int, Option("--limit", parser=whole(1), metavar="SECONDS", help="Longest time that a run may compute.")] = 600,
) -> None:
    begin = start.start(what, trust)
    engine = None
    if not wasm:
        engine = Engine({**_LIMITS, "wall_s": wall}, begin.place if trust else None, begin.agreed)
        Native(engine, begin).register()
    token = secrets.token_urlsafe(24)
    with server.listen(host, port) as listening:
        number = listening.getsockname()[1]
        hosts = server.addresses(host, number)
        app = server.application(engine, token, hosts, begin.hello(), wasm)
        shown = hosts[0] if host in ("127.0.0.1", "0.0.0.0", "::") else f"[{host}]:{number}" if ":" in host else f"{host}:{number}"
        address = f"http://{shown}/" + ("" if wasm else f"#token={token}")
        if host not in ("127.0.0.1", "localhost", "::1"):
            print(
                f"elephan: note: other machines can reach the page at {host}; whoever knows its token can run scenarios here",
                file=sys.stderr,
            )

        def ready() -> None:
            print(f"{address}\nCtrl-C ends it.", flush=True)
            if not no_open:
                threading.Thread(target=show, args=(address,), daemon=True).start()

        try:
            server.Server(app, ready).run([listening])
        except KeyboardInterrupt:
            pass
        finally:
            if engine is not None:
                engine.close()
