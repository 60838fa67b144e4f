//! Meaning: names become indices, defaults values, and what cannot run is refused, each at its place.

mod amounts;
mod bounds;
pub(crate) mod changes;
mod checks;
mod disks;
mod flows;
mod groups;
mod guests;
mod hosts;
mod links;
mod pairs;
mod ports;
mod routes;
mod stacks;
mod steps;

pub use checks::limit_of;

use std::collections::BTreeMap;

use elephan_cc::guest::Interpreter;
use elephan_units::Time;

use crate::Plan;
use crate::error::Problem;
use crate::plan::{Link, Node as PlanNode, Traffic};
use crate::tree::{Node, Path};
use crate::written::Scenario;

/// Work in progress.
struct Resolver<'a> {
    tree: &'a Node,
    problems: Vec<Problem>,
    nodes: Vec<PlanNode>,
    groups: groups::Groups,
    links: Vec<Link>,
    /// For each of `links`: its `[[links]]` entry, and whether it is the forward direction.
    entries: Vec<(usize, bool)>,
    /// Those of `links` of which their entry's `ports` says something, and under which name.
    own_port: BTreeMap<u32, String>,
    traffic: Vec<Traffic>,
    stacks: stacks::Stacks,
    crossings: Vec<routes::Crossing>,
}

impl Resolver<'_> {
    /// Reports at the value of `path`.
    fn report(&mut self, path: Path, message: impl Into<String>) {
        let problem = Problem::at(self.tree, path, message);
        self.problems.push(problem);
    }

    /// Reports the value of `path`, which does not go with that of `other`, at the override if one of them is.
    fn report_between(&mut self, path: Path, other: &Path, message: impl Into<String>) {
        let problem = Problem::between(self.tree, path, other, message);
        self.problems.push(problem);
    }

    /// The value of `path` as it is written, in quotes, else `default`.
    fn written(&self, path: &Path, default: impl std::fmt::Display) -> String {
        self.tree.at(path).map_or_else(|| default.to_string(), Node::shown)
    }

    /// Later stages would only report consequences.
    fn done(&mut self) -> Result<(), Vec<Problem>> {
        if self.problems.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.problems)) }
    }
}

/// What resolving a scenario gives.
pub(crate) struct Outcome {
    pub plan: Plan,
    /// The words with every default spelled out.
    pub words: Scenario,
    /// For each of the plan's links: its `[[links]]` entry, and whether it is the forward direction.
    pub entries: Vec<(usize, bool)>,
    /// Those of the plan's links of which their entry's `ports` says something, and under which name.
    pub own_port: BTreeMap<u32, String>,
    groups: groups::Groups,
    crossings: Vec<routes::Crossing>,
}

/// Resolves a scenario as it is at the start of the run or, with the paths that a change `set`, after that.
pub(crate) fn resolve(
    mut words: Scenario,
    tree: &Node,
    set: Option<&[Path]>,
    interpreter: Option<&dyn Interpreter>,
) -> Result<Outcome, Vec<Problem>> {
    let mut r = Resolver {
        tree,
        problems: Vec::new(),
        nodes: Vec::new(),
        groups: groups::Groups::default(),
        links: Vec::new(),
        entries: Vec::new(),
        own_port: BTreeMap::new(),
        traffic: Vec::new(),
        stacks: stacks::Stacks::default(),
        crossings: Vec::new(),
    };
    r.times(&words);
    r.switches(&words);
    r.models(&words);
    r.congestion_management(&words);
    r.disks(&mut words);
    r.groups(&words);
    let guests = r.guests(&words, interpreter);
    r.done()?;
    r.stacks(&mut words);
    r.links(&words);
    r.done()?;
    r.traffic(&mut words);
    r.done()?;
    r.routes(&words);
    r.done()?;
    r.queues(&words, 0..r.links.len(), set);
    r.ways_out(&words);
    r.readers(&words);
    r.buffers(&words, set.is_some());
    r.bounds(&words);
    let record = r.record(&words);
    r.rows(&words, &record);
    r.offers(&words);
    r.done()?;
    let (options, option_stacks) = r.stacks.finish();
    let mut plan = Plan {
        title: words.title.clone(),
        question: words.question.clone(),
        duration: Time(words.duration.0),
        warmup: Time(words.warmup.0),
        seed: words.seed,
        ecmp: words.ecmp,
        congestion_management: words.congestion_management.clone(),
        reroute: words.reroute,
        nodes: r.nodes,
        links: r.links,
        options,
        option_stacks,
        traffic: r.traffic,
        changes: Vec::new(),
        record,
    };
    guests.bind(&mut plan);
    let (entries, own_port) = (r.entries, r.own_port);
    Ok(Outcome { plan, words, entries, own_port, groups: r.groups, crossings: r.crossings })
}
