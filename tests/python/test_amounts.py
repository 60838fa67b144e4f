"""What would fill the memory or never end is refused before the run, and the error names the value."""

from __future__ import annotations

import elephan as el
import pytest

TEXT = """
duration = "DURATION"
[hosts.a]
count = 10
[hosts.b]
[switches.s]
[[links]]
between = ["a", "s"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["s", "b"]
rate = "10 Gbps"
delay = "1 us"
[[traffic]]
from = "a"
to = "b"
"""


def refused(kind: str, duration: str = "1 s") -> str:
    with pytest.raises(el.ElephanError) as caught:
        el.run(TEXT.replace("DURATION", duration) + kind)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ('kind = "incast"\nsize = "1 kB"\nevery = "1 ps"', 'traffic[0].every: "1 ps"'),
        ('kind = "incast"\nsize = "1 kB"\nevery = { uniform = ["1 ps", "3 ps"] }', "traffic[0].every: "),
        ('kind = "incast"\nsize = "1 kB"\nevery = "1 ps"\nrounds = 100000000000', 'traffic[0].every: "1 ps"'),
        ('kind = "cbr"\nrate = "100 Tbps"', 'traffic[0].rate: "100 Tbps"'),
        ('kind = "messages"\nsize = "1 kB"\nload = "100 Tbps"', 'traffic[0].load: "100 Tbps"'),
    ],
)
def test_offers_that_never_end(kind: str, where: str) -> None:
    said = refused(kind, "10 s")
    assert where in said
    assert "offers in 10 s, more than 1e10" in said


def test_rows_that_fill_the_memory() -> None:
    """10 flows and 11 ports of the switch, each microsecond of 10 s: 210 million rows. 2.2 us are 95 million."""
    flows = 'kind = "bulk"\n[record]\nevery = "1 us"\n'
    assert "1 us gives 10000000 times 21 rows in 10 s, more than 100000000; 2.2 us fits" in refused(flows, "10 s")
    # Each of the three tables of flows counts.
    more = flows + "statistics = true\ninfo = true\n"
    assert "times 41 rows" in refused(more, "10 s")


@pytest.mark.parametrize(
    "kind",
    [
        'kind = "incast"\nsize = "1 kB"\nevery = "1 ms"',
        'kind = "incast"\nsize = "1 kB"\nevery = "1 ps"\nrounds = 3',
        'kind = "incast"\nsize = "1 kB"',
        'kind = "cbr"\nrate = "10 Gbps"',
        'kind = "bulk"',
    ],
)
def test_what_ends_runs(kind: str) -> None:
    assert el.run(TEXT.replace("DURATION", "100 us") + kind).flows.num_rows > 0
