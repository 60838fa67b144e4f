//! Fast retransmit and fast recovery as RFC 5681 section 3.2 has them.
//!
//! The third duplicate ACK: ssthresh = max(FlightSize / 2, 2 SMSS), the first unacknowledged segment is retransmitted, the
//! window is ssthresh + 3 SMSS; each further duplicate adds one SMSS; the first ACK of new data takes the inflation
//! back and ends the episode, so that every further loss of the window needs three duplicates of its own or a timeout.

use super::{Mode, Verdict};
use crate::options::Options;
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;

pub(super) fn detect(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) -> bool {
    let enter = e.duplicate && u32::from(tx.rec.dup_acks) == o.dup_ack_threshold;
    if enter {
        start(tx, e, o, stats);
    }
    enter
}

/// Steps 2 and 3 of RFC 5681 section 3.2.
pub(super) fn start(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) {
    let mss = u64::from(tx.mss);
    tx.enter(e.now, mss, stats);
    tx.rec.inflation = i64::from(o.dup_ack_threshold) * mss as i64;
}

pub(super) fn on_ack(tx: &mut Sender, e: &AckEvent) -> Verdict {
    if e.acked == 0 {
        if e.duplicate {
            tx.rec.inflation += i64::from(tx.mss);
        }
        return Verdict { grow: false, restart_timer: false };
    }
    tx.recovered();
    tx.rec.inflation = 0;
    tx.rec.dup_acks = 0;
    Verdict { grow: false, restart_timer: true }
}

impl Sender {
    /// Counts what an ACK without SACK delivers where duplicates count (Linux `tcp_add_reno_sack`, `tcp_remove_reno_sacks`): a
    /// duplicate stands for one segment that came out of order; an ACK of `acked` bytes for what the duplicates before it have
    /// not stood for, one segment at least. After a timeout duplicates come of what is retransmitted, and count only when new data
    /// is out (`tcp_process_loss`). Returns the bytes.
    #[cold]
    pub fn count_duplicates(&mut self, acked: u64, repeated: bool) -> u64 {
        let mss = u64::from(self.mss);
        if self.rec.mode == Mode::Loss && self.board.nxt() <= self.rec.point {
            return acked;
        }
        if acked == 0 {
            // All that is out but the segment that is missing.
            let most = (self.board.flight().div_ceil(mss)).saturating_sub(1);
            if !repeated || u64::from(self.rec.duplicates) >= most.min(u64::from(u16::MAX)) {
                return 0;
            }
            self.rec.duplicates += 1;
            self.delivered += mss;
            return mss;
        }
        let known = u64::from(self.rec.duplicates);
        let fresh = acked.saturating_sub(known * mss).max(mss.min(acked));
        let eaten = if self.rec.mode == Mode::Recovery { acked.div_ceil(mss) - 1 } else { known };
        self.rec.duplicates = known.saturating_sub(eaten) as u16;
        self.delivered -= acked - fresh;
        fresh
    }
}
