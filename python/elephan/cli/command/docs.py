"""Open the book in the browser, from this machine.

PAGE is a word of an address, such as `dctcp` or `tutorials/sawtooth`. Without it the first page opens. The command prints the
address, so that it can be opened by hand. With --serve the figures of tutorials can be moved: a small server on this machine
gives the pages to the browser until Ctrl-C ends it.
"""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from elephan.base.browser import show, show_beside
from elephan.base.errors import InputError, nearest
from elephan.cli.parser import Argument, Option
from elephan.explore import server
from elephan.explore.book import application

BOOK = Path(__file__).parents[2] / "book"


def find(page: str | None, book: Path) -> Path:
    """Returns the file of a page; raises InputError if the book or the page is not there."""
    if not (book / "index.html").is_file():
        raise InputError("this installation has no book; `make docs` makes it, and wheels of releases bring it")
    if page is None:
        return book / "index.html"
    names = {file.relative_to(book).with_suffix("").as_posix(): file for file in sorted(book.rglob("*.html"))}
    asked = page.strip("/").removesuffix(".html").removesuffix(".md")
    tails = [name for name in names if name == asked or name.endswith(f"/{asked}")]
    if tails:
        return names[min(tails, key=len)]
    words = sorted({name.rpartition("/")[2] for name in names})
    hint = nearest(asked.rpartition("/")[2], words)
    search = f"{(book / 'search.html').as_uri()}?q={quote(page)}"
    raise InputError(f'the book has no page "{page}"{hint if hint.startswith("; did") else f"; its search: {search}"}')


def command(
    page: Annotated[str | None, Argument(metavar="PAGE", help="A page, such as dctcp or tutorials/sawtooth.")] = None,
    no_open: Annotated[bool, Option("--no-open", help="Print the address and open no browser.")] = False,
    serve: Annotated[bool, Option("--serve", help="Serve the book on this machine, with live figures.")] = False,
) -> None:
    file, wanted = find(page, BOOK), not no_open and sys.stdout.isatty()
    if serve:
        _serve(file.relative_to(BOOK).as_posix(), wanted)
        return
    address = file.as_uri()
    print(address)
    if wanted:
        show(address)


def _serve(page: str, wanted: bool) -> None:
    if not (server.WASM / "elephan.wasm").is_file():
        print("The figures stand still: this installation has no engine for the browser. `make web` builds it.", file=sys.stderr)
    with server.listen("127.0.0.1", None) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/{page}"

        def ready() -> None:
            print(f"{address}\nCtrl-C ends it.", flush=True)
            if wanted:
                show_beside(address)

        with suppress(KeyboardInterrupt):
            server.Server(application(BOOK), ready).run([listening])
