//! The graph of links, and the shortest paths in it by hops; only switches forward. A host with one link to a switch is a leaf of
//! that switch, so a search grows with switches and the links between them, not with hosts.

use std::collections::VecDeque;

use elephan_scenario::{NodeKind, Plan};
use elephan_units::stop;

use crate::ids::LinkId;

const NONE: u32 = u32::MAX;

/// Where a node's paths begin and end.
#[derive(Clone, Copy)]
struct End {
    /// The place of the node in the graph, or of the switch whose leaf it is.
    place: u32,
    /// The links of a leaf to its switch and back.
    leaf: Option<(LinkId, LinkId)>,
}

/// Links by the place that they leave; nodes that are no leaves have places.
#[derive(Clone)]
pub struct Graph {
    ends: Vec<End>,
    leaving: Vec<Vec<LinkId>>,
    forwards: Vec<bool>,
    /// The places of both ends of a link.
    from: Vec<u32>,
    to: Vec<u32>,
}

/// A search from one place: for each other the links by which it is reached over the fewest hops, in the order in which they were met.
#[derive(Clone)]
pub struct Near {
    source: u32,
    links: Vec<LinkId>,
    /// Where the links of each place end in `links`.
    ends: Vec<u32>,
    /// How many shortest paths lead to each place.
    counts: Vec<u32>,
}

impl Near {
    fn links_to(&self, place: u32) -> &[LinkId] {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.links[begin as usize..self.ends[place as usize] as usize]
    }

    /// How many numbers it holds.
    pub fn size(&self) -> usize {
        self.links.len() + self.ends.len() + self.counts.len()
    }
}

impl Graph {
    /// All links that are `up`.
    pub fn of(plan: &Plan, up: impl Fn(usize) -> bool) -> Graph {
        let links = plan.links.iter().enumerate().map(|(i, link)| (link.from, link.to, up(i))).collect::<Vec<_>>();
        let switches = plan.nodes.iter().map(|node| matches!(node.kind, NodeKind::Switch(_))).collect::<Vec<_>>();
        Graph::new(&switches, &links)
    }

    /// Links by their ends, each with whether it is up.
    pub fn new(is_switch: &[bool], links: &[(u32, u32, bool)]) -> Graph {
        let up = || (0u32..).zip(links).filter(|(_, link)| link.2).map(|(i, &(from, to, _))| (LinkId(i), from, to));
        // The only link of a node out and in; two make none.
        let mut only = vec![[None; 2]; is_switch.len()];
        let mut degree = vec![[0u32; 2]; is_switch.len()];
        for (link, from, to) in up() {
            for (way, node) in [from, to].into_iter().enumerate() {
                only[node as usize][way] = Some(link);
                degree[node as usize][way] += 1;
            }
        }
        let leaf_of = |node: usize| {
            let [Some(out), Some(back)] = only[node] else { return None };
            let (_, switch, _) = links[out.index()];
            let (from, ..) = links[back.index()];
            let is_leaf = !is_switch[node] && degree[node] == [1, 1] && is_switch[switch as usize] && from == switch;
            is_leaf.then_some((out, back))
        };
        let leaves: Vec<_> = (0..is_switch.len()).map(leaf_of).collect();
        let mut count = 0;
        let place = |leaf: &Option<(LinkId, LinkId)>| if leaf.is_some() { NONE } else { (count, count += 1).0 };
        let places: Vec<u32> = leaves.iter().map(place).collect();
        let end = |(node, leaf): (usize, &Option<(LinkId, LinkId)>)| match *leaf {
            Some((out, _)) => End { place: places[links[out.index()].1 as usize], leaf: *leaf },
            None => End { place: places[node], leaf: None },
        };
        let ends = leaves.iter().enumerate().map(end).collect();
        let mut leaving = vec![Vec::new(); count as usize];
        for (link, from, to) in up() {
            let [from, to] = [from, to].map(|node| places[node as usize]);
            if from != NONE && to != NONE {
                leaving[from as usize].push(link);
            }
        }
        Graph {
            ends,
            leaving,
            forwards: (0..is_switch.len()).filter(|&node| places[node] != NONE).map(|node| is_switch[node]).collect(),
            from: links.iter().map(|&(from, ..)| places[from as usize]).collect(),
            to: links.iter().map(|&(_, to, _)| places[to as usize]).collect(),
        }
    }

    /// The place where paths from a node begin: searches from there serve all its leaves.
    pub fn source(&self, node: u32) -> u32 {
        self.ends[node as usize].place
    }

    /// The search from a place, kept in `near` for the next.
    pub fn near<'n>(&self, source: u32, near: &'n mut Option<Near>) -> &'n Near {
        near.take_if(|near| near.source != source);
        near.get_or_insert_with(|| self.search(source))
    }

    /// Breadth first from a place.
    pub fn search(&self, source: u32) -> Near {
        const UNSEEN: u32 = u32::MAX;
        let mut hops = vec![UNSEEN; self.leaving.len()];
        hops[source as usize] = 0;
        let mut met: Vec<(u32, LinkId)> = Vec::new();
        let mut ends = vec![0u32; self.leaving.len()];
        let mut counts = vec![0u32; self.leaving.len()];
        counts[source as usize] = 1;
        let mut queue = VecDeque::from([source]);
        while let Some(place) = queue.pop_front() {
            stop::look();
            if place != source && !self.forwards[place as usize] {
                continue;
            }
            let farther = hops[place as usize] + 1;
            for &link in &self.leaving[place as usize] {
                let next = self.to[link.index()];
                if hops[next as usize] == UNSEEN {
                    hops[next as usize] = farther;
                    queue.push_back(next);
                }
                if hops[next as usize] == farther {
                    met.push((next, link));
                    ends[next as usize] += 1;
                    counts[next as usize] = counts[next as usize].saturating_add(counts[place as usize]);
                }
            }
        }
        // Each place's links in the order in which they were met: `ends` says where they begin, and then moves on to where they end.
        let mut all = 0;
        for end in &mut ends {
            (*end, all) = (all, all + *end);
        }
        let mut links = vec![LinkId::NONE; met.len()];
        for (place, link) in met {
            let end = &mut ends[place as usize];
            links[*end as usize] = link;
            *end += 1;
        }
        Near { source, links, ends, counts }
    }

    /// How many shortest paths there are to a node, of which `near` is the search.
    pub fn count(&self, near: &Near, to: u32) -> u32 {
        near.counts[self.ends[to as usize].place as usize]
    }

    /// At most `most` of the shortest paths between two nodes, of which `near` is the search from the first.
    pub fn paths(&self, near: &Near, from: u32, to: u32, most: usize) -> Vec<Vec<LinkId>> {
        let (first, last) = self.outer(from, to);
        let mut paths = Vec::new();
        // Ways back from `to`, the one by the links found first on top.
        let mut open = vec![(self.ends[to as usize].place, Vec::from_iter(last))];
        while let Some((place, way)) = open.pop() {
            stop::look();
            if place == near.source {
                paths.push(first.into_iter().chain(way.into_iter().rev()).collect());
                if paths.len() == most {
                    break;
                }
                continue;
            }
            for &link in near.links_to(place).iter().rev() {
                let longer = way.iter().copied().chain([link]).collect();
                open.push((self.from[link.index()], longer));
            }
        }
        paths
    }

    /// Calls `each` for every link of the shortest paths between two nodes, of which `near` is the search from the first, with the
    /// links by which its near end is reached: none for the first node. Then for the last node, which no link leaves. `seen` is for the
    /// places passed.
    pub fn forks(
        &self,
        near: &Near,
        (from, to): (u32, u32),
        seen: &mut Seen,
        each: &mut dyn FnMut(&[LinkId], Option<LinkId>),
    ) {
        let (first, last) = self.outer(from, to);
        let reached = |place: u32| if place == near.source { first.as_slice() } else { near.links_to(place) };
        if first.is_some() {
            each(&[], first);
        }
        let target = self.ends[to as usize].place;
        each(reached(target), last);
        seen.begin(self.leaving.len());
        let mut open = vec![target];
        while let Some(place) = open.pop() {
            for &link in near.links_to(place) {
                let before = self.from[link.index()];
                each(reached(before), Some(link));
                if seen.is_new(before) {
                    open.push(before);
                }
            }
        }
        if last.is_some() {
            each(last.as_slice(), None);
        }
    }

    /// The links of all shortest paths between two nodes, of which `near` is the search from the first: for each place of a path those
    /// that may stand there.
    pub fn abreast(&self, near: &Near, from: u32, to: u32) -> Vec<Vec<LinkId>> {
        let (first, last) = self.outer(from, to);
        let mut places: Vec<Vec<LinkId>> = last.map(|link| vec![link]).into_iter().collect();
        let mut level = vec![self.ends[to as usize].place];
        while !level.is_empty() && level != [near.source] {
            let links: Vec<LinkId> = level.iter().flat_map(|&place| near.links_to(place)).copied().collect();
            level = links.iter().map(|link| self.from[link.index()]).collect();
            level.sort_unstable();
            level.dedup();
            places.push(links);
        }
        places.extend(first.map(|link| vec![link]));
        places.reverse();
        places
    }

    /// The links of leaves with which a path between two nodes begins and ends.
    fn outer(&self, from: u32, to: u32) -> (Option<LinkId>, Option<LinkId>) {
        let [from, to] = [from, to].map(|node| self.ends[node as usize].leaf);
        (from.map(|(out, _)| out), to.map(|(_, back)| back))
    }
}

/// Which places have been passed, told anew for each search without clearing.
#[derive(Clone, Default)]
pub struct Seen {
    by: Vec<u32>,
    search: u32,
}

impl Seen {
    fn begin(&mut self, places: usize) {
        self.search = self.search.wrapping_add(1);
        if self.by.len() != places || self.search == 0 {
            (self.by, self.search) = (vec![0; places], 1);
        }
    }

    fn is_new(&mut self, place: u32) -> bool {
        std::mem::replace(&mut self.by[place as usize], self.search) != self.search
    }
}

/// All shortest paths between two nodes as one: the places that they pass, and the links by which each is left.
#[derive(Clone, Default)]
pub struct Ways {
    outer: (Option<LinkId>, Option<LinkId>),
    target: u32,
    /// Places, those farther from the source first.
    places: Vec<u32>,
    /// By place.
    leaving: Vec<Vec<LinkId>>,
    share: Vec<f64>,
}

impl Ways {
    /// Finds the paths between two nodes, of which `near` is the search from the first.
    pub fn find(&mut self, graph: &Graph, near: &Near, (from, to): (u32, u32)) {
        for &place in &self.places {
            self.leaving[place as usize].clear();
        }
        self.leaving.resize_with(graph.leaving.len(), Vec::new);
        self.outer = graph.outer(from, to);
        self.target = graph.ends[to as usize].place;
        self.places.clear();
        self.places.push(self.target);
        let mut next = 0;
        while let Some(&place) = self.places.get(next) {
            next += 1;
            for &link in near.links_to(place) {
                let before = graph.from[link.index()];
                let leaving = &mut self.leaving[before as usize];
                if leaving.is_empty() {
                    self.places.push(before);
                }
                leaving.push(link);
            }
        }
    }

    /// Finds which share of flows comes to each place, if each hands equal parts on to the links that it is left by.
    fn spread(&mut self, graph: &Graph) {
        self.share.resize(graph.leaving.len(), 0.0);
        self.places.iter().for_each(|&place| self.share[place as usize] = 0.0);
        if let Some(&source) = self.places.last() {
            self.share[source as usize] = 1.0;
        }
        for &place in self.places.iter().rev() {
            let links = &self.leaving[place as usize];
            let handed = self.share[place as usize] / links.len().max(1) as f64;
            links.iter().for_each(|link| self.share[graph.to[link.index()] as usize] += handed);
        }
    }

    /// The path at `share` of all, where at each place the links that lead on are equally likely.
    pub fn at(&mut self, graph: &Graph, near: &Near, share: f64) -> Vec<LinkId> {
        self.spread(graph);
        let mut way = Vec::from_iter(self.outer.1);
        // What all paths before the chosen one have, and what those have that end as it does.
        let (mut before, mut place, mut likely) = (0.0, self.target, 1.0);
        while place != near.source {
            let part = |link: LinkId| {
                let from = graph.from[link.index()] as usize;
                (self.share[from], 1.0 / self.leaving[from].len() as f64)
            };
            let links = near.links_to(place);
            let mut chosen = links[links.len() - 1];
            for &link in &links[..links.len() - 1] {
                let (came, each) = part(link);
                let upto = before + came * each * likely;
                if share < upto {
                    chosen = link;
                    break;
                }
                before = upto;
            }
            likely *= part(chosen).1;
            way.push(chosen);
            place = graph.from[chosen.index()];
        }
        way.extend(self.outer.0);
        way.reverse();
        way
    }
}
