//! The table of how long packets wait in queues.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is a class of packets at a port that has sent some after the warm-up: with `record.queue_delays`.
    QueueDelayRow, QueueDelayColumns in "queue_delays" {
        /// Number of the port
        port: i64 = "",
        /// `from->to`
        name: Text = "",
        /// IEEE 802.1Q priority of the packets
        priority: i64 = "",
        /// Whether they are for L4S: with the ECN codepoint ECT(1), or marked, when they came to the port
        l4s: bool = "",
        /// Packets
        packets: i64 = "",
        /// Mean time from the last bit in until the first bit out
        mean_ns: i64 = "ns",
        /// Median, to three digits
        p50_ns: i64 = "ns",
        /// 90th percentile
        p90_ns: i64 = "ns",
        /// 99th percentile
        p99_ns: i64 = "ns",
        /// 99.9th percentile
        p999_ns: i64 = "ns",
        /// Longest
        max_ns: i64 = "ns",
    }
}
