//! What cannot run: times, flow control, buffers too small for a packet.

use std::collections::BTreeSet;

use elephan_link::queue::{Discipline, Limit, Parameters, QueueSpec};
use elephan_link::{FlowControl, PausePer, Pfc, PfcPer};
use elephan_units::{Bytes, InvalidParameter, Size, Span, parse_size, stop};
use serde_json::Value as Json;

use super::links::sets_queue;
use super::resolver::Resolver;
use crate::plan::{NodeKind, headroom};
use crate::tree::{Path, at};
use crate::written::{Scenario, Switches};

/// IEEE 802.3 Annex 31B: a quantum is 512 bit times.
const QUANTUM_BYTES: u64 = 64;
/// A pause of fewer would be sent again before its frame of 84 bytes, 1.3 quanta, has left.
const QUANTA_LEAST: u16 = 4;

/// Time is 64 bits of picoseconds, 213.5 days. What a run can reach (its duration, a round trip, a sample more) stays
/// within 210, so that timers of a day or less never leave the range.
const TIME_MAX: Span = Span(210 * DAY.0);
const DAY: Span = Span(86_400 * elephan_units::PS_PER_S);
/// No switch gives out its memory in larger pieces.
const CELL_MAX: Bytes = Bytes(64 << 10);

impl Resolver<'_> {
    pub(super) fn times(&mut self, words: &Scenario) {
        if words.duration == Span::ZERO {
            self.report(at!["duration"], "0 s: nothing would happen");
        } else if words.warmup >= words.duration {
            let message = format!(
                "{} is not before the end of the run, {}: one of both must change",
                words.warmup, words.duration
            );
            self.report_between(at!["warmup"], &at!["duration"], message);
        }
        if words.record.every == Some(Span::ZERO) {
            self.report(at!["record", "every"], "0 s: samples need an interval; leave it out for none");
        }
    }

    /// Whether no way over links of at most this delay can be too long, however many it has.
    pub(super) fn is_short(&self, words: &Scenario, delay: Span) -> bool {
        let latencies: u128 =
            words.switches.values().map(|s| u128::from(s.latency.0) * u128::from(s.count.unwrap_or(1))).sum();
        let every = u128::from(words.record.every.unwrap_or_default().0);
        let longest = 2 * (u128::from(delay.0) * self.nodes.len() as u128 + latencies);
        u128::from(words.duration.0) + longest + every <= u128::from(TIME_MAX.0)
    }

    /// The longest round trip, with every switch's latency both ways, and the run together.
    pub(super) fn time_range(&mut self, words: &Scenario, longest_rtt_ps: u128) {
        let duration = u128::from(words.duration.0);
        let latencies: u128 =
            words.switches.values().map(|s| u128::from(s.latency.0) * u128::from(s.count.unwrap_or(1))).sum();
        let every = u128::from(words.record.every.unwrap_or_default().0);
        for (what, ps) in [("round trip", longest_rtt_ps + 2 * latencies), ("interval of samples", every)] {
            if duration + ps > u128::from(TIME_MAX.0) {
                let message =
                    format!("with the longest {what} the run is beyond 210 days, the longest that can be simulated");
                return self.report(at!["duration"], message);
            }
        }
    }

    /// Rates so low that a frame or a PAUSE takes more than a day.
    fn slow(&self, i: usize) -> Option<String> {
        let link = &self.links[i];
        let ip = u32::try_from(self.crossings[i].packets.ip_bytes).unwrap_or(u32::MAX / 2);
        let pause = [link.from, link.to].map(|node| match &self.nodes[node as usize].kind {
            NodeKind::Switch(s) => u64::from(s.flow_control.quanta().unwrap_or(0)) * QUANTUM_BYTES,
            NodeKind::Host => 0,
        });
        let largest = [("a packet", u64::from(link.framing.wire_bytes(ip))), ("a PAUSE", pause[0].max(pause[1]))];
        let slow = largest.into_iter().find(|(_, bytes)| link.rate.time_of(*bytes) > DAY);
        slow.map(|(what, _)| format!("{what} takes more than a day at {} ({})", link.rate, link.name))
    }

    pub(super) fn switches(&mut self, words: &Scenario) {
        for (name, switch) in &words.switches {
            self.cell(at!["switches", name].key("cell"), switch);
            self.alpha(at!["switches", name].key("alpha"), switch);
            self.flow_control(at!["switches", name], switch);
        }
    }

    fn cell(&mut self, at: Path, switch: &Switches) {
        match (switch.cell, switch.memory) {
            (Some(Bytes(0)), _) => self.report(at, "0 B: leave it out for memory that is given out by bytes"),
            (Some(_), None) => self.report(at, "is what the switch's memory is given out in: give memory"),
            (Some(cell), _) if cell > CELL_MAX => {
                let shown = self.written(&at, cell);
                self.report(at, format!("{shown} is beyond {CELL_MAX}, the largest cell"));
            }
            _ => {}
        }
    }

    fn alpha(&mut self, at: Path, switch: &Switches) {
        let Some(alpha) = switch.alpha else { return };
        if switch.memory.is_none() {
            self.report(at, "is a share of the switch's free memory: give memory");
        } else if switch.flow_control != FlowControl::None {
            let other = match switch.flow_control {
                FlowControl::Pfc(_) => "; pfc has an alpha of its own, flow_control.alpha",
                _ => "",
            };
            self.report(at, format!("drops what is beyond a port's share: it goes without flow_control{other}"));
        } else if !(alpha > 0.0 && alpha.is_finite()) {
            self.report(at, format!("{alpha}: must be above 0"));
        }
    }

    pub(super) fn congestion_management(&mut self, words: &Scenario) {
        if let Some(invalid) = words.congestion_management.problem() {
            self.report(at!["congestion_management", invalid.parameter.as_ref()], invalid.reason);
        }
    }

    fn flow_control(&mut self, at: Path, switch: &Switches) {
        let at_control = at.key("flow_control");
        match &switch.flow_control {
            FlowControl::None => {}
            FlowControl::Pause(pause) => {
                if pause.per == PausePer::Memory && switch.memory.is_none() {
                    let message = format!(
                        "pause watches the switch's shared memory; give {at}.memory, or say per = \"egress\" or \"ingress\""
                    );
                    return self.report(at_control, message);
                }
                self.marks(&at, switch, (pause.xoff, Some(pause.xon)));
            }
            FlowControl::Pfc(pfc) => self.pfc(&at, switch, pfc),
        }
        if switch.flow_control.quanta() == Some(0) {
            self.report(at_control.key("quanta"), "0: a PAUSE of 0 quanta means resume");
        } else if let Some(quanta) = switch.flow_control.quanta().filter(|quanta| *quanta < QUANTA_LEAST) {
            let message = format!("{quanta}: so short a pause is sent again all the time; {QUANTA_LEAST} at least");
            self.report(at_control.key("quanta"), message);
        }
    }

    /// XOFF and XON of the switch at `at_switch` against each other and the memory.
    fn marks(&mut self, at_switch: &Path, switch: &Switches, (xoff, xon): (Bytes, Option<Bytes>)) {
        let at = at_switch.key("flow_control");
        if xoff.0 == 0 {
            self.report(at.key("xoff"), "0 B: the switch would never stop pausing");
        }
        if let Some(xon) = xon.filter(|xon| *xon > xoff) {
            let message = format!("{xon} is above xoff, {xoff}");
            self.report_between(at.key("xon"), &at.key("xoff"), message);
        }
        if let Some(memory) = switch.memory.filter(|memory| xoff > *memory) {
            let message = format!("{xoff} is above the switch's memory, {memory}");
            self.report_between(at.key("xoff"), &at_switch.key("memory"), message);
        }
    }

    fn pfc(&mut self, at_switch: &Path, switch: &Switches, pfc: &Pfc) {
        let at = &at_switch.key("flow_control");
        let mut seen = 0u8;
        for (i, priority) in pfc.priorities.iter().enumerate() {
            let bit = 1 << (priority & 7);
            if seen & bit != 0 {
                self.report(at.key("priorities").index(i), format!("{priority} is listed twice"));
            }
            seen |= bit;
        }
        match (pfc.xoff, pfc.alpha) {
            (Some(xoff), None) => self.marks(at_switch, switch, (xoff, pfc.xon)),
            (None, None) => self.report(at.clone(), "pfc needs a threshold: give xoff, or alpha"),
            (Some(_), Some(_)) => self.report(at.key("alpha"), "xoff is given too: one of both"),
            (None, Some(_)) => {
                if pfc.xon.is_some() {
                    self.report(
                        at.key("xon"),
                        "goes with xoff; with alpha pauses end two full frames below the threshold",
                    );
                }
                if pfc.per == PfcPer::Egress {
                    self.report(at.key("alpha"), "counts what has come in: it goes with per = \"ingress\"");
                } else if switch.memory.is_none() {
                    self.report(at.key("alpha"), "is a share of the switch's memory: give it");
                }
            }
        }
        if pfc.headroom.is_some() && switch.memory.is_none() {
            self.report(at.key("headroom"), "is part of the switch's memory: give it");
        }
        if pfc.watchdog == Some(Span::ZERO) {
            self.report(at.key("watchdog"), "\"0 s\": must be above zero");
        }
    }

    /// The headroom of all lossless priorities of a switch against its memory.
    fn headroom(&self, words: &Scenario, node: usize, pfc: &Pfc, memory: u64) -> Option<String> {
        let largest = self.crossings.iter().map(|c| c.packets.ip_bytes).max().unwrap_or(0);
        let frames = (largest, &words.congestion_management);
        let into = (0u32..).zip(&self.links).filter(|(_, l)| l.to as usize == node);
        let own = |(i, _)| match pfc.headroom {
            Some(given) => given.get(),
            None => headroom((&self.links, &self.nodes), pfc, i, frames),
        };
        let ports: Vec<u64> = into.map(own).collect();
        let all = ports.iter().sum::<u64>().saturating_mul(u64::from(pfc.mask().count_ones()));
        (all > memory).then(|| {
            let (ports, priorities) = (ports.len(), pfc.mask().count_ones());
            let each =
                if priorities == 1 { "1 lossless priority" } else { &format!("{priorities} lossless priorities") };
            format!("{} of headroom for {ports} ports with {each}", Bytes(all))
        })
    }

    /// Limits of queues against what crosses them; after a change of those that it sets: the others keep their bytes.
    pub(super) fn queues(&mut self, words: &Scenario, links: std::ops::Range<usize>, set: Option<&[Path]>) {
        let mut reported = BTreeSet::new();
        for i in links {
            stop::look();
            let slow = self.slow(i).map(|message| (at!["links", self.entries[i].0, "rate"], message));
            let of_now = set.is_none_or(|set| sets_queue(words, self.port_of(i), set));
            let queue = if of_now { self.faults(words, i) } else { Vec::new() };
            for (at, message) in slow.into_iter().chain(queue) {
                // The links of an entry have it in common.
                if reported.insert(at.to_string()) {
                    self.report(at, message);
                }
            }
        }
    }

    /// What is wrong with the queue of a direction, each with its place.
    fn faults(&self, words: &Scenario, i: usize) -> Vec<(Path, String)> {
        let limit = self.queue_problem(words, i).map(|reason| InvalidParameter::new("limit", reason));
        let apart = self.apart(i).map(|reason| InvalidParameter::new("kind", reason));
        let found =
            [limit, self.links[i].queue.problem(), self.too_shallow(words, i), apart, self.below_xoff(words, i)];
        let place = |invalid: &InvalidParameter| self.queue_path(words, i, &invalid.parameter);
        found.into_iter().flatten().map(|invalid| (place(&invalid), invalid.reason)).collect()
    }

    /// A queue that cannot be had once for each priority, where one of both ends pauses single priorities.
    fn apart(&self, i: usize) -> Option<String> {
        let link = &self.links[i];
        let pauses = |node: u32| match &self.nodes[node as usize].kind {
            NodeKind::Switch(switch) => matches!(switch.flow_control, FlowControl::Pfc(_)),
            NodeKind::Host => false,
        };
        let queue = &link.queue;
        let apart = queue.answers().once_per_priority || queue.build(link.bdp_bytes).has_priorities();
        let cannot = !apart && (pauses(link.from) || pauses(link.to));
        cannot.then(|| format!("{} cannot keep apart the priorities that PFC pauses ({})", queue.name(), link.name))
    }

    /// A limit of a queue, or of that of a class, below the XOFF that counts what waits in it, or what came from one port (of which no
    /// more can wait in it): it drops before the switch can pause. The key that says it, and what is wrong.
    fn below_xoff(&self, words: &Scenario, i: usize) -> Option<InvalidParameter> {
        let link = &self.links[i];
        let NodeKind::Switch(switch) = &self.nodes[link.from as usize].kind else { return None };
        let (xoff, lossless) = match &switch.flow_control {
            FlowControl::Pause(pause) if pause.per != PausePer::Memory => (pause.xoff, u8::MAX),
            FlowControl::Pfc(pfc) => (pfc.marks()?.0, pfc.mask()),
            _ => return None,
        };
        // Packets are taken to be as large as any: a way back, of acknowledgements only, may well have the same limit.
        let largest = self.crossings.iter().map(|crossing| crossing.packets.ip_bytes).max().unwrap_or(0);
        let frame = u64::from(link.framing.charged_bytes(u32::try_from(largest).unwrap_or(u32::MAX / 2)));
        let below = |queue: &QueueSpec| {
            let size = limit_of(queue)?;
            let limit = Limit::of(Some(size), link.bdp_bytes);
            (limit.bytes.min(limit.packets.saturating_mul(frame)) < xoff.0).then_some(size)
        };
        let told =
            |shown: String| format!("{shown} is below xoff, {xoff}: it drops before the switch pauses ({})", link.name);
        if let Some(size) = below(&link.queue) {
            return Some(InvalidParameter::new("limit", told(self.written(&self.queue_path(words, i, "limit"), size))));
        }
        classes_of(&link.queue).into_iter().enumerate().find_map(|(class, (priorities, queue))| {
            let size = below(queue).filter(|_| priorities & lossless != 0)?;
            Some(InvalidParameter::new("classes", format!("class {class}: queue.limit: {}", told(size.to_string()))))
        })
    }

    /// Returns what is wrong with a depth beside the limit, if no packet of the largest flow fits into it.
    fn too_shallow(&self, words: &Scenario, i: usize) -> Option<InvalidParameter> {
        let (link, ip_bytes) = (&self.links[i], self.crossings[i].packets.ip_bytes);
        let frame = u64::from(link.framing.charged_bytes(u32::try_from(ip_bytes).unwrap_or(u32::MAX / 2)));
        let (key, depth) = link.queue.depths().into_iter().find(|&(_, depth)| ip_bytes > 0 && depth.0 < frame)?;
        let shown = self.written(&self.queue_path(words, i, key), depth);
        Some(InvalidParameter::new(key, format!("{shown} cannot hold one packet of {frame} B ({})", link.name)))
    }

    fn queue_problem(&self, words: &Scenario, i: usize) -> Option<String> {
        let (link, crossing) = (&self.links[i], &self.crossings[i]);
        let limit = limit_of(&link.queue)?;
        let frame =
            u64::from(link.framing.charged_bytes(u32::try_from(crossing.packets.ip_bytes).unwrap_or(u32::MAX / 2)));
        match limit {
            Size::Packets(0) => Some("0 packets: a queue holds one packet at least".to_owned()),
            Size::Bytes(0) | Size::NanoBdp(0) => Some("0: a queue holds one packet at least".to_owned()),
            Size::Bytes(bytes) if crossing.packets.ip_bytes > 0 && bytes < frame => {
                let shown = self.written(&self.queue_path(words, i, "limit"), limit);
                Some(format!("{shown} cannot hold one packet of {frame} B ({})", link.name))
            }
            Size::NanoBdp(_) if crossing.mean_rtt().is_none() && link.bdp_bytes == 0 => {
                Some(format!("no flow crosses {}, so its bdp is unknown; give bdp_rtt", link.name))
            }
            Size::NanoBdp(nano) => {
                let bytes = Size::of_bdp(nano, link.bdp_bytes);
                let text = self.written(&self.queue_path(words, i, "limit"), limit);
                (crossing.packets.ip_bytes > 0 && bytes < frame)
                    .then(|| format!("{text} is {bytes} B here, less than one packet of {frame} B ({})", link.name))
            }
            _ => None,
        }
    }

    /// Where a parameter of the queue of a port is written.
    pub(super) fn queue_path(&self, words: &Scenario, i: usize, key: &str) -> Path {
        let port = self.port_of(i);
        words.links[port.entry].place(port, "queue").key(key)
    }

    /// Memories of switches against the packets that pass and, but `after_change`, which moves no headroom, against that.
    pub(super) fn buffers(&mut self, words: &Scenario, after_change: bool) {
        let mut largest = vec![0u64; self.nodes.len()];
        for (link, crossing) in self.links.iter().zip(&self.crossings) {
            if crossing.packets.ip_bytes > 0 {
                let ip = u32::try_from(crossing.packets.ip_bytes).unwrap_or(u32::MAX / 2);
                let frame = &mut largest[link.from as usize];
                *frame = (*frame).max(u64::from(link.framing.charged_bytes(ip)));
            }
        }
        let mut reported = Vec::new();
        for (node, frame) in largest.into_iter().enumerate() {
            let NodeKind::Switch(switch) = &self.nodes[node].kind else { continue };
            let group = self.groups.of_node(node as u32).index;
            if reported.contains(&group) {
                continue;
            }
            if let (FlowControl::Pfc(pfc), Some(memory)) = (&switch.flow_control, switch.memory_bytes)
                && !after_change
                && let Some(message) = self.headroom(words, node, pfc, memory)
            {
                reported.push(group);
                let name = words.switches.get_index(group).map(|(k, _)| k.clone()).unwrap_or_default();
                let at = at!["switches", name.as_str(), "flow_control"];
                let memory = self.written(&at!["switches", name.as_str(), "memory"], Bytes(memory));
                self.report(at, format!("{message} are more than the memory, {memory}"));
                continue;
            }
            let taken = switch.cell_bytes.map_or(frame, |cell| frame.next_multiple_of(u64::from(cell)));
            if let FlowControl::Pfc(Pfc { xoff: Some(xoff), headroom: Some(headroom), .. }) = &switch.flow_control
                && xoff.get() + headroom.get() < taken
            {
                reported.push(group);
                let name = words.switches.get_index(group).map(|(k, _)| k.clone()).unwrap_or_default();
                let at = at!["switches", name.as_str(), "flow_control"];
                self.report(at, format!("xoff {xoff} and headroom {headroom} cannot hold one packet of {taken} B"));
                continue;
            }
            if let (Some(alpha), Some(memory)) = (switch.alpha, switch.memory_bytes.filter(|m| *m >= taken))
                && alpha * (memory as f64) < taken as f64
            {
                reported.push(group);
                let name = words.switches.get_index(group).map(|(k, _)| k.clone()).unwrap_or_default();
                let message =
                    format!("{alpha} times the memory, {}, cannot hold one packet of {taken} B", Bytes(memory));
                self.report(at!["switches", name.as_str(), "alpha"], message);
                continue;
            }
            let Some(memory) = switch.memory_bytes.filter(|m| *m < taken || *m == 0) else { continue };
            reported.push(group);
            let name = words.switches.get_index(group).map(|(k, _)| k.clone()).unwrap_or_default();
            let at = at!["switches", name.as_str(), "memory"];
            let cells = if taken > frame { format!(", {taken} B in whole cells") } else { String::new() };
            let message = format!("{} cannot hold one packet of {frame} B{cells}", self.written(&at, Bytes(memory)));
            self.report(at, message);
        }
    }
}

/// Priorities, as bits, and queues of the classes of a queue; what no class names is the last one's.
fn classes_of(queue: &QueueSpec) -> Vec<(u8, &QueueSpec)> {
    let mut classes = queue.classes();
    let named = classes.iter().fold(0, |mask, (own, _)| mask | own);
    if let Some((last, _)) = classes.last_mut() {
        *last |= !named;
    }
    classes
}

/// The key `limit` of a queue of any kind.
pub(crate) fn limit_of(queue: &QueueSpec) -> Option<Size> {
    let json = serde_json::to_value(queue).ok()?;
    json.get("limit").and_then(Json::as_str).and_then(|text| parse_size(text).ok())
}
