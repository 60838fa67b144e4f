"""The scenarios whose digests `elephan verify` compares: every kind of traffic, queue, congestion control and template, each flow
control, and the library at short durations.

`make digests` computes all digests and writes them; with CHECK=--check it says which have drifted. The scenarios follow from the
registers of the core, so that a new kind has its scenario as soon as the file is written again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace

import elephan as el
from elephan.base.quantity import seconds as to_seconds
from elephan.experiment.verify.verify import DATA, Case, differing, published, tables_digest
from elephan.scenario import core
from elephan.scenario.source import library as scenarios

COUNT = 200
EVENTS_MAX = 250_000  # of a scenario; the duration of one with more is cut in half

PATH = """
duration = "3 s"
[template]
kind = "dumbbell"
pairs = 2
rate = "20 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "40 packets" }
[[traffic]]
name = "a"
from = "sender[0]"
to   = "receiver[0]"
kind = "bulk"
[[traffic]]
name = "b"
from = "sender[1]"
to   = "receiver[1]"
kind = "messages"
size = { exponential = "8 KB" }
load = "2 Mbps"
start = { uniform = ["0 s", "300 ms"] }
[record]
every = "20 ms"
statistics = true
info = true
"""

IMPAIRED = """
duration = "3 s"
[hosts.client]
receive = { ring = "64 p", coalesce = "100 us" }
cpu = { interrupt = "5 us" }
[hosts.server]
transmit = { ring = "32 p" }
[switches.sw]
[[links]]
between = ["client", "sw"]
rate = "100 Mbps"
delay = "2 ms"
jitter = { extra = { exponential = "200 us" } }
[[links]]
between = ["sw", "server"]
rate = "20 Mbps"
delay = "8 ms"
queue = { kind = "fifo", limit = "50 p" }
loss = { bernoulli = 0.002 }
reorder = { share = 0.01, extra = "3 ms" }
duplicate = 0.001
[[traffic]]
name = "a"
from = "client"
to   = "server"
kind = "bulk"
[record]
every = "20 ms"
"""

LOSSLESS = """
duration = "4 ms"
[template]
kind = "star"
clients = 4
servers = 1
rate = "40 Gbps"
delay = "1 us"
[[traffic]]
name = "a"
from = "client"
to   = "server"
kind = "bulk"
size = "2 MB"
transport = "roce"
congestion_control = "dcqcn"
start = { uniform = ["0 s", "20 us"] }
[record]
every = "20 us"
"""

# Of each template what it needs beside its kind, and two hosts between which traffic goes.
TEMPLATES = {
    "dumbbell": ('pairs = 2\nrate = "20 Mbps"\ndelay = "5 ms"', "sender[0]", "receiver[0]"),
    "star": ('clients = 2\nservers = 1\nrate = "100 Mbps"\ndelay = "1 ms"', "client", "server"),
    "path": (
        'hops = [{ rate = "1 Gbps", delay = "0 s" }, { rate = "20 Mbps", delay = "5 ms", queue = { kind = "fifo" } }]',
        "sender",
        "receiver",
    ),
    "parking-lot": ('rate = "20 Mbps"\ndelay = "4 ms"\nhops = 3', "sender", "receiver"),
    "fat-tree": ('k = 4\nrate = "100 Mbps"\ndelay = "100 us"', "host[0]", "host[15]"),
    "leaf-spine": ('leaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = "100 Mbps"\ndelay = "100 us"', "host[0]", "host[3]"),
}
TRAFFIC = {
    "bulk": "",
    "messages": 'size = { exponential = "8 KB" }\nload = "2 Mbps"',
    "transfers": 'size = { pareto = { shape = 1.5, mean = "50 KB" } }\nload = "4 Mbps"',
    "users": 'size = { exponential = "50 KB" }\nusers = 3\nthink = { exponential = "100 ms" }',
    "cbr": 'rate = "4 Mbps"\ngaps = "exponential"',
    "burst": "packets = 200",
    "frames": 'rate = "5 Mbps"',
    "incast": 'size = "64 KB"\nrounds = 5',
    "onoff": 'load = "5 Mbps"',
    "writes": 'at = ["0 s", "200 ms", "1 s"]\nsize = ["20 KB", "1 B", "300 KB"]',
    "disk-copy": 'size = "20 MB"\nprogram = "bbcp"',
    "collective": 'operation = "all-reduce"\nalgorithm = "ring"\nsize = "1 MB"\niterations = 2\ncompute = { exponential = "5 ms" }',
    "goal": 'program = "num_ranks 2 rank 0 { a: calc 1000 b: send 90000b to 1 b requires a } rank 1 { recv 90000b from 0 }"',
    "replay": 'trace = """start_ms,size_bytes\n0,100000\n20,1000000\n300,10000"""',
}
ENTRY = 'name = "a"\nfrom = "{source}"\nto = "{destination}"\nkind = "{kind}"\n{rest}'
RANKS = 'name = "a"\nfrom = ["{source}", "{destination}"]\nkind = "{kind}"\n{rest}'
ALONE = {"program"}  # needs programs from outside


def names(what: str) -> list[str]:
    return [name for name, _ in core.call("listing", what)]


def built(template: str, kind: str) -> str:
    rest, source, destination = TEMPLATES[template]
    disk = ""
    if kind == "disk-copy":
        groups = dict.fromkeys(name.partition("[")[0] for name in (source, destination))
        disk = "".join(f'[hosts.{name}]\ndisk = {{ profile = "3ware-ata-66x4" }}\n' for name in groups)
    head = f'duration = "1 s"\n[template]\nkind = "{template}"\n{rest}\n{disk}'
    form = RANKS if kind in ("collective", "goal") else ENTRY
    entry = form.format(source=source, destination=destination, kind=kind, rest=TRAFFIC[kind])
    return f'{head}[[traffic]]\n{entry}\n[record]\nevery = "10 ms"\ndatagrams = 50\n'


def library(seed: int) -> Iterator[Case]:
    for name in scenarios():
        yield Case(name if seed == 1 else f"{name}, seed {seed}", name, {}, seed)


def kinds() -> Iterator[Case]:
    """Every kind of traffic over one template, some over every template."""
    for number, template in enumerate(names("templates")):
        for kind in (
            [name for name in names("traffic") if name not in ALONE]
            if number == 0
            else ("bulk", "messages", "cbr", "incast", "replay")
        ):
            yield Case(f"{kind} over {template}", built(template, kind), {}, 1)


def queues() -> Iterator[Case]:
    """Every queue discipline, without and with ECN. What looks at priorities and weights has two to look at."""
    for name in names("queues"):
        given = {"traffic.b.priority": 5, "traffic.b.weight": 3, "traffic.b.load": "15 Mbps", "traffic.a.connections": 4}
        # XCP's queue wants a sender that heeds it; BLUE is a FIFO until its limit drops something.
        given |= {"traffic.a.congestion_control": "xcp" if name == "xcp" else "cubic", "template.queue": {"kind": name}}
        given |= {"template.queue.limit": "60 packets"} if name == "blue" else {}
        yield Case(f"{name}, ECN off", PATH, {**given, "template.delay": "2 ms"}, 1)
        yield Case(f"{name}, ECN accurate", PATH, {**given, "tcp.ecn": "accurate", "template.rate": "8 Mbps"}, 2)


def controls() -> Iterator[Case]:
    """Every congestion control over TCP, RoCE, Ultra Ethernet, on both stacks, with packets lost, late, twice, out of order."""
    trim = {"kind": "trim", "limit": "100 kB", "min": "20 kB", "max": "80 kB"}
    each = [(name, {"traffic.a.congestion_control": name}) for name in names("congestion-controls")]
    for name, given in each:
        yield Case(f"{name}, linux", PATH, {**given, "stack": "linux"}, 1)
        yield Case(f"{name}, RoCE", LOSSLESS, given, 1)
        yield Case(f"{name}, UEC", LOSSLESS, {**given, "traffic.a.transport": "uec", "template.queue": trim}, 1)
    for name, given in each:
        yield Case(f"{name}, rfc", PATH, {**given, "stack": "rfc"}, 1)
        yield Case(f"{name}, impaired", IMPAIRED, given, 2)


def switches() -> Iterator[Case]:
    """PAUSE, PFC, congestion management, and memories that overflow."""
    pause = {"kind": "pause", "xoff": "96 kB", "xon": "80 kB"}
    pfc = {"kind": "pfc", "priorities": [0], "xoff": "96 kB", "xon": "80 kB"}
    for name, more in (
        ("drops", {}),
        ("pause", {"switches.sw.flow_control": pause}),
        ("pfc", {"switches.sw.flow_control": pfc}),
        ("qcn", {"congestion_management": {"kind": "qcn"}}),
        ("ecm", {"congestion_management": {"kind": "ecm"}}),
        ("pause and qcn", {"switches.sw.flow_control": pause, "congestion_management": {"kind": "qcn"}}),
    ):
        for transport, control in (("tcp", "cubic"), ("roce", "none")):
            given = {"switches.sw.memory": "400 kB", "traffic.a.transport": transport, "traffic.a.congestion_control": control}
            yield Case(f"{name}, {transport}", LOSSLESS, {**given, **more}, 1)


def marked() -> Iterator[Case]:
    for name in names("congestion-controls"):
        queue = {"template.queue": {"kind": "codel", "limit": "200 packets", "ecn": True}, "tcp.ecn": "accurate"}
        yield Case(f"{name}, marked", PATH, {"traffic.a.congestion_control": name, **queue, "template.rate": "100 Mbps"}, 2)


def cases() -> Iterator[Case]:
    """The first `COUNT` that the core takes and whose tables no earlier one has, each short enough."""
    seen: set[str] = set()
    for case in (*library(1), *kinds(), *queues(), *switches(), *controls(), *marked(), *library(2)):
        if len(seen) == COUNT:
            return
        try:
            found = shortened(case)
        except el.InputError as error:
            if "for RoCE" not in str(error):  # a control is for TCP or for RoCE
                print(f"left out: {case.name}: {str(error)[:150]}", file=sys.stderr)
            continue
        if found.digest in seen:
            print(f"left out: {case.name}: its tables are those of an earlier one", file=sys.stderr)
            continue
        seen.add(found.digest)
        yield found


def shortened(case: Case) -> Case:
    """Returns the case with its digest, and with a duration so short that its run has at most `EVENTS_MAX` events, if it can be."""
    given, run = case, el.run(case.base, set=case.set, seed=case.seed, report=False)
    while run.manifest["events"] > EVENTS_MAX:
        lasts = core.toml_values(run.scenario)
        half = to_seconds(lasts["duration"]) / 2
        warmup = min(to_seconds(lasts.get("warmup", "0 s")), half / 2)
        shorter = replace(given, set={**case.set, "duration": f"{half:.6g} s", "warmup": f"{warmup:.6g} s"})
        try:
            run = el.run(shorter.base, set=shorter.set, seed=shorter.seed, report=False)
        except el.InputError:  # something begins later
            break
        given = shorter
    return replace(given, digest=tables_digest(run.tables))


def write(given: list[Case]) -> None:
    bases: dict[str, str] = {}
    rows = []
    for case in given:
        name = case.base
        if "\n" in case.base:
            name = next((key for key, text in bases.items() if text == case.base), f"base {len(bases) + 1}")
            bases[name] = case.base
        rows.append(json.dumps({"name": case.name, "base": name, "set": dict(case.set), "seed": case.seed, "digest": case.digest}))
    told = ",\n".join(f"{json.dumps(name)}: {json.dumps(text)}" for name, text in bases.items())
    listed, version = ",\n".join(rows), json.dumps(core.call("version"))
    DATA.write_text(f'{{"version": {version},\n"bases": {{\n{told}}},\n"cases": [\n{listed}\n]}}\n', encoding="utf-8")


def main(words: list[str]) -> int:
    if words == []:
        write(list(cases()))
        return 0
    if words == ["--check"]:
        differ = differing(published().cases, workers=2)
        print(f"{len(differ)} digests have drifted: make digests" if differ else "the digests are those of this engine")
        return int(bool(differ))
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
