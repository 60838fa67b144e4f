//! The stack table: every option, its value in every stack, and where that value comes from.

use crate::options::{
    Ecn, LossDetection, NewrenoTimer, OptionError, Origin, Provenance, RecoveryRule, Reduction, Row, RtoRule,
    RttSampling, Undo, options, text,
};
use elephan_cc::{Spec, slow_start};
use elephan_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

options! {
    stacks {
        rfc "What the RFCs say today: initial window 10, SACK, timestamps, window scaling, 1 s of minimum RTO",
        winxp "Windows XP of 2004: 64 KB windows, SACK, two duplicate ACKs, no timestamps, no scaling",
    }

    /// Congestion control that connections use unless the traffic names another.
    congestion_control: Spec {
        rfc = reno(), "RFC 5681";
        winxp = reno(), "RFC 2581, Windows XP's standard";
    }
    /// How the window grows below ssthresh: `classic`, `limited`, `hystart` or `hystartpp`, or a table with parameters.
    slow_start: slow_start::Spec {
        rfc = slow_start::Spec::default(), "RFC 5681 section 3.1";
        winxp = slow_start::Spec::default(), "RFC 2581 section 3.1";
    }
    /// What repairs losses found by duplicate ACKs: `reno`, `newreno` or `sack`.
    recovery: RecoveryRule {
        rfc = RecoveryRule::Sack, "RFC 6675";
        winxp = RecoveryRule::Sack, "assumed: SACK fills holes, the reduction is Reno's";
    }
    /// How losses are found with SACK: `dupack`, `rack` or `fack`, with `dup_ack_threshold` for all of them.
    loss_detection: LossDetection {
        rfc = LossDetection::Dupack, "RFC 6675 section 4; RFC 8985 is asked for by name";
        winxp = LossDetection::Dupack, "assumed: duplicate ACKs alone";
    }
    /// When ACKs stay away for two round trips a segment is sent to bring one (tail loss probe; needs SACK).
    tail_loss_probe: bool {
        rfc = false, "assumed: RFC 8985 is asked for by name";
        winxp = false, "RFC 8985 is of 2021, Windows XP of 2001";
    }
    /// What the probe of a flight of one segment waits longer for, because its ACK may be delayed.
    max_ack_delay: Span {
        rfc = Span::from_ms(200), "assumed: as delayed_ack_timeout; RFC 8985 section 7.2 leaves it open";
        winxp = Span::from_ms(200), "assumed: not used";
    }
    /// After a timeout new data is tried first, which tells whether the timeout was needless (F-RTO).
    frto: bool {
        rfc = false, "assumed: RFC 5682 is asked for by name";
        winxp = false, "RFC 5682 is of 2009, Windows XP of 2001";
    }
    /// A reduction that proves needless is taken back, by `timestamps`, by `dsack`, by `both`, or never: `off`.
    undo: Undo {
        rfc = Undo::Off, "assumed: RFC 3522 and RFC 3708 are asked for by name";
        winxp = Undo::Off, "assumed: not implemented";
    }
    /// How the window comes down in SACK recovery: `immediate`, `prr-rfc9937` or `prr-rfc6937`.
    reduction: Reduction {
        rfc = Reduction::Immediate, "RFC 6675 section 5";
        winxp = Reduction::Immediate, "RFC 2581 section 3.2";
    }
    /// Largest segment announced to the peer: the IP MTU less 40. Timestamps take 12 bytes of it.
    mss: Bytes {
        rfc = Bytes(1460), "RFC 9293 section 3.7.1 on a 1500-byte MTU";
        winxp = Bytes(1460), "RFC 1122 section 4.2.2.6 on a 1500-byte MTU";
    }
    /// Initial window in segments.
    initial_window: u32 {
        rfc = 10, "RFC 6928 section 2";
        winxp = 2, "RFC 2581 section 3.1";
    }
    /// Slow-start threshold at the start.
    ssthresh_initial: Bytes {
        rfc = Bytes(1 << 30), "RFC 5681 section 3.1: arbitrarily high";
        winxp = Bytes(65_536), "RFC 2001: 65535, here 64 KiB";
    }
    /// Congestion window after an idle period longer than the RTO falls back to the initial window.
    idle_restart: bool {
        rfc = true, "RFC 5681 section 4.1";
        winxp = true, "RFC 2581 section 4.1";
    }
    /// Slow start counts bytes acknowledged rather than ACKs (appropriate byte counting).
    abc: bool {
        rfc = true, "RFC 3465";
        winxp = false, "assumed: one segment an ACK, RFC 2581 section 3.1";
    }
    /// Most segments that one ACK may add in slow start with `abc`; 0 is no limit.
    abc_limit: u32 {
        rfc = 2, "RFC 3465 section 2.2";
        winxp = 1, "assumed: not used";
    }
    /// Duplicate ACKs that start fast retransmit.
    dup_ack_threshold: u32 {
        rfc = 3, "RFC 5681 section 3.2";
        winxp = 2, "Windows registry TcpMaxDupAcks, default 2";
    }
    /// New segments are sent on the duplicate ACKs before the threshold.
    limited_transmit: bool {
        rfc = true, "RFC 5681 section 3.2 step 1, RFC 3042";
        winxp = false, "assumed: not listed among its RFCs";
    }
    /// Which partial ACKs restart the timer in NewReno recovery: `impatient` or `slow-but-steady`.
    newreno_timer: NewrenoTimer {
        rfc = NewrenoTimer::Impatient, "RFC 6582 section 3.2 step 3";
        winxp = NewrenoTimer::Impatient, "assumed: as RFC 2582";
    }
    /// After a timeout NewReno tells lost retransmissions from needless ones by the gap between ACKs.
    newreno_ack_heuristic: bool {
        rfc = false, "RFC 6582 section 4.1: optional";
        winxp = false, "assumed: not implemented";
    }
    /// Explicit congestion notification, if the peer agrees: `off`, `classic` or `dctcp`.
    ecn: Ecn {
        rfc = Ecn::Off, "assumed: queues that mark are asked for by name (RFC 3168)";
        winxp = Ecn::Off, "came with Windows Vista";
    }
    /// Selective acknowledgements.
    sack: bool {
        rfc = true, "RFC 2018";
        winxp = true, "Windows registry SackOpts, default 1";
    }
    /// Duplicate segments are reported in the first SACK block.
    dsack: bool {
        rfc = true, "RFC 2883";
        winxp = false, "assumed: came with Windows Vista";
    }
    /// Timestamps option.
    timestamps: bool {
        rfc = true, "RFC 7323";
        winxp = false, "Windows registry Tcp1323Opts, default: on request of the peer only";
    }
    /// Tick of the timestamps clock.
    timestamp_granularity: Span {
        rfc = Span::from_ms(1), "RFC 7323 section 5.4: 1 ms to 1 s";
        winxp = Span::from_ms(100), "assumed: not used";
    }
    /// Window scaling.
    window_scaling: bool {
        rfc = true, "RFC 7323 section 2";
        winxp = false, "Windows registry Tcp1323Opts, default: on request of the peer only";
    }
    /// Largest receive window offered, which is the size of the receive buffer.
    receive_window: Bytes {
        rfc = Bytes(65_535 << 14), "RFC 7323 section 2.3: the largest window";
        winxp = Bytes(64_240), "Windows XP above 100 Mbit/s: 64 KB rounded to whole segments";
    }
    /// Bytes that the socket holds beyond what is acknowledged; a writer blocks when they are full.
    send_buffer: Bytes {
        rfc = Bytes(1 << 30), "assumed: never the limit";
        winxp = Bytes(65_536), "assumed: as the receive window";
    }
    /// Segments received in order that make the receiver send an ACK.
    delayed_ack_segments: u32 {
        rfc = 2, "RFC 5681 section 4.2";
        winxp = 2, "RFC 1122 section 4.2.3.2";
    }
    /// Longest time that an ACK waits.
    delayed_ack_timeout: Span {
        rfc = Span::from_ms(200), "assumed: BSD's; RFC 5681 section 4.2 allows up to 500 ms";
        winxp = Span::from_ms(200), "assumed: Windows registry TcpDelAckTicks, 2 ticks of 100 ms";
    }
    /// The first data segment of a connection is acknowledged at once.
    delayed_ack_first: bool {
        rfc = false, "RFC 5681 section 4.2";
        winxp = false, "assumed: no exception for the first segment";
    }
    /// How the retransmission timeout is computed: `rfc6298` or `linux`.
    rto_rule: RtoRule {
        rfc = RtoRule::Rfc6298, "RFC 6298 section 2";
        winxp = RtoRule::Rfc6298, "assumed: RFC 2988";
    }
    /// Retransmission timeout before the first round-trip sample.
    rto_initial: Span {
        rfc = Span::from_s(1), "RFC 6298 section 2.1";
        winxp = Span::from_s(3), "Windows registry TcpInitialRtt, default 3 s";
    }
    /// Smallest retransmission timeout (with `rto_rule` `linux`, of its variance term).
    rto_min: Span {
        rfc = Span::from_s(1), "RFC 6298 section 2.4";
        winxp = Span::from_ms(300), "assumed: Windows' usual minimum";
    }
    /// Largest retransmission timeout, back-off included.
    rto_max: Span {
        rfc = Span::from_s(60), "RFC 6298 section 2.5";
        winxp = Span::from_s(240), "assumed: RFC 793's maximum segment lifetime twice";
    }
    /// Clock granularity G in the timeout formula.
    clock_granularity: Span {
        rfc = Span::from_ms(1), "assumed: RFC 6298 section 4 asks for 100 ms or finer";
        winxp = Span::from_ms(1), "assumed: a tuned clock";
    }
    /// Which ACKs give a round-trip sample: `every-ack` or `once-per-window`.
    rtt_sampling: RttSampling {
        rfc = RttSampling::EveryAck, "RFC 7323 section 4.1 and appendix G";
        winxp = RttSampling::OncePerWindow, "RFC 2988 section 3";
    }
    /// Small segments wait while data is unacknowledged (Nagle).
    nagle: bool {
        rfc = false, "assumed: applications disable it, as RFC 9293 section 3.7.4 lets them";
        winxp = false, "assumed: applications disable it (TCP_NODELAY)";
    }
    /// How long the end that closes first stays in TIME-WAIT.
    time_wait: Span {
        rfc = Span::from_s(1), "assumed: short; RFC 9293 section 3.4.2 says 4 min and no port is used twice";
        winxp = Span::from_s(1), "assumed: short; no port is used twice";
    }
}

/// Reno with its default parameters.
fn reno() -> Spec {
    Spec::Reno(Default::default())
}
