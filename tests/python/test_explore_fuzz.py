"""Requests of all sorts to the server of `elephan explore`: each gets an answer, none a traceback, and nothing hangs."""

import http.client
import json
import random
from typing import Any

import pytest
from elephan.scenario.source import library
from pages import Page, served
from waiting import PATIENCE_S
from websockets.exceptions import ConnectionClosed

TEXT = library()["sawtooth"].path.read_text(encoding="utf-8")
METHODS = (
    *("describe", "library", "check", "edit", "run", "series", "rows", "flows", "ports", "topology", "why", "events", "packets"),
    *("open", "digests", "close", "results", "load", "trials", "trial", "parquet", "cancel", "hello", "nope", "", "__class__"),
)
KEYS = (
    *(
        "text",
        "path",
        "value",
        "handle",
        "lines",
        "points",
        "from_ns",
        "to_ns",
        "at_ns",
        "table",
        "columns",
        "where",
        "limit",
        "flow",
    ),
    *("seed", "until_s", "record", "set", "series", "name", "id", "token", "skip", "time", "part", "variant", "statistic"),
)
WORDS = (
    *("", "x", "<script>alert(1)</script>", "../../etc/passwd", "\x00", "\u202e", "é" * 50, "flow_samples", "events", "cwnd_bytes"),
    *(
        "template.rate",
        "traffic[0].congestion_control.kind",
        "links[99].rate",
        "a.b[",
        "12 Mb/s",
        "1e999",
        "-5 ms",
        "rate",
        "value",
    ),
)


def value(draw: random.Random, depth: int = 0) -> Any:
    kind = draw.randrange(10 if depth < 3 else 7)
    if kind < 3:
        return draw.choice(WORDS)
    if kind < 5:
        return draw.choice([0, 1, -1, 2, 7, 1e9, -1e18, 1e308, 2**63, 2**64, 0.5, 12])
    if kind < 7:
        return draw.choice([None, True, False, 1, 2])
    if kind < 8:
        return [value(draw, depth + 1) for _ in range(draw.randrange(4))]
    keys = draw.sample([*KEYS, "column", "how", "per", "port", "kind"], draw.randrange(5))
    return {key: value(draw, depth + 1) for key in keys}


def broken(draw: random.Random, text: str) -> str:
    """A text with a piece cut out, doubled or replaced."""
    place = draw.randrange(len(text))
    end = min(len(text), place + draw.randrange(1, 20))
    return draw.choice([text[:place] + text[end:], text[:end] + text[place:], text[:place] + draw.choice(WORDS) + text[end:]])


def parameters(draw: random.Random, method: str) -> dict[str, Any]:
    params = {key: value(draw) for key in draw.sample(KEYS, draw.randrange(6))}
    if draw.random() < 0.7:
        params["handle"] = draw.randrange(1, 4)
    if method in ("run", "check", "edit") and draw.random() < 0.8:
        params["text"] = broken(draw, TEXT) if draw.random() < 0.6 else TEXT
    if method == "run":
        params["until_s"] = draw.choice([11, 12, 10.5])
    if method == "series" and draw.random() < 0.7:
        line = {
            "table": draw.choice(["flow_samples", "port_samples", "events", "flows"]),
            "column": draw.choice(["cwnd_bytes", "flow", "x"]),
        }
        params["lines"] = [line | {"how": draw.choice(["value", "rate", "sum", "count", "y"]), "per": draw.choice([None, 1, 0.01])}]
    return params


def talk(page: Page, draw: random.Random, requests: int) -> int:
    """Sends requests and takes their answers; returns how many were answered by `done`."""
    done = 0
    for _ in range(requests):
        method = draw.choice(METHODS)
        if draw.random() < 0.05:
            page.socket.send(
                draw.choice(["", "{", "[]", '{"id": []}', json.dumps({"id": 1, "method": method, "params": 5}), "\x00"])
            )
            head, _ = page.take()
            assert head["kind"] == "error"
            continue
        payload = draw.randbytes(draw.randrange(200)) if method == "open" and draw.random() < 0.8 else None
        number = page.send(method, parameters(draw, method), payload)
        while (head := page.take(30)[0])["kind"] == "piece" or head["id"] != number:
            assert head["kind"] in ("piece", "error", "done")
        if head["kind"] == "error":
            assert head["message"], method
            assert "internal error" not in head["message"], (method, head)
            assert "\n" not in head["message"], (method, head)
        done += head["kind"] == "done"
    return done


def ask_http(host: str, draw: random.Random, requests: int) -> None:
    """Sends requests of HTTP, well-formed and not; none is answered by a failure of the server."""
    for _ in range(requests):
        connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
        path = draw.choice(
            ["/", "/engine", "/assets/x", "/%00", "/..%2f..%2fetc/passwd", "/" + "a" * 3000, "/wasm/x", "//", "/?a=b", "/\\"]
        )
        headers = {"Host": draw.choice([host, host, "x", ""])}
        for name in draw.sample(
            ["Origin", "Upgrade", "Connection", "Range", "If-None-Match", "Sec-WebSocket-Key", "Content-Length"], 2
        ):
            headers[name] = draw.choice(["x", "0", "http://evil", "websocket", "bytes=5-1", "Upgrade", "a" * 200])
        try:
            connection.request(draw.choice(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "BREW"]), path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status < 500 or answer.status == 503, (answer.status, path)  # 503: the page is not built
        except (http.client.HTTPException, ConnectionError):
            pass  # what is no HTTP is hung up on
        finally:
            connection.close()


def fuzz(seed: int, requests: int) -> None:
    draw = random.Random(seed)
    with served() as (address, process):
        done = 0
        for _ in range(4):
            try:
                with Page(address) as page:
                    done += talk(page, draw, requests // 5)
            except ConnectionClosed as error:
                raise AssertionError("the server hung up") from error
        ask_http(address.removeprefix("http://").split("/")[0], draw, requests // 5)
        assert done > requests // 20, "hardly any request was a good one"
        assert process.poll() is None
        with Page(address) as page:
            assert page.ask("library")[0]["value"]


def test_some_requests():
    fuzz(2026, 500)


@pytest.mark.slow
def test_ten_thousand_requests():
    fuzz(random.randrange(10**9), 10_000)
