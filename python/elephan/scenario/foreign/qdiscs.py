"""One queueing discipline of `tc` as keys of a link: netem, tbf, htb, fq_codel, codel, cake, pfifo, bfifo."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

from elephan.scenario.foreign.network import Keys, rate_text, time_text
from elephan.scenario.foreign.tcunits import tc_count, tc_rate, tc_share, tc_size, tc_time

LEAST = 1518  # bytes: a bucket or a memory below a frame lets nothing pass
NETEM_LIMIT = 1000  # packets: sch_netem.c
Leave = Callable[[str], None]


class Words:
    """The words of a command, taken one after the other."""

    def __init__(self, words: list[str]) -> None:
        self.left = list(words)

    def take(self, what: str) -> str:
        if not self.left:
            raise ValueError(f"{what} has no value")
        return self.left.pop(0)

    def number(self) -> bool:
        """Whether the next word begins with a digit."""
        return bool(self.left) and self.left[0][:1].isdigit()


def netem(words: Words, leave: Leave) -> Keys:
    """Returns what netem does: delay, jitter, loss, rate, limit, duplicate, reorder."""
    keys: Keys = {"queue": {"kind": "fifo", "limit": f"{NETEM_LIMIT} p"}}
    delay_s, jitter_s, shape, early, corrupt = 0.0, 0.0, "uniform", 0.0, 0.0
    while words.left:
        word = words.take("")
        if word in ("delay", "latency"):
            delay_s = tc_time(words.take(word))
            jitter_s = tc_time(words.take(word)) if words.number() else 0.0
            _correlation(words, word, leave)
        elif word == "distribution":
            shape = words.take(word)
        elif word in ("loss", "drop"):
            keys["loss"] = _loss(words, leave)
        elif word == "duplicate":
            keys["duplicate"] = tc_share(words.take(word))
            _correlation(words, word, leave)
        elif word == "corrupt":
            corrupt = tc_share(words.take(word))
            _correlation(words, word, leave)
        elif word == "reorder":
            early = tc_share(words.take(word))
            _correlation(words, word, leave)
        elif word == "rate":
            keys["rate"] = rate_text(tc_rate(words.take(word)))
            if words.number():
                leave(f"netem rate overhead {' '.join(_numbers(words))}")
        elif word == "limit":
            keys["queue"]["limit"] = f"{tc_count(words.take(word))} p"
        else:
            leave(" ".join(["netem", word, *_numbers(words)]))
    _corrupt(keys, corrupt, leave)
    return keys | _delays(delay_s, jitter_s, shape, early, "rate" in keys, leave)


def _numbers(words: Words) -> list[str]:
    found = []
    while words.number():
        found.append(words.left.pop(0))
    return found


def _correlation(words: Words, what: str, leave: Leave) -> None:
    if numbers := _numbers(words):
        leave(f"netem {what} correlation {numbers[0]}")


def _loss(words: Words, leave: Leave) -> Any:
    if words.left and words.left[0] == "gemodel":
        words.take("loss")
        given = [tc_share(text) for text in _numbers(words)]
        if not given:
            raise ValueError("loss gemodel has no value")
        p, r, bad, good = given + [1 - given[0], 1.0, 0.0][len(given) - 1 :]
        return {"gilbert_elliott": {"to_bad": p, "to_good": r, "loss_bad": bad, "loss_good": good}}
    if words.left and words.left[0] == "state":
        words.take("loss")
        leave(f"netem loss state {' '.join(_numbers(words))}")
        return "none"
    if words.left and words.left[0] == "random":
        words.take("loss")
    share = tc_share(words.take("loss"))
    _correlation(words, "loss", leave)
    return {"bernoulli": share}


def _corrupt(keys: Keys, share: float, leave: Leave) -> None:
    if not share:
        return
    before = keys.get("loss", {"bernoulli": 0.0})
    if isinstance(before, dict) and "bernoulli" in before:
        keys["loss"] = {"bernoulli": round(1 - (1 - before["bernoulli"]) * (1 - share), 12)}
        leave(f"netem corrupt {100 * share:g}% as such: the packets count as lost, as a checksum makes them")
    else:
        leave(f"netem corrupt {100 * share:g}% beside a loss of bursts")


def _delays(delay_s: float, jitter_s: float, shape: str, early: float, ordered: bool, leave: Leave) -> Keys:
    """Returns delay and jitter. `early` is the share of packets that reorder sends at once, without the delay."""
    if early and delay_s:
        if jitter_s:
            leave(f"netem jitter {time_text(jitter_s)} beside reorder")
        return {"delay": "0 s", "reorder": {"share": round(1 - early, 12), "extra": time_text(delay_s)}}
    if early:
        leave("netem reorder without a delay")
    if not jitter_s:
        return {"delay": time_text(delay_s)}
    if shape not in ("uniform", "normal"):
        leave(f"netem distribution {shape}: it is uniform here")
    spread = 4 * jitter_s if shape == "normal" else jitter_s
    base = max(0.0, delay_s - spread)
    extra: Any = {"uniform": ["0 s", time_text(delay_s + spread - base)]}
    if shape == "normal":
        extra = {"cdf": _normal(delay_s - base, jitter_s)}
    elif delay_s < jitter_s:
        leave(f"the part of netem jitter {time_text(jitter_s)} below a delay of 0")
    return {"delay": time_text(base), "jitter": {"extra": extra, "order": "keep" if ordered else "free"}}


def _normal(mean_s: float, sigma_s: float) -> list[list[Any]]:
    """Returns points of a normal distribution within four sigma and above 0, as netem's table has it."""
    normal = NormalDist(mean_s, sigma_s)
    places = [mean_s + sigma_s * n / 4 for n in range(-16, 17) if mean_s + sigma_s * n / 4 > 0]
    points = [[time_text(place), round(normal.cdf(place), 6)] for place in places]
    return [["0 s", 0.0], *points[:-1], [points[-1][0], 1.0]]


def _table(kind: str, readers: dict[str, tuple[str, Callable[[str], Any]]], flags: dict[str, tuple[str, bool]]) -> Any:
    def read(words: Words, leave: Leave) -> Keys:
        queue: Keys = {"kind": kind}
        while words.left:
            word = words.take("")
            if word in readers:
                key, reader = readers[word]
                queue[key] = reader(words.take(word))
            elif word in flags:
                key, value = flags[word]
                queue[key] = value
            else:
                leave(" ".join([kind, word, *_numbers(words)]))
        _at_least(queue, leave)
        return {"queue": queue}

    return read


def _at_least(queue: Keys, leave: Leave) -> None:
    """Raises what would let no packet pass."""
    for key in ("burst", "memory_limit", "quantum"):
        least = LEAST if key != "quantum" else 1
        if key in queue and int(queue[key].split()[0]) < least:
            leave(f"{queue['kind']} {key} {queue[key]}: it is {least} B here, which holds one frame")
            queue[key] = f"{least} B"
    if str(queue.get("limit", "")).endswith(" B") and int(queue["limit"].split()[0]) < LEAST:
        leave(f"{queue['kind']} limit {queue['limit']}: it is {LEAST} B here, which holds one frame")
        queue["limit"] = f"{LEAST} B"


def _packets(text: str) -> str:
    return f"{tc_count(text)} p"


def _bytes(text: str) -> str:
    return f"{tc_size(text)} B"


def _time(text: str) -> str:
    return time_text(tc_time(text))


def _rate(text: str) -> str:
    return rate_text(tc_rate(text))


_CODEL = {"limit": ("limit", _packets), "target": ("target", _time), "interval": ("interval", _time),
          "ce_threshold": ("ce_threshold", _time)}  # fmt: skip
_ECN = {"ecn": ("ecn", True), "noecn": ("ecn", False)}
_TBF: dict[str, tuple[str, Callable[[str], Any]]] = {
    "rate": ("rate", _rate), "limit": ("limit", _bytes), "latency": ("latency", _time), "peakrate": ("peak_rate", _rate),
    **dict.fromkeys(("burst", "buffer", "maxburst"), ("burst", _bytes)), **dict.fromkeys(("mtu", "minburst"), ("mtu", _bytes)),
}  # fmt: skip
_CAKE_RTT = {"datacentre": 1e-4, "lan": 1e-3, "metro": 1e-2, "regional": 3e-2, "internet": 0.1, "oceanic": 0.3, "satellite": 1.0}
_cake = _table("cake", {"bandwidth": ("bandwidth", _rate), "rtt": ("rtt", _time), "memlimit": ("limit", _bytes)}, {})


def _cake_words(words: Words, leave: Leave) -> Keys:
    spelt = [["rtt", f"{_CAKE_RTT[word]}s"] if word in _CAKE_RTT else [word] for word in words.left if word != "unlimited"]
    return dict(_cake(Words([word for some in spelt for word in some]), leave))


QDISCS: dict[str, Callable[[Words, Leave], Keys]] = {
    "netem": netem,
    "tbf": _table("tbf", _TBF, {}),
    "fq_codel": _table(
        "fq_codel",
        {**_CODEL, "flows": ("flows", tc_count), "quantum": ("quantum", _bytes), "memory_limit": ("memory_limit", _bytes),
         "drop_batch": ("drop_batch", tc_count)},
        _ECN,
    ),
    "codel": _table("codel", dict(_CODEL), _ECN),
    "cake": _cake_words,
    "pfifo": _table("fifo", {"limit": ("limit", _packets)}, {}),
    "bfifo": _table("fifo", {"limit": ("limit", _bytes)}, {}),
}  # fmt: skip
