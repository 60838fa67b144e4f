"""Figures of one run: each file here is found by itself and declares its figures (`elephan.report.figure.registry.figure`)."""
