"""The programs that a scenario names, for a run of the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from elephan.base.errors import ElephanError, InputError
from elephan.base.signals import from_outside
from elephan.scenario.coroutine import for_host
from elephan.virtual import app
from elephan.virtual.host import Host
from elephan.virtual.network import EPOCH, Network
from elephan.virtual.play import play
from elephan.virtual.returned import as_json

Hosted = tuple[str, Callable[..., Any], float]


def hosts_of(network: Network, word: str) -> list[Host]:
    """Returns the hosts that a word of the scenario means: `node`, `node[2]` or `node[0-3]`."""
    group, _, inside = word.replace(" ", "").partition("[")
    members = [host for host in network.hosts if host.name.partition("[")[0] == group]
    low, _, high = inside.rstrip("]").partition("-")
    return members[int(low) : int(high or low) + 1] if inside else members


def play_scenario(core: Any, hosted: Sequence[Hosted], seed: int) -> str:
    """Runs the programs over a network of the core; returns what they returned as JSON."""
    network = Network(core, EPOCH)
    programs: dict[Host, Callable[[], Any]] = {}
    for word, function, executor_time in hosted:
        for host in hosts_of(network, word):
            if host in programs:
                raise InputError(f"two programs are for host {host.name}")
            programs[host] = for_host(function, host.label)
            host.executor_time = executor_time
    try:
        return as_json({host.name: value for host, value in play(network, programs, seed).items()})
    except Exception as error:
        if from_outside(error) or isinstance(error, ElephanError):
            raise
        raise ElephanError(app.told(error)) from error
