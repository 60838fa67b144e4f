"""Closed forms to hold a simulation against (`elephan.theory.closed`), response functions, Hurst parameters."""

from elephan.theory.closed import *  # noqa: F403
from elephan.theory.closed import __all__, __dir__

__all__ = __all__
__dir__ = __dir__
