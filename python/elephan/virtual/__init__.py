"""Real programs over the network of a scenario, in virtual time: `el.virtual.run`.

The programs are coroutines of asyncio, one for each host. Their sockets are TCP and UDP endpoints of the simulation, their clock
is its time. The network is that of every run: links, queues, congestion controls, other traffic, reports and captures.
"""

from __future__ import annotations

from elephan.virtual.run import ProgramRun, run

__all__ = ["ProgramRun", "run"]
