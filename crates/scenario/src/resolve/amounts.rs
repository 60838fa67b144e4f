//! How many rows of samples and how many offers a run makes. Both follow from the scenario, so that what would fill the memory or never end
//! is refused before the first packet.

use elephan_link::Framing;
use elephan_random::Stream;
use elephan_traffic::{Generate as _, Part, Setting, Shared, Spec as _};
use elephan_units::{Rate, Span};

use super::resolver::Resolver;
use crate::plan::{NodeKind, PortSelection, Traffic};
use crate::tree::at;
use crate::written::Scenario;

/// Samples of each flow and port beyond which nobody looks at them all, and a disk is soon full.
const SAMPLES_MAX: u64 = 10_000_000;
/// Rows of samples in all tables: about 20 GB of memory.
const ROWS_MAX: u64 = 100_000_000;
/// Messages, datagrams, frames or rounds of a traffic entry: at some millions a second a run of an hour.
const OFFERS_MAX: f64 = 1e10;
/// Offers from which the mean gap is taken.
const LOOKED_AT: u32 = 1000;

impl Resolver<'_> {
    /// Rows of samples against the interval that `record` asks for.
    pub(super) fn rows(&mut self, words: &Scenario) {
        let Some(every) = self.record.every.filter(|every| *every > Span::ZERO) else { return };
        let each = self.rows_each();
        let most = SAMPLES_MAX.min(ROWS_MAX / each.max(1)).max(1);
        let samples = words.duration.0 / every.0;
        if samples <= most {
            return;
        }
        let (duration, fits) = (words.duration, rounded_up(words.duration.0.div_ceil(most)));
        let what = if samples > SAMPLES_MAX {
            format!("{every} gives more than {SAMPLES_MAX} samples in {duration}")
        } else {
            format!("{every} gives {samples} times {each} rows in {duration}, more than {ROWS_MAX}")
        };
        self.report_between(at!["record", "every"], &at!["duration"], format!("{what}; {fits} fits"));
    }

    /// Rows of samples at each instant, without those of flows that begin during the run.
    fn rows_each(&self) -> u64 {
        let record = &self.record;
        let flows: u64 =
            self.traffic.iter().filter(|t| !t.kind.answers().opens_its_own).map(|t| t.flows.len() as u64).sum();
        let is_switch = |node: u32| matches!(self.nodes[node as usize].kind, NodeKind::Switch(_));
        let ports = match &record.ports {
            PortSelection::None => 0,
            PortSelection::All => self.links.len(),
            PortSelection::Switches => self.links.iter().filter(|link| is_switch(link.from)).count(),
            PortSelection::Listed(listed) => listed.len(),
        };
        let tables = [record.flows, record.statistics, record.info].into_iter().filter(|wanted| *wanted).count();
        flows.saturating_mul(tables as u64).saturating_add(ports as u64)
    }

    /// Offers of each traffic entry in the time of the run.
    pub(super) fn offers(&mut self, words: &Scenario) {
        let mut found = Vec::new();
        for (entry, traffic) in self.traffic.iter().enumerate() {
            let count = self.offered(words, traffic);
            if count > OFFERS_MAX {
                let of_entry = at!["traffic", entry];
                let written = |key: &&str| self.tree.at(&of_entry.key(key)).is_some();
                let at = of_entry.key(traffic.kind.pace().filter(written).unwrap_or("kind"));
                let shown = self.written(&at, traffic.kind.name());
                let message =
                    format!("{shown} gives about {count:.0e} offers in {}, more than {OFFERS_MAX:.0e}", words.duration);
                found.push((at, message));
            }
        }
        for (at, message) in found {
            self.report_between(at, &at!["duration"], message);
        }
    }

    /// About how many offers an entry makes; 0 where each waits for the one before.
    fn offered(&self, words: &Scenario, traffic: &Traffic) -> f64 {
        let shared = traffic.kind.shared();
        let Some(flow) = traffic.flows.first() else { return 0.0 };
        if matches!(shared, Some(Shared::Receiver { closed: true })) {
            return 0.0;
        }
        let first = self.links.iter().find(|link| link.from == flow.from);
        let framing = first.map_or(Framing::default(), |link| link.framing);
        let headers = u64::from(traffic.datagram_headers());
        let wire = |ip_bytes: u64| u64::from(framing.wire_bytes(u32::try_from(ip_bytes).unwrap_or(u32::MAX / 2)));
        let full = traffic.ip_bytes(self.stacks.get(flow.sender), self.stacks.get(flow.receiver));
        let mut source = traffic.kind.source(&Setting {
            part: if shared.is_some() { Part::Clock } else { Part::Whole },
            stream: &|purpose| Stream::new(words.seed, &traffic.name, purpose),
            pairs: traffic.flows.len() as u64,
            wire_bytes: &|payload| wire(payload + headers),
            full_wire_bytes: wire(full),
            rate: first.map_or(Rate(1), |link| link.rate),
            lasts: words.duration,
        });
        let mut passed = 0u64;
        for _ in 0..LOOKED_AT {
            let Some(offer) = source.next_offer() else { return 0.0 };
            passed = passed.saturating_add(offer.gap.0);
        }
        if passed == 0 { 0.0 } else { words.duration.0 as f64 / passed as f64 * f64::from(LOOKED_AT) }
    }
}

/// The time to two digits, not below `ps`.
fn rounded_up(ps: u64) -> Span {
    let unit = 10u64.pow(ps.max(1).ilog10().saturating_sub(1));
    Span(ps.div_ceil(unit) * unit)
}
