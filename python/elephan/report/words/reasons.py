"""What stands between the tables and a sentence: why a host dropped packets, and what held up a transfer from disk to disk."""

from elephan import _core

# By the columns of the table `hosts`; the core says the words, which the page of `elephan explore` has as well.
REASONS = {f"drops_{name.removeprefix('rx_').removesuffix('_full')}": words for name, words in _core.listing("host-drops")}

STAGES = {
    "read": "the disk that is read",
    "network": "the network",
    "send_buffer": "the send buffers of the sockets",
    "receive_buffer": "the receive buffers of the sockets",
    "write": "the disk that is written",
}
