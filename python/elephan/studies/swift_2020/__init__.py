"""Swift: delay as the signal of congestion in a data centre (SIGCOMM 2020). See README.md."""
