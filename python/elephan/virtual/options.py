"""Options of sockets: those that the model has reach it, others of Linux are remembered, and what Linux does not know is an error."""

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
    _SOL: ("SO_REUSEADDR", "SO_REUSEPORT", "SO_KEEPALIVE", "SO_BROADCAST", "SO_OOBINLINE", "SO_PRIORITY", "SO_MARK")
    + ("SO_RCVTIMEO", "SO_SNDTIMEO", "SO_RCVLOWAT", "SO_TIMESTAMP", "SO_BINDTODEVICE", "SO_INCOMING_CPU"),
    _TCP: ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_QUICKACK", "TCP_DEFER_ACCEPT", "TCP_SYNCNT", "TCP_LINGER2")
    + ("TCP_MAXSEG", "TCP_WINDOW_CLAMP", "TCP_NOTSENT_LOWAT", "TCP_FASTOPEN", "TCP_FASTOPEN_CONNECT"),
    _IP: ("IP_TOS", "IP_TTL", "IP_MTU_DISCOVER", "IP_RECVERR", "IP_PKTINFO", "IP_RECVTOS", "IP_BIND_ADDRESS_NO_PORT"),
    _IPV6: ("IPV6_V6ONLY", "IPV6_TCLASS", "IPV6_UNICAST_HOPS", "IPV6_RECVPKTINFO", "IPV6_RECVTCLASS", "IPV6_MTU_DISCOVER")
    + ("IPV6_RECVERR", "IPV6_DONTFRAG"),
}
# Those of which Python has no name: IP_MTU_DISCOVER, IP_RECVERR, IP_PKTINFO, IPV6_MTU_DISCOVER, IPV6_RECVERR.
_UNNAMED = {(_IP, 10), (_IP, 11), (_IP, 8), (_IP, 24), (_IPV6, 23), (_IPV6, 25)}
_REMEMBERED = {
    (level, getattr(socket, name)) for level, names in _REMEMBERED_NAMES.items() for name in names if hasattr(socket, name)
} | _UNNAMED

# The beginning of `struct tcp_info` (Linux `include/uapi/linux/tcp.h`): format and field of each place.
_INFO_BYTES = "state ca_state retransmits probes backoff options".split()
_INFO_WORDS = (
    "rto ato snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent last_data_recv last_ack_recv "
    "pmtu rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss reordering rcv_rtt rcv_space total_retrans"
).split()
_INFO_LONGS = "pacing_rate max_pacing_rate bytes_acked bytes_received".split()
_INFO_MORE = "segs_out segs_in notsent_bytes min_rtt data_segs_in data_segs_out".split()
_INFO_LAST = (
    "delivery_rate busy_time rwnd_limited sndbuf_limited".split(),
    "delivered delivered_ce".split(),
    "bytes_sent bytes_retrans".split(),
    "dsack_dups reord_seen rcv_ooopack snd_wnd".split(),
)


def tcp_info(fields: Mapping[str, Any], state: int) -> bytes:
    """Returns `struct tcp_info` as Linux lays it out, from the fields that the core gives."""
    values = {**fields, "state": state}

    def some(letter: str, names: list[str]) -> bytes:
        most = {"B": 0xFF, "I": 0xFFFFFFFF, "Q": 0xFFFFFFFFFFFFFFFF}[letter]
        return struct.pack(f"={len(names)}{letter}", *(min(int(values.get(name, 0)), most) for name in names))

    scales = (int(values.get("snd_wscale", 0)) & 15) | (int(values.get("rcv_wscale", 0)) & 15) << 4
    limited = int(values.get("delivery_rate_app_limited", 0)) & 1 | (int(values.get("fastopen_client_fail", 0)) & 3) << 1
    head = some("B", _INFO_BYTES) + struct.pack("=BB", scales, limited)
    longs, words, more, last = _INFO_LAST
    body = some("I", _INFO_WORDS) + some("Q", _INFO_LONGS) + some("I", _INFO_MORE)
    return head + body + some("Q", longs) + some("I", words) + some("Q", more) + some("I", last)


class Options:
    """The options of one socket."""

    __slots__ = ("_core", "_kind", "_values", "linger")

    def __init__(self, core: Any, kind: int) -> None:
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
        return value  # type: ignore[no-any-return]

    def _info(self, fd: int) -> bytes:
        try:
            fields = self._core.info(fd)
        except OSError as error:
            if error.errno != errno.ENOTCONN:
                raise
            fields = None
        established, closed = 1, 7
        return tcp_info(fields or {}, established if fields else closed)


