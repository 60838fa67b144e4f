//! The hosts of a world that are not ideal.

use elephan_host::receive::Refused;
use elephan_scenario::Plan;

use super::kernel::Kernel;
use super::port::{self, Held, Port};

/// What a world knows of its hosts.
#[derive(Clone, Default)]
pub struct Hosts {
    /// By node; empty when every host is ideal.
    pub all: Vec<Option<Box<Host>>>,
    /// Some host has a transmit side, or a receive side.
    pub transmit: bool,
    pub receive: bool,
    /// Segments of some host leave in bursts, or as what is below their sockets lets them.
    pub gathers: bool,
    /// What an interrupt has just refused; kept to spare an allocation.
    pub refused: Vec<(u32, Refused)>,
    /// By link; empty when no host has a transmit side.
    pub ports: Vec<Option<Box<Port>>>,
    /// By socket, as far as such of hosts with small queues have sent.
    pub held: Vec<Held>,
}

/// A host that is not ideal.
#[derive(Clone, Default)]
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
            ports: port::ports(plan),
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
    pub fn numbered_kernels(&mut self) -> impl Iterator<Item = (u32, &mut Kernel)> {
        (0u32..).zip(&mut self.all).filter_map(|(node, host)| Some((node, host.as_mut()?.kernel.as_deref_mut()?)))
    }

    pub fn kernels(&mut self) -> impl Iterator<Item = &mut Kernel> {
        self.numbered_kernels().map(|(_, kernel)| kernel)
    }

    /// Packets that have come in to hosts and that TCP has not got yet.
    pub fn held(&self) -> u64 {
        self.iter().filter_map(|(_, host)| host.kernel.as_ref()).map(|kernel| kernel.held()).sum()
    }
}
