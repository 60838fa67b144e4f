"""Points of the study: congestion controls, with the names of the traffic that each scenario has."""

from __future__ import annotations

from typing import Any

from elephan.experiment.study import Point

DCQCN: dict[str, Any] = {"kind": "dcqcn", "preset": "mellanox-cx4"}
# Steps are in proportion to the line, as in the simulator of the authors: 10 Mb/s for each 10 Gb/s.
TIMELY: dict[str, Any] = {"kind": "timely", "preset": "simulator", "delta": "100 Mbps", "rate_min": "1 Gbps"}
HPCC: dict[str, Any] = {"kind": "hpcc", "preset": "simulator"}
DCTCP_BYTES_PER_BPS = 30e3 / 10e9  # the threshold: 30 KB for each 10 Gb/s


def _set(names: tuple[str, ...], control: dict[str, Any], transport: str = "roce") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in names:
        found[f"traffic.{name}.transport"] = transport
        found[f"traffic.{name}.congestion_control"] = control
    return found


def _marks(link: int, rate_bps: float) -> dict[str, Any]:
    """Returns a queue that marks everything above the threshold of DCTCP, for the links of one entry."""
    least = round(rate_bps * DCTCP_BYTES_PER_BPS)
    queue = {"kind": "red", "min": f"{least} B", "max": f"{least + 1} B", "probability": 1.0, "limit": "32 MB"}
    queue |= {"weight": 1, "spaced": False, "ecn": True, "mark_only": True}
    return {f"links[{link}].queue": queue}


def _schemes(names: tuple[str, ...], base_rtt: str) -> dict[str, Point]:
    hpcc = HPCC | {"base_rtt": base_rtt}
    window = {"in_flight": "rate", "base_rtt": base_rtt}
    dctcp = _set(names, {"kind": "dctcp"}, "tcp") | _marks(0, 100e9) | _marks(1, 400e9)
    return {
        "HPCC": Point("HPCC", _set(names, hpcc)),
        "HPCC 99 %": Point("HPCC 99 %", _set(names, hpcc | {"eta": 0.99})),
        "DCTCP": Point("DCTCP", dctcp),
        "TIMELY+w": Point("TIMELY+w", _set(names, TIMELY | window)),
        "DCQCN+w": Point("DCQCN+w", _set(names, DCQCN | window)),
        "DCQCN": Point("DCQCN", _set(names, DCQCN)),
        "TIMELY": Point("TIMELY", _set(names, TIMELY)),
    }


def fabric() -> list[Point]:
    """Returns all schemes in the fabric of 100 Gb/s."""
    return list(_schemes(("flows",), "13 us").values())


def beside_incast() -> list[Point]:
    """Returns the schemes of the paper in the fabric of 100 Gb/s, for the flows and for the incast beside them."""
    found = _schemes(("flows", "incast"), "13 us")
    return [point for label, point in found.items() if label != "HPCC 99 %"]


def testbed() -> list[Point]:
    """Returns the schemes that are compared at 25 Gb/s."""
    found = _schemes(("flows", "probe"), "9 us")
    return [found[label] for label in ("HPCC", "HPCC 99 %", "DCQCN", "DCQCN+w")]


def _two(*names: str) -> list[Point]:
    return [Point("HPCC", _set(names, {"kind": "hpcc"})), Point("DCQCN", _set(names, DCQCN))]


def long_short() -> list[Point]:
    """Returns HPCC and DCQCN for the long and the short flow."""
    return _two("long", "short")


def incast() -> list[Point]:
    """Returns HPCC and DCQCN for the incast of seven."""
    return _two("long", "burst")


def mice() -> list[Point]:
    """Returns HPCC and DCQCN for mice behind elephants."""
    return _two("elephant", "mouse")


def sixteen() -> list[Point]:
    """Returns HPCC and DCQCN for sixteen long flows."""
    return _two("long")


def join() -> list[Point]:
    """Returns HPCC and DCQCN for flows that join one after the other, and HPCC with the additive increase for four flows."""
    names = ("long", "second", "third", "fourth")
    return [*_two(*names), Point("HPCC for 4", _set(names, {"kind": "hpcc", "flows": 4}))]
