"""Libraries run unmodified over simulated networks, in both directions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import elephan as el
import pytest
from virtual_libraries import EXPECTED, LIBRARIES

LINK = """
duration = "1000 s"
[hosts.client]
[hosts.server]
[[links]]
between = ["client", "server"]
delay = "30 ms"
"""
NETWORKS = {
    "plain": LINK + 'rate = "20 Mbps"\n',
    "loss": LINK + 'rate = "20 Mbps"\nloss = { bernoulli = 0.02 }\n',
    "reordering": LINK + 'rate = "20 Mbps"\nreorder = { share = 0.05, extra = "10 ms" }\n',
    "slow": LINK + 'rate = "500 kbps"\nqueue = { kind = "fifo", limit = "40 p" }\n',
}


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_library_runs_unmodified(library: str, network: str) -> None:
    server, client = LIBRARIES[library]()
    run = el.virtual.run(NETWORKS[network], {"server": server, "client": client}, seed=1)
    assert run.returned["client"] == EXPECTED[library]
    # Both bodies crossed the network, and the link was no faster than it is: 200 000 B each way at 500 kb/s take 3.2 s each.
    assert run.flows.num_rows >= 2
    if network == "slow":
        assert run.summary["simulated_s"] > 6.4


# Prints a digest of the tables of a run; of one without TLS, whose random numbers nobody can seed, also of what was captured.
TWICE = """
import hashlib, sys
import elephan as el
from test_virtual_libraries import NETWORKS
from virtual_libraries import LIBRARIES

library, where = sys.argv[1:]
server, client = LIBRARIES[library]()
run = el.virtual.run(NETWORKS["loss"], {"server": server, "client": client}, seed=3, out=where, report=False, pcap=True)
found = hashlib.sha256()
for name in sorted(run.tables):
    found.update(repr(run.tables[name].to_pylist()).encode())
assert len(run.captures) == 2
if library not in ("aiohttp-tls", "aioquic"):
    for file in run.captures:
        found.update(file.read_bytes())
print(found.hexdigest(), run.summary["simulated_s"], run.flows.num_rows)
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_same_programs_give_the_same_tables_in_every_process(library: str, tmp_path: Path) -> None:
    told = []
    for seed in ("0", "1"):
        words = [sys.executable, "-W", "ignore", "-c", TWICE, library, str(tmp_path / seed)]
        path = ":".join([str(Path(__file__).parent), *sys.path])
        done = subprocess.run(words, capture_output=True, text=True, check=False, env={"PYTHONHASHSEED": seed, "PYTHONPATH": path})
        assert done.returncode == 0, done.stderr
        told.append(done.stdout)
    assert told[0] == told[1]
