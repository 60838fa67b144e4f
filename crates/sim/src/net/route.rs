//! Routes: shortest paths by hops. Of several ([`Ecmp`]) a flow or a packet takes one drawn for
//! it: at each switch the links that lead on are equally likely (RFC 2992, a hash without polarisation), so a path has the
//! product of these shares. The draw is a hash of the seed and the flow's name; each direction of a connection has its own.
//!
//! All paths between two nodes are listed before the run where more than one of them may be taken: where each packet draws, or
//! links change. Otherwise the path that a flow draws is put down when the flow asks for it ([`Drawn`]), since two hosts of a large
//! fabric have hundreds of paths between them.

use std::collections::{BTreeMap, BTreeSet};

use elephan_scenario::Ecmp;
use elephan_units::stop;

use super::drawn::Drawn;
use super::graph::{Graph, Near};
use crate::ids::LinkId;
use crate::target::{Place, Route};

/// Shortest paths between two hosts, at most.
const PATHS_MAX: usize = 4096;
/// Links of all routes together, at most: beyond them a run would need more than a gigabyte for routes alone.
pub const PLACES_MAX: usize = 250_000_000;

/// All routes, one after the other: link numbers, each route closed by [`Place::END`].
#[derive(Clone, Default)]
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
    /// What flows draw paths from that are not listed.
    drawn: Option<Box<Drawn>>,
    /// Links that are computed with the one before them; none before that is known.
    fused: Vec<bool>,
}

/// The shortest paths between two nodes: a range of [`Routes::paths`].
#[derive(Clone, Copy, Debug)]
struct Paths {
    first: u32,
    count: u32,
    /// There are more, which flows draw from.
    more: bool,
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

    /// Routes of flows that draw their paths in `graph` when they ask for them.
    pub fn drawing(seed: u64, graph: Graph) -> Routes {
        Routes { drawn: Some(Box::new(Drawn::new(graph))), ..Routes::new(Ecmp::Flow, seed) }
    }

    /// The route of a flow between two nodes, if it has been added; `key` tells flows apart.
    pub fn of_flow(&mut self, from: u32, to: u32, key: u32) -> Option<Route> {
        if self.known.get(&(from, to))?.more {
            return self.draw_way((from, to), key);
        }
        self.listed(from, to, key)
    }

    /// The same where all paths are listed.
    pub fn listed(&self, from: u32, to: u32, key: u32) -> Option<Route> {
        let paths = *self.known.get(&(from, to))?;
        debug_assert!(!paths.more, "there are paths that are not listed");
        Some(match (paths.count, self.ecmp) {
            (1, _) => Route::single(self.paths[paths.first as usize].0),
            (_, Ecmp::Packet) => Route::spread(paths.first),
            _ => Route::single(self.draw(paths, u64::from(key))),
        })
    }

    /// Draws the path of a flow, and puts it down if no flow of these nodes has it yet.
    fn draw_way(&mut self, ends: (u32, u32), key: u32) -> Option<Route> {
        let mut drawn = self.drawn.take()?;
        if drawn.is_worth_listing(ends) && self.chain.len() < PLACES_MAX {
            let paths = drawn.all(ends, PATHS_MAX);
            let shares = cumulative_shares(&paths);
            let paths = self.append(&paths.into_iter().zip(shares).collect::<Vec<_>>());
            self.known.insert(ends, paths);
            self.drawn = Some(drawn);
            return self.listed(ends.0, ends.1, key);
        }
        let share = share(self.seed, u64::from(key));
        let way = drawn.way(ends, share);
        let same = drawn.taken(ends).iter().copied().find(|&begin| self.rest(begin).eq(way.iter().copied()));
        let begin = same.unwrap_or_else(|| {
            let begin = self.put_down(&way);
            drawn.taken(ends).push(begin);
            begin
        });
        self.drawn = Some(drawn);
        Some(Route::single(begin))
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
        self.draw(Paths { first, count, more: false }, u64::from(packet) << 32 | u64::from(key))
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
    pub fn fuse(&mut self, fused: Vec<bool>) {
        for place in self.chain.iter_mut().filter(|p| !p.is_end() && fused[p.link().index()]) {
            place.fuse();
        }
        self.fused = fused;
    }

    /// For each link whether it is computed with the one before it; nothing before [`Routes::fuse`].
    pub fn fused(&self) -> &[bool] {
        &self.fused
    }

    /// Whether a link is computed with the one before it.
    fn is_fused(&self, link: LinkId) -> bool {
        self.fused.get(link.index()).is_some_and(|&fused| fused)
    }

    /// The beginnings of the listed routes between two nodes, the one by the links named first before the others.
    pub fn between(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let paths = self.known.get(&(from, to)).copied().unwrap_or(Paths { first: 0, count: 0, more: false });
        self.paths[paths.first as usize..][..paths.count as usize].iter().map(|&(begin, _)| begin)
    }

    /// The beginning of the only path between two nodes, if there is one alone.
    pub fn only(&self, from: u32, to: u32) -> Option<u32> {
        let paths = self.known.get(&(from, to)).filter(|paths| paths.count == 1 && !paths.more)?;
        Some(self.paths[paths.first as usize].0)
    }

    /// The links that may stand at each place of a path between two nodes; nothing if no path is known.
    pub fn abreast(&self, from: u32, to: u32) -> Vec<Vec<LinkId>> {
        let Some(paths) = self.known.get(&(from, to)) else { return Vec::new() };
        if let (true, Some(drawn)) = (paths.more, &self.drawn) {
            return drawn.abreast((from, to));
        }
        let mut places: Vec<Vec<LinkId>> = Vec::new();
        for begin in self.between(from, to) {
            for (i, link) in self.rest(begin).enumerate() {
                places.resize_with(places.len().max(i + 1), Vec::new);
                if !places[i].contains(&link) {
                    places[i].push(link);
                }
            }
        }
        places
    }

    /// The last links of listed and first paths.
    pub fn last_links(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.chain.windows(2).filter(|pair| pair[1].is_end() && !pair[0].is_end()).map(|pair| pair[0].link())
    }

    /// Calls `each` for the links of all paths that a packet may take: with the links by which a node is reached, and one by which it
    /// is left on a path through one of these. The first node of a path is reached by none, the last left by none. They come again for
    /// other paths.
    pub fn forks(&mut self, each: &mut dyn FnMut(&[LinkId], Option<LinkId>)) {
        let mut before = None;
        let mut seldom = stop::Seldom::default();
        for place in &self.chain {
            seldom.look();
            let link = (!place.is_end()).then(|| place.link());
            each(before.as_slice(), link);
            before = link;
        }
        let Some(drawn) = &mut self.drawn else { return };
        for (&(from, to), _) in self.known.iter().filter(|(_, paths)| paths.more) {
            drawn.forks((from, to), each);
        }
    }

    /// Adds the routes from `from` to each of `targets`, found in `graph`. Hosts with one link share the search from the node behind
    /// it, which `near` keeps for the next.
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

    /// Adds the first path from `from` to each of `targets`, and that there are more where there are.
    pub fn add_first(&mut self, from: u32, targets: &[u32]) -> Result<(), NoRoute> {
        let Some(mut drawn) = self.drawn.take() else { return Ok(()) };
        for &to in targets {
            stop::look();
            let (way, count) = match drawn.first((from, to)) {
                None => return Err(NoRoute::Unreachable(to)),
                Some((_, count)) if count as usize > PATHS_MAX => return Err(NoRoute::TooMany(to)),
                Some(first) => first,
            };
            let first = self.append(&[(way, 1.0)]);
            self.known.insert((from, to), Paths { more: count > 1, ..first });
        }
        self.drawn = Some(drawn);
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
        let near = graph.near(graph.source(from), near);
        let most = if self.ecmp == Ecmp::None { 1 } else { PATHS_MAX + 1 };
        let paths = graph.paths(near, from, to, most);
        match paths.len() {
            0 => Err(NoRoute::Unreachable(to)),
            count if count > PATHS_MAX => Err(NoRoute::TooMany(to)),
            _ => {
                let shares = cumulative_shares(&paths);
                Ok(paths.into_iter().zip(shares).collect())
            }
        }
    }

    fn append(&mut self, paths: &[(Vec<LinkId>, f64)]) -> Paths {
        let first = self.paths.len() as u32;
        for (links, upto) in paths {
            let begin = self.put_down(links);
            self.paths.push((begin, *upto));
        }
        Paths { first, count: paths.len() as u32, more: false }
    }

    /// Puts a path down; returns where it begins.
    fn put_down(&mut self, links: &[LinkId]) -> u32 {
        let begin = self.chain.len() as u32;
        for &link in links {
            let mut place = Place::of(link);
            if self.is_fused(link) {
                place.fuse();
            }
            self.chain.push(place);
        }
        self.chain.push(Place::END);
        begin
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

#[cfg(test)]
mod tests;
