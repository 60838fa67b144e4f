//! Connections of RDMA: both ends of each, and those that wait for their interface.

use std::collections::{BTreeMap, BTreeSet};

use elephan_engine::Alarm;
use elephan_uec::Pacer;
use elephan_units::{Span, Time};

use super::ends::Ends;
use super::ready::Waiting;
use super::ways::Ways;
use crate::ids::LinkId;
use crate::net::{NONE, Net};
use crate::target::Route;

/// Both ends of a connection.
#[derive(Clone)]
pub struct Pair {
    pub ends: Ends,
    pub ways: Ways,
    pub alarm: Alarm,
    pub key: u32,
    /// Index of its flow among the live ones, and the flow's number for life; [`NONE`] when it is gone.
    pub flow: u32,
    pub number: u32,
    /// Beginnings of the routes to the receiver and back.
    pub there: Route,
    pub back: Route,
    /// Its interface waits for room to send for it.
    pub queued: bool,
    /// Its packets bring back what they meet.
    pub telemetry: bool,
    pub ecn: bool,
    /// Of IP packets beside their payload, and of those without payload.
    pub headers_bytes: u32,
    pub control_bytes: u32,
    /// What a packet takes on the wire beside its payload, and the smallest at least.
    pub overhead_bytes: u32,
    pub least_bytes: u32,
    pub priority: u8,
    /// Link of its interface, and the nodes of sender and receiver.
    pub link: LinkId,
    pub from: u32,
    pub to: u32,
    /// Packets sent from either end.
    pub packets: [u32; 2],
    /// Base round-trip time of the path.
    pub base_rtt: Span,
    /// The application will offer nothing more.
    pub ended: bool,
}

impl Pair {
    /// When it must be called next.
    pub fn deadline(&self) -> Time {
        let send = if self.queued { None } else { self.ends.next_send() };
        [send, self.ends.next_timer()].into_iter().flatten().min().unwrap_or(Time::NEVER)
    }
}

/// The connections of a run.
#[derive(Clone, Default)]
pub struct Rdma {
    pub pairs: Vec<Pair>,
    pub free: Vec<u32>,
    /// Connections that may send and wait for room, by link of their interface.
    pub ready: Waiting,
    /// Who shares the credits of a host, by its node.
    pub pacers: BTreeMap<u32, Pacer>,
}

impl Rdma {
    /// The connection at a place, which a flow that RDMA carries knows.
    pub fn of(&self, place: u32) -> Option<&Pair> {
        self.pairs.get(place as usize)
    }

    /// Live connections take the routes that there are now; answers how many ends have another, and the links whose interfaces
    /// have more to send. `ends` has the hosts of a flow by its place.
    pub fn reroute(&mut self, net: &Net, ends: impl Fn(u32) -> Option<(u32, u32)>) -> (u32, BTreeSet<LinkId>) {
        let routes = &net.routes;
        let (mut moved, mut called) = (0, BTreeSet::new());
        for (place, pair) in (0u32..).zip(&mut self.pairs).filter(|(_, pair)| pair.number != NONE) {
            let Some((from, to)) = ends(pair.flow) else { continue };
            let there = routes.listed(from, to, pair.key).unwrap_or(pair.there);
            let back = routes.listed(to, from, pair.key ^ 1).unwrap_or(pair.back);
            moved += u32::from(there != pair.there) + u32::from(back != pair.back);
            (pair.there, pair.back) = (there, back);
            pair.ways.forget();
            let link = routes.first_link(there);
            let before = std::mem::replace(&mut pair.link, link);
            if link != before {
                pair.ends.set_line(net.links[link].rate.bps() as f64);
            }
            if link != before && pair.queued {
                self.ready.at(before).forget(pair.priority, place);
                self.ready.at(link).push(pair.priority, place);
                called.insert(link);
            }
        }
        (moved, called)
    }
}
