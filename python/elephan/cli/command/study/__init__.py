"""Published experiments, made executable."""
