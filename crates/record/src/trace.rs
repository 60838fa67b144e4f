//! The tables of a trace: what a capture says about its connections.
//!
//! Times are nanoseconds since the first packet of the capture. Counters that a connection of a run has as well have the same
//! names and mean the same; they say what passed the place of the capture.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is one direction of a connection: the one that carried payload (both, if both did), or that of the opener if
    /// none did. Counters are those of its sender. A stream of UDP datagrams has only its packets and octets.
    ConnectionRow, ConnectionColumns in "connections" {
        /// Its number, in the order in which directions first carry payload
        connection: i64 = "",
        /// `tcp` or `udp`; of a log also `quic`, `sctp`, or `probe`, which has round-trip times alone, as those of ping
        protocol: Text = "",
        /// Host that sends the data: its name in the capture, or its address
        source: Text = "",
        /// Port of that host
        source_port: i64 = "",
        /// Host that receives the data
        destination: Text = "",
        /// Port of that host
        destination_port: i64 = "",
        /// Whether the sender of the data opened the connection; null if the capture began later
        opener: Option<bool> = "",
        /// Where the capture was made: `sender`, `receiver`, `between` or `unknown`
        vantage: Text = "",
        /// First packet of the connection, in either direction
        start_ns: i64 = "ns",
        /// Last packet of the connection, in either direction
        end_ns: i64 = "ns",
        /// First packet of the direction with payload
        data_start_ns: Option<i64> = "ns",
        /// Last ACK of new data of the direction
        data_end_ns: Option<i64> = "ns",
        /// From SYN to the ACK of SYN-ACK as seen here: the round-trip time of the handshake
        handshake_rtt_ns: Option<i64> = "ns",
        /// From the first SYN to the ACK that ends the handshake, retransmissions included
        setup_ns: Option<i64> = "ns",
        /// Whether the SYN of the sender was seen
        syn: bool = "",
        /// Whether the FIN of the sender was seen; of a qlog whether the connection was closed
        fin: bool = "",
        /// Whether either side reset the connection
        reset: bool = "",
        /// Payload acknowledged cumulatively (UDP: sent)
        delivered_bytes: i64 = "B",
        /// `delivered_bytes` over the time from the first payload to its last ACK
        goodput_bps: Option<f64> = "bit/s",
        /// Segments sent, retransmissions and pure ACKs included
        segs_out: i64 = "",
        /// Segments received
        segs_in: i64 = "",
        /// Segments sent that carried data, retransmissions included
        data_segs_out: i64 = "",
        /// Payload bytes sent, retransmissions included
        data_octets_out: i64 = "B",
        /// Segments retransmitted
        segs_retrans: i64 = "",
        /// Payload bytes retransmitted
        octets_retrans: i64 = "B",
        /// Of them after duplicate ACKs, SACK blocks or partial ACKs
        segs_retrans_fast: i64 = "",
        /// Of them after a timeout
        segs_retrans_timeout: i64 = "",
        /// Of them tail loss probes (RFC 8985 section 7)
        segs_retrans_probe: i64 = "",
        /// Of them needless: the receiver had the data before and said so by D-SACK (RFC 2883)
        segs_retrans_needless: i64 = "",
        /// SYNs retransmitted; they are no part of the retransmitted segments
        syn_retrans: i64 = "",
        /// Segments that came after later ones without being retransmissions
        out_of_order: i64 = "",
        /// Payload bytes that were acknowledged and never seen: the capture lost them
        missed_bytes: i64 = "B",
        /// Duplicate ACKs received (RFC 5681 section 2)
        dup_acks_in: i64 = "",
        /// SACK options received; null if the snapshot cuts options off
        sacks_rcvd: Option<i64> = "",
        /// SACK blocks received; null if the snapshot cuts options off
        sack_blocks_rcvd: Option<i64> = "",
        /// Times that the receiver closed a window which had been open
        zero_rwin_rcvd: i64 = "",
        /// Probes of a closed window, with a byte or without; none is a retransmission
        window_probes: i64 = "",
        /// Window last advertised by the receiver; null if its scale is not known
        cur_rwin_rcvd: Option<i64> = "B",
        /// Largest window advertised by the receiver; null if its scale is not known
        max_rwin_rcvd: Option<i64> = "B",
        /// Time in which the receiver's window was closed, up to the last packet
        rwin_closed_ns: i64 = "ns",
        /// Of the time from the first data to the last ACK of new data (to the last packet if data was outstanding then): the receiver's
        /// window was closed. The eight times `held_..._ns` are disjoint and add up to the whole
        held_closed_ns: Option<i64> = "ns",
        /// Of that time: the receiver's window had no room for a segment
        held_window_ns: Option<i64> = "ns",
        /// Of that time: the sender had nothing to send
        held_application_ns: Option<i64> = "ns",
        /// Of that time: losses were repaired, from the first retransmission until all that had been sent before it was acknowledged
        held_recovery_ns: Option<i64> = "ns",
        /// Of that time: the sender waited for its timer
        held_timer_ns: Option<i64> = "ns",
        /// Of that time: a queue stood, so the link was full
        held_rate_ns: Option<i64> = "ns",
        /// Of that time: the congestion window, the sender's own buffer or the path, which a capture cannot tell apart
        held_path_ns: Option<i64> = "ns",
        /// Of that time: nothing came, and the capture does not show why
        held_unknown_ns: Option<i64> = "ns",
        /// Round trip from the capture to the sender of the data, as the handshake shows it
        to_sender_ns: Option<i64> = "ns",
        /// Round trip from the capture to the receiver of the data, likewise
        to_receiver_ns: Option<i64> = "ns",
        /// How often the sender sent data after data of its peer: answers, or the next requests
        turns: Option<i64> = "",
        /// Median of the times from the last data of the peer to the first data after it, to 3 %
        turn_median_ns: Option<i64> = "ns",
        /// 90th percentile of them, likewise
        turn_p90_ns: Option<i64> = "ns",
        /// Longest of them
        turn_max_ns: Option<i64> = "ns",
        /// When the longest ended
        turn_max_at_ns: Option<i64> = "ns",
        /// Number of the packet that ended it, from 1 on
        turn_max_frame: Option<i64> = "",
        /// Number of the first packet of the connection, from 1 on
        first_frame: Option<i64> = "",
        /// MSS announced to the receiver; of a log of `ss` or Flent the size of segments in use, without options
        mss_sent: Option<i64> = "B",
        /// MSS announced by the receiver
        mss_rcvd: Option<i64> = "B",
        /// Shift of the windows that the sender of the data announces; null if its SYN was not seen
        win_scale_sent: Option<i64> = "",
        /// Shift of the windows that the receiver of the data announces; null if its SYN was not seen
        win_scale_rcvd: Option<i64> = "",
        /// Whether both SYNs had timestamps
        time_stamps: bool = "",
        /// Whether both SYNs permitted SACK
        will_use_sack: bool = "",
        /// Whether both SYNs agreed on ECN (RFC 3168)
        ecn: bool = "",
        /// Segments of the sender that carried CE
        ce_out: i64 = "",
        /// Segments of the receiver with ECE, its SYN not counted; 0 with AccECN, where the bit is part of a counter
        ece_in: i64 = "",
        /// Whether both SYNs agreed on AccECN (RFC 9768)
        acc_ecn: Option<bool> = "",
        /// Marked packets that the receiver has counted by AccECN
        ace_marks: Option<i64> = "",
        /// How many round-trip times were sampled: from a segment sent once to the ACK that covers it; at the receiver from a TSval to
        /// the first segment that echoes it
        count_rtt: i64 = "",
        /// Smallest of them
        min_rtt_ns: Option<i64> = "ns",
        /// Median, to 3 %
        median_rtt_ns: Option<i64> = "ns",
        /// 99th percentile, to 3 %
        p99_rtt_ns: Option<i64> = "ns",
        /// Largest of them
        max_rtt_ns: Option<i64> = "ns",
        /// Round-trip times sampled, added up
        sum_rtt_ns: i64 = "ns",
        /// Cuts of the window: recoveries that began (RFC 6582) and that D-SACK does not show to be needless, and CWR where both
        /// SYNs agreed on ECN
        cong_signals: i64 = "",
        /// Of them by marks (ECN), without a loss
        cong_signals_marked: Option<i64> = "",
        /// Payload of a SYN that its SYN-ACK did not take (RFC 7413): it is no loss
        refused_syn_bytes: Option<i64> = "B",
        /// Most bytes sent and not acknowledged, as seen from here: next to nothing at the receiver
        max_inflight_bytes: i64 = "B",
        /// Bursts: data segments that follow each other closer than the given gap
        bursts: i64 = "",
        /// Most segments in a burst
        burst_max_segs: i64 = "",
        /// Most payload in a burst
        burst_max_bytes: i64 = "B",
    }
}

table! {
    /// A row is what a direction of a connection did in an interval of time, and its state at the end of it.
    ConnectionSampleRow, ConnectionSampleColumns in "connection_samples" {
        /// End of the interval
        time_ns: i64 = "ns",
        /// Its length; it may differ between connections, and a long silence is one interval
        span_ns: i64 = "ns",
        /// The connection
        connection: i64 = "",
        /// Highest payload sent so far
        sent_bytes: i64 = "B",
        /// Payload acknowledged cumulatively so far
        delivered_bytes: i64 = "B",
        /// Payload sent in the interval, retransmissions included
        data_octets_out: i64 = "B",
        /// Payload retransmitted in the interval
        octets_retrans: i64 = "B",
        /// Bytes sent and not acknowledged at the end
        inflight_bytes: i64 = "B",
        /// Most bytes sent and not acknowledged
        inflight_max_bytes: i64 = "B",
        /// Window advertised by the receiver at the end; null if its scale is not known
        cur_rwin_rcvd: Option<i64> = "B",
        /// Smallest round-trip time sampled in the interval
        rtt_min_ns: Option<i64> = "ns",
        /// Mean of the round-trip times sampled in the interval
        rtt_mean_ns: Option<i64> = "ns",
        /// Duplicate ACKs in the interval
        dup_acks_in: i64 = "",
        /// Most segments of a burst, as far as it had come in the interval
        burst_max_segs: i64 = "",
        /// Congestion window at the end; only a log of the sender knows it
        cwnd_bytes: Option<i64> = "B",
        /// Slow-start threshold at the end, likewise
        ssthresh_bytes: Option<i64> = "B",
        /// Pacing rate at the end, likewise
        pacing_bps: Option<f64> = "bit/s",
    }
}

table! {
    /// A row is a stretch of time with one owner: what held the sender of a direction back. Stretches of a direction follow each other
    /// without a gap; of more than 512 short ones join, each of the owner of most of its time.
    ConnectionStretchRow, ConnectionStretchColumns in "connection_stretches" {
        /// The connection
        connection: i64 = "",
        /// From
        begin_ns: i64 = "ns",
        /// To
        end_ns: i64 = "ns",
        /// `closed`, `window`, `application`, `recovery`, `timer`, `rate`, `path` or `unknown`: see the columns `held_..._ns`
        owner: Text = "",
    }
}

table! {
    /// A row is a cause that a capture shows, or a trouble of a connection. Sentences are computed from these rows.
    ConnectionFindingRow, ConnectionFindingColumns in "connection_findings" {
        /// The connection
        connection: i64 = "",
        /// `refused`, `unanswered`, `slow_setup`, `reset`, `closed`, `timer`, `outage`, `silence`, `stuck`, `black_hole`, `lossy`,
        /// `delayed_ack`, `unasked`, `fixed_window`, `full_link`, `pacing`, `slow_start`, `loss_cuts`, `queue`, `marks` or `acc_ecn`. Of
        /// errors that ICMP reports `icmp_too_big`, `icmp_no_port`, `icmp_prohibited`, `icmp_unreachable`, `icmp_expired` or
        /// `icmp_bad_header`
        kind: Text = "",
        /// From
        begin_ns: i64 = "ns",
        /// To
        end_ns: i64 = "ns",
        /// Number of a packet that shows it, from 1 on; 0 for none
        frame: i64 = "",
        /// How often: SYNs, timeouts and retransmissions, waits, rounds, cuts, errors
        count: i64 = "",
        /// What it is about: nanoseconds of `slow_setup`, `closed`, `timer`, `outage`, `silence`, `delayed_ack`, `unasked` and `queue` (the
        /// least round trip), bytes of `stuck`, `black_hole`, `fixed_window` and `slow_start` (the most in flight), bits a second of
        /// `full_link` and `pacing`, cuts of `loss_cuts`, segments of `lossy`, marks of `marks` and `acc_ecn`, the MTU of `icmp_too_big`
        value: i64 = "",
        /// What it is beside: the largest segment that passed, the window that was offered, the long round trip, the median of the queue
        /// (ns) of `full_link` and `pacing`, all segments, all cuts
        beside: i64 = "",
        /// The time that it explains. Rows of a connection begin with what ended it, then they have what explains most first
        cost_ns: i64 = "ns",
    }
}

table! {
    /// A row is something rare that a capture shows.
    TraceEventRow, TraceEventColumns in "trace_events" {
        /// When
        time_ns: i64 = "ns",
        /// The connection
        connection: i64 = "",
        /// `fin`, `reset`, `retransmission`, `needless` (a retransmission, by D-SACK), `cut` (of the window), `lost` (a packet,
        /// as a sender of QUIC says), `out_of_order`, `dup_acks` (the third of a row), `zero_window`, `window_opened`, `missed`.
        /// A `cut` has its own time, but its row comes when it is certain
        kind: Text = "",
        /// Place in the sender's stream, 0 for its first byte
        seq_bytes: i64 = "B",
        /// Payload bytes concerned
        size_bytes: i64 = "B",
    }
}

table! {
    /// A row is a direction of a connection that two captures of one transfer show: what became of its segments on the way. The rows
    /// are those of the near capture, the one that is nearer to the sender of the data.
    PairConnectionRow, PairConnectionColumns in "pair_connections" {
        /// The connection
        connection: i64 = "",
        /// Its number in the far capture; null if that never saw its data
        far_connection: Option<i64> = "",
        /// `there` (from the near capture to the far one) or `back`
        direction: Text = "",
        /// Segments with data in the near capture
        near_segments: i64 = "",
        /// Segments with data in the far capture
        far_segments: i64 = "",
        /// Payload that both captures have
        matched_bytes: i64 = "B",
        /// Retransmitted segments, as the capture that they pass first shows them
        retransmitted: i64 = "",
        /// Of them: the copy before was lost between the captures
        lost_between: i64 = "",
        /// Of them: the copy before was lost before the first capture
        lost_before: i64 = "",
        /// Of them: the copy before passed both captures, and the receiver did not get it
        lost_behind: i64 = "",
        /// Of them: the copy before arrived, so the retransmission was needless
        needless: i64 = "",
        /// Lost packets without payload of the answering direction
        acks_lost: i64 = "",
        /// Segments that passed the near capture unseen: it has dropped them
        missed_near: i64 = "",
        /// Segments that passed the far capture unseen: it has dropped them
        missed_far: i64 = "",
        /// Median of the times from data to the ACK of it at the capture nearer to the receiver, to 3 %
        receiver_median_ns: Option<i64> = "ns",
        /// 95th percentile of them, likewise
        receiver_p95_ns: Option<i64> = "ns",
        /// Longest of them
        receiver_max_ns: Option<i64> = "ns",
        /// Median of the times from an ACK of new data to the next new data at the capture nearer to the sender, to 3 %
        sender_median_ns: Option<i64> = "ns",
        /// 95th percentile of them, likewise
        sender_p95_ns: Option<i64> = "ns",
    }
}

table! {
    /// A row is what packets took between two captures of one transfer, in an interval of time.
    PairDelayRow, PairDelayColumns in "pair_delays" {
        /// End of the interval, by the clock of the near capture
        time_ns: i64 = "ns",
        /// Its length
        span_ns: i64 = "ns",
        /// `there` (from the near capture to the far one) or `back`
        direction: Text = "",
        /// Packets that both captures have
        packets: i64 = "",
        /// Least one-way delay, if the least ones of both directions are equal
        delay_min_ns: i64 = "ns",
        /// Median of them, of a sample of 32
        delay_median_ns: i64 = "ns",
        /// Largest of them
        delay_max_ns: i64 = "ns",
    }
}

table! {
    /// A row is a packet that only one of two captures has, or whose payload was lost before or behind both.
    PairLossRow, PairLossColumns in "pair_losses" {
        /// When the capture that has it saw it, by the clock of the near capture
        time_ns: i64 = "ns",
        /// The connection, a direction with data: of an ACK the one that it answers
        connection: Option<i64> = "",
        /// `there` (from the near capture to the far one) or `back`
        direction: Text = "",
        /// `between` (lost on the path), `before` (lost before the first capture), `behind` (lost behind the second), `missed_near` or
        /// `missed_far` (it passed, and that capture has dropped it)
        fate: Text = "",
        /// Place in the sender's stream, 0 for its first byte; null without payload
        seq_bytes: Option<i64> = "B",
        /// Payload bytes
        size_bytes: i64 = "B",
        /// Retransmissions of it that the sender sent before it knew better
        retransmitted: i64 = "",
        /// Number of the packet in the capture that shows it, from 1 on
        frame: i64 = "",
    }
}
