//! Words of the tables, what is collected for the summary, and the rows of rare events.

use elephan_cc::Transport;
use elephan_record::{EventRow, FlowRow, Recorder, Text};
use elephan_scenario::Plan;
use elephan_tcp::Phase;

use crate::Error;
use crate::net::{Kind, NONE, Net};
use crate::spread::Spread;

/// Words of the text columns, and what is collected for the summary.
#[derive(Clone)]
pub struct Tables {
    pub nodes: Vec<Text>,
    pub links: Vec<Text>,
    pub traffic: Vec<Text>,
    /// Congestion controls by name.
    congestion_controls: Vec<(String, Text)>,
    pub stacks: Vec<Text>,
    phases: [Text; PHASES.len()],
    kinds: [Text; Kind::ALL.len()],
    reasons: Vec<(&'static str, Text)>,
    pub tcp: Text,
    pub udp: Text,
    roce: Text,
    uec: Text,
    pub ethernet: Text,
    pub empty: Text,
    /// Time in ps that each port had been sending at the last sample.
    pub busy_before: Vec<u64>,
    /// Latencies of the messages, and completion times of the transfers, of the measured part.
    pub latencies: Spread,
    pub completions: Spread,
    /// From the beginning of each round of an `incast` to its last answer.
    pub rounds: Spread,
    /// From the beginning of each iteration of ranks until all have done everything.
    pub iterations: Spread,
    /// The same transfers until the sender had the last byte acknowledged, and their completion over the ideal.
    pub acknowledged: Spread,
    pub slowdowns: Spread,
    /// Rows of the flows that have ended; the table is in the order of the flows' numbers.
    pub ended: Vec<FlowRow>,
    pub totals: Totals,
    /// Messages that found the socket full and were dropped.
    pub messages_dropped: u64,
}

const PHASES: [Phase; 6] =
    [Phase::Closed, Phase::Handshake, Phase::SlowStart, Phase::CongestionAvoidance, Phase::Recovery, Phase::Loss];
const REASONS: &[&str] = &[
    "",
    "nak",
    "queue_full",
    "memory_full",
    "link_loss",
    "link_down",
    "xoff",
    "xon",
    "blue",
    "codel",
    "pi2",
    "pie",
    "red",
];

/// Every controller that a flow may have, each once.
fn congestion_controls(plan: &Plan) -> impl Iterator<Item = &str> + '_ {
    let first = plan.traffic.iter().map(|t| t.congestion_control.name());
    let later = plan.changes.iter().flat_map(|c| &c.congestion_controls).map(|l| l.congestion_control.name());
    let mut names: Vec<&str> = Vec::new();
    first.chain(later).for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    names.into_iter()
}

impl Tables {
    pub fn new(plan: &Plan, recorder: &mut Recorder) -> Tables {
        Tables {
            nodes: plan.nodes.iter().map(|n| recorder.intern(&n.name)).collect(),
            links: plan.links.iter().map(|l| recorder.intern(&l.name)).collect(),
            traffic: plan.traffic.iter().map(|t| recorder.intern(&t.name)).collect(),
            congestion_controls: congestion_controls(plan)
                .map(|name| (name.to_owned(), recorder.intern(name)))
                .collect(),
            stacks: plan.option_stacks.iter().map(|s| recorder.intern(s)).collect(),
            phases: PHASES.map(|p| recorder.intern(p.name())),
            kinds: Kind::ALL.map(|k| recorder.intern(k.name())),
            reasons: REASONS.iter().map(|&r| (r, recorder.intern(r))).collect(),
            tcp: recorder.intern("tcp"),
            udp: recorder.intern("udp"),
            roce: recorder.intern("roce"),
            uec: recorder.intern("uec"),
            ethernet: recorder.intern("ethernet"),
            empty: recorder.intern(""),
            busy_before: vec![0; plan.links.len()],
            latencies: Spread::default(),
            completions: Spread::default(),
            rounds: Spread::default(),
            iterations: Spread::default(),
            acknowledged: Spread::default(),
            slowdowns: Spread::default(),
            ended: Vec::new(),
            totals: Totals::default(),
            messages_dropped: 0,
        }
    }

    /// Learns the names that `plan` adds.
    pub fn add_congestion_controls(&mut self, plan: &Plan, recorder: &mut Recorder) {
        for name in congestion_controls(plan) {
            if !self.congestion_controls.iter().any(|(known, _)| known == name) {
                self.congestion_controls.push((name.to_owned(), recorder.intern(name)));
            }
        }
    }

    pub fn node(&self, node: u32) -> Text {
        self.nodes[node as usize]
    }

    pub fn traffic(&self, traffic: u32) -> Text {
        self.traffic[traffic as usize]
    }

    /// The name of a transport of streams.
    pub fn transport(&self, transport: Transport) -> Text {
        match transport {
            Transport::Tcp => self.tcp,
            Transport::Roce => self.roce,
            Transport::Uec => self.uec,
        }
    }

    pub fn congestion_control(&self, name: &str) -> Text {
        self.congestion_controls.iter().find(|(known, _)| known == name).map_or(self.empty, |(_, text)| *text)
    }

    /// The name of a phase; empty without one.
    pub fn phase(&self, phase: Option<Phase>) -> Text {
        let place = PHASES.iter().position(|&p| Some(p) == phase);
        place.map_or(self.empty, |i| self.phases[i])
    }

    /// Moves what the network has logged into the `events` table.
    pub fn events(&mut self, net: &mut Net, plan: &Plan, recorder: &mut Recorder) -> Result<(), Error> {
        self.pauses(net, plan, recorder);
        let Some(log) = &mut net.log else { return Ok(recorder.check()?) };
        for o in log.drain(..) {
            let link = &plan.links[o.link.index()];
            let reason = match self.reasons.iter().find(|(name, _)| std::ptr::eq(*name, o.reason) || *name == o.reason)
            {
                Some((_, text)) => *text,
                None => {
                    let text = recorder.intern(o.reason);
                    self.reasons.push((o.reason, text));
                    text
                }
            };
            let at_port = !matches!(
                o.kind,
                Kind::FastRetransmit
                    | Kind::Timeout
                    | Kind::CongestionControl
                    | Kind::Cnp
                    | Kind::Refused
                    | Kind::LoggerGap
                    | Kind::GiveUp
            );
            recorder.events.push(EventRow {
                time_ns: o.time.ns(),
                kind: self.kinds[o.kind as usize],
                node: self.node(link.from),
                port: at_port.then_some(i64::from(o.link)),
                peer: at_port.then_some(self.node(link.to)),
                flow: (o.flow != NONE).then_some(i64::from(o.flow)),
                packet_bytes: (o.bytes > 0).then_some(i64::from(o.bytes)),
                value: o.value,
                reason,
            });
        }
        Ok(recorder.check()?)
    }
}

/// What the summary says of all flows.
#[derive(Clone, Default)]
pub struct Totals {
    pub goodputs: Vec<f64>,
    pub completed: u64,
    pub given_up: u64,
    pub retransmitted: i64,
    pub timeouts: i64,
}

impl Totals {
    pub fn count(&mut self, row: &FlowRow) {
        self.goodputs.push(row.goodput_bps);
        self.completed += u64::from(row.completed);
        self.retransmitted += row.segs_retrans;
        self.timeouts += row.timeouts + row.subsequent_timeouts;
    }
}
