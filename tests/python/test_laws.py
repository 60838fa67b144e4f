"""Congestion controls as a user names them."""

from __future__ import annotations

import pytest
from elephan import cc
from elephan.errors import InputError
from elephan.laws import read_laws


def test_names_parameters_and_tables() -> None:
    plain, preset, several, table = read_laws(
        'reno,cubic:preset=linux,hybla:rtt0=50ms:reduce_from=flight,{ kind = "bic", beta = 0.8 }'
    )
    assert (plain.label, plain.value, plain.kind, plain.plain) == ("reno", "reno", "reno", True)
    assert (preset.label, preset.value) == ("cubic preset linux", {"kind": "cubic", "preset": "linux"})
    assert several.value == {"kind": "hybla", "rtt0": "50ms", "reduce_from": "flight"}
    assert table.value == {"kind": "bic", "beta": 0.8}
    assert table.label == "bic beta 0.8"


OF_ROCE = ["dcqcn", "timely", "hpcc", "none"]


def test_every_law_of_the_registry_is_known() -> None:
    names = [name for name in cc.names() if name not in OF_ROCE]
    assert [law.label for law in read_laws(names)] == names


@pytest.mark.parametrize("name", OF_ROCE)
def test_laws_of_roce_are_not_for_tcp(name: str) -> None:
    with pytest.raises(InputError, match="is for RoCE"):
        read_laws([name])


def test_a_list_of_names_and_dicts() -> None:
    assert [law.label for law in read_laws(["reno", {"kind": "cubic", "beta": 0.8}])] == ["reno", "cubic beta 0.8"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("cubicc", 'no congestion control "cubicc"; did you mean "cubic"'),
        ("cubic:presett=linux", 'cubic presett linux: unknown key "presett"; did you mean "preset"'),
        ("cubic:preset=linx", 'did you mean "linux"'),
        ("cubic:beta=7", "must be at most 1"),
        ("cubic:beta", "key=value"),
        ("cubic:=1", "key=value"),
        ("reno,,cubic", "an empty name"),
        ("", "an empty name"),
        ("reno,reno", "given twice"),
        ([], "are a list"),
        ([3], "a name or a dict"),
        ([{"preset": "linux"}], 'a table with "kind"'),
        ("{ kind = ", "not a table"),
    ],
)
def test_bad_laws_are_one_line(given: object, why: str) -> None:
    with pytest.raises(InputError) as error:
        read_laws(given)  # type: ignore[arg-type]
    assert why in str(error.value)
    assert "\n" not in str(error.value)
