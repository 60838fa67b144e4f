//! `[[links]]`: groups joined, each link in its two directions.

use std::collections::BTreeMap;

use elephan_link::driven::{Driven, What};
use elephan_link::{Loss, queue::QueueSpec};
use elephan_random::Stream;
use elephan_traffic::Distribution;
use elephan_units::{Rate, Span, Time, stop};

use super::groups::Group;
use super::resolver::Resolver;
use crate::plan::{Impairments, Link};
use crate::tree::{Path, at};
use crate::written::{
    Delay, DrivenRate, Jitter, LinkPairing, LinkRate, LinkWords, Links, PortOf, Reorder, Scenario, Spread,
};

/// Links of one run, at most.
const LINKS_MAX: usize = 4_000_000;
/// From the smallest MSS that Linux has (`TCP_MIN_MSS`, 88 B) with both headers, to what the length field of IPv4 can say.
const MTU_RANGE: std::ops::RangeInclusive<u64> = 128..=65_535;

impl Resolver<'_> {
    pub(super) fn links(&mut self, words: &Scenario) {
        let mut joined: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (entry, link) in words.links.iter().enumerate() {
            self.check_link(entry, link);
            let Some(pairs) = self.ends(entry, link) else { continue };
            if self.links.len() + 2 * pairs.len() > LINKS_MAX {
                return self.report(at!["links", entry], format!("more than {} links", LINKS_MAX / 2));
            }
            let said = Said::of(link);
            for (i, &(a, b)) in pairs.iter().enumerate() {
                stop::look();
                if let Some(&other) = joined.get(&(a.min(b), a.max(b))) {
                    let (a, b) = (&self.nodes[a as usize].name, &self.nodes[b as usize].name);
                    let message = format!("duplicate link: links[{other}] joins {a} and {b} already");
                    self.report(at!["links", entry, "between"], message);
                    break;
                }
                joined.insert((a.min(b), a.max(b)), entry);
                self.join(words.seed, (entry, link), &said, (a, b), (i, pairs.len()));
            }
        }
        for (entry, link) in words.links.iter().enumerate() {
            self.own_ports(words.seed, entry, link);
        }
        for i in 0..self.links.len() {
            self.links[i].up &= self.links[self.links[i].reverse as usize].up;
        }
        self.interfaces();
        // After an error above this would only report its consequences.
        if self.problems.is_empty() {
            self.all_linked(words);
        }
    }

    /// Notes the smallest MTU of each host's links out.
    fn interfaces(&mut self) {
        if self.links.iter().all(|link| link.mtu.is_none()) {
            return;
        }
        self.stacks.mtus = vec![None; self.nodes.len()];
        for link in &self.links {
            let known = &mut self.stacks.mtus[link.from as usize];
            *known = [*known, link.mtu].into_iter().flatten().min();
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

    fn join(
        &mut self,
        seed: u64,
        (entry, link): (usize, &Links),
        said: &Said,
        (a, b): (u32, u32),
        place: (usize, usize),
    ) {
        let first = self.links.len() as u32;
        for forward in [true, false] {
            let (from, to) = if forward { (a, b) } else { (b, a) };
            self.links.push(Link {
                name: format!("{}->{}", self.nodes[from as usize].name, self.nodes[to as usize].name),
                from,
                to,
                reverse: if forward { first + 1 } else { first },
                rate: Rate(1),
                delay: Span::ZERO,
                framing: link.framing,
                queue: QueueSpec::default(),
                bdp_rtt: None,
                bdp_bytes: 0,
                ip_bytes: 0,
                largest_of: None,
                mtu: None,
                up: true,
                loss: Loss::None,
                impairments: Impairments::default(),
                driven: Driven::default(),
            });
            self.entries.push((entry, forward));
        }
        for i in first..first + 2 {
            self.direct(seed, (link, said), i, place);
        }
    }

    /// What a direction has of its entry: `place` is that of its link among those of the entry.
    fn direct(&mut self, seed: u64, (link, said): (&Links, &Said), i: u32, place: (usize, usize)) {
        let forward = self.entries[i as usize].1;
        let old = &self.links[i as usize];
        let (words, driven) = said.to(forward, self.groups.of_node(old.from).host);
        // The stream bears the forward name in both directions, so that an ordinary delay is the same each way.
        let own_delay = link.direction(forward).1.delay.is_some();
        let stream = if own_delay || forward { i } else { old.reverse };
        let delay = words.delay.as_ref().map(|delay| draw(delay, seed, &self.links[stream as usize].name, place));
        tell(words, driven, delay, &mut self.links[i as usize]);
    }

    /// Works out anew what the links of an entry have, which are `all`, and what a bdp is there.
    pub(super) fn derive(&mut self, words: &Scenario, entry: usize, all: std::ops::Range<usize>) {
        let link = &words.links[entry];
        let said = Said::of(link);
        let count = all.len() / 2;
        for (place, i) in all.clone().enumerate() {
            stop::look();
            self.direct(words.seed, (link, &said), i as u32, (place / 2, count));
        }
        self.own_ports(words.seed, entry, link);
        for i in all {
            self.links[i].up &= self.links[self.links[i].reverse as usize].up;
            self.links[i].bdp_bytes = self.bdp_bytes(i);
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
            let driven = driven_by(own);
            for (i, &port) in ports.iter().enumerate() {
                let plan = &mut self.links[port as usize];
                let delay = own.delay.as_ref().map(|delay| draw(delay, seed, &plan.name, (i, ports.len())));
                tell(own, &driven, delay, plan);
                self.own_port.insert(port, name.clone());
            }
        }
    }

    /// The port of a link, by the words that are its own.
    pub(super) fn port_of(&self, i: usize) -> PortOf<'_> {
        let (entry, forward) = self.entries[i];
        let single = self.own_port.get(&(i as u32)).map(String::as_str);
        PortOf { entry, forward, single, host: self.groups.of_node(self.links[i].from).host }
    }

    pub(super) fn check_link(&mut self, entry: usize, link: &Links) {
        let at = at!["links", entry];
        for forward in [true, false] {
            let (name, own) = link.direction(forward);
            if own.up.is_some() {
                let message = "a link is up or down both ways: say up of the link itself, or of one of its ports";
                self.report(at.key(name).key("up"), message);
            }
        }
        let own = link.own_words(&at);
        let shared = link.of_all(false);
        let of_entry = (at, &shared);
        for (at, words) in own.iter().chain([&of_entry]) {
            if let Some(mtu) = words.mtu.filter(|mtu| !MTU_RANGE.contains(&mtu.0)) {
                let (least, most) = (MTU_RANGE.start(), MTU_RANGE.end());
                self.report(at.key("mtu"), format!("\"{mtu}\": an MTU is from {least} B to {most} B"));
            }
        }
        for (at, words) in own.iter().chain([&of_entry]) {
            if let Some(Delay::Spread(Spread::Uniform([low, high]))) = &words.delay
                && low > high
            {
                self.report(at.key("delay").key("uniform"), format!("{low} is above {high}; write the smaller first"));
            }
        }
        for (at, words) in [&of_entry].into_iter().chain(&own) {
            self.check_impairments(at, words.reorder.as_ref(), words.jitter.as_ref());
        }
        for (at, words) in own.iter().chain([&of_entry]) {
            self.check_loss(&at.key("loss"), words.loss.as_ref());
            self.check_loss(&at.key("mark"), words.mark.as_ref());
        }
    }

    fn check_loss(&mut self, at: &Path, loss: Option<&Loss>) {
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

    fn check_impairments(&mut self, at: &Path, reorder: Option<&Reorder>, jitter: Option<&Jitter>) {
        let distributions = [("reorder", reorder.map(|r| &r.extra)), ("jitter", jitter.map(|j| &j.extra))];
        for (key, distribution) in
            distributions.into_iter().filter_map(|(key, distribution)| Some((key, distribution?)))
        {
            let at = at.key(key);
            if let Err(invalid) = distribution.validate("extra") {
                let at = invalid.parameter.split('.').fold(at, |path, key| path.key(key));
                self.report(at, invalid.reason);
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

/// What an entry says to its ports, by direction and by whether the port is a host's.
struct Said([[(LinkWords, Driven); 2]; 2]);

impl Said {
    fn of(link: &Links) -> Said {
        let shared = [false, true].map(|host| link.of_all(host));
        Said([false, true].map(|forward| {
            let [switch, host] = shared.each_ref().map(|base| link.direction(forward).1.over(base));
            // Hosts and switches have the same rate and delay.
            let driven = driven_by(&switch);
            [(switch, driven.clone()), (host, driven)]
        }))
    }

    fn to(&self, forward: bool, host: bool) -> (&LinkWords, &Driven) {
        let (words, driven) = &self.0[usize::from(forward)][usize::from(host)];
        (words, driven)
    }
}

/// Puts what the words say into the plan of a port, with what follows a trace and the delay that was drawn.
fn tell(words: &LinkWords, driven: &Driven, drawn: Option<Span>, port: &mut Link) {
    words.tell(port);
    if let Some(rate) = &words.rate {
        port.driven.rate.clone_from(&driven.rate);
        port.rate = match (rate, &driven.rate) {
            (LinkRate::Fixed(rate), _) => *rate,
            (LinkRate::Driven(_), Some(trace)) => trace.mean(),
            (LinkRate::Driven(_), None) => port.rate,
        };
    }
    if let Some(delay) = drawn {
        port.driven.delay.clone_from(&driven.delay);
        port.driven.reorders = driven.reorders;
        port.delay = driven.delay.as_ref().map_or(delay, |course| course.span_at(Time::ZERO));
    }
}

/// What of a port follows a trace by these words. What is wrong with a trace has been said when its file was read.
fn driven_by(words: &LinkWords) -> Driven {
    let rate = match &words.rate {
        Some(LinkRate::Driven(DrivenRate::Trace(trace))) => trace.table().and_then(|table| table.rate().ok()),
        _ => None,
    };
    let table = match &words.delay {
        Some(Delay::Spread(Spread::Trace(trace))) => trace.table(),
        _ => None,
    };
    let delay = table.and_then(|table| table.values(What::Delay).ok());
    Driven { rate, delay, reorders: table.is_some_and(|table| table.reorder) }
}

/// Whether what is `set` says anew what the queue of a port is, or what a bdp is there.
pub(super) fn sets_queue(words: &Scenario, port: PortOf<'_>, set: &[Path]) -> bool {
    let places = ["queue", "bdp_rtt"].map(|key| words.links[port.entry].place(port, key));
    set.iter().any(|place| places.iter().any(|of| place.0.starts_with(&of.0) || of.0.starts_with(&place.0)))
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
        LinkPairing::Cyclic => {
            let large = a.len().max(b.len());
            Ok((0..large).map(|i| (a[i % a.len()], b[i % b.len()])).collect())
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
        Delay::Spread(Spread::Trace(_)) => Span::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::{Source, read};

    /// Every key of a port, with values for an entry, its forward direction and a single port; null where a key cannot stand.
    fn samples() -> Vec<(&'static str, [Json; 3])> {
        let extra = |ms: u32| json!({ "extra": { "uniform": ["0 s", format!("{ms} ms")] } });
        let late = |share: f64| json!({ "share": share, "extra": "1 ms" });
        let queue = |kb: u32| json!({ "kind": "fifo", "limit": format!("{kb} KB") });
        vec![
            ("rate", ["1 Gbps", "2 Gbps", "3 Gbps"].map(Json::from)),
            ("delay", ["1 ms", "2 ms", "3 ms"].map(Json::from)),
            ("mtu", ["9000 B", "1500 B", "4000 B"].map(Json::from)),
            ("up", [json!(true), Json::Null, json!(false)]),
            ("packets", [json!("data"), json!("all"), json!("data")]),
            ("loss", [1, 2, 3].map(|percent| json!({ "bernoulli": f64::from(percent) / 100.0 }))),
            ("reorder", [0.1, 0.2, 0.3].map(late)),
            ("duplicate", [0.1, 0.2, 0.3].map(Json::from)),
            ("mark", [1, 2, 3].map(|percent| json!({ "bernoulli": f64::from(percent) / 100.0 }))),
            ("jitter", [1, 2, 3].map(extra)),
            ("queue", [10, 20, 30].map(queue)),
            ("bdp_rtt", ["1 ms", "2 ms", "3 ms"].map(Json::from)),
        ]
    }

    /// The plans of the ports s->t[0], t[0]->s, s->t[1] and t[1]->s, as texts. The entry, its forward direction and the port s->t[1]
    /// say `key`. No flow crosses these ports, so their plans hold only what the words say.
    fn ports(key: &str, [entry, forward, single]: [&Json; 3]) -> Vec<String> {
        let between = |a: &str, b: &str| json!({ "between": [a, b], "rate": "1 Gbps", "delay": "1 ms" });
        let mut link = between("s", "t");
        if !entry.is_null() {
            link[key] = entry.clone();
        }
        if !forward.is_null() {
            link["forward"][key] = forward.clone();
        }
        if !single.is_null() {
            link["ports"]["s->t[1]"][key] = single.clone();
        }
        let scenario = json!({
            "duration": "1 s",
            "hosts": { "a": {}, "b": {} },
            "switches": { "s": {}, "t": { "count": 2 } },
            "links": [link, between("a", "s"), between("b", "s")],
            "traffic": [{ "kind": "bulk", "from": "a", "to": "b" }],
        });
        let plan = read(&Source::value("made", scenario), &[], None).unwrap().plan;
        let unnamed = |link: &Link| Link { name: String::new(), from: 0, to: 0, reverse: 0, ..link.clone() };
        plan.links[..4].iter().map(|link| format!("{:?}", unnamed(link))).collect()
    }

    #[test]
    fn every_key_of_links_reaches_its_ports() {
        let (samples, nothing) = (samples(), Json::Null);
        let keys: Vec<&str> = LinkWords::KEYS.iter().map(|(key, _)| *key).collect();
        assert_eq!(samples.iter().map(|(key, _)| *key).collect::<Vec<_>>(), keys);
        for (key, [entry, forward, single]) in &samples {
            let of_all = |value: &Json| ports(key, [value, &nothing, &nothing]).swap_remove(0);
            let found = ports(key, [entry, forward, single]);
            let of_direction = if forward.is_null() { entry } else { forward };
            assert_eq!(found[0], of_all(of_direction), "{key} of a direction");
            assert_eq!(found[1], of_all(entry), "{key} of an entry");
            assert_eq!(found[2], of_all(single), "{key} of a port");
            assert_ne!(found[2], found[0], "{key} of a port");
            assert!(forward.is_null() || found[0] != found[1], "{key} of a direction");
        }
    }

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
        assert_eq!(pair(LinkPairing::Cyclic, &[1, 2, 3, 4], &[8, 9]).unwrap(), [(1, 8), (2, 9), (3, 8), (4, 9)]);
    }
}
