//! SACK-based recovery, RFC 6675.
//!
//! An ACK is a duplicate if it SACKs something new. Recovery begins at the threshold of duplicates or when `IsLost`
//! says so of the first unacknowledged segment; ssthresh = cwnd = FlightSize / 2 by the controller; then segments go
//! out while cwnd - pipe >= 1 SMSS: lost ones (rule 1), new data (2), holes below the highest SACK (3), and once an
//! episode the last segment (4, rescue). It ends when `RecoveryPoint` is acknowledged.

use super::{Mode, Resend, Verdict};
use crate::options::Options;
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;

pub(super) fn detect(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) -> bool {
    tx.board.detect_losses(o.dup_ack_threshold);
    let over = tx.board.una() >= tx.rec.point;
    let lost = match tx.rec.mode {
        Mode::Loss => over && tx.board.lost_bytes() > 0,
        _ => tx.board.lost_bytes() > 0 || (e.duplicate && tx.rec.dup_acks >= o.dup_ack_threshold),
    };
    if lost {
        start(tx, e, stats);
        tx.reduce(e.delivered, false);
    }
    lost
}

fn start(tx: &mut Sender, e: &AckEvent, stats: &mut Stats) {
    let lost = tx.board.lost_bytes().max(u64::from(tx.mss));
    let (window, reducing) = (tx.cwnd, tx.rec.mode == Mode::Cwr);
    tx.enter(e.now, lost, stats);
    tx.rec.head_due = !tx.board.first_is_resent();
    tx.board.restart_resend();
    if !reducing {
        tx.start_reduction(window, e.delivered);
    }
    tx.rec.rescue = tx.board.first().map_or(0, |first| first.seq + u64::from(first.len));
}

pub(super) fn on_ack(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) -> Verdict {
    let lost_before = tx.board.lost_bytes();
    tx.board.detect_losses(o.dup_ack_threshold);
    if tx.board.una() >= tx.rec.point {
        tx.rec.mode = Mode::Open;
        tx.rec.dup_acks = 0;
        tx.rec.head_due = false;
        tx.finish_reduction();
        if tx.board.lost_bytes() > 0 {
            start(tx, e, stats);
        }
    }
    let safe = e.acked > 0 && tx.board.lost_bytes() <= lost_before;
    tx.reduce(e.delivered, safe);
    Verdict { grow: false, restart_timer: e.acked > 0 }
}

/// Rules 3 and 4 of `NextSeg`.
pub(super) fn next_extra(tx: &mut Sender) -> Option<Resend> {
    if let Some(range) = tx.board.next_hole() {
        return Some(Resend { range, counted: true });
    }
    if tx.board.una() <= tx.rec.rescue {
        return None;
    }
    tx.rec.rescue = tx.rec.point;
    tx.board.last_open().map(|range| Resend { range, counted: false })
}
