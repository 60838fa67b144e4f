"""BBR of this machine's kernel where it differs from the article that introduced it (study bbr-2017), beside elephan.

`PYTHONPATH=tests/python python -m kernel.bbr_checks loss` lets a flow lose 5, 10 and 15 % of its packets at random.
`... mobile` lets eight flows share 128 kb/s.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from kernel import compare
from kernel.courses import Course

PAYLOAD, PACKET = 1448, 1500
SEEDS, DRAWS = 4, 20
SPANS = ((20, 60), (60, 100), (100, 150), (150, 200), (200, 250), (250, 299))


def loss(share: float) -> str:
    """Returns a row: the goodput of the kernel and of elephan, over what can arrive at this loss."""
    case = Course("bbr", 333, 16, loss=share)
    most = case.rate_bps * PAYLOAD / PACKET * (1 - share) * case.duration_s / 8
    real = []
    for seed in range(SEEDS):
        with TemporaryDirectory() as folder, contextlib.suppress(compare.TooBusy):
            real.append(compare.kernel(case, Path(folder), seed).acked_bytes / most)
    ours = [run.acked_bytes / most for run in compare.simulated(case, [])]
    return f"| {100 * share:g} % | {_spread(real)} | {_spread(ours[:DRAWS])} |"


def mobile() -> str:
    """Returns rows: medians of the smoothed round trip of one of eight flows over spans of time, in s."""
    case = Course("bbr", 500, 300, rate_bps=128e3, delay_s=0.02, others=tuple(("bbr", 0.5 * number) for number in range(1, 8)))
    with TemporaryDirectory() as folder:
        real = compare.kernel(case, Path(folder), limit_s=case.duration_s + 60)
    rows = []
    for name, seen in (("kernel", real), ("elephan", compare.simulated(case, [real])[0])):
        medians = [np.nanmedian(seen.srtt_s[(seen.time_s >= begin) & (seen.time_s < end)]) for begin, end in SPANS]
        rows.append(f"| {name} | {' | '.join(f'{median:.1f}' for median in medians)} |")
    return "\n".join(rows)


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})" if values else "the machine is too busy"


if __name__ == "__main__":
    if sys.argv[1] == "loss":
        for one in (0.05, 0.10, 0.15):
            print(loss(one), flush=True)
    else:
        print(mobile())
