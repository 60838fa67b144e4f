"""What stands between the tables and a sentence: why a host dropped packets, and what held up a transfer from disk to disk."""

REASONS = {
    "drops_ring": "the receive ring was full",
    "drops_backlog": "the backlog was full",
    "drops_throttle": "the backlog had been full and was not empty yet",
    "drops_socket": "the socket was full",
}

STAGES = {
    "read": "the disk that is read",
    "network": "the network",
    "send_buffer": "the send buffers of the sockets",
    "receive_buffer": "the receive buffers of the sockets",
    "write": "the disk that is written",
}
