"""Congestion controls in Python, and programs: how one is loaded if the caller agrees (`elephan.scenario.trust`), and checked."""

from __future__ import annotations

import contextlib
import difflib
import functools
import hashlib
import importlib
import inspect
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

from elephan.base.errors import ElephanError, InputError, nearest
from elephan.base.signals import from_outside
from elephan.scenario import core, inputs, program, trust
from elephan.scenario.controller import CongestionControl
from elephan.scenario.model import ControllerFactory, plain
from elephan.scenario.pack import Pack
from elephan.scenario.reference import HANDED_OVER, NAMED
from elephan.scenario.siblings import Siblings
from elephan.scenario.trust import Trust
from elephan.scenario.watch import Notes, watching

_HOOKS = ("on_sent", "on_delivery", "on_ack", "on_round", "on_undo", "on_timer")
_GROWTH = ("on_ack", "on_round", "on_delivery")
_SWITCHES = ("slow_start", "measures_rate")

_MARK = "__elephan_makes_controllers__"


@dataclass
class Ran:
    """A file that was run, what it read, and the files beside it that it imports, also later."""

    module: ModuleType
    code: CodeType
    notes: Notes = field(default_factory=Notes)
    needs: set[Path] = field(default_factory=set)


_reading = threading.RLock()  # for all packs: a file that, loaded, has another thread load it would never end
_PATIENCE = 60.0  # seconds for another thread to load a file; one that never ends must not hang all


def controller_factory(make: Callable[..., CongestionControl]) -> Callable[..., CongestionControl]:
    """Marks a function that gives a new controller for each connection, so that a scenario may name it as it may a class.

    >>> class Careful(el.CongestionControl):
    ...     def __init__(self, share):
    ...         self.share = share
    ...     def on_round(self, round):
    ...         self.cwnd += self.share * self.mss
    ...
    >>> @el.controller_factory
    ... def careful(share=0.1):
    ...     return Careful(share)
    ...
    >>> el.cc.new(careful, initial_window=10).cwnd
    14480.0
    """
    setattr(make, _MARK, True)
    return make


def _may_be_called(found: Any) -> bool:
    while isinstance(found, functools.partial):
        found = found.func
    if inspect.isclass(found):
        return issubclass(found, CongestionControl)
    return getattr(found, "__dict__", {}).get(_MARK) is True


@dataclass(frozen=True)
class Wanted:
    """What a reference is to name: in words, `Class` in an example, and how to tell what a file has of it."""

    words: str
    example: str
    is_one: Callable[[Any], bool]


def _is_controller(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, CongestionControl) and value is not CongestionControl


CONTROLLER = Wanted("congestion control", "Class", _is_controller)


def named(reference: str, folder: str | None, agreed: Trust, wanted: Wanted = CONTROLLER) -> Any:
    """What `module:Name` or `file.py:Name` names, if its code may run."""
    place, colon, name = reference.rpartition(":")
    if not colon or not place or not name:
        raise InputError(f'write "module:{wanted.example}" or "path/to/file.py:{wanted.example}"')
    if reference in HANDED_OVER:
        return HANDED_OVER[reference]
    found: Any = _place(place, name, reference, folder, agreed)
    for part in name.split("."):
        if not hasattr(found, part):
            known = [key for key, value in vars(found).items() if wanted.is_one(value)]
            hint = nearest(part, known, "it has") if known else f"; it has no {wanted.words}"
            raise InputError(f'{place} has no "{name}"{hint}')
        found = getattr(found, part)
    return found


def find(reference: str, folder: str | None, agreed: Trust) -> ControllerFactory:
    """The congestion control that `module:Class` or `file.py:Class` names, if its code may run."""
    found, name = named(reference, folder, agreed), reference.rpartition(":")[2]
    if reference in HANDED_OVER:
        return cast(ControllerFactory, found)
    if not callable(found):
        raise InputError(f"{name} is {type(found).__name__}, not a class")
    if reference not in NAMED and not _may_be_called(found):
        what = (
            "not derived from elephan.CongestionControl" if inspect.isclass(found) else "not marked by @elephan.controller_factory"
        )
        raise InputError(f"{name} is {what}; nothing else is called")
    return cast(ControllerFactory, found)


def _place(place: str, name: str, reference: str, folder: str | None, agreed: Trust) -> ModuleType:
    """The module of a reference, loaded where the caller agrees."""
    if place.endswith(".py"):
        return _from_file(found_file(place, reference, folder, agreed), folder, agreed)
    sent = _pack(agreed).session.get(reference)
    if sent is not None and reference not in NAMED:  # by another process, which has imported its module
        return _from_file(sent, folder, agreed, place)
    if agreed.names_module(place):
        return _from_module(place, name)
    # What the caller hands over or writes, and has imported before.
    present = sys.modules.get(place) if reference in NAMED or reference in agreed.words else None
    if present is not None and (reference in NAMED or hasattr(present, name.partition(".")[0])):
        return present
    file = module_file(place, reference, folder, agreed)
    if file is not None:
        return _from_file(file, folder, agreed, place)
    if present is not None:
        return present
    raise trust.refuse_module(place)


def found_file(place: str, reference: str, folder: str | None, agreed: Trust) -> Path:
    """The file that a reference names, if it may run: looked for once for each pack."""
    pack = _pack(agreed)
    with pack.lock:
        asked = (place, reference, folder)
        if asked not in pack.found:
            path = trust.find_file(place, reference, folder, agreed)
            pack.found[asked] = pack.find(path) or path
        return pack.found[asked]


def module_file(name: str, reference: str, folder: str | None, agreed: Trust) -> Path | None:
    """The file that a module's name means beside the scenario or in the working directory, if it may run."""
    pack = _pack(agreed)
    asked = (f"{name}.py", reference, folder)
    with pack.lock:
        if asked in pack.found:
            return pack.found[asked]
        place = trust.module_file(name, reference, folder, agreed)
        if place is not None:
            pack.found[asked] = found_file(place, reference, folder, agreed)
        return pack.found.get(asked)


@contextlib.contextmanager
def _loading(name: str) -> Iterator[None]:
    """While a file or module called `name` is loaded; what it raises, or its leaving Python, is one line."""
    outer, core.loading.file = core.loading.file, name
    try:
        yield
    except (Exception, SystemExit) as error:
        if from_outside(error):
            raise
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
            raise trust.refuse_module(name) from error
        raise


def _from_file(path: Path, folder: str | None, agreed: Trust, shown: str = "") -> ModuleType:
    """The module of a file, run once for each pack; errors call it `shown`."""
    if not _reading.acquire(timeout=_PATIENCE):
        raise InputError(f"{path.name}: another thread has not loaded it, or a file before it, in {_PATIENCE:g} s")
    try:
        real = _pack(agreed).find(path) or path
        root = Path(os.path.realpath(folder or "."))
        return _current(real, real.parent if root not in real.parents else root, agreed, shown).module
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    finally:
        _reading.release()


def _pack(agreed: Trust) -> Pack:
    assert agreed.pack is not None  # `load` has seen to it
    return agreed.pack


def _current(path: Path, root: Path, agreed: Trust, shown: str = "") -> Ran:
    return _pack(agreed).loaded.get(path) or _executed(path, root, agreed, shown or path.name)


def _executed(path: Path, root: Path, agreed: Trust, shown: str) -> Ran:
    pack = _pack(agreed)
    source = pack.read(path)
    name = f"elephan_guest_{path.stem}_{hashlib.sha256(source).hexdigest()[:12]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    with _loading(shown):
        loaded = Ran(module, compile(source, str(path), "exec", dont_inherit=True))
    # Known before it is complete, so that a file that names itself is not loaded without end.
    sys.modules[name] = module
    pack.loaded[path] = loaded

    def beside(file: Path) -> ModuleType:
        real = _admitted(file, root, agreed)
        with _reading:
            loaded.needs.add(real)
            return _current(real, root, agreed).module

    siblings = Siblings(path, root, pack, beside)
    module.__dict__["__builtins__"] = siblings.builtins()
    try:
        with _loading(shown), watching(loaded.notes):
            exec(loaded.code, module.__dict__)
        _pack_imports(path, root, agreed, loaded)
    except BaseException:
        sys.modules.pop(name, None)
        pack.loaded.pop(path, None)
        raise
    return loaded


def _admitted(file: Path, root: Path, agreed: Trust) -> Path:
    """The real path of a file that is imported from beside another, if it may run."""
    pack = _pack(agreed)
    real = pack.find(file) or file
    if real not in pack.admitted:
        if not agreed.names_file(file):
            trust.check_beside(file, root)
        pack.admitted.add(real)
    return real


def _pack_imports(path: Path, root: Path, agreed: Trust, loaded: Ran) -> None:
    """Reads what a file imports from beside it, also in functions that nobody has called yet, and what that imports."""
    for file in imported_beside(path, root, _pack(agreed)):
        with contextlib.suppress(InputError, OSError):  # it is refused when it is imported
            loaded.needs.add(_admitted(file, root, agreed))


def imported_beside(path: Path, root: Path, pack: Pack) -> list[Path]:
    """The files beside a file that its import statements name, and those that these name, without running any."""
    found: list[Path] = []
    waiting = [path]
    while waiting:
        one = waiting.pop()
        siblings = Siblings(one, root, pack, _not_run)
        for name, wanted, level in inputs.imports_of(pack.read(one)):
            for file in siblings.files(name, wanted, level):
                real = pack.find(file) or file
                if real != path and real not in found:
                    found.append(real)
                    waiting.append(real)
    return sorted(found)


def _not_run(file: Path) -> ModuleType:
    raise AssertionError(file)


def told(error: BaseException, file: str = "") -> str:
    """An exception as one line with the place where it was raised, or that called what raised it in elephan."""
    if isinstance(error, SyntaxError):
        return f"{Path(error.filename or file).name}:{error.lineno}: {type(error).__name__}: {error.msg}"
    own = Path(__file__).parents[1]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if own not in Path(frame.filename).parents]
    text = " ".join(str(error).split())
    name = "" if isinstance(error, ElephanError) else type(error).__name__
    line = ": ".join(part for part in (name, text) if part)
    return f"{line} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else line


def _made(make: ControllerFactory, name: str, params: Mapping[str, Any]) -> CongestionControl:
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
        if from_outside(error):
            raise
        raise InputError(f"{name} cannot be made: {told(error)}") from error
    if not isinstance(made, CongestionControl):
        raise InputError(f"{name} gives {type(made).__name__}, which is not an elephan.CongestionControl")
    if not inspect.isclass(make) and make(**params) is made:
        raise InputError(f"{name} gives the same object twice; each connection needs its own")
    return made


Loaded = tuple[Callable[[], CongestionControl], str, list[str], bool, bool, list[str]]


def load(reference: str, params: str, folder: str | None, agreed: Trust | None, own: bool) -> Loaded:
    """What the core asks of a class: factory, name, hooks that it has, `slow_start`, `measures_rate`, `states`.

    `folder`: of the scenario, None of a text. `agreed`: what the caller lets run. `own`: the reference is the caller's own word.
    """
    with asked(reference, agreed, own) as agreed:
        return _load(reference, json.loads(params), folder, agreed)


def load_program(reference: str, words: str, folder: str | None, agreed: Trust | None, own: bool) -> Loaded:
    """What the core asks of a program, as `load` of a class. `words`: its table in the scenario."""
    agreed = _agreed(agreed, reference, own)
    with _interrupts_kept():
        path = found_file(reference, reference, folder, agreed)
        run = program.load(json.loads(words), path, _pack(agreed))
        hello = run.hello
        return run.connect, path.name, list(hello.calls), hello.slow_start, hello.measures_rate, list(hello.states)


@contextlib.contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Notes what a signal handler raises, since the core hands it on as one of its own errors."""
    try:
        yield
    except BaseException as error:
        if from_outside(error):
            core.loading.interrupt = error
        raise


@contextlib.contextmanager
def asked(reference: str, agreed: Trust | None, own: bool) -> Iterator[Trust]:
    """While the core has code loaded: what is read is noted. Gives what the caller agrees to, with a pack."""
    agreed = _agreed(agreed, reference, own)
    with _interrupts_kept(), watching(_pack(agreed).notes_of(reference)):
        yield agreed


def _agreed(agreed: Trust | None, reference: str, own: bool) -> Trust:
    agreed = (agreed or trust.NOBODY).packed()
    return replace(agreed, words=agreed.words | {reference}) if own else agreed


def _load(reference: str, values: Mapping[str, Any], folder: str | None, agreed: Trust) -> Loaded:
    target = find(reference, folder, agreed)
    made = _made(target, getattr(target, "__name__", type(target).__name__), values)
    controller, name = type(made), type(made).__name__
    hooks = [hook for hook in _HOOKS if getattr(controller, hook) is not getattr(CongestionControl, hook)]
    if not any(hook in hooks for hook in _GROWTH):
        raise InputError(f"{name} has none of on_ack, on_round and on_delivery: its window would never grow")
    _refuse_misspelled(controller)
    for switch in _SWITCHES:
        if not isinstance(value := getattr(controller, switch), bool):
            raise InputError(f"{name}.{switch} is True or False, not {value!r}")
    for state in controller.states:
        value = getattr(made, state, None)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f'{name} names the state "{state}", which is {value!r} after __init__ and not a number')
    make = functools.partial(target, **values)
    return make, name, hooks, controller.slow_start, controller.measures_rate, list(controller.states)


def _refuse_misspelled(controller: type[CongestionControl]) -> None:
    """A method that nobody calls, or a switch that nobody reads, is a controller that does something else than its author means."""
    for given in sorted({name for base in controller.__mro__ for name in vars(base) if not hasattr(CongestionControl, name)}):
        hint = ""
        if given.startswith("on_") and callable(getattr(controller, given)):
            hint = nearest(given, [*_HOOKS, "on_congestion"], "there are")
        elif close := difflib.get_close_matches(given, _SWITCHES, n=1, cutoff=0.85):
            hint = f'; did you mean "{close[0]}"?'
        if hint:
            raise InputError(f'{controller.__name__} defines "{given}", which nothing asks for{hint}')


def describe(given: ControllerFactory) -> dict[str, Any]:
    """As `elephan.step.cc.describe` has it: the first line of the class, its constructor's keywords, its states."""
    words = plain(given)
    if isinstance(words, Mapping) and "program" in words:
        return _describe_program(words)
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


def _describe_program(words: Mapping[str, Any]) -> dict[str, Any]:
    """What a program says of itself is its calls and states alone."""
    path = trust.find_file(words["program"], words["program"], None, Trust(words=frozenset({words["program"]})))
    hello = program.load(words, path, Pack()).hello
    parameters = [{"name": name, "default": value, "doc": "", "source": ""} for name, value in words.get("params", {}).items()]
    states = [{"name": name, "unit": "", "doc": ""} for name in hello.states]
    summary = f"a program that is asked at {', '.join(hello.calls)}"
    return {"name": path.stem, "summary": summary, "presets": [], "parameters": parameters, "states": states}
