//! The TCP options that a run has: those of each group of hosts, and those in use.

use std::collections::BTreeMap;
use std::sync::Arc;

use elephan_tcp::Options;

/// The options in use, shared by index.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    /// Per group of hosts.
    pub groups: Vec<Options>,
    pub used: Vec<Arc<Options>>,
    /// Index into `used` of the options of a group of hosts under a traffic entry's overrides.
    pub index: BTreeMap<(usize, Option<usize>), u32>,
}

impl Stacks {
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
