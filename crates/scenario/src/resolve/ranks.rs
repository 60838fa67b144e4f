//! Hosts as the ranks of a parallel program.

use std::collections::BTreeMap;
use std::sync::Arc;

use elephan_random::Stream;
use elephan_traffic::Parallel;
use elephan_units::stop;

use super::pairs::Pairs;
use super::resolver::Resolver;
use crate::plan::Group;
use crate::tree::Path;
use crate::written::{FlowPairing, TrafficWords};

impl Resolver<'_> {
    /// Keys that ranks have no use for.
    pub(super) fn check_ranks(&mut self, at: &Path, traffic: &TrafficWords) {
        let name = traffic.kind.name();
        if traffic.to.is_some() {
            self.report(at.key("to"), format!("the ranks of {name} are the hosts of `from`; leave this out"));
        }
        if traffic.pairing != FlowPairing::Auto {
            self.report(at.key("pairing"), format!("{name} says which ranks talk; leave this out"));
        }
        if traffic.connections != 1 {
            self.report(at.key("connections"), format!("{name} has one connection for each pair; leave this out"));
        }
    }

    /// Which hosts send to each other, and the groups of ranks; `None` after reporting.
    pub(super) fn ranks(
        &mut self,
        at: &Path,
        parallel: &Parallel,
        hosts: &[u32],
        stream: &mut Stream,
        left: usize,
    ) -> Option<(Pairs, Vec<Group>)> {
        let mut sorted = hosts.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
            let message = format!("{} is there twice; a host is one rank", self.nodes[twice[0] as usize].name);
            self.report(at.key("from"), message);
            return None;
        }
        let first: BTreeMap<u32, u32> = self.links.iter().rev().map(|link| (link.from, link.to)).collect();
        let hosts = parallel.in_order(hosts, &|host| first.get(&host).copied().unwrap_or(host), stream);
        let made = parallel.groups(hosts.len() as u32).and_then(|groups| {
            let count = groups.first().map_or(0, Vec::len) as u32;
            Ok((groups, Arc::new(parallel.program(count)?)))
        });
        let (members, program) = match made {
            Ok(made) => made,
            Err(invalid) => {
                self.report(at.key(&invalid.parameter), invalid.reason);
                return None;
            }
        };
        let talks = program.pairs();
        if talks.is_empty() {
            self.report(at.clone(), "no rank sends anything");
            return None;
        }
        if talks.len().saturating_mul(members.len()) > left {
            let message = format!("{} x {} pairs of ranks are more than {left} flows", members.len(), talks.len());
            self.report(at.key("from"), message);
            return None;
        }
        let (mut pairs, mut groups) = (Vec::with_capacity(talks.len() * members.len()), Vec::new());
        for members in members {
            stop::look();
            let of = |rank: u32| hosts[members[rank as usize] as usize];
            let first = pairs.len();
            pairs.extend(talks.iter().map(|&(from, to)| (of(from), of(to))));
            let hosts = members.iter().map(|&rank| hosts[rank as usize]).collect();
            groups.push(Group { program: program.clone(), hosts, first });
        }
        Some((pairs, groups))
    }
}
