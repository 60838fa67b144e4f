//! What of a scenario is drawn at random, so that another seed gives other results.

use elephan_link::queue::Parameters;
use elephan_link::{CongestionManagement, Loss};
use elephan_traffic::Spec as _;

use crate::plan::{Link, Traffic};
use crate::read::Resolved;
use crate::tree::at;
use crate::written::{Delay, Ecmp, FlowPairing, Spread};

impl Resolved {
    /// Returns the places that are drawn at random, each once. A congestion control of which nobody knows whether it draws is
    /// among them.
    pub fn draws(&self) -> Vec<String> {
        let plan = &self.plan;
        let mut found: Vec<String> = Vec::new();
        for (i, (words, traffic)) in self.words.traffic.iter().zip(&plan.traffic).enumerate() {
            let paired = matches!(words.pairing, FlowPairing::Permutation | FlowPairing::Random);
            let drawn = paired || traffic.is_drawn() || draws_of(&traffic.congestion_control);
            found.extend(drawn.then(|| format!("traffic[{i}]")));
        }
        for (i, words) in self.words.links.iter().enumerate() {
            let own = words.own_words(&at!["links", i]);
            let own = own.iter().filter_map(|(_, own)| own.delay.as_ref());
            let is_drawn = |delay: &Delay| matches!(delay, Delay::Spread(Spread::Uniform([low, high])) if low < high);
            let delay = own.chain([&words.delay]).any(is_drawn);
            found.extend(delay.then(|| format!("links[{i}].delay")));
        }
        found.extend(plan.links.iter().filter(|link| link.is_drawn()).map(|link| link.name.clone()));
        // Of a network without a cycle there is one path between two hosts.
        let has_cycle = plan.links.len() / 2 >= plan.nodes.len();
        found.extend((has_cycle && plan.ecmp != Ecmp::None).then(|| "ecmp".to_owned()));
        let managed = !matches!(plan.congestion_management, CongestionManagement::None);
        found.extend(managed.then(|| "congestion_management".to_owned()));
        for (i, change) in plan.changes.iter().enumerate() {
            let losses = change.links.iter().filter_map(|link| link.loss.as_ref()).any(is_drawn);
            let controllers = change.congestion_controls.iter().any(|later| draws_of(&later.congestion_control));
            found.extend((losses || controllers).then(|| format!("change[{i}]")));
        }
        found
    }
}

impl Traffic {
    /// Whether its generators or the starts of its flows are drawn.
    fn is_drawn(&self) -> bool {
        let mut pairs: Vec<(u32, u32)> = self.flows.iter().map(|flow| (flow.from, flow.to)).collect();
        pairs.dedup();
        self.kind.is_random(pairs.len() as u64) || self.start.is_random()
    }
}

impl Link {
    /// Whether it treats packets as drawn, or its queue does.
    fn is_drawn(&self) -> bool {
        let (impairments, share) = (&self.impairments, |share: f64| share > 0.0 && share < 1.0);
        let late = impairments.reorder.as_ref().is_some_and(|late| share(late.share) || late.extra.is_random());
        let jitter = impairments.jitter.as_ref().is_some_and(|jitter| jitter.extra.is_random());
        is_drawn(&self.loss)
            || is_drawn(&impairments.mark)
            || late
            || jitter
            || share(impairments.duplicate)
            || self.queue.answers().is_random
    }
}

/// Whether which packets are lost is drawn.
fn is_drawn(loss: &Loss) -> bool {
    match loss {
        Loss::None | Loss::Periodic(_) | Loss::Listed(_) => false,
        Loss::Bernoulli(probability) => *probability > 0.0 && *probability < 1.0,
        Loss::GilbertElliott(_) | Loss::Trace(_) => true,
    }
}

/// Whether a congestion control draws, or may.
fn draws_of(congestion_control: &elephan_cc::Spec) -> bool {
    congestion_control.traits().is_random != Some(false)
}

#[cfg(test)]
mod tests {
    use crate::{Source, read};

    #[test]
    fn the_delay_of_a_single_port_is_drawn() {
        let draws = |of_port: &str| {
            let text = format!(
                "duration = '1 s'
                hosts = {{ a = {{}}, b = {{}} }}
                [[links]]
                between = ['a', 'b']
                rate = '1 Gbps'
                delay = '1 ms'
                ports = {{ 'a->b' = {{ delay = {of_port} }} }}
                [[traffic]]
                kind = 'bulk'
                from = 'a'
                to = 'b'"
            );
            read(&Source::toml("t", text), &[], None).unwrap().draws()
        };
        assert_eq!(draws("{ uniform = ['1 ms', '2 ms'] }"), ["links[0].delay"]);
        assert!(draws("'2 ms'").is_empty());
    }
}
