"""Scripts of Mininet, read by their syntax and never run: addHost, addSwitch and addLink with what constants and loops tell."""

from __future__ import annotations

import ast
from typing import Any

from elephan.scenario.foreign.evaluate import Names, Unread, value_of
from elephan.scenario.foreign.network import Keys, Link, Network, Node, Notes, rate_of, rate_text, time_text, wrong
from elephan.scenario.foreign.tc import Devices, place, settle, take_line
from elephan.scenario.foreign.tcunits import tc_share, tc_time

ADDS = {"addHost": False, "addStation": False, "addSwitch": True}
CALLS = (*ADDS, "addLink")
STEPS = 200_000  # statements that are read at most
_QUEUE = 1000  # packets: a device's txqueuelen and netem's limit in Linux


class _Reader:
    def __init__(self, tree: ast.Module, name: str) -> None:
        self.tree, self.name = tree, name
        self.network = Network(Notes(name), "Mininet")
        self.steps = 0
        self.ports: dict[str, int] = {}
        self.devices: Devices = {}

    def unread(self, node: ast.AST, what: str = "") -> None:
        words = what or ast.unparse(node).splitlines()[0][:60]
        self.network.notes.left_out(getattr(node, "lineno", 0), f"{words}: only a run could tell")

    def run(self) -> None:
        names: Names = {"__name__": "__main__"}
        self.body([one for one in self.tree.body if not isinstance(one, ast.ClassDef | ast.FunctionDef)], names)
        for one in self.tree.body:
            shared: Names = {}
            methods = one.body if isinstance(one, ast.ClassDef) else [one]
            found = [function for function in methods if isinstance(function, ast.FunctionDef)]
            for function in sorted(found, key=lambda function: function.name != "__init__"):
                if _adds(function):
                    self.function(function, one.name if isinstance(one, ast.ClassDef) else function.name, names, shared)

    def function(self, function: ast.FunctionDef, called: str, names: Names, shared: Names) -> None:
        """Reads a function once: its parameters are those of its first call with values, or their defaults."""
        inner = {**names, **shared, **self.parameters(function, called, names)}
        self.body(function.body, inner)
        shared.update({key: value for key, value in inner.items() if key.startswith("self.")})

    def parameters(self, function: ast.FunctionDef, called: str, names: Names) -> Names:
        given = [one.arg for one in function.args.args if one.arg != "self"]
        found: Names = {}
        pairs = list(zip(reversed(given), reversed(function.args.defaults), strict=False))
        pairs += [(one.arg, value) for one, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if value]
        calls = [one for one in ast.walk(self.tree) if isinstance(one, ast.Call) and _named(one.func) == called]
        calls.sort(key=lambda one: (not one.args and not one.keywords, one.lineno))
        if calls:
            pairs += [*zip(given, calls[0].args, strict=False), *((one.arg, one.value) for one in calls[0].keywords if one.arg)]
        for key, node in pairs:
            try:
                found[key] = value_of(node, names)
            except Unread:
                continue
        for other in calls[1:]:
            if given and ast.dump(other) != ast.dump(calls[0]):
                said = f"{ast.unparse(other)[:60]}: the network is that of {ast.unparse(calls[0])[:60]}"
                self.network.notes.left_out(other.lineno, said)
        return found

    def body(self, statements: list[ast.stmt], names: Names) -> None:
        for one in statements:
            self.steps += 1
            if self.steps > STEPS:
                raise wrong(self.name, one.lineno, f"more than {STEPS} statements to read")
            self.statement(one, names)

    def statement(self, node: ast.stmt, names: Names) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self.assign(targets, value, names)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign([target], value, names)
            case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                self.assign([target], ast.BinOp(ast.Name(target.id), op, value), names)
            case ast.Expr(value=ast.Call() as call):
                self.call(call, names)
            case ast.For(target=target, iter=over, body=body):
                self.loop(node, target, over, body, names)
            case ast.If(test=test, body=body, orelse=other):
                try:
                    self.body(body if value_of(test, names) else other, names)
                except Unread:
                    if _adds(node):
                        self.unread(node, f"if {ast.unparse(test)[:50]}")
            case ast.With(body=body) | ast.Try(body=body):
                self.body(body, names)
            case ast.FunctionDef() | ast.ClassDef():
                if _adds(node):
                    self.unread(node, f"{node.name} within another function")
            case _ if _adds(node):
                self.unread(node)

    def assign(self, targets: list[ast.expr], value: ast.expr, names: Names) -> None:
        found: Any = None
        if isinstance(value, ast.Call) and _named(value.func) in (*CALLS, "get", "addController"):
            found = self.call(value, names)
        elif isinstance(value, ast.ListComp) and _adds(value):
            found = self.listed(value, names)
        elif isinstance(value, ast.Tuple) and _adds(value):
            found = [self.call(one, names) if isinstance(one, ast.Call) else None for one in value.elts]
        else:
            try:
                found = value_of(value, names)
            except Unread:
                if _adds(value):
                    self.unread(value)
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            values = found if len(parts) > 1 and isinstance(found, list) else [found] * len(parts)
            for part, one in zip(parts, values, strict=False):
                self.put(part, one, names)

    def put(self, target: ast.expr, value: Any, names: Names) -> None:
        match target:
            case ast.Name(id=name):
                key = name
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                key = f"self.{name}"
            case ast.Subscript(value=ast.Name(id=name), slice=index) if isinstance(names.get(name), dict):
                try:
                    names[name][value_of(index, names)] = value
                except (Unread, TypeError):
                    self.unread(target)
                return
            case _:
                return
        names.pop(key, None)
        if value is not None:
            names[key] = value

    def listed(self, node: ast.ListComp, names: Names) -> Any:
        one = node.generators[0]
        if len(node.generators) > 1 or one.ifs or not isinstance(node.elt, ast.Call):
            return self.unread(node)
        found = []
        try:
            items = value_of(one.iter, names)
        except Unread:
            return self.unread(node)
        for item in items:
            self.put(one.target, item, names)
            found.append(self.call(node.elt, names))
        return found

    def loop(self, node: ast.For, target: ast.expr, over: ast.expr, body: list[ast.stmt], names: Names) -> None:
        try:
            items = value_of(over, names)
        except Unread:
            if _adds(node):
                self.unread(node, f"for {ast.unparse(target)} in {ast.unparse(over)[:50]}")
            return
        for item in items if isinstance(items, list | str) else list(items if isinstance(items, dict) else []):
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            for part, one in zip(parts, item if len(parts) > 1 else [item], strict=False):
                self.put(part, one, names)
            self.body(body, names)

    def call(self, node: ast.Call, names: Names) -> Any:
        """Reads a call; returns the name of the node that it adds or gets."""
        name = _named(node.func)
        try:
            match name:
                case "addHost" | "addSwitch" | "addStation":
                    return self.node(node, name, names)
                case "addLink":
                    return self.link(node, names)
                case "get":
                    return value_of(node.args[0], names) if node.args else None
                case "append" if isinstance(node.func, ast.Attribute):
                    inner = node.args[0]
                    adds = isinstance(inner, ast.Call) and _named(inner.func) in CALLS
                    value = self.call(inner, names) if adds and isinstance(inner, ast.Call) else value_of(inner, names)
                    value_of(node.func.value, names).append(value)
                case "cmd" | "cmdPrint" if node.args and isinstance(said := value_of(node.args[0], names), str):
                    if said.split()[:1] == ["tc"]:
                        take_line(said, node.lineno, self.name, self.network.notes, self.devices)
                case "addController" | "addNAT" | "addAP":
                    self.network.notes.left_out(node.lineno, f"{name}: a scenario has none")
                case _ if _adds(node):
                    self.unread(node)
        except (Unread, AttributeError):
            if name in CALLS or _adds(node):
                self.unread(node)
        return None

    def words(self, node: ast.Call, names: Names) -> Names:
        found: Names = {}
        for one in node.keywords:
            try:
                value = value_of(one.value, names)
            except Unread:
                if one.arg not in ("cls", "intf", "link"):
                    self.unread(node, f"{one.arg or '**' + ast.unparse(one.value)} of {_named(node.func)}")
                continue
            found.update({one.arg: value} if one.arg else value if isinstance(value, dict) else {})
        return found

    def node(self, node: ast.Call, kind: str, names: Names) -> str:
        words = self.words(node, names)
        name = value_of(node.args[0], names) if node.args else words.pop("name", None)
        if not isinstance(name, str):
            raise Unread
        if name in self.network.nodes:
            self.network.notes.left_out(node.lineno, f"another node {name}")
        self.network.nodes.setdefault(name, Node(name, node.lineno, ADDS[kind]))
        for key in words:
            self.network.notes.left_out(node.lineno, f"{key} of {kind}")
        return name

    def link(self, node: ast.Call, names: Names) -> None:
        words = self.words(node, names)
        ends = [self.end(one, names) for one in node.args[:2]]
        ends += [words.pop(key) for key in ("node1", "node2")[len(ends) :] if key in words]
        if len(ends) != 2 or not all(isinstance(one, str) for one in ends):
            raise Unread
        for end in ends:
            if end not in self.network.nodes:
                raise wrong(self.name, node.lineno, f"addLink names {end}, which no addHost or addSwitch has added")
        ports = [
            str(words.pop(f"intfName{n + 1}", "")) or self.port(end, words.pop(f"port{n + 1}", None)) for n, end in enumerate(ends)
        ]
        link = Link(ends[0], ends[1], node.lineno, ports=(ports[0], ports[1]))
        first, second = words.pop("params1", {}), words.pop("params2", {})
        for way, own in zip(link.ways, (first, second), strict=True):
            given = {**words, **(own if isinstance(own, dict) else {})}
            way.update(self.keys(given, node.lineno))
        self.network.join(link)

    def end(self, node: ast.expr, names: Names) -> Any:
        """Returns the node that an end of a link names, which may be added right there."""
        return (
            self.call(node, names) if isinstance(node, ast.Call) and _named(node.func) in (*ADDS, "get") else value_of(node, names)
        )

    def port(self, node: str, number: Any) -> str:
        """Returns the name that Mininet gives to the next device of a node: h1-eth0, s1-eth1."""
        first = 1 if self.network.nodes[node].forwards else 0
        taken = self.ports.setdefault(node, first)
        self.ports[node] = taken + 1
        return f"{node}-eth{taken if number is None else number}"

    def keys(self, words: Names, line: int) -> Keys:
        """Returns the keys of a link: bw in Mbit/s, delay, jitter, loss in per cent, max_queue_size in packets."""
        keys: Keys = {}
        try:
            if words.get("bw") is not None:
                if not (bps := rate_of(float(words["bw"]) * 1e6)):
                    raise ValueError(f"bw={words['bw']} is no bandwidth in Mbit/s")
                keys["rate"] = rate_text(bps)
            delay_s = tc_time(str(words.get("delay") or "0"))
            jitter_s = tc_time(str(words.get("jitter") or "0"))
            if words.get("delay") is not None or jitter_s:
                keys["delay"] = time_text(max(0.0, delay_s - jitter_s))
            if jitter_s:
                spread = time_text(delay_s + jitter_s - max(0.0, delay_s - jitter_s))
                keys["jitter"] = {"extra": {"uniform": ["0 s", spread]}, "order": "free"}
            if words.get("loss"):
                keys["loss"] = {"bernoulli": tc_share(f"{words['loss']}%")}
            if words.get("max_queue_size") is not None:
                keys["queue"] = {"kind": "fifo", "limit": f"{int(words['max_queue_size'])} p"}
            elif words.get("bw") is not None or words.get("delay") is not None:
                keys["queue"] = {"kind": "fifo", "limit": f"{_QUEUE} p"}
        except (TypeError, ValueError) as error:
            raise wrong(self.name, line, f"addLink: {error}") from None
        known = ("bw", "delay", "jitter", "loss", "max_queue_size", "use_htb", "cls")
        for key in (key for key in words if key not in known):
            self.network.notes.left_out(line, f"{key} of addLink")
        return keys


def _named(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _adds(node: ast.AST) -> bool:
    """Whether something within adds a node or a link."""
    return any(isinstance(one, ast.Call) and _named(one.func) in CALLS for one in ast.walk(node))


def read_mininet(text: str, name: str) -> Network:
    """Returns the network that a script of Mininet builds."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise wrong(name, getattr(error, "lineno", 0) or 1, f"no Python: {getattr(error, 'msg', error)}") from None
    reader = _Reader(tree, name)
    reader.run()
    place(reader.network, settle(reader.devices, name, reader.network.notes), name)
    if not reader.network.nodes:
        raise wrong(name, 0, "no addHost or addSwitch that can be read without a run")
    return reader.network
