"""Statistics of one run by name, with units, bounds and titles."""
