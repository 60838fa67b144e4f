//! What has not left a port, and when it will have: for those who count a frame until its transmission is complete.

use elephan_link::driven::Pace;
use elephan_units::Time;

use super::link::{Link, Sending};

impl Link {
    /// Frames at `now` that wait at the port or are on its wire; only for ports that are not fused and do not compute departures in advance.
    pub fn present_at(&mut self, now: Time) -> u64 {
        let (_, waiting) = self.queue_at(now);
        waiting + u64::from(self.is_sending(now))
    }

    fn is_sending(&self, now: Time) -> bool {
        self.busy_until > now && self.general.as_ref().is_none_or(|g| g.sending != Sending::Control)
    }

    /// When the last of the next frames has left, whose IP packets have these sizes; as of [`Link::present_at`], of which they are the
    /// first. Of pauses it knows the one in force.
    pub fn departure(&self, now: Time, sizes: impl Iterator<Item = u32>) -> Time {
        let Some(g) = &self.general else {
            // One frame follows the other, the first is on the wire.
            let later = sizes.count() as u32 - 1;
            return self.waiting.get(later).map_or(self.busy_until, |next| next.start);
        };
        let (mut tx, mut device) = (self.tx, g.device.clone());
        let mut pace = self.own.as_ref().and_then(|own| own.pace.clone());
        let opens = g.gate.until_at(now).unwrap_or(now);
        let mut end = self.busy_until.max(now);
        for ip_bytes in sizes.skip(usize::from(self.is_sending(now))) {
            let wire = self.framing.wire_bytes(ip_bytes);
            let start = device.as_ref().map_or(end, |device| device.ready_at().max(end)).max(opens);
            if start > end {
                tx.idle();
                pace.iter_mut().for_each(Pace::idle);
            }
            end = match &mut pace {
                Some(pace) => pace.send(start, wire, ip_bytes),
                None => start.saturating_add(tx.send(wire)),
            };
            if let Some(device) = &mut device {
                device.on_start(start, end, wire);
            }
        }
        end
    }
}
