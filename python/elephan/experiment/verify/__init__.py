"""Whether this machine computes what was published: `elephan.experiment.verify.verify`."""
