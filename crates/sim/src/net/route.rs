//! Routes, resolved before the run: shortest paths by hops. Of several ([`Ecmp`]) a flow or a packet takes one drawn for
//! it: at each switch the links that lead on are equally likely (RFC 2992, a hash without polarisation), so a path has the
//! product of these shares. The draw is a hash of the seed and the flow's name; each direction of a connection has its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use elephan_scenario::{Ecmp, Plan};
use elephan_units::stop;

use crate::ids::LinkId;
use crate::target::{Place, Route};

/// Shortest paths between two hosts, at most.
const PATHS_MAX: usize = 4096;
/// Links of all routes together, at most: beyond them a run would need more than a gigabyte for routes alone.
pub const PLACES_MAX: usize = 250_000_000;

/// All routes, one after the other: link numbers, each route closed by [`Place::END`].
#[derive(Default)]
pub struct Routes {
    chain: Vec<Place>,
    /// For two nodes, which of `paths`.
    known: BTreeMap<(u32, u32), Paths>,
    /// Paths between two nodes that were theirs before.
    former: BTreeMap<(u32, u32), Vec<Paths>>,
    /// Where a path begins in `chain`, and the share of the packets or flows that take it or one before it.
    paths: Vec<(u32, f64)>,
    ecmp: Ecmp,
    seed: u64,
}

/// A link of a route and those that are computed with it.
pub struct Leg<'a> {
    /// The link before it on the route.
    pub before: Option<LinkId>,
    links: &'a [Place],
    /// It leads to the end of the route.
    pub is_last: bool,
}

impl Leg<'_> {
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        self.links.iter().map(|place| place.link())
    }

    /// Its first link, whose port is not computed with another.
    pub fn port(&self) -> LinkId {
        self.links[0].link()
    }

    /// Its last link.
    pub fn end(&self) -> LinkId {
        self.links[self.links.len() - 1].link()
    }
}

/// The shortest paths between two nodes: a range of [`Routes::paths`].
#[derive(Clone, Copy, Debug)]
struct Paths {
    first: u32,
    count: u32,
}

/// Why a route could not be added.
pub enum NoRoute {
    /// To this node there is none.
    Unreachable(u32),
    /// To this node there are too many.
    TooMany(u32),
    /// All routes together have too many links.
    TooLong,
}

/// A uniform number in [0, 1) that follows from what is hashed: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn share(seed: u64, key: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ key;
    for multiplier in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
        z = (z ^ (z >> 30)).wrapping_mul(multiplier);
    }
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

impl Routes {
    pub fn new(ecmp: Ecmp, seed: u64) -> Routes {
        Routes { ecmp, seed, ..Routes::default() }
    }

    /// The route of a flow between two nodes, if it has been added; `key` tells flows apart.
    pub fn of_flow(&self, from: u32, to: u32, key: u32) -> Option<Route> {
        let paths = *self.known.get(&(from, to))?;
        Some(match (paths.count, self.ecmp) {
            (1, _) => Route::single(self.paths[paths.first as usize].0),
            (_, Ecmp::Packet) => Route::spread(paths.first),
            _ => Route::single(self.draw(paths, u64::from(key))),
        })
    }

    /// Whether each packet takes its own path where there are several.
    pub fn spreads(&self) -> bool {
        self.ecmp == Ecmp::Packet
    }

    /// The place where one packet of a flow begins; `packet` tells the packets of a spread flow apart.
    #[inline]
    pub fn of_packet(&self, route: Route, key: u32, packet: u32) -> u32 {
        if route.is_spread() { self.of_spread(route.paths(), key, packet) } else { route.place() }
    }

    /// The same among the paths from this one on.
    #[cold]
    fn of_spread(&self, first: u32, key: u32, packet: u32) -> u32 {
        let count = self.paths[first as usize..].iter().take_while(|(_, upto)| *upto < 1.0).count() as u32 + 1;
        self.draw(Paths { first, count }, u64::from(packet) << 32 | u64::from(key))
    }

    fn draw(&self, paths: Paths, key: u64) -> u32 {
        let share = share(self.seed, key);
        let choice = &self.paths[paths.first as usize..][..paths.count as usize];
        choice[choice.partition_point(|&(_, upto)| upto <= share)].0
    }

    /// The first link of a flow's route, or of its first path.
    pub fn first_link(&self, route: Route) -> LinkId {
        let begin = if route.is_spread() { self.paths[route.paths() as usize].0 } else { route.place() };
        self.link(begin)
    }

    /// The link at a place of a route, which is not its end.
    #[inline]
    pub fn link(&self, place: u32) -> LinkId {
        self.chain[place as usize].link()
    }

    /// What stands at a place of a route.
    #[inline]
    pub fn place(&self, place: u32) -> Place {
        self.chain[place as usize]
    }

    /// The links from a place of a route to its end.
    pub fn rest(&self, place: u32) -> impl Iterator<Item = LinkId> + '_ {
        self.chain[place as usize..].iter().take_while(|place| !place.is_end()).map(|place| place.link())
    }

    /// Whether the route that a place belongs to has this link.
    pub fn passes(&self, place: u32, link: LinkId) -> bool {
        let before = self.chain[..place as usize].iter().rev().take_while(|place| !place.is_end());
        before.map(|place| place.link()).chain(self.rest(place)).any(|l| l == link)
    }

    /// The first and the last link of the route that a place belongs to.
    pub fn first_and_last(&self, place: u32) -> (LinkId, LinkId) {
        let before = self.chain[..place as usize].iter().rev().take_while(|place| !place.is_end()).count();
        let first = self.link(place - before as u32);
        (first, self.rest(place).last().unwrap_or(first))
    }

    /// Marks every place of these links.
    pub fn fuse(&mut self, fused: &[bool]) {
        for place in self.chain.iter_mut().filter(|p| !p.is_end() && fused[p.link().index()]) {
            place.fuse();
        }
    }

    /// The beginnings of all routes between two nodes, the one by the links named first before the others.
    pub fn between(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let paths = self.known.get(&(from, to)).copied().unwrap_or(Paths { first: 0, count: 0 });
        self.paths[paths.first as usize..][..paths.count as usize].iter().map(|&(begin, _)| begin)
    }

    /// The parts of all routes that are computed together, in their order.
    pub fn legs(&self) -> impl Iterator<Item = Leg<'_>> {
        self.chain.split(|place| place.is_end()).flat_map(|mut left| {
            let mut before = None;
            std::iter::from_fn(move || {
                let (_, others) = left.split_first()?;
                let fused = others.iter().take_while(|place| place.is_fused()).count();
                let (links, rest) = left.split_at(1 + fused);
                let leg = Leg { before, links, is_last: rest.is_empty() };
                (before, left) = (Some(leg.end()), rest);
                Some(leg)
            })
        })
    }

    /// The places of all routes, each with the place before it on the same route.
    pub fn hops(&self) -> impl Iterator<Item = (Option<LinkId>, LinkId)> + '_ {
        let mut before = None;
        self.chain.iter().filter_map(move |place| {
            let hop = (before, place.link());
            before = (!place.is_end()).then(|| place.link());
            before.map(|_| hop)
        })
    }

    /// Adds the routes from `from` to each of `targets`. Hosts with one link share the search from the node behind it,
    /// which `near` keeps for the next.
    pub fn add(&mut self, graph: &Graph, from: u32, targets: &[u32], near: &mut Option<Near>) -> Result<(), NoRoute> {
        for &to in targets {
            stop::look();
            if self.known.contains_key(&(from, to)) {
                continue;
            }
            let paths = self.search(graph, from, to, near)?;
            if self.chain.len() > PLACES_MAX {
                return Err(NoRoute::TooLong);
            }
            let paths = self.append(&paths);
            self.known.insert((from, to), paths);
        }
        Ok(())
    }

    /// The shortest paths between two nodes, as links from `from` on.
    fn search(
        &self,
        graph: &Graph,
        from: u32,
        to: u32,
        near: &mut Option<Near>,
    ) -> Result<Vec<(Vec<LinkId>, f64)>, NoRoute> {
        let (uplink, source) = match graph.leaving[from as usize][..] {
            [only] => (Some(only), graph.to[only.index()]),
            _ => (None, from),
        };
        let near = match near {
            Some(n) if n.source == source => n,
            other => other.insert(Near { source, towards: graph.breadth_first(source) }),
        };
        let most = if self.ecmp == Ecmp::None { 1 } else { PATHS_MAX + 1 };
        let paths = graph.paths(near, to, most);
        match paths.len() {
            0 => Err(NoRoute::Unreachable(to)),
            count if count > PATHS_MAX => Err(NoRoute::TooMany(to)),
            _ => {
                let shares = cumulative_shares(&paths);
                let whole = |links: Vec<LinkId>| uplink.into_iter().chain(links).collect();
                Ok(paths.into_iter().map(whole).zip(shares).collect())
            }
        }
    }

    fn append(&mut self, paths: &[(Vec<LinkId>, f64)]) -> Paths {
        let first = self.paths.len() as u32;
        for (links, upto) in paths {
            self.paths.push((self.chain.len() as u32, *upto));
            self.chain.extend(links.iter().map(|&link| Place::of(link)));
            self.chain.push(Place::END);
        }
        Paths { first, count: paths.len() as u32 }
    }

    /// Makes all routes anew; between nodes that no path joins they stay. Paths that were known before are found again, so
    /// that a link that comes and goes takes no more memory each time.
    pub fn renew(&mut self, graph: &Graph) {
        let mut near = None;
        for ((from, to), old) in self.known.clone() {
            let Ok(paths) = self.search(graph, from, to, &mut near) else { continue };
            let same = |of: &Paths| {
                let known = &self.paths[of.first as usize..][..of.count as usize];
                known.len() == paths.len()
                    && known
                        .iter()
                        .zip(&paths)
                        .all(|(&(begin, _), (links, _))| self.rest(begin).eq(links.iter().copied()))
            };
            if same(&old) {
                continue;
            }
            let before = self.former.get(&(from, to)).and_then(|known| known.iter().copied().find(same));
            let new = before.unwrap_or_else(|| self.append(&paths));
            let former = self.former.entry((from, to)).or_default();
            former.retain(|paths| paths.first != new.first);
            former.push(old);
            self.known.insert((from, to), new);
        }
    }
}

/// For each path the share of those up to it, when at each node the links that lead on are equally likely; the last is 1.
fn cumulative_shares(paths: &[Vec<LinkId>]) -> Vec<f64> {
    // Paths to one target that have come the same way fork where their next links differ.
    let mut forks: BTreeMap<&[LinkId], BTreeSet<LinkId>> = BTreeMap::new();
    for path in paths {
        for (place, &link) in path.iter().enumerate() {
            forks.entry(&path[..place]).or_default().insert(link);
        }
    }
    let of =
        |path: &Vec<LinkId>| (0..path.len()).map(|place| 1.0 / forks[&path[..place]].len() as f64).product::<f64>();
    let mut upto = 0.0;
    let mut shares: Vec<f64> = paths.iter().map(|path| (upto += of(path), upto).1).collect();
    if let Some(last) = shares.last_mut() {
        *last = 1.0;
    }
    shares
}

/// A search from one node: for each other node the links by which it is reached over the fewest hops.
pub struct Near {
    source: u32,
    towards: Vec<Vec<LinkId>>,
}

/// Links by the node they leave.
pub struct Graph {
    leaving: Vec<Vec<LinkId>>,
    from: Vec<u32>,
    to: Vec<u32>,
    is_switch: Vec<bool>,
}

impl Graph {
    /// All links that are `up`.
    pub fn of(plan: &Plan, up: impl Fn(usize) -> bool) -> Graph {
        let mut leaving = vec![Vec::new(); plan.nodes.len()];
        for (i, link) in plan.links.iter().enumerate().filter(|&(i, _)| up(i)) {
            leaving[link.from as usize].push(LinkId::of(i));
        }
        Graph {
            leaving,
            from: plan.links.iter().map(|l| l.from).collect(),
            to: plan.links.iter().map(|l| l.to).collect(),
            is_switch: plan.nodes.iter().map(|n| matches!(n.kind, elephan_scenario::NodeKind::Switch(_))).collect(),
        }
    }

    /// At most `most` of the shortest paths to a node, each as links from the search's source on.
    fn paths(&self, near: &Near, to: u32, most: usize) -> Vec<Vec<LinkId>> {
        let mut paths = Vec::new();
        // Ways back from `to`, the one by the links found first on top.
        let mut open = vec![(to, Vec::new())];
        while let Some((node, way)) = open.pop() {
            stop::look();
            if node == near.source {
                paths.push(way.into_iter().rev().collect());
                if paths.len() == most {
                    break;
                }
                continue;
            }
            for &link in near.towards[node as usize].iter().rev() {
                let longer = way.iter().copied().chain([link]).collect();
                open.push((self.from[link.index()], longer));
            }
        }
        paths
    }

    /// For each node the links by which it is reached from `source` over the fewest hops; only switches forward.
    fn breadth_first(&self, source: u32) -> Vec<Vec<LinkId>> {
        const UNSEEN: u32 = u32::MAX;
        let mut by = vec![Vec::new(); self.leaving.len()];
        let mut hops = vec![UNSEEN; self.leaving.len()];
        hops[source as usize] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            stop::look();
            if node != source && !self.is_switch[node as usize] {
                continue;
            }
            for &link in &self.leaving[node as usize] {
                let next = self.to[link.index()] as usize;
                if hops[next] == UNSEEN {
                    hops[next] = hops[node as usize] + 1;
                    queue.push_back(next as u32);
                }
                if hops[next] == hops[node as usize] + 1 {
                    by[next].push(link);
                }
            }
        }
        by
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links between nodes; node 0 and the last are hosts.
    fn graph(nodes: usize, links: &[(u32, u32)]) -> Graph {
        let mut leaving = vec![Vec::new(); nodes];
        links.iter().enumerate().for_each(|(i, &(from, _))| leaving[from as usize].push(LinkId::of(i)));
        Graph {
            leaving,
            from: links.iter().map(|l| l.0).collect(),
            to: links.iter().map(|l| l.1).collect(),
            is_switch: (0..nodes).map(|n| n > 0 && n + 1 < nodes).collect(),
        }
    }

    /// 0 - 1, then over 2 - 4, or over 3 - 5 or 3 - 6, to 7: the fork at 1 is even, and so is the one at 3.
    fn forked() -> Graph {
        graph(8, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 5), (3, 6), (4, 7), (5, 7), (6, 7)])
    }

    fn routes(ecmp: Ecmp, seed: u64) -> Routes {
        let mut routes = Routes::new(ecmp, seed);
        assert!(routes.add(&forked(), 0, &[7], &mut None).is_ok());
        routes
    }

    #[test]
    fn all_shortest_paths_and_their_shares() {
        let routes = routes(Ecmp::Flow, 1);
        let paths: Vec<Vec<LinkId>> = routes.between(0, 7).map(|begin| routes.rest(begin).collect()).collect();
        assert_eq!(paths, [[0, 1, 3, 6], [0, 2, 4, 7], [0, 2, 5, 8]].map(|path| path.map(LinkId)));
        assert_eq!(routes.paths.iter().map(|p| p.1).collect::<Vec<_>>(), [0.5, 0.75, 1.0]);
    }

    /// 30 000 draws: a standard error of 87 at one half, 75 at a quarter.
    #[test]
    fn flows_and_packets_are_spread_by_these_shares() {
        let count = |draw: &dyn Fn(u32) -> u32| {
            (0..30_000).fold(BTreeMap::new(), |mut counts, n| {
                *counts.entry(draw(n)).or_insert(0u32) += 1;
                counts
            })
        };
        let flows = routes(Ecmp::Flow, 1);
        let packets = routes(Ecmp::Packet, 1);
        let route = packets.of_flow(0, 7, 9).unwrap();
        assert!(route.is_spread());
        let of_flows = count(&|n| flows.of_flow(0, 7, n).unwrap().place());
        let of_packets = count(&|n| packets.of_packet(route, 9, n));
        for counts in [of_flows, of_packets] {
            for (found, expected) in counts.values().zip([15_000u32, 7_500, 7_500]) {
                assert!(found.abs_diff(expected) < 350, "{counts:?}");
            }
        }
    }

    #[test]
    fn none_takes_the_links_named_first_and_seeds_draw_anew() {
        let first = routes(Ecmp::None, 1);
        assert_eq!(first.between(0, 7).count(), 1);
        assert!((0..100).all(|key| first.of_flow(0, 7, key) == first.between(0, 7).next().map(Route::single)));
        let (one, other) = (routes(Ecmp::Flow, 1), routes(Ecmp::Flow, 2));
        assert!((0..100).any(|key| one.of_flow(0, 7, key) != other.of_flow(0, 7, key)));
    }

    /// The way over 2 goes and comes back, again and again.
    #[test]
    fn a_link_that_comes_and_goes_takes_no_more_memory() {
        let mut routes = routes(Ecmp::Flow, 1);
        let (whole, mut cut) = (forked(), forked());
        cut.leaving[1].retain(|&link| link != LinkId(1));
        let (mut before, ways) =
            (0, |routes: &Routes| routes.between(0, 7).map(|b| routes.rest(b).collect()).collect());
        for round in 0..10 {
            routes.renew(&cut);
            let left: Vec<Vec<LinkId>> = ways(&routes);
            assert_eq!(left, [[0, 2, 4, 7], [0, 2, 5, 8]].map(|path| path.map(LinkId)));
            routes.renew(&whole);
            assert_eq!(ways(&routes).len(), 3);
            assert!(round == 0 || routes.chain.len() == before);
            before = routes.chain.len();
        }
        cut.leaving[0].clear();
        routes.renew(&cut);
        assert_eq!(ways(&routes).len(), 3, "where nothing leads the routes stay");
    }

    /// 13 pairs of parallel links one after the other are 8192 paths.
    #[test]
    fn too_many_paths_are_refused() {
        let links: Vec<(u32, u32)> = (0..13).flat_map(|n| [(n, n + 1), (n, n + 1)]).collect();
        let mut routes = Routes::new(Ecmp::Flow, 1);
        assert!(matches!(routes.add(&graph(14, &links), 0, &[13], &mut None), Err(NoRoute::TooMany(13))));
    }
}
