//! Lanes of arrivals: links over which frames come nearly in the order in which they are launched, as their delays are alike, share a
//! lane of the engine instead of having an event each. Those are links that lead to one node (the access links of a router), and
//! those that are computed with one port (the access links behind a bottleneck).
//!
//! Where the ports behind a lane have no other feeder, the lane is *exclusive*: all that comes to them within the shortest delay of the
//! lane's links is known, since a transmission takes a picosecond at least and what is still to be launched comes later than that. It is
//! computed in one go, ahead of the clock, up to the next sample. Losses and drops, which are logged in their order, wait for their time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use elephan_engine::{Event, LANES, prefetch};
use elephan_link::queue::Limit;
use elephan_scenario::Plan;
use elephan_units::{PS_PER_S, Rate, Span, stop};

use super::link::{Flight, Link, Onward};
use super::route::Routes;
use super::{MARKED, Net};
use crate::ids::{LinkId, Table};
use crate::target::Hop;

/// Of a link that has no lane.
pub const NO_LANE: u8 = LANES as u8;
/// So many links are worth a lane.
const LINKS_MIN: usize = 8;
/// Frames of 1500 bytes that may be launched, at most, in the time by which the delays of a lane's links differ. If delays are spread evenly, a
/// new one is then put before a third of them on average, which lanes do (before 16 at most).
const FRAMES_APART: u128 = 32;
const FRAME_BITS: u128 = 12_000;
/// Frames of a lane ahead of the one that arrives: one whose packet is asked for, and one whose packet has come and says where it goes.
const FAR: u32 = 3;
const NEAR: u32 = 1;
/// Cache lines of a link that a packet touches which need not wait.
const IDLE_LINK_LINES: usize = 2;

/// What the links of a lane have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Common {
    Node(u32),
    Port(LinkId),
}

/// Links that may share a lane, by the delay up to their far end.
#[derive(Clone, Default)]
struct Group {
    links: BTreeMap<Span, BTreeSet<LinkId>>,
    /// At which their frames come: that of the port before them, or else the highest of the ports after them.
    rate: Rate,
}

impl Group {
    /// All links together if their delays are alike, otherwise those of each delay.
    fn lanes(self) -> Vec<BTreeSet<LinkId>> {
        let (least, most) = (self.links.keys().next(), self.links.keys().next_back());
        let spread = least.zip(most).map_or(Span::ZERO, |(least, most)| *most - *least);
        let frames = u128::from(spread.ps()) * u128::from(self.rate.bps()) / (u128::from(PS_PER_S) * FRAME_BITS);
        let of_each = self.links.into_values();
        if frames <= FRAMES_APART { vec![of_each.flatten().collect()] } else { of_each.collect() }
    }
}

/// Where the parts of routes that are computed together begin and end.
#[derive(Clone)]
struct Legs {
    /// Ports at which one begins that another is before.
    entered: Vec<bool>,
    /// Links with which one ends.
    ends: Vec<bool>,
    /// The links before those that are fused.
    before: Vec<LinkId>,
}

impl Legs {
    fn of(routes: &mut Routes, links: usize) -> Legs {
        let mut legs =
            Legs { entered: vec![false; links], ends: vec![false; links], before: vec![LinkId::NONE; links] };
        let fused = routes.fused().to_vec();
        routes.forks(&mut |before, left| match (before, left) {
            ([only], Some(link)) if fused[link.index()] => legs.before[link.index()] = *only,
            _ => {
                if let Some(link) = left.filter(|_| !before.is_empty()) {
                    legs.entered[link.index()] = true;
                }
                before.iter().for_each(|link| legs.ends[link.index()] = true);
            }
        });
        legs
    }

    /// The links of the part that ends with `end`, in their order.
    fn links(&self, end: LinkId) -> Vec<LinkId> {
        let before = |link: &LinkId| Some(self.before[link.index()]).filter(|&link| link != LinkId::NONE);
        let mut links: Vec<LinkId> = std::iter::successors(Some(end), before).collect();
        links.reverse();
        links
    }
}

/// Whether all lanes together have less than half of the links with which paths end, whichever they are: a lane has links to one node,
/// or fused ones. So it is in large fabrics, whose legs take long to find.
fn are_too_small(links: &Table<LinkId, Link>, routes: &Routes, plan: &Plan) -> bool {
    let mut into = vec![0; plan.nodes.len()];
    plan.links.iter().for_each(|link| into[link.to as usize] += 1);
    let fused = routes.fused().iter().filter(|&&fused| fused).count();
    let most = LANES * into.into_iter().max().unwrap_or(0).max(fused);
    let mut last = vec![false; links.len()];
    routes.last_links().filter(|&link| links[link].general.is_none()).for_each(|link| last[link.index()] = true);
    2 * most < last.iter().filter(|&&last| last).count()
}

/// Gives links their lanes; answers for how long what each exclusive lane brings is known.
pub(super) fn assign(links: &mut Table<LinkId, Link>, routes: &mut Routes, plan: &Plan) -> [Option<Span>; LANES] {
    if are_too_small(links, routes, plan) { [None; LANES] } else { assign_largest(links, routes, plan) }
}

/// Gives the links of the largest groups their lanes, if these have most links.
fn assign_largest(links: &mut Table<LinkId, Link>, routes: &mut Routes, plan: &Plan) -> [Option<Span>; LANES] {
    let mut groups: BTreeMap<_, Group> = BTreeMap::new();
    let legs = Legs::of(routes, links.len());
    let mut seldom = stop::Seldom::default();
    for i in links.ids() {
        seldom.look();
        let rate = links[i].rate;
        if legs.entered[i.index()] {
            let group = groups.entry(Common::Node(plan.links[i.index()].from)).or_default();
            group.rate = group.rate.max(rate);
        }
        let traced = links[i].own.as_ref().is_some_and(|own| own.pace.is_some());
        if legs.ends[i.index()] && links[i].general.is_none() && !traced {
            let leg = legs.links(i);
            let port = leg[0];
            let common = if port == i { Common::Node(plan.links[i.index()].to) } else { Common::Port(port) };
            let delay = leg.iter().fold(Span::ZERO, |sum, &link| sum + links[link].delay);
            let group = groups.entry(common).or_default();
            group.links.entry(delay).or_default().insert(i);
            if port != i {
                group.rate = links[port].rate;
            }
        }
    }
    let groups: Vec<BTreeSet<LinkId>> = groups.into_values().flat_map(Group::lanes).collect();
    let all: usize = groups.iter().map(BTreeSet::len).sum();
    let mut groups: Vec<_> = groups.into_iter().filter(|group| group.len() >= LINKS_MIN).collect();
    groups.sort_by_key(|group| Reverse(group.len()));
    groups.truncate(LANES);
    // Where most frames come over other links a lane is one place more to look at.
    if groups.is_empty() || 2 * groups.iter().map(BTreeSet::len).sum::<usize>() < all {
        return [None; LANES];
    }
    for (lane, group) in (0u8..).zip(&groups) {
        group.iter().for_each(|&link| links[link].lane = lane);
    }
    // Marks are logged when they are made.
    let exclusive = exclusive(links, routes, |port| plan.record.events && port.mark_above != Limit::NONE);
    std::array::from_fn(|lane| {
        let group = groups.get(lane).filter(|_| exclusive[lane])?;
        group.iter().map(|&link| links[link].delay).min()
    })
}

/// Whether all frames of a lane go to fast ports that are not `barred`, and no others do.
fn exclusive(links: &Table<LinkId, Link>, routes: &mut Routes, barred: impl Fn(&Link) -> bool) -> [bool; LANES] {
    // The place beyond the lanes is that of all other feeders.
    let mut exclusive = [true; LANES + 1];
    let mut feeder = vec![None; links.len()];
    let fused = routes.fused().to_vec();
    routes.forks(&mut |before, left| {
        let lanes = || before.iter().map(|&link| links[link].lane).chain(before.is_empty().then_some(NO_LANE));
        let Some(port) = left else {
            return before.iter().for_each(|&link| exclusive[usize::from(links[link].lane)] = false);
        };
        if fused[port.index()] {
            return;
        }
        for lane in lanes() {
            let first = *feeder[port.index()].get_or_insert(lane);
            if first != lane || links[port].general.is_some() || barred(&links[port]) {
                [first, lane].into_iter().for_each(|lane| exclusive[usize::from(lane)] = false);
            }
        }
    });
    std::array::from_fn(|lane| exclusive[lane])
}

impl Net {
    /// Until when an exclusive lane is known, whose first event is the first of all; frames at that instant are.
    #[inline]
    pub fn known_until(&self, lane: usize, first: Event) -> Option<Event> {
        self.lookahead[lane].map(|delay| Event::bound(first.time().saturating_add(delay)))
    }

    /// The frames of a lane come to their ports that arrive before `bound`; answers how many. Those that are lost or dropped are when
    /// their time comes, by the event of their link.
    #[inline]
    pub fn run_ahead(&mut self, lane: usize, bound: Event) -> u64 {
        let mut count = 0;
        loop {
            let event = self.lanes.first_of(lane);
            if event >= bound {
                return count;
            }
            let Some(Onward { packet, then }) = self.lanes.pop(lane) else { return count };
            if let Some(far) = self.lanes.ahead(lane, FAR) {
                self.packets.prefetch(far.packet);
            }
            let (now, link) = (event.time(), LinkId(event.id()));
            let p = &mut self.packets[packet];
            if p.flags & MARKED != 0 {
                self.links[link].launch(link, Flight::of(now, packet, then), &mut self.events);
                continue;
            }
            p.route += 1;
            let (_, next) = then.split();
            count += u64::from(self.offer_fast::<true>(now, LinkId(next), packet, link));
        }
    }

    /// Asks for what the next frames of a lane will need; answers the host's end that one of them is for.
    #[inline(always)]
    pub fn prefetch_lane(&self, lane: usize) -> Option<u32> {
        if let Some(far) = self.lanes.ahead(lane, FAR) {
            self.packets.prefetch(far.packet);
        }
        let near = self.lanes.ahead(lane, NEAR)?;
        match near.then.hop() {
            Hop::Host(host) => return Some(host),
            Hop::Link(link) => prefetch(self.links.get(link.index())?, IDLE_LINK_LINES),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::net::{Layout, Paths, build};
    use elephan_scenario::{Override, Source, read};

    fn net(text: &str, overrides: &[&str]) -> (Arc<Plan>, Net) {
        let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
        let plan = read(&Source::toml("test.toml", text), &overrides, None).unwrap().plan;
        let observed = crate::observed::observed_ports(&plan);
        let net = build(&plan, &observed, &Layout::default(), Paths::default()).unwrap();
        (plan, net)
    }

    /// The lane of each link by name, and for how long each lane is known.
    fn lanes(pairs: u32, overrides: &[&str]) -> (Vec<(String, u8)>, [Option<Span>; LANES]) {
        let text = format!(
            r#"
            duration = "1 s"
            [template]
            kind = "dumbbell"
            pairs = {pairs}
            rate = "100 Mbps"
            delay = "5 ms"
            access_rate = "1 Gbps"
            access_delay = "500 us"
            [[traffic]]
            name = "bulk"
            from = "sender"
            to = "receiver"
            kind = "bulk"
            "#
        );
        let (plan, net) = net(&text, overrides);
        let names = plan.links.iter().map(|l| l.name.clone());
        (names.zip(net.links.iter().map(|l| l.lane)).collect(), net.lookahead)
    }

    #[test]
    fn a_dumbbell_has_four() {
        let (links, known) = lanes(8, &[]);
        let of = |from: &str, to: &str| {
            let ends =
                |name: &str| name.split_once("->").is_some_and(|(a, b)| a.starts_with(from) && b.starts_with(to));
            let mut found: Vec<u8> = links.iter().filter(|(name, _)| ends(name)).map(|(_, lane)| *lane).collect();
            assert_eq!(found.len(), if from.len() + to.len() == 9 { 1 } else { 8 }, "{from}->{to}: {links:?}");
            found.dedup();
            assert_eq!(found.len(), 1, "{from}->{to}: {links:?}");
            found[0]
        };
        assert_eq!([of("left", "right"), of("right", "left")], [NO_LANE; 2]);
        let (in_left, in_right) = (of("sender", "left"), of("receiver", "right"));
        let mut all = [in_left, in_right, of("left", "sender"), of("right", "receiver")];
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
        // What is on its way to a router is known for the delay of the access links, what is on its way to a host never.
        let expected = |lane| [in_left, in_right].contains(&lane).then_some(Span::from_us(500));
        assert_eq!(known, [0, 1, 2, 3].map(expected));
    }

    /// What is left out where lanes are too small would have found none.
    #[test]
    fn large_fabrics_have_none() {
        for (k, too_small) in [(4, false), (8, true), (12, true)] {
            let text = format!(
                r#"
                duration = "1 ms"
                template = {{ kind = "fat-tree", k = {k}, rate = "10 Gbps", delay = "1 us" }}
                traffic = [{{ from = "host", to = "host", kind = "bulk", pairing = "permutation" }}]
                "#
            );
            let (plan, mut net) = net(&text, &[]);
            assert_eq!(are_too_small(&net.links, &net.routes, &plan), too_small, "{k}");
            assert_eq!(assign_largest(&mut net.links, &mut net.routes, &plan), [None; LANES], "{k}");
            assert!(net.links.iter().all(|link| link.lane == NO_LANE), "{k}");
        }
    }

    #[test]
    fn marks_that_are_logged_are_not_computed_ahead() {
        assert!(lanes(7, &[]).0.iter().all(|(_, lane)| *lane == NO_LANE), "too few links");
        let marks = |events| {
            lanes(8, &["template.queue={kind=\"fifo\", mark_above=\"10 p\"}", events]).1.iter().flatten().count()
        };
        assert_eq!((marks("record.events=true"), marks("record.events=false")), (0, 2));
    }
}
