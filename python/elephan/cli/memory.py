"""Little memory: what libraries do badly without it (they end the process, or crash at its end) is kept from happening."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
from typing import Any, ClassVar, NoReturn

LINE = "not enough memory"

limited = False
"""Whether this process may have only so much memory (`ulimit -v`)."""


class _Room:
    """Refuses to load these libraries while memory is short. The OpenBLAS of numpy and scipy would end the process with a line of
    its own, and the jemalloc of pyarrow, started with too little, crashes whenever a thread ends.
    """

    ROOM_BYTES: ClassVar = {"numpy": 96 << 20, "scipy": 96 << 20, "pyarrow": 256 << 20}  # the libraries and their first buffers
    MODULE_BYTES = 64 << 20  # of one module more; scipy's load its OpenBLAS

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if name.partition(".")[0] in self.ROOM_BYTES:
            try:
                mmap.mmap(-1, self.ROOM_BYTES.get(name, self.MODULE_BYTES), flags=mmap.MAP_PRIVATE).close()
            except OSError:
                raise MemoryError from None


def spare() -> None:
    """Before anything is loaded. Nothing here multiplies matrices, so that OpenBLAS needs no threads; the allocators that pyarrow
    brings along write lines about threads that they cannot start, so that the system's is taken.
    """
    global limited
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")  # it starts all the same
    try:
        import resource
    except ImportError:  # not on Windows
        return
    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    if limited:
        sys.meta_path.insert(0, _Room())


def claim() -> None:
    """Takes what OpenBLAS would take later, in the middle of a calculation: it keeps its buffers, and a fit needs two of them."""
    if limited:
        import numpy as np

        np.polyfit([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], 1)


def end(status: int) -> NoReturn:
    """Ends the process without what libraries have registered for its end: half loaded, pyarrow's crash or wait there."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)
