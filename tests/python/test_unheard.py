"""Answers say which controllers hear nothing from the routers of their scenario."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.report.page.compare_page import panel_warnings
from elephan.report.page.path_page import path_warnings
from elephan.report.words.unheard import unheard

FIFO = 'links = [{ queue = { kind = "fifo" } }]\nhosts = { a = { tcp = { ecn = "off" } } }'


@pytest.mark.parametrize(
    ("kinds", "scenario", "said"),
    [
        (["reno", "cubic"], FIFO, ""),
        (["reno", "xcp"], FIFO, "As nothing reaches it from the routers, xcp (no queue here tells a rate) is Reno in these runs."),
        (["dctcp"], FIFO, "As nothing reaches it from the routers, dctcp (no ECN here) is Reno in these runs."),
        (["xcp"], FIFO.replace("fifo", "xcp"), ""),
        (["explicit_rate"], FIFO.replace("fifo", "fq"), ""),
        (["dctcp"], FIFO.replace("off", "dctcp"), ""),
    ],
)
def test_a_controller_that_hears_nothing_is_named(kinds: list[str], scenario: str, said: str) -> None:
    assert unheard(kinds, scenario) == said


def test_a_comparison_and_a_path_say_it() -> None:
    panel = el.compare(["reno", "dctcp"], quick=True, set={"template.rate": "5 Mbps"})
    assert any("dctcp (no ECN here) is Reno" in line for line in panel_warnings(panel))
    found = el.path("100 Mbps", "10 ms", size="1 MB", congestion_control=["xcp"], streams=[1])
    assert any("xcp (no queue here tells a rate) is Reno" in line for line in path_warnings(found))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: el.path("1 Gbps", "2 d", size="1 MB"), "rtt: 2 d is beyond"),
        (lambda: el.path("1 Gbps", "1 ms", size="1 MB", loss=None), 'loss: "None" is not a probability'),
        (lambda: el.run("sawtooth", set={"duration": "11 s"}).statistic(3), "a statistic is named by a text"),
        (lambda: el.run("sawtooth", set={"duration": "11 s"}).figure(3), "a figure is named by a text"),
    ],
)
def test_what_cannot_be_asked(call, said: str) -> None:
    with pytest.raises(el.InputError, match=said):
        call()


def test_the_fastest_path_has_hosts_as_fast() -> None:
    assert el.path("100 Tbps", "1 us", size="1 MB", streams=[1], congestion_control=["reno"]).question.host_rate_bps == 100e12
