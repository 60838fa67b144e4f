//! Streams of one congestion control over one bottleneck, a round trip at a time: what follows when packets are too many to simulate.
//!
//! In round k each stream i has `f_i` bytes in flight, F of them together. The wire carries C, a round trip without a
//! queue takes R, the queue holds B:
//!
//! ```text
//! T = max(R, F / C)                          the round trip, with what waits in the queue
//! f_i' = min(cwnd_i, W)                      after the congestion control has seen f_i acknowledged in `CHUNKS` equal parts within T
//! f_i' = sum of acked_i cwnd_after / cwnd_before      in the round trip after a cut, as PRR (RFC 9937) spreads it
//! ```
//!
//! Drop-tail: when F' > C R + B the queue overflows at that point of the next round. Until the first cut shows, a round
//! trip later, whatever a window grows by is dropped: a stream that grew by g_i bytes a round loses with probability
//! min(1, g_i / MSS), and one of them at least (Baccelli and Hong 2002 call the share the rate of synchronisation; here it
//! follows from the growth). The first of g_i / MSS holes is seen when the flight begins to come back and the last when it
//! has, so the window rests for a round trip, and for a share 1 - MSS / g_i of another. Loss on the path takes a packet
//! with probability p, independently. All losses of one window of data are one event for the congestion control, and what is lost is
//! retransmitted.
//!
//! Streams alike share the rate in proportion to their windows. Left out: packets and their bursts, timeouts, limited
//! transmit. Congestion controls that pace, probe or act upon the delay of single packets live by what is not here ([`Rounds::suits`]).

use crate::algorithm::Spec;
use crate::draw::Draw;
use crate::{Ack, Controller, Signal};
use elephan_units::{Span, Time};

/// Acknowledgements that a round trip is cut into.
const CHUNKS: u32 = 16;

/// A path in payload: all sizes are bytes, rates bit/s, times seconds.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Goodput of a wire that is full.
    pub rate_bps: f64,
    pub rtt_s: f64,
    pub queue_bytes: f64,
    /// Of each packet, on the path.
    pub loss: f64,
    /// That each stream may have in flight, beside its congestion window.
    pub window_bytes: f64,
    /// What a congestion control that counts ACKs sees of the bytes they acknowledge: one half behind delayed ACKs.
    pub counted: f64,
}

impl Path {
    fn bytes_per_s(&self) -> f64 {
        self.rate_bps / 8.0
    }

    /// In flight when the queue is full.
    fn full_bytes(&self) -> f64 {
        self.bytes_per_s() * self.rtt_s + self.queue_bytes
    }
}

/// What a simulation showed of a stream at one instant, and since the one before.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub at: Time,
    pub acked: u64,
    /// In fast recovery.
    pub repairing: bool,
    pub rtt: Option<Span>,
    /// The window was cut since the instant before.
    pub cut: bool,
    pub cwnd: f64,
    pub ssthresh: f64,
}

/// What there is after a number of rounds, all streams together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    pub time_s: f64,
    pub delivered_bytes: f64,
    pub rounds: u64,
}

#[derive(Clone, Debug)]
struct Stream {
    controller: Controller,
    flight: f64,
    /// Bytes until the path takes a packet.
    spared: f64,
    /// Of the bytes that were in flight at the last cut, those not yet acknowledged.
    recovering: f64,
    /// What the last cut left of the window.
    kept: f64,
    /// Bytes to be acknowledged after those until the last hole is filled.
    repairing: f64,
    /// The full queue drops in this chunk of the next round, and so many bytes.
    drop: Option<(u32, f64)>,
    acked: f64,
    /// The same as the congestion control counts it.
    counted: f64,
    lost: f64,
    /// Packets that the path took.
    taken: u64,
}

/// Streams of one congestion control that share a bottleneck.
#[derive(Clone, Debug)]
pub struct Rounds {
    path: Path,
    streams: Vec<Stream>,
    draw: Draw,
    now_s: f64,
    rounds: u64,
    overflows: u64,
    /// Bytes and seconds of the last round that nobody has asked for yet.
    begun: (f64, f64),
}

impl Rounds {
    pub fn new(spec: &Spec, streams: u32, mss: u64, initial_window_bytes: u64, path: Path, seed: u64) -> Rounds {
        let mut draw = Draw(seed);
        let streams = (0..streams).map(|_| Stream::new(spec, mss, initial_window_bytes, &path, &mut draw)).collect();
        Rounds { path, streams, draw, now_s: 0.0, rounds: 0, overflows: 0, begun: (0.0, 0.0) }
    }

    /// Returns whether rounds can predict this congestion control ([`Controller::goes_by_rounds`]).
    pub fn suits(&self) -> bool {
        self.controllers().all(Controller::goes_by_rounds)
    }

    pub fn controllers(&self) -> impl Iterator<Item = &Controller> {
        self.streams.iter().map(|stream| &stream.controller)
    }

    /// Returns the number of round trips in which the queue overflowed.
    pub fn overflows(&self) -> u64 {
        self.overflows
    }

    /// Packets that the path took, of all streams.
    pub fn taken(&self) -> u64 {
        self.streams.iter().map(|stream| stream.taken).sum()
    }

    /// Lets the congestion control of a stream live through what a simulation showed; the next round begins after the last of it.
    pub fn follow(&mut self, stream: usize, shown: &[Shown]) {
        let stream = &mut self.streams[stream];
        for one in shown {
            if one.cut {
                stream.relive(one);
            } else if one.acked > 0 {
                stream.acknowledge(&self.path, one.at, one.rtt, one.acked as f64, one.repairing);
            }
            stream.controller.poke("cwnd", one.cwnd.max(stream.controller.mss()));
            stream.controller.poke("ssthresh", one.ssthresh);
            stream.flight = stream.controller.window().min(self.path.window_bytes);
            self.now_s = self.now_s.max(one.at.seconds());
        }
    }

    /// Goes on until so much more is delivered, for `rounds_max` rounds at most. What is left of the last round comes next time.
    pub fn run(&mut self, bytes: f64, rounds_max: u64) -> Reached {
        let first = self.rounds;
        let mut reached = Reached { time_s: 0.0, delivered_bytes: 0.0, rounds: 0 };
        while reached.delivered_bytes < bytes && (self.begun.0 > 0.0 || self.rounds - first < rounds_max) {
            let (carried, span_s) = if self.begun.0 > 0.0 { self.begun } else { self.round() };
            let wanted = bytes - reached.delivered_bytes;
            let share = if carried > wanted { wanted / carried } else { 1.0 };
            self.begun = (carried * (1.0 - share), span_s * (1.0 - share));
            reached.time_s += share * span_s;
            reached.delivered_bytes += share * carried;
        }
        reached.rounds = self.rounds - first;
        reached
    }

    /// One round trip; answers the bytes that it delivered for the first time, and its seconds.
    fn round(&mut self) -> (f64, f64) {
        let flight: f64 = self.streams.iter().map(|stream| stream.flight).sum();
        let span_s = self.path.rtt_s.max(flight / self.path.bytes_per_s());
        let before: Vec<f64> = self.streams.iter().map(|stream| stream.flight).collect();
        let carried =
            self.streams.iter_mut().map(|stream| stream.round(&self.path, self.now_s, span_s, &mut self.draw)).sum();
        self.now_s += span_s;
        self.rounds += 1;
        self.overflow(&before);
        (carried, span_s)
    }

    /// Settles which streams lose in the next round when it finds the queue full.
    fn overflow(&mut self, before: &[f64]) {
        let (was, is): (f64, f64) = (before.iter().sum(), self.streams.iter().map(|stream| stream.flight).sum());
        let full = self.path.full_bytes();
        if is <= full {
            return;
        }
        self.overflows += 1;
        let from = if was < full { (full - was) / (is - was) } else { 0.0 };
        let alone = self.streams.len() == 1;
        let mut most: Option<(usize, f64)> = None;
        let mut hit = false;
        for (i, stream) in self.streams.iter_mut().enumerate() {
            if stream.recovering > 0.0 || stream.repairing > 0.0 {
                continue;
            }
            let grown = (stream.flight - before[i]).max(0.0);
            let chance = grown / stream.controller.mss();
            if alone || self.draw.uniform() < chance {
                let at = if alone { from } else { from + (1.0 - from) * self.draw.uniform() };
                stream.drop_at(at, grown);
                hit = true;
            }
            if most.is_none_or(|(_, so_far)| grown > so_far) {
                most = Some((i, grown));
            }
        }
        if let (false, Some((i, grown))) = (hit, most) {
            self.streams[i].drop_at(from, grown);
        }
    }
}

impl Stream {
    fn new(spec: &Spec, mss: u64, initial_window_bytes: u64, path: &Path, draw: &mut Draw) -> Stream {
        let mut controller = Controller::new(spec, mss, initial_window_bytes);
        controller.set_seed(draw.next());
        let flight = controller.window().min(path.window_bytes);
        let mut stream = Stream {
            controller,
            flight,
            spared: 0.0,
            recovering: 0.0,
            kept: 1.0,
            repairing: 0.0,
            drop: None,
            acked: 0.0,
            counted: 0.0,
            lost: 0.0,
            taken: 0,
        };
        stream.spare(path, draw);
        stream
    }

    /// Draws how much passes until the path takes the next packet: geometric in packets.
    fn spare(&mut self, path: &Path, draw: &mut Draw) {
        let packets = libm::log(1.0 - draw.uniform()) / libm::log1p(-path.loss);
        self.spared = if path.loss > 0.0 { packets.max(1.0) * self.controller.mss() } else { f64::INFINITY };
    }

    fn drop_at(&mut self, position: f64, bytes: f64) {
        let chunk = (position * f64::from(CHUNKS)) as u32;
        self.drop = Some((chunk.min(CHUNKS - 1), bytes.max(self.controller.mss())));
    }

    /// What was in flight is acknowledged; answers the bytes that arrived for the first time.
    fn round(&mut self, path: &Path, now_s: f64, span_s: f64, draw: &mut Draw) -> f64 {
        let (rtt, chunk, lost_before) = (Span::from_seconds(span_s), self.flight / f64::from(CHUNKS), self.lost);
        let drop = self.drop.take();
        let carried = self.flight;
        // What is not yet acknowledged is in flight, however often that was cut.
        self.recovering = self.recovering.min(carried);
        let mut sent = 0.0;
        for number in 0..CHUNKS {
            let now = Time::from_seconds(now_s + span_s * f64::from(number + 1) / f64::from(CHUNKS));
            let mut lost = drop.filter(|(at, _)| *at == number).map_or(0.0, |(_, bytes)| bytes);
            self.spared -= chunk;
            while self.spared <= 0.0 {
                let over = self.spared;
                self.spare(path, draw);
                self.spared += over;
                self.taken += 1;
                lost += self.controller.mss();
            }
            self.lost += lost;
            if lost > 0.0 && self.recovering <= 0.0 && self.repairing <= 0.0 {
                self.cut(now, lost);
            }
            let (in_recovery, in_repair) = (self.recovering > 0.0, self.repairing > 0.0);
            let before = self.controller.window();
            self.acknowledge(path, now, Some(rtt), chunk, in_recovery || in_repair);
            if in_recovery {
                self.recovering -= chunk;
                sent += chunk * self.kept;
            } else if in_repair {
                self.repairing -= chunk;
                sent += chunk;
            } else {
                sent += chunk + self.controller.window() - before;
            }
        }
        let next = if self.recovering > 0.0 { sent } else { self.controller.window() };
        self.flight = next.min(path.window_bytes).max(self.controller.mss());
        (carried - (self.lost - lost_before)).max(0.0)
    }

    /// A cut that left the threshold shown, and a window below it after a timeout. The window before it, of which the last
    /// instant shows too little while windows double, is the one from which the congestion control comes to that threshold.
    fn relive(&mut self, shown: &Shown) {
        let event = |inflight: f64| {
            let (now, inflight) = (shown.at, inflight as u64);
            if shown.cwnd < shown.ssthresh {
                Signal::Rto { now, inflight }
            } else {
                Signal::Loss { now, lost: 1, inflight }
            }
        };
        let before = self.controller.window();
        let mut trial = self.controller.clone();
        trial.on_congestion(&event(before));
        let found = before * shown.ssthresh / trial.ssthresh();
        if found.is_finite() && found >= before {
            self.controller.poke("cwnd", found);
            self.flight = found;
        }
        self.controller.on_congestion(&event(self.flight));
    }

    fn cut(&mut self, now: Time, lost: f64) {
        let before = self.controller.window();
        self.controller.on_congestion(&Signal::Loss { now, lost: lost as u64, inflight: self.flight as u64 });
        self.kept = self.controller.window() / before;
        self.recovering = self.flight;
        self.repairing = self.controller.window() * (1.0 - self.controller.mss() / lost);
    }

    fn acknowledge(&mut self, path: &Path, now: Time, rtt: Option<Span>, bytes: f64, in_recovery: bool) {
        if let Some(due) = self.controller.next_timer().filter(|due| *due <= now) {
            self.controller.on_timer(due);
        }
        let counted = self.counted + if self.controller.goes_by_acks() { path.counted * bytes } else { bytes };
        // Whole bytes of the sum, so that parts of a byte are not lost.
        let acked = counted as u64 - self.counted as u64;
        (self.acked, self.counted) = (self.acked + bytes, counted);
        let ack = Ack {
            now,
            acked,
            rtt,
            inflight: self.flight as u64,
            app_limited: self.controller.window() > path.window_bytes,
            delivered: self.acked as u64,
            rate_bps: rtt.map(|rtt| self.flight * 8.0 / rtt.seconds()),
            min_rtt: Some(Span::from_seconds(path.rtt_s)),
            srtt: rtt,
            lost: self.lost as u64,
            ..Ack::default()
        };
        if in_recovery {
            self.controller.on_ack_in_recovery(&ack);
        } else {
            self.controller.on_ack(&ack);
        }
    }
}

#[cfg(test)]
mod tests;
