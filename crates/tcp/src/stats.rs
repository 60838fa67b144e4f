//! What a connection counts: the instruments of RFC 4898 (TCP Extended Statistics MIB; Web100 before it), in snake case.
//!
//! Time is attributed to one of three states (RFC 4898 `tcpEStatsPerfSndLim*`): limited by the receiver's window, by
//! congestion control (the wait for a timeout included), or by the sender, which has nothing to send; and so are the bytes sent
//! meanwhile (Web100's `SndLimBytes`).
//!
//! Of the groups Perf, Path, Stack, App and Tune these are left out: what a simulated host has not (TTL, TOS, soft errors,
//! early retransmit, wall-clock stamps), what follows from others (`CongOverCount` is `spurious_fr_detected` and
//! `spurious_rto_detected`, each of which is backed out; Web100's `AckPktsIn` is `segs_in` less `data_segs_in`), sequence
//! numbers as such (`SndUna`, `RcvNxt` ...; the
//! `ThruOctets` say how far the streams have come), the receiver's own round-trip estimate (`RcvRTT`), and the limits that Tune
//! sets (options do).

use elephan_units::Time;
use serde::Serialize;

/// Declares the instruments once: those that count as segments pass, those that count rare things (boxed, made when
/// the first happens), and those that follow from the state when a snapshot is taken.
macro_rules! instruments {
    (
        counted { $( $(#[doc = $text:literal])+ $counted:ident, )+ }
        rare { $( $(#[doc = $about:literal])+ $rare:ident, )+ }
        derived { $( $(#[doc = $what:literal])+ $derived:ident, )+ }
    ) => {
        /// What an endpoint counts.
        #[derive(Clone, Debug, Default)]
        pub struct Stats {
            $( $(#[doc = $text])+ pub $counted: u64, )+
            rare: Option<Box<Rare>>,
        }

        /// What few connections count.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Rare {
            $( $(#[doc = $about])+ pub $rare: u64, )+
        }

        /// A snapshot of a connection's statistics. Times are nanoseconds, sizes bytes.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Snapshot {
            $( $(#[doc = $text])+ pub $counted: u64, )+
            $( $(#[doc = $about])+ pub $rare: u64, )+
            $( $(#[doc = $what])+ pub $derived: u64, )+
        }

        impl Stats {
            #[cold]
            pub(crate) fn rare(&mut self) -> &mut Rare {
                self.rare.get_or_insert_default()
            }

            /// What was counted, without what follows from the state.
            pub(crate) fn snapshot(&self) -> Snapshot {
                let rare = self.rare.as_deref().copied().unwrap_or_default();
                Snapshot { $( $counted: self.$counted, )+ $( $rare: rare.$rare, )+ ..Snapshot::default() }
            }
        }
    };
}

instruments! {
    counted {
        /// Segments sent, retransmissions and pure ACKs included.
        segs_out,
        /// Segments received.
        segs_in,
        /// Segments sent with payload, retransmissions included.
        data_segs_out,
        /// Segments received with payload.
        data_segs_in,
        /// Payload bytes sent, retransmissions included.
        data_octets_out,
        /// Payload bytes received, duplicates included.
        data_octets_in,
        /// Retransmitted segments.
        segs_retrans,
        /// Retransmitted payload bytes.
        octets_retrans,
        /// Times that fast recovery was entered.
        fast_retran,
        /// Timer expirations without back-off.
        timeouts,
        /// Timer expirations with the timer backed off.
        subsequent_timeouts,
        /// Reductions of the window for congestion of any kind.
        cong_signals,
        /// Congestion signals of ECN that the controller was told, one a window of data at most.
        ecn_signals,
        /// Duplicate ACKs received.
        dup_acks_in,
        /// ACKs that carried SACK blocks.
        sacks_rcvd,
        /// SACK blocks received.
        sack_blocks_rcvd,
        /// Times that the window was grown by slow start.
        slow_start,
        /// Times that the window was grown by congestion avoidance.
        cong_avoid,
        /// Largest window in slow start.
        max_ss_cwnd,
        /// Largest window in congestion avoidance.
        max_ca_cwnd,
        /// Smallest ssthresh since the first reduction, 0 before it.
        min_ssthresh,
        /// Largest ssthresh since the first reduction, 0 before it.
        max_ssthresh,
        /// ACKs that closed a window which had been open.
        zero_rwin_rcvd,
        /// Most bytes that the application had given and that had not been sent.
        max_app_w_queue,
    }
    rare {
        /// Segments that the host's own transmit queue refused.
        send_stall,
        /// Timer expirations without any sign of congestion before.
        abrupt_timeouts,
        /// Reductions of the window for other reasons than congestion: idle time, no use, moderation of bursts.
        other_reductions,
        /// Windows just before the reductions of `cong_signals`, added up.
        pre_cong_sum_cwnd,
        /// Last round-trip samples before them, added up.
        pre_cong_sum_rtt_ns,
        /// First round-trip samples after them, added up.
        post_cong_sum_rtt_ns,
        /// How many those are.
        post_cong_count_rtt,
        /// Series of duplicate ACKs that an ACK ended before they started a retransmission.
        non_recov_da_episodes,
        /// Duplicate ACKs in them.
        non_recov_da,
        /// Bytes by which those ACKs moved on: how far segments were reordered.
        sum_octets_reordered,
        /// Fast retransmits found needless, by timestamps or D-SACK.
        spurious_fr_detected,
        /// Timeouts found needless, by F-RTO, timestamps or D-SACK.
        spurious_rto_detected,
        /// Duplicates of one's own segments that the peer reported.
        dsack_dups,
        /// Tail loss probes sent (Linux `TCPLossProbes`; RFC 4898 has none).
        tail_loss_probes,
        /// Segments received with CE.
        ce_rcvd,
        /// Segments sent with ECE, apart from the handshake and AccECN.
        ece_sent,
    }
    derived {
        /// Payload of a full segment.
        cur_mss,
        /// Bytes believed to be in the network.
        pipe_size,
        /// Most bytes believed to be in the network.
        max_pipe_size,
        /// Bytes sent and not acknowledged cumulatively.
        cur_retx_queue,
        /// Most bytes sent and not acknowledged cumulatively.
        max_retx_queue,
        /// Bytes that the application has given and that have not been sent.
        cur_app_w_queue,
        /// Congestion window.
        cur_cwnd,
        /// Slow-start threshold, 0 while infinite.
        cur_ssthresh,
        /// Whether fast recovery is under way.
        in_recovery,
        /// Payload bytes acknowledged.
        thru_octets_acked,
        /// Last round-trip time; as the others 0 before the first sample.
        sample_rtt_ns,
        /// Smallest round-trip time.
        min_rtt_ns,
        /// Largest round-trip time.
        max_rtt_ns,
        /// All round-trip times added up.
        sum_rtt_ns,
        /// How many were sampled.
        count_rtt,
        /// Smoothed round-trip time.
        smoothed_rtt_ns,
        /// Its variation.
        rtt_var_ns,
        /// Retransmission timeout.
        cur_rto_ns,
        /// Smallest retransmission timeout that a sample gave.
        min_rto_ns,
        /// Largest retransmission timeout, back-off included.
        max_rto_ns,
        /// Expirations of the timer since the last sample.
        cur_timeout_count,
        /// Duplicate ACKs that start fast retransmit.
        retran_thresh,
        /// Longest time in which nothing was newly acknowledged while data was outstanding.
        stall_max_ns,
        /// Transitions into being limited by the receiver's window.
        snd_lim_trans_rwin,
        /// Transitions into being limited by congestion control.
        snd_lim_trans_cwnd,
        /// Transitions into being limited by the sender.
        snd_lim_trans_snd,
        /// Time spent limited by the receiver's window.
        snd_lim_time_rwin_ns,
        /// Time spent limited by congestion control.
        snd_lim_time_cwnd_ns,
        /// Time spent limited by the sender.
        snd_lim_time_snd_ns,
        /// Payload bytes sent while limited by the receiver's window, retransmissions included.
        snd_lim_bytes_rwin,
        /// Payload bytes sent while limited by congestion control.
        snd_lim_bytes_cwnd,
        /// Payload bytes sent while limited by the sender.
        snd_lim_bytes_snd,
        /// Window last announced by the peer.
        cur_rwin_rcvd,
        /// Largest window announced by the peer.
        max_rwin_rcvd,
        /// Window last announced to the peer.
        cur_rwin_sent,
        /// Largest window announced to the peer.
        max_rwin_sent,
        /// Announcements that closed a window which had been open.
        zero_rwin_sent,
        /// Payload bytes received in order.
        thru_octets_received,
        /// Bytes received in order that the application has not read.
        cur_app_r_queue,
        /// Most of them.
        max_app_r_queue,
        /// Bytes spanned by what waits for a gap to be filled.
        cur_reasm_queue,
        /// Most of them.
        max_reasm_queue,
        /// ACKs sent for data that was out of order or had come before.
        dup_acks_out,
        /// Series of them.
        dup_ack_episodes,
        /// MSS announced to the peer.
        mss_sent,
        /// MSS announced by the peer, 0 if none was.
        mss_rcvd,
        /// Shift of the windows announced to the peer.
        win_scale_sent,
        /// Shift of the windows announced by the peer.
        win_scale_rcvd,
        /// Whether timestamps are in use.
        time_stamps,
        /// Whether ECN was negotiated.
        ecn,
        /// Whether SACK was negotiated.
        will_use_sack,
    }
}

impl Snapshot {
    /// Every figure under its name.
    pub fn named(&self) -> Vec<(String, u64)> {
        let Ok(serde_json::Value::Object(figures)) = serde_json::to_value(self) else { return Vec::new() };
        figures.into_iter().map(|(name, figure)| (name, figure.as_u64().unwrap_or_default())).collect()
    }
}

/// Why sending has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Rwin,
    Cwnd,
    Snd,
}

/// The clock of the three states. It starts as limited by the sender when the connection is established; bytes of a SYN before that
/// count as that state's.
///
/// A state that begins takes what the clock and the bytes sent show off its sums, and one that ends adds it: what it began with need
/// not be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitClock {
    state: Limit,
    running: bool,
    entered: [u32; 3],
    spent_ps: [u64; 3],
    sent: [u64; 3],
}

impl LimitClock {
    pub const fn new() -> LimitClock {
        LimitClock { state: Limit::Snd, running: false, entered: [0; 3], spent_ps: [0; 3], sent: [0; 3] }
    }

    /// The connection is established.
    pub fn start(&mut self, now: Time) {
        self.running = true;
        self.begin(now);
    }

    /// The connection is over.
    pub fn stop(&mut self, now: Time) {
        self.end(now);
        self.running = false;
    }

    fn begin(&mut self, now: Time) {
        if self.running {
            let spent = &mut self.spent_ps[self.state as usize];
            *spent = spent.wrapping_sub(now.0);
        }
    }

    fn end(&mut self, now: Time) {
        if self.running {
            let spent = &mut self.spent_ps[self.state as usize];
            *spent = spent.wrapping_add(now.0);
        }
    }

    /// `sent` bytes have been sent until `now`; says whether the state is another one now.
    #[inline]
    pub fn set(&mut self, now: Time, state: Limit, sent: u64) -> bool {
        let turns = self.state != state;
        if turns {
            self.end(now);
            let before = &mut self.sent[self.state as usize];
            *before = before.wrapping_add(sent);
            self.state = state;
            self.entered[state as usize] += 1;
            let after = &mut self.sent[state as usize];
            *after = after.wrapping_sub(sent);
            self.begin(now);
        }
        turns
    }

    /// Writes transitions, times and bytes up to `now` into a snapshot, which has the bytes sent already.
    pub fn fill(mut self, now: Time, stats: &mut Snapshot) {
        self.end(now);
        let last = &mut self.sent[self.state as usize];
        *last = last.wrapping_add(stats.data_octets_out);
        [stats.snd_lim_trans_rwin, stats.snd_lim_trans_cwnd, stats.snd_lim_trans_snd] = self.entered.map(u64::from);
        let ns = self.spent_ps.map(|ps| ps / 1000);
        [stats.snd_lim_time_rwin_ns, stats.snd_lim_time_cwnd_ns, stats.snd_lim_time_snd_ns] = ns;
        // What the host refuses after the state has changed is taken off the new one.
        let sent = self.sent.map(|bytes| bytes.cast_signed().max(0).cast_unsigned());
        [stats.snd_lim_bytes_rwin, stats.snd_lim_bytes_cwnd, stats.snd_lim_bytes_snd] = sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_bytes_add_up_to_those_of_the_connection() {
        let mut clock = LimitClock::new();
        clock.set(Time(500), Limit::Cwnd, 0);
        clock.start(Time(1_000));
        clock.set(Time(3_000), Limit::Rwin, 100);
        clock.set(Time(7_000), Limit::Rwin, 120);
        clock.set(Time(9_000), Limit::Snd, 150);
        let mut stats = Snapshot { data_octets_out: 157, ..Snapshot::default() };
        clock.fill(Time(20_000), &mut stats);
        let times = (stats.snd_lim_time_cwnd_ns, stats.snd_lim_time_rwin_ns, stats.snd_lim_time_snd_ns);
        assert_eq!(times, (2, 6, 11));
        let entered = (stats.snd_lim_trans_cwnd, stats.snd_lim_trans_rwin, stats.snd_lim_trans_snd);
        assert_eq!(entered, (1, 1, 1));
        assert_eq!((stats.snd_lim_bytes_cwnd, stats.snd_lim_bytes_rwin, stats.snd_lim_bytes_snd), (100, 50, 7));
    }
}
