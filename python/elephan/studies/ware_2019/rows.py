"""The claims of the grid: the model's error over a whole network, over a curve, and in single cells.

A cell holds the model's share, give or take the paper's median error for it: 5 % beside CUBIC, 8 % beside Reno. A median error of
5 % means that half of the cells are within 5 %, so these claims need half of their parts. The error is in points of the link where
nothing else is said; a second reading takes it as a share of what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from elephan.studies.ware_2019 import grid, model

SHARE = "goodput_bps[bbr].sum"
NAMES = {"cubic": "10 Mb/s, 40 ms, CUBIC", "reno": "10 Mb/s, 40 ms, Reno", "fast": "50 Mb/s, 30 ms, CUBIC"}
FIGURES = {"cubic": "figure 8a", "fast": "figure 8b", "reno": "figure 8c"}
# Why claims do not hold, by their ids or by what comes before the slash: the reason and its cause.
_ONE = (
    "One BBR flow has less than the model says: the model counts the pipe twice, once full of packets of others. Today's kernel "
    "beside CUBIC has what elephan has (README)."
)
_MANY = (
    "Two errors of the model cancel for 2 to 4 BBR flows: it counts the pipe twice, and it leaves out the room for bursts that "
    "Linux adds to each window. The first prevails with one flow, the second with many."
)
REASONS: dict[str, tuple[str, str]] = {
    "ware-1": (_MANY, "theory"),
    "ware-2": (_MANY, "theory"),
    "ware-3": (_MANY, "theory"),
    "ware-1/1-bbr": (_ONE, "theory"),
    "ware-2/1-bbr": (_ONE, "theory"),
    "ware-3/1-bbr": (_ONE, "theory"),
    "ware-4": (_ONE, "theory"),
    "ware-9": (
        "The equations with two changes are nearer with one flow and with many, and further with 2 to 8. CUBIC also grows while "
        "BBR waits in PROBE_RTT, and the queue is not always full; neither is in any of these equations.",
        "theory",
    ),
}


def claims() -> list[dict[str, Any]]:
    """Returns the claims, in the format of claims.toml."""
    found = []
    for number, network in enumerate(grid.NETWORKS, 1):
        cells = grid.cells(network)
        found += [_error(f"ware-{number}/points", network, cells, False), _error(f"ware-{number}/relative", network, cells, True)]
        found += [_curve(number, network, flows) for flows in grid.FLOWS]
    found += [_careful(network) for network in grid.NETWORKS]
    found += [_cell(network, queue) for network in grid.NETWORKS for flows, queue in grid.cells(network) if flows == 1]
    for claim in found:
        reason = REASONS.get(claim["id"]) or REASONS.get(claim["id"].partition("/")[0])
        if reason:
            claim["reason"], claim["cause"] = reason
    return found


def _part(
    network: str, flows: int, queue: int, relative: bool = False, of: Callable[[model.Path, float, int], float] = model.bbr_share
) -> dict[str, Any]:
    """Returns the part of a cell: its goodput is the model's, give or take the error."""
    path, error = grid.NETWORKS[network], grid.ERRORS[network]
    share = of(path, queue, flows)
    low, high = (share / (1 + error), share / (1 - error)) if relative else (share - error, share + error)
    top = grid.capacity(path)
    return {
        "experiment": network,
        "statistic": SHARE,
        "variant": f"{flows} BBR/{queue} BDP",
        "min": round(low * top),
        "max": round(high * top),
    }


def _error(name: str, network: str, cells: Sequence[tuple[int, int]], relative: bool) -> dict[str, Any]:
    percent = f"{100 * grid.ERRORS[network]:.0f} %"
    of = "of what is measured" if relative else "of the link"
    return {
        "id": name,
        "statement": f"Over the grid of {NAMES[network]} the model's median error is at most {percent} {of}.",
        "source": f"summary of the model, {FIGURES[network]}",
        "says": f"the median error is {percent} beside {'Reno' if network == 'reno' else 'CUBIC'}",
        "derived": f"half of the cells are within {percent}; whether it is {of} is one of two readings",
        "need": 0.5,
        "parts": [_part(network, *cell, relative) for cell in cells],
    }


def _curve(number: int, network: str, flows: int) -> dict[str, Any]:
    percent = f"{100 * grid.ERRORS[network]:.0f} %"
    return {
        "id": f"ware-{number}/{flows}-bbr",
        "statement": f"With {flows} BBR against one flow, {NAMES[network]}, half of the queues are within {percent} of the model.",
        "source": FIGURES[network],
        "derived": "the median error of the paper, along one curve of the figure, in points of the link",
        "need": 0.5,
        "parts": [_part(network, flows, queue) for one, queue in grid.cells(network) if one == flows],
    }


def _careful(network: str) -> dict[str, Any]:
    percent = f"{100 * grid.ERRORS[network]:.0f} %"
    return {
        "id": f"ware-9/{network}",
        "statement": f"With two changes of the equations the median error of {NAMES[network]} is at most {percent} of the link.",
        "source": f"equations 7 to 11 with two changes (`careful_share` of model.py), {FIGURES[network]}",
        "derived": "the pipe is counted once, and Linux adds room for bursts to each window; added after the first run",
        "need": 0.5,
        "parts": [_part(network, *cell, of=model.careful_share) for cell in grid.cells(network)],
    }


def _cell(network: str, queue: int) -> dict[str, Any]:
    share = model.bbr_share(grid.NETWORKS[network], queue, 1)
    percent = f"{100 * grid.ERRORS[network]:.0f} %"
    return {
        "id": f"ware-4/{network}-{queue}",
        "statement": f"One BBR flow against one, {NAMES[network]}, {queue} BDP: {100 * share:.1f} % of the link, as modelled.",
        "source": f"equations 9 to 11, {FIGURES[network]}",
        "derived": f"{percent} of the link either way, the paper's median error",
        "parts": [_part(network, 1, queue)],
    }
