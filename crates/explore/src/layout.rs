//! Where the nodes of a network are drawn.
//!
//! If senders and receivers are different hosts, data goes from left to right: a node stands as far right as it is far from the senders.
//! Otherwise hosts stand at the bottom and switches above them, level by level. Within a column or a level nodes are in the order that has
//! few crossings: each near the mean place of its neighbours.

use std::collections::VecDeque;

use elephan_scenario::{NodeKind, Plan};

/// Rounds of ordering; crossings hardly change after them.
const ROUNDS: usize = 8;

/// A place for each node, from 0 to 1 from left to right and from top to bottom.
pub fn places(plan: &Plan) -> Vec<(f64, f64)> {
    let near = neighbours(plan);
    let mut sends = vec![false; plan.nodes.len()];
    let mut takes = sends.clone();
    for flow in plan.traffic.iter().flat_map(|traffic| &traffic.flows) {
        sends[flow.from as usize] = true;
        takes[flow.to as usize] = true;
    }
    let both = (0..sends.len()).filter(|&i| sends[i] && takes[i]).count();
    let across = both == 0 && sends.iter().any(|&is| is);
    let level = if across { columns(&near, &sends, &takes) } else { levels(plan, &near) };
    let along = ordered(&near, &level);
    let place = |i: usize| if across { (level[i], along[i]) } else { (along[i], 1.0 - level[i]) };
    (0..plan.nodes.len()).map(place).collect()
}

fn neighbours(plan: &Plan) -> Vec<Vec<usize>> {
    let mut near = vec![Vec::new(); plan.nodes.len()];
    plan.links.iter().for_each(|link| near[link.from as usize].push(link.to as usize));
    near
}

/// Hops to the nearest of some nodes.
fn hops(near: &[Vec<usize>], from: impl Iterator<Item = usize>) -> Vec<Option<usize>> {
    let mut hops = vec![None; near.len()];
    let mut next: VecDeque<usize> = from.inspect(|&i| hops[i] = Some(0)).collect();
    while let Some(i) = next.pop_front() {
        for &k in &near[i] {
            if hops[k].is_none() {
                hops[k] = hops[i].map(|hops| hops + 1);
                next.push_back(k);
            }
        }
    }
    hops
}

/// Senders at 0, receivers at 1, others between.
fn columns(near: &[Vec<usize>], sends: &[bool], takes: &[bool]) -> Vec<f64> {
    let chosen = |which: &[bool]| hops(near, (0..near.len()).filter(|&i| which[i]).collect::<Vec<_>>().into_iter());
    let (left, right) = (chosen(sends), chosen(takes));
    let place = |i: usize| match (left[i], right[i]) {
        (Some(0), _) => 0.0,
        (_, Some(0)) => 1.0,
        (Some(a), Some(b)) => a as f64 / (a + b) as f64,
        _ => 0.5,
    };
    (0..near.len()).map(place).collect()
}

/// Hosts at 0, the switches that are farthest from hosts at 1.
fn levels(plan: &Plan, near: &[Vec<usize>]) -> Vec<f64> {
    let is_host = |i: &usize| matches!(plan.nodes[*i].kind, NodeKind::Host);
    let hops = hops(near, (0..near.len()).filter(is_host).collect::<Vec<_>>().into_iter());
    let most = hops.iter().flatten().copied().max().unwrap_or(0).max(1);
    hops.iter().map(|hops| hops.unwrap_or(most) as f64 / most as f64).collect()
}

/// A place from 0 to 1 within each column or level.
fn ordered(near: &[Vec<usize>], level: &[f64]) -> Vec<f64> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_level: Vec<usize> = (0..level.len()).collect();
    by_level.sort_by(|&a, &b| level[a].total_cmp(&level[b]).then(a.cmp(&b)));
    for i in by_level {
        match groups.last_mut() {
            Some(group) if level[group[0]] == level[i] => group.push(i),
            _ => groups.push(vec![i]),
        }
    }
    let mut along = vec![0.5; level.len()];
    let spread = |group: &[usize], along: &mut [f64]| {
        for (place, &i) in group.iter().enumerate() {
            along[i] = (place as f64 + 0.5) / group.len() as f64;
        }
    };
    groups.iter().for_each(|group| spread(group, &mut along));
    for round in 0..ROUNDS {
        let order: Vec<usize> =
            if round % 2 == 0 { (0..groups.len()).collect() } else { (0..groups.len()).rev().collect() };
        for g in order {
            let mean = |i: usize| match near[i].len() {
                0 => along[i],
                n => near[i].iter().map(|&k| along[k]).sum::<f64>() / n as f64,
            };
            let mut keyed: Vec<(f64, usize)> = groups[g].iter().map(|&i| (mean(i), i)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            groups[g] = keyed.into_iter().map(|(_, i)| i).collect();
            spread(&groups[g], &mut along);
        }
    }
    along
}
