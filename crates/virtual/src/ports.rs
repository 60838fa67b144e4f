//! Ports of hosts: which are taken, and which comes next where any will do.

use std::collections::{BTreeMap, BTreeSet};

use elephan_sim::Address;

use crate::{Errno, Kind};

/// `net.ipv4.ip_local_port_range` of Linux.
const EPHEMERAL: std::ops::RangeInclusive<u16> = 32_768..=60_999;

#[derive(Debug, Default)]
pub(crate) struct Ports {
    taken: BTreeSet<(Kind, Address)>,
    /// By kind and host: the last one that was given out.
    last: BTreeMap<(Kind, u32), u16>,
}

impl Ports {
    /// Takes a port, any one if it is 0.
    pub fn take(&mut self, kind: Kind, at: Address) -> Result<Address, Errno> {
        if at.port != 0 {
            return if self.taken.insert((kind, at)) { Ok(at) } else { Err(Errno::AddressInUse) };
        }
        let last = self.last.entry((kind, at.host)).or_insert(*EPHEMERAL.end());
        for _ in EPHEMERAL {
            *last = if *last == *EPHEMERAL.end() { *EPHEMERAL.start() } else { *last + 1 };
            let found = Address { port: *last, ..at };
            if self.taken.insert((kind, found)) {
                return Ok(found);
            }
        }
        Err(Errno::AddressInUse)
    }

    pub fn release(&mut self, kind: Kind, at: Address) {
        self.taken.remove(&(kind, at));
    }
}
