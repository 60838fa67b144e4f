"""A disk without a network, by hand: when reads are in memory, when writes are in the cache and on the disk.

    d = el.disk.Disk(profile="icp-66x4", cache="256 MB")
    d.read(0.0, 1e6)                     # 0.00995...: when the bytes are in memory
    d.write(0.0, 1e6)                    # (0.0, 0.01487...): when they are in the cache, and on the disk
    d.read_rate, d.write_rate, d.cached_bytes(0.001)

Times are seconds and never go back, sizes bytes, rates bit/s. Parameters are those of `[hosts.NAME] disk`, where a number for a
time is seconds, for a size bytes and for a rate bit/s. Equations and sources: docs/models/disk.md.
"""

from __future__ import annotations

import json
from typing import Any

from elephan.scenario import core
from elephan.scenario.model import plain


def Disk(**params: Any) -> Any:
    """Returns an idle disk with an empty cache: `profile`, `read` and `write`, or `disks` and `disk_rate`.

    `read(now, size)` gives the time in s at which `size` bytes are in memory, `write(now, size)` those at which they are in the
    cache (when `write()` returns) and on the disk. `cached_bytes(now)`: what waits in the cache. `read_rate` and `write_rate` in
    bit/s. A `profile` may be a file of `elephan measure disk`. Raises InputError.

    >>> d = el.disk.Disk(read="800 Mbps", write="400 Mbps")
    >>> d.read(0.0, 1e6)
    0.01
    >>> d.read_rate
    800000000.0
    """
    return core.build("DiskModel", **plain(params))


def parameters(disk: Any) -> dict[str, Any]:
    """Returns the parameters of a disk, defaults and what follows from its profile included, as a scenario writes them.

    >>> el.disk.parameters(el.disk.Disk(read="800 Mbps", write="400 Mbps"))["write"]
    '400 Mbps'
    """
    return dict(json.loads(disk.parameters()))
