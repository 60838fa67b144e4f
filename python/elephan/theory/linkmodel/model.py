"""What a model of links says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

CHANCE_BYTES = 1504  # of a line of Mahimahi's format


@dataclass(frozen=True)
class LinkModel:
    """A model: what it is in a line, its parameters with their defaults, and the function that makes the text of a trace."""

    line: str
    defaults: Mapping[str, float]
    make: Callable[[float, np.random.Generator, Mapping[str, float]], str]
