"""Models of links that vary, as traces: `MODELS` has them all.

All numbers of the models are parameters. The defaults are assumptions of elephan, of the order that the literature names. None is a
measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from elephan.base.errors import InputError
from elephan.theory.linkmodel import cellular, leo, markov, wifi
from elephan.theory.linkmodel.model import LinkModel

MODELS: Mapping[str, LinkModel] = {"cellular": cellular.MODEL, "leo": leo.MODEL, "markov": markov.MODEL, "wifi": wifi.MODEL}


def link_trace(kind: str, seconds: float, seed: int = 1, given: Mapping[str, float] | None = None) -> str:
    """Returns the text of a trace of a model of links, the same for the same arguments.

    `given` has parameters of the model that differ from their defaults. Raises InputError for an unknown kind or parameter.

    >>> el.link_trace("cellular", 1.0, seed=3).splitlines()[:3]
    ['2', '3', '4']
    """
    from elephan.base.errors import nearest

    if kind not in MODELS:
        raise InputError(f'no model of links "{kind}"{nearest(kind, list(MODELS), "there are")}')
    model = MODELS[kind]
    for name, value in (given or {}).items():
        if name not in model.defaults:
            raise InputError(f'{kind}: no parameter "{name}"{nearest(name, list(model.defaults), "there are")}')
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f"{kind}: {name} is a number, 0 or above, not {value}")
    if not 0 < seconds <= 86_400:
        raise InputError(f"{seconds:g} seconds: a trace lasts from more than 0 s to a day")
    return model.make(seconds, np.random.default_rng(seed), {**model.defaults, **(given or {})})
