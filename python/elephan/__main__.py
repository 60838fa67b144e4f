"""`python -m elephan` is `elephan`."""

from elephan.cli import main

main()
