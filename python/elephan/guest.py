"""Congestion controls written in Python: the base class, and how a class is named in a scenario and found again.

    class Mine(el.CongestionControl):
        def on_ack(self, ack):
            if not ack.app_limited:
                self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd

    el.run("sawtooth", set={"traffic.bulk.congestion_control": Mine})

In a scenario: `congestion_control = { python = "module:Class", params = { ... } }`, or `"path/to/file.py:Class"` relative to the
scenario. Times are seconds, sizes bytes, rates bit/s.
"""

from __future__ import annotations

import contextlib
import copy as copies
import difflib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import json
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from elephan import _core, core
from elephan._model import LawFactory
from elephan.errors import InputError, nearest


class CongestionControl(_core.Guest):
    """The base of congestion controls in Python. Each connection has an object of its own.

    Constructor keywords are the parameters (`params` in a scenario). There is no connection yet in `__init__`: `cwnd`,
    `ssthresh` and `mss` are known from the first call on.

    What a class sets, in any method but `on_sent` (which may set the last two):

    - `cwnd`: congestion window, bytes, float. Below one segment a run takes it for one segment.
    - `ssthresh`: slow-start threshold, bytes; before the first congestion event infinite, or where the stack begins (`winxp`:
      64 KiB). Below two segments it is taken for two.
    - `pacing_rate`: bit/s of payload, as `ack.rate` is, or None: not paced.
    - `timer`: when `on_timer` is to be called, seconds of simulated time, or None.

    NaN, a pacing rate that is not positive and a timer that is not after now raise `ValueError` where they are set.
    What a class can read: these, `mss` (bytes), `in_slow_start` (cwnd < ssthresh) and `now` (seconds).

    What a class defines: `on_ack`, `on_round` or `on_delivery`, and the others as needed. Methods that it does not define are
    not called and cost nothing; `on_round` is called once a round trip, so that a slow method is affordable.

    Slow start is the stack's: below `ssthresh` it grows the window, and `on_ack` and `on_round` are called above it. With
    `slow_start = False` they are called below as well and growth is theirs. Fast recovery is the stack's too: what is lost is
    told once, by `on_congestion` when it begins, and no `on_ack` until it is over.
    """

    slow_start: bool = True
    """Whether the stack's slow start grows the window below `ssthresh`."""

    measures_rate: bool = False
    """Whether `rate` is measured, which costs memory for every segment in flight."""

    states: tuple[str, ...] = ()
    """Attributes that are numbers and worth watching: `state` of `elephan.cc.new` shows them."""

    def on_ack(self, ack: _core.Ack) -> None:
        """An ACK of new data outside fast recovery and, unless `slow_start` is False, outside slow start.

        `ack` has `now`, `acked`, `rtt` (None without a sample), `inflight` (before the ACK), `ce` (of `acked`, what met
        congestion marks), `app_limited` (the window was not the limit: no growth), `delivered` (since the connection began),
        `rate` (with `measures_rate`), `min_rtt`, `srtt`.
        """

    def on_round(self, round: _core.Round) -> None:
        """A round trip is over: what was in flight when it began is acknowledged. Called where `on_ack` is, after it.

        `round` has the sums and extremes of its ACKs: `now`, `duration`, `acks`, `acked`, `ce`, `samples` of `rtt` (the mean),
        `rtt_min`, `rtt_max`, `rate` (the largest), `app_limited` (at one ACK at least); and of the last ACK `inflight`,
        `delivered`, `min_rtt`, `srtt`.
        """

    def on_delivery(self, ack: _core.Ack) -> None:
        """Any ACK of new data, in slow start and in fast recovery (`ack.in_recovery`) as well, before `on_ack`: for measuring."""

    def on_sent(self, now: float, bytes: int, inflight: int) -> None:
        """`bytes` are sent while `inflight` bytes are in flight before them."""

    def on_congestion(self, event: _core.Congestion) -> None:
        """A congestion event. `event` has `kind` ("loss", "ecn", "rto", "local_drop"), `now`, `lost`, `inflight` (FlightSize).

        What it leaves is the window after recovery. By default the cut of Reno, RFC 5681 equation 4.
        """
        self.ssthresh = max(min(self.cwnd, event.inflight) / 2, 2 * self.mss)
        self.cwnd = self.mss if event.kind == "rto" else self.ssthresh

    def on_undo(self, now: float) -> None:
        """The last event was spurious. `cwnd` and `ssthresh` are as before it already; restore what else was changed."""

    def on_timer(self, now: float) -> None:
        """The time set as `timer` has come; it is None again."""


_HOOKS = ("on_sent", "on_delivery", "on_ack", "on_round", "on_undo", "on_timer")
_GROWTH = ("on_ack", "on_round", "on_delivery")
_SWITCHES = ("slow_start", "measures_rate")

# Classes and functions handed over that no import finds again, by the name that scenarios of this process give them.
_handed_over: dict[str, LawFactory] = {}
_modules: dict[tuple[str, str], ModuleType] = {}
_reading = threading.RLock()
_PATIENCE = 60.0  # seconds for another thread to load a file; one that never ends must not hang all


def _find(reference: str, folder: str | None) -> LawFactory:
    """What `module:Class` or `file.py:Class` names."""
    place, colon, name = reference.rpartition(":")
    if not colon or not place or not name:
        raise InputError('write "module:Class" or "path/to/file.py:Class"')
    if reference in _handed_over:
        return _handed_over[reference]
    found: Any = _from_file(place, folder) if place.endswith(".py") else _from_module(place, name)
    for part in name.split("."):
        if not hasattr(found, part):
            known = [key for key, value in vars(found).items() if inspect.isclass(value) and issubclass(value, CongestionControl)]
            known = [key for key in known if key != "CongestionControl"]
            hint = nearest(part, known, "it has") if known else "; it has no congestion control"
            raise InputError(f'{place} has no "{name}"{hint}')
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{name} is {type(found).__name__}, not a class")
    return cast(LawFactory, found)


def _path(place: str, folder: str | None) -> Path:
    """A file relative to the scenario or, for what is added to a scenario of the library, to the working directory."""
    beside = Path(folder or "") / place
    return Path(place) if not beside.exists() and Path(place).exists() else beside


def _source(path: Path, place: str) -> bytes:
    """What the file found for `place` has in it."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        here = "" if path == Path(place) else f", nor is it in the working directory {Path.cwd()}"
        raise InputError(f"{path}: {error.strerror}{here}") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


@contextlib.contextmanager
def _loading(name: str) -> Iterator[None]:
    """While a file or module called `name` is loaded; what it raises, or its leaving Python, is one line."""
    outer, core.loading.file = core.loading.file, name
    try:
        yield
    except (Exception, SystemExit) as error:
        raise InputError(told(error, name)) from error
    finally:
        core.loading.file = outer


def _from_module(name: str, wanted: str) -> ModuleType:
    # A module that is still being imported is locked to other threads, such as that of a run that it asks for itself.
    present = sys.modules.get(name)
    if present is not None and hasattr(present, wanted.partition(".")[0]):
        return present
    try:
        with _loading(name):
            return importlib.import_module(name)
    except InputError as error:
        missing = error.__cause__.name if isinstance(error.__cause__, ModuleNotFoundError) else None
        if missing is not None and (name == missing or name.startswith(missing + ".")):
            raise InputError(
                f'no module "{missing}"; a file is named by its path, such as "{name.replace(".", "/")}.py:Class"'
            ) from error
        raise


def _from_file(place: str, folder: str | None) -> ModuleType:
    """The module of a file, read again when the file has changed."""
    path = _path(place, folder)
    source = _source(path, place)
    key = (str(path.resolve()), hashlib.sha256(source).hexdigest())
    if not _reading.acquire(timeout=_PATIENCE):
        raise InputError(f"{path.name}: another thread has not loaded it, or a file before it, in {_PATIENCE:g} s")
    try:
        return _modules.get(key) or _executed(path, source, key)
    finally:
        _reading.release()


def _executed(path: Path, source: bytes, key: tuple[str, str]) -> ModuleType:
    name = f"elephan_guest_{path.stem}_{key[1][:12]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    # Known before it is complete, so that a file that names itself is not loaded without end.
    sys.modules[name] = _modules[key] = module
    try:
        with _loading(path.name):
            exec(compile(source, str(path), "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name], _modules[key]
        raise
    return module


def told(error: BaseException, file: str = "") -> str:
    """An exception as one line with the place where it was raised, or that called what raised it in elephan."""
    if isinstance(error, SyntaxError):
        return f"{Path(error.filename or file).name}:{error.lineno}: {type(error).__name__}: {error.msg}"
    own = Path(__file__).parent
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if own not in Path(frame.filename).parents]
    text = " ".join(str(error).split())
    name = "" if isinstance(error, InputError) else type(error).__name__
    line = ": ".join(part for part in (name, text) if part)
    return f"{line} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else line


def _made(make: LawFactory, name: str, params: Mapping[str, Any]) -> CongestionControl:
    """An object for a try, or one line about why there is none."""
    try:
        known: Mapping[str, inspect.Parameter] = inspect.signature(make).parameters
    except (TypeError, ValueError):
        known = {}
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for key in params:
        if known and not open_ended and key not in known:
            raise InputError(f'{name} has no parameter "{key}"{nearest(key, list(known), "it has")}')
    try:
        made = make(**params)
    except (Exception, SystemExit) as error:
        raise InputError(f"{name} cannot be made: {told(error)}") from error
    if not isinstance(made, CongestionControl):
        raise InputError(f"{name} gives {type(made).__name__}, which is not an elephan.CongestionControl")
    if not inspect.isclass(make) and make(**params) is made:
        raise InputError(f"{name} gives the same object twice; each connection needs its own")
    return made


def load(reference: str, params: str, folder: str | None) -> tuple[LawFactory, str, list[str], bool, bool, list[str]]:
    """What the core asks of a class: factory, name, hooks that it has, `slow_start`, `measures_rate`, `states`."""
    try:
        return _load(reference, json.loads(params), folder)
    except KeyboardInterrupt as interrupt:
        core.loading.interrupt = interrupt
        raise


def _load(
    reference: str, values: Mapping[str, Any], folder: str | None
) -> tuple[LawFactory, str, list[str], bool, bool, list[str]]:
    target = _find(reference, folder)
    made = _made(target, getattr(target, "__name__", type(target).__name__), values)
    law, name = type(made), type(made).__name__
    hooks = [hook for hook in _HOOKS if getattr(law, hook) is not getattr(CongestionControl, hook)]
    if not any(hook in hooks for hook in _GROWTH):
        raise InputError(f"{name} has none of on_ack, on_round and on_delivery: its window would never grow")
    _refuse_misspelled(law)
    for switch in _SWITCHES:
        if not isinstance(value := getattr(law, switch), bool):
            raise InputError(f"{name}.{switch} is True or False, not {value!r}")
    for state in law.states:
        value = getattr(made, state, None)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f'{name} names the state "{state}", which is {value!r} after __init__ and not a number')
    make = functools.partial(target, **values)
    return make, name, hooks, law.slow_start, law.measures_rate, list(law.states)


def _refuse_misspelled(law: type[CongestionControl]) -> None:
    """A method that nobody calls, or a switch that nobody reads, is a law that does something else than its author means."""
    for given in sorted({name for base in law.__mro__ for name in vars(base) if not hasattr(CongestionControl, name)}):
        hint = ""
        if given.startswith("on_") and callable(getattr(law, given)):
            hint = nearest(given, [*_HOOKS, "on_congestion"], "there are")
        elif close := difflib.get_close_matches(given, _SWITCHES, n=1, cutoff=0.85):
            hint = f'; did you mean "{close[0]}"?'
        if hint:
            raise InputError(f'{law.__name__} defines "{given}", which nothing asks for{hint}')


def describe(given: LawFactory) -> dict[str, Any]:
    """As `elephan.cc.describe` has it: the first line of the class, its constructor's keywords, its states."""
    if not callable(given):
        raise InputError(f"a congestion control is a name or a class, not {given!r}")
    parameters = [
        {"name": name, "default": None if p.default is p.empty else p.default, "doc": "", "source": ""}
        for name, p in inspect.signature(given).parameters.items()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    summary = (inspect.getdoc(given) or "").partition("\n")[0]
    states = [{"name": name, "unit": "", "doc": ""} for name in getattr(given, "states", ())]
    name = getattr(given, "__name__", type(given).__name__)
    return {"name": name, "summary": summary, "presets": [], "parameters": parameters, "states": states}


def copy(law: CongestionControl) -> CongestionControl:
    """Another object in the same state, but for what the core keeps."""
    other = type(law).__new__(type(law))
    other.__dict__.update(copies.deepcopy(law.__dict__))
    return other


def words(given: LawFactory) -> dict[str, Any]:
    """How a scenario names a class or a factory: by module and name, where that finds it again.

    A `functools.partial` of a class with keywords becomes the class with `params`.
    """
    params: dict[str, Any] = {}
    if isinstance(given, functools.partial) and not given.args:
        try:
            params = json.loads(json.dumps(given.keywords, allow_nan=False))
            given = given.func
        except (TypeError, ValueError):
            params = {}
    if inspect.isclass(given) and not issubclass(given, CongestionControl):
        raise InputError(f"{given.__name__} is not an elephan.CongestionControl")
    if isinstance(given, CongestionControl):
        raise InputError(f"give the class {type(given).__name__} and not an object of it: each connection has its own")
    name = getattr(given, "__qualname__", type(given).__qualname__)
    reference = f"{getattr(given, '__module__', None) or '__main__'}:{name}"
    return {"python": _reference(reference, given), **({"params": params} if params else {})}


def _reference(reference: str, given: LawFactory) -> str:
    candidate, number = reference, 1
    while True:
        try:
            found = _find(candidate, None)
        except InputError:
            found = _handed_over.setdefault(candidate, given)
        if found is given:
            return candidate
        number += 1
        candidate = f"{reference}#{number}"


def source_hash(reference: str, folder: str | None) -> str | None:
    """SHA-256 of the source of what `reference` names: of its file, or of the class alone when it was typed in; None if neither."""
    place = reference.rpartition(":")[0]
    try:
        if place.endswith(".py") and reference not in _handed_over:
            return hashlib.sha256(_path(place, folder).read_bytes()).hexdigest()
        target = _find(reference, folder)
        module = sys.modules.get(getattr(target, "__module__", ""))
        file = getattr(module, "__file__", None)
        text = Path(file).read_bytes() if file else inspect.getsource(target).encode()
        return hashlib.sha256(text).hexdigest()
    except (OSError, TypeError, InputError):
        return None


def named_in(value: Any) -> list[dict[str, Any]]:
    """Every guest that a resolved scenario names."""
    if isinstance(value, Mapping):
        own = [dict(value)] if isinstance(value.get("python"), str) else []
        return own + [found for inner in value.values() for found in named_in(inner)]
    if isinstance(value, list):
        return [found for inner in value for found in named_in(inner)]
    return []


def provenance(resolved: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """For a manifest: each guest of a scenario with the hash of its source. `name` is the scenario's, its path if it is a file."""
    folder = None if name.startswith("<") else str(Path(name).parent)
    rows: dict[str, dict[str, Any]] = {}
    for guest in named_in(resolved):
        reference = guest["python"]
        rows.setdefault(reference, {"python": reference, "source_sha256": source_hash(reference, folder)})
    return list(rows.values())
