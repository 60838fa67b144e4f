//! The hosts of a world that are not ideal: what stands between TCP and the wire (`elephan_host` has the models).
//!
//! A host without models has no place here, and a world without such hosts pays for one branch where segments leave TCP
//! ([`Hosts::transmit`], in `World::flush`) and one where packets come in ([`Hosts::receive`], in `World::arrival_of_frame`).

mod approach;
mod kernel;
mod reader;
mod rows;
mod small_queues;
mod transmit;

use elephan_host::receive::Refused;
use elephan_scenario::Plan;
use elephan_units::Time;

use crate::packet::flags;
use crate::target::{HostTimer, Target};
use crate::world::World;
pub use kernel::CPU_BUSY;
use kernel::Kernel;
use small_queues::Held;
use transmit::Port;
pub use transmit::TXQUEUE_FULL;

/// What a world knows of its hosts.
#[derive(Default)]
pub struct Hosts {
    /// By node; empty when every host is ideal.
    all: Vec<Option<Box<Host>>>,
    /// Some host has a transmit side, or a receive side.
    pub transmit: bool,
    pub receive: bool,
    /// Segments of some host leave in bursts, or as what is below their sockets lets them.
    pub gathers: bool,
    /// What an interrupt has just refused; kept to spare an allocation.
    refused: Vec<(u32, Refused)>,
    /// By link; empty when no host has a transmit side.
    ports: Vec<Option<Box<Port>>>,
    /// By socket, as far as such of hosts with small queues have sent.
    held: Vec<Held>,
}

/// A host that is not ideal.
#[derive(Default)]
pub struct Host {
    /// Its receive side and its processor.
    pub kernel: Option<Box<Kernel>>,
}

impl Hosts {
    pub fn of(plan: &Plan) -> Hosts {
        let models = || plan.nodes.iter().map(|node| &node.models);
        if models().all(|models| models.is_none()) {
            return Hosts::default();
        }
        Hosts {
            all: models()
                .map(|models| (!models.is_none()).then(|| Box::new(Host { kernel: Kernel::of(models) })))
                .collect(),
            transmit: models().any(|models| models.transmit.is_some()),
            receive: models().any(|models| models.receive.is_some() || models.cpu.is_some()),
            gathers: models()
                .any(|models| models.transmit.is_some_and(|t| t.burst.is_some() || t.small_queues.is_some())),
            refused: Vec::new(),
            ports: transmit::ports(plan),
            held: Vec::new(),
        }
    }

    /// The host at `node`, if it is not ideal.
    pub fn get(&mut self, node: u32) -> Option<&mut Host> {
        self.all.get_mut(node as usize)?.as_deref_mut()
    }

    /// Hosts that are not ideal, by node.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Host)> {
        (0u32..).zip(&self.all).filter_map(|(node, host)| Some((node, host.as_deref()?)))
    }

    /// Receive sides and processors, with their nodes.
    fn numbered_kernels(&mut self) -> impl Iterator<Item = (u32, &mut Kernel)> {
        (0u32..).zip(&mut self.all).filter_map(|(node, host)| Some((node, host.as_mut()?.kernel.as_deref_mut()?)))
    }

    fn kernels(&mut self) -> impl Iterator<Item = &mut Kernel> {
        self.numbered_kernels().map(|(_, kernel)| kernel)
    }

    /// Packets that have come in to hosts and that TCP has not got yet.
    pub fn held(&self) -> u64 {
        self.iter().filter_map(|(_, host)| host.kernel.as_ref()).map(|kernel| kernel.held()).sum()
    }
}

impl World<'_> {
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
        if bits & (flags::NOTIFICATION | flags::ROCE) == 0 && self.hosts.get(node).is_some_and(|h| h.kernel.is_some()) {
            self.approach(now, node, packet);
        } else {
            self.deliver(now, packet);
        }
    }
}
