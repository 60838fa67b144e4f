"""The engine of a page, asked without a server."""

import json
import struct

import numpy as np
import pytest
from elephan import _core
from elephan.explore.engine import unframed


class Desk:
    """The engine of a page, asked without a server."""

    def __init__(self) -> None:
        self.desk = _core.Desk("[]", "{}", None, None)

    def ask(self, method, payload=b"", **params):
        frames = []
        request = json.dumps({"id": 1, "method": method, "params": params}).encode()
        self.desk.serve(request, payload, lambda frame: not frames.append(bytes(frame)), _core.Cancel())
        head, body = unframed(frames[-1])
        assert head["kind"] == "done", head["message"]
        return head, body

    def refused(self, method, **params):
        with pytest.raises(AssertionError) as error:
            self.ask(method, **params)
        return str(error.value)

    def line(self, handle, **asked):
        head, body = self.ask("series", handle=handle, lines=[asked], points=10**6)
        one = head["lines"][0]
        return [np.frombuffer(body, "<f8", one["count"], one[at]) for at in ("offset_t", "offset_y")]

    def intervals(self, kind, values, flows=0, less=None):
        payload = struct.pack(f"<{len(values)}d", *values) + (struct.pack(f"<{len(less)}d", *less) if less else b"")
        asked = {"kind": kind, "flows": flows, "count": len(values), "paired": less is not None}
        head, body = self.ask("intervals", payload, samples=[asked])
        return dict(zip(head["columns"], np.frombuffer(body, "<f8", 9, head["offset"]).tolist(), strict=True))
