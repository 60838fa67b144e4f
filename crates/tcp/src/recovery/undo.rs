//! Taking back a needless reduction: what must be known of the last one.
//!
//! - Eifel detection (RFC 3522): the ACK of the first segment retransmitted echoes a timestamp older than that retransmission,
//!   so the original arrived.
//! - D-SACK (RFC 3708): every retransmission of the episode was reported as a duplicate, see [`super::dsack`].
//! - F-RTO: [`super::frto`].
//!
//! The response is Linux's: window and threshold as before the reduction (`Signal::Undo`). A later reduction of any kind
//! takes the place of the last.

use super::dsack::{Missing, Report};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    None,
    Fast,
    Rto,
}

/// The last reduction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episode {
    kind: Kind,
    /// SND.UNA at its start.
    start: u64,
    /// When the first segment was retransmitted, and the offset after it.
    first_at: u64,
    first_end: u64,
    /// When the first segment was retransmitted of those that may still be out (Linux `retrans_stamp`).
    stamp: Option<u64>,
    /// Retransmissions that were not reported as duplicates, and whether there was any since the start.
    missing: Missing,
    sent: bool,
}

impl Episode {
    pub fn new(missing: Missing) -> Episode {
        Episode { missing, ..Episode::default() }
    }

    /// A reduction while `pending` segments that were retransmitted before it may still be out.
    pub fn begin(&mut self, rto: bool, start: u64, pending: u64) {
        self.forget();
        (self.kind, self.start) = (if rto { Kind::Rto } else { Kind::Fast }, start);
        self.missing.begin(start, pending);
    }

    /// The timer expires again for the same segment: the first reduction is the one to be taken back.
    pub fn goes_on(&self, start: u64) -> bool {
        self.kind == Kind::Rto && self.start == start
    }

    /// A reduction of another kind that is not taken back.
    pub fn forget(&mut self) {
        *self = Episode { stamp: self.stamp, ..Episode::new(std::mem::take(&mut self.missing)) };
    }

    /// The segment `[seq, end)` was retransmitted while `una` was the acknowledgement.
    pub fn sent_again(&mut self, at: u64, seq: u64, end: u64, una: u64) {
        self.stamp = self.stamp.or(Some(at));
        let from = if self.kind == Kind::None { una } else { self.start };
        self.missing.sent(seq, end, from);
        if self.kind == Kind::None {
            return;
        }
        if !self.sent {
            (self.sent, self.first_at, self.first_end) = (true, at, end);
        }
    }

    /// A duplicate was reported.
    pub fn reported(&mut self, report: &Report) {
        if report.right > self.start {
            self.missing.reported(report);
        }
    }

    pub fn all_reported(&self) -> bool {
        self.kind != Kind::None && self.sent && self.missing.is_none()
    }

    /// Whether an ACK up to `una` that echoes what was sent before `echoed_before` acknowledges the original.
    pub fn echoes(&self, una: u64, echoed_before: u64) -> bool {
        self.kind != Kind::None && self.sent && una >= self.first_end && self.first_at >= echoed_before
    }

    /// Nothing that was retransmitted is out.
    pub fn forget_stamp(&mut self) {
        self.stamp = None;
    }

    /// Whether an ACK that echoes what was sent before `echoed_before`, 0 without an echo, acknowledges an original (Linux
    /// `tcp_packet_delayed`). If nothing was retransmitted yet, it does, with SACK.
    pub fn is_late(&self, echoed_before: u64, sack: bool) -> bool {
        let late = self.stamp.map_or(sack, |at| echoed_before != 0 && at >= echoed_before);
        self.kind != Kind::None && late
    }

    /// It is taken back: whether it was a timeout; none if there is nothing to take back.
    pub fn taken_back(&mut self) -> Option<bool> {
        let rto = match self.kind {
            Kind::None => return None,
            Kind::Fast => false,
            Kind::Rto => true,
        };
        self.forget();
        Some(rto)
    }
}
