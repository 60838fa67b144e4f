//! What a connection counts: the instruments of RFC 4898 (TCP Extended Statistics MIB), in snake case.

/// A snapshot of a connection's statistics. Times are nanoseconds, sizes bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent, retransmissions and pure ACKs included.
    pub segs_out: u64,
    pub segs_in: u64,
    /// Segments sent with payload, retransmissions included.
    pub data_segs_out: u64,
    pub data_segs_in: u64,
    /// Payload bytes sent, retransmissions included.
    pub data_octets_out: u64,
    pub data_octets_in: u64,
    pub segs_retrans: u64,
    pub octets_retrans: u64,
    /// Times that fast recovery was entered.
    pub fast_retran: u64,
    /// Timer expirations without back-off.
    pub timeouts: u64,
    /// Timer expirations with the timer backed off.
    pub subsequent_timeouts: u64,
    /// Reductions of the window for congestion of any kind.
    pub cong_signals: u64,
    pub dup_acks_in: u64,
    /// ACKs that carried SACK blocks.
    pub sacks_rcvd: u64,
    pub sack_blocks_rcvd: u64,
    /// Times that the window was grown by slow start / by congestion avoidance.
    pub slow_start: u64,
    pub cong_avoid: u64,
    pub max_ss_cwnd: u64,
    pub max_ca_cwnd: u64,
    /// Smallest and largest ssthresh since the first reduction, 0 before it.
    pub min_ssthresh: u64,
    pub max_ssthresh: u64,
    pub cur_mss: u64,
    /// Round-trip times, 0 before the first sample.
    pub min_rtt_ns: u64,
    pub max_rtt_ns: u64,
    pub smoothed_rtt_ns: u64,
    pub rtt_var_ns: u64,
    pub cur_rto_ns: u64,
    /// Transitions into, and time spent, limited by the receiver's window, by congestion control, by the sender.
    pub snd_lim_trans_rwin: u64,
    pub snd_lim_trans_cwnd: u64,
    pub snd_lim_trans_snd: u64,
    pub snd_lim_time_rwin_ns: u64,
    pub snd_lim_time_cwnd_ns: u64,
    pub snd_lim_time_snd_ns: u64,
    pub cur_rwin_rcvd: u64,
    pub max_rwin_rcvd: u64,
    /// ACKs that closed the window.
    pub zero_rwin_rcvd: u64,
    /// Segments that the host's own transmit queue refused.
    pub send_stall: u64,
}
