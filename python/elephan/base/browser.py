"""Opens addresses in the browser of this machine."""

from __future__ import annotations

import html
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LEAD = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>elephan</title>
<a href="{address}">to the page</a>
"""


def find() -> webbrowser.BaseBrowser | None:
    """Returns a browser that has a window, or None; one in the terminal would take it over."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return None
    if isinstance(browser, webbrowser.GenericBrowser) and not isinstance(browser, webbrowser.BackgroundBrowser):
        return None
    return browser


def show(address: str) -> None:
    """Opens an address, which may take as long as the browser runs."""
    if (browser := find()) is not None:
        browser.open(address)


def show_beside(address: str) -> bool:
    """Opens an address in a thread; returns whether there is a browser."""
    if (browser := find()) is None:
        return False
    threading.Thread(target=browser.open, args=(address,), daemon=True).start()
    return True


@contextmanager
def private(address: str) -> Iterator[str]:
    """A file that leads a browser to an address with a secret in it; gives the address of the file, which goes when this ends.

    What a browser is started with stands in its command line, which every user of the machine can read. The file, and the folder
    that it is in, can be read by this user alone.
    """
    with tempfile.TemporaryDirectory(prefix="elephan-") as folder:  # made anew, with mode 0700
        file = Path(folder) / "open.html"
        file.touch(mode=0o600, exist_ok=False)
        file.write_text(_LEAD.format(address=html.escape(address)), encoding="utf-8")
        yield file.as_uri()
