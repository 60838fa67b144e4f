"""Traces that links follow."""
