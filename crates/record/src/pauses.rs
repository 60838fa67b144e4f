//! The tables of congestion spreading.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is a pause interval: the time from which a port may send nothing, or nothing of a priority, until it may again.
    PauseRow, PauseColumns in "pauses" {
        /// Number of the pause interval, in the order of their beginnings
        pause: i64 = "",
        /// The port that may not send
        port: i64 = "",
        /// Host or switch that owns it
        node: Text = "",
        /// Station that paused it
        peer: Text = "",
        /// Priority (PFC); null if the whole port is paused (IEEE 802.3x)
        priority: Option<i64> = "",
        /// From when on nothing may start
        begin_ns: i64 = "ns",
        /// Until when; null if the end of the run came first
        end_ns: Option<i64> = "ns",
        /// How long, until the end of the run at most; rounded down once
        duration_ns: i64 = "ns",
        /// PAUSE frames that prolonged it
        refreshes: i64 = "",
        /// Packets of that priority that waited behind it at any time
        packets: i64 = "",
        /// Bytes of those packets, as the queue counts them
        bytes: i64 = "B",
        /// Port of the pausing station whose buffer was to blame
        cause: i64 = "",
        /// The pause interval that held that port itself; null if none did
        parent: Option<i64> = "",
        /// Port where the congestion began: at the end of the parents the cause that was not held itself
        root: i64 = "",
        /// Pause intervals from the root to this one, itself included
        depth: i64 = "",
        /// Number of the episode: pause intervals of one root, each at most 1 ms after those before
        episode: i64 = "",
    }
}

table! {
    /// A row is what the pause intervals of an episode at one port did to a flow whose packets they held.
    HoldRow, HoldColumns in "holds" {
        /// The episode
        episode: i64 = "",
        /// Port where its congestion began
        root: i64 = "",
        /// The port that was closed
        port: i64 = "",
        /// The flow
        flow: i64 = "",
        /// Packets held, its ACKs included
        packets: i64 = "",
        /// Bytes of those packets, as the queue counts them
        bytes: i64 = "B",
        /// How long pause intervals held them, added up over the packets
        held_ns: i64 = "ns",
        /// Longest that one pause interval held one packet
        longest_ns: i64 = "ns",
        /// Packets of these on whose route the root is; none of a victim's
        bound_packets: i64 = "",
    }
}
