//! Which packets of a capture are looked at.

use std::net::IpAddr;

use crate::packet::End;

/// Packets that are looked at: with one of the hosts, with one of the ports, within the time; each if it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Addresses, or names that the capture gives to addresses.
    pub hosts: Vec<String>,
    pub ports: Vec<u16>,
    /// Nanoseconds since the first packet of the capture.
    pub from_ns: Option<u64>,
    pub until_ns: Option<u64>,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Whether a packet between these ends, so long after the first, is looked at. `addresses`: of the hosts that are given.
    pub fn takes(&self, addresses: &[IpAddr], ends: [End; 2], since_ns: Option<u64>) -> bool {
        let of = |chosen: &dyn Fn(&End) -> bool| ends.iter().any(chosen);
        (self.hosts.is_empty() || of(&|end| addresses.contains(&end.0)))
            && (self.ports.is_empty() || of(&|end| self.ports.contains(&end.1)))
            && since_ns.is_none_or(|since| {
                self.from_ns.is_none_or(|from| since >= from) && self.until_ns.is_none_or(|until| since <= until)
            })
    }
}
