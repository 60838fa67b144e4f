"""Names of nodes that a scenario can have."""

from __future__ import annotations

from elephan.scenario.foreign.network import Network, mended


def named(network: Network) -> dict[str, str]:
    """Returns the name of each node in the scenario; tells which names were mended.

    A name keeps its letters, digits, _ and -; one that is taken gets a number.
    """
    taken: set[str] = set()
    found = {}
    for name, node in network.nodes.items():
        fine = mended(name)
        while fine in taken:
            stem, dash, number = fine.rpartition("-")
            fine = f"{stem}-{int(number) + 1}" if dash and number.isdecimal() else f"{fine}-2"
        taken.add(fine)
        found[name] = fine
        if fine != name:
            network.notes.assumed(node.line, f'the name "{name}" becomes {fine}')
    return found


def host_of(switch: str, taken: set[str]) -> str:
    """Returns the name of the host that is attached to a switch."""
    name = f"{switch}-host"
    while name in taken:
        name += "-1"
    taken.add(name)
    return name
