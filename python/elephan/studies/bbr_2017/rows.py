"""Claims made of the paper's figures 10 and 12: one for each mark that could be read.

Margins, fixed before the first run. BBR in figure 10: 5 % and the error of reading, since each mark is one run on a host that
nobody knows. CUBIC in figure 10: 25 % and the error of reading; a run of 60 s at 0.01 % has fifty losses. Figure 12: 10 % and the
error of reading.
"""

from __future__ import annotations

from typing import Any

from elephan.studies.bbr_2017 import points

# Why single marks come out otherwise: by the id of the claim, the reason and its cause.
_TWICE = (
    "BBR paces near the share of the link that arrives, and of this it loses the same share again. Today's kernel has less than "
    "the figure, too (README)."
)
REASONS: dict[str, tuple[str, str]] = {
    "bbr-2/2": (f"BBR has {{bbr-2:mean}}. {_TWICE}", "source"),
    "bbr-2/5": (f"BBR has {{bbr-5:mean}}. {_TWICE}", "source"),
    "bbr-2/10": (f"BBR has {{bbr-10:mean}}. {_TWICE}", "source"),
    "bbr-2/15": (
        f"BBR has {{bbr-15:mean}}, and {{undetected-15:mean}} without the detection of policers. {_TWICE}",
        "source",
    ),
    "bbr-2/20": ("BBR has {bbr-20:mean}: the runs differ, since their rate falls at different times.", "unknown"),
    "bbr-2/25": ("BBR has {bbr-25:mean}: the runs differ, since their rate falls at different times.", "unknown"),
    "bbr-3/0.1": ("The interval is wider than the margin: CUBIC has {cubic-0-1} in runs of 60 s.", "unknown"),
    "bbr-19/cubic-3": (
        "CUBIC waits for {wait-cubic-3-0:mean}, the whole buffer; the mark is below it.",
        "source",
    ),
}


def _claim(name: str, statement: str, source: str, says: str, derived: str, part: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": name,
        "statement": statement,
        "source": source,
        "says": says,
        "derived": derived,
        "parts": [part],
    }
    if name in REASONS:
        found["reason"], found["cause"] = REASONS[name]
    return found


def claims() -> list[dict[str, Any]]:
    """Returns the claims, in the format of claims.toml."""
    return [*_loss("BBR", 2, 0.05), *_loss("CUBIC", 3, 0.25), *_mobile()]


def _loss(control: str, number: int, margin: float) -> list[dict[str, Any]]:
    found = []
    for read in points.digitised()["10", control]:
        loss = points.percent(read.x)
        low, high = read.y * (1 - margin) - read.error, read.y * (1 + margin) + read.error
        part: dict[str, Any] = {"experiment": "loss", "statistic": "goodput_bps.sum", "variant": f"{control}/{loss}"}
        part |= {"max": round(high * 1e6)} | ({"min": round(low * 1e6)} if low > 0 else {})
        found.append(
            _claim(
                f"bbr-{number}/{loss.split()[0]}",
                f"At {loss} random loss {control} has the goodput of the mark in figure 10, {read.y:g} Mb/s.",
                "figure 10",
                f"a mark at {read.y:g} Mb/s, read with an error of {read.error:g} Mb/s",
                f"the margin of {100 * margin:g} % beside the reading error is ours: a mark is one run",
                part,
            )
        )
    return found


def _mobile() -> list[dict[str, Any]]:
    found = []
    for read in points.digitised()["12", "CUBIC"]:
        if read.x not in points.BUFFERS_MB:
            continue
        low, high = (read.y * (1 + sign * 0.1) + sign * read.error for sign in (-1, 1))
        part = {
            "experiment": "mobile",
            "statistic": "queue_bytes.p50",
            "variant": f"CUBIC/{read.x:g} MB",
            "min": round(low * points.MOBILE_BPS / 8),
            "max": round(high * points.MOBILE_BPS / 8),
        }
        found.append(
            _claim(
                f"bbr-19/cubic-{read.x:g}",
                f"With a buffer of {read.x:g} MB eight CUBIC flows wait for {read.y:g} s in the median, as in figure 12.",
                "figure 12",
                f"a mark at {read.y:g} s, read with an error of {read.error:g} s",
                "the wait is the queue over 128 kb/s; the margin of 10 % beside the reading error is ours",
                part,
            )
        )
    return found
