"""Real hardware, as profiles for the models."""
