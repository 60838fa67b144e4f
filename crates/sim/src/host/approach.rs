//! Frames between the wire and the ring of a host: all take the same time, so they come as they were sent.

use elephan_units::{Span, Time};

use crate::packet::flags;
use crate::target::{HostTimer, Target};
use crate::world::World;

impl World {
    /// The last bit of a frame is in at a host with a receive side or a processor.
    pub fn approach(&mut self, now: Time, node: u32, packet: u32) {
        if self.kernel(node).is_none() {
            return self.deliver(now, packet);
        }
        if self.net.packets[packet].flags & flags::STAMPED != 0 {
            self.net.packets.stamp_mut(packet).landed = Some(now);
        }
        let Some(kernel) = self.kernel(node) else { return };
        let delay = kernel.receive.as_ref().map_or(Span::ZERO, |receive| receive.delay);
        if delay == Span::ZERO {
            return self.receive_frame(now, node, packet);
        }
        let at = now.saturating_add(delay);
        if kernel.approaching.is_empty() {
            self.net.events.push(Target::Host(HostTimer::Approach, node).keyed(at, node));
        }
        if let Some(kernel) = self.kernel(node) {
            kernel.approaching.push_back((at, packet));
        }
    }

    /// The first frame on its way is at the ring, with others whose last bits were in at the same instant.
    pub fn approach_timer(&mut self, now: Time, node: u32) {
        while let Some(kernel) = self.kernel(node)
            && let Some(&(at, packet)) = kernel.approaching.front()
        {
            if at > now {
                return self.net.events.push(Target::Host(HostTimer::Approach, node).keyed(at, node));
            }
            kernel.approaching.pop_front();
            self.receive_frame(now, node, packet);
        }
    }
}
