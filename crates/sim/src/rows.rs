//! From the world to rows: flows and ports.

use elephan_record::{FlowRow, MessageRow, PortRow, QueueDelayRow};
use elephan_tcp::Snapshot;
use elephan_units::{Span, Time, stop};

use crate::Error;
use crate::flow::{Application, Flow, Socket};
use crate::ids::LinkId;
use crate::instruments;
use crate::net::Window;
use crate::world::World;

impl World {
    /// The row of a flow; `over` if both ends have closed.
    pub fn flow_row(&self, now: Time, flow: &Flow, over: bool) -> FlowRow {
        let plan = &self.plan;
        let delivered = flow.delivered(&self.sockets, &self.rdma);
        // A flow that ended within the warm-up has nothing measured; the warm-up ends after all else of its instant.
        let measured = if now <= plan.warmup { 0 } else { delivered.saturating_sub(flow.before_warmup) };
        let seconds = plan.duration.since(plan.warmup).seconds();
        let udp = matches!(flow.application, Application::Datagrams(_));
        let raw = matches!(&flow.application, Application::Datagrams(d) if d.raw);
        let sender = self.sockets.get(flow.sender as usize);
        let receiver = self.sockets.get(flow.receiver as usize);
        let stats = |socket: Option<&Socket>| socket.map_or_else(Snapshot::default, |s| s.endpoint.stats(now));
        let option = flow.plan.sender as usize;
        // A flow is called by the controller that it has at last.
        let congestion_control =
            sender.map_or(self.congestion_controls[flow.traffic as usize].name(), |s| s.endpoint.controller().name());
        // A stream that was given nothing to carry has no last byte.
        let carried = |done: Option<Time>| done.filter(|_| flow.size != Some(0)).map(|done| done.since(flow.start));
        let (fct, ideal) = (carried(flow.done), self.ideal(flow));
        let t = &self.tables;
        let mut row = FlowRow {
            flow: i64::from(flow.number),
            traffic: t.traffic[flow.traffic as usize],
            source: t.nodes[flow.plan.from as usize],
            destination: t.nodes[flow.plan.to as usize],
            protocol: if raw {
                t.ethernet
            } else if udp {
                t.udp
            } else {
                t.tcp
            },
            congestion_control: if udp { t.empty } else { t.congestion_control(congestion_control) },
            stack: if udp { t.empty } else { t.stacks[option] },
            start_ns: flow.start.ns(),
            established_ns: flow.established.map(Time::ns),
            end_ns: over.then_some(now.ns()),
            completed: flow.done.is_some(),
            size_bytes: flow.size.map(|s| s as i64),
            delivered_bytes: delivered as i64,
            measured_bytes: measured as i64,
            goodput_bps: measured as f64 * 8.0 / seconds,
            fct_ns: fct.map(Span::ns),
            ideal_fct_ns: ideal.map(Span::ns),
            slowdown: ideal.zip(fct).map(|(ideal, fct)| fct.ps() as f64 / ideal.ps().max(1) as f64),
            sender_fct_ns: carried(flow.sender_done).map(Span::ns),
            ..instruments::of_flow(&stats(sender), &stats(receiver))
        };
        if let Some(rdma) = &self.plan.traffic[flow.traffic as usize].rdma {
            (row.protocol, row.stack) = (t.transport(rdma.transport()), t.empty);
            row.congestion_control = t.congestion_control(self.congestion_controls[flow.traffic as usize].name());
            self.rdma_instruments(flow, &mut row);
        }
        if let Application::Datagrams(d) = &flow.application {
            row.segs_out = d.sent_packets as i64;
            row.data_segs_out = d.sent_packets as i64;
            row.data_octets_out = d.sent_bytes as i64;
            row.data_segs_in = d.received_packets as i64;
            row.data_octets_in = d.received_bytes as i64;
        }
        row
    }

    fn push_flow(&mut self, row: FlowRow) {
        self.tables.totals.count(&row);
        self.recorder.flows.push(row);
    }

    /// Messages and transfers that the end of the run cut off.
    fn write_unfinished(&mut self, id: u32) {
        let Some(flow) = &self.flows[id as usize] else { return };
        let messages = &mut self.recorder.messages;
        let mut push = |enter: Time, bytes: u64| {
            messages.push(MessageRow {
                flow: i64::from(flow.number),
                enter_ns: enter.ns(),
                exit_ns: None,
                size_bytes: bytes as i64,
                latency_ns: None,
            });
        };
        match &flow.application {
            Application::Messages(queue) => {
                self.tables.messages_dropped += queue.dropped_messages();
                if self.plan.record.messages {
                    queue.unfinished().for_each(|(enter, bytes)| push(enter, bytes));
                }
            }
            Application::Transfer { .. } if self.plan.record.messages && flow.done.is_none() => {
                push(flow.start, flow.size.unwrap_or(0));
            }
            _ => {}
        }
    }

    /// Rows of everything that lasts to the end of the run; checks Little's law at each port on the way.
    pub fn write_rest(&mut self) -> Result<(), Error> {
        let now = self.plan.duration;
        let mut ended = std::mem::take(&mut self.tables.ended);
        ended.sort_unstable_by_key(|row| row.flow);
        let mut ended = ended.into_iter().peekable();
        let mut live: Vec<(u32, u32)> = Vec::new();
        live.extend((0u32..).zip(&self.flows).filter_map(|(id, flow)| Some((flow.as_ref()?.number, id))));
        live.sort_unstable();
        for (number, id) in live {
            stop::look();
            while let Some(row) = ended.next_if(|row| row.flow < i64::from(number)) {
                self.push_flow(row);
            }
            self.write_unfinished(id);
            if let Some(flow) = &self.flows[id as usize] {
                let row = self.flow_row(now, flow, false);
                self.push_flow(row);
            }
        }
        ended.for_each(|row| self.push_flow(row));
        for i in 0..self.net.links.len() {
            stop::look();
            let row = self.port_row(i, now);
            self.recorder.ports.push(row);
            self.write_waits(i);
            if let Some(g) = &self.net.links[LinkId::of(i)].general
                && g.packet_ps != g.wait_ps
            {
                let (queue, waits) = (g.packet_ps, g.wait_ps);
                let name = &self.plan.links[i].name;
                return Err(Error::Conservation(format!("Little's law at {name}: queue {queue}, waits {waits}")));
            }
        }
        self.tables.holds(&mut self.net, &self.plan, &mut self.recorder);
        Ok(())
    }

    /// A row of each class of packets that has waited at a port.
    fn write_waits(&mut self, i: usize) {
        let Some(waits) = self.net.links[LinkId::of(i)].general.as_ref().and_then(|g| g.waits.as_ref()) else { return };
        for (priority, l4s, spread) in waits.classes() {
            self.recorder.queue_delays.push(QueueDelayRow {
                port: i as i64,
                name: self.tables.links[i],
                priority,
                l4s,
                packets: spread.count() as i64,
                mean_ns: (spread.mean() * 1e9).round() as i64,
                p50_ns: spread.quantile_ns(0.5),
                p90_ns: spread.quantile_ns(0.9),
                p99_ns: spread.quantile_ns(0.99),
                p999_ns: spread.quantile_ns(0.999),
                max_ns: spread.quantile_ns(1.0),
            });
        }
    }

    fn port_row(&mut self, i: usize, now: Time) -> PortRow {
        let window: Window = self.net.window;
        let measured = window.end.since(window.warmup);
        let link = &mut self.net.links[LinkId::of(i)];
        link.close_books(window);
        let plan = &self.plan.links[i];
        let per_ps = |integral: u128| integral as f64 / measured.ps().max(1) as f64;
        let c = &link.counts;
        PortRow {
            port: i as i64,
            name: self.tables.links[i],
            node: self.tables.node(plan.from),
            peer: self.tables.node(plan.to),
            rate_bps: plan.rate.bps() as f64,
            tx_packets: c.tx_packets as i64,
            tx_bytes: c.tx_bytes as i64,
            drops: c.drops as i64,
            lost: c.lost as i64,
            marks: c.marks as i64,
            trims: link.trims() as i64,
            queue_max_bytes: c.queue_max_bytes as i64,
            queue_max_packets: c.queue_max_packets as i64,
            queue_mean_bytes: per_ps(c.byte_ps),
            paused_ns: link.paused_until(now).ns(),
            pauses_sent: c.pauses_sent as i64,
            pauses_received: c.pauses_received as i64,
            notifications_sent: link.notifications_sent() as i64,
            notifications_received: link.notifications_received() as i64,
            utilisation: link.utilisation(window),
        }
    }
}
