"""The compiled core of elephan: scenario text in, tables out. The package `elephan` is the API; this is its engine room.

Every function releases the interpreter lock while it works. Wrong input raises `ScenarioError` with one line that names
file, line and column; a run that fails raises `RunError`.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, final

from elephan.base.errors import InputError

Format = Literal["toml", "json"]

# A JSON object as text or a dict (values as in the scenario), or pairs of texts as on a command line (`"3"` is a number).
Overrides = str | dict[str, Any] | Sequence[tuple[str, str]]

class ScenarioError(InputError):
    """`elephan.InputError`. Of a scenario, `errors` has a line for each error."""

    errors: list[str]

class RunError(Exception):
    """A run failed."""

class Cancelled(RunError):
    """A run was stopped through its `Cancel` flag."""

@final
class Cancel:
    """A flag that stops runs; any thread may raise it, any number of runs may look at it."""

    def __new__(cls) -> Cancel: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

def capacities(scenario: str, times_ns: Sequence[int], cancel: Cancel | None = None) -> dict[str, tuple[list[float], float]]: ...

@final
class Desk:
    """Answers the requests of the page of `elephan explore`; several threads may ask at once."""

    def __new__(cls, library: str, limits: str = "{}", trusted: str | None = None, agreed: Any = None) -> Desk: ...
    def load(
        self, text: str | None, summary: str, tables: Mapping[str, Any], capture: PathLike[str] | bytes | None = None
    ) -> int: ...
    def serve(self, request: bytes, payload: bytes, emit: Callable[[bytes], bool], cancel: Cancel) -> None: ...

@final
class Table:
    """A table for `pyarrow.table` and every other consumer of the Arrow PyCapsule interface."""

    @property
    def name(self) -> str: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Result:
    """What a run gave."""

    @property
    def summary(self) -> str:
        """JSON."""

    @property
    def provenance(self) -> str:
        """JSON: `parameters`, a list of `path`, `value`, `from` (given, default, assumed) and `source`; `dropped` overrides."""

    @property
    def tables(self) -> dict[str, Table]:
        """By name; empty when they were written to a folder."""

    @property
    def resolved_toml(self) -> str:
        """The scenario with every default spelled out."""

    @property
    def resolved(self) -> str:
        """The values of the resolved scenario as JSON."""

    @property
    def wall_s(self) -> float:
        """Wall time of the engine alone."""

    @property
    def events(self) -> int: ...
    @property
    def captures(self) -> list[str]:
        """The capture files, as paths in the folder."""

    @property
    def packet_hops(self) -> int: ...
    @property
    def shared_s(self) -> float:
        """Up to when another run has simulated it, in seconds of its own time; 0 unless it is a branch."""

@final
class Beginning:
    """What branches of one scenario begin with, simulated once."""

    def __new__(
        cls,
        text: str,
        name: str,
        format: Format,
        overrides: Overrides = "{}",
        seed: int | None = None,
        agreed: object = None,
    ) -> Beginning: ...
    def branch(
        self,
        at: str,
        overrides: Overrides,
        siblings: Sequence[Overrides] = (),
        folder: str | PathLike[str] | None = None,
        progress: Callable[[float, int], object] | None = None,
        cancel: Cancel | None = None,
    ) -> Result:
        """Runs the scenario that `overrides` make of this one, from `at` on. `siblings`: overrides of branches to come."""

@final
class Network:
    """The network of a scenario, with sockets for programs on its hosts: as Linux has them, without blocking.

    A host is its place in `hosts()`. Errors are `OSError` with the number that Linux gives.
    """

    def __new__(
        cls,
        text: str,
        name: str,
        format: Format,
        overrides: Overrides = "{}",
        seed: int | None = None,
        folder: str | PathLike[str] | None = None,
        progress: Callable[[float, int], object] | None = None,
        cancel: Cancel | None = None,
        agreed: object = None,
    ) -> Network: ...
    @property
    def now(self) -> int:
        """Simulated time in picoseconds."""

    @property
    def end(self) -> int:
        """When the scenario ends, in picoseconds: time does not go further."""

    def hosts(self) -> list[tuple[str, str, str]]:
        """Name, IPv4 and IPv6 address of each host."""

    def socket(self, host: int, kind: int) -> int:
        """A new socket of a host: 1 is a stream, 2 datagrams."""

    def bind(self, fd: int, port: int) -> None: ...
    def listen(self, fd: int, backlog: int) -> None: ...
    def accept(self, fd: int) -> tuple[int, int, int]: ...
    def connect(self, fd: int, host: int, port: int) -> None: ...
    def error(self, fd: int) -> int:
        """`SO_ERROR`, which is forgotten then; 0 for none."""

    def send(self, fd: int, data: bytes) -> int: ...
    def recv(self, fd: int, most: int, peek: bool = False) -> bytes: ...
    def send_to(self, fd: int, data: bytes, host: int, port: int) -> int: ...
    def recv_from(self, fd: int, most: int) -> tuple[bytes, int, int]: ...
    def shutdown(self, fd: int, how: int) -> None:
        """Ends reading (0), writing (1) or both (2)."""

    def close(self, fd: int) -> None: ...
    def name(self, fd: int) -> tuple[int, int]:
        """Host and port of a socket; port 0 before it has one."""

    def peer(self, fd: int) -> tuple[int, int]:
        """Host and port that a socket is connected to."""

    def poll(self, fd: int) -> int:
        """What is ready: 1 readable, 2 writable."""

    def watch(self, fd: int, mask: int) -> None:
        """For what of a descriptor somebody waits: 1 readable, 2 writable, 0 nothing."""

    def wait(self, until: int) -> list[tuple[int, int]]:
        """What is ready of what is watched. If nothing is, time passes until something is, at most to `until` picoseconds."""

    def is_idle(self) -> bool:
        """Whether only a program can make something happen."""

    def info(self, fd: int) -> dict[str, int | str] | None:
        """Fields of `TCP_INFO` of a stream, and `congestion_control`; none of one that is gone."""

    def set_number(self, fd: int, option: str, value: int) -> None:
        """Sets `nodelay`, `cork`, `send_buffer`, `receive_buffer` (bytes), `user_timeout` (ms) or `aborts` of a stream."""

    def set_congestion_control(self, fd: int, name: str) -> None: ...
    def finish(self) -> Result:
        """Closes the books; nothing can be called afterwards."""

def run(
    text: str,
    name: str,
    format: Format,
    overrides: Overrides = "{}",
    seed: int | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Callable[[float, int], object] | None = None,
    cancel: Cancel | None = None,
    agreed: object = None,
) -> Result:
    """Runs a scenario once. `agreed`: the `elephan.trust.Trust` of the caller, what congestion controls in Python may be loaded.

    Tables stay in memory or, with `folder`, an existing one, stream to `<table>.parquet` in it. `progress` is called with
    the share of the simulated time done and the events so far, at most ten times a second; what it raises stops the run.
    """

def resolve(
    text: str,
    name: str,
    format: Format,
    overrides: Overrides = "{}",
    seed: int | None = None,
    cancel: Cancel | None = None,
    agreed: object = None,
) -> str:
    """JSON: `seed`, `toml` (every default spelled out), `provenance`, `has_sweep`, `plan` (what will be built, in figures)."""

def resolved_toml(
    text: str,
    name: str,
    format: Format,
    overrides: Overrides = "{}",
    seed: int | None = None,
    cancel: Cancel | None = None,
    agreed: object = None,
) -> str:
    """The resolved scenario in TOML, every default spelled out, and nothing else."""

def port_ways(
    text: str,
    name: str,
    format: Format,
    overrides: Overrides = "{}",
    seed: int | None = None,
    cancel: Cancel | None = None,
    agreed: object = None,
) -> str:
    """JSON: for each port its name (`port`), how packets pass it (`way`) and why it needs a queue (`because`)."""

def toml_values(text: str, cancel: Cancel | None = None) -> str:
    """The values of a text in TOML as JSON, with no check but that of its syntax."""

def brief(
    text: str,
    name: str,
    format: Format,
    overrides: Overrides = "{}",
    seed: int | None = None,
    cancel: Cancel | None = None,
    agreed: object = None,
) -> str:
    """The values of a scenario as JSON, without what is the default anyway."""

def to_toml(values: str) -> str:
    """A scenario in JSON as TOML, laid out as a resolved one is."""

@final
class TomlText:
    """A text in TOML that has been read; raises if it is none. `name` is what errors call it."""

    def __new__(cls, name: str, text: str) -> TomlText: ...
    def values(self) -> str:
        """The values of the text as JSON."""

    def line(self, path: Sequence[str | int]) -> int:
        """The line of a key or an item, counted from 1; of one that is not written, that of the table or array around it."""

def quantity(kind: str, text: str) -> float:
    """The number that a text says in seconds, bit/s or bytes; `kind` is `time`, `rate` or `size`."""

def amount(text: str) -> tuple[float, str] | None:
    """The number with which a text begins and what follows it; none if it begins with no number."""

def find_file(name: str, folder: str | None, places: list[str], own: bool, beside: bool, runs: bool) -> tuple[Path, bool]:
    """The file that a text in `folder` names, and whether the caller named it; raises if the text does not get it."""

def variants(
    text: str,
    name: str,
    format: Format,
    overrides: Overrides = "{}",
    repetitions: int | None = None,
    seed: int | None = None,
    cancel: Cancel | None = None,
    agreed: object = None,
) -> str:
    """The runs of `[sweep]`, JSON: a list of `label`, `overrides`, `parameters`, `seed`, `repetition`. All have been checked.

    A list in `overrides`, or a text `v1,v2` in a pair, is swept as well.
    """

def end_unanswered(fd: int, patience_s: float, status: int) -> None:
    """Ends the process with `status` if a signal comes and the main thread runs no Python for `patience_s` seconds after it.

    `fd` is the reading end of the pipe of `signal.set_wakeup_fd`, which this takes over. Not on Windows.
    """

def schema() -> str:
    """The JSON Schema of a scenario."""

def intervals(values: bytes, columns: int, low: bytes, top: bytes, level: float) -> bytes:
    """Means of rows of values with their intervals: 8 doubles a row."""

def differences(a: bytes, b: bytes) -> bytes:
    """Differences of doubles; 0 where both are equal but for rounding."""

def student(freedom: float, level: float) -> float:
    """How many standard errors half of a t interval is; NaN where there is none."""

def detectable_difference(differences: bytes, power: float, level: float) -> float:
    """The smallest mean difference that a paired t test of as many pairs finds with probability `power`."""

def bounds(kind: str, flows: int = 0, difference: bool = False) -> tuple[float, float]:
    """The smallest and the largest value of a kind of quantity: `share`, `index`, `amount`, `multiple` or `number`."""

def flow_names(traffic: list[str], source: list[str], destination: list[str], control: list[str]) -> list[str]:
    """What a reader would call each flow."""

def listing(kind: str) -> list[tuple[str, str]]:
    """Names with one line each; `kind` is congestion-controls, stacks, queues, traffic, templates, disks or host-drops."""

def model_known_as(word: str) -> str | None:
    """The name here of a model that papers and other tools call so, if it has another."""

def describe_cc(name: str) -> str:
    """A congestion control as JSON: `name`, `summary`, `parameters` (`name`, `default`, `doc`, `source`), `states`."""

def data_dictionary() -> str:
    """Every table and column, Markdown."""

def version() -> str: ...
def packetdrill(text: str, folder: str | None = None, stack: str = "linux", trace: bool = False) -> str:
    """Runs a script of packetdrill; the report as JSON."""

@final
class Queue:
    """A queue discipline, stepped by hand. Times are seconds, sizes bytes."""

    def __new__(cls, kind: str, link_rate: float = 1e9, bdp: float = 0.0, seed: int = 1, **params: Any) -> Queue: ...
    @property
    def kind(self) -> str: ...
    def parameters(self) -> str: ...
    def enqueue(
        self,
        now: float,
        size: float,
        flow: int = 0,
        ect: int = 0,
        id: Any = None,
        priority: int = 0,
        weight: int = 1,
    ) -> str: ...
    def dequeue(self, now: float) -> tuple[Any, bool] | None: ...
    def ready_at(self) -> float | None: ...
    @property
    def bytes(self) -> int: ...
    @property
    def packets(self) -> int: ...
    def stats(self) -> dict[str, Any]: ...
    def debug(self) -> str: ...

class Cc:
    """A congestion control, stepped by hand. Times are seconds, sizes bytes, rates bit/s."""

    def __new__(
        cls,
        kind: str | dict[str, Any],
        mss: int = 1448,
        initial_window: float = 10.0,
        *,
        slow_start: dict[str, Any] | None = None,
        abc_limit: float | None = None,
        **params: Any,
    ) -> Cc: ...
    @property
    def name(self) -> str: ...
    def on_sent(self, now: float, bytes: float, inflight: float) -> None: ...
    def on_ack(
        self,
        now: float,
        acked: float,
        rtt: float | None,
        inflight: float,
        ce: float = 0.0,
        app_limited: bool = False,
        delivered: float | None = None,
        rate: float | None = None,
        *,
        prior_delivered: float | None = None,
        newly_lost: float = 0.0,
        one_way: float | None = None,
    ) -> None: ...
    def on_loss(self, now: float, lost: float, inflight: float) -> None: ...
    def on_ecn(self, now: float, inflight: float) -> None: ...
    def on_rto(self, now: float, inflight: float) -> None: ...
    def on_local_drop(self, now: float, inflight: float) -> None: ...
    def nic(self, rate: float, base_rtt: float) -> None: ...
    def on_cnp(self, now: float) -> None: ...
    def on_telemetry(self, hops: Sequence[tuple[float, float, float, float]], acked: float, sent: float) -> None: ...
    def on_recovered(self) -> None: ...
    def on_undo(self, now: float) -> None: ...
    def begin(self, now: float, rtt: float | None = None, packet: float | None = None) -> None: ...
    def next_train(self, now: float, segments: int) -> Mapping[str, float] | None: ...
    def on_train_cut(self, now: float, packets: int) -> None: ...
    def on_arrival(
        self,
        now: float,
        left: float,
        came: float,
        train: int = 0,
        sent: int = 0,
        in_train: bool = False,
        bases: int = 0,
    ) -> None: ...
    def set_seed(self, seed: int) -> None: ...
    def remember(self) -> Mapping[str, float] | None: ...
    def recall(self, rate: float, trust: float = 1.0) -> None: ...
    def next_timer(self) -> float | None: ...
    def on_timer(self, now: float) -> None: ...
    @property
    def cwnd(self) -> float: ...
    @property
    def ssthresh(self) -> float: ...
    @property
    def pacing_rate(self) -> float | None: ...
    @property
    def in_slow_start(self) -> bool: ...
    @property
    def state(self) -> Mapping[str, float]: ...
    def poke(self, **values: float) -> None: ...

@final
class DiskModel:
    """A disk stepped by hand; see `elephan.disk`."""

    def __new__(cls, **params: Any) -> DiskModel: ...
    def read(self, now: float, size: float) -> float: ...
    def write(self, now: float, size: float) -> tuple[float, float]: ...
    def cached_bytes(self, now: float) -> int: ...
    @property
    def read_rate(self) -> float: ...
    @property
    def write_rate(self) -> float: ...
    def parameters(self) -> str: ...

@final
class ReceiveSide:
    """The receive side of a host; see `elephan.host`."""

    def __new__(cls, packet: float, interrupt: float, **params: Any) -> ReceiveSide: ...
    @property
    def waiting(self) -> tuple[int, int]: ...
    @property
    def interrupts(self) -> int: ...
    @property
    def busy(self) -> float: ...
    def parameters(self) -> str: ...
    def frame(self, now: float) -> int: ...
    def advance(self, now: float) -> None: ...
    def served(self) -> list[tuple[int, float]]: ...
    def dropped(self) -> list[tuple[int, str]]: ...

class SackWalker:
    """The walk of SACK; see `elephan.host`."""

    def __new__(cls, kind: str) -> SackWalker: ...
    def walk(self, blocks: list[tuple[int, int]], ack: int, in_flight: int, segment: int = 1448) -> int: ...

class TransmitSide:
    """The transmit side of a host; see `elephan.host`."""

    def __new__(cls, rate: float, **params: Any) -> TransmitSide: ...
    @property
    def refused(self) -> int: ...
    def parameters(self) -> str: ...
    def offer(self, now: float, wire_bytes: float, payload: float = 0.0, flow: int = 0) -> tuple[float, float] | None: ...
    def waiting(self, now: float) -> tuple[int, int]: ...

class CongestionPoint:
    """A congestion point of QCN or ECM; see `elephan.l2`."""

    def __new__(cls, kind: str, seed: int = 1, **params: Any) -> CongestionPoint: ...
    @property
    def kind(self) -> str: ...
    @property
    def told(self) -> list[tuple[int, float]]: ...
    def parameters(self) -> str: ...
    def enqueue(self, now: float, size: float, queue_bytes: float, source: int = 0, tagged: bool = False) -> float | None: ...

class ReactionPoint:
    """A reaction point of QCN or ECM; see `elephan.l2`."""

    def __new__(cls, kind: str, line_rate: float = 1e10, seed: int = 1, **params: Any) -> ReactionPoint: ...
    @property
    def kind(self) -> str: ...
    @property
    def limited(self) -> bool: ...
    @property
    def rate(self) -> float: ...
    @property
    def target_rate(self) -> float | None: ...
    @property
    def point(self) -> int | None: ...
    @property
    def stopped_until(self) -> float: ...
    def parameters(self) -> str: ...
    def notify(self, now: float, feedback: float, point: int = 0) -> None: ...
    def on_sent(self, now: float, size: float) -> None: ...
    def on_timer(self, now: float) -> None: ...
    def next_timer(self) -> float | None: ...

class PrrRecovery:
    """One fast recovery with proportional rate reduction, stepped by hand. Sizes are bytes."""

    def __new__(cls, mss: float = 1448, variant: str = "rfc9937") -> PrrRecovery: ...
    def start(self, cwnd: float, ssthresh: float, inflight: float) -> None: ...
    def on_ack(self, delivered: float, pipe: float, safe: bool = True) -> int: ...
    def on_sent(self, bytes: float) -> None: ...

@final
class Rounds:
    """Streams of one controller that share a bottleneck, a round trip at a time. Seconds, bytes and bit/s, of payload."""

    def __new__(
        cls,
        kind: str | Mapping[str, Any],
        streams: int,
        mss: int,
        rate: float,
        rtt: float,
        queue: float,
        loss: float,
        window: float,
        counted: float,
        initial_window: float,
        seed: int,
        **params: Any,
    ) -> Rounds: ...
    @property
    def suits(self) -> bool: ...
    @property
    def cwnd(self) -> list[float]: ...
    @property
    def overflows(self) -> int: ...
    @property
    def taken(self) -> int: ...
    def follow(
        self,
        stream: int,
        times: Sequence[float],
        acked: Sequence[float],
        repairing: Sequence[bool],
        rtt: Sequence[float],
        cut: Sequence[bool],
        cwnd: Sequence[float],
        ssthresh: Sequence[float],
    ) -> None: ...
    def run(self, bytes: float, rounds: int) -> tuple[float, float, int]: ...

@final
class RttEstimator:
    """SRTT, RTTVAR and RTO, stepped by hand. Times are seconds; a time option may be text with a unit."""

    def __new__(
        cls,
        stack: str = "rfc",
        *,
        rto_rule: str | None = None,
        rto_initial: float | str | None = None,
        rto_min: float | str | None = None,
        rto_max: float | str | None = None,
        clock_granularity: float | str | None = None,
    ) -> RttEstimator: ...
    def sample(self, now: float, rtt: float) -> None: ...
    def backoff(self) -> None: ...
    @property
    def srtt(self) -> float | None: ...
    @property
    def rttvar(self) -> float | None: ...
    @property
    def rto(self) -> float: ...

class Ranks:
    """A parallel program in GOAL, stepped by hand. Times are seconds."""

    def __new__(cls, text: str, eager: int) -> Ranks: ...
    @property
    def count(self) -> int: ...
    @property
    def operations(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def pairs(self) -> list[tuple[int, int]]: ...
    @property
    def done(self) -> bool: ...
    def begin(self, now: float) -> list[tuple[Any, ...]]: ...
    def computed(self, now: float, rank: int, operation: int) -> list[tuple[Any, ...]]: ...
    def arrived(self, now: float, rank: int, operation: int) -> list[tuple[Any, ...]]: ...
    def acknowledged(self, now: float, rank: int, operation: int) -> list[tuple[Any, ...]]: ...
    def critical_path(self) -> list[tuple[int, int | None, int, float, float]]: ...
    def ideal(self, rate_bps: float, latency: float) -> list[float]: ...

def collective(operation: str, algorithm: str, ranks: int, bytes: int, chunks: int) -> str:
    """The text in GOAL of a collective operation."""

class Guest:
    """The base of `elephan.CongestionControl`: the window that a class steers, in bytes, and what else it may ask for."""

    def __new__(cls, *args: Any, **named: Any) -> Self: ...
    cwnd: float
    ssthresh: float
    pacing_rate: float | None
    timer: float | None
    @property
    def mss(self) -> float: ...
    @property
    def in_slow_start(self) -> bool: ...
    @property
    def now(self) -> float: ...

@final
class Ack:
    """An acknowledgement of new data. Times are seconds, sizes bytes, rates bit/s."""

    @property
    def now(self) -> float: ...
    @property
    def acked(self) -> int: ...
    @property
    def rtt(self) -> float | None: ...
    @property
    def inflight(self) -> int: ...
    @property
    def ce(self) -> int: ...
    @property
    def app_limited(self) -> bool: ...
    @property
    def delivered(self) -> int: ...
    @property
    def rate(self) -> float | None: ...
    @property
    def min_rtt(self) -> float | None: ...
    @property
    def srtt(self) -> float | None: ...
    @property
    def in_recovery(self) -> bool: ...

@final
class Round:
    """The sums of one round trip. Times are seconds, sizes bytes, rates bit/s."""

    @property
    def now(self) -> float: ...
    @property
    def duration(self) -> float: ...
    @property
    def acks(self) -> int: ...
    @property
    def acked(self) -> int: ...
    @property
    def ce(self) -> int: ...
    @property
    def samples(self) -> int: ...
    @property
    def rtt(self) -> float | None: ...
    @property
    def rtt_min(self) -> float | None: ...
    @property
    def rtt_max(self) -> float | None: ...
    @property
    def inflight(self) -> int: ...
    @property
    def app_limited(self) -> bool: ...
    @property
    def delivered(self) -> int: ...
    @property
    def rate(self) -> float | None: ...
    @property
    def min_rtt(self) -> float | None: ...
    @property
    def srtt(self) -> float | None: ...

@final
class Congestion:
    """A congestion event. Times are seconds, sizes bytes."""

    @property
    def kind(self) -> Literal["loss", "ecn", "rto", "local_drop"]: ...
    @property
    def now(self) -> float: ...
    @property
    def lost(self) -> int: ...
    @property
    def inflight(self) -> int: ...

def check_guest(words: dict[str, Any], seed: int, cases: int, acks: int) -> tuple[str, BaseException | None] | None:
    """Puts a class through drawn stories and, with `acks`, ten days; None, or the failure as text and what was raised."""

def check_built_in(words: dict[str, Any], seed: int, cases: int, acks: int) -> tuple[str, BaseException | None] | None:
    """The same for a built-in congestion control, a table with `kind` and its parameters."""

@final
class TcpEndpoint:
    """One end of a connection, stepped by hand. Times are seconds, sizes bytes."""

    def __new__(cls, stack: str = "rfc", isn: int = 0, auto_read: bool = False, **options: Any) -> TcpEndpoint: ...
    def connect(self, now: float, fast_open: bool = False, cookie: bytes | None = None, mss: int | None = None) -> None: ...
    def listen(self, now: float, cookie: bytes | None = None) -> None: ...
    def write(self, now: float, n: float, more: bool = False, eor: bool = False) -> int: ...
    def read(self, n: float) -> int: ...
    def close(self, now: float) -> None: ...
    def abort(self, now: float) -> None: ...
    def set(
        self,
        now: float,
        nodelay: bool | None = None,
        cork: bool | None = None,
        send_buffer: float | None = None,
        receive_buffer: float | None = None,
        congestion_control: Any = None,
    ) -> None: ...
    def info(self) -> dict[str, Any]: ...
    def ss(self) -> str: ...
    def on_segment(self, now: float, seg: dict[str, Any]) -> None: ...
    def on_local_drop(self, now: float, seg: dict[str, Any]) -> None: ...
    def on_timer(self, now: float) -> None: ...
    def poll_transmit(self, now: float) -> list[dict[str, Any]]: ...
    def next_timer(self) -> float | None: ...
    @property
    def state(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def cwnd(self) -> float: ...
    @property
    def ssthresh(self) -> float: ...
    @property
    def pacing_rate(self) -> float | None: ...
    @property
    def inflight(self) -> int: ...
    @property
    def pipe(self) -> int: ...
    @property
    def acked(self) -> int: ...
    @property
    def received(self) -> int: ...
    @property
    def mss(self) -> int: ...
    @property
    def srtt(self) -> float | None: ...
    @property
    def rto(self) -> float: ...
    @property
    def stats(self) -> dict[str, int]: ...
