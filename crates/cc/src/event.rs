//! The events that a congestion control gets, and the window that it steers.

use elephan_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An acknowledgement of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ack {
    pub now: Time,
    /// Bytes that this ACK is the first to show as arrived, in order or SACKed.
    pub acked: u64,
    /// The round-trip time measured by this ACK, if it measured one.
    pub rtt: Option<Span>,
    /// Bytes in flight before this ACK.
    pub inflight: u64,
    /// Bytes in flight after it, less what it shows as lost, before anything is sent; `None` where nobody counts them.
    pub outstanding: Option<u64>,
    /// Of `acked`, the bytes reported as having met congestion (CE).
    pub ce: u64,
    /// The window was not the limit of what was sent (application, receive window or send buffer were): no growth.
    pub app_limited: bool,
    /// Bytes delivered since the connection began.
    pub delivered: u64,
    /// Delivery rate measured by this ACK, for a congestion control that needs it ([`crate::Needs::RATE`]).
    pub rate_bps: Option<f64>,
    /// The application may have limited that rate.
    pub rate_app_limited: bool,
    /// What `delivered` was when the newest segment of those it acknowledges was sent, for such a congestion control.
    pub prior_delivered: Option<u64>,
    /// The smallest round-trip time so far.
    pub min_rtt: Option<Span>,
    /// The smoothed round-trip time (RFC 6298). Where nobody smooths, it is `None`, and `rtt` counts.
    pub srtt: Option<Span>,
    /// Bytes found lost since the connection began, those retransmitted and lost again once more.
    pub lost: u64,
    /// Those of them that this ACK shows.
    pub newly_lost: u64,
    /// Ranges of data without a gap between them that they were found in since the connection began, modulo 2^16.
    pub lost_ranges: u16,
}

impl Ack {
    /// Returns the bytes in flight after this ACK.
    pub fn left(&self) -> u64 {
        self.outstanding.unwrap_or(self.inflight.saturating_sub(self.newly_lost).saturating_sub(self.acked))
    }

    /// Returns whether the receiver may have delayed it: it acknowledges less than a segment of `mss` bytes, and nothing else was delivered since that
    /// was sent (Linux `FLAG_ACK_MAYBE_DELAYED`). For a congestion control that needs rates ([`crate::Needs::RATE`]).
    pub fn may_be_delayed(&self, mss: f64) -> bool {
        (self.acked as f64) < mss && self.prior_delivered.is_some_and(|prior| prior + self.acked == self.delivered)
    }
}

/// A congestion event. `inflight` is FlightSize (RFC 5681 section 2) before the event: bytes sent and not yet
/// acknowledged, without what limited transmit added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// One whole fast-recovery episode, told at its start: the window afterwards is the window after recovery.
    Loss { now: Time, lost: u64, inflight: u64 },
    /// An ECN-Echo, at most once per window of data (RFC 3168 section 6.1.2).
    Ecn { now: Time, inflight: u64 },
    /// The retransmission timer expired.
    Rto { now: Time, inflight: u64 },
    /// The host's own transmit queue refused a segment.
    LocalDrop { now: Time, inflight: u64 },
    /// The last event was spurious.
    Undo { now: Time },
}

impl Signal {
    /// Returns when the event happened.
    pub fn now(&self) -> Time {
        match *self {
            Signal::Loss { now, .. }
            | Signal::Ecn { now, .. }
            | Signal::Rto { now, .. }
            | Signal::LocalDrop { now, .. }
            | Signal::Undo { now } => now,
        }
    }

    /// Returns FlightSize before the event, or 0 for [`Signal::Undo`].
    pub fn inflight(&self) -> u64 {
        match *self {
            Signal::Loss { inflight, .. }
            | Signal::Ecn { inflight, .. }
            | Signal::Rto { inflight, .. }
            | Signal::LocalDrop { inflight, .. } => inflight,
            Signal::Undo { .. } => 0,
        }
    }
}

/// What a congestion control wants to know of routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// By how much its window may change ([`crate::algorithm::Routers::on_feedback`]).
    Window,
    /// Its fair rate ([`crate::algorithm::Routers::on_fair_rate`]).
    Rate,
    /// What its packets meet at each port ([`crate::algorithm::Routers::on_telemetry`]).
    Telemetry,
}

/// Smallest `ssthresh` in segments (RFC 5681 equation 4).
pub(crate) const SSTHRESH_MIN_SEGMENTS: f64 = 2.0;

/// The window that a congestion control steers, all in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    pub cwnd: f64,
    /// Infinite until the first congestion event.
    pub ssthresh: f64,
    pub mss: f64,
}

impl Window {
    /// Returns whether the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// A congestion event leaves `bytes`, but two segments at least (RFC 5681 equation 4), and after a timer one.
    pub(crate) fn cut(&mut self, signal: &Signal, bytes: f64) {
        self.ssthresh = bytes.max(SSTHRESH_MIN_SEGMENTS * self.mss);
        self.cwnd = match signal {
            Signal::Rto { .. } => self.mss,
            // The least threshold does not raise a window of less.
            Signal::Ecn { .. } | Signal::LocalDrop { .. } if bytes < self.ssthresh => self.ssthresh.min(self.cwnd),
            _ => self.ssthresh,
        };
    }

    /// Lets congestion avoidance follow at the window of now, or slow start would raise again what was lowered.
    pub(crate) fn leave_slow_start(&mut self) {
        self.ssthresh = self.ssthresh.min(self.cwnd.max(SSTHRESH_MIN_SEGMENTS * self.mss));
    }

    /// Bytes for which an ACK counts: all that it acknowledges, or `per_ack` a segment at most.
    #[inline]
    pub(crate) fn counted(&self, ack: &Ack, per_ack: bool) -> f64 {
        (ack.acked as f64).min(if per_ack { self.mss } else { self.cwnd })
    }

    /// Congestion avoidance by `bytes` a round trip; none for an ACK of a flow that the application limits.
    #[inline]
    pub(crate) fn grow(&mut self, bytes: f64, ack: &Ack) {
        if !ack.app_limited {
            self.cwnd += self.per_round(bytes, ack.acked);
        }
    }

    /// Returns how much of a growth of `bytes` per round trip `acked` bytes bring: `acked` over the window, at most 1 (RFC 5681
    /// equation 3, weighted by bytes).
    ///
    /// ```
    /// let window = elephan_cc::Window { cwnd: 10_000.0, ssthresh: 5_000.0, mss: 1_000.0 };
    /// assert_eq!(window.per_round(1_000.0, 2_000), 200.0);
    /// ```
    #[inline]
    pub fn per_round(&self, bytes: f64, acked: u64) -> f64 {
        bytes * (acked as f64).min(self.cwnd) / self.cwnd
    }
}

/// Alternative backoff (ABE, RFC 8511): what an ECN-Echo leaves instead of what a loss would.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Abe {
    /// The share of the window that stays.
    pub left: f64,
    pub from: ReduceFrom,
}

/// Which window a cut is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReduceFrom {
    /// FlightSize, but not more than the congestion window (RFC 5681 equation 4).
    Flight,
    /// The congestion window (Linux and most other kernels).
    Cwnd,
}

impl ReduceFrom {
    /// Returns the window that the reduction is taken from, in bytes. FlightSize is capped by `cwnd`, because what was sent beyond
    /// it (limited transmit, data from before an earlier cut) must not count (RFC 5681 section 3.2 step 2): no event
    /// ever raises the window.
    pub fn bytes(self, w: &Window, inflight: u64) -> f64 {
        match self {
            ReduceFrom::Flight => w.cwnd.min(inflight as f64),
            ReduceFrom::Cwnd => w.cwnd,
        }
    }
}
