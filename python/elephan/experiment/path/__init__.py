"""The what-if for one long path: how long a transfer takes, what limits it, which settings help."""
