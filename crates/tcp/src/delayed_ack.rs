//! Delayed ACKs as Linux times them (`tcp_event_data_recv`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`,
//! `tcp_cleanup_rbuf`), with m the gap since the last segment in order and ato the acknowledgement timeout:
//!
//! ```text
//! first segment:  ato = 40 ms, quick mode
//! m <= 20 ms:     ato = ato / 2 + 20 ms
//! m <  ato:       ato = ato / 2 + m, at most RTO
//! m >  RTO:       quick mode (the sender may have restarted with a small window)
//! ```
//!
//! An ACK goes out at once when more than one full segment (`delayed_ack_segments` - 1 of them) is not acknowledged and the window is as large
//! as in the last ACK, or nothing waits to be read; in quick mode; or when the application has read the end of a write (a short segment
//! or PSH) and answers none itself; otherwise after ato, of which a round-trip time (40 ms at least) is enough when ato has grown, and
//! 200 ms at most. It is not waited for when a timer that runs would ring within ato / 4. A timer that rings doubles ato.
//!
//! Quick mode lasts for min(16, window / (2 segments)) ACKs, two at least. Duplicate data begins it anew with ato = 40 ms, a CE
//! mark under RFC 3168 with two ACKs. An end that sends data within ato of having received some is interactive
//! (`pingpong`): its answers carry the ACKs, until a timer rings or quick mode begins.
//!
//! The FIN of a peer that this end has not closed to makes it interactive too (`tcp_fin`): its ACK waits for the application's own FIN.
//!
//! Compression (`__tcp_ack_snd_check`): with a hole and SACK the fourth and later ACKs without progress wait for
//! min(`sack_compression_delay`, RTT / 20) and `sack_compression_slack`, `sack_compression_acks` of them at most. RTT is the shorter of SRTT and
//! of the receiver's own estimate (`rcv_rtt_est`), zero without one. A segment that extends neither of the two blocks reported last sends the
//! ACK that waits, which does not report it; it gets none of its own (`tcp_sack_new_ofo_skb`).
//!
//! A read of what waited sends the ACK of more than a full segment, or of an end of a write when all is read (`__tcp_cleanup_rbuf`).
//!
//! A segment that lets the offered window grow (`tcp_grow_window`) makes one ACK quick. Quick mode ends where less than half of the buffer is
//! free (`__tcp_select_window`).
//!
//! Left out: buffers below the low-water mark.

use crate::options::Options;
use elephan_units::{Span, Time};

/// `TCP_MAX_QUICKACKS`.
pub(crate) const QUICK_MAX: u32 = 16;
/// `tcp_data_ecn_check`.
pub(crate) const QUICK_ECN: u32 = 2;
/// `TCP_DELACK_MAX`, HZ / 5.
pub(crate) const DELAY_MAX: Span = Span::from_ms(200);
/// The limit of ato where the sender did not push, HZ / 2.
const UNPUSHED_MAX: Span = Span::from_ms(500);
/// `TCP_MSS_DEFAULT`: what a full segment is taken for before a longer one came.
const FULL_SEGMENT: u64 = 536;
/// `TCP_FASTRETRANS_THRESH`: ACKs without progress that leave at once.
const AT_ONCE: u8 = 3;
/// `TCP_MIN_MSS`: no end sends full segments that are shorter.
const SEGMENT_MIN: u64 = 88;
/// The share of the round trip that an ACK is held back at most.
const HELD_SHARE: u64 = 20;

/// When the ACK of a segment in order leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Now,
    /// The read of what has come sends it.
    Read,
    At(Time),
}

/// SACK compression: ACKs held back at most, and for how long.
#[derive(Clone, Copy, Debug, Default)]
struct Compression {
    acks: u16,
    delay: Span,
    slack: Span,
}

/// What the rule looks at when a segment has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub now: Time,
    pub len: u64,
    /// It carries PSH; it carries FIN.
    pub push: bool,
    pub fin: bool,
    /// It carries the FIN of a peer that this end has not closed to.
    pub closes: bool,
    /// Bytes received in order and not acknowledged, it included.
    pub unacked: u64,
    /// The application reads at once.
    pub reads: bool,
    /// Nothing waits for the application, or the window is no smaller than in the last ACK.
    pub open: bool,
    /// It lets the offered window grow.
    pub grows: bool,
    /// The window offered.
    pub window: u64,
    pub rto: Span,
    pub srtt: Option<Span>,
    /// The shorter of it and of the receiver's own estimate, zero without one.
    pub rtt: Span,
    /// When a delayed ACK is due already.
    pub timer: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct DelayedAck {
    /// `TCP_ATO_MIN` and `TCP_DELACK_MIN`, 40 ms.
    least: Span,
    /// Full segments that may wait.
    waiting_max: u64,
    /// Zero before the first segment.
    ato: Span,
    last_at: Time,
    quick: u32,
    interactive: bool,
    /// Ends of writes since the last ACK, two at most.
    pushed: u8,
    /// Something has arrived since the last ACK.
    scheduled: bool,
    full_segment: u64,
    /// Longer segments that arrive are joined ones of so many bytes.
    joined: u64,
    /// The last segment if it was shorter and may have been full (`last_seg_size`), else 0.
    last_len: u64,
    /// The longest segment that this end lets the peer send.
    mss: u64,
    compression: Compression,
    /// ACKs held back.
    held: u16,
    /// ACKs that left at once while `stalled_at` was expected.
    at_once: u8,
    stalled_at: u64,
}

impl DelayedAck {
    /// The rule of `o`; ACKs are held back if the peer knows SACK, which [`DelayedAck::compress`] says.
    pub fn new(o: &Options) -> DelayedAck {
        DelayedAck {
            least: o.delayed_ack_timeout,
            waiting_max: u64::from(o.delayed_ack_segments - 1),
            ato: Span::ZERO,
            last_at: Time::ZERO,
            quick: 0,
            interactive: false,
            pushed: 0,
            scheduled: false,
            joined: u64::MAX,
            full_segment: FULL_SEGMENT.min(o.mss.0),
            last_len: 0,
            mss: o.mss.0,
            compression: Compression::default(),
            held: 0,
            at_once: 0,
            stalled_at: 0,
        }
    }

    /// The peer knows SACK: ACKs may be held back.
    pub fn compress(&mut self, o: &Options) {
        let (delay, slack) = (o.sack_compression_delay, o.sack_compression_slack);
        self.compression = Compression { acks: o.sack_compression_acks as u16, delay, slack };
    }

    /// The acknowledgement timeout, 0 before the first segment.
    pub fn timeout(&self) -> Span {
        self.ato
    }

    /// When data last arrived; the beginning of the connection before the first.
    pub fn last_at(&self) -> Time {
        self.last_at
    }

    /// The connection begins; the peer may send segments of `mss`.
    pub fn begin(&mut self, now: Time, mss: u64) {
        (self.last_at, self.mss) = (now, mss);
    }

    /// The longest segment that has arrived, 536 bytes at first.
    pub fn full_segment(&self) -> u64 {
        self.full_segment
    }

    /// Longer segments that arrive are joined ones of so many bytes.
    pub fn set_joined(&mut self, bytes: u64) {
        self.joined = bytes;
    }

    fn raise_quick(&mut self, window: u64, most: u32) {
        let by_window = (window / (2 * self.full_segment)).min(u64::from(most)) as u32;
        let acks = if by_window == 0 { 2.min(most) } else { by_window };
        self.quick = self.quick.max(acks);
    }

    /// Quick mode, for `most` ACKs at most.
    pub fn be_quick(&mut self, window: u64, most: u32) {
        self.raise_quick(window, most);
        self.interactive = false;
        self.ato = self.least;
    }

    /// An ACK is due: the next that leaves counts as a quick one. That of a segment which is not acceptable is none (`tcp_send_dupack`).
    pub fn schedule(&mut self) {
        self.scheduled = true;
    }

    /// Quick mode ends: there is little room.
    pub fn calm(&mut self) {
        self.quick = 0;
    }

    /// Whether more is not acknowledged than may wait.
    pub fn is_over(&self, unacked: u64) -> bool {
        unacked > self.waiting_max * self.full_segment
    }

    /// Whether ACKs are being held back, and whether they may be.
    pub fn holds_back(&self) -> bool {
        self.held > 0
    }

    pub fn compresses(&self) -> bool {
        self.compression.acks > 0
    }

    /// Learns the length of full segments from one (`tcp_measure_rcv_mss`): the longest so far, or two of equal length that need not be the
    /// ends of writes. Notes ends of writes. Returns whether it is longer than those before.
    pub fn measure(&mut self, a: &Arrival) -> bool {
        let (last, len) = (std::mem::take(&mut self.last_len), a.len.min(self.mss).min(self.joined));
        if len >= self.full_segment {
            let longer = len > self.full_segment;
            self.full_segment = len;
            self.pushed = self.pushed.max(u8::from(a.push));
            return longer;
        }
        if len >= FULL_SEGMENT || len >= SEGMENT_MIN && !a.push && !a.fin {
            self.last_len = len;
            if len == last {
                self.full_segment = len;
                return false;
            }
        }
        self.pushed = (self.pushed + 1).min(2);
        false
    }

    /// A segment has arrived in order.
    pub fn on_data(&mut self, a: &Arrival) {
        self.scheduled = true;
        self.adapt(a);
        self.quick |= u32::from(a.grows);
        self.interactive |= a.closes;
    }

    /// A segment has arrived beyond a hole.
    pub fn on_disorder(&mut self, a: &Arrival) {
        self.scheduled = true;
        self.quick |= u32::from(a.grows);
    }

    /// A segment has arrived that is none of the window.
    pub fn on_old(&mut self, a: &Arrival) {
        self.be_quick(a.window, QUICK_MAX);
        self.scheduled = true;
    }

    /// When the ACK of what has arrived leaves; with a hole at `hole`.
    pub fn when(&mut self, a: &Arrival, hole: Option<u64>) -> When {
        match hole.filter(|_| !(a.open && self.is_over(a.unacked) || self.is_quick())) {
            Some(nxt) => self.hold_back(a, nxt),
            None => self.decide(a),
        }
    }

    fn is_quick(&self) -> bool {
        self.quick > 0 && !self.interactive
    }

    /// A FIN without data has arrived in order.
    pub fn on_fin(&mut self, a: &Arrival) -> When {
        (self.scheduled, self.interactive) = (true, true);
        self.decide(a)
    }

    fn decide(&self, a: &Arrival) -> When {
        let over = self.is_over(a.unacked);
        if over && a.open || self.is_quick() {
            return When::Now;
        }
        if a.reads && (over || self.pushed == 2 || (self.pushed == 1 && !self.interactive)) {
            return When::Read;
        }
        let delay = self.delay(a);
        if delay == Span::ZERO {
            return When::Now;
        }
        if a.timer != Time::NEVER && a.timer <= a.now + Span(delay.0 / 4) {
            return When::Now;
        }
        When::At(a.timer.min(a.now + delay))
    }

    /// The application has taken what waited, `all` of it; whether what is `unacked` is acknowledged now.
    pub fn on_read(&self, unacked: u64, all: bool) -> bool {
        let end_of_write = all && (self.pushed == 2 || (self.pushed == 1 && !self.interactive));
        self.scheduled && (self.is_over(unacked) || unacked > 0 && end_of_write)
    }

    fn adapt(&mut self, a: &Arrival) {
        let gap = a.now.since(self.last_at);
        self.last_at = a.now;
        let half = Span(self.least.0 / 2);
        if self.ato == Span::ZERO {
            self.raise_quick(a.window, QUICK_MAX);
            self.ato = self.least;
        } else if gap <= half {
            self.ato = Span(self.ato.0 / 2) + half;
        } else if gap < self.ato {
            self.ato = (Span(self.ato.0 / 2) + gap).min(a.rto);
        } else if gap > a.rto {
            self.raise_quick(a.window, QUICK_MAX);
        }
    }

    fn delay(&self, a: &Arrival) -> Span {
        let mut delay = self.ato;
        if delay > self.least {
            let most = if self.interactive || self.pushed > 0 { DELAY_MAX } else { UNPUSHED_MAX };
            delay = delay.min(a.srtt.map_or(most, |rtt| rtt.max(self.least).min(most)));
        }
        delay.min(DELAY_MAX.max(self.least))
    }

    /// With a hole at `nxt` the fourth ACK waits, and those after it.
    fn hold_back(&mut self, a: &Arrival, nxt: u64) -> When {
        if self.held >= self.compression.acks || !self.stalls(nxt) {
            return When::Now;
        }
        self.held += 1;
        if self.held > 1 {
            return When::At(a.timer);
        }
        When::At(a.now + Span(a.rtt.0 / HELD_SHARE).min(self.compression.delay) + self.compression.slack)
    }

    /// Whether so many ACKs have left while `nxt` was expected that others may wait; counts one that leaves.
    fn stalls(&mut self, nxt: u64) -> bool {
        if self.stalled_at != nxt {
            (self.stalled_at, self.at_once) = (nxt, 0);
        }
        let stalls = self.at_once >= AT_ONCE;
        self.at_once += u8::from(!stalls);
        stalls
    }

    /// An ACK leaves, with data or without.
    pub fn on_ack_sent(&mut self, now: Time, data: bool) {
        if std::mem::take(&mut self.scheduled) && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = self.least;
            }
        }
        (self.pushed, self.held) = (0, 0);
        if data && self.ato != Span::ZERO && now.since(self.last_at) < self.ato {
            self.interactive = true;
        }
    }

    /// The delayed ACK is due, or those that compression holds back.
    pub fn on_timer(&mut self, rto: Span) {
        if self.held > 0 {
            return;
        }
        if self.interactive {
            self.interactive = false;
            self.ato = self.least;
        } else {
            self.ato = Span(self.ato.0 * 2).min(rto);
        }
    }
}

#[cfg(test)]
mod tests;
