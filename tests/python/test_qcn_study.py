"""The study intel-2007: its statements name what is run, its network is as the slides say, a short hotspot comes out as it must."""

from __future__ import annotations

from pathlib import Path

import elephan as el
import numpy as np
import pytest
from elephan.experiment.study import Results, open_study, run_study
from elephan.experiment.trials import Trial, Trials
from elephan.statistic import measures
from elephan.studies.intel_2007 import beyond, slides
from elephan.table.rows import column, texts

STUDY = open_study("intel-2007")
SHORT = {
    "duration": "20 ms",
    "warmup": "6 ms",
    "change[0].at": "10 ms",
    "change[1].at": "18 ms",
    "traffic.uniform.start": {"uniform": ["0 s", "100 us"]},
}
HOT = "delivered_bps[to C[0], during 11-18 ms].sum"


def short(scheme: str, experiment: str = "baseline", seed: int = 1, out: Path | None = None) -> el.Run:
    """20 ms of an experiment, hot from 10 to 18 ms."""
    found = next(e for e in STUDY.experiments if e.name == experiment)
    variant = next(v for v in found.variants if v.label == scheme)
    return el.run(STUDY.scenario(found), seed=seed, set={**found.set, **variant.overrides, **SHORT}, out=out, report=False)


def test_statements_name_what_is_run() -> None:
    variants = {(e.name, v.label) for e in STUDY.experiments for v in e.variants}
    for claim in STUDY.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, claim.id
            assert not part.against or (part.experiment, part.against) in variants, claim.id
    assert {f"C003-{i}" for i in range(1, 13)} == {claim.id for claim in STUDY.claims if "/" not in claim.id}


def test_figures_name_what_is_measured() -> None:
    """A row of a table that no run measures would be n/a in every report."""
    from elephan.studies.intel_2007.figures import _ROWS, _STAR_ROWS

    assert {name for _, name, _ in (*_ROWS, *_STAR_ROWS)} <= set(STUDY.statistics)
    with pytest.raises(el.InputError, match=r'measures no "queue_ful_drops.sum"; did you mean "queue_full_drops.sum"\?'):
        Results(STUDY, Trials([]), {}, Path()).interval("baseline", "No CM", "queue_ful_drops.sum")


def test_every_scenario_resolves() -> None:
    from elephan.scenario import core

    for experiment in STUDY.experiments:
        for variant in experiment.variants:
            core.resolve(STUDY.scenario(experiment), {**experiment.set, **variant.overrides}, 1)


@pytest.mark.parametrize("experiment", ["baseline", "single-hop"])
def test_before_the_hotspot_everything_is_carried(experiment: str) -> None:
    """0.85 x 10 Gb/s x 1460/1538 = 8.069 Gb/s a host; each of its connections has an equal part."""
    run = short("No CM", experiment)
    hosts = 5 if experiment == "baseline" else 10
    offered = hosts * 8.0689e9
    assert measures.statistic(run, "delivered_bps[during 7-10 ms].sum") == pytest.approx(offered, rel=0.02)
    assert run.flows.num_rows == hosts * (hosts - 1)
    share = column(run.flows, "delivered_bytes")
    assert float(np.std(share) / np.mean(share)) < 0.2 + 0.1 * (hosts > 5)
    assert set(texts(run.flows, "stack")) == {"winxp"}


def test_the_hot_port_is_full_and_no_fuller() -> None:
    """Without anything the buffer of 150 kB overflows; with PAUSE and room above XOFF it does not. 2 Gb/s are 1.899 Gb/s of payload
    without what acknowledgements take of it."""
    run = short("No CM")
    assert measures.statistic(run, "drops.sum") > 0
    assert 148_482 <= measures.statistic(run, "queue_max_bytes[at CS1->C[0]].max") <= 150_000
    paused = short("68/48 kB", "room")
    assert measures.statistic(paused, "drops.sum") == 0
    assert measures.statistic(paused, "pauses_sent.sum") > 0
    assert 1.75e9 < measures.statistic(paused, HOT) < 1.91e9


def test_notifications_hold_the_queue() -> None:
    run = short("QCN & PAUSE")
    assert measures.statistic(run, "notifications.sum") > 0
    assert measures.statistic(run, "drops.sum") == 0
    assert measures.statistic(run, "retransmits.sum") == 0


def test_raw_frames_are_what_the_layer_2_workload_was() -> None:
    run = short("No CM", "frames")
    assert set(texts(run.flows, "protocol")) == {"ethernet"}
    sent, received = column(run.flows, "data_segs_out").sum(), column(run.flows, "data_segs_in").sum()
    # slots of 1.2304 us, 5 hosts, 19.95 ms in the mean: 68 900, deviation 102
    assert sent == pytest.approx(5 * 0.85 * 19.95e-3 / 1.2304e-6, abs=600)
    drops = measures.statistic(run, "drops.sum")
    assert drops > 0
    assert sent - received - drops < 400  # under way at the end


def test_the_quick_cut_says_nothing_of_what_it_does_not_run(tmp_path: Path) -> None:
    study = open_study("intel-2007", quick=True)
    kept = short("No CM", "single-hop", out=tmp_path / "runs" / "single-hop" / "NoCM-1")
    values = measures.statistics(kept, ("drops.sum", "timeouts.positive")) | {beyond.IN_HOTSPOT: 3e10}
    names = [(one.name, variant.label) for one in study.experiments for variant in one.variants]
    trials = [Trial(label, 1, values, name) for name, label in names if (name, label) != ("single-hop", "QCN")]
    results = Results(study, Trials(trials), {}, tmp_path)
    said = study.figures.answer(results)
    assert "n/a" not in " ".join(said)
    assert "Not run" not in " ".join(said)  # each scheme on one of both networks
    drawing = slides.drops(results, "single-hop")
    lost = {name: count for name, count in zip(texts(kept.ports, "name"), column(kept.ports, "drops"), strict=True) if count}
    assert drawing.title.endswith("packets dropped at CS1 → C[0]")
    assert f"At all ports together, in the mean: No CM {sum(lost.values()):.0f}." in drawing.caption
    assert "Not run in the quick run: ECM, PAUSE, ECM & PAUSE, QCN & PAUSE." in drawing.caption
    label = next(text.get_text() for ax in drawing.figure.axes for text in ax.texts if text.get_text().startswith("No CM"))
    assert label == f"No CM: {lost['CS1->C[0]']:.0f}"


@pytest.mark.slow
def test_the_quick_cut(tmp_path: Path) -> None:
    results = run_study("intel-2007", quick=True, out=tmp_path / "r")
    verdicts = results.verdicts
    assert not results.facts["failures"]
    assert {verdict.claim.id: verdict.verdict for verdict in verdicts}["C003-8"] == "holds"
    for figure in (
        "throughput-baseline",
        "queue-single-hop",
        "survivors-baseline",
        "onset",
        "raw-frames",
        "long-links",
        "star-2004",
    ):
        assert f'id="figure-{figure}"' in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
