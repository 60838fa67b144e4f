//! What the randomness of a flow hangs on: the path of its traffic entry, its streams, its generator.

use elephan_random::Stream;
use elephan_scenario::FlowPlan;
use elephan_traffic::{Part, Setting, Source, Spec as _};
use elephan_units::{Rate, Time};

use crate::world::World;

impl World {
    /// The name by which the random streams of a traffic entry are found.
    pub fn traffic_path(&self, traffic: u32) -> String {
        format!("traffic.{}", self.plan.traffic[traffic as usize].name)
    }

    /// The same for one flow of it: by its pair, so that another pair or connection shifts nobody's draws.
    pub fn flow_path(&self, traffic: u32, plan: FlowPlan, instance: u32) -> String {
        let name = |node: u32| &self.plan.nodes[node as usize].name;
        format!("{}/{}->{}[{instance}]", self.traffic_path(traffic), name(plan.from), name(plan.to))
    }

    pub fn stream(&self, path: &str, purpose: &str) -> Stream {
        Stream::new(self.plan.seed, path, purpose)
    }

    /// A generator of a traffic entry, of several or of one of its flows, of which `flow` is the first; `pairs` are what it
    /// chooses from.
    pub fn source(&self, (traffic, flow): (u32, FlowPlan), path: &str, part: Part, pairs: u64) -> Source {
        let entry = &self.plan.traffic[traffic as usize];
        let first = self.net.routes.between(flow.from, flow.to).next().map(|r| self.net.routes.link(r));
        let link = first.map(|link| &self.plan.links[link.index()]);
        let framing = link.map(|link| link.framing).unwrap_or_default();
        let mss = |options: u32| self.plan.options[options as usize].mss.0;
        let full = mss(flow.sender).min(mss(flow.receiver)) as u32 + entry.ip.tcp_headers_bytes();
        let headers = entry.datagram_headers();
        entry.kind.source(&Setting {
            part,
            stream: &|purpose| self.stream(path, purpose),
            pairs,
            wire_bytes: &|payload| u64::from(framing.wire_bytes(payload as u32 + headers)),
            full_wire_bytes: u64::from(framing.wire_bytes(full)),
            rate: link.map(|link| link.rate).unwrap_or(Rate(1)),
            lasts: self.plan.duration.since(Time::ZERO),
        })
    }
}
