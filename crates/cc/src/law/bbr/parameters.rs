//! The constants of BBR.

use elephan_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Pacing and window gain in STARTUP, 2 / ln 2; DRAIN paces at its inverse.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_high_gain"), range(min = 1))]
    pub startup_gain: f64,
    /// Growth of the bandwidth in a round below which the pipe may be full.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_full_bw_thresh"), range(min = 1))]
    pub full_growth: f64,
    /// Rounds without that growth until the pipe is full.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_full_bw_cnt"), range(min = 1))]
    pub full_rounds: u32,
    /// Pacing gain of the first phase of PROBE_BW, which probes for more.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_pacing_gain"), range(min = 1))]
    pub probe_gain: f64,
    /// Pacing gain of its second phase, which drains what the first queued.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_pacing_gain"), range(min = 0, max = 1))]
    pub drain_gain: f64,
    /// Phase (0 to 7, not 1) with which PROBE_BW begins; give flows different ones, as the random draw of Linux would.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_cycle_rand (random)"), range(max = 7))]
    pub phase: u32,
    /// Window gain in PROBE_BW.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_cwnd_gain"), range(min = 1))]
    pub cwnd_gain: f64,
    /// Rounds over which the largest delivery rate is the bandwidth.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_bw_rtts"), range(min = 1, max = 1000))]
    pub bw_rounds: u32,
    /// Time over which the smallest round-trip time is that of the path; so long without a smaller one brings PROBE_RTT.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_min_rtt_win_sec"))]
    pub min_rtt_window: Span,
    /// Time in PROBE_RTT with little in flight.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_probe_rtt_mode_ms"))]
    pub probe_rtt_time: Span,
    /// Smallest window in segments, and that of PROBE_RTT.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_cwnd_min_target"), range(min = 1))]
    pub min_segments: f64,
    /// Share of the bandwidth that pacing leaves free, so that queues do not stand.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_pacing_margin_percent"), range(min = 0, max = 1))]
    pub pacing_margin: f64,
    /// Segments that leave the host as one burst.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_tso_segs_goal; 1 without segmentation offload"), range(min = 1))]
    pub burst_segments: f64,
    /// Rounds that each of the two maxima of what ACKs bring beyond the bandwidth covers.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_extra_acked_win_rtts"), range(min = 1))]
    pub extra_acked_rounds: u32,
    /// Most of it that the window takes, as time at the bandwidth; 0 takes none.
    #[schemars(extend("x-source" = "Linux tcp_bbr.c, bbr_extra_acked_max_us"))]
    pub extra_acked_max: Span,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            startup_gain: 2.885,
            full_growth: 1.25,
            full_rounds: 3,
            probe_gain: 1.25,
            drain_gain: 0.75,
            phase: 2,
            cwnd_gain: 2.0,
            bw_rounds: 10,
            min_rtt_window: Span::from_s(10),
            probe_rtt_time: Span::from_ms(200),
            min_segments: 4.0,
            pacing_margin: 0.01,
            burst_segments: 1.0,
            extra_acked_rounds: 5,
            extra_acked_max: Span::from_ms(100),
        }
    }
}
