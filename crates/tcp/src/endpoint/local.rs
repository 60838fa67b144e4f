//! Local drops: the host's own transmit queue refuses a segment (a full `txqueuelen`, RFC 4898 `SendStall`).
//!
//! The segment was never on the wire. New data goes back to what is to be sent, so that it leaves later as new data and
//! is no retransmission; one retransmitted is due again; an ACK is lost. Nothing more leaves until an ACK, a timer or the
//! application gives another occasion; with nothing in flight the persist timer does. `local_drop` says what it means to the
//! window (Linux `tcp_transmit_skb` calls `tcp_enter_cwr`): a reduction as at an ECN-Echo, once per window of data and
//! only outside recovery; nothing; or the end of slow start.
//!
//! Left out: a refused ACK without data costs no window (in Linux it does). The congestion control has been told that the
//! segment was sent.

use super::{Endpoint, work};
use crate::options::LocalDrop;
use crate::segment::{Flags, Segment};
use elephan_cc::Signal;
use elephan_units::Time;

impl Endpoint {
    /// Is called when the host's own transmit queue has refused `seg`, which the last [`Endpoint::poll_transmit`] wrote.
    pub fn on_local_drop(&mut self, now: Time, seg: &Segment) {
        self.stats.rare().send_stall += 1;
        self.stats.segs_out -= 1;
        // SYNs have their timer, and nobody sends an ACK again.
        if seg.seq_len() == 0 || seg.flags.any(Flags::SYN) {
            return;
        }
        self.stats.data_segs_out -= u64::from(seg.len > 0);
        self.stats.data_octets_out -= u64::from(seg.len);
        let una = self.tx.board.una();
        let seq = una + u64::from(seg.seq.wrapping_sub(self.isn.wrapping_add(una as u32)));
        if seq >= self.tx.board.nxt() {
            // A window probe: its timer runs.
            return;
        }
        if self.tx.take_back(seq, seg.seq_len()) {
            self.forget_new(seg);
        } else {
            self.stats.segs_retrans -= 1;
            self.stats.octets_retrans -= u64::from(seg.len);
        }
        self.quota = 0;
        self.quota_end = None;
        self.work &= !work::DATA;
        if self.tx.board.flight() == 0 {
            self.persist = true;
            self.rtx_at = now.saturating_add(self.tx.rtt.rto());
        }
        self.react_to_local_drop(now);
    }

    /// What a new segment said is to be said again.
    fn forget_new(&mut self, seg: &Segment) {
        self.fin_sent &= !seg.flags.any(Flags::FIN);
        self.tx.cwr_due |= seg.flags.any(Flags::CWR) && self.accecn.is_none();
    }

    fn react_to_local_drop(&mut self, now: Time) {
        match self.options.local_drop {
            LocalDrop::Ignore => {}
            LocalDrop::SlowStartExit => self.tx.leave_slow_start(),
            LocalDrop::Cwr if self.tx.is_open() && self.tx.board.una() > self.tx.cwr_point => {
                let signal = Signal::LocalDrop { now, inflight: self.tx.board.flight() };
                self.tx.reduce_without_loss(&signal, None, &mut self.stats);
            }
            LocalDrop::Cwr => {}
        }
    }
}
