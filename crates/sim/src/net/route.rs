//! Routes, resolved before the run: shortest paths by hops, ties to the link named first in the scenario.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use elephan_scenario::Plan;

/// Marks, in a route, a link that is computed with the one before it.
pub const FUSED: u32 = 1 << 30;
/// Ends a route; it is not [`FUSED`].
pub const END: u32 = FUSED - 1;

/// What follows on a route.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// The host.
    End,
    Link(u32),
    /// A link that is computed with the one before it.
    Fused(u32),
}

/// All routes, one after the other: link numbers, each route closed by [`END`].
#[derive(Default)]
pub struct Routes {
    chain: Vec<u32>,
    known: BTreeMap<(u32, u32), u32>,
}

impl Routes {
    /// The link at a place of a route, or [`END`].
    #[inline]
    pub fn link(&self, place: u32) -> u32 {
        self.chain[place as usize] & !FUSED
    }

    /// What follows a place of a route.
    #[inline]
    pub fn next(&self, place: u32) -> Next {
        match self.chain[place as usize + 1] {
            link if link & FUSED != 0 => Next::Fused(link & !FUSED),
            END => Next::End,
            link => Next::Link(link),
        }
    }

    /// The links from a place of a route to its end.
    pub fn rest(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        self.chain[place as usize..].iter().take_while(|&&link| link != END).map(|link| link & !FUSED)
    }

    /// The first and the last link of the route that a place belongs to.
    pub fn first_and_last(&self, place: u32) -> (u32, u32) {
        let before = self.chain[..place as usize].iter().rev().take_while(|&&link| link != END).count();
        let last = self.rest(place).last();
        (self.link(place - before as u32), last.unwrap_or(END))
    }

    /// Marks every place of these links.
    pub fn fuse(&mut self, fused: &[bool]) {
        for link in self.chain.iter_mut().filter(|l| **l != END && fused[**l as usize]) {
            *link |= FUSED;
        }
    }

    /// The beginning of the route between two nodes, if it has been added.
    pub fn begin(&self, from: u32, to: u32) -> Option<u32> {
        self.known.get(&(from, to)).copied()
    }

    /// The places of all routes, each with the place before it on the same route.
    pub fn hops(&self) -> impl Iterator<Item = (Option<u32>, u32)> + '_ {
        let mut before = None;
        self.chain.iter().filter_map(move |&link| {
            let hop = (before, link);
            before = (link != END).then_some(link);
            (link != END).then_some(hop)
        })
    }

    /// Adds the routes from `from` to each of `targets`; answers the first that cannot be reached. Hosts with one link
    /// share the search from the node behind it, which `near` keeps for the next.
    pub fn add(&mut self, graph: &Graph, from: u32, targets: &[u32], near: &mut Option<Near>) -> Result<(), u32> {
        let (uplink, source) = match graph.leaving[from as usize][..] {
            [only] => (Some(only), graph.to[only as usize]),
            _ => (None, from),
        };
        let near = match near {
            Some(n) if n.source == source => n,
            other => other.insert(Near { source, towards: graph.breadth_first(source) }),
        };
        for &to in targets {
            if self.known.contains_key(&(from, to)) {
                continue;
            }
            let mut links = Vec::new();
            let mut node = to;
            while node != source {
                let Some(link) = near.towards[node as usize] else { return Err(to) };
                links.push(link);
                node = graph.from[link as usize];
            }
            self.known.insert((from, to), self.chain.len() as u32);
            self.chain.extend(uplink.iter().chain(links.iter().rev()));
            self.chain.push(END);
        }
        Ok(())
    }
}

/// A search from one node: for each other node the link by which it is reached first.
pub struct Near {
    source: u32,
    towards: Vec<Option<u32>>,
}

/// Links by the node they leave.
pub struct Graph {
    leaving: Vec<Vec<u32>>,
    from: Vec<u32>,
    to: Vec<u32>,
    is_switch: Vec<bool>,
}

impl Graph {
    pub fn of(plan: &Plan) -> Graph {
        let mut leaving = vec![Vec::new(); plan.nodes.len()];
        for (i, link) in plan.links.iter().enumerate() {
            leaving[link.from as usize].push(i as u32);
        }
        Graph {
            leaving,
            from: plan.links.iter().map(|l| l.from).collect(),
            to: plan.links.iter().map(|l| l.to).collect(),
            is_switch: plan.nodes.iter().map(|n| matches!(n.kind, elephan_scenario::NodeKind::Switch(_))).collect(),
        }
    }

    /// For each node the link by which it is reached first from `source`; only switches forward.
    fn breadth_first(&self, source: u32) -> Vec<Option<u32>> {
        let mut by = vec![None; self.leaving.len()];
        let mut seen = vec![false; self.leaving.len()];
        seen[source as usize] = true;
        let mut queue = VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            if node != source && !self.is_switch[node as usize] {
                continue;
            }
            for &link in &self.leaving[node as usize] {
                let next = self.to[link as usize] as usize;
                if !seen[next] {
                    seen[next] = true;
                    by[next] = Some(link);
                    queue.push_back(next as u32);
                }
            }
        }
        by
    }
}
