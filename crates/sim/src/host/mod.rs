//! The hosts of a world that are not ideal: what stands between TCP and the wire (`elephan_host` has the models).
//!
//! A host without models has no place here, and a world without such hosts pays for one branch where segments leave TCP
//! ([`Hosts::transmit`], in `World::flush`) and one where packets come in ([`Hosts::receive`], in `World::arrival_of_frame`).

mod approach;
mod departures;
mod hosts;
mod kernel;
mod port;
mod reader;
mod rows;
mod small_queues;
mod transmit;
mod work;

pub use hosts::Hosts;
pub use transmit::TXQUEUE_FULL;
pub use work::CPU_BUSY;

use elephan_units::Time;

use crate::packet::flags;
use crate::target::{HostTimer, Target};
use crate::world::World;

impl World {
    /// The loggers of all hosts begin.
    pub fn begin_hosts(&mut self) {
        for (node, host) in self.hosts.iter() {
            if let Some(logger) = host.kernel.as_ref().and_then(|kernel| kernel.logger.as_ref()) {
                self.net.events.push(Target::Host(HostTimer::Logger, node).keyed(logger.due(), node));
            }
        }
    }

    /// A timer of a host has rung; the number is that of a node, or of a socket.
    #[cold]
    pub fn host_timer(&mut self, now: Time, timer: HostTimer, number: u32) {
        match timer {
            HostTimer::Interrupt => self.interrupt_timer(now, number),
            HostTimer::Processor => self.cpu_timer(now, number),
            HostTimer::Logger => self.logger_timer(now, number),
            HostTimer::Reader => self.reader_timer(now, number),
            HostTimer::Approach => self.approach_timer(now, number),
            HostTimer::Departure => self.departure_timer(now, number),
        }
    }

    /// A packet has come over a link to a host that may be one with a receive side; `id` is that of its arrival.
    #[cold]
    pub fn come_in(&mut self, now: Time, id: u32, packet: u32) {
        // Arrivals have the number of their link, that of its stage or that of its late ones (`Net::arrive_otherwise`).
        let link = id as usize % self.net.links.len();
        let node = self.plan.links[link].to;
        let bits = self.net.packets[packet].flags;
        if bits & (flags::NOTIFICATION | flags::RDMA) == 0 && self.hosts.get(node).is_some_and(|h| h.kernel.is_some()) {
            self.approach(now, node, packet);
        } else {
            self.deliver(now, packet);
        }
    }
}
