//! The sending half of a connection: what is in flight, what the peer's window and the congestion window allow, and the
//! round-trip estimate. Losses are the business of [`crate::recovery`].
//!
//! Sequence numbers are offsets in the stream: the SYN is 0, the first payload byte 1.

use crate::delivery::{self, DeliveryLog};
use crate::options::{Options, RackRule, RecoveryRule, WINDOW_MAX};
use crate::recovery::{Recovery, Watch};
use crate::rtt::Estimator;
use crate::scoreboard::{Scoreboard, Taken};
use crate::stats::{Limit, Stats};
use crate::trains::Trains;
use crate::validation::Validation;
use elephan_cc::train::Start;
use elephan_cc::{Ack, Controller};
use elephan_units::{Span, Time};

/// What an ACK did, as recovery and growth see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckEvent {
    pub now: Time,
    /// Bytes newly acknowledged, cumulatively.
    pub acked: u64,
    /// Bytes newly acknowledged either way.
    pub delivered: u64,
    /// Segments newly acknowledged either way, if the reduction counts them.
    pub segments: u64,
    /// It is a duplicate: by RFC 5681 section 2, with SACK by RFC 6675 section 2.
    pub duplicate: bool,
    pub pipe_before: u64,
    /// Bytes found lost before it.
    pub lost_before: u64,
    pub rtt: Option<Span>,
    pub rate: Option<delivery::Sample>,
    /// Bytes of it reported as having met congestion.
    pub ce: u64,
    /// Some of what it delivered was sent once only.
    pub original: bool,
    pub alert: Alert,
}

/// What the steps of Linux ask of an ACK besides.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alert {
    /// It is a duplicate without SACK blocks.
    pub repeated: bool,
    /// It SACKs something new.
    pub sacked: bool,
    /// It tells of congestion.
    pub echoed: bool,
    /// It starts the retransmission timer anew.
    pub rearms: bool,
    /// When the first of the delivered segments was sent that were sent once only, ps; `u64::MAX` if there is none.
    pub original_at: u64,
}

impl AckEvent {
    /// No ACK but the time: a timer has expired.
    pub fn none(now: Time, pipe_before: u64, lost_before: u64) -> AckEvent {
        AckEvent {
            now,
            acked: 0,
            delivered: 0,
            segments: 0,
            duplicate: false,
            pipe_before,
            lost_before,
            rtt: None,
            rate: None,
            ce: 0,
            original: false,
            alert: Alert::default(),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Sender {
    pub board: Scoreboard,
    /// The offset after the last window probe, which is not in the scoreboard.
    pub probed: u64,
    /// `cc.window()` in whole bytes.
    pub cwnd: u64,
    /// Offset up to which the peer's window reaches, its size, the largest seen, and from which segment it comes.
    pub window_edge: u64,
    pub window: u64,
    pub window_max: u64,
    pub wl1: u64,
    pub wl2: u64,
    /// The last window as on the wire.
    pub window_field: u16,
    pub window_shift: u8,
    /// Negotiated: the peer sends SACK blocks.
    pub sack: bool,
    /// The window kept the sender from sending in the last window of data (Linux `is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// Congestion window validation.
    pub validation: Option<Box<Validation>>,
    /// Most bytes out, and where the current window of data ends.
    pub max_out: u64,
    usage_end: u64,
    /// Payload of a full segment.
    pub mss: u32,
    pub rec: Recovery,
    pub cc: Controller,
    /// bit/s, 0 if the controller does not pace: of payload, or of packets with their headers.
    pub pacing_bps: f64,
    pub paces_packets: bool,
    /// The controller goes by one-way delays.
    pub one_way: bool,
    /// Segments that leave together when pacing lets something out.
    pub pacing_burst: u16,
    /// When the controller wants to be called.
    pub cc_timer: Time,
    pub rtt: Estimator,
    /// With one sample a window: the offset whose acknowledgement gives the next.
    pub sample_at: u64,
    pub min_rtt: Span,
    pub max_rtt: Span,
    /// The last round-trip time, all of them added up, and how many; smallest and largest timeout.
    pub sample_rtt: Span,
    pub sum_rtt_ps: f64,
    pub count_rtt: u64,
    /// The next sample is the first after a congestion signal.
    pub after_signal: bool,
    pub min_rto: Span,
    pub max_rto: Span,
    /// Most bytes in the network and most not acknowledged.
    pub max_pipe: u64,
    pub max_flight: u64,
    /// Bytes delivered, or segments of full size (`counts_delivered`).
    pub delivered: u64,
    /// ECN: reactions wait until more than this is acknowledged; the next new segment carries CWR.
    pub cwr_point: u64,
    pub cwr_due: bool,
    /// The window came down at `cwr_point` without a loss: what is lost before it takes nothing more.
    pub cwr_suffices: bool,
    /// Kept for controllers that measure the delivery rate.
    pub log: Option<Box<DeliveryLog>>,
    /// Kept for controllers that probe.
    pub trains: Option<Box<Trains>>,
    /// When the last segment with data was sent.
    pub last_sent: Time,
    /// New data has left since sending last stopped.
    pub fresh: bool,
    /// Recovery takes the steps of Linux ([`crate::recovery`]).
    pub linux: bool,
}

impl Sender {
    pub fn new(options: &Options, cc: Controller) -> Sender {
        let mss = options.segment_bytes() as u32;
        let log = cc.measures_rate().then(Box::default);
        Sender {
            board: Scoreboard::new(0, mss),
            probed: 0,
            cwnd: cc.window() as u64,
            window_edge: 0,
            window: 0,
            window_max: 0,
            wl1: 0,
            wl2: 0,
            window_field: 0,
            window_shift: 0,
            sack: false,
            cwnd_limited: false,
            validation: Validation::of(options),
            max_out: 0,
            usage_end: 0,
            mss,
            rec: Recovery::new(options.recovery, options.reduction),
            one_way: cc.reads_one_way_delay(),
            cc,
            pacing_bps: 0.0,
            paces_packets: false,
            pacing_burst: 1,
            cc_timer: Time::NEVER,
            rtt: Estimator::of(options),
            sample_at: 0,
            min_rtt: Span::MAX,
            max_rtt: Span::ZERO,
            sample_rtt: Span::ZERO,
            sum_rtt_ps: 0.0,
            count_rtt: 0,
            after_signal: false,
            min_rto: Span::MAX,
            max_rto: Span::ZERO,
            max_pipe: 0,
            max_flight: 0,
            delivered: 0,
            cwr_point: 0,
            cwr_due: false,
            cwr_suffices: false,
            log,
            trains: None,
            last_sent: Time::ZERO,
            fresh: false,
            linux: false,
        }
    }

    /// The handshake has settled segment size and options; the peer has everything before `una`. `syn_losses` SYNs were sent in vain.
    pub fn establish(&mut self, options: &Options, mss: u32, una: u64, syn_losses: u8) {
        self.mss = mss;
        self.board = Scoreboard::new(una, mss);
        self.sample_at = una;
        // RFC 6928 section 2: one lost SYN does not cost the initial window, several do.
        let segments = if syn_losses > 1 { 1 } else { options.initial_window };
        self.cc.establish(u64::from(mss), u64::from(segments) * u64::from(mss));
        self.begin_validation(u64::from(options.initial_window) * u64::from(mss));
        // A threshold that no window of TCP reaches is none: controllers see that there was no congestion yet.
        let ssthresh = options.ssthresh_initial.0;
        if ssthresh <= WINDOW_MAX && (ssthresh as f64) < self.cc.ssthresh() {
            self.cc.poke("ssthresh", ssthresh as f64);
        }
        if syn_losses > 0 {
            self.rtt.after_syn_loss(options.rto_initial);
        }
        self.rec.watch = Watch::of(options, self.rec.rule, self.sack);
        self.linux = self.rec.watch.is_some() && options.steps_as_linux();
        if self.rec.rule == RecoveryRule::Sack && !self.sack && !self.linux {
            self.rec.rule = RecoveryRule::Newreno;
        }
        if self.rec.watch.as_ref().is_some_and(|watch| watch.rack.is_some()) {
            let linux = options.rack_rule == RackRule::Linux;
            self.board.keep_times(linux, options.dup_ack_threshold, options.max_reordering);
        }
        self.refresh();
    }

    /// The peer's SYN is forgotten.
    pub fn relisten(&mut self, options: &Options) {
        self.rtt = Estimator::of(options);
        self.sack = false;
        (self.window_edge, self.window, self.window_max, self.window_field) = (0, 0, 0, 0);
        (self.wl1, self.wl2, self.window_shift) = (0, 0, 0);
    }

    /// Another controller steers from now on; delivery rates are measured if it looks at them, or if they are `shown`.
    pub fn switch_congestion_control(&mut self, now: Time, congestion_control: &elephan_cc::Spec, shown: bool) {
        self.cc.switch_congestion_control(congestion_control);
        self.one_way = self.cc.reads_one_way_delay();
        let measured = self.cc.measures_rate();
        if !measured && !shown {
            self.log = None;
        } else {
            let next = self.board.ordinals().1;
            self.log.get_or_insert_with(|| Box::new(DeliveryLog::starting(now, next))).set_shown_only(!measured);
        }
        self.trains = self.cc.probes().then(|| Box::new(Trains::starting(now)));
        self.note_delivered(0);
        self.told_delivered();
        self.refresh();
    }

    /// The connection is there.
    pub fn begin_controller(&mut self, start: &Start) {
        self.trains = self.cc.probes().then(|| Box::new(Trains::starting(start.now)));
        self.cc.begin(start);
        self.refresh();
    }

    /// Reports `len` bytes of new data to the controller, which may change its rate when silence ends.
    #[inline]
    pub fn note_sent(&mut self, now: Time, len: u32, pipe: u64) {
        self.cc.on_sent(now, u64::from(len), pipe);
        self.fresh = true;
        if pipe == 0 && self.cc.steers_recovery() {
            self.refresh();
        }
    }

    /// Takes over what the controller wants after an event.
    #[inline]
    pub fn refresh(&mut self) {
        self.cwnd = self.cc.window() as i64 as u64;
        let wishes = self.cc.wishes();
        match wishes.pacing_rate {
            Some(bps) => {
                self.pacing_bps = bps;
                self.pacing_burst = wishes.burst_segments as u16;
                self.paces_packets = self.cc.paces_packets();
            }
            None => {
                let pace = self.cc.pace();
                self.pacing_bps = 0.0;
                if pace > 0.0 {
                    self.pace_window(pace);
                }
            }
        }
        self.cc_timer = wishes.timer.unwrap_or(Time::NEVER);
    }

    /// Spaces so many windows over the round trip, once that is known, in bursts of what leaves within a millisecond and two
    /// segments at least (Linux `tcp_update_pacing_rate`, `tcp_tso_autosize`).
    #[cold]
    fn pace_window(&mut self, pace: f64) {
        const BURST_S: f64 = 1.0 / 1024.0;
        let Some(srtt) = self.rtt.srtt() else { return };
        let window = self.cwnd.max(self.board.nxt() - self.board.una());
        self.pacing_bps = pace * window as f64 * 8.0 / srtt.seconds();
        self.pacing_burst = (self.pacing_bps / 8.0 * BURST_S / f64::from(self.mss)).clamp(2.0, 44.0) as u16;
        self.paces_packets = false;
    }

    /// Bytes that the peer's window still takes.
    #[inline]
    pub fn usable(&self) -> u64 {
        self.window_edge.saturating_sub(self.board.nxt())
    }

    /// A round-trip time was measured.
    #[inline]
    pub fn sampled(&mut self, now: Time, rtt: Span, expected: f64) {
        self.rtt.sample_of(now, rtt, expected);
        self.min_rtt = self.min_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.sample_rtt = rtt;
        self.sum_rtt_ps += rtt.0 as f64;
        self.count_rtt += 1;
        let rto = self.rtt.rto();
        self.min_rto = self.min_rto.min(rto);
        self.max_rto = self.max_rto.max(rto);
    }

    /// Returns what the controller gets to know of an ACK.
    #[inline]
    fn told(&self, e: &AckEvent, acked: u64, slow_start: bool) -> Ack {
        let limited = self.cwnd_limited || slow_start && self.cwnd < 2 * self.max_out;
        Ack {
            now: e.now,
            acked,
            rtt: e.rtt,
            inflight: e.pipe_before,
            outstanding: self.log.is_some().then(|| self.in_network()),
            ce: e.ce,
            app_limited: !limited,
            delivered: self.delivered,
            rate_bps: e.rate.and_then(|sample| sample.bps),
            rate_app_limited: e.rate.is_some_and(|sample| sample.app_limited),
            prior_delivered: e.rate.map(|sample| sample.prior),
            min_rtt: (self.min_rtt != Span::MAX).then_some(self.min_rtt),
            srtt: self.rtt.srtt(),
            lost: self.board.lost_total(),
            newly_lost: self.board.lost_total().saturating_sub(e.lost_before),
            lost_ranges: self.board.lost_ranges(),
        }
    }

    /// Tells the controller about an ACK in fast recovery.
    #[inline]
    pub fn observe(&mut self, e: &AckEvent) {
        let delivered = self.newly_delivered(e);
        let ack = self.told(e, delivered, false);
        self.cc.on_ack_in_recovery(&ack);
        self.refresh();
    }

    /// Tells the controller about an ACK outside fast recovery.
    #[inline]
    pub fn grow(&mut self, e: &AckEvent, stats: &mut Stats) {
        let slow_start = self.cc.in_slow_start();
        // An ACK may jump over what was SACKed before, which the controller knows: what arrives now opens the window (Linux
        // `tcp_newly_delivered`).
        let delivered = self.newly_delivered(e);
        let ack = self.told(e, delivered, slow_start);
        self.cc.on_ack(&ack);
        self.refresh();
        if let Some(validation) = &mut self.validation {
            validation.acked(e.now);
        }
        if slow_start {
            stats.slow_start += 1;
            stats.max_ss_cwnd = stats.max_ss_cwnd.max(self.cwnd);
        } else {
            stats.cong_avoid += 1;
            stats.max_ca_cwnd = stats.max_ca_cwnd.max(self.cwnd);
        }
    }

    /// What is out may become less now: the most so far.
    #[inline]
    pub fn note_most(&mut self) {
        self.max_pipe = self.max_pipe.max(self.board.pipe());
        self.max_flight = self.max_flight.max(self.board.flight());
    }

    /// Sending has stopped for `why`: remembers whether the window was the limit (Linux `tcp_cwnd_validate`).
    #[inline]
    pub fn stopped(&mut self, now: Time, why: Limit, stats: &mut Stats) {
        let out = self.board.pipe();
        if self.linux {
            return self.validate_new(now, why, stats);
        }
        self.note_use(why == Limit::Cwnd, out);
        if self.validation.is_some() && self.last_sent == now {
            self.validate(now, out, stats);
        }
    }

    /// Linux looks at the use of the window when new data has left, or when the window keeps some back (`tcp_write_xmit`).
    #[inline]
    pub fn validate_new(&mut self, now: Time, why: Limit, stats: &mut Stats) {
        let limited = self.budget(true) < u64::from(self.mss);
        if !self.fresh && (!limited || why == Limit::Snd) {
            return;
        }
        let out = self.out();
        self.note_use(limited, out);
        if self.validation.is_some() {
            self.validate(now, out, stats);
        }
    }

    /// Bytes that are not acknowledged, where Linux counts segments a full one for each.
    #[inline]
    fn out(&self) -> u64 {
        let (first, next) = self.board.ordinals();
        if self.board.is_uneven() { (next - first) * u64::from(self.mss) } else { self.board.flight() }
    }

    #[inline]
    fn note_use(&mut self, limited: bool, out: u64) {
        if limited || self.board.una() >= self.usage_end || (!self.cwnd_limited && out > self.max_out) {
            self.cwnd_limited = limited;
            self.max_out = out;
            self.usage_end = self.board.nxt();
        }
    }

    /// Sending has stopped though both windows are open, as enough waits below the socket. The rate of delivery is that of the path
    /// all the same (Linux `tcp_rate_check_app_limited` asks for an empty queue). `blocked`: the writer waits for room.
    #[cold]
    pub fn throttled(&mut self, now: Time, blocked: bool, stats: &mut Stats) {
        // Linux looks at the use of the window when something was sent.
        if self.last_sent != now {
            return;
        }
        let out = if self.linux { self.out() } else { self.board.pipe() };
        self.note_use(false, out);
        if blocked {
            self.excuse(now);
        } else if self.validation.is_some() {
            self.validate(now, out, stats);
        }
    }

    /// Without SACK `fresh` of the `segments` that an ACK of `acked` bytes covers are new, or a duplicate stands for one. Returns the bytes
    /// that it delivers.
    #[cold]
    pub fn deliver(&mut self, acked: u64, segments: &mut u64, fresh: u64) -> u64 {
        let bytes = if *segments > 0 && fresh == *segments { acked } else { fresh * u64::from(self.mss) };
        *segments = fresh;
        self.delivered = (self.delivered + bytes).saturating_sub(acked);
        bytes
    }

    /// Whether what was sent at `at`, ps, was sent before the first segment in flight was last sent.
    pub fn precedes_first(&self, at: u64) -> bool {
        at != u64::MAX && self.board.first_at().is_some_and(|first| at < first)
    }

    /// Segments that the present ACK reports as duplicates, which count as delivered (Linux `tcp_dsack_seen`).
    pub fn reported(&self) -> u64 {
        let report = self.rec.watch.as_ref().and_then(|watch| watch.dsack);
        report.filter(|report| self.linux && report.counts).map_or(0, |report| report.segments)
    }

    /// The cumulative acknowledgement moves to `ack`.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) -> Taken {
        let taken = self.board.acknowledge(ack);
        self.note_delivered(taken.delivered);
        taken
    }

    /// Slow start ends where it is.
    pub fn leave_slow_start(&mut self) {
        if self.cc.in_slow_start() {
            let window = self.cc.window();
            self.cc.poke("ssthresh", window);
            self.refresh();
        }
    }
}
