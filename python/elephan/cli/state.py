"""What options of the command line say to its end: set while they are read."""

# Errors of a congestion control in Python come with their traceback.
verbose = False

# The signals of this process are those of a command.
armed = False

# The number of the signal that has come to end the command: Ctrl-C, or another.
interrupted = 0
