//! Transfers from disk to disk: what `elephan_host::copy` decides, done with the sockets of the streams and the disks of the hosts.
//!
//! A host has one disk, which all transfers share in the order of their requests. Programs are called when a block is through a
//! stage, never for a packet: sockets take and hand over the bytes between by themselves.

mod rows;

use std::collections::VecDeque;

use elephan_host::copy::{Pipeline, Stage};
use elephan_host::disk::Disk;
use elephan_record::Text;
use elephan_scenario::FlowPlan;
use elephan_tcp::Endpoint;
use elephan_units::{Time, stop};

use crate::flow::{Application, Flow, Socket, stable_key};
use crate::target::Target;
use crate::world::World;

/// What a transfer can be limited by, in the order of [`Copy::limited`].
const LIMITS: [&str; 5] = ["read", "network", "send_buffer", "receive_buffer", "write"];
const READ: usize = 0;
const NETWORK: usize = 1;
const SEND_BUFFER: usize = 2;
const RECEIVE_BUFFER: usize = 3;
const WRITE: usize = 4;
/// Round trips longer than the least by more than this, in percent, say that a queue stands on the path: who fills it is held up
/// by the path, whatever the buffer that ends its window. \[assumed]
const QUEUE_PERCENT: u64 = 10;
/// What a serial program's far end says when a block is written.
const TOLD_BYTES: u64 = 16;

/// All transfers, and the disks of the hosts by node.
#[derive(Default)]
pub struct Copies {
    all: Vec<Copy>,
    disks: Vec<Option<Disk>>,
    words: [Text; LIMITS.len()],
    empty: Text,
}

/// A transfer.
struct Copy {
    traffic: u32,
    plan: FlowPlan,
    key: u32,
    /// Places and numbers of the flows that are its streams.
    flows: Vec<(u32, u32)>,
    pipeline: Pipeline,
    start: Time,
    /// Streams whose connections have been opened; it begins with the last.
    opened: usize,
    closed: bool,
    /// When the blocks in the cache will be on the disk, and those that are.
    caching: VecDeque<(Time, u64)>,
    on_disk_bytes: u64,
    ends: Ends,
    /// Picoseconds limited by each, and until when that is counted; then at the last sample and at the end of the warm-up.
    limited: [u64; LIMITS.len()],
    counted: Time,
    sampled: [u64; LIMITS.len()],
    before_warmup: Before,
    /// Times limited by congestion window, send buffer and receiver's window that the streams' senders had then.
    spent: Vec<[u64; 3]>,
    /// Sockets that may have something to send.
    touched: Vec<u32>,
}

/// When the last block was through each stage.
#[derive(Clone, Copy, Default)]
struct Ends {
    read: Option<Time>,
    received: Option<Time>,
    cached: Option<Time>,
    on_disk: Option<Time>,
}

#[derive(Clone, Copy, Default)]
struct Before {
    cached: u64,
    on_disk: u64,
    limited: [u64; LIMITS.len()],
}

impl Copy {
    /// When it is complete, which is known when its last block is in the cache.
    fn end(&self) -> Option<Time> {
        if self.pipeline.program().to_disk { self.ends.on_disk } else { self.ends.cached }
    }

    fn has_begun(&self) -> bool {
        self.opened == self.flows.len()
    }

    /// Counts blocks that have reached the disk.
    fn settle(&mut self, now: Time) {
        while let Some((_, bytes)) = self.caching.pop_front_if(|(at, _)| *at <= now) {
            self.on_disk_bytes += bytes;
        }
    }

    /// Counts the time since it was last called for what limited the transfer in it.
    fn count(&mut self, now: Time, flows: &[Option<Flow>], sockets: &[Socket]) {
        let mut spent = std::mem::take(&mut self.spent);
        self.limited = self.limited_at(now, flows, sockets, &mut spent);
        self.spent = spent;
        let until = self.end().map_or(now, |end| end.min(now));
        self.counted = self.counted.max(until);
    }

    /// What [`Copy::count`] counts, with what has been `spent` brought up to now. A sample only looks: where the counting stops
    /// in between does not depend on what is recorded.
    fn limited_at(
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
    fn network_parts(
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
fn longest(limited: &[u64; LIMITS.len()], before: &[u64; LIMITS.len()]) -> Option<usize> {
    let since = |i: &usize| limited[*i].saturating_sub(before[*i]);
    (0..LIMITS.len()).rev().max_by_key(since).filter(|i| since(i) > 0)
}

/// The flow at a place, unless it is over.
fn live(flows: &[Option<Flow>], id: u32, number: u32) -> Option<&Flow> {
    flows.get(id as usize)?.as_ref().filter(|flow| flow.number == number)
}

/// An end of a stream whose connection is not over.
fn endpoint<'a>(
    flows: &[Option<Flow>],
    sockets: &'a mut [Socket],
    (id, number): (u32, u32),
    far: bool,
) -> Option<(u32, &'a mut Endpoint)> {
    let flow = live(flows, id, number)?;
    let socket = if far { flow.receiver } else { flow.sender };
    sockets.get_mut(socket as usize).map(|s| (socket, &mut s.endpoint))
}

/// A socket may have something to send.
fn touch(touched: &mut Vec<u32>, socket: u32) {
    if !touched.contains(&socket) {
        touched.push(socket);
    }
}

/// Whether a stream is with its program whole: what waits for a buffer is handed over when there is one, of which its socket does not
/// tell.
fn note_whole(now: Time, flows: &mut [Option<Flow>], (id, number): (u32, u32), received: u64) {
    let flow = flows.get_mut(id as usize).and_then(Option::as_mut).filter(|flow| flow.number == number);
    if let Some(flow) = flow.filter(|flow| flow.size.is_some_and(|size| received >= size)) {
        flow.done.get_or_insert(now);
    }
}

impl World<'_> {
    /// Prepares the transfers of a traffic entry, whose flows are the streams of one pair of hosts after the other.
    pub fn create_copies(&mut self, traffic: u32, made: &[(u32, FlowPlan)]) {
        let Some(program) = self.plan.traffic[traffic as usize].kind.copy() else { return };
        if self.copies.disks.is_empty() {
            self.copies.disks = self.plan.nodes.iter().map(|node| node.disk.as_ref().map(Disk::new)).collect();
            self.copies.words = LIMITS.map(|word| self.recorder.intern(word));
            self.copies.empty = self.recorder.intern("");
        }
        for streams in made.chunks(program.streams as usize) {
            let place = self.copies.all.len() as u32;
            let plan = streams[0].1;
            let mut flows = Vec::with_capacity(streams.len());
            let mut start = Time::ZERO;
            for (stream, &(id, _)) in (0u32..).zip(streams) {
                if let Some(flow) = &mut self.flows[id as usize] {
                    flow.application = Application::Copy { copy: place, stream, wakes: [u64::MAX; 2] };
                    flows.push((id, flow.number));
                    start = flow.start;
                }
            }
            let name = |node: u32| self.plan.nodes[node as usize].name.as_str();
            let path = format!("{}/{}->{}", self.traffic_path(traffic), name(plan.from), name(plan.to));
            self.copies.all.push(Copy {
                traffic,
                plan,
                key: stable_key(&path, 0),
                spent: vec![[0; 3]; flows.len()],
                flows,
                pipeline: Pipeline::new(program),
                start,
                opened: 0,
                closed: false,
                caching: VecDeque::new(),
                on_disk_bytes: 0,
                ends: Ends::default(),
                limited: [0; LIMITS.len()],
                counted: start,
                sampled: [0; LIMITS.len()],
                before_warmup: Before::default(),
                touched: Vec::new(),
            });
        }
    }

    /// The connection of a stream has been opened.
    pub fn begin_stream(&mut self, now: Time, place: u32, stream: u32) {
        let copy = &mut self.copies.all[place as usize];
        copy.opened += 1;
        if let Some((_, far)) = endpoint(&self.flows, &mut self.sockets, copy.flows[stream as usize], true) {
            far.read_until(now, 0);
        }
        self.pump_copy(now, place);
    }

    /// A disk has read or written a block: the event `id` of a transfer.
    pub fn disk_is_done(&mut self, now: Time, place: u32, has_read: bool) {
        let copy = &mut self.copies.all[place as usize];
        copy.count(now, &self.flows, &self.sockets);
        if has_read {
            copy.pipeline.has_read();
        } else {
            self.block_is_written(now, place);
        }
        self.pump_copy(now, place);
    }

    /// A socket of a stream calls: it has room, or a block is in, or a serial program's far end has told something.
    pub fn attend_copy(&mut self, now: Time, place: u32, socket: u32) {
        let copy = &mut self.copies.all[place as usize];
        copy.count(now, &self.flows, &self.sockets);
        let s = &self.sockets[socket as usize];
        if copy.pipeline.program().serial && s.is_sender {
            copy.pipeline.told(s.endpoint.received() / TOLD_BYTES);
        }
        self.pump_copy(now, place);
    }

    fn block_is_written(&mut self, now: Time, place: u32) {
        let copy = &mut self.copies.all[place as usize];
        copy.pipeline.has_written();
        if copy.pipeline.program().serial
            && let Some((socket, far)) = endpoint(&self.flows, &mut self.sockets, copy.flows[0], true)
        {
            let blocks = copy.pipeline.progress()[2].div_ceil(copy.pipeline.program().block.get());
            far.supply(TOLD_BYTES * blocks);
            touch(&mut copy.touched, socket);
        }
        if copy.pipeline.is_written() {
            copy.ends.cached.get_or_insert(now);
            copy.ends.on_disk = copy.caching.back().map(|(at, _)| *at).or(Some(now));
        }
    }

    /// Moves blocks on as far as they can go now.
    fn pump_copy(&mut self, now: Time, place: u32) {
        if !self.copies.all[place as usize].has_begun() {
            return;
        }
        while self.move_near(now, place) | self.move_far(now, place) {
            stop::look();
        }
        self.close_streams(now, place);
        self.set_wakes(place);
        let mut touched = std::mem::take(&mut self.copies.all[place as usize].touched);
        for socket in touched.drain(..) {
            self.flush(now, socket);
        }
        self.copies.all[place as usize].touched = touched;
    }

    /// Reads and hands to streams; answers whether anything moved.
    fn move_near(&mut self, now: Time, place: u32) -> bool {
        let World { copies, flows, sockets, net, .. } = self;
        let copy = &mut copies.all[place as usize];
        let mut moved = false;
        if let Some(bytes) = copy.pipeline.next_read() {
            let disk = copies.disks[copy.plan.from as usize].as_mut();
            let ready = disk.map_or(now, |disk| disk.read(now, bytes));
            if ready > now {
                net.events.push(Target::DiskRead(place).keyed(ready, copy.key));
            } else {
                copy.pipeline.has_read();
            }
            moved = true;
        }
        while let Some((stream, total)) = copy.pipeline.next_offer() {
            if let Some((socket, near)) = endpoint(flows, sockets, copy.flows[stream as usize], false) {
                near.supply(total);
                touch(&mut copy.touched, socket);
            }
            moved = true;
        }
        for stream in 0..copy.flows.len() {
            let Some(end) = copy.pipeline.sending(stream as u32) else { continue };
            let near = endpoint(flows, sockets, copy.flows[stream], false);
            // A stream whose connection was given up takes nothing more.
            if near.is_some_and(|(_, near)| near.accepted() >= end) {
                copy.pipeline.has_sent(stream as u32);
                moved = true;
            }
        }
        if copy.pipeline.has_ended() {
            copy.ends.read.get_or_insert(now);
        }
        moved
    }

    /// Receives and writes; answers whether anything moved.
    fn move_far(&mut self, now: Time, place: u32) -> bool {
        let World { copies, flows, sockets, net, .. } = self;
        let copy = &mut copies.all[place as usize];
        let mut moved = false;
        while let Some((stream, end)) = copy.pipeline.next_buffer() {
            if let Some((socket, far)) = endpoint(flows, sockets, copy.flows[stream as usize], true) {
                far.read_until(now, end);
                touch(&mut copy.touched, socket);
                if far.peer_closed() && far.received() == far.arrived() {
                    far.end_stream(now);
                }
            }
            moved = true;
        }
        for stream in 0..copy.flows.len() {
            let Some((_, far)) = endpoint(flows, sockets, copy.flows[stream], true) else { continue };
            let received = far.received();
            moved |= copy.pipeline.has_received(stream as u32, received);
            note_whole(now, flows, copy.flows[stream], received);
        }
        let [read, received, _] = copy.pipeline.progress();
        if copy.pipeline.has_ended() && received == read {
            copy.ends.received.get_or_insert(now);
        }
        let Some(bytes) = copy.pipeline.next_write() else { return moved };
        copy.settle(now);
        let (mut cached, mut on_disk) = (now, now);
        if let Some(disk) = &mut copies.disks[copy.plan.to as usize] {
            let written = disk.write(now, bytes);
            (cached, on_disk) = (written.cached, written.on_disk);
        }
        copy.caching.push_back((on_disk, bytes));
        if cached > now {
            net.events.push(Target::DiskWrite(place).keyed(cached, copy.key ^ 1));
        } else {
            self.block_is_written(now, place);
        }
        true
    }

    /// When nothing more will be read, streams are as long as they will be.
    fn close_streams(&mut self, now: Time, place: u32) {
        let World { copies, flows, sockets, .. } = self;
        let copy = &mut copies.all[place as usize];
        if copy.closed || !copy.pipeline.has_ended() {
            return;
        }
        copy.closed = true;
        for (stream, &(id, number)) in (0u32..).zip(&copy.flows) {
            if let Some((socket, near)) = endpoint(flows, sockets, (id, number), false) {
                near.end_stream(now);
                touch(&mut copy.touched, socket);
            }
            if let Some(flow) = flows[id as usize].as_mut().filter(|flow| flow.number == number) {
                flow.size = Some(copy.pipeline.offered(stream));
            }
        }
    }

    /// Sockets call when they have taken, or handed over, the block that they are at.
    fn set_wakes(&mut self, place: u32) {
        let World { copies, flows, sockets, .. } = self;
        let copy = &copies.all[place as usize];
        for (stream, &(id, number)) in (0u32..).zip(&copy.flows) {
            let Some(flow) = flows[id as usize].as_mut().filter(|flow| flow.number == number) else { continue };
            let Some(near) = sockets.get(flow.sender as usize) else { continue };
            let buffer = near.endpoint.options().send_buffer.get();
            let sent = copy.pipeline.sending(stream).map_or(u64::MAX, |end| end.saturating_sub(buffer));
            let sent = if copy.pipeline.program().serial { 0 } else { sent };
            let read = copy.pipeline.may_read(stream).unwrap_or(u64::MAX);
            flow.application = Application::Copy { copy: place, stream, wakes: [sent, read] };
            (sockets[flow.sender as usize].wake, sockets[flow.receiver as usize].wake) =
                (flow.wake(true), flow.wake(false));
        }
    }

    /// The transfers of a traffic entry read no further.
    pub fn stop_copies(&mut self, now: Time, traffic: u32) {
        for place in 0..self.copies.all.len() as u32 {
            let copy = &mut self.copies.all[place as usize];
            if copy.traffic == traffic && copy.has_begun() {
                copy.count(now, &self.flows, &self.sockets);
                copy.pipeline.stop();
                if copy.pipeline.is_written() && copy.ends.cached.is_none() {
                    copy.ends.cached = Some(now);
                    copy.ends.on_disk = copy.caching.back().map(|(at, _)| (*at).max(now)).or(Some(now));
                }
                self.pump_copy(now, place);
            }
        }
    }
}
