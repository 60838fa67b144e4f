"""What if: a twin with and without a change, over what its capture left open.

Each repetition draws the rate, the buffer and the share of random losses from within their errors, and a seed. It runs the twin
with and without the change. The change is told as a ratio, which is applied to what was captured: what the twin makes wrong in
both runs falls out. The interval has the spread of the ratio over the repetitions, and the twin's own error on top of it.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elephan.base.errors import InputError
from elephan.base.progress import bar
from elephan.capture.twin import replay, scenario
from elephan.capture.twin.path import FittedPath
from elephan.capture.twin.twin import Twin, with_control
from elephan.result.run import run

REPETITIONS = 16
ERROR_MIN = 0.02  # of a twin, even where it met its capture better
LONGER = 20.0  # a changed transfer may take so many times as long
_LINK = f"links.{scenario.SWITCH}->{scenario.RECEIVER}"
# What a user calls the keys of a twin's path.
SHORT: Mapping[str, str] = {
    "rate": f"{_LINK}.forward.rate",
    "delay": f"{_LINK}.delay",
    "loss": f"{_LINK}.forward.loss",
    "queue": f"{_LINK}.forward.queue",
    "congestion_control": f"traffic.{scenario.FLOW}.congestion_control",
}


@dataclass(frozen=True)
class Answer:
    """What a change would have done: completion time in s, or goodput in bit/s where the transfer did not end."""

    change: Mapping[str, Any]
    ended: bool
    captured: float
    value: float
    low: float
    top: float
    ratio: float  # of the value with the change to that without
    ratio_low: float
    ratio_top: float
    repetitions: int

    @property
    def unit(self) -> str:
        return "s" if self.ended else "bit/s"


def overrides(change: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the overrides of a twin's scenario that a change means."""
    # A queue without a limit has no words of its own: a buffer is a whole queue.
    queues = {f"{_LINK}.forward.queue": {"kind": "fifo", "limit": change["buffer"]}} if "buffer" in change else {}
    return {SHORT.get(key, key): value for key, value in change.items() if key != "buffer"} | queues


def ask(twin: Twin, change: Mapping[str, Any], repetitions: int = REPETITIONS, seed: int = 1, progress: bool = False) -> Answer:
    """Returns what a change would have done to the captured transfer. Raises InputError for a change that the twin cannot make."""
    if not change:
        raise InputError("what if: say what changes, such as congestion_control=bbr, rate=1Gbps, buffer=200p")
    changed = overrides(change)
    draws = random.Random(seed)
    lasts = twin.real.done_s - replay.first_s(twin.real)
    base, other = [], []
    with bar("what if", 1.0, progress) as shown:
        for repetition in range(repetitions):
            path, share = _drawn(twin, draws, repetition == 0)
            words = scenario.caused(path, twin.ends, twin.writes, share, lasts * LONGER)
            # Where slow start would end on another path the capture does not tell.
            words = with_control(words, twin.best if repetition % 2 == 0 else dataclasses.replace(twin.best, options={}))
            drawn = draws.randrange(1 << 31)
            base.append(_outcome(words, {}, drawn, twin.writes.ended, lasts))
            other.append(_outcome(words, changed, drawn, twin.writes.ended, lasts))
            shown.set((repetition + 1) / repetitions)
    captured = lasts if twin.writes.ended else 8 * float(twin.real.bytes.sum()) / lasts
    without, ratios = np.array(base), np.array(other) / np.array(base)
    error = max(abs(float(np.median(without)) / captured - 1), ERROR_MIN)
    ratio, low, top = (float(np.quantile(ratios, level)) for level in (0.5, 0.025, 0.975))
    return Answer(
        change=dict(change),
        ended=twin.writes.ended,
        captured=captured,
        value=captured * ratio,
        low=captured * low * (1 - error),
        top=captured * top * (1 + error),
        ratio=ratio,
        ratio_low=low,
        ratio_top=top,
        repetitions=repetitions,
    )


def _drawn(twin: Twin, draws: random.Random, as_fitted: bool) -> tuple[FittedPath, float]:
    """A path within the errors of the fitted one, and the share of packets that it loses at random."""
    path, sent = twin.path, twin.real.sent_s.size
    count = len(path.random)
    if as_fitted:
        return path, count / sent
    share = draws.betavariate(count + 0.5, sent - count + 0.5) if count else 0.0
    buffer = path.buffer_packets + draws.uniform(-path.buffer_error_packets, path.buffer_error_packets)
    return (
        dataclasses.replace(
            path,
            rate_bps=path.rate_bps + draws.uniform(-path.rate_error_bps, path.rate_error_bps),
            buffer_packets=max(round(buffer), 1),
        ),
        share,
    )


def _outcome(words: Mapping[str, Any], changed: Mapping[str, Any], seed: int, ended: bool, lasts: float) -> float:
    """Completion time in s, or goodput in bit/s over the time of the capture."""
    own = words if ended else {**words, "duration": f"{lasts:.6f} s"}
    row = run(own, set=changed, seed=seed).flows.to_pylist()[0]
    if not ended:
        return max(8 * float(row["thru_octets_acked"]) / lasts, 1.0)
    if row["sender_fct_ns"] is None:
        raise InputError(f"what if: the changed transfer takes more than {LONGER:.0f} times as long as the captured one")
    return float(row["sender_fct_ns"]) / 1e9
