"""Options of sockets: those that the model has reach it, others of Linux are remembered, and what Linux lacks is an error."""

from __future__ import annotations

import errno
import socket
import struct
import sys
from collections.abc import Mapping
from typing import Any

from elephan.virtual.network import os_error

_TCP, _IP, _IPV6, _SOL = socket.IPPROTO_TCP, socket.IPPROTO_IP, socket.IPPROTO_IPV6, socket.SOL_SOCKET

# Numbers of Linux, so that a program sees the same options on every system: (level, option): name for the core.
_LINUX = sys.platform == "linux"


def _number(name: str, linux: int) -> int:
    return int(getattr(socket, name, linux)) if _LINUX or hasattr(socket, name) else linux


NODELAY, CORK = _number("TCP_NODELAY", 1), _number("TCP_CORK", 3)
USER_TIMEOUT, CONGESTION, INFO = _number("TCP_USER_TIMEOUT", 18), _number("TCP_CONGESTION", 13), _number("TCP_INFO", 11)
V6ONLY = _number("IPV6_V6ONLY", 26)
_OF_CORE = {
    (_TCP, NODELAY): "nodelay",
    (_TCP, CORK): "cork",
    (_TCP, USER_TIMEOUT): "user_timeout",
    (_SOL, socket.SO_SNDBUF): "send_buffer",
    (_SOL, socket.SO_RCVBUF): "receive_buffer",
}
# What a fresh socket answers (Linux); `tcp_wmem`, `tcp_rmem` and `wmem_default` for the buffers.
_DEFAULTS = {
    (_SOL, socket.SO_SNDBUF): {socket.SOCK_STREAM: 16_384, socket.SOCK_DGRAM: 212_992},
    (_SOL, socket.SO_RCVBUF): {socket.SOCK_STREAM: 131_072, socket.SOCK_DGRAM: 212_992},
}
# Remembered, without effect on the model: keep-alive and its times, address reuse, broadcast, quick ACKs, marks of IP.
_REMEMBERED_NAMES = {
    _SOL: "REUSEADDR REUSEPORT KEEPALIVE BROADCAST OOBINLINE PRIORITY MARK RCVTIMEO SNDTIMEO RCVLOWAT BINDTODEVICE INCOMING_CPU",
    _TCP: "KEEPIDLE KEEPINTVL KEEPCNT QUICKACK DEFER_ACCEPT SYNCNT LINGER2 MAXSEG WINDOW_CLAMP NOTSENT_LOWAT FASTOPEN "
    "FASTOPEN_CONNECT",
    _IP: "TOS TTL RECVTOS BIND_ADDRESS_NO_PORT",
    _IPV6: "V6ONLY TCLASS UNICAST_HOPS RECVPKTINFO RECVTCLASS DONTFRAG",
}
_PREFIXES = {_SOL: "SO", _TCP: "TCP", _IP: "IP", _IPV6: "IPV6"}
# Those of which Python has no name: IP_MTU_DISCOVER, IP_RECVERR, IP_PKTINFO, IPV6_MTU_DISCOVER, IPV6_RECVERR.
_UNNAMED = {(_IP, 10), (_IP, 11), (_IP, 8), (_IP, 24), (_IPV6, 23), (_IPV6, 25)}
_REMEMBERED = _UNNAMED | {
    (level, getattr(socket, f"{_PREFIXES[level]}_{name}"))
    for level, names in _REMEMBERED_NAMES.items()
    for name in names.split()
    if hasattr(socket, f"{_PREFIXES[level]}_{name}")
}

# The beginning of `struct tcp_info` (Linux `include/uapi/linux/tcp.h`): format and field of each place.
_INFO_BYTES = "state ca_state retransmits probes backoff options"
_INFO_REST = (
    (
        "I",
        "rto ato snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent last_data_recv last_ack_recv "
        "pmtu rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss reordering rcv_rtt rcv_space total_retrans",
    ),
    ("Q", "pacing_rate max_pacing_rate bytes_acked bytes_received"),
    ("I", "segs_out segs_in notsent_bytes min_rtt data_segs_in data_segs_out"),
    ("Q", "delivery_rate busy_time rwnd_limited sndbuf_limited"),
    ("I", "delivered delivered_ce"),
    ("Q", "bytes_sent bytes_retrans"),
    ("I", "dsack_dups reord_seen rcv_ooopack snd_wnd"),
)
_MOST = {"B": 0xFF, "I": 0xFFFF_FFFF, "Q": 0xFFFF_FFFF_FFFF_FFFF}


def tcp_info(fields: Mapping[str, Any], state: int) -> bytes:
    """Returns `struct tcp_info` as Linux lays it out, from the fields that the core gives."""
    values = {**fields, "state": state}

    def some(letter: str, names: str) -> bytes:
        numbers = [min(int(values.get(name, 0)), _MOST[letter]) for name in names.split()]
        return struct.pack(f"={len(numbers)}{letter}", *numbers)

    scales = (int(values.get("snd_wscale", 0)) & 15) | (int(values.get("rcv_wscale", 0)) & 15) << 4
    limited = int(values.get("delivery_rate_app_limited", 0)) & 1 | (int(values.get("fastopen_client_fail", 0)) & 3) << 1
    return b"".join([some("B", _INFO_BYTES), struct.pack("=BB", scales, limited), *(some(*part) for part in _INFO_REST)])


class Options:
    """The options of one socket."""

    __slots__ = ("_core", "_kind", "_values", "linger")

    def __init__(self, core: Any, kind: socket.SocketKind) -> None:
        self._core, self._kind = core, kind
        self._values: dict[tuple[int, int], Any] = {}
        self.linger = (0, 0)

    def inherit(self, other: Options) -> None:
        """Takes over what a connection has from its listener."""
        self._values = dict(other._values)
        self.linger = other.linger

    @property
    def is_v6_only(self) -> bool:
        return bool(self._values.get((_IPV6, V6ONLY), 0))

    @property
    def may_broadcast(self) -> bool:
        return bool(self._values.get((_SOL, socket.SO_BROADCAST), 0))

    def set(self, fd: int, level: int, option: int, value: Any) -> None:
        """Sets an option. Raises OSError ENOPROTOOPT for what Linux does not have, EINVAL for a value of the wrong form."""
        key = (level, option)
        is_stream = self._kind == socket.SOCK_STREAM
        if level == _TCP and not is_stream:
            raise os_error(errno.ENOPROTOOPT if option != NODELAY else errno.EOPNOTSUPP)
        if key == (_TCP, CONGESTION):
            name = (value if isinstance(value, bytes) else str(value).encode()).partition(b"\0")[0].decode()
            self._core.set_congestion_control(fd, name)
        elif key == (_SOL, socket.SO_LINGER):
            if not isinstance(value, bytes | bytearray) or len(value) < 8:
                raise os_error(errno.EINVAL)
            self.linger = struct.unpack("ii", bytes(value)[:8])
            if is_stream:
                self._core.set_number(fd, "aborts", int(self.linger[0] != 0 and self.linger[1] == 0))
        elif key in _OF_CORE:
            number = self._whole(value)
            if is_stream:
                self._core.set_number(fd, _OF_CORE[key], max(number, 0))
            self._values[key] = number * 2 if level == _SOL else number
        elif key in _REMEMBERED:
            self._values[key] = value if isinstance(value, bytes) else self._whole(value)
        else:
            raise os_error(errno.ENOPROTOOPT)

    @staticmethod
    def _whole(value: Any) -> int:
        if isinstance(value, bytes | bytearray):
            if len(value) < 4:
                raise os_error(errno.EINVAL)
            return int.from_bytes(bytes(value)[:4], sys.byteorder, signed=True)
        return int(value)

    def get(self, fd: int, level: int, option: int, length: int = 0) -> int | bytes:
        """Returns an option as a number, or with `length` as bytes."""
        key = (level, option)
        if key == (_TCP, INFO):
            return self._info(fd)[: length or None]
        if key == (_TCP, CONGESTION):
            found = self._core.info(fd) or {}
            return str(found.get("congestion_control", "cubic")).encode()[: length or None]
        if key == (_SOL, socket.SO_LINGER):
            return struct.pack("ii", *self.linger)
        value: int | bytes
        if key in self._values:
            value = self._values[key]
        elif key in _DEFAULTS:
            value = _DEFAULTS[key][self._kind]
        elif key in _OF_CORE or key in _REMEMBERED:
            value = 0
        else:
            raise os_error(errno.ENOPROTOOPT)
        if length and isinstance(value, int):
            return struct.pack("i", value)[:length]
        return value

    def _info(self, fd: int) -> bytes:
        try:
            fields = self._core.info(fd)
        except OSError as error:
            if error.errno != errno.ENOTCONN:
                raise
            fields = None
        established, closed = 1, 7
        return tcp_info(fields or {}, established if fields else closed)
