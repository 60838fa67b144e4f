//! RED, after the table of docs/models/aqm.md.

use elephan_link::queue::RedSpec;
use elephan_random::Stream;
use elephan_units::{PS_PER_S, Size};

use super::queue::Amount;

/// Adaptive RED looks at the average each half second.
const ADAPTS_EVERY: u64 = PS_PER_S / 2;

/// The average of a queue, and what is drawn with it.
pub struct Red {
    spec: RedSpec,
    min: f64,
    max: f64,
    counts_packets: bool,
    /// Of the slope, now.
    probability: f64,
    average: f64,
    /// Packets let pass since the last one picked.
    count: u64,
    /// Since when the link has had nothing to send, if it has nothing.
    idle_since: Option<u64>,
    /// Seconds that a packet of `avpkt` takes.
    packet_s: f64,
    next_adaptation: u64,
    stream: Stream,
}

impl Red {
    pub fn new(spec: &RedSpec, bdp_bytes: u64, rate_bps: u64, stream: Stream) -> Red {
        let number = |size: Size| Amount::of(size, bdp_bytes).number() as f64;
        let max = spec.max.map_or(number(spec.limit) / 4.0, number);
        Red {
            min: spec.min.map_or(max / 3.0, number),
            max,
            counts_packets: matches!(spec.max.unwrap_or(spec.limit), Size::Packets(_)),
            probability: spec.probability,
            average: 0.0,
            count: 0,
            idle_since: Some(0),
            packet_s: spec.avpkt.0 as f64 * 8.0 / rate_bps as f64,
            next_adaptation: ADAPTS_EVERY,
            stream,
            spec: spec.clone(),
        }
    }

    /// What the average has fallen to at `now`, if the link is idle.
    fn average_at(&self, now: u64) -> f64 {
        match self.idle_since {
            None => self.average,
            Some(_) if self.average == 0.0 || self.spec.weight >= 1.0 => 0.0,
            Some(since) => {
                let idle_s = (now - since) as f64 / PS_PER_S as f64;
                self.average * libm::pow(1.0 - self.spec.weight, idle_s / self.packet_s)
            }
        }
    }

    fn adapt(&mut self, now: u64) {
        while self.spec.adaptive && self.next_adaptation <= now {
            let average = self.average_at(self.next_adaptation);
            self.next_adaptation += ADAPTS_EVERY;
            let width = self.max - self.min;
            if average > self.min + 0.6 * width && self.probability < 0.5 {
                self.probability = (self.probability + f64::min(0.01, self.probability / 4.0)).min(0.5);
            } else if average < self.min + 0.4 * width && self.probability > 0.01 {
                self.probability = (self.probability * 0.9).max(0.01);
            }
        }
    }

    /// A packet comes and finds so many bytes and packets. Returns whether it is marked, or why it is dropped.
    pub fn arrive(
        &mut self,
        now: u64,
        (bytes, packets): (u64, u64),
        has_room: bool,
        is_ect: bool,
    ) -> Result<bool, &'static str> {
        self.adapt(now);
        let was_idle = self.idle_since.is_some();
        if was_idle {
            self.average = self.average_at(now);
        } else {
            let queue = if self.counts_packets { packets } else { bytes } as f64;
            self.average += self.spec.weight * (queue - self.average);
        }
        let verdict = self.judge(has_room, is_ect);
        // A packet that is dropped leaves an idle link idle.
        self.idle_since = (was_idle && verdict.is_err()).then_some(now);
        verdict
    }

    fn judge(&mut self, has_room: bool, is_ect: bool) -> Result<bool, &'static str> {
        if !has_room {
            self.count = 0;
            return Err("queue_full");
        }
        let p_b = self.p_b();
        if p_b == 0.0 {
            self.count = 0;
            return Ok(false);
        }
        let is_picked = p_b >= 1.0 || self.stream.bernoulli(self.p_a(p_b));
        self.count = if is_picked { 0 } else { self.count + 1 };
        if !is_picked {
            return Ok(false);
        }
        let may_mark = self.spec.ecn && is_ect && !(self.spec.harddrop && p_b >= 1.0);
        if may_mark || self.spec.mark_only { Ok(may_mark) } else { Err("red") }
    }

    fn p_b(&self) -> f64 {
        let (average, min, max) = (self.average, self.min, self.max);
        if average < min {
            0.0
        } else if average < max {
            self.probability * (average - min) / (max - min)
        } else if self.spec.gentle && average < 2.0 * max {
            self.probability + (1.0 - self.probability) * (average - max) / max
        } else {
            1.0
        }
    }

    /// Gaps that are uniform on 1 .. 1 / p_b: the last packet of them is picked for certain.
    fn p_a(&self, p_b: f64) -> f64 {
        let rest = 1.0 - self.count as f64 * p_b;
        match self.spec.spaced {
            false => p_b,
            true if rest <= p_b => 1.0,
            true => p_b / rest,
        }
    }

    /// The port has asked for a packet: `is_busy` if there was one.
    pub fn leave(&mut self, now: u64, is_busy: bool) {
        self.adapt(now);
        if !is_busy && self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
    }
}
