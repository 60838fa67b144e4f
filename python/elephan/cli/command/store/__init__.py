"""Kept runs: what is in a store, and whether it is whole."""
