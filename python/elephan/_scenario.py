"""The scenario language as classes. Generated from the schema by `make generate`; do not edit.

A value that is not given stays out of the scenario, so that its default counts as a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from elephan._model import ScenarioModel, Table

Time = str
"""A time such as "5 ms": ps, ns, us, ms, s, min, h, d."""
Rate = str
"""A rate such as "10 Gbps": decimal prefixes, b bit, B byte."""
Size = str
"""A size such as "48 KiB" or "8 KB"."""
Limit = str
"""A limit such as "2 MB", "100 p" (packets) or "1 bdp"."""


@dataclass(kw_only=True, slots=True)
class Scenario(ScenarioModel):
    """An experiment: hosts, switches, links, traffic, and what to record.

    title: One line that says what this is. Default: "".
    question: The question that the run answers, for the report. Default: "".
    duration: Simulated time.
    warmup: Goodput, delivered bytes and utilisation count from here on; tables hold everything. Default: "0 s".
    seed: All random draws follow from it. `--seed` overrides it; repetition i of a sweep uses seed + i. Default: 1.
    stack: Stack of the hosts that name none. Default: "rfc".
    tcp: TCP options of all hosts, over their stack; a host's own `tcp` wins key by key.
    template: A common topology; it adds hosts, switches and links, which the tables of the same names may refine.
    hosts: Hosts by group name: `[hosts.client]`.
    switches: Switches by group name: `[switches.sw]`.
    links: Full-duplex links: `[[links]]`. Default: [].
    traffic: Who sends what when: `[[traffic]]`. Default: [].
    record: What is written down. Default: { flows = true, ports = "switches", messages = true, events = true }.
    sweep: Parameters to vary; `run` ignores it.
    """

    title: str | None = None
    question: str | None = None
    duration: Time
    warmup: Time | None = None
    seed: int | None = None
    stack: Literal["rfc", "winxp"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    template: Dumbbell | Star | Path | FatTree | dict[str, Any] | None = None
    hosts: dict[str, Host | dict[str, Any]] | None = None
    switches: dict[str, Switch | dict[str, Any]] | None = None
    links: list[Link | dict[str, Any]] | None = None
    traffic: list[Bulk | Messages | Transfers | Cbr | dict[str, Any]] | None = None
    record: Record | dict[str, Any] | None = None
    sweep: Vary | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Tcp(Table):
    """Options of a stack that a scenario overrides; what is absent stays as the stack has it.

    congestion_control: Congestion control that connections use unless the traffic names another.
    recovery: What repairs losses found by duplicate ACKs: `reno`, `newreno` or `sack`.
    mss: Largest segment announced to the peer: the IP MTU less 40. Timestamps take 12 bytes of it.
    initial_window: Initial window in segments.
    ssthresh_initial: Slow-start threshold at the start.
    idle_restart: Congestion window after an idle period longer than the RTO falls back to the initial window.
    abc: Slow start counts bytes acknowledged rather than ACKs (appropriate byte counting).
    abc_limit: Most segments that one ACK may add in slow start with `abc`; 0 is no limit.
    dup_ack_threshold: Duplicate ACKs that start fast retransmit.
    limited_transmit: New segments are sent on the duplicate ACKs before the threshold.
    newreno_timer: Which partial ACKs restart the timer in NewReno recovery: `impatient` or `slow-but-steady`.
    newreno_ack_heuristic: After a timeout NewReno tells lost retransmissions from needless ones by the gap between ACKs.
    sack: Selective acknowledgements.
    dsack: Duplicate segments are reported in the first SACK block.
    timestamps: Timestamps option.
    timestamp_granularity: Tick of the timestamps clock.
    window_scaling: Window scaling.
    receive_window: Largest receive window offered, which is the size of the receive buffer.
    send_buffer: Bytes that the socket holds beyond what is acknowledged; a writer blocks when they are full.
    delayed_ack_segments: Segments received in order that make the receiver send an ACK.
    delayed_ack_timeout: Longest time that an ACK waits.
    delayed_ack_first: The first data segment of a connection is acknowledged at once.
    rto_rule: How the retransmission timeout is computed: `rfc6298` or `linux`.
    rto_initial: Retransmission timeout before the first round-trip sample.
    rto_min: Smallest retransmission timeout (with `rto_rule` `linux`, of its variance term).
    rto_max: Largest retransmission timeout, back-off included.
    clock_granularity: Clock granularity G in the timeout formula.
    rtt_sampling: Which ACKs give a round-trip sample: `every-ack` or `once-per-window`.
    nagle: Small segments wait while data is unacknowledged (Nagle).
    time_wait: How long the end that closes first stays in TIME-WAIT.
    """

    congestion_control: Literal["reno", "cubic"] | Reno | Cubic | dict[str, Any] | None = None
    recovery: Literal["reno", "newreno", "sack"] | None = None
    mss: Size | None = None
    initial_window: int | None = None
    ssthresh_initial: Size | None = None
    idle_restart: bool | None = None
    abc: bool | None = None
    abc_limit: int | None = None
    dup_ack_threshold: int | None = None
    limited_transmit: bool | None = None
    newreno_timer: Literal["impatient", "slow-but-steady"] | None = None
    newreno_ack_heuristic: bool | None = None
    sack: bool | None = None
    dsack: bool | None = None
    timestamps: bool | None = None
    timestamp_granularity: Time | None = None
    window_scaling: bool | None = None
    receive_window: Size | None = None
    send_buffer: Size | None = None
    delayed_ack_segments: int | None = None
    delayed_ack_timeout: Time | None = None
    delayed_ack_first: bool | None = None
    rto_rule: Literal["rfc6298", "linux"] | None = None
    rto_initial: Time | None = None
    rto_min: Time | None = None
    rto_max: Time | None = None
    clock_granularity: Time | None = None
    rtt_sampling: Literal["every-ack", "once-per-window"] | None = None
    nagle: bool | None = None
    time_wait: Time | None = None


@dataclass(kw_only=True, slots=True)
class Reno(Table):
    """Reno (RFC 5681): one segment more a round trip, half the window on loss

    reduce_from: The window that is halved: `flight` (what was in flight) or `cwnd`. Default: "flight".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "reno")

    reduce_from: Literal["flight", "cwnd"] | None = None


@dataclass(kw_only=True, slots=True)
class Cubic(Table):
    """CUBIC (RFC 9438): a cubic function of the time since the last loss, cut to 0.7

    c: C in segments/s^3: how fast the window leaves and regains W_max. Default: 0.4.
    beta: The share of the window that a congestion event leaves. Default: 0.7.
    fast_convergence: An event below the last W_max lowers W_max further, so that new flows find room sooner. Default: true.
    reduce_from: The window that is cut: `flight` (what was in flight) or `cwnd`. Default: "cwnd".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "cubic")

    c: float | None = None
    beta: float | None = None
    fast_convergence: bool | None = None
    reduce_from: Literal["flight", "cwnd"] | None = None


@dataclass(kw_only=True, slots=True)
class Dumbbell(Table):
    """Pairs of hosts on both sides of one bottleneck link between two switches

    rate: Rate of the bottleneck link.
    delay: Delay of the bottleneck link, one way.
    pairs: Senders, and as many receivers. Default: 1.
    queue: Queue at the bottleneck, in both directions. Default: { kind = "fifo" }.
    loss: Packets lost by the bottleneck link from left to right. Default: "none".
    access_rate: Rate of the access links. Default: "10 Gbps".
    access_delay: Delay of the access links, one way and on each side; a spread gives the i-th pair the i-th value on both sides.
        Default: "10 us".
    framing: Framing of all links. Default: "ethernet".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "dumbbell")

    rate: Rate
    delay: Time
    pairs: int | None = None
    queue: Fifo | dict[str, Any] | None = None
    loss: Literal["none"] | Periodic | Bernoulli | dict[str, Any] | None = None
    access_rate: Rate | None = None
    access_delay: Time | Linear | Uniform | dict[str, Any] | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None


@dataclass(kw_only=True, slots=True)
class Fifo(Table):
    """First in, first out, drop-tail: a packet that does not fit in the limit is dropped

    limit: Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is
        dropped.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "fifo")

    limit: Limit | None = None


@dataclass(slots=True)
class Periodic(Table):
    """Every N-th packet that carries new data is lost; retransmissions, ACKs and control packets are not counted."""

    _wrap: ClassVar[str | None] = "periodic"
    _single: ClassVar[bool] = True

    periodic: int


@dataclass(slots=True)
class Bernoulli(Table):
    """Each packet that carries data is lost with this probability."""

    _wrap: ClassVar[str | None] = "bernoulli"
    _single: ClassVar[bool] = True

    bernoulli: float


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
    latency: Forwarding latency of the switch. Default: "0 s".
    flow_control: What the switch does when its memory fills. Default: { kind = "none" }.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "star")

    clients: int
    rate: Rate
    servers: int | None = None
    delay: Time | Linear | Uniform | dict[str, Any] | None = None
    server_rate: Rate | None = None
    server_delay: Time | Linear | Uniform | dict[str, Any] | None = None
    queue: Fifo | dict[str, Any] | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None
    preset: Literal["shared48k", "shared48k-decimal", "shared48k-pause", "shared48k-pause-strict"] | None = None
    memory: Size | None = None
    latency: Time | None = None
    flow_control: NoFlowControl | Pause | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class NoFlowControl(Table):
    """Frames that do not fit are dropped."""

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "none")


@dataclass(kw_only=True, slots=True)
class Pause(Table):
    """IEEE 802.3x PAUSE (Annex 31B) for the shared memory.

    xoff: PAUSE is sent when the occupancy of the shared memory reaches this.
    xon: Transmission is resumed (PAUSE with time 0) when the occupancy has fallen to this.
    quanta: `pause_time` of a PAUSE, in quanta of 512 bit times. [assumed: the largest, as common switches send] Default: 65535.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "pause")

    xoff: Size
    xon: Size
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

    rate: Rate of the link.
    delay: Delay of the link, one way.
    queue: Queue of the port that sends into this link towards the receiver. Default: { kind = "fifo" }.
    loss: Packets lost by the link on the way to the receiver. Default: "none".
    """

    rate: Rate
    delay: Time
    queue: Fifo | dict[str, Any] | None = None
    loss: Literal["none"] | Periodic | Bernoulli | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class FatTree(Table):
    """A k-ary fat-tree: k pods of edge and aggregation switches under a core

    k: Ports of a switch, an even number: 4 makes 16 hosts, 8 makes 128.
    rate: Rate of all links.
    delay: Delay of all links, one way.
    queue: Queue of all switch ports. Default: { kind = "fifo" }.
    framing: Framing of all links. Default: "ethernet".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "fat-tree")

    k: int
    rate: Rate
    delay: Time
    queue: Fifo | dict[str, Any] | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None


@dataclass(kw_only=True, slots=True)
class Host(Table):
    """One host, or a group of equal hosts.

    count: Hosts in the group, called `NAME[0]`, `NAME[1]` ...; without it there is one, called `NAME`.
    stack: TCP stack; without it the scenario's `stack`.
    tcp: TCP options, over those of the stack and of the scenario.
    pause: How the hosts' ports react to PAUSE frames. Default: { obey = true, response_quanta = 10 }.
    """

    count: int | None = None
    stack: Literal["rfc", "winxp"] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    pause: PauseReaction | dict[str, Any] | None = None


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
class Switch(Table):
    """One switch, or a group of equal switches.

    count: Switches in the group, called `NAME[0]`, `NAME[1]` ...; without it there is one, called `NAME`.
    preset: A known switch that fills in the keys which are not given.
    memory: Bytes that all ports share, a frame charged from its last bit in to its last bit out; without it only the queues' own
        limits hold.
    latency: From the last bit in to the egress queue, beyond store and forward. Default: "0 s".
    flow_control: What the switch does when its memory fills. Default: { kind = "none" }.
    pause: How the switch's ports react to PAUSE frames. Default: { obey = true, response_quanta = 10 }.
    """

    count: int | None = None
    preset: Literal["shared48k", "shared48k-decimal", "shared48k-pause", "shared48k-pause-strict"] | None = None
    memory: Size | None = None
    latency: Time | None = None
    flow_control: NoFlowControl | Pause | dict[str, Any] | None = None
    pause: PauseReaction | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Link(Table):
    """Full-duplex links between two nodes or groups of nodes.

    between: Both ends: a group (`"client"`: all its members), a member (`"client[2]"`, counted from 0) or some (`"client[0-3]"`,
        both included).
    rate: Rate on the wire, each way.
    delay: Propagation delay, each way: a time, `{ linear = ["1 ms", "5 ms"] }` spread evenly over the links of this entry, or `{
        uniform = ["1 ms", "5 ms"] }` drawn for each.
    pairing: Which members are joined. Default: "auto".
    framing: How packets are framed: what the wire and the queues carry beside the IP packet. Default: "ethernet".
    loss: Packets lost by the link itself, each way. Default: "none".
    queue: Queue of the switch ports of these links (both, if both ends are switches). Without a limit it is bounded only by the
        switch's memory. Default: { kind = "fifo" }.
    host_queue: Queue of the hosts' ports: no limit unless given. Default: { kind = "fifo" }.
    bdp_rtt: The round-trip time that `"1 bdp"` refers to; without it the mean base RTT of the flows that cross the link.
    forward: What differs from the first end to the second.
    backward: What differs from the second end to the first.
    """

    between: list[str]
    rate: Rate
    delay: Time | Linear | Uniform | dict[str, Any]
    pairing: Literal["auto", "all", "blocks"] | None = None
    framing: Literal["ethernet", "ppp", "none"] | None = None
    loss: Literal["none"] | Periodic | Bernoulli | dict[str, Any] | None = None
    queue: Fifo | dict[str, Any] | None = None
    host_queue: Fifo | dict[str, Any] | None = None
    bdp_rtt: Time | None = None
    forward: Direction | dict[str, Any] | None = None
    backward: Direction | dict[str, Any] | None = None


@dataclass(kw_only=True, slots=True)
class Direction(Table):
    """What one direction of a link has of its own; a queue given here counts for a host's port too.

    rate: Rate on the wire.
    delay: Propagation delay.
    loss: Packets lost by the link itself.
    queue: Queue of the port that sends in this direction.
    bdp_rtt: The round-trip time that `"1 bdp"` refers to.
    """

    rate: Rate | None = None
    delay: Time | Linear | Uniform | dict[str, Any] | None = None
    loss: Literal["none"] | Periodic | Bernoulli | dict[str, Any] | None = None
    queue: Fifo | dict[str, Any] | None = None
    bdp_rtt: Time | None = None


@dataclass(kw_only=True, slots=True)
class Bulk(Table):
    """One stream of bytes as fast as TCP takes it: endless, or of a given size.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    to: Receiving hosts.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, or a table with `kind` and its parameters. Without it, that of
        the senders' stack.
    tcp: TCP options of these connections, at both ends, over those of the hosts.
    size: Bytes to send on each connection, which then closes. Without it the stream is endless.
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "bulk")

    from_: str | list[str]
    to: str | list[str]
    name: str | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: Literal["reno", "cubic"] | Reno | Cubic | dict[str, Any] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    size: Size | None = None


@dataclass(kw_only=True, slots=True)
class Messages(Table):
    """Messages of random size at random times over one connection, with their latency.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    to: Receiving hosts.
    size: Size of a message.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, or a table with `kind` and its parameters. Without it, that of
        the senders' stack.
    tcp: TCP options of these connections, at both ends, over those of the hosts.
    load: Application bytes per second offered by each connection, headers not counted.
    rate_per_s: Messages per second offered by each connection.
    gap: Time between messages.
    gaps: Law of the gaps, with `load` or `rate_per_s`. Default: "exponential".
    when_full: What a message does that finds the send buffer full. Default: "block".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "messages")

    from_: str | list[str]
    to: str | list[str]
    size: Size | Fixed | Exponential | Uniform | Pareto | Lognormal | dict[str, Any]
    name: str | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: Literal["reno", "cubic"] | Reno | Cubic | dict[str, Any] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    load: Rate | None = None
    rate_per_s: float | None = None
    gap: Time | Fixed | Exponential | Uniform | Pareto | Lognormal | dict[str, Any] | None = None
    gaps: Literal["exponential", "fixed"] | None = None
    when_full: Literal["block", "pause-clock", "drop"] | None = None


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


@dataclass(kw_only=True, slots=True)
class Transfers(Table):
    """Arrivals of whole transfers, each a new connection between a random pair.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    to: Receiving hosts.
    size: Size of a transfer.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, or a table with `kind` and its parameters. Without it, that of
        the senders' stack.
    tcp: TCP options of these connections, at both ends, over those of the hosts.
    arrivals_per_s: Transfers per second over all pairs together.
    load: Application bytes per second over all pairs together, headers not counted.
    gaps: Law of the gaps between arrivals. Default: "exponential".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "transfers")

    from_: str | list[str]
    to: str | list[str]
    size: Size | Fixed | Exponential | Uniform | Pareto | Lognormal | dict[str, Any]
    name: str | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: Literal["reno", "cubic"] | Reno | Cubic | dict[str, Any] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    arrivals_per_s: float | None = None
    load: Rate | None = None
    gaps: Literal["exponential", "fixed"] | None = None


@dataclass(kw_only=True, slots=True)
class Cbr(Table):
    """UDP packets of one size at a constant (or Poisson) rate on the wire.

    from_: Sending hosts: a group, a member (`"client[2]"`), some (`"client[0-3]"`), or an array of these.
    to: Receiving hosts.
    rate: Rate on the wire, headers and framing of the first link included.
    name: Its name in results and overrides (`traffic.NAME.load`); without it the kind, numbered from the second on.
    pairing: Which senders send to which receivers. Default: "auto".
    connections: Connections or streams of each pair. Default: 1.
    start: When it starts: a time, or `{ uniform = ["0 s", "100 ms"] }` drawn for each connection. Default: "0 s".
    stop: Nothing new is sent from here on; without it to the end of the run.
    congestion_control: Congestion control of the senders: a name, or a table with `kind` and its parameters. Without it, that of
        the senders' stack.
    tcp: TCP options of these connections, at both ends, over those of the hosts.
    packet_size: UDP payload of a packet; the default makes an IP packet of 1500 bytes. Default: "1.472 KB".
    gaps: Law of the gaps between packets. Default: "fixed".
    """

    _tag: ClassVar[tuple[str, str] | None] = ("kind", "cbr")

    from_: str | list[str]
    to: str | list[str]
    rate: Rate
    name: str | None = None
    pairing: Literal["auto", "all", "permutation", "random"] | None = None
    connections: int | None = None
    start: Time | Uniform | dict[str, Any] | None = None
    stop: Time | None = None
    congestion_control: Literal["reno", "cubic"] | Reno | Cubic | dict[str, Any] | None = None
    tcp: Tcp | dict[str, Any] | None = None
    packet_size: Size | None = None
    gaps: Literal["exponential", "fixed"] | None = None


@dataclass(kw_only=True, slots=True)
class Record(Table):
    """What is written down. The tables `flows` and `ports` (totals) always are.

    every: Interval of the samples (`flow_samples`, `port_samples`, `switch_samples`); without it there are none.
    flows: Whether connections are sampled. Default: true.
    ports: Ports to sample: `"switches"` (where queues form), `"all"`, `"none"`, or an array of names such as `["sw->server",
        "client[0]->sw"]`. Default: "switches".
    messages: Whether each message and transfer has its row in `messages`. Default: true.
    events: Whether drops, pauses, timeouts and other rare things have their rows in `events`. Default: true.
    """

    every: Time | None = None
    flows: bool | None = None
    ports: Literal["switches", "all", "none"] | list[str] | None = None
    messages: bool | None = None
    events: bool | None = None


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
    "Bernoulli",
    "Bulk",
    "Cbr",
    "Cubic",
    "Direction",
    "Dumbbell",
    "Exponential",
    "FatTree",
    "Fifo",
    "Fixed",
    "Hop",
    "Host",
    "Linear",
    "Link",
    "Lognormal",
    "Messages",
    "NoFlowControl",
    "Pareto",
    "Path",
    "Pause",
    "PauseReaction",
    "Periodic",
    "Record",
    "Reno",
    "Scenario",
    "Star",
    "Switch",
    "Tcp",
    "Transfers",
    "Uniform",
    "Vary",
]
