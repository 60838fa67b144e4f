//! The constants of BBR version 3.

use crate::declare::parameters;
use elephan_units::Span;

parameters! {
    /// Pacing gain in STARTUP, 4 ln 2.
    startup_gain: f64 = 2.77, "draft-ietf-ccwg-bbr, StartupPacingGain" (min = 1, max = 100);
    /// Pacing gain in DRAIN.
    drain_gain: f64 = 0.5, "draft-ietf-ccwg-bbr-05, DrainPacingGain; 0.35 up to -04" (min = 0, max = 1);
    /// Rounds of DRAIN, at most: one more ends it.
    drain_rounds: u32 = 3, "draft-ietf-ccwg-bbr-05, CheckDrainDone; without end up to -04";
    /// Window gain, but in UP.
    cwnd_gain: f64 = 2.0, "draft-ietf-ccwg-bbr, DefaultCwndGain" [min = 1, max = 100];
    /// Growth of the bandwidth in a round below which the pipe may be full.
    full_growth: f64 = 1.25, "draft-ietf-ccwg-bbr, BBRCheckFullBWReached" (min = 1, max = 100);
    /// Rounds without that growth until the pipe is full.
    full_rounds: u32 = 3, "draft-ietf-ccwg-bbr, BBRCheckFullBWReached" [min = 1];
    /// Ranges of data lost in a round from which a loss rate ends STARTUP.
    full_losses: f64 = 6.0, "draft-ietf-ccwg-bbr, StartupFullLossCnt" (min = 0);
    /// Pacing gain in DOWN, which empties the queue.
    down_gain: f64 = 0.9, "draft-ietf-ccwg-bbr, ProbeBW_DOWN" (min = 0, max = 1);
    /// Pacing gain in UP, which probes for more.
    up_gain: f64 = 1.25, "draft-ietf-ccwg-bbr, ProbeBW_UP" (min = 1, max = 100);
    /// Window gain in UP.
    up_cwnd_gain: f64 = 2.25, "draft-ietf-ccwg-bbr, ProbeBW_UP" [min = 1, max = 100];
    /// Time in DOWN and CRUISE before the next probe; not given it is drawn for each.
    probe_wait: Option<Span> = None, "draft-ietf-ccwg-bbr, BBRPickProbeWait";
    /// The shortest that is drawn.
    probe_wait_min: Span = Span::from_s(2), "draft-ietf-ccwg-bbr, BBRPickProbeWait";
    /// The longest that is drawn is so much longer.
    probe_wait_random: Span = Span::from_s(1), "draft-ietf-ccwg-bbr, BBRPickProbeWait";
    /// Rounds after which a probe comes at the latest, where the path holds no fewer segments.
    probe_rounds: f64 = 63.0, "draft-ietf-ccwg-bbr, BBRIsRenoCoexistenceProbeTime" [min = 1];
    /// Rounds of those that are taken for over when the wait begins; not given none or one is drawn for each.
    probe_rounds_over: Option<u32> = None, "draft-ietf-ccwg-bbr, BBRPickProbeWait" [min = 0, max = 1];
    /// Share of what was in flight whose loss is too much.
    loss_thresh: f64 = 0.02, "draft-ietf-ccwg-bbr, LossThresh" (min = 0, max = 1);
    /// What a loss leaves of the bounds.
    beta: f64 = 0.7, "draft-ietf-ccwg-bbr, Beta" (min = 0, max = 1);
    /// Whether data leaves as ECT(1), over Accurate ECN, and marks count.
    l4s: bool = false, "tcp_bbr.c of version 3, TCP_ECN_LOW";
    /// The longest smallest round-trip time at which marks count; 0 is any, as RFC 9331 section 4.3 asks of what leaves as ECT(1).
    ecn_max_rtt: Span = Span::ZERO, "tcp_bbr.c of version 3, bbr_ecn_max_rtt_us = 5000";
    /// Weight of the newest share of marks in alpha.
    ecn_alpha_gain: f64 = 0.0625, "tcp_bbr.c of version 3, bbr_ecn_alpha_gain" (min = 0, max = 1);
    /// alpha at the beginning.
    ecn_alpha_initial: f64 = 1.0, "tcp_bbr.c of version 3, bbr_ecn_alpha_init" [min = 0, max = 1];
    /// The share of the flight that a round of marks takes where alpha is 1.
    ecn_factor: f64 = 1.0 / 3.0, "tcp_bbr.c of version 3, bbr_ecn_factor" (min = 0, max = 1);
    /// Share of marks that is too much.
    ecn_thresh: f64 = 0.5, "tcp_bbr.c of version 3, bbr_ecn_thresh" (min = 0, max = 1);
    /// Rounds with so many marks after which the pipe is full.
    full_marked_rounds: u32 = 2, "tcp_bbr.c of version 3, bbr_full_ecn_cnt" [min = 1];
    /// Share of the upper bound that CRUISE leaves to others.
    headroom: f64 = 0.15, "draft-ietf-ccwg-bbr, Headroom" below [min = 0, max = 1];
    /// Probes over which the largest delivery rate is the bandwidth.
    bw_cycles: u32 = 2, "draft-ietf-ccwg-bbr, MaxBwFilterLen" [min = 1, max = 1000];
    /// Time over which the smallest round-trip time is that of the path.
    min_rtt_window: Span = Span::from_s(10), "draft-ietf-ccwg-bbr, MinRTTFilterLen";
    /// Time without a smaller round-trip time that brings PROBE_RTT.
    probe_rtt_interval: Span = Span::from_s(5), "draft-ietf-ccwg-bbr, ProbeRTTInterval";
    /// Time in PROBE_RTT with little in flight.
    probe_rtt_time: Span = Span::from_ms(200), "draft-ietf-ccwg-bbr, ProbeRTTDuration";
    /// Window gain in PROBE_RTT.
    probe_rtt_gain: f64 = 0.5, "draft-ietf-ccwg-bbr, ProbeRTTCwndGain" (min = 0, max = 1);
    /// Smallest window in segments.
    min_segments: f64 = 4.0, "draft-ietf-ccwg-bbr, MinPipeCwnd" [min = 1];
    /// Share of the bandwidth that pacing leaves free, so that queues do not stand.
    pacing_margin: f64 = 0.01, "draft-ietf-ccwg-bbr, PacingMarginPercent" below [min = 0, max = 1];
    /// Segments that leave the host as one burst.
    burst_segments: f64 = 1.0, "draft-ietf-ccwg-bbr, C.send_quantum; 1 without segmentation offload" [min = 1];
    /// Rounds that each of the two maxima of what ACKs bring beyond the bandwidth covers.
    extra_acked_rounds: u32 = 5, "draft-ietf-ccwg-bbr, ExtraAckedFilterLen: 10" [min = 1];
    /// Most of it that the window takes, as time at the bandwidth; 0 takes none.
    extra_acked_max: Span = Span::from_ms(100), "Linux tcp_bbr.c, bbr_extra_acked_max_us";
}
