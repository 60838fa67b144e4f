"""Runs a module as a process that does not outlive the one that started it: `python -m elephan.experiment.place.tied MODULE ...`.

The end of standard input ends the process at once, whatever it does; the system closes that end when the other process is killed.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading


def _end_with_input() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


def main() -> None:
    """Runs the module that the command line names."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
