"""The two applications at the ends of `link.py`: one that reads, one that writes and looks at `TCP_INFO`.

`python ends.py receive ADDRESS PARAMETERS.json` and `python ends.py send ADDRESS PARAMETERS.json OUT`, with the parameters of
`link.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

PORT = 5001
EVERY_S = 0.005
# Any bound turns pacing on, as `fq` does; this one, in bytes a second, is never reached.
SO_MAX_PACING_RATE, FASTEST = 47, 1_250_000_000
TCP_FASTOPEN_CONNECT = 30
# struct tcp_info of linux/tcp.h: eight bytes, then these and more of 32 bits each, then these of 64 bits.
NARROW = (
    *("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets", "last_data_sent", "last_ack_sent"),
    *("last_data_recv", "last_ack_recv", "pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss"),
    *("reordering", "rcv_rtt", "rcv_space", "total_retrans"),
)
WIDE = ["pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received"]


def set_options(one: socket.socket, options: list[tuple[str, str | int, int]]) -> None:
    for level, name, value in options:
        one.setsockopt(getattr(socket, level), getattr(socket, name) if isinstance(name, str) else name, value)


class Talk:
    """An application that goes through its steps over and over, until its peer or the time ends.

    A step has a name and a number: `write` and `read` so many bytes (0: up to the peer's end), `sleep` for so many seconds, `wait`
    that long after the beginning, `shutdown` this direction, `reset` the connection, and `stop` doing anything.
    """

    def __init__(self, connection: socket.socket, end: float) -> None:
        self.connection, self.start, self.end = connection, time.monotonic(), end
        connection.settimeout(0.05)

    def run(self, steps: list[tuple[str, float]]) -> None:
        with contextlib.suppress(OSError, EOFError):
            while time.monotonic() < self.end:
                for name, number in steps:
                    getattr(self, name)(number)

    def pause(self, until: float) -> None:
        time.sleep(max(0.0, min(until, self.end) - time.monotonic()))

    def write(self, number: float) -> None:
        left = int(number)
        while left and time.monotonic() < self.end:
            with contextlib.suppress(TimeoutError):
                left -= self.connection.send(bytes(min(left, 1 << 17)))

    def read(self, number: float) -> None:
        left = int(number) or 1 << 60
        while left and time.monotonic() < self.end:
            with contextlib.suppress(TimeoutError):
                got = len(self.connection.recv(min(left, 1 << 20)))
                left -= got
                if got == 0 and number == 0:
                    return
                if got == 0:
                    raise EOFError

    def sleep(self, number: float) -> None:
        self.pause(time.monotonic() + number)

    def wait(self, number: float) -> None:
        self.pause(self.start + number)

    def shutdown(self, _: float) -> None:
        self.connection.shutdown(socket.SHUT_WR)

    def reset(self, _: float) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def stop(self, _: float) -> None:
        self.pause(self.end)


def receive(address: str, given: dict[str, Any]) -> None:
    if not given["listens"]:
        print("nobody listens", flush=True)
        return
    with socket.create_server((address, PORT)) as server:
        if given["receive_buffer"] is not None:
            # Connections inherit it, and it decides the window scale that they offer.
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, given["receive_buffer"])
        set_options(server, given["receiver_options"])
        if given["fast_open"]:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 8)
        print("listening", flush=True)
        for _ in range(1 if given["fast_open"] else 0):
            read(server.accept()[0], None)
        reading = []
        for _ in range(1 + len(given["others"])):
            connection = server.accept()[0]
            if given["receiver_talks"] is not None:
                Talk(connection, time.monotonic() + given["duration_s"]).run(given["receiver_talks"])
                # Who closes with data unread resets the connection: the link ends this process.
                time.sleep(given["duration_s"] + 60)
            reading.append(threading.Thread(target=read, args=(connection, given["reader_bps"])))
            reading[-1].start()
        for thread in reading:
            thread.join()


def read(connection: socket.socket, rate_bps: float | None) -> None:
    """Reads all that there is, or blocks of up to 64 KiB at a rate.

    A block leaves the socket when its time is over, as in elephan (docs/models/receive.md).
    """
    if rate_bps is None:
        while connection.recv(1 << 20):
            pass
        return
    due = time.monotonic()
    while block := connection.recv(1 << 16, socket.MSG_PEEK):
        due = max(due, time.monotonic()) + 8 * len(block) / rate_bps
        time.sleep(max(0.0, due - time.monotonic()))
        connection.recv(len(block), socket.MSG_WAITALL)


def earn_cookie(address: str) -> None:
    """Connects once with Fast Open, which brings the cookie that the next connection sends data with."""
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
        connection.connect((address, PORT))
        connection.sendall(bytes(1000))
    time.sleep(0.5)


def beside(address: str, controller: str, start: float, end: float) -> None:
    """Writes all the time from `start` on, as a flow beside the one that is measured."""
    time.sleep(max(0.0, start - time.monotonic()))
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
        connection.connect((address, PORT))
        connection.settimeout(0.05)
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                connection.send(bytes(1 << 17))


def talk(connection: socket.socket, address: str, end: float, steps: list[tuple[str, float]]) -> None:
    """Connects, which may fail, talks, and closes the connection at the end; the link carries what comes then for a second."""
    connection.settimeout(end - time.monotonic())
    with connection, contextlib.suppress(OSError):
        connection.connect((address, PORT))
        Talk(connection, end).run(steps)
    time.sleep(max(0.0, end + 1 - time.monotonic()))


def send(address: str, given: dict[str, Any], out: str) -> None:
    seconds = given["duration_s"]
    connection = socket.socket()
    if given["fast_open"]:
        earn_cookie(address)
        connection.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    if given["paced"]:
        connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, FASTEST)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, given["controller"].encode())
    set_options(connection, given["sender_options"])
    start = time.monotonic()
    if given["sender_talks"] is not None:
        talk(connection, address, start + seconds, given["sender_talks"])
        Path(out).write_text(json.dumps({"columns": [], "rows": []}))
        return
    connection.connect((address, PORT))
    rows: list[tuple[float, ...]] = []

    def watch() -> None:
        while time.monotonic() < start + seconds:
            info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            narrow, wide = struct.unpack_from(f"<{len(NARROW)}I", info, 8), struct.unpack_from("<4Q", info, 8 + 4 * len(NARROW))
            rows.append((time.monotonic() - start, *narrow, *wide))
            time.sleep(EVERY_S)

    watching = threading.Thread(target=watch)
    watching.start()
    for controller, begin in given["others"]:
        threading.Thread(target=beside, args=(address, controller, start + begin, start + seconds), daemon=True).start()
    connection.settimeout(0.05)
    size, gap = given["writes"] or (1 << 17, 0.0)
    count, rest = 0, given["size"] or 1 << 40
    while (now := time.monotonic()) < start + seconds and rest:
        time.sleep(max(0.0, min(start + count * gap, start + seconds) - now))
        count += 1
        left = min(size, rest)
        rest -= left
        while left and time.monotonic() < start + seconds:
            with contextlib.suppress(TimeoutError):
                left -= connection.send(bytes(left))
    watching.join()
    Path(out).write_text(json.dumps({"columns": ["time_s", *NARROW, *WIDE], "rows": rows}))


if __name__ == "__main__":
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    parameters = json.loads(Path(sys.argv[3]).read_text())
    if sys.argv[1] == "receive":
        receive(sys.argv[2], parameters)
    else:
        send(sys.argv[2], parameters, sys.argv[4])
