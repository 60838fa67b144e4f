"""Opens addresses in the browser of this machine."""

from __future__ import annotations

import threading
import webbrowser


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
