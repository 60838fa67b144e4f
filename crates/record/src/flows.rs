//! The tables of flows, at their end and at each sample time, which have the instruments of RFC 4898 in common.

use crate::names::Text;
use crate::table::table;

/// Declares a table that ends with all instruments.
macro_rules! with_instruments {
    ($(#[doc = $about:literal])+ $row:ident, $columns:ident in $name:literal { $($own:tt)* }) => {
        table! {
            $(#[doc = $about])+
            $row, $columns in $name {
                $($own)*
                /// Segments sent, retransmissions and pure ACKs included
                segs_out: i64 = "",
                /// Segments received
                segs_in: i64 = "",
                /// Segments sent that carried data, retransmissions included
                data_segs_out: i64 = "",
                /// Segments received that carried data
                data_segs_in: i64 = "",
                /// Payload bytes sent, retransmissions included
                data_octets_out: i64 = "B",
                /// Payload bytes received, duplicates included
                data_octets_in: i64 = "B",
                /// Segments retransmitted
                segs_retrans: i64 = "",
                /// Payload bytes retransmitted
                octets_retrans: i64 = "B",
                /// Entries into fast retransmit
                fast_retran: i64 = "",
                /// Expiries of the retransmission timer that began a back-off
                timeouts: i64 = "",
                /// Expiries of the retransmission timer after the first of a back-off
                subsequent_timeouts: i64 = "",
                /// Reductions of the congestion window: fast retransmits, ECN, timeouts
                cong_signals: i64 = "",
                /// Congestion signals of ECN told to the congestion control, one a window of data at most
                ecn_signals: i64 = "",
                /// Fast retransmits found needless, by timestamps or D-SACK
                spurious_fr_detected: i64 = "",
                /// Timeouts found needless, by F-RTO, timestamps or D-SACK
                spurious_rto_detected: i64 = "",
                /// Duplicates of the sender's own segments that the receiver reported
                dsack_dups: i64 = "",
                /// Tail loss probes sent
                tail_loss_probes: i64 = "",
                /// Longest time in which nothing was newly acknowledged while data was outstanding (TCP)
                stall_max_ns: Option<i64> = "ns",
                /// Reductions for other reasons than congestion: idle time, an unused window, moderation of bursts
                other_reductions: i64 = "",
                /// Expiries of the retransmission timer with no sign of congestion before
                abrupt_timeouts: i64 = "",
                /// Expiries of the retransmission timer since the last round-trip sample
                cur_timeout_count: i64 = "",
                /// Congestion windows just before the reductions of `cong_signals`, added up
                pre_cong_sum_cwnd: i64 = "B",
                /// Last round-trip samples before those reductions, added up
                pre_cong_sum_rtt_ns: i64 = "ns",
                /// First round-trip samples after reductions, added up
                post_cong_sum_rtt_ns: i64 = "ns",
                /// How many samples `post_cong_sum_rtt_ns` adds up
                post_cong_count_rtt: i64 = "",
                /// Duplicate ACKs received
                dup_acks_in: i64 = "",
                /// Duplicate ACKs that start fast retransmit
                retran_thresh: Option<i64> = "",
                /// Series of duplicate ACKs that ended before they started a retransmission
                non_recov_da_episodes: i64 = "",
                /// Duplicate ACKs in those series
                non_recov_da: i64 = "",
                /// Payload by which the ACKs that ended them moved on
                sum_octets_reordered: i64 = "B",
                /// SACK options received
                sacks_rcvd: i64 = "",
                /// SACK blocks received
                sack_blocks_rcvd: i64 = "",
                /// Whether fast recovery was under way at the end
                in_recovery: bool = "",
                /// Times that slow start raised the congestion window
                slow_start: i64 = "",
                /// Times that congestion avoidance raised the congestion window
                cong_avoid: i64 = "",
                /// Congestion window at the end
                cur_cwnd: Option<i64> = "B",
                /// Slow-start threshold at the end; null while infinite
                cur_ssthresh: Option<i64> = "B",
                /// Largest congestion window in slow start
                max_ss_cwnd: Option<i64> = "B",
                /// Largest congestion window in congestion avoidance
                max_ca_cwnd: Option<i64> = "B",
                /// Smallest slow-start threshold after the first reduction
                min_ssthresh: Option<i64> = "B",
                /// Largest slow-start threshold after the first reduction
                max_ssthresh: Option<i64> = "B",
                /// Bytes in the network at the end, as the sender counts them (RFC 6675 pipe)
                pipe_size: i64 = "B",
                /// Most bytes in the network
                max_pipe_size: i64 = "B",
                /// Bytes sent and not acknowledged cumulatively at the end
                cur_retx_queue: i64 = "B",
                /// Most bytes sent and not acknowledged cumulatively
                max_retx_queue: i64 = "B",
                /// Bytes in the sending socket that had not been sent at the end
                cur_app_w_queue: i64 = "B",
                /// Most bytes in the sending socket that had not been sent
                max_app_w_queue: i64 = "B",
                /// Payload acknowledged
                thru_octets_acked: i64 = "B",
                /// Payload that TCP received in order at the receiver of the data
                thru_octets_received: i64 = "B",
                /// Maximum segment size in use, options not counted
                cur_mss: Option<i64> = "B",
                /// MSS announced to the receiver
                mss_sent: Option<i64> = "B",
                /// MSS announced by the receiver
                mss_rcvd: Option<i64> = "B",
                /// Whether timestamps are in use
                time_stamps: bool = "",
                /// Whether both ends agreed on ECN
                ecn: bool = "",
                /// Whether both ends agreed on SACK
                will_use_sack: bool = "",
                /// Shift of the windows that the sender of the data announces
                win_scale_sent: i64 = "",
                /// Shift of the windows that the receiver of the data announces
                win_scale_rcvd: i64 = "",
                /// Last round-trip time sampled
                sample_rtt_ns: Option<i64> = "ns",
                /// Smallest round-trip time sampled, as the stack measures it: after a retransmission in ticks of its time stamps
                min_rtt_ns: Option<i64> = "ns",
                /// Largest round-trip time sampled
                max_rtt_ns: Option<i64> = "ns",
                /// Round-trip times sampled, added up
                sum_rtt_ns: i64 = "ns",
                /// How many round-trip times were sampled
                count_rtt: i64 = "",
                /// Smoothed round-trip time at the end (RFC 6298, SRTT)
                smoothed_rtt_ns: Option<i64> = "ns",
                /// Round-trip time variation at the end (RFC 6298, RTTVAR)
                rtt_var_ns: Option<i64> = "ns",
                /// Retransmission timeout at the end
                cur_rto_ns: Option<i64> = "ns",
                /// Smallest retransmission timeout after a sample
                min_rto_ns: Option<i64> = "ns",
                /// Largest retransmission timeout, back-off included
                max_rto_ns: Option<i64> = "ns",
                /// Transitions into being limited by the receiver's window
                snd_lim_trans_rwin: i64 = "",
                /// Transitions into being limited by the congestion window
                snd_lim_trans_cwnd: i64 = "",
                /// Transitions into being limited by the sender (application or send buffer)
                snd_lim_trans_snd: i64 = "",
                /// Time limited by the receiver's window
                snd_lim_time_rwin_ns: i64 = "ns",
                /// Time limited by the congestion window
                snd_lim_time_cwnd_ns: i64 = "ns",
                /// Time limited by the sender (application or send buffer)
                snd_lim_time_snd_ns: i64 = "ns",
                /// Payload sent while limited by the receiver's window, retransmissions included; with the next two all of `data_octets_out`, or more where `send_stall` counts refusals
                snd_lim_bytes_rwin: i64 = "B",
                /// Payload sent while limited by the congestion window
                snd_lim_bytes_cwnd: i64 = "B",
                /// Payload sent while limited by the sender (application or send buffer)
                snd_lim_bytes_snd: i64 = "B",
                /// Window last advertised by the receiver
                cur_rwin_rcvd: i64 = "B",
                /// Largest window advertised by the receiver
                max_rwin_rcvd: i64 = "B",
                /// Times that the receiver closed a window which had been open
                zero_rwin_rcvd: i64 = "",
                /// At the receiver of the data: window last advertised, as far as it is not used
                cur_rwin_sent: i64 = "B",
                /// At the receiver of the data: largest window advertised
                max_rwin_sent: i64 = "B",
                /// At the receiver of the data: times that it closed its window
                zero_rwin_sent: i64 = "",
                /// At the receiver of the data: bytes in order that the application had not read at the end
                cur_app_r_queue: i64 = "B",
                /// At the receiver of the data: most bytes in order that the application had not read
                max_app_r_queue: i64 = "B",
                /// At the receiver of the data: bytes spanned at the end by what waits for a gap to be filled
                cur_reasm_queue: i64 = "B",
                /// At the receiver of the data: most bytes spanned by what waits for a gap to be filled
                max_reasm_queue: i64 = "B",
                /// At the receiver of the data: ACKs sent for data out of order or received before
                dup_acks_out: i64 = "",
                /// At the receiver of the data: series of those ACKs
                dup_ack_episodes: i64 = "",
                /// At the receiver of the data: segments received with CE
                ce_rcvd: i64 = "",
                /// At the receiver of the data: segments sent with ECE (RFC 3168), the handshake's not counted
                ece_sent: i64 = "",
                /// Times that the host's own queue refused a segment
                send_stall: i64 = "",
            }
        }
    };
}

with_instruments! {
    /// A row is a connection or a UDP stream. The counters from `segs_out` on are those of RFC 4898 at the sender of the
    /// data, where nothing else is said; a UDP stream has only its segments and octets, those in counted at its receiver, and nulls.
    /// Of RoCE a segment is a packet of data, `fast_retran` counts the NAKs that the sender went back for, `ecn_signals` and
    /// `ece_sent` congestion notifications.
    FlowRow, FlowColumns in "flows" {
        /// Number of the flow, counted from 0 in the order of the scenario
        flow: i64 = "",
        /// Name of the `[[traffic]]` entry that it belongs to
        traffic: Text = "",
        /// Host that sends the data
        source: Text = "",
        /// Host that receives the data
        destination: Text = "",
        /// `tcp`, `udp`, `roce`, or `ethernet` for frames without IP
        protocol: Text = "",
        /// Congestion control of the sender; empty for UDP
        congestion_control: Text = "",
        /// Stack of the sender; empty for UDP
        stack: Text = "",
        /// When the flow began: the first SYN or datagram was due
        start_ns: i64 = "ns",
        /// When the sender's handshake was complete
        established_ns: Option<i64> = "ns",
        /// When the flow was over: all data and FINs acknowledged, or given up
        end_ns: Option<i64> = "ns",
        /// Whether every byte reached the receiving application before the run ended
        completed: bool = "",
        /// Payload to send; null when endless
        size_bytes: Option<i64> = "B",
        /// Payload that the receiving application read, in order
        delivered_bytes: i64 = "B",
        /// The part of `delivered_bytes` that was neither delivered nor behind a hole when the warm-up ended
        measured_bytes: i64 = "B",
        /// `measured_bytes` over the measured time (warm-up to end of the run)
        goodput_bps: f64 = "bit/s",
        /// Flow completion time: from `start_ns` to the last byte at the receiving application; null without a byte
        fct_ns: Option<i64> = "ns",
        /// Completion as the sender sees it: from `start_ns` to the acknowledgement of the last byte
        sender_fct_ns: Option<i64> = "ns",
        /// What `fct_ns` would be alone in the network without a window: handshake, bytes over the slowest link, propagation
        ideal_fct_ns: Option<i64> = "ns",
        /// `fct_ns` over `ideal_fct_ns`
        slowdown: Option<f64> = "",
    }
}

with_instruments! {
    /// A row is what a TCP connection counts at a sample time (`record.statistics`): the instruments of RFC 4898 as in `flows`, where "at
    /// the end" is the sample time.
    StatisticsRow, StatisticsColumns in "statistics" {
        /// Sample time
        time_ns: i64 = "ns",
        /// The flow
        flow: i64 = "",
    }
}
