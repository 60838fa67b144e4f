"""One end of the simulated network as a program has it: what a socket is, its addresses, its options, and its end.

No descriptor of the system is ever opened.
"""

from __future__ import annotations

import errno
import socket
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from elephan.virtual import names
from elephan.virtual.host import HOST, Host, refuse
from elephan.virtual.network import DATAGRAM, STREAM, Network, Port, os_error
from elephan.virtual.options import Options

Address = tuple[Any, ...]

FLAGS = getattr(socket, "SOCK_NONBLOCK", 0) | getattr(socket, "SOCK_CLOEXEC", 0)
ANY = ("0.0.0.0", "::")
_MSG_DONTWAIT = getattr(socket, "MSG_DONTWAIT", 0x40)
_MSG_KNOWN = socket.MSG_PEEK | _MSG_DONTWAIT | getattr(socket, "MSG_NOSIGNAL", 0x4000)


class End(socket.socket):
    """What every socket of a program on a simulated host is."""

    __slots__ = (
        *("_core", "_family", "_fd", "_local", "_number", "_proto", "_remote", "_serves", "_timeout"),
        *("host", "kind", "network", "options", "port"),
    )

    host: Host
    network: Network
    kind: int
    options: Options
    port: Port | None  # where it is bound
    _fd: int  # by which the core knows it
    _number: int  # by which the program knows it
    _timeout: float | None
    _serves: bool  # waits for whoever comes
    _local: str  # addresses without ports
    _remote: str

    def __init__(self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> None:
        host = HOST.get()
        if host is None:
            raise RuntimeError("a socket of a simulated host is made where no program runs")
        self._fd = self._number = -1
        if fileno is not None:
            self._take_over(host, fileno)
            return
        family = socket.AF_INET if family == -1 else family
        type = socket.SOCK_STREAM if type == -1 else type
        if family not in (socket.AF_INET, socket.AF_INET6):
            refuse(f"a socket of family {_name(socket.AddressFamily, family)}", "simulated hosts have AF_INET and AF_INET6")
        plain = type & ~FLAGS
        if plain not in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            refuse(f"a socket of type {_name(socket.SocketKind, plain)}", "simulated hosts have SOCK_STREAM and SOCK_DGRAM")
        kind = STREAM if plain == socket.SOCK_STREAM else DATAGRAM
        self._set_up(host, kind, family, proto, host.network.core.socket(host.number, kind))
        self._timeout = 0.0 if type & getattr(socket, "SOCK_NONBLOCK", 0) else socket.getdefaulttimeout()

    def _set_up(self, host: Host, kind: int, family: int, proto: int, fd: int) -> None:
        self.host, self.network, self._core, self.kind = host, host.network, host.network.core, kind
        self._family, self._proto = family, max(proto, 0)
        self._fd = self._number = fd
        self._timeout = None
        self._local = self._remote = ""
        self.port = None
        self._serves = False
        self.options = Options(self._core, socket.SOCK_STREAM if kind == STREAM else socket.SOCK_DGRAM)
        self._io_refs, self._closed = 0, False
        self.network.open[fd] = self

    def _take_over(self, host: Host, fileno: int) -> None:
        other = host.network.open.get(fileno)
        if other is None:
            refuse(f"a socket made of descriptor {fileno}", "programs have only sockets of the simulated network")
        for name in End.__slots__:
            setattr(self, name, getattr(other, name))
        self._io_refs, self._closed = 0, False
        other._fd = other._number = -1
        other._closed = True
        self.network.open[fileno] = self

    # What it is.

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AddressFamily(self._family)

    @property
    def type(self) -> socket.SocketKind:
        return socket.SOCK_STREAM if self.kind == STREAM else socket.SOCK_DGRAM

    @property
    def proto(self) -> int:
        return self._proto

    @property
    def timeout(self) -> float | None:
        return self._timeout

    def fileno(self) -> int:
        return self._number

    @property
    def descriptor(self) -> int:
        """The number by which the core knows it."""
        return self._fd

    def gettimeout(self) -> float | None:
        return self._timeout

    def settimeout(self, value: float | None) -> None:
        if value is not None and value < 0:
            raise ValueError("Timeout value out of range")
        self._timeout = None if value is None else float(value)

    def setblocking(self, flag: bool) -> None:
        self._timeout = None if flag else 0.0

    def getblocking(self) -> bool:
        return self._timeout != 0.0

    def get_inheritable(self) -> bool:
        return False

    def set_inheritable(self, inheritable: bool) -> None:
        """Nothing inherits a descriptor: a simulated host has one process."""

    @property
    def is_listening(self) -> bool:
        return self._remote == "*"

    # Addresses.

    @property
    def plain_family(self) -> int:
        return self._family

    def own_text(self, family: int) -> str:
        """Returns the address of its host in a family."""
        return self.host.ipv4 if family == socket.AF_INET else self.host.ipv6

    @property
    def is_dual(self) -> bool:
        """Whether it hears both families."""
        return self._family == socket.AF_INET6 and not self.options.is_v6_only

    def hears(self, family: int, text: str) -> bool:
        """Returns whether what comes to an address of its host comes to this socket."""
        if self._local == "::" and self.is_dual:
            return True
        if self._local in ANY:
            return family == self._family
        return self._local == text

    def overlaps(self, other: End, text: str) -> bool:
        """Returns whether another socket cannot bind to an address beside this one."""
        own = {self._family} if not (self._local == "::" and self.is_dual) else {socket.AF_INET, socket.AF_INET6}
        its = {other._family} if not (text == "::" and other.is_dual) else {socket.AF_INET, socket.AF_INET6}
        return bool(own & its) and (self._local in ANY or text in ANY or self._local == text)

    def _form(self, text: str, port: int) -> Address:
        """An address as this socket's family writes it."""
        if self._family == socket.AF_INET:
            return text, port
        return (text if ":" in text else f"::ffff:{text}"), port, 0, 0

    def _read(self, address: Any, call: str) -> tuple[str, int]:
        """Text and port of an address that a program gave; names are resolved."""
        name = "AF_INET" if self._family == socket.AF_INET else "AF_INET6"
        if not isinstance(address, tuple):
            raise TypeError(f"{call}(): {name} address must be tuple, not {type(address).__name__}")
        if not 2 <= len(address) <= (2 if name == "AF_INET" else 4):
            raise TypeError(f"{call}(): {name} address must be a pair (host, port)")
        host, port = address[:2]
        if not isinstance(port, int):
            raise TypeError(f"'{type(port).__name__}' object cannot be interpreted as an integer")
        if not 0 <= port <= 65_535:
            raise OverflowError(f"{call}(): port must be 0-65535.")
        host = host.decode() if isinstance(host, bytes | bytearray) else host
        if host == "<broadcast>":
            return "255.255.255.255", port
        if not host:
            return ("0.0.0.0" if self._family == socket.AF_INET else "::"), port
        if self._family == socket.AF_INET6 and host.lower().startswith("::ffff:") and "." in host:
            return host[7:], port  # an IPv4 address in IPv6
        return names.addresses(self.host, host, self._family)[0], port

    def _owner(self, text: str) -> Host:
        """The host that has an address. Raises OSError."""
        if ":" not in text and self._family == socket.AF_INET6 and not self.is_dual:
            raise os_error(errno.ENETUNREACH)
        if text == "255.255.255.255" and not self.options.may_broadcast:
            raise os_error(errno.EACCES)
        found = names.owner(self.host, text)
        if found is None:
            raise os_error(errno.ENETUNREACH)
        return found

    def getsockname(self) -> Address:
        _, port = self._core.name(self._check())
        unbound = "0.0.0.0" if self._family == socket.AF_INET else "::"
        return self._form(self._local or unbound, port) if self._local else (unbound, port, 0, 0)[: len(self._form("", 0))]

    def getpeername(self) -> Address:
        _, port = self._core.peer(self._check())
        return self._form(self._remote, port)

    def _shown(self, text: str, to: Host) -> str:
        """The address that both ends see of one that a program gave."""
        if to is self.host and text in ANY:
            return "127.0.0.1" if text == "0.0.0.0" else "::1"
        return text

    def _address(self, text: str, to: Host) -> None:
        """Notes where it is connected to, and which of its host's addresses that makes its own."""
        self._remote = text = self._shown(text, to)
        if self._local in ("", *ANY):
            self._local = text if to is self.host else self.own_text(socket.AF_INET6 if ":" in text else socket.AF_INET)

    # Options, the end.

    def setsockopt(self, level: int, optname: int, value: Any, optlen: int | None = None) -> None:
        self.options.set(self._check(), level, optname, value)

    def getsockopt(self, level: int, optname: int, buflen: int = 0) -> Any:
        fd = self._check()
        if level == socket.SOL_SOCKET:
            answers: dict[int, Callable[[], int]] = {
                socket.SO_ERROR: lambda: self._core.error(fd),
                socket.SO_TYPE: lambda: int(self.type),
                getattr(socket, "SO_PROTOCOL", 38): lambda: self._proto or (6 if self.kind == STREAM else 17),
                getattr(socket, "SO_DOMAIN", 39): lambda: int(self._family),
                socket.SO_ACCEPTCONN: lambda: int(self.is_listening),
            }
            if optname in answers:
                return answers[optname]()
        return self.options.get(fd, level, optname, buflen)

    def dup(self) -> NoReturn:
        refuse("a socket is duplicated", "share the object")

    def detach(self) -> int:
        number, self._number, self._closed = self._number, -1, True
        return number

    def _real_close(self, _ss: Any = None) -> None:
        fd, number = self._fd, self._number
        if number == -1:
            return
        self._fd = self._number = -1
        if self.network.open.pop(number, None) is None:
            return  # the run is over
        self.host.listening -= self._serves
        if self.kind == STREAM and self._remote and not self.is_listening:
            self.host.streams -= 1
        self._used()
        if self.port is not None:
            self.port.leave(self, number)
        else:
            self._core.close(fd)

    def __del__(self) -> None:
        if getattr(self, "_number", -1) != -1 and not self._closed and self._number in self.network.open:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)
            self._real_close()

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        refuse("socket.sendfile blocks", "use loop.sendfile or loop.sock_sendfile")

    # For the calls.

    def _serve(self) -> None:
        self._serves = True
        self.host.listening += 1

    def _note_stream(self) -> None:
        self.host.streams += 1

    def _used(self) -> None:
        self.network.last = self.network.seconds

    def _check(self) -> int:
        if self._fd == -1:
            raise os_error(errno.EBADF)
        return self._fd

    def _check_flags(self, flags: int) -> None:
        if flags & ~_MSG_KNOWN:
            raise os_error(errno.EOPNOTSUPP)

    def _would_block(self, call: str, flags: int = 0) -> NoReturn:
        if self._timeout == 0 or flags & _MSG_DONTWAIT:
            raise os_error(errno.EAGAIN)
        refuse(f"a blocking {call} of a socket", "use asyncio, or setblocking(False)")


def _name(kind: Any, number: int) -> str:
    try:
        return str(kind(number).name)
    except ValueError:
        return str(number)
