"""The calls of a script on sockets of this machine's kernel."""

from __future__ import annotations

import errno
import fcntl
import re
import select
import socket
import struct
from collections.abc import Callable
from typing import Any

from kernel.referee.script import Call, NotInLanguage
from kernel.referee.wire import KERNEL, PEER, PORT

CONSTANTS = {
    **{name: getattr(socket, name) for name in dir(socket) if re.match(r"(SO_|SOL_|TCP_|MSG_|SHUT_|IPPROTO_)", name)},
    **{name: getattr(select, name) for name in dir(select) if re.match(r"(POLL|EPOLL)", name)},
    **{name: getattr(fcntl, name) for name in ("F_GETFL", "F_SETFL")},
    **{name: number for number, name in errno.errorcode.items()},
    "O_RDWR": 2,
    "O_NONBLOCK": 0o4000,
    "SOL_TCP": 6,
    "MSG_FASTOPEN": 0x20000000,
    "TCP_FASTOPEN_CONNECT": 30,
    "SIOCINQ": 0x541B,
    "SIOCOUTQ": 0x5411,
    "SIOCOUTQNSD": 0x894B,
    "TCP_FASTOPEN_KEY": 33,
    "TCP_FASTOPEN_NO_COOKIE": 34,
    "TCP_NOTSENT_LOWAT": 25,
    "TCP_INQ": 36,
    "MSG_EOR": 0x80,
    "MSG_MORE": 0x8000,
    "MSG_ZEROCOPY": 0x4000000,
}


class Wrong(Exception):
    """A value that a call brought back is not what the script says."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected, self.got = expected, got


def value(text: str) -> int:
    """Returns the number that an argument such as `O_RDWR|O_NONBLOCK` or `[1]` stands for."""
    total = 0
    for word in text.strip("[] ").split("|"):
        if re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", word.strip()):
            total |= int(word, 0)
        elif word.strip() in CONSTANTS:
            total |= CONSTANTS[word.strip()]
        else:
            raise NotInLanguage(f"the constant {word.strip()!r}")
    return total


def fields(text: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=([\w|-]+)", text))


class Sockets:
    """Sockets by the numbers that the script gives them."""

    def __init__(self) -> None:
        self.known: dict[int, socket.socket] = {}
        self.epolls: dict[int, select.epoll] = {}
        self.controller = "cubic"
        # The connection that `tcp_info` is asked of.
        self.latest: socket.socket | None = None

    def run(self, call: Call) -> tuple[int, str | None]:
        """Returns the result of a call and the name of its error."""
        action: Callable[[Call], int] | None = getattr(self, f"do_{call.name}", None)
        if action is None:
            raise NotInLanguage(f"the call {call.name}")
        try:
            return action(call), None
        except OSError as error:
            return -1, errno.errorcode.get(error.errno or 0, str(error))

    def of(self, text: str) -> socket.socket:
        found = self.known.get(int(text))
        if found is None:
            raise OSError(errno.EBADF, "closed")
        return found

    def close(self) -> None:
        for connection in self.known.values():
            connection.close()
        for epoll in self.epolls.values():
            epoll.close()

    def do_socket(self, call: Call) -> int:
        self.known[call.result] = new = socket.socket()
        new.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.controller.encode())
        return call.result

    def do_bind(self, call: Call) -> int:
        self.of(call.given[0]).bind((KERNEL, PORT))
        return 0

    def do_listen(self, call: Call) -> int:
        self.of(call.given[0]).listen(int(call.given[1]))
        self.latest = self.latest or self.of(call.given[0])
        return 0

    def listens(self) -> bool:
        """Returns whether a SYN can begin another connection."""
        return any(known.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) for known in self.known.values())

    def do_accept(self, call: Call) -> int:
        descriptor, _ = self.of(call.given[0])._accept()  # type: ignore[attr-defined]
        self.known[max(call.result, 0)] = self.latest = socket.socket(fileno=descriptor)
        return call.result

    def do_connect(self, call: Call) -> int:
        self.latest = self.of(call.given[0])
        self.latest.connect((PEER, PORT))
        return 0

    def do_close(self, call: Call) -> int:
        if int(call.given[0]) in self.epolls:
            self.epolls.pop(int(call.given[0])).close()
            return 0
        self.of(call.given[0]).close()
        del self.known[int(call.given[0])]
        return 0

    def do_shutdown(self, call: Call) -> int:
        self.of(call.given[0]).shutdown(value(call.given[1]))
        return 0

    def do_read(self, call: Call) -> int:
        return len(self.of(call.given[0]).recv(int(call.given[2])))

    def do_recv(self, call: Call) -> int:
        return len(self.of(call.given[0]).recv(int(call.given[2]), value(call.given[3])))

    def do_write(self, call: Call) -> int:
        return self.of(call.given[0]).send(bytes(int(call.given[2])))

    def do_send(self, call: Call) -> int:
        return self.of(call.given[0]).send(bytes(int(call.given[2])), value(call.given[3]))

    def do_sendto(self, call: Call) -> int:
        self.latest = self.of(call.given[0])
        return self.latest.sendto(bytes(int(call.given[2])), value(call.given[3]), (PEER, PORT))

    def do_fcntl(self, call: Call) -> int:
        argument = value(call.given[2]) if len(call.given) > 2 else 0
        return fcntl.fcntl(self.of(call.given[0]), value(call.given[1]), argument) & ~0o100000

    def do_ioctl(self, call: Call) -> int:
        told = struct.unpack("i", fcntl.ioctl(self.of(call.given[0]), value(call.given[1]), bytes(4)))[0]
        same(call.given[2].strip("[]"), told)
        return 0

    def do_setsockopt(self, call: Call) -> int:
        given = call.given[3]
        if given.startswith("{"):
            linger = fields(given)
            data = struct.pack("ii", int(linger["onoff"]), int(linger["linger"]))
        elif given.startswith('"'):
            data = given.strip('"').encode()
        else:
            data = struct.pack("i", value(given))
        self.of(call.given[0]).setsockopt(value(call.given[1]), value(call.given[2]), data)
        return 0

    def do_getsockopt(self, call: Call) -> int:
        told: Any = self.of(call.given[0]).getsockopt(value(call.given[1]), value(call.given[2]))
        same(call.given[3].strip("[]"), told)
        return 0

    def do_poll(self, call: Call) -> int:
        entries = [fields(part) for part in re.findall(r"\{[^}]*\}", call.given[0])]
        poller = select.poll()
        for entry in entries:
            poller.register(self.of(entry["fd"]), value(entry["events"]))
        found = dict(poller.poll(int(call.given[2])))
        for entry in entries:
            same(str(value(entry["revents"])), found.get(self.of(entry["fd"]).fileno(), 0))
        return len(found)

    def do_epoll_create(self, call: Call) -> int:
        self.epolls[call.result] = select.epoll()
        return call.result

    def do_epoll_ctl(self, call: Call) -> int:
        epoll, target = self.epolls[int(call.given[0])], self.of(call.given[2])
        events = value(fields(call.given[3])["events"])
        if call.given[1] == "EPOLL_CTL_ADD":
            epoll.register(target, events)
        elif call.given[1] == "EPOLL_CTL_MOD":
            epoll.modify(target, events)
        else:
            epoll.unregister(target)
        return 0

    def do_epoll_wait(self, call: Call) -> int:
        found = self.epolls[int(call.given[0])].poll(int(call.given[3]) / 1e3, int(call.given[2]))
        told = fields(call.given[1])
        same(str(value(told["events"])), found[0][1] if found else 0)
        return len(found)


def same(expected: str, got: int) -> None:
    if value(expected) != got:
        raise Wrong(expected, str(got))
