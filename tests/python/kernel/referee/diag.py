"""`tcp_info` of a socket that the application has closed, which the kernel tells by inet_diag (linux/inet_diag.h)."""

from __future__ import annotations

import socket
import struct

from kernel.tcp_info import parsed

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
DUMP = 0x301  # NLM_F_REQUEST and NLM_F_DUMP
DONE = 3
INET_DIAG_INFO = 2
CLOSE = 7
# Of a message: netlink's header, inet_diag_msg, and where in it state and ports stand.
HEADER, MESSAGE = 16, 72


def info_by_port(own: int, peer: int) -> dict[str, int]:
    """Returns what the kernel tells of the connection between two ports: state alone in TIME-WAIT and when it is gone."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as asking:
        body = struct.pack("=BBBxI48x", socket.AF_INET, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0xFFFFFFFF)
        asking.send(struct.pack("=IHHII", HEADER + len(body), SOCK_DIAG_BY_FAMILY, DUMP, 1, 0) + body)
        while True:
            answer = asking.recv(1 << 18)
            position = 0
            while position < len(answer):
                size, kind = struct.unpack_from("=IH", answer, position)
                if kind != SOCK_DIAG_BY_FAMILY:
                    return {"state": CLOSE}
                found = _entry(answer[position + HEADER : position + size], own, peer)
                if found is not None:
                    return found
                position += (size + 3) & ~3


def _entry(message: bytes, own: int, peer: int) -> dict[str, int] | None:
    state = message[1]
    if struct.unpack_from("!HH", message, 4) != (own, peer):
        return None
    position = MESSAGE
    while position + 4 <= len(message):
        size, kind = struct.unpack_from("=HH", message, position)
        if kind == INET_DIAG_INFO and size > 4:
            # FIN-WAIT-2 may be kept as a TIME-WAIT whose inner state the message tells.
            return parsed(message[position + 4 : position + size]) | {"state": state}
        position += (max(size, 4) + 3) & ~3
    return {"state": state}
