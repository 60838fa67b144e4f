//! The pipeline of a program that copies a file from disk to disk: which block is read, sent, received and written when.
//!
//! ```text
//! disk -> read -> buffers -> stream 1..n: socket buffer -> TCP -> receive buffer -> buffers -> write -> disk
//! ```
//!
//! One thread reads blocks into free buffers, one a stream takes full buffers and writes them into its socket, one a stream at the
//! far end reads its socket into a free buffer, one writes full buffers to the disk. A block goes to the stream that has waited
//! longest, so that streams share the file by their speed (bbcp; MODE E of GridFTP, whose blocks carry 17 bytes of header, GFD.20
//! section 2). A stream without a free buffer at the far end does not read: TCP's window closes.
//!
//! With rates D_r of the one disk, N of the network and D_w of the other, endless buffers and blocks that are small against the file:
//!
//! ```text
//! overlapped (threads, the default)    min(D_r, N, D_w)
//! serial                               1 / (1/D_r + 1/N + 1/D_w)
//! ```
//!
//! A serial program reads the next block when the far end has told it that the last one is written, which is when it is in the
//! disk's cache if that has one: then it runs at min(1 / (1/D_r + 1/N), D_w).
//!
//! Who holds up the others ([`Pipeline::stage`]): the disk that writes, if a stream waits for a buffer at the far end; the disk that
//! reads, if every stream waits for a block; else the network between them. Left out: what the programs' processors do, the order
//! in which blocks are written (a far end that keeps it needs more buffers), control connections.

use std::collections::VecDeque;

use elephan_units::Bytes;

/// What a program is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// What is copied; none: without end.
    pub size: Option<Bytes>,
    /// Connections of one transfer.
    pub streams: u32,
    pub block: Bytes,
    /// Bytes that each block carries beside its data.
    pub header: Bytes,
    /// Buffers of a block each, at either end.
    pub buffers: u32,
    /// One block at a time.
    pub serial: bool,
    /// A transfer is complete when its last byte is on the disk; else when it is in the cache.
    pub to_disk: bool,
}

/// What a transfer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Read,
    Network,
    Write,
}

/// Blocks of one size, one after the other on their way through a stream: a send buffer holds millions of small ones.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    /// Data of each, and what it takes in the stream with its header.
    bytes: u64,
    length: u64,
    /// Where the first of them ends in the stream.
    end: u64,
    count: u64,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    /// Length of the stream so far.
    offered: u64,
    /// Whether a buffer is being written into the socket.
    sending: bool,
    /// Offered and not yet with the far end's program, oldest first.
    blocks: VecDeque<Blocks>,
    /// Whether the oldest of them has a buffer at the far end.
    receiving: bool,
}

/// A transfer under way.
#[derive(Clone, Debug)]
pub struct Pipeline {
    program: Program,
    /// Bytes of the file that nobody has asked for yet.
    unread: u64,
    free: u32,
    reading: Option<u64>,
    full: VecDeque<u64>,
    lanes: Vec<Lane>,
    /// Streams that wait for a block, and those that wait for a buffer at the far end, longest first.
    idle: VecDeque<u32>,
    stopped: VecDeque<u32>,
    far_free: u32,
    filled: VecDeque<u64>,
    writing: Option<u64>,
    /// Blocks read, and those that the far end has told to be written.
    blocks_read: u64,
    blocks_told: u64,
    read_bytes: u64,
    received_bytes: u64,
    written_bytes: u64,
}

impl Pipeline {
    pub fn new(program: Program) -> Pipeline {
        Pipeline {
            program,
            unread: program.size.map_or(u64::MAX, Bytes::get),
            free: program.buffers,
            reading: None,
            full: VecDeque::new(),
            lanes: vec![Lane::default(); program.streams as usize],
            idle: (0..program.streams).collect(),
            stopped: VecDeque::new(),
            far_free: program.buffers,
            filled: VecDeque::new(),
            writing: None,
            blocks_read: 0,
            blocks_told: 0,
            read_bytes: 0,
            received_bytes: 0,
            written_bytes: 0,
        }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Begins to read a block: how large it is, or none if there is no buffer, no file left, or the last block still under way.
    pub fn next_read(&mut self) -> Option<u64> {
        let waits = self.program.serial && self.blocks_told < self.blocks_read;
        if self.reading.is_some() || self.free == 0 || self.unread == 0 || waits {
            return None;
        }
        let bytes = self.unread.min(self.program.block.get());
        if self.unread != u64::MAX {
            self.unread -= bytes;
        }
        self.free -= 1;
        self.reading = Some(bytes);
        Some(bytes)
    }

    /// The block is in its buffer.
    pub fn has_read(&mut self) {
        if let Some(bytes) = self.reading.take() {
            self.blocks_read += 1;
            self.read_bytes += bytes;
            self.full.push_back(bytes);
        }
    }

    /// Gives a full buffer to the stream that has waited longest: which it is, and how long its stream is now.
    pub fn next_offer(&mut self) -> Option<(u32, u64)> {
        let bytes = *self.full.front()?;
        let stream = self.idle.pop_front()?;
        self.full.pop_front();
        let lane = &mut self.lanes[stream as usize];
        lane.offered += bytes + self.program.header.get();
        lane.sending = true;
        if lane.blocks.is_empty() {
            self.stopped.push_back(stream);
        }
        match lane.blocks.back_mut().filter(|last| last.bytes == bytes) {
            Some(last) => last.count += 1,
            None => {
                let length = bytes + self.program.header.get();
                lane.blocks.push_back(Blocks { bytes, length, end: lane.offered, count: 1 });
            }
        }
        Some((stream, lane.offered))
    }

    /// The socket of a stream has taken its block: the buffer is free.
    pub fn has_sent(&mut self, stream: u32) {
        let lane = &mut self.lanes[stream as usize];
        if std::mem::take(&mut lane.sending) {
            self.free += 1;
            self.idle.push_back(stream);
        }
    }

    /// Whether a stream is writing a block into its socket, and where that block ends.
    pub fn sending(&self, stream: u32) -> Option<u64> {
        let lane = &self.lanes[stream as usize];
        lane.sending.then_some(lane.offered)
    }

    /// Nothing more will be read from the disk.
    pub fn stop(&mut self) {
        self.unread = 0;
    }

    /// No stream will have more than it was offered.
    pub fn has_ended(&self) -> bool {
        self.unread == 0 && self.reading.is_none() && self.full.is_empty()
    }

    /// Length of a stream so far.
    pub fn offered(&self, stream: u32) -> u64 {
        self.lanes[stream as usize].offered
    }

    /// Gives a free buffer at the far end to the stream that has waited longest: which it is, and how far it may read.
    pub fn next_buffer(&mut self) -> Option<(u32, u64)> {
        if self.far_free == 0 {
            return None;
        }
        let stream = self.stopped.pop_front()?;
        self.far_free -= 1;
        let lane = &mut self.lanes[stream as usize];
        lane.receiving = true;
        lane.blocks.front().map(|block| (stream, block.end))
    }

    /// How far a stream may read: the end of the block that has a buffer; none if none has.
    pub fn may_read(&self, stream: u32) -> Option<u64> {
        let lane = &self.lanes[stream as usize];
        lane.blocks.front().filter(|_| lane.receiving).map(|block| block.end)
    }

    /// The program at the far end has read a stream up to here; answers whether a block is complete.
    pub fn has_received(&mut self, stream: u32, offset: u64) -> bool {
        let lane = &mut self.lanes[stream as usize];
        let Some(first) = lane.blocks.front_mut().filter(|first| lane.receiving && offset >= first.end) else {
            return false;
        };
        let bytes = first.bytes;
        first.end += first.length;
        first.count -= 1;
        if first.count == 0 {
            lane.blocks.pop_front();
        }
        lane.receiving = false;
        self.received_bytes += bytes;
        self.filled.push_back(bytes);
        if !lane.blocks.is_empty() {
            self.stopped.push_back(stream);
        }
        true
    }

    /// Begins to write a block: how large it is.
    pub fn next_write(&mut self) -> Option<u64> {
        if self.writing.is_none() {
            self.writing = self.filled.pop_front();
            return self.writing;
        }
        None
    }

    /// The block is in the disk's cache, or on the disk if it has none.
    pub fn has_written(&mut self) {
        if let Some(bytes) = self.writing.take() {
            self.written_bytes += bytes;
            self.far_free += 1;
        }
    }

    /// The far end has told that so many blocks are written.
    pub fn told(&mut self, blocks: u64) {
        self.blocks_told = blocks;
    }

    /// Whether everything that was read is written.
    pub fn is_written(&self) -> bool {
        self.has_ended() && self.written_bytes == self.read_bytes
    }

    /// Data read from the disk, received by the far program, and written, whole blocks.
    pub fn progress(&self) -> [u64; 3] {
        [self.read_bytes, self.received_bytes, self.written_bytes]
    }

    /// Full buffers that wait at the near end, and at the far end with the one that is being written.
    pub fn waiting(&self) -> [u64; 2] {
        [self.full.len() as u64, self.filled.len() as u64 + u64::from(self.writing.is_some())]
    }

    /// What the transfer waits for.
    pub fn stage(&self) -> Stage {
        let idle = self.idle.len() == self.lanes.len();
        let under_way = self.lanes.iter().any(|lane| !lane.blocks.is_empty());
        if self.program.serial {
            return match () {
                () if self.reading.is_some() => Stage::Read,
                () if self.writing.is_some() => Stage::Write,
                () => Stage::Network,
            };
        }
        if self.writing.is_some() && (!self.stopped.is_empty() || !under_way && self.has_ended()) {
            Stage::Write
        } else if idle && self.reading.is_some() {
            Stage::Read
        } else {
            Stage::Network
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn program(size: u64, streams: u32, buffers: u32) -> Program {
        let (block, header) = (Bytes(100), Bytes(17));
        Program { size: Some(Bytes(size)), streams, block, header, buffers, serial: false, to_disk: true }
    }

    /// Two buffers: the third block is read when the first is in the socket.
    #[test]
    fn buffers_hold_back_the_reader() {
        let mut p = Pipeline::new(program(250, 1, 2));
        assert_eq!((p.next_read(), p.next_read()), (Some(100), None));
        p.has_read();
        assert_eq!(p.next_offer(), Some((0, 117)));
        assert_eq!((p.next_read(), p.stage()), (Some(100), Stage::Network));
        p.has_read();
        assert_eq!((p.next_offer(), p.next_read(), p.waiting()), (None, None, [1, 0]));
        p.has_sent(0);
        assert_eq!((p.next_read(), p.next_offer()), (Some(50), Some((0, 234))));
        assert!(!p.has_ended());
        p.has_read();
        p.has_sent(0);
        assert_eq!((p.next_offer(), p.has_ended()), (Some((0, 301)), true));
    }

    /// A far end without a free buffer: the stream may not read on, and the disk that writes holds up the others.
    #[test]
    fn a_full_far_end_stops_the_stream() {
        let mut p = Pipeline::new(program(300, 1, 1));
        let send = |p: &mut Pipeline| {
            p.next_read();
            p.has_read();
            p.next_offer();
            p.has_sent(0);
        };
        send(&mut p);
        assert_eq!((p.may_read(0), p.next_buffer(), p.may_read(0)), (None, Some((0, 117)), Some(117)));
        send(&mut p);
        assert!(!p.has_received(0, 116) && p.has_received(0, 117));
        assert_eq!((p.next_buffer(), p.may_read(0)), (None, None));
        assert_eq!((p.next_write(), p.next_write(), p.stage()), (Some(100), None, Stage::Write));
        p.has_written();
        assert_eq!((p.next_buffer(), p.progress()), (Some((0, 234)), [200, 100, 100]));
    }

    #[test]
    fn a_starved_network_waits_for_the_reader() {
        let mut p = Pipeline::new(program(1000, 2, 4));
        p.next_read();
        assert_eq!(p.stage(), Stage::Read);
        p.has_read();
        p.next_offer();
        p.next_read();
        assert_eq!(p.stage(), Stage::Network, "one of two streams has something to send");
    }

    #[test]
    fn serial_is_one_block_at_a_time() {
        let mut p = Pipeline::new(Program { serial: true, ..program(200, 1, 4) });
        p.next_read();
        p.has_read();
        assert_eq!(p.next_read(), None);
        p.told(1);
        assert_eq!(p.next_read(), Some(100));
    }

    proptest! {
        /// Whatever happens next: every byte comes through once, no more buffers are in use than there are, and it ends.
        #[test]
        fn any_order(
            size in 1u64..5000, streams in 1u32..6, buffers in 1u32..9, steps in proptest::collection::vec(0u8..7, 0..400),
        ) {
            let mut p = Pipeline::new(program(size, streams, buffers));
            let turns = steps.into_iter().chain((0..6000).map(|i| (i % 7) as u8));
            for step in turns {
                match step {
                    0 => { p.next_read(); }
                    1 => p.has_read(),
                    2 => { p.next_offer(); }
                    3 => (0..streams).for_each(|stream| p.has_sent(stream)),
                    4 => { p.next_buffer(); }
                    5 => for stream in 0..streams {
                        if let Some(end) = p.may_read(stream) {
                            prop_assert!(p.has_received(stream, end));
                        }
                    },
                    _ => if p.next_write().is_none() { p.has_written() },
                }
                let near = p.full.len() + usize::from(p.reading.is_some()) + p.lanes.iter().filter(|l| l.sending).count();
                let far = p.filled.len() + usize::from(p.writing.is_some()) + p.lanes.iter().filter(|l| l.receiving).count();
                prop_assert_eq!((p.free as usize + near, p.far_free as usize + far), (buffers as usize, buffers as usize));
            }
            prop_assert!(p.is_written());
            prop_assert_eq!(p.progress(), [size, size, size]);
            let blocks = size.div_ceil(100);
            prop_assert_eq!(p.lanes.iter().map(|l| l.offered).sum::<u64>(), size + 17 * blocks);
        }
    }
}
