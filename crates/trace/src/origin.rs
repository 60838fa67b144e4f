//! Where the stream of one direction begins, and which numbers can belong to it.
//!
//! A SYN says where. A sender may answer one SYN with two different SYN-ACKs (a load balancer, a SYN proxy, SYN cookies whose
//! secret has changed): the one counts that the connection goes on with. Without a SYN the first number that is seen is the beginning.
//! A number far from everything seen so far is of an old connection, or damaged: it counts only when a second one goes on from it.

use crate::packet::Segment;

/// What a SYN said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack: bool,
    pub timestamps: bool,
}

impl Opening {
    pub fn of(segment: &Segment) -> Opening {
        let options = &segment.options;
        Opening {
            mss: options.mss,
            window_scale: options.window_scale,
            sack: options.sack_permitted,
            timestamps: options.timestamps.is_some(),
        }
    }
}

/// A number this near to the beginning of a stream can be of it, before anything of the stream was seen.
const NEAR: u32 = 1 << 20;

/// The beginning of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// Sequence number of the first byte of payload.
    first: Option<u32>,
    /// What the SYN said, if it was seen.
    pub opening: Option<Opening>,
    /// Another SYN of the same sender, until it is clear which one counts.
    rival: Option<(u32, Opening)>,
    /// Places of a far segment and of a far ACK that came last.
    far_data: Option<u64>,
    far_ack: Option<u64>,
}

impl Origin {
    /// A SYN; whether it retransmits the one before. `touched`: something of the stream was seen.
    pub fn open(&mut self, segment: &Segment, touched: bool) -> bool {
        let start = segment.seq.wrapping_add(1);
        let opening = Opening::of(segment);
        match self.first {
            Some(first) if first == start => return self.opening.replace(opening).is_some(),
            Some(_) if self.opening.is_some() && !touched => self.rival = Some((start, opening)),
            Some(_) if touched => {}
            _ => (self.first, self.opening) = (Some(start), Some(opening)),
        }
        false
    }

    /// A number that the connection goes on with: which SYN counts?
    pub fn goes_on(&mut self, number: u32, touched: bool) {
        let Some((start, opening)) = self.rival else { return };
        let near = |start: u32| number.wrapping_sub(start) < NEAR;
        if touched {
            self.rival = None;
        } else if number == start || (near(start) && self.first.is_none_or(|first| !near(first))) {
            (self.first, self.opening, self.rival) = (Some(start), Some(opening), None);
        }
    }

    /// The stream begins here, unless it is known where.
    pub fn or_begin(&mut self, number: u32) {
        self.first.get_or_insert(number);
    }

    /// The stream begins here.
    pub fn begin(&mut self, number: u32) {
        self.first = Some(number);
    }

    pub fn is_known(&self) -> bool {
        self.first.is_some()
    }

    /// Whether a SYN with this sequence number can be the one that began it.
    pub fn may_begin_with(&self, seq: u32) -> bool {
        self.first.is_none_or(|first| first == seq.wrapping_add(1))
    }

    /// The place in the stream of a number near `near`.
    pub fn place(&self, number: u32, near: u64) -> i64 {
        let first = self.first.unwrap_or(number);
        let distance = number.wrapping_sub(first.wrapping_add(near as u32)) as i32;
        near as i64 + i64::from(distance)
    }

    /// Whether data at `place` cannot be of the stream: beyond `edge`, and nothing before went on to there.
    pub fn is_far_data(&mut self, place: u64, edge: u64, reach: u64) -> bool {
        far(&mut self.far_data, place, edge, reach)
    }

    /// The same for an acknowledgement.
    pub fn is_far_ack(&mut self, place: u64, edge: u64, reach: u64) -> bool {
        far(&mut self.far_ack, place, edge, reach)
    }
}

fn far(last: &mut Option<u64>, place: u64, edge: u64, reach: u64) -> bool {
    if place <= edge {
        return false;
    }
    let before = last.replace(place);
    // The same number again says nothing new: challenge ACKs are repeated.
    !before.is_some_and(|before| before < place && place - before <= reach.max(u64::from(NEAR)))
}
