"""What options of the command line say to its end: set while they are read."""

# Errors of a congestion control in Python come with their traceback.
verbose = False

# Ctrl-C, or another signal that ends the command, has come.
interrupted = False
