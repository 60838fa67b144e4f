"""BBR: congestion-based congestion control (Communications of the ACM, 2017), figure by figure. See README.md."""
