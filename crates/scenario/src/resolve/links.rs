//! `[[links]]`: groups joined, each link in its two directions.

use std::collections::BTreeMap;

use elephan_link::{Loss, queue::QueueSpec};
use elephan_random::Stream;
use elephan_traffic::Distribution;
use elephan_units::{Span, stop};

use super::Resolver;
use super::groups::Group;
use crate::plan::{Impairments, Link};
use crate::tree::{Path, at};
use crate::written::{Delay, Jitter, LinkPairing, Links, Reorder, Scenario, Spread};

/// Links of one run, at most.
const LINKS_MAX: usize = 4_000_000;

impl Resolver<'_> {
    pub(super) fn links(&mut self, words: &Scenario) {
        let mut joined: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (entry, link) in words.links.iter().enumerate() {
            self.check_link(entry, link);
            let Some(pairs) = self.ends(entry, link) else { continue };
            if self.links.len() + 2 * pairs.len() > LINKS_MAX {
                return self.report(at!["links", entry], format!("more than {} links", LINKS_MAX / 2));
            }
            for (i, &(a, b)) in pairs.iter().enumerate() {
                stop::look();
                if let Some(&other) = joined.get(&(a.min(b), a.max(b))) {
                    let (a, b) = (&self.nodes[a as usize].name, &self.nodes[b as usize].name);
                    let message = format!("duplicate link: links[{other}] joins {a} and {b} already");
                    self.report(at!["links", entry, "between"], message);
                    break;
                }
                joined.insert((a.min(b), a.max(b)), entry);
                self.join(words.seed, entry, link, (a, b), (i, pairs.len()));
            }
        }
        for (entry, link) in words.links.iter().enumerate() {
            self.own_ports(words.seed, entry, link);
        }
        for i in 0..self.links.len() {
            self.links[i].up &= self.links[self.links[i].reverse as usize].up;
        }
        // After an error above this would only report its consequences.
        if self.problems.is_empty() {
            self.all_linked(words);
        }
    }

    /// The pairs of nodes that an entry joins.
    fn ends(&mut self, entry: usize, link: &Links) -> Option<Vec<(u32, u32)>> {
        let mut sides = Vec::with_capacity(2);
        for (i, end) in link.between.iter().enumerate() {
            match self.groups.members(end) {
                Ok(range) => sides.push(range.collect::<Vec<u32>>()),
                Err(message) => self.report(at!["links", entry, "between", i], message),
            }
        }
        let [a, b] = sides.as_slice() else { return None };
        let pairs = match pair(link.pairing, a, b) {
            Ok(pairs) => pairs,
            Err(message) => {
                self.report(at!["links", entry, "between"], message);
                return None;
            }
        };
        if let Some((same, _)) = pairs.iter().find(|(a, b)| a == b) {
            let name = &self.nodes[*same as usize].name;
            let message = format!("links {name} to itself");
            self.report(at!["links", entry, "between"], message);
            return None;
        }
        Some(pairs)
    }

    fn join(&mut self, seed: u64, entry: usize, link: &Links, (a, b): (u32, u32), place: (usize, usize)) {
        let first = self.links.len() as u32;
        for forward in [true, false] {
            let (from, to) = if forward { (a, b) } else { (b, a) };
            let own = if forward { &link.forward } else { &link.backward };
            self.links.push(Link {
                name: format!("{}->{}", self.nodes[from as usize].name, self.nodes[to as usize].name),
                from,
                to,
                reverse: if forward { first + 1 } else { first },
                rate: link.rate,
                delay: Span::ZERO,
                framing: link.framing,
                queue: QueueSpec::default(),
                bdp_bytes: 0,
                ip_bytes: 0,
                up: link.up,
                loss: Loss::None,
                impairments: Impairments {
                    packets: own.packets.unwrap_or(link.packets),
                    reorder: own.reorder.clone().or(link.reorder.clone()),
                    duplicate: own.duplicate.or(link.duplicate).unwrap_or(0.0),
                    jitter: own.jitter.clone().or(link.jitter.clone()),
                },
            });
            self.entries.push((entry, forward));
        }
        for i in first..first + 2 {
            self.direct(seed, link, i, place);
        }
    }

    /// What a direction has of its entry, and can change: `place` is that of its link among those of the entry.
    fn direct(&mut self, seed: u64, link: &Links, i: u32, place: (usize, usize)) {
        let forward = self.entries[i as usize].1;
        let own = if forward { &link.forward } else { &link.backward };
        let old = &self.links[i as usize];
        let host = self.groups.of_node(old.from).host;
        // The stream bears the forward name in both directions, so that an ordinary delay is the same each way.
        let stream = if own.delay.is_some() || forward { i } else { old.reverse };
        let delay = draw(own.delay.as_ref().unwrap_or(&link.delay), seed, &self.links[stream as usize].name, place);
        let new = &mut self.links[i as usize];
        new.delay = delay;
        new.rate = own.rate.unwrap_or(link.rate);
        new.up = link.up;
        new.queue.clone_from(own.queue.as_ref().unwrap_or(if host { &link.host_queue } else { &link.queue }));
        new.loss.clone_from(own.loss.as_ref().unwrap_or(&link.loss));
    }

    /// Works out anew what the links of an entry have, which are `all`, and what a bdp is there.
    pub(super) fn derive(&mut self, words: &Scenario, entry: usize, all: std::ops::Range<usize>) {
        let link = &words.links[entry];
        let count = all.len() / 2;
        for (place, i) in all.clone().enumerate() {
            stop::look();
            self.direct(words.seed, link, i as u32, (place / 2, count));
        }
        self.own_ports(words.seed, entry, link);
        for i in all {
            self.links[i].up &= self.links[self.links[i].reverse as usize].up;
            self.links[i].bdp_bytes = self.bdp_bytes(words, i);
        }
    }

    /// What single ports have of their own.
    fn own_ports(&mut self, seed: u64, entry: usize, link: &Links) {
        for (name, own) in &link.ports {
            let at = at!["links", entry, "ports", name.as_str()];
            let ports = match self.port(name) {
                Ok(ports) => ports,
                Err(message) => {
                    self.report(at, message);
                    continue;
                }
            };
            if let Some(&other) = ports.iter().find(|&&i| self.entries[i as usize].0 != entry) {
                let other = self.entries[other as usize].0;
                self.report(at, format!("{name:?} is a port of links[{other}], not of this entry"));
                continue;
            }
            for (i, &port) in ports.iter().enumerate() {
                let plan = &mut self.links[port as usize];
                let stream = plan.name.clone();
                plan.rate = own.rate.unwrap_or(plan.rate);
                plan.up = own.up.unwrap_or(plan.up);
                if let Some(delay) = &own.delay {
                    plan.delay = draw(delay, seed, &stream, (i, ports.len()));
                }
                if let Some(loss) = &own.loss {
                    plan.loss.clone_from(loss);
                }
                if let Some(queue) = &own.queue {
                    plan.queue.clone_from(queue);
                }
                let impairments = &mut plan.impairments;
                impairments.packets = own.packets.unwrap_or(impairments.packets);
                impairments.reorder = own.reorder.clone().or(impairments.reorder.take());
                impairments.jitter = own.jitter.clone().or(impairments.jitter.take());
                impairments.duplicate = own.duplicate.unwrap_or(impairments.duplicate);
                self.own_port.insert(port, name.clone());
            }
        }
    }

    pub(super) fn check_link(&mut self, entry: usize, link: &Links) {
        let at = at!["links", entry];
        for (name, own) in [("forward", &link.forward), ("backward", &link.backward)] {
            if own.up.is_some() {
                let message = "a link is up or down both ways: say up of the link itself, or of one of its ports";
                self.report(at.key(name).key("up"), message);
            }
        }
        let mut owners = vec![(at.key("forward"), &link.forward), (at.key("backward"), &link.backward)];
        owners.extend(link.ports.iter().map(|(name, own)| (at.key("ports").key(name), own)));
        let delays = owners.iter().map(|(at, own)| (at.key("delay"), own.delay.as_ref()));
        for (at, delay) in delays.chain([(at.key("delay"), Some(&link.delay))]) {
            if let Some(Delay::Spread(Spread::Uniform([low, high]))) = delay
                && low > high
            {
                self.report(at.key("uniform"), format!("{low} is above {high}; write the smaller first"));
            }
        }
        self.check_impairments(&at, link.reorder.as_ref(), link.jitter.as_ref());
        for (at, own) in &owners {
            self.check_impairments(at, own.reorder.as_ref(), own.jitter.as_ref());
        }
        let losses = owners.iter().map(|(at, own)| (at.key("loss"), own.loss.as_ref()));
        for (at, loss) in losses.chain([(at.key("loss"), Some(&link.loss))]) {
            match loss {
                Some(Loss::Periodic(0)) => self.report(at.key("periodic"), "0: every N-th packet, so 1 at least"),
                Some(Loss::Bernoulli(p)) if !(0.0..=1.0).contains(p) => {
                    self.report(at.key("bernoulli"), format!("{p}: a probability is from 0 to 1"));
                }
                Some(Loss::GilbertElliott(model)) => {
                    let wrong = model.probabilities().into_iter().find(|(_, p)| !(0.0..=1.0).contains(p));
                    if let Some((name, p)) = wrong {
                        let message = format!("{p}: a probability is from 0 to 1");
                        self.report(at.key("gilbert_elliott").key(name), message);
                    }
                }
                Some(Loss::Listed(ordinals)) if ordinals.contains(&0) => {
                    self.report(at.key("listed"), "0: packets are counted from 1");
                }
                _ => {}
            }
        }
    }

    fn check_impairments(&mut self, at: &Path, reorder: Option<&Reorder>, jitter: Option<&Jitter>) {
        let distributions = [("reorder", reorder.map(|r| &r.extra)), ("jitter", jitter.map(|j| &j.extra))];
        for (key, distribution) in
            distributions.into_iter().filter_map(|(key, distribution)| Some((key, distribution?)))
        {
            let at = at.key(key);
            if let Err(invalid) = distribution.validate("extra") {
                let at = invalid.key.split('.').fold(at, |path, key| path.key(key));
                self.report(at, invalid.message);
            } else if let ("jitter", Distribution::Fixed(extra)) = (key, distribution) {
                let message = format!(
                    "{extra} for every packet is no jitter; write a distribution like {{ uniform = [\"0 s\", \"{extra}\"] }}"
                );
                self.report(at.key("extra"), message);
            }
        }
    }

    /// A node without links is a mistake.
    fn all_linked(&mut self, words: &Scenario) {
        let mut linked = vec![false; self.nodes.len()];
        for link in &self.links {
            linked[link.from as usize] = true;
        }
        let mut reported: Option<Group> = None;
        for (node, _) in linked.iter().enumerate().filter(|(_, linked)| !**linked) {
            stop::look();
            let group = self.groups.of_node(node as u32);
            if reported.is_some_and(|r| r.first == group.first) {
                continue;
            }
            reported = Some(group);
            let (section, key) = match group.host {
                true => ("hosts", words.hosts.get_index(group.index).map(|(k, _)| k.clone())),
                false => ("switches", words.switches.get_index(group.index).map(|(k, _)| k.clone())),
            };
            let message = format!("no link reaches {}", self.nodes[node].name);
            self.report(at![section, key.unwrap_or_default().as_str()], message);
        }
    }
}

/// Which members are joined.
fn pair(pairing: LinkPairing, a: &[u32], b: &[u32]) -> Result<Vec<(u32, u32)>, String> {
    let zip = |x: &[u32], y: &[u32]| x.iter().copied().zip(y.iter().copied()).collect();
    match pairing {
        LinkPairing::All => Ok(a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))).collect()),
        LinkPairing::Blocks => {
            let (large, small) = (a.len().max(b.len()), a.len().min(b.len()));
            if large % small != 0 {
                return Err(format!("{} and {} members do not divide into equal blocks", a.len(), b.len()));
            }
            let block = large / small;
            Ok((0..large).map(|i| if a.len() == large { (a[i], b[i / block]) } else { (a[i / block], b[i]) }).collect())
        }
        LinkPairing::Auto if a.len() == b.len() => Ok(zip(a, b)),
        LinkPairing::Auto if b.len() == 1 => Ok(zip(a, &vec![b[0]; a.len()])),
        LinkPairing::Auto if a.len() == 1 => Ok(zip(&vec![a[0]; b.len()], b)),
        LinkPairing::Auto => Err(format!("{} and {} members: say pairing = \"all\" or \"blocks\"", a.len(), b.len())),
    }
}

/// The delay of link `i` of `n`.
fn draw(delay: &Delay, seed: u64, name: &str, (i, n): (usize, usize)) -> Span {
    match delay {
        Delay::Fixed(span) => *span,
        Delay::Spread(Spread::Linear([a, b])) => {
            let steps = (n.max(2) - 1) as i128;
            let (a, b) = (i128::from(a.0), i128::from(b.0));
            // Nearest picosecond, halves up; between a and b, so it is a u64.
            Span((a + ((b - a) * i as i128 * 2 + steps).div_euclid(2 * steps)) as u64)
        }
        Delay::Spread(Spread::Uniform([a, b])) => {
            Span(Stream::new(seed, &format!("link.{name}"), "delay").between(a.0, b.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_delays_are_evenly_spaced() {
        // The access delays of 100 pairs whose RTT goes from 15 to 35 ms in steps of 20/99 ms.
        let delay = Delay::Spread(Spread::Linear([Span::from_us(1250), Span::from_us(6250)]));
        let at = |i| draw(&delay, 1, "", (i, 100)).0;
        assert_eq!(at(0), 1_250_000_000);
        assert_eq!(at(99), 6_250_000_000);
        assert_eq!(at(33), 1_250_000_000 + 5_000_000_000 / 3 + 1); // 1666666666.67 rounds up
        let down = Delay::Spread(Spread::Linear([Span(10), Span(0)]));
        assert_eq!((0..5).map(|i| draw(&down, 1, "", (i, 5)).0).collect::<Vec<_>>(), [10, 8, 5, 3, 0]);
        assert_eq!(draw(&delay, 1, "", (0, 1)), Span::from_us(1250));
    }

    #[test]
    fn pairings() {
        assert_eq!(pair(LinkPairing::Auto, &[1, 2], &[3, 4]).unwrap(), [(1, 3), (2, 4)]);
        assert_eq!(pair(LinkPairing::Auto, &[1, 2], &[3]).unwrap(), [(1, 3), (2, 3)]);
        assert_eq!(pair(LinkPairing::Auto, &[1], &[3, 4]).unwrap(), [(1, 3), (1, 4)]);
        assert!(pair(LinkPairing::Auto, &[1, 2, 3], &[4, 5]).is_err());
        assert_eq!(pair(LinkPairing::All, &[1, 2], &[3, 4]).unwrap(), [(1, 3), (1, 4), (2, 3), (2, 4)]);
        assert_eq!(pair(LinkPairing::Blocks, &[1, 2, 3, 4], &[8, 9]).unwrap(), [(1, 8), (2, 8), (3, 9), (4, 9)]);
        assert_eq!(pair(LinkPairing::Blocks, &[8, 9], &[1, 2, 3, 4]).unwrap(), [(8, 1), (8, 2), (9, 3), (9, 4)]);
        assert!(pair(LinkPairing::Blocks, &[1, 2, 3], &[8, 9]).is_err());
    }
}
