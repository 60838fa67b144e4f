"""The traffic that a user asks for of an imported network: whose demands, how much, elastic or open-loop, which sizes."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.base.quantity import bits_per_second, unit_parts
from elephan.scenario import core
from elephan.scenario.foreign.network import number_and_unit, rate_text
from elephan.scenario.foreign.write import Ends, value
from elephan.scenario.source import Source

DEMANDS = ("file", "gravity")
# Elastic traffic with its sizes. Files on the Web have such a heavy tail (Crovella and Bestavros 1997).
ELASTIC: dict[str, Any] = {
    "messages": {"exponential": "100 kB"},
    "transfers": {"pareto": {"shape": 1.2, "mean": "100 kB"}},
}
BUSIEST = 0.5  # what the busiest link is offered of its rate, unless told otherwise
# A datagram of the kind `cbr` has 1472 bytes of payload; on Ethernet it takes 1538 bytes, preamble and gap included.
WIRE_PER_PAYLOAD = 1538 / 1472


@dataclass(frozen=True)
class Load:
    """How much is offered: `rate` (bit/s of all demands), or the share of their rates that links are offered."""

    kind: str  # rate, busiest or mean
    amount: float

    @classmethod
    def read(cls, text: float | str | None) -> Load | None:
        """Returns what `10 Gbps`, `30 %` or `mean 30 %` say, or None of None."""
        if text is None:
            return None
        mean = isinstance(text, str) and text.strip().startswith("mean ")
        said = str(text).strip().removeprefix("mean ") if isinstance(text, str) else text
        percent = number_and_unit(said) if isinstance(said, str) else None
        if percent is not None and percent[1] == "%":
            if not 0 < percent[0] <= 1000:
                raise InputError(f"a load in per cent is above 0 and at most 1000 %, not {text}")
            return cls("mean" if mean else "busiest", percent[0] / 100)
        if mean:
            raise InputError(f'a mean load is in per cent, such as "mean 30 %", not {text}')
        bps = bits_per_second(said)
        if not bps >= 1:
            raise InputError(f"a load is at least 1 bps, not {text}")
        return cls("rate", bps)


@dataclass(frozen=True)
class Wanted:
    """The traffic that is asked for; what is None is as the file says, or as usual."""

    demands: str | None = None
    load: Load | None = None
    flows: int | None = None
    elastic: str = "messages"
    size: Any = None  # as a scenario has it
    open_loop: float = 0.0  # the share of each demand that is datagrams

    @classmethod
    def read(
        cls,
        demands: str | None,
        load: float | str | None,
        flows: int | None,
        traffic: str,
        size: str | Mapping[str, Any] | None,
        open_loop: float | str,
    ) -> Wanted:
        """Returns what options say; raises InputError with the value and what is valid."""
        if flows is not None and flows < 1:
            raise InputError(f"flows is at least 1, not {flows}")
        for name, given, known in (("demands", demands, DEMANDS), ("traffic", traffic, tuple(ELASTIC))):
            if given is not None and given not in known:
                raise InputError(f'{name} is {" or ".join(known)}, not "{given}"{nearest(str(given), [*known])}')
        return cls(demands, Load.read(load), flows, traffic, _size(size), _share(open_loop))

    @property
    def sizes(self) -> Any:
        return ELASTIC[self.elastic] if self.size is None else self.size

    def lines(self, ends: Ends, demands: Mapping[tuple[str, str], float], bps: float, unit: str) -> Iterator[str]:
        """Gives the entries of traffic, whose loads are the demands; `bps` is the load of one unit."""
        taken = set[str]()
        for (a, b), amount in demands.items():
            name = f"{ends.name[a]}-to-{ends.name[b]}"
            while name in taken:
                name += "-again"
            taken.add(name)
            pair = f'from = "{ends.host(a)}"\nto = "{ends.host(b)}"'
            comment = f"  # {unit} {amount:.6g}" if unit else ""
            if self.open_loop < 1:
                load = rate_text(amount * bps * (1 - self.open_loop))
                yield f'[[traffic]]{comment}\nname = "{name}"\nkind = "{self.elastic}"\n{pair}'
                yield f'size = {value(self.sizes)}\nload = "{load}"\n'
            if self.open_loop > 0:
                rate = rate_text(amount * bps * self.open_loop * WIRE_PER_PAYLOAD)
                yield f'[[traffic]]{comment}\nname = "{name}-datagrams"\nkind = "cbr"\n{pair}'
                yield f'rate = "{rate}"  # on the wire\ngaps = "exponential"\n'

    def words(self) -> str:
        """Returns what the traffic is, in words."""
        size = value(self.sizes)
        elastic = f"{self.elastic} of the size {size}" if self.open_loop < 1 else ""
        datagrams = f"{100 * self.open_loop:g} % datagrams at random times" if self.open_loop else ""
        return " and ".join(filter(None, (elastic, datagrams)))


def _share(text: float | str) -> float:
    found = number_and_unit(text) if isinstance(text, str) else (float(text), "")
    share = found[0] * (0.01 if found[1] == "%" else 1.0) if found and found[1] in ("", "%") else -1.0
    if not 0 <= share <= 1:
        raise InputError(f"the open-loop share is from 0 % to 100 %, not {text}")
    return share


def _size(text: str | Mapping[str, Any] | None) -> Any:
    """Returns a size as a scenario has it: a quantity, a table, or a published distribution by its name."""
    if text is None or isinstance(text, Mapping):
        found: Any = text
    elif text.lstrip().startswith("{"):
        try:
            found = tomllib.loads(f"size = {text}")["size"]
        except tomllib.TOMLDecodeError:
            raise InputError(f"the size {text} is no table of TOML") from None
    else:
        found = text if unit_parts(text) else {"cdf": text}
    if found is not None:
        scenario = (
            'duration = "1 s"\ntemplate = { kind = "dumbbell", rate = "1 Gbps", delay = "1 ms" }\n'
            f'traffic = [{{ kind = "transfers", from = "sender", to = "receiver", arrivals_per_s = 1, size = {value(found)} }}]'
        )
        try:
            core.resolved_toml(Source(scenario, "size", "toml", "size"), {})
        except InputError as error:
            raise InputError(f"size {text}: {str(error).partition('size: ')[2] or error}") from None
    return found
