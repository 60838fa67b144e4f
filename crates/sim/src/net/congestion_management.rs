//! Congestion management in the network: congestion points at the egress ports of switches, their notifications as frames,
//! limiters at the ports of hosts (`port/limiters.rs`).
//!
//! A port has a point for each of its queues (IEEE 802.1Qau): for each class of `ets` and `wrr`, each band of `prio`, each priority
//! where PFC keeps them apart. It looks at the frames that its queue has accepted, with the bytes that wait there then, the frame among
//! them and the one on the wire not. A notification is a frame of its own from that switch to the host whose frame was sampled. At each port it
//! goes before the queue, it is never sampled, and only IEEE 802.3x PAUSE holds it up; a memory that it passes through is
//! charged for it. Left out: its own loss by a memory that is full is possible, by a full queue not.

use std::collections::{BTreeMap, BTreeSet};

use elephan_engine::Bell;
use elephan_link::congestion::fair::Source;
use elephan_link::congestion::{Feedback, Point};
use elephan_link::queue::{Discarded, Discipline, Item, Queue};
use elephan_random::Stream;
use elephan_scenario::{Link as LinkPlan, NodeKind, Plan};
use elephan_units::{Time, stop};

use super::failure::DOWN;
use super::graph::Graph;
use super::link::{General, Link};
use super::management::Management;
use super::port::limiters::{Key, Limiters, Next};
use super::port::points::CongestionPoints;
use super::route::Routes;
use super::{Kind, Net, Occurrence};
use crate::ids::LinkId;
use crate::packet::{Notice, Packet, flags};
use crate::target::Target;

/// What an Ethernet frame adds to an IP packet, without preamble and gap.
const ETHERNET_BYTES: u32 = 18;

/// Bits of the number of a congestion point, above which its link stands, that say which of a port it is.
const PART_BITS: u32 = 4;

/// What a packet waits for at a port.
pub enum WaitsFor {
    /// It goes before all that wait.
    Nothing,
    Port,
    /// The limiter at this place.
    Limiter(usize),
}

/// Whether a packet comes from a sender that can be stopped: TCP, or the interface of RoCE; not a datagram or a frame.
pub fn can_stop(bits: u16) -> bool {
    bits & (flags::UDP | flags::RAW | flags::NOTIFICATION) == 0
}

/// The congestion points of a port, if it has some.
pub fn points(plan: &Plan, link: &LinkPlan, queue: &Queue) -> Option<Box<CongestionPoints>> {
    if matches!(plan.nodes[link.from as usize].kind, NodeKind::Host) {
        return None;
    }
    let point = |part: u8| {
        let purpose = if part == 0 { "congestion point".to_owned() } else { format!("congestion point[{part}]") };
        plan.congestion_management.point(Stream::new(plan.seed, &format!("link.{}", link.name), &purpose))
    };
    let points: Option<Vec<Point>> = (0..queue.parts()).map(point).collect();
    Some(Box::new(CongestionPoints { points: points?, sent: 0 }))
}

/// The limiters of a port, if it may have some.
pub fn limiters(plan: &Plan, link: &LinkPlan) -> Option<Box<Limiters>> {
    let handling = plan.congestion_management.handling()?;
    let is_host = matches!(plan.nodes[link.from as usize].kind, NodeKind::Host);
    is_host.then(|| Box::new(Limiters::new(link.rate, handling.stop_at, handling.limiter_limit)))
}

/// For each switch the hosts that it may have to notify: those whose packets it forwards.
pub fn sources(plan: &Plan, routes: &Routes) -> Vec<(u32, Vec<u32>)> {
    let mut sources: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for flow in plan.traffic.iter().flat_map(|t| &t.flows) {
        for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
            stop::look();
            for link in routes.between(from, to).flat_map(|place| routes.rest(place)) {
                let near = plan.links[link.index()].from;
                if near != from {
                    sources.entry(near).or_default().insert(from);
                }
            }
        }
    }
    sources.into_iter().map(|(switch, hosts)| (switch, hosts.into_iter().collect())).collect()
}

impl General {
    /// Waiting bytes, those behind limiters among them, without notifications.
    pub fn bytes(&self) -> u64 {
        self.queue.bytes() + self.limiters.as_ref().map_or(0, |limiters| limiters.bytes())
    }

    /// Waiting packets, as the bytes.
    pub fn packets(&self) -> u64 {
        self.queue.packets() + self.limiters.as_ref().map_or(0, |limiters| limiters.packets())
    }

    /// Whether anything waits.
    pub(super) fn has_more(&self) -> bool {
        self.packets() > 0 || !self.urgent.is_empty()
    }

    /// What is sent next, and whether it went before all that wait.
    #[inline]
    pub(super) fn next(&mut self, now: Time, discarded: &mut Discarded) -> (Option<Next>, bool) {
        if let Some(item) = self.urgent.pop_front() {
            return (Some((item, false, None)), true);
        }
        if self.device.as_ref().is_some_and(|device| device.ready_at() > now) {
            return (None, false);
        }
        let next = match &mut self.limiters {
            None => self.queue.dequeue(now, discarded).map(|(item, marked)| (item, marked, None)),
            Some(limiters) => limiters.dequeue(now, &mut self.queue, discarded),
        };
        (next, false)
    }

    /// When to ask [`General::next`] again that has nothing at `now`, if nothing comes before.
    pub(super) fn ready_at(&self, now: Time) -> Time {
        let limited = self.limiters.as_ref().map_or(Time::NEVER, |limiters| limiters.ready_at());
        match &self.device {
            Some(device) if device.ready_at() > now && self.packets() > 0 => device.ready_at(),
            _ => self.queue.ready_at().min(limited),
        }
    }
}

impl Link {
    /// Notifications that the port's congestion points have sent.
    pub fn notifications_sent(&self) -> u64 {
        self.general.as_ref().and_then(|g| g.points.as_ref()).map_or(0, |points| points.sent)
    }

    /// Notifications that have come for what is sent through the port.
    pub fn notifications_received(&self) -> u64 {
        self.limiters().map_or(0, |limiters| limiters.notified)
    }

    pub fn limiters_made(&self) -> u64 {
        self.limiters().map_or(0, |limiters| limiters.made)
    }
}

impl Net {
    /// What a packet that comes to the port of `link` has to wait for. One that is limited is given its tag's room.
    pub(super) fn waits_for(&mut self, link: LinkId, packet: u32) -> WaitsFor {
        if self.packets[packet].flags & flags::NOTIFICATION != 0 {
            return WaitsFor::Nothing;
        }
        let (Some(general), Some(management)) = (&self.links[link].general, &self.management) else {
            return WaitsFor::Port;
        };
        let Some(limiters) = general.limiters.as_ref().filter(|limiters| !limiters.all().is_empty()) else {
            return WaitsFor::Port;
        };
        let p = &self.packets[packet];
        let Some(key) = key_of(management, &self.routes, p) else { return WaitsFor::Port };
        let Some(place) = limiters.place(key) else { return WaitsFor::Port };
        self.packets[packet].ip_bytes += management.handling.tag.0 as u32;
        WaitsFor::Limiter(place)
    }

    /// A notification comes to the port of `link`.
    pub(super) fn offer_urgent(&mut self, now: Time, link: LinkId, packet: u32) {
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a port under congestion management is general") };
        if g.down {
            return self.refuse(now, link, packet, DOWN);
        }
        let p = &self.packets[packet];
        let bytes = l.framing.charged_bytes(p.ip_bytes);
        g.urgent.push_back(Item { handle: packet, flow: p.flow, bytes, at: now, ..Item::default() });
        self.start_if_free(now, link);
    }

    /// A frame of `bytes` has been accepted by the port of `link`.
    pub(super) fn sample(&mut self, now: Time, link: LinkId, packet: u32, bytes: u32) {
        let priority = self.priority(packet);
        let Some(g) = &mut self.links[link].general else { return };
        let (Some(all), Some(management)) = (&mut g.points, &mut self.management) else { return };
        let p = &self.packets[packet];
        let (part, queue) = g.queue.part_of(priority);
        let number = link.0 << PART_BITS | u32::from(part);
        let tagged = p.flags & flags::TAGGED != 0 && self.packets.tag(packet) == number;
        let source = || {
            let (first, last) = self.routes.first_and_last(p.route);
            Source { port: first.0, key: management.key(p.flow, management.ends[last.index()].1), flow: p.flow }
        };
        let told = &mut self.told;
        all.points[usize::from(part)].on_frame((bytes, queue), tagged, source, told);
        if !told.is_empty() {
            all.sent += told.len() as u64;
            self.notify_all(now, number);
        }
    }

    fn notify_all(&mut self, now: Time, point: u32) {
        let mut told = std::mem::take(&mut self.told);
        for (source, feedback) in told.drain(..) {
            self.notify(now, point, source, feedback);
        }
        self.told = told;
    }

    /// A congestion point tells a source.
    fn notify(&mut self, now: Time, point: u32, of: Source, feedback: Feedback) {
        let link = LinkId(point >> PART_BITS);
        let Some(management) = &mut self.management else { return };
        let Source { port: first, key, flow } = of;
        let first = LinkId(first);
        let (switch, source) = (management.ends[link.index()].0, management.ends[first.index()].0);
        let Some(way) = self.routes.listed(switch, source, flow) else { return };
        management.sent += 1;
        let bytes = management.handling.notification.0 as u32;
        let way = self.routes.of_packet(way, flow, management.sent as u32);
        let ordinal = management.sent;
        let new = self.packets.take();
        let (p, _) = self.packets.get_mut(new);
        p.segment = elephan_tcp::Segment::default();
        (p.route, p.dest, p.flow) = (way, first.0, flow);
        p.ip_bytes = bytes - ETHERNET_BYTES;
        (p.charged, p.ingress, p.flags, p.ident) = (0, 0, flags::NOTIFICATION, ordinal as u16);
        *self.packets.notice_mut(new) = Notice { point, key, feedback };
        if let Some(log) = &mut self.log {
            let (kind, value) = (Kind::Notification, feedback.value());
            let reason = if value == 0.0 { "stop" } else { "" };
            log.push(Occurrence { time: now, kind, link, flow, bytes, value: Some(value), reason });
        }
        let way = self.routes.link(way);
        self.send(now, way, new);
    }

    /// A notification has reached its host.
    #[cold]
    pub fn take_notification(&mut self, now: Time, packet: u32) {
        let (link, notice) = (LinkId(self.packets[packet].dest), *self.packets.notice(packet));
        self.packets.free(packet);
        let l = &mut self.links[link];
        let (Some(g), Some(management)) = (&mut l.general, &mut self.management) else { return };
        let Some(limiters) = &mut g.limiters else { return };
        management.received += 1;
        let (words, seed) = (&management.words, management.seed);
        let host = &management.names[management.ends[link.index()].0 as usize];
        let purpose = |ordinal: u64| format!("limiter[{ordinal}]");
        let make = |ordinal| words.reaction(l.rate, Stream::new(seed, &format!("host.{host}"), &purpose(ordinal)));
        let Notice { point, key, feedback } = notice;
        if limiters.notify(now, key, point, feedback, make)
            && let Some(place) = limiters.place(key)
        {
            let (packets, routes) = (&self.packets, &self.routes);
            let of = |item: &Item| key_of(management, routes, &packets[item.handle]) == Some(key);
            let moved = g.queue.extract(&mut { of });
            for &item in &moved {
                self.full_limiters += u32::from(limiters.enqueue(place, item));
            }
            for item in moved {
                let bits = self.packets[item.handle].flags;
                self.nic_has_left(now, link, item, None);
                let Some(g) = &mut self.links[link].general else { return };
                g.nic_hands_over(&item, bits, Some(place));
            }
        }
        self.arm_limiters(link);
        self.start_if_free(now, link);
    }

    /// A frame that was limited starts.
    pub(super) fn leave_limiter(&mut self, now: Time, link: LinkId, place: usize, item: Item, wire: u32) {
        let Some(g) = &mut self.links[link].general else { return };
        let (Some(limiters), Some(management)) = (&mut g.limiters, &mut self.management) else { return };
        if let Some(point) = limiters.all()[place].reaction.tag() {
            self.packets[item.handle].flags |= flags::TAGGED;
            *self.packets.tag_mut(item.handle) = point;
        }
        limiters.on_start(now, place, item.bytes, wire);
        if limiters.has_drained(place, item.bytes) {
            management.drained.push((link, limiters.all()[place].key));
        }
        limiters.release(place);
    }

    /// The link has failed: what waits there for limiters is thrown away.
    pub(super) fn fail_limiters(&mut self, now: Time, link: LinkId) {
        let l = &mut self.links[link];
        let (Some(g), Some(management)) = (&mut l.general, &mut self.management) else { return };
        if let Some(limiters) = &mut g.limiters {
            limiters.drain(&mut self.discarded, DOWN);
            management.drained.extend(limiters.all().iter().map(|limiter| (link, limiter.key)));
            if g.nic.is_some() {
                self.call_nic(now, link);
            }
        }
    }

    /// Other routes hold: the switches on them know the way to those whom they may have to notify.
    pub fn reroute_notifications(&mut self, plan: &Plan, graph: &Graph) {
        if self.management.is_none() {
            return;
        }
        let mut near = None;
        for (switch, hosts) in sources(plan, &self.routes) {
            for host in hosts {
                stop::look();
                // Where no path leads nobody can be told.
                let _ = self.routes.add(graph, switch, &[host], &mut near);
            }
        }
    }

    /// Sees to it that the timers of a port's reaction points ring.
    fn arm_limiters(&mut self, link: LinkId) {
        let Some(limiters) = self.links[link].limiters_mut() else {
            return;
        };
        let deadline = limiters.next_timer();
        if limiters.alarm.arm(deadline) {
            self.events.push(Target::Limiters(link).keyed(deadline, link.0));
        }
    }

    /// A timer of the limiters of a port has rung.
    pub fn limiter_timer(&mut self, now: Time, link: LinkId) {
        let Some(limiters) = self.links[link].limiters_mut() else {
            return;
        };
        match limiters.alarm.ring(now, limiters.next_timer()) {
            Bell::Stale | Bell::Off => {}
            Bell::Later(time) => self.events.push(Target::Limiters(link).keyed(time, link.0)),
            Bell::Due => {
                limiters.on_timer(now);
                self.arm_limiters(link);
                self.start_if_free(now, link);
            }
        }
    }

    /// Whether senders that were stopped may go on.
    #[inline]
    pub fn has_drained(&self) -> bool {
        self.management.as_ref().is_some_and(|m| !m.drained.is_empty())
    }

    /// The next sender that may go on: its socket.
    pub fn next_resumed(&mut self) -> Option<u32> {
        let management = self.management.as_mut()?;
        while let Some(&(link, key)) = management.drained.last() {
            let limiters = self.links[link].limiters_mut()?;
            match limiters.next_stopped(key, &mut self.full_limiters) {
                Some(socket) => return Some(socket),
                None => management.drained.pop(),
            };
        }
        None
    }
}

/// Which limiter a packet of a host is for; none if it is not limited.
fn key_of(management: &Management, routes: &Routes, packet: &Packet) -> Option<Key> {
    if packet.flags & flags::DATA == 0 && !management.handling.limit_acks {
        return None;
    }
    let last = routes.rest(packet.route).last()?;
    Some(management.key(packet.flow, management.ends[last.index()].1))
}
