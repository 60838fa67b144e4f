//! NewReno, RFC 6582: fast recovery lasts until all that had been sent when it began (`recover`) is acknowledged.
//!
//! A partial ACK sends the next hole at once, takes the acknowledged bytes from the inflation and gives one SMSS back
//! when it covers as much; the first of them restarts the timer (impatient) or all do (slow but steady). At the end
//! cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS). Duplicates of data up to `recover` start nothing (section 3.2
//! step 1), unless the ACK heuristic of section 4.1 says that a retransmission was lost.

use super::{Verdict, reno};
use crate::options::{NewrenoTimer, Options};
use crate::sender::{AckEvent, Sender};
use crate::stats::Stats;

/// RFC 6582 section 4.1: an ACK that jumped by more comes from needless retransmissions.
const HEURISTIC_SEGMENTS: u64 = 4;

pub(super) fn detect(tx: &mut Sender, e: &AckEvent, o: &Options, stats: &mut Stats) -> bool {
    if !e.duplicate || u32::from(tx.rec.dup_acks) != o.dup_ack_threshold {
        return false;
    }
    let una = tx.board.una();
    let mss = u64::from(tx.mss);
    let lost_again = o.newreno_ack_heuristic && tx.cwnd > mss && una - tx.rec.previous_ack <= HEURISTIC_SEGMENTS * mss;
    let enter = una > tx.rec.point || lost_again;
    if enter {
        reno::start(tx, e, o, stats);
    }
    enter
}

pub(super) fn on_ack(tx: &mut Sender, e: &AckEvent, o: &Options) -> Verdict {
    let mss = u64::from(tx.mss);
    if e.acked == 0 {
        if e.duplicate {
            tx.rec.inflation += mss as i64;
        }
        return Verdict { grow: false, restart_timer: false };
    }
    tx.rec.previous_ack = tx.board.una() - e.acked;
    if tx.board.una() >= tx.rec.point {
        tx.recovered();
        tx.rec.inflation = 0;
        tx.rec.dup_acks = 0;
        tx.cc.shrink_to((tx.board.flight().max(mss) + mss) as f64);
        tx.refresh();
        return Verdict { grow: false, restart_timer: true };
    }
    tx.rec.head_due = true;
    tx.board.count_lost(mss);
    tx.rec.inflation -= e.acked as i64;
    if e.acked >= mss {
        tx.rec.inflation += mss as i64;
    }
    let restart_timer = !tx.rec.partial_seen || o.newreno_timer == NewrenoTimer::SlowButSteady;
    tx.rec.partial_seen = true;
    Verdict { grow: false, restart_timer }
}
