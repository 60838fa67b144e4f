"""What a scenario must have so that a run has a measure: functions of the resolved scenario that say why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from elephan.scenario import kinds


def _traffic(answer: str, why: str) -> Callable[[Mapping[str, Any]], str]:
    """Traffic that answers so about itself; of a kind that nobody knows it may."""
    return lambda resolved: "" if any(kinds.traffic(one).get(answer, True) for one in resolved.get("traffic", [])) else why


ending = _traffic("ends", "no traffic of the scenario has an end")


def modelled_host(resolved: Mapping[str, Any]) -> str:
    """A host whose receive side or processor is modelled."""
    modelled = any("receive" in host or "cpu" in host for host in resolved.get("hosts", {}).values())
    return "" if modelled else "no host of the scenario has receive or cpu"


def logger(resolved: Mapping[str, Any]) -> str:
    """A host with a logger."""
    logs = any("logger" in host.get("cpu", {}) for host in resolved.get("hosts", {}).values())
    return "" if logs else "no host of the scenario has a logger (cpu.logger)"


def samples(resolved: Mapping[str, Any]) -> str:
    """Samples in time."""
    return "" if "every" in resolved.get("record", {}) else "it is of samples: set record.every"


def _recorded(table: str, *, given: bool = True) -> Callable[[Mapping[str, Any]], str]:
    """A table that `record` can turn off, or on where it is not `given`."""
    return lambda resolved: "" if resolved.get("record", {}).get(table, given) else f"it is of {table}: set record.{table}"


recorded_messages, recorded_events = _recorded("messages"), _recorded("events")
recorded_operations = _recorded("operations", given=False)
recorded_delays = _recorded("queue_delays", given=False)
recorded_datagrams = _recorded("datagrams", given=False)


messages = _traffic("has_messages", "no traffic of the scenario has messages (fct_ns is of transfers)")
rounds = _traffic("has_rounds", "no traffic of the scenario has rounds, as incast has")
iterations = _traffic("iterates", "no traffic of the scenario has ranks, as collective has")
collectives = _traffic("is_collective", "no traffic of the scenario is a collective operation")
copies = _traffic("copies", "no traffic of the scenario copies from disk to disk, as disk-copy does")
bursts = _traffic("is_burst", "no traffic of the scenario is a burst of datagrams, as burst is")
