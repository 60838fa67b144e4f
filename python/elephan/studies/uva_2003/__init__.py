"""TCP flows over large-fat networks (Amsterdam, 2003): bursts, memory, forbidden area, long single flows. See README.md."""
