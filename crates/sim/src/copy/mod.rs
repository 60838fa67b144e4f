//! Transfers from disk to disk: what `elephan_host::copy` decides, done with the sockets of the streams and the disks of the hosts.
//!
//! A host has one disk, which all transfers share in the order of their requests. Programs are called when a block is through a
//! stage, never for a packet: sockets take and hand over the bytes between by themselves.

mod rows;
mod transfer;

pub use transfer::Copies;
use transfer::{Before, Copy, Ends, LIMITS, live};

use std::collections::VecDeque;

use elephan_host::copy::Pipeline;
use elephan_host::disk::Disk;
use elephan_scenario::FlowPlan;
use elephan_tcp::Endpoint;
use elephan_traffic::Spec as _;
use elephan_units::{Time, stop};

use crate::flow::{Application, Flow, Socket, stable_key};
use crate::target::Target;
use crate::world::World;

/// What a serial program's far end says when a block is written.
const TOLD_BYTES: u64 = 16;

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

impl World {
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
