//! The TCP options that a run has: those of each group of hosts, and those in use.

use std::collections::BTreeMap;
use std::sync::Arc;

use elephan_tcp::{IpVersion, Options};
use elephan_units::Bytes;

/// The options in use, shared by index.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    /// Per group of hosts.
    pub groups: Vec<Options>,
    pub used: Vec<Arc<Options>>,
    pub index: BTreeMap<Used, u32>,
    /// Of each node, the smallest MTU of its links out, if one has any; empty if no link has one.
    pub mtus: Vec<Option<Bytes>>,
}

/// What decides which of the options in use an end has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Used {
    pub group: usize,
    /// The traffic entry, if it has overrides.
    pub entry: Option<usize>,
    pub ip: IpVersion,
    /// That of the host's interface.
    pub mtu: Option<Bytes>,
}

impl Stacks {
    /// The MTU of a host's interface.
    pub fn mtu(&self, host: u32) -> Option<Bytes> {
        self.mtus.get(host as usize).copied().flatten()
    }

    pub fn of_group(&self, group: usize) -> &Options {
        &self.groups[group]
    }

    pub fn finish(self) -> (Vec<Arc<Options>>, Vec<String>) {
        let names = self.used.iter().map(|o| o.stack.to_owned()).collect();
        (self.used, names)
    }

    pub fn get(&self, index: u32) -> &Arc<Options> {
        &self.used[index as usize]
    }
}
