"""Conformance: what a congestion control does in standard experiments, judged by a file of checks."""
