"""A conformance run read again from its folder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elephan.base import stats
from elephan.experiment.conformance.checks import Check, Margin
from elephan.experiment.conformance.conformance import Conformance
from elephan.experiment.conformance.judge import Finding
from elephan.experiment.conformance.story import FOLDER, Story
from elephan.experiment.trials import Trials
from elephan.result import folder
from elephan.result.run import read_table
from elephan.scenario.congestion import Controller
from elephan.scenario.source import read_object, read_text
from elephan.statistic import measures


def load_conformance(path: Path) -> Conformance:
    """Returns a finished conformance run from its folder."""
    where, manifest = folder.open_result(path)
    found = read_object(where / "conformance.json")
    with folder.damaged(where / "conformance.json"):
        findings = [_finding(one) for one in found["checks"]]
        facts = {key: found[key] for key in ("seed", "repetitions", "quick", "wall_s")} | {
            "like": found.get("like", ""),
            **{key: found.get(key, 0) for key in ("answers", "answers_s")},
        }
        controller = Controller(found["congestion_control"], found["value"])
    facts |= {"manifest": manifest, "folder": str(path)}
    facts |= {key: manifest[key] for key in ("incomplete",) if key in manifest}
    with folder.damaged(where / "runs.parquet"):
        trials = Trials.of_table(read_table(where / "runs.parquet"), measures.is_statistic)
    files = sorted((where / FOLDER).glob("*.toml"))
    beside = sorted(one for one in (where / FOLDER).glob("*") if one.suffix != ".toml")
    stories = [Story(one.stem, read_text(one), 0, math.nan, beside) for one in files]
    return Conformance(controller, findings, stories, trials, facts)


def _finding(one: Mapping[str, Any]) -> Finding:
    low, high = (one[key] if one[key] is not None else end for key, end in (("low", -math.inf), ("high", math.inf)))
    texts = {key: one[key] for key in ("id", "area", "title", "learn", "source")} | {"reason": one["margin"]}
    check = Check(**texts, margin=Margin(low, high), unit=one["shown_in"], of=tuple(one["of"]), statistic=one["statistic"])
    references = {name: _interval(value) for name, value in one["references"].items()}
    score, judged = _interval(one["score"]), _interval(one["judged"])
    return Finding(check, one["verdict"], score, judged, references, one["message"], one["story"], one.get("no_story", ""))


def _interval(one: Mapping[str, Any]) -> stats.Interval:
    mean, low, high = (math.nan if one[key] is None else float(one[key]) for key in ("mean", "ci_low", "ci_high"))
    return stats.Interval(mean, low, high, int(one["n"]))
