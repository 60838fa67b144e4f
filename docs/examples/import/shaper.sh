tc qdisc add dev eth0 root handle 1: netem delay 20ms
tc qdisc add dev eth0 parent 1: handle 2: tbf rate 5mbit burst 16kb latency 50ms
tc qdisc add dev ifb0 root netem delay 20ms
