//! `dumbbell`: `sender[i] - left - right - receiver[i]`.

use elephan_link::{Concerned, Framing, Loss, queue::QueueSpec};
use elephan_units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;
use super::builder::{Builder, access_delay, access_rate, part};
use crate::written::{Delay, LinkRate};

/// Hosts `sender[i]` and `receiver[i]`, switches `left` and `right`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Senders, and as many receivers.
    #[serde(default = "pairs")]
    #[schemars(range(min = 1))]
    pub pairs: u32,
    /// Rate of the bottleneck link: a rate, or `{ trace = "file" }`.
    pub rate: LinkRate,
    /// Delay of the bottleneck link, one way: a time, or `{ trace = "file.csv" }`.
    pub delay: Delay,
    /// Queue at the bottleneck, in both directions.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Packets lost by the bottleneck link from left to right.
    #[serde(default)]
    pub loss: Loss,
    /// Which packets the loss concerns: `all`, or `data`, those that carry data.
    #[serde(default)]
    pub packets: Concerned,
    /// Rate of the access links.
    #[serde(default = "access_rate")]
    pub access_rate: Rate,
    /// Delay of the access links, one way and on each side; a spread gives the i-th pair the i-th value on both sides.
    #[serde(default = "delay")]
    pub access_delay: Delay,
    /// Framing of all links.
    #[serde(default)]
    pub framing: Framing,
}

fn pairs() -> u32 {
    1
}

fn delay() -> Delay {
    Delay::Fixed(access_delay())
}

impl Topology for Dumbbell {
    fn build(&self, out: &mut Builder<'_>) {
        out.hosts("sender", Some(("pairs", self.pairs)));
        out.hosts("receiver", Some(("pairs", self.pairs)));
        out.switches("left", None, &[]);
        out.switches("right", None, &[]);
        let framing = out.value("framing", &self.framing);
        let access = vec![
            ("rate", out.value("access_rate", &self.access_rate)),
            ("delay", out.value("access_delay", &self.access_delay)),
            ("framing", framing.clone()),
        ];
        let mut bottleneck = vec![
            ("rate", out.value("rate", &self.rate)),
            ("delay", out.value("delay", &self.delay)),
            ("framing", framing),
            ("queue", out.value("queue", &self.queue)),
        ];
        bottleneck.extend(part(out.given, &["packets", "loss"]).map(|forward| ("forward", forward)));
        out.link("sender", "left", access.clone());
        out.link("left", "right", bottleneck);
        out.link("right", "receiver", access);
    }
}
