//! The ports that a flow's packets go through, and when they are busy all the time.

use std::collections::BTreeSet;

use elephan_scenario::{NodeKind, Plan};

use crate::column::{numbers, numbers_where};
use crate::flows::flow_ends;
use crate::open::{Open, table};
use crate::reply::Trouble;

/// Utilisation from which on a link is full, as `elephan explain` has it.
const FULL: f64 = 0.95;

/// The ports that every shortest way between two nodes has. Where several lead on (ECMP) it is not known which one a flow takes.
pub fn certain(plan: &Plan, from: u32, to: u32) -> Vec<u32> {
    levels(plan, from, to).into_iter().filter(|ports| ports.len() == 1).flatten().collect()
}

/// The ports that some shortest way between two nodes has.
pub fn some(plan: &Plan, from: u32, to: u32) -> BTreeSet<u32> {
    levels(plan, from, to).into_iter().flatten().collect()
}

/// The ports of the shortest ways between two nodes, by how many hops they are away.
fn levels(plan: &Plan, from: u32, to: u32) -> Vec<Vec<u32>> {
    let (away, left) = (hops(plan, from, false), hops(plan, to, true));
    let Some(whole) = away[to as usize] else { return Vec::new() };
    let mut levels: Vec<Vec<u32>> = vec![Vec::new(); whole as usize];
    for (i, link) in plan.links.iter().enumerate() {
        if let (Some(a), Some(b)) = (away[link.from as usize], left[link.to as usize])
            && a + 1 + b == whole
        {
            levels[a as usize].push(i as u32);
        }
    }
    levels
}

/// Hops from a node to each other one, or `back` from each to it; `None` where there is no way. Only switches forward.
fn hops(plan: &Plan, origin: u32, back: bool) -> Vec<Option<u32>> {
    let mut leaving: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
    for link in &plan.links {
        let (a, b) = if back { (link.to, link.from) } else { (link.from, link.to) };
        leaving[a as usize].push(b);
    }
    let mut found = vec![None; plan.nodes.len()];
    found[origin as usize] = Some(0);
    let mut front = vec![origin];
    let mut count = 0;
    while !front.is_empty() {
        count += 1;
        let forwards =
            |node: &&u32| **node == origin || matches!(plan.nodes[**node as usize].kind, NodeKind::Switch(_));
        let reached: Vec<u32> =
            front.iter().filter(forwards).flat_map(|&node| leaving[node as usize].clone()).collect();
        front.clear();
        for node in reached {
            if found[node as usize].is_none() {
                found[node as usize] = Some(count);
                front.push(node);
            }
        }
    }
    found
}

/// When the ports on a flow's way are full.
pub struct Busy(Vec<Port>);

struct Port {
    number: u32,
    /// Times of samples and utilisation since the sample before. Of a port without samples: one that stands for the whole run.
    samples: Vec<(f64, f64)>,
}

impl Busy {
    /// Looks up the ports of a flow, those of the slowest links first.
    pub fn of(open: &Open, flow: u64) -> Result<Busy, Trouble> {
        let (tables, plan) = (open.tables(), open.plan()?);
        let ends = flow_ends(open, flow)?;
        let node = |name: &str| plan.nodes.iter().position(|node| node.name == name).map(|i| i as u32);
        let (Some(from), Some(to)) = (node(&ends.source), node(&ends.destination)) else { return Ok(Busy(Vec::new())) };
        let mut ports = certain(plan, from, to);
        ports.sort_by_key(|&port| plan.links[port as usize].rate.0);
        let samples = table(&tables, "port_samples")?;
        let whole = numbers(table(&tables, "ports")?, "utilisation")?;
        let of = |number: u32| {
            let (found, _) = numbers_where(samples, &["time_ns", "utilisation"], "", ("port", f64::from(number)))?;
            let mut samples: Vec<(f64, f64)> = found[0].iter().copied().zip(found[1].iter().copied()).collect();
            if samples.is_empty() {
                samples.extend(whole.get(number as usize).map(|&busy| (f64::INFINITY, busy)));
            }
            Ok(Port { number, samples })
        };
        Ok(Busy(ports.into_iter().map(of).collect::<Result<_, Trouble>>()?))
    }

    /// The slowest link that was full in the time up to a sample.
    pub fn full(&self, time: f64) -> Option<u32> {
        let busy = |port: &&Port| {
            let at = port.samples.partition_point(|sample| sample.0 < time);
            port.samples.get(at).is_some_and(|sample| sample.1 >= FULL)
        };
        self.0.iter().find(busy).map(|port| port.number)
    }
}
