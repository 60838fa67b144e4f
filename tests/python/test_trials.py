"""Trials as a table: typed parameters, one row per run, read again as they were."""

from __future__ import annotations

import io

import elephan as el
import pyarrow.parquet as pq
import pytest
from elephan.base.errors import InputError
from elephan.base.quantity import unit_parts
from elephan.experiment.trials import Trial, Trials, Variant, check_repetitions
from elephan.statistic import measures

DELAY, QUEUE, LIMIT, FLOWS = "links.0.delay", "template.queue.kind", "template.queue.limit", "template.pairs"


def _trials() -> Trials:
    settings = [("40 ms", "fifo", "1 bdp", 2), ("5 ms", "codel", "0.5 bdp", 16)]
    variants = [Variant(f"v{i}", dict(zip((DELAY, QUEUE, LIMIT, FLOWS), one, strict=True))) for i, one in enumerate(settings)]
    return Trials([Trial(f"v{i}", seed, {"goodput_bps.sum": 1e6 * (i + seed)}) for i in (0, 1) for seed in (1, 2)], variants)


def test_parameters_are_numbers_in_base_units() -> None:
    table = _trials().table(["goodput_bps.sum"])
    ordered = table.sort_by([(DELAY, "ascending"), ("seed", "ascending")])
    assert ordered[DELAY].to_pylist() == [0.005, 0.005, 0.04, 0.04]
    assert ordered[f"{DELAY}.text"].to_pylist() == ["5 ms", "5 ms", "40 ms", "40 ms"]
    assert table.schema.field(DELAY).metadata == {b"role": b"parameter", b"unit": b"s"}
    assert table[LIMIT].to_pylist() == [1.0, 1.0, 0.5, 0.5]
    assert table.schema.field(LIMIT).metadata[b"unit"] == b"bdp"
    assert table[FLOWS].to_pylist() == [2, 2, 16, 16]
    assert table[QUEUE].to_pylist() == ["fifo", "fifo", "codel", "codel"]
    assert {f"{QUEUE}.text", f"{FLOWS}.text"}.isdisjoint(table.column_names)
    assert table.schema.field("goodput_bps.sum").metadata[b"unit"] == b"bit/s"


def test_parameters_of_several_units_stay_text() -> None:
    variants = [Variant("a", {LIMIT: "1 bdp"}), Variant("b", {LIMIT: "100 p"}), Variant("c", {LIMIT: True})]
    table = Trials([Trial(label, 1, {}) for label in "abc"], variants).table([])
    assert table[LIMIT].to_pylist() == ["1 bdp", "100 p", "true"]


def test_a_parameter_that_a_variant_lacks_is_null() -> None:
    table = Trials([Trial("a", 1, {}), Trial("b", 1, {})], [Variant("a", {DELAY: "5 ms"}), Variant("b")]).table([])
    assert (table[DELAY].to_pylist(), table[f"{DELAY}.text"].to_pylist()) == ([0.005, None], ["5 ms", ""])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("10 Gbps", (1e10, "bit/s")), ("48 KiB", (49152.0, "B")), ("1_000 B", (1000.0, "B")), ("5 us", (pytest.approx(5e-6), "s")),
        ("0.25 bdp", (0.25, "bdp")), ("100 p", (100.0, "p")), ("1e3", (1000.0, "")), (3, (3, "")), (2.5, (2.5, "")),
        (True, None), ("reno", None), ("", None), (None, None), ({"kind": "cubic"}, None), ("2001:db8::", None),
    ],
)  # fmt: skip
def test_what_a_quantity_is(given: object, found: object) -> None:
    assert unit_parts(given) == found


def test_a_table_is_read_as_it_was() -> None:
    written = io.BytesIO()
    pq.write_table(_trials().table(["goodput_bps.sum"]), written)
    again = Trials.of_table(pq.read_table(written), measures.is_statistic)
    assert list(again) == list(_trials())
    assert again.by_seed("v1", "goodput_bps.sum") == {1: 2e6, 2: 3e6}
    assert again.paired("v1", "v0", "goodput_bps.sum") == ([2e6, 3e6], [1e6, 2e6])
    assert again.variants[1].parameters[DELAY] == 0.005


def test_a_sweep_over_times_sorts_by_time() -> None:
    done = el.sweep("sawtooth", set={"duration": "3 s", "warmup": "1 s", "template.delay": ["40 ms", "5 ms"]}, repetitions=1)
    assert done.table.sort_by("template.delay")["template.delay.text"].to_pylist() == ["5 ms", "40 ms"]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "3", 100_001])
def test_what_is_no_number_of_repetitions(wrong: object) -> None:
    with pytest.raises(InputError, match="repetitions must be a whole number from 1 to 100000, not"):
        check_repetitions(wrong)
