"""What varies in a sweep, as a person says it: `congestion control of n`, `htcp`, `queue limit 0.25 bdp`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from elephan.base.quantity import parse_any
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import as_text, worded

_OWNED = ("traffic", "switches", "hosts", "links")  # tables whose next word is the name of a thing


def split(path: str) -> tuple[str, str]:
    """What a parameter is, and of whom: `traffic.n.congestion_control` is a congestion control, of n."""
    parts = path.split(".")
    table = parts[0].partition("[")[0]
    owner = ""
    if table in _OWNED and len(parts) > 1:
        owner = parts[0] if "[" in parts[0] else parts[1]
        parts = parts[1:] if "[" in parts[0] else parts[2:]
    elif parts[0] == "template" and len(parts) > 1:
        parts = parts[1:]
    if parts[-1:] == ["kind"] and len(parts) > 1:
        parts = parts[:-1]
    return " ".join(parts).replace("_", " "), owner


def parameter(path: str) -> str:
    """A parameter in words: `switches.sw.flow_control.kind` is `flow control of sw`."""
    what, owner = split(path)
    return f"{what} of {owner}" if owner else what


def _names(value: Any) -> bool:
    """Whether a value says by itself what it is: a name, not a number or a switch."""
    return _is_name(value) if isinstance(value, str) else isinstance(value, Mapping)


@lru_cache(4096)
def _is_name(text: str) -> bool:
    return not text[:1].isdigit() and parse_any(text) is None


def setting(parameters: Mapping[str, Any], several: Sequence[str] = ()) -> str:
    """Parameters with their values; `several` are the paths of which the names alone would not say whose they are."""
    words = []
    for path, value in parameters.items():
        what, owner = split(path)
        if not _names(value):
            words.append(f"{parameter(path)} {worded(value)}")
        elif path in several:
            words.append(f"{owner or what} {worded(value)}")
        else:
            words.append(worded(value))
    return ", ".join(words)


def varied(sweep: Sweep) -> list[str]:
    """Paths of the parameters that have several values; of all of them if none has, which then says what was run."""
    found = [path for path in sweep.parameters if len({as_text(v.parameters.get(path)) for v in sweep.variants}) > 1]
    return found or sweep.parameters


def named(sweep: Sweep) -> list[str]:
    """Paths of the parameters that vary and whose values are names."""
    return [path for path in varied(sweep) if any(_names(variant.parameters.get(path)) for variant in sweep.variants)]


def variants(sweep: Sweep) -> dict[str, str]:
    """Each variant's label as words; the labels themselves where words would not tell variants apart."""
    several, paths = named(sweep) if len(named(sweep)) > 1 else [], varied(sweep)
    settings = {v.label: {path: value for path, value in v.parameters.items() if path in paths} for v in sweep.variants}
    words = {label: setting(parameters, several) or label for label, parameters in settings.items()}
    return words if len(set(words.values())) == len(words) else {label: label for label in words}
