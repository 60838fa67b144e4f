//! What hosts have done, as rows and as figures of the summary.

use elephan_host::receive::Refused;
use elephan_record::{HostRow, HostSampleRow, TransmitSampleRow};
use elephan_units::{Span, Time};
use serde_json::{Value, json};

use crate::ids::LinkId;
use crate::net::Window;
use crate::world::World;

/// `part` of `whole`, at most 1: the work that a job began may reach beyond the end.
fn share(part: Span, whole: Span) -> f64 {
    (part.ps() as f64 / whole.ps().max(1) as f64).min(1.0)
}

impl World {
    /// The warm-up is over.
    pub fn warm_hosts(&mut self, now: Time) {
        for kernel in self.hosts.kernels() {
            kernel.busy_before = kernel.server.busy(now);
        }
    }

    pub fn sample_hosts(&mut self, now: Time, every: Span) {
        let World { hosts, recorder, tables, .. } = self;
        for (node, kernel) in hosts.numbered_kernels() {
            let busy = kernel.server.busy(now);
            let before = std::mem::replace(&mut kernel.busy_sampled, busy);
            let (ring, backlog) = kernel.receiver.waiting();
            recorder.host_samples.push(HostSampleRow {
                time_ns: now.ns(),
                host: tables.node(node),
                cpu: share(Span(busy.ps() - before.ps()), every),
                ring_packets: ring as i64,
                backlog_packets: backlog as i64,
                drops: kernel.receiver.counts().dropped() as i64,
                logger_silent_ns: kernel.logger.map(|logger| logger.silent(now).ns()),
            });
        }
    }

    /// The rows of `hosts`, and gaps of loggers that the end of the run cuts off.
    pub fn write_hosts(&mut self) {
        let now = self.plan.duration;
        let mut open = Vec::new();
        for (node, kernel) in self.hosts.numbered_kernels() {
            if let Some(logger) = &mut kernel.logger
                && let Some(gap) = logger.silence(now)
            {
                logger.gaps += 1;
                logger.longest = logger.longest.max(gap.end.since(gap.begin));
                open.push((node, gap));
            }
        }
        open.into_iter().for_each(|(node, gap)| self.note_gap(node, gap));
        let window: Window = self.net.window;
        let measured = window.end.since(window.warmup);
        let World { hosts, recorder, tables, .. } = self;
        for (node, kernel) in hosts.numbered_kernels() {
            let counts = kernel.receiver.counts();
            let dropped = |why: Refused| counts.drops[why as usize] as i64;
            recorder.hosts.push(HostRow {
                host: tables.node(node),
                cpu: share(Span(kernel.server.busy(now).ps() - kernel.busy_before.ps()), measured),
                frames: counts.frames as i64,
                interrupts: counts.interrupts as i64,
                drops_ring: dropped(Refused::Ring),
                drops_backlog: dropped(Refused::Backlog),
                drops_throttle: dropped(Refused::Throttle),
                drops_socket: dropped(Refused::Socket),
                ring_max_packets: counts.ring_max as i64,
                backlog_max_packets: counts.backlog_max as i64,
                logger_gaps: kernel.logger.map(|logger| logger.gaps as i64),
                logger_gap_max_ns: kernel.logger.map(|logger| logger.longest.ns()),
            });
        }
    }

    /// What the summary says of hosts that are not ideal; null when there are none.
    pub fn hosts_summary(&mut self) -> Value {
        let window: Window = self.net.window;
        let measured = window.end.since(window.warmup);
        let (mut cpu, mut drops, mut gap, mut any) = (0f64, 0, None, false);
        for kernel in self.hosts.kernels() {
            any = true;
            cpu = cpu.max(share(Span(kernel.server.busy(window.end).ps() - kernel.busy_before.ps()), measured));
            drops += kernel.receiver.counts().dropped();
            gap = gap.max(kernel.logger.map(|logger| logger.longest));
        }
        if !any {
            return Value::Null;
        }
        json!({ "cpu_max": cpu, "drops": drops, "logger_gap_max_s": gap.map(Span::seconds) })
    }

    /// Rows of all ports with a transmit side.
    pub fn sample_transmit(&mut self, now: Time) {
        for (i, port) in self.hosts.ports.iter_mut().enumerate() {
            let Some(port) = port else { continue };
            let (_, waiting) = self.net.links[LinkId::of(i)].queue_at(now);
            let (qdisc, ring) = port.room.split(waiting);
            self.recorder.transmit_samples.push(TransmitSampleRow {
                time_ns: now.ns(),
                host: self.tables.node(self.plan.links[i].from),
                port: i as i64,
                qdisc_packets: qdisc as i64,
                ring_packets: ring as i64,
                found_max_packets: std::mem::take(&mut port.found).max(qdisc + ring) as i64,
                send_stalls: port.stalls as i64,
            });
        }
    }
}
