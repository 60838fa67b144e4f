"""What is said of repeated runs, in reports and, by `make generate`, on the page of `elephan explore`."""

from __future__ import annotations

from elephan.base.quantity import show

_PHASES = "Where a queue overflows, which flow loses follows from phases (Floyd and Jacobson 1992) that"
_START, _JITTER = 'start = { uniform = ["0 s", "100 ms"] }', 'jitter = { extra = { uniform = ["0 s", "1 ms"] } }'
REMEDY = f"Draw something: {_START} of the traffic, or {_JITTER} of a link."
NEARLY = 1e-3  # of the mean: repetitions whose statistics all differ by less are nearly alike
# Sentences; what stands in {} is filled in.
WORDS = {
    "alike": f"The repetitions of a variant are all alike: nothing in them is random. {_PHASES} no seed changes. {REMEDY}",
    "nearly": (
        "The repetitions of {which} are nearly alike: "
        f"no statistic differs by more than {show(NEARLY, '%')} of its mean, and packets are dropped."
        f" The intervals hold for these very delays, sizes and starts. {_PHASES} the seeds hardly change. {REMEDY}"
    ),
    "power": (
        "{repetitions} repetitions can see a difference of {difference} in {title}: 80 % of such {what} would find it by a "
        "paired t test at 5 %. A smaller difference may stay unseen."
    ),
}


def said(name: str, **words: object) -> str:
    """Returns a sentence of `WORDS`, filled in."""
    text = WORDS[name]
    for key, word in words.items():
        text = text.replace(f"{{{key}}}", str(word))
    return text
