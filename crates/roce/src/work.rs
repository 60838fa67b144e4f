//! What an application has posted: work requests, and the packets that each of them becomes.

use std::collections::VecDeque;

/// A work request: its bytes of the stream and its packets.
#[derive(Clone, Copy, Debug)]
struct Request {
    begin: u64,
    end: u64,
    begin_packet: u64,
    end_packet: u64,
}

impl Request {
    /// Stream offset at which packet `number` begins.
    fn offset(&self, number: u64, mtu: u64) -> u64 {
        self.begin.saturating_add((number - self.begin_packet).saturating_mul(mtu)).min(self.end)
    }
}

/// The work of a connection that is not wholly acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Work {
    mtu: u64,
    requests: VecDeque<Request>,
    /// Place of the request that was asked for last: packets are mostly asked for in order.
    place: usize,
    bytes: u64,
    packets: u64,
}

/// One packet of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Payload.
    pub len: u32,
    /// Stream offset after it.
    pub end: u64,
    /// Whether it is the last of its request.
    pub last: bool,
}

impl Work {
    /// Returns the work of a connection whose full packets carry `mtu` bytes.
    ///
    /// ```
    /// use elephan_roce::work::{Piece, Work};
    ///
    /// let mut work = Work::new(1000);
    /// work.post(2500);
    /// work.post(2600);
    /// assert_eq!((work.bytes(), work.packets()), (2600, 4));
    /// assert_eq!(work.piece(2), Some(Piece { len: 500, end: 2500, last: true }));
    /// assert_eq!(work.done(3), 2500);
    /// ```
    pub fn new(mtu: u64) -> Work {
        Work { mtu, ..Work::default() }
    }

    /// The stream has `total` bytes now: what is new is one request.
    pub fn post(&mut self, total: u64) {
        if total <= self.bytes {
            return;
        }
        let packets = (total - self.bytes).div_ceil(self.mtu);
        let (begin, begin_packet) = (self.bytes, self.packets);
        (self.bytes, self.packets) = (total, begin_packet.saturating_add(packets));
        self.requests.push_back(Request { begin, end: total, begin_packet, end_packet: self.packets });
    }

    /// Takes back what lies behind packet `fresh`, which was never sent; returns how many bytes the stream has now.
    pub fn cut(&mut self, fresh: u64) -> u64 {
        while let Some(last) = self.requests.back_mut() {
            if last.begin_packet < fresh {
                if last.end_packet > fresh {
                    (last.end, last.end_packet) = (last.offset(fresh, self.mtu), fresh);
                }
                (self.bytes, self.packets) = (last.end, last.end_packet);
                return self.bytes;
            }
            (self.bytes, self.packets) = (last.begin, last.begin_packet);
            self.requests.pop_back();
        }
        self.bytes
    }

    /// Returns the bytes that are posted.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the packets that they become.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the packet of this number, of those that are neither done nor beyond what is posted.
    pub fn piece(&mut self, number: u64) -> Option<Piece> {
        let holds = |request: &Request| (request.begin_packet..request.end_packet).contains(&number);
        if !self.requests.get(self.place).is_some_and(holds) {
            self.place = self.requests.partition_point(|request| request.end_packet <= number);
        }
        let request = self.requests.get(self.place).filter(|request| holds(request))?;
        let (begin, end) = (request.offset(number, self.mtu), request.offset(number + 1, self.mtu));
        Some(Piece { len: (end - begin) as u32, end, last: number + 1 == request.end_packet })
    }

    /// Packets before `number` are acknowledged; returns the stream offset that they end at.
    pub fn done(&mut self, number: u64) -> u64 {
        while self.requests.front().is_some_and(|request| request.end_packet <= number) {
            self.requests.pop_front();
            self.place = self.place.saturating_sub(1);
        }
        self.requests.front().map_or(self.bytes, |request| request.offset(number, self.mtu))
    }
}
