"""What a scenario must have so that a run has a measure: functions of the resolved scenario that say why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# Traffic whose flows have no end that could be timed; so has bulk without a size.
_ENDLESS = {"messages", "cbr", "frames", "onoff", "incast"}


def _traffic(kinds: set[str], why: str) -> Callable[[Mapping[str, Any]], str]:
    """Traffic of one of some kinds."""
    return lambda resolved: "" if kinds & {entry["kind"] for entry in resolved.get("traffic", [])} else why


def ending(resolved: Mapping[str, Any]) -> str:
    """Traffic with an end."""
    endless = (t["kind"] in _ENDLESS or (t["kind"] == "bulk" and "size" not in t) for t in resolved.get("traffic", []))
    return "no traffic of the scenario has an end" if all(endless) else ""


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


def _recorded(table: str) -> Callable[[Mapping[str, Any]], str]:
    """A table that `record` can turn off."""
    return lambda resolved: "" if resolved.get("record", {}).get(table, True) else f"it is of {table}: set record.{table}"


recorded_messages, recorded_events = _recorded("messages"), _recorded("events")


messages = _traffic({"messages", "incast"}, "no traffic of the scenario has messages (fct_ns is of transfers)")
incast = _traffic({"incast"}, "no traffic of the scenario is incast")
copies = _traffic({"disk-copy"}, "no traffic of the scenario is disk-copy")
bursts = _traffic({"burst"}, "no traffic of the scenario is burst")
