"""Incast: the collapse of TCP's throughput in synchronised reads (FAST 2008, WREN 2009, SIGCOMM 2009). See README.md."""
