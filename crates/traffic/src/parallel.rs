//! A parallel program: hosts are ranks, which compute, send to each other and wait for each other.

use elephan_goal::Program;
use elephan_goal::collective::{Collective, Operation};
use elephan_random::Stream;
use elephan_units::{InvalidParameter, Span, stop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Distribution;

/// Which host is which rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// In the order of the hosts: neighbours are at one switch as far as it has room.
    #[default]
    Packed,
    /// One host of each first switch in turn: neighbours are at different switches.
    Spread,
    /// Drawn.
    Random,
}

/// Where its program comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Of a collective operation; the number of ranks is that of a group.
    Collective(Collective),
    /// A text in GOAL.
    Goal(String),
}

/// A parallel program of a traffic entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    pub work: Work,
    /// Ranks that do it together, if not all, and how many ranks apart they are.
    pub group: Option<u32>,
    pub stride: u32,
    pub order: Order,
    pub iterations: u64,
    /// Largest message, in bytes, whose send is done as soon as it has been handed over.
    pub eager: u64,
    /// How long each rank computes before each iteration.
    pub compute: Option<Distribution<Span>>,
}

impl Parallel {
    /// The ranks of each group among so many.
    ///
    /// A block of group x stride ranks has `stride` groups; rank k of the block is in group k mod stride.
    pub fn groups(&self, ranks: u32) -> Result<Vec<Vec<u32>>, InvalidParameter> {
        let (group, stride) = (self.group.unwrap_or(ranks), self.stride);
        let block =
            group.checked_mul(stride).filter(|&block| block > 0 && block <= ranks && ranks.is_multiple_of(block));
        let Some(block) = block else {
            let (key, message) = match self.group {
                Some(group) => ("group", format!("groups of {group}, {stride} apart, do not divide {ranks} ranks")),
                None => ("stride", format!("{stride}: say `group`, the number of ranks that are so far apart")),
            };
            return Err(InvalidParameter::new(key, message));
        };
        let first = (0..ranks / block).flat_map(|number| (0..stride).map(move |k| number * block + k));
        Ok(first.map(|first| (0..group).map(|place| first + place * stride).collect()).collect())
    }

    /// The program of a group of so many ranks.
    pub fn program(&self, ranks: u32) -> Result<Program, InvalidParameter> {
        match &self.work {
            Work::Collective(collective) => Collective { ranks, ..*collective }
                .program()
                .map_err(|message| InvalidParameter::new("algorithm", message)),
            Work::Goal(text) => {
                let program = elephan_goal::parse(text)
                    .map_err(|error| InvalidParameter::new("program", format!("line {error}")))?;
                if program.ranks.len() != ranks as usize {
                    let count = program.ranks.len();
                    let message = format!("has {count} ranks, and {ranks} hosts are to do it: each host is a rank");
                    return Err(InvalidParameter::new("program", message));
                }
                Ok(program)
            }
        }
    }

    /// Hosts in the order of their ranks, where `switch` has the first switch of each.
    pub fn in_order(&self, hosts: &[u32], switch: &dyn Fn(u32) -> u32, stream: &mut Stream) -> Vec<u32> {
        match self.order {
            Order::Packed => hosts.to_vec(),
            Order::Spread => spread(hosts, switch),
            Order::Random => {
                let mut shuffled = hosts.to_vec();
                // Fisher and Yates.
                for i in (1..shuffled.len()).rev() {
                    shuffled.swap(i, stream.index(i as u64 + 1) as usize);
                }
                shuffled
            }
        }
    }

    /// What S over the time is multiplied by for the bus bandwidth of a group, times S in bits; none for a program of any kind.
    pub fn bus_bits(&self, ranks: u32) -> Option<f64> {
        match &self.work {
            Work::Collective(Collective { operation, bytes, .. }) => {
                Some(operation.bus_factor(ranks) * 8.0 * *bytes as f64)
            }
            Work::Goal(_) => None,
        }
    }

    /// The operation, of a collective.
    pub fn operation(&self) -> Option<Operation> {
        match &self.work {
            Work::Collective(collective) => Some(collective.operation),
            Work::Goal(_) => None,
        }
    }
}

/// The first host of each switch, then the second of each, and so on.
fn spread(hosts: &[u32], switch: &dyn Fn(u32) -> u32) -> Vec<u32> {
    let mut seen: Vec<(u32, u32)> = Vec::new();
    let mut placed: Vec<(u32, usize, u32)> = hosts
        .iter()
        .map(|&host| {
            stop::look();
            let own = switch(host);
            let place = seen.iter().position(|&(switch, _)| switch == own).unwrap_or_else(|| {
                seen.push((own, 0));
                seen.len() - 1
            });
            seen[place].1 += 1;
            (seen[place].1, place, host)
        })
        .collect();
    placed.sort_unstable();
    placed.into_iter().map(|(_, _, host)| host).collect()
}

#[cfg(test)]
mod tests {
    use elephan_goal::collective::Algorithm;

    use super::*;

    fn parallel(group: Option<u32>, stride: u32, order: Order) -> Parallel {
        let (operation, algorithm) = (Operation::AllReduce, Algorithm::Ring);
        let work = Work::Collective(Collective { operation, algorithm, ranks: 0, bytes: 800, chunks: 1 });
        Parallel { work, group, stride, order, iterations: 1, eager: 0, compute: None }
    }

    #[test]
    fn groups_are_blocks_or_strides() {
        let of = |group, stride| parallel(group, stride, Order::Packed).groups(8);
        assert_eq!(of(None, 1).unwrap(), [[0, 1, 2, 3, 4, 5, 6, 7]]);
        assert_eq!(of(Some(4), 1).unwrap(), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(of(Some(4), 2).unwrap(), [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert_eq!(of(Some(2), 2).unwrap(), [[0, 2], [1, 3], [4, 6], [5, 7]]);
        let told = of(Some(3), 1).unwrap_err().to_string();
        assert_eq!(told, "group: groups of 3, 1 apart, do not divide 8 ranks");
        assert!(of(None, 2).unwrap_err().to_string().starts_with("stride: 2: say `group`"));
        assert!(of(Some(u32::MAX), 2).is_err() && of(Some(0), 1).is_err());
    }

    #[test]
    fn ranks_are_packed_or_spread_over_the_switches() {
        let hosts: Vec<u32> = (0..6).collect();
        let mut stream = Stream::new(1, "traffic.x", "ranks");
        let mut order = |order| parallel(None, 1, order).in_order(&hosts, &|host| host / 3, &mut stream);
        assert_eq!(order(Order::Packed), hosts);
        assert_eq!(order(Order::Spread), [0, 3, 1, 4, 2, 5]);
        let mut drawn = order(Order::Random);
        assert_ne!(drawn, hosts);
        drawn.sort_unstable();
        assert_eq!(drawn, hosts);
    }

    #[test]
    fn a_program_has_as_many_ranks_as_hosts() {
        let own = Parallel {
            work: Work::Goal("num_ranks 2 rank 0 { send 1b to 1 } rank 1 { recv 1b from 0 }".to_owned()),
            ..parallel(None, 1, Order::Packed)
        };
        assert_eq!(own.program(2).unwrap().pairs(), [(0, 1)]);
        let told = own.program(3).unwrap_err().to_string();
        assert_eq!(told, "program: has 2 ranks, and 3 hosts are to do it: each host is a rank");
        assert_eq!((own.bus_bits(2), parallel(None, 1, Order::Packed).bus_bits(4)), (None, Some(1.5 * 6400.0)));
    }
}
