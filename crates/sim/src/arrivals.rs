//! Arrivals of transfers: each a connection that lives for its bytes.

use elephan_engine::Alarm;
use elephan_traffic::{Carrier, Part, Spec as _};
use elephan_units::Time;

use crate::flow::{Application, Arrivals, Flow, stable_key};
use crate::net::NONE;
use crate::target::Target;
use crate::world::World;

impl World {
    /// Schedules the first arrival of a traffic entry, or that of each of its users.
    pub fn begin_arrivals(&mut self, traffic: u32) {
        let path = self.traffic_path(traffic);
        match self.plan.traffic[traffic as usize].kind.carrier() {
            Carrier::Users(users) => {
                for user in 0..users {
                    self.begin_arrivals_of(traffic, Some(user), &format!("{path}/user[{user}]"));
                }
            }
            // What programs do is not known before they do it.
            Carrier::Program => {}
            _ => self.begin_arrivals_of(traffic, None, &path),
        }
    }

    fn begin_arrivals_of(&mut self, traffic: u32, user: Option<u32>, path: &str) {
        let entry = &self.plan.traffic[traffic as usize];
        let start = Time::ZERO + entry.start.sample(&mut self.stream(path, "start"));
        let place = self.arrivals.len() as u32;
        self.arrivals.push(Arrivals {
            traffic,
            user,
            source: self.source((traffic, entry.flows[0]), path, Part::Whole, entry.flows.len() as u64),
            next: None,
            ordinal: 0,
            isn: self.stream(path, "isn"),
            stopped: false,
        });
        self.advance_arrivals(start, place);
    }

    /// Draws the next arrival, whose gap counts from `since`.
    fn advance_arrivals(&mut self, since: Time, place: u32) {
        let arrivals = &mut self.arrivals[place as usize];
        arrivals.advance();
        if let Some(offer) = arrivals.next {
            self.net.events.push(Target::Arrivals(place).at(since.saturating_add(offer.gap)));
        }
    }

    /// The transfer of a user is over: he thinks.
    pub fn user_is_served(&mut self, now: Time, place: u32) {
        if !self.arrivals[place as usize].stopped {
            self.advance_arrivals(now, place);
        }
    }

    /// A transfer arrives.
    pub fn arrival(&mut self, now: Time, place: u32) {
        let arrivals = &mut self.arrivals[place as usize];
        if arrivals.stopped {
            return;
        }
        let Some(offer) = arrivals.next else { return };
        let (traffic, user, ordinal) = (arrivals.traffic, arrivals.user, arrivals.ordinal);
        arrivals.ordinal += 1;
        let isn = [arrivals.isn.next_u64() as u32, arrivals.isn.next_u64() as u32];
        if user.is_none() {
            self.advance_arrivals(now, place);
        }
        let pairs = &self.plan.traffic[traffic as usize].flows;
        let pair = pairs[user.map_or(offer.pair as usize, |user| user as usize % pairs.len())];
        let ordinal = u64::from(user.unwrap_or(0)) << 32 | ordinal;
        let flow = Flow {
            number: self.flows_made,
            traffic,
            instance: 0,
            plan: pair,
            application: Application::Transfer { user: user.map(|_| place) },
            alarm: Alarm::default(),
            key: stable_key(&self.plan.traffic[traffic as usize].name, ordinal),
            sender: NONE,
            receiver: NONE,
            rdma: NONE,
            start: now,
            established: None,
            size: Some(offer.bytes),
            done: None,
            sender_done: None,
            before_warmup: 0,
            begun: true,
            clock: NONE,
        };
        self.flows_made += 1;
        let id = self.keep_flow(flow);
        if self.plan.traffic[traffic as usize].rdma.is_some() {
            return self.rdma_transfer(now, id, offer.bytes);
        }
        self.open(now, id, isn);
        let Some(flow) = &self.flows[id as usize] else { return };
        let sender = flow.sender;
        let endpoint = &mut self.sockets[sender as usize].endpoint;
        endpoint.supply(offer.bytes);
        endpoint.end_stream(now);
        self.flush(now, sender);
    }
}
