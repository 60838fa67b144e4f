"""Scenarios at random over the whole language: values are drawn from the schema, names and scale from a topology.

The schema does not say everything (what goes with what), so a scenario loses what the language refuses, an error at a time.
"""

import json
import math
import random
import re
from itertools import pairwise

LINE = re.compile(r"^x\.json:\d+:\d+: (?P<path>[^:]+): ")
STEP = re.compile(r'\[(\d+)\]|"([^"]*)"|([^.\[\]"]+)')
UNITS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "h": 3600.0, "d": 86_400.0}
DELAYS = ("access_delay", "server_delay", "cross_delay")
LOT = {"sender": None, "receiver": None, "cross_sender": 2, "cross_receiver": 2}
WILD = {
    "time": ["0 s", "1 ps", "1 ns", "0.5 ns", "1 s", "1 h", "1 d", "210 d"],
    "rate": ["1 bps", "1 kbps", "1 B/s", "400 Gbps", "100 Tbps", "999999999 bps"],
    "size": ["0 B", "1 B", "8 b", "64 B", "65535 B", "1 GB", "4 GiB", "16 EiB"],
    "limit": ["0 p", "1 p", "1 B", "1000000 p", "0.001 bdp", "1000 bdp", "1 TB"],
    "count": ["1 p", "2 p", "1000000 p"],
}


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def time(value):
    return f"{max(1, round(value * 1e12))} ps"


def rate(value):
    return f"{max(1, round(value))} bps"


def size(value):
    return f"{max(1, round(value))} B"


class Draw:
    """One scenario, of a rate and a round trip of its own."""

    def __init__(self, schema, seed):
        self.schema, self.random = schema, random.Random(seed)
        self.wild = self.random.choice([0.0, 0.0, 0.02, 0.1])  # share of extreme values
        self.density = self.random.choice([0.05, 0.15, 0.3, 0.6])  # share of the optional keys that are given
        self.rate, self.rtt = self.log(1e4, 4e11), self.log(3e-6, 0.5)
        self.sizes = {}  # hosts of each group; None is a single one
        self.links = []  # paths of links, for changes

    def log(self, low, high):
        return math.exp(self.random.uniform(math.log(low), math.log(high)))

    def chance(self, share):
        return self.random.random() < share

    def quantity(self, kind, key="", default=None):
        if self.chance(self.wild):
            return self.random.choice(WILD[kind])
        if default and self.chance(0.3):
            return default
        if kind == "time":
            return time(self.rtt * self.log(1e-3, 10))
        if kind == "rate":
            return rate(self.rate * self.log(0.05, 3))
        if kind == "size":
            return size(self.log(64, 9000) if key in ("mss", "mtu", "packet_size", "frame_size") else self.log(100, 1e6))
        if kind == "count" or self.chance(0.4):
            return f"{round(self.log(1, 1000))} p"
        return f"{self.log(0.05, 10):.3f} bdp" if self.chance(0.4) else size(self.log(1600, 3e6))

    def number(self, schema, whole):
        low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
        default = schema.get("default")
        if self.chance(self.wild):
            value = self.random.choice([low or 0, 0, 1, 2, 1e-9, 1e6, 2**31])
        elif default is not None:
            value = default * self.log(0.3, 3) if default else self.random.random()
        else:
            value = self.log(1, 100) if whole else self.random.random() * (high or 1)
        value = max(value, low) if low is not None else value
        value = min(value, high) if high is not None else value
        return round(value) if whole else value

    def distribution(self, kind):
        def one():
            if kind == "size" or self.chance(self.wild):
                return self.quantity(kind)
            return time(max(self.rtt, 12_000 / self.rate) * self.log(0.1, 10))

        law = self.random.choice(["plain", "fixed", "exponential", "uniform", "pareto", "lognormal", "cdf"])
        if law == "plain":
            return one()
        if law == "uniform":
            return {law: [one(), one()]}
        if law == "pareto":
            return {law: {"shape": self.random.uniform(1.05, 4), self.random.choice(["mean", "scale"]): one()}}
        if law == "lognormal":
            return {law: {"sigma": self.random.uniform(0.1, 3), self.random.choice(["mean", "median"]): one()}}
        return {"cdf": [[one(), 1.0]]} if law == "cdf" else {law: one()}

    def resolve(self, schema):
        while "$ref" in schema:
            target = self.schema["$defs"][schema["$ref"].rsplit("/", 1)[1]]
            schema = target | {key: value for key, value in schema.items() if key != "$ref"}
        return schema

    def branches(self, schema):
        schema = self.resolve(schema)
        members = schema.get("oneOf", schema.get("anyOf", [])) if "properties" not in schema else []
        if members:
            return [branch for member in members for branch in self.branches(member)]
        return [] if schema.get("type") == "null" else [schema]

    def value(self, schema, key=""):
        schema = self.resolve(schema)
        if "x-distribution" in schema:
            return self.distribution(schema["x-distribution"])
        if own := getattr(self, f"draw_{key}", None):
            return own()
        branch = self.random.choice(self.branches(schema))
        default = branch.get("default", schema.get("default"))
        if "x-quantity" in branch:
            return self.quantity(branch["x-quantity"], key, default if isinstance(default, str) else None)
        if "const" in branch:
            return branch["const"]
        if "enum" in branch:
            return self.random.choice(branch["enum"])
        kind = branch.get("type")
        if kind == "boolean":
            return self.chance(0.5)
        if kind in ("integer", "number"):
            return self.number({"default": default} | branch, kind == "integer")
        if kind == "array":
            count = self.random.randint(branch.get("minItems", 0), branch.get("maxItems", branch.get("minItems", 0) + 2))
            return [self.value(branch["items"], key) for _ in range(count)]
        return "x" if kind == "string" else self.table(branch)

    def table(self, schema, without=(), density=None):
        schema = self.resolve(schema)
        share = self.density if density is None else density
        required = schema.get("required", [])
        drawn = {
            key: self.value(of, key)
            for key, of in schema.get("properties", {}).items()
            if key not in without and (key in required or self.chance(share))
        }
        return {key: value for key, value in drawn.items() if value is not None}

    def definition(self, name, without=(), density=None):
        return self.table({"$ref": f"#/$defs/{name}"}, without, density)

    # What the schema alone would draw nonsense for; None leaves the key out.

    def draw_profile(self):
        return None

    draw_file = draw_profile

    def draw_trace(self):
        rows = (f"{self.random.random() * 20 * self.rtt:.9f},{round(self.log(1, 1e6))}\n" for _ in range(4))
        return "start_s,size_bytes\n" + "".join(sorted(rows))

    def draw_connections(self):
        return self.random.choice([1, 1, 2, 5])

    def draw_streams(self):
        return self.random.choice([1, 2, 4, 7])

    def draw_logger(self):
        return time(self.rtt * self.log(0.1, 10))

    def draw_priorities(self):
        return self.random.sample(range(8), self.random.randint(1, 4))

    def draw_map(self):
        return [self.random.randrange(8) for _ in range(8)]

    def draw_gap(self):
        return {"bernoulli": 0.3} if self.chance(0.3) else self.distribution("time")

    def draw_gaps(self):
        bursts = {"bursts": {"on": self.distribution("time"), "off": self.distribution("time")}}
        return self.random.choice(["exponential", "fixed", bursts])

    def draw_load(self):
        return rate(self.rate * self.log(0.01, 2))

    def draw_duplicate(self):
        return self.random.choice([0.001, 0.05, 0.5])

    def draw_start(self):
        return time(self.rtt * self.random.uniform(0, 10))

    def draw_stop(self):
        return time(self.rtt * self.random.uniform(11, 60))

    def draw_loss(self):
        share = self.log(1e-4, 0.3)
        burst = {"gilbert_elliott": {"to_bad": share, "to_good": self.random.random()}}
        listed = {"listed": sorted(self.random.sample(range(1, 200), 5))}
        return self.random.choice(["none", {"periodic": self.random.randint(20, 300)}, {"bernoulli": share}, burst, listed])

    def draw_congestion_control(self):
        options = self.branches(self.schema["$defs"]["Traffic"]["properties"]["congestion_control"])
        branch = self.random.choice([one for one in options if "python" not in one.get("properties", {})])
        return self.random.choice(branch["enum"]) if "enum" in branch else self.table(branch)

    def draw_queue(self):
        options = self.branches({"$ref": "#/$defs/QueueSpec"})
        queue = self.table(self.random.choice(options), without=("classes",))
        if queue["kind"] == "red":
            queue |= {"min": "5 p", "max": "15 p"}
        if queue["kind"] in ("ets", "wrr") and self.chance(0.7):
            inner = {"kind": self.random.choice(["fifo", "codel", "drr", "sfq", "pie"])}
            queue["classes"] = [{"priorities": [0, 3, 5], "queue": inner}, {"priorities": [1, 2, 4, 6, 7]}]
        return queue

    draw_host_queue = draw_queue

    def link(self, ends):
        skip = ("between", "rate", "delay", "pairing", "ports", "up")
        link = {"between": ends, "rate": rate(self.rate * self.log(0.2, 5)), "delay": time(self.rtt * self.random.random() / 4)}
        link |= self.definition("Link", skip, self.density / 2)
        for way in ("forward", "backward"):
            link.get(way, {}).pop("up", None)
        if self.chance(0.5):
            link["queue"] = self.draw_queue()
        return link

    def free(self):
        """Hosts on a chain of switches, which may be closed to a ring."""
        hosts = {name: {"count": self.random.randint(1, 4)} if self.chance(0.6) else {} for name in "abc"}
        switches = "stu"[: self.random.randint(1, 3)]
        pairs = [[name, self.random.choice(switches)] for name in hosts] + [list(pair) for pair in pairwise(switches)]
        pairs += [[switches[0], switches[2]]] if len(switches) == 3 and self.chance(0.5) else []
        self.sizes = {name: host.get("count") for name, host in hosts.items()}
        self.links = [f"links[{i}]" for i in range(len(pairs))]
        return {"hosts": hosts, "switches": {name: {} for name in switches}, "links": [self.link(pair) for pair in pairs]}

    def template(self, kind):
        given = {"k": 4, "pairs": 3, "clients": 4, "servers": 2, "leaves": 2, "spines": 2, "hosts_per_leaf": 2}
        branch = next(one for one in self.branches({"$ref": "#/$defs/Template"}) if one["properties"]["kind"]["const"] == kind)
        known = branch["properties"]
        drawn = self.table(branch, without=(*given, "rate", "delay", "hops", "preset", *DELAYS))
        drawn |= {key: value for key, value in given.items() if key in known}
        drawn |= {"rate": rate(self.rate), "delay": time(self.rtt / 8)} if "rate" in known else {}
        if kind == "path":
            hops = [self.definition("Hop", ("rate", "delay")) for _ in range(3)]
            drawn["hops"] = [hop | {"rate": rate(self.rate * self.log(0.5, 2)), "delay": time(self.rtt / 8)} for hop in hops]
        if kind == "parking-lot":
            drawn["hops"] = 2
        groups = {"dumbbell": {"sender": 3, "receiver": 3}, "star": {"client": 4, "server": 2}, "parking-lot": LOT}
        self.sizes = groups.get(kind, {"sender": None, "receiver": None} if kind == "path" else {"host": 4})
        links = {"dumbbell": "left->right", "leaf-spine": "leaf[0]->spine[0]", "parking-lot": "router[0]->router[1]"}
        self.links = [f"links.{links[kind]}"] if kind in links else []
        return {"template": drawn, "hosts": {} if "host" in self.sizes else {name: {} for name in self.sizes}, "switches": {}}

    def switch(self):
        switch = self.definition("Switch", ("count", "preset"), self.density / 2)
        if self.chance(0.4):
            memory = self.log(2e4, 2e6)
            xoff = size(memory * self.random.uniform(0.05, 0.8))
            pause = {"kind": "pause", "xoff": xoff, "xon": size(memory * 0.04), "quanta": self.random.choice([65535, 100, 2])}
            pfc = {"kind": "pfc", "xoff": xoff, "headroom": size(memory * 0.01), "priorities": self.draw_priorities()}
            per = self.random.choice(["egress", "ingress"])
            switch |= {"memory": size(memory), "flow_control": self.random.choice([pause, pfc]) | {"per": per}}
        return switch

    def members(self):
        name = self.random.choice(list(self.sizes))
        count = self.sizes[name]
        return name if count is None or self.chance(0.6) else f"{name}[{self.random.randrange(count)}]"

    def traffic(self, number):
        schema = self.resolve({"$ref": "#/$defs/Traffic"})
        branch = self.random.choice(self.branches({"oneOf": schema["oneOf"]}))
        either = [key for key in ("load", "rate_per_s", "arrivals_per_s", "gap") if key in branch["properties"]]
        either = ["rate", "gap"] if branch["properties"]["kind"]["const"] == "frames" else either
        skip = ("from", "to", "pairing", "name", "transport", "roce")
        entry = {
            "from": self.members(),
            "to": self.members(),
            "pairing": self.random.choice(["all", "random"]),
            "name": f"t{number}",
        }
        entry |= self.table({"properties": schema["properties"]}, skip) | self.table(branch, (*either, "slot"))
        if either:
            key = self.random.choice([key for key in either if not key.endswith("per_s")] or either)
            entry[key] = self.value(branch["properties"][key], key)
        if entry["kind"] == "replay":
            entry["trace"] = self.draw_trace()
        if entry["kind"] in ("bulk", "messages", "transfers", "users", "incast", "replay") and self.chance(0.2):
            entry |= {"transport": "roce", "congestion_control": self.random.choice(["dcqcn", "timely", "hpcc", "swift", "none"])}
            entry.pop("tcp", None)
        return entry

    def change(self, end):
        link = self.random.choice(self.links) if self.links else None
        new = {"traffic.t0.congestion_control": self.draw_congestion_control()}
        if link:
            values = {
                "rate": rate(self.rate * self.log(0.1, 10)),
                "delay": time(self.rtt * self.random.random()),
                "up": self.chance(0.4),
                "loss": self.draw_loss(),
                "queue.limit": self.quantity("limit"),
            }
            key = self.random.choice(list(values))
            new = {f"{link}.{key}": values[key]}
        return {"at": time(end * self.random.random()), "set": new}

    def scenario(self):
        kinds = ["dumbbell", "star", "path", "parking-lot", "fat-tree", "leaf-spine", "free", "free", "free"]
        kind = self.random.choice(kinds)
        scenario = {"title": "at random"} | (self.free() if kind == "free" else self.template(kind))
        for host in scenario["hosts"].values():
            host |= self.definition("Host", ("count",), self.density / 2)
        scenario["switches"] = {name: self.switch() for name in scenario["switches"]}
        scenario["stack"] = self.random.choice(self.schema["properties"]["stack"]["enum"])
        if self.chance(0.4):
            scenario["tcp"] = self.definition("Overrides")
        if self.chance(0.15):
            scenario["congestion_management"] = self.definition("CongestionManagement") or self.table(
                self.random.choice(self.branches({"$ref": "#/$defs/CongestionManagement"}))
            )
        scenario["traffic"] = [self.traffic(number) for number in range(self.random.choice([1, 1, 2, 3, 5]))]
        end = max(4 * self.rtt, min(self.rtt * self.random.uniform(10, 60), 3e4 * 12_000 / self.rate))
        scenario |= {
            "duration": time(end),
            "seed": self.random.randrange(10**6),
            "ecmp": self.random.choice(["flow", "packet", "none"]),
        }
        if self.chance(0.3):
            scenario["change"] = [self.change(end) for _ in range(self.random.randint(1, 3))]
            scenario["reroute"] = time(self.rtt * self.log(1e-2, 10))
        scenario["record"] = {"ports": "all", "every": time(end / self.random.randint(3, 50))}
        return scenario


def drop(scenario, error):
    """Removes what an error is about; answers whether there was anything."""
    here, last = scenario, None
    for index, quoted, word in STEP.findall(LINE.match(error)["path"]):
        step = int(index) if index else quoted or word
        if not isinstance(here, dict | list) or (step not in here if isinstance(here, dict) else step >= len(here)):
            break
        here, last = here[step], (here, step)
    if last:
        del last[0][last[1]]
    return last is not None


def valid(schema, seed, errors_of):
    """JSON of a scenario in which `errors_of` (of a text the lines of its errors) finds nothing wrong, and all errors met."""
    met = []
    for attempt in range(10):
        scenario = Draw(schema, 10 * seed + attempt).scenario()
        for _ in range(60):
            text = json.dumps(scenario, indent=1)
            errors = errors_of(text)
            met += errors
            if not errors:
                return text, met
            if not drop(scenario, errors[0]):
                break
    raise AssertionError(f"seed {seed}: nothing valid was drawn; the last errors: {met[-3:]}")
