//! Shortest paths: whether every flow has one, which flows cross a link, and with it what "1 bdp" means there.
//!
//! A path is shortest by hops; hosts do not forward. A link counts as crossed by a flow if it lies on any shortest path
//! of the flow's data, or, where no data passes, of its ACKs. The base RTT is twice a way: the least propagation delay
//! among the shortest paths there, and back. bdp = rate x mean base RTT over the flows that cross the link.
//!
//! Hosts with one link are folded into their switch, so the work grows with flows and switches, not with hosts.

use std::collections::BTreeMap;

use elephan_tcp::IpVersion;
use elephan_units::{Bytes, Span, stop};

use super::crossing::{Crossing, Packets};
use super::resolver::Resolver;
use crate::plan::{FlowPlan, NodeKind};
use crate::rdma::Rdma;
use crate::tree::at;
use crate::written::Scenario;

/// Hops and delay to one place from every other, through switches.
struct Tree {
    hops: Vec<u32>,
    delay_ps: Vec<u128>,
}

const UNREACHED: u32 = u32::MAX;
/// RFC 8200 section 5.
const IPV6_MTU_MIN: Bytes = Bytes(1280);

/// A link between places, as searches need it: those of a large fabric read it millions of times.
struct Hop {
    link: u32,
    to: u32,
    /// The delay of its reverse.
    back: Span,
}

/// Nodes that are not folded have places.
struct Graph<'a> {
    resolver: &'a Resolver<'a>,
    /// For a host with one link to a switch: that link, outward.
    leaf: Vec<Option<u32>>,
    /// By node, none of those that are folded.
    place: Vec<u32>,
    /// By place: the links out, and whether it is a switch.
    out: Vec<Vec<Hop>>,
    forwards: Vec<bool>,
    trees: BTreeMap<u32, Tree>,
}

impl<'a> Graph<'a> {
    fn new(resolver: &'a Resolver<'a>) -> Graph<'a> {
        let (nodes, links) = (&resolver.nodes, &resolver.links);
        let is_switch = |node: u32| matches!(nodes[node as usize].kind, NodeKind::Switch(_));
        let (mut leaf, mut count) = (vec![None; nodes.len()], vec![0u32; nodes.len()]);
        for (i, link) in (0u32..).zip(links) {
            leaf[link.from as usize] = Some(i).filter(|_| !is_switch(link.from) && is_switch(link.to));
            count[link.from as usize] += 1;
        }
        leaf.iter_mut().zip(count).filter(|(_, count)| *count != 1).for_each(|(leaf, _)| *leaf = None);
        let mut places = 0;
        let mut place = |leaf: &Option<u32>| if leaf.is_some() { UNREACHED } else { (places, places += 1).0 };
        let place: Vec<u32> = leaf.iter().map(&mut place).collect();
        let mut out: Vec<Vec<Hop>> = std::iter::repeat_with(Vec::new).take(places as usize).collect();
        for (i, link) in (0u32..).zip(links) {
            let [from, to] = [link.from, link.to].map(|node| place[node as usize]);
            if from != UNREACHED && to != UNREACHED {
                out[from as usize].push(Hop { link: i, to, back: links[link.reverse as usize].delay });
            }
        }
        let forwards = (0u32..).zip(&place).filter(|(_, place)| **place != UNREACHED).map(|(node, _)| is_switch(node));
        Graph { resolver, forwards: forwards.collect(), leaf, place, out, trees: BTreeMap::new() }
    }

    /// Where the node's folded path starts: the place of its switch, or its own.
    fn anchor(&self, node: u32) -> u32 {
        let anchor = self.leaf[node as usize].map_or(node, |link| self.resolver.links[link as usize].to);
        self.place[anchor as usize]
    }

    fn delay(&self, link: u32) -> u128 {
        u128::from(self.resolver.links[link as usize].delay.0)
    }

    /// Breadth first from `target` backwards; at equal hops the least delay.
    fn tree(&mut self, target: u32) {
        if self.trees.contains_key(&target) {
            return;
        }
        let n = self.out.len();
        let mut tree = Tree { hops: vec![UNREACHED; n], delay_ps: vec![u128::MAX; n] };
        tree.hops[target as usize] = 0;
        tree.delay_ps[target as usize] = 0;
        let (mut layer, mut hops) = (vec![target], 0);
        while !layer.is_empty() {
            hops += 1;
            let mut next = Vec::new();
            for &place in &layer {
                stop::look();
                if place != target && !self.forwards[place as usize] {
                    continue;
                }
                // The way towards `target` is the reverse of these links.
                for hop in &self.out[place as usize] {
                    let from = hop.to as usize;
                    let delay = tree.delay_ps[place as usize] + u128::from(hop.back.0);
                    if tree.hops[from] == UNREACHED {
                        tree.hops[from] = hops;
                        tree.delay_ps[from] = delay;
                        next.push(hop.to);
                    } else if tree.hops[from] == hops {
                        tree.delay_ps[from] = tree.delay_ps[from].min(delay);
                    }
                }
            }
            layer = next;
        }
        self.trees.insert(target, tree);
    }

    /// Delay between two anchors, `None` if there is no path. The trees of `b` must be there.
    fn way(&self, a: u32, b: u32) -> Option<u128> {
        let tree = self.trees.get(&b)?;
        (tree.hops[a as usize] != UNREACHED).then(|| tree.delay_ps[a as usize])
    }

    /// The links of each place that lead nearer to `target`, whose tree must be there.
    fn nearer(&self, target: u32) -> Nearer {
        let tree = self.trees.get(&target);
        let mut nearer = Nearer { links: Vec::new(), ends: Vec::with_capacity(self.out.len()) };
        for (place, out) in self.out.iter().enumerate() {
            if let Some(tree) = tree.filter(|tree| tree.hops[place] != UNREACHED) {
                let is_nearer = |to: u32| {
                    let is_nearer = tree.hops[to as usize].checked_add(1) == Some(tree.hops[place]);
                    is_nearer && (to == target || self.forwards[to as usize])
                };
                nearer.links.extend(out.iter().filter(|hop| is_nearer(hop.to)).map(|hop| (hop.link, hop.to)));
            }
            nearer.ends.push(nearer.links.len());
        }
        nearer
    }

    /// Adds the flows of each bundle to the links that they cross, whose trees must be there.
    fn cross(&self, bundles: &BTreeMap<(u32, u32), Bundle>, crossings: &mut [Crossing]) {
        let mut ways: BTreeMap<u32, Vec<(u32, bool, &Bundle)>> = BTreeMap::new();
        for ((a, b), bundle) in bundles {
            ways.entry(*b).or_default().push((*a, true, bundle));
            ways.entry(*a).or_default().push((*b, false, bundle));
        }
        let (mut seen, mut call) = (vec![0; self.out.len()], 0);
        for (target, ways) in ways {
            let nearer = self.nearer(target);
            for (from, data, bundle) in ways {
                stop::look();
                call += 1;
                nearer.links_from(from, (&mut seen, call), &mut |link| {
                    crossings[link as usize].add(data, bundle.flows, bundle.rtt_ps, bundle.packets);
                });
            }
        }
    }
}

/// The links that lead nearer to one place, with their far ends: those of place n end at `ends[n]`.
struct Nearer {
    links: Vec<(u32, u32)>,
    ends: Vec<usize>,
}

impl Nearer {
    fn of(&self, place: u32) -> &[(u32, u32)] {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.links[begin..self.ends[place as usize]]
    }

    /// Calls `each` for every link on a shortest path from `a`. `seen` has the number of the last call that met a place; this is `call`.
    fn links_from(&self, a: u32, (seen, call): (&mut [u32], u32), each: &mut dyn FnMut(u32)) {
        let mut left = vec![a];
        while let Some(place) = left.pop() {
            for &(link, to) in self.of(place) {
                each(link);
                if std::mem::replace(&mut seen[to as usize], call) != call {
                    left.push(to);
                }
            }
        }
    }
}

/// Flows between two anchors.
#[derive(Default)]
struct Bundle {
    flows: u64,
    rtt_ps: u128,
    packets: Packets,
}

/// What all flows together say.
struct Crossed {
    /// Of each link.
    crossings: Vec<Crossing>,
    longest_rtt_ps: u128,
    /// Entries that have a flow without a path, and those of RDMA whose timeout a round trip outlasts.
    unreachable: Vec<(usize, String)>,
    impatient: Vec<(usize, String)>,
}

impl Resolver<'_> {
    /// Checks that every flow has a path, and works out `bdp_bytes`.
    pub(super) fn routes(&mut self, words: &Scenario) {
        let Crossed { crossings, longest_rtt_ps, unreachable, impatient } = self.cross();
        for (entry, message) in unreachable {
            self.report(at!["traffic", entry, "to"], message);
        }
        for (entry, message) in impatient {
            let transport = self.traffic[entry].rdma.as_ref().map_or("", |rdma| rdma.transport().name());
            self.report(at!["traffic", entry, transport, "timeout"], message);
        }
        self.time_range(words, longest_rtt_ps);
        self.crossings = crossings;
        for i in 0..self.links.len() {
            self.links[i].bdp_bytes = self.bdp_bytes(i);
            let packets = self.crossings[i].packets;
            self.links[i].ip_bytes = packets.ip_bytes;
            self.links[i].largest_of = (packets.ip_bytes > 0).then_some(packets.entry as u32);
        }
        self.small_mtus(words);
    }

    /// A link that IPv6 crosses carries its smallest packet that no link may refuse.
    fn small_mtus(&mut self, words: &Scenario) {
        let small =
            |i: &usize| self.links[*i].mtu.is_some_and(|mtu| mtu < IPV6_MTU_MIN) && self.crossings[*i].packets.v6;
        let Some(i) = (0..self.links.len()).find(small) else { return };
        let port = self.port_of(i);
        let place = words.links[port.entry].place(port, "mtu");
        let entry = self.crossings[i].packets.entry;
        let name = self.traffic.get(entry).map_or("", |traffic| traffic.name.as_str());
        let message = format!(
            "{}: IPv6 needs {} B at least (RFC 8200 section 5), and packets of {name} cross {}",
            self.written(&place, IPV6_MTU_MIN),
            IPV6_MTU_MIN.0,
            self.links[i].name
        );
        self.report(place, message);
    }

    /// What a bdp is at the port of a link.
    pub(super) fn bdp_bytes(&self, i: usize) -> u64 {
        let link = &self.links[i];
        link.bdp_rtt.or(self.crossings[i].mean_rtt()).map_or(0, |rtt| link.rate.bytes_in(rtt))
    }

    fn cross(&self) -> Crossed {
        let mut graph = Graph::new(self);
        let mut crossings = vec![Crossing::default(); self.links.len()];
        let mut bundles: BTreeMap<(u32, u32), Bundle> = BTreeMap::new();
        let (mut unreachable, mut impatient) = (Vec::new(), Vec::new());
        let mut longest_rtt_ps = 0;
        for (entry, traffic) in self.traffic.iter().enumerate() {
            let v6 = traffic.ip == IpVersion::V6;
            let sizes = |flow: &FlowPlan| Packets {
                ip_bytes: traffic.ip_bytes(self.stacks.get(flow.sender), self.stacks.get(flow.receiver)),
                entry,
                v6,
            };
            let mut longest = (0, None);
            for run in traffic.flows.chunk_by(|x, y| (x.from, x.to) == (y.from, y.to)) {
                stop::look();
                let (flow, flows, ip) = (run[0], run.len() as u64, sizes(&run[0]));
                let (a, b) = (graph.anchor(flow.from), graph.anchor(flow.to));
                graph.tree(a);
                graph.tree(b);
                let (Some(there), Some(back)) = (graph.way(a, b), graph.way(b, a)) else {
                    let (from, to) = (&self.nodes[flow.from as usize].name, &self.nodes[flow.to as usize].name);
                    unreachable.push((entry, format!("no path of links and switches from {from} to {to}")));
                    break;
                };
                let ends =
                    [(flow.from, true), (flow.to, false)].map(|(node, sends)| (graph.leaf[node as usize], sends));
                let outer: u128 = ends
                    .iter()
                    .filter_map(|(leaf, _)| *leaf)
                    .map(|l| graph.delay(l) + graph.delay(self.links[l as usize].reverse))
                    .sum();
                let rtt = there + back + outer;
                longest_rtt_ps = rtt.max(longest_rtt_ps);
                if rtt > longest.0 {
                    longest = (rtt, Some(flow));
                }
                for (leaf, sends) in ends {
                    let Some(up) = leaf else { continue };
                    let down = self.links[up as usize].reverse;
                    crossings[up as usize].add(sends, flows, rtt * u128::from(flows), ip);
                    crossings[down as usize].add(!sends, flows, rtt * u128::from(flows), ip);
                }
                let bundle = bundles.entry((a, b)).or_default();
                bundle.flows += flows;
                bundle.rtt_ps += rtt * u128::from(flows);
                bundle.packets.join(ip);
            }
            if let (Some(timeout), (rtt, Some(flow))) = (traffic.rdma.as_ref().and_then(Rdma::timeout), longest)
                && u128::from(timeout.0) <= rtt
            {
                let (from, to) = (&self.nodes[flow.from as usize].name, &self.nodes[flow.to as usize].name);
                let (timeout, rtt) = (timeout, Span(u64::try_from(rtt).unwrap_or(u64::MAX)));
                let message = format!(
                    "{timeout} is not above the base round trip from {from} to {to}, {rtt}: every packet would be retransmitted"
                );
                impatient.push((entry, message));
            }
        }
        graph.cross(&bundles, &mut crossings);
        Crossed { crossings, longest_rtt_ps, unreachable, impatient }
    }
}
