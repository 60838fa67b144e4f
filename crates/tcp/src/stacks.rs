//! The stack table: every option, its value in every stack, and where that value comes from.

use crate::options::{
    AccEcnOptions, AccEcnRule, Acceptance, DelayedAckRule, DsackRule, Ecn, FastOpen, LocalDrop, LossDetection,
    NagleRule, NewrenoTimer, Origin, Pacing, Provenance, RackRule, ReceiveCharge, RecoveryRule, RecoverySteps,
    Reduction, Row, RtoRule, RttSampling, Undo, WindowProbe, WindowUpdate, options, text,
};
use elephan_cc::algorithm::{cubic::Cubic, reno::Reno};
use elephan_cc::{Model, Spec, slow_start};
use elephan_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

options! {
    stacks {
        rfc "rfc" "What the RFCs say today: initial window 10, SACK, timestamps, window scaling, 1 s of minimum RTO",
        winxp "winxp" "Windows XP of 2004: 64 KB windows, SACK, two duplicate ACKs, no timestamps, no scaling",
        linux_2_4 "linux-2.4" "Linux 2.4.20 of 2002: Reno, FACK, rate halving, burst moderation, ACKs counted, 64 KB windows unless tuned",
        linux "linux" "A current Linux: CUBIC, HyStart, initial window 10, RACK-TLP, PRR, adaptive delayed ACKs, 200 ms on the RTO's variance",
        windows "windows" "Windows 10 and 11: CUBIC, HyStart++, initial window 10, RACK-TLP, PRR, delayed ACKs of 40 ms, 300 ms of minimum RTO",
        freebsd "freebsd" "FreeBSD 14: CUBIC, HyStart++, initial window 10, PRR, delayed ACKs of 40 ms, 200 ms of slop in the RTO",
    }

    /// Congestion control that connections use unless the traffic names another.
    congestion_control: Spec {
        rfc = reno(), "RFC 5681";
        winxp = reno(), "RFC 2581, Windows XP's standard";
        linux_2_4 = Spec::Reno(Reno::preset("linux")), "Linux 2.4 tcp_recalc_ssthresh: halves cwnd; altAIMD has other congestion controls";
        linux = cubic_of("linux"), "Linux tcp_cubic.c, default since 2.6.19";
        windows = cubic_of("rfc8312"), "Windows 10 since 1709: CUBIC (RFC 8312)";
        freebsd = cubic_of("rfc9438"), "FreeBSD 14 release notes: CUBIC is the default; assumed: as RFC 9438";
    }
    /// How the window grows below ssthresh: `classic`, `limited`, `hystart`, `hystartpp` or `linux`, or a table with parameters.
    slow_start: slow_start::Spec {
        rfc = slow_start::Spec::default(), "RFC 5681 section 3.1";
        winxp = slow_start::Spec::default(), "RFC 2581 section 3.1";
        linux_2_4 = slow_start::Spec::default(), "Linux 2.4 tcp_cong_avoid; altAIMD also `limited`";
        linux = slow_start::Spec::Linux(Default::default()), "Linux tcp_cubic.c hystart; other congestion controls: tcp_slow_start";
        windows = slow_start::Spec::Hystartpp(Default::default()), "RFC 9406: the default of Windows";
        freebsd = slow_start::Spec::Hystartpp(Default::default()), "assumed: FreeBSD 14 has HyStart++ for CUBIC";
    }
    /// Whose segments are spaced: `controller` (those of a congestion control that paces by itself) or `window` (everybody's, as
    /// Linux over `fq`).
    pacing: Pacing {
        rfc | winxp | linux_2_4 = Pacing::Controller, "RFC 5681, Windows XP and Linux 2.4 do not pace";
        linux = Pacing::Controller, "Linux sk_pacing_status: BBR asks for it, `fq` turns it on for all";
        windows | freebsd = Pacing::Controller, "assumed: off";
    }
    /// With `pacing = "window"`: per cent of a window a round trip below half of ssthresh.
    pacing_ss_ratio: u32 {
        rfc | winxp | linux_2_4 | windows | freebsd = 200, "assumed: as Linux";
        linux = 200, "Linux net.ipv4.tcp_pacing_ss_ratio";
    }
    /// With `pacing = "window"`: per cent of a window a round trip from there on.
    pacing_ca_ratio: u32 {
        rfc | winxp | linux_2_4 | windows | freebsd = 120, "assumed: as Linux";
        linux = 120, "Linux net.ipv4.tcp_pacing_ca_ratio";
    }
    /// How many data segments at the start of a connection leave without the gaps of pacing.
    unpaced_segments: u32 {
        rfc = 0, "assumed: pacing spaces all";
        winxp | linux_2_4 | windows | freebsd = 0, "assumed: not used";
        linux = 10, "Linux tcp_update_skb_after_send: data_segs_out >= 10";
    }
    /// What paces shortens the gap after a burst that left later than pacing allowed, by as much, to half of it.
    pacing_credit: bool {
        rfc | winxp | linux_2_4 | windows | freebsd = false, "assumed: gaps are as long as the rate says";
        linux = true, "Linux tcp_update_skb_after_send: credit";
    }
    /// What repairs losses found by duplicate ACKs: `reno`, `newreno` or `sack`.
    recovery: RecoveryRule {
        rfc = RecoveryRule::Sack, "RFC 6675";
        winxp = RecoveryRule::Sack, "assumed: SACK fills holes, the reduction is Reno's";
        linux_2_4 | linux | windows | freebsd = RecoveryRule::Sack, "assumed: RFC 6675 where no other loss detection is modelled";
    }
    /// Which steps an ACK takes in loss recovery: `rfc`, or `linux` with `recovery = "sack"`, `loss_detection = "rack"` and
    /// `reduction = "prr-linux"`.
    recovery_steps: RecoverySteps {
        rfc = RecoverySteps::Rfc, "RFC 5681, RFC 6582, RFC 6675, RFC 5682";
        winxp | windows | freebsd = RecoverySteps::Rfc, "assumed: as the RFCs";
        linux_2_4 = RecoverySteps::Rfc, "assumed: as the RFCs";
        linux = RecoverySteps::Linux, "Linux 6.18 tcp_fastretrans_alert, tcp_process_loss, tcp_enter_loss, tcp_set_xmit_timer";
    }
    /// How losses are found with SACK: `dupack`, `rack` or `fack`, with `dup_ack_threshold` for all of them.
    loss_detection: LossDetection {
        rfc = LossDetection::Dupack, "RFC 6675 section 4; RFC 8985 is asked for by name";
        winxp = LossDetection::Dupack, "assumed: duplicate ACKs alone";
        linux_2_4 = LossDetection::Fack, "Linux tcp_input.c 2.4: net.ipv4.tcp_fack is on";
        linux = LossDetection::Rack, "Linux tcp_recovery.c: net.ipv4.tcp_recovery = 1";
        windows = LossDetection::Rack, "Windows 10 1607 and later: RACK";
        freebsd = LossDetection::Dupack, "FreeBSD's base stack: RFC 6675; RACK is another stack of it";
    }
    /// When ACKs stay away for two round trips a segment is sent to bring one (tail loss probe; needs SACK).
    tail_loss_probe: bool {
        rfc = false, "assumed: RFC 8985 is asked for by name";
        winxp = false, "RFC 8985 is of 2021, Windows XP of 2001";
        linux_2_4 = false, "Linux 2.4: came with 3.10";
        linux = true, "Linux net.ipv4.tcp_early_retrans = 3";
        windows = true, "Windows 10 1607 and later: tail loss probe";
        freebsd = false, "FreeBSD's base stack: the RACK stack has it";
    }
    /// What the probe of a flight of one segment waits longer for, because its ACK may be delayed.
    max_ack_delay: Span {
        rfc = Span::from_ms(200), "assumed: as delayed_ack_timeout; RFC 8985 section 7.2 leaves it open";
        winxp | linux_2_4 | freebsd = Span::from_ms(200), "assumed: not used";
        linux = Span::from_ms(200), "Linux tcp_schedule_loss_probe: TCP_RTO_MIN";
        windows = Span::from_ms(200), "assumed: as Linux";
    }
    /// What the timers of RACK and of the probe of a longer flight wait longer for than is computed.
    timer_slack: Span {
        rfc = Span(0), "RFC 8985: none";
        winxp | linux_2_4 | freebsd = Span(0), "assumed: not used";
        linux = Span::from_ms(2), "Linux 6.7 tcp_schedule_loss_probe, tcp_rack_mark_lost: TCP_TIMEOUT_MIN_US; before, 2 jiffies";
        windows = Span(0), "assumed: none";
    }
    /// After a timeout new data is tried first, which tells whether the timeout was needless (F-RTO).
    frto: bool {
        rfc = false, "assumed: RFC 5682 is asked for by name";
        winxp = false, "RFC 5682 is of 2009, Windows XP of 2001";
        linux_2_4 = false, "Linux 2.4: off";
        linux = true, "Linux net.ipv4.tcp_frto = 2";
        windows = true, "assumed: Windows documents F-RTO since Vista";
        freebsd = false, "assumed: not implemented";
    }
    /// A reduction that proves needless is taken back, by `timestamps`, by `dsack`, by `both`, or never: `off`.
    undo: Undo {
        rfc = Undo::Off, "assumed: RFC 3522 and RFC 3708 are asked for by name";
        winxp = Undo::Off, "assumed: not implemented";
        linux_2_4 | linux = Undo::Both, "Linux tcp_input.c: tcp_try_undo_recovery, tcp_try_undo_dsack";
        windows = Undo::Off, "assumed: not documented";
        freebsd = Undo::Timestamps, "FreeBSD cc: RFC 3522 by timestamps (badrxtwin) after timeouts";
    }
    /// Which reported duplicates count when a reduction is taken back by D-SACK: `rfc3708` or `linux`.
    dsack_rule: DsackRule {
        rfc = DsackRule::Rfc3708, "RFC 3708 section 3: of segments that were retransmitted";
        winxp | windows | freebsd = DsackRule::Rfc3708, "assumed: not used";
        linux_2_4 = DsackRule::Linux, "assumed: as Linux since 5.10, without which duplicates of the network undo every reduction";
        linux = DsackRule::Linux, "Linux tcp_check_dsack, tcp_dsack_seen, tcp_sacktag_one";
    }
    /// Where Linux' RACK differs from that of the RFC: `rfc8985` or `linux`.
    rack_rule: RackRule {
        rfc = RackRule::Rfc8985, "RFC 8985 section 6.2";
        winxp | linux_2_4 | freebsd = RackRule::Rfc8985, "assumed: not used";
        linux = RackRule::Linux, "Linux tcp_rack_advance, tcp_dsack_seen, tcp_try_undo_partial";
        windows = RackRule::Rfc8985, "assumed: RFC 8985";
    }
    /// How the window comes down in SACK recovery, and at an ECN-Echo or a local drop: `immediate`, `prr-rfc9937`, `prr-rfc6937`, `prr-linux` or `rate-halving`.
    reduction: Reduction {
        rfc = Reduction::Immediate, "RFC 6675 section 5";
        winxp = Reduction::Immediate, "RFC 2581 section 3.2";
        linux_2_4 = Reduction::RateHalving, "Linux 2.4 tcp_cwnd_down";
        linux = Reduction::PrrLinux, "Linux tcp_cwnd_reduction";
        windows = Reduction::PrrRfc6937, "assumed: Windows 10 has PRR (RFC 6937)";
        freebsd = Reduction::PrrRfc6937, "FreeBSD net.inet.tcp.do_prr 1 (RFC 6937)";
    }
    /// A disordered ACK that starts no recovery lets the window be three segments above what is in flight at most.
    cwnd_moderation: bool {
        rfc = false, "assumed: RFC 5681 has none";
        winxp = false, "assumed: not known";
        linux_2_4 = true, "Linux 2.4 tcp_moderate_cwnd, called by tcp_try_to_open";
        linux = false, "Linux tcp_try_keep_open: does not moderate";
        windows | freebsd = false, "assumed: RFC 5681 has none";
    }
    /// What a segment refused by the host's own transmit queue means: `cwr`, `ignore` or `slow-start-exit`.
    local_drop: LocalDrop {
        rfc = LocalDrop::Cwr, "assumed: as Linux; RFC 5681 says nothing of it";
        winxp = LocalDrop::Cwr, "assumed: as Linux";
        linux_2_4 | linux = LocalDrop::Cwr, "Linux tcp_transmit_skb: tcp_enter_cwr";
        windows = LocalDrop::Cwr, "assumed: as Linux";
        freebsd = LocalDrop::Cwr, "FreeBSD tcp_output on ENOBUFS; assumed: the cut of an ECN-Echo instead of one segment";
    }
    /// Largest segment announced to the peer: the host's MTU less 40, over IPv6 less 60. Timestamps take 12 bytes of it.
    mss: Bytes {
        rfc = Bytes(1460), "RFC 9293 section 3.7.1 on a 1500-byte MTU";
        winxp = Bytes(1460), "RFC 1122 section 4.2.2.6 on a 1500-byte MTU";
        linux_2_4 | linux | windows | freebsd = Bytes(1460), "RFC 9293 section 3.7.1 on a 1500-byte MTU";
    }
    /// Initial window in segments.
    initial_window: u32 {
        rfc = 10, "RFC 6928 section 2";
        winxp = 2, "RFC 2581 section 3.1";
        linux_2_4 = 2, "Linux 2.4 tcp_init_cwnd for a round trip above 20 ms; 3 below, with a 1500-byte MTU";
        linux = 10, "Linux TCP_INIT_CWND";
        windows = 10, "Windows 10 since 1607: InitialCongestionWindow 10";
        freebsd = 10, "FreeBSD net.inet.tcp.initcwnd_segments 10";
    }
    /// Slow-start threshold at the start; none where it is above the largest window of TCP, 65535 << 14 bytes.
    ssthresh_initial: Bytes {
        rfc = Bytes(1 << 30), "RFC 5681 section 3.1: arbitrarily high";
        winxp = Bytes(65_536), "RFC 2001: 65535, here 64 KiB";
        linux_2_4 | linux = Bytes(1 << 30), "Linux TCP_INFINITE_SSTHRESH: arbitrarily high; no cached metrics";
        windows = Bytes(1 << 30), "assumed: RFC 5681 section 3.1, arbitrarily high";
        freebsd = Bytes(1 << 30), "FreeBSD tcp_newtcpcb: TCP_MAXWIN << TCP_MAX_WINSHIFT, the largest window";
    }
    /// Congestion window after an idle period longer than the RTO falls back to the initial window.
    idle_restart: bool {
        rfc = true, "RFC 5681 section 4.1";
        winxp = true, "RFC 2581 section 4.1";
        linux_2_4 | linux = true, "Linux tcp_cwnd_restart (tcp_slow_start_after_idle 1)";
        windows = true, "assumed: RFC 5681 section 4.1";
        freebsd = true, "FreeBSD cc_after_idle";
    }
    /// Idle time that lowers the window raises ssthresh to three quarters of what it was, if that is more.
    idle_threshold: bool {
        rfc = false, "RFC 5681 section 4.1: not said";
        winxp = false, "assumed: RFC 2581 section 4.1";
        linux_2_4 | linux = true, "Linux tcp_cwnd_restart: tcp_current_ssthresh";
        windows = false, "assumed: RFC 5681 section 4.1";
        freebsd = true, "FreeBSD newreno_after_idle";
    }
    /// The window of a SYN-ACK is scaled, for a protocol that is not bound to 64 KB in the first round trip. No real TCP does that
    /// (RFC 7323 section 2.2). Both ends must have it.
    scaled_syn_ack_window: bool {
        rfc = false, "RFC 7323 section 2.2";
        winxp = false, "RFC 1323 section 2.2";
        linux_2_4 | linux | windows | freebsd = false, "RFC 7323 section 2.2";
    }
    /// Congestion window validation: idle time halves the window once an RTO, an unused window shrinks towards its use.
    cwnd_validation: bool {
        rfc = false, "assumed: RFC 2861 was experimental and is obsolete (RFC 7661)";
        winxp = false, "assumed: not known";
        linux_2_4 | linux = true, "Linux tcp_cwnd_restart, tcp_cwnd_application_limited (RFC 2861)";
        windows | freebsd = false, "assumed: RFC 5681 section 4.1 alone";
    }
    /// With `cwnd_validation`, each ACK outside recovery begins the RTO anew after which an unused window shrinks: it stays as long as
    /// ACKs come.
    cwnd_validation_acks: bool {
        rfc | winxp | windows | freebsd = false, "RFC 2861 section 3.1: an unused window shrinks each RTO";
        linux_2_4 = false, "Linux 2.4 tcp_ack: tcp_cong_avoid only where the window is full";
        linux = true, "Linux tcp_cong_avoid: snd_cwnd_stamp, also where the window does not grow";
    }
    /// The window grows by the bytes acknowledged rather than by ACKs, in slow start and in congestion avoidance (appropriate
    /// byte counting). Without it an ACK counts for one segment at most.
    abc: bool {
        rfc = true, "RFC 3465";
        winxp = false, "assumed: by ACKs, RFC 2581 section 3.1";
        linux_2_4 = false, "Linux 2.4 tcp_cong_avoid: by ACKs; altAIMD has RFC 3465";
        linux = true, "Linux tcp_slow_start: what was acknowledged";
        windows = true, "assumed: RFC 3465, on which HyStart++ builds";
        freebsd = true, "FreeBSD net.inet.tcp.rfc3465 1";
    }
    /// Most segments that one ACK may add in slow start with `abc`; 0 is no limit.
    abc_limit: u32 {
        rfc = 2, "RFC 3465 section 2.2";
        winxp = 1, "assumed: not used";
        linux_2_4 = 1, "Linux 2.4 tcp_cong_avoid";
        linux = 0, "Linux tcp_slow_start: no limit";
        windows = 2, "assumed: RFC 3465 section 2.2; HyStart++ has its own";
        freebsd = 2, "FreeBSD net.inet.tcp.abc_l_var 2";
    }
    /// The window is a whole number of segments under the congestion controls that Linux has and that count so. It grows by one when enough
    /// segments are acknowledged. Any other keeps the window that it sets, to the byte.
    whole_segments: bool {
        rfc = false, "RFC 5681 section 3.1, RFC 9438 section 4: windows grow by less than a segment an ACK";
        winxp | windows = false, "assumed: windows are bytes";
        linux_2_4 = true, "Linux 2.4 tcp_cong_avoid: snd_cwnd_cnt";
        linux = true, "Linux tcp_cong_avoid_ai: snd_cwnd, snd_cwnd_cnt";
        freebsd = false, "FreeBSD newreno_ack_received, cubic_ack_received: windows are bytes";
    }
    /// Duplicate ACKs that start fast retransmit.
    dup_ack_threshold: u32 {
        rfc = 3, "RFC 5681 section 3.2";
        winxp = 2, "Windows registry TcpMaxDupAcks, default 2";
        linux_2_4 | linux = 3, "Linux tcp_reordering 3";
        windows | freebsd = 3, "RFC 5681 section 3.2";
    }
    /// How many segments reordering may be measured to displace, with RACK; that then is the threshold. 0: it is not measured.
    max_reordering: u32 {
        rfc = 0, "RFC 8985 section 6.2: DupThresh is constant";
        winxp | linux_2_4 | windows | freebsd = 0, "assumed: not measured";
        linux = 300, "Linux net.ipv4.tcp_max_reordering";
    }
    /// Without SACK a duplicate ACK counts for a segment delivered, and the ACK that follows for what is left.
    duplicates_deliver: bool {
        rfc = false, "RFC 3465 section 2.1: what an ACK newly acknowledges";
        winxp | windows | freebsd = false, "assumed: as RFC 3465";
        linux_2_4 = false, "Linux 2.4 counts ACKs";
        linux = true, "Linux tcp_add_reno_sack, tcp_remove_reno_sacks";
    }
    /// New segments are sent on the duplicate ACKs before the threshold.
    limited_transmit: bool {
        rfc = true, "RFC 5681 section 3.2 step 1, RFC 3042";
        winxp = false, "assumed: not listed among its RFCs";
        linux_2_4 | linux = true, "Linux: what is SACKed leaves tcp_packets_in_flight (RFC 3042)";
        windows = true, "assumed: RFC 3042";
        freebsd = true, "FreeBSD net.inet.tcp.rfc3042 1";
    }
    /// Which partial ACKs restart the timer in NewReno recovery: `impatient` or `slow-but-steady`.
    newreno_timer: NewrenoTimer {
        rfc = NewrenoTimer::Impatient, "RFC 6582 section 3.2 step 3";
        winxp = NewrenoTimer::Impatient, "assumed: as RFC 2582";
        linux_2_4 | linux = NewrenoTimer::SlowButSteady, "Linux: every ACK of new data restarts the timer";
        windows = NewrenoTimer::Impatient, "assumed: RFC 6582 section 3.2 step 3";
        freebsd = NewrenoTimer::SlowButSteady, "FreeBSD tcp_newreno_partial_ack stops the timer, tcp_output starts it";
    }
    /// The first unacknowledged segment, retransmitted in recovery, restarts the retransmission timer.
    rearm_on_retransmit: bool {
        rfc = false, "RFC 6675 section 6: may";
        winxp = false, "assumed: not known";
        linux_2_4 | linux = true, "Linux tcp_xmit_retransmit_queue";
        windows = false, "assumed: not known";
        freebsd = true, "FreeBSD tcp_do_segment stops the timer, tcp_output starts it";
    }
    /// A timeout in an episode that has lowered ssthresh for the same data lowers it again.
    timeout_cuts_again: bool {
        rfc = true, "RFC 5681 equation 4: of what is in flight then";
        winxp = true, "RFC 2581 equation 3";
        linux_2_4 | linux = false, "Linux tcp_enter_loss: once in a window of data";
        windows | freebsd = true, "assumed: RFC 5681 equation 4";
    }
    /// After a timeout NewReno tells lost retransmissions from needless ones by the gap between ACKs.
    newreno_ack_heuristic: bool {
        rfc = false, "RFC 6582 section 4.1: optional";
        winxp = false, "assumed: not implemented";
        linux_2_4 | linux | windows | freebsd = false, "assumed: not needed with SACK";
    }
    /// Explicit congestion notification, if the peer agrees: `off`, `classic`, `dctcp` or `accurate`.
    ecn: Ecn {
        rfc = Ecn::Off, "assumed: queues that mark are asked for by name (RFC 3168)";
        winxp = Ecn::Off, "came with Windows Vista";
        linux_2_4 = Ecn::Off, "Linux 2.4 tcp_ecn 0";
        linux = Ecn::Off, "Linux tcp_ecn 2: answers, does not ask; `classic` and `accurate` on request";
        windows = Ecn::Off, "Windows netsh ecncapability: disabled by default";
        freebsd = Ecn::Off, "FreeBSD net.inet.tcp.ecn.enable 2: answers, does not ask";
    }
    /// Retransmitted SYNs that still ask for `classic` or `dctcp`; later ones ask for nothing. With `accurate` it is one (RFC 9768).
    ecn_syn_retries: u32 {
        rfc = 255, "RFC 3168 section 6.1.1.1: a host may clear ECE and CWR";
        winxp | linux_2_4 | windows = 255, "assumed: RFC 3168 section 6.1.1.1";
        linux = 0, "Linux tcp_ecn_fallback 1";
        freebsd = 1, "FreeBSD net.inet.tcp.ecn.maxretries 1";
    }
    /// Where AccECN of Linux differs from that of the RFC: `rfc9768` or `linux`.
    accecn_rule: AccEcnRule {
        rfc = AccEcnRule::Rfc9768, "RFC 9768 section 3.2";
        winxp | linux_2_4 | windows | freebsd = AccEcnRule::Rfc9768, "assumed: RFC 9768";
        linux = AccEcnRule::Linux, "Linux 6.18 tcp_ecn.h, tcp_accecn_process";
    }
    /// Which segments of AccECN carry its option: `off`, `minimum`, `acks` or `full`. A SYN-ACK does unless it is `off`.
    accecn_option: AccEcnOptions {
        rfc = AccEcnOptions::Acks, "RFC 9768 section 3.2.3.3";
        winxp | linux_2_4 | windows | freebsd = AccEcnOptions::Acks, "assumed: RFC 9768 section 3.2.3.3";
        linux = AccEcnOptions::Full, "Linux net.ipv4.tcp_ecn_option 2";
    }
    /// With `accecn_option` `minimum`: options in a round trip at least; 0 is none.
    accecn_beacon: u32 {
        rfc | winxp | linux_2_4 | windows | freebsd = 3, "RFC 9768 section 3.2.3.3";
        linux = 3, "Linux net.ipv4.tcp_ecn_option_beacon 3";
    }
    /// AccECN sends no ECT if the peer says that an unmarked SYN or SYN-ACK has arrived marked.
    accecn_check: bool {
        rfc = true, "RFC 9768 section 3.2.2.3";
        winxp | linux_2_4 | windows | freebsd = true, "assumed: RFC 9768 section 3.2.2.3";
        linux = true, "Linux tcp_accecn_validate_syn_feedback, net.ipv4.tcp_ecn_fallback 1";
    }
    /// With `dctcp`, SYN, SYN-ACK and RST are ECN-capable.
    ect_syn: bool {
        rfc = true, "RFC 8257 section 3.6";
        winxp | linux_2_4 | windows | freebsd = true, "assumed: RFC 8257 section 3.6";
        linux = true, "Linux tcp_ecn_send_syn, tcp_ecn_send_synack: tcp_ca_needs_ecn";
    }
    /// With `dctcp`, ACKs without data are ECN-capable.
    ect_acks: bool {
        rfc = false, "RFC 8257 section 3.6 names SYN, SYN-ACK and RST alone; RFC 3168 section 6.1.4: pure ACKs are not";
        winxp | linux_2_4 | windows | freebsd = false, "assumed: RFC 3168 section 6.1.4";
        linux = true, "Linux tcp_ecn_send: tcp_ca_needs_ecn keeps ECT";
    }
    /// Data with CWR is acknowledged at once: its sender's window may be one segment.
    ack_cwr: bool {
        rfc = false, "RFC 3168 section 6.1.3 asks for none";
        winxp | linux_2_4 = false, "assumed: not implemented";
        linux = true, "Linux 4.19 tcp_ecn_accept_cwr: ICSK_ACK_NOW";
        windows = false, "assumed: not documented";
        freebsd = true, "FreeBSD tcp_ecn_input_segment: TF_ACKNOW";
    }
    /// Selective acknowledgements.
    sack: bool {
        rfc = true, "RFC 2018";
        winxp = true, "Windows registry SackOpts, default 1";
        linux_2_4 | linux = true, "Linux tcp_sack 1";
        windows = true, "Windows since 2000 (RFC 2018)";
        freebsd = true, "FreeBSD net.inet.tcp.sack.enable 1";
    }
    /// Duplicate segments are reported in the first SACK block.
    dsack: bool {
        rfc = true, "RFC 2883";
        winxp = false, "assumed: came with Windows Vista";
        linux_2_4 | linux = true, "Linux tcp_dsack 1";
        windows = true, "Windows since Vista (RFC 2883)";
        freebsd = true, "FreeBSD since 13: net.inet.tcp.sack (RFC 2883)";
    }
    /// Timestamps option.
    timestamps: bool {
        rfc = true, "RFC 7323";
        winxp = false, "Windows registry Tcp1323Opts, default: on request of the peer only";
        linux_2_4 | linux = true, "Linux tcp_timestamps 1";
        windows = false, "Windows netsh timestamps: not asked for by default";
        freebsd = true, "FreeBSD net.inet.tcp.rfc1323 1";
    }
    /// Tick of the timestamps clock.
    timestamp_granularity: Span {
        rfc = Span::from_ms(1), "RFC 7323 section 5.4: 1 ms to 1 s";
        winxp = Span::from_ms(100), "assumed: not used";
        linux_2_4 = Span::from_ms(10), "Linux 2.4: a jiffy, HZ 100";
        linux = Span::from_ms(1), "Linux TCP_TS_HZ 1000";
        windows = Span::from_ms(1), "assumed: not used by default";
        freebsd = Span::from_ms(1), "FreeBSD tcp_ts_getticks: 1 ms";
    }
    /// Which arriving segments are acceptable, so that state is taken from them: `rfc9293` or `linux`.
    acceptance: Acceptance {
        rfc = Acceptance::Rfc9293, "RFC 9293 section 3.10.7.4, RFC 7323 section 5.3";
        winxp | windows = Acceptance::Rfc9293, "assumed: RFC 9293 section 3.10.7.4";
        linux_2_4 | linux = Acceptance::Linux, "Linux tcp_validate_incoming, tcp_sequence";
        freebsd = Acceptance::Rfc9293, "assumed: RFC 9293 (FreeBSD trims old segments and takes their ACK field)";
    }
    /// Time between two ACKs that answer unacceptable segments without data; 0 is no limit.
    invalid_ratelimit: Span {
        rfc = Span::ZERO, "RFC 5961 section 7 leaves the limit to the stack";
        winxp | windows | freebsd = Span::ZERO, "assumed: no limit";
        linux_2_4 = Span::ZERO, "Linux 2.4 has no limit";
        linux = Span::from_ms(500), "Linux tcp_invalid_ratelimit 500";
    }
    /// Window scaling.
    window_scaling: bool {
        rfc = true, "RFC 7323 section 2";
        winxp = false, "Windows registry Tcp1323Opts, default: on request of the peer only";
        linux_2_4 | linux = true, "Linux tcp_window_scaling 1";
        windows = true, "Windows since Vista (RFC 7323)";
        freebsd = true, "FreeBSD net.inet.tcp.rfc1323 1";
    }
    /// Largest receive window offered, which is the size of the receive buffer.
    receive_window: Bytes {
        rfc = Bytes(65_535 << 14), "RFC 7323 section 2.3: the largest window";
        winxp = Bytes(64_240), "Windows XP above 100 Mbit/s: 64 KB rounded to whole segments";
        linux_2_4 = Bytes(65_535), "Linux 2.4 tcp_rmem 87380 with tcp_adv_win_scale 2: three quarters; tuned hosts give more";
        linux = Bytes(16 << 20), "Linux tcp_rmem (since 6.16): 32 MiB at most, of which half is window until a segment tells more";
        windows = Bytes(16 << 20), "Windows autotuninglevel normal: 16 MB at most; grows to it at once here";
        freebsd = Bytes(2 << 20), "FreeBSD net.inet.tcp.recvbuf_max 2 MiB; grows to it at once here";
    }
    /// Receive window that a connection begins with; the buffer grows to `receive_window` with what the application reads. Where it is
    /// no smaller, `delayed_ack_rule` is not `linux`, or `receive_window` is given alone, the buffer has its full size from the start.
    receive_window_initial: Bytes {
        rfc | winxp | linux_2_4 = Bytes(65_535 << 14), "assumed: the buffer has a fixed size";
        linux = Bytes(65_536), "Linux tcp_rmem: 128 KiB at first, of which half is window (tcp_win_from_space)";
        windows | freebsd = Bytes(65_535 << 14), "assumed: grows to its largest size at once";
    }
    /// What an application sets as size of its receive buffer (SO_RCVBUF): the buffer does not grow. Linux doubles it, and the window is what
    /// `receive_charge` leaves. Elsewhere it is the window. 0: not set.
    receive_buffer: Bytes {
        rfc | winxp | linux_2_4 | linux | windows | freebsd = Bytes(0), "assumed: applications leave it to the stack";
    }
    /// What a segment takes of a receive buffer that grows or that `receive_buffer` sets: its `payload`, or the `memory` that it lies in.
    receive_charge: ReceiveCharge {
        rfc = ReceiveCharge::Payload, "RFC 9293 section 3.8.6: the window counts bytes of data";
        winxp | linux_2_4 | windows | freebsd = ReceiveCharge::Payload, "assumed: the window is the size of the buffer";
        linux = ReceiveCharge::Memory, "Linux skb->truesize, scaling_ratio (tcp_win_from_space)";
    }
    /// Bytes that the socket holds beyond what is acknowledged; a writer blocks when they are full.
    send_buffer: Bytes {
        rfc = Bytes(1 << 30), "assumed: never the limit";
        winxp = Bytes(65_536), "assumed: as the receive window";
        linux_2_4 = Bytes(128 << 10), "Linux 2.4 tcp_wmem: 128 KiB at most, to which the socket grows; tuned hosts give more";
        linux = Bytes(4 << 20), "Linux tcp_wmem: 4 MiB at most, to which the socket grows";
        windows = Bytes(16 << 20), "assumed: dynamic send buffering, as the receive window";
        freebsd = Bytes(2 << 20), "FreeBSD net.inet.tcp.sendbuf_max 2 MiB";
    }
    /// Segments received in order that make the receiver send an ACK.
    delayed_ack_segments: u32 {
        rfc = 2, "RFC 5681 section 4.2";
        winxp = 2, "RFC 1122 section 4.2.3.2";
        linux_2_4 | linux = 2, "Linux __tcp_ack_snd_check: more than one full segment";
        windows = 2, "Windows TcpAckFrequency 2";
        freebsd = 2, "RFC 5681 section 4.2";
    }
    /// Longest time that an ACK waits.
    delayed_ack_timeout: Span {
        rfc = Span::from_ms(200), "assumed: BSD's; RFC 5681 section 4.2 allows up to 500 ms";
        winxp = Span::from_ms(200), "assumed: Windows registry TcpDelAckTicks, 2 ticks of 100 ms";
        linux_2_4 | linux = Span::from_ms(40), "Linux TCP_DELACK_MIN, TCP_ATO_MIN: HZ / 25";
        windows = Span::from_ms(40), "Windows 10 templates: DelayedAckTimeout 40 ms";
        freebsd = Span::from_ms(40), "FreeBSD 13 net.inet.tcp.delacktime 40 ms";
    }
    /// How delayed ACKs are timed: `fixed` (every n-th segment, or the timeout) or `linux` (adaptive, with quick ACKs).
    delayed_ack_rule: DelayedAckRule {
        rfc = DelayedAckRule::Fixed, "RFC 5681 section 4.2";
        winxp | windows = DelayedAckRule::Fixed, "Windows: TcpAckFrequency segments or the timeout";
        linux_2_4 | linux = DelayedAckRule::Linux, "Linux tcp_event_data_recv, tcp_send_delayed_ack";
        freebsd = DelayedAckRule::Fixed, "FreeBSD DELAY_ACK: every second segment or the timeout";
    }
    /// With `delayed_ack_rule` `linux` and SACK: how many ACKs of segments beyond a hole are held back at most and sent as one. 0
    /// holds none back.
    sack_compression_acks: u32 {
        rfc = 0, "RFC 5681 section 4.2: an ACK at once";
        winxp | windows | freebsd = 0, "assumed: not implemented";
        linux_2_4 = 0, "came with Linux 4.18";
        linux = 44, "Linux net.ipv4.tcp_comp_sack_nr";
    }
    /// How long they are held back, and no longer than a twentieth of the round trip.
    sack_compression_delay: Span {
        rfc | winxp | linux_2_4 | windows | freebsd = Span::from_ms(1), "assumed: as Linux";
        linux = Span::from_ms(1), "Linux net.ipv4.tcp_comp_sack_delay_ns";
    }
    /// How much later than that their timer rings.
    sack_compression_slack: Span {
        rfc | winxp | linux_2_4 | windows | freebsd = Span::from_us(100), "assumed: as Linux";
        linux = Span::from_us(100), "Linux net.ipv4.tcp_comp_sack_slack_ns, which an idle machine waits for";
    }
    /// The first data segment of a connection is acknowledged at once.
    delayed_ack_first: bool {
        rfc = false, "RFC 5681 section 4.2";
        winxp = false, "assumed: no exception for the first segment";
        linux_2_4 | linux = false, "Linux: the quick ACKs do it";
        windows | freebsd = false, "assumed: RFC 5681 section 4.2";
    }
    /// How the retransmission timeout is computed: `rfc6298`, `linux` or `freebsd`.
    rto_rule: RtoRule {
        rfc = RtoRule::Rfc6298, "RFC 6298 section 2";
        winxp = RtoRule::Rfc6298, "assumed: RFC 2988";
        linux_2_4 | linux = RtoRule::Linux, "Linux tcp_rtt_estimator, tcp_set_rto";
        windows = RtoRule::Rfc6298, "assumed: RFC 6298";
        freebsd = RtoRule::Freebsd, "FreeBSD TCPT_RANGESET: net.inet.tcp.rexmit_slop 200 ms is added";
    }
    /// Retransmission timeout before the first round-trip sample.
    rto_initial: Span {
        rfc = Span::from_s(1), "RFC 6298 section 2.1";
        winxp = Span::from_s(3), "Windows registry TcpInitialRtt, default 3 s";
        linux_2_4 = Span::from_s(3), "Linux 2.4 TCP_TIMEOUT_INIT";
        linux = Span::from_s(1), "Linux since 3.1 TCP_TIMEOUT_INIT (RFC 6298)";
        windows = Span::from_s(1), "Windows 10 templates: InitialRto 1000 ms";
        freebsd = Span::from_s(1), "FreeBSD net.inet.tcp.rexmit_initial 1000 ms";
    }
    /// SYNs that time out without doubling the timeout.
    syn_linear_timeouts: u32 {
        rfc = 0, "RFC 6298 section 5.5: each timeout doubles it";
        winxp | windows | freebsd = 0, "assumed: RFC 6298 section 5.5";
        linux_2_4 = 0, "Linux 2.4: each timeout doubles it";
        linux = 4, "Linux since 6.5: tcp_syn_linear_timeouts 4";
    }
    /// Smallest retransmission timeout (with `rto_rule` `linux`, of its variance term).
    rto_min: Span {
        rfc = Span::from_s(1), "RFC 6298 section 2.4";
        winxp = Span::from_ms(300), "assumed: Windows' usual minimum";
        linux_2_4 | linux = Span::from_ms(200), "Linux TCP_RTO_MIN: HZ / 5";
        windows = Span::from_ms(300), "Windows templates: MinRto 300 ms";
        freebsd = Span::from_ms(230), "FreeBSD net.inet.tcp.rexmit_min 30 ms and rexmit_slop 200 ms";
    }
    /// Largest retransmission timeout, back-off included.
    rto_max: Span {
        rfc = Span::from_s(60), "RFC 6298 section 2.5";
        winxp = Span::from_s(240), "assumed: RFC 793's maximum segment lifetime twice";
        linux_2_4 | linux = Span::from_s(120), "Linux TCP_RTO_MAX";
        windows = Span::from_s(60), "assumed: RFC 6298 section 2.5";
        freebsd = Span::from_s(64), "FreeBSD TCPTV_REXMTMAX";
    }
    /// Clock granularity G in the timeout formula.
    clock_granularity: Span {
        rfc = Span::from_ms(1), "assumed: RFC 6298 section 4 asks for 100 ms or finer";
        winxp = Span::from_ms(1), "assumed: a tuned clock";
        linux_2_4 = Span::from_ms(10), "Linux 2.4: a jiffy, HZ 100; not used by its rule";
        linux | windows | freebsd = Span::from_ms(1), "assumed: a clock of 1 ms";
    }
    /// Which ACKs give a round-trip sample: `every-ack` or `once-per-window`.
    rtt_sampling: RttSampling {
        rfc = RttSampling::EveryAck, "RFC 7323 section 4.1 and appendix G";
        winxp = RttSampling::OncePerWindow, "RFC 2988 section 3";
        linux_2_4 | linux = RttSampling::EveryAck, "Linux tcp_ack_update_rtt; gains are not scaled";
        windows = RttSampling::OncePerWindow, "RFC 6298 section 3, as it has no timestamps";
        freebsd = RttSampling::EveryAck, "FreeBSD tcp_xmit_timer with timestamps; assumed: gains of RFC 7323 appendix G";
    }
    /// Small segments wait while data is unacknowledged (Nagle).
    nagle: bool {
        rfc = false, "assumed: applications disable it, as RFC 9293 section 3.7.4 lets them";
        winxp = false, "assumed: applications disable it (TCP_NODELAY)";
        linux_2_4 | linux | windows | freebsd = false, "assumed: applications disable it (TCP_NODELAY)";
    }
    /// With `nagle`, what keeps a small segment back: any segment that is not acknowledged (`rfc9293`) or a small one (`minshall`).
    nagle_rule: NagleRule {
        rfc = NagleRule::Rfc9293, "RFC 9293 section 3.7.4";
        winxp | windows | freebsd = NagleRule::Rfc9293, "assumed: RFC 1122 section 4.2.3.4";
        linux_2_4 | linux = NagleRule::Minshall, "Linux tcp_nagle_check, tcp_minshall_check";
    }
    /// How a closed window is probed: with a `byte` of new data or an `old` number and no data.
    window_probe: WindowProbe {
        rfc = WindowProbe::Byte, "RFC 9293 section 3.8.6.1";
        winxp | windows | freebsd = WindowProbe::Byte, "assumed: RFC 1122 section 4.2.2.17";
        linux_2_4 | linux = WindowProbe::Old, "Linux tcp_xmit_probe_skb: snd_una - 1";
    }
    /// When a reader tells the sender of the room that it has made: `two-segments` or `doubled`.
    window_update: WindowUpdate {
        rfc = WindowUpdate::TwoSegments, "RFC 9293 section 3.8.6.2.2 with RFC 1122 section 4.2.3.3; assumed: BSD's two segments";
        winxp | windows = WindowUpdate::TwoSegments, "assumed: as BSD";
        linux_2_4 | linux = WindowUpdate::Doubled, "Linux __tcp_cleanup_rbuf";
        freebsd = WindowUpdate::TwoSegments, "FreeBSD tcp_output: two segments or half the buffer";
    }
    /// How many SYNs are retransmitted before the client gives up; with `syn_linear_timeouts` so many more.
    syn_retries: u32 {
        rfc = 7, "RFC 1122 section 4.2.3.5: R2 of a SYN is 3 min at least (183 s)";
        linux_2_4 = 5, "Linux 2.4 net.ipv4.tcp_syn_retries";
        linux = 6, "Linux net.ipv4.tcp_syn_retries";
        winxp = 2, "Windows XP TcpMaxConnectRetransmissions";
        windows | freebsd = 6, "assumed: as Linux";
    }
    /// How many SYN-ACKs are retransmitted before the server listens again.
    syn_ack_retries: u32 {
        rfc = 7, "RFC 1122 section 4.2.3.5: R2 of a SYN is 3 min at least (183 s)";
        linux_2_4 | linux = 5, "Linux net.ipv4.tcp_synack_retries";
        winxp | windows | freebsd = 5, "assumed: as Linux";
    }
    /// How long data is retransmitted before the connection is given up: as long as so many retries of the standard timeouts take.
    data_retries: u32 {
        rfc = 6, "RFC 1122 section 4.2.3.5: R2 is 100 s at least (123 s)";
        linux_2_4 | linux = 15, "Linux net.ipv4.tcp_retries2";
        winxp | windows | freebsd = 15, "assumed: as Linux";
    }
    /// The same of a connection whose application is gone; 0 stands for 8 while the timeout grows.
    orphan_retries: u32 {
        rfc = 6, "assumed: as with an application";
        linux_2_4 | linux = 0, "Linux net.ipv4.tcp_orphan_retries";
        winxp | windows | freebsd = 0, "assumed: as Linux";
    }
    /// Gives up instead when nothing has been answered for so long; 0: never.
    user_timeout: Span {
        rfc = Span::ZERO, "RFC 9293 section 3.9.1: an argument of OPEN, optional";
        linux_2_4 | linux = Span::ZERO, "Linux TCP_USER_TIMEOUT, 0 by default";
        winxp | windows | freebsd = Span::ZERO, "assumed: as Linux";
    }
    /// How long FIN-WAIT-2 lasts without an application.
    fin_timeout: Span {
        rfc = Span::from_s(60), "assumed: as Linux; RFC 9293 has no limit";
        linux_2_4 | linux = Span::from_s(60), "Linux net.ipv4.tcp_fin_timeout";
        winxp | windows | freebsd = Span::from_s(60), "assumed: as Linux";
    }
    /// Which ends of connections may use TCP Fast Open, if their applications ask for it: `off`, `client`, `server` or `both`.
    fast_open: FastOpen {
        rfc = FastOpen::Both, "RFC 7413";
        winxp | linux_2_4 = FastOpen::Off, "older than RFC 7413";
        linux = FastOpen::Client, "Linux net.ipv4.tcp_fastopen = 1";
        windows = FastOpen::Client, "assumed: clients only";
        freebsd = FastOpen::Client, "FreeBSD net.inet.tcp.fastopen.client_enable = 1, server_enable = 0";
    }
    /// How long clients of a host do without Fast Open after a path has swallowed it, at first; 0: they never do.
    fast_open_blackhole_timeout: Span {
        rfc = Span::ZERO, "RFC 7413 section 7.1 leaves it open";
        linux = Span::ZERO, "Linux net.ipv4.tcp_fastopen_blackhole_timeout_sec, 0 since 5.14";
        winxp | linux_2_4 | windows | freebsd = Span::ZERO, "assumed: as Linux";
    }
    /// How long the end that closes first stays in TIME-WAIT.
    time_wait: Span {
        rfc = Span::from_s(1), "assumed: short; RFC 9293 section 3.4.2 says 4 min and no port is used twice";
        winxp = Span::from_s(1), "assumed: short; no port is used twice";
        linux_2_4 | linux | windows | freebsd = Span::from_s(1), "assumed: short; no port is used twice";
    }
}

/// The preset of a controller that is the stack's own form of it.
pub(crate) fn preset_in(stack: &str, congestion_control: &str) -> Option<&'static str> {
    let own = match (stack, congestion_control) {
        ("linux-2.4", "reno") => "linux",
        ("windows", "cubic") => "rfc8312",
        _ => stack,
    };
    elephan_cc::describe(congestion_control)?.presets.iter().copied().find(|preset| *preset == own)
}

/// CUBIC with the parameters of a preset.
fn cubic_of(preset: &str) -> Spec {
    Spec::Cubic(Cubic::preset(preset))
}

/// Reno with its default parameters.
fn reno() -> Spec {
    Spec::Reno(Default::default())
}
