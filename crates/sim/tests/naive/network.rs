//! The network: ports that send one frame after the other, links that carry them, switches that charge and forward them.

use elephan_link::{Concerned, FlowControl, PausePer};
use elephan_random::Stream;
use elephan_scenario::{NodeKind, Plan};
use elephan_units::PS_PER_S;

use super::engine::Engine;
use super::loss::Losses;
use super::order::{Class, What};
use super::packet::{Packet, charged_bytes, wire_bytes};
use super::pause::{Gate, PAUSE_WIRE_BYTES, Switch, quanta_ps};
use super::queue::{Arrival, Leaving, Queue};
use super::spread::Blame;

/// What is on the wire of a port.
pub enum Sending {
    PauseFrame,
    /// A frame that came in through port `ingress` of the switch and holds so much of its memory.
    Frame {
        charged: u64,
        ingress: usize,
    },
}

/// What a port has done.
#[derive(Default)]
pub struct Counts {
    pub packets: u64,
    pub bytes: u64,
    pub drops: u64,
    pub marks: u64,
    pub lost: u64,
    pub pauses_sent: u64,
    pub pauses_received: u64,
    pub queue_max_bytes: u64,
    pub queue_max_packets: u64,
    /// Transmissions of packets: when each began and ended.
    pub busy: Vec<(u64, u64)>,
    /// Bytes times picoseconds that waited in the measured time, up to `waited_until`.
    pub byte_ps: u128,
    waited_until: u64,
}

/// The port that feeds a link.
pub struct Port {
    pub rate_bps: u64,
    /// From the last bit out to the last bit in.
    pub delay: u64,
    /// Parts of a picosecond, in units of `1 / rate`, that transmissions so far are owed.
    remainder: u128,
    pub sending: Option<Sending>,
    pub queue: Queue,
    /// Quanta of a PAUSE frame that is to go out.
    pub control: Option<u16>,
    pub gate: Gate,
    /// When the PAUSE sent last is to be repeated.
    pub refresh: Option<u64>,
    losses: Losses,
    pub counts: Counts,
}

impl Port {
    /// Returns the port of a link. `latency` is that of a switch at the far end that only delays.
    pub fn new(plan: &Plan, number: usize, latency: u64) -> Port {
        let link = &plan.links[number];
        let stream = |purpose: &str| Stream::new(plan.seed, &format!("link.{}", link.name), purpose);
        let packets: Concerned = link.impairments.packets;
        Port {
            rate_bps: link.rate.0,
            delay: link.delay.0 + latency,
            remainder: 0,
            sending: None,
            queue: Queue::new(&link.queue, link.bdp_bytes, link.rate.0, stream("queue")),
            control: None,
            gate: Gate::default(),
            refresh: None,
            losses: Losses::new(&link.loss, packets, stream("loss")),
            counts: Counts::default(),
        }
    }

    /// Returns the picoseconds that so many bytes take after what the port has sent without a gap.
    fn transmission(&mut self, bytes: u64) -> u64 {
        let all = u128::from(bytes) * 8 * u128::from(PS_PER_S) + self.remainder;
        let (whole, rest) = (all / u128::from(self.rate_bps), all % u128::from(self.rate_bps));
        self.remainder = if whole == 0 { 0 } else { rest };
        whole.max(1) as u64
    }

    /// Adds what has waited up to `now`; to be called before the queue changes.
    pub fn count_wait(&mut self, now: u64, (warmup, end): (u64, u64)) {
        let counts = &mut self.counts;
        let span = now.min(end).saturating_sub(counts.waited_until.max(warmup));
        counts.byte_ps += u128::from(span) * u128::from(self.queue.bytes());
        counts.waited_until = now;
    }
}

/// Returns the switch of a node if it charges frames: it has a memory, sends PAUSE, or forwards after a latency while a neighbour may
/// pause it.
pub fn switch(plan: &Plan, node: usize) -> Option<Switch> {
    let NodeKind::Switch(spec) = &plan.nodes[node].kind else { return None };
    let pause_of = |node: u32| match &plan.nodes[node as usize].kind {
        NodeKind::Switch(switch) => match switch.flow_control {
            FlowControl::None => None,
            FlowControl::Pause(pause) => Some(pause),
            FlowControl::Pfc(_) => panic!("the naive engine has no PFC"),
        },
        NodeKind::Host => None,
    };
    let egress: Vec<usize> = (0..plan.links.len()).filter(|&link| plan.links[link].from as usize == node).collect();
    let may_be_paused = egress.iter().any(|&link| pause_of(plan.links[link].to).is_some());
    let pause = pause_of(node as u32);
    if spec.memory_bytes.is_none() && pause.is_none() && !(spec.latency.0 > 0 && may_be_paused) {
        return None;
    }
    let recent = |&link: &usize| {
        let back = plan.links[link].reverse as usize;
        quanta_ps(plan.links[back].rate.0, pause.map_or(0, |pause| pause.quanta)) / 2
    };
    let recent = egress.iter().map(recent).collect();
    let mut switch = Switch::new(spec.memory_bytes.unwrap_or(u64::MAX), pause, egress, recent);
    switch.cell = spec.cell_bytes.map_or(1, u64::from);
    switch.alpha = spec.alpha;
    switch.latency = spec.latency.0;
    Some(switch)
}

impl Engine<'_> {
    /// A packet comes to a port.
    pub fn offer(&mut self, port: usize, packet: Packet) {
        let link = &self.plan.links[port];
        let (now, window) = (self.now, self.window());
        let bytes = charged_bytes(link.framing, packet.ip_bytes);
        let (flow, ingress, charged) = (packet.flow, packet.ingress, packet.charged);
        let p = &mut self.ports[port];
        p.count_wait(now, window);
        let arrival = p.queue.arrive(now, packet, bytes);
        let waits = matches!(arrival, Arrival::Waits { .. });
        match arrival {
            Arrival::Waits { marked: true } => self.count_mark(port, flow, bytes),
            Arrival::Waits { marked: false } => {}
            Arrival::Dropped(packet, reason) => {
                self.ports[port].counts.drops += 1;
                self.count_drop(port, &packet, reason);
                self.release(port, ingress, charged);
            }
        }
        if waits {
            self.waits_from_now(port, bytes);
        }
        self.begins_to_wait(port, ingress, if waits { bytes } else { 0 });
        if waits {
            self.start(port);
        }
        let p = &mut self.ports[port];
        p.counts.queue_max_bytes = p.counts.queue_max_bytes.max(p.queue.bytes());
        p.counts.queue_max_packets = p.counts.queue_max_packets.max(p.queue.packets());
    }

    /// Lets a port begin a transmission if it is free: a PAUSE frame first, then what waits unless the port is paused.
    pub fn start(&mut self, port: usize) {
        let (now, window) = (self.now, self.window());
        let p = &mut self.ports[port];
        if p.sending.is_some() {
            return;
        }
        if let Some(quanta) = p.control.take() {
            return self.send_pause_frame(port, quanta);
        }
        if let Some(until) = p.gate.closed_until(now) {
            return self.schedule(until, Class::Start, port as u64, What::EndOfPause(port));
        }
        p.count_wait(now, window);
        let Leaving { next, dropped } = p.queue.leave(now);
        let mut sent = None;
        if let Some((waiting, marked)) = next {
            sent = Some((waiting.packet.ingress, waiting.bytes));
            self.waits_no_more(port, &waiting, true);
            if marked {
                self.count_mark(port, waiting.packet.flow, waiting.bytes);
            }
            self.transmit(port, waiting.packet);
        }
        self.ports[port].counts.drops += dropped.len() as u64;
        dropped.iter().for_each(|(waiting, _)| self.waits_no_more(port, waiting, false));
        for (waiting, reason) in dropped {
            self.count_drop(port, &waiting.packet, reason);
            self.ends_to_wait(port, waiting.packet.ingress, waiting.bytes);
            self.release(port, waiting.packet.ingress, waiting.packet.charged);
        }
        if let Some((ingress, bytes)) = sent {
            self.ends_to_wait(port, ingress, bytes);
        }
    }

    fn send_pause_frame(&mut self, port: usize, quanta: u16) {
        let p = &mut self.ports[port];
        p.sending = Some(Sending::PauseFrame);
        p.counts.pauses_sent += 1;
        let end = self.now + p.transmission(PAUSE_WIRE_BYTES);
        let arrival = end + p.delay;
        self.schedule(end, Class::End, port as u64, What::EndOfTransmission(port));
        self.schedule(arrival, Class::Control, port as u64, What::PauseFrame { link: port, quanta });
    }

    fn transmit(&mut self, port: usize, mut packet: Packet) {
        let wire = wire_bytes(self.plan.links[port].framing, packet.ip_bytes);
        let p = &mut self.ports[port];
        p.sending = Some(Sending::Frame { charged: packet.charged, ingress: packet.ingress });
        let end = self.now + p.transmission(wire);
        p.counts.packets += 1;
        p.counts.bytes += wire;
        p.counts.busy.push((self.now, end));
        packet.is_lost = p.losses.takes(&packet);
        let arrival = end + p.delay;
        self.schedule(end, Class::End, port as u64, What::EndOfTransmission(port));
        self.schedule(arrival, Class::Arrival, port as u64, What::Frame(port, packet));
    }

    /// The last bit of what is on the wire is out.
    pub fn end_of_transmission(&mut self, port: usize) {
        if let Some(Sending::Frame { charged, ingress }) = self.ports[port].sending.take() {
            self.release(port, ingress, charged);
        }
        self.start(port);
        if self.ports[port].sending.is_none() {
            self.ports[port].remainder = 0;
        }
    }

    /// The last bit of a frame is in at the far end of a link.
    pub fn arrive(&mut self, link: usize, mut packet: Packet) {
        if packet.is_lost {
            self.ports[link].counts.lost += 1;
            return self.count_drop(link, &packet, "link_loss");
        }
        let node = self.plan.links[link].to as usize;
        let Some(next) = packet.next_link() else { return self.deliver(packet) };
        packet.hop += 1;
        let Some(switch) = &mut self.switches[node] else { return self.offer(next, packet) };
        let bytes = charged_bytes(self.plan.links[link].framing, packet.ip_bytes);
        let back = self.plan.links[link].reverse as usize;
        packet.ingress = switch.egress.iter().position(|&out| out == back).expect("a port of the switch");
        packet.charged = bytes.next_multiple_of(switch.cell);
        let latency = switch.latency;
        let to = switch.egress.iter().position(|&out| out == next).expect("a port of the switch");
        let (fits, to_pause) = switch.admit(packet.ingress, to, packet.charged);
        let is_by_ingress = switch.pause.is_some_and(|pause| pause.per == PausePer::Ingress);
        let blame = if is_by_ingress { Blame::Ingress } else { Blame::Memory };
        self.tell(node, to_pause, Some(blame));
        if !fits {
            self.ports[next].counts.drops += 1;
            self.count_drop(next, &packet, "memory_full");
        } else if latency == 0 {
            self.offer(next, packet);
        } else {
            let stage = (self.plan.links.len() + link) as u64;
            self.schedule(self.now + latency, Class::Arrival, stage, What::Switched(next, packet));
        }
    }

    /// A frame has left a node through a port, or was refused there: it leaves the memory of the node, if the node has one.
    fn release(&mut self, port: usize, ingress: usize, charged: u64) {
        let node = self.plan.links[port].from as usize;
        if let Some(switch) = &mut self.switches[node] {
            let to = switch.egress.iter().position(|&out| out == port).expect("a port of the switch");
            let to_resume = switch.release(ingress, to, charged);
            self.tell(node, to_resume, None);
        }
    }

    fn begins_to_wait(&mut self, port: usize, ingress: usize, bytes: u64) {
        let node = self.plan.links[port].from as usize;
        if let Some(switch) = &mut self.switches[node] {
            let to = switch.egress.iter().position(|&out| out == port).expect("a port of the switch");
            let to_pause = switch.queued(self.now, ingress, to, bytes);
            self.tell(node, to_pause, Some(Blame::Egress(port)));
        }
    }

    fn ends_to_wait(&mut self, port: usize, ingress: usize, bytes: u64) {
        let node = self.plan.links[port].from as usize;
        if let Some(switch) = &mut self.switches[node] {
            let to = switch.egress.iter().position(|&out| out == port).expect("a port of the switch");
            let to_resume = switch.left(to, bytes);
            debug_assert!(ingress < switch.egress.len());
            self.tell(node, to_resume, None);
        }
    }

    /// A switch tells the stations behind these ports to pause, for the reason given, or to go on.
    fn tell(&mut self, node: usize, ports: Vec<usize>, blame: Option<Blame>) {
        for port in ports {
            let now = self.now;
            let Some(switch) = &mut self.switches[node] else { return };
            if blame.is_some() {
                switch.since[port] = now;
            }
            let (out, quanta) = (switch.egress[port], switch.pause.map_or(0, |words| words.quanta));
            if let Some(blame) = blame {
                self.asked(node, out, blame);
            }
            self.send_pause(out, if blame.is_some() { quanta } else { 0 });
        }
    }

    /// Sends a PAUSE through a port, or with 0 quanta a resumption.
    fn send_pause(&mut self, port: usize, quanta: u16) {
        self.note_pause(port, quanta);
        let back = self.plan.links[port].reverse as usize;
        let refresh = self.now + quanta_ps(self.ports[back].rate_bps, quanta) / 2;
        let p = &mut self.ports[port];
        p.control = Some(quanta);
        p.refresh = (quanta > 0).then_some(refresh);
        if quanta > 0 {
            self.schedule(refresh, Class::Timer, port as u64, What::Refresh(port));
        }
        self.start(port);
    }

    /// The time of a repetition has come, if the PAUSE of a port is still to be repeated then.
    pub fn refresh(&mut self, port: usize) {
        if self.ports[port].refresh != Some(self.now) {
            return;
        }
        let node = self.plan.links[port].from as usize;
        let quanta = self.switches[node].as_ref().and_then(|switch| switch.pause).map_or(0, |pause| pause.quanta);
        self.send_pause(port, quanta);
        self.look_for_deadlock(port);
    }

    /// A PAUSE frame is in at the far end of a link: the port that sends the other way obeys.
    pub fn pause_frame(&mut self, link: usize, quanta: u16) {
        let port = self.plan.links[link].reverse as usize;
        let reaction = self.plan.nodes[self.plan.links[port].from as usize].pause;
        let p = &mut self.ports[port];
        p.counts.pauses_received += 1;
        if !reaction.obey {
            return;
        }
        let (pause, response) = (quanta_ps(p.rate_bps, quanta), quanta_ps(p.rate_bps, reaction.response_quanta));
        p.gate.receive(self.now, pause, response);
        let window = p.gate.window();
        self.gated(port, window);
        self.start(port);
    }
}
