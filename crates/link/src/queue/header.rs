//! The congestion header: what packets ask of the routers on their way, and what ACKs bring back of it. It takes no bytes on
//! the wire. A discipline answers the requests that it knows and passes on the others.

use elephan_units::Span;

/// What a packet carries beside itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CongestionHeader {
    pub request: Request,
    pub answer: Answer,
}

/// What a packet asks; routers write their answer into it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Request {
    #[default]
    Nothing,
    Window(WindowRequest),
    Rate(RateRequest),
}

/// By how much a window may change (XCP).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRequest {
    /// The sender's window in bytes (H_cwnd).
    pub cwnd_bytes: f64,
    /// Its round-trip time (H_rtt); zero if it knows none.
    pub rtt: Span,
    /// Bytes by which its window may change (H_feedback); infinite before the first router.
    pub feedback_bytes: f64,
}

/// At what rate a flow may send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateRequest {
    /// The sender's round-trip time; zero if it knows none.
    pub rtt: Span,
    /// Bytes of the packet with its IP header, which the rate counts.
    pub ip_bytes: u32,
    /// The flow has nothing more to send after this packet.
    pub ends: bool,
    /// The smallest fair rate of the way; infinite before the first router.
    pub rate_bps: f64,
    /// Bytes of the flow that wait on the way, with their IP headers.
    pub queue_bytes: f64,
}

impl RateRequest {
    /// Before the first router.
    pub fn new(rtt: Span, ip_bytes: u32, ends: bool) -> RateRequest {
        RateRequest { rtt, ip_bytes, ends, rate_bps: f64::INFINITY, queue_bytes: 0.0 }
    }
}

/// What a receiver tells the other sender on an ACK of what its packets were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Answer {
    #[default]
    Nothing,
    /// The sum of the feedback, in bytes.
    Window(f64),
    /// The last fair rate, and the flow's own queue.
    Rate { rate_bps: f64, queue_bytes: f64 },
}
