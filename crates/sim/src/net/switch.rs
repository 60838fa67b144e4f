//! A switch with shared memory: charges frames at their last bit in, forwards them after its latency, sends PAUSE.

use elephan_engine::{Class, Event};
use elephan_link::SharedMemory;
use elephan_units::{Span, Time};

use super::closures::Blame;
use super::link::Flight;
use super::{NONE, Net};

pub struct Switch {
    /// The node of the scenario.
    pub node: u32,
    pub memory: SharedMemory,
    pub latency: Span,
    /// Port number to the link that leaves through it.
    pub egress: Vec<u32>,
    /// Whether the scenario gave it its memory.
    pub sampled: bool,
}

impl Switch {
    /// The pause time that this switch sends, if it sends any.
    pub fn pause_quanta(&self) -> Option<u16> {
        self.memory.pause().map(|p| p.quanta)
    }
}

impl Net {
    /// A frame is in at a switch with memory.
    pub(super) fn enter_switch(&mut self, now: Time, link: u32, packet: u32) {
        let l = &self.links[link as usize];
        let (port, framing) = (l.into_port, l.framing);
        let into = l.into as usize;
        let p = &mut self.packets[packet];
        p.charged = framing.charged_bytes(p.ip_bytes);
        p.ingress = port;
        let switch = &mut self.switches[into];
        let admitted = switch.memory.admit(port, p.charged);
        switch.memory.ports_to_pause(port, &mut self.scratch);
        let latency = switch.latency;
        if !self.scratch.is_empty() {
            self.tell_ports(now, into, true);
        }
        if !admitted {
            let out = self.routes.link(self.packets[packet].route);
            self.links[out as usize].counts.drops += 1;
            self.drop_packet(now, out, packet, "memory_full");
        } else if latency == Span::ZERO {
            let next = self.routes.link(self.packets[packet].route);
            self.offer(now, next, packet);
        } else {
            let id = self.links.len() as u32 + link;
            let stage = &mut self.links[link as usize].stage;
            let flight = Flight { arrival: now + latency, packet, then: NONE };
            if stage.is_empty() {
                self.events.push(Event::new(flight.arrival, Class::Arrival, id, id));
            }
            stage.push_back(flight);
        }
    }

    /// A frame has passed the switch and goes to its egress queue.
    pub(super) fn leave_stage(&mut self, now: Time, link: u32) {
        let id = self.links.len() as u32 + link;
        let stage = &mut self.links[link as usize].stage;
        let Some(first) = stage.pop_front() else { unreachable!("an arrival without a frame") };
        if let Some(next) = stage.front() {
            self.events.push(Event::new(next.arrival, Class::Arrival, id, id));
        }
        let next = self.routes.link(self.packets[first.packet].route);
        self.offer(now, next, first.packet);
    }

    /// A frame has left the switch, or its egress queue refused it.
    pub(super) fn release_memory(&mut self, now: Time, switch: u32, charged: u32, ingress: u32) {
        if switch == NONE {
            return;
        }
        self.switches[switch as usize].memory.release(ingress, charged, &mut self.scratch);
        if !self.scratch.is_empty() {
            self.tell_ports(now, switch as usize, false);
        }
    }

    /// Sends PAUSE or resumption through the ports in `scratch`.
    #[cold]
    fn tell_ports(&mut self, now: Time, switch: usize, stop: bool) {
        let ports = std::mem::take(&mut self.scratch);
        let quanta = if stop { self.switches[switch].pause_quanta().unwrap_or(0) } else { 0 };
        for &port in &ports {
            let link = self.switches[switch].egress[port as usize];
            if stop {
                self.asked(now, link, None, Blame::Memory);
            }
            self.send_pause(now, link, quanta);
        }
        self.scratch = ports;
        self.scratch.clear();
    }
}
