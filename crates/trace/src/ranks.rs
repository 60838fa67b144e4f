//! The troubles of all connections, the worst first: a few of each kind are kept by name, the others are counted.

use std::collections::BTreeMap;

use crate::amount::{at, number, share, time};
use crate::finding::{Finding, Kind};

/// Connections of a kind that are named.
const NAMED: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    weight: u64,
    name: String,
    finding: Finding,
}

/// Troubles by kind.
#[derive(Clone, Debug, Default)]
pub struct Ranks(BTreeMap<Kind, (u64, Vec<Named>)>);

fn weight(finding: &Finding) -> Option<u64> {
    match finding.kind {
        Kind::Refused | Kind::Reset => Some(0),
        Kind::Unanswered | Kind::BlackHole | Kind::Stuck | Kind::Icmp(_) => Some(finding.spell.count),
        Kind::SlowSetup | Kind::Closed | Kind::Timer | Kind::Outage | Kind::Silence => Some(finding.value),
        Kind::Lossy => Some(finding.value),
        Kind::DelayedAck | Kind::Unasked | Kind::FixedWindow | Kind::FullLink => None,
        Kind::Pacing | Kind::SlowStart | Kind::LossCuts => None,
        Kind::Queue | Kind::Marks | Kind::AccEcn => None,
    }
}

impl Ranks {
    /// A trouble of the connection with this name.
    pub fn add(&mut self, finding: &Finding, name: impl FnOnce() -> String) {
        let Some(weight) = weight(finding) else { return };
        let (count, kept) = self.0.entry(finding.kind).or_default();
        *count += 1;
        if kept.len() < NAMED || kept.last().is_some_and(|last| last.weight < weight) {
            let place = kept.partition_point(|one| one.weight >= weight);
            kept.insert(place, Named { weight, name: name(), finding: *finding });
            kept.truncate(NAMED);
        }
    }

    /// A sentence for each kind.
    pub fn lines(&self) -> Vec<String> {
        self.0.iter().map(|(kind, (count, kept))| line(*kind, *count, kept)).collect()
    }
}

fn line(kind: Kind, count: u64, kept: &[Named]) -> String {
    let (one, more) = match kind {
        Kind::Refused => ("connection was refused", "connections were refused"),
        Kind::Unanswered => ("connection got no answer", "connections got no answer"),
        Kind::SlowSetup => ("connection was slow to set up", "connections were slow to set up"),
        Kind::Reset => ("connection was reset", "connections were reset"),
        Kind::BlackHole => {
            ("connection met a black hole of the path's MTU", "connections met a black hole of the path's MTU")
        }
        Kind::Stuck => ("connection got no ACK any more", "connections got no ACK any more"),
        Kind::Outage => ("connection had an outage", "connections had an outage"),
        Kind::Silence => ("connection was silent for long", "connections were silent for long"),
        Kind::Closed => ("connection waited for a closed window", "connections waited for a closed window"),
        Kind::Timer => ("connection waited for a timer", "connections waited for a timer"),
        Kind::Icmp(_) => ("connection met an error that ICMP reports", "connections met an error that ICMP reports"),
        _ => ("connection lost many segments", "connections lost many segments"),
    };
    let named: Vec<String> = kept.iter().map(|one| format!("{} ({})", one.name, detail(&one.finding))).collect();
    let rest = count - kept.len() as u64;
    let others = if rest > 0 { format!(" and {} more", number(rest)) } else { String::new() };
    let said = if count == 1 { one } else { more };
    format!("{} {said}: {}{others}.", number(count), named.join(", "))
}

fn detail(finding: &Finding) -> String {
    let Finding { kind, spell, value, beside, .. } = *finding;
    let what = match kind {
        Kind::SlowSetup | Kind::Outage | Kind::Silence | Kind::Closed | Kind::Timer => format!("{} ", time(value)),
        Kind::Unanswered | Kind::BlackHole | Kind::Stuck => format!("sent {} times, ", number(spell.count)),
        Kind::Lossy => format!("{} of its segments, ", share(value, beside)),
        _ => String::new(),
    };
    format!("{what}{}, packet {}", format_args!("at {}", at(spell.begin)), spell.frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signs::Spell;

    #[test]
    fn the_worst_are_named_and_the_others_counted() {
        let mut ranks = Ranks::default();
        for i in 1..=5u64 {
            let spell = Spell { begin: i * 1_000_000_000, end: 0, frame: i, count: 2 };
            let finding = Finding::new(Kind::SlowSetup, spell, i * 1_000_000_000, 0);
            ranks.add(&finding, || format!("c{i}"));
        }
        let said = "5 connections were slow to set up: c5 (5 s at 5 s, packet 5), c4 (4 s at 4 s, packet 4), \
                    c3 (3 s at 3 s, packet 3) and 2 more.";
        assert_eq!(ranks.lines(), [said]);
    }
}
