//! What applications do over RDMA: write, read, end.

use elephan_engine::Alarm;
use elephan_traffic::Generate;
use elephan_units::Time;

use crate::flow::Application;
use crate::net::NONE;
use crate::world::World;

impl World {
    /// A transfer arrives: one work request on a connection of its own.
    pub fn rdma_transfer(&mut self, now: Time, id: u32, bytes: u64) {
        self.rdma_open(id);
        let Some(flow) = &self.flows[id as usize] else { return };
        let place = flow.rdma;
        let pair = &mut self.rdma.pairs[place as usize];
        pair.ends.post(bytes);
        pair.ended = true;
        self.rdma_go_on(now, place);
    }

    /// Lets the application of a flow post what is due.
    pub fn rdma_write(&mut self, now: Time, id: u32) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let pair = &mut self.rdma.pairs[flow.rdma as usize];
        match &mut flow.application {
            Application::Stream { source, next, total } => {
                while let Some(due) = *next {
                    if due.0 > now {
                        break;
                    }
                    *total = total.saturating_add(due.1.bytes);
                    *next = source.next_offer().map(|o| (due.0.saturating_add(o.gap), o));
                }
                pair.ends.post(*total);
                pair.ended = next.is_none() && *total != u64::MAX;
            }
            // The memory of a work request is the application's: nothing waits for room.
            Application::Messages(queue) => {
                pair.ends.post(queue.pump(now, u64::MAX));
                pair.ended = queue.ended();
            }
            Application::Transfer { .. }
            | Application::Copy { .. }
            | Application::Datagrams(_)
            | Application::Program { .. } => {}
            &mut Application::Ranks { game, .. } => return self.begin_pair(now, game),
        }
        let place = flow.rdma;
        self.rearm(id);
        self.rdma_go_on(now, place);
        self.rdma_finish(now, place);
    }

    /// Payload has come in order.
    pub(super) fn rdma_received(&mut self, now: Time, place: u32) {
        let pair = &self.rdma.pairs[place as usize];
        let (id, received) = (pair.flow, pair.ends.received());
        self.received(now, id, received);
    }

    /// Payload has been acknowledged.
    pub(super) fn rdma_acknowledged(&mut self, now: Time, place: u32) {
        let pair = &self.rdma.pairs[place as usize];
        let (id, acked) = (pair.flow, pair.ends.acked());
        self.ranks_acknowledged(now, id, acked);
        let Some(flow) = &mut self.flows[id as usize] else { return };
        if flow.sender_done.is_none() && flow.size.is_some_and(|size| acked >= size) {
            flow.sender_done = Some(now);
            if matches!(flow.application, Application::Transfer { .. }) && flow.start >= self.plan.warmup {
                self.tables.acknowledged.add(now.since(flow.start));
            }
        }
        self.rdma_finish(now, place);
    }

    /// The application of a connection will offer nothing more.
    pub fn rdma_end(&mut self, now: Time, place: u32) {
        self.rdma.pairs[place as usize].ended = true;
        self.rdma_finish(now, place);
    }

    /// Frees a connection whose application has ended and has everything acknowledged.
    fn rdma_finish(&mut self, now: Time, place: u32) {
        let pair = &self.rdma.pairs[place as usize];
        if !pair.ended || pair.number == NONE || pair.ends.acked() < pair.ends.posted() {
            return;
        }
        let id = pair.flow;
        let Some(flow) = &self.flows[id as usize] else { return };
        if let Err(violation) = self.check_stream(flow) {
            self.violation.get_or_insert(violation);
        }
        if let Some(flow) = self.flows[id as usize].take() {
            let row = self.flow_row(now, &flow, true);
            self.tables.ended.push(row);
        }
        self.free_flows.push(id);
        let pair = &mut self.rdma.pairs[place as usize];
        pair.number = NONE;
        pair.alarm = Alarm::default();
        if std::mem::take(&mut pair.queued) {
            self.rdma.ready.at(pair.link).forget(pair.priority, place);
        }
        let to = pair.to;
        self.rdma.free.push(place);
        if let Some(pacer) = self.rdma.pacers.get_mut(&to) {
            pacer.forget(place);
        }
    }

    /// The traffic of a flow stops: what was never sent is taken back, messages that were posted are still delivered.
    pub fn rdma_stop(&mut self, now: Time, id: u32) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let place = flow.rdma;
        let pair = &mut self.rdma.pairs[place as usize];
        match &mut flow.application {
            Application::Messages(queue) => {
                queue.stop();
                pair.ends.post(queue.offered());
            }
            Application::Stream { next, total, .. } => {
                *next = None;
                *total = pair.ends.cut();
                flow.size = flow.size.map(|size| size.min(*total));
            }
            Application::Transfer { .. }
            | Application::Copy { .. }
            | Application::Datagrams(_)
            | Application::Ranks { .. }
            | Application::Program { .. } => return,
        }
        pair.ended = true;
        self.rdma_go_on(now, place);
        // What is cut off may have been all that was missing, at either end.
        self.rdma_received(now, place);
        self.rdma_acknowledged(now, place);
    }
}
