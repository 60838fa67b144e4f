"""The scenario language as classes. Generated from the schema by `make generate`; do not edit.

A value that is not given stays out of the scenario, so that its default counts as a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from elephan.scenario.model import ControllerFactory, ScenarioModel, Table

Time = str
"""A time such as "5 ms": ps, ns, us, ms, s, min, h, d."""
Rate = str
"""A rate such as "10 Gbps": decimal prefixes, b bit, B byte."""
Size = str
"""A size such as "48 KiB" or "8 KB"."""
Count = str
"""A count of packets such as "256 p"."""
Limit = str
"""A limit such as "2 MB", "100 p" (packets) or "1 bdp"."""


@dataclass(kw_only=True, slots=True)
class Scenario(ScenarioModel):
    """An experiment: hosts, switches, links, traffic, and what to record.

    title: One line that says what this is. Default: "".
    question: The question that the run answers, for the report. Default: "".
    answer: What answers the question: what to look for, the figure, the statistics.
    duration: Simulated time.
    warmup: Goodput, delivered bytes and utilisation count from here on; tables hold everything. Default: "0 s".
    seed: All random draws follow from it. `--seed` overrides it; repetition i of a sweep uses seed + i. Default: 1.
    stack: Stack of the hosts that name none: what they run today. Default: "linux".
    tcp: TCP options of all hosts, over their stack; a host's own `tcp` wins key by key.
    ip: Version of IP below the traffic that names none: `v4` (default), with headers of 20 bytes, or `v6`, with headers of 40.
    template: A common topology; it adds hosts, switches and links, which the tables of the same names may refine.
    hosts: Hosts by group name: `[hosts.client]`.
    switches: Switches by group name: `[switches.sw]`.
    ecmp: How several shortest paths are used. Default: "flow".
    congestion_management: Whether switches tell sources of their queues: `[congestion_management]`. Default: { kind = "none" }.
    reroute: Time from a link's going down or up until routes are made anew over the links that are up; without it they stay. Nodes
        that none leads to keep the old route, whose packets are dropped until the repair.
    links: Full-duplex links: `[[links]]`. Default: [].
    traffic: Who sends what when: `[[traffic]]`. Default: [].
    change: What changes during the run: `[[change]]`.
    record: What is written down. Default: { flows = true, statistics = false, info = false, ports = "switches", queue_delays =
        false, messages = true, operations = false, events = true, datagrams = 0, captures = "none" }.
    sweep: Parameters to vary; `run` ignores it.
    """

    title: str | None = None
    question: str | None = None
    answer: ScenarioAnswer | dict[str, Any] | None = None
    duration: Time
    warmup: Time | None = None
    seed: int | None = None
    stack: Literal["rfc", "winxp", "linux-2.4", "linux", "windows", "freebsd"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    ip: Literal["v4", "v6"] | None = None
    template: Dumbbell | Star | Path | ParkingLot | FatTree | LeafSpine | dict[str, Any] | None = None
    hosts: dict[str, Host | dict[str, Any]] | None = None
    switches: dict[str, Switch | dict[str, Any]] | None = None
    ecmp: Literal["flow", "packet", "none"] | None = None
    congestion_management: NoCongestionManagement | Qcn | Ecm | dict[str, Any] | None = None
    reroute: Time | None = None
    links: list[Link | dict[str, Any]] | None = None
    traffic: (
        list[
            Bulk
            | Messages
            | Transfers
            | Users
            | Cbr
            | Burst
            | Frames
            | Incast
            | Onoff
            | DiskCopy
            | Writes
            | ProgramTraffic
            | Replay
            | Collective
            | Goal
            | dict[str, Any]
        ]
        | None
    ) = None
    change: list[Change | dict[str, Any]] | None = None
    record: Record | dict[str, Any] | None = None
    sweep: Vary | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class ScenarioAnswer(Table):
    """What answers the question of the scenario, for a reader. A simulation does not read it.

    look_for: What a reader of the report should look for in its first figure.
    figure: The figure that answers, which stands first in the report: one of `elephan list figures`. Without it the first that
        fits.
    statistics: The statistics that answer, which stand first on the terminal and in a sweep (`elephan list statistics`):
        `["utilisation.max", "goodput_bps.sum"]`. A sweep without them shows those that vary.
    """

    look_for: str | None = None
    figure: str | None = None
    statistics: list[str] | None = None


@dataclass(kw_only=True, slots=True)
class Tcp(Table):
    """Options of a stack that a scenario overrides; what is absent stays as the stack has it.

    congestion_control: Congestion control that connections use unless the traffic names another.
    slow_start: How the window grows below ssthresh: `classic`, `limited`, `hystart`, `hystartpp` or `linux`, or a table with
        parameters.
    pacing: Whose segments are spaced: `controller` (those of a congestion control that paces by itself) or `window` (everybody's,
        as Linux over `fq`).
    pacing_ss_ratio: With `pacing = "window"`: per cent of a window a round trip below half of ssthresh.
    pacing_ca_ratio: With `pacing = "window"`: per cent of a window a round trip from there on.
    unpaced_segments: How many data segments at the start of a connection leave without the gaps of pacing.
    pacing_credit: What paces shortens the gap after a burst that left later than pacing allowed, by as much, to half of it.
    recovery: What repairs losses found by duplicate ACKs: `reno`, `newreno` or `sack`.
    recovery_steps: Which steps an ACK takes in loss recovery: `rfc`, or `linux` with `recovery = "sack"`, `loss_detection = "rack"`
        and `reduction = "prr-linux"`.
    loss_detection: How losses are found with SACK: `dupack`, `rack` or `fack`, with `dup_ack_threshold` for all of them.
    tail_loss_probe: When ACKs stay away for two round trips a segment is sent to bring one (tail loss probe; needs SACK).
    max_ack_delay: What the probe of a flight of one segment waits longer for, because its ACK may be delayed.
    timer_slack: What the timers of RACK and of the probe of a longer flight wait longer for than is computed.
    frto: After a timeout new data is tried first, which tells whether the timeout was needless (F-RTO).
    undo: A reduction that proves needless is taken back, by `timestamps`, by `dsack`, by `both`, or never: `off`.
    dsack_rule: Which reported duplicates count when a reduction is taken back by D-SACK: `rfc3708` or `linux`.
    rack_rule: Where Linux' RACK differs from that of the RFC: `rfc8985` or `linux`.
    reduction: How the window comes down in SACK recovery, and at an ECN-Echo or a local drop: `immediate`, `prr-rfc9937`,
        `prr-rfc6937`, `prr-linux` or `rate-halving`.
    cwnd_moderation: A disordered ACK that starts no recovery lets the window be three segments above what is in flight at most.
    local_drop: What a segment refused by the host's own transmit queue means: `cwr`, `ignore` or `slow-start-exit`.
    mss: Largest segment announced to the peer: the host's MTU less 40, over IPv6 less 60. Timestamps take 12 bytes of it.
    initial_window: Initial window in segments.
    ssthresh_initial: Slow-start threshold at the start; none where it is above the largest window of TCP, 65535 << 14 bytes.
    idle_restart: Congestion window after an idle period longer than the RTO falls back to the initial window.
    idle_threshold: Idle time that lowers the window raises ssthresh to three quarters of what it was, if that is more.
    scaled_syn_ack_window: The window of a SYN-ACK is scaled, for a protocol that is not bound to 64 KB in the first round trip. No
        real TCP does that (RFC 7323 section 2.2). Both ends must have it.
    cwnd_validation: Congestion window validation: idle time halves the window once an RTO, an unused window shrinks towards its
        use.
    cwnd_validation_acks: With `cwnd_validation`, each ACK outside recovery begins the RTO anew after which an unused window
        shrinks: it stays as long as ACKs come.
    abc: The window grows by the bytes acknowledged rather than by ACKs, in slow start and in congestion avoidance (appropriate byte
        counting). Without it an ACK counts for one segment at most.
    abc_limit: Most segments that one ACK may add in slow start with `abc`; 0 is no limit.
    whole_segments: The window is a whole number of segments under the congestion controls that Linux has and that count so. It
        grows by one when enough segments are acknowledged. Any other keeps the window that it sets, to the byte.
    dup_ack_threshold: Duplicate ACKs that start fast retransmit.
    max_reordering: How many segments reordering may be measured to displace, with RACK; that then is the threshold. 0: it is not
        measured.
    duplicates_deliver: Without SACK a duplicate ACK counts for a segment delivered, and the ACK that follows for what is left.
    limited_transmit: New segments are sent on the duplicate ACKs before the threshold.
    newreno_timer: Which partial ACKs restart the timer in NewReno recovery: `impatient` or `slow-but-steady`.
    rearm_on_retransmit: The first unacknowledged segment, retransmitted in recovery, restarts the retransmission timer.
    timeout_cuts_again: A timeout in an episode that has lowered ssthresh for the same data lowers it again.
    newreno_ack_heuristic: After a timeout NewReno tells lost retransmissions from needless ones by the gap between ACKs.
    ecn: Explicit congestion notification, if the peer agrees: `off`, `classic`, `dctcp` or `accurate`.
    ecn_syn_retries: Retransmitted SYNs that still ask for `classic` or `dctcp`; later ones ask for nothing. With `accurate` it is
        one (RFC 9768).
    accecn_rule: Where AccECN of Linux differs from that of the RFC: `rfc9768` or `linux`.
    accecn_option: Which segments of AccECN carry its option: `off`, `minimum`, `acks` or `full`. A SYN-ACK does unless it is `off`.
    accecn_beacon: With `accecn_option` `minimum`: options in a round trip at least; 0 is none.
    accecn_check: AccECN sends no ECT if the peer says that an unmarked SYN or SYN-ACK has arrived marked.
    ect_syn: With `dctcp`, SYN, SYN-ACK and RST are ECN-capable.
    ect_acks: With `dctcp`, ACKs without data are ECN-capable.
    ack_cwr: Data with CWR is acknowledged at once: its sender's window may be one segment.
    sack: Selective acknowledgements.
    dsack: Duplicate segments are reported in the first SACK block.
    timestamps: Timestamps option.
    timestamp_granularity: Tick of the timestamps clock.
    acceptance: Which arriving segments are acceptable, so that state is taken from them: `rfc9293` or `linux`.
    invalid_ratelimit: Time between two ACKs that answer unacceptable segments without data; 0 is no limit.
    window_scaling: Window scaling.
    receive_window: Largest receive window offered, which is the size of the receive buffer.
    receive_window_initial: Receive window that a connection begins with; the buffer grows to `receive_window` with what the
        application reads. Where it is no smaller, `delayed_ack_rule` is not `linux`, or `receive_window` is given alone, the buffer
        has its full size from the start.
    receive_buffer: What an application sets as size of its receive buffer (SO_RCVBUF): the buffer does not grow. Linux doubles it,
        and the window is what `receive_charge` leaves. Elsewhere it is the window. 0: not set.
    receive_charge: What a segment takes of a receive buffer that grows or that `receive_buffer` sets: its `payload`, or the
        `memory` that it lies in.
    send_buffer: Bytes that the socket holds beyond what is acknowledged; a writer blocks when they are full.
    delayed_ack_segments: Segments received in order that make the receiver send an ACK.
    delayed_ack_timeout: Longest time that an ACK waits.
    delayed_ack_rule: How delayed ACKs are timed: `fixed` (every n-th segment, or the timeout) or `linux` (adaptive, with quick
        ACKs).
    sack_compression_acks: With `delayed_ack_rule` `linux` and SACK: how many ACKs of segments beyond a hole are held back at most
        and sent as one. 0 holds none back.
    sack_compression_delay: How long they are held back, and no longer than a twentieth of the round trip.
    sack_compression_slack: How much later than that their timer rings.
    delayed_ack_first: The first data segment of a connection is acknowledged at once.
    rto_rule: How the retransmission timeout is computed: `rfc6298`, `linux` or `freebsd`.
    rto_initial: Retransmission timeout before the first round-trip sample.
    syn_linear_timeouts: SYNs that time out without doubling the timeout.
    rto_min: Smallest retransmission timeout (with `rto_rule` `linux`, of its variance term).
    rto_max: Largest retransmission timeout, back-off included.
    clock_granularity: Clock granularity G in the timeout formula.
    rtt_sampling: Which ACKs give a round-trip sample: `every-ack` or `once-per-window`.
    nagle: Small segments wait while data is unacknowledged (Nagle).
    nagle_rule: With `nagle`, what keeps a small segment back: any segment that is not acknowledged (`rfc9293`) or a small one
        (`minshall`).
    window_probe: How a closed window is probed: with a `byte` of new data or an `old` number and no data.
    window_update: When a reader tells the sender of the room that it has made: `two-segments` or `doubled`.
    syn_retries: How many SYNs are retransmitted before the client gives up; with `syn_linear_timeouts` so many more.
    syn_ack_retries: How many SYN-ACKs are retransmitted before the server listens again.
    data_retries: How long data is retransmitted before the connection is given up: as long as so many retries of the standard
        timeouts take.
    orphan_retries: The same of a connection whose application is gone; 0 stands for 8 while the timeout grows.
    user_timeout: Gives up instead when nothing has been answered for so long; 0: never.
    fin_timeout: How long FIN-WAIT-2 lasts without an application.
    fast_open: Which ends of connections may use TCP Fast Open, if their applications ask for it: `off`, `client`, `server` or
        `both`.
    fast_open_blackhole_timeout: How long clients of a host do without Fast Open after a path has swallowed it, at first; 0: they
        never do.
    time_wait: How long the end that closes first stays in TIME-WAIT.
    """

    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    slow_start: (
        Literal["classic", "limited", "hystart", "hystartpp", "linux"]
        | Classic
        | Limited
        | Hystart
        | Hystartpp
        | Linux
        | dict[str, Any]
        | None
    ) = None
    pacing: Literal["controller", "window"] | None = None
    pacing_ss_ratio: int | None = None
    pacing_ca_ratio: int | None = None
    unpaced_segments: int | None = None
    pacing_credit: bool | None = None
    recovery: Literal["reno", "newreno", "sack"] | None = None
    recovery_steps: Literal["rfc", "linux"] | None = None
    loss_detection: Literal["dupack", "rack", "fack"] | None = None
    tail_loss_probe: bool | None = None
    max_ack_delay: Time | None = None
    timer_slack: Time | None = None
    frto: bool | None = None
    undo: Literal["off", "both", "timestamps", "dsack"] | None = None
    dsack_rule: Literal["rfc3708", "linux"] | None = None
    rack_rule: Literal["rfc8985", "linux"] | None = None
    reduction: Literal["immediate", "rate-halving", "prr-rfc9937", "prr-rfc6937", "prr-linux"] | None = None
    cwnd_moderation: bool | None = None
    local_drop: Literal["cwr", "ignore", "slow-start-exit"] | None = None
    mss: Size | None = None
    initial_window: int | None = None
    ssthresh_initial: Size | None = None
    idle_restart: bool | None = None
    idle_threshold: bool | None = None
    scaled_syn_ack_window: bool | None = None
    cwnd_validation: bool | None = None
    cwnd_validation_acks: bool | None = None
    abc: bool | None = None
    abc_limit: int | None = None
    whole_segments: bool | None = None
    dup_ack_threshold: int | None = None
    max_reordering: int | None = None
    duplicates_deliver: bool | None = None
    limited_transmit: bool | None = None
    newreno_timer: Literal["impatient", "slow-but-steady"] | None = None
    rearm_on_retransmit: bool | None = None
    timeout_cuts_again: bool | None = None
    newreno_ack_heuristic: bool | None = None
    ecn: Literal["off", "classic", "dctcp", "accurate"] | None = None
    ecn_syn_retries: int | None = None
    accecn_rule: Literal["rfc9768", "linux"] | None = None
    accecn_option: Literal["off", "minimum", "acks", "full"] | None = None
    accecn_beacon: int | None = None
    accecn_check: bool | None = None
    ect_syn: bool | None = None
    ect_acks: bool | None = None
    ack_cwr: bool | None = None
    sack: bool | None = None
    dsack: bool | None = None
    timestamps: bool | None = None
    timestamp_granularity: Time | None = None
    acceptance: Literal["rfc9293", "linux"] | None = None
    invalid_ratelimit: Time | None = None
    window_scaling: bool | None = None
    receive_window: Size | None = None
    receive_window_initial: Size | None = None
    receive_buffer: Size | None = None
    receive_charge: Literal["payload", "memory"] | None = None
    send_buffer: Size | None = None
    delayed_ack_segments: int | None = None
    delayed_ack_timeout: Time | None = None
    delayed_ack_rule: Literal["fixed", "linux"] | None = None
    sack_compression_acks: int | None = None
    sack_compression_delay: Time | None = None
    sack_compression_slack: Time | None = None
    delayed_ack_first: bool | None = None
    rto_rule: Literal["rfc6298", "linux", "freebsd"] | None = None
    rto_initial: Time | None = None
    syn_linear_timeouts: int | None = None
    rto_min: Time | None = None
    rto_max: Time | None = None
    clock_granularity: Time | None = None
    rtt_sampling: Literal["every-ack", "once-per-window"] | None = None
    nagle: bool | None = None
    nagle_rule: Literal["rfc9293", "minshall"] | None = None
    window_probe: Literal["byte", "old"] | None = None
    window_update: Literal["two-segments", "doubled"] | None = None
    syn_retries: int | None = None
    syn_ack_retries: int | None = None
    data_retries: int | None = None
    orphan_retries: int | None = None
    user_timeout: Time | None = None
    fin_timeout: Time | None = None
    fast_open: Literal["off", "both", "client", "server"] | None = None
    fast_open_blackhole_timeout: Time | None = None
    time_wait: Time | None = None


@dataclass(kw_only=True, slots=True)
class Reno(Table):
    """Reno (RFC 5681): one segment more a round trip, half the window on loss

    preset: Set of parameters to start from.
    reduce_from: The window that is cut: `flight` (what was in flight) or `cwnd`. Default: "flight".
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "reno")

    preset: Literal["rfc5681", "linux"] | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Cubic(Table):
    """CUBIC (RFC 9438): a cubic function of the time since the last loss, cut to 0.7

    preset: Set of parameters to start from.
    c: C in segments/s^3: how fast the window leaves and regains W_max. Default: 0.4.
    beta: The share of the window that a congestion event leaves. Default: 0.7.
    fast_convergence: An event below the last W_max lowers W_max further, so that new flows find room sooner. Default: true.
    reduce_from: The window that is cut: `flight` (what was in flight) or `cwnd`. Default: "cwnd".
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.85 is recommended). 0 is as at a loss. Default: 0.0.
    two_after_ecn: An ECN-Echo leaves two segments at least, as a loss does, not one. Default: false.
    curves_from: Where the curves of an epoch start: `cwnd` (after the cut) or `w_max` (its cut share). Default: "cwnd".
    reno_catches_up: W_est grows by a whole segment a round trip once it has reached the window before the cut. Default: true.
    round_trip: The round-trip time in t + R: `smoothed` or `min`. Default: "smoothed".
    growth_max: Most growth in a round trip, as a share of the window; 1 is that of slow start. Default: 0.5.
    s_max: Most segments per 100 ms from K on; 0 is no limit. Default: 0.0.
    idle_keeps_epoch: Idle time that lowers the window does not end the epoch: afterwards the window returns to the curve. Default:
        false.
    first_growth: Least growth in a round trip while no event has set W_max, as a share of the window. Default: 0.0.
    undo_restores: An undone event gives W_max and the running epoch back, not the window alone. Default: true.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "cubic")

    preset: Literal["rfc9438", "rfc8312", "linux", "linux-2.6"] | None = None
    c: float | None = None
    beta: float | None = None
    fast_convergence: bool | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None
    beta_ecn: float | None = None
    two_after_ecn: bool | None = None
    curves_from: Literal["cwnd", "w_max"] | None = None
    reno_catches_up: bool | None = None
    round_trip: Literal["smoothed", "min"] | None = None
    growth_max: float | None = None
    s_max: float | None = None
    idle_keeps_epoch: bool | None = None
    first_growth: float | None = None
    undo_restores: bool | None = None


@dataclass(kw_only=True, slots=True)
class Highspeed(Table):
    """HighSpeed TCP (RFC 3649): growth and cut depend on the window

    preset: Set of parameters to start from.
    low_window: Window in segments up to which the congestion control is Reno. Default: 38.0.
    high_window: Window in segments at which an event takes `high_decrease`. Default: 83000.0.
    high_decrease: The share of the window that an event takes at `high_window` and beyond. Default: 0.1.
    p_factor: Factor of the loss rate p(w) = factor / w^exponent at which a window of w segments is held. Default: 0.078.
    p_exponent: Exponent of p(w). Default: 1.2.
    table: Increase and decrease from the table instead, which none of the above changes. Default: false.
    row_above: With `table`, the row above the window instead of the last that it has reached, with b in whole 1/256. Default:
        false.
    per_ack: An ACK counts as one segment, however many it acknowledges. Default: false.
    reduce_from: The window that is cut: `flight` (what was in flight) or `cwnd`. Default: "cwnd".
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "highspeed")

    preset: Literal["rfc3649", "appendix-b", "linux"] | None = None
    low_window: float | None = None
    high_window: float | None = None
    high_decrease: float | None = None
    p_factor: float | None = None
    p_exponent: float | None = None
    table: bool | None = None
    row_above: bool | None = None
    per_ack: bool | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Scalable(Table):
    """Scalable TCP (Kelly 2003): growth and cut are shares of the window

    preset: Set of parameters to start from.
    a: Segments by which an acknowledged segment opens the window (an ACK, with `per_ack`). Default: 0.01.
    b: The share of the window that a congestion event takes away. Default: 0.125.
    low_window: lwnd in segments: below it the congestion control is Reno; 1 switches that off. Default: 16.0.
    at_least_reno: Never slower than Reno, which adds 1 / cwnd per acknowledged segment. Default: false.
    per_ack: An ACK counts as one segment, however many it acknowledges. Default: false.
    reduce_from: The window that is cut: `flight` (what was in flight) or `cwnd`. Default: "cwnd".
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "scalable")

    preset: Literal["kelly", "linux", "linux-2.6"] | None = None
    a: float | None = None
    b: float | None = None
    low_window: float | None = None
    at_least_reno: bool | None = None
    per_ack: bool | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Griddt(Table):
    """GridDT (Ravot 2003): Reno with the increase and decrease set by the user

    a: A: segments by which the window grows in a round trip. Default: 1.0.
    b: B: the share of the window that a congestion event takes away. Default: 0.5.
    reduce_from: The window that is cut: `flight` (what was in flight) or `cwnd`. Default: "cwnd".
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "griddt")

    a: float | None = None
    b: float | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Bic(Table):
    """BIC (Xu 2004): a binary search for the window that met congestion

    preset: Set of parameters to start from.
    s_max: Smax: most segments a round trip. Default: 32.0.
    s_min: Smin: fewest segments a round trip. Default: 0.01.
    near: Segments from W_max within which the step is Smin. Default: 0.0.
    search_divisor: Divisor of the distance to W_max that gives the step below it. Default: 2.0.
    probe_divisor: Divisor of the distance from W_max that gives the step beyond it. Default: 1.0.
    first_growth: Least growth in a round trip while no event has set W_max, as a share of the window. Default: 0.0.
    ack_ratio: Beyond `low_window` the step is for each ACK as if it acknowledged so many segments as ACKs do in the mean (a weight
        of 1/16 for each ACK, two segments to begin with), so that delayed ACKs do not slow the congestion control down. Default:
        false.
    beta: The share of the window that a congestion event leaves. Default: 0.875.
    low_window: Window in segments up to which the congestion control is Reno; 0 switches that off. Default: 14.0.
    fast_convergence: An event below the last W_max lowers W_max further, so that new flows find room sooner. Default: true.
    undo_restores: An undone event gives W_max back, not the window alone. Default: true.
    reduce_from: The window that is cut: `flight` (what was in flight) or `cwnd`. Default: "cwnd".
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "bic")

    preset: Literal["paper", "linux"] | None = None
    s_max: float | None = None
    s_min: float | None = None
    near: float | None = None
    search_divisor: float | None = None
    probe_divisor: float | None = None
    first_growth: float | None = None
    ack_ratio: bool | None = None
    beta: float | None = None
    low_window: float | None = None
    fast_convergence: bool | None = None
    undo_restores: bool | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Hybla(Table):
    """Hybla (Caini 2004): grows in time as Reno does with a round trip of 25 ms

    preset: Set of parameters to start from.
    rtt0: RTT0: round-trip time of the path whose growth is the model. Default: "25 ms".
    smoothed: The smallest smoothed round-trip time counts, not the smallest sample. Default: true.
    per_ack: An ACK counts as one segment, however many it acknowledges. Default: true.
    reduce_from: The window that is cut: `flight` (what was in flight) or `cwnd`. Default: "cwnd".
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "hybla")

    preset: Literal["linux", "ns-3"] | None = None
    rtt0: Time | None = None
    smoothed: bool | None = None
    per_ack: bool | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Htcp(Table):
    """H-TCP (Leith and Shorten): growth by the time since the last loss, cut by the delay

    preset: Set of parameters to start from.
    beta: The share of the window that an event leaves; with adaptive backoff the smallest. Default: 0.5.
    beta_max: The largest share that adaptive backoff leaves. Default: 0.8.
    adaptive_backoff: Leave RTTmin / RTTmax of the window, so that the queue just empties. Default: true.
    throughput_change: Change of the throughput from epoch to epoch beyond which adaptive backoff leaves `beta`, as a share.
        Default: 0.2.
    mode_switch: The first event after the throughput changed leaves `beta` too. Default: false.
    backoff_rtt_min: RTTmin up to which adaptive backoff leaves `beta`. Default: "0 s".
    rtt_scaling: Growth in proportion to RTTmin, so that long paths are not slower. Default: true.
    delta_l: Delta_L: time after an event in which the congestion control is Reno's. Default: "1 s".
    f_linear: Growth of f beyond Delta_L per second. Default: 10.0.
    f_square: Growth of f beyond Delta_L per second squared. Default: 0.25.
    scale_rtt: RTTmin that is not scaled, with `rtt_scaling`. Default: "100 ms".
    scale_min: The smallest scale: that of long paths. Default: 0.5.
    scale_max: The largest scale: that of short paths. Default: 10.0.
    rtt_max_step: Most that one sample may add to RTTmax. Default: "20 ms".
    rtt_max_kept: What an event leaves of RTTmax - RTTmin. Default: 0.95.
    fresh_rounds: Round trips after an event in which the throughput is taken anew. Default: 3.0.
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "htcp")

    preset: Literal["linux", "freebsd"] | None = None
    beta: float | None = None
    beta_max: float | None = None
    adaptive_backoff: bool | None = None
    throughput_change: float | None = None
    mode_switch: bool | None = None
    backoff_rtt_min: Time | None = None
    rtt_scaling: bool | None = None
    delta_l: Time | None = None
    f_linear: float | None = None
    f_square: float | None = None
    scale_rtt: Time | None = None
    scale_min: float | None = None
    scale_max: float | None = None
    rtt_max_step: Time | None = None
    rtt_max_kept: float | None = None
    fresh_rounds: float | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Westwood(Table):
    """Westwood+ (Grieco and Mascolo): as Reno, cut to the bandwidth measured

    preset: Set of parameters to start from.
    sample_min: Shortest time that a sample of the bandwidth takes. Default: "50 ms".
    gain: The weight of a new sample in the estimate. Default: 0.125.
    beta: The share of the window that an event leaves before the first sample. Default: 0.5.
    filter_twice: Filter the filtered samples once more. Default: false.
    raises: An event other than a timeout raises a window that is below the threshold to it. Default: true.
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "westwood")

    preset: Literal["paper", "linux"] | None = None
    sample_min: Time | None = None
    gain: float | None = None
    beta: float | None = None
    filter_twice: bool | None = None
    raises: bool | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Vegas(Table):
    """Vegas (Brakmo and Peterson): keeps two to four segments in the queue

    preset: Set of parameters to start from.
    alpha: Segments in the queue below which the window grows. Default: 2.0.
    beta: Segments in the queue above which the window falls. Default: 4.0.
    gamma: Segments in the queue above which slow start ends. Default: 1.0.
    difference: How the segments in the queue are counted: `queued` or `over_base`. Default: "queued".
    start: Slow start: `every_other` round trip, or `each_cut`. Default: "every_other".
    samples_min: Samples of a round trip with fewer of which it counts as Reno's. Default: 1.
    base_restarts: What is sent with nothing in flight (after silence, or when all is lost) begins with a new baseRTT. Default:
        false.
    backoff: The share of the window that an event leaves. Default: 0.5.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "vegas")

    preset: Literal["paper", "linux"] | None = None
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    difference: Literal["queued", "over_base"] | None = None
    start: Literal["every_other", "each_cut"] | None = None
    samples_min: int | None = None
    base_restarts: bool | None = None
    backoff: float | None = None


@dataclass(kw_only=True, slots=True)
class Veno(Table):
    """Veno (Fu and Liew): Reno that cuts to 0.8 when its queue is short

    beta: Own segments in the queue from which the path counts as congested. Default: 3.0.
    backoff_random: The share of the window that an event leaves on a path that is not congested. Default: 0.8.
    backoff_congested: The share of the window that an event leaves on a congested path. Default: 0.5.
    queued_growth: Growth on a congested path, as a share of Reno's. Default: 0.5.
    samples_min: Samples of a round trip with fewer of which it counts as Reno's. Default: 3.
    base_restarts: What is sent with nothing in flight (after silence, or when all is lost) begins with a new baseRTT. Default:
        true.
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "veno")

    beta: float | None = None
    backoff_random: float | None = None
    backoff_congested: float | None = None
    queued_growth: float | None = None
    samples_min: int | None = None
    base_restarts: bool | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Illinois(Table):
    """TCP-Illinois (Liu, Basar and Srikant): growth and cut by the queueing delay

    alpha_max: Growth in segments a round trip when nothing waits. Default: 10.0.
    alpha_min: Growth in segments a round trip at the largest delay. Default: 0.3.
    beta_min: The share of the window that an event takes at a small delay. Default: 0.125.
    beta_max: The share of the window that an event takes at a large delay. Default: 0.5.
    win_thresh: Window in segments below which the congestion control is Reno's. Default: 15.0.
    theta: Round trips of small delay in a row before growth is largest again. Default: 5.
    d1: Share of the largest delay up to which growth is largest. Default: 0.01.
    d2: Share of the largest delay up to which an event takes `beta_min`. Default: 0.1.
    d3: Share of the largest delay from which it takes `beta_max`. Default: 0.8.
    alpha_base: Growth in segments a round trip below `win_thresh`, and after a timer. Default: 1.0.
    beta_base: The share of the window that an event takes below `win_thresh`, and after a timer. Default: 0.5.
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "illinois")

    alpha_max: float | None = None
    alpha_min: float | None = None
    beta_min: float | None = None
    beta_max: float | None = None
    win_thresh: float | None = None
    theta: int | None = None
    d1: float | None = None
    d2: float | None = None
    d3: float | None = None
    alpha_base: float | None = None
    beta_base: float | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Yeah(Table):
    """YeAH (Baiocchi, Castellani and Vacirca): Scalable with a short queue, Reno with a long one

    alpha: Own segments in the queue above which slow mode holds. Default: 80.0.
    gamma: Divisor of the queue that gives the cut of slow mode. Default: 1.0.
    delta: An event takes at least 2^-delta of the window. Default: 3.
    epsilon: Slow mode takes at most 2^-epsilon of the window at once. Default: 1.
    phy: Divisor of the smallest round-trip time that gives the queueing delay of slow mode. Default: 8.0.
    rho: Round trips in slow mode from which an event halves. Default: 16.
    zeta: Round trips in fast mode after which no Reno flow is presumed. Default: 50.
    scalable_count: Acknowledged segments for one more segment in fast mode, at most. Default: 100.0.
    samples_min: Samples that a round trip needs to count. Default: 3.
    base_restarts: What is sent with nothing in flight (after silence, or when all is lost) begins with a new baseRTT. Default:
        true.
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "yeah")

    alpha: float | None = None
    gamma: float | None = None
    delta: int | None = None
    epsilon: int | None = None
    phy: float | None = None
    rho: int | None = None
    zeta: int | None = None
    scalable_count: float | None = None
    samples_min: int | None = None
    base_restarts: bool | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Compound(Table):
    """Compound TCP (draft-sridharan-tcpm-ctcp): Reno and a window that looks at delay

    alpha: Factor of the growth. Default: 0.125.
    beta: The share of the window that an event takes. Default: 0.5.
    k: Power of the window in the growth. Default: 0.75.
    gamma: Own segments in the queue from which dwnd falls. Default: 30.0.
    zeta: Segments by which dwnd falls for each in the queue. Default: 1.0.
    low_window: Window in segments below which the congestion control is Reno's. Default: 38.0.
    beta_ecn: The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "compound")

    alpha: float | None = None
    beta: float | None = None
    k: float | None = None
    gamma: float | None = None
    zeta: float | None = None
    low_window: float | None = None
    beta_ecn: float | None = None


@dataclass(kw_only=True, slots=True)
class Dctcp(Table):
    """DCTCP (RFC 8257): the window is cut by half the share of bytes that met congestion

    g: Weight of the newest window of data in alpha. Default: 0.0625.
    alpha_initial: alpha before the first window of data: 1 takes the first mark for a loss. Default: 1.0.
    beta: The share of the window that a loss leaves. Default: 0.5.
    reduce_from: The window that is cut at a loss: `flight` (what was in flight) or `cwnd`. Default: "flight".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "dctcp")

    g: float | None = None
    alpha_initial: float | None = None
    beta: float | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None


@dataclass(kw_only=True, slots=True)
class Prague(Table):
    """Prague (draft-briscoe-iccrg-prague-congestion-control): DCTCP for the Internet, over ECT(1) and Accurate ECN

    preset: Set of parameters to start from.
    g: Weight of the newest share of marks in alpha. Default: 0.0625.
    alpha_initial: alpha before the first mark, which halves the window whatever alpha is. Default: 0.0.
    rtt_target: Round-trip time whose rate a flow with a shorter one takes; 0 leaves it its own. Default: "25 ms".
    transition: Round trips after slow start before it does. Default: 4.
    segments_min: Fewest segments in flight; a smaller window is paced. Default: 2.0.
    rate_min: Smallest pacing rate. Default: "100 Kbps".
    beta: The share of the window that a loss leaves. Default: 0.5.
    classic_fallback: Whether marks that seem to come from a classic queue cut more. Default: false.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "prague")

    preset: Literal["linux", "draft"] | None = None
    g: float | None = None
    alpha_initial: float | None = None
    rtt_target: Time | None = None
    transition: int | None = None
    segments_min: float | None = None
    rate_min: Rate | None = None
    beta: float | None = None
    classic_fallback: bool | None = None


@dataclass(kw_only=True, slots=True)
class Bbr(Table):
    """BBR version 1 (Linux): paces by the bandwidth and round-trip time that it measures

    startup_gain: Pacing and window gain in STARTUP, 2 / ln 2; DRAIN paces at its inverse. Default: 2.885.
    full_growth: Growth of the bandwidth in a round below which the pipe may be full. Default: 1.25.
    full_rounds: Rounds without that growth until the pipe is full. Default: 3.
    probe_gain: Pacing gain of the first phase of PROBE_BW, which probes for more. Default: 1.25.
    drain_gain: Pacing gain of its second phase, which drains what the first queued. Default: 0.75.
    phase: Phase (0 to 7, not 1) with which PROBE_BW begins; not given it is drawn each time.
    cwnd_gain: Window gain in PROBE_BW. Default: 2.0.
    bw_rounds: Rounds over which the largest delivery rate is the bandwidth. Default: 10.
    min_rtt_window: Time over which the smallest round-trip time is that of the path; so long without a smaller one brings
        PROBE_RTT. Default: "10 s".
    probe_rtt_time: Time in PROBE_RTT with little in flight. Default: "200 ms".
    min_segments: Smallest window in segments, and that of PROBE_RTT. Default: 4.0.
    pacing_margin: Share of the bandwidth that pacing leaves free, so that queues do not stand. Default: 0.01.
    burst_segments: Segments that pacing lets out as one burst, from 1.2 Mb/s on. Default: 2.0.
    extra_acked_rounds: Rounds that each of the two maxima of what ACKs bring beyond the bandwidth covers. Default: 5.
    extra_acked_max: Most of it that the window takes, as time at the bandwidth; 0 takes none. Default: "100 ms".
    policer: Looks for a policer, a token bucket that drops what exceeds its rate, and paces at that rate. Default: true.
    policer_rounds: Rounds of an interval of losses, at least. Default: 4.
    policer_rounds_max: Rounds after which an interval without a loss at its end is given up. Default: 16.
    policer_loss: Bytes lost over bytes delivered in an interval, at least. Default: 0.1953125.
    policer_share: Rates of two intervals are the same that differ by no more than this share of the first. Default: 0.125.
    policer_difference: They are the same, too, that differ by no more than this. Default: "4 Kbps".
    policer_kept_rounds: Rounds of PROBE_BW until the path is probed again. Default: 48.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "bbr")

    startup_gain: float | None = None
    full_growth: float | None = None
    full_rounds: int | None = None
    probe_gain: float | None = None
    drain_gain: float | None = None
    phase: int | None = None
    cwnd_gain: float | None = None
    bw_rounds: int | None = None
    min_rtt_window: Time | None = None
    probe_rtt_time: Time | None = None
    min_segments: float | None = None
    pacing_margin: float | None = None
    burst_segments: float | None = None
    extra_acked_rounds: int | None = None
    extra_acked_max: Time | None = None
    policer: bool | None = None
    policer_rounds: int | None = None
    policer_rounds_max: int | None = None
    policer_loss: float | None = None
    policer_share: float | None = None
    policer_difference: Rate | None = None
    policer_kept_rounds: int | None = None


@dataclass(kw_only=True, slots=True)
class Bbr3(Table):
    """BBR version 3 (draft-ietf-ccwg-bbr): the model of version 1, with bounds that losses set

    preset: Set of parameters to start from.
    startup_gain: Pacing gain in STARTUP, 4 ln 2. Default: 2.77.
    drain_gain: Pacing gain in DRAIN. Default: 0.5.
    drain_rounds: Rounds of DRAIN, at most: one more ends it. Default: 3.
    cwnd_gain: Window gain, but in UP. Default: 2.0.
    full_growth: Growth of the bandwidth in a round below which the pipe may be full. Default: 1.25.
    full_rounds: Rounds without that growth until the pipe is full. Default: 3.
    full_losses: Ranges of data lost in a round from which a loss rate ends STARTUP. Default: 6.0.
    down_gain: Pacing gain in DOWN, which empties the queue. Default: 0.9.
    up_gain: Pacing gain in UP, which probes for more. Default: 1.25.
    up_cwnd_gain: Window gain in UP. Default: 2.25.
    probe_wait: Time in DOWN and CRUISE before the next probe; not given it is drawn for each.
    probe_wait_min: The shortest that is drawn. Default: "2 s".
    probe_wait_random: The longest that is drawn is so much longer. Default: "1 s".
    probe_rounds: Rounds after which a probe comes at the latest, where the path holds no fewer segments. Default: 63.0.
    probe_rounds_over: Rounds of those that are taken for over when the wait begins; not given none or one is drawn for each.
    loss_thresh: Share of what was in flight whose loss is too much. Default: 0.02.
    beta: What a loss leaves of the bounds. Default: 0.7.
    l4s: Whether data leaves as ECT(1), over Accurate ECN, and marks count. Default: false.
    ecn_max_rtt: The longest smallest round-trip time at which marks count; 0 is any, as RFC 9331 section 4.3 asks of what leaves as
        ECT(1). Default: "0 s".
    ecn_alpha_gain: Weight of the newest share of marks in alpha. Default: 0.0625.
    ecn_alpha_initial: alpha at the beginning. Default: 1.0.
    ecn_factor: The share of the flight that a round of marks takes where alpha is 1. Default: 0.3333333333333333.
    ecn_thresh: Share of marks that is too much. Default: 0.5.
    full_marked_rounds: Rounds with so many marks after which the pipe is full. Default: 2.
    headroom: Share of the upper bound that CRUISE leaves to others. Default: 0.15.
    bw_cycles: Probes over which the largest delivery rate is the bandwidth. Default: 2.
    min_rtt_window: Time over which the smallest round-trip time is that of the path. Default: "10 s".
    probe_rtt_interval: Time without a smaller round-trip time that brings PROBE_RTT. Default: "5 s".
    probe_rtt_time: Time in PROBE_RTT with little in flight. Default: "200 ms".
    probe_rtt_gain: Window gain in PROBE_RTT. Default: 0.5.
    min_segments: Smallest window in segments. Default: 4.0.
    pacing_margin: Share of the bandwidth that pacing leaves free, so that queues do not stand. Default: 0.01.
    burst_segments: Segments that leave the host as one burst. Default: 1.0.
    extra_acked_rounds: Rounds that each of the two maxima of what ACKs bring beyond the bandwidth covers. Default: 5.
    extra_acked_max: Most of it that the window takes, as time at the bandwidth; 0 takes none. Default: "100 ms".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "bbr3")

    preset: Literal["draft-05", "draft-04"] | None = None
    startup_gain: float | None = None
    drain_gain: float | None = None
    drain_rounds: int | None = None
    cwnd_gain: float | None = None
    full_growth: float | None = None
    full_rounds: int | None = None
    full_losses: float | None = None
    down_gain: float | None = None
    up_gain: float | None = None
    up_cwnd_gain: float | None = None
    probe_wait: Time | None = None
    probe_wait_min: Time | None = None
    probe_wait_random: Time | None = None
    probe_rounds: float | None = None
    probe_rounds_over: int | None = None
    loss_thresh: float | None = None
    beta: float | None = None
    l4s: bool | None = None
    ecn_max_rtt: Time | None = None
    ecn_alpha_gain: float | None = None
    ecn_alpha_initial: float | None = None
    ecn_factor: float | None = None
    ecn_thresh: float | None = None
    full_marked_rounds: int | None = None
    headroom: float | None = None
    bw_cycles: int | None = None
    min_rtt_window: Time | None = None
    probe_rtt_interval: Time | None = None
    probe_rtt_time: Time | None = None
    probe_rtt_gain: float | None = None
    min_segments: float | None = None
    pacing_margin: float | None = None
    burst_segments: float | None = None
    extra_acked_rounds: int | None = None
    extra_acked_max: Time | None = None


@dataclass(kw_only=True, slots=True)
class Ledbat(Table):
    """LEDBAT (RFC 6817): a background flow that keeps the queueing delay at a target

    target: Queueing delay that the flow aims at. Default: "100 ms".
    gain: Growth in segments per round trip where nothing queues. Default: 1.0.
    allowed_increase: Segments by which the window may exceed what is in flight. Default: 1.0.
    min_segments: Smallest window in segments, but for a timer. Default: 2.0.
    beta: The share of the window that a loss leaves. Default: 0.5.
    base_history: Minutes over which the smallest delay is that of the path. Default: 10.
    current_filter: Delays whose smallest is that of now. Default: 4.
    delay: Which delay queues are seen by. Default: "one-way".
    slow_start_until: Share of the target at which slow start ends; 0 for none, 0.75 for that of LEDBAT++. Default: 0.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "ledbat")

    target: Time | None = None
    gain: float | None = None
    allowed_increase: float | None = None
    min_segments: float | None = None
    beta: float | None = None
    base_history: int | None = None
    current_filter: int | None = None
    delay: Literal["one-way", "round-trip"] | None = None
    slow_start_until: float | None = None


@dataclass(kw_only=True, slots=True)
class Fast(Table):
    """FAST TCP (Jin, Wei and Low 2004): keeps alpha segments in the queues

    preset: Set of parameters to start from.
    alpha: Segments that the flow keeps in queues; 8, 20, 200 for 10, 100, 1000 Mbit/s. Default: 200.0.
    gamma: How much of the way the window goes in one change. Default: 0.5.
    samples: Samples of a window that the mean of the round-trip time reaches back, as its weight `samples` / w of one. Default:
        3.0.
    weight_max: Most that one sample weighs. Default: 0.25.
    beta: The share of the window that a loss leaves. Default: 0.5.
    slow_start_queue: Queued segments beyond which slow start ends. Default: 1.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "fast")

    preset: Literal["1-gbps", "100-mbps", "10-mbps"] | None = None
    alpha: float | None = None
    gamma: float | None = None
    samples: float | None = None
    weight_max: float | None = None
    beta: float | None = None
    slow_start_queue: float | None = None


@dataclass(kw_only=True, slots=True)
class Swift(Table):
    """Swift (Kumar et al. 2020): keeps the delay at a target, below one segment too

    base_target: Target of the delay on a path without hops for a large window; if not given, the round trip of the path when
        nothing queues, and 20 us.
    per_hop: Target for each hop of the path. Default: "3 us".
    hops: Hops of the path. Default: 4.
    fs_range: Most that a small window adds to the target; 0 switches that off. Default: "100 us".
    fs_min: Window in segments up to which a small window adds all of it. Default: 0.1.
    fs_max: Window in segments from which it adds nothing. Default: 100.0.
    over_min: The target counts from the smallest round-trip time that the flow has seen: a flow that comes late sees the queue of
        others in it. Default: false.
    ai: Segments by which the window grows in a round trip. Default: 1.0.
    beta: Weight of the excess of the delay in a cut. Default: 0.8.
    max_mdf: Most that one cut takes of the window, as a share. Default: 0.5.
    timers_max: Retransmission timers without an ACK between them after which the window is the smallest. Default: 5.
    min_segments: Smallest window in segments. Default: 0.001.
    endpoint_target: Target of the delay in the end hosts, which then have a window of their own; if not given, the whole round-trip
        time is compared with the target of the fabric.
    endpoint_weight: Weight of the newest delay in the moving mean of the delay in the end hosts. Default: 0.125.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "swift")

    base_target: Time | None = None
    per_hop: Time | None = None
    hops: int | None = None
    fs_range: Time | None = None
    fs_min: float | None = None
    fs_max: float | None = None
    over_min: bool | None = None
    ai: float | None = None
    beta: float | None = None
    max_mdf: float | None = None
    timers_max: int | None = None
    min_segments: float | None = None
    endpoint_target: Time | None = None
    endpoint_weight: float | None = None


@dataclass(kw_only=True, slots=True)
class Lp(Table):
    """TCP-LP (Kuzmanovic and Knightly 2003): a background flow that leaves at the first sign of a queue

    preset: Set of parameters to start from.
    beta: The share of the window that an event or an early sign leaves. Default: 0.5.
    delta: Share of the range of delays above which congestion is near. Default: 0.15.
    gain: Weight of a sample in the smoothed delay. Default: 0.125.
    inference: Round trips after an early sign in which the window does not grow. Default: 3.0.
    delay: Which delay queues are seen by. Default: "one-way".
    forgets: An early sign forgets the extremes: from then on the smoothed delay and twice it. Default: false.
    resolution: What delays are counted in when they are compared; 0 s: exactly. Default: "0 s".
    lowers_ssthresh: An early sign lowers ssthresh as well: the window grows back additively, not by slow start. Default: true.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "lp")

    preset: Literal["paper", "linux"] | None = None
    beta: float | None = None
    delta: float | None = None
    gain: float | None = None
    inference: float | None = None
    delay: Literal["one-way", "round-trip"] | None = None
    forgets: bool | None = None
    resolution: Time | None = None
    lowers_ssthresh: bool | None = None


@dataclass(kw_only=True, slots=True)
class Xcp(Table):
    """XCP (Katabi, Handley and Rohrs 2002): routers with queue `xcp` say how the window changes

    beta: The share of the window that a loss leaves. Default: 0.5.
    reduce_from: The window that is cut at a loss: `flight` (what was in flight) or `cwnd`. Default: "cwnd".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "xcp")

    beta: float | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None


@dataclass(kw_only=True, slots=True)
class ExplicitRate(Table):
    """Explicit rate (the reference of Anderson et al. 2006): routers with queue `fq` say the fair rate

    queue_rtts: Own queue that is aimed at, in round trips of the fair rate. Default: 1.0.
    drain_rtts: Round trips in which what the own queue is off is made good. Default: 2.0.
    window_rtts: Most that is in flight, in round trips of the fair rate. Default: 4.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "explicit_rate")

    queue_rtts: float | None = None
    drain_rtts: float | None = None
    window_rtts: float | None = None


@dataclass(kw_only=True, slots=True)
class Copa(Table):
    """Copa (Arun and Balakrishnan 2018): a rate that falls with the queueing delay

    delta: Weight of delay against rate: 1.25 / delta segments stand in the queue in the mean. Default: 0.5.
    velocity_rounds: Rounds in one direction before the velocity doubles. Default: 3.
    min_rtt_window: Time over which the smallest round-trip time is that of the path. Default: "10 s".
    pacing_gain: Pacing rate over window per round-trip time. Default: 2.0.
    competitive: Whether the flow competes with flows that fill the queue. Default: true.
    empty_share: Share of the range of round-trip times below which the queue is nearly empty. Default: 0.1.
    empty_rtts: Round-trip times without a nearly empty queue that begin competitive mode. Default: 5.
    max_rtt_rounds: Rounds whose largest round-trip time is that of the range. Default: 4.
    beta: What a loss leaves of 1 / delta in competitive mode, and a timer of the window as `ssthresh`. Default: 0.5.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "copa")

    delta: float | None = None
    velocity_rounds: int | None = None
    min_rtt_window: Time | None = None
    pacing_gain: float | None = None
    competitive: bool | None = None
    empty_share: float | None = None
    empty_rtts: int | None = None
    max_rtt_rounds: int | None = None
    beta: float | None = None


@dataclass(kw_only=True, slots=True)
class Pcp(Table):
    """PCP (Anderson et al. 2006): probes by trains of packets whether the path has more rate

    test: How the slope of a probe's delays is judged: `hard` or `prob` (by chance, with the probability that it is flat). Default:
        "prob".
    probe_packets: Packets of a probe. Default: 5.
    slope_max: Relative slope (delay per time) that is still flat. Default: 0.05.
    error_max: The largest standard error of the slope that `hard` allows for. Default: 0.25.
    error_min: The smallest standard error of the slope that `prob` believes in. Default: 0.01.
    pair_rise: Rise of the delay that a probe of two packets may show. Default: "1 ms".
    floor: The smallest tested increase over the first. Default: 0.25.
    interval_max: The longest mean time between probes, in round trips. Default: 32.0.
    jitter: Half the width of the interval in which the next probe begins, over its mean. Default: 0.5.
    probe_timeout: Round trips after its end at which a probe without an answer has failed. Default: 3.0.
    compensation: Whether a growing or standing queue lowers the rate. Default: true.
    growth_min: The smallest growth of the queueing delay, per time, that lowers the rate. Default: 0.01.
    base_window: Time over which the smallest delay is that without a queue. Default: "10 s".
    standing_min: The smallest queueing delay that is drained (two packet times at least). Default: "1 ms".
    drain_max: The largest share of the rate that is left free to drain the queue. Default: 0.5.
    patience: Round trips in vain after which the reaction to queues is divided. Default: 3.
    tit_for_tat: What the reaction to queues is divided by when it is in vain. Default: 10.0.
    history: Whether the rate of the last connection to the same host is remembered. Default: true.
    remembered: Which rate of that connection is remembered: `last`, `largest`, or `mean` (over its packets). Default: "last".
    history_share: The first rate that is probed with history, over the rate remembered. Default: 0.3333333333333333.
    beta: Share of the rate that the loss of a base packet leaves. Default: 0.5.
    rtt_max: The longest time between two base packets; the round-trip time where none is known. Default: "1 s".
    window_rounds: Rounds of data that the window holds, and packets beside them. Default: 2.0.
    window_packets: Packets that the window holds beside them. Default: 4.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "pcp")

    test: Literal["hard", "prob"] | None = None
    probe_packets: int | None = None
    slope_max: float | None = None
    error_max: float | None = None
    error_min: float | None = None
    pair_rise: Time | None = None
    floor: float | None = None
    interval_max: float | None = None
    jitter: float | None = None
    probe_timeout: float | None = None
    compensation: bool | None = None
    growth_min: float | None = None
    base_window: Time | None = None
    standing_min: Time | None = None
    drain_max: float | None = None
    patience: int | None = None
    tit_for_tat: float | None = None
    history: bool | None = None
    remembered: Literal["last", "largest", "mean"] | None = None
    history_share: float | None = None
    beta: float | None = None
    rtt_max: Time | None = None
    window_rounds: float | None = None
    window_packets: float | None = None


@dataclass(kw_only=True, slots=True)
class Dcqcn(Table):
    """DCQCN (Zhu et al. 2015), for RoCE: a rate that notifications of marked packets cut

    preset: Set of parameters to start from.
    g: Weight of a notification in alpha. Default: 0.00390625.
    alpha_initial: alpha before the first notification. Default: 1.0.
    alpha_interval: Time without a notification after which alpha falls (K). Default: "55 us".
    decrease_interval: No second cut within this time of the last; 0 s: each notification cuts. Default: "0 s".
    timer: Time of a cycle (T). Default: "55 us".
    byte_counter: Bytes of a cycle (B); 0 B: there are no such cycles. Default: "10 MB".
    fast_recovery: Cycles of fast recovery (F). Default: 5.
    additive_increase: Step of additive increase (R_AI). Default: "40 Mbps".
    hyper_increase: Step of hyper increase (R_HAI). Default: "400 Mbps".
    hyper_multiplies: Whether the step of hyper increase grows with each of its cycles. Default: true.
    steps_for_25g: Whether both steps are for a line of 25 Gb/s, and in proportion for others. Default: false.
    hold_target: Whether a cut leaves the target alone while no cycle of the timer has ended since the cut before, and the target
        stays within the line rate. Default: false.
    rate_min: Least rate. Default: "10 Mbps".
    in_flight: What bounds the bytes in flight beside the rate: `unbounded`, `bdp` (the line rate times `base_rtt`) or `rate` (the
        current rate times `base_rtt`). Default: "unbounded".
    base_rtt: Base round-trip time of `in_flight`; 0 s: that of the flow. Default: "0 s".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "dcqcn")

    preset: Literal["paper", "rdma-sample", "mellanox-cx4", "dcqcn_paper"] | None = None
    g: float | None = None
    alpha_initial: float | None = None
    alpha_interval: Time | None = None
    decrease_interval: Time | None = None
    timer: Time | None = None
    byte_counter: Size | None = None
    fast_recovery: int | None = None
    additive_increase: Rate | None = None
    hyper_increase: Rate | None = None
    hyper_multiplies: bool | None = None
    steps_for_25g: bool | None = None
    hold_target: bool | None = None
    rate_min: Rate | None = None
    in_flight: Literal["unbounded", "bdp", "rate"] | None = None
    base_rtt: Time | None = None


@dataclass(kw_only=True, slots=True)
class Timely(Table):
    """TIMELY (Mittal et al. 2015), for RoCE: a rate that follows the gradient of the round-trip time

    preset: Set of parameters to start from.
    alpha: Weight of the newest change of the round-trip time. Default: 0.875.
    beta: Weight of a gradient, and of what is above `t_high`, in a cut. Default: 0.8.
    t_low: Round-trip time below which the rate always grows. Default: "50 us".
    t_high: Round-trip time above which it always falls. Default: "500 us".
    rtt_min: By what changes of the round-trip time are divided. Default: "20 us".
    delta: Step of the increase. Default: "10 Mbps".
    hai_threshold: Segments in a row without a rising gradient from which the increase is `hai_factor` times as large. Default: 5.
    hai_factor: N: by how much the increase is larger then. Default: 5.0.
    segment: Bytes between two changes of the rate. Default: "16 KB".
    once_a_round_trip: Whether the rate changes at most once a round trip. Default: false.
    rate_min: Least rate. Default: "10 Mbps".
    in_flight: What bounds the bytes in flight beside the rate: `unbounded`, `bdp` (the line rate times `base_rtt`) or `rate` (the
        current rate times `base_rtt`). Default: "unbounded".
    base_rtt: Base round-trip time of `in_flight`; 0 s: that of the flow. Default: "0 s".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "timely")

    preset: Literal["paper", "simulator"] | None = None
    alpha: float | None = None
    beta: float | None = None
    t_low: Time | None = None
    t_high: Time | None = None
    rtt_min: Time | None = None
    delta: Rate | None = None
    hai_threshold: int | None = None
    hai_factor: float | None = None
    segment: Size | None = None
    once_a_round_trip: bool | None = None
    rate_min: Rate | None = None
    in_flight: Literal["unbounded", "bdp", "rate"] | None = None
    base_rtt: Time | None = None


@dataclass(kw_only=True, slots=True)
class Hpcc(Table):
    """HPCC (Li et al. 2019), for RoCE: a window that follows the load of links as packets report it

    preset: Set of parameters to start from.
    eta: Utilisation that is aimed at. Default: 0.95.
    max_stage: Round trips of additive increase before the next adjustment by U. Default: 5.
    flows: Flows that additive increase expects to share a link (N). Default: 100.0.
    base_rtt: Base round-trip time (T); 0 s: that of the flow. Default: "0 s".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "hpcc")

    preset: Literal["paper", "simulator"] | None = None
    eta: float | None = None
    max_stage: int | None = None
    flows: float | None = None
    base_rtt: Time | None = None


@dataclass(kw_only=True, slots=True)
class Nscc(Table):
    """NSCC (Ultra Ethernet), for UEC: a window that goes by marks, delay and trimmed packets

    network_rtt: Base round-trip time of the network; if not given, that of the flow.
    target: Target of the queueing delay; if not given, `target_share` of the network's round-trip time.
    target_share: Target in round-trip times of the network: 0.75 with trimming, 1 without. Default: 0.75.
    reference_rate: Rate of the network that the constants were chosen for. Default: "100 Gbps".
    reference_rtt: Round-trip time of the network that the constants were chosen for. Default: "12 us".
    alpha: Proportional increase, in packets. Default: 4.0.
    fair: Fair increase, in packets. Default: 5.0.
    eta: Increase once a round trip, in packets. Default: 0.15.
    fast: Fast increase, as a share of what arrives. Default: 0.25.
    fast_delay: Delay below which a whole window must stay before the fast increase. Default: "1 us".
    gamma: Weight of the excess of the mean delay in a cut. Default: 0.8.
    least_left: Least share of the window that a cut leaves. Default: 0.5.
    weight: Weight of the newest delay in the mean. Default: 0.0125.
    late_share: What a late acknowledgement without a mark counts as in the mean, in base round-trip times. Default: 0.25.
    adjust_packets: Packets after which increases are applied, if a round trip is longer. Default: 8.0.
    most: Largest window in bandwidth-delay products. Default: 1.5.
    initial_window: First window; if not given, the largest.
    quick_delay: Delay in targets from which quick adaptation looks at what arrived. Default: 4.0.
    quick_gate: Quick adaptation needs less than the largest window over two to this power; 0 needs less than the largest window.
        Default: 3.
    quick: Whether there is quick adaptation. Default: true.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "nscc")

    network_rtt: Time | None = None
    target: Time | None = None
    target_share: float | None = None
    reference_rate: Rate | None = None
    reference_rtt: Time | None = None
    alpha: float | None = None
    fair: float | None = None
    eta: float | None = None
    fast: float | None = None
    fast_delay: Time | None = None
    gamma: float | None = None
    least_left: float | None = None
    weight: float | None = None
    late_share: float | None = None
    adjust_packets: float | None = None
    most: float | None = None
    initial_window: Size | None = None
    quick_delay: float | None = None
    quick_gate: int | None = None
    quick: bool | None = None


@dataclass(kw_only=True, slots=True)
class NoCongestionControl(Table):
    """No congestion control, for RDMA: the line rate"""

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "none")


@dataclass(kw_only=True, slots=True)
class Guest(Table):
    """A congestion control written in Python.

    python: Where the class is: `"module:Class"`, or `"path/to/file.py:Class"` relative to the scenario.
    params: Keywords for its constructor.
    """

    python: str
    params: dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Program(Table):
    """A congestion control in a program of any language, which answers lines of JSON over a pipe.

    program: Path of the program, such as `"./gentle"`, relative to the scenario.
    deadline: How long an answer of the program may take in real time. Default: "10 s".
    params: What the program is told at its start.
    """

    program: str
    deadline: Time | None = None
    params: dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Classic(Table):
    """Classic (RFC 5681): as many bytes as were acknowledged"""

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "classic")


@dataclass(kw_only=True, slots=True)
class Limited(Table):
    """Limited slow start (RFC 3742): beyond 100 segments at most 50 more a round trip

    max_ssthresh: Segments beyond which growth is limited. Default: 100.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "limited")

    max_ssthresh: float | None = None


@dataclass(kw_only=True, slots=True)
class Hystart(Table):
    """HyStart (Ha and Rhee 2011, Linux): ends when ACKs come in long trains or later

    low_window: Smallest window in segments that is looked at. Default: 16.0.
    ack_delta: Longest gap between ACKs of one train. Default: "2 ms".
    train_share: Length of a train that ends slow start, as a share of the smallest round-trip time; of paced segments twice as
        much. Default: 0.5.
    rtt_divisor: Divisor of the smallest round-trip time that gives the increase which ends slow start. Default: 8.0.
    delay_min: Smallest increase of the round-trip time that ends slow start. Default: "4 ms".
    delay_max: Largest increase that is waited for. Default: "16 ms".
    samples: Samples of a round before its smallest is believed. Default: 8.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "hystart")

    low_window: float | None = None
    ack_delta: Time | None = None
    train_share: float | None = None
    rtt_divisor: float | None = None
    delay_min: Time | None = None
    delay_max: Time | None = None
    samples: int | None = None


@dataclass(kw_only=True, slots=True)
class Hystartpp(Table):
    """HyStart++ (RFC 9406): ends through conservative slow start when ACKs come later

    rtt_thresh_min: Smallest rise of the round-trip time that counts. Default: "4 ms".
    rtt_thresh_max: Largest rise that is waited for. Default: "16 ms".
    rtt_divisor: Divisor of the last round's round-trip time that gives the rise. Default: 8.0.
    rtt_samples: Samples of a round before its smallest is believed. Default: 8.
    css_growth_divisor: How much slower conservative slow start grows. Default: 4.0.
    css_rounds: Rounds of conservative slow start. Default: 5.
    limit: Most segments that one ACK may add (L); takes the place of the stack's limit. 0 is no limit, as for paced flows. Default:
        8.0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "hystartpp")

    rtt_thresh_min: Time | None = None
    rtt_thresh_max: Time | None = None
    rtt_divisor: float | None = None
    rtt_samples: int | None = None
    css_growth_divisor: float | None = None
    css_rounds: int | None = None
    limit: float | None = None


@dataclass(kw_only=True, slots=True)
class Linux(Table):
    """As Linux: HyStart for CUBIC, classic for all other congestion controls"""

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "linux")


@dataclass(kw_only=True, slots=True)
class Dumbbell(Table):
    """Pairs of hosts on both sides of one bottleneck link between two switches

    rate: Rate of the bottleneck link: a rate, or `{ trace = "file" }`.
    delay: Delay of the bottleneck link, one way: a time, or `{ trace = "file.csv" }`.
    pairs: Senders, and as many receivers. Default: 1.
    queue: Queue at the bottleneck, in both directions. Default: { kind = "fifo" }.
    loss: Packets lost by the bottleneck link from left to right. Default: "none".
    packets: Which packets the loss concerns: `all`, or `data`, those that carry data. Default: "all".
    access_rate: Rate of the access links. Default: "10 Gbps".
    access_delay: Delay of the access links, one way and on each side; a spread gives the i-th pair the i-th value on both sides.
        Default: "10 us".
    framing: Framing of all links. Default: "ethernet".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "dumbbell")

    rate: Rate | LinkTrace | dict[str, Any]
    delay: Time | Linear | Uniform | LinkTrace | dict[str, Any]
    pairs: int | None = None
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    loss: Literal["none"] | Periodic | Bernoulli | GilbertElliott | Listed | LinkTrace | dict[str, Any] | None = None
    packets: Literal["all", "data"] | None = None
    access_rate: Rate | None = None
    access_delay: Time | Linear | Uniform | LinkTrace | dict[str, Any] | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None


@dataclass(slots=True)
class LinkTrace(Table):
    """A trace in Mahimahi's format or CSV."""

    _wrap: ClassVar[str | None] = "trace"
    _single: ClassVar[bool] = True

    trace: str | TraceTable | dict[str, Any]


@dataclass(kw_only=True, slots=True)
class TraceTable(Table):
    """A trace and how it is read.

    file: A file in Mahimahi's format (rates only) or CSV with the columns `time`, `rate`, `delay`, `loss`. Units are in the cells
        (`0.012 s`, `7.5 Mbps`, `1 %`) or in the heads (`time_s`, `rate_mbps`, `delay_ms`).
    text: What the file has, in its place.
    after: What comes after the last time of the trace. Default: "repeat".
    between: What holds between two rows of CSV. Default: "steps".
    chance: Bytes that a chance of Mahimahi's format carries: 1504 in its code, 1500 in its text.
    overhead: Bytes that a packet takes of a chance beside its own: 4 in Mahimahi's code (the packet information of a TUN device).
    reorder: Of a delay: whether packets may overtake those before them when the delay gets shorter. Without it they arrive with the
        last one before them.
    """

    file: str | None = None
    text: str | None = None
    after: Literal["repeat", "hold", "end"] | None = None
    between: Literal["steps", "linear"] | None = None
    chance: Size | None = None
    overhead: Size | None = None
    reorder: bool | None = None


@dataclass(slots=True)
class Linear(Table):
    """From the first value to the second in equal steps, to the nearest picosecond."""

    _wrap: ClassVar[str | None] = "linear"
    _single: ClassVar[bool] = True

    linear: list[str]


@dataclass(slots=True)
class Uniform(Table):
    """Drawn uniformly between both, for each link from its own random stream; both directions are equal."""

    _wrap: ClassVar[str | None] = "uniform"
    _single: ClassVar[bool] = True

    uniform: list[str]


@dataclass(kw_only=True, slots=True)
class Fifo(Table):
    """First in, first out, drop-tail: a packet that does not fit in the limit is dropped

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is
        dropped.
    mark_above: An ECN-capable packet that finds more than this waiting is marked (step marking, as DCTCP's K); without it nothing
        is.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "fifo")

    limit: Limit | None = None
    mark_above: Limit | None = None


@dataclass(kw_only=True, slots=True)
class Codel(Table):
    """CoDel (RFC 8289): a FIFO that drops or marks at departure when packets have waited for too long

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default: "1000 p".
    target: Delay that a standing queue may have. Default: "5 ms".
    interval: Time for which the delay must stay above `target` before a packet is dropped; about the longest usual round-trip time.
        Default: "100 ms".
    ecn: Whether ECN-capable packets are marked instead of dropped. Default: false.
    ce_threshold: ECN-capable packets that have waited for longer than this are marked at once, whatever `ecn` says; without it none
        are.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "codel")

    limit: Limit | None = None
    target: Time | None = None
    interval: Time | None = None
    ecn: bool | None = None
    ce_threshold: Time | None = None


@dataclass(kw_only=True, slots=True)
class Pie(Table):
    """PIE (RFC 8033): a FIFO that drops or marks at random, with a probability that a controller of its delay sets

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default: "1000 p".
    target: Delay that the controller holds the queue at. Default: "15 ms".
    tupdate: Time between updates of the probability. Default: "15 ms".
    alpha: Gain of the distance from `target`, in sixteenths per second. Default: 2.0.
    beta: Gain of the change of the delay, in sixteenths per second. Default: 20.0.
    ecn: Whether ECN-capable packets are marked instead of dropped while the probability is 0.1 at most. Default: false.
    bytemode: Whether the probability of a packet is in proportion to its size. Default: false.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "pie")

    limit: Limit | None = None
    target: Time | None = None
    tupdate: Time | None = None
    alpha: float | None = None
    beta: float | None = None
    ecn: bool | None = None
    bytemode: bool | None = None


@dataclass(kw_only=True, slots=True)
class Red(Table):
    """RED (Floyd and Jacobson 1993): a FIFO that drops or marks at random, the likelier the longer the queue on the average

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default: "1000 p".
    min: Average queue from which packets are picked, in the unit of `max`; without it a third of `max`.
    max: Average queue at which `probability` is reached; without it a quarter of `limit`.
    probability: Largest probability of the slope, reached at `max`. Default: 0.02.
    weight: Weight of a packet in the average. Default: 0.002.
    spaced: Whether picks are spaced by the count of packets since the last one (p_a); if not, each is drawn by itself (p_b).
        Default: true.
    avpkt: Size of a typical packet: how fast the average falls while the link is idle. Default: "1 KB".
    gentle: Whether the probability goes on to 1 at twice `max` instead of jumping to it at `max`. Default: false.
    adaptive: Whether `probability` adapts to hold the average between `min` and `max`. Default: false.
    ecn: Whether ECN-capable packets are marked instead of dropped. Default: false.
    harddrop: Whether even ECN-capable packets are dropped where the probability is 1. Default: false.
    mark_only: Whether packets that cannot be marked pass, so that only a full queue drops; needs `ecn`. Default: false.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "red")

    limit: Limit | None = None
    min: Limit | None = None
    max: Limit | None = None
    probability: float | None = None
    weight: float | None = None
    spaced: bool | None = None
    avpkt: Size | None = None
    gentle: bool | None = None
    adaptive: bool | None = None
    ecn: bool | None = None
    harddrop: bool | None = None
    mark_only: bool | None = None


@dataclass(kw_only=True, slots=True)
class Pi2(Table):
    """PI2 (De Schepper et al. 2016): a FIFO that drops or marks with the square of what a controller of its delay says

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default: "10000 p".
    target: Delay that the controller holds the queue at. Default: "15 ms".
    tupdate: Time between updates of the probability. Default: "16 ms".
    alpha: Gain of the distance from `target`, per second. Default: 0.16.
    beta: Gain of the change of the delay, per second. Default: 3.2.
    ecn: Whether ECN-capable packets are marked instead of dropped while the probability is 0.25 at most. Default: false.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "pi2")

    limit: Limit | None = None
    target: Time | None = None
    tupdate: Time | None = None
    alpha: float | None = None
    beta: float | None = None
    ecn: bool | None = None


@dataclass(kw_only=True, slots=True)
class Dualpi2(Table):
    """DualPI2 (RFC 9332): a queue of low latency for scalable senders beside a classic one, coupled so that both share alike

    preset: A published set that fills in the keys which are not given; without it the defaults, those of Linux.
    limit: Most that may wait in both queues, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default:
        "10000 p".
    target: Delay that the controller holds the classic queue at. Default: "15 ms".
    tupdate: Time between updates of the probability. Default: "16 ms".
    alpha: Gain of the distance from `target`, per second. Default: 0.16.
    beta: Gain of the change of the delay, per second. Default: 3.2.
    coupling_factor: k: how much likelier a packet of the L queue is marked than the controller says. Default: 2.0.
    step_thresh: Packets of the L queue that have waited for longer are marked. Default: "1 ms".
    step_range: Delay beyond `step_thresh` within which the probability of such a mark rises to 1; 0 is a step. Default: "0 s".
    th_len: Th_len: packets in the L queue, the one that leaves included, up to which `step_thresh` is not looked at. Default: 0.
    min_qlen_step: Waiting packets that the L queue must have when a packet comes for `step_thresh` to be looked at. Default: 0.
    classic_protection: wc: share of the link in percent that the classic queue keeps against the L queue. Default: 10.0.
    drop_enqueue: Whether packets are dropped or marked as they come instead of as they leave. Default: false.
    overflow: Whether an overload fills the queues instead of dropping early. Default: false.
    any_ect: Whether all ECN-capable packets go to the L queue, instead of ECT(1) and CE. Default: false.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "dualpi2")

    preset: Literal["rfc9332"] | None = None
    limit: Limit | None = None
    target: Time | None = None
    tupdate: Time | None = None
    alpha: float | None = None
    beta: float | None = None
    coupling_factor: float | None = None
    step_thresh: Time | None = None
    step_range: Time | None = None
    th_len: int | None = None
    min_qlen_step: int | None = None
    classic_protection: float | None = None
    drop_enqueue: bool | None = None
    overflow: bool | None = None
    any_ect: bool | None = None


@dataclass(kw_only=True, slots=True)
class Blue(Table):
    """BLUE (Feng et al. 2002): a FIFO that drops or marks with a probability that losses raise and an idle link lowers

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default: "1000 p".
    threshold: The probability also grows while more than this waits; without it only when packets are lost.
    increment: By how much the probability grows (delta1). Default: 0.02.
    decrement: By how much it falls (delta2). Default: 0.002.
    freeze_time: Time for which the probability stays after a change. Default: "100 ms".
    ecn: Whether ECN-capable packets are marked instead of dropped. Default: false.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "blue")

    limit: Limit | None = None
    threshold: Limit | None = None
    increment: float | None = None
    decrement: float | None = None
    freeze_time: Time | None = None
    ecn: bool | None = None


@dataclass(kw_only=True, slots=True)
class FqCodel(Table):
    """FQ-CoDel (RFC 8290): flows are hashed to queues that take turns, new ones first, each with a CoDel

    limit: Most that may wait in all queues, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default:
        "10240 p".
    memory_limit: Most bytes that may wait in all queues, beside `limit`. Default: "32 MiB".
    flows: Number of queues to which flows are hashed. Default: 1024.
    quantum: Bytes that a queue may send each turn. Default: "1.514 KB".
    target: Delay that a standing queue may have. Default: "5 ms".
    interval: Time for which the delay of a queue must stay above `target` before a packet is dropped. Default: "100 ms".
    drop_batch: Most packets that the fattest queue loses at once when the limit is passed. Default: 64.
    ecn: Whether ECN-capable packets are marked instead of dropped. Default: true.
    ce_threshold: ECN-capable packets that have waited for longer than this are marked at once, whatever `ecn` says; without it none
        are.
    ce_threshold_selector: Those of them that `ce_threshold` marks, as VALUE/MASK of the DS field: "0x1/0x3" marks ECT(1), the
        packets of L4S, alone.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "fq_codel")

    limit: Limit | None = None
    memory_limit: Size | None = None
    flows: int | None = None
    quantum: Size | None = None
    target: Time | None = None
    interval: Time | None = None
    drop_batch: int | None = None
    ecn: bool | None = None
    ce_threshold: Time | None = None
    ce_threshold_selector: str | None = None


@dataclass(kw_only=True, slots=True)
class FqPie(Table):
    """FQ-PIE as Linux's fq_pie: flows are hashed to queues that take turns, new ones first, each with a PIE

    limit: Most that may wait in all queues, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default:
        "10240 p".
    flows: Number of queues to which flows are hashed. Default: 1024.
    quantum: Bytes that a queue may send each turn. Default: "1.514 KB".
    target: Delay that the controllers hold their queues at. Default: "15 ms".
    tupdate: Time between updates of the probabilities. Default: "15 ms".
    alpha: Gain of the distance from `target`, in sixteenths per second. Default: 2.0.
    beta: Gain of the change of the delay, in sixteenths per second. Default: 20.0.
    ecn: Whether ECN-capable packets are marked instead of dropped while the probability is `ecn_prob` at most. Default: false.
    ecn_prob: Probability in percent up to which packets are marked. Default: 10.0.
    bytemode: Whether the probability of a packet is in proportion to its size. Default: false.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "fq_pie")

    limit: Limit | None = None
    flows: int | None = None
    quantum: Size | None = None
    target: Time | None = None
    tupdate: Time | None = None
    alpha: float | None = None
    beta: float | None = None
    ecn: bool | None = None
    ecn_prob: float | None = None
    bytemode: bool | None = None


@dataclass(kw_only=True, slots=True)
class Cake(Table):
    """The core of CAKE as Linux's cake: queues of flows in sets of eight, each with CoDel and BLUE, behind a shaper

    limit: Most that may wait in all queues (`memlimit` of tc-cake), in bytes ("2 MB"), packets ("100 p") or bandwidth-delay
        products ("1 bdp"); without it four times what `bandwidth` carries in `rtt`, 4 MiB at least and 15.5 MB at most.
    bandwidth: Rate of the shaper, in what queues count (without preamble and gap); without it the link's rate is the only limit.
    rtt: Round-trip time of the usual traffic: the interval of CoDel; its target is a twentieth. Default: "100 ms".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "cake")

    limit: Limit | None = None
    bandwidth: Rate | None = None
    rtt: Time | None = None


@dataclass(kw_only=True, slots=True)
class XcpQueue(Table):
    """XCP (Katabi, Handley and Rohrs 2002): a FIFO that tells senders with congestion control `xcp` how to change their windows

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is
        dropped.
    alpha: Share of the spare capacity that an interval hands out. Default: 0.4.
    beta: Share of the standing queue that an interval takes back. Default: 0.226.
    gamma: Share of the traffic that an interval shuffles between the flows. Default: 0.1.
    queue_time_min: Shortest time after which the standing queue is taken again; with round trips far below it, lower it or queues
        stand. Default: "2 ms".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "xcp")

    limit: Limit | None = None
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    queue_time_min: Time | None = None


@dataclass(kw_only=True, slots=True)
class Fq(Table):
    """Fair queueing (Demers, Keshav and Shenker 1989): packets in the order in which bit-by-bit round robin would finish them

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is
        dropped.
    overflow: Which packet a full queue gives up: `longest` (the last one of the flow that keeps most bytes waiting) or `arriving`.
        Default: "longest".
    active: A flow that asks for its rate (congestion control `explicit_rate`) counts for so long after its last packet, or for its
        round-trip time if that is longer. Default: "100 ms".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "fq")

    limit: Limit | None = None
    overflow: Literal["longest", "arriving"] | None = None
    active: Time | None = None


@dataclass(kw_only=True, slots=True)
class Scfq(Table):
    """Self-clocked fair queueing (Golestani 1994): its virtual time is the finish of the packet in service

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is
        dropped.
    overflow: Which packet a full queue gives up: `longest` (the last one of the flow that keeps most bytes waiting) or `arriving`.
        Default: "longest".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "scfq")

    limit: Limit | None = None
    overflow: Literal["longest", "arriving"] | None = None


@dataclass(kw_only=True, slots=True)
class Drr(Table):
    """Deficit round robin (Shreedhar and Varghese 1995): a quantum for each flow in turn

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is
        dropped.
    quantum: What a flow of weight 1 may send each turn. Default: "1.5 KB".
    buckets: Number of queues to which flows are hashed; without it each flow has its own.
    overflow: Which packet a full queue gives up: `longest` (the last one of the flow that keeps most bytes waiting) or `arriving`.
        Default: "longest".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "drr")

    limit: Limit | None = None
    quantum: Size | None = None
    buckets: int | None = None
    overflow: Literal["longest", "arriving"] | None = None


@dataclass(kw_only=True, slots=True)
class Sfq(Table):
    """Stochastic fair queueing as Linux's sfq: flows are hashed to queues that are served round robin

    limit: Most that may wait in all, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default: "127 p".
    mark_above: An ECN-capable packet that finds more than this waiting is marked (step marking, as of `fifo`); without it nothing
        is.
    quantum: What a bucket may send each turn. Default: "1.514 KB".
    buckets: Buckets to which flows are hashed. Default: 1024.
    flows: Buckets that may have packets at once. Default: 128.
    depth: Packets that may wait in one bucket. Default: 127.
    perturb: Time after which the hash changes; without it never.
    head_drop: The first packet of a bucket is dropped, not the last. Default: false.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "sfq")

    limit: Limit | None = None
    mark_above: Limit | None = None
    quantum: Size | None = None
    buckets: int | None = None
    flows: int | None = None
    depth: int | None = None
    perturb: Time | None = None
    head_drop: bool | None = None


@dataclass(kw_only=True, slots=True)
class Prio(Table):
    """Strict priority between bands, by the `priority` of the traffic

    limit: Most that may wait in each band, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it
        nothing is dropped.
    bands: Number of bands. Default: 8.
    map: Band of each of the eight priorities, 0 first; 0 is the band that is served first. Without it the highest priorities go to
        band 0.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "prio")

    limit: Limit | None = None
    bands: int | None = None
    map: list[int] | None = None


@dataclass(kw_only=True, slots=True)
class Ets(Table):
    """Enhanced transmission selection (IEEE 802.1Qaz): classes of priorities, strict ones first, the others by percentages

    classes: The classes; the strict ones are served in this order. Without it each priority has a class of its own, and all share
        alike. Default: [].
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "ets")

    classes: list[EtsClass | dict[str, Any]] | None = None


@dataclass(kw_only=True, slots=True)
class EtsClass(Table):
    """One class of `ets`.

    priorities: IEEE 802.1Q priorities of the traffic that belong to it.
    strict: Served before all classes that are not strict, and before the strict ones after it. Default: false.
    percent: Least share of what strict classes leave, in per cent; without it an equal part of what the others leave of 100.
    queue: Its queue; any kind but `ets`, `wrr` and `xcp`. Default: { kind = "fifo" }.
    """

    priorities: list[int]
    strict: bool | None = None
    percent: float | None = None
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None


@dataclass(kw_only=True, slots=True)
class Wrr(Table):
    """Weighted round robin by packets between classes of priorities

    classes: The classes, in the order of their turns. Without it each priority has a class of its own, of weight 1. Default: [].
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "wrr")

    classes: list[WrrClass | dict[str, Any]] | None = None


@dataclass(kw_only=True, slots=True)
class WrrClass(Table):
    """One class of `wrr`.

    priorities: IEEE 802.1Q priorities of the traffic that belong to it.
    weight: Packets that it may send in its turn. Default: 1.
    queue: Its queue; any kind but `ets`, `wrr` and `xcp`. Default: { kind = "fifo" }.
    """

    priorities: list[int]
    weight: int | None = None
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None


@dataclass(kw_only=True, slots=True)
class Tbf(Table):
    """Token bucket as Linux's tbf: a FIFO shaped to a rate with a burst

    rate: Rate at which tokens come. Default: "1 Mbps".
    burst: Most tokens that the bucket holds. Default: "15.14 KB".
    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it by `latency`.
    mark_above: An ECN-capable packet that finds more than this waiting is marked (step marking, as of `fifo`); without it nothing
        is.
    latency: Longest time that a packet may wait for tokens, in place of a limit. Default: "50 ms".
    peak_rate: Rate at which even a full bucket is emptied; without it that of the port.
    mtu: Bucket of the peak rate. Default: "1.518 KB".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "tbf")

    rate: Rate | None = None
    burst: Size | None = None
    limit: Limit | None = None
    mark_above: Limit | None = None
    latency: Time | None = None
    peak_rate: Rate | None = None
    mtu: Size | None = None


@dataclass(kw_only=True, slots=True)
class Trim(Table):
    """Trimming (Handley et al. 2017): a packet that does not fit loses its payload, and its header goes first

    limit: Most data that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"). Default: "1 bdp".
    headers: Most that may wait of headers and control packets; without it twice `limit`.
    trimmed: Size of a trimmed packet, its IP header included. Default: "64 B".
    arriving: Probability that the packet that comes is trimmed, and not the one that came last. Default: 0.5.
    min: Waiting data from which packets are marked; without it none is.
    max: Waiting data from which all packets are marked; without it `min`.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "trim")

    limit: Limit | None = None
    headers: Limit | None = None
    trimmed: Size | None = None
    arriving: float | None = None
    min: Limit | None = None
    max: Limit | None = None


@dataclass(slots=True)
class Periodic(Table):
    """Every N-th packet is lost. With `packets = "data"` only new data is counted, no retransmissions."""

    _wrap: ClassVar[str | None] = "periodic"
    _single: ClassVar[bool] = True

    periodic: int


@dataclass(slots=True)
class Bernoulli(Table):
    """Each packet is lost with this probability."""

    _wrap: ClassVar[str | None] = "bernoulli"
    _single: ClassVar[bool] = True

    bernoulli: float


@dataclass(kw_only=True, slots=True)
class GilbertElliott(Table):
    """Packets are lost in bursts (Gilbert 1960, Elliott 1963).

    to_bad: Probability that a good link turns bad.
    to_good: Probability that a bad link turns good.
    loss_bad: Loss probability while bad. Default: 1.0.
    loss_good: Loss probability while good. Default: 0.0.
    """

    _wrap: ClassVar[str | None] = "gilbert_elliott"
    _single: ClassVar[bool] = False

    to_bad: float
    to_good: float
    loss_bad: float | None = None
    loss_good: float | None = None


@dataclass(slots=True)
class Listed(Table):
    """The packets with these ordinals, from 1, are lost. With `packets = "data"` only new data is counted, no retransmissions."""

    _wrap: ClassVar[str | None] = "listed"
    _single: ClassVar[bool] = True

    listed: list[int]


@dataclass(kw_only=True, slots=True)
class Star(Table):
    """Clients and servers around one switch

    clients: Hosts `client[0]`, `client[1]` ...
    rate: Rate of all links.
    servers: Hosts `server[0]` ...; with 1 (the default) it is called `server`, with 0 there is none. Default: 1.
    delay: Delay of the clients' links, one way. Default: "10 us".
    server_rate: Rate of the servers' links, if it differs.
    server_delay: Delay of the servers' links, one way. Default: "10 us".
    queue: Queue of the switch's ports. Default: { kind = "fifo" }.
    framing: Framing of all links. Default: "ethernet".
    preset: A known switch.
    memory: Bytes that the switch's ports share.
    alpha: Dynamic threshold: an egress port of the switch holds at most this times what is free of `memory`.
    latency: Forwarding latency of the switch. Default: "0 s".
    flow_control: What the switch does before its buffers are full. Default: { kind = "none" }.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "star")

    clients: int
    rate: Rate
    servers: int | None = None
    delay: Time | Linear | Uniform | LinkTrace | dict[str, Any] | None = None
    server_rate: Rate | None = None
    server_delay: Time | Linear | Uniform | LinkTrace | dict[str, Any] | None = None
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    framing: Literal["ethernet", "ppp", "none"] | None = None
    preset: (
        Literal[
            "shared48k",
            "shared48k-decimal",
            "shared48k-pause",
            "shared48k-pause-strict",
            "egress150k-pause",
            "egress150k-pause-strict",
            "ingress97k-pfc",
        ]
        | None
    ) = None
    memory: Size | None = None
    alpha: float | None = None
    latency: Time | None = None
    flow_control: NoFlowControl | Pause | Pfc | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class NoFlowControl(Table):
    """Frames that do not fit are dropped."""

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "none")


@dataclass(kw_only=True, slots=True)
class Pause(Table):
    """IEEE 802.3x PAUSE (Annex 31B): stops all that a neighbour sends.

    xoff: PAUSE is sent when the occupancy reaches this.
    xon: Transmission is resumed (PAUSE with time 0) when the occupancy has fallen to this.
    per: What is counted. Default: "memory".
    quanta: `pause_time` of a PAUSE, in quanta of 512 bit times. [assumed: the largest, as common switches send] Default: 65535.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "pause")

    xoff: Size
    xon: Size
    per: Literal["memory", "egress", "ingress"] | None = None
    quanta: int | None = None


@dataclass(kw_only=True, slots=True)
class Pfc(Table):
    """Priority-based flow control (IEEE 802.1Qbb): stops single priorities of what a neighbour sends.

    priorities: The lossless priorities; frames of the others are dropped when they do not fit. Default: [0, 1, 2, 3, 4, 5, 6, 7].
    per: What is counted. Default: "ingress".
    xoff: A priority is paused when so much of it is there.
    xon: It is resumed when its bytes have fallen to this; without it two full frames (3036 B) below `xoff`.
    alpha: Instead of `xoff`: a priority of a port is paused when it has this times what is free of the shared memory (Choudhury and
        Hahne 1998).
    headroom: Memory of each lossless priority of each port for what still arrives after the pause is decided; without it what its
        link needs in the worst case.
    watchdog: What waits of a priority that a neighbour has paused for longer than this is dropped, and pauses of it are ignored
        until none has come for as long; without it never.
    quanta: Time of a pause, in quanta of 512 bit times. [assumed: the largest, as common switches send] Default: 65535.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "pfc")

    priorities: list[int] | None = None
    per: Literal["ingress", "egress"] | None = None
    xoff: Size | None = None
    xon: Size | None = None
    alpha: float | None = None
    headroom: Size | None = None
    watchdog: Time | None = None
    quanta: int | None = None


@dataclass(kw_only=True, slots=True)
class Path(Table):
    """Two hosts joined by a chain of links with switches between them

    hops: The links from the sender to the receiver, two at least, as in `[{ rate = "10 Gbps", delay = "0 s" }, { rate = "1 Gbps",
        delay = "98 ms" }]`.
    framing: Framing of all links. Default: "ethernet".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "path")

    hops: list[Hop | dict[str, Any]]
    framing: Literal["ethernet", "ppp", "none"] | None = None


@dataclass(kw_only=True, slots=True)
class Hop(Table):
    """One link of a path.

    rate: Rate of the link: a rate, or `{ trace = "file" }`.
    delay: Delay of the link, one way: a time, or `{ trace = "file.csv" }`.
    queue: Queue of the port that sends into this link towards the receiver. Default: { kind = "fifo" }.
    loss: Packets lost by the link on the way to the receiver. Default: "none".
    packets: Which packets the loss concerns: `all`, or `data`, those that carry data. Default: "all".
    """

    rate: Rate | LinkTrace | dict[str, Any]
    delay: Time | Linear | Uniform | LinkTrace | dict[str, Any]
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    loss: Literal["none"] | Periodic | Bernoulli | GilbertElliott | Listed | LinkTrace | dict[str, Any] | None = None
    packets: Literal["all", "data"] | None = None


@dataclass(kw_only=True, slots=True)
class ParkingLot(Table):
    """A chain of bottlenecks: one pair of hosts across all of them, and one pair across each

    hops: Links between the switches, each a bottleneck with a pair of hosts of its own.
    rate: Rate of each bottleneck link.
    delay: Delay of each bottleneck link, one way.
    queue: Queue at each bottleneck, in both directions. Default: { kind = "fifo" }.
    loss: Packets lost by each bottleneck link on the way to the receivers. Default: "none".
    packets: Which packets the loss concerns: `all`, or `data`, those that carry data. Default: "all".
    access_rate: Rate of the access links. Default: "10 Gbps".
    access_delay: Delay of the access links, one way and on each side. Default: "10 us".
    cross_delay: Delay of the cross pairs' access links, if it differs; a spread gives the i-th pair the i-th value on both sides.
    framing: Framing of all links. Default: "ethernet".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "parking-lot")

    hops: int
    rate: Rate
    delay: Time
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    loss: Literal["none"] | Periodic | Bernoulli | GilbertElliott | Listed | LinkTrace | dict[str, Any] | None = None
    packets: Literal["all", "data"] | None = None
    access_rate: Rate | None = None
    access_delay: Time | None = None
    cross_delay: Time | Linear | Uniform | LinkTrace | dict[str, Any] | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None


@dataclass(kw_only=True, slots=True)
class FatTree(Table):
    """A k-ary fat-tree: k pods of edge and aggregation switches under a core

    k: Ports of a switch, an even number: 4 makes 16 hosts, 8 makes 128.
    rate: Rate of all links.
    delay: Delay of all links, one way.
    hosts_per_edge: Hosts below an edge switch, if they are not k / 2: twice as many oversubscribe the fabric 2:1.
    core_rate: Rate of the links between aggregation and core switches, if it differs.
    slow_links: Links between aggregation and core switches that run at `slow_rate`, in both directions: the first ones, in the
        order of the aggregation switches.
    slow_rate: Rate of slow links; without it a tenth of `rate`.
    queue: Queue of all ports of switches; those of hosts are without limit. Default: { kind = "fifo" }.
    host_queue: Queue of the ports of edge switches towards hosts, if it differs.
    bdp_rtt: What a bdp is in the limits of queues: their rate times this; without it their rate times the mean round-trip time of
        the flows.
    framing: Framing of all links. Default: "ethernet".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "fat-tree")

    k: int
    rate: Rate
    delay: Time
    hosts_per_edge: int | None = None
    core_rate: Rate | None = None
    slow_links: int | None = None
    slow_rate: Rate | None = None
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    host_queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    bdp_rtt: Time | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None


@dataclass(kw_only=True, slots=True)
class LeafSpine(Table):
    """Leaf switches with hosts, each joined to every spine switch

    leaves: Leaf switches.
    spines: Spine switches: so many paths are between two leaves.
    hosts_per_leaf: Hosts of a leaf.
    rate: Rate of the hosts' links.
    delay: Delay of all links, one way.
    spine_rate: Rate of the links between leaves and spines, if it differs.
    rails: Whether the hosts are dealt out to the leaves in turn, so that each leaf is a rail: `host[i]` is below `leaf[i mod
        leaves]`.
    slow_links: Links between leaves and spines that run at `slow_rate`, in both directions: the first ones, in the order of the
        leaves.
    slow_rate: Rate of slow links; without it a tenth of `spine_rate`, or of `rate`.
    queue: Queue of all ports of switches; those of hosts are without limit. Default: { kind = "fifo" }.
    host_queue: Queue of the ports of leaves towards hosts, if it differs.
    bdp_rtt: What a bdp is in the limits of queues: their rate times this; without it their rate times the mean round-trip time of
        the flows.
    framing: Framing of all links. Default: "ethernet".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "leaf-spine")

    leaves: int
    spines: int
    hosts_per_leaf: int
    rate: Rate
    delay: Time
    spine_rate: Rate | None = None
    rails: bool | None = None
    slow_links: int | None = None
    slow_rate: Rate | None = None
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    host_queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    bdp_rtt: Time | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None


@dataclass(kw_only=True, slots=True)
class Host(Table):
    """One host, or a group of equal hosts.

    count: Hosts in the group, called `NAME[0]`, `NAME[1]` ...; without it there is one, called `NAME`.
    stack: TCP stack; without it the scenario's `stack`.
    tcp: TCP options, over those of the stack and of the scenario.
    pause: How the hosts' ports react to PAUSE frames. Default: { obey = true, response_quanta = 10 }.
    transmit: What stands between TCP and the wire on the way out, at each port of the host; without it nothing does.
    receive: What packets go through on the way in: ring, interrupts, backlog, reader; without it nothing.
    cpu: What packets cost the host's processor; without it nothing.
    disk: Each host's disk, which traffic of kind `disk-copy` reads and writes; without it files are read and written at once.
    """

    count: int | None = None
    stack: Literal["rfc", "winxp", "linux-2.4", "linux", "windows", "freebsd"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    pause: PauseReaction | dict[str, Any] | None = None
    transmit: Transmit | dict[str, Any] | None = None
    receive: Receive | dict[str, Any] | None = None
    cpu: Cpu | dict[str, Any] | None = None
    disk: Disk | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class PauseReaction(Table):
    """How a station reacts to a received PAUSE.

    obey: Whether received PAUSE frames are obeyed. Default: true.
    response_quanta: Quanta of 512 bit times from the receipt of a PAUSE until no new frame starts; 802.3 allows 60 at 10 Gb/s.
        [assumed] Default: 10.
    """

    obey: bool | None = None
    response_quanta: int | None = None


@dataclass(kw_only=True, slots=True)
class Transmit(Table):
    """The transmit side of a host: what each of its ports holds, and how its devices send.

    txqueuelen: Packets that the queue in front of the driver holds (`ip link set txqueuelen`): 100 in Linux 2.4, 1000 since 2.6.
        Default: "1000 p".
    ring: Packets that the ring of the driver holds (`ethtool -G tx`). [assumed: that of an e1000] Default: "256 p".
    pacing: The device sends no faster than this: between the starts of two frames is the time of the first at this rate.
    gap: The device leaves the wire idle for so long after each frame, beyond the gap of Ethernet.
    burst: Segments leave TCP in bursts of up to so many bytes of payload, and a burst is one packet to queue and ring (TSO).
    small_queues: TCP small queues (Linux since 3.6): a socket stops while more of its data than is sent in a millisecond, so many
        bytes at most, are in queue, ring and device (`tcp_limit_output_bytes`: 128 KiB in Linux 3.6, 256 KiB in 4.x, 1 MiB from
        5.0, 4 MiB from 6.16).
    delay: From the ring to the wire, beyond the transmission. Default: "0 s".
    """

    txqueuelen: Count | None = None
    ring: Count | None = None
    pacing: Rate | None = None
    gap: Time | None = None
    burst: Size | None = None
    small_queues: Size | None = None
    delay: Time | None = None


@dataclass(kw_only=True, slots=True)
class Receive(Table):
    """What a host does with the frames that come in.

    delay: From the last bit of a frame to the ring. What is RoCE's does not go this way. Default: "0 s".
    ring: Descriptors of the interface's receive ring: frames that wait for an interrupt. Default: "256 p".
    coalesce: Time from the first frame that waits to the interrupt (ethtool's `rx-usecs`). Default: "0 s".
    coalesce_frames: Frames that cause the interrupt at once, before `coalesce` is over (ethtool's `rx-frames`); 0: any number
        waits. Default: 0.
    interrupts_per_s: Interrupts a second at most; 0: no limit. Default: 8000.
    napi: Whether the softirq takes frames straight from the ring (NAPI), so that there is no backlog. Default: false.
    backlog: Packets that may wait between interrupt and softirq (`netdev_max_backlog`); without NAPI. Default: "300 p".
    backlog_full: What happens when it is full. Default: "throttle".
    gro: Whether consecutive segments of a connection that wait in the ring are given to TCP as one (GRO); with NAPI. Default:
        false.
    reader: Rate at which an application reads each socket; without it everything is read at once.
    reader_block: Most that it reads at once; with `reader`. [assumed] Default: "64 KiB".
    udp_buffer: Payload that a UDP socket holds for the reader; with `reader`. Default: "65.535 KB".
    """

    delay: Time | None = None
    ring: Count | None = None
    coalesce: Time | None = None
    coalesce_frames: int | None = None
    interrupts_per_s: int | None = None
    napi: bool | None = None
    backlog: Count | None = None
    backlog_full: Literal["throttle", "drop", "hold"] | None = None
    gro: bool | None = None
    reader: Rate | None = None
    reader_block: Size | None = None
    udp_buffer: Size | None = None


@dataclass(kw_only=True, slots=True)
class Cpu(Table):
    """What packets cost the processor of a host.

    transmit: A segment, ACK or datagram sent. [assumed] Default: "3 us".
    interrupt: A frame that an interrupt takes from the ring, also if it is dropped then. [assumed] Default: "3 us".
    receive: A packet with payload that the protocol gets, beyond `interrupt`. [assumed] Default: "2 us".
    ack: A packet without payload (an ACK), beyond `interrupt`. [assumed] Default: "2 us".
    sack: What each SACK block of an ACK makes the sender walk through. Default: "full".
    segment: A segment on that walk: 100 ns in 2003, 40 ns in 2017. [assumed] Default: "100 ns".
    logger: Interval of a logger at user level, of lowest priority, whose gaps are recorded; without it there is none.
    """

    transmit: Time | None = None
    interrupt: Time | None = None
    receive: Time | None = None
    ack: Time | None = None
    sack: Literal["full", "fastpath", "none"] | None = None
    segment: Time | None = None
    logger: Time | None = None


@dataclass(kw_only=True, slots=True)
class Disk(Table):
    """A disk or an array of disks: one of `profile`; `read` and `write`; `disks` and `disk_rate`.

    profile: A measured array by name (`elephan list disks`), or a file written by `elephan measure disk`, whose path starts in the
        folder of the scenario file.
    raid: RAID level of a named profile or of `disks`; without it `raid5` for a profile, `raid0` for `disks`.
    disks: Equal disks in the array, whose rates then follow from `disk_rate` by the arithmetic of its RAID level.
    disk_rate: Sequential rate of one of `disks`.
    chunk: Bytes of an array that lie together on one of `disks`. [assumed: 64 KiB]
    controller: Most that the controller of `disks` carries; without it there is no bound.
    read: Rate of sequential reads with a long read-ahead, over that of the profile or of the array.
    write: Rate of sequential writes, over that of the profile or of the array.
    read_points: Measured rates of sequential reads for some read-ahead windows, in place of `read`.
    read_ahead: Read-ahead window, the most that is asked of the disk at once; without it the disk reads at its full rate. Linux 2.4
        has 31 pages (124 KiB) in /proc/sys/vm/max-readahead, later kernels 128 KiB in /sys/block/NAME/queue/read_ahead_kb.
    block: Least that is asked of the disk at once. [assumed] Default: "256 KiB".
    latency: What each request for a read-ahead window costs beside its bytes. [assumed] Default: "1 ms".
    cache: Write-back cache; a write is over when it is in there. "0 B": each write waits for the disk. [assumed] Default: "256 MB".
    """

    profile: str | None = None
    raid: Literal["raid0", "raid5"] | None = None
    disks: int | None = None
    disk_rate: Rate | None = None
    chunk: Size | None = None
    controller: Rate | None = None
    read: Rate | None = None
    write: Rate | None = None
    read_points: list[ReadPoint | dict[str, Any]] | None = None
    read_ahead: Size | None = None
    block: Size | None = None
    latency: Time | None = None
    cache: Size | None = None


@dataclass(kw_only=True, slots=True)
class ReadPoint(Table):
    """A measured rate of sequential reads.

    read_ahead: The read-ahead window.
    rate: The rate with it.
    """

    read_ahead: Size
    rate: Rate


@dataclass(kw_only=True, slots=True)
class Switch(Table):
    """One switch, or a group of equal switches.

    count: Switches in the group, called `NAME[0]`, `NAME[1]` ...; without it there is one, called `NAME`.
    preset: A known switch that fills in the keys which are not given.
    memory: Bytes that all ports share, a frame charged from its last bit in to its last bit out; without it only the queues' own
        limits hold.
    cell: Size of the cells that the memory is given out in: a frame is charged whole cells; without it its bytes.
    alpha: Dynamic threshold: an egress port holds at most this times what is free of `memory`; without it a port may hold all of
        the memory. Not with `flow_control`.
    latency: From the last bit in to the egress queue, beyond store and forward. Default: "0 s".
    flow_control: What the switch does before its buffers are full. Default: { kind = "none" }.
    pause: How the switch's ports react to PAUSE frames. Default: { obey = true, response_quanta = 10 }.
    """

    count: int | None = None
    preset: (
        Literal[
            "shared48k",
            "shared48k-decimal",
            "shared48k-pause",
            "shared48k-pause-strict",
            "egress150k-pause",
            "egress150k-pause-strict",
            "ingress97k-pfc",
        ]
        | None
    ) = None
    memory: Size | None = None
    cell: Size | None = None
    alpha: float | None = None
    latency: Time | None = None
    flow_control: NoFlowControl | Pause | Pfc | dict[str, Any] | None = None
    pause: PauseReaction | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class NoCongestionManagement(Table):
    """No notifications."""

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "none")


@dataclass(kw_only=True, slots=True)
class Qcn(Table):
    """Quantized Congestion Notification (IEEE 802.1Qau).

    preset: A published set that fills in the keys which are not given; without it the defaults, those of 802.1Qau.
    set_point: Set point of the queue (Qeq). Default: "26 KB".
    page: Unit in which the queue is counted, rounded down. Default: "1 B".
    weight: Weight of the change of the queue (W). Default: 2.0.
    sampling: How the distance to the next sample follows from the feedback. Default: "table".
    sample_base: Bytes between samples of an uncongested queue, of `sampling = "table"`. Default: "150 KB".
    probability: Probabilities with the least and the most feedback, of the other two. Default: [0.01, 0.1].
    jitter: Distances to samples and cycles are drawn within so much of their mean. Default: 0.15.
    gain: Decrease for a unit of feedback (Gd). Default: 0.0078125.
    decrease_max: Largest decrease by one notification (d). Default: 0.5.
    rate_min: Least rate of a limiter (Rmin). Default: "5 Mbps".
    cycle_bytes: Bytes of a cycle (BC). Default: "150 KB".
    cycle_time: Time of a cycle (T); 0 s is none. Default: "15 ms".
    cycle_by_rate: Whether the bytes of a cycle go with the rate: `cycle_bytes` times current rate over line rate, 1500 at least.
        Default: false.
    fast_recovery: Cycles of fast recovery (F). Default: 5.
    active_increase: Step of active increase. Default: "5 Mbps".
    hyper_active_increase: Step of hyper-active increase. Default: "50 Mbps".
    hyper_active_span: Without a timer (`cycle_time` 0 s): time that counts as one of its cycles for hyper-active increase, with
        `hyper_active_frames` frames sent; 0 s is no such increase. Default: "0 s".
    hyper_active_frames: See `hyper_active_span`. Default: 100.
    start_rate: Rate at which a limiter starts, before the cut of its first notification; the line rate unless given.
    half_cycles: Which cycles are half as long. Default: "after-fast-recovery".
    keep_target: A notification before the first cycle of bytes has ended leaves the target rate (extra fast recovery). Default:
        true.
    drift_factor: Every `drift_period` (0 s is never) a limited rate is multiplied by this. Default: 1.0005.
    drift_period: See `drift_factor`. Default: "0 s".
    fair: Whether feedback goes by what each source sends. Default: "none".
    fair_alpha: What the share of a source counts beside the queue, of `fair = "af-qcn"`. Default: 0.5.
    fair_memory: Part of the bytes counted for each source that a sample leaves. Default: 0.5.
    fbhat: "Fb hat" of 2007: taken as the quantised feedback, which both the sampling and the notification go by in any case.
        Default: false.
    efr_max: "EFR Max" of 2007. What it bounds is not known: without effect.
    notification: Frame of a notification, 64 B to 1518 B: 64 without a part of the sampled frame, 114 with 64 bytes of it. Default:
        "64 B".
    per: What a limiter is for. Default: "pair".
    limit_acks: Whether frames without payload wait behind their limiter too. Default: false.
    stop_at: With more than this behind a limiter the TCP senders that feed it are stopped, until half of it is left. Default: "64
        KB".
    limiter_limit: Most of what cannot be stopped (datagrams, frames) that waits behind one limiter, in bytes or packets; the
        `host_queue` limit of the host's port unless given. What waits before the port's ordinary queue or behind another limiter
        does not count.
    tag: Bytes by which the tag of a limited flow lengthens its frames; that of 802.1Qau has 4. Default: "0 B".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "qcn")

    preset: Literal["802.1Qau", "seed-2007", "hoti-2011", "hoti-2011-high"] | None = None
    set_point: Size | None = None
    page: Size | None = None
    weight: float | None = None
    sampling: Literal["table", "probability", "bernoulli"] | None = None
    sample_base: Size | None = None
    probability: list[float] | None = None
    jitter: float | None = None
    gain: float | None = None
    decrease_max: float | None = None
    rate_min: Rate | None = None
    cycle_bytes: Size | None = None
    cycle_time: Time | None = None
    cycle_by_rate: bool | None = None
    fast_recovery: int | None = None
    active_increase: Rate | None = None
    hyper_active_increase: Rate | None = None
    hyper_active_span: Time | None = None
    hyper_active_frames: int | None = None
    start_rate: Rate | None = None
    half_cycles: Literal["after-fast-recovery", "hyper-active"] | None = None
    keep_target: bool | None = None
    drift_factor: float | None = None
    drift_period: Time | None = None
    fair: Literal["none", "af-qcn", "fqcn"] | None = None
    fair_alpha: float | None = None
    fair_memory: float | None = None
    fbhat: bool | None = None
    efr_max: int | None = None
    notification: Size | None = None
    per: Literal["pair", "flow"] | None = None
    limit_acks: bool | None = None
    stop_at: Size | None = None
    limiter_limit: Limit | None = None
    tag: Size | None = None


@dataclass(kw_only=True, slots=True)
class Ecm(Table):
    """Ethernet Congestion Management, QCN's rival until 2007.

    set_point: Set point of the queue (Qeq). Default: "24 KB".
    page: Unit in which the queue is counted, rounded down. Default: "64 B".
    weight: Weight of the change of the queue (W). Default: 2.0.
    sample_bytes: Bytes between samples. Default: "75 KB".
    increase_gain: Increase for a unit of feedback, in `rate_unit` (Gi). Default: 0.53333.
    gi_unit: What an increase counts. Default: "raw".
    positive_when: When a positive notification is sent. Default: "feedback".
    decrease_gain: Decrease for a unit of feedback in six bits (Gd). Default: 0.0078125.
    rate_unit: Unit of increases (Ru). Default: "1 Mbps".
    rate_min: Least rate of a limiter (Rmin). Default: "1 Mbps".
    start_rate: Rate at which a limiter starts, before the cut of its first notification; the line rate unless given.
    drift: Increase by itself (Rd), every `drift_period`. Default: "1 Mbps".
    drift_period: Td; 0 s is never. Default: "1 ms".
    max_above: A queue above this gives the most negative feedback.
    zero_above: A queue above this stops sources.
    zero_time: A stopped source waits for a time drawn uniformly up to this. Default: "1 ms".
    oversample_above: A queue above this is sampled every `oversample_bytes`.
    oversample_bytes: See `oversample_above`. Default: "15 KB".
    notification: Frame of a notification, 64 B to 1518 B: 64 without a part of the sampled frame, 114 with 64 bytes of it. Default:
        "64 B".
    per: What a limiter is for. Default: "pair".
    limit_acks: Whether frames without payload wait behind their limiter too. Default: false.
    stop_at: With more than this behind a limiter the TCP senders that feed it are stopped, until half of it is left. Default: "64
        KB".
    limiter_limit: Most of what cannot be stopped (datagrams, frames) that waits behind one limiter, in bytes or packets; the
        `host_queue` limit of the host's port unless given. What waits before the port's ordinary queue or behind another limiter
        does not count.
    tag: Bytes by which the tag of a limited flow lengthens its frames; that of 802.1Qau has 4. Default: "0 B".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "ecm")

    set_point: Size | None = None
    page: Size | None = None
    weight: float | None = None
    sample_bytes: Size | None = None
    increase_gain: float | None = None
    gi_unit: Literal["raw", "q6"] | None = None
    positive_when: Literal["feedback", "below-set-point"] | None = None
    decrease_gain: float | None = None
    rate_unit: Rate | None = None
    rate_min: Rate | None = None
    start_rate: Rate | None = None
    drift: Rate | None = None
    drift_period: Time | None = None
    max_above: Size | None = None
    zero_above: Size | None = None
    zero_time: Time | None = None
    oversample_above: Size | None = None
    oversample_bytes: Size | None = None
    notification: Size | None = None
    per: Literal["pair", "flow"] | None = None
    limit_acks: bool | None = None
    stop_at: Size | None = None
    limiter_limit: Limit | None = None
    tag: Size | None = None


@dataclass(kw_only=True, slots=True)
class Link(Table):
    """Full-duplex links between two nodes or groups of nodes.

    between: Both ends: a group (`"client"`: all its members), a member (`"client[2]"`, counted from 0) or some (`"client[0-3]"`,
        both included).
    rate: Rate on the wire, each way: a rate, or `{ trace = "file" }`, which varies during the run.
    delay: Propagation delay, each way: a time, `{ linear = ["1 ms", "5 ms"] }` spread evenly over the links of this entry, `{
        uniform = ["1 ms", "5 ms"] }` drawn for each, or `{ trace = "file.csv" }`, which varies during the run.
    pairing: Which members are joined. Default: "auto".
    framing: How packets are framed: what the wire and the queues carry beside the IP packet. Default: "ethernet".
    mtu: Largest IP packet that the link carries, header included, each way. Larger packets are dropped at the port
        (`mtu_exceeded`). Without it the link carries every packet. That of a host's link also bounds the MSS of the host.
    up: Whether the link carries anything. A link that goes down loses what is on the wire, drops what waits at both ports and what
        comes to them (`link_down`), and forgets received PAUSE. It is up or down both ways. Default: true.
    packets: Which packets `loss`, `reorder`, `duplicate`, `mark` and `jitter` concern: `all`, or `data`, those that carry data.
        Default: "all".
    loss: Packets lost by the link itself, each way. Default: "none".
    reorder: Packets that the link holds back so that later ones overtake them, each way.
    duplicate: Share of the packets that arrive twice, each way.
    mark: ECN-capable packets that the link marks by itself (CE), each way; the same words as of `loss`. Default: "none".
    jitter: Extra delay of every packet, drawn for each, each way.
    queue: Queue of the switch ports of these links (both, if both ends are switches). Without a limit it is bounded only by the
        switch's memory. Default: { kind = "fifo" }.
    host_queue: Queue of the hosts' ports: no limit unless given. Default: { kind = "fifo" }.
    bdp_rtt: The round-trip time that `"1 bdp"` refers to; without it the mean base RTT of the flows that cross the link.
    forward: What differs from the first end to the second.
    backward: What differs from the second end to the first.
    ports: What single ones of these ports have of their own, by the name that they have in tables: `{ "sw->client[0]" = { rate = "2
        Gbps" } }`; members may be ranges (`"sw->client[0-3]"`). Overrides and changes may leave the entry out:
        `links.sw->client[0].rate`.
    """

    between: list[str]
    rate: Rate | LinkTrace | dict[str, Any]
    delay: Time | Linear | Uniform | LinkTrace | dict[str, Any]
    pairing: Literal["auto", "all", "blocks", "cyclic"] | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None
    mtu: Size | None = None
    up: bool | None = None
    packets: Literal["all", "data"] | None = None
    loss: Literal["none"] | Periodic | Bernoulli | GilbertElliott | Listed | LinkTrace | dict[str, Any] | None = None
    reorder: Reorder | dict[str, Any] | None = None
    duplicate: float | None = None
    mark: Literal["none"] | Periodic | Bernoulli | GilbertElliott | Listed | LinkTrace | dict[str, Any] | None = None
    jitter: Jitter | dict[str, Any] | None = None
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    host_queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    bdp_rtt: Time | None = None
    forward: Direction | dict[str, Any] | None = None
    backward: Direction | dict[str, Any] | None = None
    ports: dict[str, Direction | dict[str, Any]] | None = None


@dataclass(kw_only=True, slots=True)
class Reorder(Table):
    """Packets that a link holds back, each by itself.

    share: Share of the packets that are held back.
    extra: How much later they arrive: a time, or a distribution that is drawn from for each. Longer than the gap between packets,
        or nothing overtakes them.
    """

    share: float
    extra: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]


@dataclass(slots=True)
class Fixed(Table):
    """Always this value."""

    _wrap: ClassVar[str | None] = "fixed"
    _single: ClassVar[bool] = True

    fixed: str


@dataclass(slots=True)
class Exponential(Table):
    """Exponential with this mean."""

    _wrap: ClassVar[str | None] = "exponential"
    _single: ClassVar[bool] = True

    exponential: str


@dataclass(kw_only=True, slots=True)
class Pareto(Table):
    """Pareto: heavy tail.

    shape: Tail exponent: P(X > x) = (scale / x)^shape. Above 1 for a finite mean, above 2 for a finite variance.
    mean: The mean; needs shape > 1.
    scale: The least value.
    """

    _wrap: ClassVar[str | None] = "pareto"
    _single: ClassVar[bool] = False

    shape: float
    mean: str | None = None
    scale: str | None = None


@dataclass(kw_only=True, slots=True)
class Lognormal(Table):
    """Log-normal.

    sigma: Standard deviation of the natural logarithm.
    median: The median.
    mean: The mean.
    """

    _wrap: ClassVar[str | None] = "lognormal"
    _single: ClassVar[bool] = False

    sigma: float
    median: str | None = None
    mean: str | None = None


@dataclass(slots=True)
class Cdf(Table):
    """Empirical, linear between its points."""

    _wrap: ClassVar[str | None] = "cdf"
    _single: ClassVar[bool] = True

    cdf: str | list[list[Any]]


@dataclass(kw_only=True, slots=True)
class Jitter(Table):
    """Extra delay of every packet.

    extra: The distribution of the extra delay, beside the link's own.
    order: Whether packets stay in order. Default: "keep".
    """

    extra: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]
    order: Literal["keep", "free"] | None = None


@dataclass(kw_only=True, slots=True)
class Direction(Table):
    """What one direction of a link has of its own; a queue given here counts for a host's port too.

    rate: Rate on the wire.
    delay: Propagation delay.
    mtu: Largest IP packet that this direction carries, header included.
    up: Of one of `ports` only: whether its link carries anything, both ways.
    packets: Which packets `loss`, `reorder`, `duplicate`, `mark` and `jitter` concern.
    loss: Packets lost by the link itself.
    reorder: Packets that the link holds back so that later ones overtake them.
    duplicate: Share of the packets that arrive twice.
    mark: ECN-capable packets that the link marks by itself (CE).
    jitter: Extra delay of every packet, drawn for each.
    queue: Queue of the port that sends in this direction.
    bdp_rtt: The round-trip time that `"1 bdp"` refers to.
    """

    rate: Rate | LinkTrace | dict[str, Any] | None = None
    delay: Time | Linear | Uniform | LinkTrace | dict[str, Any] | None = None
    mtu: Size | None = None
    up: bool | None = None
    packets: Literal["all", "data"] | None = None
    loss: Literal["none"] | Periodic | Bernoulli | GilbertElliott | Listed | LinkTrace | dict[str, Any] | None = None
    reorder: Reorder | dict[str, Any] | None = None
    duplicate: float | None = None
    mark: Literal["none"] | Periodic | Bernoulli | GilbertElliott | Listed | LinkTrace | dict[str, Any] | None = None
    jitter: Jitter | dict[str, Any] | None = None
    queue: (
        Fifo
        | Codel
        | Pie
        | Red
        | Pi2
        | Dualpi2
        | Blue
        | FqCodel
        | FqPie
        | Cake
        | XcpQueue
        | Fq
        | Scfq
        | Drr
        | Sfq
        | Prio
        | Ets
        | Wrr
        | Tbf
        | Trim
        | dict[str, Any]
        | None
    ) = None
    bdp_rtt: Time | None = None


@dataclass(kw_only=True, slots=True)
class Bulk(Table):
    """One stream of bytes as fast as TCP takes it: endless, or of a given size.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    size: Bytes to send on each connection, which then closes. Without it the stream is endless.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "bulk")

    from_: str | list[str]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    size: Size | None = None


@dataclass(kw_only=True, slots=True)
class Roce(Table):
    """Options of RoCE connections.

    mtu: Payload of a full packet. Default: "1 KB".
    ack_every: Packets in order for one acknowledgement; the last packet of a message, and the last that a window allows, is
        acknowledged at once. Default: 1.
    window: Most that may be in flight, payload, beside what the congestion control says; without it there is no such limit.
    timeout: Without an acknowledgement for so long the sender goes back to the first packet that has none. Default: "4 ms".
    recovery: What happens to packets that come out of order: `go-back-n` or `selective-repeat`. Default: "go-back-n".
    reordering: How many packets may overtake one before selective repeat takes it for lost; where packets are sprayed over paths
        that differ, more than 0. Default: 0.
    nak_interval: A missing packet is reported again after so long. Default: "500 us".
    cnp_interval: Least time between two congestion notifications of a flow; unless given, what the congestion control needs: its
        `decrease_interval` if it has a shorter one, else 50 us.
    ecn: Whether data is ECN-capable, and marks are answered by notifications. Default: true.
    """

    mtu: Size | None = None
    ack_every: int | None = None
    window: Size | None = None
    timeout: Time | None = None
    recovery: Literal["go-back-n", "selective-repeat"] | None = None
    reordering: int | None = None
    nak_interval: Time | None = None
    cnp_interval: Time | None = None
    ecn: bool | None = None


@dataclass(kw_only=True, slots=True)
class Uec(Table):
    """Options of connections of Ultra Ethernet.

    mtu: Payload of a full packet. Default: "4 KiB".
    headers: Headers before the payload. Default: "64 B".
    control: Size of acknowledgements, NACKs, grants and requests of credit. Default: "64 B".
    ack_every: Packets for one acknowledgement; a marked packet, the first one, and one that asks for it are acknowledged at once.
        Default: 4.
    spray: How packets are sprayed over paths. Default: "mixed".
    entropies: Entropy values of a connection, a power of two; 1 is one path. Default: 64.
    penalties: What a mark, a trimmed packet and a timeout add to the penalty of an entropy value; the last is the largest penalty.
        Default: [1, 4, 15].
    ring: Entropy values that `reps` keeps for use once more. Default: 8.
    freeze: For how long `reps` cycles through its ring after a timeout. Default: "10 ms".
    explore: Random entropy values that `reps` takes when it freezes no more. Default: 16.
    credits: Whether receivers grant credits. Default: false.
    grant: Full packets for one grant. Default: 4.
    grant_share: Share of the line rate that all grants of a host take together. Default: 0.99.
    credit_most: Credit that a sender begins with, and the most that it has, in bandwidth-delay products. Default: 1.5.
    grant_least: Least share of the rate of grants where it follows marks and trims inside the network, as where the core is slower
        than the hosts; without it, it does not.
    timeout: A packet without an answer for so long is repeated; unless given, 15 us and six base round-trip times.
    ecn: Whether data is ECN-capable. Default: true.
    """

    mtu: Size | None = None
    headers: Size | None = None
    control: Size | None = None
    ack_every: int | None = None
    spray: Literal["oblivious", "bitmap", "reps", "mixed"] | None = None
    entropies: int | None = None
    penalties: list[int] | None = None
    ring: int | None = None
    freeze: Time | None = None
    explore: int | None = None
    credits: bool | None = None
    grant: int | None = None
    grant_share: float | None = None
    credit_most: float | None = None
    grant_least: float | None = None
    timeout: Time | None = None
    ecn: bool | None = None


@dataclass(kw_only=True, slots=True)
class Messages(Table):
    """Messages of random size at random times over one connection, with their latency.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    size: Size of a message.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    load: Application bytes per second offered by each connection (with uniform destinations: by each sender), headers not counted.
    rate_per_s: Messages per second offered by each connection (with uniform destinations: by each sender).
    gap: Time between messages: a distribution of times, or `{ bernoulli = 0.85 }`, in each slot one with this probability.
    slot: Length of a slot; without it the wire time of a full packet on the sender's first link.
    gaps: Distribution of the gaps, with `load` or `rate_per_s`. Default: "exponential".
    when_full: What a message does that finds the send buffer full. Default: "block".
    destinations: Where a sender's messages go. Default: "each".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "messages")

    from_: str | list[str]
    size: Size | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    load: Rate | None = None
    rate_per_s: float | None = None
    gap: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | Bernoulli | dict[str, Any] | None = None
    slot: Time | None = None
    gaps: Literal["exponential", "fixed"] | Bursts | dict[str, Any] | None = None
    when_full: Literal["block", "pause-clock", "drop"] | None = None
    destinations: Literal["each", "uniform"] | None = None


@dataclass(kw_only=True, slots=True)
class Bursts(Table):
    """Poisson arrivals in ON periods, none in OFF periods.

    on: Length of an ON period.
    off: Length of an OFF period.
    """

    _wrap: ClassVar[str | None] = "bursts"
    _single: ClassVar[bool] = False

    on: str | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]
    off: str | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]


@dataclass(kw_only=True, slots=True)
class Transfers(Table):
    """Arrivals of whole transfers, each a new connection between a random pair.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    size: Size of a transfer.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    arrivals_per_s: Transfers per second over all pairs together.
    load: Application bytes per second over all pairs together, headers not counted.
    gaps: Distribution of the gaps between arrivals. Default: "exponential".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "transfers")

    from_: str | list[str]
    size: Size | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    arrivals_per_s: float | None = None
    load: Rate | None = None
    gaps: Literal["exponential", "fixed"] | Bursts | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Users(Table):
    """Users in a closed loop: each thinks, transfers over a new connection, repeats.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    size: Size of a transfer.
    think: How long a user thinks before each transfer, the first included.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    users: Users on all pairs together; user k is on pair k mod pairs. Default: 1.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "users")

    from_: str | list[str]
    size: Size | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]
    think: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    users: int | None = None


@dataclass(kw_only=True, slots=True)
class Cbr(Table):
    """UDP packets of one size at a constant (or Poisson) rate on the wire.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    rate: Rate on the wire, headers and framing of the first link included.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    packet_size: UDP payload of a packet; the default makes an IP packet of 1500 bytes. Default: "1.472 KB".
    gaps: Distribution of the gaps between packets. Default: "fixed".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "cbr")

    from_: str | list[str]
    rate: Rate
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    packet_size: Size | None = None
    gaps: Literal["exponential", "fixed"] | Bursts | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Burst(Table):
    """UDP packets one right behind the other, a given number of them.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    packets: How many packets.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    packet_size: UDP payload of a packet. Default: "1 KB".
    rate: Rate on the wire, headers and framing of the first link included. Without it that of the first link.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "burst")

    from_: str | list[str]
    packets: int
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    packet_size: Size | None = None
    rate: Rate | None = None


@dataclass(kw_only=True, slots=True)
class Frames(Table):
    """Ethernet frames of one size without IP, at a fixed rate or at random times.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    frame_size: Bytes of a frame with its Ethernet header and check sequence; the default carries 1500 bytes. Default: "1.518 KB".
    rate: Rate on the wire of each flow (with uniform destinations: of each sender), preamble and gap included.
    gap: Time between frames: a distribution of times, or `{ bernoulli = 0.85 }`, in each slot one with this probability.
    slot: Length of a slot; without it the wire time of a frame on the sender's first link.
    gaps: Distribution of the gaps, with `rate`. Default: "fixed".
    destinations: Where a sender's frames go. Default: "each".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "frames")

    from_: str | list[str]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    frame_size: Size | None = None
    rate: Rate | None = None
    gap: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | Bernoulli | dict[str, Any] | None = None
    slot: Time | None = None
    gaps: Literal["exponential", "fixed"] | Bursts | dict[str, Any] | None = None
    destinations: Literal["each", "uniform"] | None = None


@dataclass(kw_only=True, slots=True)
class Incast(Table):
    """A receiver asks all its senders at once for an answer each, again and again.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    size: Size of each sender's answer.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    every: Time between the beginnings of rounds; without it a round begins when the one before is complete.
    think: From the end of a round to the beginning of the next. Default: "0 s".
    rounds: So many rounds; without it to the end of the run.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "incast")

    from_: str | list[str]
    size: Size | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    every: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any] | None = None
    think: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any] | None = None
    rounds: int | None = None


@dataclass(kw_only=True, slots=True)
class Onoff(Table):
    """Self-similar background: superposed on/off sources with Pareto periods, as UDP.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    load: Mean rate on the wire of all sources together, headers and framing of the first link included.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    sources: Superposed sources. Default: 100.
    shape: Shape of the Pareto ON and OFF times, above 1 and below 2; the Hurst parameter is (3 - shape) / 2. [assumed: H = 0.8]
        Default: 1.4.
    on: Mean length of an ON period. [assumed] Default: "50 ms".
    duty: Share of the time that a source is ON. [assumed] Default: 0.2.
    cap: Longest period in means. [assumed] Default: 10000.0.
    packet_size: UDP payload of a packet; the default makes an IP packet of 1500 bytes. Default: "1.472 KB".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "onoff")

    from_: str | list[str]
    load: Rate
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    sources: int | None = None
    shape: float | None = None
    on: Time | None = None
    duty: float | None = None
    cap: float | None = None
    packet_size: Size | None = None


@dataclass(kw_only=True, slots=True)
class DiskCopy(Table):
    """A file from disk to disk by bbcp or GridFTP, over one or several streams.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    size: Size of the file. Without it the file has no end.
    program: The program. Default: "bbcp".
    mode: Mode of GridFTP: without it `e` with several streams, else `s`.
    streams: Connections of each transfer: without it 4 for bbcp, 1 for GridFTP and for serial programs.
    window: Socket buffers of each connection at both ends (bbcp -w, GridFTP -tcp-bs); without it those of the hosts' stacks.
    block: Bytes of a block, which is read, sent and written as one (bbcp -B). [assumed: 256 KiB; GridFTP's default]
    buffers: Buffers of a block each that the program has at either end. [assumed: two a stream, two at least]
    pipeline: Whether reading, sending and writing go on at the same time. Default: "overlapped".
    complete: When the transfer is complete. Default: "disk".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "disk-copy")

    from_: str | list[str]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    size: Size | None = None
    program: Literal["bbcp", "gridftp"] | None = None
    mode: Literal["s", "e"] | None = None
    streams: int | None = None
    window: Size | None = None
    block: Size | None = None
    buffers: int | None = None
    pipeline: Literal["overlapped", "serial"] | None = None
    complete: Literal["disk", "cache"] | None = None


@dataclass(kw_only=True, slots=True)
class Writes(Table):
    """What an application wrote and when: times and sizes over one connection.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    at: When the application writes, counted from `start`, in ascending order.
    size: How much it writes each time: as many sizes as times.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "writes")

    from_: str | list[str]
    at: list[Time]
    size: list[Size]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None


@dataclass(kw_only=True, slots=True)
class ProgramTraffic(Table):
    """Real programs that open connections and send datagrams in virtual time.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    programs: The program of each host, by the name of the host or of its group: a coroutine function in Python. Without it the
        programs are those that `elephan virtual` is given.
    executor_time: How long each function takes, in simulated time, that one of these programs gives to an executor. Default: "0 s".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "program")

    from_: str | list[str]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    programs: dict[str, Coroutine | dict[str, Any]] | None = None
    executor_time: Time | None = None


@dataclass(kw_only=True, slots=True)
class Coroutine(Table):
    """A program that a host runs: a coroutine function of Python.

    python: Where the function is: `"path/to/file.py:function"` relative to the scenario, or `"module:function"`. If it takes an
        argument, that is the name of the host.
    params: Keywords for it.
    """

    python: str
    params: dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Replay(Table):
    """The flows of a trace: each a transfer with its start and size from a CSV file.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    file: CSV file with a line per flow: `start_s` (or `start_ms`, `start_us`, `start_ns`), `size_bytes` and, if wanted, `pair`. Its
        path starts in the folder of the scenario file.
    trace: The trace itself, in place of `file`; a resolved scenario has it so.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "replay")

    from_: str | list[str]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    file: str | None = None
    trace: str | None = None


@dataclass(kw_only=True, slots=True)
class Collective(Table):
    """A collective operation of ranks, such as an all-reduce, again and again.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    operation: What the ranks do together: `all-reduce`, `all-gather`, `reduce-scatter`, `broadcast` or `all-to-all`.
    algorithm: How: `ring`, `recursive-doubling`, `halving-doubling`, `binomial-tree` or `pairwise`.
    size: Size of the result at a rank; of an all-to-all what each rank sends in all, of a broadcast the message.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    chunks: Parts in which a ring sends each piece, one after the other. Default: 1.
    group: Ranks that do it together; the hosts then are several groups, which do it at once. Without it all hosts are one group.
    stride: How many ranks apart the members of a group are. Default: 1.
    order: Which host is which rank. Default: "packed".
    iterations: How often they do it. Default: 1.
    eager: Largest message whose send is done as soon as it has been handed over (eager); that of a larger one is when it is
        acknowledged. Default: "65.535 KB".
    compute: How long each rank computes before each iteration.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "collective")

    from_: str | list[str]
    operation: Literal["all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"]
    algorithm: Literal["ring", "recursive-doubling", "halving-doubling", "binomial-tree", "pairwise"]
    size: Size
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    chunks: int | None = None
    group: int | None = None
    stride: int | None = None
    order: Literal["packed", "spread", "random"] | None = None
    iterations: int | None = None
    eager: Size | None = None
    compute: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Goal(Table):
    """A parallel program in GOAL: what ranks compute, send and receive.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    to: Receiving hosts. Ranks (`collective`, `goal`) are the hosts of `from`, and need none.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, a table with `kind` and its parameters, a class written in
        Python, or a program. Without it, that of the senders' stack.
    transport: What carries it: `tcp` (default); `roce`, RDMA over converged Ethernet, which has the congestion controls `dcqcn`
        (its default), `timely`, `hpcc`, `swift` and `none`; or `uec`, the transport of Ultra Ethernet, which has `nscc` (its
        default) and `none`. Kinds of datagrams are UDP.
    ip: Version of IP below these connections or datagrams: `v4` or `v6`; without it that of the scenario.
    tcp: TCP options of these connections, at both ends, over those of the hosts. A `congestion_control` here means the same as that
        of the entry: it is that of the senders, and the receivers keep that of their hosts.
    fast_open: Whether the applications of these connections ask for TCP Fast Open: clients send what they have with the SYN,
        servers listen for it. The option `fast_open` of each end's stack says whether its host allows it.
    roce: Options of these connections with `transport = "roce"`.
    uec: Options of these connections with `transport = "uec"`.
    priority: Priority of its packets in both directions, 0 to 7 as in IEEE 802.1Q: 7 is the most urgent. Queues of kind `prio`,
        `ets`, `wrr` and `trim` look at it, and PFC. Default: 0.
    weight: Share of each of its connections beside those of others, in both directions. Queues of kind `fq`, `scfq` and `drr` look
        at it. Default: 1.
    file: File with the program. Its path starts in the folder of the scenario file.
    program: The program itself, in place of `file`; a resolved scenario has it so.
    order: Which host is which rank. Default: "packed".
    iterations: How often they do it. Default: 1.
    eager: Largest message whose send is done as soon as it has been handed over (eager); that of a larger one is when it is
        acknowledged. Default: "65.535 KB".
    compute: How long each rank computes before each iteration.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "goal")

    from_: str | list[str]
    name: str | None = None
    to: str | list[str] | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: (
        Literal[
            "reno",
            "cubic",
            "highspeed",
            "scalable",
            "griddt",
            "bic",
            "hybla",
            "htcp",
            "westwood",
            "vegas",
            "veno",
            "illinois",
            "yeah",
            "compound",
            "dctcp",
            "prague",
            "bbr",
            "bbr3",
            "ledbat",
            "fast",
            "swift",
            "lp",
            "xcp",
            "explicit_rate",
            "copa",
            "pcp",
            "dcqcn",
            "timely",
            "hpcc",
            "nscc",
            "none",
        ]
        | Reno
        | Cubic
        | Highspeed
        | Scalable
        | Griddt
        | Bic
        | Hybla
        | Htcp
        | Westwood
        | Vegas
        | Veno
        | Illinois
        | Yeah
        | Compound
        | Dctcp
        | Prague
        | Bbr
        | Bbr3
        | Ledbat
        | Fast
        | Swift
        | Lp
        | Xcp
        | ExplicitRate
        | Copa
        | Pcp
        | Dcqcn
        | Timely
        | Hpcc
        | Nscc
        | NoCongestionControl
        | Guest
        | Program
        | ControllerFactory
        | dict[str, Any]
        | None
    ) = None
    transport: Literal["tcp", "roce", "uec"] | None = None
    ip: Literal["v4", "v6"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    fast_open: bool | None = None
    roce: Roce | dict[str, Any] | None = None
    uec: Uec | dict[str, Any] | None = None
    priority: int | None = None
    weight: int | None = None
    file: str | None = None
    program: str | None = None
    order: Literal["packed", "spread", "random"] | None = None
    iterations: int | None = None
    eager: Size | None = None
    compute: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | Cdf | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Change(Table):
    """What is different from some time on: a link slows down, another congestion control takes over. What is not named stays as
    it is.

    at: When; of several entries for one time the later one wins.
    set: Paths, written as in overrides, with their new values: `{ "links.left->right.rate" = "5 Mbps" }`. A link's `rate`, `up`,
        `delay`, `loss` and the `limit` and `mark_above` of its queue can change, each way or of one direction
        (`links.left->right.forward.rate`), and a traffic entry's `congestion_control`. `links.a->b` is a link declared between `a`
        and `b`, both ways; if it is declared between `b` and `a`, the one port that sends from `a` to `b`. A limit in `bdp` keeps
        its bytes unless it is set again.
    """

    at: Time
    set: dict[str, Any]


@dataclass(kw_only=True, slots=True)
class Record(Table):
    """What is written down. The tables `flows` and `ports` (totals) always are.

    every: Interval of the samples (`flow_samples`, `port_samples`, `switch_samples`); without it there are none.
    flows: Whether connections are sampled. Default: true.
    statistics: Whether all that a connection counts (the instruments of RFC 4898) is sampled too, in `statistics`: 90 columns.
        Default: false.
    info: Whether what Linux's `tcp_info` shows of the sending end of a connection is sampled too, in `info`, with its names and
        units. Default: false.
    ports: Ports to sample: `"switches"` (where queues form), `"all"`, `"none"`, or an array of names such as `["sw->server",
        "client[0]->sw"]`. Default: "switches".
    queue_delays: Whether the time that packets wait in the queues of these ports is counted for each priority, and for L4S apart,
        in `queue_delays`. Such a port is simulated packet by packet. Default: false.
    messages: Whether each message and transfer has its row in `messages`. Default: true.
    operations: Whether what each rank of a parallel program does has its row in `operations`: each computation, message and wait.
        Default: false.
    events: Whether drops, pauses, timeouts and other rare things have their rows in `events`. Default: true.
    datagrams: How many datagrams (or raw frames) of each stream its receiver logs in `datagrams`, with their numbers and times of
        arrival: the first so many that come, 0 for none. Default: 0.
    captures: Packets that a run with a folder writes to pcapng files, one for each host or port: `"none"`, `"hosts"` (every host
        that sends or receives traffic), or an array of hosts and ports such as `["client[0]", "sw->server"]`. Default: "none".
    snap: Bytes of each captured packet that are kept, payload (zeros) included; without it the headers are.
    """

    every: Time | None = None
    flows: bool | None = None
    statistics: bool | None = None
    info: bool | None = None
    ports: Literal["switches", "all", "none"] | list[str] | None = None
    queue_delays: bool | None = None
    messages: bool | None = None
    operations: bool | None = None
    events: bool | None = None
    datagrams: int | None = None
    captures: Literal["hosts", "none"] | list[str] | None = None
    snap: Size | None = None


@dataclass(kw_only=True, slots=True)
class Vary(Table):
    """Parameters to vary: each other key is the path of a parameter, its value the array of values to try, as in
    `"switches.sw.memory" = ["24 KiB", "48 KiB"]`.

    repetitions: Runs of each variant; repetition i uses seed + i, the same for every variant. Default: 1.
    zip: Take the parameters' values together, first with first, instead of every combination. Default: false.
    parameters: Path of each varied parameter with the list of its values.
    """

    _free: ClassVar[str | None] = "parameters"

    repetitions: int | None = None
    zip: bool | None = None
    parameters: dict[str, list[Any]] | None = None


__all__ = [
    "Bbr",
    "Bbr3",
    "Bernoulli",
    "Bic",
    "Blue",
    "Bulk",
    "Burst",
    "Bursts",
    "Cake",
    "Cbr",
    "Cdf",
    "Change",
    "Classic",
    "Codel",
    "Collective",
    "Compound",
    "Copa",
    "Coroutine",
    "Cpu",
    "Cubic",
    "Dcqcn",
    "Dctcp",
    "Direction",
    "Disk",
    "DiskCopy",
    "Drr",
    "Dualpi2",
    "Dumbbell",
    "Ecm",
    "Ets",
    "EtsClass",
    "ExplicitRate",
    "Exponential",
    "Fast",
    "FatTree",
    "Fifo",
    "Fixed",
    "Fq",
    "FqCodel",
    "FqPie",
    "Frames",
    "GilbertElliott",
    "Goal",
    "Griddt",
    "Guest",
    "Highspeed",
    "Hop",
    "Host",
    "Hpcc",
    "Htcp",
    "Hybla",
    "Hystart",
    "Hystartpp",
    "Illinois",
    "Incast",
    "Jitter",
    "LeafSpine",
    "Ledbat",
    "Limited",
    "Linear",
    "Link",
    "LinkTrace",
    "Linux",
    "Listed",
    "Lognormal",
    "Lp",
    "Messages",
    "NoCongestionControl",
    "NoCongestionManagement",
    "NoFlowControl",
    "Nscc",
    "Onoff",
    "Pareto",
    "ParkingLot",
    "Path",
    "Pause",
    "PauseReaction",
    "Pcp",
    "Periodic",
    "Pfc",
    "Pi2",
    "Pie",
    "Prague",
    "Prio",
    "Program",
    "ProgramTraffic",
    "Qcn",
    "ReadPoint",
    "Receive",
    "Record",
    "Red",
    "Reno",
    "Reorder",
    "Replay",
    "Roce",
    "Scalable",
    "Scenario",
    "ScenarioAnswer",
    "Scfq",
    "Sfq",
    "Star",
    "Swift",
    "Switch",
    "Tbf",
    "Tcp",
    "Timely",
    "TraceTable",
    "Transfers",
    "Transmit",
    "Trim",
    "Uec",
    "Uniform",
    "Users",
    "Vary",
    "Vegas",
    "Veno",
    "Westwood",
    "Writes",
    "Wrr",
    "WrrClass",
    "Xcp",
    "XcpQueue",
    "Yeah",
]
