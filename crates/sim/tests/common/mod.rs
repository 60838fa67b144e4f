//! Plans built by hand, for tests that need no text.

pub mod draw;

use std::sync::Arc;

use elephan_link::driven::Driven;
use elephan_link::{CongestionManagement, FlowControl, Framing, Loss, PauseReaction, queue::QueueSpec};
use elephan_record::{Recorder, Tables};
use elephan_scenario::{
    Captures, Ecmp, FlowPlan, Impairments, Link, Node, NodeKind, Plan, PortSelection, Record, Switch, Traffic,
};
use elephan_sim::Paths;
use elephan_tcp::{IpVersion, Overrides};
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

/// A graph under construction.
pub struct Builder {
    pub plan: Plan,
}

impl Builder {
    pub fn new(duration: Span) -> Builder {
        Builder {
            plan: Plan {
                title: "test".into(),
                question: String::new(),
                duration: Time::ZERO + duration,
                warmup: Time::ZERO,
                seed: 1,
                ecmp: Ecmp::default(),
                congestion_management: CongestionManagement::None,
                reroute: None,
                nodes: vec![],
                links: vec![],
                options: vec![],
                option_stacks: vec![],
                traffic: vec![],
                changes: vec![],
                record: Record {
                    statistics: false,
                    info: false,
                    every: None,
                    flows: true,
                    ports: PortSelection::All,
                    queue_delays: false,
                    messages: true,
                    operations: false,
                    events: false,
                    datagrams: 0,
                    captures: Captures::default(),
                },
            },
        }
    }

    pub fn host(&mut self) -> u32 {
        self.node(NodeKind::Host)
    }

    pub fn switch(&mut self, memory_bytes: Option<u64>, latency: Span, flow_control: FlowControl) -> u32 {
        self.node(NodeKind::Switch(Switch { memory_bytes, cell_bytes: None, alpha: None, latency, flow_control }))
    }

    fn node(&mut self, kind: NodeKind) -> u32 {
        let name = format!("n{}", self.plan.nodes.len());
        self.plan.nodes.push(Node {
            name,
            kind,
            pause: PauseReaction::default(),
            models: Default::default(),
            disk: None,
        });
        (self.plan.nodes.len() - 1) as u32
    }

    /// Both directions of a link, the same queue at both ends; answers the number of the first direction.
    pub fn link(&mut self, a: u32, b: u32, rate: Rate, delay: Span, limit: Option<&str>) -> u32 {
        let first = self.plan.links.len() as u32;
        let queue: QueueSpec = serde_json::from_value(match limit {
            Some(limit) => json!({ "kind": "fifo", "limit": limit }),
            None => json!({ "kind": "fifo" }),
        })
        .unwrap();
        for (from, to, reverse) in [(a, b, first + 1), (b, a, first)] {
            self.plan.links.push(Link {
                name: format!("n{from}->n{to}"),
                from,
                to,
                reverse,
                rate,
                delay,
                framing: Framing::Ethernet,
                queue: queue.clone(),
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
        }
        first
    }

    pub fn options(&mut self, stack: &str, overrides: Value) -> u32 {
        let mut options = elephan_tcp::stack(stack).unwrap();
        let overrides: Overrides = serde_json::from_value(overrides).unwrap();
        options.apply(&overrides).unwrap();
        self.plan.options.push(Arc::new(options));
        self.plan.option_stacks.push(stack.into());
        (self.plan.options.len() - 1) as u32
    }

    pub fn traffic(&mut self, kind: Value, pairs: &[(u32, u32)], options: u32) {
        let number = self.plan.traffic.len();
        self.plan.traffic.push(Traffic {
            name: format!("t{number}"),
            kind: serde_json::from_value(kind).unwrap(),
            flows: pairs.iter().map(|&(from, to)| FlowPlan { from, to, sender: options, receiver: options }).collect(),
            start: Default::default(),
            stop: None,
            congestion_control: self.plan.options[options as usize].congestion_control.clone(),
            rdma: None,
            ip: IpVersion::V4,
            fast_open: false,
            priority: 0,
            weight: 1,
            groups: vec![],
        });
    }
}

/// Runs a plan; the tables and the summary.
pub fn run(plan: &Plan, general: bool) -> (Tables, Value) {
    run_on(plan, Paths { general, eager: false })
}

/// As [`run`], with a choice of the paths through ports.
pub fn run_on(plan: &Plan, paths: Paths) -> (Tables, Value) {
    let (summary, recorder) = elephan_sim::run_on(plan.clone(), Recorder::memory(), paths, &mut |_| true).unwrap();
    (recorder.finish().unwrap(), summary)
}
