"""Where the kernel's record and elephan's differ, with the margins of the referee.

A case agrees if elephan does what the kernel did in one of its runs: the kernel's clock has noise, and BBR draws a phase.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from kernel.compare import PHASES
from kernel.referee.drive import PACED_S, Record, received_by, sent_by
from kernel.referee.play import JIFFY_S, timer_grain
from kernel.referee.stacks import Elephan, Kernel
from kernel.referee.stimulus import Receiving, Sending
from kernel.referee.wire import Segment

TIME_S, WINDOW_SHARE, THRESHOLD = 0.005, 0.03, 1
# The kernel is asked again so often while it differs.
RUNS = 3
# What the referee was late with in all runs of a case that differs only in time: nobody is judged.
LATE_S = 0.003
# A run in which the referee was later than that is spoilt.
BUSY_S = 0.02
INFINITE = 0x7FFFFFFF
# Fields of `tcp_info` that are words in elephan, and those that say how long ago by the kernel's jiffies.
WORDS = {"state": ("established",), "ca_state": ("open", "disorder", "cwr", "recovery", "loss")}
CLOCKS = ("rto", "ato", "rtt", "rttvar", "rcv_rtt", "min_rtt", "busy_time", "rwnd_limited", "sndbuf_limited")
SINCE = ("last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv")
RATES = ("pacing_rate", "max_pacing_rate", "delivery_rate")


@dataclass
class Outcome:
    """What came of a case: the quantities that differ, each with its first difference."""

    case: Sending | Receiving
    apart: dict[str, str] = field(default_factory=dict)
    late_s: float = 0.0
    # Fields of `tcp_info` that differ after at least one segment, with the first difference.
    fields: dict[str, str] = field(default_factory=dict)
    # The kernel's runs differ from each other by the same margins.
    varies: bool = False
    kernel: Record = field(default_factory=Record)

    @property
    def spoilt(self) -> bool:
        return bool(self.apart) and set(self.apart) <= {"times"} and self.late_s > LATE_S

    @property
    def kind(self) -> str:
        """The first quantity that differs, in the order of cause."""
        return next(iter(self.apart), "")


def judged(case: Sending | Receiving, runs: int = RUNS) -> Outcome:
    """Returns the outcome of the run of the kernel to which elephan comes nearest."""
    best: Outcome | None = None
    kernels: list[Record] = []
    for _ in range(runs):
        kernels.append(asked_in_time(case))
        for one in simulated(case, kernels[-1]):
            found = Outcome(case, differences(case, kernels[-1], one), kernels[-1].late_s, kernel=kernels[-1])
            found.fields = told(kernels[-1], one)
            if best is None or len(found.apart) < len(best.apart):
                best = found
        assert best is not None
        if not best.apart:
            break
    assert best is not None
    best.varies = len(kernels) > 1 and any(differences(case, kernels[0], other) for other in kernels[1:])
    return best


def asked_in_time(case: Sending | Receiving) -> Record:
    """Returns what the kernel did, asked again where the referee itself was very late."""
    for _ in range(RUNS):
        record = asked(case)
        if record.late_s <= BUSY_S:
            break
    return record


def asked(case: Sending | Receiving) -> Record:
    controller = case.controller if isinstance(case, Sending) else "reno"
    stack = Kernel(controller, isinstance(case, Sending) and case.ecn)
    try:
        return sent_by(stack, case) if isinstance(case, Sending) else received_by(stack, case)
    finally:
        stack.close()


def simulated(case: Sending | Receiving, real: Record) -> list[Record]:
    """Returns elephan's record, or those of all phases that BBR may draw, with the times at which the kernel got what it got."""
    if isinstance(case, Receiving):
        return [received_by(Elephan("reno"), as_taken(case, real))]
    laws: list[str | dict[str, Any]] = [case.controller]
    if case.controller == "bbr":
        laws = [{"kind": "bbr", "phase": phase} for phase in PHASES]
    return [sent_by(Elephan(law, case.ecn), case, real) for law in laws]


def as_taken(case: Receiving, real: Record) -> Receiving:
    """Returns the case with the times at which the kernel really got segments and reads: its ACKs beside a hole wait 1 ms."""
    arrivals = tuple((at, index) for at, (_, index) in zip(real.taken, case.arrivals, strict=True))
    reads = tuple((at, size) for at, (_, size) in zip(real.read_at, case.reads, strict=True))
    return replace(case, arrivals=arrivals, reads=reads)


def differences(case: Sending | Receiving, real: Record, ours: Record) -> dict[str, str]:
    tests: dict[str, Callable[[Any, Record, Record], str]]
    if isinstance(case, Sending):
        tests = {"transmissions": transmissions, "ssthresh": thresholds, "window": windows, "times": times}
    else:
        tests = {"acks": acks, "offered window": offered, "times": ack_times}
    found = {name: test(case, real, ours) for name, test in tests.items()}
    return {name: text for name, text in found.items() if text}


# Of senders.


def transmissions(case: Sending, real: Record, ours: Record) -> str:
    """Compares how often each segment was sent."""
    both = [Counter((segment.seq - 1) // case.payload for _, segment in record.sent) for record in (real, ours)]
    for segment in sorted(both[0].keys() | both[1].keys()):
        if both[0][segment] != both[1][segment]:
            return f"segment {segment}: kernel {both[0][segment]}, elephan {both[1][segment]}"
    return ""


def thresholds(case: Sending, real: Record, ours: Record) -> str:
    """Compares the values that ssthresh takes one after the other."""
    histories = []
    for record in (real, ours):
        values = [info["snd_ssthresh"] for info in record.infos]
        history = [value for n, value in enumerate(values) if n == 0 or value != values[n - 1]]
        histories.append([value for value in history if value < INFINITE])
    kernel, elephan = histories
    if len(kernel) != len(elephan) or any(abs(a - b) > THRESHOLD for a, b in zip(kernel, elephan, strict=True)):
        return f"kernel {kernel}, elephan {elephan}"
    return ""


def windows(case: Sending, real: Record, ours: Record) -> str:
    """Compares the windows after each ACK: apart by at most 3 % in the mean."""
    pairs = [(a["snd_cwnd"], b["snd_cwnd"]) for a, b in zip(real.infos, ours.infos, strict=False)]
    apart = sum(abs(a - b) / a for a, b in pairs) / max(1, len(pairs))
    if apart <= WINDOW_SHARE:
        return ""
    first = next(n for n, (a, b) in enumerate(pairs) if a != b)
    return f"{100 * apart:.1f} % in the mean, first after ACK {first + 1}: kernel {pairs[first][0]}, elephan {pairs[first][1]}"


def times(case: Sending, real: Record, ours: Record) -> str:
    """Compares when each transmission of each segment left. The grain of a timer's wheel may be added once it has rung."""
    return _times(real, ours, lambda segment: segment.seq, PACED_S if case.controller == "bbr" else 0.0)


def _times(real: Record, ours: Record, name: Callable[[Segment], Any], paced_s: float) -> str:
    when: list[dict[tuple[Any, int], float]] = []
    for record in (real, ours):
        seen: Counter[Any] = Counter()
        found = {}
        for at, segment in record.sent:
            seen[name(segment)] += 1
            found[name(segment), seen[name(segment)]] = at - record.begin_s
        when.append(found)
    # In virtual time a segment leaves at the very instant of its cause, or a timer rang.
    causes = {round(at - ours.begin_s, 9) for at, _ in ours.given} | {round(at, 9) for at in ours.calls}
    slack = 0.0
    for (which, turn), at in sorted(when[1].items(), key=lambda item: item[1]):
        before = max((cause for cause in causes if cause < at), default=0.0)
        if round(at, 9) not in causes and at - before > paced_s:
            slack += timer_grain(at - before)
        kernel = when[0].get((which, turn))
        if kernel is not None and not -TIME_S <= kernel - at <= TIME_S + slack:
            return f"number {which}, transmission {turn}: kernel {1e3 * kernel:.1f} ms, elephan {1e3 * at:.1f} ms"
    return ""


# Of receivers.


def acks(case: Receiving, real: Record, ours: Record) -> str:
    """Compares ACK numbers and SACK blocks, one ACK after the other."""
    both = [[(segment.ack, segment.sack) for _, segment in record.sent] for record in (real, ours)]
    for n, (kernel, elephan) in enumerate(zip(*both, strict=False)):
        if kernel != elephan:
            return f"ACK {n + 1}: kernel {kernel}, elephan {elephan}"
    if len(both[0]) != len(both[1]):
        return f"kernel {len(both[0])} ACKs, elephan {len(both[1])}"
    return ""


def offered(case: Receiving, real: Record, ours: Record) -> str:
    """Compares the windows that ACKs of the same number offer, in bytes."""
    both = []
    for record in (real, ours):
        scale = record.infos[0]["rcv_wscale"]
        both.append({segment.ack: segment.window << scale for _, segment in record.sent})
    for number in sorted(both[0].keys() & both[1].keys()):
        kernel, elephan = both[0][number], both[1][number]
        if abs(kernel - elephan) > WINDOW_SHARE * kernel:
            return f"at ACK number {number}: kernel {kernel} B, elephan {elephan} B"
    return ""


def ack_times(case: Receiving, real: Record, ours: Record) -> str:
    """Compares when the first ACK of each number left; a delayed ACK rings by the kernel's jiffies."""
    return _times(real, ours, lambda segment: (segment.ack, tuple(segment.sack)), 0.0)


# Of `tcp_info`.


def told(real: Record, ours: Record) -> dict[str, str]:
    """Returns the fields that differ: counts exactly, times by 5 ms and a jiffy or 3 %, rates by 3 %."""
    found: dict[str, str] = {}
    for n, (kernel, elephan) in enumerate(zip(real.infos, ours.infos, strict=False)):
        for name, value in kernel.items():
            if name in found:
                continue
            own = elephan.get(name)
            if own is None:
                found[name] = "elephan does not tell it"
                continue
            if name in WORDS:
                own = WORDS[name].index(own) + (name == "state") if own in WORDS[name] else own
            if not _near(name, value, own):
                found[name] = f"after segment {n + 1}: kernel {value}, elephan {own}"
    return found


def _near(name: str, kernel: int, own: Any) -> bool:
    if not isinstance(own, int):
        return False
    margin = 0.0
    if name in CLOCKS:
        margin = max(1e6 * (TIME_S + JIFFY_S), WINDOW_SHARE * kernel)
    elif name in SINCE:
        margin = 1e3 * (TIME_S + JIFFY_S)
    elif name in RATES:
        margin = WINDOW_SHARE * kernel
    return abs(kernel - own) <= margin
