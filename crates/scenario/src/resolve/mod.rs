//! Meaning: names become indices, defaults values, and what cannot run is refused, each at its place.

mod amounts;
mod bounds;
pub(crate) mod changes;
mod checks;
mod crossing;
mod disks;
mod flows;
mod groups;
mod guests;
mod hosts;
mod links;
mod loading;
mod nodes;
mod options;
mod pairs;
mod ports;
mod ranks;
mod resolver;
mod routes;
mod stacks;
mod steps;

pub(crate) use checks::limit_of;

use std::collections::BTreeMap;

use elephan_cc::guest::Interpreter;
use elephan_units::Time;

use self::crossing::Crossing;
use self::groups::Groups;
use self::resolver::Resolver;
use crate::Plan;
use crate::error::Problem;
use crate::tree::{Node, Path};
use crate::written::Scenario;

/// A step: what it works out or checks, and how. It reads the words, and may spell out a default among them.
type Step = (&'static str, fn(&mut Resolver<'_>, &mut Scenario));

/// All steps in their order. If a step finds something wrong, those of its stage still run: the stages after it would only report
/// consequences.
const STAGES: [&[Step]; 5] = [
    &[
        ("times", |r, words| r.times(words)),
        ("switches", |r, words| r.switches(words)),
        ("models of hosts", |r, words| r.models(words)),
        ("congestion management", |r, words| r.congestion_management(words)),
        ("disks", |r, words| r.disks(words)),
        ("groups of nodes", |r, words| r.groups(words)),
        ("guests", |r, words| r.guests(words)),
    ],
    &[("stacks", |r, words| r.stacks(words)), ("links", |r, words| r.links(words))],
    &[("traffic", |r, words| r.traffic(words))],
    &[("routes", |r, words| r.routes(words))],
    &[
        ("queues", |r, words| r.queues(words, 0..r.links.len(), r.set)),
        ("ways out of hosts", |r, words| r.ways_out(words)),
        ("readers", |r, words| r.readers(words)),
        ("buffers of switches", |r, words| r.buffers(words, r.set.is_some())),
        ("bounds of parameters", |r, words| r.bounds(words)),
        ("record", |r, words| r.record(words)),
        ("rows of samples", |r, words| r.rows(words)),
        ("offers of traffic", |r, words| r.offers(words)),
    ],
];

/// What resolving a scenario gives.
pub(crate) struct Outcome {
    pub plan: Plan,
    /// The words with every default spelled out.
    pub words: Scenario,
    /// For each of the plan's links: its `[[links]]` entry, and whether it is the forward direction.
    pub entries: Vec<(usize, bool)>,
    /// Those of the plan's links of which their entry's `ports` says something, and under which name.
    pub own_port: BTreeMap<u32, String>,
    groups: Groups,
    crossings: Vec<Crossing>,
}

/// Resolves a scenario as it is at the start of the run or, with the paths that a change `set`, after that.
pub(crate) fn resolve(
    mut words: Scenario,
    tree: &Node,
    set: Option<&[Path]>,
    interpreter: Option<&dyn Interpreter>,
) -> Result<Outcome, Vec<Problem>> {
    let mut r = Resolver::new(tree, set, interpreter);
    for stage in STAGES {
        for (_, step) in stage {
            step(&mut r, &mut words);
        }
        r.done()?;
    }
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
        record: r.record,
    };
    r.guests.bind(&mut plan);
    let (entries, own_port) = (r.entries, r.own_port);
    Ok(Outcome { plan, words, entries, own_port, groups: r.groups, crossings: r.crossings })
}
