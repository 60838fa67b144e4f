//! Samples: the state of flows, ports and switches at fixed times, pulled from their owners.

use elephan_record::{FlowSampleRow, PortSampleRow, SwitchSampleRow};
use elephan_units::{Time, stop};

use crate::flow::Application;
use crate::ids::LinkId;
use crate::instruments;
use crate::target::Target;
use crate::world::World;

impl World {
    /// Ends the warm-up: what was delivered until now is not measured, nor what waits behind holes.
    pub fn end_warmup(&mut self, now: Time) {
        let World { flows, sockets, rdma, .. } = self;
        for flow in flows.iter_mut().flatten() {
            stop::look();
            flow.before_warmup = flow.arrived(sockets, rdma);
        }
        self.warm_copies(now);
        self.warm_hosts(self.plan.warmup);
        for link in self.net.links.iter_mut() {
            if let Some(waits) = link.general.as_mut().and_then(|g| g.waits.as_mut()) {
                waits.clear();
            }
        }
    }

    pub fn schedule_sample(&mut self, at: Time) {
        self.next_sample = Target::Sample.at(at);
        self.net.events.push(self.next_sample);
    }

    pub fn sample(&mut self, now: Time) {
        if let Some(every) = self.plan.record.every {
            self.schedule_sample(now.saturating_add(every));
        }
        if self.plan.record.flows {
            self.sample_flows(now);
            self.sample_copies(now);
        }
        if self.plan.record.statistics {
            self.sample_statistics(now);
        }
        if self.plan.record.info {
            self.sample_info(now);
        }
        self.sample_ports(now);
        self.sample_switches(now);
        self.sample_limiters(now);
        self.sample_hosts(now, self.plan.record.every.unwrap_or_default());
        self.sample_transmit(now);
    }

    /// What each connection counts at `now`.
    fn sample_statistics(&mut self, now: Time) {
        for flow in self.flows.iter().flatten().filter(|flow| flow.begun) {
            let socket = |end: u32| self.sockets.get(end as usize);
            let (Some(sender), Some(receiver)) = (socket(flow.sender), socket(flow.receiver)) else { continue };
            let (s, r) = (sender.endpoint.stats(now), receiver.endpoint.stats(now));
            self.recorder.statistics.push(instruments::at(now, flow.number, &s, &r));
        }
    }

    fn sample_flows(&mut self, now: Time) {
        for flow in self.flows.iter().flatten() {
            stop::look();
            if !flow.begun {
                continue;
            }
            if let Application::Datagrams(datagrams) = &flow.application {
                self.recorder.flow_samples.push(FlowSampleRow {
                    time_ns: now.ns(),
                    flow: i64::from(flow.number),
                    delivered_bytes: datagrams.received_bytes as i64,
                    phase: self.tables.phase(None),
                    ..FlowSampleRow::default()
                });
                continue;
            }
            if let Some(row) = self.rdma_sample(now, flow) {
                self.recorder.flow_samples.push(row);
                continue;
            }
            let Some(sender) = self.sockets.get(flow.sender as usize) else { continue };
            let endpoint = &sender.endpoint;
            let cc = endpoint.controller();
            let stats = endpoint.stats(now);
            self.recorder.flow_samples.push(FlowSampleRow {
                time_ns: now.ns(),
                flow: i64::from(flow.number),
                cwnd_bytes: Some(cc.window()),
                ssthresh_bytes: Some(cc.ssthresh()).filter(|s| s.is_finite()),
                inflight_bytes: endpoint.inflight() as i64,
                srtt_ns: endpoint.srtt().map(|s| s.ns()),
                pacing_bps: cc.pacing_rate(),
                delivered_bytes: flow.delivered(&self.sockets, &self.rdma) as i64,
                phase: self.tables.phase(Some(endpoint.phase())),
                pipe_size: stats.pipe_size as i64,
                sample_rtt_ns: (stats.count_rtt > 0).then_some(stats.sample_rtt_ns as i64),
                cur_rto_ns: stats.cur_rto_ns as i64,
                cur_rwin_rcvd: stats.cur_rwin_rcvd as i64,
                cur_app_w_queue: stats.cur_app_w_queue as i64,
                segs_retrans: stats.segs_retrans as i64,
                cong_signals: stats.cong_signals as i64,
                other_reductions: stats.other_reductions as i64,
                snd_lim_time_rwin_ns: stats.snd_lim_time_rwin_ns as i64,
                snd_lim_time_cwnd_ns: stats.snd_lim_time_cwnd_ns as i64,
                snd_lim_time_snd_ns: stats.snd_lim_time_snd_ns as i64,
                snd_lim_bytes_rwin: stats.snd_lim_bytes_rwin as i64,
                snd_lim_bytes_cwnd: stats.snd_lim_bytes_cwnd as i64,
                snd_lim_bytes_snd: stats.snd_lim_bytes_snd as i64,
            });
        }
    }

    fn sample_ports(&mut self, now: Time) {
        let Some(every) = self.plan.record.every else { return };
        let mut seldom = stop::Seldom::default();
        for (i, &observed) in self.observed.iter().enumerate() {
            seldom.look();
            if !observed {
                continue;
            }
            self.net.look_at(now, LinkId::of(i));
            let link = &mut self.net.links[LinkId::of(i)];
            let (queue_bytes, queue_packets) = link.queue_at(now);
            let (tx_bytes, tx_packets) = link.started(now);
            let busy = link.busy_at(now, self.net.window);
            let busy_ps = busy - std::mem::replace(&mut self.tables.busy_before[i], busy);
            let (drops, marks) = (link.counts.drops as i64, link.counts.marks as i64);
            let trims = link.trims() as i64;
            let paused_ns = link.paused_until(now).ns();
            let notifications = link.notifications_sent() as i64;
            self.recorder.port_samples.push(PortSampleRow {
                time_ns: now.ns(),
                port: i as i64,
                queue_bytes: queue_bytes as i64,
                queue_packets: queue_packets as i64,
                tx_packets: tx_packets as i64,
                tx_bytes: tx_bytes as i64,
                drops,
                marks,
                trims,
                paused_ns,
                notifications,
                utilisation: busy_ps as f64 / every.ps() as f64,
            });
        }
    }

    fn sample_switches(&mut self, now: Time) {
        for switch in self.net.switches.iter().filter(|s| s.sampled) {
            self.recorder.switch_samples.push(SwitchSampleRow {
                time_ns: now.ns(),
                switch: self.tables.node(switch.node),
                memory_bytes: self.net.memory_used(now, switch) as i64,
                pausing: switch.is_pausing(),
            });
        }
    }
}
