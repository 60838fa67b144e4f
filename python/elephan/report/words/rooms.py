"""Switches that pause too late: what still arrives finds no room, and frames are lost that should not be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elephan.base.quantity import show
from elephan.report.words.view import arrow
from elephan.result.run import Run
from elephan.scenario import kinds
from elephan.table.rows import column, texts

REASONS = {"memory": "memory_full", "headroom": "memory_full", "queue": "queue_full"}  # of drops for want of such room
PAUSED = range(8)  # the priorities that PAUSE holds back


def _lossless(run: Run, switch: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which flows a switch must not lose anything of."""
    control = run.resolved.get("switches", {}).get(switch.partition("[")[0], {}).get("flow_control") or {}
    held = set(control.get("priorities", PAUSED))
    priorities = {str(entry.get("name")): entry.get("priority", 0) for entry in run.resolved.get("traffic", [])}
    return np.asarray([priorities.get(name, 0) in held for name in texts(run.flows, "traffic")], dtype=bool)


def _lost(run: Run, room: Mapping[str, Any]) -> int:
    """Frames that a switch lost for want of this room, of flows that it must not lose anything of."""
    events = run.events
    if not run.summary.get("drops_by_reason", {}).get(REASONS[room["what"]], 0) or not events.num_rows:
        return 0
    there = [node == room["switch"] for node in texts(events, "node")]
    why = [reason == REASONS[room["what"]] for reason in texts(events, "reason")]
    chosen = np.asarray(there, dtype=bool) & np.asarray(why, dtype=bool)
    if room["what"] == "queue":
        chosen &= np.asarray([f"{room['switch']}->{peer}" == room["link"] for peer in texts(events, "peer")], dtype=bool)
    held = set(column(run.flows, "flow")[_lossless(run, room["switch"])])
    return sum(flow in held for flow in column(events, "flow")[chosen])


def short_rooms(run: Run) -> list[tuple[Mapping[str, Any], int]]:
    """Returns the rooms that were too small, and the frames lost for want of each: of a switch and kind the worst."""
    if not any(run.summary.get("drops_by_reason", {}).get(reason) for reason in REASONS.values()):
        return []
    if not any((switch.get("flow_control") or {}).get("kind") for switch in run.resolved.get("switches", {}).values()):
        return []
    worst: dict[tuple[str, str], tuple[Mapping[str, Any], int]] = {}
    found = kinds.scenario(run.scenario).get("short_rooms", [])
    for room in sorted(found, key=lambda one: one["needs_bytes"] - one["has_bytes"]):
        if lost := _lost(run, room):
            worst[room["switch"], room["what"]] = (room, lost)
    return list(worst.values())


def advice(room: Mapping[str, Any]) -> str:
    """Returns what would be enough: room for the thresholds that the switch has, or thresholds for the room that it has."""
    ways = [_way(one) for one in room["advice"]]
    text = ", or ".join(ways)
    return f"{text[0].upper()}{text[1:]}."


def _way(change: Mapping[str, Any]) -> str:
    """What has to be said together in a scenario."""
    parts = [f"raise its memory to {change['memory_bytes']} B"] if change["memory_bytes"] else []
    parts += [f"raise the limit of the queue of {arrow(link)} to {limit} B" for link, limit in change["queues"]]
    parts += [f"lower xoff to {change['xoff_bytes']} B"] if change["xoff_bytes"] else []
    parts += [f"xon to {change['xon_bytes']} B"] if change["xon_bytes"] is not None else []
    parts += [f'say headroom = "{change["headroom_bytes"]} B"'] if change["headroom_bytes"] else []
    return " and ".join(parts)


def said(room: Mapping[str, Any], lost: int) -> str:
    """Returns what a room that is too small has led to, and by how much it is short."""
    where = {
        "memory": "its memory",
        "headroom": f"the headroom of a priority of {arrow(str(room['link']))}",
        "queue": f"the queue of {arrow(str(room['link']))}",
    }[room["what"]]
    frames = "1 frame that it should not lose" if lost == 1 else f"{lost} frames that it should not lose"
    short = room["needs_bytes"] - room["has_bytes"]
    return (
        f"{room['switch']} lost {frames}: after it decides to pause more arrives than there is room for. In the worst case {where} "
        f"needs {show(room['needs_bytes'], 'bytes', 5)} and has {show(room['has_bytes'], 'bytes', 5)}, {show(short, 'bytes', 5)} "
        "too little."
    )


def rooms(run: Run) -> list[str]:
    """Returns a sentence or two for each switch that paused too late to lose nothing."""
    return [f"{said(room, lost)} {advice(room)}" for room, lost in short_rooms(run)]
