"""What each statement of `elephan explain` says, counted again from plain rows: the rules work on arrays, and both would have to
make the same mistake.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from elephan.report.words.answer import answer
from stories import FULL, NUMBER, Rows, near, value


def overshoot(rows: Rows, said: re.Match[str]) -> None:
    flow = rows.number(said["flow"])
    noticed, row = rows.noticed(flow), rows.flows[flow]
    phases = [one["phase"] for one in rows.samples.get(flow, ()) if one["time_ns"] < noticed]
    assert said["noticed"] or phases[-1:] in ([], ["slow_start"])
    repaired = noticed if said["noticed"] else rows.repaired(flow, noticed)
    lost = rows.lost_until(flow, repaired)
    assert {f"{one['node']} → {one['peer']}" for one in lost[:1]} == {said["port"]}
    assert value(said["lost"]) == len(lost)
    near(said["until"] or said["noticed"], repaired)
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
            told.append((full[0], len(rows.lost_until(flow, noticed if said["unseen"] else rows.repaired(flow, noticed)))))
    count = int(value(re.search(rf"^(?:All )?({NUMBER})", said["whose"])[1]))
    rows.whose(said["whose"], count)
    near(said["first"], min((time for time, _ in told), key=lambda time: abs(time - value(said["first"]))))
    near(said["last"], min((time for time, _ in told), key=lambda time: abs(time - value(said["last"]))))
    lost = sorted(number for _, number in told)
    assert sum(lost[:count]) <= value(said["lost"]) <= sum(lost[-count:])


def first_window(rows: Rows, said: re.Match[str]) -> None:
    flow = rows.number(said["flow"])
    row, noticed = rows.flows[flow], rows.noticed(flow)
    lost = [
        one for one in rows.of(flow, rows.drops) if row["established_ns"] <= one["time_ns"] <= noticed and one["reason"] in FULL
    ]
    assert value(said["lost"]) == len(lost)
    near(said["room"], rows.ports[said["port"]]["queue_max_bytes"])
    near(said["size"], value(said["segments"]) * lost[0]["packet_bytes"])
    if not said["others"]:
        assert value(said["segments"]) * lost[0]["packet_bytes"] > rows.ports[said["port"]]["queue_max_bytes"]
    assert row["max_ss_cwnd"] < 2 * value(said["segments"]) * row["cur_mss"]


def first_windows(rows: Rows, said: re.Match[str]) -> None:
    segments, entry = value(said["segments"]), said["whose"].partition(" flows of ")[2]
    connected = {flow: row for flow, row in rows.flows.items() if row["established_ns"] is not None}
    lost = Counter(
        one["flow"]
        for one in rows.drops
        if one["reason"] in FULL
        and one["flow"] in connected
        and entry in ("", connected[one["flow"]]["traffic"])
        and connected[one["flow"]]["max_pipe_size"] >= (segments - 1) * connected[one["flow"]]["cur_mss"]  # it had as much to send
        and rows.flows[one["flow"]]["established_ns"] <= one["time_ns"] <= rows.noticed(one["flow"])
        and (rows.flows[one["flow"]]["max_ss_cwnd"] or math.inf) < 2 * segments * rows.flows[one["flow"]]["cur_mss"]
    )
    for flow in list(lost):
        row = rows.flows[flow]
        beside = [one["established_ns"] - row["established_ns"] for one in connected.values()]
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
    text = said.removeprefix(" The first time").strip()
    if found := re.fullmatch(rf"[Ww]hat it sent in recovery was lost as well \(({NUMBER}) packets?\)\.", text):
        assert value(found[1]) == len(lost)
    elif found := re.fullmatch(rf"({NUMBER}) of its packets and ACKs were lost because a link was down\.", text):
        last = max(
            (one["time_ns"] for one in rows.of(flow, rows.repairs) if one["time_ns"] < at and one["kind"] != "rto"), default=0
        )
        down = [one for one in rows.of(flow, rows.drops) if last <= one["time_ns"] < at and one["reason"] == "link_down"]
        assert value(found[1]) == len(down) > 0
    elif found := re.fullmatch(rf"({NUMBER}) of its packets were larger than the MTU of a link on the way, .+", text):
        assert value(found[1]) == sum(one["reason"] == "mtu_exceeded" for one in lost) > 0
    elif found := re.fullmatch(rf"[Oo]f its first window ({NUMBER}) of ({NUMBER}) segments? were lost, too many for .+", text):
        assert value(found[1]) > value(found[2]) - 4
        assert value(found[1]) <= len(lost)
    elif found := re.fullmatch(rf"[Ii]ts window was ({NUMBER}) segments, too small for three duplicate ACKs\.", text):
        before = [one["cwnd_bytes"] for one in rows.samples[flow] if one["time_ns"] < lost[0]["time_ns"]]
        near(found[1], before[-1] / rows.flows[flow]["cur_mss"], 2)
        assert value(found[1]) <= 4
    elif found := re.fullmatch(rf"[Ii]ts own host had dropped ({NUMBER}) packets? that came to it, ACKs among them\.", text):
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
        assert 0 < value(count) <= len(flows & down)
    assert sum(value(one) for one in re.findall(rf"({NUMBER})", said["why"] or "")) <= len(flows)


WORDS = {
    "because its queue was full": "queue_full",
    "because the memory of the switch had no room": "memory_full",
    "because the link was down": "link_down",
    "because the link carries no packet so large": "mtu_exceeded",
}


def losses(rows: Rows, said: re.Match[str]) -> None:
    """Counts of the port, which says what it dropped and what its link lost; reasons of the events, the loss on the way apart."""
    port = rows.ports[said["port"]]
    own = [row for row in rows.drops if row["port"] == port["port"]]
    reasons = Counter(row["reason"] for row in own)
    cut = port["lost"] - reasons.pop("link_loss", 0)
    reasons["link_down"] -= cut
    assert value(said["count"]) == port["drops"] == sum(reasons.values())
    assert value(said["cut"] or "0") == cut
    near(said["share"], port["drops"] / (port["drops"] + port["tx_packets"]), 2)
    told = dict.fromkeys([said["why"]], said["count"]) if said["why"] else {}
    told |= {
        words: count for count, words in re.findall(rf"({NUMBER}) ((?:because|by|for) [^,]+?)(?=,| and \d|$)", said["parts"] or "")
    }
    for words, count in told.items():
        known = WORDS.get(words.removesuffix("."), words.lower().removeprefix("by ").replace(" ", "_").replace("-", "_"))
        assert reasons[known] == value(count), (words, reasons)


def cut_off(rows: Rows, said: re.Match[str]) -> None:
    port = rows.ports[said["port"]]
    own = [row for row in rows.drops if row["port"] == port["port"]]
    assert port["drops"] == 0
    assert (
        value(said["cut"])
        == sum(row["reason"] == "link_down" for row in own)
        == port["lost"] - sum(row["reason"] == "link_loss" for row in own)
    )


def losses_of_many(rows: Rows, said: re.Match[str]) -> None:
    own = Counter(row["port"] for row in rows.drops if row["reason"] != "link_loss" and row["port"] is not None)
    assert (value(said["ports"]), value(said["count"])) == (len(own), sum(own.values()))
    for name, count in re.findall(rf"(\S+ → \S+) ({NUMBER})", said["most"]):
        assert value(count) == own[rows.ports[name]["port"]]
    assert value(said["cut"] or "0") == sum(own.values()) - sum(port["drops"] for port in rows.ports.values())


def noticed(rows: Rows, said: re.Match[str]) -> None:
    kinds = Counter(row["kind"] for row in rows.repairs)
    assert value(said["fast"] or "0") == kinds["fast_retransmit"]
    assert value(said["slow"] or "0") == kinds["rto"]
    if said["flows"]:
        assert value(said["flows"]) == len({row["flow"] for row in rows.repairs})
    if said["every"]:
        assert value(said["every"]) == len(rows.flows)


def random_loss(rows: Rows, said: re.Match[str]) -> None:
    own = [row for row in rows.drops if row["reason"] == "link_loss"]
    assert value(said["count"]) == len(own)
    ports = [rows.ports[name] for name in re.split(r", | and ", said["ports"])]
    assert {row["port"] for row in own} == {port["port"] for port in ports}
    if said["busy"]:
        near(said["busy"], max(port["utilisation"] for port in ports), 2)
    if said["cuts"]:
        losers = {row["flow"] for row in own} & {row["flow"] for row in rows.repairs}
        assert value(said["cuts"]) == sum(rows.flows[flow]["cong_signals"] for flow in losers)
        assert len(own) == len(rows.drops)


def undone(lossless: bool) -> Callable[[Rows, re.Match[str]], None]:
    """Flows that took back cuts: those that lost nothing, or those that did."""

    def check(rows: Rows, said: re.Match[str]) -> None:
        lost = {row["flow"] for row in rows.drops}
        counts = {
            flow: row["spurious_fr_detected"] + row["spurious_rto_detected"]
            for flow, row in rows.flows.items()
            if (flow not in lost) == lossless or (not lossless and rows.refused())
        }
        assert not (lossless and rows.refused())
        if said["whose"] in rows.names.values():
            assert value(said["times"]) == counts[rows.number(said["whose"])] > 0
            return
        entry = said["whose"].rpartition(" flows of ")[2] if " flows of " in said["whose"] else None
        own = [count for flow, count in counts.items() if count and entry in (None, rows.flows[flow]["traffic"])]
        rows.whose(said["whose"], len(own))
        assert value(said["times"]) == sum(own)

    return check


def needless(rows: Rows, said: re.Match[str]) -> None:
    assert not rows.drops
    assert not rows.refused()
    again = {
        flow: row["segs_retrans"]
        for flow, row in rows.flows.items()
        if row["segs_retrans"] and not row["spurious_fr_detected"] + row["spurious_rto_detected"]
    }
    if said["whose"] in rows.names.values():
        assert value(said["count"]) == again[rows.number(said["whose"])]
    else:
        entry = said["whose"].rpartition(" flows of ")[2] if " flows of " in said["whose"] else None
        own = [count for flow, count in again.items() if entry in (None, rows.flows[flow]["traffic"])]
        rows.whose(said["whose"], len(own))
        assert value(said["count"]) == sum(own)


def host_queue(rows: Rows, said: re.Match[str]) -> None:
    if said["flow"] not in rows.names.values():
        assert value(said["times"]) <= sum(row["send_stall"] for row in rows.flows.values())
        return
    assert value(said["times"]) == rows.flow(said["flow"])["send_stall"]
    assert "TCP takes" not in said[0] or rows.flow(said["flow"])["cong_signals"] > 0


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
            entry = said["flow"].rpartition(" flows of ")[2] if " flows of " in said["flow"] else None
            endless = "rwin" in column or None
            own = [
                share
                for flow, share in shares.items()
                if share >= 0.05
                and entry in (None, rows.flows[flow]["traffic"])
                and (endless or rows.flows[flow]["size_bytes"] is None)
            ]
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
    if said["pause"]:
        near(said["pause"], rows.flow(said["paused"])["stall_max_ns"])


def unfair(rows: Rows, said: re.Match[str]) -> None:
    for one in (said["most"], said["least"] or said["none"]):
        assert rows.flow(one)["established_ns"] is not None
    most, least = rows.flow(said["most"]), rows.flow(said["least"] or said["none"])
    near(said["high"], most["goodput_bps"])
    if said["none"]:
        assert least["goodput_bps"] == 0
    else:
        near(said["low"], least["goodput_bps"])
        near(said["times"], most["goodput_bps"] / least["goodput_bps"], 2)
    ports = [{row["port"] for row in rows.drops + marks_of(rows) if row["flow"] == one["flow"]} for one in (least, most)]
    for differs in (said["differs"] or "").split("; "):
        if found := re.search(rf"a round-trip time ({NUMBER}) times as long", differs):
            near(found[1], least["min_rtt_ns"] / most["min_rtt_ns"], 2)
        known = "|".join({row["congestion_control"] for row in rows.flows.values()})
        if found := re.search(rf"(?:^|, )({known}) beside ({known})(?:,|$)", differs):
            assert (found[1], found[2]) == (least["congestion_control"], most["congestion_control"])
        if found := re.search(rf"({NUMBER}) ports? that dropped or marked its packets, the other ({NUMBER})", differs):
            assert [value(found[1]), value(found[2])] == [len(one) for one in ports]


def marks_of(rows: Rows) -> list[dict[str, Any]]:
    return [row for row in rows.events if row["kind"] == "mark"]


def marks(rows: Rows, said: re.Match[str]) -> None:
    port = rows.ports[said["port"]]
    assert value(said["count"]) == port["marks"]
    assert value(said["all"] or said["count"]) == sum(one["marks"] for one in rows.ports.values())
    assert (port["drops"] == 0) == (said["drops"] == "none")
    slowed = sum(row["ecn_signals"] for row in rows.run.flows.to_pylist())
    assert (slowed > 0) == ("no sender" not in said["slowed"]) or "do not" in said["slowed"]


def copies(rows: Rows, said: re.Match[str]) -> None:
    found = rows.run.summary["copies"]
    near(said["rate"], found["rate_bps"])
    near(said["share"], max(found["limited"].values()), 2)


def straggler(rows: Rows, said: re.Match[str]) -> None:
    found = [row for row in rows.run.iterations.to_pylist() if row["end_ns"] is not None]
    assert value(said["all"]) == len(found)
    near(said["took"], sum(row["end_ns"] - row["begin_ns"] for row in found))
    parts = said.groupdict()
    mine = [row for row in found if (row["straggler"], row["straggler_to"]) == (said["who"], parts.get("to") or "")]
    assert value(said["count"]) == len(mine)
    near(said["by"], sum(row["straggler_ns"] for row in mine))
    if parts.get("rate"):
        rates = {row["name"]: row["rate_bps"] for row in rows.run.ports.to_pylist()}
        near(said["rate"], rates[mine[0]["straggling_link"]])
        near(said["most"], max(rates.values()))


def answered(rows: Rows, said: re.Match[str]) -> None:
    """What the answer says as well, which has tests of its own."""
    assert said[0] in answer(rows.run)


def no_connection(rows: Rows, said: re.Match[str]) -> None:
    lost = {row["flow"] for row in rows.drops}
    waiting = [row for row in rows.flows.values() if row["established_ns"] is None and (row["segs_out"] > 1 or row["flow"] in lost)]
    assert value(said["count"]) == sum(row["segs_out"] for row in waiting)
    if len(waiting) <= 3:
        *first, last = (rows.names[row["flow"]] for row in waiting)
        assert said["who"] == (f"{', '.join(first)} and {last}" if first else last)
    else:
        rows.whose(said["who"], len(waiting))
    assert all(row["delivered_bytes"] == 0 for row in waiting)


def deadlock(rows: Rows, said: re.Match[str]) -> None:
    for port in rows.run.summary["deadlock"]["ports"]:
        assert port.replace("->", " → ") in said[0]
