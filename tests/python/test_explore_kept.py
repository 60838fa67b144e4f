"""Kept experiments in the page: sweeps, comparisons, studies and stores are listed, filtered, drawn; a click opens a run."""

import re

import elephan as el
import pytest
from elephan.experiment.store.store import Store
from elephan.result.run import load_run
from explored import CHROMIUM, Server, ask, axe, fits, until
from pages import Failed, Page, served

SWEPT = {
    "duration": "4 s",
    "warmup": "1 s",
    "template.rate": ["5 Mbps", "10 Mbps", "20 Mbps"],
    "template.queue.limit": ["0.25 bdp", "1 bdp"],
}
FIRST = "goodput_bps.sum"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("work")
    (where / "results").mkdir()
    el.sweep("incast", repetitions=2, out=where / "results/seeds", report=False)
    el.sweep("sawtooth", set=SWEPT, repetitions=2, out=where / "results/swept", report=False, keep="runs if seed == 2")
    el.compare(["reno", "vegas"], quick=True, repetitions=2, rate="1 Mbps", out=where / "results/compared", report=False)
    return where


@pytest.fixture(scope="module")
def talk(folder):
    with served(cwd=folder) as (address, _), Page(address) as page:
        yield page


def trials(talk, path, **asked):
    return talk.ask("trials", path=f"results/{path}", **asked)[0]


def test_experiments_and_stores_are_listed(talk):
    listed = {one["name"]: one["kind"] for one in talk.ask("results")[0]["value"]}
    stores = {"swept.trials": "store", "compared.trials": "store", "seeds.trials": "store"}
    assert listed == {"swept": "sweep", "compared": "compare", "seeds": "sweep", **stores}


def test_intervals_are_those_of_the_sweep(talk, folder):
    assert talk.ask("load", path="results/swept")[0]["of"] == "sweep"
    sweep = el.load(folder / "results/swept")
    found = trials(talk, "swept", statistic=FIRST)
    assert [one["label"] for one in found["variants"]] == sweep.labels
    for one in found["variants"]:
        interval = sweep.interval(one["label"], FIRST)
        assert (one["mean"], one["low"], one["high"]) == (interval.mean, interval.low, interval.high)
        assert dict(one["runs"]) == sweep.by_seed(one["label"], FIRST)
    assert [(one["title"], one["values"]) for one in found["parameters"]] == [
        ("rate", ["5 Mbps", "10 Mbps", "20 Mbps"]),
        ("limit", ["0.25 bdp", "1 bdp"]),
    ]


def test_a_condition_chooses_by_parameters_seeds_and_means(talk, folder):
    sweep = el.load(folder / "results/swept")
    wanted = [label for label in sweep.labels if sweep.interval(label, FIRST).mean < 9e6 and "1 bdp" in label]
    assert 0 < len(wanted) < 3
    found = trials(talk, "swept", statistic="drops.sum", where=f"limit == 1 bdp and {FIRST} < 9 Mbps and seed > 1")
    assert [(one["label"], [seed for seed, _ in one["runs"]]) for one in found["variants"]] == [(label, [2]) for label in wanted]
    for wrong, words in {"limt > 1 bdp": 'did you mean "limit"', f"{FIRST} > 3 ms": "no value of", "rate >": "a value of"}.items():
        with pytest.raises(Failed, match=words):
            trials(talk, "swept", where=wrong)


def test_a_run_is_the_one_that_is_kept_or_its_scenario(talk, folder):
    sweep = el.load(folder / "results/swept")
    label = sweep.labels[0]
    kept, _ = talk.ask("trial", path="results/swept", part="", variant=label, seed=2)
    assert kept["handle"]
    assert kept["summary"] == load_run(sweep.kept(label, 2)).summary
    again, _ = talk.ask("trial", path="results/swept", part="", variant=label, seed=1)
    assert "handle" not in again
    assert el.run(again["text"]).summary["goodput_bps"] == sweep.by_seed(label, FIRST)[1]
    assert "[template]" in again["text"]  # as its author wrote it
    for variant, seed in ((label, 3), ("none", 1), (label, None)):
        with pytest.raises(Failed, match="no run of this experiment"):
            talk.ask("trial", path="results/swept", part="", variant=variant, seed=seed)


def test_the_matrix_of_a_comparison_is_whole(talk, folder):
    panel = el.load(folder / "results/compared")
    head, _ = talk.ask("load", path="results/compared")
    assert [one["name"] for one in head["parts"]][:2] == ["pair", "alone"]
    found = {one["label"]: one for one in trials(talk, "compared", part="pair")["variants"]}
    assert set(found) == {f"{a} + {b}" for a in panel.labels for b in panel.labels}
    for label, one in found.items():
        a, b = label.split(" + ")
        share = panel.share(a, b)
        assert (one["mean"], one["low"], one["high"]) == pytest.approx((share.mean, share.low, share.high))
    text = talk.ask("trial", path="results/compared", part="pair", variant="vegas + reno", seed=2)[0]["text"]
    row = panel.by_seed("pair", "reno + vegas", "goodput_a_bps")[2]
    run = el.run(text)
    assert run.seed == 2
    assert run.flows["goodput_bps"][run.flows["traffic"].to_pylist().index("a")].as_py() == row


def test_a_store_is_a_part_for_each_experiment(talk, folder):
    head, _ = talk.ask("load", path="results/compared.trials")
    assert head["of"] == "store"
    assert {one["name"] for one in head["parts"]} == {f"compare/{name}" for name in ("alone", "pair", "rtt", "join", "change")}
    pair = trials(talk, "compared.trials", part="compare/pair")
    assert {one["label"]: one["mean"] for one in pair["variants"]} == {
        one["label"]: one["mean"] for one in trials(talk, "compared", part="pair")["variants"]
    }
    rows = Store.at(folder / "results/swept.trials").rows()
    found = trials(talk, "swept.trials", part="sawtooth", statistic=FIRST)
    assert {(one["label"], seed): value for one in found["variants"] for seed, value in one["runs"]} == {
        (row.variant.label, row.identity.seed): row.measured.values[FIRST] for row in rows
    }
    kept, _ = talk.ask("trial", path="results/swept.trials", part="sawtooth", variant=rows[0].variant.label, seed=2)
    again, _ = talk.ask("trial", path="results/swept.trials", part="sawtooth", variant=rows[0].variant.label, seed=1)
    assert kept["handle"]
    assert "handle" not in again
    assert again["seed"] == 1


def test_a_study_is_a_part_for_each_of_its_experiments(tmp_path):
    study = pytest.importorskip("elephan.experiment.study")
    results = study.load_study(_study(tmp_path))
    with served(str(tmp_path / "studied")) as (address, _), Page(address) as page:
        head, _ = page.ask("load", path=str(tmp_path / "studied"))
        assert [one["name"] for one in head["parts"]] == [one.name for one in results.study.experiments]
        name = results.trials[0].experiment
        found = page.ask("trials", path=str(tmp_path / "studied"), part=name, statistic=FIRST)[0]
        ran = [one for one in found["variants"] if one["count"]]
        assert [one["mean"] for one in ran] == [results.interval(name, one["label"], FIRST).mean for one in ran]
        text = page.ask("trial", path=str(tmp_path / "studied"), part=name, variant=ran[0]["label"], seed=1)[0]["text"]
        assert "seed = 1" in text


def _study(where):
    """A folder of the study pcp-2006 of which two runs are there, as Ctrl-C leaves it."""
    from elephan.experiment import study as studies
    from elephan.experiment.job import Outcomes, Statistics, run_one
    from elephan.experiment.trials import Trials
    from elephan.scenario.core import Stop

    study = studies.open_study("pcp-2006", quick=True)
    jobs = [job for job in studies._jobs(study, study.experiments, where / "studied") if job.folder is None and job.seed == 1][:1]
    outcomes = Outcomes([run_one(job, Statistics(study.statistics, strict=False), None, Stop()) for job in jobs])
    facts = {**outcomes.first(), "incomplete": "1 of 9 runs are done", "failures": [], "runs": 1, "wall_s": 1.0}
    trials = Trials(outcomes.trials, (job.variant for job in jobs))
    return studies.Results(study, trials, facts, where / "studied").save(where / "studied", report=False)


@pytest.fixture(scope="module")
def server(folder):
    if not CHROMIUM.exists():
        pytest.skip("no /usr/bin/chromium: apt-get install chromium")
    server = Server(cwd=folder)
    yield server
    server.stop()


def look(page, server, name):
    """Opens an experiment from the gallery, and waits for its variants."""
    page.goto(server.address)
    page.locator(".kept button", has=page.locator(f"b:text-is('{name}')")).click()
    until(page, "Number(document.querySelector('.trials')?.dataset.of ?? -1) >= 0")


def variants(page):
    return ask(page, "Number(document.querySelector('.trials').dataset.of)")


def test_a_sweep_is_drawn_filtered_and_a_click_opens_its_run(page, server, folder):
    sweep = el.load(folder / "results/swept")
    look(page, server, "swept")
    assert page.locator(".lines circle").count() == 6
    page.get_by_label("Show").select_option(FIRST)
    page.get_by_role("button", name="map").click()
    cells = page.locator(".heat td button")
    until(page, "/b\\/s/.test(document.querySelector('.heat td button')?.textContent ?? '')")
    shown = [re.match(r"[\d.]+ [kM]b/s", text)[0] for text in cells.all_inner_texts()]
    means = {one.label: sweep.interval(one.label, FIRST).mean for one in sweep.variants}
    assert [float(text.split()[0]) for text in shown] == [
        pytest.approx(means[f"rate={rate}, limit={limit}"] / 1e6, rel=0.005)
        for limit in ("0.25 bdp", "1 bdp")
        for rate in ("5 Mbps", "10 Mbps", "20 Mbps")
    ]
    page.get_by_label("Filter").fill("rate > 5 Mbps and seed == 2")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('.trials').dataset.of === '4'")
    page.get_by_label("Filter").fill("rat > 5 Mbps")
    page.keyboard.press("Enter")
    assert 'did you mean "rate"' in page.get_by_role("alert").inner_text()
    page.get_by_label("Filter").fill("")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('.trials').dataset.of === '6'")
    kept = page.get_by_role("button", name=f"opens {sweep.labels[0]}, seed 2")
    kept.click()
    until(page, "s && s.drawn > 0")
    summary = load_run(sweep.kept(sweep.labels[0], 2)).summary
    assert ask(page, "[s.picture.kept, s.picture.seed, s.picture.summary.drops]") == [True, 2, summary["drops"]]
    page.get_by_role("button", name="← swept").click()
    assert variants(page) == 6
    cells.nth(4).click()
    until(page, "s.picture && s.picture.share >= 1 && !s.picture.kept && s.drawn > 0")
    value = sweep.by_seed("rate=10 Mbps, limit=1 bdp", FIRST)[1]
    assert ask(page, "[s.picture.seed, s.picture.summary.goodput_bps]") == [1, value]
    page.go_back()
    until(page, "document.querySelector('.trials') !== null")
    assert "kept=" in page.url


def test_pairs_make_a_matrix_and_an_experiment_is_chosen(page, server, folder):
    panel = el.load(folder / "results/compared")
    look(page, server, "compared")
    cells = page.locator(".heat td button")
    assert [text.split(" %")[0] for text in cells.all_inner_texts()] == [
        f"{100 * panel.share(a, b).mean:.3g}" for a in panel.labels for b in panel.labels
    ]
    page.get_by_label("Experiment").select_option("alone")
    until(page, "document.querySelector('.trials').dataset.of === '2'")
    page.reload()
    until(page, "document.querySelector('.trials')?.dataset.of === '4'")


def test_kept_experiments_can_be_read_by_everybody(page, server):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    for name in ("swept", "compared.trials"):
        look(page, server, name)
        assert axe(page) == []
        assert fits(page)
