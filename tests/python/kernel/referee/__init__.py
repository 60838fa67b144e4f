"""The referee of TCP: this machine's kernel gets the stimuli that `el.tcp.Endpoint` gets, and what differs is reported.

`python -m kernel.referee --help` says what can be asked; docs/kernel.md says how to read the answers.
"""
