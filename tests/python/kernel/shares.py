"""BBR beside CUBIC over one bottleneck: this machine's kernel, elephan, and the model of Ware et al. (study ware-2019).

`PYTHONPATH=tests/python python -m kernel.shares [QUEUE...]` prints a row for each queue, in bandwidth-delay products of 10 Mb/s and
40 ms. Both flows begin together. Shares are of what the link carries in the first minute, and in the last 100 of 400 s.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import elephan as el
import numpy as np
from elephan.studies.ware_2019 import model
from kernel.compare import LATE_SHARE, TooBusy
from kernel.courses import Course

RATE_BPS, RTT_S, SECONDS, SEEDS = 10e6, 0.04, 400, 12
QUEUES = (4.0, 8.0, 16.0)
SPANS = ((0, 60), (300, 400))


def course(queue: float, seconds: int = SECONDS) -> Course:
    """Returns a BBR flow with a CUBIC flow beside it."""
    path = model.Path(RATE_BPS, RTT_S)
    return Course("bbr", round(path.packets(queue)), seconds, rate_bps=RATE_BPS, delay_s=RTT_S / 2, others=(("cubic", 0.0),))


def kernel(case: Course, folder: Path) -> tuple[list[float], float]:
    """Returns BBR's share of what the link carries in each span, and the share of packets that the link delivered late.

    Raises TooBusy if the link could not keep its time.
    """
    given = asdict(case) | {"sysctl": {"sender": {}, "receiver": {}}, "seed": 0, "out": str(folder / "link.json")}
    (folder / "given.json").write_text(json.dumps(given))
    link = Path(__file__).with_name("link.py")
    subprocess.run([sys.executable, str(link), str(folder / "given.json")], check=True, timeout=case.duration_s + 60)
    told = json.loads((folder / "link.json").read_text())
    if told["late"] >= LATE_SHARE:
        raise TooBusy
    # The measured connection is the first that the link sees.
    return [share([*told["by_port"].values()], *span) for span in SPANS], told["late"]


def share(by_second: list[Mapping[str, int]], begin_s: int, end_s: int) -> float:
    """Returns the first flow's share of what all flows bring between two times."""
    carried = [sum(count for second, count in one.items() if begin_s <= int(second) < end_s) for one in by_second]
    return carried[0] / sum(carried)


def simulated(case: Course, seed: int) -> list[float]:
    """Returns BBR's shares of the goodput in a run of the study's scenario with the same queue."""
    changes = {
        "template.queue.limit": f"{case.buffer} packets",
        "duration": f"{case.duration_s} s",
        "warmup": "0 s",
        "record.every": "1 s",
        "seed": seed,
    }
    run = el.run(Path(model.__file__).with_name("share.toml"), set=changes)
    found = []
    for begin, end in SPANS:
        bbr, other = (run.statistic(f"delivered_bps[{name}, during {begin}-{end} s].sum") for name in ("bbr", "other"))
        found.append(bbr / (bbr + other))
    return found


def main() -> None:
    print("| queue [BDP] | kernel, first minute | elephan | kernel, 300 to 400 s | elephan | model | late |", flush=True)
    print("|---|---|---|---|---|---|---|", flush=True)
    for queue in [float(word) for word in sys.argv[1:]] or QUEUES:
        case = course(queue)
        try:
            with TemporaryDirectory() as folder:
                real, late = kernel(case, Path(folder))
        except TooBusy:
            print(f"| {queue:g} | the machine is too busy |", flush=True)
            continue
        ours = np.array([simulated(case, seed) for seed in range(1, SEEDS + 1)])
        spread = [f"{one.mean():.3f} ({one.min():.3f} to {one.max():.3f})" for one in ours.T]
        predicted = model.bbr_share(model.Path(RATE_BPS, RTT_S), queue, 1)
        cells = [f"{queue:g}", f"{real[0]:.3f}", spread[0], f"{real[1]:.3f}", spread[1], f"{predicted:.3f}", f"{100 * late:.2f} %"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
