"""What `elephan.bench.sweeps` measures, in a process of its own: `WHAT CORES ...`; prints JSON."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SHORT = {"duration": "10 ms", "warmup": "1 ms"}
RATES = 10
VARIANTS = 1_000
PART = 100_000  # rows


def runs(place: str, count: str, seed: str) -> dict[str, Any]:
    """Runs so many of 10 ms and keeps them; imports are not counted, workers that begin are."""
    from elephan.experiment.sweep import sweep

    rates = [f"{10 + rate} Mbps" for rate in range(RATES)]
    with tempfile.TemporaryDirectory() as kept:
        begin = time.monotonic()
        sweep(
            "sawtooth",
            set={**SHORT, "template.rate": rates},
            repetitions=int(count) // RATES,
            seed=int(seed),
            store=Path(kept) / "trials",
            on=place,
        )
        return {"wall_s": time.monotonic() - begin}


def store(count: str) -> dict[str, Any]:
    """Asks a store of so many made-up trials, and draws the sweep that they are of."""
    from elephan.experiment.store.query import query
    from elephan.experiment.store.store import Store
    from elephan.experiment.sweep import Sweep, sweep
    from elephan.experiment.trials import Trial, Variant
    from elephan.report.page.page import write_page
    from elephan.report.page.sweep_page import page

    steps: dict[str, Any] = {}
    facts = sweep("sawtooth", set=SHORT, repetitions=2, statistics=["goodput_bps.sum"]).facts

    def timed(what: str, step: Callable[[], Any]) -> Any:
        begin = time.monotonic()
        found = step()
        steps[what] = {"s": time.monotonic() - begin, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        return found

    with tempfile.TemporaryDirectory() as place:
        where = Path(place) / "trials"
        _make(where, int(count))
        timed("counted, with experiments and variants", lambda: Store.at(where).summary())
        timed("parameters listed", lambda: query("select name, unit from dictionary where role = 'parameter'", where))
        timed("one statistic read", lambda: query('select "goodput_bps.sum" from trials', where))
        chosen = '"template.rate" >= 20e6 and "template.queue.limit" < 20e3'
        told = 'variant, seed, "goodput_bps.sum" as goodput, "template.rate.text" as rate, "template.queue.limit.text" as queue'
        sql = f"select {told} from trials"
        found = timed("filtered", lambda: query(f"{sql} where {chosen}", where))

        def drawn(rows: Any) -> None:
            table = rows.to_pylist()
            variants = {row["variant"]: {"template.rate": row["rate"], "template.queue.limit": row["queue"]} for row in table}
            trials = [Trial(row["variant"], row["seed"], {"goodput_bps.sum": row["goodput"]}) for row in table]
            one = Sweep("made-up", [Variant(label, given) for label, given in variants.items()], trials, facts)
            write_page(page(one), Path(place) / "report.html", None)

        timed(f"filtered ones ({found.num_rows}) drawn as a report", lambda: drawn(found))
        timed("all read and drawn as a report", lambda: drawn(query(sql, where)))
        size = sum(path.stat().st_size for path in where.rglob("*") if path.is_file())
    return {"trials": int(count), "size_bytes": size, "steps": steps}


def _make(where: Path, count: int) -> None:
    """Writes a store of made-up trials: 40 rates, queues in steps of 1 kB, normal statistics."""
    import numpy as np
    import pyarrow as pa

    from elephan.experiment.store import parts
    from elephan.experiment.store.row import STATISTIC, schema
    from elephan.statistic import measures

    parts.create(where)
    names = [STATISTIC + name for name in measures.DEFAULT]
    columns, draw = schema(names), np.random.default_rng(1)
    repetitions = max(1, count // VARIANTS)
    for number, begin in enumerate(range(0, count, PART)):
        rows = range(begin, min(count, begin + PART))
        of = [row // repetitions for row in rows]
        given = [{"rate": one % 40 + 1, "queue": one // 40 + 1} for one in of]
        parameters = [
            [
                ("template.rate", {"text": f"{one['rate']} Mbps", "number": one["rate"] * 1e6, "unit": "bps"}),
                ("template.queue.limit", {"text": f"{one['queue']} kB", "number": one["queue"] * 1e3, "unit": "bytes"}),
            ]
            for one in given
        ]
        texts = {"experiment": "made-up", "guests": "", "engine": "0", "measure": "0", "names": json.dumps(measures.DEFAULT)}
        table: dict[str, Any] = {name: [text] * len(rows) for name, text in texts.items()}
        table |= {name: [None] * len(rows) for name in ("error", "command", "sources", "about", "series")}
        table |= {
            "key": [hashlib.blake2b(str(row).encode(), digest_size=16).hexdigest() for row in rows],
            "variant": [f"rate={one['rate']} Mbps, limit={one['queue']} kB" for one in given],
            "seed": [row % repetitions + 1 for row in rows],
            "parameters": parameters,
            "scenario": [f"{one:032x}" for one in of],
            "flows": [1] * len(rows),
            **{name: draw.normal(1e7, 1e6, len(rows)) for name in names},
        }
        parts.write_part(where / "parts", "made-up", number, pa.table(table, schema=columns))


def main() -> None:
    what, cores, *words = sys.argv[1:]
    os.sched_setaffinity(0, map(int, cores.split(",")))
    print(json.dumps(runs(*words) if what == "runs" else store(*words)))


if __name__ == "__main__":
    main()
