//! A snapshot of a connection as Linux's `tcp_info` gives it (`tcp_get_info`), with its names and units.

use super::{Endpoint, State};
use crate::recovery::CaState;
use elephan_units::{Span, Time};
use serde::Serialize;

/// Linux's ssthresh before the first reduction, in segments.
pub const SSTHRESH_INFINITE: u64 = 0x7FFF_FFFF;
/// Bits of `options`.
const OPTION_TIMESTAMPS: u64 = 1;
const OPTION_SACK: u64 = 2;
const OPTION_WSCALE: u64 = 4;
const OPTION_ECN: u64 = 8;
const OPTION_SYN_DATA: u64 = 32;

macro_rules! info {
    ( $( $(#[doc = $text:literal])+ $name:ident, )+ ) => {
        /// What `ss -i` and `TCP_INFO` show of a connection. Counts of packets are segments.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub struct Info {
            #[serde(skip)]
            pub state: State,
            #[serde(skip)]
            pub ca_state: CaState,
            $( $(#[doc = $text])+ pub $name: u64, )+
        }

        impl Info {
            /// Returns every number with its name.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [ $( (stringify!($name), self.$name), )+ ].into_iter()
            }
        }

        impl Default for Info {
            fn default() -> Info {
                Info { state: State::Closed, ca_state: CaState::Open, $( $name: 0, )+ }
            }
        }
    };
}

info! {
    /// Timeouts in a row that were not answered.
    retransmits,
    /// Window probes in a row that were not answered.
    probes,
    /// Doublings of the timeout, or of the interval of window probes, in force.
    backoff,
    /// Negotiated: 1 timestamps, 2 SACK, 4 window scaling, 8 ECN; 32: data of the SYN was taken.
    options,
    /// Why Fast Open carried no data: 1 no cookie, 2 data not acknowledged, 3 the SYN was retransmitted.
    fastopen_client_fail,
    /// Shift of the peer's windows.
    snd_wscale,
    /// Shift of the own windows.
    rcv_wscale,
    /// Retransmission timeout, us.
    rto,
    /// Delayed-ACK timeout, us; 0 without Linux's rule.
    ato,
    /// Full segment that is sent, bytes.
    snd_mss,
    /// Largest segment that has arrived, bytes.
    rcv_mss,
    /// Segments sent and not acknowledged cumulatively.
    unacked,
    /// SACKed segments.
    sacked,
    /// Segments believed to be lost.
    lost,
    /// Segments retransmitted and not yet known to have arrived.
    retrans,
    /// Time since data was last sent, ms.
    last_data_sent,
    /// Time since data last arrived, ms.
    last_data_recv,
    /// Time since an acknowledgement last arrived, ms; 0 without [`Endpoint::keep_times`].
    last_ack_recv,
    /// Packets of the path, bytes.
    pmtu,
    /// Smoothed round-trip time, us.
    rtt,
    /// Variance of the round-trip time, us.
    rttvar,
    /// Slow-start threshold, segments.
    snd_ssthresh,
    /// Congestion window in force, segments.
    snd_cwnd,
    /// MSS announced to the peer, bytes.
    advmss,
    /// Segments that reordering may displace without being taken for a loss.
    reordering,
    /// Segments retransmitted so far.
    total_retrans,
    /// Pacing rate, bytes/s; all ones if the sender is not paced.
    pacing_rate,
    /// Payload acknowledged, bytes.
    bytes_acked,
    /// Payload received in order, bytes.
    bytes_received,
    /// Segments sent.
    segs_out,
    /// Segments received.
    segs_in,
    /// Payload written and not sent, bytes.
    notsent_bytes,
    /// Smallest round-trip time, us; 4294967295 before the first.
    min_rtt,
    /// Segments received with payload.
    data_segs_in,
    /// Segments sent with payload.
    data_segs_out,
    /// Last delivery rate, bytes/s; 0 without [`Endpoint::keep_times`] unless the congestion control asks for it.
    delivery_rate,
    /// 1 if the application was the limit of that rate.
    delivery_rate_app_limited,
    /// Time with data to send or in flight, us; 0 without [`Endpoint::keep_times`].
    busy_time,
    /// Part of it that the peer's window was the limit, us.
    rwnd_limited,
    /// Part of it that the send buffer was the limit, us; 0 without [`Endpoint::keep_times`].
    sndbuf_limited,
    /// Segments that have arrived at the peer, the SYN included.
    delivered,
    /// Segments that have arrived there with a CE mark; without AccECN what ACKs with ECE acknowledge, which [`Endpoint::keep_times`] counts.
    delivered_ce,
    /// Payload sent, bytes.
    bytes_sent,
    /// Payload retransmitted, bytes.
    bytes_retrans,
    /// Duplicates that the peer reported.
    dsack_dups,
    /// Times that reordering was seen.
    reord_seen,
    /// Segments that came out of order.
    rcv_ooopack,
    /// The peer's window, bytes.
    snd_wnd,
    /// The own window as the last segment offered it, bytes.
    rcv_wnd,
    /// The most that the own window may be while it grows, bytes; 0 without Linux's account of the receive buffer.
    rcv_ssthresh,
    /// Most bytes read in a round trip, at first ten segments; 0 without that account.
    rcv_space,
    /// The receiver's own estimate of the round trip, us; 0 before the first and without that account.
    rcv_rtt,
    /// Timeouts so far.
    total_rto,
    /// Segments that have arrived here with a CE mark, with AccECN.
    received_ce,
    /// AccECN: payload that the peer got with ECT(1), bytes.
    delivered_e1_bytes,
    /// AccECN: payload that the peer got with ECT(0), bytes.
    delivered_e0_bytes,
    /// AccECN: payload that the peer got with CE, bytes.
    delivered_ce_bytes,
    /// AccECN: payload received with ECT(1), bytes.
    received_e1_bytes,
    /// AccECN: payload received with ECT(0), bytes.
    received_e0_bytes,
    /// AccECN: payload received with CE, bytes.
    received_ce_bytes,
    /// AccECN: what does not get through: 2 the ACE field of the peer, 4 the own option, 8 the option of the peer.
    accecn_fail_mode,
    /// AccECN: the option of the peer: 0 not seen, 1 without counters, 2 with, 3 with a counter that was zeroed.
    accecn_opt_seen,
}

impl Info {
    /// Returns one line as `ss -i` writes it. `cc` is the name of the congestion control.
    pub fn ss(&self, cc: &str) -> String {
        let mut out = format!("{} {cc}", self.state.name());
        let mut add = |text: String| {
            out.push(' ');
            out.push_str(&text);
        };
        add(format!("wscale:{},{}", self.snd_wscale, self.rcv_wscale));
        add(format!("rto:{} rtt:{}/{}", ms(self.rto), ms(self.rtt), ms(self.rttvar)));
        add(format!("mss:{} rcvmss:{} advmss:{}", self.snd_mss, self.rcv_mss, self.advmss));
        add(format!("cwnd:{}", self.snd_cwnd));
        if self.snd_ssthresh != SSTHRESH_INFINITE {
            add(format!("ssthresh:{}", self.snd_ssthresh));
        }
        if self.ca_state != CaState::Open {
            add(format!("ca_state:{}", self.ca_state.name()));
        }
        add(format!("bytes_sent:{} bytes_acked:{}", self.bytes_sent, self.bytes_acked));
        let counts = [
            ("bytes_retrans", self.bytes_retrans),
            ("bytes_received", self.bytes_received),
            ("notsent", self.notsent_bytes),
            ("unacked", self.unacked),
            ("sacked", self.sacked),
            ("lost", self.lost),
            ("dsack_dups", self.dsack_dups),
            ("backoff", self.backoff),
            ("delivered_ce", self.delivered_ce),
        ];
        for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            add(format!("{name}:{count}"));
        }
        if self.total_retrans > 0 {
            add(format!("retrans:{}/{}", self.retrans, self.total_retrans));
        }
        if self.pacing_rate != u64::MAX {
            add(format!("pacing_rate:{}bps", self.pacing_rate.saturating_mul(8)));
        }
        if self.delivery_rate > 0 {
            add(format!("delivery_rate:{}bps", self.delivery_rate.saturating_mul(8)));
        }
        add(format!("delivered:{} busy:{}ms", self.delivered, self.busy_time / 1000));
        if self.min_rtt != u64::from(u32::MAX) {
            add(format!("minrtt:{}", ms(self.min_rtt)));
        }
        out
    }
}

/// Microseconds as milliseconds.
fn ms(us: u64) -> String {
    (us as f64 / 1000.0).to_string()
}

fn us(span: Span) -> u64 {
    span.0 / 1_000_000
}

fn ms_since(now: Time, at: Time) -> u64 {
    now.since(at).0 / 1_000_000_000
}

impl Endpoint {
    /// Returns a snapshot with the names and units of Linux's `tcp_info`.
    pub fn info(&self, now: Time) -> Info {
        let mut info = Info { state: self.state, ca_state: self.tx.ca_state(), ..Info::default() };
        self.info_sender(now, &mut info);
        self.info_path(now, &mut info);
        self.info_receiver(now, &mut info);
        info
    }

    fn info_sender(&self, now: Time, info: &mut Info) {
        let tx = &self.tx;
        let counts = tx.board.counts();
        (info.unacked, info.sacked, info.lost, info.retrans) = (counts.out, counts.sacked, counts.lost, counts.resent);
        if !tx.sack {
            // Linux tcp_add_reno_sack: a duplicate ACK stands for a segment that has arrived.
            info.sacked = (if tx.linux { tx.presumed() } else { tx.duplicates() })
                .min(counts.out.saturating_sub(counts.lost).saturating_sub(1));
        }
        let mss = u64::from(tx.mss).max(1);
        info.snd_mss = mss;
        info.snd_cwnd = (tx.window_in_force() / mss).max(1);
        let threshold = tx.cc.ssthresh();
        let finite = threshold.is_finite() && threshold < self.options.ssthresh_initial.0 as f64;
        info.snd_ssthresh = if finite { (threshold as u64 / mss).max(1) } else { SSTHRESH_INFINITE };
        info.snd_wnd = tx.window;
        info.reordering = u64::from(tx.board.reordering(self.options.dup_ack_threshold));
        info.reord_seen = tx.board.reorderings();
        info.bytes_acked = self.acked();
        info.notsent_bytes = self.backlog();
        info.delivered = u64::from(self.is_established() && !self.sends_early()) + self.arrived_segments();
        info.delivered_ce = self.echoed();
        info.pacing_rate = if tx.pacing_bps > 0.0 { (tx.pacing_bps / 8.0) as u64 } else { u64::MAX };
        info.last_data_sent = ms_since(now, tx.last_sent);
        info.backoff = u64::from(tx.rtt.backoffs().max(if self.persist { u32::from(self.backoffs) } else { 0 }));
        info.retransmits = if self.persist { 0 } else { u64::from(tx.rtt.backoffs()) };
        info.probes = if self.persist { u64::from(self.backoffs) } else { 0 };
    }

    fn info_path(&self, now: Time, info: &mut Info) {
        let tx = &self.tx;
        let stats = self.stats(now);
        info.rto = us(tx.rtt.rto());
        info.rtt = tx.rtt.srtt().map_or(0, us);
        info.rttvar = tx.rtt.rttvar().map_or(0, us);
        info.min_rtt = self.min_rtt().map_or(u64::from(u32::MAX), us);
        info.advmss = if self.timestamps { self.options.segment_bytes() } else { self.options.mss.0 };
        info.pmtu = self.options.mss.0 + 40;
        info.total_retrans = stats.segs_retrans;
        (info.segs_out, info.segs_in) = (stats.segs_out, stats.segs_in);
        (info.data_segs_out, info.data_segs_in) = (stats.data_segs_out, stats.data_segs_in);
        (info.bytes_sent, info.bytes_retrans) = (stats.data_octets_out, stats.octets_retrans);
        info.dsack_dups = stats.dsack_dups;
        info.total_rto = stats.timeouts + stats.subsequent_timeouts;
        info.rwnd_limited = stats.snd_lim_time_rwin_ns / 1000;
        let (busy, blocked) = self.busy(now).unwrap_or_default();
        (info.busy_time, info.sndbuf_limited) = (us(busy), us(blocked));
        info.last_ack_recv = self.acked_at().map_or(0, |at| ms_since(now, at));
        if let Some(log) = &tx.log {
            // Before the first sample too (Linux tcp_init_sock).
            info.delivery_rate_app_limited = log.last().map_or(1, |sample| u64::from(sample.app_limited));
            info.delivery_rate = log.last().and_then(|sample| sample.bps).map_or(0, |bps| (bps / 8.0) as u64);
        }
        let flag = |on: bool, bit: u64| if on { bit } else { 0 };
        info.options = flag(self.timestamps, OPTION_TIMESTAMPS)
            | flag(tx.sack, OPTION_SACK)
            | flag(stats.win_scale_rcvd > 0 || self.rx.shift > 0, OPTION_WSCALE)
            | flag(stats.ecn > 0, OPTION_ECN)
            | flag(self.fast_open_data() > 0, OPTION_SYN_DATA);
        info.fastopen_client_fail = self.fast_open_failure() as u64;
        (info.snd_wscale, info.rcv_wscale) = (stats.win_scale_rcvd, u64::from(self.rx.shift));
    }

    fn info_receiver(&self, now: Time, info: &mut Info) {
        info.bytes_received = self.rx.payload();
        info.rcv_wnd = self.rx.offered();
        if let Some(account) = self.rx.account() {
            (info.rcv_ssthresh, info.rcv_space) = account.told();
            info.rcv_rtt = us(account.round_trip());
        }
        info.rcv_ooopack = self.rx.rare().dup_acks;
        if let Some(adaptive) = &self.rx.adaptive {
            info.ato = us(adaptive.timeout());
            info.rcv_mss = adaptive.full_segment();
            info.last_data_recv = ms_since(now, adaptive.last_at());
        }
        if let Some(accecn) = &self.accecn {
            let counted = accecn.counted();
            (info.received_ce, info.delivered_ce) = (counted.received_ce, counted.delivered_ce);
            [info.delivered_e1_bytes, info.delivered_e0_bytes, info.delivered_ce_bytes] = counted.delivered;
            [info.received_e1_bytes, info.received_e0_bytes, info.received_ce_bytes] = counted.received;
            (info.accecn_fail_mode, info.accecn_opt_seen) = (counted.fail_mode, counted.opt_seen);
        }
    }
}
