//! TCP Fast Open (RFC 7413) at an endpoint, as Linux does it (`tcp_send_syn_data`, `tcp_rcv_fastopen_synack`, `tcp_try_fastopen`).
//!
//! ```text
//! client   SYN + cookie + data  ->  server   data to the application
//!                               <-           SYN-ACK of SYN and data
//!                               <-           data of the application: `early`, the SYN-ACK is not acknowledged yet
//!          ACK                  ->           established
//! ```
//!
//! - The SYN timer retransmits a bare SYN. Data that the SYN-ACK does not acknowledge is lost: it is retransmitted at once, which is no sign
//!   of congestion, and recovery lasts until it is acknowledged (`tcp_non_congestion_loss_retransmit`).
//! - Before the SYN-ACK is acknowledged the server retransmits nothing else (`tcp_fastopen_synack_timer`), and a FIN leaves the
//!   state as it is.
//! - Of two SYNs with data that cross, neither end takes the data (RFC 7413 section 4.1.3.2 leaves it open; Linux does so).
//! - A FIN in the SYN is ignored, and retransmitted by the client.

use super::{Endpoint, Opening, State};
use crate::fast_open::{
    FastOpen, FastOpenFailure, FastOpenLesson, FastOpenListener, FastOpenOption, FastOpenRequest, OPTION_SPACE_BYTES,
};
use crate::scoreboard::PUSH;
use crate::segment::{Flags, SackBlocks, Segment};
use elephan_units::Time;

/// Timeouts in a row after which the path is suspected (`tcp_fastopen_active_detect_blackhole`).
const SUSPECT_TIMEOUTS: u32 = 3;

impl Endpoint {
    /// Opens the connection actively, with what the stream holds so far in the SYN or with a request for a cookie.
    pub fn connect_fast(&mut self, now: Time, request: &FastOpenRequest) {
        if self.state == State::Closed {
            self.fast_open_state().request = Some(*request);
            self.connect(now);
        }
    }

    /// Opens the connection passively and accepts data in a SYN.
    pub fn listen_fast(&mut self, listener: &FastOpenListener) {
        self.fast_open_state().listener = Some(*listener);
        self.listen();
    }

    /// Returns how many bytes of the stream the SYN of such a connection takes (RFC 7413 section 4.1.3.1).
    pub fn fast_open_room(&self, request: &FastOpenRequest) -> u64 {
        if request.paused || !(request.cookieless || request.memory.cookie.is_some()) {
            return 0;
        }
        let own = self.options.mss.0;
        let known = if request.memory.mss == 0 { own } else { u64::from(request.memory.mss) };
        known.min(own).saturating_sub(OPTION_SPACE_BYTES)
    }

    /// Returns once what the handshake has shown of the server. The host keeps it for the next connection.
    pub fn take_fast_open_lesson(&mut self) -> Option<FastOpenLesson> {
        self.fast_open_mut()?.lesson.take()
    }

    /// Returns whether the path has shown since the last call that it may drop what Fast Open sends.
    pub fn take_fast_open_doubt(&mut self) -> bool {
        self.fast_open_mut().is_some_and(|fast| std::mem::take(&mut fast.suspect))
    }

    /// Returns the bytes of the SYN that the server has taken: all of them or 0.
    pub fn fast_open_data(&self) -> u64 {
        self.fast_open().map_or(0, |fast| fast.taken.into())
    }

    /// Returns why Fast Open did not work.
    pub fn fast_open_failure(&self) -> FastOpenFailure {
        self.fast_open().map_or(FastOpenFailure::None, |fast| fast.failure)
    }

    /// Returns whether data flows although the peer has not acknowledged the SYN-ACK.
    #[inline]
    pub fn sends_early(&self) -> bool {
        self.opening == Opening::Early
    }

    /// The peer's SYN has opened the connection.
    pub(super) fn is_passive(&self) -> bool {
        self.opening != Opening::Active
    }

    fn fast_open_state(&mut self) -> &mut FastOpen {
        self.aside().fast_open.get_or_insert_default()
    }

    fn fast_open(&self) -> Option<&FastOpen> {
        self.aside.as_ref()?.fast_open.as_deref()
    }

    fn fast_open_mut(&mut self) -> Option<&mut FastOpen> {
        self.aside.as_mut()?.fast_open.as_deref_mut()
    }

    /// Bytes of data in the SYN that this end has sent.
    fn syn_data(&self) -> u32 {
        self.fast_open().map_or(0, |fast| fast.data)
    }

    /// Whether the segment acknowledges the SYN of this end, and no more than was sent.
    pub(super) fn answers_syn(&self, seg: &Segment) -> bool {
        let sent = if self.sends_early() { (self.tx.board.nxt() - 1) as u32 } else { self.syn_data() };
        seg.ack.wrapping_sub(self.isn.wrapping_add(1)) <= sent
    }

    /// Adds option and data to a SYN, the option to a SYN-ACK (`answer`): to the first of them only.
    #[cold]
    pub(super) fn fill_fast_open(&mut self, now: Time, answer: bool, seg: &mut Segment, sack: &mut SackBlocks) {
        let accepted = self.accepted();
        let first = self.syns == 1;
        let room = match self.fast_open().and_then(|fast| fast.request) {
            Some(request) if first && !answer => self.fast_open_room(&request),
            _ => 0,
        };
        let Some(fast) = self.fast_open_mut() else { return };
        if answer {
            if let Some(option) = fast.option.take() {
                seg.set_fast_open(&option, sack);
            }
            return;
        }
        let Some(request) = fast.request.filter(|request| first && !request.paused) else { return };
        if !request.cookieless {
            let option = request.memory.option();
            seg.set_fast_open(&option, sack);
            fast.asked = Some(option.experimental);
            if option.cookie.is_none() {
                fast.failure = FastOpenFailure::NoCookie;
            }
        }
        seg.len = room.min(accepted) as u32;
        (fast.data, fast.sent_at) = (seg.len, now);
        self.stats.data_segs_out += u64::from(seg.len > 0);
        self.stats.data_octets_out += u64::from(seg.len);
        self.tx.last_sent = now;
    }

    /// The SYN-ACK tells the client of the cookie and of its data; to be called before the connection is established with it.
    pub(super) fn learn_fast_open(&mut self, seg: &Segment, sack: &SackBlocks) {
        let again = self.syns > 1;
        let mss = self.rx.peer_mss;
        let acked = seg.ack.wrapping_sub(self.isn.wrapping_add(1));
        let Some(fast) = self.fast_open_mut().filter(|fast| fast.was_used()) else { return };
        let granted = if fast.asked.is_some() { seg.fast_open(sack) } else { None };
        let cookie = granted.and_then(|option| option.cookie);
        let unacked = acked < fast.data;
        let unanswered = fast.asked.is_some() && !again && cookie.is_none() && fast.data == 0;
        fast.lesson = Some(FastOpenLesson {
            mss,
            granted,
            ignored: fast.asked.filter(|_| unanswered),
            syn_lost: fast.asked.is_some() && again && cookie.is_none() && unacked,
        });
        fast.taken = if unacked { 0 } else { fast.data };
        if unacked {
            let failure = if again { FastOpenFailure::SynRetransmitted } else { FastOpenFailure::DataNotAcknowledged };
            fast.failure = failure;
        }
    }

    /// The client's connection has just been established: data that its SYN carried in vain is retransmitted, and what the SYN-ACK
    /// carries is taken.
    pub(super) fn after_fast_open(&mut self, now: Time, seg: &Segment) {
        let Some(fast) = self.fast_open().filter(|fast| fast.was_used()) else { return };
        let (data, sent_at) = (u64::from(fast.data), fast.sent_at);
        if self.tx.board.nxt() <= data {
            self.lose_syn_data(1 + data, sent_at);
        } else {
            self.take_syn_payload(now, seg);
        }
    }

    fn lose_syn_data(&mut self, end: u64, sent_at: Time) {
        while self.tx.board.nxt() < end {
            let len = u64::from(self.tx.mss).min(end - self.tx.board.nxt());
            let last = self.tx.board.nxt() + len == end;
            self.tx.board.push(len as u32, if last { PUSH } else { 0 }, sent_at.0);
            self.tx.log_sent(sent_at, self.tx.board.ordinals().1 - 1, true);
        }
        self.tx.lose_without_congestion();
        self.reconsider();
    }

    /// Takes data, and the FIN of a SYN-ACK, that came with a SYN (`tcp_fastopen_add_skb`).
    fn take_syn_payload(&mut self, now: Time, seg: &Segment) {
        let len = u64::from(seg.len);
        if len > 0 {
            self.stats.data_segs_in += 1;
            self.stats.data_octets_in += len;
            self.rx.accept(1, len);
        }
        if seg.flags.any(Flags::FIN) && self.state >= State::Established {
            self.rx.note_fin(1 + len);
            if self.rx.take_fin() {
                self.on_fin(now, seg);
            }
        }
    }

    /// A SYN has come to a listener that takes Fast Open: the SYN-ACK grants a cookie, or the data goes to the application at once.
    #[cold]
    pub(super) fn try_fast_open(&mut self, now: Time, seg: &Segment, sack: &SackBlocks) {
        let Some(fast) = self.fast_open_mut() else { return };
        let Some(listener) = fast.listener else { return };
        let asked = seg.fast_open(sack);
        let [first, second] = listener.cookies;
        let grant = |asked: FastOpenOption| FastOpenOption { cookie: first, ..asked };
        let cookie = asked.and_then(|option| option.cookie);
        let valid = cookie.is_some() && (cookie == first || cookie == second);
        fast.option = match asked {
            _ if listener.cookieless => None,
            Some(_) if valid && cookie == first => None,
            Some(asked) if first.is_some() => Some(grant(asked)),
            _ => None,
        };
        if valid || listener.cookieless && (asked.is_some() || seg.len > 0) {
            fast.taken = seg.len;
            self.opening = Opening::Early;
            self.begin_stream(now, 1, 0);
            self.rx.offer(true);
            self.take_syn_payload(now, seg);
            self.reconsider();
        }
    }

    /// The peer has acknowledged the SYN-ACK of a connection that has been `early`.
    #[cold]
    pub(super) fn confirm(&mut self, now: Time, seg: &Segment) {
        self.opening = Opening::Passive;
        self.state = self.state_after_handshake();
        self.sample_handshake(now, seg);
        if self.tx.window_shift == u8::MAX {
            self.tx.window_shift = 0;
        }
        if self.backoffs > 1 {
            // As after a handshake whose SYN-ACK was lost twice (RFC 6928 section 2; Linux enters Loss).
            let mss = u64::from(self.tx.mss);
            self.tx.cc.shrink_to(mss as f64);
            self.tx.refresh();
        }
        if self.backoffs > 0 {
            self.tx.rtt.after_syn_loss(self.options.rto_initial);
        }
        self.backoffs = 0;
        (self.rtx_at, self.progress_at) = (Time::NEVER, Time::NEVER);
        if self.tx.board.flight() > 0 {
            self.progress_at = now;
            self.rearm(now);
        }
        self.reconsider();
    }

    /// The retransmission timer has expired for the `count`th time in a row.
    #[inline]
    pub(super) fn doubt_timeouts(&mut self, count: u32) {
        if count == SUSPECT_TIMEOUTS {
            self.doubt_fast_open();
        }
    }

    /// The path of a client's connection with Fast Open has done what a black hole does.
    #[cold]
    pub(super) fn doubt_fast_open(&mut self) {
        if let Some(fast) = self.fast_open_mut().filter(|fast| fast.was_used()) {
            fast.suspect = true;
        }
    }

    /// The same if it has brought no data: a reset or a FIN that is ahead of what was expected says that data was swallowed.
    #[cold]
    pub(super) fn doubt_silence(&mut self) {
        if self.stats.data_segs_in == 0 {
            self.doubt_fast_open();
        }
    }
}
