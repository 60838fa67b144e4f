"""HPCC against DCQCN, TIMELY and DCTCP in fabrics of 25 and 100 Gb/s (SIGCOMM 2019). See README.md."""
