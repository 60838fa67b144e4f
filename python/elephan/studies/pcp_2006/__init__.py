"""Effect of congestion on TCP/IP performance (Intel, July 2004): no flow control against 802.3x. See README.md."""
