use super::*;

/// Links between nodes; node 0 and the last are hosts.
fn graph(nodes: u32, links: &[(u32, u32)]) -> Graph {
    cut(nodes, links, None)
}

/// The same without one of the links.
fn cut(nodes: u32, links: &[(u32, u32)], without: Option<usize>) -> Graph {
    let is_switch: Vec<bool> = (0..nodes).map(|n| n > 0 && n + 1 < nodes).collect();
    let up = |(i, &(from, to)): (usize, &(u32, u32))| (from, to, without != Some(i));
    Graph::new(&is_switch, &links.iter().enumerate().map(up).collect::<Vec<_>>())
}

/// 0 - 1, then over 2 - 4, or over 3 - 5 or 3 - 6, to 7: the fork at 1 is even, and so is the one at 3.
const FORKED: [(u32, u32); 9] = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 5), (3, 6), (4, 7), (5, 7), (6, 7)];

fn forked() -> Graph {
    graph(8, &FORKED)
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
    let route = packets.listed(0, 7, 9).unwrap();
    assert!(route.is_spread());
    let of_flows = count(&|n| flows.listed(0, 7, n).unwrap().place());
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
    assert!((0..100).all(|key| first.listed(0, 7, key) == first.between(0, 7).next().map(Route::single)));
    let (one, other) = (routes(Ecmp::Flow, 1), routes(Ecmp::Flow, 2));
    assert!((0..100).any(|key| one.listed(0, 7, key) != other.listed(0, 7, key)));
}

/// The way over 2 goes and comes back, again and again.
#[test]
fn a_link_that_comes_and_goes_takes_no_more_memory() {
    let mut routes = routes(Ecmp::Flow, 1);
    let (whole, shorter) = (forked(), cut(8, &FORKED, Some(1)));
    let (mut before, ways) = (0, |routes: &Routes| routes.between(0, 7).map(|b| routes.rest(b).collect()).collect());
    for round in 0..10 {
        routes.renew(&shorter);
        let left: Vec<Vec<LinkId>> = ways(&routes);
        assert_eq!(left, [[0, 2, 4, 7], [0, 2, 5, 8]].map(|path| path.map(LinkId)));
        routes.renew(&whole);
        assert_eq!(ways(&routes).len(), 3);
        assert!(round == 0 || routes.chain.len() == before);
        before = routes.chain.len();
    }
    routes.renew(&cut(8, &FORKED, Some(0)));
    assert_eq!(ways(&routes).len(), 3, "where nothing leads the routes stay");
}

/// 13 pairs of parallel links one after the other are 8192 paths.
#[test]
fn too_many_paths_are_refused() {
    let links: Vec<(u32, u32)> = (0..13).flat_map(|n| [(n, n + 1), (n, n + 1)]).collect();
    let mut routes = Routes::new(Ecmp::Flow, 1);
    assert!(matches!(routes.add(&graph(14, &links), 0, &[13], &mut None), Err(NoRoute::TooMany(13))));
}

/// Pods of 4 edges and 4 aggregations below 16 cores, as in a fat tree of k = 8, and one host at each edge.
fn fabric() -> Graph {
    let (pods, half) = (4u32, 4u32);
    let (edges, aggregations) = (pods * half, pods * half);
    let (edge, aggregation, core) = (|n| n, |n| edges + n, |n| edges + aggregations + n);
    let host = |n: u32| edges + aggregations + half * half + n;
    let mut links = Vec::new();
    for n in 0..edges {
        links.push((host(n), edge(n)));
    }
    for pod in 0..pods {
        for (a, b) in (0..half).flat_map(|a| (0..half).map(move |b| (pod * half + a, b))) {
            links.push((edge(a), aggregation(pod * half + b)));
            links.push((aggregation(a), core((a % half) * half + b)));
        }
    }
    let links: Vec<(u32, u32, bool)> = links.into_iter().flat_map(|(a, b)| [(a, b, true), (b, a, true)]).collect();
    let is_switch: Vec<bool> = (0..host(edges)).map(|node| node < host(0)).collect();
    Graph::new(&is_switch, &links)
}

/// A flow draws the path that it would take if all were listed, and the nodes that paths pass are those of the listed ones.
#[test]
fn drawn_and_listed_paths_are_the_same() {
    let forked: (fn() -> Graph, u32, Vec<u32>) = (forked, 0, vec![7]);
    // Hosts of the same pod and of two others.
    let fabric: (fn() -> Graph, u32, Vec<u32>) = (fabric, 48, vec![49, 52, 63]);
    for ((graph, from, targets), counts) in [(forked, vec![3]), (fabric, vec![4, 16, 16])] {
        let mut listed = Routes::new(Ecmp::Flow, 1);
        assert!(listed.add(&graph(), from, &targets, &mut None).is_ok());
        let mut drawn = Routes::drawing(1, graph());
        assert!(drawn.add_first(from, &targets).is_ok());
        for (&to, count) in targets.iter().zip(counts) {
            let mut ways = BTreeSet::new();
            for key in 0..2000 {
                let [one, other] = [listed.listed(from, to, key), drawn.of_flow(from, to, key)];
                let [one, other] = [one.unwrap().place(), other.unwrap().place()];
                let way: Vec<LinkId> = drawn.rest(other).collect();
                assert_eq!(listed.rest(one).collect::<Vec<_>>(), way);
                ways.insert(way);
            }
            assert_eq!(ways.len(), count, "to {to}");
        }
        let passed = |routes: &mut Routes| {
            let mut hops = BTreeSet::new();
            routes.forks(&mut |before, left| {
                let all = |links: &[LinkId]| match links {
                    [] => vec![None],
                    links => links.iter().copied().map(Some).collect(),
                };
                hops.extend(all(before).into_iter().map(|one| (one, left)));
            });
            hops
        };
        assert_eq!(passed(&mut drawn), passed(&mut listed));
        let length = drawn.chain.len();
        assert!((0..2000).all(|key| drawn.of_flow(from, targets[0], key).is_some()));
        assert_eq!(drawn.chain.len(), length, "a path that is drawn again takes no more memory");
    }
}
