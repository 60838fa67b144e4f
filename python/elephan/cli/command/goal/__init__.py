"""Parallel programs in GOAL: what ranks compute, send and receive."""
