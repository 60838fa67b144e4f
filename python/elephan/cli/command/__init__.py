"""The commands: each is one file (`elephan.cli.app`)."""
