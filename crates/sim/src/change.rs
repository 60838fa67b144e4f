//! Changes during the run, in the order of the plan: links, and congestion controls.

use std::sync::Arc;

use elephan_cc::Spec;
use elephan_units::Time;

use crate::flow::Application;
use crate::ids::LinkId;
use crate::net::{Graph, Kind, NONE, Occurrence};
use crate::target::Target;
use crate::world::World;

impl World {
    /// Schedules the next change: one event for all of an instant.
    pub fn schedule_change(&mut self) {
        let next = self.plan.changes.get(self.next_change).map(|change| change.at);
        if let Some(at) = next.filter(|_| next != self.change_due) {
            self.change_due = next;
            self.net.events.push(Target::Changes.at(at));
        }
    }

    /// What is due now is different from now on.
    pub fn change(&mut self, now: Time) {
        let plan = self.plan.clone();
        let mut turned = None;
        while let Some(change) = plan.changes.get(self.next_change).filter(|c| c.at <= now) {
            self.next_change += 1;
            for link in &change.links {
                self.net.change_link(now, &plan, link, self.next_change);
                turned = turned.or(link.up.map(|_| LinkId(link.link)));
                if link.rate.is_some() {
                    self.rdma_line(now, LinkId(link.link));
                }
                if self.hosts.gathers {
                    self.departures_moved(now, LinkId(link.link));
                }
            }
            for one in &change.congestion_controls {
                self.congestion_controls[one.traffic as usize] = Arc::new(one.congestion_control.clone());
                self.switch_congestion_control(now, one.traffic, &one.congestion_control);
            }
        }
        self.schedule_change();
        if let (Some(link), Some(after)) = (turned, plan.reroute) {
            self.net.events.push(Target::Reroute(link).at(now.saturating_add(after)));
        }
    }

    /// Routes are made anew over the links that are up, and live flows take them; `link` had changed. What is under way keeps its.
    pub fn reroute(&mut self, now: Time, link: LinkId) {
        let net = &mut self.net;
        let down = |link: usize| net.links[LinkId::of(link)].is_down();
        let graph = Graph::of(&self.plan, |link| !down(link));
        net.routes.renew(&graph);
        net.reroute_notifications(&self.plan, &graph);
        let (mut moved, interfaces) = self.rdma.reroute(net, |id| {
            let plan = &self.flows[id as usize].as_ref()?.plan;
            Some((plan.from, plan.to))
        });
        for socket in self.sockets.iter_mut().filter(|s| s.number != NONE) {
            let Some(flow) = &self.flows[socket.flow as usize] else { continue };
            let (from, to) = (flow.plan.from, flow.plan.to);
            let (from, to) = if socket.is_sender { (from, to) } else { (to, from) };
            let route = net.routes.listed(from, to, socket.key).unwrap_or(socket.route);
            moved += u32::from(route != socket.route);
            (socket.route, socket.first_link) = (route, net.routes.first_link(route));
        }
        for flow in self.flows.iter_mut().flatten() {
            if let Application::Datagrams(d) = &mut flow.application {
                let route = net.routes.listed(flow.plan.from, flow.plan.to, flow.key).unwrap_or(d.route);
                moved += u32::from(route != d.route);
                d.route = route;
            }
        }
        if let Some(log) = &mut net.log {
            let (kind, value) = (Kind::Change, Some(f64::from(moved)));
            log.push(Occurrence { time: now, kind, link, flow: NONE, bytes: 0, value, reason: "reroute" });
        }
        for interface in interfaces {
            self.rdma_pump(now, interface);
        }
    }

    /// The live flows of a traffic entry go on under another controller.
    fn switch_congestion_control(&mut self, now: Time, traffic: u32, congestion_control: &Spec) {
        let mut noted = self.rdma_switch_congestion_control(now, traffic, congestion_control);
        for id in 0..self.flows.len() {
            let Some(flow) = self.flows[id].as_ref().filter(|f| f.traffic == traffic && f.sender != NONE) else {
                continue;
            };
            let (sender, receiver, number) = (flow.sender, flow.receiver, flow.number);
            let seed = self.controller_seed((traffic, flow.plan, flow.instance), flow.key);
            let link = self.sockets[sender as usize].first_link;
            let nic = self.controller_nic(
                (flow.plan.from, flow.plan.to),
                &self.plan.options[flow.plan.sender as usize],
                link,
            );
            if self.guests.any {
                self.guests.note(&self.sockets[sender as usize], &self.flows, &self.plan);
            }
            let endpoint = &mut self.sockets[sender as usize].endpoint;
            endpoint.switch_congestion_control(now, congestion_control);
            endpoint.set_controller_seed(seed);
            if endpoint.controller().reads_nic() {
                endpoint.on_nic(&nic);
            }
            if endpoint.controller().probes() {
                endpoint.begin_switched_controller(now);
            }
            self.note_congestion_control(now, congestion_control, link, number);
            self.settle_headers([sender, receiver]);
            noted = true;
            self.flush(now, sender);
        }
        let first = self.plan.traffic[traffic as usize].flows.first();
        let route = first.and_then(|pair| self.net.routes.between(pair.from, pair.to).next());
        if let (false, Some(route)) = (noted, route) {
            let link = self.net.routes.link(route);
            self.note_congestion_control(now, congestion_control, link, NONE);
        }
    }

    pub fn note_congestion_control(&mut self, now: Time, congestion_control: &Spec, link: LinkId, flow: u32) {
        if let Some(log) = &mut self.net.log {
            let reason = congestion_control.kind();
            log.push(Occurrence {
                time: now,
                kind: Kind::CongestionControl,
                link,
                flow,
                bytes: 0,
                value: None,
                reason,
            });
        }
    }
}
