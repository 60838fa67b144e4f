"""Captures and logs of real transfers, with the figures of a run."""
