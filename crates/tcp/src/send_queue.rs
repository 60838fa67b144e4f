//! What a socket's send buffer takes, as Linux counts it (`tcp_sendmsg_locked`, `sk_stream_memory_free`, `tcp_xmit_size_goal`).
//!
//! Data is written into packets of up to `size goal` bytes: whole segments, half of the peer's largest window at most. A new packet is
//! begun as long as less than `SO_SNDBUF` is charged and less than `TCP_NOTSENT_LOWAT` is unsent, and is then filled, so that more is
//! taken than the buffer's size. A packet is charged with its bytes and its own memory. What has been sent is no longer filled.
//! Room that a full buffer gains is told when a third of it is free (`sk_stream_is_writeable`). A buffer that the application has
//! not set grows with the congestion window, when it was full and the window is not.

use crate::{Endpoint, Info};
use std::collections::VecDeque;

/// `tcp_wmem[1]` and `tcp_wmem[2]` of Linux.
pub const SEND_BUFFER: [u64; 2] = [16 << 10, 4 << 20];
/// `SOCK_MIN_SNDBUF`: smallest SO_SNDBUF.
pub const SEND_BUFFER_MIN: u64 = 4608;
/// Memory of a packet beside its bytes (`SKB_TRUESIZE` of an empty one).
const PACKET_BYTES: u64 = 1280;
/// Largest packet: 64 KiB of GSO less what headers may take.
const GOAL_MAX: u64 = 65_536 - 1 - 320;
/// What a packet of one segment is charged beside its bytes, before it is rounded up to a power of two and after (`tcp_sndbuf_expand`).
const SEGMENT_BYTES: u64 = 320 + 320;
const BUFFER_BYTES: u64 = 256;
/// Segments that a buffer is made for at least: `TCP_INIT_CWND`.
const SEGMENTS_MIN: u64 = 10;
/// `TCP_MSS_DEFAULT`: windows below are not halved.
const WINDOW_SMALL: u64 = 536;

/// The send buffer of a socket.
#[derive(Clone, Debug)]
pub struct SendQueue {
    /// SO_SNDBUF, doubled.
    pub limit: u64,
    /// The application has set it.
    pub locked: bool,
    /// What it grows to at most, `tcp_wmem[2]`.
    most: u64,
    /// TCP_NOTSENT_LOWAT in force.
    pub low_water: u64,
    /// Bytes written since the connection began.
    pub written: u64,
    /// Bytes of these that the peer has acknowledged, and that have been sent.
    acked: u64,
    sent: u64,
    /// Up to where what was written carries PSH.
    pushed: u64,
    /// Where packets end that are not wholly acknowledged; where the last one begins; whether it may be filled.
    ends: VecDeque<u64>,
    tail_start: u64,
    tail_open: bool,
}

impl SendQueue {
    /// An empty buffer that begins with `limit` and grows to `most`.
    pub fn new([limit, most]: [u64; 2], low_water: u64) -> SendQueue {
        SendQueue {
            limit,
            locked: false,
            most,
            low_water,
            written: 0,
            acked: 0,
            sent: 0,
            pushed: 0,
            ends: VecDeque::new(),
            tail_start: 0,
            tail_open: false,
        }
    }

    /// Takes over how far the connection is.
    pub fn settle(&mut self, endpoint: &Endpoint) {
        self.acked = endpoint.acked();
        self.sent = (self.acked + endpoint.inflight()).min(self.written).max(self.sent);
        while self.ends.front().is_some_and(|end| *end <= self.acked) {
            self.ends.pop_front();
        }
    }

    /// The queue of a connection that a listener makes.
    pub fn child(&self) -> SendQueue {
        SendQueue { locked: self.locked, ..SendQueue::new([self.limit, self.most], self.low_water) }
    }

    /// The buffer grows to two windows of segments, unless the application has set it (`tcp_sndbuf_expand`).
    pub fn expand(&mut self, info: &Info) {
        if !self.locked {
            let segment = (info.snd_mss + SEGMENT_BYTES).next_power_of_two() + BUFFER_BYTES;
            let segments = info.snd_cwnd.max(SEGMENTS_MIN).max(info.reordering + 1);
            self.limit = self.limit.max((2 * segments * segment).min(self.most));
        }
    }

    /// Bytes written that have been sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes written that the peer has acknowledged.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Bytes written and not sent.
    pub fn unsent(&self) -> u64 {
        self.written - self.sent
    }

    /// Bytes written and not acknowledged.
    pub fn unacked(&self) -> u64 {
        self.written - self.acked
    }

    fn charged(&self) -> u64 {
        self.unacked() + PACKET_BYTES * self.ends.len() as u64
    }

    /// Whether a new packet may be begun; `wake` asks for half of the unsent bytes (`tcp_stream_memory_free`).
    fn has_room(&self, wake: bool) -> bool {
        self.charged() < self.limit && self.unsent() << u32::from(wake) < self.low_water
    }

    /// Whether a full buffer has enough room again for its writer to be told.
    pub fn is_writable(&self) -> bool {
        let charged = self.charged();
        self.limit.saturating_sub(charged) >= charged >> 1 && self.has_room(true)
    }

    /// How many bytes the next packet takes, 0 if none may be begun.
    pub fn next_room(&mut self, goal: u64) -> u64 {
        let filled = self.written - self.tail_start.max(self.sent).min(self.written);
        let open = self.tail_open && filled > 0;
        if open && filled < goal {
            return goal - filled;
        }
        if self.has_room(false) { goal } else { 0 }
    }

    /// `bytes` have been written, as many as [`SendQueue::next_room`] allowed at most.
    pub fn write(&mut self, bytes: u64, goal: u64) {
        let filled = self.written - self.tail_start.max(self.sent).min(self.written);
        let fills = self.tail_open && filled > 0 && filled < goal;
        if !fills {
            self.tail_start = self.written;
            self.ends.push_back(self.written);
            self.tail_open = true;
        }
        self.written += bytes;
        if let Some(end) = self.ends.back_mut() {
            *end = self.written;
        }
    }

    /// Whether what was written last carries PSH: at the end of a write, and beyond half of the peer's window (`forced_push`).
    pub fn pushes(&mut self, last: bool, window: u64) -> bool {
        let push = last || self.written > self.pushed + (window >> 1);
        if push {
            self.pushed = self.written;
        }
        push
    }

    /// Nothing is added to the last packet (MSG_EOR).
    pub fn end_record(&mut self) {
        self.tail_open = false;
    }
}

/// Bytes of the packets that a writer fills, under the largest window that the peer has offered.
pub fn size_goal(endpoint: &Endpoint, window: u64) -> u64 {
    let mss = endpoint.mss().max(1);
    let cutoff = if window > WINDOW_SMALL { window >> 1 } else { window };
    let goal = if cutoff > 0 { GOAL_MAX.min(cutoff) } else { GOAL_MAX };
    (goal / mss).max(1) * mss
}
