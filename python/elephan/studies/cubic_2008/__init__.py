"""CUBIC (SIGOPS 2008, RFC 9438): the tables of its mean window under deterministic loss, and its fairness. See README.md."""
