"""Lines of `tc` as keys of links: which device of which node sends how."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from elephan.scenario.foreign.network import Keys, Link, Network, Node, Notes, rate_text, wrong
from elephan.scenario.foreign.qdiscs import QDISCS, Leave, Words
from elephan.scenario.foreign.tcunits import tc_rate

_BEFORE = re.compile(r"(?:ip netns exec|docker exec|mnexec|podman exec)\s+(?:-\w+\s+)*(?P<node>[\w.-]+)\s+(?:\S+\s+)*?tc$")
_PLAIN = ("handle", "parent", "classid")


@dataclass
class Device:
    """What a device that sends does. `classes` are the rates of htb by their minor numbers."""

    line: int
    keys: Keys = field(default_factory=dict)
    classes: dict[str, float] = field(default_factory=dict)
    default: str = ""
    said: list[str] = field(default_factory=list)

    def add(self, kind: str, keys: Keys) -> None:
        """Puts the keys of one discipline over those of others; the queue of netem gives way to any other."""
        taken = self.keys if kind == "netem" and self.keys.get("queue") else {}
        self.keys = {**self.keys, **keys, **{key: taken[key] for key in ("queue",) if key in taken}}


Devices = dict[tuple[str, str], Device]


def read_tc(text: str, name: str, notes: Notes) -> Devices:
    """Returns what the lines of a file say, by node ("" if the line does not say) and device."""
    found: Devices = {}
    lines = text.replace("\\\n", " \0").splitlines()
    number = 1
    for line in lines:
        take_line(line.replace("\0", ""), number, name, notes, found)
        number += 1 + line.count("\0")
    return settle(found, name, notes)


def settle(found: Devices, name: str, notes: Notes) -> Devices:
    """Turns the classes of htb into rates of their devices."""
    for (_, dev), device in found.items():
        if not device.classes:
            continue
        minor = device.default if device.default in device.classes else next(iter(device.classes))
        device.keys["rate"] = rate_text(device.classes[minor])
        if len(device.classes) > 1:
            notes.left_out(device.line, f"classes of htb on {dev} but for {minor}: a link has one rate", name)
    return {key: device for key, device in found.items() if device.keys}


def take_line(line: str, number: int, name: str, notes: Notes, found: Devices, node: str = "") -> None:
    """Reads one line; raises InputError for a command of tc that is wrong."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise wrong(name, number, f"{error}: {line.strip()}") from None
    if not words or words[:2] == ["#!", ""]:
        return None
    if "netem" in words and "set" in words and "tools" in words:
        return _tool(words, number, name, notes, found)
    places = [at for at, word in enumerate(words) if word == "tc" or word.endswith("/tc")]
    if not places:
        return notes.left_out(number, f"{' '.join(words)[:60]}: no command of tc", name)
    before = _BEFORE.search(" ".join([*words[: places[0]], "tc"]))
    try:
        _command(words[places[0] + 1 :], number, name, notes, found, before["node"] if before else node)
    except ValueError as error:
        raise wrong(name, number, f"{error}: tc {' '.join(words[places[0] + 1 :])}") from None
    return None


def _command(words: list[str], number: int, name: str, notes: Notes, found: Devices, node: str) -> None:
    if len(words) < 2 or words[0] not in ("qdisc", "class") or words[1] not in ("add", "replace", "change", "del", "delete"):
        return notes.left_out(number, f"tc {' '.join(words[:2])}", name)
    rest = words[2:]
    dev, minor, kind = "", "", ""
    while rest and not kind:
        word = rest.pop(0)
        if word == "dev":
            dev = rest.pop(0) if rest else ""
        elif word in _PLAIN:
            value = rest.pop(0) if rest else ""
            minor = value.partition(":")[2] if word == "classid" else minor
        elif word in ("ingress", "clsact"):
            return notes.left_out(number, f"tc qdisc {word}", name)
        elif word != "root":
            kind = word
    if not dev:
        raise ValueError("no dev")
    if words[1] in ("del", "delete"):
        found.pop((node, dev), None)
        return None
    if words[1] == "replace" and "root" in words:
        found.pop((node, dev), None)
    device = found.setdefault((node, dev), Device(number))
    device.said.append(f"{name}:{number}")

    def leave(what: str) -> None:
        notes.left_out(number, what, name)

    if words[0] == "class" or kind == "htb":
        return _htb(words[0], kind, minor, rest, device, leave)
    if kind not in QDISCS:
        return leave(f"the qdisc {kind or '(none)'}")
    device.add(kind, QDISCS[kind](Words(rest), leave))
    return None


def _htb(of: str, kind: str, minor: str, rest: list[str], device: Device, leave: Leave) -> None:
    if kind != "htb":
        return leave(f"a class of {kind}")
    words = Words(rest)
    rate = 0.0
    while words.left:
        word = words.take("")
        value = words.take(word)
        if of == "class" and word == "rate":
            rate = tc_rate(value)
        elif of == "qdisc" and word == "default":
            device.default = value.removeprefix("0x")
        elif word == "ceil" and tc_rate(value) == rate:
            continue
        else:
            leave(f"htb {word} {value}")
    if of == "class":
        if not rate:
            raise ValueError("a class of htb has no rate")
        device.classes[minor] = rate
    return None


def _tool(words: list[str], number: int, name: str, notes: Notes, found: Devices) -> None:
    """Reads `containerlab tools netem set -n NODE -i DEV --delay 5ms --jitter 1ms --loss 10 --rate 1000`, rates in kbit/s."""
    given: dict[str, str] = {}
    rest = words[words.index("set") + 1 :]
    for word in rest:
        key, equals, value = word.partition("=")
        if word.startswith("-"):
            given[key.lstrip("-")] = value if equals else ""
        elif given:
            given[list(given)[-1]] = word
    node, dev = given.pop("n", "") or given.pop("node", ""), given.pop("i", "") or given.pop("interface", "")
    if not node or not dev:
        raise wrong(name, number, "netem set needs -n NODE and -i INTERFACE")
    netem = []
    for key, value in given.items():
        if key == "delay":
            netem += ["delay", value, *([given["jitter"]] if "jitter" in given else [])]
        elif key == "loss":
            netem += ["loss", f"{value.removesuffix('%')}%"]
        elif key == "corruption":
            netem += ["corrupt", f"{value.removesuffix('%')}%"]
        elif key == "rate":
            netem += ["rate", f"{value}kbit"]
        elif key != "jitter":
            notes.left_out(number, f"--{key} {value}", name)
    take_line(shlex.join(["tc", "qdisc", "replace", "dev", dev, "root", "netem", *netem]), number, name, notes, found, node)


def place(network: Network, devices: Devices, name: str, lab: str = "") -> None:
    """Puts what devices do into the links whose ports they are; tells of devices that no link has."""
    for (node, dev), device in devices.items():
        ends = [(link, side) for link in network.links for side in (0, 1) if _is_port(link, side, node, dev, lab)]
        if len(ends) != 1:
            of = f" of {node}" if node else ""
            why = "no link has it" if not ends else "several links have it: name the node, as in ip netns exec NODE tc ..."
            network.notes.left_out(device.line, f"tc of the device {dev}{of}: {why}", name)
            continue
        link, side = ends[0]
        link.ways[side].update(device.keys)
        link.why += [f"{(link.a, link.b)[side]} sends as {', '.join(device.said)} says"]


def _is_port(link: Link, side: int, node: str, dev: str, lab: str) -> bool:
    end, port = (link.a, link.b)[side], link.ports[side]
    if node and node not in (end, f"clab-{lab}-{end}"):
        return False
    return dev in (port, f"{end}-{port}", f"{end}:{port}") and bool(port)


def path_of_tc(text: str, name: str) -> Network:
    """Returns a path of two hosts and a switch whose link does what a file of lines of tc says."""
    network = Network(Notes(name), "lines of tc")
    devices = read_tc(text, name, network.notes)
    if not devices:
        raise wrong(name, 0, "no line of tc says what a link does")
    for node, forwards in (("sender", False), ("router", True), ("receiver", False)):
        network.nodes[node] = Node(node, 0, forwards)
    access = Link("sender", "router", 0, why=["assumed: 10 Gb/s without delay"])
    access.both(rate="10 Gbps", delay="0 s")
    path = Link("router", "receiver", 0)
    for side, ((node, dev), device) in enumerate(devices.items()):
        if side > 1:
            network.notes.left_out(device.line, f"tc of the device {dev}: a path has two directions")
            continue
        path.ways[side].update(device.keys)
        path.why.append(f"{'there' if not side else 'back'}: {node + ' ' if node else ''}{dev}, {', '.join(device.said)}")
    network.links += [access, path]
    return network
