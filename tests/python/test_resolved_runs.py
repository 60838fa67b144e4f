"""A run is reproduced by its own resolved scenario; the congestion control of an entry means one thing wherever it is written."""

import pyarrow as pa
import pytest
from elephan import _core

# The receivers' congestion control counted in the scenario and not in its resolved text: 1,696 events, and then 4,205.
TWO_CONTROLLERS = """duration = "100 s"
tcp = {{ congestion_control = "{hosts}" }}
[template]
kind = "path"
hops = [{{ rate = "8 Mbps", delay = "300 us" }}, {{ rate = "8 Mbps", delay = "300 us" }}]
[[traffic]]
from = "sender"
to = "receiver"
{kind}
{own}
"""
COPY, BULK = 'kind = "disk-copy"\nsize = "3 MB"', 'kind = "bulk"\nstop = "1 s"'


def rows(result):
    return {name: pa.table(table).to_pylist() for name, table in result.tables.items()}


@pytest.mark.parametrize("kind", [COPY, BULK])
@pytest.mark.parametrize(("hosts", "controller"), [("pcp", "swift"), ("pcp", "reno"), ("reno", "pcp"), ("xcp", "cubic")])
def test_a_resolved_scenario_runs_as_its_scenario_did(kind, hosts, controller):
    among, beside = (
        _core.run(TWO_CONTROLLERS.format(kind=kind, hosts=hosts, own=own), "x.toml", "toml")
        for own in (f'tcp = {{ congestion_control = "{controller}" }}', f'congestion_control = "{controller}"')
    )
    again = _core.run(among.resolved_toml, "x.toml", "toml")
    assert among.events == again.events == beside.events
    assert rows(among) == rows(again) == rows(beside)
    assert among.resolved_toml == again.resolved_toml
