"""The harness of congestion controls: drawn stories and ten days without a loss, and the rules that hold in all of them."""

from __future__ import annotations

from itertools import chain
from typing import Any

from elephan.scenario import core

_AT_ONCE = 20  # stories between two looks at Ctrl-C
_DAYS_ACKS = 86_400


def broken(words: dict[str, Any], cases: int, seed: int, days: bool) -> tuple[str, BaseException | None] | None:
    """Returns the rule that a congestion control breaks, as text with what it raised; None if it keeps all.

    `words`: how a scenario names it. `cases` stories are drawn from `seed` on; with `days` ten simulated days follow.
    """
    name = "check_built_in" if "kind" in words else "check_guest"

    # Ctrl-C goes to the main thread: in the class's methods it would be taken for what they raise.
    def work(stop: core.Stop) -> tuple[str, BaseException | None] | None:
        rounds = ((seed + first, min(_AT_ONCE, cases - first), 0) for first in range(0, cases, _AT_ONCE))
        for begin, count, acks in chain(rounds, [(seed, 0, _DAYS_ACKS)] if days else []):
            if stop.asked:
                return None
            failure: tuple[str, BaseException | None] | None = core.call(name, words, begin, count, acks)
            if failure is not None:
                return failure
        return None

    found: tuple[str, BaseException | None] | None = core.interruptible("elephan-check", work)
    return found
