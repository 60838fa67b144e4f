"""The palette: one look for each congestion control, colours that everybody can tell apart."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import elephan as el
import numpy as np
import pytest
from elephan.report.figure.panel_figures import _paints
from elephan.report.figure.run_figures import draw as draw_figure
from elephan.report.page import page as page_module
from elephan.report.palette import CONTROLS, HUES, MUTED, VARIABLES, look, looks
from elephan.scenario.congestion import names
from elephan.studies.pcp_2006 import curves
from elephan.studies.ucl_2004 import common

# Machado, Oliveira and Fernandes, IEEE TVCG 15 (2009): what a person without one kind of cones sees of linear RGB.
SEEN = {
    "everything": np.eye(3),
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
}


def linear(color: str) -> np.ndarray:
    """The linear RGB of a colour (IEC 61966-2-1)."""
    share = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear RGB (D65)."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(matrix @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def variables(dark: bool) -> dict[str, str]:
    """The CSS variables of a page in one scheme."""
    css = (Path(page_module.__file__).parent / "page.css").read_text(encoding="utf-8")
    block = css.partition(':root[data-scheme="dark"] {' if dark else ":root {")[2].partition("}")[0]
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eyes", SEEN)
def test_the_colours_of_congestion_controls_can_be_told_apart(eyes: str, dark: bool) -> None:
    """A difference of 2.3 can just be seen (Mahy, Van Eycken and Oosterlinck 1994); lines need several times that."""
    given = variables(dark)
    seen = {hue: SEEN[eyes] @ linear(given[VARIABLES[hue][6:-1]]) for hue in HUES}
    apart = {(a, b): float(np.linalg.norm(lab(seen[a]) - lab(seen[b]))) for a, b in itertools.combinations(HUES, 2)}
    assert min(apart.values()) > 10, min(apart, key=lambda pair: apart[pair])
    # And all from the paper (WCAG 2 asks for 3 of what is large; sky and orange are read beside their names).
    paper = np.array([0.2126, 0.7152, 0.0722]) @ linear(given["paper"])
    for hue, rgb in seen.items():
        light = float(np.clip(np.array([0.2126, 0.7152, 0.0722]) @ rgb, 0, 1))
        assert (max(light, paper) + 0.05) / (min(light, paper) + 0.05) > 2, hue


def test_each_congestion_control_has_a_look_of_its_own() -> None:
    assert set(names()) == set(CONTROLS)
    assert len(set(CONTROLS.values())) == len(CONTROLS)
    # Those that people compare most differ in colour, not only in the stroke.
    often = ("reno", "cubic", "bbr", "dctcp", "vegas", "scalable", "highspeed")
    assert {look(name).color for name in often} == set(HUES)
    assert {look(name).stroke for name in often} == {"-"}


def test_guests_and_parameters_follow_a_rule() -> None:
    guest = look("Mine share 0.1")
    assert guest == look("Mine")
    assert guest.stroke == "--"
    assert guest.color in HUES
    assert look("cubic beta 0.8") == look("cubic")
    together = looks(["cubic", "cubic beta 0.8", "reno"])
    assert together["cubic"] == look("cubic")
    assert together["cubic beta 0.8"].color == look("cubic").color
    assert len(set(together.values())) == 3


def test_a_congestion_control_has_one_colour_on_every_page() -> None:
    run = el.run("cubic-vs-reno", set={"duration": "3 s", "warmup": "1 s"})
    expected = {"CUBIC": look("cubic").color, "Reno": look("reno").color}
    for name in ("goodput", "windows", "rtt"):
        axes = draw_figure(run, name).drawn.axes[0]
        drawn = {call.options["gid"]: call.options["color"] for call in axes.calls if call.name == "plot"}
        assert drawn == expected, name
    assert _paints(["cubic", "reno"]) == [*expected.values()]
    assert (common.PAINT["cubic"], common.PAINT["reno"]) == (curves.PAINT["CUBIC"], curves.PAINT["TCP"]) == tuple(expected.values())


def test_flows_with_one_congestion_control_are_told_apart() -> None:
    run = el.run("cubic-vs-reno", set={"duration": "3 s", "warmup": "1 s", "traffic.CUBIC.congestion_control": "reno"})
    axes = draw_figure(run, "goodput").drawn.axes[0]
    assert len({call.options["color"] for call in axes.calls if call.name == "plot"}) == 2


def test_no_congestion_control_is_grey() -> None:
    assert look("none").color == MUTED
