//! Parameters beyond what the network has, with which a congestion control would never act: least rates above every line, a set
//! point that no queue can hold.

use elephan_units::{Bytes, Rate, Size, parse_rate};

use super::checks::limit_of;
use super::resolver::Resolver;
use crate::plan::{Link, NodeKind};
use crate::tree::{Path, at};
use crate::written::Scenario;

/// Charged bytes of a full Ethernet frame.
const FULL_FRAME_BYTES: u64 = 1518;

impl Resolver<'_> {
    pub(super) fn bounds(&mut self, words: &Scenario) {
        let management = &words.congestion_management;
        let at = at!["congestion_management"];
        let mut found = Vec::new();
        if let Some(least) = management.rate_min() {
            found.extend(self.rate_min(at.key("rate_min"), least, |link| self.is_host(link.from)));
        }
        if let Some(set_point) = management.set_point()
            && let Some((most, name)) = self.most_waiting().filter(|(most, _)| set_point.0 > *most)
        {
            let shown = self.written(&at.key("set_point"), set_point);
            let message = format!("{shown}: no queue of a switch can hold as much, at most {} ({name})", Bytes(most));
            found.push((at.key("set_point"), message));
        }
        for (entry, traffic) in self.traffic.iter().enumerate() {
            let congestion_control = serde_json::to_value(&traffic.congestion_control).unwrap_or_default();
            let least = congestion_control.get("rate_min").and_then(|rate| parse_rate(rate.as_str()?).ok());
            if let (Some(_), Some(least)) = (&traffic.rdma, least) {
                let sends = |link: &Link| traffic.flows.iter().any(|flow| flow.from == link.from);
                let at = at!["traffic", entry, "congestion_control", "rate_min"];
                found.extend(self.rate_min(at, least, sends));
            }
        }
        for (at, message) in found {
            self.report(at, message);
        }
    }

    fn is_host(&self, node: u32) -> bool {
        matches!(self.nodes[node as usize].kind, NodeKind::Host)
    }

    /// A least rate that is above the rates of all links that are `concerned`.
    fn rate_min(&self, at: Path, least: Rate, concerned: impl Fn(&Link) -> bool) -> Option<(Path, String)> {
        let fastest = self.links.iter().filter(|l| concerned(l)).max_by_key(|l| l.rate.0).filter(|l| least > l.rate)?;
        let (shown, rate, name) = (self.written(&at, least), fastest.rate, &fastest.name);
        Some((at, format!("{shown} is above the line rate, {rate} ({name}): nothing would ever be limited")))
    }

    /// The most that can wait at a port of a switch, and its name; none if one of them has no bound.
    fn most_waiting(&self) -> Option<(u64, &str)> {
        let waiting = self.links.iter().filter_map(|link| Some((self.can_wait(link)?, link.name.as_str())));
        waiting.max_by_key(|(most, _)| *most).filter(|(most, _)| *most < u64::MAX)
    }

    /// The most that can wait at the port of a link, if that is a switch's.
    fn can_wait(&self, link: &Link) -> Option<u64> {
        let NodeKind::Switch(switch) = &self.nodes[link.from as usize].kind else { return None };
        let limit = match limit_of(&link.queue) {
            None => u64::MAX,
            Some(Size::Bytes(bytes)) => bytes,
            Some(Size::Packets(packets)) => packets.saturating_mul(FULL_FRAME_BYTES),
            Some(Size::NanoBdp(nano)) => Size::of_bdp(nano, link.bdp_bytes),
        };
        Some(limit.min(switch.memory_bytes.unwrap_or(u64::MAX)))
    }
}
