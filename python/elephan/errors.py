"""What can go wrong, as one line for a person and an exit status for a script."""

from __future__ import annotations


class ElephanError(Exception):
    """A failure that a user can do something about. Its text is one line."""

    exit_status = 1


class InputError(ElephanError, ValueError):
    """Something asked for is wrong: a name, a value, a file, a folder that is not ours."""

    exit_status = 2


class OutputError(ElephanError):
    """A result could not be written."""

    exit_status = 1


def nearest(name: str, known: list[str], there: str = "") -> str:
    """A hint for an unknown name: `; did you mean "cubic"?`, or the list of what there is, led by words such as "it has"."""
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    return f'; did you mean "{close[0]}"?' if close else f"{'; ' if there else ''}{there}: {', '.join(known)}"
