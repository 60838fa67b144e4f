//! Arrivals of transfers: each a connection that lives for its bytes.

use elephan_engine::{Alarm, Class, Event};
use elephan_units::Time;

use crate::flow::{Application, Arrivals, Flow, stable_key};
use crate::net::NONE;
use crate::world::{ARRIVALS, World};

impl World<'_> {
    /// Schedules the first arrival of a traffic entry.
    pub fn begin_arrivals(&mut self, traffic: u32) {
        let entry = &self.plan.traffic[traffic as usize];
        let path = self.traffic_path(traffic);
        let start = Time::ZERO + entry.start.sample(&mut self.stream(&path, "start"));
        let mut arrivals = Arrivals {
            source: self.source(traffic, entry.flows[0], &path),
            next: None,
            ordinal: 0,
            isn: self.stream(&path, "isn"),
            stopped: false,
        };
        arrivals.advance();
        if let Some(offer) = arrivals.next {
            self.schedule_arrival(start.saturating_add(offer.gap), traffic);
        }
        self.arrivals.push(Some(arrivals));
    }

    fn schedule_arrival(&mut self, time: Time, traffic: u32) {
        self.net.events.push(Event::new(time, Class::Application, ARRIVALS | traffic, ARRIVALS | traffic));
    }

    /// A transfer arrives.
    pub fn arrival(&mut self, now: Time, traffic: u32) {
        let Some(arrivals) = &mut self.arrivals[traffic as usize] else { return };
        if arrivals.stopped {
            return;
        }
        let Some(offer) = arrivals.next else { return };
        let ordinal = arrivals.ordinal;
        arrivals.ordinal += 1;
        let isn = [arrivals.isn.next_u64() as u32, arrivals.isn.next_u64() as u32];
        arrivals.advance();
        if let Some(following) = arrivals.next {
            self.schedule_arrival(now.saturating_add(following.gap), traffic);
        }
        let pair = self.plan.traffic[traffic as usize].flows[offer.pair as usize];
        let flow = Flow {
            number: self.flows_made,
            traffic,
            instance: 0,
            plan: pair,
            application: Application::Transfer,
            alarm: Alarm::default(),
            key: stable_key(&self.plan.traffic[traffic as usize].name, ordinal),
            sender: NONE,
            receiver: NONE,
            start: now,
            established: None,
            size: Some(offer.bytes),
            done: None,
            sender_done: None,
            before_warmup: 0,
            begun: true,
        };
        self.flows_made += 1;
        let id = self.keep_flow(flow);
        self.open(now, id, isn);
        let Some(flow) = &self.flows[id as usize] else { return };
        let sender = flow.sender;
        let endpoint = &mut self.sockets[sender as usize].endpoint;
        endpoint.supply(offer.bytes);
        endpoint.close(now);
        self.flush(now, sender);
    }
}
