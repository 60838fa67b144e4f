"""What is damaged in a store: every file is read, and none is moved."""

from __future__ import annotations

from pathlib import Path

from elephan.base.errors import ElephanError
from elephan.experiment.store import origins, parts, runs, tails
from elephan.experiment.store.row import from_record

AGAIN = "its trials run again"  # what becomes of a damaged file


def damage(where: Path) -> list[str]:
    """Returns a line for each file of a store that is damaged, torn or not elephan's."""
    found = [f"{path}: not written by elephan" for path in parts.strangers(where)]
    for folder in ("parts", "attempts"):
        for path in parts.parts(where / folder):
            if why := _why_damaged(path):
                found.append(f"{path}: {why}; {AGAIN}")
    for path in parts.listed(where / "tails"):
        if tails.NAME.fullmatch(path.name) is None:
            found.append(f"{path}: not written by elephan")
        elif why := why_torn(path):
            found.append(f"{path}: {why}; {AGAIN}")
    return found + origins.damage(where) + runs.check(where)


def _why_damaged(path: Path) -> str:
    """Why a part cannot be trusted, empty if it can."""
    try:
        found = parts.read_part(path)
        for record in found.to_pylist() if path.parent.name == "parts" else ():
            from_record(record)
    except FileNotFoundError:  # another process has put parts together
        return ""
    except (parts.Damaged, ElephanError) as why:
        return str(why).removeprefix(f"{path}: ")
    except MemoryError:
        raise
    except Exception:  # whatever JSON and Arrow say of nonsense
        return "its rows are not what elephan writes"
    return ""


def why_torn(path: Path) -> str:
    """Returns what is wrong with a tail, empty if nothing is."""
    try:
        return tails.read(path)[1]
    except FileNotFoundError:
        return ""
    except (parts.Damaged, ElephanError) as why:
        return str(why).removeprefix(f"{path}: ")
