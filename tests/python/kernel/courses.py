"""The connections that the kernel of this machine and the stack `linux` are compared in (docs/kernel.md): one entry each."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Apart:
    """A quantity outside the margins: elephan's as a share of the kernel's lies between these, and why."""

    least: float
    most: float
    why: str


@dataclass(frozen=True)
class Course:
    """Times in seconds, `delay_s` each way; `buffer` and `mark_above` in waiting packets; `lost` are ordinals of new segments."""

    controller: str
    buffer: int
    duration_s: int
    lost: tuple[int, ...] = ()
    paced: bool = False
    rate_bps: float = 20e6
    delay_s: float = 0.025
    # Share of the data packets that are held back, and for how long.
    reorder: tuple[float, float] = (0.0, 0.0)
    # Share of the data packets that arrive twice.
    duplicate: float = 0.0
    mark_above: int | None = None
    # The application writes so many bytes so often; none: all the time.
    writes: tuple[int, float] | None = None
    # The application reads at this rate; none: at once.
    reader_bps: float | None = None
    # What the receiver sets with `SO_RCVBUF`; none: its window grows.
    receive_buffer: int | None = None
    fast_open: bool = False
    # Share of the data packets, and of the ACKs, that the link loses.
    loss: float = 0.0
    ack_loss: float = 0.0
    # When nothing gets through towards the receiver, and for how long.
    outages: tuple[tuple[float, float], ...] = ()
    # When the delay each way becomes what.
    new_delay: tuple[float, float] | None = None
    # The application writes so many bytes in all.
    size: int | None = None
    # Connections beside the one that is measured: their controllers and when they begin.
    others: tuple[tuple[str, float], ...] = ()
    # Ordinals of the packets that the link loses each way, SYNs included.
    lost_there: tuple[int, ...] = ()
    lost_back: tuple[int, ...] = ()
    # When nothing gets back to the sender, and for how long.
    ack_outages: tuple[tuple[float, float], ...] = ()
    # Longer IP packets never pass.
    passes: int | None = None
    # A policer's rate and the bytes that it lets pass at once.
    policer: tuple[float, int] | None = None
    # Whether anybody listens at the receiver.
    listens: bool = True
    # Options of each socket, by the names of the module `socket` or by number: level, name, value.
    sender_options: tuple[tuple[str, str | int, int], ...] = ()
    receiver_options: tuple[tuple[str, str | int, int], ...] = ()
    # What each application does over and over, as `ends.Talk` says; none: one writes, and the other reads.
    sender_talks: tuple[tuple[str, float], ...] | None = None
    receiver_talks: tuple[tuple[str, float], ...] | None = None
    apart: dict[str, Apart] = field(default_factory=dict)

    @property
    def drawn(self) -> bool:
        """Whether the link draws at random, so that means over draws are compared."""
        return self.reorder[0] > 0 or max(self.duplicate, self.loss, self.ack_loss) > 0

    @property
    def draws(self) -> int:
        """How often the kernel is asked: BBR draws a phase, a link draws packets."""
        if self.drawn:
            return 8
        return 3 if self.controller == "bbr" else 1


SHORT, LONG = 0.0025, 0.1
# Why figures lie apart, as docs/kernel.md says it at more length.
PAIRS = "the kernel sends pairs of segments"
RUNS = "the kernel's own runs lie so far apart"
READER = "the kernel's runs differ by a fifth in the window that slow start reaches while the reader is the limit"
NOISE = "not explained: a busy machine's clock is much at 5 ms, and the kernel's runs differ"
SHARE = "not explained, perhaps which flow loses a packet at the full queue; the kernel was asked once"
ONCE = "not explained; measured on a loaded machine, without a second look"
OUTAGE = "not explained, perhaps the times of retransmissions after the outage; the kernel was asked once"

COURSES = {
    "cubic": Course("cubic", 83, 15, apart={"retransmits": Apart(0.6, 1.2, "the kernel itself has 12 or 16")}),
    "reno": Course("reno", 83, 20),
    "bbr": Course("bbr", 83, 9),
    "one loss": Course("reno", 1000, 4, (300,)),
    "ten losses in a row": Course("cubic", 1000, 4, tuple(range(300, 310))),
    "every second of twenty": Course("reno", 1000, 4, tuple(range(300, 321, 2))),
    "bbr, losses in STARTUP": Course("bbr", 1000, 6, (800, 801, 802, 850)),
    "reno, paced": Course("reno", 83, 20, paced=True),
    "cubic, paced": Course("cubic", 83, 15, paced=True),
    "cubic, small buffer": Course(
        "cubic",
        24,
        12,
        apart={"window": Apart(0.97, 1.06, RUNS), "acked": Apart(0.99, 1.05, RUNS), "retransmits": Apart(0.5, 1.1, RUNS)},
    ),
    "reno, small buffer": Course("reno", 24, 12),
    "bbr, small buffer": Course("bbr", 20, 8),
    "cubic, large buffer": Course("cubic", 400, 12),
    "bbr, large buffer": Course("bbr", 400, 8),
    "cubic, short path": Course("cubic", 20, 6, delay_s=SHORT, apart={"trip": Apart(1.0, 1.06, PAIRS)}),
    "reno, short path": Course(
        "reno", 20, 6, delay_s=SHORT, apart={"trip": Apart(1.0, 1.06, PAIRS), "retransmits": Apart(1.0, 1.2, "not explained")}
    ),
    "bbr, short path": Course(
        "bbr",
        20,
        5,
        delay_s=SHORT,
        apart={quantity: Apart(least, 1.02, NOISE) for quantity, least in (("window", 0.85), ("trip", 0.8), ("retransmits", 0.6))},
    ),
    "cubic, long path": Course("cubic", 333, 20, delay_s=LONG),
    "reno, long path": Course("reno", 333, 20, delay_s=LONG),
    "cubic, reordering": Course("cubic", 1000, 5, reorder=(0.01, 0.005)),
    "reno, duplicates": Course(
        "reno",
        83,
        12,
        duplicate=0.01,
        apart={"window": Apart(0.9, 1.0, "not explained"), "retransmits": Apart(1.1, 1.5, "not explained")},
    ),
    "reno, 64 KB each 100 ms": Course("reno", 83, 6, writes=(64_000, 0.1)),
    "cubic, 200 KB each second": Course("cubic", 83, 8, writes=(200_000, 1.0)),
    "cubic, slow reader": Course(
        "cubic",
        1000,
        6,
        reader_bps=8e6,
        apart={"window": Apart(0.8, 1.3, READER), "trip": Apart(0.98, 1.15, READER), "acked": Apart(1.0, 1.03, READER)},
    ),
    "cubic, SO_RCVBUF": Course("cubic", 1000, 8, rate_bps=40e6, delay_s=0.03, receive_buffer=200_000),
    "reno, ECN": Course("reno", 1000, 10, mark_above=48),
    "cubic, ECN": Course("cubic", 1000, 10, mark_above=48),
    "reno, Fast Open": Course("reno", 83, 6, fast_open=True),
    "reno, 10 packets": Course(
        "reno",
        10,
        12,
        apart={"window": Apart(1.0, 1.25, ONCE), "acked": Apart(1.0, 1.25, ONCE), "retransmits": Apart(0.5, 1.3, ONCE)},
    ),
    "two reno, 3 s apart": Course(
        "reno",
        83,
        12,
        others=(("reno", 3.0),),
        apart={"window": Apart(0.85, 1.1, SHARE), "trip": Apart(0.97, 1.1, SHARE), "acked": Apart(0.85, 1.1, SHARE)},
    ),
    "two cubic, 3 s apart": Course("cubic", 83, 12, others=(("cubic", 3.0),)),
    "three cubic, 2 s apart": Course(
        "cubic",
        83,
        12,
        others=(("cubic", 2.0), ("cubic", 4.0)),
        apart={"window": Apart(0.8, 1.25, SHARE), "acked": Apart(0.8, 1.25, SHARE)},
    ),
    "reno, 64 KB each 300 ms": Course("reno", 83, 8, writes=(64_000, 0.3)),
    "cubic, 64 KB each 300 ms": Course(
        "cubic", 83, 8, writes=(64_000, 0.3), apart={"window": Apart(0.95, 1.05, "windows 4.4 % apart half of the time; " + ONCE)}
    ),
    # 30 segments a second, of the second, third and fourth of which the last is lost.
    "reno, tail losses": Course("reno", 83, 8, (60, 90, 120), writes=(43_440, 1.0)),
    "cubic, tail losses": Course("cubic", 83, 8, (60, 90, 120), writes=(43_440, 1.0)),
    "reno, three at the tail": Course("reno", 83, 8, (58, 59, 60), writes=(43_440, 1.0)),
    "reno, outage of 1 s": Course("reno", 83, 10, outages=((4.0, 1.0),)),
    "cubic, outage of 1 s": Course("cubic", 83, 10, outages=((4.0, 1.0),)),
    "cubic, outage of 3 s": Course("cubic", 83, 14, outages=((4.0, 3.0),), apart={"acked": Apart(1.0, 1.04, OUTAGE)}),
    "cubic, outage of 10 s": Course(
        "cubic",
        83,
        26,
        outages=((4.0, 10.0),),
        apart={"window": Apart(0.95, 1.1, OUTAGE), "trip": Apart(0.97, 1.1, OUTAGE), "acked": Apart(1.0, 1.1, OUTAGE)},
    ),
    "reno, longer path": Course("reno", 83, 12, new_delay=(5.0, 0.05)),
    "cubic, shorter path": Course("cubic", 83, 12, new_delay=(5.0, 0.01), apart={"retransmits": Apart(0.4, 1.1, ONCE)}),
    "cubic, 1 % of the ACKs lost": Course("cubic", 83, 10, ack_loss=0.01),
    "cubic, 5 MB, 0.5 % lost": Course("cubic", 83, 14, loss=0.005, size=5_000_000, apart={"window": Apart(1.0, 1.3, ONCE)}),
    "reno, 5 MB, 0.5 % lost": Course("reno", 83, 14, loss=0.005, size=5_000_000, apart={"window": Apart(1.0, 1.3, ONCE)}),
    "bbr, 1 % lost": Course("bbr", 83, 8, loss=0.01),
}
