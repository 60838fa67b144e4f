//! `[[traffic]]`: entries become flows.

use std::collections::BTreeSet;
use std::sync::Arc;

use elephan_cc::{Spec, Transport, guest};
use elephan_random::Stream;
use elephan_roce::CNP_INTERVAL;
use elephan_tcp::{IpVersion, Overrides};
use elephan_traffic::{Carrier, Kind, Shared, Spec as _};
use elephan_units::{Span, Time, stop};

use super::pairs::{Pairs, pairs};
use super::resolver::Resolver;
use crate::elsewhere;
use crate::overrides::traffic_names;
use crate::plan::{FlowPlan, Traffic};
use crate::rdma::Rdma;
use crate::tree::{Node, Path, at};
use crate::written::{FlowPairing, Scenario, TrafficWords};

/// Flows of one run, at most, and those that are all there at once: each has two endpoints of some kilobytes.
const FLOWS_MAX: usize = 10_000_000;
const CONNECTIONS_MAX: usize = 2_000_000;
/// Blocks that a copy has in one socket's send buffer, at most: they go there in one instant.
const BLOCKS_MAX: u64 = 10_000_000;

impl Resolver<'_> {
    pub(super) fn traffic(&mut self, words: &mut Scenario) {
        if words.traffic.is_empty() {
            return self.report(at!["traffic"], "no traffic: add [[traffic]]");
        }
        let names = traffic_names(self.tree.get("traffic").map(Node::items).unwrap_or_default());
        let (mut flows, mut pairs) = (0, 0);
        let mut seen = BTreeSet::new();
        for (entry, name) in names.iter().enumerate() {
            let at = at!["traffic", entry];
            if !seen.insert(name) {
                self.report(at.key("name"), format!("duplicate name: two traffic entries are called {name:?}"));
            }
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c)) {
                self.report(at.key("name"), format!("{name:?}: a name has letters, digits, _, - and spaces only"));
            }
        }
        let mut entries = std::mem::take(&mut words.traffic);
        for (entry, (traffic, name)) in entries.iter_mut().zip(names).enumerate() {
            self.check_entry(words, entry, traffic);
            self.check_ip(words, entry, traffic);
            traffic.kind.resolve();
            if let Some(window) = traffic.kind.window() {
                traffic.tcp.send_buffer.get_or_insert(window);
                traffic.tcp.receive_window.get_or_insert(window);
            }
            let arrive = traffic.kind.carrier().arrives();
            let (known, most) = if arrive { (&mut pairs, FLOWS_MAX) } else { (&mut flows, CONNECTIONS_MAX) };
            let Some(plan) = self.entry(words, entry, traffic, &name, (most - *known, most)) else { continue };
            *known += plan.flows.len();
            traffic.name = Some(name);
            if traffic.kind.carrier().is_tcp() {
                traffic.congestion_control = Some(plan.congestion_control.clone());
                traffic.tcp.congestion_control = None;
                traffic.transport = Some(traffic.transport.unwrap_or_default());
                traffic.roce = None;
                traffic.uec = None;
                match &plan.rdma {
                    Some(Rdma::Roce(options)) => traffic.roce = Some((**options).clone()),
                    Some(Rdma::Uec(options)) => traffic.uec = Some((**options).clone()),
                    None => {}
                }
            }
            self.traffic.push(plan);
        }
        words.traffic = entries;
    }

    fn check_entry(&mut self, words: &Scenario, entry: usize, traffic: &TrafficWords) {
        let at = at!["traffic", entry];
        let keyed = |at: &Path, key: &str| key.split('.').filter(|k| !k.is_empty()).fold(at.clone(), |p, k| p.key(k));
        if let Err(invalid) = traffic.kind.validate() {
            self.report(keyed(&at, &invalid.parameter), invalid.reason);
        } else if let Some((expected, key)) = traffic.kind.expected_flows(words.duration)
            && expected > FLOWS_MAX as f64
        {
            let message = format!("gives more than {FLOWS_MAX} flows in {}", words.duration);
            self.report_between(at.key(key), &at!["duration"], message);
        }
        if let Err(invalid) = traffic.start.validate("start") {
            self.report(keyed(&at, &invalid.parameter), invalid.reason);
        }
        let latest = traffic.start.latest();
        if latest >= words.duration {
            let message = format!("{latest} is not before the end of the run, {}", words.duration);
            self.report_between(at.key("start"), &at!["duration"], message);
        }
        if let Some(stop) = traffic.stop
            && stop <= latest
        {
            self.report(at.key("stop"), format!("{stop} is not after the start, {latest}"));
        }
        self.check_transport(&at, traffic);
        self.check_carrier(&at, traffic);
        self.check_programs(&at, traffic);
    }

    /// Whether the hosts of programs are there, and the functions that they run.
    fn check_programs(&mut self, at: &Path, traffic: &TrafficWords) {
        let Some(own) = traffic.kind.programs() else { return };
        for (host, program) in &own.programs {
            let at = at.key("programs").key(host);
            match self.groups.members(host) {
                Err(message) => self.report(at, message),
                Ok(members) if !self.groups.of_node(members.start).host => {
                    self.report(at, format!("{host} is a switch; programs run on hosts"));
                }
                Ok(_) => {
                    let found = match self.interpreter {
                        Some(interpreter) => interpreter.look_for(&program.python, &program.params),
                        None => Err(guest::NoInterpreter.to_string()),
                    };
                    if let Err(message) = found {
                        self.report(at.key("python"), format!("{:?}: {message}", program.python));
                    }
                }
            }
        }
    }

    /// Which traffic goes over IPv6.
    fn check_ip(&mut self, words: &Scenario, entry: usize, traffic: &TrafficWords) {
        let own = at!["traffic", entry, "ip"];
        if let Carrier::Frames(_) = traffic.kind.carrier() {
            if traffic.ip.is_some() {
                self.report(own, format!("{} carries no IP; leave this out", traffic.kind.name()));
            }
            return;
        }
        let place = if traffic.ip.is_some() { own } else { at!["ip"] };
        let transport = traffic.transport.unwrap_or_default();
        if transport.is_rdma() && traffic.ip.or(words.ip) == Some(IpVersion::V6) {
            let title = transport.title();
            let name = traffic.name.as_deref().unwrap_or(traffic.kind.name());
            self.report(
                place,
                format!("\"v6\": {title} is modelled over IPv4 only; say ip = \"v4\" in the entry {name:?}"),
            );
        }
    }

    /// Keys that go with connections, of traffic that has none or opens them itself.
    fn check_carrier(&mut self, at: &Path, traffic: &TrafficWords) {
        let (name, carrier) = (traffic.kind.name(), traffic.kind.carrier());
        if let Some(protocol) = carrier.protocol() {
            if traffic.congestion_control.is_some() {
                let message = format!("{name} is {protocol}: it has no congestion control");
                self.report(at.key("congestion_control"), message);
            } else if traffic.tcp != Overrides::default() {
                self.report(at.key("tcp"), format!("{name} is {protocol}: it has no TCP options"));
            }
        } else if traffic.congestion_control.is_some() && traffic.tcp.congestion_control.is_some() {
            self.report(at.key("congestion_control"), "given twice: here and in tcp");
        } else if carrier.arrives() && traffic.connections != 1 {
            let message = format!("{name} opens a connection for each transfer; leave this out");
            self.report(at.key("connections"), message);
        } else if carrier == Carrier::Copy && traffic.connections != 1 {
            self.report(at.key("connections"), format!("{name} has streams; leave this out"));
        } else if carrier == Carrier::Ranks {
            self.check_ranks(at, traffic);
        }
    }

    fn check_transport(&mut self, at: &Path, traffic: &TrafficWords) {
        let transport = traffic.transport.unwrap_or_default();
        let carrier = traffic.kind.carrier();
        if let Some(protocol) = carrier.protocol()
            && traffic.transport.is_some()
        {
            let message = format!("{} is {protocol}: it has no other transport", traffic.kind.name());
            return self.report(at.key("transport"), message);
        }
        if traffic.fast_open && (!carrier.is_tcp() || transport.is_rdma()) {
            let what = carrier.protocol().unwrap_or(transport.title());
            return self.report(at.key("fast_open"), format!("{} is {what}: it has no Fast Open", traffic.kind.name()));
        }
        if transport.is_rdma() && matches!(carrier, Carrier::Copy | Carrier::Program) {
            return self.report(at.key("transport"), format!("{} goes over TCP", traffic.kind.name()));
        }
        let own = transport.name();
        if transport.is_rdma() && traffic.tcp != Overrides::default() {
            let message = format!("with transport \"{own}\" there are no TCP options; its own are in {own}");
            self.report(at.key("tcp"), message);
        }
        let given = [(Transport::Roce, traffic.roce.is_some()), (Transport::Uec, traffic.uec.is_some())];
        for (other, _) in given.into_iter().filter(|&(other, given)| given && other != transport) {
            let (name, title) = (other.name(), other.title());
            self.report(at.key(name), format!("options of {title}: say transport = \"{name}\""));
        }
        if let Some(invalid) = rdma(traffic).and_then(|rdma| rdma.problem()) {
            self.report(at.key(own).key(&invalid.parameter), invalid.reason);
        }
    }

    fn entry(
        &mut self,
        words: &Scenario,
        entry: usize,
        traffic: &TrafficWords,
        name: &str,
        (left, most): (usize, usize),
    ) -> Option<Traffic> {
        let at = at!["traffic", entry];
        let from = self.hosts(&at.key("from"), traffic.from.names(), &traffic.kind);
        let (pairs, groups) = match (traffic.kind.parallel(), &traffic.to) {
            (None, None) => {
                self.report(at, format!("missing key \"to\": the hosts that receive {}", traffic.kind.name()));
                return None;
            }
            (None, Some(to)) => {
                let to = self.hosts(&at.key("to"), to.names(), &traffic.kind);
                let mut stream = Stream::new(words.seed, &format!("traffic.{name}"), "pairing");
                (self.pairs(&at, traffic, (from.as_ref()?, &to?), &mut stream, left)?, Vec::new())
            }
            (Some(parallel), _) => {
                let mut stream = Stream::new(words.seed, &format!("traffic.{name}"), "ranks");
                self.ranks(&at, &parallel, from.as_ref()?, &mut stream, left)?
            }
        };
        let from = from?;
        if let Err(invalid) = traffic.kind.check_pairs(pairs.len() as u64) {
            self.report(at.key(&invalid.parameter), invalid.reason);
            return None;
        }
        let (each, key) = match traffic.kind.copy() {
            Some(program) => (program.streams, "streams"),
            None => (traffic.connections, "connections"),
        };
        let total = pairs.len().saturating_mul(each as usize);
        if total > left {
            let message = format!("{} pairs x {each} are more than {most} flows", pairs.len());
            self.report(at.key(key), message);
            return None;
        }
        let congestion_control = self.congestion_control(entry, traffic, &from)?;
        // A congestion control among the TCP options is the entry's: that of its senders, which the plan has beside the options.
        let own = Overrides { congestion_control: None, ..traffic.tcp.clone() };
        let mut rdma = rdma(traffic);
        if let Some(Rdma::Roce(options)) = &mut rdma {
            Arc::make_mut(options).cnp_interval.get_or_insert_with(|| cnp_interval(&congestion_control));
        }
        let mut flows = Vec::with_capacity(total);
        for (from, to) in pairs {
            stop::look();
            let [sender, receiver] = [from, to].map(|end| self.options_for(words, (entry, traffic), end, &own));
            let flow = FlowPlan { from, to, sender, receiver };
            flows.extend(std::iter::repeat_n(flow, each as usize));
        }
        self.blocks(&at, traffic, &flows);
        Some(Traffic {
            name: name.to_owned(),
            kind: traffic.kind.clone(),
            flows,
            groups,
            start: traffic.start,
            stop: traffic.stop.map(|s| Time(s.0)),
            congestion_control,
            rdma,
            ip: traffic.ip.or(words.ip).unwrap_or_default(),
            fast_open: traffic.fast_open,
            priority: traffic.priority,
            weight: traffic.weight,
        })
    }

    /// Who sends to whom.
    fn pairs(
        &mut self,
        at: &Path,
        traffic: &TrafficWords,
        (from, to): (&[u32], &[u32]),
        stream: &mut Stream,
        left: usize,
    ) -> Option<Pairs> {
        // One generator for all flows of a sender makes sense only if it has several.
        let pairing = match (traffic.pairing, traffic.kind.shared()) {
            (FlowPairing::Auto, Some(Shared::Sender)) => FlowPairing::All,
            (pairing, _) => pairing,
        };
        let found = pairs(pairing, from, to, stream, left);
        if let Err(message) = &found {
            let key = if self.tree.at(&at.key("pairing")).is_some() { "pairing" } else { "from" };
            self.report(at.key(key), message);
        }
        found.ok()
    }

    /// A copy of so small blocks that a send buffer takes more of them at once than can be followed.
    fn blocks(&mut self, at: &Path, traffic: &TrafficWords, flows: &[FlowPlan]) {
        let Some(program) = traffic.kind.copy() else { return };
        let buffers = flows.iter().map(|flow| self.stacks.get(flow.sender).send_buffer.get());
        let bytes = buffers.max().unwrap_or(0).min(program.size.map_or(u64::MAX, |size| size.get()));
        let blocks = bytes / (program.block.get() + program.header.get()).max(1);
        if blocks > BLOCKS_MAX {
            let message = format!(
                "{}: {blocks} blocks go into the send buffer of a stream at once, more than {BLOCKS_MAX}",
                program.block
            );
            self.report(at.key("block"), message);
        }
    }

    /// The hosts that several words mean, of traffic of this kind; `None` after reporting.
    fn hosts(&mut self, at: &Path, words: &[String], kind: &Kind) -> Option<Vec<u32>> {
        let mut hosts = Vec::new();
        let several = words.len() > 1 || self.tree.at(at).is_some_and(|n| n.as_text().is_none());
        for (i, word) in words.iter().enumerate() {
            let at = if several { at.index(i) } else { at.clone() };
            match self.groups.members(word) {
                Ok(range) if self.groups.of_node(range.start).host => hosts.extend(range),
                Ok(_) => {
                    self.report(at, format!("{word:?} is a switch; traffic goes between hosts"));
                    return None;
                }
                Err(message) => {
                    let shares = serde_json::to_value(kind).is_ok_and(|keys| keys.get("destinations").is_some());
                    let message = match elsewhere::hosts(word, shares) {
                        Some(other) => format!("no host is called {word:?}; name the hosts here and write {other}"),
                        None => message,
                    };
                    self.report(at, message);
                    return None;
                }
            }
        }
        if hosts.is_empty() {
            self.report(at.clone(), "an empty array: name a host");
            return None;
        }
        Some(hosts)
    }

    /// The entry's own, its TCP options', or that of the senders' stack, if they agree; of RDMA its own or that of the transport.
    fn congestion_control(&mut self, entry: usize, traffic: &TrafficWords, from: &[u32]) -> Option<Spec> {
        let at = at!["traffic", entry];
        let transport = traffic.transport.unwrap_or_default();
        let own = traffic.congestion_control.as_ref().or(traffic.tcp.congestion_control.as_ref());
        let place =
            if traffic.congestion_control.is_some() { at.clone() } else { at.key("tcp") }.key("congestion_control");
        match own {
            Some(own) if !own.suits(transport) => {
                self.report(place, unsuitable(own, transport));
                return None;
            }
            Some(own) if transport.is_rdma() => return Some(own.clone()),
            None if transport.is_rdma() => return Spec::of_transport(transport),
            _ => {}
        }
        let of = |r: &Self, host: u32| {
            let options = r.stacks.of_group(r.groups.of_node(host).index);
            let Some(own) = own else { return (options.congestion_control.clone(), options.stack) };
            (r.congestion_control_in(options.stack, &place).unwrap_or_else(|| own.clone()), options.stack)
        };
        let (first, stack) = of(self, from[0]);
        let mut groups = BTreeSet::new();
        for &host in from {
            stop::look();
            if !groups.insert(self.groups.of_node(host).index) {
                continue;
            }
            let (other, its) = of(self, host);
            if other != first {
                let names = format!("{} of {stack} and {} of {its}", first.name(), other.name());
                let message = match own {
                    Some(_) => format!("the senders' stacks differ ({names}); say its preset"),
                    None => format!("the senders' stacks differ ({names}); say congestion_control"),
                };
                self.report(if own.is_some() { place } else { at }, message);
                return None;
            }
        }
        Some(first)
    }
}

/// Why a congestion control cannot steer a transport, and which can.
pub(super) fn unsuitable(congestion_control: &Spec, transport: Transport) -> String {
    let name = congestion_control.name();
    match congestion_control.traits().transports {
        [other, ..] if transport == Transport::Tcp => {
            format!("{name} is for {}: say transport = \"{}\"", other.title(), other.name())
        }
        _ => {
            let all = Spec::all();
            let known: Vec<&str> =
                all.iter().filter(|congestion_control| congestion_control.suits(transport)).map(Spec::name).collect();
            format!("{name} is not for {}; known: {}", transport.title(), known.join(", "))
        }
    }
}

/// What carries an entry in place of TCP, with its options.
fn rdma(traffic: &TrafficWords) -> Option<Rdma> {
    match traffic.transport.unwrap_or_default() {
        Transport::Tcp => None,
        Transport::Roce => Some(Rdma::Roce(Arc::new(traffic.roce.clone().unwrap_or_default()))),
        Transport::Uec => Some(Rdma::Uec(Arc::new(traffic.uec.clone().unwrap_or_default()))),
    }
}

/// Least time between notifications that `congestion_control` needs: one that spaces its cuts itself (`decrease_interval`) expects
/// to hear of marks at least as often, the others go by the receiver's.
fn cnp_interval(congestion_control: &Spec) -> Span {
    let own = congestion_control
        .table()
        .remove("decrease_interval")
        .and_then(|value| serde_json::from_value::<Span>(value).ok());
    own.filter(|&own| own != Span::ZERO).map_or(CNP_INTERVAL, |own| own.min(CNP_INTERVAL))
}
