//! The constants of BBR.

use crate::declare::parameters;
use elephan_units::{Rate, Span};

parameters! {
    /// Pacing and window gain in STARTUP, 2 / ln 2; DRAIN paces at its inverse.
    startup_gain: f64 = 2.885, "Linux tcp_bbr.c, bbr_high_gain" (min = 1, max = 100);
    /// Growth of the bandwidth in a round below which the pipe may be full.
    full_growth: f64 = 1.25, "Linux tcp_bbr.c, bbr_full_bw_thresh" (min = 1, max = 100);
    /// Rounds without that growth until the pipe is full.
    full_rounds: u32 = 3, "Linux tcp_bbr.c, bbr_full_bw_cnt" [min = 1];
    /// Pacing gain of the first phase of PROBE_BW, which probes for more.
    probe_gain: f64 = 1.25, "Linux tcp_bbr.c, bbr_pacing_gain" [min = 1, max = 100];
    /// Pacing gain of its second phase, which drains what the first queued.
    drain_gain: f64 = 0.75, "Linux tcp_bbr.c, bbr_pacing_gain" above [min = 0, max = 1];
    /// Phase (0 to 7, not 1) with which PROBE_BW begins; not given it is drawn each time.
    phase: Option<u32> = None, "Linux tcp_bbr.c, bbr_cycle_rand" [min = 0, max = 7];
    /// Window gain in PROBE_BW.
    cwnd_gain: f64 = 2.0, "Linux tcp_bbr.c, bbr_cwnd_gain" [min = 1, max = 100];
    /// Rounds over which the largest delivery rate is the bandwidth.
    bw_rounds: u32 = 10, "Linux tcp_bbr.c, bbr_bw_rtts" [min = 1, max = 1000];
    /// Time over which the smallest round-trip time is that of the path; so long without a smaller one brings PROBE_RTT.
    min_rtt_window: Span = Span::from_s(10), "Linux tcp_bbr.c, bbr_min_rtt_win_sec";
    /// Time in PROBE_RTT with little in flight.
    probe_rtt_time: Span = Span::from_ms(200), "Linux tcp_bbr.c, bbr_probe_rtt_mode_ms";
    /// Smallest window in segments, and that of PROBE_RTT.
    min_segments: f64 = 4.0, "Linux tcp_bbr.c, bbr_cwnd_min_target" [min = 1];
    /// Share of the bandwidth that pacing leaves free, so that queues do not stand.
    pacing_margin: f64 = 0.01, "Linux tcp_bbr.c, bbr_pacing_margin_percent" below [min = 0, max = 1];
    /// Segments that pacing lets out as one burst, from 1.2 Mb/s on.
    burst_segments: f64 = 2.0, "Linux tcp_bbr.c, bbr_min_tso_segs; 1 without segmentation offload" [min = 1];
    /// Rounds that each of the two maxima of what ACKs bring beyond the bandwidth covers.
    extra_acked_rounds: u32 = 5, "Linux tcp_bbr.c, bbr_extra_acked_win_rtts" [min = 1];
    /// Most of it that the window takes, as time at the bandwidth; 0 takes none.
    extra_acked_max: Span = Span::from_ms(100), "Linux tcp_bbr.c, bbr_extra_acked_max_us";
    /// Looks for a policer, a token bucket that drops what exceeds its rate, and paces at that rate.
    policer: bool = true, "Linux tcp_bbr.c, bbr_lt_bw_sampling";
    /// Rounds of an interval of losses, at least.
    policer_rounds: u32 = 4, "Linux tcp_bbr.c, bbr_lt_intvl_min_rtts" [min = 1];
    /// Rounds after which an interval without a loss at its end is given up.
    policer_rounds_max: u32 = 16, "Linux tcp_bbr.c, 4 bbr_lt_intvl_min_rtts" [min = 1];
    /// Bytes lost over bytes delivered in an interval, at least.
    policer_loss: f64 = 50.0 / 256.0, "Linux tcp_bbr.c, bbr_lt_loss_thresh" (min = 0);
    /// Rates of two intervals are the same that differ by no more than this share of the first.
    policer_share: f64 = 0.125, "Linux tcp_bbr.c, bbr_lt_bw_ratio" [min = 0];
    /// They are the same, too, that differ by no more than this.
    policer_difference: Rate = Rate(4000), "Linux tcp_bbr.c, bbr_lt_bw_diff";
    /// Rounds of PROBE_BW until the path is probed again.
    policer_kept_rounds: u32 = 48, "Linux tcp_bbr.c, bbr_lt_bw_max_rtts" [min = 1];
}
