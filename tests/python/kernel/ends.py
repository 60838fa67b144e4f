"""The two applications at the ends of `link.py`: one that reads all, one that writes all the time and looks at `TCP_INFO`.

`python ends.py receive ADDRESS` and `python ends.py send ADDRESS CONGESTION_CONTROL SECONDS OUT [paced]`.
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

PORT = 5001
EVERY_S = 0.005
# Any bound turns pacing on, as `fq` does; this one, in bytes a second, is never reached.
SO_MAX_PACING_RATE, FASTEST = 47, 1_250_000_000
# struct tcp_info of linux/tcp.h: eight bytes, then these and more of 32 bits each, then these of 64 bits.
NARROW = (
    *("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets", "last_data_sent", "last_ack_sent"),
    *("last_data_recv", "last_ack_recv", "pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss"),
    *("reordering", "rcv_rtt", "rcv_space", "total_retrans"),
)
WIDE = ["pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received"]


def receive(address: str) -> None:
    with socket.create_server((address, PORT)) as server:
        print("listening", flush=True)
        connection, _ = server.accept()
        while connection.recv(1 << 20):
            pass


def send(address: str, law: str, seconds: float, out: str, paced: bool) -> None:
    connection = socket.socket()
    if paced:
        connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, FASTEST)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, law.encode())
    start = time.monotonic()
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
    connection.settimeout(0.05)
    data = bytes(1 << 17)
    while time.monotonic() < start + seconds:
        with contextlib.suppress(TimeoutError):
            connection.send(data)
    watching.join()
    Path(out).write_text(json.dumps({"columns": ["time_s", *NARROW, *WIDE], "rows": rows}))


if __name__ == "__main__":
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    if sys.argv[1] == "receive":
        receive(sys.argv[2])
    else:
        send(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5], "paced" in sys.argv[6:])
