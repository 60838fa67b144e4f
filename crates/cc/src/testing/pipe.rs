//! A pipe for one flow: a link, a delay, paced segments, and an ACK with a delivery rate for each.

use super::MSS;
use crate::{Ack, Controller, Spec};
use elephan_units::{PS_PER_S, Span, Time};
use std::collections::VecDeque;

const S: f64 = MSS as f64;
/// The pipe of the tests: 1000 segments a second, 50 ms, so 50 segments in flight fill it.
pub const RATE_BPS: f64 = 8e6;
pub const RTT: Span = Span::from_ms(50);
pub const BDP: f64 = 50.0;

#[derive(Clone, Copy)]
struct Packet {
    sent: Time,
    first_sent: Time,
    delivered: u64,
    delivered_at: Time,
    acked_at: Time,
}

/// One flow that always has data, through a queue without limit.
pub struct Pipe {
    pub c: Controller,
    pub now: Time,
    segment_time: Span,
    free_at: Time,
    pace_at: Time,
    flight: VecDeque<Packet>,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
}

impl Pipe {
    pub fn new(cc: &str) -> Pipe {
        Pipe::of(&Spec::named(cc).unwrap())
    }

    pub fn of(cc: &Spec) -> Pipe {
        let zero = Time::ZERO;
        let segment_time = Span::from_seconds(8.0 * S / RATE_BPS);
        Pipe {
            c: Controller::new(cc, MSS, 10 * MSS),
            now: zero,
            segment_time,
            free_at: zero,
            pace_at: zero,
            flight: VecDeque::new(),
            delivered: 0,
            delivered_at: zero,
            first_sent: zero,
        }
    }

    pub fn inflight(&self) -> u64 {
        self.flight.len() as u64 * MSS
    }

    /// bit/s; a congestion control that does not pace sends at once.
    fn pacing(&self) -> f64 {
        self.c.pacing_rate().unwrap_or(f64::INFINITY)
    }

    pub fn mode(&self) -> f64 {
        super::state(&self.c, "mode")
    }

    /// Sends what window and pacing let out before the next ACK; then takes that ACK.
    pub fn step(&mut self) {
        loop {
            let at = self.now.max(self.pace_at);
            let open = (self.inflight() + MSS) as f64 <= self.c.window();
            if !open || self.flight.front().is_some_and(|first| first.acked_at <= at) {
                break;
            }
            self.now = at;
            self.send();
        }
        self.take_ack();
    }

    fn send(&mut self) {
        if self.flight.is_empty() {
            (self.first_sent, self.delivered_at) = (self.now, self.now);
        }
        self.c.on_sent(self.now, MSS, self.inflight());
        self.free_at = self.free_at.max(self.now).saturating_add(self.segment_time);
        self.flight.push_back(Packet {
            sent: self.now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            acked_at: self.free_at.saturating_add(RTT),
        });
        let gap = 8.0 * S / self.pacing();
        self.pace_at = self.now.saturating_add(Span::from_seconds(gap));
    }

    fn take_ack(&mut self) {
        let inflight = self.inflight();
        let packet = self.flight.pop_front().unwrap();
        self.now = packet.acked_at;
        self.delivered += MSS;
        (self.delivered_at, self.first_sent) = (self.now, packet.sent);
        let interval = packet.sent.since(packet.first_sent).max(self.now.since(packet.delivered_at));
        let bits = (self.delivered - packet.delivered) as f64 * 8.0;
        self.c.on_ack(&Ack {
            now: self.now,
            acked: MSS,
            rtt: Some(self.now.since(packet.sent)),
            inflight,
            delivered: self.delivered,
            prior_delivered: Some(packet.delivered),
            rate_bps: Some(bits * PS_PER_S as f64 / interval.ps() as f64),
            ..Ack::default()
        });
    }

    /// Means over `seconds`, weighted by time: pacing rate in bit/s and segments in flight.
    pub fn run(&mut self, seconds: f64) -> (f64, f64) {
        let begin = self.now;
        let end = begin.saturating_add(Span::from_seconds(seconds));
        let (mut pacing, mut flight) = (0.0, 0.0);
        while self.now < end {
            let (before, rate, inflight) = (self.now, self.pacing(), self.inflight() as f64 / S);
            self.step();
            let elapsed = self.now.since(before).seconds();
            pacing += rate * elapsed;
            flight += inflight * elapsed;
        }
        let elapsed = self.now.since(begin).seconds();
        (pacing / elapsed, flight / elapsed)
    }

    /// Steps until what is asked for holds, at most 100 000 times.
    pub fn until(&mut self, holds: impl Fn(&Pipe) -> bool) {
        for _ in 0..100_000 {
            if holds(self) {
                return;
            }
            self.step();
        }
        panic!("not within 100 000 ACKs");
    }
}
