"""What limited a flow when: the core answers, as it answers the page of `elephan explore`."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

from elephan.result.run import Run
from elephan.scenario import core


def limits_of(run: Run, flows: Sequence[int]) -> dict[int, list[tuple[float, float, str]]]:
    """Returns what limited each of some flows of a run: from, to (ns) and the reason, by the flow's number."""
    desk = core.call_with("Desk", "[]", "{}", None, None)
    handle = desk.load(run.scenario, json.dumps(run.summary), {name: run.tables[name] for name in run.tables})
    return {flow: _limits(desk, handle, flow) for flow in flows}


def _limits(desk: Any, handle: int, flow: int) -> list[tuple[float, float, str]]:
    frames: list[bytes] = []

    def keep(frame: bytes) -> bool:
        frames.append(frame)
        return True

    request = {"id": 1, "method": "why", "params": {"handle": handle, "flow": flow}}
    desk.serve(json.dumps(request).encode(), b"", keep, core.core().Cancel())
    length = struct.unpack("<I", frames[-1][:4])[0]
    answer = json.loads(frames[-1][4 : 4 + length])
    return [(one["from_ns"], one["to_ns"], one["reason"]) for one in answer.get("value", [])]
