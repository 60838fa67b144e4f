//! Congestion window validation (RFC 2861 as Linux has it): a window that is not used says nothing of the path.
//!
//! ```text
//! idle longer than RTO:   cwnd /= 2 for every RTO of it, not below the initial window     (tcp_cwnd_restart)
//! not the limit for RTO:  cwnd = (cwnd + used) / 2, used being the initial window at least (tcp_cwnd_application_limited);
//!                         with `cwnd_validation_acks` only if no ACK has come for so long (tcp_cong_avoid, snd_cwnd_stamp)
//! both:                   ssthresh = max(ssthresh, 3/4 cwnd), taken before; after idle time by `idle_threshold`
//! ```
//!
//! `used` is the most that was out since the window was last the limit or last lowered. In slow start a window of which
//! more than half was used counts as the limit. Without this option an idle time longer than RTO means the initial window
//! (RFC 5681 section 4.1), and nothing else happens. Controllers that steer the window in recovery too (BBR) keep it in all of this, as in
//! Linux (`cong_control`). Also here: what Linux 2.4 did about bursts after disorder.

use crate::options::Options;
use crate::recovery::CaState;
use crate::sender::Sender;
use crate::stats::Stats;
use elephan_units::{Span, Time};

/// Linux 2.4 `tcp_max_burst`, segments.
const MAX_BURST: u64 = 3;

#[derive(Clone, Debug, Default)]
pub(crate) struct Validation {
    /// `snd_cwnd_used` and `snd_cwnd_stamp`.
    used: u64,
    since: Time,
    initial_window: u64,
    by_acks: bool,
}

impl Validation {
    pub fn of(options: &Options) -> Option<Box<Validation>> {
        let by_acks = options.cwnd_validation_acks;
        options.cwnd_validation.then(|| Box::new(Validation { by_acks, ..Validation::default() }))
    }

    /// An ACK outside recovery.
    #[inline]
    pub fn acked(&mut self, now: Time) {
        if self.by_acks {
            self.since = now;
        }
    }
}

impl Sender {
    /// Something was sent, `out` bytes are out, and nothing more can be sent.
    #[inline(never)]
    pub fn validate(&mut self, now: Time, out: u64, stats: &mut Stats) {
        let limited = self.cwnd_limited || self.cc.in_slow_start() && self.cwnd < 2 * self.max_out;
        let rto = self.rtt.rto();
        let open = if self.linux { self.ca_state() == CaState::Open } else { self.is_open() };
        let open = open && !self.cc.steers_recovery();
        let Some(v) = &mut self.validation else { return };
        if limited {
            (v.used, v.since) = (0, now);
            return;
        }
        v.used = v.used.max(out);
        if now.since(v.since) < rto {
            return;
        }
        let used = v.used.max(v.initial_window);
        (v.used, v.since) = (0, now);
        if open && used < self.cwnd {
            self.keep_threshold();
            self.shrink((self.cwnd + used) as f64 / 2.0, stats);
        }
    }

    /// The window is not the limit, and the writer waits for room in the send buffer, so that it has not too much of it (Linux
    /// `tcp_cwnd_application_limited` looks at `SOCK_NOSPACE`).
    pub fn excuse(&mut self, now: Time) {
        if let Some(v) = &mut self.validation {
            (v.used, v.since) = (0, now);
        }
    }

    /// Lowers the window for another reason than congestion.
    fn shrink(&mut self, window: f64, stats: &mut Stats) {
        let before = self.cwnd;
        self.cc.shrink_to(window);
        self.refresh();
        if self.cwnd < before {
            stats.rare().other_reductions += 1;
        }
    }

    /// After `idle`, which is longer than RTO, before anything is sent.
    pub fn restart(&mut self, now: Time, idle: Span, initial_window: u64, keeps_threshold: bool, stats: &mut Stats) {
        let mut window = initial_window as f64;
        let rto = self.rtt.rto();
        if keeps_threshold || self.validation.is_some() {
            self.keep_threshold();
        }
        if let Some(v) = &mut self.validation {
            (v.used, v.since, v.initial_window) = (0, now, initial_window);
            let halvings = (idle.0 - 1) / rto.0.max(1);
            window = window.max(self.cc.window() / 2f64.powi(halvings.min(64) as i32));
        }
        // Before the first data nothing can have become stale: the window is the initial one, or what routers have told.
        if self.last_sent > Time::ZERO {
            self.shrink(window, stats);
        }
    }

    /// The threshold remembers three quarters of the window (Linux `tcp_current_ssthresh`).
    fn keep_threshold(&mut self) {
        let kept = 0.75 * self.cc.window();
        if self.cc.ssthresh() < kept {
            self.cc.poke("ssthresh", kept);
        }
    }

    /// The handshake has settled the initial window.
    pub fn begin_validation(&mut self, initial_window: u64) {
        if let Some(v) = &mut self.validation {
            v.initial_window = initial_window;
        }
    }

    /// A disordered ACK: the window is at most three segments above what is in flight (Linux 2.4 `tcp_moderate_cwnd`).
    pub fn moderate(&mut self, stats: &mut Stats) {
        if self.is_open() {
            self.shrink((self.board.pipe() + MAX_BURST * u64::from(self.mss)) as f64, stats);
        }
    }
}
