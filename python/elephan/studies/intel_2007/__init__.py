"""The study intel-2007: TCP over layer-2 congestion management, QCN and ECM, at a hotspot."""
