"""A reader of packetdrill's language, as far as the scripts of `tests/packetdrill` use it (docs/packetdrill.md)."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

from kernel.referee.wire import ACK, AE, CWR, ECE, FIN, PSH, RST, SYN, URG

NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)"
TIME = re.compile(rf"(?P<rel>\+?)(?P<at>{NUMBER}|\*)(?:~\+?(?P<to>{NUMBER}))?(?:\s*\.\.\.\s*(?P<end>{NUMBER}))?\s+")
PACKET = re.compile(
    r"(?P<way>[<>])\s*(?:\[(?P<ecn>\w+)\]\s*)?(?P<flags>[SFRPUEWA.0-7-]+)\s+(?P<seq>\d+):(?P<end>\d+)\((?P<length>\d+)\)"
    r"(?:\s+ack\s+(?P<ack>\d+))?(?:\s+win\s+(?P<window>\d+))?(?:\s+<(?P<options>[^>]*)>)?\s*$"
)
CALL = re.compile(r"(?P<name>\w+)\((?P<given>.*)\)\s*=\s*(?P<result>-?\w+)(?:\s+(?P<error>E[A-Z]+))?\s*(?:\(.*\))?\s*$", re.S)
FLAGS = {"S": SYN, "F": FIN, "R": RST, "P": PSH, "U": URG, "E": ECE, "W": CWR, "A": AE, ".": ACK}
MARKS = {"noecn": 0, "ect1": 1, "ect0": 2, "ce": 3}
MSS, SCALE, SACK_OK, SACK, STAMPS, COOKIE, EXPERIMENT = 2, 3, 4, 5, 8, 34, 254
ACCECN0, ACCECN1 = 172, 174


class NotInLanguage(Exception):
    """The script has something that this reader does not know."""


@dataclass
class Packet:
    inbound: bool
    flags: int
    seq: int
    length: int
    ack: int | None
    window: int | None
    # `None` for any options.
    options: list[tuple[int, bytes]] | None
    ecn: int | None


@dataclass
class Call:
    name: str
    given: list[str]
    result: int
    error: str | None


@dataclass
class Event:
    """An event with its line; times are seconds, `None` for any time."""

    line: int
    text: str
    relative: bool
    at: float | None
    to: float | None
    end: float | None
    what: Packet | Call | str
    # "packet", "call", "code" or "command"
    kind: str = "packet"


@dataclass
class Script:
    settings: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


def read(text: str) -> Script:
    """Returns the script; raises NotInLanguage with the line of what is not known."""
    script = Script()
    position = 0
    while position < len(text):
        if skipped := re.compile(r"\s+|//[^\n]*|#[^\n]*|/\*.*?\*/", re.S).match(text, position):
            position = skipped.end()
            continue
        line = text.count("\n", 0, position) + 1
        if setting := re.compile(r"--(\w+)(?:=(\S+))?").match(text, position):
            script.settings[setting[1]] = setting[2] or ""
            position = setting.end()
        elif text[position] == "`":
            end = text.index("`", position + 1)
            script.commands.append(text[position + 1 : end])
            position = end + 1
        elif time := TIME.match(text, position):
            position = _event(script, text, line, time)
        else:
            raise NotInLanguage(f"line {line}: {text[position : position + 40].splitlines()[0]!r}")
    return script


def _event(script: Script, text: str, line: int, time: re.Match[str]) -> int:
    start = time.end()
    what: Packet | Call | str
    if text.startswith("%{", start):
        end = text.index("}%", start) + 2
        what, kind = text[start + 2 : end - 2].strip(), "code"
    elif text[start] == "`":
        end = text.index("`", start + 1) + 1
        what, kind = text[start + 1 : end - 1], "command"
    else:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        while text[start] not in "<>" and text.count("(", start, end) > text.count(")", start, end) and end < len(text):
            end = text.find("\n", end + 1)
        body = re.sub(r"\s*//.*", "", text[start:end]).strip()
        if body[0] in "<>":
            what, kind = packet(body, line), "packet"
        else:
            what, kind = call(body, line), "call"
    at, to, until = (None if time[name] in (None, "*") else float(time[name]) for name in ("at", "to", "end"))
    shown = text[time.start() : end].strip()
    script.events.append(Event(line, shown, bool(time["rel"]), at, to, until, what, kind))
    return end


def packet(text: str, line: int) -> Packet:
    found = PACKET.match(text)
    if found is None:
        raise NotInLanguage(f"line {line}: {text}")
    flags = 0
    for letter in found["flags"]:
        if letter.isdigit():
            ace = int(letter)
            flags |= AE * (ace >> 2) | CWR * (ace >> 1 & 1) | ECE * (ace & 1)
        else:
            flags |= FLAGS.get(letter, 0)
    ack, window = (None if found[name] is None else int(found[name]) for name in ("ack", "window"))
    told = found["options"]
    options = None if told is not None and told.strip() == "..." else _options(told or "", line)
    ecn = None if found["ecn"] is None else MARKS.get(found["ecn"])
    return Packet(found["way"] == "<", flags, int(found["seq"]), int(found["length"]), ack, window, options, ecn)


def _options(text: str, line: int) -> list[tuple[int, bytes]]:
    options = []
    for words in (part.split() for part in text.split(",") if part.strip()):
        match words:
            case ["nop"]:
                options.append((1, b""))
            case ["eol"]:
                options.append((0, b""))
            case ["mss", size]:
                options.append((MSS, struct.pack("!H", int(size))))
            case ["wscale", shift]:
                options.append((SCALE, bytes([int(shift)])))
            case ["sackOK"]:
                options.append((SACK_OK, b""))
            case ["TS", "val", value, "ecr", echo]:
                options.append((STAMPS, struct.pack("!II", int(value), int(echo))))
            case ["sack", *blocks]:
                edges = [int(edge) for block in blocks for edge in block.split(":")]
                options.append((SACK, struct.pack(f"!{len(edges)}I", *edges)))
            case ["FO", *cookie]:
                options.append((COOKIE, _cookie(cookie, line)))
            case ["FOEXP", *cookie]:
                options.append((EXPERIMENT, b"\xf9\x89" + _cookie(cookie, line)))
            case ["ECN", *counters]:
                kind = ACCECN1 if counters and counters[0] == "e1b" else ACCECN0
                options.append((kind, b"".join(int(number).to_bytes(3, "big") for number in counters[1::2])))
            case _:
                raise NotInLanguage(f"line {line}: the option {' '.join(words)!r}")
    return options


def _cookie(words: list[str], line: int) -> bytes:
    """Returns a Fast Open cookie; `TFO_COOKIE` is the one that google/packetdrill's runner defines for its addresses and key."""
    try:
        return bytes.fromhex("".join(words).replace("TFO_COOKIE", "3021b9d889017eeb"))
    except ValueError:
        raise NotInLanguage(f"line {line}: the cookie {' '.join(words)!r}") from None


def call(text: str, line: int) -> Call:
    found = CALL.match(text)
    if found is None:
        raise NotInLanguage(f"line {line}: {text}")
    return Call(found["name"], _arguments(found["given"]), int(found["result"], 0), found["error"])


def _arguments(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    return [*parts, current.strip()] if current.strip() else parts
