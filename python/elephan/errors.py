"""What can go wrong, as one line for a person and an exit status for a script."""

from __future__ import annotations

import unicodedata

# Controls, signs without a shape or that turn the direction of a text, halves of surrogate pairs, ends of lines and paragraphs.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_SHORT = {"\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """The text with what commands a terminal, or is not seen, escaped as the core does it: ESC is `\\u{1b}`."""
    unseen = {letter for letter in text if unicodedata.category(letter) in _UNSEEN}
    return text.translate({ord(letter): _SHORT.get(letter, f"\\u{{{ord(letter):x}}}") for letter in unseen})


class ElephanError(Exception):
    """A failure that a user can do something about. Its text is one line, whatever names and values it repeats."""

    exit_status = 1

    def __init__(self, message: object = "") -> None:
        super().__init__(visible(str(message)))


class InputError(ElephanError, ValueError):
    """Something asked for is wrong: a name, a value, a file, a folder that is not ours."""

    exit_status = 2


class OutputError(ElephanError):
    """A result could not be written."""

    exit_status = 1


def nearest(name: str, known: list[str], there: str = "") -> str:
    """A hint for an unknown name: `; did you mean "cubic"?`, or the list of what there is, led by words such as "it has"."""
    import difflib

    from elephan._core import model_known_as

    meant = model_known_as(name)
    if meant in known:
        return f'; did you mean "{meant}"?'
    close = difflib.get_close_matches(name, known, n=1)
    return f'; did you mean "{close[0]}"?' if close else f"{'; ' if there else ''}{there}: {', '.join(known)}"
