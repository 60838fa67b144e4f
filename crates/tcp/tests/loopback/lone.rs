//! One endpoint whose peer is the test: segments are written by hand, at relative times in milliseconds.

use crate::common::*;
use elephan_tcp::{Endpoint, Flags, OPTION_SACK_PERMITTED, OPTION_TIMESTAMPS, Overrides, SackBlocks, Segment, State};
use elephan_units::Time;

/// Initial sequence numbers of the test and of the endpoint.
pub const PEER: u32 = 100;
pub const OWN: u32 = 300;

pub struct Lone {
    pub end: Endpoint,
    /// Milliseconds.
    pub at: u64,
}

/// What an answer says: flags, sequence number, acknowledgement, payload.
pub type Said = (Flags, u32, u32, u32);

pub fn said(answer: &(Segment, SackBlocks)) -> Said {
    (answer.0.flags, answer.0.seq, answer.0.ack, answer.0.len)
}

/// A segment of the peer with a timestamp value, if any.
pub fn segment(seq: u32, ack: u32, len: u32, tsval: Option<u32>) -> Segment {
    Segment {
        seq,
        ack,
        len,
        flags: Flags::ACK,
        window: 60_000,
        tsval: tsval.unwrap_or(0),
        tsecr: u32::from(tsval.is_some()),
        options: if tsval.is_some() { OPTION_TIMESTAMPS } else { 0 },
        ..Segment::default()
    }
}

impl Lone {
    /// A listening endpoint.
    pub fn listening(stack: &str, overrides: &Overrides) -> Lone {
        let o = options(stack, overrides);
        let mut end = Endpoint::new(&o, o.controller(), OWN);
        end.listen();
        Lone { end, at: 0 }
    }

    /// An endpoint that has sent its SYN.
    pub fn connecting(stack: &str, overrides: &Overrides) -> Lone {
        let o = options(stack, overrides);
        let mut lone = Lone { end: Endpoint::new(&o, o.controller(), OWN), at: 0 };
        lone.end.connect(Time::ZERO);
        lone.poll();
        lone
    }

    /// The peer's SYN has come and was answered; with timestamps, if the endpoint has them, from 1000 on.
    pub fn received(stack: &str, overrides: &Overrides) -> Lone {
        let mut lone = Lone::listening(stack, overrides);
        let syn = Segment {
            flags: Flags::SYN,
            mss: 1460,
            options: OPTION_SACK_PERMITTED | OPTION_TIMESTAMPS,
            ..segment(PEER, 0, 0, Some(1000))
        };
        assert_eq!(lone.take(syn).len(), 1);
        assert_eq!(lone.end.state(), State::SynReceived);
        lone
    }

    /// An established connection that the peer has opened; `overrides` say whether it has timestamps.
    pub fn established(stack: &str, overrides: &Overrides) -> Lone {
        let mut lone = Lone::received(stack, overrides);
        let answers = lone.take(segment(PEER + 1, OWN + 1, 0, Some(1000)));
        assert_eq!((lone.end.state(), answers.len()), (State::Established, 0));
        lone
    }

    /// What the endpoint sends now.
    pub fn poll(&mut self) -> Vec<(Segment, SackBlocks)> {
        let mut out = Vec::new();
        let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
        while self.end.poll_transmit(Time(self.at * 1_000_000_000), &mut seg, &mut sack) {
            out.push((seg, sack));
        }
        out
    }

    /// A segment arrives; returns what is sent at once.
    pub fn take(&mut self, seg: Segment) -> Vec<(Segment, SackBlocks)> {
        self.take_with(seg, &SackBlocks::default())
    }

    pub fn take_with(&mut self, seg: Segment, sack: &SackBlocks) -> Vec<(Segment, SackBlocks)> {
        self.end.on_segment(Time(self.at * 1_000_000_000), &seg, sack);
        self.poll()
    }

    /// Waits until `at`, serving timers; returns what is sent with the millisecond.
    pub fn wait(&mut self, at: u64) -> Vec<(u64, Segment)> {
        let mut out = Vec::new();
        loop {
            let due = self.end.next_timer();
            if due > Time(at * 1_000_000_000) {
                self.at = at;
                return out;
            }
            self.at = due.0 / 1_000_000_000;
            self.end.on_timer(due);
            out.extend(self.poll().into_iter().map(|(seg, _)| (self.at, seg)));
        }
    }
}
