"""Files of a crate that reach one another: their circles may only get smaller."""

from __future__ import annotations

import circles
import pytest

# The largest circle of each crate; a crate that is not named has none. Whoever makes one smaller lowers its number here.
LIMITS = {
    "cc": 3,
    "explore": 3,
    "link": 3,
    "packetdrill": 2,
    "record": 2,
    "roce": 2,
    "scenario": 2,
    "tcp": 11,
    "trace": 3,
}


def test_circles_of_files_grow_no_larger() -> None:
    found = circles.circles()
    assert {"engine", "units"} <= set(found), "crates are looked at"
    assert set(LIMITS) <= set(found)
    larger = {crate: files[0] for crate, files in found.items() if files and len(files[0]) > LIMITS.get(crate, 1)}
    assert larger == {}
    smaller = {crate for crate, limit in LIMITS.items() if not found[crate] or len(found[crate][0]) < limit}
    assert smaller == set(), "the limit of these crates can fall"


def found(**files: str) -> dict[str, set[str]]:
    sources = {() if name == "lib" else tuple(name.split("__")): circles.code(text) for name, text in files.items()}
    return {"/".join(name): {"/".join(other) for other in others} for name, others in circles.arrows(sources).items()}


@pytest.mark.parametrize(
    ("text", "arrows"),
    [
        ("use crate::b::Thing;", {"b"}),
        ("use super::{b::{Thing, self as other}, c};", {"b", "c"}),
        ("fn f() -> super::b::Thing { crate::c::make() }", {"b", "c"}),
        # Through a re-export to the file that has the item.
        ("use crate::Shown;", {"c"}),
        ("use crate::b::deep::Thing as Other;", {"b/deep"}),
        # Not arrows: comments, texts, tests, other crates, what is only shown to others.
        ('// use crate::b::Thing;\nconst A: &str = "crate::b::x"; /* super::c::y */', set()),
        ("#[cfg(test)]\nmod tests {\n    use crate::b::Thing;\n}", set()),
        ("use std::fmt; use elephan_units::Time;", set()),
        ("pub use crate::b::Thing;", set()),
        ("pub use crate::b::Thing;\nstruct Own(Thing);", {"b"}),
    ],
)
def test_arrows_of_a_file(text: str, arrows: set[str]) -> None:
    shown = "mod a; mod b; mod c; pub use c::Shown;"
    assert found(lib=shown, a=text, b="mod deep;", b__deep="pub struct Thing;", c="pub struct Shown;")["a"] == arrows


def test_a_circle_is_seen() -> None:
    arrows = found(lib="mod a; mod b; mod c;", a="use crate::b::B;", b="use super::c::C;", c="use super::a::A;")
    assert circles.rooms.circles(arrows) == [["a", "b", "c"]]
