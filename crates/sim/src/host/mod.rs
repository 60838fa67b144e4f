//! The hosts of a world that are not ideal: what stands between TCP and the wire (`elephan_host` has the models).
//!
//! A host without models has no place here, and a world without such hosts pays for one branch where segments leave TCP
//! ([`Hosts::transmit`], in `World::flush`) and one where packets come in ([`Hosts::receive`], in `World::arrival_of_frame`).

mod transmit;

use elephan_scenario::Plan;
use elephan_units::Time;

use transmit::Port;
pub use transmit::TXQUEUE_FULL;

use crate::world::World;

/// Marks the timer of a host among the timers of endpoints. Bits 24 to 27 say which of its timers (bit 28 is of the limiters), those
/// below whose: the number of a link or a node.
pub const HOST: u32 = 1 << 29;
const KIND_SHIFT: u32 = 24;

/// What a world knows of its hosts.
#[derive(Default)]
pub struct Hosts {
    /// By node; empty when every host is ideal.
    all: Vec<Option<Box<Host>>>,
    /// Some host has a transmit side, or a receive side.
    pub transmit: bool,
    pub receive: bool,
    /// Segments of some host leave in bursts.
    pub bursts: bool,
    /// By link; empty when no host has a transmit side.
    ports: Vec<Option<Box<Port>>>,
}

/// A host that is not ideal.
pub struct Host {}

impl Hosts {
    pub fn of(plan: &Plan) -> Hosts {
        let models = || plan.nodes.iter().map(|node| &node.models);
        if models().all(|models| models.is_none()) {
            return Hosts::default();
        }
        Hosts {
            all: models().map(|models| (!models.is_none()).then(|| Box::new(Host {}))).collect(),
            transmit: models().any(|models| models.transmit.is_some()),
            receive: false,
            bursts: models().any(|models| models.transmit.is_some_and(|transmit| transmit.burst.is_some())),
            ports: transmit::ports(plan),
        }
    }

    /// The host at `node`, if it is not ideal.
    pub fn get(&mut self, node: u32) -> Option<&mut Host> {
        self.all.get_mut(node as usize)?.as_deref_mut()
    }
}

impl World<'_> {
    /// A timer of a host has rung; `id` is without [`HOST`].
    #[cold]
    pub fn host_timer(&mut self, _now: Time, id: u32) {
        unreachable!("a host's timer of kind {}", id >> KIND_SHIFT)
    }

    /// A packet has come over a link to a host that may be one with a receive side; `id` is that of its arrival.
    #[cold]
    pub fn come_in(&mut self, now: Time, id: u32, packet: u32) {
        // Arrivals have the number of their link, that of its stage or that of its late ones (`Net::arrive`).
        let link = id as usize % self.net.links.len();
        let node = self.plan.links[link].to;
        match self.hosts.get(node) {
            None | Some(Host {}) => self.deliver(now, packet),
        }
    }
}
