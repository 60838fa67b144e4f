"""The fixture `network` of pytest: a test runs programs over the network of a scenario, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from elephan.virtual.run import ProgramRun


class Bench:
    """A network on which a test runs programs."""

    def __init__(self, scenario: Any, settings: Mapping[str, Any]) -> None:
        self.scenario, self.settings = scenario, dict(settings)

    def run(self, programs: Mapping[str, Any], **more: Any) -> ProgramRun:
        """Runs programs, as `el.virtual.run` does; keywords here go before those of the network."""
        from elephan.virtual.run import run

        return run(self.scenario, programs, **{**self.settings, **more})


@pytest.fixture
def network(request: pytest.FixtureRequest) -> Callable[..., Bench]:
    """A function that opens the network of a scenario: a file beside the test, a library scenario, or the text of one.

    Keywords are those of `el.virtual.run`, such as `seed` and `set`.

    def test_hello(network):
        result = network("slow.toml", seed=1).run({"client": client(), "server": server()})
        assert result.returned["client"] == "hello"
    """

    def opened(scenario: Any, **settings: Any) -> Bench:
        if isinstance(scenario, str) and "\n" not in scenario:
            beside = Path(request.path).parent / scenario
            scenario = str(beside) if beside.is_file() else scenario
        return Bench(scenario, settings)

    return opened
