"""`python -m kernel.referee scripts [PATH...]`: the kernel's verdict on packetdrill scripts."""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter
from pathlib import Path

from kernel.referee import play, wire

OWN = Path(__file__).resolve().parents[4] / "tests" / "packetdrill"
# Cases sleep nearly all of the time, so many run beside each other.
BESIDE = 8


def scripts_in(paths: list[Path]) -> list[Path]:
    return [one for path in paths for one in (sorted(path.rglob("*.pkt")) if path.is_dir() else [path])]


def scripts(paths: list[Path]) -> int:
    """Prints a row for each script; returns how many differ."""
    found = scripts_in(paths)
    counts: Counter[str] = Counter()
    with multiprocessing.get_context("fork").Pool(BESIDE, wire.in_front) as pool:
        for path, verdict in zip(found, pool.imap(play.play, found), strict=True):
            shown = path.relative_to(OWN) if path.is_relative_to(OWN) else path
            print(f"{shown}: {verdict}", flush=True)
            counts[verdict.verdict] += 1
    print(", ".join(f"{verdict} {count}" for verdict, count in counts.most_common()) + f" of {len(found)}")
    return counts["differs"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m kernel.referee", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    asked = kinds.add_parser("scripts", help="packetdrill scripts, by default those of tests/packetdrill")
    asked.add_argument("paths", nargs="*", type=Path, default=[OWN])
    given = parser.parse_args()
    why_not = wire.reason()
    if why_not:
        raise SystemExit(f"kernel.referee: {why_not}")
    scripts(given.paths)


if __name__ == "__main__":
    main()
