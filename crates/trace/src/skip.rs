//! Why a packet is not analysed, in words that a note can count.

use std::collections::BTreeMap;
use std::fmt;

/// Why a packet is not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A protocol that is neither TCP nor UDP, by name.
    Protocol(&'static str),
    EtherType(u16),
    IpProtocol(u8),
    LinkType(i32),
    /// The headers are cut off or contradict themselves.
    Headers,
    /// A fragment of a datagram whose first fragment is not in the capture.
    Fragment,
    /// The packet names an interface that the file does not describe.
    Interface,
    /// The same packet came before: the capture saw it at two places.
    Copy,
    /// `--host`, `--port`, `--from` or `--until` leave it out.
    Filter,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Protocol(name) => f.write_str(name),
            Reason::EtherType(number) => write!(f, "EtherType 0x{number:04x}"),
            Reason::IpProtocol(number) => write!(f, "IP protocol {number}"),
            Reason::LinkType(number) => write!(f, "link type {number}"),
            Reason::Headers => f.write_str("damaged or cut-off headers"),
            Reason::Fragment => f.write_str("fragments without their first one"),
            Reason::Interface => f.write_str("of an interface that the file does not describe"),
            Reason::Copy => f.write_str("captured twice"),
            Reason::Filter => f.write_str("left out by the filter"),
        }
    }
}

/// How many packets were skipped, by reason.
#[derive(Clone, Debug, Default)]
pub struct Skipped(BTreeMap<Reason, u64>);

impl Skipped {
    pub fn add(&mut self, reason: Reason, packets: u64) {
        *self.0.entry(reason).or_default() += packets;
    }

    /// Packets of each reason, the most frequent first.
    pub fn ranked(&self) -> Vec<(String, u64)> {
        let mut found: Vec<(String, u64)> = self.0.iter().map(|(reason, &count)| (reason.to_string(), count)).collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        found
    }
}
