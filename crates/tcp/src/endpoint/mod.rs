//! The endpoint: one end of a connection, sans-IO.

use crate::options::Options;
use crate::segment::{SackBlocks, Segment};
use crate::stats::Stats;
use elephan_cc::Controller;
use elephan_units::{Span, Time};
use std::sync::Arc;

/// Connection states of RFC 9293 section 3.3.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// What the sender is doing, for samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Closed,
    Handshake,
    SlowStart,
    CongestionAvoidance,
    Recovery,
    Loss,
}

impl Phase {
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Closed => "closed",
            Phase::Handshake => "handshake",
            Phase::SlowStart => "slow_start",
            Phase::CongestionAvoidance => "congestion_avoidance",
            Phase::Recovery => "recovery",
            Phase::Loss => "loss",
        }
    }
}

pub struct Endpoint {
    options: Arc<Options>,
    cc: Controller,
    state: State,
}

impl Endpoint {
    pub fn new(options: &Arc<Options>, cc: Controller, _isn: u32) -> Endpoint {
        Endpoint { options: options.clone(), cc, state: State::Closed }
    }
    /// Active open.
    pub fn connect(&mut self, _now: Time) {}
    /// Passive open.
    pub fn listen(&mut self) {}
    /// Appends to the stream what the send buffer takes; returns how much that was.
    pub fn write(&mut self, _now: Time, _bytes: u64) -> u64 {
        0
    }
    /// The application's stream is `total` bytes long so far (`u64::MAX`: endless).
    pub fn supply(&mut self, _now: Time, _total: u64) {}
    /// Bytes of the stream that the socket has taken: min(total, acked + send_buffer).
    pub fn accepted(&self) -> u64 {
        0
    }
    /// FIN after all data.
    pub fn close(&mut self, _now: Time) {}
    pub fn on_segment(&mut self, _now: Time, _seg: &Segment, _sack: &SackBlocks) {}
    pub fn on_timer(&mut self, _now: Time) {}
    /// `Time::NEVER` if none.
    #[inline]
    pub fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// Writes the next segment to send, if there is one; to be called until it says false.
    pub fn poll_transmit(&mut self, _now: Time, _seg: &mut Segment, _sack: &mut SackBlocks) -> bool {
        false
    }
    /// The host's own transmit queue refused the segment just polled.
    pub fn on_local_drop(&mut self, _now: Time) {}
    pub fn set_auto_read(&mut self, _on: bool) {}
    /// Takes up to `bytes` from the receive buffer; returns how much there was.
    pub fn read(&mut self, _now: Time, _bytes: u64) -> u64 {
        0
    }
    /// Payload bytes received in order and, unless reading is manual, read by the application.
    #[inline]
    pub fn received(&self) -> u64 {
        0
    }
    /// Payload bytes acknowledged by the peer.
    #[inline]
    pub fn acked(&self) -> u64 {
        0
    }
    /// FlightSize (RFC 5681): bytes sent and not cumulatively acknowledged.
    #[inline]
    pub fn inflight(&self) -> u64 {
        0
    }
    pub fn state(&self) -> State {
        self.state
    }
    pub fn phase(&self) -> Phase {
        Phase::Closed
    }
    /// The handshake is done.
    pub fn is_established(&self) -> bool {
        false
    }
    /// The peer's FIN was received in order.
    pub fn peer_closed(&self) -> bool {
        false
    }
    pub fn stats(&self, _now: Time) -> Stats {
        Stats::default()
    }
    pub fn controller(&self) -> &Controller {
        &self.cc
    }
    pub fn options(&self) -> &Options {
        &self.options
    }
    pub fn srtt(&self) -> Option<Span> {
        None
    }
    pub fn rto(&self) -> Span {
        Span::ZERO
    }
}
