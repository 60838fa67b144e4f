//! A switch with shared memory: charges frames at their last bit in, forwards them after its latency, sends PAUSE.

use elephan_engine::{Class, Event};
use elephan_link::{EgressControl, SharedMemory, pause};
use elephan_units::{Rate, Span, Time};

use super::closures::Blame;
use super::link::Flight;
use super::{NONE, Net};

pub struct Switch {
    /// The node of the scenario.
    pub node: u32,
    pub memory: SharedMemory,
    /// Flow control by egress queues.
    pub by_queue: Option<EgressControl>,
    /// The pause time that it sends, if it sends any.
    pub quanta: Option<u16>,
    pub latency: Span,
    /// Port number to the link that leaves through it.
    pub egress: Vec<u32>,
    /// Whether the scenario gave it its memory.
    pub sampled: bool,
}

impl Switch {
    /// Whether it is pausing anybody.
    pub fn is_pausing(&self) -> bool {
        self.by_queue.as_ref().map_or(self.memory.is_pausing(), EgressControl::is_pausing)
    }
}

/// A PAUSE of so many quanta on a link of this rate is repeated at half its time, well before it runs out.
pub fn refresh_period(rate: Rate, quanta: u16) -> Span {
    Span(pause::quanta(rate, quanta).0 / 2)
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

    /// A frame of `bytes` from the ingress `from` waits at `link`, whose switch counts what waits there; none if it was refused.
    pub(super) fn queued(&mut self, now: Time, link: u32, from: u32, bytes: u32) {
        let (switch, to) = self.egress_account(link);
        if let Some(control) = &mut self.switches[switch].by_queue {
            control.queued(now, to, from, bytes, &mut self.scratch);
            if !self.scratch.is_empty() {
                self.tell_ports(now, switch, true);
            }
        }
    }

    /// A frame waits at `link` no more, whose switch counts what waits there.
    pub(super) fn left_queue(&mut self, now: Time, link: u32, bytes: u32) {
        let (switch, to) = self.egress_account(link);
        if let Some(control) = &mut self.switches[switch].by_queue {
            control.left(to, bytes, &mut self.scratch);
            if !self.scratch.is_empty() {
                self.tell_ports(now, switch, false);
            }
        }
    }

    /// The rate of `link` has changed, and with it the time of the PAUSE that its far end sends.
    pub(super) fn retime_pauses(&mut self, link: u32) {
        let l = &self.links[link as usize];
        if let Some(switch) = self.switches.get_mut(l.into as usize)
            && let (Some(control), Some(quanta)) = (&mut switch.by_queue, switch.quanta)
        {
            control.set_period(l.into_port, refresh_period(l.rate, quanta));
        }
    }

    /// The switch at the near end of `link`, and the number of the port there.
    fn egress_account(&self, link: u32) -> (usize, u32) {
        let l = &self.links[link as usize];
        (l.out_of as usize, self.links[l.reverse as usize].into_port)
    }

    /// Sends PAUSE or resumption through the ports in `scratch`.
    #[cold]
    fn tell_ports(&mut self, now: Time, switch: usize, stop: bool) {
        let ports = std::mem::take(&mut self.scratch);
        let quanta = if stop { self.switches[switch].quanta.unwrap_or(0) } else { 0 };
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
