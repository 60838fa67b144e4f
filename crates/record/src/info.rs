//! The table of `tcp_info`: what Linux shows of a connection, at each sample time.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is what Linux's `tcp_info` shows of the sending end of a TCP connection at a sample time (`record.info`), with its names and
    /// units; `received_*` and `rcv_*` are of the other way, on which no data flows here.
    InfoRow, InfoColumns in "info" {
        /// Sample time
        time_ns: i64 = "ns",
        /// The flow
        flow: i64 = "",
        /// State of the connection, such as `established`
        state: Text = "",
        /// State of loss recovery: `open`, `disorder`, `cwr`, `recovery` or `loss`
        ca_state: Text = "",
        /// Timeouts in a row that were not answered
        retransmits: i64 = "",
        /// Window probes in a row that were not answered
        probes: i64 = "",
        /// Doublings of the timeout, or of the interval of window probes, in force
        backoff: i64 = "",
        /// Negotiated: 1 timestamps, 2 SACK, 4 window scaling, 8 ECN; 32: data of the SYN was taken
        options: i64 = "",
        /// Why Fast Open carried no data: 1 no cookie, 2 data not acknowledged, 3 the SYN was retransmitted
        fastopen_client_fail: i64 = "",
        /// Shift of the peer's windows
        snd_wscale: i64 = "",
        /// Shift of the own windows
        rcv_wscale: i64 = "",
        /// Retransmission timeout
        rto: i64 = "us",
        /// Delayed-ACK timeout; 0 without Linux's rule
        ato: i64 = "us",
        /// Full segment that is sent
        snd_mss: i64 = "B",
        /// Largest segment that has arrived
        rcv_mss: i64 = "B",
        /// Segments sent and not acknowledged cumulatively
        unacked: i64 = "",
        /// SACKed segments
        sacked: i64 = "",
        /// Segments believed to be lost
        lost: i64 = "",
        /// Segments retransmitted and not yet known to have arrived
        retrans: i64 = "",
        /// Time since data was last sent
        last_data_sent: i64 = "ms",
        /// Time since data last arrived
        last_data_recv: i64 = "ms",
        /// Time since an acknowledgement last arrived
        last_ack_recv: i64 = "ms",
        /// Packets of the path
        pmtu: i64 = "B",
        /// Smoothed round-trip time
        rtt: i64 = "us",
        /// Variance of the round-trip time
        rttvar: i64 = "us",
        /// Slow-start threshold, segments; null while infinite
        snd_ssthresh: Option<i64> = "",
        /// Congestion window in force, segments
        snd_cwnd: i64 = "",
        /// MSS announced to the peer
        advmss: i64 = "B",
        /// Segments that reordering may displace without being taken for a loss
        reordering: i64 = "",
        /// Segments retransmitted so far
        total_retrans: i64 = "",
        /// Pacing rate; null if the sender is not paced
        pacing_rate: Option<i64> = "B/s",
        /// Payload acknowledged
        bytes_acked: i64 = "B",
        /// Payload received in order
        bytes_received: i64 = "B",
        /// Segments sent
        segs_out: i64 = "",
        /// Segments received
        segs_in: i64 = "",
        /// Payload written and not sent
        notsent_bytes: i64 = "B",
        /// Smallest round-trip time; null before the first
        min_rtt: Option<i64> = "us",
        /// Segments received with payload
        data_segs_in: i64 = "",
        /// Segments sent with payload
        data_segs_out: i64 = "",
        /// Last delivery rate; one that the application limited is shown only if it is no lower
        delivery_rate: i64 = "B/s",
        /// 1 if the application was the limit of that rate
        delivery_rate_app_limited: i64 = "",
        /// Time with data to send or in flight
        busy_time: i64 = "us",
        /// Part of it that the peer's window was the limit
        rwnd_limited: i64 = "us",
        /// Part of it that the send buffer was the limit
        sndbuf_limited: i64 = "us",
        /// Segments that have arrived at the peer, the SYN included
        delivered: i64 = "",
        /// Segments that have arrived there with a CE mark; without AccECN what ACKs with ECE acknowledge
        delivered_ce: i64 = "",
        /// Payload sent
        bytes_sent: i64 = "B",
        /// Payload retransmitted
        bytes_retrans: i64 = "B",
        /// Duplicates that the peer reported
        dsack_dups: i64 = "",
        /// Times that reordering was seen
        reord_seen: i64 = "",
        /// Segments that came out of order
        rcv_ooopack: i64 = "",
        /// The peer's window
        snd_wnd: i64 = "B",
        /// The own window as the last segment offered it
        rcv_wnd: i64 = "B",
        /// The most that the own window may be while it grows; 0 without Linux's account of the receive buffer
        rcv_ssthresh: i64 = "B",
        /// Most bytes read in a round trip, at first ten segments; 0 without that account
        rcv_space: i64 = "B",
        /// The receiver's own estimate of the round trip; 0 before the first and without that account
        rcv_rtt: i64 = "us",
        /// Timeouts so far
        total_rto: i64 = "",
        /// Segments that have arrived here with a CE mark, with AccECN
        received_ce: i64 = "",
        /// AccECN: payload that the peer got with ECT(1)
        delivered_e1_bytes: i64 = "B",
        /// AccECN: payload that the peer got with ECT(0)
        delivered_e0_bytes: i64 = "B",
        /// AccECN: payload that the peer got with CE
        delivered_ce_bytes: i64 = "B",
        /// AccECN: payload received with ECT(1)
        received_e1_bytes: i64 = "B",
        /// AccECN: payload received with ECT(0)
        received_e0_bytes: i64 = "B",
        /// AccECN: payload received with CE
        received_ce_bytes: i64 = "B",
        /// AccECN: what does not get through: 2 the ACE field of the peer, 4 the own option, 8 the option of the peer
        accecn_fail_mode: i64 = "",
        /// AccECN: the option of the peer: 0 not seen, 1 without counters, 2 with, 3 with a counter that was zeroed
        accecn_opt_seen: i64 = "",
    }
}
