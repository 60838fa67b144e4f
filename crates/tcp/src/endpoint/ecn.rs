//! Explicit congestion notification (RFC 3168 section 6.1), and the receiver of DCTCP (RFC 8257 section 3.2).
//!
//! - Setup: the SYN carries ECE and CWR, the SYN-ACK ECE alone. New data is sent as ECT(0); retransmissions, pure ACKs
//!   and control segments are not.
//! - Classic receiver: from a segment with CE on, every ACK carries ECE until a segment with CWR arrives.
//! - DCTCP receiver: ECE says whether the acknowledged segments carried CE; where that changes, what is not yet
//!   acknowledged is acknowledged at once with the old state.
//! - Sender: an ACK with ECE does not open the window and, at most once per window of data and not in recovery, is one
//!   congestion signal; the next new segment carries CWR.

use super::{Endpoint, work};
use crate::delayed_ack::QUICK_ECN;
use crate::options::Ecn;
use crate::segment::{ECN_CE, ECN_ECT0, Flags, SackBlocks, Segment};
use elephan_cc::Signal;
use elephan_units::Time;

impl Endpoint {
    /// Flags that the SYN or the SYN-ACK (`answer`) carries.
    pub(super) fn ecn_setup(&self, answer: bool) -> Flags {
        match (self.options.ecn, answer) {
            (Ecn::Off, _) => Flags::NONE,
            (_, false) => Flags::ECE | Flags::CWR,
            (_, true) if self.ecn != Ecn::Off => Flags::ECE,
            (_, true) => Flags::NONE,
        }
    }

    /// Takes what the peer's SYN or SYN-ACK says.
    pub(super) fn negotiate_ecn(&mut self, seg: &Segment) {
        let both = Flags::ECE | Flags::CWR;
        let willing = if seg.flags.any(Flags::ACK) {
            seg.flags.any(Flags::ECE) && !seg.flags.any(Flags::CWR)
        } else {
            seg.flags.has(both)
        };
        self.ecn = if willing { self.options.ecn } else { Ecn::Off };
    }

    /// A segment with data has arrived and is not accepted yet.
    #[inline]
    pub(super) fn note_ce(&mut self, seg: &Segment) {
        let ce = seg.ecn == ECN_CE;
        match self.ecn {
            Ecn::Off => {}
            Ecn::Classic => {
                if ce
                    && !self.echo
                    && let Some(adaptive) = &mut self.rx.adaptive
                {
                    adaptive.be_quick(self.rx.edge - self.rx.nxt, QUICK_ECN);
                }
                self.echo = ce || (self.echo && !seg.flags.any(Flags::CWR));
            }
            Ecn::Dctcp | Ecn::Accurate if ce != self.echo => self.turn_echo(ce),
            Ecn::Dctcp | Ecn::Accurate => {}
        }
    }

    fn turn_echo(&mut self, ce: bool) {
        if self.rx.unacked > 0 {
            self.early_ack = self.rx.nxt;
            self.work |= work::EARLY_ACK;
            self.ack_at = Time::NEVER;
            self.rx.unacked = 0;
            self.rx.last_ack = self.rx.nxt;
        }
        self.echo = ce;
    }

    /// Acknowledges what arrived before the state changed, with the old state.
    pub(super) fn emit_early_ack(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) {
        let kept = (self.work & !work::EARLY_ACK, self.ack_at, self.rx.unacked, self.rx.last_ack, self.echo);
        self.echo = !self.echo;
        self.emit_ack(now, seg, sack);
        seg.ack = self.irs.wrapping_add(self.early_ack as u32);
        (self.work, self.ack_at, self.rx.unacked, self.rx.last_ack, self.echo) = kept;
    }

    /// An ACK with ECE that delivered `delivered` bytes, when `flight` were in flight before it.
    pub(super) fn on_echo(&mut self, now: Time, flight: u64, delivered: u64) {
        if self.tx.board.una() > self.tx.cwr_point && !self.tx.rec.is_recovery() {
            self.stats.ecn_signals += 1;
            self.tx.reduce_without_loss(&Signal::Ecn { now, inflight: flight }, delivered, &mut self.stats);
            self.tx.cwr_due = true;
        }
    }

    /// New data is ECN-capable, and says that the window was reduced.
    #[inline]
    pub(super) fn mark_new(&mut self, seg: &mut Segment) {
        if self.ecn == Ecn::Off {
            return;
        }
        seg.ecn = ECN_ECT0;
        if std::mem::take(&mut self.tx.cwr_due) {
            seg.flags |= Flags::CWR;
        }
    }
}
