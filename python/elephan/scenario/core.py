"""The one seam to the compiled core: how its functions are called, and how a run is watched and stopped.

A run executes in a thread of its own (the core releases the GIL), so that signals reach Python at once. If a signal handler
raises an exception, `KeyboardInterrupt` or any other, the run is stopped and the exception goes on to the caller. What else may
take long in the core looks at signals by itself when the main thread calls it (`guard_long` in crates/py).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from elephan.base.errors import ElephanError, InputError, lacks_memory
from elephan.base.signals import mark
from elephan.base.stepped import tell_wrong_arguments
from elephan.scenario.model import plain
from elephan.scenario.reference import reference_of, words
from elephan.scenario.source import Source, json_text

Overrides = Mapping[str, Any]
Progress = Callable[[float, int], None]  # share of the simulated time done, events so far

STOPS_WITHIN_S = 1.0  # how long what is asked to stop is waited for


class _Loading(threading.local):
    """What this thread is told while it loads and runs congestion controls that are not built in."""

    file: str = ""  # the file or module being loaded
    interrupt: BaseException | None = None  # of a signal handler while loading, which the core hands on as one of its own errors
    cancel: Any = None  # the flag that stops what the thread runs
    ends: contextlib.ExitStack | None = None  # what is to be done when that is over
    copies: dict[int, Any] | None = None  # the controllers of one branch that are copied so far, and what they share


loading = _Loading()


def stopped() -> bool:
    """Returns whether what this thread runs is to stop."""
    return loading.cancel is not None and bool(loading.cancel.cancelled)


def is_running() -> bool:
    """Returns whether this thread runs a scenario, not only reads one."""
    return loading.ends is not None


def at_end(function: Callable[[], object]) -> None:
    """Calls a function when what this thread runs is over; not at all for what is stepped by hand."""
    if loading.ends is not None:
        loading.ends.callback(function)


@contextlib.contextmanager
def running(cancel: Any) -> Iterator[None]:
    """While this thread runs something that a flag stops; None leaves the flag that there is."""
    outer = loading.cancel, loading.ends
    try:
        with contextlib.ExitStack() as ends:
            loading.cancel, loading.ends = cancel or outer[0], ends
            yield
    finally:
        loading.cancel, loading.ends = outer


def not_while_loading() -> None:
    """Refuses a run asked for by a file that is being loaded: the run, in another thread, would need the file loaded."""
    if loading.file:
        raise InputError(f'{loading.file} runs a simulation when it is loaded; put that under `if __name__ == "__main__":`')


def core() -> ModuleType:
    """The compiled module, or one line about how to get it."""
    try:
        import elephan._core as module
    except ImportError as error:
        if lacks_memory(error):
            raise MemoryError from None
        raise ElephanError(f"the compiled core of elephan is missing or broken ({error}); build it with `make`") from None
    tell_wrong_arguments(module)
    return module


def _translated(error: Exception) -> Exception:
    """The core's exceptions as ours: a scenario error is the user's input, anything else a failed run."""
    module = core()
    if isinstance(error, InputError):
        return error
    if isinstance(error, module.ScenarioError):
        return InputError(str(error))
    if isinstance(error, module.RunError):
        return ElephanError(str(error))
    if isinstance(error, UnicodeEncodeError):
        return InputError(f"{error.object[error.start : error.end]!r} in what was given is not text: half of a surrogate pair")
    return error


def call_with(name: str, *arguments: Any, **named: Any) -> Any:
    """Calls a function or class of the core, with its errors as ours."""
    return _called(getattr(core(), name), *arguments, **named)


def _called(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return function(*arguments, **named)
    except Exception as error:
        interrupt, loading.interrupt = loading.interrupt, None
        if interrupt is not None:
            raise interrupt from None
        translated = _translated(error)
        if translated is error:
            raise
        raise translated from error.__cause__  # what a congestion control in Python raised, or nothing


def call(name: str, *arguments: Any) -> Any:
    """Calls a function of the core without named arguments."""
    return call_with(name, *arguments)


def build(name: str, *arguments: Any, **named: Any) -> Any:
    """An object of the core from what a user gave: an argument of the wrong type or size is an error of ours."""
    try:
        return call_with(name, *arguments, **named)
    except (TypeError, OverflowError) as error:
        raise InputError(f"{name}: {str(error).partition(chr(10))[0]}") from None


def as_overrides(given: Any) -> dict[str, Any]:
    """The `set` of a run or a sweep: values by path."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise InputError(f'set is a dict such as {{"switches.sw.memory": "96 KiB"}}, not {given!r}')
    return {key: plain(value) for key, value in given.items()}


def guest_words(controller: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """How a scenario names a congestion control given as a class, a factory or a program, with keywords for it."""
    if not callable(controller) and reference_of(named := plain(controller)) is None:
        raise InputError(f"a congestion control is a name, a class or a function that gives an object, not {controller!r}")
    named = words(controller) if callable(controller) else named
    return named | ({"params": named.get("params", {}) | plain(params)} if params else {})


def check_values(given: Mapping[str, Any]) -> None:
    """Refuses what the core has no value for: NaN and infinity, and Python's own objects."""
    json_text(given)


def override_text(overrides: Overrides) -> str:
    """Overrides as the core takes them: a JSON object, kept in order."""
    return json_text(overrides)


def resolve(source: Source, overrides: Overrides, seed: int | None = None) -> dict[str, Any]:
    """The resolved scenario as the core describes it."""
    found = json.loads(_read("resolve", source, override_text(overrides), seed))
    return dict(found)


def resolved_toml(source: Source, overrides: Overrides, seed: int | None = None) -> str:
    """Returns the resolved scenario in TOML alone, which is quicker than `resolve`."""
    given = override_text(overrides)
    return str(call_with("resolved_toml", source.text, source.name, source.format, given, seed, agreed=source.agreed))


def port_ways(source: Source, overrides: Overrides, seed: int | None = None) -> list[dict[str, Any]]:
    """Returns for each port its name (`port`), how packets pass it (`way`: `fast`, `fused`, `ahead` or `queued`) and why it
    needs a queue (`because`, a list).
    """
    return [dict(one) for one in json.loads(_read("port_ways", source, override_text(overrides), seed))]


def toml_values(text: str) -> dict[str, Any]:
    """Returns the values of a text in TOML, as `tomllib.loads` does, 20 times as fast."""
    return dict(json.loads(call("toml_values", text)))


def brief(source: Source, overrides: Overrides, seed: int | None = None) -> dict[str, Any]:
    """Returns the values of a scenario with its overrides and its seed, without what is the default anyway."""
    return dict(json.loads(_read("brief", source, override_text(overrides), seed)))


def to_toml(values: Mapping[str, Any]) -> str:
    """Returns a scenario as a text in TOML, laid out as a resolved one is."""
    return str(call("to_toml", json_text(values)))


def variants(source: Source, overrides: Overrides, repetitions: int | None, seed: int | None = None) -> list[dict[str, Any]]:
    """The runs of a scenario's `[sweep]`: label, overrides, seed and parameters of each. A list in `overrides` is swept."""
    text = _read("variants", source, override_text(overrides), repetitions, seed)
    return [dict(one) for one in json.loads(text)]


def capacities(scenario: str, times_ns: Sequence[int]) -> dict[str, tuple[list[float], float]]:
    """Returns for each port whose rate follows a trace what it can carry: bits from the start of the run to each time.

    Beside them stands by how many bytes a packet counts more than on the wire. `scenario` is resolved. Ctrl-C stops the reading.
    """
    times = list(times_ns)
    if threading.current_thread() is not threading.main_thread():
        return dict(call_with("capacities", scenario, times))
    return dict(interruptible("elephan-read", lambda stop: call_with("capacities", scenario, times, cancel=stop.token)))


def _read(name: str, source: Source, *more: Any) -> str:
    """Returns what a function of the core reads of a scenario; Ctrl-C reaches Python at once. A scenario that brings Python along
    is read in this thread: Ctrl-C ends what its files do when they are loaded, and they find the thread that they expect.
    """
    arguments = (source.text, source.name, source.format, *more)
    if loading.file or threading.current_thread() is not threading.main_thread() or "python" in f"{arguments}":
        return str(call_with(name, *arguments, agreed=source.agreed))
    return str(interruptible("elephan-read", lambda stop: call_with(name, *arguments, agreed=source.agreed, cancel=stop.token)))


class Stop:
    """Asks runs to stop; one may be shared by many runs. `calls` are functions that stop what does not look at the flag."""

    def __init__(self) -> None:
        self.token = core().Cancel()
        self.asked = False
        self.calls: list[Callable[[], object]] = []

    def ask(self) -> None:
        self.asked = True
        self.token.cancel()
        for call in self.calls:
            call()


def execute(
    source: Source,
    overrides: Overrides,
    seed: int | None,
    folder: str | None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Any:
    """One run of the core in this thread; the result is the core's."""
    token = stop.token if stop else None
    given = override_text(overrides)
    with running(token):
        return call("run", source.text, source.name, source.format, given, seed, folder, progress, token, source.agreed)


def execute_interruptible(
    source: Source,
    overrides: Overrides,
    seed: int | None,
    folder: str | None,
    progress: Progress | None = None,
) -> Any:
    """One run in a thread of its own; what a signal handler raises stops it, and is raised here once it has stopped."""
    not_while_loading()
    return interruptible("elephan-run", lambda stop: execute(source, overrides, seed, folder, progress, stop))


@contextlib.contextmanager
def copying() -> Iterator[None]:
    """While the congestion controls of one branch are copied together."""
    loading.copies = {}
    try:
        yield
    finally:
        loading.copies = None


class Beginning:
    """What branches of a scenario begin with; the core keeps it as far as one of them has needed it."""

    def __init__(self, source: Source, overrides: Overrides, seed: int | None) -> None:
        self.source, self.overrides, self.seed = source, dict(overrides), seed
        self._changes = toml_values(resolved_toml(source, overrides, seed)).get("change", [])
        given = override_text(overrides)
        self._core = build("Beginning", source.text, source.name, source.format, given, seed, agreed=source.agreed)

    def changed(self, at: str, set: Overrides) -> dict[str, Any]:
        """Returns the overrides of the scenario that is a branch: one `[[change]]` more."""
        return self.overrides | ({"change": [*self._changes, {"at": at, "set": dict(set)}]} if set else {})

    def branch(
        self, at: str, set: Overrides, siblings: Sequence[Overrides], folder: str | None, progress: Progress | None = None
    ) -> Any:
        """Runs one branch in a thread of its own, as `execute_interruptible` does; `siblings`: what others will change."""
        not_while_loading()
        words, *others = (override_text(self.changed(at, one)) for one in (set, *siblings))

        def run(stop: Stop) -> Any:
            with copying():
                return _called(self._core.branch, at, words, others, folder, progress, stop.token)

        try:
            return interruptible("elephan-run", run)
        except InputError as error:
            _, own, message = str(error).partition(f"change[{len(self._changes)}].set: ")
            raise (InputError(f"set: {message}") if own else error) from error.__cause__


def interruptible(name: str, work: Callable[[Stop], Any]) -> Any:
    """Returns what `work` answers, done in a thread of this name.

    What a signal handler raises, as for Ctrl-C, asks it to stop and is raised here once it has. If it has not within a second, or
    at a second Ctrl-C, the thread gets a KeyboardInterrupt in what it does in Python: in a congestion control that never returns.
    If that ends it neither, since it waits in a call that no exception reaches (a lock, a socket, a long sleep), it is left behind.
    """
    stop, box, done = Stop(), {}, threading.Event()

    def body() -> None:
        try:
            with running(stop.token):
                box["result"] = work(stop)
        except BaseException as error:
            box["error"] = error
        finally:
            done.set()

    thread = threading.Thread(target=body, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise ElephanError("no thread can be started: not enough memory, or too many threads") from None
    interrupt: BaseException | None = None
    patience, forced = math.inf, False
    # Not by `thread.join`: interrupted, it may take a thread that still runs for one that has ended.
    while not done.is_set():
        try:
            done.wait(0.05)
        except BaseException as error:
            patience = time.monotonic() + (STOPS_WITHIN_S if interrupt is None else 0.0)
            interrupt = interrupt or error
            mark(interrupt)
            stop.ask()
        if time.monotonic() >= patience:
            if forced:
                break
            patience, forced = time.monotonic() + STOPS_WITHIN_S, True
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))
    if done.is_set():
        thread.join()
    if interrupt is not None:
        raise interrupt
    if "error" in box:
        raise box["error"]
    if "result" not in box:
        raise MemoryError  # not even the error could be kept
    return box["result"]
