//! Paths of flows that draw one of many when they begin. Only the searches are kept, one for each place where paths begin, and the
//! paths that flows have drawn.

use std::collections::BTreeMap;

use super::graph::{Graph, Near, Seen, Ways};
use crate::ids::LinkId;

/// Numbers of the kept searches together, at most: 256 MB, those of a `fat-tree` with k = 48. Beyond them they are made again.
const KEPT_MAX: usize = 1 << 26;

/// Of a fabric with 256 paths between two hosts, so many draws take about as long as listing the paths.
const DRAWS_MAX: u32 = 16;

#[derive(Clone)]
pub struct Drawn {
    graph: Graph,
    /// By the place from which they are.
    near: BTreeMap<u32, Near>,
    kept: usize,
    ways: Ways,
    seen: Seen,
    /// Where the paths begin that flows between two nodes have drawn.
    taken: BTreeMap<(u32, u32), Vec<u32>>,
    /// How many flows between two nodes have drawn.
    draws: BTreeMap<(u32, u32), u32>,
}

impl Drawn {
    pub fn new(graph: Graph) -> Drawn {
        Drawn {
            graph,
            near: BTreeMap::new(),
            kept: 0,
            ways: Ways::default(),
            seen: Seen::default(),
            taken: BTreeMap::new(),
            draws: BTreeMap::new(),
        }
    }

    /// The paths that flows between two nodes have drawn, by where they begin.
    pub fn taken(&mut self, ends: (u32, u32)) -> &mut Vec<u32> {
        self.taken.entry(ends).or_default()
    }

    /// Counts a draw between two nodes; answers whether so many have drawn that listing all their paths takes no longer.
    pub fn is_worth_listing(&mut self, ends: (u32, u32)) -> bool {
        let draws = self.draws.entry(ends).or_default();
        *draws += 1;
        *draws > DRAWS_MAX
    }

    /// All paths between two nodes, at most `most`.
    pub fn all(&mut self, (from, to): (u32, u32), most: usize) -> Vec<Vec<LinkId>> {
        let (graph, near, _) = self.search(from);
        graph.paths(near, from, to, most)
    }

    /// The path by the links named first, and how many there are.
    pub fn first(&mut self, (from, to): (u32, u32)) -> Option<(Vec<LinkId>, u32)> {
        let (graph, near, _) = self.search(from);
        Some((graph.paths(near, from, to, 1).pop()?, graph.count(near, to)))
    }

    /// The links of all paths between two nodes, by their places ([`Graph::abreast`]).
    pub fn abreast(&self, (from, to): (u32, u32)) -> Vec<Vec<LinkId>> {
        let source = self.graph.source(from);
        match self.near.get(&source) {
            Some(near) => self.graph.abreast(near, from, to),
            None => self.graph.abreast(&self.graph.search(source), from, to),
        }
    }

    /// The path at a share of all.
    pub fn way(&mut self, ends: (u32, u32), share: f64) -> Vec<LinkId> {
        let (graph, near, ways) = self.search(ends.0);
        ways.find(graph, near, ends);
        ways.at(graph, near, share)
    }

    /// Calls `each` for the links of all paths between two nodes ([`Graph::forks`]).
    pub fn forks(&mut self, ends: (u32, u32), each: &mut dyn FnMut(&[LinkId], Option<LinkId>)) {
        let mut seen = std::mem::take(&mut self.seen);
        let (graph, near, _) = self.search(ends.0);
        graph.forks(near, ends, &mut seen, each);
        self.seen = seen;
    }

    /// The search for paths from a node.
    fn search(&mut self, from: u32) -> (&Graph, &Near, &mut Ways) {
        let source = self.graph.source(from);
        if !self.near.contains_key(&source) {
            let found = self.graph.search(source);
            self.kept += found.size();
            if self.kept > KEPT_MAX {
                self.near.clear();
                self.kept = found.size();
            }
            self.near.insert(source, found);
        }
        (&self.graph, &self.near[&source], &mut self.ways)
    }
}
