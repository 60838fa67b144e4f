"""Asks this machine's kernel what TCP does: packetdrill scripts, random senders, random receivers."""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kernel.referee import compare, play, shrink, stimulus, verdicts, wire

OWN = Path(__file__).resolve().parents[4] / "tests" / "packetdrill"
# Cases sleep nearly all of the time, so many run beside each other.
BESIDE, BATCH = 6, 24


def pool() -> multiprocessing.pool.Pool:
    return multiprocessing.get_context("fork").Pool(BESIDE, wire.in_front)


def scripts_in(paths: list[Path]) -> list[Path]:
    return [one for path in paths for one in (sorted(path.rglob("*.pkt")) if path.is_dir() else [path])]


def scripts(paths: list[Path]) -> None:
    """Prints a row for each script and the sums."""
    found = scripts_in(paths)
    counts: Counter[str] = Counter()
    with pool() as workers:
        for path, verdict in zip(found, workers.imap(play.play, found), strict=True):
            shown = path.relative_to(OWN).as_posix() if path.is_relative_to(OWN) else str(path)
            known = verdicts.DIFFERS.get(shown) if verdict.verdict == "differs" else None
            print(f"{shown}: {verdict}" + (f" ({known})" if known else ""), flush=True)
            counts[verdict.verdict] += 1
    print(", ".join(f"{verdict} {count}" for verdict, count in counts.most_common()) + f" of {len(found)}")


def drawn(kind: str, seed: int, controller: str | None) -> compare.Outcome:
    case = stimulus.sending(seed, controller) if kind == "senders" else stimulus.receiving(seed)
    return compare.judged(case)


def _drawn(given: tuple[str, int, str | None]) -> tuple[int, compare.Outcome | str]:
    try:
        return given[1], drawn(*given)
    except RuntimeError as error:
        return given[1], str(error)


def until(
    end: float, kind: str, seeds: range, controller: str | None, workers: multiprocessing.pool.Pool
) -> Iterator[tuple[int, compare.Outcome | str]]:
    """Yields outcomes. A pool takes all that it is given at once, so it gets a few seeds at a time until `end`."""
    for first in range(seeds.start, seeds.stop, BATCH):
        if time.time() > end:
            return
        batch = range(first, min(first + BATCH, seeds.stop))
        yield from workers.imap_unordered(_drawn, [(kind, seed, controller) for seed in batch])


def cases(kind: str, first: int, count: int, minutes: float, controller: str | None, folder: Path | None) -> None:
    """Prints a row for each case that differs, the agreement, and how often each field of `tcp_info` differs."""
    end = time.time() + 60 * minutes
    outcomes: list[compare.Outcome] = []
    kinds: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    with pool() as workers:
        for seed, outcome in until(end, kind, range(first, first + count), controller, workers):
            if isinstance(outcome, str):
                print(f"{kind} {seed}: {outcome}", flush=True)
                kinds["not asked"] += 1
                continue
            verdict = "spoilt" if outcome.spoilt else outcome.kind or "agrees"
            kinds[verdict] += 1
            fields.update(outcome.fields.keys())
            if outcome.apart and not outcome.spoilt:
                told = "; ".join(f"{name}: {text}" for name, text in outcome.apart.items())
                varies = " (the kernel's runs differ too)" if outcome.varies else ""
                late = f" (referee late by {1e3 * outcome.late_s:.1f} ms)"
                name = f" ({outcome.case.controller})" if isinstance(outcome.case, stimulus.Sending) else ""
                print(f"{kind} {seed}{name}: {told}{varies}{late}", flush=True)
            outcomes.append(outcome)
        print(f"{kinds['agrees']} of {len(outcomes)} agree; " + ", ".join(f"{name} {n}" for name, n in kinds.most_common()))
        print("tcp_info: " + ", ".join(f"{name} {n}" for name, n in sorted(fields.items())))
        if folder is not None:
            differing = [outcome for outcome in outcomes if outcome.apart and not outcome.spoilt]
            write_smallest(workers.imap_unordered(shrink.shrunk, differing), folder)


def write_smallest(found: Iterator[compare.Outcome], folder: Path) -> None:
    """Prints the smallest stimuli, and writes those of senders as scripts with the kernel's answers."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, outcome in enumerate(found):
        told = "; ".join(f"{name}: {text}" for name, text in outcome.apart.items())
        print(f"smallest: {outcome.case}: {told}", flush=True)
        if isinstance(outcome.case, stimulus.Sending):
            (folder / f"{outcome.kind}-{n}.pkt").write_text(shrink.as_script(outcome))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m kernel.referee", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    asked = kinds.add_parser("scripts", help="packetdrill scripts, by default those of tests/packetdrill")
    asked.add_argument("paths", nargs="*", type=Path, default=[OWN])
    for kind in ("senders", "receivers", "all"):
        asked = kinds.add_parser(kind, help="own scripts, then random senders and receivers" if kind == "all" else f"random {kind}")
        asked.add_argument("--first", type=int, default=int(time.time()), help="the first seed; the clock's second if absent")
        asked.add_argument("--count", type=int, default=1_000_000, help="how many seeds at most")
        asked.add_argument("--minutes", type=float, default=10.0, help="no case begins later")
        asked.add_argument("--smallest", type=Path, help="shrinks what differs; scripts go to this folder")
    kinds.choices["senders"].add_argument("--controller", choices=stimulus.CONTROLLERS)
    given = parser.parse_args()
    if why_not := wire.reason():
        raise SystemExit(f"kernel.referee: {why_not}")
    if given.kind in ("scripts", "all"):
        scripts(getattr(given, "paths", [OWN]))
    # Senders differ in more ways, so they get more of the time.
    for kind, share in (("senders", 2 / 3), ("receivers", 1 / 3)):
        if given.kind in (kind, "all"):
            minutes = given.minutes * (share if given.kind == "all" else 1)
            cases(kind, given.first, given.count, minutes, getattr(given, "controller", None), given.smallest)


if __name__ == "__main__":
    main()
