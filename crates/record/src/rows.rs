//! The tables: every row, column, unit and description, each declared once; those of flows are in `flows.rs`.
//!
//! Times are nanoseconds since the start of the run, rounded down from picoseconds; the unit is the last word of a name.
//! The counters of a connection carry their names of RFC 4898 (section 4, the MIB objects) in snake case.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is an application message or a transfer.
    MessageRow, MessageColumns in "messages" {
        /// Flow that carried it
        flow: i64 = "",
        /// When its first byte entered TCP; for a transfer, when it arrived
        enter_ns: i64 = "ns",
        /// When its last byte was read at the receiver; null when the run ended first
        exit_ns: Option<i64> = "ns",
        /// Its size
        size_bytes: i64 = "B",
        /// `exit_ns` - `enter_ns`, rounded down once
        latency_ns: Option<i64> = "ns",
    }
}

table! {
    /// A row is a datagram, or a frame without IP, as its receiver logs it (`record.datagrams`): the first of each stream, in the
    /// order in which they come.
    DatagramRow, DatagramColumns in "datagrams" {
        /// Stream that it belongs to
        flow: i64 = "",
        /// Its number in the stream, counted from 0 as they were sent
        seq: i64 = "",
        /// When its last bit was in
        time_ns: i64 = "ns",
        /// Its payload
        payload_bytes: i64 = "B",
        /// Since its sender handed it to its port
        delay_ns: i64 = "ns",
    }
}

table! {
    /// A row is the state of a flow at a sample time.
    FlowSampleRow, FlowSampleColumns in "flow_samples" {
        /// Sample time
        time_ns: i64 = "ns",
        /// The flow
        flow: i64 = "",
        /// Congestion window; of RoCE under a congestion control that holds none, what its rate fills in a base round trip; null
        /// of UDP and frames
        cwnd_bytes: Option<f64> = "B",
        /// Slow-start threshold; null while infinite
        ssthresh_bytes: Option<f64> = "B",
        /// Bytes sent and not yet acknowledged, as the sender counts them
        inflight_bytes: i64 = "B",
        /// Smoothed round-trip time; null before the first sample
        srtt_ns: Option<i64> = "ns",
        /// Pacing rate; null when not paced
        pacing_bps: Option<f64> = "bit/s",
        /// Payload read by the receiving application since the start
        delivered_bytes: i64 = "B",
        /// `closed`, `handshake`, `slow_start`, `congestion_avoidance`, `recovery` or `loss`; empty of UDP and frames
        phase: Text = "",
        /// Bytes in the network, as the sender counts them (RFC 6675 pipe); as all that follows an instrument of RFC 4898
        pipe_size: i64 = "B",
        /// Last round-trip time sampled; null before the first sample
        sample_rtt_ns: Option<i64> = "ns",
        /// Retransmission timeout
        cur_rto_ns: i64 = "ns",
        /// Window advertised by the receiver
        cur_rwin_rcvd: i64 = "B",
        /// Bytes in the sending socket that have not been sent
        cur_app_w_queue: i64 = "B",
        /// Segments retransmitted since the start
        segs_retrans: i64 = "",
        /// Reductions of the congestion window for congestion since the start
        cong_signals: i64 = "",
        /// Reductions of the congestion window for other reasons since the start
        other_reductions: i64 = "",
        /// Time limited by the receiver's window since the start
        snd_lim_time_rwin_ns: i64 = "ns",
        /// Time limited by the congestion window since the start
        snd_lim_time_cwnd_ns: i64 = "ns",
        /// Time limited by the sender since the start
        snd_lim_time_snd_ns: i64 = "ns",
        /// Payload sent while limited by the receiver's window since the start, retransmissions included
        snd_lim_bytes_rwin: i64 = "B",
        /// Payload sent while limited by the congestion window since the start
        snd_lim_bytes_cwnd: i64 = "B",
        /// Payload sent while limited by the sender since the start
        snd_lim_bytes_snd: i64 = "B",
    }
}

table! {
    /// A row is one direction of a link: the port that sends into it. `queue_mean_bytes` and `utilisation` are of the measured time
    /// (warm-up to end of the run), all else is of the whole run.
    PortRow, PortColumns in "ports" {
        /// Number of the port, in the order of the scenario
        port: i64 = "",
        /// Name, `node->peer`
        name: Text = "",
        /// Host or switch that owns the port
        node: Text = "",
        /// Host or switch at the other end
        peer: Text = "",
        /// Rate of the link
        rate_bps: f64 = "bit/s",
        /// Packets whose transmission started; PAUSE and PFC frames are not among them
        tx_packets: i64 = "",
        /// Bytes of those packets on the wire, framing included
        tx_bytes: i64 = "B",
        /// Packets dropped at the port
        drops: i64 = "",
        /// Packets that the link took after their transmission: by its own loss process, or because it went down meanwhile
        lost: i64 = "",
        /// Packets marked (ECN) at the port
        marks: i64 = "",
        /// Packets that lost their payload at the port (queue `trim`)
        trims: i64 = "",
        /// Most bytes waiting at any instant; the packet on the wire does not wait
        queue_max_bytes: i64 = "B",
        /// Most packets waiting at any instant
        queue_max_packets: i64 = "",
        /// Bytes waiting, averaged over the measured time
        queue_mean_bytes: f64 = "B",
        /// Time that the port was not allowed to send, or (PFC) not everything
        paused_ns: i64 = "ns",
        /// PAUSE or PFC frames sent by the node through this port, resumptions included; one that waits for the frame on the wire gives
        /// way to what is decided meanwhile
        pauses_sent: i64 = "",
        /// PAUSE or PFC frames received that stop this port or let it go on
        pauses_received: i64 = "",
        /// Notifications of congestion that the port's congestion point has sent
        notifications_sent: i64 = "",
        /// Notifications of congestion that have reached the host for what it sends through this port
        notifications_received: i64 = "",
        /// Share of the measured time that the port was sending packets, 0 to 1
        utilisation: f64 = "",
    }
}

table! {
    /// A row is the state of a port at a sample time.
    PortSampleRow, PortSampleColumns in "port_samples" {
        /// Sample time
        time_ns: i64 = "ns",
        /// The port
        port: i64 = "",
        /// Bytes waiting
        queue_bytes: i64 = "B",
        /// Packets waiting
        queue_packets: i64 = "",
        /// Packets whose transmission has started since the start of the run; PAUSE and PFC frames are not among them
        tx_packets: i64 = "",
        /// Bytes of those packets on the wire, framing included
        tx_bytes: i64 = "B",
        /// Packets dropped since the start
        drops: i64 = "",
        /// Packets marked since the start
        marks: i64 = "",
        /// Packets that lost their payload here since the start (queue `trim`)
        trims: i64 = "",
        /// Time paused since the start
        paused_ns: i64 = "ns",
        /// Notifications of congestion that the port's congestion point has sent since the start
        notifications: i64 = "",
        /// Share of the time since the last sample that the port was sending packets, 0 to 1
        utilisation: f64 = "",
    }
}

table! {
    /// A row is a port of a host with a transmit side at a sample time: what waits there, the frame on the wire not.
    TransmitSampleRow, TransmitSampleColumns in "transmit_samples" {
        /// Sample time
        time_ns: i64 = "ns",
        /// The host
        host: Text = "",
        /// The port
        port: i64 = "",
        /// Packets in the qdisc, of `txqueuelen`; a burst is one
        qdisc_packets: i64 = "",
        /// Packets in the ring of the driver; a burst is one
        ring_packets: i64 = "",
        /// Most packets of both that one which came has found since the last sample
        found_max_packets: i64 = "",
        /// Segments that the host has refused since the start because both were full (RFC 4898 SendStall)
        send_stalls: i64 = "",
    }
}

table! {
    /// A row is a limiter of a host at a sample time: there is none before the first notification about what it limits, nor when
    /// its rate is the line's again and nothing waits behind it.
    LimiterSampleRow, LimiterSampleColumns in "limiter_samples" {
        /// Sample time
        time_ns: i64 = "ns",
        /// Host that is limited
        host: Text = "",
        /// The port whose frames are limited
        port: i64 = "",
        /// Host that the limited frames are for; null where each flow has its limiter
        destination: Option<Text> = "",
        /// Flow that is limited; null where a pair of hosts has one limiter
        flow: Option<i64> = "",
        /// Rate that may be sent at, on the wire
        rate_bps: f64 = "bit/s",
        /// Rate to which it returns (QCN's target rate)
        target_bps: Option<f64> = "bit/s",
        /// Bytes waiting behind the limiter
        queue_bytes: i64 = "B",
        /// Packets waiting behind the limiter
        queue_packets: i64 = "",
    }
}

table! {
    /// A row is the state of a switch at a sample time.
    SwitchSampleRow, SwitchSampleColumns in "switch_samples" {
        /// Sample time
        time_ns: i64 = "ns",
        /// The switch
        switch: Text = "",
        /// Shared memory in use: frames from their last bit in to their last bit out
        memory_bytes: i64 = "B",
        /// Whether the switch is holding its neighbours paused
        pausing: bool = "",
    }
}

table! {
    /// A row is something rare that happened.
    EventRow, EventColumns in "events" {
        /// When
        time_ns: i64 = "ns",
        /// What: `drop`, `mark`, `pause`, `resume`, `rto`, `fast_retransmit`, `send_stall`, `cnp` ...
        kind: Text = "",
        /// Host or switch where it happened
        node: Text = "",
        /// Port where it happened
        port: Option<i64> = "",
        /// Other end of the port
        peer: Option<Text> = "",
        /// Flow concerned
        flow: Option<i64> = "",
        /// Size of the packet concerned, as the queue counts it
        packet_bytes: Option<i64> = "B",
        /// A figure that belongs to the kind: the sequence number of a `drop` (TCP: of its first byte, as on the wire; RoCE: of its packet), quanta of a PAUSE, the feedback of a `cnm` (QCN: 1 to 63; ECM: pages, negative to slow down), the new timeout of an `rto` in seconds ...
        value: Option<f64> = "",
        /// Why; empty when the kind says it all
        reason: Text = "",
    }
}
