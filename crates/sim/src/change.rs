//! Changes during the run, in the order of the plan: links, and laws of congestion control.

use elephan_cc::Spec;
use elephan_engine::{Class, Event};
use elephan_units::Time;

use crate::net::{Kind, NONE, Occurrence};
use crate::world::{CHANGES, World};

impl World<'_> {
    /// Schedules the next change: one event for all of an instant.
    pub fn schedule_change(&mut self) {
        if let Some(next) = self.plan.changes.get(self.next_change) {
            self.net.events.push(Event::new(next.at, Class::Change, CHANGES, CHANGES));
        }
    }

    /// What is due now is different from now on.
    pub fn change(&mut self, now: Time) {
        let plan = self.plan;
        while let Some(change) = plan.changes.get(self.next_change).filter(|c| c.at <= now) {
            self.next_change += 1;
            for link in &change.links {
                self.net.change_link(now, plan, link, self.next_change);
            }
            for one in &change.laws {
                self.laws[one.traffic as usize] = &one.law;
                self.switch_law(now, one.traffic, &one.law);
            }
        }
        self.schedule_change();
    }

    /// The live flows of a traffic entry go on under another law.
    fn switch_law(&mut self, now: Time, traffic: u32, law: &Spec) {
        let mut noted = false;
        noted |= self.roce_switch_law(now, traffic, law);
        for id in 0..self.flows.len() {
            let Some(flow) = self.flows[id].as_ref().filter(|f| f.traffic == traffic && f.sender != NONE) else {
                continue;
            };
            let (sender, receiver, number) = (flow.sender, flow.receiver, flow.number);
            let seed = self.law_seed((traffic, flow.plan, flow.instance), flow.key);
            let socket = &mut self.sockets[sender as usize];
            socket.endpoint.switch_law(now, law);
            socket.endpoint.set_law_seed(seed);
            let link = socket.first_link;
            self.note_law(now, law, link, number);
            self.settle_headers([sender, receiver]);
            noted = true;
            self.flush(now, sender);
        }
        let first = self.plan.traffic[traffic as usize].flows.first();
        let route = first.and_then(|pair| self.net.routes.between(pair.from, pair.to).next());
        if let (false, Some(route)) = (noted, route) {
            let link = self.net.routes.link(route);
            self.note_law(now, law, link, NONE);
        }
    }

    pub fn note_law(&mut self, now: Time, law: &Spec, link: u32, flow: u32) {
        if let Some(log) = &mut self.net.log {
            let reason = law.kind();
            log.push(Occurrence { time: now, kind: Kind::Law, link, flow, bytes: 0, value: None, reason });
        }
    }
}
