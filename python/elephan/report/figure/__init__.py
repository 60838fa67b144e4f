"""Figures of every kind of result (matplotlib)."""
