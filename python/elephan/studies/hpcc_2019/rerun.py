"""Slowdowns of somebody's re-run of the paper's fabric, as notes have them: FB_Hadoop, by scheme. They are not the paper's."""

from __future__ import annotations

# At 50 % load, of flows of 1 KB and of 120 KB.
AT_1_KB = {"HPCC": 1.71, "DCTCP": 3.53, "TIMELY+w": 4.16, "DCQCN+w": 4.35, "DCQCN": 8.60, "TIMELY": 10.25}
AT_120_KB = {"HPCC": 3.32, "DCTCP": 3.79, "TIMELY+w": 4.12, "DCQCN+w": 4.22, "DCQCN": 6.75, "TIMELY": 7.77}
# At 30 % load beside a 60 to 1 incast of 2 %, of flows of 1 KB.
BESIDE_INCAST = {"HPCC": 1.69, "DCTCP": 3.29, "DCQCN+w": 5.16, "TIMELY+w": 9.56, "DCQCN": 192.0, "TIMELY": 223.0}
