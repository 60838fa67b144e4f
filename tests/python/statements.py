"""The words of every statement of `elephan explain`, each with the function that computes its numbers again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import storychanges as changes
import storychecks as check
from stories import NUMBER, OFF, QUANTITY, TIMES, Rows, helped

N, Q = NUMBER, QUANTITY
WERE = r"packets? (?:was|were)"
STATEMENTS: dict[str, list[tuple[str, Callable[[Rows, re.Match[str]], None]]]] = {
    "slow_start_overshoot": [
        (
            rf"(?:Slow start|The startup) of (?P<flow>.+) went on until the queue of (?P<port>.+) overflowed; (?P<lost>{N}) {WERE} "
            rf"lost (?:until (?P<until>{Q})|before that was noticed at (?P<noticed>{Q}))\."
            rf"(?: With headers its window grew to (?P<grew>{Q}), but the path "
            rf"holds (?P<holds>{Q}): (?P<way>{Q}) on "
            rf"the way and (?P<room>{Q}) in the queue\. So it overshot by (?P<times>{N}) times the buffer\.(?: The cut left "
            rf"(?P<left>{Q}), still more than the path holds: (?P<after>{N}) {WERE} lost after it\.)?)?{OFF}",
            check.overshoot,
        ),
        (
            rf"(?P<whose>.+) were in slow start when (?:the queue of .+|a queue) overflowed, the first at (?P<first>{Q}), "
            rf"the last at (?P<last>{Q})\. They lost (?P<lost>{N}) packets (?:until slow start was over and its losses were "
            rf"repaired|(?P<unseen>before they noticed that))\.{OFF}",
            check.overshoots,
        ),
    ],
    "first_window": [
        (
            rf"The first window of (?P<flow>.+), (?P<segments>{N}) segments or (?P<size>{Q}), left at once"
            rf"(?: with (?P<others>{N}) other "
            rf"first windows?)?\. (?:It|Together they) overflowed the "
            rf"queue of (?P<port>.+), which holds (?P<room>{Q}), and (?P<lost>{N}) {WERE} lost\.",
            check.first_window,
        ),
        (
            rf"(?P<whose>.+) lost packets of their first window \((?P<segments>{N}) segments\): the queue of (?P<port>.+) "
            rf"overflowed, and (?P<lost>{N}) {WERE} lost\.",
            check.first_windows,
        ),
    ],
    "slow_start_by_delay": [
        (
            rf"Slow start of (?P<flow>.+) ended without a loss at a window of (?P<size>{Q})(?:, {N} times the bandwidth-"
            r"delay product of .+)?: its slow start \(\w+\) looks at the delay\.",
            check.by_delay,
        ),
        (
            rf"(?P<whose>.+) left slow start without a loss, at windows of (?P<low>{Q}) to (?P<high>{Q}), the last at "
            r"(?P<last>" + Q + r"): their slow start \(\w+\) looks at the delay\.",
            check.by_delays,
        ),
    ],
    "timeouts": [
        (
            rf"(?P<flow>.+) waited for its retransmission timer (?P<times>{TIMES}) \(at (?P<at>.+?)\)\.(?P<why> .+?\.)?"
            rf"(?: The longest time without progress was (?P<stall>{Q})\.)",
            check.timeout,
        ),
        (
            rf"(?P<whose>.+) waited for their retransmission timer, (?P<times>{TIMES}) in all, first at (?P<first>{Q}), last at "
            rf"(?P<last>{Q})\.(?P<why> Why: .+?\.)? The longest time without progress was (?P<stall>{Q}) \((?P<worst>.+)\)\.",
            check.timeouts,
        ),
    ],
    "losses": [
        (
            rf"(?P<port>.+) dropped (?P<count>{N}) packets?(?: (?P<why>because .+?|by .+?|for no reason that is known))?, "
            rf"(?P<share>{Q}) of what came(?:: (?P<parts>.+?))?\.(?: The link lost (?P<cut>{N}) more that were on the way as it "
            r"went down\.)?",
            check.losses,
        ),
        (
            rf"The link (?P<port>.+) lost (?P<cut>{N}) packets? that (?:was|were) on the way as it went down\.",
            check.cut_off,
        ),
        (
            rf"(?P<ports>{N}) ports dropped (?P<count>{N}) packets?, most of them (?P<most>.+?)\.(?: Among them are (?P<cut>{N}) "
            r"packets? that links lost on the way as they went down\.)?",
            check.losses_of_many,
        ),
    ],
    "noticed": [
        (
            rf"Senders began to retransmit (?:(?P<fast>{TIMES}) because of the ACKs of later data)?(?: and )?"
            rf"(?:(?P<slow>{TIMES}) because of the timer)?(?:, in (?:all|(?P<flows>{N}) of) (?P<every>{N}) flows)?\.",
            check.noticed,
        )
    ],
    "link_loss": [
        (
            rf"The links? (?P<ports>.+) lost (?P<count>{N}) packets? on the way \(loss in the scenario\)\."
            rf"(?: (?:The sender|Senders) took that for congestion (?P<cuts>{TIMES}) and made the window smaller\.)?"
            rf"(?: The (?:link|busiest of them) was busy for (?P<busy>{Q}) of the time: the losses were no sign of congestion\.)?",
            check.random_loss,
        )
    ],
    "needless": [
        (
            rf"(?P<whose>.+) took a delay for a loss (?P<times>{TIMES})(?: in all)?, noticed it, and undid the cut\.",
            check.undone(True),
        ),
        (
            rf"(?P<whose>.+) undid a cut of the window (?P<times>{TIMES})(?: in all)?: ACKs showed that what was "
            r"retransmitted first had arrived, late or without its ACK\.",
            check.undone(False),
        ),
        (
            rf"(?P<whose>.+) retransmitted (?P<count>{N}) segments? although nothing was lost: packets came late or out of order\.",
            check.needless,
        ),
    ],
    "host_queue": [
        (
            rf"The hosts? of (?P<flow>.+) refused segments (?P<times>{TIMES}): qdisc and ring of the interface were "
            r"full\.(?: TCP takes such a refusal for congestion and makes its window smaller\.)?",
            check.host_queue,
        )
    ],
    "host_drops": [
        (
            rf"(?P<host>.+) dropped (?P<count>{N}) packets? that had come to it, (?P<share>{Q}) of them all, mostly "
            r"because (?P<why>.+)\.",
            check.host_drops,
        )
    ],
    "receive_window": [
        (
            rf"(?P<flow>.+) (?:was|were) limited by the window that (?:its receiver|their receivers) offered, (?:each )?for "
            rf"(?P<low>{Q})(?: to (?P<high>{Q}))? of its time\.",
            check.limited("snd_lim_time_rwin_ns"),
        )
    ],
    "own_side": [
        (
            rf"(?P<flow>.+) (?:was|were) limited by (?:its|their) own side,? (?:each )?for (?P<low>{Q})(?: to (?P<high>{Q}))? of "
            r"its time: the (?:application had nothing to send|send buffers? (?:was|were) full)"
            r"(?:, or the send buffer was full)?\.",
            check.limited("snd_lim_time_snd_ns"),
        )
    ],
    "standing_queue": [
        (
            rf"The queue of (?P<port>.+) held packets for (?P<delay>{Q}) on average, (?P<times>{N}) times the round-trip time"
            rf"(?: of (?P<flow>.+))? without it \((?P<least>{Q})\)\.",
            check.standing,
        )
    ],
    "idle_bottleneck": [
        (
            rf"(?P<port>.+) dropped packets, and yet it was busy for only (?P<busy>{Q}) of the time\.(?: Its queue holds "
            rf"(?P<bdp>{N}) times the bandwidth-delay product of (?P<flow>.+?)\.)?(?: The longest pause of (?P<paused>.+) was "
            rf"(?P<pause>{Q})\.)?",
            check.idle,
        )
    ],
    "unfair_share": [
        (
            rf"(?P<most>.+) delivered (?P<high>{Q}), (?:(?P<times>{N}) times as much as (?P<least>.+) \((?P<low>{Q})\)|while "
            rf"(?P<none>.+) delivered nothing)\. "
            rf"(?:What differs: (?P<differs>.+?)|Their settings and round-trip times are the same: other seeds may say otherwise)\."
            rf"(?: Of {N} flows these are the first and the last\.)?",
            check.unfair,
        )
    ],
    "marks": [
        (
            rf"(?P<port>.+) marked (?P<count>{N}) packets?(?: \(of (?P<all>{N}) in all\))? and dropped (?P<drops>none|{N}): "
            r"(?P<slowed>senders slowed down by|no sender slowed down for|their senders do not slow down for) marks \(ECN\)\.",
            check.marks,
        )
    ],
    "straggler": [
        (
            rf"Messages from (?P<who>.+) to (?P<to>.+) held back (?P<count>{N}) of (?P<all>{N}) iterations?, by (?P<by>{Q}) of the "
            rf"(?P<took>{Q}) that all took; the busiest link on their way was (?P<link>.+?)\."
            rf"(?: Its rate is (?P<rate>{Q}), that of the fastest link (?P<most>{Q})\.)?",
            check.straggler,
        ),
        (
            rf"(?P<who>.+) computed longer than the mean of all ranks and held back (?P<count>{N}) of (?P<all>{N}) iterations?, "
            rf"by (?P<by>{Q}) of the (?P<took>{Q}) that all took\.",
            check.straggler,
        ),
    ],
    "copy_limit": [
        (
            rf"Transfers from disk to disk ran at (?P<rate>{Q}); .+ held them up for (?P<share>{Q}) of the time\.",
            check.copies,
        )
    ],
    "no_connection": [
        (rf"(?P<who>.+) never connected: no answer to (?P<count>{N}) SYNs? got through\.", check.no_connection),
    ],
    "deadlock": [(r"Deadlock: the paused ports .+ waited for each other's buffers\.", check.deadlock)],
    "changes": [
        (r"Goodput of (?:the flow|all flows together): (?P<parts>.+)\.", changes.goodput),
        (rf"Goodput of .+ in each stretch is not known: samples are (?P<apart>{Q}) apart\.", changes.apart),
        (r"Queue of (?P<port>.+) \(sampled\): (?P<parts>.+)\.", changes.queue),
        (rf".+: whether a flow.* stood still is not known, since samples are (?P<apart>{Q}) apart\.", changes.apart),
        (
            rf"(?P<port>.+) was down from .+: (?P<count>{N}) of (?P<of>{N}) flows?(?: with a way over it)? "
            r"stood still, (?P<each>.+)\.",
            changes.still,
        ),
        (r".+", check.answered),
    ],
    "pauses": [(r".+", check.answered)],
}


def judge(rows: Rows, finding: Any) -> None:
    """Fails if the words of a finding are not known, or a number of it is not in the tables."""
    fits = [(said, check) for words, check in STATEMENTS[finding.rule] if (said := re.fullmatch(words, finding.text))]
    assert fits, finding.text
    said, check = fits[-1]
    check(rows, said)
    helped(rows, finding)
