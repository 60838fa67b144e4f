//! Whether a switch that pauses its neighbours has room for what still arrives after it has decided to.
//!
//! What is needed follows from `elephan_link::headroom`, as the default of PFC's headroom does: `N` of a feeder, the frame that crosses
//! the threshold and those that start before the pause takes hold. With `n` ports that feed, `m` that lead on and `F` a full frame
//!
//! ```text
//! memory, PAUSE per memory:     xoff + sum N - 1
//! memory, PAUSE per ingress:    n (xoff - 1) + sum N
//! memory, per egress:           m (xoff - 1 + F) + sum N              (PFC: for each lossless priority; N is its headroom)
//! headroom of PFC:              N of the port
//! queue of a port:              what of this may wait there, where a limit bounds it
//! ```
//!
//! A feeder counts with the highest rate, the longest delay and the slowest way back of the whole run, changes and bounded jitter
//! included.

use elephan_link::accounts::HYSTERESIS_BYTES;
use elephan_link::headroom::{Feeder, own_need};
use elephan_link::queue::Limit;
use elephan_link::{FlowControl, PausePer, PfcPer};
use elephan_traffic::Distribution;
use elephan_units::Span;

use crate::plan::{NodeKind, Plan, Switch, full_bytes};
use crate::resolve::limit_of;

/// What a switch has for frames that arrive before it stops them, and what it may need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// The switch.
    pub node: u32,
    /// What has to hold them: `memory`, `headroom` or `queue`.
    pub what: &'static str,
    /// Of a queue the link that its port feeds, of headroom the link that leads to its port.
    pub link: Option<u32>,
    pub has_bytes: u64,
    pub needs_bytes: u64,
    /// The highest threshold with which it would be enough; none where the threshold does not matter, or none is low enough.
    pub xoff_bytes: Option<u64>,
    /// What makes this and each other room of the switch large enough: ways to do it, of which one is enough.
    pub advice: Vec<Advice>,
}

/// What to say instead in a scenario so that a switch has room; what is not mentioned stays. The last two are where they have to change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    pub memory_bytes: Option<u64>,
    pub headroom_bytes: Option<u64>,
    /// Links that ports of the switch feed, and the limits of their queues.
    pub queues: Vec<(u32, u64)>,
    pub xoff_bytes: Option<u64>,
    pub xon_bytes: Option<u64>,
}

/// A port that feeds a switch.
struct Fed {
    link: u32,
    needs: u64,
}

/// How a switch counts.
#[derive(Clone)]
struct Counts {
    xoff: Option<u64>,
    /// Given in the scenario.
    xon: Option<u64>,
    per: PausePer,
    priorities: u64,
    /// Of PFC: what each priority of each port has for itself; none: what it needs at the start.
    own: Option<Option<u64>>,
}

impl Counts {
    fn of(control: &FlowControl) -> Option<Counts> {
        match control {
            FlowControl::None => None,
            FlowControl::Pause(pause) => Some(Counts {
                xoff: Some(pause.xoff.get()),
                xon: Some(pause.xon.get()),
                per: pause.per,
                priorities: 1,
                own: None,
            }),
            FlowControl::Pfc(pfc) => Some(Counts {
                xoff: pfc.marks().map(|(xoff, _)| xoff.get()),
                xon: pfc.xon.map(|xon| xon.get()),
                per: if pfc.per == PfcPer::Egress { PausePer::Egress } else { PausePer::Ingress },
                priorities: u64::from(pfc.mask().count_ones()),
                own: Some(pfc.headroom.map(|given| given.get())),
            }),
        }
    }
}

impl Plan {
    /// Returns what switches that pause have too little of for the worst case; nothing where that cannot be said, as behind links that
    /// hold packets back without a bound or deliver them twice.
    pub fn short_rooms(&self) -> Vec<Room> {
        let mut rooms = Vec::new();
        let full = full_bytes(self.largest_packet(), &self.congestion_management);
        for (node, switch) in (0..).zip(&self.nodes).filter_map(|(i, node)| match &node.kind {
            NodeKind::Switch(switch) => Some((i, switch)),
            NodeKind::Host => None,
        }) {
            let Some(counts) = Counts::of(&switch.flow_control) else { continue };
            let fed: Option<Vec<Fed>> = (0u32..)
                .zip(&self.links)
                .filter(|(_, link)| link.to == node && link.ip_bytes > 0)
                .map(|(link, _)| {
                    let feeder = self.worst(link, counts.per == PausePer::Egress)?;
                    Some(Fed { link, needs: own_need(feeder, full) })
                })
                .collect();
            let Some(fed) = fed.filter(|fed| !fed.is_empty()) else { continue };
            let mut short = self.rooms_of(node, switch, &counts, (&fed, full));
            short.retain(|room| room.has_bytes < room.needs_bytes);
            if !short.is_empty() {
                let advice = self.advice(node, switch, &counts, (&fed, full));
                short.iter_mut().for_each(|room| room.advice.clone_from(&advice));
            }
            rooms.extend(short);
        }
        rooms
    }

    fn rooms_of(&self, node: u32, switch: &Switch, counts: &Counts, (fed, full): (&[Fed], u32)) -> Vec<Room> {
        let mut rooms = self.headroom_rooms(switch, counts, fed);
        rooms.splice(0..0, self.memory_room(node, switch, counts, (fed, full)));
        rooms.extend(self.queue_rooms(node, counts, fed));
        rooms.iter_mut().for_each(|room| room.node = node);
        rooms
    }

    /// Ways to make all rooms of a switch large enough: more room for the thresholds that it has, and lower thresholds for the memory and
    /// the queues that it has. Headroom that is too small has to grow in both.
    fn advice(&self, node: u32, switch: &Switch, counts: &Counts, (fed, full): (&[Fed], u32)) -> Vec<Advice> {
        let mut enough = counts.clone();
        let headroom = self.headroom_rooms(switch, counts, fed);
        let needs = headroom.iter().map(|room| room.needs_bytes).max().unwrap_or(0);
        let headroom_bytes = headroom.iter().any(|room| room.has_bytes < room.needs_bytes).then_some(needs);
        if headroom_bytes.is_some() {
            enough.own = Some(headroom_bytes);
        }
        let rooms = self.rooms_of(node, switch, &enough, (fed, full));
        let has = switch.memory_bytes.unwrap_or(u64::MAX);
        let least = self.reserved(node, switch, &enough);
        let memory = rooms.iter().filter(|room| room.what == "memory").map(|room| room.needs_bytes).max().unwrap_or(0);
        let bounds = || rooms.iter().filter(|room| room.what != "headroom" && room.has_bytes < room.needs_bytes);
        let more = Advice {
            memory_bytes: Some(memory.max(least)).filter(|needs| *needs > has),
            headroom_bytes,
            queues: bounds().filter_map(|room| Some((room.link?, room.needs_bytes))).collect(),
            ..Advice::default()
        };
        let mut found = vec![more];
        let lowest = bounds().map(|room| room.xoff_bytes).try_fold(u64::MAX, |low, most| Some(low.min(most?)));
        if let Some(xoff) = lowest.filter(|xoff| *xoff < u64::MAX && least <= has) {
            // Two full frames below, as PFC has it where nothing is said; half where it is not as high.
            let below = xoff.checked_sub(HYSTERESIS_BYTES).filter(|below| *below > 0).unwrap_or(xoff / 2);
            let xon_bytes = counts.xon.filter(|xon| *xon > xoff).map(|_| below);
            found.push(Advice { headroom_bytes, xoff_bytes: Some(xoff), xon_bytes, ..Advice::default() });
        }
        found
    }

    /// What of a switch's memory is kept for headroom.
    fn reserved(&self, node: u32, switch: &Switch, counts: &Counts) -> u64 {
        let (FlowControl::Pfc(pfc), Some(own)) = (&switch.flow_control, counts.own) else { return 0 };
        let largest = self.largest_packet();
        let into = (0u32..).zip(&self.links).filter(|(_, link)| link.to == node);
        let each = into.map(|(i, _)| own.unwrap_or_else(|| self.headroom(pfc, i, largest)));
        each.sum::<u64>().saturating_mul(counts.priorities)
    }

    /// A feeder as bad as it ever is; none if nobody can say.
    fn worst(&self, link: u32, late: bool) -> Option<Feeder> {
        let own = &self.links[link as usize];
        let mut feeder = own.feeder(&self.links, &self.nodes, late);
        if own.impairments.duplicate > 0.0 {
            return None;
        }
        for change in self.changes.iter().flat_map(|change| &change.links) {
            if change.link == link {
                feeder.rate = feeder.rate.max(change.rate.unwrap_or(feeder.rate));
                feeder.propagation = feeder.propagation.max(change.delay.unwrap_or(Span::ZERO));
            } else if change.link == own.reverse {
                feeder.reverse_rate = feeder.reverse_rate.min(change.rate.unwrap_or(feeder.reverse_rate));
                feeder.propagation = feeder.propagation.max(change.delay.unwrap_or(Span::ZERO));
            }
        }
        let jitter = own.impairments.jitter.as_ref().map_or(Some(Span::ZERO), |jitter| longest(&jitter.extra))?;
        let late = own.impairments.reorder.as_ref().map_or(Some(Span::ZERO), |late| longest(&late.extra))?;
        feeder.propagation = feeder.propagation.saturating_add(jitter).saturating_add(late);
        Some(feeder)
    }

    fn memory_room(&self, node: u32, switch: &Switch, counts: &Counts, (fed, full): (&[Fed], u32)) -> Option<Room> {
        let has_bytes = switch.memory_bytes?;
        let xoff = counts.xoff?;
        let all: u64 = fed.iter().map(|one| one.needs).sum();
        let lead_on = self.links.iter().filter(|link| link.from == node && link.ip_bytes > 0);
        let (times, beside) = match counts.per {
            PausePer::Memory => (1, all),
            // An account of PFC that uses headroom is paused, be the shared part full as it may.
            PausePer::Ingress if counts.own.is_some() => return None,
            PausePer::Ingress => (fed.len() as u64, all),
            PausePer::Egress => {
                let sending: Vec<u64> = lead_on.map(|link| u64::from(link.framing.charged_bytes(full))).collect();
                let reserved = counts.own.flatten().map_or(all, |given| given * fed.len() as u64);
                let beside = counts.priorities * (sending.iter().sum::<u64>() + reserved);
                (counts.priorities * sending.len() as u64, beside)
            }
        };
        // What has reached the threshold is paused: below it stands one byte less.
        let needs_bytes = times * xoff.saturating_sub(1) + beside;
        let most = has_bytes.checked_sub(beside).map(|room| room / times.max(1) + 1);
        Some(Room {
            node,
            what: "memory",
            link: None,
            has_bytes,
            needs_bytes,
            xoff_bytes: most.filter(|&most| most > 1),
            advice: Vec::new(),
        })
    }

    fn headroom_rooms(&self, switch: &Switch, counts: &Counts, fed: &[Fed]) -> Vec<Room> {
        let (FlowControl::Pfc(pfc), Some(_), Some(own)) = (&switch.flow_control, switch.memory_bytes, counts.own)
        else {
            return Vec::new();
        };
        let largest = self.largest_packet();
        let has = |link| own.unwrap_or_else(|| self.headroom(pfc, link, largest));
        let room = |one: &Fed| Room {
            node: 0,
            what: "headroom",
            link: Some(one.link),
            has_bytes: has(one.link),
            needs_bytes: one.needs,
            xoff_bytes: None,
            advice: Vec::new(),
        };
        fed.iter().map(room).collect()
    }

    fn queue_rooms(&self, node: u32, counts: &Counts, fed: &[Fed]) -> Vec<Room> {
        let Some(xoff) = counts.xoff else { return Vec::new() };
        let room = |(i, link): (u32, &crate::plan::Link)| {
            let limit = Limit::of(Some(limit_of(&link.queue)?), link.bdp_bytes);
            let least = u64::from(link.framing.charged_bytes(LEAST_IP_BYTES));
            let has_bytes = limit.bytes.min(limit.packets.saturating_mul(least));
            let others: Vec<&Fed> = fed.iter().filter(|one| one.link != link.reverse).collect();
            let all: u64 = others.iter().map(|one| one.needs).sum();
            let times = if counts.per == PausePer::Ingress { others.len() as u64 } else { 1 };
            let most = has_bytes.checked_sub(all).map(|room| room / times.max(1) + 1);
            Some(Room {
                node,
                what: "queue",
                link: Some(i),
                has_bytes,
                needs_bytes: times * xoff.saturating_sub(1) + all,
                xoff_bytes: most.filter(|&most| most > 1),
                advice: Vec::new(),
            })
        };
        (0u32..).zip(&self.links).filter(|(_, link)| link.from == node && link.ip_bytes > 0).filter_map(room).collect()
    }
}

/// The smallest packet: headers of IP and UDP.
const LEAST_IP_BYTES: u32 = 28;

/// The longest time that a distribution gives, if it has one.
fn longest(distribution: &Distribution<Span>) -> Option<Span> {
    match distribution {
        Distribution::Fixed(span) | Distribution::Uniform(_, span) => Some(*span),
        Distribution::Exponential(_) | Distribution::Pareto(_) | Distribution::Lognormal(_) | Distribution::Cdf(_) => {
            None
        }
    }
}
