//! CoDel, after the pseudocode of RFC 8289 section 5 and what docs/models/aqm.md says of it.

use elephan_link::queue::CodelSpec;
use elephan_units::PS_PER_S;

use super::queue::{Leaving, Line, Waiting};

/// The largest packet counts as this at least.
const MAXPACKET_LEAST: u64 = 1514;

pub struct Codel {
    spec: CodelSpec,
    maxpacket: u64,
    first_above_time: Option<u64>,
    drop_next: u64,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl Codel {
    pub fn new(spec: &CodelSpec) -> Codel {
        Codel {
            spec: spec.clone(),
            maxpacket: MAXPACKET_LEAST,
            first_above_time: None,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
        }
    }

    /// A packet of so many bytes has come in.
    pub fn see(&mut self, bytes: u64) {
        self.maxpacket = self.maxpacket.max(bytes);
    }

    fn control_law(&self, t: u64, count: u32) -> u64 {
        let interval_s = self.spec.interval.0 as f64 / PS_PER_S as f64;
        t + (interval_s / f64::from(count).sqrt() * PS_PER_S as f64 + 0.5) as u64
    }

    /// The next packet, and whether it may be dropped.
    fn dodequeue(&mut self, now: u64, line: &mut Line) -> (Option<Waiting>, bool) {
        let Some(packet) = line.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        if now - packet.since < self.spec.target.0 || line.bytes <= self.maxpacket {
            self.first_above_time = None;
            return (Some(packet), false);
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(now + self.spec.interval.0);
                (Some(packet), false)
            }
            Some(first_above_time) => (Some(packet), now > first_above_time),
        }
    }

    fn can_mark(&self, packet: &Waiting) -> bool {
        self.spec.ecn && packet.packet.is_ect()
    }

    pub fn leave(&mut self, now: u64, line: &mut Line) -> Leaving {
        let (mut packet, mut ok_to_drop) = self.dodequeue(now, line);
        let mut leaving = Leaving::default();
        let mut marked = false;
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next && !marked {
                let Some(late) = packet.take() else { break };
                self.count += 1;
                if self.can_mark(&late) {
                    (packet, marked) = (Some(late), true);
                } else {
                    leaving.dropped.push((late, "codel"));
                    (packet, ok_to_drop) = self.dodequeue(now, line);
                    self.dropping = ok_to_drop;
                }
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                }
            }
        } else if let Some(late) = packet.take_if(|_| ok_to_drop) {
            if self.can_mark(&late) {
                (packet, marked) = (Some(late), true);
            } else {
                leaving.dropped.push((late, "codel"));
                (packet, _) = self.dodequeue(now, line);
            }
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let is_soon = now < self.drop_next + 16 * self.spec.interval.0;
            self.count = if delta > 1 && is_soon { delta } else { 1 };
            self.lastcount = self.count;
            self.drop_next = self.control_law(now, self.count);
        }
        leaving.next = packet.map(|packet| {
            let above = self.spec.ce_threshold.is_some_and(|threshold| now - packet.since > threshold.0);
            let marked = marked || above && packet.packet.is_ect();
            (packet, marked)
        });
        leaving
    }
}
