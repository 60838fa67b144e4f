"""What can go wrong, as one line for a person and an exit status for a script."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

# Controls, signs without a shape or that turn the direction of a text, halves of surrogate pairs, ends of lines and paragraphs.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_SHORT = {"\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """The text with what commands a terminal, or is not seen, escaped as the core does it: ESC is `\\u{1b}`."""
    unseen = {letter for letter in set(text) if unicodedata.category(letter) in _UNSEEN}
    return text.translate({ord(letter): _SHORT.get(letter, f"\\u{{{ord(letter):x}}}") for letter in unseen})


def shown(text: str) -> str:
    """The text for a terminal, a page or a figure: control characters are left out but ends of lines and tabs, and what else is not
    seen, such as what turns the direction of a text, is escaped. Everything that people read goes through this or `visible`.
    """
    if text.isprintable():  # which nothing unseen is
        return text
    unseen = {letter for letter in set(text) if letter not in "\n\t" and unicodedata.category(letter) in _UNSEEN}
    instead = {ord(letter): None if unicodedata.category(letter) == "Cc" else visible(letter) for letter in unseen}
    return text.translate(instead) if instead else text


def shown_within(value: Any) -> Any:
    """`shown` of every text in a value of JSON."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, Mapping):
        return {shown_within(key): shown_within(inner) for key, inner in value.items()}
    return [shown_within(inner) for inner in value] if isinstance(value, list | tuple) else value


def escaped_json(text: str) -> str:
    """JSON text with what is not seen in its strings escaped as JSON does it; the same value."""
    unseen = {letter for letter in set(text) if letter != "\n" and unicodedata.category(letter) in _UNSEEN}
    codes = {letter: letter.encode("utf-16-be", "surrogatepass") for letter in unseen}
    pairs = {ord(letter): "".join(f"\\u{code[i : i + 2].hex()}" for i in range(0, len(code), 2)) for letter, code in codes.items()}
    return text.translate(pairs)


class ElephanError(Exception):
    """A failure that a user can do something about. Its text is one line, whatever names and values it repeats.

    >>> try:
    ...     el.run("sawtooth", set={"duration": "5 parsecs"})
    ... except el.ElephanError as error:
    ...     print(error.exit_status, type(error).__name__)
    2 InputError
    """

    exit_status = 1
    of_machine = False  # whether the machine or its environment failed (`elephan.base.machine`)

    def __init__(self, message: object = "") -> None:
        super().__init__(visible(str(message)))


class PartDone(ElephanError):
    """Nothing went wrong: a part of an experiment is done and kept, and there is no result before the other parts are."""

    exit_status = 0


class InputError(ElephanError, ValueError):
    """Something asked for is wrong: a name, a value, a file, a folder that is not ours.

    >>> el.cc.new("cubik")
    Traceback (most recent call last):
        ...
    elephan.base.errors.InputError: no congestion control "cubik"; did you mean "cubic"?
    """

    exit_status = 2


class OutputError(ElephanError):
    """A result could not be written."""

    exit_status = 1
    of_machine = True


def lacks_memory(error: Exception) -> bool:
    """Whether a library could not be loaded, or a thread not be started, for want of memory."""
    text = str(error)
    words = ("failed to map segment", "annot allocate memory", "can't start new thread", "Unable to allocate")
    return isinstance(error, ImportError | RuntimeError) and any(part in text for part in words)


F = TypeVar("F", bound=Callable[..., Any])


def of_arguments(function: F) -> F:
    """A function that only calculates: whatever goes wrong in it is its arguments, and one line. A call with too few or unknown
    arguments is a TypeError, as Python has it.
    """

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except ElephanError:
            raise
        except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is None:
                raise
            line = " ".join(str(error).split())
            raise InputError(line) from None

    return cast(F, called)


def brief(value: object) -> str:
    """The `repr` of a value as an error shows it: not without end."""
    try:
        text = repr(value)
    except Exception:  # an int of more digits than Python writes
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def nearest(name: str, known: list[str], there: str = "") -> str:
    """A hint for an unknown name: `; did you mean "cubic"?`, or the list of what there is, led by words such as "it has"."""
    import difflib

    from elephan._core import model_known_as

    try:
        meant = model_known_as(name)
    except (TypeError, UnicodeEncodeError):  # no text, or half of a surrogate pair in it
        meant, name = None, str(name)
    if meant in known:
        return f'; did you mean "{meant}"?'
    close = difflib.get_close_matches(name, known, n=1)
    return f'; did you mean "{close[0]}"?' if close else f"{'; ' if there else ''}{there}: {', '.join(known)}"
