//! The tables of hosts that are not ideal.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is a host with a model of its receive side or of its processor, at the end of the run. All but `cpu` is of the whole run,
    /// the warm-up included.
    HostRow, HostColumns in "hosts" {
        /// Name of the host
        host: Text = "",
        /// Share of the measured time that the processor was busy
        cpu: f64 = "",
        /// Frames that came in, those dropped included
        frames: i64 = "",
        /// Interrupts of the interface for frames that came in
        interrupts: i64 = "",
        /// Frames dropped because the receive ring was full
        drops_ring: i64 = "",
        /// Frames dropped because the backlog was full
        drops_backlog: i64 = "",
        /// Frames dropped because the backlog had been full and was not empty yet
        drops_throttle: i64 = "",
        /// Datagrams dropped because their socket was full
        drops_socket: i64 = "",
        /// Most frames that the receive ring held
        ring_max_packets: i64 = "",
        /// Most packets that waited in the backlog
        backlog_max_packets: i64 = "",
        /// Gaps of the logger: two of its intervals or more without a line; null without a logger
        logger_gaps: Option<i64> = "",
        /// Longest time between two lines of the logger; null without a logger
        logger_gap_max_ns: Option<i64> = "ns",
    }
}

table! {
    /// A row is such a host at a sample time.
    HostSampleRow, HostSampleColumns in "host_samples" {
        /// Sample time
        time_ns: i64 = "ns",
        /// Name of the host
        host: Text = "",
        /// Share of the time since the last sample that the processor was busy
        cpu: f64 = "",
        /// Frames in the receive ring
        ring_packets: i64 = "",
        /// Packets in the backlog
        backlog_packets: i64 = "",
        /// Frames and datagrams that the host has dropped so far
        drops: i64 = "",
        /// Time since the last line of the logger; null without a logger
        logger_silent_ns: Option<i64> = "ns",
    }
}

table! {
    /// A row is a gap of a host's logger: two of its intervals or more without a line.
    LoggerGapRow, LoggerGapColumns in "logger_gaps" {
        /// Name of the host
        host: Text = "",
        /// The last line before
        begin_ns: i64 = "ns",
        /// The first line after, or the end of the run
        end_ns: i64 = "ns",
        /// From one to the other
        duration_ns: i64 = "ns",
    }
}
