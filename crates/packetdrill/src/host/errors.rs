//! The error queue of a socket: what became of data sent with MSG_ZEROCOPY or under SO_TIMESTAMPING.
//!
//! A write with MSG_ZEROCOPY has a number; when all of its bytes are acknowledged the numbers that follow each other are reported as
//! one range (`skb_zerocopy_notify_extend`). A device that copies says so, as the tun device of packetdrill does. A write under
//! SO_TIMESTAMPING reports when its last byte was given to the device, left it, and was acknowledged; its key counts from what was
//! acknowledged when the option was set.

use elephan_units::Time;
use std::collections::VecDeque;

const TX_SOFTWARE: i64 = 1 << 1;
const OPT_ID: i64 = 1 << 7;
const TX_SCHED: i64 = 1 << 8;
const TX_ACK: i64 = 1 << 9;
const OPT_TSONLY: i64 = 1 << 11;
const ORIGIN_TIMESTAMPING: i64 = 4;
const ORIGIN_ZEROCOPY: i64 = 5;
const CODE_COPIED: i64 = 1;
const ENOMSG: i64 = 42;

/// A report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// Writes with MSG_ZEROCOPY, by number.
    Copied { from: u32, to: u32 },
    /// What happened (`SCM_TSTAMP_*`) to the byte with this key, and when.
    Stamp { what: i64, key: u32, at: Time },
}

/// A write that is to be reported: up to which byte of the stream it reaches.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    end: u64,
    number: u32,
    sent: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ErrorQueue {
    pub zerocopy: bool,
    flags: i64,
    /// What was acknowledged when SO_TIMESTAMPING was set.
    base: u64,
    next: u32,
    copies: VecDeque<Awaited>,
    stamps: VecDeque<Awaited>,
    pub reports: VecDeque<Report>,
}

impl ErrorQueue {
    /// The queue of a connection that a listener makes.
    pub fn child(&self) -> ErrorQueue {
        ErrorQueue { zerocopy: self.zerocopy, ..ErrorQueue::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }

    /// SO_TIMESTAMPING; says whether all that `flags` ask for is modelled.
    pub fn stamp(&mut self, flags: i64, acked: u64) -> bool {
        if flags & OPT_ID != 0 && self.flags & OPT_ID == 0 {
            self.base = acked;
        }
        self.flags = flags;
        let known = TX_SOFTWARE | OPT_ID | TX_SCHED | TX_ACK | OPT_TSONLY | 1 << 4;
        flags & !known == 0
    }

    /// A write has reached byte `end` of the stream.
    pub fn written(&mut self, end: u64, zerocopy: bool) {
        if zerocopy && self.zerocopy {
            self.copies.push_back(Awaited { end, number: self.next, sent: false });
            self.next += 1;
        }
        if self.flags & (TX_SOFTWARE | TX_SCHED | TX_ACK) != 0 {
            let number = if self.flags & OPT_ID != 0 { (end - 1 - self.base) as u32 } else { 0 };
            self.stamps.push_back(Awaited { end, number, sent: false });
        }
    }

    /// So many bytes have been sent and acknowledged; says whether there is something new to report.
    pub fn settle(&mut self, now: Time, sent: u64, acked: u64) -> bool {
        let before = self.reports.len();
        let mut reported = false;
        while let Some(copy) = self.copies.front().copied().filter(|copy| copy.end <= acked) {
            self.copies.pop_front();
            reported = true;
            match self.reports.back_mut() {
                Some(Report::Copied { to, .. }) if *to + 1 == copy.number => *to = copy.number,
                _ => self.reports.push_back(Report::Copied { from: copy.number, to: copy.number }),
            }
        }
        let flags = self.flags;
        for place in 0..self.stamps.len() {
            let stamp = &mut self.stamps[place];
            if !stamp.sent && stamp.end <= sent {
                stamp.sent = true;
                let key = stamp.number;
                for (what, asked) in [(1, TX_SCHED), (0, TX_SOFTWARE)] {
                    if flags & asked != 0 {
                        self.reports.push_back(Report::Stamp { what, key, at: now });
                    }
                }
            }
        }
        while let Some(stamp) = self.stamps.front().copied().filter(|stamp| stamp.end <= acked) {
            self.stamps.pop_front();
            if flags & TX_ACK != 0 {
                self.reports.push_back(Report::Stamp { what: 2, key: stamp.number, at: now });
            }
        }
        reported || self.reports.len() > before
    }
}

impl Report {
    /// The fields of its control messages with their names: when, and what.
    pub fn fields(&self) -> [(&'static str, i64); 6] {
        match *self {
            Report::Copied { from, to } => [
                ("ee_errno", 0),
                ("ee_origin", ORIGIN_ZEROCOPY),
                ("ee_type", 0),
                ("ee_code", CODE_COPIED),
                ("ee_info", i64::from(from)),
                ("ee_data", i64::from(to)),
            ],
            Report::Stamp { what, key, .. } => [
                ("ee_errno", ENOMSG),
                ("ee_origin", ORIGIN_TIMESTAMPING),
                ("ee_type", 0),
                ("ee_code", 0),
                ("ee_info", what),
                ("ee_data", i64::from(key)),
            ],
        }
    }

    pub fn time(&self) -> Option<Time> {
        match self {
            Report::Copied { .. } => None,
            Report::Stamp { at, .. } => Some(*at),
        }
    }
}
