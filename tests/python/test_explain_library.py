"""Every statement of `elephan explain` about the library: its words are known, and each number is computed again from rows.

The rules work on arrays. Here plain rows are counted, so that both would have to make the same mistake.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import elephan as el
import pytest
from elephan.report.words.answer import answer
from elephan.scenario.source import library
from stories import FULL, NUMBER, OFF, QUANTITY, TIMES, Rows, helped, near, value


def overshoot(rows: Rows, said: re.Match[str]) -> None:
    flow = rows.number(said["flow"])
    noticed, row = rows.noticed(flow), rows.flows[flow]
    phases = [one["phase"] for one in rows.samples[flow] if one["time_ns"] < noticed]
    assert phases[-1] == "slow_start"
    repaired = rows.repaired(flow, noticed)
    lost = rows.lost_until(flow, repaired)
    assert {f"{one['node']} → {one['peer']}" for one in lost[:1]} == {said["port"]}
    assert value(said["lost"]) == len(lost)
    near(said["until"], repaired)
    if said["grew"]:
        port, wire = rows.ports[said["port"]], lost[0]["packet_bytes"] / row["cur_mss"]
        bdp, room, window = port["rate_bps"] * row["min_rtt_ns"] / 8e9, port["queue_max_bytes"], row["max_ss_cwnd"] * wire
        for word, size in (("grew", window), ("holds", bdp + room), ("way", bdp), ("room", room)):
            near(said[word], size)
        near(said["times"], (window - bdp - room) / room, 2)
        assert {one["flow"] for one in rows.drops if one["port"] == port["port"] and one["time_ns"] <= noticed} == {flow}
    if said["left"]:
        cut = next(one["ssthresh_bytes"] for one in rows.samples[flow] if one["time_ns"] >= noticed) * wire
        near(said["left"], cut)
        assert cut > bdp + room
        assert value(said["after"]) == sum(one["time_ns"] > noticed for one in lost)


def overshoots(rows: Rows, said: re.Match[str]) -> None:
    """Among flows whose first loss was noticed in slow start are as many, with as many losses, at these times."""
    told = []
    for flow in {one["flow"] for one in rows.drops if one["reason"] in FULL} & set(rows.flows):
        noticed = rows.noticed(flow)
        full = [one["time_ns"] for one in rows.of(flow, rows.drops) if one["reason"] in FULL and one["time_ns"] <= noticed]
        before = [one["phase"] for one in rows.samples.get(flow, ()) if one["time_ns"] < noticed]
        if full and noticed < math.inf and (not before or before[-1] in ("slow_start", "handshake")):
            told.append((full[0], len(rows.lost_until(flow, rows.repaired(flow, noticed)))))
    count = int(value(re.search(rf"^(?:All )?({NUMBER})", said["whose"])[1]))
    rows.whose(said["whose"], count)
    near(said["first"], min((time for time, _ in told), key=lambda time: abs(time - value(said["first"]))))
    near(said["last"], min((time for time, _ in told), key=lambda time: abs(time - value(said["last"]))))
    lost = sorted(number for _, number in told)
    assert sum(lost[:count]) <= value(said["lost"]) <= sum(lost[-count:])


def first_window(rows: Rows, said: re.Match[str]) -> None:
    flow = rows.number(said["flow"])
    row, noticed = rows.flows[flow], rows.noticed(flow)
    lost = [one for one in rows.of(flow, rows.drops) if row["established_ns"] <= one["time_ns"] <= noticed]
    assert value(said["lost"]) == len(lost)
    near(said["room"], rows.ports[said["port"]]["queue_max_bytes"])
    near(said["size"], value(said["segments"]) * lost[0]["packet_bytes"])
    assert row["max_ss_cwnd"] < 2 * value(said["segments"]) * row["cur_mss"]


def first_windows(rows: Rows, said: re.Match[str]) -> None:
    segments = value(said["segments"])
    lost = Counter(
        one["flow"]
        for one in rows.drops
        if one["reason"] in FULL
        and one["flow"] in rows.flows
        and rows.flows[one["flow"]]["established_ns"] <= one["time_ns"] <= rows.noticed(one["flow"])
        and (rows.flows[one["flow"]]["max_ss_cwnd"] or math.inf) < 2 * segments * rows.flows[one["flow"]]["cur_mss"]
    )
    for flow in list(lost):
        row = rows.flows[flow]
        beside = [one["established_ns"] - row["established_ns"] for one in rows.flows.values()]
        together = sum(-row["min_rtt_ns"] <= apart < row["min_rtt_ns"] for apart in beside)
        size = max(one["packet_bytes"] for one in rows.of(flow, rows.drops))
        if together * segments * size <= rows.ports[said["port"]]["queue_max_bytes"]:
            del lost[flow]  # the queue was full before
    rows.whose(said["whose"], len(lost))
    assert value(said["lost"]) == sum(lost.values())


def by_delay(rows: Rows, said: re.Match[str]) -> None:
    flow = rows.number(said["flow"])
    phases = [one["phase"] for one in rows.samples[flow]]
    left = rows.samples[flow][phases.index("congestion_avoidance")]
    assert "slow_start" in phases[: phases.index("congestion_avoidance")]
    assert not any(one["time_ns"] <= left["time_ns"] for one in rows.of(flow, rows.drops) + rows.of(flow, rows.repairs))
    near(said["size"], left["ssthresh_bytes"] or left["cwnd_bytes"])


def by_delays(rows: Rows, said: re.Match[str]) -> None:
    times, sizes = [], []
    for flow, samples in rows.samples.items():
        phases = [one["phase"] for one in samples]
        if flow not in rows.flows or "slow_start" not in phases or "congestion_avoidance" not in phases:
            continue
        left = samples[phases.index("congestion_avoidance")]
        if not any(one["time_ns"] <= left["time_ns"] for one in rows.of(flow, rows.drops) + rows.of(flow, rows.repairs)):
            times.append(left["time_ns"])
            sizes.append(left["ssthresh_bytes"] or left["cwnd_bytes"])
    rows.whose(said["whose"], len(times))
    near(said["last"], max(times))
    near(said["low"], min(sizes))
    near(said["high"], max(sizes))


def timeout(rows: Rows, said: re.Match[str]) -> None:
    flow = rows.number(said["flow"])
    at = [one["time_ns"] for one in rows.of(flow, rows.repairs) if one["kind"] == "rto"]
    assert value(said["times"]) == len(at)
    for word, time in zip(said["at"].removesuffix(" ...").split(", "), at, strict=False):
        near(word, time)
    near(said["stall"], rows.flows[flow]["stall_max_ns"])
    if said["why"]:
        why(rows, flow, at[0], said["why"])


def why(rows: Rows, flow: int, at: float, said: str) -> None:
    since = max((one["time_ns"] for one in rows.of(flow, rows.repairs) if one["time_ns"] < at), default=0)
    lost = [one for one in rows.of(flow, rows.drops) if since <= one["time_ns"] < at and one["port"] is not None]
    if found := re.fullmatch(rf" What it sent in recovery was lost as well \(({NUMBER}) packets?\)\.", said):
        assert value(found[1]) == len(lost)
    elif found := re.fullmatch(rf" Its own host had dropped ({NUMBER}) packets? that came to it, ACKs among them\.", said):
        source = rows.flows[flow]["source"]
        own = [row for row in rows.run.host_samples.to_pylist() if row["host"] == source]
        counts = [max((row["drops"] for row in own if row["time_ns"] <= end), default=0) for end in (since, at)]
        assert value(found[1]) == counts[1] - counts[0] > 0
    else:
        raise AssertionError(said)


def timeouts(rows: Rows, said: re.Match[str]) -> None:
    entry = said["whose"].rpartition(" flows of ")[2]
    own = [row for row in rows.repairs if row["kind"] == "rto" and row["flow"] in rows.flows]
    if " flows of " in said["whose"]:
        own = [row for row in own if rows.flows[row["flow"]]["traffic"] == entry]
    flows = {row["flow"] for row in own}
    rows.whose(said["whose"], len(flows))
    assert value(said["times"]) == len(own)
    near(said["first"], own[0]["time_ns"])
    near(said["last"], own[-1]["time_ns"])
    near(said["stall"], max(rows.flows[flow]["stall_max_ns"] for flow in flows))
    near(said["stall"], rows.flow(said["worst"])["stall_max_ns"])
    down = {row["flow"] for row in rows.drops if row["reason"] == "link_down"}
    for count in re.findall(rf"packets of ({NUMBER}) were lost because a link was down", said["why"] or ""):
        assert value(count) == len(flows & down)
    assert sum(value(one) for one in re.findall(rf"({NUMBER})", said["why"] or "")) <= len(flows)


def losses(rows: Rows, said: re.Match[str]) -> None:
    port = rows.ports[said["port"]]
    own = [row for row in rows.drops if row["port"] == port["port"] and row["reason"] != "link_loss"]
    assert value(said["count"]) == len(own)
    near(said["share"], len(own) / (len(own) + port["tx_packets"]), 2)
    reasons = Counter(row["reason"] for row in own)
    for count, words in re.findall(rf"({NUMBER}) because (its queue was full|the link was down)", said["parts"] or ""):
        assert reasons[{"its queue was full": "queue_full", "the link was down": "link_down"}[words]] == value(count)


def noticed(rows: Rows, said: re.Match[str]) -> None:
    kinds = Counter(row["kind"] for row in rows.repairs)
    assert value(said["fast"] or "0") == kinds["fast_retransmit"]
    assert value(said["slow"] or "0") == kinds["rto"]
    if said["flows"]:
        assert value(said["flows"]) == len({row["flow"] for row in rows.repairs})
    if said["every"]:
        assert value(said["every"]) == len(rows.flows)


def random_loss(rows: Rows, said: re.Match[str]) -> None:
    assert value(said["count"]) == sum(row["reason"] == "link_loss" for row in rows.drops) == rows.ports[said["port"]]["lost"]
    near(said["busy"], rows.ports[said["port"]]["utilisation"], 2)


def needless(rows: Rows, said: re.Match[str]) -> None:
    undone = {flow: row["spurious_fr_detected"] + row["spurious_rto_detected"] for flow, row in rows.flows.items()}
    rows.whose(said["whose"], sum(count > 0 for count in undone.values()))
    assert value(said["times"]) == sum(undone.values())


def host_queue(rows: Rows, said: re.Match[str]) -> None:
    assert value(said["times"]) == rows.flow(said["flow"])["send_stall"]
    assert rows.flow(said["flow"])["cong_signals"] > 0


def host_drops(rows: Rows, said: re.Match[str]) -> None:
    row = next(row for row in rows.run.hosts.to_pylist() if row["host"] == said["host"])
    reasons = {key: row[f"drops_{key}"] for key in ("ring", "backlog", "throttle", "socket")}
    assert value(said["count"]) == sum(reasons.values())
    near(said["share"], sum(reasons.values()) / row["frames"], 2)
    assert (max(reasons, key=lambda key: reasons[key]) == "throttle") == ("not empty yet" in said["why"])


def limited(column: str) -> Callable[[Rows, re.Match[str]], None]:
    def check(rows: Rows, said: re.Match[str]) -> None:
        names = ("snd_lim_time_rwin_ns", "snd_lim_time_cwnd_ns", "snd_lim_time_snd_ns")
        shares = {flow: row[column] / max(sum(row[name] for name in names), 1) for flow, row in rows.flows.items()}
        own = [share for share in shares.values() if share >= 0.05]
        if said["flow"] in rows.names.values():
            own = [shares[rows.number(said["flow"])]]
        else:
            rows.whose(said["flow"], len(own))
        near(said["low"], min(own), 2)
        near(said["high"] or said["low"], max(own), 2)

    return check


def standing(rows: Rows, said: re.Match[str]) -> None:
    port = rows.ports[said["port"]]
    delay = port["queue_mean_bytes"] * 8e9 / port["rate_bps"]
    near(said["delay"], delay)
    flow = rows.flow(said["flow"]) if said["flow"] else next(iter(rows.flows.values()))
    near(said["least"], flow["min_rtt_ns"])
    near(said["times"], delay / flow["min_rtt_ns"], 2)
    assert said["flow"] or len(rows.flows) == 1


def idle(rows: Rows, said: re.Match[str]) -> None:
    port = rows.ports[said["port"]]
    assert port["drops"] > 0
    near(said["busy"], port["utilisation"], 3)
    if said["bdp"]:
        near(said["bdp"], port["queue_max_bytes"] * 8e9 / port["rate_bps"] / rows.flow(said["flow"])["min_rtt_ns"], 2)


def unfair(rows: Rows, said: re.Match[str]) -> None:
    most, least = rows.flow(said["most"]), rows.flow(said["least"])
    near(said["high"], most["goodput_bps"])
    near(said["low"], least["goodput_bps"])
    near(said["times"], most["goodput_bps"] / least["goodput_bps"], 2)
    ports = [{row["port"] for row in rows.drops + marks_of(rows) if row["flow"] == one["flow"]} for one in (least, most)]
    for differs in (said["differs"] or "").split("; "):
        if found := re.search(rf"a round-trip time ({NUMBER}) times as long", differs):
            near(found[1], least["min_rtt_ns"] / most["min_rtt_ns"], 2)
        if found := re.search(r"(\w+) beside (\w+)", differs):
            assert (found[1], found[2]) == (least["congestion_control"], most["congestion_control"])
        if found := re.search(rf"({NUMBER}) ports that dropped or marked its packets, the other ({NUMBER})", differs):
            assert [value(found[1]), value(found[2])] == [len(one) for one in ports]


def marks_of(rows: Rows) -> list[dict[str, Any]]:
    return [row for row in rows.events if row["kind"] == "mark"]


def marks(rows: Rows, said: re.Match[str]) -> None:
    port = rows.ports[said["port"]]
    assert value(said["count"]) == port["marks"]
    assert value(said["all"] or said["count"]) == sum(one["marks"] for one in rows.ports.values())
    assert (port["drops"] == 0) == (said["drops"] == "none")


def copies(rows: Rows, said: re.Match[str]) -> None:
    found = rows.run.summary["copies"]
    near(said["rate"], found["rate_bps"])
    near(said["share"], max(found["limited"].values()), 2)


def answered(rows: Rows, said: re.Match[str]) -> None:
    """What the answer says as well, which has tests of its own."""
    assert said[0] in answer(rows.run)


N, Q = NUMBER, QUANTITY
WERE = r"packets? (?:was|were)"
STATEMENTS: dict[str, list[tuple[str, Callable[[Rows, re.Match[str]], None]]]] = {
    "slow_start_overshoot": [
        (
            rf"(?:Slow start|The startup) of (?P<flow>.+) went on until the queue of (?P<port>.+) overflowed; (?P<lost>{N}) {WERE} "
            rf"lost until (?P<until>{Q})\.(?: With headers its window grew to (?P<grew>{Q}), but the path "
            rf"holds (?P<holds>{Q}): (?P<way>{Q}) on "
            rf"the way and (?P<room>{Q}) in the queue\. So it overshot by (?P<times>{N}) times the buffer\.(?: The cut left "
            rf"(?P<left>{Q}), still more than the path holds: (?P<after>{N}) {WERE} lost after it\.)?)?{OFF}",
            overshoot,
        ),
        (
            rf"(?P<whose>.+) were in slow start when (?:the queue of .+|a queue) overflowed, the first at (?P<first>{Q}), "
            rf"the last at (?P<last>{Q})\. They lost (?P<lost>{N}) packets until slow start was over and its losses were "
            rf"repaired\.{OFF}",
            overshoots,
        ),
    ],
    "first_window": [
        (
            rf"The first window of (?P<flow>.+), (?P<segments>{N}) segments or (?P<size>{Q}), left at once\. It overflowed the "
            rf"queue of (?P<port>.+), which holds (?P<room>{Q}), and (?P<lost>{N}) {WERE} lost\.",
            first_window,
        ),
        (
            rf"(?P<whose>.+) lost packets of their first window \((?P<segments>{N}) segments\): the queue of (?P<port>.+) "
            rf"overflowed, and (?P<lost>{N}) {WERE} lost\.",
            first_windows,
        ),
    ],
    "slow_start_by_delay": [
        (
            rf"Slow start of (?P<flow>.+) ended without a loss at a window of (?P<size>{Q})(?:, {N} times the bandwidth-"
            r"delay product of .+)?: its slow start \(\w+\) looks at the delay\.",
            by_delay,
        ),
        (
            rf"(?P<whose>.+) left slow start without a loss, at windows of (?P<low>{Q}) to (?P<high>{Q}), the last at "
            r"(?P<last>" + Q + r"): their slow start \(\w+\) looks at the delay\.",
            by_delays,
        ),
    ],
    "timeouts": [
        (
            rf"(?P<flow>.+) waited for its retransmission timer (?P<times>{TIMES}) \(at (?P<at>.+?)\)\.(?P<why> .+?\.)?"
            rf"(?: The longest time without progress was (?P<stall>{Q})\.)",
            timeout,
        ),
        (
            rf"(?P<whose>.+) waited for their retransmission timer, (?P<times>{TIMES}) in all, first at (?P<first>{Q}), last at "
            rf"(?P<last>{Q})\.(?P<why> Why: .+?\.)? The longest time without progress was (?P<stall>{Q}) \((?P<worst>.+)\)\.",
            timeouts,
        ),
    ],
    "losses": [
        (
            rf"(?P<port>.+) dropped (?P<count>{N}) packets?(?: because (?:its queue was full|the link was down))?, "
            rf"(?P<share>{Q}) of what came(?:: (?P<parts>.+))?\.",
            losses,
        )
    ],
    "noticed": [
        (
            rf"Senders noticed losses (?:(?P<fast>{TIMES}) by the ACKs of later data)?(?: and )?(?:(?P<slow>{TIMES}) by the timer)?"
            rf"(?:, in (?:all|(?P<flows>{N}) of) (?P<every>{N}) flows)?\.",
            noticed,
        )
    ],
    "link_loss": [
        (
            rf"The link (?P<port>.+) lost (?P<count>{N}) packets? on the way \(loss in the scenario\)\. The link was busy for "
            rf"(?P<busy>{Q}) of the time: the losses were no sign of congestion\.",
            random_loss,
        )
    ],
    "needless": [
        (rf"(?P<whose>.+) took a delay for a loss (?P<times>{TIMES}) in all, noticed it, and undid the cut\.", needless),
    ],
    "host_queue": [
        (
            rf"The host of (?P<flow>.+) refused segments (?P<times>{TIMES}): qdisc and ring of the interface were full\. TCP takes "
            r"such a refusal for congestion and makes its window smaller\.",
            host_queue,
        )
    ],
    "host_drops": [
        (
            rf"(?P<host>.+) dropped (?P<count>{N}) packets that had come to it, (?P<share>{Q}) of them all, mostly "
            r"because (?P<why>.+)\.",
            host_drops,
        )
    ],
    "receive_window": [
        (
            rf"(?P<flow>.+) (?:was|were) limited by the window that (?:its receiver|their receivers) offered, (?:each )?for "
            rf"(?P<low>{Q})(?: to (?P<high>{Q}))? of its time\.",
            limited("snd_lim_time_rwin_ns"),
        )
    ],
    "own_side": [
        (
            rf"(?P<flow>.+) (?:was|were) limited by (?:its|their) own side,? (?:each )?for (?P<low>{Q})(?: to (?P<high>{Q}))? of "
            r"its time: the (?:application had nothing to send|send buffer was full)\.",
            limited("snd_lim_time_snd_ns"),
        )
    ],
    "standing_queue": [
        (
            rf"The queue of (?P<port>.+) held packets for (?P<delay>{Q}) on average, (?P<times>{N}) times the round-trip time"
            rf"(?: of (?P<flow>.+))? without it \((?P<least>{Q})\)\.",
            standing,
        )
    ],
    "idle_bottleneck": [
        (
            rf"(?P<port>.+) dropped packets, and yet it was busy for only (?P<busy>{Q}) of the time\.(?: Its queue holds "
            rf"(?P<bdp>{N}) times the bandwidth-delay product of (?P<flow>.+)\.)?",
            idle,
        )
    ],
    "unfair_share": [
        (
            rf"(?P<most>.+) delivered (?P<high>{Q}), (?P<times>{N}) times as much as (?P<least>.+) \((?P<low>{Q})\)\. (?:What "
            rf"differs: (?P<differs>.+?)|Their settings and round-trip times are the same: other seeds may say otherwise)\."
            rf"(?: Of {N} flows these are the first and the last\.)?",
            unfair,
        )
    ],
    "marks": [
        (
            rf"(?P<port>.+) marked (?P<count>{N}) packets(?: \(of (?P<all>{N}) in all\))? and dropped (?P<drops>none|{N}): senders "
            r"slowed down by marks \(ECN\)\.",
            marks,
        )
    ],
    "copy_limit": [
        (
            rf"Transfers from disk to disk ran at (?P<rate>{Q}); .+ held them up for (?P<share>{Q}) of the time\.",
            copies,
        )
    ],
    "changes": [(r".+", answered)],
    "pauses": [(r".+", answered)],
}
SLOW = {"long-fat", "tcp-background"}  # 3 s each
SEEN: dict[str, list[Any]] = {}  # the findings of each scenario that was told


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.slow if one in SLOW else ()) for one in sorted(library())])
def test_every_number_of_a_story_is_in_the_tables(name: str) -> None:
    rows = Rows(el.run(name))
    SEEN[name] = el.explain(rows.run).findings
    for finding in SEEN[name]:
        fits = [(said, check) for words, check in STATEMENTS[finding.rule] if (said := re.fullmatch(words, finding.text))]
        assert fits, finding.text
        said, check = fits[-1]
        check(rows, said)
        helped(rows, finding)


def test_the_library_is_told_in_every_kind_of_statement() -> None:
    """So that each check above has something to check."""
    found = [SEEN.get(name) or el.explain(name).findings for name in set(library()) - SLOW]
    assert {finding.rule for findings in found for finding in findings} == set(STATEMENTS)
