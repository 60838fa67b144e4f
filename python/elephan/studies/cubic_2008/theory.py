"""The equations of RFC 9438 for the mean window under deterministic loss, and the cycle behind them step by step.

Windows in segments, times in seconds. `every` is 1/p, the segments from one loss to the next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PRINTED_RENO = 1.2  # the constant behind the columns Reno and HSTCP; sqrt(3/2) = 1.2247 to two digits
BETA = 0.7


def alpha(beta: float) -> float:
    """Returns the additive increase with which AIMD(alpha, beta) has the mean window of Reno (section 4.3)."""
    return 3 * (1 - beta) / (1 + beta)


def aimd(a: float, beta: float, p: float) -> float:
    """Returns the mean window of AIMD(a, beta) (equation 3)."""
    return math.sqrt(a * (1 + beta) / (2 * (1 - beta) * p))


def highspeed(p: float) -> float:
    """Returns the window of HighSpeed TCP at a loss rate (RFC 3649 section 5), or that of Reno if it is larger."""
    return max(0.12 / math.pow(p, 0.835), PRINTED_RENO / math.sqrt(p))


def concave(p: float, rtt: float, c: float, beta: float = BETA) -> float:
    """Returns the mean window of CUBIC in its concave region (equation 5)."""
    return math.pow(c * (3 + beta) / (4 * (1 - beta)), 0.25) * math.pow(rtt / p, 0.75)


def printed(p: float, rtt: float, c: float) -> int:
    """Returns the entry of the tables: equation 6 or 1.2 / sqrt(p), whichever is larger, to a whole segment."""
    return int(max(concave(p, rtt, c), PRINTED_RENO / math.sqrt(p)) + 0.5)


def peak(mean: float, beta: float) -> float:
    """Returns the window at a loss of a concave cycle with this mean window."""
    return mean * 4 / (3 + beta)


def settling(deviation: float, cycles: float, beta: float = BETA) -> float:
    """Returns by which share the window at a loss is off the cycle of equation 5, so many losses after `deviation`.

    At a loss near W_max the cubic is flat. A peak that is off by x has its next loss (3 + beta) / 3 x K early, where the curve is
    (1 - beta) ((3 + beta) / 3)^3 x^3 below that peak. So 1 / x^2 grows by twice this constant a loss: it is no geometric decay.
    """
    return deviation / math.sqrt(1 + 2 * (1 - beta) * ((3 + beta) / 3) ** 3 * deviation**2 * cycles)


@dataclass(frozen=True)
class Cycles:
    """CUBIC under deterministic loss, one round trip after the other."""

    every: int
    rtt: float
    c: float = 0.4
    beta: float = BETA
    fast_convergence: bool = False
    recovery: int = 1  # round trips at the cut window before an epoch begins

    def cycle(self, w_max: float, prior: float) -> tuple[float, float, float]:
        """Returns window at the next loss, segments over round trips (the mean window), and round trips of a cycle.

        `prior` is the window at the last loss, `w_max` what fast convergence has left of it.
        """
        start = self.beta * prior
        k = (max(w_max - start, 0.0) / self.c) ** (1 / 3)
        window = estimate = max(start, 2.0)
        sent, rounds = window * self.recovery, float(self.recovery)
        t = 0.0
        while sent + window < self.every:
            sent, rounds, t = sent + window, rounds + 1, t + self.rtt
            estimate += 1.0 if estimate >= prior else alpha(self.beta)
            target = self.c * (t - k) ** 3 + w_max
            window = max(window, min(target, 1.5 * window), estimate)
        rest = (self.every - sent) / window
        return window, self.every / (rounds + rest), rounds + rest

    def means(self, w_max: float, cycles: int) -> list[tuple[float, float]]:
        """Returns mean window and round trips of each of so many cycles after a loss at the window `w_max`."""
        found, prior = [], w_max
        for _ in range(cycles):
            window, mean, rounds = self.cycle(w_max, prior)
            below = self.fast_convergence and window < w_max
            w_max, prior = ((1 + self.beta) / 2 * window if below else window), window
            found.append((mean, rounds))
        return found

    def mean(self, w_max: float, skip: int, cycles: int) -> float:
        """Returns the mean window over `cycles` cycles after `skip` others."""
        chosen = self.means(w_max, skip + cycles)[skip:]
        return sum(mean * rounds for mean, rounds in chosen) / sum(rounds for _, rounds in chosen)
