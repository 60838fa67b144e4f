//! What passes the taps of ports goes to the capture files.

use elephan_units::Time;

use super::Net;
use crate::ids::LinkId;
use crate::packet::flags;
use crate::target::Content;

impl Net {
    /// A packet passes a tap.
    #[cold]
    pub(super) fn capture(&mut self, now: Time, tap: u32, packet: u32) {
        let Some(captures) = &mut self.captures else { return };
        let (p, sack) = self.packets.get(packet);
        let ends = self.routes.first_and_last(p.route);
        if p.flags & flags::NOTIFICATION != 0 {
            captures.notification(now, tap, (p.ip_bytes, self.packets.notice(packet)), ends);
        } else {
            captures.packet(now, tap, p, sack, ends);
        }
    }

    /// A PAUSE frame passes a tap of the port of `link`.
    #[cold]
    pub(super) fn capture_pause(&mut self, now: Time, tap: u32, link: LinkId, content: Content) {
        let switch = self.switches.get(self.links[link].out_of as usize);
        let quanta = switch.and_then(|s| s.quanta).unwrap_or(0);
        if let Some(captures) = &mut self.captures {
            captures.pause(now, tap, link, content.read(), quanta);
        }
    }

    /// A packet is in at the end of `link`, whose far end is a host that captures.
    #[cold]
    pub(super) fn capture_received(&mut self, now: Time, link: LinkId, packet: u32) {
        if let Some(general) = &self.links[link].general {
            self.capture(now, general.taps.received, packet);
        }
    }
}
