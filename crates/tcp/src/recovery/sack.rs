//! SACK-based recovery, RFC 6675.
//!
//! An ACK is a duplicate if it SACKs something new. Recovery begins at the threshold of duplicates or when `IsLost`
//! says so of the first unacknowledged segment; ssthresh = cwnd = FlightSize / 2 by the controller; then segments go
//! out while cwnd - pipe >= 1 SMSS: lost ones (rule 1), new data (2), holes below the highest SACK (3), and once an
//! episode the last segment (4, rescue). It ends when `RecoveryPoint` is acknowledged.
//!
//! With FACK (Linux 2.4) a segment is lost when the highest SACKed one lies `dup_ack_threshold` segments above it or more,
//! which begins recovery, and there is no rescue; with RACK see [`super::rack`].

use super::{Mode, Resend, Verdict};
use crate::options::{LossDetection, Options};
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;
use elephan_units::Time;

#[inline]
pub(super) fn detect(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) -> bool {
    tx.find_losses(e.now, o, stats);
    let counted =
        o.loss_detection == LossDetection::Dupack && e.duplicate && u32::from(tx.rec.dup_acks) >= o.dup_ack_threshold;
    let over = tx.board.una() >= tx.rec.point;
    let lost = match tx.rec.mode {
        Mode::Loss => over && tx.board.lost_bytes() > 0,
        _ => tx.board.lost_bytes() > 0 || counted,
    };
    if lost {
        start(tx, e, o, stats);
        tx.reduce(e, false);
    }
    lost
}

fn start(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) {
    let lost = tx.board.lost_bytes().max(u64::from(tx.mss));
    // A mark within another episode has lowered the threshold, but has begun no reduction.
    let (window, reducing) = (tx.cwnd, tx.rec.mode == Mode::Cwr && tx.has_reduced());
    tx.enter(e.now, lost, stats);
    tx.rec.head_due = tx.board.keeps_times() || !tx.board.first_is_resent();
    tx.board.restart_resend();
    if !reducing {
        tx.start_reduction(window, e.delivered);
    }
    tx.rec.rescue = match o.loss_detection {
        LossDetection::Dupack => tx.board.first().map_or(0, |first| first.seq + u64::from(first.len)),
        LossDetection::Rack | LossDetection::Fack => u64::MAX,
    };
}

/// RACK's reordering timer has expired.
pub(super) fn on_alarm(tx: &mut Sender, now: Time, o: &Options, stats: &mut Stats) {
    let (pipe, lost) = (tx.board.pipe(), tx.board.lost_total());
    tx.find_losses(now, o, stats);
    if matches!(tx.rec.mode, Mode::Open | Mode::Cwr) {
        if tx.board.lost_bytes() > 0 {
            let e = AckEvent::none(now, pipe, lost);
            start(tx, &e, o, stats);
            tx.reduce_by_alarm(&e);
        }
    } else {
        // What is lost leaves the network, and as much may be sent.
        tx.rec.allowed += pipe.saturating_sub(tx.board.pipe());
    }
}

#[inline]
pub(super) fn on_ack(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) -> Verdict {
    tx.find_losses(e.now, o, stats);
    if tx.board.una() >= tx.rec.point {
        tx.recovered();
        tx.rec.dup_acks = 0;
        tx.rec.head_due = false;
        tx.finish_reduction();
        if tx.board.lost_bytes() > 0 {
            start(tx, e, o, stats);
        }
    }
    let safe = e.acked > 0 && tx.board.lost_total() == e.lost_before;
    tx.reduce(e, safe);
    Verdict { grow: false, restart_timer: e.acked > 0 }
}

/// Rules 3 and 4 of `NextSeg`.
#[inline]
pub(super) fn next_extra(tx: &mut Sender) -> Option<Resend> {
    if tx.board.keeps_times() || tx.linux {
        return None;
    }
    if let Some(range) = tx.board.next_hole() {
        return Some(Resend { range, counted: true });
    }
    if tx.board.una() <= tx.rec.rescue {
        return None;
    }
    tx.rec.rescue = tx.rec.point;
    tx.board.last_open().map(|range| Resend { range, counted: false })
}
