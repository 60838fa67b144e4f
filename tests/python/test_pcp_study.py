"""The study pcp-2006: its points follow from their formulas, and a few transfers come out as they must."""

from __future__ import annotations

from pathlib import Path

import elephan as el
import pytest
from elephan.base.quantity import seconds
from elephan.experiment.study import open_study, run_study
from elephan.studies.pcp_2006 import points


def test_loads_and_durations() -> None:
    """Three transfers of 2 Mb a second are 6 Mb/s, 15 % of 40; 300 transfers fill the histories, 2200 are measured."""
    first, *_, last = points.loads()
    assert (first.label, first.value, first.set["traffic.transfers.arrivals_per_s"]) == ("15 %", 0.15, 3.0)
    assert seconds(first.set["warmup"]) == pytest.approx(100)
    assert seconds(first.set["duration"]) == pytest.approx(100 + 733.333, abs=0.001)
    assert last.set["traffic.transfers.arrivals_per_s"] == 18.0
    assert seconds(last.set["duration"]) - seconds(last.set["warmup"]) == pytest.approx(122.222, abs=0.001)


def test_processor_sharing() -> None:
    """S / (1 - rho) + 37.5 ms; deviations of the queueing part 19.1 and 54.3 ms at 15 and 45 % load, 8.7 ms of the round trips."""
    for load, mean, deviation in ((0.15, 0.09632, 0.0210), (0.45, 0.12841, 0.0550)):
        assert points.sharing_s(load) == (pytest.approx(mean, abs=1e-5), pytest.approx(deviation, rel=0.005))


def test_whole_transfers_one_after_the_other() -> None:
    """M/D/1 at 50 %: a mean wait of half a service time, its variance 1/3 + 1/4 of a squared one (Pollaczek and Khinchine)."""
    mean, deviation = points.fifo_s(0.5)
    assert mean == pytest.approx(0.05 + 0.025 + 0.0375)
    assert deviation == pytest.approx(((1 / 3 + 1 / 4) * 0.05**2 + 0.03**2 / 12) ** 0.5)


def test_statements_name_what_is_run() -> None:
    study = open_study("pcp-2006")
    variants = {(e.name, v.label) for e in study.experiments for v in e.variants}
    for claim in study.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, claim.id
            assert not part.against or (part.experiment, part.against) in variants, claim.id
    assert {f"C002-{i}" for i in range(1, 10)} == {claim.id for claim in study.claims if "/" not in claim.id}


def test_a_lone_transfer_of_the_papers_tcp() -> None:
    """Slow start from one segment, an ACK for every second one: about 0.3 s on 25 ms, nothing lost, 200 packets of 1250 B."""
    study = open_study("pcp-2006")
    run = el.run(
        study.scenario(study.experiments[0]),
        set={"traffic.transfers.arrivals_per_s": 1, "traffic.transfers.gaps": "fixed", "duration": "20 s", "warmup": "0 s"},
    )
    flows = run.flows.to_pydict()
    done = [i for i, fct in enumerate(flows["fct_ns"]) if fct is not None]
    assert len(done) >= 18
    assert {flows["data_segs_out"][i] for i in done} == {200}
    mean = sum(flows["fct_ns"][i] for i in done) / len(done) * 1e-9
    assert 0.27 < mean < 0.33
    # the ideal is 50 ms and one and a half round trips of 15 to 35 ms, within the handshake's own packets
    assert all(0.0725 <= flows["ideal_fct_ns"][i] * 1e-9 <= 0.1026 for i in done)
    assert all(flows["sender_fct_ns"][i] > flows["fct_ns"][i] for i in done)


def test_readings_of_fair_queueing() -> None:
    """Endpoints that aim at no queue keep few packets waiting and take longer; the link idles when a transfer ends."""
    study = open_study("pcp-2006")
    fq = {e.name: e for e in study.experiments}["fq"]
    short = {"warmup": "10 s", "duration": "100 s"}
    runs = {}
    for label in ("as in figure 4", "no own queue (literal)"):
        variant = next(v for v in fq.variants if v.label == f"{label}/45 %")
        points_set = {key: value for point in variant.points for key, value in point.set.items()}
        runs[label] = el.run(study.scenario(fq), set={**fq.set, **points_set, **short}).summary
    theirs, bare = runs["as in figure 4"], runs["no own queue (literal)"]
    assert bare["bottleneck"]["queue_mean_bytes"] < 5 * 1250 < theirs["bottleneck"]["queue_mean_bytes"]
    assert bare["fct"]["mean_s"] > 1.05 * theirs["fct"]["mean_s"]
    assert bare["drops"] == theirs["drops"] == 0


@pytest.mark.slow
def test_the_quick_cut(tmp_path: Path) -> None:
    results = run_study("pcp-2006", quick=True, out=tmp_path / "r")
    verdicts = results.verdicts
    assert not results.facts["failures"]
    assert {verdict.claim.id: verdict.verdict for verdict in verdicts}["C002-7"] == "holds"
    for figure in ("figure-4", "tail", "fair-routers", "assumed", "today"):
        assert f'id="figure-{figure}"' in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
