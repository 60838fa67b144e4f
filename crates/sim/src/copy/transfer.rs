//! Transfers, and what each of them is limited by.

use std::collections::VecDeque;

use elephan_host::copy::{Pipeline, Stage};
use elephan_host::disk::Disk;
use elephan_record::Text;
use elephan_scenario::FlowPlan;
use elephan_units::Time;

use crate::flow::{Flow, Socket};

/// What a transfer can be limited by, in the order of [`Copy::limited`].
pub const LIMITS: [&str; 5] = ["read", "network", "send_buffer", "receive_buffer", "write"];
pub const READ: usize = 0;
pub const NETWORK: usize = 1;
pub const SEND_BUFFER: usize = 2;
pub const RECEIVE_BUFFER: usize = 3;
pub const WRITE: usize = 4;
/// Round trips longer than the least by more than this, in percent, say that a queue stands on the path: who fills it is held up
/// by the path, whatever the buffer that ends its window. \[assumed]
pub const QUEUE_PERCENT: u64 = 10;
/// All transfers, and the disks of the hosts by node.
#[derive(Clone, Default)]
pub struct Copies {
    pub all: Vec<Copy>,
    pub disks: Vec<Option<Disk>>,
    pub words: [Text; LIMITS.len()],
    pub empty: Text,
}

/// A transfer.
#[derive(Clone)]
pub struct Copy {
    pub traffic: u32,
    pub plan: FlowPlan,
    pub key: u32,
    /// Places and numbers of the flows that are its streams.
    pub flows: Vec<(u32, u32)>,
    pub pipeline: Pipeline,
    pub start: Time,
    /// Streams whose connections have been opened; it begins with the last.
    pub opened: usize,
    pub closed: bool,
    /// When the blocks in the cache will be on the disk, and those that are.
    pub caching: VecDeque<(Time, u64)>,
    pub on_disk_bytes: u64,
    pub ends: Ends,
    /// Picoseconds limited by each, and until when that is counted; then at the last sample and at the end of the warm-up.
    pub limited: [u64; LIMITS.len()],
    pub counted: Time,
    pub sampled: [u64; LIMITS.len()],
    pub before_warmup: Before,
    /// Times limited by congestion window, send buffer and receiver's window that the streams' senders had then.
    pub spent: Vec<[u64; 3]>,
    /// Sockets that may have something to send.
    pub touched: Vec<u32>,
}

/// When the last block was through each stage.
#[derive(Clone, Copy, Default)]
pub struct Ends {
    pub read: Option<Time>,
    pub received: Option<Time>,
    pub cached: Option<Time>,
    pub on_disk: Option<Time>,
}

#[derive(Clone, Copy, Default)]
pub struct Before {
    pub cached: u64,
    pub on_disk: u64,
    pub limited: [u64; LIMITS.len()],
}

impl Copy {
    /// When it is complete, which is known when its last block is in the cache.
    pub fn end(&self) -> Option<Time> {
        if self.pipeline.program().to_disk { self.ends.on_disk } else { self.ends.cached }
    }

    pub fn has_begun(&self) -> bool {
        self.opened == self.flows.len()
    }

    /// Counts blocks that have reached the disk.
    pub fn settle(&mut self, now: Time) {
        while let Some((_, bytes)) = self.caching.pop_front_if(|(at, _)| *at <= now) {
            self.on_disk_bytes += bytes;
        }
    }

    /// Counts the time since it was last called for what limited the transfer in it.
    pub fn count(&mut self, now: Time, flows: &[Option<Flow>], sockets: &[Socket]) {
        let mut spent = std::mem::take(&mut self.spent);
        self.limited = self.limited_at(now, flows, sockets, &mut spent);
        self.spent = spent;
        let until = self.end().map_or(now, |end| end.min(now));
        self.counted = self.counted.max(until);
    }

    /// What [`Copy::count`] counts, with what has been `spent` brought up to now. A sample only looks: where the counting stops
    /// in between does not depend on what is recorded.
    pub fn limited_at(
        &self,
        now: Time,
        flows: &[Option<Flow>],
        sockets: &[Socket],
        spent: &mut [[u64; 3]],
    ) -> [u64; LIMITS.len()] {
        let mut limited = self.limited;
        let until = self.end().map_or(now, |end| end.min(now));
        let span = until.since(self.counted).ps();
        if span == 0 || !self.has_begun() {
            return limited;
        }
        let (parts, unsent) = self.network_parts(now, flows, sockets, spent);
        let stage = match self.ends.cached {
            Some(_) => Stage::Write,
            // A stream that has more to send waits for no block, whatever room its send buffer has for one.
            None => Some(self.pipeline.stage()).filter(|s| *s != Stage::Read || !unsent).unwrap_or(Stage::Network),
        };
        match stage {
            Stage::Read => limited[READ] += span,
            Stage::Write => limited[WRITE] += span,
            Stage::Network => {
                let [cwnd, buffer, window] = parts.map(u128::from);
                let whole = cwnd + buffer + window;
                let share = |part: u128| (u128::from(span) * part).checked_div(whole).unwrap_or(0) as u64;
                let (buffer, window) = (share(buffer), share(window));
                limited[SEND_BUFFER] += buffer;
                limited[RECEIVE_BUFFER] += window;
                limited[NETWORK] += span - buffer - window;
            }
        }
        limited
    }

    /// How long senders with something to send were limited by congestion window, send buffer and receiver's window; whether a send
    /// buffer holds something that has not been sent.
    pub fn network_parts(
        &self,
        now: Time,
        flows: &[Option<Flow>],
        sockets: &[Socket],
        all_spent: &mut [[u64; 3]],
    ) -> ([u64; 3], bool) {
        let (mut sum, mut any_unsent) = ([0; 3], false);
        for (stream, &(id, number)) in self.flows.iter().enumerate() {
            let Some(flow) = live(flows, id, number) else { continue };
            let Some(sender) = sockets.get(flow.sender as usize) else { continue };
            let stats = sender.endpoint.stats(now);
            let spent = [stats.snd_lim_time_cwnd_ns, stats.snd_lim_time_snd_ns, stats.snd_lim_time_rwin_ns];
            let before = std::mem::replace(&mut all_spent[stream], spent);
            let unsent = stats.cur_app_w_queue > 0;
            any_unsent |= unsent;
            if unsent || self.pipeline.sending(stream as u32).is_some() {
                let queued = stats.smoothed_rtt_ns * 100 > stats.min_rtt_ns * (100 + QUEUE_PERCENT);
                (0..3).for_each(|i| sum[if queued { 0 } else { i }] += spent[i].saturating_sub(before[i]));
            }
        }
        (sum, any_unsent)
    }
}

/// The stage that `limited` says has lasted longest since `before`; none if nothing has.
pub fn longest(limited: &[u64; LIMITS.len()], before: &[u64; LIMITS.len()]) -> Option<usize> {
    let since = |i: &usize| limited[*i].saturating_sub(before[*i]);
    (0..LIMITS.len()).rev().max_by_key(since).filter(|i| since(i) > 0)
}

/// The flow at a place, unless it is over.
pub fn live(flows: &[Option<Flow>], id: u32, number: u32) -> Option<&Flow> {
    flows.get(id as usize)?.as_ref().filter(|flow| flow.number == number)
}
