//! The world: the network, the sockets and the applications, and the loop that runs them.
//!
//! The way of a packet: a socket writes its segment into a packet ([`World::flush`]), the network carries it
//! ([`Net::send`] to [`Net::take_in`]), the peer's socket reads it ([`World::deliver`]) and answers in the same instant.

use std::collections::BTreeMap;
use std::sync::Arc;

use elephan_cc::Spec;
use elephan_cc::train::Memory;
use elephan_engine::{Event, prefetch};
use elephan_record::Recorder;
use elephan_scenario::Plan;
use elephan_units::{Span, Time};

use crate::Error;
use crate::apps::FastOpens;
use crate::clocks::Clock;
use crate::copy::Copies;
use crate::flow::{Arrivals, Flow, Socket};
use crate::guests::Guests;
use crate::host::Hosts;
use crate::ids::LinkId;
use crate::net::{self, Delivered, Layout, Net, Onward, Paths};
use crate::observed::observed_ports;
use crate::program::Program;
use crate::ranks::Games;
use crate::rdma::Rdma;
use crate::tables::Tables;
use crate::target::Target;

/// How far a run has come.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    pub now: Time,
    pub events: u64,
    pub packet_hops: u64,
    /// The rows so far.
    pub recorder: &'a Recorder,
}

/// It owns all that it goes by, so that a copy goes on by itself (`branch.rs`).
pub struct World {
    pub plan: Arc<Plan>,
    pub net: Net,
    pub sockets: Vec<Socket>,
    pub free_sockets: Vec<u32>,
    pub flows: Vec<Option<Flow>>,
    pub free_flows: Vec<u32>,
    /// Of the entries whose transfers arrive, and of each user of a closed loop.
    pub arrivals: Vec<Arrivals>,
    /// Generators that several flows have together.
    pub clocks: Vec<Clock>,
    /// Transfers from disk to disk.
    pub copies: Copies,
    /// Parallel programs, a group of ranks each.
    pub games: Games,
    pub flows_made: u32,
    pub tables: Tables,
    pub recorder: Recorder,
    /// A packet taken and not yet used.
    pub spare: u32,
    pub events_done: u64,
    /// The first breach of conservation by a flow that has ended.
    pub violation: Option<Error>,
    /// Ports and switches looked at by each sample.
    pub observed: Vec<bool>,
    /// The sample that comes next; none is after all other events.
    pub next_sample: Event,
    /// The congestion control of each traffic entry's senders, as of now.
    pub congestion_controls: Vec<Arc<Spec>>,
    /// Index into the plan's changes of the one that comes next.
    pub next_change: usize,
    /// When the last event for changes is or was due.
    pub change_due: Option<Time>,
    pub guests: Guests,
    /// What connections that are over have left, by host and peer.
    pub memories: BTreeMap<(u32, u32), Memory>,
    /// What hosts keep for Fast Open.
    pub fast_open: FastOpens,
    /// Connections of RoCE, and the interfaces that send for them.
    pub rdma: Rdma,
    /// Those that are not ideal.
    pub hosts: Hosts,
    /// What programs outside the simulation have here, if any may.
    pub program: Option<Box<Program>>,
}

impl World {
    /// Builds the world of a plan. `announced` is the same plan, with more changes if some may be taken up later.
    pub fn new(shared: Arc<Plan>, announced: &Plan, mut recorder: Recorder, paths: Paths) -> Result<World, Error> {
        let plan: &Plan = &shared;
        let observed = observed_ports(plan);
        let layout = if recorder.takes_captures() { Layout::of(plan) } else { Layout::default() };
        let mut net = net::build(announced, &observed, &layout, paths)?;
        if !layout.is_empty() {
            net.captures = Some(Box::new(layout.open(plan, &net.routes, &mut recorder)?));
        }
        let spare = net.packets.take();
        let tables = Tables::new(announced, &mut recorder);
        let mut world = World {
            plan: shared.clone(),
            net,
            sockets: Vec::new(),
            free_sockets: Vec::new(),
            flows: Vec::new(),
            free_flows: Vec::new(),
            arrivals: Vec::new(),
            clocks: Vec::new(),
            copies: Copies::default(),
            games: Games::default(),
            flows_made: 0,
            tables,
            recorder,
            spare,
            events_done: 0,
            violation: None,
            observed,
            next_sample: Event::bound(Time::NEVER),
            congestion_controls: plan.traffic.iter().map(|t| Arc::new(t.congestion_control.clone())).collect(),
            next_change: 0,
            change_due: None,
            guests: Guests::of(announced),
            memories: BTreeMap::new(),
            fast_open: FastOpens::default(),
            rdma: Rdma::default(),
            hosts: Hosts::of(plan),
            program: Program::of(plan),
        };
        world.create_static_flows();
        world.begin_hosts();
        if let Some(every) = plan.record.every {
            world.schedule_sample(Time::ZERO + every);
        }
        if plan.warmup > Time::ZERO {
            world.net.events.push(Target::WarmUp.keyed(plan.warmup, 0));
        }
        for (i, traffic) in plan.traffic.iter().enumerate() {
            if let Some(stop) = traffic.stop {
                world.net.events.push(Target::Stop(i as u32).at(stop));
            }
        }
        world.schedule_change();
        Ok(world)
    }

    /// Runs from `now` to the end. `watch` is called now and then and answers whether to go on.
    pub fn run(&mut self, now: Time, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Error> {
        let end = self.plan.duration;
        self.run_until(now, Event::bound(end), watch)?;
        self.net.find_deadlocks(end);
        self.write_log()
    }

    /// Does from `now` on all that comes before `bound`, as [`World::run`] does.
    pub fn run_until(
        &mut self,
        mut now: Time,
        bound: Event,
        watch: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(), Error> {
        let looks = if self.guests.any { BETWEEN_LOOKS_AT_GUESTS } else { BETWEEN_LOOKS };
        loop {
            let since = now;
            let more;
            (now, more) = self.events(now, bound, looks);
            self.guests.check(&self.sockets, &self.flows, &self.plan)?;
            if !more {
                return Ok(());
            }
            self.look(now, now - since, looks, watch)?;
        }
    }

    /// Tunes the queue of events, of which about `done` have happened in the `elapsed` time, writes rows, and lets somebody look.
    pub fn look(
        &mut self,
        now: Time,
        elapsed: Span,
        done: u64,
        watch: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(), Error> {
        self.net.events.tune(now, elapsed, done);
        self.write_log()?;
        let (events, packet_hops) = (self.events_done, self.packet_hops());
        let progress = Progress { now, events, packet_hops, recorder: &self.recorder };
        if watch(&progress) { Ok(()) } else { Err(Error::Stopped) }
    }

    /// The next `most` events, as [`World::some_events`] does them.
    pub fn events(&mut self, now: Time, bound: Event, most: u64) -> (Time, bool) {
        let some = match (self.net.has_lanes, self.net.management.is_some()) {
            (_, true) => World::some_events::<false, true>,
            (true, false) => World::some_events::<true, false>,
            (false, false) => World::some_events::<false, false>,
        };
        some(self, now, bound, most)
    }

    /// Returns a world that goes on from here under `plan`, which differs in changes to come, and records into `recorder`.
    pub fn taken_up(&self, plan: Arc<Plan>, mut recorder: Recorder) -> World {
        let mut tables = self.tables.clone();
        tables.add_congestion_controls(&plan, &mut recorder);
        let mut world = World {
            net: self.net.clone(),
            sockets: self.sockets.clone(),
            free_sockets: self.free_sockets.clone(),
            flows: self.flows.clone(),
            free_flows: self.free_flows.clone(),
            arrivals: self.arrivals.clone(),
            clocks: self.clocks.clone(),
            copies: self.copies.clone(),
            games: self.games.clone(),
            flows_made: self.flows_made,
            tables,
            recorder,
            spare: self.spare,
            events_done: self.events_done,
            violation: self.violation.clone(),
            observed: self.observed.clone(),
            next_sample: self.next_sample,
            congestion_controls: self.congestion_controls.clone(),
            next_change: self.next_change,
            change_due: self.change_due,
            guests: self.guests.clone(),
            memories: self.memories.clone(),
            fast_open: self.fast_open.clone(),
            rdma: self.rdma.clone(),
            hosts: self.hosts.clone(),
            program: self.program.clone(),
            plan,
        };
        world.guests.any |= Guests::of(&world.plan).any;
        let next = world.plan.changes.get(world.next_change).map(|change| change.at);
        if let Some(at) = next.filter(|_| next != world.change_due) {
            world.net.events.push(Target::Changes.at(at));
        }
        world
    }

    /// The next `most` events, as far as they come before `bound`; answers whether there may be more. `now` is then the time of the
    /// last. Lanes are looked at if there are any; under congestion management there are none. There an arrival may drain a limiter, as
    /// any other event may.
    fn some_events<const HAS_LANES: bool, const IS_MANAGED: bool>(
        &mut self,
        mut now: Time,
        bound: Event,
        most: u64,
    ) -> (Time, bool) {
        for _ in 0..most {
            let (lane, first) = if HAS_LANES { self.net.lanes.first() } else { (0, bound) };
            let Some(event) = self.net.events.pop_before(first.min(bound)) else {
                if first >= bound {
                    return (now, false);
                }
                now = first.time();
                self.arrivals_by_lane(lane, first, bound);
                continue;
            };
            now = event.time();
            self.events_done += 1;
            if self.rdma.pairs.len() > FEW_SOCKETS {
                self.net.prefetch_ports();
            }
            // Most events are arrivals.
            match Target::arrival(event) {
                Some(place) if !IS_MANAGED => self.arrival_of_frame(now, place),
                _ => self.handle(event),
            }
        }
        (now, true)
    }

    /// Rows of what has happened rarely, and whether all that was written could be.
    pub fn write_log(&mut self) -> Result<(), Error> {
        self.tables.events(&mut self.net, &self.plan, &mut self.recorder)?;
        self.net.captures.as_ref().map_or(Ok(()), |captures| captures.check())
    }

    /// The first frame of a lane is in. Of an exclusive lane all that is known is taken with it, as far as it comes before `bound`.
    #[inline(always)]
    fn arrivals_by_lane(&mut self, lane: usize, first: Event, bound: Event) {
        if let Some(known) = self.net.known_until(lane, first) {
            self.events_done += self.net.run_ahead(lane, known.min(bound).min(self.next_sample));
            return;
        }
        let Some(Onward { packet, then }) = self.net.lanes.pop(lane) else { return };
        self.events_done += 1;
        if self.sockets.len() > FEW_SOCKETS_BY_LANE
            && let Some(socket) = self.net.prefetch_lane(lane)
            && let Some(socket) = self.sockets.get(socket as usize)
        {
            prefetch(socket, SOCKET_LINES);
        }
        let (now, link) = (first.time(), LinkId(first.id()));
        let delivered = self.net.take_in(now, link, packet, then);
        self.bring(now, link.0, delivered);
    }

    /// A frame is in at the far end of a link, or through a switch.
    #[inline(always)]
    fn arrival_of_frame(&mut self, now: Time, id: u32) {
        let delivered = match self.net.land(LinkId(id)) {
            Some(flight) => {
                // There is still work to do for this event while the data of the next ones come.
                if self.sockets.len() > FEW_SOCKETS {
                    self.net.prefetch_ahead(&self.sockets);
                }
                self.net.take_in(now, LinkId(id), flight.frame.handle(), flight.then)
            }
            None => self.net.arrive_otherwise(now, id),
        };
        self.bring(now, id, delivered);
    }

    /// A frame that has come, if it has, is for its host; `place` is that of its arrival.
    #[inline(always)]
    fn bring(&mut self, now: Time, place: u32, delivered: Option<Delivered>) {
        if let Some(packet) = delivered {
            if self.hosts.receive {
                self.come_in(now, place, packet);
            } else {
                self.deliver(now, packet);
            }
        }
    }

    #[inline(never)]
    fn handle(&mut self, event: Event) {
        let now = event.time();
        match Target::of(event) {
            Target::Arrival(place) => self.arrival_of_frame(now, place),
            Target::Limiters(link) => self.net.limiter_timer(now, link),
            Target::Refresh(link) => self.net.refresh(now, link),
            Target::Watchdog(link) => self.net.watchdog_timer(now, link),
            Target::Pair(pair) => self.rdma_timer(now, pair),
            Target::Grants(host) => self.uec_grant(now, host),
            Target::Interface(link) => self.rdma_pump(now, link),
            Target::Host(timer, number) => self.host_timer(now, timer, number),
            Target::Socket(socket) => self.ring(now, socket),
            Target::Arrivals(place) => self.arrival(now, place),
            Target::Clock(place) => self.strike(now, place),
            Target::Ranks(place) => self.ranks_computed(now, place),
            Target::DiskRead(place) => self.disk_is_done(now, place, true),
            Target::DiskWrite(place) => self.disk_is_done(now, place, false),
            Target::Flow(flow) => self.application(now, flow),
            Target::End(link) => return self.end_of_transmission(now, link),
            Target::Wake(link) => self.net.wake(now, link),
            Target::Control(link) => {
                self.net.control(now, link);
                if self.hosts.gathers {
                    self.departures_moved(now, self.net.links[link].reverse);
                }
            }
            Target::Changes => self.change(now),
            Target::Reroute(link) => self.reroute(now, link),
            Target::Stop(traffic) => self.stop_traffic(now, traffic),
            Target::WarmUp => self.end_warmup(now),
            Target::Sample => self.sample(now),
        }
        if self.net.has_drained() {
            self.resume_senders(now);
        }
    }

    /// The transmission on `link` is over. Senders whose limiter the next frame drains go on before other ends of this instant.
    #[inline]
    fn end_of_transmission(&mut self, now: Time, link: LinkId) {
        self.net.end_of_transmission(now, link);
        if self.net.has_drained() {
            self.resume_senders(now);
        }
        self.net.end_is_over();
    }

    pub fn packet_hops(&self) -> u64 {
        self.net.links.iter().map(|l| l.counts.tx_packets).sum()
    }

    /// Every packet handed in was delivered, dropped or is still somewhere (design rule 9).
    pub fn check_packets(&self) -> Result<(), Error> {
        let inside = self.net.inside();
        let held = self.hosts.held();
        let live = self.net.packets.live() as u64 - 1 - held;
        let (injected, delivered, dropped) = (self.net.injected, self.net.delivered, self.net.dropped);
        let duplicated = self.net.duplicated;
        if injected + duplicated == delivered + dropped + inside && live == inside {
            return Ok(());
        }
        Err(Error::Conservation(format!(
            "{injected} packets sent, {duplicated} duplicated, {delivered} delivered, {dropped} dropped, {inside} in the network, {live} in memory"
        )))
    }
}

/// Events between two looks at the world from outside.
const BETWEEN_LOOKS: u64 = 1 << 15;
/// A controller of the user's may take milliseconds an event, and is to be stopped all the same.
const BETWEEN_LOOKS_AT_GUESTS: u64 = 1 << 7;
/// So many sockets and their packets stay in a second-level cache: looking ahead does not pay. It costs 35 instructions a
/// packet-hop, 4 % of the time of 200 sockets.
const FEW_SOCKETS: usize = 200;
/// A lane says what comes next at little cost: it pays from a first-level cache full of sockets on.
const FEW_SOCKETS_BY_LANE: usize = 100;
/// Cache lines of a socket that a segment touches.
const SOCKET_LINES: usize = 8;
