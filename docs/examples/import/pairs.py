from mininet.link import TCLink
from mininet.net import Mininet
from mininet.topo import Topo


class Pairs(Topo):
    def build(self, pairs=2):
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(left, right, bw=10, delay="20ms", max_queue_size=100)
        for number in range(1, pairs + 1):
            self.addLink(self.addHost(f"a{number}"), left, bw=100)
            self.addLink(self.addHost(f"b{number}"), right, bw=100)


net = Mininet(topo=Pairs(pairs=3), link=TCLink)
