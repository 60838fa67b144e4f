//! Congestion points of a port: `net/congestion_management.rs` says what they do.

use elephan_link::congestion::Point;

/// The congestion points of a port, one for each queue that its discipline keeps apart, and how many notifications they have sent.
#[derive(Clone)]
pub struct CongestionPoints {
    pub points: Vec<Point>,
    pub sent: u64,
}
