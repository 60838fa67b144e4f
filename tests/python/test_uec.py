"""Ultra Ethernet from outside: statistics and words of trims, imported matrices, the study beside the reference."""

from __future__ import annotations

import tomllib
from pathlib import Path

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.experiment.study import open_study
from elephan.report.words.answer import answer
from elephan.table.steps import network_of

MATRIX = """Nodes 16
Connections 15
""" + "".join(f"{n}->15 start 0 size 2000000\n" for n in range(15))


@pytest.fixture(scope="module")
def incast(tmp_path_factory: pytest.TempPathFactory) -> el.Run:
    folder = tmp_path_factory.mktemp("uec")
    (folder / "incast.cm").write_text(MATRIX)
    (folder / "incast.toml").write_text(el.import_network(folder / "incast.cm", transport="uec").text)
    return el.run(folder / "incast.toml")


def test_an_imported_matrix_takes_what_the_reference_takes(incast: el.Run) -> None:
    # validate_uec_sender, "Small 16 node incast" of uet-htsim: tail 2478.5 us.
    assert incast.statistic("sender_fct_ns.max") == pytest.approx(2478.5e3, rel=0.02)
    assert incast.statistic("sender_fct_ns.count") == 15


def test_trims_are_counted_and_told(incast: el.Run) -> None:
    trims = incast.statistic("trims.sum")
    assert trims > 100
    assert trims == incast.statistic("retransmits.sum") == sum(incast.flows.column("fast_retran").to_pylist())
    assert incast.statistic("drops.sum") == 0
    assert "trimmed" in " ".join(map(str, answer(incast)))


def test_the_scenario_of_a_matrix_over_uec(tmp_path: Path) -> None:
    (tmp_path / "x.cm").write_text("Nodes 128\nConnections 1\n0->5 start 40 size 250000\n")
    words = tomllib.loads(el.import_network(tmp_path / "x.cm", transport="uec").text)
    # 12 us and six times 4150 and 64 B at 100 Gb/s; 43 packets of 4150 B.
    assert words["traffic"][0]["congestion_control"]["network_rtt"] == "14.0227 us"
    assert words["template"]["bdp_rtt"] == "14.276 us"
    # htsim_uec reads starts as microseconds.
    assert words["traffic"][0]["trace"].split()[1] == "40000.000,250000,0"
    with pytest.raises(InputError, match="known are tcp, uec"):
        el.import_network(tmp_path / "x.cm", transport="quic")


def test_another_network_has_no_transport(tmp_path: Path) -> None:
    (tmp_path / "two.gml").write_text('graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 dist 200 bandwidth "10M" ] ]')
    assert cli.status_of(["import", str(tmp_path / "two.gml"), "--transport", "uec"]) != 0


def test_the_study_asks_for_the_tails_of_the_reference() -> None:
    study = open_study("uec-validate")
    parts = {claim.id: claim.parts[0] for claim in study.claims if not claim.parts[0].compare}
    assert len(parts) == 40
    for claim, tail_us in (("uec-sender/one-flow", 176.2), ("uec-both/4-1", 814.138), ("uec-spray/reps-each", 198.246)):
        bounds = parts[claim].bounds
        assert (bounds.low, bounds.high) == pytest.approx((tail_us * 950, tail_us * 1050), rel=1e-5)


def test_ways_of_a_fabric_are_those_by_hand(tmp_path: Path) -> None:
    (tmp_path / "fabric.toml").write_text(
        'duration = "1 ms"\n[template]\nkind = "fat-tree"\nk = 4\nrate = "10 Gbps"\ndelay = "1 us"\n'
        '[[traffic]]\nkind = "bulk"\nfrom = "host[0]"\nto = "host[15]"\nsize = "1 kB"\n'
    )
    network = network_of(el.run(tmp_path / "fabric.toml"))
    ways = network.ways("host[0]", "host[15]")
    # Up: 1 + 2 + 4 ports; down as many.
    assert len(ways) == 14
    assert {("aggregation[0]", "core[1]"), ("core[2]", "aggregation[7]")} <= ways
    assert network.ways("host[0]", "host[1]") == {("host[0]", "edge[0]"), ("edge[0]", "host[1]")}
    assert network.ways("host[0]", "host[0]") == set()


PAGE = Path(__file__).parents[2] / "docs" / "models" / "uec.md"


def test_the_table_of_the_page_is_that_of_its_scenario(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    text = next(block for block in page.split("```toml\n")[1:] if "slow_links" in block).split("```")[0]
    (tmp_path / "slow.toml").write_text(text)
    row = next(line for line in page.splitlines() if line.startswith("| iteration |"))
    told = [cell.strip() for cell in row.strip("|").split("|")[1:]]
    ways = [{"traffic.train.uec.entropies": 1}] + [
        {"traffic.train.uec.spray": spray} for spray in ("oblivious", "bitmap", "reps", "mixed")
    ]
    runs = [el.run(tmp_path / "slow.toml", set=way) for way in ways]
    assert [f"{run.statistic('iteration_time.mean') / 1e6:.3g} ms" for run in runs] == told
    # A tenth of the rate on one path, and almost none of it where senders learn.
    assert all(run.statistic("iteration_slowdown.mean") > 1 for run in runs)
