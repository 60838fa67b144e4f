//! Changes of rates, delays, losses and limits of links, which cost no resolution.
//!
//! What such an entry sets is checked, and worked out, for the links of its own `[[links]]` entry only, by the functions that do so at
//! the start of the run. An entry that needs more, or is refused, is left to the resolution of the whole scenario, which says why.
//! Builds with debug assertions resolve the scenario for other entries too, and compare.

use std::ops::Range;

use elephan_link::CongestionManagement;
use elephan_units::Time;

use super::changes::{Applied, Entry, State, limits, spelt_out};
use super::resolver::Resolver;
use crate::from_tree::from_tree;
use crate::overrides::{Names, names_of};
use crate::plan::{Change, Link};
use crate::tree::{Node, Origin, Path, Step, at};
use crate::walk::walk;
use crate::written::{Links, Scenario};
use crate::{Override, schema};

/// What only steps need to know of a scenario.
#[derive(Clone)]
pub(super) struct Ground {
    names: Names,
    /// The plan's links of each `[[links]]` entry.
    of_entry: Vec<Range<usize>>,
    /// Neither RoCE nor congestion management, of which some bounds depend on rates and delays of the network.
    plain: bool,
    /// Delays have changed since the round trips were worked out that limits in `bdp` may refer to.
    stale: bool,
    steps: u32,
}

impl Ground {
    pub fn of(tree: &Node, words: &Scenario, entries: &[(usize, bool)], roce: bool) -> Ground {
        let mut of_entry = vec![0..0; words.links.len()];
        for (i, &(entry, _)) in entries.iter().enumerate() {
            let range = &mut of_entry[entry];
            *range = if range.end == 0 { i..i + 1 } else { range.start..i + 1 };
        }
        let plain = !roce && words.congestion_management == CongestionManagement::None;
        Ground { names: names_of(tree), of_entry, plain, stale: false, steps: 0 }
    }

    /// Whether the next step is among those that are compared: the first ones, and some later.
    pub fn is_sample(&mut self) -> bool {
        self.steps += 1;
        self.steps < 30 || self.steps.is_multiple_of(500)
    }

    pub fn is_plain(&self) -> bool {
        self.plain
    }
}

/// A value that an entry sets.
struct Given<'a> {
    set: Override,
    place: Path,
    origin: Origin,
    key: &'a str,
}

/// A `[[links]]` entry as it was.
struct Kept {
    entry: usize,
    node: Node,
    words: Links,
    links: Vec<Link>,
}

impl State<'_> {
    /// What an entry changes, if that can be said without resolving the scenario; else nothing has happened.
    pub(super) fn step(&mut self, time: Time, entry: &Entry<'_>) -> Option<Applied> {
        if !self.ground.plain || entry.set.is_empty() {
            return None;
        }
        let mut given = Vec::with_capacity(entry.set.len());
        for (key, origin, node) in &entry.set {
            let set = Override::node(key, (*node).clone()).ok()?;
            let place = set.place_in(&self.ground.names);
            given.push(Given { set, place, origin: *origin, key });
        }
        let mut touched = given.iter().map(|one| entry_of(&one.place)).collect::<Option<Vec<usize>>>()?;
        touched.sort_unstable();
        touched.dedup();
        if self.ground.stale && given.iter().any(|one| limits_queues(&one.place)) {
            return None;
        }
        let kept = touched.into_iter().map(|entry| self.keep(entry)).collect::<Option<Vec<Kept>>>()?;
        let change = self.attempt(time, &given, &kept);
        if change.is_none() {
            kept.into_iter().for_each(|kept| self.restore(kept));
        }
        let places: Vec<(Path, Origin, &str)> = given.into_iter().map(|one| (one.place, one.origin, one.key)).collect();
        Some((change?, spelt_out(&self.words, &self.tree, &places)))
    }

    fn keep(&self, entry: usize) -> Option<Kept> {
        let node = self.tree.at(&at!["links", entry])?.clone();
        let links = self.links[self.ground.of_entry.get(entry)?.clone()].to_vec();
        Some(Kept { entry, node, words: self.scenario.links[entry].clone(), links })
    }

    fn restore(&mut self, kept: Kept) {
        if let Some(node) = self.tree.item_mut("links", kept.entry) {
            *node = kept.node;
        }
        self.links[self.ground.of_entry[kept.entry].clone()].clone_from_slice(&kept.links);
        self.scenario.links[kept.entry] = kept.words;
    }

    fn attempt(&mut self, at: Time, given: &[Given<'_>], kept: &[Kept]) -> Option<Change> {
        for kinds in [true, false] {
            for one in given.iter().filter(|one| one.set.is_kind() == kinds) {
                one.set.apply_in(schema(), &mut self.tree, &self.ground.names, 0).ok()?;
            }
        }
        let of = schema().pointer("/properties/links/items")?;
        for one in kept {
            let path = at!["links", one.entry];
            let node = self.tree.at(&path)?;
            if !walk(schema(), of, node, &path).is_empty() {
                return None;
            }
            self.scenario.links[one.entry] = from_tree(node).ok()?;
        }
        let set: Vec<Path> = given.iter().map(|one| one.place.clone()).collect();
        if !self.derive(kept, &set) {
            return None;
        }
        let mut links = Vec::new();
        for one in kept {
            for (i, old) in self.ground.of_entry[one.entry].clone().zip(&one.links) {
                links.extend(self.difference((&self.scenario, &self.own_port), (i, old, &self.links[i]), &set).ok()?);
            }
        }
        // From here on nothing is refused.
        for one in kept {
            let words = serde_json::to_value(&self.scenario.links[one.entry]).unwrap_or_default();
            if let Some(entry) = self.words.get_mut("links").and_then(|links| links.get_mut(one.entry)) {
                *entry = words;
            }
        }
        for change in &links {
            let link = &self.links[change.link as usize];
            if change.limit.is_some() || change.mark_above.is_some() {
                self.limits[change.link as usize] = limits(&link.queue, link.bdp_bytes);
            }
            self.ground.stale |= change.delay.is_some();
        }
        Some(Change { at, links, congestion_controls: Vec::new() })
    }

    /// Works out the links of these entries; answers whether there is nothing wrong with them.
    fn derive(&mut self, kept: &[Kept], set: &[Path]) -> bool {
        let mut r = Resolver {
            nodes: std::mem::take(&mut self.nodes),
            groups: std::mem::take(&mut self.groups),
            links: std::mem::take(&mut self.links),
            entries: std::mem::take(&mut self.entries),
            own_port: std::mem::take(&mut self.own_port),
            crossings: std::mem::take(&mut self.crossings),
            ..Resolver::new(&self.tree, Some(set), None)
        };
        let limited = set.iter().any(limits_queues);
        let fine = kept.iter().all(|one| {
            let mut all = self.ground.of_entry[one.entry].clone();
            r.check_link(one.entry, &self.scenario.links[one.entry]);
            if !r.problems.is_empty() {
                return false;
            }
            r.derive(&self.scenario, one.entry, all.clone());
            r.queues(&self.scenario, all.clone(), Some(set));
            let sends = |i: usize| r.nodes[r.links[i].from as usize].models.transmit.is_some();
            let longest = all.clone().map(|i| r.links[i].delay).max().unwrap_or_default();
            r.problems.is_empty() && !(limited && all.any(sends)) && r.is_short(&self.scenario, longest)
        });
        (self.nodes, self.groups, self.links) = (r.nodes, r.groups, r.links);
        (self.entries, self.own_port, self.crossings) = (r.entries, r.own_port, r.crossings);
        fine
    }
}

/// The `[[links]]` entry of a place at which a step may set something.
fn entry_of(place: &Path) -> Option<usize> {
    let [Step::Key(list), Step::Index(entry), rest @ ..] = place.0.as_slice() else { return None };
    let what = match rest {
        [Step::Key(part), Step::Key(_), Step::Key(what), ..] if part == "ports" => what,
        [Step::Key(part), Step::Key(what), ..] if part == "forward" || part == "backward" => what,
        [Step::Key(what), ..] => what,
        _ => return None,
    };
    (list == "links" && Links::can_change(what)).then_some(*entry)
}

fn limits_queues(place: &Path) -> bool {
    place
        .0
        .iter()
        .any(|step| matches!(step, Step::Key(key) if ["queue", "host_queue", "bdp_rtt"].contains(&key.as_str())))
}
