# What the scripts of this folder take for granted: buffers as kernels had them for long, which give a window scale of 7.
sysctl -q net.ipv4.tcp_rmem="4096 131072 6291456"
sysctl -q net.ipv4.tcp_wmem="4096 16384 4194304"
sysctl -q net.ipv4.tcp_ecn=0
sysctl -q net.ipv4.tcp_congestion_control=cubic
