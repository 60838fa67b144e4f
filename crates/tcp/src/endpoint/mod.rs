//! The endpoint: one end of a connection, sans-IO.
//!
//! The rule of this layer: calls change state and note what is to be done in `work`; [`Endpoint::poll_transmit`] does it,
//! one segment a call, and returns at once when there is nothing. Sequence numbers are 64-bit offsets inside (the SYN
//! is 0) and 32-bit on the wire.

mod accept;
mod ack;
mod burst;
mod change;
mod connect;
mod ecn;
mod fast_open;
mod info;
mod local;
mod patience;
mod pending;
mod receive;
mod send;
mod small_queues;
mod snapshot;
mod spaced;
mod state;
mod timers;
mod watch;
mod work;

pub use self::info::{Info, SSTHRESH_INFINITE};
pub use self::patience::Linger;
pub use self::state::{Phase, State};
use crate::accecn::AccEcn;
use crate::options::{Ecn, Options};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::stats::{Limit, LimitClock, Stats};
use elephan_cc::Controller;
use elephan_units::{Span, Time};
use std::sync::Arc;

/// How a connection was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Active,
    /// By the peer's SYN.
    Passive,
    /// By the peer's SYN, and data flows although the SYN-ACK is not acknowledged (Fast Open).
    Early,
}

/// One end of a connection. It has no clock and no socket: every call brings the time, segments go in by [`Endpoint::on_segment`] and come out of
/// [`Endpoint::poll_transmit`].
///
/// ```
/// use std::sync::Arc;
/// use elephan_tcp::{Endpoint, SackBlocks, Segment, State, stack};
/// use elephan_units::{Span, Time};
///
/// let options = Arc::new(stack("rfc").unwrap());
/// let mut client = Endpoint::new(&options, options.controller(), 1);
/// let mut server = Endpoint::new(&options, options.controller(), 1000);
/// server.listen();
/// client.connect(Time::ZERO);
/// client.write(Time::ZERO, 100_000);
///
/// // A path of 10 ms each way: what one end writes, the other end reads 10 ms later.
/// let (mut now, mut segment, mut sack) = (Time::ZERO, Segment::default(), SackBlocks::default());
/// for _ in 0..20 {
///     for _ in 0..2 {
///         let mut sent = Vec::new();
///         while client.poll_transmit(now, &mut segment, &mut sack) {
///             sent.push((segment, sack));
///         }
///         now = now + Span::from_ms(10);
///         sent.iter().for_each(|(segment, sack)| server.on_segment(now, segment, sack));
///         std::mem::swap(&mut client, &mut server);
///     }
/// }
/// assert_eq!((client.state(), server.received()), (State::Established, 100_000));
/// ```
#[derive(Clone)]
pub struct Endpoint {
    tx: Sender,
    rx: Receiver,
    work: u8,
    state: State,
    /// Negotiated: timestamps in every segment.
    timestamps: bool,
    /// What each segment says of the version of IP.
    ip: u8,
    /// Negotiated, and whether segments carry ECE or, with AccECN, its feedback.
    ecn: Ecn,
    echo: bool,
    accecn: Option<Box<AccEcn>>,
    /// A SYN of the handshake asked for no ECN, so that data is not ECN-capable (RFC 3168 section 6.1.1).
    no_ect: bool,
    opening: Opening,
    /// The application has closed; the FIN has been sent.
    closing: bool,
    fin_sent: bool,
    /// The retransmission timer is the persist timer.
    persist: bool,
    /// The timer lets a small segment out (RFC 1122 section 4.2.3.4, override time-out).
    small_due: bool,
    isn: u32,
    irs: u32,
    /// Bytes that may go out in full segments before anything has to be asked again, and what ends them if known.
    quota: u64,
    quota_end: Option<Limit>,
    /// What an early ACK acknowledges, or the number in a reset.
    answer: u64,
    /// Length of the application's stream so far.
    total: u64,
    /// Retransmission, persist, SYN and TIME-WAIT timer; delayed ACK; end of a pacing gap.
    rtx_at: Time,
    ack_at: Time,
    pace_wake: Time,
    /// When pacing lets the next segment out.
    pace_at: Time,
    /// When the burst began that pacing lets out, and segments left of it.
    burst_at: Time,
    burst_left: u16,
    /// How much later the burst left than it might have, as far as its segments have not used that up, ns.
    burst_late_ns: u32,
    /// Low half of the offset after the last segment that was not full (Linux `snd_sml`).
    small_end: u32,
    /// Timestamp clock and until when it shows that value.
    ts_value: u32,
    ts_until: Time,
    /// Since when nothing was newly acknowledged while something is outstanding (the SYN, then data), never while nothing is; and the longest
    /// such time of data, below.
    progress_at: Time,
    /// In microseconds.
    stall_us: u32,
    /// When the peer's last timestamp came, in units of 2^32 ps.
    heard_at: u32,
    options: Arc<Options>,
    stats: Stats,
    clock: LimitClock,
    /// SYNs or SYN-ACKs that timed out; after the handshake, probes of a window that stays closed.
    backoffs: u8,
    /// SYNs or SYN-ACKs that have left.
    syns: u8,
    /// What few connections keep.
    aside: Option<Box<change::Aside>>,
}

impl Endpoint {
    /// Returns a closed endpoint. `cc` steers its sender; `isn` is its initial sequence number.
    pub fn new(options: &Arc<Options>, cc: Controller, isn: u32) -> Endpoint {
        Endpoint {
            tx: Sender::new(options, cc),
            rx: Receiver::new(options),
            work: 0,
            state: State::Closed,
            timestamps: false,
            ip: options.ip.bits(),
            ecn: Ecn::Off,
            echo: false,
            accecn: None,
            no_ect: false,
            answer: 0,
            opening: Opening::Active,
            closing: false,
            fin_sent: false,
            persist: false,
            small_due: false,
            isn,
            irs: 0,
            quota: 0,
            quota_end: None,
            total: 0,
            rtx_at: Time::NEVER,
            ack_at: Time::NEVER,
            pace_wake: Time::NEVER,
            pace_at: Time::ZERO,
            burst_at: Time::NEVER,
            burst_left: 0,
            burst_late_ns: 0,
            small_end: 0,
            ts_value: 0,
            progress_at: Time::NEVER,
            stall_us: 0,
            heard_at: 0,
            ts_until: Time::ZERO,
            options: options.clone(),
            stats: Stats::default(),
            clock: LimitClock::new(),
            backoffs: 0,
            syns: 0,
            aside: None,
        }
    }

    /// Something has changed that may let data out.
    #[inline]
    fn reconsider(&mut self) {
        self.work |= work::DATA;
        self.quota = 0;
        self.quota_end = None;
    }

    /// An ACK has changed something that may let data out, unless pacing holds it and wakes the endpoint when it does not.
    #[inline]
    fn reconsider_by_ack(&mut self, now: Time) {
        let waits = now < self.pace_wake
            && self.pace_wake != Time::NEVER
            && self.tx.pacing_bps > 0.0
            && self.tx.trains.is_none()
            && self.tx.rec.watch.is_none();
        if waits {
            (self.quota, self.quota_end) = (0, None);
        } else {
            self.reconsider();
        }
    }

    /// Appends `bytes` to the stream, as far as the send buffer has room. Returns how many bytes it took.
    pub fn write(&mut self, _now: Time, bytes: u64) -> u64 {
        if self.closing {
            return 0;
        }
        let room = self.acked().saturating_add(self.options.send_buffer.0).saturating_sub(self.total);
        let taken = bytes.min(room);
        self.note_write();
        self.total += taken;
        self.note_backlog();
        self.reconsider();
        taken
    }

    /// Sets the length of the application's stream so far (`u64::MAX` for an endless stream). The socket then takes what its send buffer holds,
    /// without further calls.
    #[inline]
    pub fn supply(&mut self, total: u64) {
        if !self.closing && total > self.total {
            self.note_write();
            self.total = total;
            self.note_backlog();
            self.reconsider();
        }
    }

    /// The application is about to write.
    #[inline]
    fn note_write(&mut self) {
        if self.tx.log.is_some() {
            let waiting = self.backlog();
            self.tx.note_write(waiting);
        }
    }

    /// Bytes that have entered the socket and have not been sent.
    fn backlog(&self) -> u64 {
        (self.accepted() + 1).saturating_sub(self.tx.board.nxt().max(1))
    }

    #[inline]
    fn note_backlog(&mut self) {
        self.stats.max_app_w_queue = self.stats.max_app_w_queue.max(self.backlog());
    }

    /// Returns how many bytes of the stream have entered the socket: min(total, acked + send buffer).
    #[inline]
    pub fn accepted(&self) -> u64 {
        self.total.min((self.tx.board.una() + self.options.send_buffer.0).saturating_sub(1))
    }

    /// Sets whether the application reads at once (the default) or by [`Endpoint::read`].
    pub fn set_auto_read(&mut self, on: bool) {
        self.rx.auto_read = on;
    }

    /// Takes up to `bytes` from the receive buffer and returns how many there were.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let (taken, update) = self.rx.take(now, bytes);
        if update && self.state >= State::Established {
            self.work |= work::ACK;
        }
        taken
    }

    /// Lets the application read by itself as data arrives, up to `offset` of the stream. What lies beyond waits in the receive buffer, and the
    /// window closes.
    pub fn read_until(&mut self, now: Time, offset: u64) {
        let (_, update) = self.rx.read_until(now, offset);
        if update && self.state >= State::Established {
            self.work |= work::ACK;
        }
    }

    /// Returns the payload bytes received in order, read or not.
    #[inline]
    pub fn arrived(&self) -> u64 {
        self.rx.payload()
    }

    /// Returns the bytes that the receiver holds behind holes, including a FIN among them.
    pub fn held(&self) -> u64 {
        self.rx.held()
    }

    /// Returns the payload bytes received in order that the application has read.
    #[inline]
    pub fn received(&self) -> u64 {
        self.rx.read
    }

    /// Returns the payload bytes received in order that the application has not read.
    pub fn unread(&self) -> u64 {
        self.rx.unread()
    }

    /// Returns the payload bytes that the peer has acknowledged.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.tx.board.una().saturating_sub(1).min(self.total)
    }

    /// Returns FlightSize (RFC 5681): the bytes sent and not yet acknowledged cumulatively.
    #[inline]
    pub fn inflight(&self) -> u64 {
        self.tx.board.flight()
    }

    /// Returns the bytes believed to be in the network (RFC 6675 pipe).
    pub fn pipe(&self) -> u64 {
        self.tx.board.pipe()
    }

    /// Returns the state of the connection.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns whether the handshake is done. It stays `true` when the connection is over.
    pub fn is_established(&self) -> bool {
        self.tx.board.una() > 0
    }

    /// Returns whether the peer's FIN was received in order.
    pub fn peer_closed(&self) -> bool {
        self.rx.fin
    }

    /// Returns what the sender is doing.
    pub fn phase(&self) -> Phase {
        match self.state {
            State::Closed | State::TimeWait => Phase::Closed,
            State::Listen | State::SynSent | State::SynReceived => Phase::Handshake,
            _ if self.tx.rec.is_recovery() => Phase::Recovery,
            _ if self.tx.rec.is_loss() => Phase::Loss,
            _ if self.tx.cc.in_slow_start() => Phase::SlowStart,
            _ => Phase::CongestionAvoidance,
        }
    }

    /// Returns what has been counted so far. Unlike [`Endpoint::stats`] it leaves out what follows from the present state (`cur_*`, round-trip
    /// times, time limits). It costs nothing, so a caller can watch for events.
    #[inline]
    pub fn counters(&self) -> &Stats {
        &self.stats
    }

    /// Returns the controller of the sender.
    pub fn controller(&self) -> &Controller {
        &self.tx.cc
    }

    /// Replaces the congestion control. The new one begins with the window and the threshold that it finds.
    pub fn switch_congestion_control(&mut self, now: Time, congestion_control: &elephan_cc::Spec) {
        self.tx.switch_congestion_control(now, congestion_control, self.keeps_times());
        self.reconsider();
    }

    /// Begins the controller that [`Endpoint::switch_congestion_control`] has put in place, if the connection is established. Call it after
    /// [`Endpoint::on_nic`] if the controller probes.
    pub fn begin_switched_controller(&mut self, now: Time) {
        if self.is_established() {
            self.begin_controller(now, true);
        }
    }

    /// Returns the options of this end.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Is called when routers have answered that the window may change by `bytes` (see [`Controller::on_feedback`]), before the ACK that
    /// brought the answer.
    pub fn on_feedback(&mut self, bytes: f64) {
        self.tx.cc.on_feedback(bytes);
    }

    /// Is called when routers report the fair rate and the flow's own queue (see [`Controller::on_fair_rate`]), before the segment that
    /// brought the report.
    pub fn on_fair_rate(&mut self, rate_bps: f64, queue_bytes: f64) {
        self.tx.cc.on_fair_rate(rate_bps, queue_bytes);
        self.tx.refresh();
    }

    /// Returns the smoothed round-trip time, `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        self.tx.rtt.srtt()
    }

    /// Returns the smallest round-trip time so far, `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Span> {
        (self.tx.min_rtt != Span::MAX).then_some(self.tx.min_rtt)
    }

    /// Returns the retransmission timeout in force, with its back-off.
    pub fn rto(&self) -> Span {
        self.tx.rtt.rto()
    }

    /// Returns the payload of a full segment in bytes.
    pub fn mss(&self) -> u64 {
        u64::from(self.tx.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Segment, stack};

    /// Both ends of a connection of stack `rfc`, established in no time; `cc` steers the first.
    fn connected(cc: &str) -> (Endpoint, Endpoint) {
        let o = Arc::new(stack("rfc").unwrap());
        let congestion_control = elephan_cc::Spec::named(cc).unwrap();
        let mut a = Endpoint::new(&o, Controller::new(&congestion_control, o.mss.0, o.mss.0), 1);
        let mut b = Endpoint::new(&o, o.controller(), 2);
        let (mut seg, mut sack) = (Segment::default(), Default::default());
        b.listen();
        a.connect(Time::ZERO);
        for _ in 0..2 {
            while a.poll_transmit(Time::ZERO, &mut seg, &mut sack) {
                b.on_segment(Time::ZERO, &seg, &sack);
            }
            while b.poll_transmit(Time::ZERO, &mut seg, &mut sack) {
                a.on_segment(Time::ZERO, &seg, &sack);
            }
        }
        (a, b)
    }

    /// The rate is set by hand. 1500-byte packets at 12 Mbit/s leave every millisecond.
    #[test]
    fn paced_segments_leave_at_the_rate() {
        let (mut a, _) = connected("reno");
        let (mut seg, mut sack) = (Segment::default(), Default::default());
        a.supply(u64::MAX);
        a.tx.pacing_bps = 1448.0 * 8.0 / 1e-3; // of payload, beside 52 bytes of headers
        let mut left = Vec::new();
        let mut now = Time::ZERO;
        while left.len() < 6 {
            while a.poll_transmit(now, &mut seg, &mut sack) {
                left.push((now.0 / 1_000_000_000, seg.ip_bytes()));
            }
            now = a.next_timer();
            a.on_timer(now);
        }
        assert_eq!(left, [(0, 1500), (1, 1500), (2, 1500), (3, 1500), (4, 1500), (5, 1500)]);
    }

    #[test]
    fn an_ack_lets_nothing_out_before_pacing_does() {
        let (mut a, mut b) = connected("bbr");
        let (mut seg, mut sack) = (Segment::default(), Default::default());
        a.supply(u64::MAX);
        b.rx.acknowledge_each();
        while a.poll_transmit(Time::ZERO, &mut seg, &mut sack) {
            b.on_segment(Time::ZERO, &seg, &sack);
        }
        let due = a.next_timer();
        assert!(due > Time::ZERO && due == a.pace_at);
        let early = Time(due.0 - 1);
        assert!(b.poll_transmit(early, &mut seg, &mut sack));
        a.on_segment(early, &seg, &sack);
        assert!(a.inflight() == 0 && !a.may_transmit());
        assert_eq!(a.next_timer(), due);
        a.on_timer(due);
        assert!(a.poll_transmit(due, &mut seg, &mut sack) && seg.len > 0);
        // Without a gap to wait for, an ACK lets out what the window allows.
        (a.pace_at, a.pace_wake) = (due, Time::NEVER);
        b.on_segment(due, &seg, &sack);
        assert!(b.poll_transmit(due, &mut seg, &mut sack));
        a.on_segment(due, &seg, &sack);
        assert!(a.may_transmit());
    }
}
