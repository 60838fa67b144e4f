"""A systematic analysis of TCP performance (UCL and Manchester, 2004): response functions, impact, fairness. See README.md."""
