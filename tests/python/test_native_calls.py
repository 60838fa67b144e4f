"""Every call into the core either can be stopped while it works, or is declared short here, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from elephan import _core

SOURCES = Path(__file__).parents[2] / "crates" / "py" / "src"

# What a call does whose work does not grow with what a user gives it.
SHORT = {
    "Network.now": "one call of the socket interface",
    "Network.end": "one call of the socket interface",
    "Network.hosts": "one call of the socket interface",
    "Network.socket": "one call of the socket interface",
    "Network.bind": "one call of the socket interface",
    "Network.listen": "one call of the socket interface",
    "Network.accept": "one call of the socket interface",
    "Network.connect": "one call of the socket interface",
    "Network.error": "one call of the socket interface",
    "Network.send": "one call of the socket interface",
    "Network.recv": "one call of the socket interface",
    "Network.send_to": "one call of the socket interface",
    "Network.recv_from": "one call of the socket interface",
    "Network.shutdown": "one call of the socket interface",
    "Network.close": "one call of the socket interface",
    "Network.name": "one call of the socket interface",
    "Network.peer": "one call of the socket interface",
    "Network.poll": "one call of the socket interface",
    "Network.watch": "one call of the socket interface",
    "Network.is_idle": "one call of the socket interface",
    "Network.info": "one call of the socket interface",
    "Network.set_number": "one call of the socket interface",
    "Network.set_congestion_control": "one call of the socket interface",
    "Network.wait": "asks for signals as a run does",
    "Network.finish": "closes the books of a run that is over",
    "Ranks.count": "reads a number",
    "Ranks.done": "reads a flag",
    "answers": "reads what one kind answers about itself",
    "intervals": "one pass over numbers that the caller holds",
    "differences": "one pass over numbers that the caller holds",
    "student": "one quantile",
    "detectable_difference": "a search over one number",
    "bounds": "reads the bounds of one statistic",
    "flow_names": "one pass over the names of flows",
    "Beginning.new": "keeps a text",
    "Cancel": "reads and raises a flag",
    "TomlText.line": "one path",
    "amount": "one number",
    "quantity": "one number",
    "Table": "reads what is known of a table, and shares its data without a copy",
    "Cc": "one step of one controller",
    "Guest": "one value of one controller",
    "CongestionPoint": "one frame",
    "DiskModel": "one request",
    "PrrRecovery": "one acknowledgement",
    "PyQueue": "one packet",
    "ReactionPoint": "one frame or notification",
    "ReceiveSide": "one packet",
    "Rounds": "one acknowledgement",
    "RttEstimator": "one sample",
    "SackWalker": "one acknowledgement",
    "TcpEndpoint": "one segment",
    "TransmitSide": "one packet",
    "Desk.new": "keeps the library, whose size is elephan's own",
    "RunResult.tables": "shares what is there",
    "Trace.tables": "shares what is there",
    "data_dictionary": "a text of the core",
    "describe_cc": "one of the controllers of the core",
    "empty_trace": "tables without rows",
    "end_unanswered": "starts a thread",
    "find_file": "one name",
    "listing": "a list of the core",
    "model_known_as": "one word",
    "schema": "a text of the core",
    "version": "a word of the core",
}


def _body(text: str, start: int) -> str:
    """The text between the braces that open first from `start` on."""
    begin = depth = text.index("{", start)
    depth = 0
    for end in range(begin, len(text)):
        depth += (text[end] == "{") - (text[end] == "}")
        if not depth:
            return text[begin : end + 1]
    raise AssertionError("a brace that nobody closes")


FUNCTION = re.compile(r"#\[pyfunction\](?:\s*#\[[^\n]*\])*\s*(?:pub )?fn (\w+)")
BLOCK = re.compile(r"#\[pymethods\]\s*impl (\w+)")
METHOD = re.compile(r"^    (?:pub )?fn (\w+)", re.MULTILINE)


def calls() -> Iterator[tuple[str, str]]:
    """The name of each function, and `Class.method` of each method, that Python can call, with its body."""
    for path in sorted(SOURCES.rglob("*.rs")):
        text = path.read_text()
        for found in FUNCTION.finditer(text):
            yield found[1], _body(text, found.end())
        for block in BLOCK.finditer(text):
            inner = _body(text, block.end())
            for found in METHOD.finditer(inner):
                yield f"{block[1]}.{found[1]}", _body(inner, found.end())


def test_a_call_is_stoppable_or_declared_short() -> None:
    loose = [
        name
        for name, body in calls()
        if "guard_long(" not in body and name not in SHORT and name.partition(".")[0] not in SHORT and ".__" not in name
    ]
    assert loose == [], "enter them through `guard_long`, or say in SHORT why their work does not grow"


def test_what_is_declared_short_is_there_and_nothing_else() -> None:
    """A name of SHORT that nothing has any more, or whose function can be stopped, goes."""
    there = dict(calls())
    for name in SHORT:
        assert name in there or any(one.startswith(f"{name}.") for one in there), name
        assert "guard_long(" not in there.get(name, ""), name


def test_no_function_of_the_module_is_overlooked() -> None:
    functions = {name for name, value in vars(_core).items() if type(value).__name__ == "builtin_function_or_method"}
    assert functions == {name for name, _ in calls() if "." not in name}
