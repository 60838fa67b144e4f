//! Explicit congestion notification (RFC 3168 section 6.1), the receiver of DCTCP (RFC 8257 section 3.2), and AccECN
//! (RFC 9768, see [`crate::accecn`]).
//!
//! - Setup: the SYN carries ECE and CWR, the SYN-ACK ECE alone. New data is sent as ECT(0); retransmissions, pure ACKs
//!   and control segments are not, but for SYN, SYN-ACK and RST under DCTCP (`ect_syn`, RFC 8257 section 3.6).
//! - A SYN that has been retransmitted more than `ecn_syn_retries` times asks for nothing. An end that has sent or received such a SYN
//!   sends no ECT (RFC 3168 section 6.1.1); Linux does (seen on Linux 6.18).
//! - Classic receiver: from a segment with CE on, every ACK carries ECE until a segment with CWR arrives.
//! - Linux and FreeBSD acknowledge data with CWR at once (`ack_cwr`): what its sender's window still allows may be this segment alone.
//! - DCTCP receiver: ECE says whether the acknowledged segments carried CE; where that changes, what is not yet
//!   acknowledged is acknowledged at once with the old state.
//! - Sender: an ACK with ECE does not open the window and, at most once per window of data and not in recovery, is one
//!   congestion signal; after a reduction for whatever reason the next new segment carries CWR.
//! - AccECN: the SYN carries AE as well. A peer that knows RFC 3168 only answers with ECE, and both do as it does. CWR says
//!   nothing; an ACK that tells of new marks is one with ECE.

use super::{Endpoint, work};
use crate::accecn::{ACE_SYN, AccEcn, SYN_RETRIES};
use crate::delayed_ack::QUICK_ECN;
use crate::options::Ecn;
use crate::segment::{ECN_CE, ECN_ECT0, Flags, SackBlocks, Segment};
use crate::sender::AckEvent;
use elephan_cc::Signal;
use elephan_units::Time;

/// The ACE field of a SYN that asks for RFC 3168.
const ACE_CLASSIC_SYN: u8 = 0b011;

impl Endpoint {
    /// ECN in the SYN or the SYN-ACK (`answer`), of which `syns` have left before.
    pub(super) fn set_up_ecn(&mut self, answer: bool, seg: &mut Segment) {
        let syns = u32::from(self.syns);
        let asks = self.options.ecn != Ecn::Off && syns <= self.syn_retries();
        if !answer {
            match self.options.ecn {
                Ecn::Accurate if asks => seg.set_ace(ACE_SYN),
                _ if asks => seg.flags |= Flags::ECE | Flags::CWR,
                _ => {}
            }
            self.mark_control(asks && self.options.ecn == Ecn::Dctcp, seg);
            return;
        }
        match &mut self.accecn {
            Some(accecn) if syns > SYN_RETRIES => accecn.stop_ect(),
            Some(accecn) => seg.set_ace(accecn.syn_ack_ace()),
            None if self.ecn != Ecn::Off => seg.flags |= Flags::ECE,
            None => {}
        }
        self.mark_control(self.ecn == Ecn::Dctcp, seg);
    }

    /// Retransmitted SYNs that still ask.
    fn syn_retries(&self) -> u32 {
        if self.options.ecn == Ecn::Accurate { SYN_RETRIES } else { self.options.ecn_syn_retries }
    }

    /// SYN, SYN-ACK and RST of DCTCP are ECN-capable (RFC 8257 section 3.6).
    pub(super) fn mark_control(&self, dctcp: bool, seg: &mut Segment) {
        if dctcp && self.options.ect_syn {
            seg.ecn = ECN_ECT0;
        }
    }

    /// The peer's SYN has come again in SYN-RECEIVED. Returns whether it asks for what contradicts the first (RFC 9768 section 3.1.5).
    pub(super) fn on_repeated_syn(&mut self, seg: &Segment) -> bool {
        let ace = seg.ace();
        if self.options.ecn == Ecn::Accurate && self.ecn == Ecn::Classic && ace == ACE_SYN {
            return true;
        }
        let Some(accecn) = &mut self.accecn else {
            self.no_ect |= !seg.flags.has(Flags::ECE | Flags::CWR) && !self.accepts_as_linux();
            return false;
        };
        accecn.on_repeated_syn(seg.ecn, false);
        if ace == 0 {
            accecn.stop_ect();
        }
        ace == ACE_CLASSIC_SYN
    }

    /// The SYN-ACK has come again to a client: the ACK of it has the handshake's encoding (RFC 9768 section 3.2.2.1).
    pub(super) fn on_repeated_syn_ack(&mut self, seg: &Segment) {
        let again = seg.seq == self.irs && seg.flags.any(Flags::ACK) && seg.ack == self.isn.wrapping_add(1);
        let again = again && !self.is_passive();
        if let Some(accecn) = self.accecn.as_mut().filter(|_| again) {
            accecn.on_repeated_syn(seg.ecn, true);
        }
    }

    /// An acceptable segment of an AccECN connection.
    #[cold]
    #[inline(never)]
    pub(super) fn note_accurate(&mut self, seg: &Segment) {
        let waiting = self.rx.nxt != self.rx.last_ack;
        let Some(accecn) = &mut self.accecn else { return };
        accecn.on_field(seg.ace());
        if seg.len == 0 && accecn.on_control(seg.ecn, waiting) {
            self.work |= work::ACK;
        }
    }

    /// Takes what the peer's SYN or SYN-ACK says.
    pub(super) fn negotiate_ecn(&mut self, seg: &Segment) {
        let answer = seg.flags.any(Flags::ACK);
        let asks = seg.flags.has(Flags::ECE | Flags::CWR);
        let agrees = seg.flags.any(Flags::ECE) && !seg.flags.any(Flags::CWR);
        self.ecn = match (self.options.ecn, answer) {
            (Ecn::Accurate, false) if seg.ace() == ACE_SYN => Ecn::Accurate,
            (Ecn::Accurate, false) if seg.ace() == ACE_CLASSIC_SYN => Ecn::Classic,
            // What nobody sends today is a request all the same (RFC 9768 section 3.1.3).
            (Ecn::Accurate, false) if seg.ace() != 0 => Ecn::Accurate,
            (Ecn::Accurate, true) => match seg.ace() {
                0b001 => Ecn::Classic,
                // Nothing, or a host that returns what it does not know.
                0b000 | ACE_SYN => Ecn::Off,
                _ => Ecn::Accurate,
            },
            (own, false) if asks => own,
            (own, true) if agrees => own,
            _ => Ecn::Off,
        };
        // A SYN of this end has asked for nothing.
        let (syns, tries) = (u32::from(self.syns), 1 + self.syn_retries());
        self.no_ect =
            answer && matches!(self.ecn, Ecn::Classic | Ecn::Dctcp) && syns > tries && !self.accepts_as_linux();
        if self.ecn == Ecn::Accurate {
            self.accecn = Some(Box::new(AccEcn::new(seg.ecn, answer)));
            self.echo = true;
        }
    }

    /// What the receiver says in a segment.
    #[cold]
    #[inline(never)]
    pub(super) fn write_echo(&mut self, seg: &mut Segment) {
        let Some(accecn) = &mut self.accecn else {
            seg.flags |= Flags::ECE;
            self.stats.rare().ece_sent += 1;
            return;
        };
        let (ace, (e0b, ceb)) = accecn.feedback(seg.len == 0);
        seg.set_ace(ace);
        if seg.len == 0 {
            seg.add_accecn(e0b, ceb);
        }
    }

    /// A segment with data has arrived and is not accepted yet. The mark of one outside the window says nothing (RFC 3168 section 6.1.5),
    /// but AccECN counts it.
    #[inline]
    pub(super) fn note_ce(&mut self, seg: &Segment, in_window: bool) {
        let ce = seg.ecn == ECN_CE && (in_window || self.ecn == Ecn::Accurate);
        if ce {
            self.stats.rare().ce_rcvd += 1;
        }
        if matches!(self.ecn, Ecn::Classic | Ecn::Dctcp) && seg.flags.any(Flags::CWR) && self.options.ack_cwr {
            self.work |= work::ACK;
        }
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
            Ecn::Dctcp if in_window && ce != self.echo => self.turn_echo(ce),
            Ecn::Dctcp => {}
            Ecn::Accurate => {
                if self.accecn.as_mut().is_some_and(|accecn| accecn.on_data(seg.ecn, seg.len)) {
                    self.work |= work::ACK;
                }
            }
        }
    }

    /// RFC 8257 section 3.2: what arrived before the change is acknowledged with the old state, the change itself at once.
    fn turn_echo(&mut self, ce: bool) {
        if self.rx.unacked > 0 {
            self.answer = self.rx.nxt;
            self.work |= work::EARLY_ACK;
            self.ack_at = Time::NEVER;
            self.rx.unacked = 0;
            self.rx.last_ack = self.rx.nxt;
        }
        self.echo = ce;
        self.work |= work::ACK;
    }

    /// Acknowledges what arrived before the state changed, with the old state.
    pub(super) fn emit_early_ack(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) {
        let kept = (self.work & !work::EARLY_ACK, self.ack_at, self.rx.unacked, self.rx.last_ack, self.echo);
        self.echo = !self.echo;
        self.emit_ack(now, seg, sack);
        seg.ack = self.irs.wrapping_add(self.answer as u32);
        (self.work, self.ack_at, self.rx.unacked, self.rx.last_ack, self.echo) = kept;
    }

    /// Whether an ACK that acknowledged `acked` bytes and delivered `delivered` tells of congestion, and of how many bytes.
    pub(super) fn read_echo(&mut self, seg: &Segment, acked: u64, delivered: u64) -> (bool, u64) {
        match (&mut self.accecn, self.ecn) {
            (Some(accecn), _) => {
                let marked =
                    accecn.take(seg.ace(), seg.accecn().map(|(_, ceb)| ceb), delivered, u64::from(self.tx.mss));
                (marked.segments > 0 || marked.bytes > 0, marked.bytes.min(delivered))
            }
            (None, Ecn::Classic | Ecn::Dctcp) if seg.flags.any(Flags::ECE) => (true, acked),
            _ => (false, 0),
        }
    }

    /// An ACK that tells of congestion, when `flight` bytes were in flight before it.
    pub(super) fn on_echo(&mut self, flight: u64, e: &AckEvent) {
        if self.tx.board.una() > self.tx.cwr_point && !self.tx.rec.is_recovery() {
            self.stats.ecn_signals += 1;
            self.tx.reduce_without_loss(&Signal::Ecn { now: e.now, inflight: flight }, Some(e), &mut self.stats);
        }
    }

    /// New data is ECN-capable, and says that the window was reduced.
    #[inline]
    pub(super) fn mark_new(&mut self, seg: &mut Segment) {
        if self.ecn == Ecn::Off || self.no_ect || self.accecn.as_ref().is_some_and(|accecn| !accecn.capable()) {
            return;
        }
        seg.ecn = ECN_ECT0;
        if std::mem::take(&mut self.tx.cwr_due) && self.accecn.is_none() {
            seg.flags |= Flags::CWR;
        }
    }
}
