"""The simulated network as the sockets of all hosts share it: hosts by name and address, ports, and the time."""

from __future__ import annotations

import errno
import os
import re
from collections import Counter, deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.virtual.host import Host

if TYPE_CHECKING:
    from elephan.virtual.ends import End

EPOCH = 1_767_225_600.0  # 2026-01-01, 00:00 UTC
STREAM, DATAGRAM = 1, 2
PS_PER_S = 10**12
_FIRST_SHARED = 1 << 28  # numbers of sockets that share a descriptor of the core


def os_error(number: int) -> OSError:
    """Returns the OSError of a number as the system words it."""
    return OSError(number, os.strerror(number))


class Port:
    """A port of a host with the sockets that are bound to it, each at addresses of its own.

    The core has one descriptor for all of them. Where there are several, who connects is sorted by the address that he asked for.
    """

    def __init__(self, network: Network, fd: int, number: int) -> None:
        self.network, self.fd, self.number = network, fd, number
        self.sockets: list[End] = []
        self.arrived: dict[int, deque[tuple[int, int, int]]] = {}

    def conflicts(self, socket: End, text: str) -> bool:
        """Returns whether a socket that binds to this address would take that of another."""
        return any(one.overlaps(socket, text) for one in self.sockets)

    def at(self, family: int, text: str) -> End | None:
        """Returns the socket that an address reaches."""
        return next((one for one in self.sockets if one.hears(family, text)), None)

    def accept(self, socket: End) -> tuple[int, int, int]:
        """Returns descriptor, host and port of a connection to this socket. Raises BlockingIOError if there is none."""
        core = self.network.core
        if len(self.sockets) == 1 and not self.arrived:
            return core.accept(self.fd)  # type: ignore[no-any-return]
        self.sort()
        waiting = self.arrived.get(socket.fileno())
        if not waiting:
            raise os_error(errno.EAGAIN)
        return waiting.popleft()

    def sort(self) -> None:
        """Takes what has arrived and gives it to the socket that it was meant for."""
        while True:
            try:
                fd, host, port = self.network.core.accept(self.fd)
            except BlockingIOError:
                return
            family, text = self.network.asked(host, port, self)
            socket = self.at(family, text) or self.sockets[0]
            self.arrived.setdefault(socket.fileno(), deque()).append((fd, host, port))

    def leave(self, socket: End, number: int) -> None:
        """A socket of this number is closed; the port is free when the last one is."""
        self.sockets = [one for one in self.sockets if one is not socket]
        for fd, _, _ in self.arrived.pop(number, ()):
            self.network.core.close(fd)
        if not self.sockets:
            self.network.core.close(self.fd)
            self.network.ports.pop((socket.kind, socket.host.number, self.number), None)


class Network:
    """What the sockets of one run share."""

    def __init__(self, core: Any, epoch: float) -> None:
        self.core = core
        self.hosts = hosts_of(self, core.hosts())
        self.by_name = names_of(self.hosts)
        self.by_address = {text: host for host in self.hosts for text in (host.ipv4, host.ipv6)}
        self.ports: dict[tuple[int, int, int], Port] = {}
        self.open: dict[int, End] = {}
        # By the address of who connects, or sends: family and address that he asked for.
        self.calls: dict[tuple[int, int, int, int], tuple[int, str]] = {}
        self.spoke: dict[tuple[int, int], int] = {}
        self.epoch = epoch  # what `time.time` says at the beginning
        self.end: int = core.end  # picoseconds
        self.now: int = 0  # picoseconds
        self.seconds: float = 0.0  # the same as the loop's clock has it
        self.last: float = 0.0  # seconds: when a program last did something at a socket
        self.refusal: InputError | None = None
        self.delay: float | None = None  # while a function of an executor runs: the seconds that it has slept
        self._shared = _FIRST_SHARED

    def pass_to(self, now: int) -> None:
        """Notes the time, picoseconds."""
        if now != self.now:
            self.now = now
            self.seconds = now / PS_PER_S  # of two ints: the nearest float

    def shared_number(self) -> int:
        """Returns a number for a socket that shares a descriptor of the core."""
        self._shared += 1
        return self._shared

    def asked(self, host: int, port: int, at: Port) -> tuple[int, str]:
        """Returns family and address that a caller asked for."""
        first = at.sockets[0]
        own = first.host
        return self.calls.get((host, port, own.number, at.number)) or (first.plain_family, first.own_text(first.plain_family))


def hosts_of(network: Network, found: Sequence[tuple[str, str, str]]) -> list[Host]:
    """Returns the hosts of the core: the only member of a group is known by the name of its group."""
    groups = Counter(name.partition("[")[0] for name, _, _ in found)

    def label(name: str) -> str:
        group, _, rest = name.partition("[")
        return group if not rest or groups[group] == 1 else f"{group}-{rest.rstrip(']')}"

    return [Host(network, number, name, label(name), ipv4, ipv6) for number, (name, ipv4, ipv6) in enumerate(found)]


def names_of(hosts: Sequence[Host]) -> dict[str, Host]:
    """Returns the hosts by every name that a program may use, in small letters."""
    names: dict[str, Host] = {}
    for host in hosts:
        for name in (host.name, host.label, re.sub(r"\[(\d+)\]", r"\1", host.name)):
            names.setdefault(name.lower(), host)
    return names
