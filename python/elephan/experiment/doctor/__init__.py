"""Whether a kept result has numbers that a mended fault made wrong: `elephan.experiment.doctor.doctor`."""
