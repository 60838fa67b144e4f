//! What an application changes while a connection lives: Nagle, corking, buffers, ends of records; and giving up at once.

use super::patience::Patience;
use super::{Endpoint, State, work};
use crate::delayed_ack::{DELAY_MAX, QUICK_MAX};
use crate::delivery::DeliveryLog;
use crate::fast_open::FastOpen;
use crate::options::Options;
use crate::segment::{Flags, SackBlocks, Segment};
use elephan_units::{Bytes, Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Time in a state: what began is taken off, what ended is added, so that a sum is right when nothing is on.
#[derive(Clone, Copy, Debug, Default)]
struct Chrono {
    on: bool,
    sum_ps: u64,
}

impl Chrono {
    fn set(&mut self, now: Time, on: bool) {
        if self.on != on {
            self.on = on;
            self.sum_ps = if on { self.sum_ps.wrapping_sub(now.0) } else { self.sum_ps.wrapping_add(now.0) };
        }
    }

    fn until(&self, now: Time) -> Span {
        Span(if self.on { self.sum_ps.wrapping_add(now.0) } else { self.sum_ps })
    }
}

/// What few connections keep: corks and ends of records of applications that ask for them, and times for [`Endpoint::info`].
#[derive(Clone, Debug, Default)]
pub(super) struct Aside {
    /// TCP_CORK; the last write said MSG_MORE.
    cork: bool,
    more: bool,
    /// Segments that had arrived when it said so: what arrives later lets the rest out.
    more_at: u64,
    /// Text and FIN of the peer's SYN, which wait for the connection to be established.
    syn_text: Option<(u32, Flags)>,
    /// A writer waits for the connection: the ACK of the SYN-ACK waits for what it writes.
    writer_waits: bool,
    /// Of a client or a server that uses Fast Open.
    pub fast_open: Option<Box<FastOpen>>,
    /// Where records end that are not wholly acknowledged: no segment reaches beyond such an end.
    records: VecDeque<u64>,
    pub patience: Patience,
    /// Times are kept: data is to be sent or in flight.
    timed: bool,
    busy: Chrono,
    /// The writer waits for room in the send buffer, of which all has been sent.
    blocked: Chrono,
    /// When the last acknowledgement arrived.
    acked_at: Time,
    /// Segments that ACKs with ECE have acknowledged.
    echoed: u64,
}

impl Endpoint {
    /// Gives this connection options of its own.
    pub(super) fn change(&mut self, set: impl FnOnce(&mut Options)) {
        set(Arc::make_mut(&mut self.options));
    }

    /// Turns Nagle's algorithm off or on (TCP_NODELAY).
    pub fn set_nodelay(&mut self, _now: Time, on: bool) {
        self.change(|options| options.nagle = !on);
        // What a cork holds back leaves (Linux __tcp_sock_set_nodelay: TCP_NAGLE_PUSH).
        self.small_due |= on && self.shapes() && self.backlog() > 0;
        self.reconsider();
    }

    /// Holds back what does not fill a segment until the cork is drawn (TCP_CORK), 200 ms at most.
    pub fn set_cork(&mut self, _now: Time, on: bool) {
        self.small_due &= !on;
        self.aside().cork = on;
        self.reconsider();
    }

    /// Sets whether the last write said that more follows (MSG_MORE). This corks the stream until the next write or the next segment that
    /// arrives (Linux `tcp_data_snd_check` pushes without the flag).
    pub fn set_more(&mut self, more: bool) {
        if more || self.aside.is_some() {
            self.small_due &= !more;
            let heard = self.stats.segs_in;
            let aside = self.aside();
            (aside.more, aside.more_at) = (more, heard);
        }
    }

    /// Sets whether a writer waits for the handshake to end. Its data then carries the ACK of the SYN-ACK (Linux `sk_write_pending`).
    pub fn set_writer_waits(&mut self, waits: bool) {
        self.aside().writer_waits = waits;
    }

    /// The ACK of the SYN-ACK: at once, or with what a waiting writer sends (Linux `tcp_rcv_synsent_state_process`).
    pub(super) fn acknowledge_syn_ack(&mut self, now: Time) {
        if !self.aside.as_mut().is_some_and(|aside| std::mem::take(&mut aside.writer_waits)) {
            self.work |= work::ACK;
            return;
        }
        self.ack_at = now.saturating_add(DELAY_MAX);
        if let Some(adaptive) = &mut self.rx.adaptive {
            adaptive.be_quick(self.rx.edge - self.rx.last_ack, QUICK_MAX);
            adaptive.schedule();
        }
    }

    /// Keeps text and FIN of a SYN until the connection is established (RFC 9293 sections 3.10.7.2 and 3.10.7.3). What asks for Fast Open
    /// has rules of its own. Linux drops them.
    pub(super) fn keep_syn_text(&mut self, seg: &Segment, sack: &SackBlocks) {
        let plain = seg.fast_open(sack).is_none() && !self.accepts_as_linux();
        if plain && (seg.len > 0 || seg.flags.any(Flags::FIN)) {
            self.aside().syn_text = Some((seg.len, Flags(seg.flags.0 & (Flags::FIN | Flags::PSH).0)));
        }
    }

    /// The connection is established: takes what the peer's SYN brought.
    pub(super) fn take_syn_text(&mut self, now: Time) {
        if let Some((len, flags)) = self.aside.as_mut().and_then(|aside| aside.syn_text.take()) {
            self.on_data(now, &Segment { seq: self.irs.wrapping_add(1), len, flags, ..Segment::default() }, 1);
        }
    }

    /// Ends a record at the end of the stream so far (MSG_EOR): no segment holds bytes of this record and of the next.
    pub fn end_record(&mut self) {
        let (end, una) = (self.total + 1, self.tx.board.una());
        let records = &mut self.aside().records;
        while records.front().is_some_and(|end| *end <= una) {
            records.pop_front();
        }
        if records.back() != Some(&end) {
            records.push_back(end);
        }
    }

    /// Sets the user timeout (TCP_USER_TIMEOUT); zero means none.
    pub fn set_user_timeout(&mut self, span: Span) {
        self.change(|options| options.user_timeout = span);
    }

    /// Sets the longest retransmission timeout (TCP_RTO_MAX_MS). The timeout in force stays until the next sample.
    pub fn set_rto_max(&mut self, span: Span) {
        self.change(|options| options.rto_max = span);
        self.tx.rtt.set_most(span);
    }

    /// Sets that arriving segments longer than `bytes` are segments of so many bytes which the host's device has joined (GRO). Linux's
    /// rule for delayed ACKs goes by what was sent (`tcp_measure_rcv_mss`).
    pub fn set_joined_segments(&mut self, bytes: u64) {
        if let Some(adaptive) = &mut self.rx.adaptive {
            adaptive.set_joined(bytes);
        }
    }

    /// Sets how many SYNs are retransmitted (TCP_SYNCNT).
    pub fn set_syn_retries(&mut self, retries: u32) {
        self.change(|options| options.syn_retries = retries);
    }

    /// Sets the size of the send buffer.
    pub fn set_send_buffer(&mut self, bytes: u64) {
        self.change(|options| options.send_buffer = Bytes(bytes));
        self.reconsider();
    }

    /// Sets the size of the receive buffer as an application does (`receive_buffer`). The window that was offered stays.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        self.change(|options| options.receive_buffer = Bytes(bytes));
        self.rx.set_buffer(bytes);
    }

    /// Sets whether a writer waits for room in a send buffer of the caller's own whose bytes have all been sent.
    pub fn set_blocked(&mut self, now: Time, blocked: bool) {
        self.aside().blocked.set(now, blocked);
    }

    /// Keeps what `busy_time`, `sndbuf_limited`, `last_ack_recv`, `delivery_rate` and `delivered_ce` of [`Endpoint::info`] need. Call it before
    /// the connection opens.
    pub fn keep_times(&mut self) {
        self.aside().timed = true;
        self.tx.log.get_or_insert_with(|| Box::new(DeliveryLog::for_info()));
    }

    pub(super) fn keeps_times(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.timed)
    }

    /// An ACK with ECE of RFC 3168 says that `segments` have arrived: Linux counts each as marked (`tcp_count_delivered`).
    pub(super) fn count_echoed(&mut self, segments: u64) {
        if let Some(aside) = self.aside.as_mut().filter(|aside| aside.timed) {
            aside.echoed += segments;
        }
    }

    /// The segments that ACKs with ECE have acknowledged.
    pub(super) fn echoed(&self) -> u64 {
        self.aside.as_ref().map_or(0, |aside| aside.echoed)
    }

    /// Data is to be sent or in flight, or neither is; `blocked` says that the writer waits.
    #[inline]
    pub(super) fn note_busy(&mut self, now: Time, busy: bool) {
        if let Some(aside) = self.aside.as_mut().filter(|aside| aside.timed) {
            aside.busy.set(now, busy);
        }
    }

    /// Sending has stopped for another reason than before.
    pub(super) fn note_blocked(&mut self, now: Time, blocked: bool) {
        if let Some(aside) = self.aside.as_mut().filter(|aside| aside.timed) {
            aside.blocked.set(now, blocked);
        }
    }

    /// An acknowledgement has arrived.
    #[inline]
    pub(super) fn note_ack(&mut self, now: Time) {
        if let Some(aside) = &mut self.aside {
            aside.acked_at = now;
        }
    }

    /// When the last acknowledgement arrived; none if that is not kept.
    pub(super) fn acked_at(&self) -> Option<Time> {
        self.aside.as_ref().map(|aside| aside.acked_at)
    }

    /// Time busy and time blocked until `now`; none if they are not kept.
    pub(super) fn busy(&self, now: Time) -> Option<(Span, Span)> {
        self.aside.as_ref().filter(|aside| aside.timed).map(|aside| (aside.busy.until(now), aside.blocked.until(now)))
    }

    /// Whether segments end elsewhere than at full length, or wait.
    #[inline]
    pub(super) fn shapes(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.cork || aside.more || !aside.records.is_empty())
    }

    /// Gives up at once and forgets the connection. A reset goes out if the peer knows of it and has not got both ends of the stream:
    /// none after both FINs (RFC 9293 section 3.10.5). CLOSING and LAST-ACK begin here before the own FIN leaves.
    pub fn abort(&mut self, now: Time) {
        let resets = match self.state {
            State::Closing | State::LastAck => !self.fin_sent,
            State::TimeWait => false,
            state => state >= State::SynReceived,
        };
        self.end(now, resets);
    }

    /// Closes while the application has not read all: a reset tells the peer, after both FINs too (RFC 2525 section 2.17, Linux `tcp_close`).
    pub fn abort_unread(&mut self, now: Time) {
        self.end(now, self.state >= State::SynReceived && self.state != State::TimeWait);
    }

    /// Forgets the connection, and tells the peer if `resets`.
    fn end(&mut self, now: Time, resets: bool) {
        self.finish(now);
        if resets {
            self.work = work::ABORT;
        }
    }

    /// Forgets the connection without telling the peer, as a host does that has given up before. Later segments are answered by resets.
    pub fn forget(&mut self, now: Time) {
        self.finish(now);
    }

    pub(super) fn aside(&mut self) -> &mut Aside {
        self.aside.get_or_insert_default()
    }

    /// Writes the reset of [`Endpoint::abort`], with the next sequence number and an acknowledgement.
    pub(super) fn emit_abort(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) {
        let seq = self.tx.board.nxt().max(1);
        self.fill(now, seg, sack, seq, 0, Flags::RST | Flags::ACK);
        self.work = 0;
    }

    /// How much of `waiting` bytes from `seq` on one segment takes, which ends with its record; and whether a part of a segment
    /// waits for more to be written.
    #[inline]
    pub(super) fn shaped(&self, seq: u64, waiting: u64, mss: u64) -> (u64, bool) {
        let len = waiting.min(mss);
        let Some(aside) = &self.aside else { return (len, false) };
        let end = aside.records.iter().find(|end| **end > seq);
        let more = aside.more && aside.more_at == self.stats.segs_in;
        let corked = (aside.cork || more) && !self.small_due;
        (end.map_or(len, |end| len.min(end - seq)), corked)
    }

    /// Whether the last write said that more follows, so that it is not pushed.
    #[inline]
    pub(super) fn says_more(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.more)
    }

    /// Whether a record ends at this offset.
    #[inline]
    pub(super) fn ends_record(&self, end: u64) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.records.contains(&end))
    }
}
