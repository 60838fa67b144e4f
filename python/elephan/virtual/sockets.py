"""Sockets of programs in virtual time: `socket.socket` for the program, a descriptor of the simulated network below.

No descriptor of the system is ever opened. Results and errors are those of Linux. A call that would block is refused, since nothing
could happen meanwhile: time passes in the loop alone.
"""

from __future__ import annotations

import _socket
import errno
import socket
import warnings
from collections.abc import Iterable
from typing import Any, NoReturn

from elephan.virtual import names
from elephan.virtual.host import HOST, Host, refuse
from elephan.virtual.network import DATAGRAM, STREAM, Network, Port, os_error
from elephan.virtual.options import Options

Address = tuple[Any, ...]

_PIECE = 1 << 20  # bytes that one call hands to the core at most, so that a long buffer is not copied for a short room
_MSG_KNOWN = socket.MSG_PEEK | getattr(socket, "MSG_DONTWAIT", 0x40) | getattr(socket, "MSG_NOSIGNAL", 0x4000)
_MSG_DONTWAIT = getattr(socket, "MSG_DONTWAIT", 0x40)
_FLAGS = getattr(socket, "SOCK_NONBLOCK", 0) | getattr(socket, "SOCK_CLOEXEC", 0)
_NOWHERE = 0  # a port that nobody can listen at: who connects to it is refused
_ANY = ("0.0.0.0", "::")


class Socket(socket.socket):
    """A socket of a program on a simulated host."""

    __slots__ = ("_asked", "_core", "_family", "_fd", "_local", "_number", "_proto", "_remote", "_serves", "_timeout")
    __slots__ += ("host", "kind", "network", "options", "port")

    host: Host
    network: Network
    kind: int
    options: Options
    _fd: int

    def __init__(self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> None:
        host = HOST.get()
        if host is None:
            raise RuntimeError("a socket of a simulated host is made where no program runs")
        self._fd = self._number = -1  # what the core knows it by, and what the program does
        if fileno is not None:
            self._take_over(host, fileno)
            return
        family = socket.AF_INET if family == -1 else family
        type = socket.SOCK_STREAM if type == -1 else type
        if family not in (socket.AF_INET, socket.AF_INET6):
            refuse(f"a socket of family {_name(socket.AddressFamily, family)}", "simulated hosts have AF_INET and AF_INET6")
        plain = type & ~_FLAGS
        if plain not in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            refuse(f"a socket of type {_name(socket.SocketKind, plain)}", "simulated hosts have SOCK_STREAM and SOCK_DGRAM")
        kind = STREAM if plain == socket.SOCK_STREAM else DATAGRAM
        self._set_up(host, kind, family, proto, host.network.core.socket(host.number, kind))
        self._timeout = 0.0 if type & getattr(socket, "SOCK_NONBLOCK", 0) else socket.getdefaulttimeout()

    def _set_up(self, host: Host, kind: int, family: int, proto: int, fd: int) -> None:
        self.host, self.network, self._core, self.kind = host, host.network, host.network.core, kind
        self._family, self._proto = family, max(proto, 0)
        self._fd = self._number = fd
        self._timeout: float | None = None
        self._local = self._remote = ""  # addresses without ports
        self.port: Port | None = None  # where it is bound
        self._serves = False  # waits for whoever comes
        self.options = Options(self._core, socket.SOCK_STREAM if kind == STREAM else socket.SOCK_DGRAM)
        self._io_refs, self._closed = 0, False
        self.network.open[fd] = self

    def _take_over(self, host: Host, fileno: int) -> None:
        other = host.network.open.get(fileno)
        if other is None:
            refuse(f"a socket made of descriptor {fileno}", "programs have only sockets of the simulated network")
        for name in Socket.__slots__:
            setattr(self, name, getattr(other, name))
        self._io_refs, self._closed = 0, False
        other._fd = other._number = -1
        other._closed = True
        self.network.open[fileno] = self

    # What it is.

    @property
    def family(self) -> socket.AddressFamily:  # type: ignore[override]
        return socket.AddressFamily(self._family)

    @property
    def type(self) -> socket.SocketKind:  # type: ignore[override]
        return socket.SOCK_STREAM if self.kind == STREAM else socket.SOCK_DGRAM

    @property
    def proto(self) -> int:  # type: ignore[override]
        return self._proto

    @property
    def timeout(self) -> float | None:  # type: ignore[override]
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
        if self._local in _ANY:
            return family == self._family
        return self._local == text

    def overlaps(self, other: Socket, text: str) -> bool:
        """Returns whether another socket cannot bind to an address beside this one."""
        own = {self._family} if not (self._local == "::" and self.is_dual) else {socket.AF_INET, socket.AF_INET6}
        its = {other._family} if not (text == "::" and other.is_dual) else {socket.AF_INET, socket.AF_INET6}
        return bool(own & its) and (self._local in _ANY or text in _ANY or self._local == text)

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

    # Binding, listening, connecting.

    def bind(self, address: Any) -> None:
        text, port = self._read(address, "bind")
        fd = self._check()
        own = (*_ANY, "::1", self.host.ipv4, self.host.ipv6)
        if not (text in own or text.startswith("127.")):
            raise os_error(errno.EADDRNOTAVAIL)
        if self._local:
            raise os_error(errno.EINVAL)
        shared = self.network.ports.get((self.kind, self.host.number, port))
        if shared is not None and self.kind == STREAM and not shared.conflicts(self, text):
            self._share(shared)
        else:
            self._core.bind(fd, port)
            number = self._core.name(fd)[1]
            shared = self.network.ports[self.kind, self.host.number, number] = Port(self.network, fd, number)
        self.port, self._local = shared, text
        shared.sockets.append(self)
        if self.kind == DATAGRAM and port:
            self._serve()

    def _share(self, port: Port) -> None:
        """Takes the descriptor of a port that is another socket's already."""
        self._core.close(self._fd)
        del self.network.open[self._number]
        self._fd, self._number = port.fd, self.network.shared_number()
        self.network.open[self._number] = self

    def listen(self, backlog: int = 128) -> None:
        fd = self._check()
        self._core.listen(fd, max(int(backlog), 0))
        if self.port is None:
            number = self._core.name(fd)[1]
            self._local = "0.0.0.0" if self._family == socket.AF_INET else "::"
            self.port = self.network.ports[self.kind, self.host.number, number] = Port(self.network, fd, number)
            self.port.sockets.append(self)
        if not self.is_listening:
            self._serve()
            self._remote = "*"

    def _serve(self) -> None:
        self._serves = True
        self.host.listening += 1

    @property
    def is_listening(self) -> bool:
        return self._remote == "*"

    def accept(self) -> tuple[socket.socket, Address]:
        fd = self._check()
        if not self.is_listening or self.port is None:
            raise os_error(errno.EOPNOTSUPP if self.kind == DATAGRAM else errno.EINVAL)
        port = self.port
        try:
            fd, host, number = port.accept(self)
        except BlockingIOError:
            self._would_block("accept")
        made = Socket.__new__(Socket)
        made._set_up(self.host, STREAM, self._family, self._proto, fd)
        made.options.inherit(self.options)
        family, text = self.network.asked(host, number, port)
        self.network.calls.pop((host, number, self.host.number, port.number), None)
        peer = self.network.hosts[host]
        made._local = text
        is_own = peer is self.host and text in ("127.0.0.1", "::1")
        made._remote = text if is_own else peer.ipv4 if family == socket.AF_INET else peer.ipv6
        made._timeout = socket.getdefaulttimeout()
        made._note_stream()
        self._used()
        return made, made._form(made._remote, number)

    def _accept(self) -> NoReturn:
        raise NotImplementedError

    def connect(self, address: Any) -> None:
        text, port = self._read(address, "connect")
        to = self._owner(text)
        fd = self._check()
        self._used()
        if self.kind == DATAGRAM:
            self._core.connect(fd, to.number, port)
            self._address(text, to)
            self._say(text)
            return
        if self.is_listening:
            raise os_error(errno.EISCONN)
        family = socket.AF_INET6 if ":" in text else socket.AF_INET
        text = self._shown(text, to)
        if not self._remote:
            listener = self.network.ports.get((STREAM, to.number, port))
            deaf = listener is not None and listener.at(family, text) is None
            try:
                self._begin(fd, to, port, family, text, deaf)
            except BlockingIOError:
                if self._timeout == 0:
                    raise
                self._would_block("connect")
        else:
            self._core.connect(fd, to.number, port)

    def _begin(self, fd: int, to: Host, port: int, family: int, text: str, deaf: bool) -> None:
        """Begins to connect. What listens there may do so at other addresses only, and is `deaf` to this one."""
        number = self._core.name(fd)[1]
        if not number:
            self._core.bind(fd, 0)
            number = self._core.name(fd)[1]
        # Noted before: a connection within a host is there at once.
        asked = (self.host.number, number, to.number, port)
        self.network.calls[asked] = (family, text)
        self._address(text, to)
        try:
            self._core.connect(fd, to.number, _NOWHERE if deaf else port)
        except BlockingIOError:
            self._note_stream()
            raise
        except OSError:
            self._remote = ""
            del self.network.calls[asked]
            raise
        self._note_stream()

    def _shown(self, text: str, to: Host) -> str:
        """The address that both ends see of one that a program gave."""
        if to is self.host and text in _ANY:
            return "127.0.0.1" if text == "0.0.0.0" else "::1"
        return text

    def _address(self, text: str, to: Host) -> None:
        """Notes where it is connected to, and which of its host's addresses that makes its own."""
        self._remote = text = self._shown(text, to)
        if self._local in ("", *_ANY):
            self._local = text if to is self.host else self.own_text(socket.AF_INET6 if ":" in text else socket.AF_INET)

    def connect_ex(self, address: Any) -> int:
        try:
            self.connect(address)
        except OSError as error:
            if error.errno is None or isinstance(error, socket.gaierror):
                raise
            return error.errno
        return 0

    def shutdown(self, how: int) -> None:
        fd = self._check()
        if self.is_listening:
            raise os_error(errno.ENOTCONN)
        self._core.shutdown(fd, how)
        self._used()

    # Reading.

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        if bufsize < 0:
            raise ValueError("negative buffersize in recv")
        if flags:
            self._check_flags(flags)
        try:
            data = self._core.recv(self._check(), bufsize, bool(flags & socket.MSG_PEEK))
        except BlockingIOError:
            self._would_block("recv", flags)
        self.network.last = self.network.seconds
        return data  # type: ignore[no-any-return]

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        view = memoryview(buffer).cast("B")
        data = self.recv(self._most(view, nbytes), flags)
        view[: len(data)] = data
        return len(data)

    @staticmethod
    def _most(view: memoryview, nbytes: int) -> int:
        if nbytes < 0:
            raise ValueError("negative buffersize in recv_into")
        if nbytes > len(view):
            raise ValueError("buffer too small for requested bytes")
        return nbytes or len(view)

    def recvfrom(self, bufsize: int, flags: int = 0) -> tuple[bytes, Any]:
        if bufsize < 0:
            raise ValueError("negative buffersize in recvfrom")
        if self.kind == STREAM:
            return self.recv(bufsize, flags), None
        if flags:
            self._check_flags(flags)
        if flags & socket.MSG_PEEK:
            refuse("MSG_PEEK of a datagram with its address")
        try:
            data, host, port = self._core.recv_from(self._check(), bufsize)
        except BlockingIOError:
            self._would_block("recvfrom", flags)
        self.network.last = self.network.seconds
        return data, self._form(self._sender(host, port), port)

    def _sender(self, host: int, port: int) -> str:
        """The address from which a datagram came, in the family in which its sender addressed us."""
        sender = self.network.hosts[host]
        family = self._family
        if self.is_dual:
            family = self.network.spoke.get((host, port), family)
        if sender is self.host and self._remote:
            return self._remote
        if sender is self.host and self._local.startswith(("127.", "::1")):
            return self._local
        return sender.ipv4 if family == socket.AF_INET else sender.ipv6

    def recvfrom_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> tuple[int, Any]:
        view = memoryview(buffer).cast("B")
        data, address = self.recvfrom(self._most(view, nbytes), flags)
        view[: len(data)] = data
        return len(data), address

    def recvmsg(self, bufsize: int, ancbufsize: int = 0, flags: int = 0) -> tuple[bytes, list[Any], int, Any]:
        data, address = self.recvfrom(bufsize, flags)
        return data, [], 0, address

    def recvmsg_into(self, buffers: Iterable[Any], ancbufsize: int = 0, flags: int = 0) -> tuple[int, list[Any], int, Any]:
        views = [memoryview(buffer).cast("B") for buffer in buffers]
        data, address = self.recvfrom(sum(map(len, views)), flags)
        done = 0
        for view in views:
            piece = data[done : done + len(view)]
            view[: len(piece)] = piece
            done += len(piece)
        return done, [], 0, address

    # Writing.

    def send(self, data: Any, flags: int = 0) -> int:
        if flags:
            self._check_flags(flags)
        fd = self._check()
        if type(data) is not bytes:
            data = memoryview(data).cast("B")
            if self.kind == STREAM and len(data) > _PIECE:
                return self._send_pieces(fd, data, flags)
            data = bytes(data)
        try:
            taken = self._core.send(fd, data)
        except BlockingIOError:
            self._would_block("send", flags)
        self.network.last = self.network.seconds
        return taken  # type: ignore[no-any-return]

    def _send_pieces(self, fd: int, data: memoryview, flags: int) -> int:
        done = 0
        while done < len(data):
            piece = bytes(data[done : done + _PIECE])
            try:
                taken = self._core.send(fd, piece)
            except BlockingIOError:
                if done:
                    break
                self._would_block("send", flags)
            done += taken
            if taken < len(piece):
                break
        self._used()
        return done

    def sendall(self, data: Any, flags: int = 0) -> None:
        view = memoryview(data).cast("B")
        sent = 0
        while sent < len(view):
            sent += self.send(view[sent:], flags)

    def sendto(self, data: Any, *more: Any) -> int:  # type: ignore[override]
        flags, address = (0, more[0]) if len(more) == 1 else more
        if flags:
            self._check_flags(flags)
        if self.kind == STREAM or address is None:
            return self.send(data, flags)
        text, port = self._read(address, "sendto")
        to = self._owner(text)
        self._say(text)
        sent: int = self._core.send_to(self._check(), bytes(data), to.number, port)
        self._used()
        return sent

    def _say(self, text: str) -> None:
        """Notes in which family a datagram is addressed: who hears both shows its sender so."""
        number = self._core.name(self._fd)[1]
        if not number:
            self._core.bind(self._fd, 0)
            number = self._core.name(self._fd)[1]
        self.network.spoke[self.host.number, number] = socket.AF_INET6 if ":" in text else socket.AF_INET

    def sendmsg(self, buffers: Iterable[Any], ancdata: Any = (), flags: int = 0, address: Any = None) -> int:
        data = b"".join(bytes(memoryview(buffer)) for buffer in buffers)
        return self.send(data, flags) if address is None else self.sendto(data, flags, address)

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        refuse("socket.sendfile blocks", "use loop.sendfile or loop.sock_sendfile")

    # Options, the end.

    def setsockopt(self, level: int, optname: int, value: Any, optlen: int | None = None) -> None:  # type: ignore[override]
        self.options.set(self._check(), level, optname, value)

    def getsockopt(self, level: int, optname: int, buflen: int = 0) -> Any:  # type: ignore[override]
        fd = self._check()
        if level == socket.SOL_SOCKET:
            answers = {
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

    # For the other methods.

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


def make(cls: type, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> Any:
    """Makes the object of a call of `socket.socket`: one of the simulated network where a program runs, else one of the system."""
    if HOST.get() is None or cls is Socket:
        return _socket.socket.__new__(cls)
    if cls is not socket.socket:
        refuse(f"a socket of class {cls.__name__}", "programs have plain sockets; TLS is that of asyncio")
    return _socket.socket.__new__(Socket)


def pair(host: Host, family: int = 0, type: int = socket.SOCK_STREAM, proto: int = 0) -> tuple[Socket, Socket]:
    """Returns two sockets of a host that are connected to each other."""
    if type & ~_FLAGS != socket.SOCK_STREAM:
        refuse("a pair of sockets that are no streams")
    with Socket(socket.AF_INET) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        host.listening -= 1  # it is nobody's server
        one = Socket(socket.AF_INET)
        one.connect(listener.getsockname())
        other, _ = listener.accept()
        host.listening += 1
    return one, other  # type: ignore[return-value]
