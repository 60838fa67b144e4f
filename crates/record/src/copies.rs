//! The tables of transfers from disk to disk.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is a transfer from disk to disk, whatever streams it has.
    CopyRow, CopyColumns in "copies" {
        /// Number of the transfer, in the order of the scenario
        copy: i64 = "",
        /// Name of the `[[traffic]]` entry that it belongs to
        traffic: Text = "",
        /// Host whose disk is read
        source: Text = "",
        /// Host whose disk is written
        destination: Text = "",
        /// Connections
        streams: i64 = "",
        /// Number of the first of its flows; the others follow it
        flow: i64 = "",
        /// Size of the file; null when endless
        size_bytes: Option<i64> = "B",
        /// When it began
        start_ns: i64 = "ns",
        /// When the last block had been read; null when the run ended first
        read_ns: Option<i64> = "ns",
        /// When the program at the far end had received the last block
        received_ns: Option<i64> = "ns",
        /// When the last block was in the cache of the disk
        cached_ns: Option<i64> = "ns",
        /// When the last block was on the disk
        on_disk_ns: Option<i64> = "ns",
        /// Whether it was complete before the run ended: on the disk, or in the cache if the scenario says so
        completed: bool = "",
        /// Blocks read from the disk
        read_bytes: i64 = "B",
        /// Blocks that the program at the far end has received
        received_bytes: i64 = "B",
        /// Blocks in the cache or on the disk
        cached_bytes: i64 = "B",
        /// Blocks on the disk
        on_disk_bytes: i64 = "B",
        /// What was written into the cache after the warm-up, over the time from the warm-up or its start until the last block was in it
        cached_bps: f64 = "bit/s",
        /// The same for the disk
        on_disk_bps: f64 = "bit/s",
        /// That of these two by which the transfer is complete: the end-to-end rate
        rate_bps: f64 = "bit/s",
        /// Stage that limited it longest after the warm-up: `read`, `network`, `send_buffer`, `receive_buffer` or `write`
        limit: Text = "",
        /// Time after the warm-up that the others waited for the disk that is read
        limited_read_ns: i64 = "ns",
        /// ... for the network: congestion windows, the path, the handshake
        limited_network_ns: i64 = "ns",
        /// ... for senders' socket buffers that hold less than a round trip of data
        limited_send_buffer_ns: i64 = "ns",
        /// ... for windows of the receiver, whose program read all that came
        limited_receive_buffer_ns: i64 = "ns",
        /// ... for the disk that is written
        limited_write_ns: i64 = "ns",
    }
}

table! {
    /// A row is the state of a transfer from disk to disk at a sample time.
    CopySampleRow, CopySampleColumns in "copy_samples" {
        /// Sample time
        time_ns: i64 = "ns",
        /// The transfer
        copy: i64 = "",
        /// Blocks read from the disk since the start
        read_bytes: i64 = "B",
        /// Bytes that the network has delivered to the far program since the start, headers of blocks included
        delivered_bytes: i64 = "B",
        /// Blocks in the cache or on the disk
        cached_bytes: i64 = "B",
        /// Blocks on the disk
        on_disk_bytes: i64 = "B",
        /// Bytes in the cache of the disk that is written, of all transfers to it
        cache_bytes: i64 = "B",
        /// Full buffers that wait for a stream at the near end
        buffers_near: i64 = "",
        /// Full buffers at the far end, the one that is being written among them
        buffers_far: i64 = "",
        /// Stage that limited it longest since the last sample; empty before it begins and when it is complete
        limit: Text = "",
        /// Time since the start that the others waited for the disk that is read
        limited_read_ns: i64 = "ns",
        /// ... for the network
        limited_network_ns: i64 = "ns",
        /// ... for senders' socket buffers
        limited_send_buffer_ns: i64 = "ns",
        /// ... for windows of the receiver
        limited_receive_buffer_ns: i64 = "ns",
        /// ... for the disk that is written
        limited_write_ns: i64 = "ns",
    }
}
