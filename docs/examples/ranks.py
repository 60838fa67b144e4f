"""Draws the picture of docs/models/collectives.md: what each rank of an all-reduce does, and which link it waits for.

python docs/examples/ranks.py docs/images/ranks.png
"""

import sys

import elephan as el

run = el.run("all-reduce")
run.figure("gantt").savefig(sys.argv[1], dpi=120)
