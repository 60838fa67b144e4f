//! Explicit congestion notification (RFC 3168 section 6.1), the receiver of DCTCP (RFC 8257 section 3.2), and AccECN
//! (RFC 9768, see [`crate::accecn`]).
//!
//! - Setup: the SYN carries ECE and CWR, the SYN-ACK ECE alone. New data is sent as ECT(0); retransmissions, pure ACKs
//!   and control segments are not, but for SYN, SYN-ACK and RST under DCTCP (`ect_syn`, RFC 8257 section 3.6), and pure ACKs
//!   under DCTCP on Linux (`ect_acks`).
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

use super::{Endpoint, State, work};
use crate::accecn::{ACE_SYN, AccEcn, Progress, SYN_RETRIES};
use crate::delayed_ack::QUICK_ECN;
use crate::options::{AccEcnOptions, Ecn, TIMESTAMPS_BYTES};
use crate::segment::{ECN_CE, ECN_ECT0, ECN_ECT1, Flags, OPTION_TIMESTAMPS, SackBlocks, Segment};
use crate::sender::AckEvent;
use elephan_cc::Signal;
use elephan_units::{Span, Time};

/// The ACE field of a SYN that asks for RFC 3168.
const ACE_CLASSIC_SYN: u8 = 0b011;
/// Room for options in a TCP header.
pub(super) const OPTIONS_BYTES: u32 = 40;

/// Whether the first SACK block lies in the second: a duplicate of what is out of order (RFC 2883 section 4).
fn inside(sack: &SackBlocks, blocks: u8) -> bool {
    let ahead = |a: u32, b: u32| b.wrapping_sub(a) as i32 >= 0;
    blocks > 1 && ahead(sack[1].0, sack[0].0) && ahead(sack[0].1, sack[1].1)
}

/// Returns the ECN to which a SYN-ACK with this ACE field agrees, after a SYN that asked for AccECN.
fn agreed(ace: u8) -> Ecn {
    match ace {
        0b001 => Ecn::Classic,
        // Nothing, or a host that returns what it does not know.
        0b000 | ACE_SYN => Ecn::Off,
        _ => Ecn::Accurate,
    }
}

impl Endpoint {
    /// ECN in the SYN or the SYN-ACK (`answer`), of which `syns` have left before.
    pub(super) fn set_up_ecn(&mut self, answer: bool, seg: &mut Segment, sack: &mut SackBlocks) {
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
        // Linux retransmits the SYN-ACK of a simultaneous open as it was, the option once.
        let simultaneous = !self.is_passive() && self.accepts_as_linux();
        let option = self.options.accecn_option != AccEcnOptions::Off && syns <= u32::from(simultaneous);
        match &mut self.accecn {
            Some(accecn) if syns > SYN_RETRIES && !simultaneous => accecn.stop_ect(),
            Some(accecn) => {
                seg.set_ace(accecn.syn_ack_ace());
                if option {
                    seg.add_accecn(&accecn.syn_ack_option(), sack);
                }
            }
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

    /// ACKs without data of DCTCP, on Linux.
    #[inline]
    pub(super) fn mark_ack(&self, seg: &mut Segment) {
        if self.ecn == Ecn::Dctcp && self.options.ect_acks && !self.no_ect {
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

    /// The SYN-ACK has come again to a client: the ACK of it has the handshake's encoding (RFC 9768 section 3.2.2.1). Returns whether it
    /// agrees to another ECN than the first did, so that the connection is reset (section 3.1.5). Linux does not look.
    pub(super) fn on_repeated_syn_ack(&mut self, seg: &Segment) -> bool {
        let again = seg.seq == self.irs && seg.flags.any(Flags::ACK) && seg.ack == self.isn.wrapping_add(1);
        let again = again && !self.is_passive();
        if let Some(accecn) = self.accecn.as_mut().filter(|_| again) {
            accecn.on_repeated_syn(seg.ecn, true);
        }
        let both =
            matches!((self.ecn, agreed(seg.ace())), (Ecn::Accurate, Ecn::Classic) | (Ecn::Classic, Ecn::Accurate));
        again && both && self.options.ecn == Ecn::Accurate && !self.accepts_as_linux()
    }

    /// An acceptable segment of an AccECN connection.
    #[cold]
    #[inline(never)]
    pub(super) fn note_accurate(&mut self, seg: &Segment, sack: &SackBlocks) {
        let waiting = self.rx.nxt != self.rx.last_ack;
        let Some(accecn) = &mut self.accecn else { return };
        accecn.on_field(seg.ace());
        if let Some(option) = seg.accecn(sack) {
            accecn.hear(&option);
        }
        if seg.len > 0 && self.irs.wrapping_add(self.rx.nxt as u32).wrapping_sub(seg.seq) as i32 > 0 {
            accecn.on_duplicate(seg.seq);
        }
        if accecn.on_segment(seg.ecn, seg.len, waiting) {
            self.work |= work::ACK;
        }
    }

    /// A SYN-ACK has arrived: whether it carries the AccECN option.
    #[cold]
    pub(super) fn hear_option(&mut self, seg: &Segment, sack: &SackBlocks) {
        if let (Some(accecn), Some(option)) = (&mut self.accecn, seg.accecn(sack)) {
            accecn.hear(&option);
            // Linux tcp_ecn_rcv_synack.
            accecn.demand_options(2);
        }
    }

    /// The peer's SYN-ACK of a simultaneous open.
    pub(super) fn on_crossing_syn_ack(&mut self, seg: &Segment) {
        if let Some(accecn) = &mut self.accecn {
            accecn.on_repeated_syn(seg.ecn, true);
            accecn.on_syn_ack(seg.ace(), self.options.accecn_check);
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
            (Ecn::Accurate, true) => agreed(seg.ace()),
            (own, false) if asks => own,
            (own, true) if agrees => own,
            _ => Ecn::Off,
        };
        // A SYN of this end has asked for nothing.
        let (syns, tries) = (u32::from(self.syns), 1 + self.syn_retries());
        self.no_ect =
            answer && matches!(self.ecn, Ecn::Classic | Ecn::Dctcp) && syns > tries && !self.accepts_as_linux();
        if self.ecn == Ecn::Accurate {
            let mut accecn = AccEcn::new(self.options.accecn_rule, seg.ecn, answer);
            if answer {
                accecn.on_syn_ack(seg.ace(), self.options.accecn_check);
            }
            self.accecn = Some(Box::new(accecn));
            self.echo = true;
        }
    }

    /// What the receiver says in a segment.
    #[cold]
    #[inline(never)]
    pub(super) fn write_echo(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) {
        let pure = seg.len == 0;
        // Of TIME-WAIT nothing but numbers and codepoint is left (Linux `tcp_v4_timewait_ack`).
        if self.state == State::TimeWait && self.accepts_as_linux() {
            seg.ecn = if self.accecn.as_ref().is_some_and(|accecn| accecn.marks_all()) { ECN_ECT0 } else { seg.ecn };
            return;
        }
        if let Some(accecn) = &mut self.accecn {
            accecn.set_time(now);
        }
        let sends = self.sends_accecn_option(pure);
        let space = if pure { OPTIONS_BYTES } else { (self.tx.mss - seg.len.min(self.tx.mss)).min(OPTIONS_BYTES) };
        let Some(accecn) = &mut self.accecn else {
            seg.flags |= Flags::ECE;
            self.stats.rare().ece_sent += 1;
            return;
        };
        seg.set_ace(accecn.ace(pure));
        if accecn.marks_all() {
            seg.ecn = if self.tx.cc.sends_ect1() { ECN_ECT1 } else { ECN_ECT0 };
        }
        // `mss` is without timestamps.
        let stamps = if pure && self.timestamps { TIMESTAMPS_BYTES as u32 } else { 0 };
        let blocks = if seg.sack_len > 0 { 4 + 8 * u32::from(seg.sack_len) } else { 0 };
        let room = space.saturating_sub(stamps + blocks);
        let duplicate = sack[0].0;
        let reports = seg.sack_len > 0 && (seg.ack.wrapping_sub(duplicate) as i32 > 0 || inside(sack, seg.sack_len));
        match accecn.fit(room, seg.sack_len).filter(|_| sends) {
            Some((count, blocks)) => {
                seg.sack_len = blocks;
                seg.add_accecn(&accecn.option(count, reports.then_some(duplicate)), sack);
            }
            None => accecn.no_option(),
        }
    }

    /// Whether a segment that leaves now, a `pure` ACK or data, carries the AccECN option, if there is room.
    pub(super) fn sends_accecn_option(&self, pure: bool) -> bool {
        let o = &self.options;
        let beacon = match (self.tx.rtt.srtt(), o.accecn_beacon) {
            (_, 0) => None,
            (srtt, times) => Some(Span(srtt.unwrap_or(Span::ZERO).0 / u64::from(times))),
        };
        self.accecn.as_ref().is_some_and(|accecn| accecn.sends_option(o.accecn_option, pure, beacon))
    }

    /// Sets which segments carry the AccECN option.
    pub fn set_accecn_option(&mut self, policy: AccEcnOptions) {
        self.change(|options| options.accecn_option = policy);
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
                    adaptive.be_quick(self.rx.edge - self.rx.last_ack, QUICK_ECN);
                }
                self.echo = ce || (self.echo && !seg.flags.any(Flags::CWR));
            }
            Ecn::Dctcp if in_window && ce != self.echo => self.turn_echo(ce),
            // AccECN has counted it.
            Ecn::Dctcp | Ecn::Accurate => {}
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

    /// Whether an ACK that acknowledged `acked` bytes and delivered `delivered`, in so many `segments`, tells of congestion, and of how
    /// many bytes.
    pub(super) fn read_echo(
        &mut self,
        seg: &Segment,
        sack: &SackBlocks,
        acked: u64,
        (delivered, segments): (u64, u64),
    ) -> (bool, u64) {
        let newer = self.timestamps
            && seg.options & OPTION_TIMESTAMPS != 0
            && seg.tsval.wrapping_sub(self.rx.ts_recent) as i32 > 0;
        match (&mut self.accecn, self.ecn) {
            (Some(accecn), _) => {
                let progress = Progress {
                    segments,
                    bytes: delivered,
                    newer,
                    mss: u64::from(self.tx.mss),
                    reliable: self.tx.sack || self.tx.is_open(),
                    sent: self.stats.data_octets_out,
                };
                let marked = accecn.take(seg.ace(), seg.accecn(sack).as_ref(), &progress);
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

    /// The codepoint of what is ECN-capable.
    fn capable(&self) -> u8 {
        if self.tx.cc.sends_ect1() { ECN_ECT1 } else { ECN_ECT0 }
    }

    /// New data is ECN-capable, and says that the window was reduced.
    #[inline]
    pub(super) fn mark_new(&mut self, seg: &mut Segment) {
        if self.ecn == Ecn::Off || self.no_ect || self.accecn.as_ref().is_some_and(|accecn| !accecn.capable()) {
            return;
        }
        if self.accecn.is_none() && self.tx.cc.needs_accurate_ecn() {
            return;
        }
        seg.ecn = self.capable();
        if std::mem::take(&mut self.tx.cwr_due) && self.accecn.is_none() {
            seg.flags |= Flags::CWR;
        }
    }
}
