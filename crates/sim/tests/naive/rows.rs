//! The rows of a run, after docs/data-dictionary.md.

use elephan_record::{
    DatagramRow, EventRow, FlowRow, FlowSampleRow, PortRow, PortSampleRow, SwitchSampleRow, Tables, Text,
};
use elephan_scenario::{NodeKind, PortSelection};
use elephan_units::Time;

use super::engine::Engine;
use super::order::{Class, What};
use super::packet::{Packet, charged_bytes};

/// What a queue counts of a PAUSE frame.
const PAUSE_BYTES: i64 = 64;

fn ns(ps: u64) -> i64 {
    Time(ps).ns()
}

impl Engine<'_> {
    pub fn node_name(&mut self, node: usize) -> Text {
        self.recorder.intern(&self.plan.nodes[node].name)
    }

    /// A row of `events` about a port.
    fn event(&mut self, port: usize, kind: &str, reason: &str) -> EventRow {
        let link = &self.plan.links[port];
        EventRow {
            time_ns: ns(self.now),
            kind: self.recorder.intern(kind),
            node: self.node_name(link.from as usize),
            port: Some(port as i64),
            peer: Some(self.node_name(link.to as usize)),
            reason: self.recorder.intern(reason),
            ..EventRow::default()
        }
    }

    fn push_event(&mut self, row: EventRow) {
        if self.plan.record.events {
            self.recorder.events.push(row);
        }
    }

    /// A packet is gone, at a port or on its link.
    pub fn count_drop(&mut self, port: usize, packet: &Packet, reason: &'static str) {
        *self.dropped.entry(reason).or_insert(0) += 1;
        let row = self.event(port, "drop", reason);
        let bytes = charged_bytes(self.plan.links[port].framing, packet.ip_bytes);
        self.push_event(EventRow {
            flow: Some(packet.flow as i64),
            packet_bytes: Some(bytes as i64),
            value: packet.sequence.map(f64::from),
            ..row
        });
    }

    pub fn count_mark(&mut self, port: usize, flow: usize, bytes: u64) {
        self.ports[port].counts.marks += 1;
        let row = self.event(port, "mark", "");
        self.push_event(EventRow { flow: Some(flow as i64), packet_bytes: Some(bytes as i64), ..row });
    }

    /// A switch decides to send a PAUSE through a port, or with 0 quanta a resumption.
    pub fn note_pause(&mut self, port: usize, quanta: u16) {
        let (kind, reason) = if quanta == 0 { ("resume", "xon") } else { ("pause", "xoff") };
        let row = self.event(port, kind, reason);
        self.push_event(EventRow { packet_bytes: Some(PAUSE_BYTES), value: Some(f64::from(quanta)), ..row });
    }

    /// A port is part of a cycle of ports that wait for each other's buffers.
    pub fn note_deadlock(&mut self, port: usize, closed_s: f64) {
        let row = self.event(port, "deadlock", "xoff");
        self.push_event(EventRow { value: Some(closed_s), ..row });
    }

    pub fn log_datagram(&mut self, packet: &Packet) {
        self.recorder.datagrams.push(DatagramRow {
            flow: packet.flow as i64,
            seq: i64::from(packet.number),
            time_ns: ns(self.now),
            payload_bytes: packet.payload as i64,
            delay_ns: ns(self.now - packet.left),
        });
    }

    fn is_sampled(&self, port: usize) -> bool {
        match &self.plan.record.ports {
            PortSelection::None => false,
            PortSelection::All => true,
            PortSelection::Listed(list) => list.contains(&(port as u32)),
            PortSelection::Switches => {
                matches!(self.plan.nodes[self.plan.links[port].from as usize].kind, NodeKind::Switch(_))
            }
        }
    }

    /// The time of a sample has come.
    pub fn sample(&mut self) {
        let Some(every) = self.plan.record.every else { return };
        self.schedule(self.now + every.0, Class::Sample, 0, What::Sample);
        let phase = self.recorder.intern("");
        for (number, flow) in self.flows.iter().enumerate() {
            if self.plan.record.flows && flow.has_begun {
                self.recorder.flow_samples.push(FlowSampleRow {
                    time_ns: ns(self.now),
                    flow: number as i64,
                    delivered_bytes: flow.received.1 as i64,
                    phase,
                    ..FlowSampleRow::default()
                });
            }
        }
        for port in 0..self.ports.len() {
            if self.is_sampled(port) {
                let row = self.port_sample(port, every.0);
                self.recorder.port_samples.push(row);
            }
        }
        for node in 0..self.switches.len() {
            let NodeKind::Switch(spec) = &self.plan.nodes[node].kind else { continue };
            let name = self.node_name(node);
            let Some(switch) = self.switches[node].as_ref().filter(|_| spec.memory_bytes.is_some()) else { continue };
            self.recorder.switch_samples.push(SwitchSampleRow {
                time_ns: ns(self.now),
                switch: name,
                memory_bytes: switch.used() as i64,
                pausing: switch.pauses_anybody(),
            });
        }
    }

    /// For how many picoseconds from `from` to `until` a port sent packets.
    fn busy_ps(&self, port: usize, from: u64, until: u64) -> u64 {
        let within = |&(begin, end): &(u64, u64)| end.min(until).saturating_sub(begin.max(from));
        self.ports[port].counts.busy.iter().map(within).sum()
    }

    fn port_sample(&mut self, port: usize, every: u64) -> PortSampleRow {
        let busy = self.busy_ps(port, 0, self.now);
        let busy_ps = busy - std::mem::replace(&mut self.busy_before[port], busy);
        let p = &self.ports[port];
        PortSampleRow {
            time_ns: ns(self.now),
            port: port as i64,
            queue_bytes: p.queue.bytes() as i64,
            queue_packets: p.queue.packets() as i64,
            tx_packets: p.counts.packets as i64,
            tx_bytes: p.counts.bytes as i64,
            drops: p.counts.drops as i64,
            marks: p.counts.marks as i64,
            trims: 0,
            paused_ns: ns(p.gate.closed_ps(self.now)),
            notifications: 0,
            utilisation: busy_ps as f64 / every as f64,
        }
    }

    /// What of the measured time a port spent sending packets.
    pub fn utilisation(&self, port: usize) -> f64 {
        let (warmup, end) = self.window();
        self.busy_ps(port, warmup, end) as f64 / (end - warmup).max(1) as f64
    }

    /// Bytes waiting at a port, averaged over the measured time.
    pub fn queue_mean_bytes(&self, port: usize) -> f64 {
        let (warmup, end) = self.window();
        self.ports[port].counts.byte_ps as f64 / (end - warmup).max(1) as f64
    }

    fn port_row(&mut self, port: usize) -> PortRow {
        let link = &self.plan.links[port];
        let (name, node, peer) =
            (self.recorder.intern(&link.name), self.node_name(link.from as usize), self.node_name(link.to as usize));
        let counts = &self.ports[port].counts;
        PortRow {
            port: port as i64,
            name,
            node,
            peer,
            rate_bps: link.rate.0 as f64,
            tx_packets: counts.packets as i64,
            tx_bytes: counts.bytes as i64,
            drops: counts.drops as i64,
            lost: counts.lost as i64,
            marks: counts.marks as i64,
            trims: 0,
            queue_max_bytes: counts.queue_max_bytes as i64,
            queue_max_packets: counts.queue_max_packets as i64,
            queue_mean_bytes: self.queue_mean_bytes(port),
            paused_ns: ns(self.ports[port].gate.closed_ps(self.now)),
            pauses_sent: counts.pauses_sent as i64,
            pauses_received: counts.pauses_received as i64,
            notifications_sent: 0,
            notifications_received: 0,
            utilisation: self.utilisation(port),
        }
    }

    /// The goodput of a flow in bit/s.
    pub fn goodput_bps(&self, number: usize) -> f64 {
        let (warmup, end) = self.window();
        let measured_s = Time(end).since(Time(warmup)).seconds();
        self.measured_bytes(number) as f64 * 8.0 / measured_s
    }

    fn measured_bytes(&self, number: usize) -> u64 {
        let flow = &self.flows[number];
        flow.received.1 - flow.received_before_warmup
    }

    fn flow_row(&mut self, number: usize) -> FlowRow {
        let flow = &self.flows[number];
        let (from, to, traffic) = (flow.from, flow.to, flow.traffic);
        let protocol = if flow.is_raw { "ethernet" } else { "udp" };
        let (measured_bytes, goodput_bps) = (self.measured_bytes(number), self.goodput_bps(number));
        let (source, destination) = (self.node_name(from), self.node_name(to));
        let traffic = self.recorder.intern(&self.plan.traffic[traffic].name);
        let protocol = self.recorder.intern(protocol);
        let flow = &self.flows[number];
        let fct = flow.done.filter(|_| flow.size != Some(0)).map(|done| ns(done - flow.start));
        FlowRow {
            flow: number as i64,
            traffic,
            source,
            destination,
            protocol,
            start_ns: ns(flow.start),
            completed: flow.done.is_some(),
            size_bytes: flow.size.map(|size| size as i64),
            delivered_bytes: flow.received.1 as i64,
            measured_bytes: measured_bytes as i64,
            goodput_bps,
            fct_ns: fct,
            segs_out: flow.sent.0 as i64,
            data_segs_out: flow.sent.0 as i64,
            data_octets_out: flow.sent.1 as i64,
            data_segs_in: flow.received.0 as i64,
            data_octets_in: flow.received.1 as i64,
            stall_max_ns: Some(0),
            ..FlowRow::default()
        }
    }

    /// Writes the rows of flows and ports. Returns all tables.
    pub fn finish(mut self) -> Tables {
        for number in 0..self.flows.len() {
            let row = self.flow_row(number);
            self.recorder.flows.push(row);
        }
        let window = self.window();
        for port in 0..self.ports.len() {
            let now = self.now;
            self.ports[port].count_wait(now, window);
            let row = self.port_row(port);
            self.recorder.ports.push(row);
        }
        self.write_spread();
        self.recorder.finish().expect("tables in memory")
    }
}
