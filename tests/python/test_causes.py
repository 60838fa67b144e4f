"""What limited connections of a Linux kernel: the cause was built into the link or into an application (`kernel/causes.py`).

A few captures are kept. The slow test lets this machine's kernel send all connections anew.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from kernel.causes import ASKED, CAUSES, TooBusy, captured, is_hidden, named, told, verdict, verdicts
from kernel.compare import missing

KEPT = Path(__file__).parent / "data" / "causes"


@pytest.mark.parametrize("file", sorted(KEPT.glob("*.pcap.gz")), ids=lambda file: file.name)
def test_a_kept_capture_names_its_cause_first(file: Path) -> None:
    """The file's name has the connection and the place, which elephan must find by itself."""
    name = file.name.removesuffix(".pcap.gz").rpartition(", ")[0].replace("Mb-s", "Mb/s")
    lines = told(file, None)
    assert verdict(name, lines).is_well, "\n".join(lines)


def test_few_captures_are_kept_and_small_ones() -> None:
    sizes = [file.stat().st_size for file in KEPT.iterdir()]
    assert 8 <= len(sizes) <= 12
    assert max(sizes) < 60_000


def test_causes_are_named_in_the_order_of_the_sentences() -> None:
    lines = [
        "Its set-up took 50 ms.",
        "It was limited by an outage (66 % of the time), then by the receiver's full window (20 % of the time).",
        "From 1 s to 2 s nothing came back (an outage); then 3 segments came again (packet 7).",
    ]
    assert [cause for cause, _ in named(lines)] == ["outage", "window", "outage"]


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_causes_of_new_captures_are_named_first(tmp_path: Path) -> None:
    """At each place nine of ten connections have their cause named first, and none a wrong culprit."""
    well, all_of = dict.fromkeys(ASKED, 0), dict.fromkeys(ASKED, 0)
    faults = []
    for name in CAUSES:
        with contextlib.suppress(TooBusy):
            captured(name, tmp_path)
            for asked, one in verdicts(name, tmp_path).items():
                known = {cause for place, cause in CAUSES[name].known if place == ASKED[asked][0]}
                assert set(one.wrong) <= known, f"{name}, {asked}: {one.wrong}"
                if is_hidden(name, asked):
                    continue
                well[asked], all_of[asked] = well[asked] + one.is_right, all_of[asked] + 1
                faults += [f"{name}, {asked}: {one.words}"] if not one.is_right else []
    if min(all_of.values()) < 30:
        pytest.skip("this machine is too busy to keep the time of a link")
    assert all(10 * well[asked] >= 9 * all_of[asked] for asked in ASKED), "\n".join(faults)
