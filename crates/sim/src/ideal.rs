//! The least time that a finite flow can take: alone in the network, with a sender that no window holds back. What a
//! completion time is divided by to give the *slowdown* (as in pFabric, SIGCOMM 2013, and Homa, SIGCOMM 2018).
//!
//! ```text
//! ideal = SYN to the receiver + SYN-ACK back                        (one round trip of handshake)
//!       + all data segments through every link of the path          (size over the slowest link, and propagation)
//! ```
//!
//! Links are store and forward: n segments of which all but the last are full leave link i, when the links before it have
//! delivered the first one, at D_i + sum of tx_j + (n - 2) max tx_j (j up to i) for the last full one, and the last one follows it.
//! Bytes are those on the wire: TCP and IP headers with the options that both ends use, framing, preamble and gap. For
//! a path with one slow link it is 1.5 RTT + wire bytes / rate. Rates and delays are those at the start of the run; jitter, loss, PAUSE
//! and what other traffic does are not in it. Of several paths the best link at each place counts. Where packets of a flow take several
//! (`ecmp = "packet"`, entropy values of Ultra Ethernet), the k links side by side at a
//! place of the path count as k of their best: of n packets one of them carries n / k, rounded up, and from there on the last need not
//! follow the others: it may overtake them. A single link behind such a place has sent all of them n transmissions after the first came.
//! With Fast Open the SYN carries its part of the data, and what is left follows the SYN-ACK. A flow of RoCE has no handshake.

use elephan_link::FrameCost;
use elephan_scenario::{Ecmp, FlowPlan, NodeKind, Rdma};
use elephan_tcp::{Flags, OPTION_SACK_PERMITTED, OPTION_TIMESTAMPS, OPTION_WINDOW_SCALE, Options, Segment};
use elephan_units::{PS_PER_S, Span};

use crate::flow::{Application, Flow};
use crate::ids::LinkId;
use crate::world::World;

/// The Fast Open option with a cookie of eight bytes.
const COOKIE_OPTION_BYTES: u32 = 12;

/// About what an acknowledgement has (IP).
const ANSWER_BYTES: u32 = 52;

/// A link of a path.
struct Hop {
    cost: FrameCost,
    rate_bps: u64,
    /// From the last bit out of this link to the first bit that may enter the next.
    delay_ps: u128,
    /// So many such links share the packets.
    side_by_side: u64,
}

impl Hop {
    /// The best of both.
    fn best(self, other: Hop) -> Hop {
        let (rate_bps, delay_ps) = (self.rate_bps.max(other.rate_bps), self.delay_ps.min(other.delay_ps));
        Hop { rate_bps, delay_ps, ..self }
    }

    fn shared(self, side_by_side: u64) -> Hop {
        Hop { side_by_side, ..self }
    }

    fn transmission_ps(&self, ip_bytes: u32) -> u128 {
        u128::from(self.cost.wire_bytes(ip_bytes)) * 8 * u128::from(PS_PER_S) / u128::from(self.rate_bps.max(1))
    }
}

/// Until the last of `full` packets of `full_bytes` and one of `last_bytes` (IP), sent back to back, is at the end of the path.
fn through(path: &[Hop], full: u64, full_bytes: u32, last_bytes: u32) -> u128 {
    let (mut before, mut sum, mut longest) = (0, 0, 0);
    // When the last full packet, the last of all, and whichever comes last have left the link and arrive at the next.
    let (mut whole, mut last, mut all) = (0, 0, 0);
    let mut in_order = true;
    for hop in path {
        let (tx, own) = (hop.transmission_ps(full_bytes), hop.transmission_ps(last_bytes));
        let others = full.div_ceil(hop.side_by_side).saturating_sub(1);
        in_order &= hop.side_by_side == 1;
        if full > 0 && hop.side_by_side == 1 {
            all = (all + tx.min(own)).max(last.min(before + sum) + u128::from(full) * tx + own);
        }
        (sum, longest) = (sum + tx, longest.max(u128::from(others) * tx));
        let free = if full > 0 { before + sum + longest } else { 0 };
        let follows = if in_order { free } else { 0 };
        last = last.max(follows) + own + hop.delay_ps;
        before += hop.delay_ps;
        (whole, all) = (free + hop.delay_ps, all + hop.delay_ps);
    }
    last.max(whole).max(all)
}

impl World {
    /// The ideal completion time of a finite flow that carries anything.
    pub fn ideal(&self, flow: &Flow) -> Option<Span> {
        let bytes = flow.size.filter(|&bytes| bytes > 0 && !matches!(flow.application, Application::Datagrams(_)))?;
        let FlowPlan { from, to, sender, receiver } = flow.plan;
        if self.plan.traffic[flow.traffic as usize].rdma.is_some() {
            return self.stream_alone(flow.traffic, flow.plan, bytes).map(|(_, all)| all);
        }
        let paths = self.paths_of(flow.traffic);
        let (there, back) = (self.path((from, to), paths)?, self.path((to, from), paths)?);
        let (s, r) = (&*self.plan.options[sender as usize], &*self.plan.options[receiver as usize]);
        let early = self.sockets.get(flow.receiver as usize).map_or(0, |socket| socket.endpoint.fast_open_data());
        let syn = if early > 0 { early as u32 + COOKIE_OPTION_BYTES } else { 0 } + syn_bytes(s, None);
        let mut ps = through(&there, 0, 0, syn) + self.way_in_ps(to);
        let left = bytes.saturating_sub(early);
        if left > 0 {
            let (full, full_bytes, last_bytes) = Packing::of(s, r).packets(left);
            ps += through(&back, 0, 0, syn_bytes(r, Some(s)))
                + through(&there, full, full_bytes, last_bytes)
                + self.way_in_ps(to)
                + self.way_in_ps(from);
        }
        Some(Span(u64::try_from(ps).unwrap_or(u64::MAX)))
    }

    /// From the last bit of a frame to the ring of a host.
    fn way_in_ps(&self, host: u32) -> u128 {
        self.plan.nodes[host as usize].models.receive.as_ref().map_or(0, |receive| u128::from(receive.delay.ps()))
    }

    /// How long the first link, and how long the whole way, takes for so many bytes of a stream that has the network alone and no window.
    pub fn stream_alone(&self, traffic: u32, plan: FlowPlan, bytes: u64) -> Option<(Span, Span)> {
        let path = self.path((plan.from, plan.to), self.paths_of(traffic))?;
        let (full, full_bytes, last_bytes) = match &self.plan.traffic[traffic as usize].rdma {
            Some(rdma) => rdma_packets(rdma.mtu_bytes(), self.rdma_headers(traffic), bytes),
            None => {
                let [sender, receiver] = [plan.sender, plan.receiver].map(|end| &*self.plan.options[end as usize]);
                Packing::of(sender, receiver).packets(bytes)
            }
        };
        let span = |ps| Span(u64::try_from(ps).unwrap_or(u64::MAX));
        let first = path.first()?;
        let busy = u128::from(full) * first.transmission_ps(full_bytes) + first.transmission_ps(last_bytes);
        Some((span(busy), span(through(&path, full, full_bytes, last_bytes) + self.way_in_ps(plan.to))))
    }

    /// How long a small packet takes back, in an empty network.
    pub fn answer_alone(&self, plan: FlowPlan) -> Option<Span> {
        let ps = through(&self.path((plan.to, plan.from), 1)?, 0, 0, ANSWER_BYTES) + self.way_in_ps(plan.from);
        Some(Span(u64::try_from(ps).unwrap_or(u64::MAX)))
    }

    /// A packet of so many bytes (IP) there, and its answer back, in an empty network.
    pub fn base_rtt(&self, (from, to): (u32, u32), bytes: u32, answer_bytes: u32) -> Option<Span> {
        let ps =
            through(&self.path((from, to), 1)?, 0, 0, bytes) + through(&self.path((to, from), 1)?, 0, 0, answer_bytes);
        Some(Span(u64::try_from(ps).unwrap_or(u64::MAX)))
    }

    /// The best path between two nodes; at each place `abreast` links at most share the packets.
    fn path(&self, (from, to): (u32, u32), abreast: u64) -> Option<Vec<Hop>> {
        if let Some(begin) = self.net.routes.only(from, to) {
            return Some(self.net.routes.rest(begin).map(|link| self.hop(link)).collect());
        }
        let places = self.net.routes.abreast(from, to);
        let best = |links: Vec<LinkId>| {
            let count = abreast.min(links.len() as u64).max(1);
            links.into_iter().map(|link| self.hop(link)).reduce(|best, hop| best.best(hop)).map(|hop| hop.shared(count))
        };
        (!places.is_empty()).then(|| places.into_iter().filter_map(best).collect())
    }

    /// How many paths the packets of an entry of traffic may take.
    fn paths_of(&self, traffic: u32) -> u64 {
        match &self.plan.traffic[traffic as usize].rdma {
            _ if self.net.routes.spreads() => u64::MAX,
            Some(Rdma::Uec(options)) if self.plan.ecmp == Ecmp::Flow => u64::from(options.entropies),
            _ => 1,
        }
    }

    fn hop(&self, link: LinkId) -> Hop {
        let link = &self.plan.links[link.index()];
        let latency = match &self.plan.nodes[link.to as usize].kind {
            NodeKind::Switch(switch) => switch.latency,
            NodeKind::Host => Span::ZERO,
        };
        let device = self.plan.nodes[link.from as usize].models.transmit.map_or(Span::ZERO, |words| words.delay);
        let delay_ps = [link.delay, latency, device].map(|span| u128::from(span.ps())).iter().sum();
        Hop { cost: link.framing.cost(), rate_bps: link.rate.bps(), delay_ps, side_by_side: 1 }
    }
}

/// How a connection cuts its stream.
struct Packing {
    headers: Segment,
    mss: u64,
}

impl Packing {
    fn of(sender: &Options, receiver: &Options) -> Packing {
        let both = sender.timestamps && receiver.timestamps;
        let options = sender.ip.bits() | if both { OPTION_TIMESTAMPS } else { 0 };
        let headers = Segment { flags: Flags::ACK, options, ..Segment::default() };
        let added = u64::from(headers.header_bytes() - Segment::default().header_bytes());
        Packing { headers, mss: sender.mss.0.min(receiver.mss.0) - added }
    }

    /// Full packets, the bytes (IP) of one, and those of the last.
    fn packets(&self, bytes: u64) -> (u64, u32, u32) {
        let full = bytes.saturating_sub(1) / self.mss;
        let of = |len: u64| Segment { len: len as u32, ..self.headers }.ip_bytes();
        (full, of(self.mss), of(bytes - full * self.mss))
    }
}

/// The same of RDMA.
fn rdma_packets(mtu: u64, headers: u32, bytes: u64) -> (u64, u32, u32) {
    let full = bytes.saturating_sub(1) / mtu;
    let of = |len: u64| len as u32 + headers;
    (full, of(mtu), of(bytes - full * mtu))
}

/// IP bytes of the SYN of `own`, or of its answer to that of `peer`.
fn syn_bytes(own: &Options, peer: Option<&Options>) -> u32 {
    let on = |of: fn(&Options) -> bool, bit: u8| if of(own) && peer.is_none_or(of) { bit } else { 0 };
    let options = own.ip.bits()
        | on(|o| o.timestamps, OPTION_TIMESTAMPS)
        | on(|o| o.sack, OPTION_SACK_PERMITTED)
        | on(|o| o.window_scaling, OPTION_WINDOW_SCALE);
    Segment { flags: Flags::SYN, mss: own.mss.0 as u16, options, ..Segment::default() }.ip_bytes()
}

#[cfg(test)]
mod tests {
    use elephan_link::Framing;

    use super::*;

    fn hop(rate_bps: u64, delay_us: u64) -> Hop {
        Hop { cost: Framing::None.cost(), rate_bps, delay_ps: u128::from(delay_us) * 1_000_000, side_by_side: 1 }
    }

    /// 1250 B take 250 us at 40 Mb/s and 10 us at 1 Gb/s: 200 of them are in after 10 + 200 x 250 us and the delays,
    /// wherever the slow link is; a short last packet waits for the full one before it.
    #[test]
    fn pipelines() {
        let us = |path: &[Hop], full, last| through(path, full, 1250, last) / 1_000_000;
        assert_eq!(us(&[hop(1_000_000_000, 5), hop(40_000_000, 7)], 199, 1250), 10 + 200 * 250 + 12);
        assert_eq!(us(&[hop(40_000_000, 5), hop(1_000_000_000, 7)], 199, 1250), 10 + 200 * 250 + 12);
        assert_eq!(us(&[hop(1_000_000_000, 0), hop(40_000_000, 0)], 1, 125), 10 + 250 + 25);
        // On the fast link the short packet comes after the full one, which has left the slow one 25 us earlier.
        assert_eq!(us(&[hop(40_000_000, 0), hop(1_000_000_000, 0)], 1, 125), 250 + 25 + 1);
        assert_eq!(us(&[hop(40_000_000, 3)], 0, 125), 28);
    }

    /// Two links of 40 Mb/s side by side behind one of 1 Gb/s: of 200 full packets each carries 100; the second of two begins when
    /// it is at the fork, beside the first. A short packet goes by the other link.
    #[test]
    fn links_side_by_side_share_the_packets() {
        let fork = [hop(1_000_000_000, 0), Hop { side_by_side: 2, ..hop(40_000_000, 0) }];
        let us = |full, last| through(&fork, full, 1250, last) / 1_000_000;
        assert_eq!(us(200, 125), 10 + 100 * 250);
        assert_eq!(us(2, 125), 2 * 10 + 250);
        assert_eq!(us(1, 125), 10 + 250);
        assert_eq!(us(0, 1250), 10 + 250);
    }

    /// Behind the fork the short packet is ahead of the full one and does not delay it; 200 full ones and the short one have to pass a
    /// slow link one by one, which a full one is the first to reach, after 10 + 250 us.
    #[test]
    fn who_took_another_link_may_overtake() {
        let path = |last_bps| [hop(1_000_000_000, 0), Hop { side_by_side: 2, ..hop(40_000_000, 0) }, hop(last_bps, 3)];
        let us = |last_bps, full| through(&path(last_bps), full, 1250, 125) / 1_000_000;
        assert_eq!(us(1_000_000_000, 1), 10 + 250 + 10 + 3);
        assert_eq!(us(10_000_000, 200), 10 + 250 + 200 * 1000 + 100 + 3);
    }
}
