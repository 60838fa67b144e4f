//! Opening and closing: the state machine of RFC 9293 section 3.3.2, the options of the handshake, TIME-WAIT, resets.

use super::{Endpoint, Opening, State, work};
use crate::options::{Ecn, MSS_MIN, TIMESTAMPS_BYTES};
use crate::segment::{
    Flags, IpVersion, OPTION_SACK_PERMITTED, OPTION_TIMESTAMPS, OPTION_WINDOW_SCALE, SackBlocks, Segment,
};
use elephan_units::{Span, Time};

/// MSS of a peer that announces none (RFC 9293 section 3.7.1).
const fn mss_default(ip: IpVersion) -> u16 {
    match ip {
        IpVersion::V4 => 536,
        IpVersion::V6 => 1220,
    }
}
/// Linux `TCP_TIMEOUT_MIN`: two jiffies, of 4 ms each.
const LINUX_TIMEOUT_MIN: Span = Span::from_ms(8);
/// Largest shift (RFC 7323 section 2.3).
const SHIFT_MAX: u8 = 14;

impl Endpoint {
    /// Opens the connection actively: a SYN is the next segment.
    pub fn connect(&mut self, now: Time) {
        if self.state == State::Closed {
            self.open(now, State::SynSent);
        }
    }

    /// Opens the connection passively: the endpoint waits for a SYN.
    pub fn listen(&mut self) {
        if self.state == State::Closed {
            self.state = State::Listen;
            self.opening = Opening::Passive;
        }
    }

    fn open(&mut self, now: Time, state: State) {
        // Of a simultaneous open too what is timed is the SYN, which the peer's SYN-ACK answers.
        if self.state != State::SynSent {
            self.progress_at = now;
        }
        self.state = state;
        self.syns = 0;
        self.work = work::CONTROL;
        self.rtx_at = now.saturating_add(self.tx.rtt.rto());
    }

    /// Closes the connection: a FIN follows the data that the socket has taken. Before the peer has answered the SYN the endpoint is closed at
    /// once (RFC 9293 section 3.10.4, Linux `tcp_close_state`).
    pub fn close(&mut self, now: Time) {
        if self.state == State::SynSent {
            self.finish(now);
        } else {
            self.end_stream(now);
        }
    }

    /// Ends the stream after what the application has supplied: a FIN follows the data. Unlike [`Endpoint::close`] it may be called before the
    /// connection is established.
    pub fn end_stream(&mut self, now: Time) {
        if self.closing {
            return;
        }
        if self.state <= State::Listen {
            self.finish(now);
            return;
        }
        self.begin_closing();
        if self.total == u64::MAX {
            self.total = self.accepted().max(self.tx.board.nxt().saturating_sub(1));
        }
        self.reconsider();
    }

    /// Enters FIN-WAIT-1 or LAST-ACK, whatever waits to be sent before the FIN (RFC 9293 section 3.10.4). A handshake goes on;
    /// its end leads to FIN-WAIT-1. Like Linux and FreeBSD this enters LAST-ACK before the FIN leaves.
    fn begin_closing(&mut self) {
        self.closing = true;
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
    }

    /// Returns the state of a connection whose handshake is done.
    pub(super) fn state_after_handshake(&self) -> State {
        if self.closing { State::FinWait1 } else { State::Established }
    }

    /// Ends the stream with what has been sent: nothing new leaves, and a FIN follows. Returns the length of the stream.
    pub fn cut(&mut self, now: Time) -> u64 {
        if self.state <= State::Listen {
            self.finish(now);
        } else if !self.fin_sent {
            self.total = self.total.min(self.tx.board.nxt().saturating_sub(1));
            self.begin_closing();
            self.reconsider();
        }
        self.total
    }

    /// The connection is over.
    pub(super) fn finish(&mut self, now: Time) {
        self.state = State::Closed;
        self.work = 0;
        self.rtx_at = Time::NEVER;
        self.ack_at = Time::NEVER;
        self.pace_wake = Time::NEVER;
        self.clock.stop(now);
    }

    /// Smallest shift with which the whole receive window can be said (RFC 7323 section 2.2).
    fn own_shift(&self) -> u8 {
        if let Some(account) = self.rx.account() {
            // Linux `tcp_select_initial_window`.
            return (account.scaled().ilog2().saturating_sub(15) as u8).min(SHIFT_MAX);
        }
        let window = self.rx.size();
        (0..SHIFT_MAX).find(|shift| window >> shift <= 65_535).unwrap_or(SHIFT_MAX)
    }

    /// Writes the SYN or SYN-ACK.
    pub(super) fn emit_syn(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) {
        let answer = self.state == State::SynReceived;
        let o = &self.options;
        let mut options = self.ip;
        // A SYN-ACK carries only what the SYN offered.
        if o.timestamps && (!answer || self.timestamps) {
            options |= OPTION_TIMESTAMPS;
        }
        if o.sack && (!answer || self.tx.sack) {
            options |= OPTION_SACK_PERMITTED;
        }
        if o.window_scaling && (!answer || self.tx.window_shift != u8::MAX) {
            options |= OPTION_WINDOW_SCALE;
        }
        *seg = Segment {
            seq: self.isn,
            ack: if answer { self.irs.wrapping_add(self.rx.nxt as u32) } else { 0 },
            mss: o.mss.0 as u16,
            flags: if answer { Flags::SYN | Flags::ACK } else { Flags::SYN },
            options,
            wscale: self.own_shift(),
            ..Segment::default()
        };
        self.set_up_ecn(answer, seg, sack);
        self.syns = self.syns.saturating_add(1);
        if options & OPTION_TIMESTAMPS != 0 {
            seg.tsval = self.ts_now(now);
            seg.tsecr = if answer { self.rx.ts_recent } else { 0 };
        }
        let scaled = answer && self.options.scaled_syn_ack_window;
        seg.window = self.rx.offer(!scaled);
        self.rx.acked(now, false);
        self.stats.segs_out += 1;
        if self.aside.is_some() {
            self.fill_fast_open(now, answer, seg, sack);
        }
    }

    /// Takes the options of the peer's SYN.
    fn negotiate(&mut self, now: Time, seg: &Segment) {
        let has = |bit: u8| seg.options & bit != 0;
        self.irs = seg.seq;
        self.rx.nxt = 1;
        self.rx.edge += 1;
        self.rx.peer_mss = if seg.mss == 0 { mss_default(self.options.ip) } else { seg.mss };
        self.timestamps = self.options.timestamps && has(OPTION_TIMESTAMPS);
        self.note_timestamp(now, seg.tsval);
        self.negotiate_ecn(seg);
        self.tx.sack = self.options.sack && has(OPTION_SACK_PERMITTED);
        let scaled = self.options.window_scaling && has(OPTION_WINDOW_SCALE);
        // Until the handshake is done `u8::MAX` says that windows are not scaled.
        self.tx.window_shift = if scaled { seg.wscale.min(SHIFT_MAX) } else { u8::MAX };
        self.rx.shift = if scaled { self.own_shift() } else { 0 };
        let answer = seg.flags.any(Flags::ACK) && self.options.scaled_syn_ack_window;
        self.take_window(seg, 0, 1, if scaled && answer { self.tx.window_shift } else { 0 });
    }

    /// A segment for a listening endpoint.
    pub(super) fn on_listen(&mut self, now: Time, seg: &Segment, sack: &SackBlocks) {
        if seg.flags.any(Flags::SYN) && !seg.flags.any(Flags::ACK | Flags::RST) {
            self.negotiate(now, seg);
            if self.timestamps {
                self.rx.offer_whole(self.options.segment_bytes());
            }
            self.open(now, State::SynReceived);
            self.keep_syn_text(seg, sack);
            self.try_fast_open(now, seg, sack);
        } else if seg.flags.any(Flags::ACK) {
            self.refuse(seg);
        }
    }

    /// A segment for an endpoint that has sent its SYN.
    pub(super) fn on_syn_sent(&mut self, now: Time, seg: &Segment, sack: &SackBlocks) {
        let acks = seg.flags.any(Flags::ACK);
        let echoed = acks && self.accepts_as_linux() && self.echoes_nothing_sent(now, seg);
        if acks && (!self.answers_syn(seg) || echoed) {
            self.refuse(seg);
            // Linux takes it for the answer to an older connection and tries again soon.
            if self.accepts_as_linux() && !echoed && self.backoffs == 0 && !seg.flags.any(Flags::RST) {
                self.rtx_at = now.saturating_add(LINUX_TIMEOUT_MIN);
            }
            return;
        }
        if seg.flags.any(Flags::RST) {
            if acks {
                self.finish(now);
            }
            return;
        }
        if !seg.flags.any(Flags::SYN) {
            return;
        }
        self.negotiate(now, seg);
        if acks {
            self.learn_fast_open(seg, sack);
            self.establish(now, seg);
            self.acknowledge_syn_ack(now);
            self.after_fast_open(now, seg);
            self.keep_syn_text(seg, sack);
            self.take_syn_text(now);
        } else {
            // Simultaneous open.
            self.open(now, State::SynReceived);
            self.keep_syn_text(seg, sack);
        }
    }

    /// Whether a SYN-ACK echoes a timestamp that no SYN of this connection had (Linux `tcp_rcv_synsent_state_process`).
    fn echoes_nothing_sent(&mut self, now: Time, seg: &Segment) -> bool {
        if !self.options.timestamps || seg.options & OPTION_TIMESTAMPS == 0 || seg.tsecr == 0 {
            return false;
        }
        let ticks = self.progress_at.0 / self.options.timestamp_granularity.0;
        let first = (ticks as u32).wrapping_add(1);
        seg.tsecr.wrapping_sub(first) > self.ts_now(now).wrapping_sub(first)
    }

    /// The peer has acknowledged the SYN.
    pub(super) fn establish(&mut self, now: Time, seg: &Segment) {
        if self.state == State::SynReceived
            && let Some(accecn) = &mut self.accecn
        {
            let pure = seg.len == 0 && seg.sack_len == 0 && !seg.flags.any(Flags::SYN);
            accecn.on_first_ack(seg.ace(), pure, self.options.accecn_check);
            accecn.demand_options(1);
        }
        if self.sends_early() {
            return self.confirm(now, seg);
        }
        self.state = self.state_after_handshake();
        self.work = 0;
        self.reconsider();
        self.rtx_at = Time::NEVER;
        self.sample_handshake(now, seg);
        self.progress_at = Time::NEVER;
        let una = u64::from(seg.ack.wrapping_sub(self.isn));
        self.begin_stream(now, una, self.backoffs);
        self.backoffs = 0;
    }

    /// The round-trip time of a handshake that `seg` ends.
    pub(super) fn sample_handshake(&mut self, now: Time, seg: &Segment) {
        if self.backoffs == 0 && self.progress_at != Time::NEVER {
            self.sample_rtt(now, now.since(self.progress_at));
        } else if self.timestamps && seg.tsecr != 0 {
            let rtt = self.echoed_rtt(now, seg.tsecr);
            self.sample_rtt(now, rtt);
        }
    }

    /// Data may be sent from the offset `una` on; `syn_losses` SYNs or SYN-ACKs were sent in vain.
    pub(super) fn begin_stream(&mut self, now: Time, una: u64, syn_losses: u8) {
        let timestamps = if self.timestamps { TIMESTAMPS_BYTES as u32 } else { 0 };
        let mss = u32::from(self.rx.peer_mss).clamp(MSS_MIN as u32, self.options.mss.0 as u32) - timestamps;
        self.tx.establish(&self.options, mss, una, syn_losses);
        self.begin_controller(now, false);
        self.rx.establish(mss, self.tx.sack, &self.options);
        // The SYN-ACK of an early connection is still to be written.
        if self.tx.window_shift == u8::MAX && !self.sends_early() {
            self.tx.window_shift = 0;
        }
        self.tx.window_edge = una + self.tx.window;
        self.clock.start(now);
        self.rx.begin(now, self.options.mss.0 - u64::from(timestamps));
    }

    /// A segment for an endpoint without a connection, or with a wrong acknowledgement in a handshake, is answered by a reset (RFC
    /// 9293 sections 3.10.7.1 to 3.10.7.4).
    #[cold]
    pub(super) fn refuse(&mut self, seg: &Segment) {
        if seg.flags.any(Flags::RST) {
            return;
        }
        let acknowledges = seg.flags.any(Flags::ACK);
        self.answer = u64::from(if acknowledges { seg.ack } else { seg.seq.wrapping_add(seg.seq_len()) });
        self.work = self.work & !work::RESETS | if acknowledges { work::RESET } else { work::RESET_ACK };
    }

    /// Writes the reset.
    pub(super) fn emit_reset(&mut self, now: Time, seg: &mut Segment) {
        let number = self.answer as u32;
        *seg = if self.work & work::RESET != 0 {
            Segment { seq: number, flags: Flags::RST, options: self.ip, ..Segment::default() }
        } else {
            Segment { ack: number, flags: Flags::RST | Flags::ACK, options: self.ip, ..Segment::default() }
        };
        self.mark_control(self.ecn == Ecn::Dctcp, seg);
        if self.state == State::SynReceived && self.timestamps && !self.accepts_as_linux() {
            // RFC 7323 section 5.2; Linux `tcp_v4_send_reset` has none.
            seg.options |= OPTION_TIMESTAMPS;
            (seg.tsval, seg.tsecr) = (self.ts_now(now), self.rx.ts_recent);
        }
        self.work &= !work::RESETS;
        self.stats.segs_out += 1;
    }

    /// A segment has come in SYN-RECEIVED. Returns whether it was the peer's SYN again, or the SYN-ACK of a simultaneous open.
    pub(super) fn on_handshake_syn(&mut self, now: Time, seg: &Segment) -> bool {
        let flags = seg.flags;
        if seg.seq != self.irs || !flags.any(Flags::SYN) || flags.any(Flags::RST) {
            return false;
        }
        if !flags.any(Flags::ACK) {
            if self.on_repeated_syn(seg) {
                self.relisten();
                self.refuse(seg);
                return true;
            }
            // The SYN-ACK is retransmitted: what answers it times neither (Karn).
            self.progress_at = Time::NEVER;
            self.work |= work::CONTROL;
            return true;
        }
        let answers = self.answers_syn(seg);
        if answers {
            self.on_crossing_syn_ack(seg);
            self.establish(now, seg);
            self.work |= work::ACK;
            if self.accepts_as_linux() {
                // The SYN has come twice (tcp_data_queue).
                self.rx.note_old(0, 1);
            }
            self.after_fast_open(now, seg);
        }
        answers
    }

    /// The peer has reset or repeated a handshake that it began: the endpoint listens again (RFC 9293 section 3.10.7.4).
    pub(super) fn relisten(&mut self) {
        self.state = State::Listen;
        self.work = 0;
        (self.rtx_at, self.ack_at) = (Time::NEVER, Time::NEVER);
        (self.timestamps, self.ecn, self.echo, self.accecn) = (false, Ecn::Off, false, None);
        (self.irs, self.backoffs, self.syns) = (0, 0, 0);
        self.rx.restart(&self.options);
        self.tx.relisten(&self.options);
    }

    /// The FIN was acknowledged.
    pub(super) fn on_fin_acked(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                self.wait_for_fin(now, true);
            }
            State::Closing => self.time_wait(now),
            State::LastAck => self.finish(now),
            _ => {}
        }
    }

    /// The peer's FIN has arrived in order, or `seg` has filled the gap before it.
    pub(super) fn on_fin(&mut self, now: Time, seg: &Segment) {
        if self.accepts_as_linux() {
            // Linux tcp_fin forgets what SACK had to say.
            self.rx.drop_duplicate();
        }
        if self.state == State::Established {
            self.state = State::CloseWait;
            return self.acknowledge_fin(now, seg);
        }
        self.work |= work::ACK;
        match self.state {
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.time_wait(now),
            _ => {}
        }
    }

    /// Enters or restarts TIME-WAIT.
    pub(super) fn time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.persist = false;
        self.rtx_at = now.saturating_add(self.options.time_wait);
    }
}
