"""Sockets of programs in virtual time: `socket.socket` for the program, a descriptor of the simulated network below.

Results and errors are those of Linux. A call that would block is refused, since nothing could happen meanwhile: time passes in the
loop alone.
"""

from __future__ import annotations

import _socket
import errno
import socket
from collections.abc import Iterable
from typing import Any, NoReturn

from elephan.virtual.ends import ANY, FLAGS, Address, End
from elephan.virtual.host import HOST, Host, refuse
from elephan.virtual.network import DATAGRAM, STREAM, Port, os_error

_PIECE = 1 << 20  # bytes that one call hands to the core at most, so that a long buffer is not copied for a short room
_NOWHERE = 0  # a port that nobody can listen at: who connects to it is refused


class Socket(End):
    """A socket of a program on a simulated host."""

    __slots__ = ()

    # Binding, listening, connecting.

    def bind(self, address: Any) -> None:
        text, port = self._read(address, "bind")
        fd = self._check()
        own = (*ANY, "::1", self.host.ipv4, self.host.ipv6)
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
            data: bytes = self._core.recv(self._check(), bufsize, bool(flags & socket.MSG_PEEK))
        except BlockingIOError:
            self._would_block("recv", flags)
        self.network.last = self.network.seconds
        return data

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
            taken: int = self._core.send(fd, data)
        except BlockingIOError:
            self._would_block("send", flags)
        self.network.last = self.network.seconds
        return taken

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

    def sendto(self, data: Any, *more: Any) -> int:
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


def make(cls: type, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> Any:
    """Makes the object of a call of `socket.socket`: one of the simulated network where a program runs, else one of the system."""
    if HOST.get() is None or cls is Socket:
        return _socket.socket.__new__(cls)
    if cls is not socket.socket:
        refuse(f"a socket of class {cls.__name__}", "programs have plain sockets; TLS is that of asyncio")
    return _socket.socket.__new__(Socket)


def pair(host: Host, family: int = 0, type: int = socket.SOCK_STREAM, proto: int = 0) -> tuple[Socket, Socket]:
    """Returns two sockets of a host that are connected to each other."""
    if type & ~FLAGS != socket.SOCK_STREAM:
        refuse("a pair of sockets that are no streams")
    with Socket(socket.AF_INET) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        host.listening -= 1  # it is nobody's server
        one = Socket(socket.AF_INET)
        one.connect(listener.getsockname())
        other, _ = listener.accept()
        host.listening += 1
    assert isinstance(other, Socket)
    return one, other
