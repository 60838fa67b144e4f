//! Generators that several flows have together: that of a sender whose messages or frames go to drawn receivers, and that of a
//! receiver who asks all his senders at once (`incast`).

mod clock;

pub use clock::Clock;
use clock::Rounds;

use std::collections::{BTreeMap, VecDeque};

use elephan_scenario::FlowPlan;
use elephan_tcp::Endpoint;
use elephan_traffic::{Generate, Offer, Part, Shared};
use elephan_units::Time;

use crate::flow::{Application, stable_key};
use crate::net::NONE;
use crate::target::Target;
use crate::world::World;

impl World {
    /// Prepares the generators that the flows of a traffic entry, `(place, plan)`, have together.
    pub fn create_clocks(&mut self, traffic: u32, flows: &[(u32, FlowPlan)], shared: Shared) {
        let mut by_host: BTreeMap<u32, Vec<(u32, FlowPlan)>> = BTreeMap::new();
        for &(id, plan) in flows {
            let host = if shared == Shared::Sender { plan.from } else { plan.to };
            by_host.entry(host).or_default().push((id, plan));
        }
        for (host, flows) in by_host {
            let path = format!("{}/{}", self.traffic_path(traffic), self.plan.nodes[host as usize].name);
            let start = Time::ZERO + self.plan.traffic[traffic as usize].start.sample(&mut self.stream(&path, "start"));
            let place = self.clocks.len() as u32;
            let numbered =
                |&(id, _): &(u32, FlowPlan)| (id, self.flows[id as usize].as_ref().map_or(NONE, |f| f.number));
            let rounds = match shared {
                Shared::Sender => None,
                Shared::Receiver { closed } => Some(Rounds { closed, first: 0, open: VecDeque::new() }),
            };
            let clock = Clock {
                traffic,
                source: self.source((traffic, flows[0].1), &path, Part::Clock, flows.len() as u64),
                next: None,
                flows: flows.iter().map(numbered).collect(),
                rounds,
                key: stable_key(&path, 0),
                stopped: false,
            };
            if clock.rounds.is_some() {
                for &(id, _) in &clock.flows {
                    if let Some(flow) = &mut self.flows[id as usize] {
                        flow.clock = place;
                    }
                }
            }
            self.clocks.push(clock);
            self.advance_clock(start, place);
        }
    }

    /// Draws the next offer, whose gap counts from `since`. After the last one nothing more will be fed.
    fn advance_clock(&mut self, since: Time, place: u32) {
        let clock = &mut self.clocks[place as usize];
        clock.next = clock.source.next_offer().map(|offer| (since.saturating_add(offer.gap), offer));
        match clock.next {
            Some((due, _)) => self.net.events.push(Target::Clock(place).keyed(due, clock.key)),
            None => self.feed_no_more(since, place),
        }
    }

    fn feed_no_more(&mut self, now: Time, place: u32) {
        for i in 0..self.clocks[place as usize].flows.len() {
            let Some(id) = self.flow_of_clock(place, i) else { continue };
            if let Some(flow) = &mut self.flows[id as usize]
                && let Application::Messages(queue) = &mut flow.application
            {
                queue.feed_no_more();
            }
            self.pump(now, id);
        }
    }

    /// An offer of a shared generator is due.
    pub fn strike(&mut self, now: Time, place: u32) {
        let clock = &mut self.clocks[place as usize];
        if clock.stopped {
            return;
        }
        let Some((_, offer)) = clock.next else { return };
        match &mut clock.rounds {
            None => {
                if let Some(id) = self.flow_of_clock(place, offer.pair as usize) {
                    self.offer(now, id, offer);
                }
                self.advance_clock(now, place);
            }
            Some(rounds) => {
                let closed = rounds.closed;
                rounds.open.push_back((now, clock.flows.len() as u32));
                for i in 0..self.clocks[place as usize].flows.len() {
                    match self.flow_of_clock(place, i) {
                        Some(id) => self.offer(now, id, offer),
                        None => self.answered(now, place, None, 1),
                    }
                }
                if !closed {
                    self.advance_clock(now, place);
                }
            }
        }
    }

    /// A flow of a generator; `None` if its connection is over.
    fn flow_of_clock(&self, place: u32, i: usize) -> Option<u32> {
        let (id, number) = *self.clocks[place as usize].flows.get(i)?;
        let flow = self.flows[id as usize].as_ref()?;
        (flow.number == number).then_some(id)
    }

    /// Hands an offer to a flow.
    fn offer(&mut self, now: Time, id: u32, offer: Offer) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        match &mut flow.application {
            Application::Messages(queue) => {
                queue.feed();
                self.pump(now, id);
            }
            Application::Datagrams(_) => self.send_next(now, id, offer.bytes),
            Application::Stream { .. }
            | Application::Transfer { .. }
            | Application::Copy { .. }
            | Application::Ranks { .. }
            | Application::Program { .. } => {}
        }
    }

    /// Lets the messages of a fed connection enter and sends what it may. Before the connection opens nothing fits.
    fn pump(&mut self, now: Time, id: u32) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        if flow.rdma != NONE {
            return self.rdma_write(now, id);
        }
        let Application::Messages(queue) = &mut flow.application else { return };
        let sender = flow.sender;
        if sender == NONE {
            queue.pump(now, 0);
            return;
        }
        let endpoint = &mut self.sockets[sender as usize].endpoint;
        endpoint.supply(queue.pump(now, room(endpoint)));
        if queue.ended() {
            endpoint.end_stream(now);
            for end in [sender, flow.receiver] {
                self.sockets[end as usize].wake = 0;
            }
        }
        self.flush(now, sender);
    }

    /// `count` answers of a flow are in, the last of which is its answer number `last` (`None`: of a connection that is over, to
    /// the newest round).
    pub fn answered(&mut self, now: Time, place: u32, last: Option<u64>, count: u64) {
        let clock = &mut self.clocks[place as usize];
        let Some(rounds) = &mut clock.rounds else { return };
        let newest = rounds.first + rounds.open.len() as u64 - 1;
        let last = last.unwrap_or(newest);
        for number in (last + 1).saturating_sub(count)..=last {
            if let Some(round) = number.checked_sub(rounds.first).and_then(|i| rounds.open.get_mut(i as usize)) {
                round.1 -= 1;
            }
        }
        let mut complete = false;
        while let Some(&(begun, 0)) = rounds.open.front() {
            rounds.open.pop_front();
            rounds.first += 1;
            complete = true;
            if begun >= self.plan.warmup {
                self.tables.rounds.add(now.since(begun));
            }
        }
        if complete && rounds.closed && !clock.stopped {
            self.advance_clock(now, place);
        }
    }

    /// The generators of a traffic entry stop.
    pub fn stop_clocks(&mut self, traffic: u32) {
        self.clocks.iter_mut().filter(|clock| clock.traffic == traffic).for_each(|clock| clock.stopped = true);
    }
}

/// Stream offset up to which a socket can hold bytes now.
pub fn room(endpoint: &Endpoint) -> u64 {
    endpoint.acked().saturating_add(endpoint.options().send_buffer.get())
}
