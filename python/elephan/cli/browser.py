"""Opens addresses in the browser of this machine."""

from __future__ import annotations

import webbrowser


def show(address: str) -> None:
    """Opens a browser that has a window; one in the terminal would take it over."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if not isinstance(browser, webbrowser.GenericBrowser) or isinstance(browser, webbrowser.BackgroundBrowser):
        browser.open(address)
