//! Who is there: flows, ports, and a drawing of the network.

use std::collections::{BTreeMap, BTreeSet};

use elephan_record::Tables;
use elephan_scenario::{NodeKind, Plan, PortSelection};
use elephan_traffic::{Carrier, Spec as _};
use elephan_units::{Size, parse_size};
use serde_json::{Value, json};

use crate::column::{numbers, texts};
use crate::layout;
use crate::open::{Open, held, table};
use crate::reply::{Reply, Trouble};

/// The flows of a run, or the connections of a capture. While a run is in progress they are those that the scenario names.
pub fn flows(open: &Open) -> Result<Reply, Trouble> {
    let tables = open.tables();
    let found = match (&open.run, open.is_done()) {
        (None, _) => connections(&tables)?,
        (Some(_), true) => finished(&tables)?,
        (Some(run), false) => planned(&run.plan),
    };
    Ok(Reply::of(found.into()))
}

/// Who a flow is between.
pub struct Ends {
    pub name: String,
    pub source: String,
    pub destination: String,
    pub protocol: String,
}

/// What the flows of a run are called, by their numbers.
pub fn flow_names(open: &Open) -> Result<BTreeMap<i64, String>, Trouble> {
    let name = |one: &Value| Some((one["id"].as_i64()?, one["name"].as_str()?.to_owned()));
    Ok(of_run(open)?.iter().filter_map(name).collect())
}

fn of_run(open: &Open) -> Result<Vec<Value>, Trouble> {
    match &open.run {
        Some(run) if !open.is_done() => Ok(planned(&run.plan)),
        _ => finished(&open.tables()),
    }
}

/// The ends of a flow by its number.
pub fn flow_ends(open: &Open, flow: u64) -> Result<Ends, Trouble> {
    let all = of_run(open)?;
    let one = all.iter().find(|one| one["id"].as_u64() == Some(flow)).ok_or_else(|| format!("no flow {flow}"))?;
    let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
    Ok(Ends {
        name: text("name"),
        source: text("source"),
        destination: text("destination"),
        protocol: text("protocol"),
    })
}

/// The columns of a flow that its head repeats, beside those that name it.
const FIGURES: &[&str] = &[
    "start_ns",
    "end_ns",
    "established_ns",
    "completed",
    "size_bytes",
    "delivered_bytes",
    "measured_bytes",
    "goodput_bps",
    "fct_ns",
    "segs_retrans",
    "timeouts",
    "min_rtt_ns",
    "smoothed_rtt_ns",
    "cur_mss",
];

fn finished(tables: &Tables) -> Result<Vec<Value>, Trouble> {
    let flows = table(tables, "flows")?;
    let text = |column| texts(flows, column);
    let named = (text("traffic")?, text("source")?, text("destination")?);
    let (protocol, control, stack) = (text("protocol")?, text("congestion_control")?, text("stack")?);
    let names = names(&named.0, &named.1, &named.2, &control);
    let entries = entries(&named.0, &control);
    let ids = numbers(flows, "flow")?;
    let figures: Vec<(&str, Vec<f64>)> =
        FIGURES.iter().map(|&column| Ok((column, numbers(flows, column)?))).collect::<Result<_, Trouble>>()?;
    let one = |i: usize| {
        let mut flow = json!({
            "id": ids[i] as i64, "name": names[i], "entry": entries[i], "traffic": named.0[i], "source": named.1[i], "destination": named.2[i],
            "protocol": protocol[i], "congestion_control": control[i], "stack": stack[i],
        });
        for (column, values) in &figures {
            flow[*column] = number(values[i]);
        }
        flow["completed"] = (flow["completed"].as_f64() == Some(1.0)).into();
        flow
    };
    Ok((0..ids.len()).map(one).collect())
}

/// A number of a table: whole ones as such, a missing one as null.
pub fn number(value: f64) -> Value {
    if value.is_nan() {
        Value::Null
    } else if value == libm::trunc(value) && value.abs() < 9e15 {
        (value as i64).into()
    } else {
        value.into()
    }
}

/// The flows that a scenario names, numbered as the run numbers them; those that arrive later are not among them.
fn planned(plan: &Plan) -> Vec<Value> {
    let mut traffic = Vec::new();
    let (mut source, mut destination, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for entry in &plan.traffic {
        if entry.kind.carrier().arrives() {
            continue;
        }
        let carrier = entry.kind.carrier();
        let protocol = match (&entry.rdma, carrier) {
            (Some(rdma), _) => rdma.transport().name(),
            (_, Carrier::Frames(_)) => "ethernet",
            (_, Carrier::Datagrams(_)) => "udp",
            _ => "tcp",
        };
        for flow in &entry.flows {
            traffic.push(entry.name.clone());
            source.push(plan.nodes[flow.from as usize].name.clone());
            destination.push(plan.nodes[flow.to as usize].name.clone());
            let control = if matches!(protocol, "udp" | "ethernet") { "" } else { entry.congestion_control.name() };
            let stack = if protocol == "tcp" { plan.option_stacks[flow.sender as usize].as_str() } else { "" };
            rest.push((protocol, control.to_owned(), stack.to_owned()));
        }
    }
    let controls: Vec<String> = rest.iter().map(|(_, control, _)| control.clone()).collect();
    let names = names(&traffic, &source, &destination, &controls);
    let entries = entries(&traffic, &controls);
    let one = |i: usize| {
        let (protocol, control, stack) = &rest[i];
        json!({
            "id": i, "name": names[i], "entry": entries[i], "traffic": traffic[i], "source": source[i], "destination": destination[i],
            "protocol": protocol, "congestion_control": control, "stack": stack,
        })
    };
    (0..traffic.len()).map(one).collect()
}

fn connections(tables: &Tables) -> Result<Vec<Value>, Trouble> {
    let found = table(tables, "connections")?;
    let text = |column| texts(found, column);
    let (protocol, source, destination, vantage) =
        (text("protocol")?, text("source")?, text("destination")?, text("vantage")?);
    let get = |column| numbers(found, column);
    let (ids, from, to) = (get("connection")?, get("source_port")?, get("destination_port")?);
    let (start, end, delivered) = (get("start_ns")?, get("end_ns")?, get("delivered_bytes")?);
    let (goodput, retransmitted) = (get("goodput_bps")?, get("segs_retrans")?);
    let one = |i: usize| {
        json!({
            "id": ids[i] as i64, "name": format!("{}:{} → {}:{}", source[i], from[i], destination[i], to[i]),
            "traffic": "", "source": source[i], "destination": destination[i], "protocol": protocol[i],
            "congestion_control": "", "stack": "", "vantage": vantage[i], "start_ns": number(start[i]), "end_ns": number(end[i]),
            "delivered_bytes": number(delivered[i]), "goodput_bps": number(goodput[i]), "segs_retrans": number(retransmitted[i]),
        })
    };
    Ok((0..ids.len()).map(one).collect())
}

/// What a reader would call each flow, as reports do: its traffic if it is the only one of it, else its source or its destination where
/// that tells all flows apart, else where it goes, with its place among the flows of its traffic where others go the same way.
pub fn names(traffic: &[String], source: &[String], destination: &[String], control: &[String]) -> Vec<String> {
    let traffic = &entries(traffic, control);
    let counts = |all: &[String]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        all.iter().for_each(|one| *counts.entry(one.clone()).or_default() += 1);
        counts
    };
    let distinct = |all: &[String]| all.iter().collect::<BTreeSet<_>>().len() == all.len();
    let of_traffic = counts(traffic);
    let ends = [source, destination].into_iter().find(|ends| distinct(ends)).map(<[String]>::to_vec);
    let ends = ends.unwrap_or_else(|| {
        let pairs: Vec<String> = source.iter().zip(destination).map(|(a, b)| format!("{a} → {b}")).collect();
        let of_pair = counts(&pairs);
        let mut so_far: BTreeMap<&str, usize> = BTreeMap::new();
        let mut end = |i: usize| {
            let place = so_far.entry(&traffic[i]).or_default();
            *place += 1;
            match (of_pair[&pairs[i]], of_pair.len()) {
                (1, _) => pairs[i].clone(),
                (_, 1) => format!("{} {place}", traffic[i]),
                _ => format!("{} {place}, {}", traffic[i], pairs[i]),
            }
        };
        (0..pairs.len()).map(&mut end).collect()
    });
    let name = |i: usize| if of_traffic[&traffic[i]] == 1 { traffic[i].clone() } else { ends[i].clone() };
    let names: Vec<String> = (0..traffic.len()).map(name).collect();
    if distinct(&names) { names } else { ends }
}

/// What a reader would call the traffic entry of each flow. An entry that is named after a congestion control which none of its flows has
/// is called after the one that they have: an override or a slider has changed it since it was named.
pub fn entries(traffic: &[String], control: &[String]) -> Vec<String> {
    let mut controls: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (entry, control) in traffic.iter().zip(control) {
        controls.entry(entry).or_default().insert(control);
    }
    let renamed = |entry: &str| {
        let word = entry.trim_end_matches(|c: char| c.is_ascii_digit() || " -_#".contains(c));
        let named = controls_called(entry).or_else(|| controls_called(word))?;
        let own = controls.get(entry).filter(|own| own.len() == 1)?.first().filter(|own| !own.is_empty())?;
        (*own != named).then(|| {
            let rest = if controls_called(entry).is_some() { "" } else { &entry[word.len()..] };
            format!("{own}{rest}")
        })
    };
    let mut taken: BTreeSet<String> =
        controls.keys().filter(|entry| renamed(entry).is_none()).map(|entry| (*entry).to_owned()).collect();
    let mut shown: BTreeMap<&str, String> = BTreeMap::new();
    for &entry in controls.keys() {
        let name = match renamed(entry) {
            None => entry.to_owned(),
            Some(name) if taken.insert(name.clone()) => name,
            Some(name) => format!("{name} (entry {entry})"),
        };
        shown.insert(entry, name);
    }
    traffic.iter().map(|entry| shown.get(entry.as_str()).unwrap_or(entry).clone()).collect()
}

/// The built-in congestion control that a word names, if it names one.
fn controls_called(word: &str) -> Option<&'static str> {
    elephan_cc::list().iter().map(|(name, _)| *name).find(|name| name.eq_ignore_ascii_case(word) && *name != "none")
}

/// The ports of a run: both directions of every link, with the figures of the whole run once it is over.
pub fn ports(open: &Open) -> Result<Reply, Trouble> {
    let plan = open.plan()?;
    let mut ports: Vec<Value> = (0..plan.links.len()).map(|i| port(plan, i)).collect();
    if let Some(summary) = &*held(&open.summary) {
        let tables = open.tables();
        let table = table(&tables, "ports")?;
        for column in PORT_FIGURES {
            for (port, value) in ports.iter_mut().zip(numbers(table, column)?) {
                port[*column] = number(value);
            }
        }
        for port in &mut ports {
            port["bottleneck"] = (port["name"] == summary["bottleneck"]["port"]).into();
        }
    }
    Ok(Reply::of(ports.into()))
}

/// The columns of a port that its head repeats.
const PORT_FIGURES: &[&str] = &[
    "tx_packets",
    "tx_bytes",
    "drops",
    "lost",
    "marks",
    "queue_max_bytes",
    "queue_mean_bytes",
    "paused_ns",
    "utilisation",
];

fn port(plan: &Plan, i: usize) -> Value {
    let link = &plan.links[i];
    let of_switch = matches!(plan.nodes[link.from as usize].kind, NodeKind::Switch(_));
    let sampled = plan.record.every.is_some()
        && match &plan.record.ports {
            PortSelection::Switches => of_switch,
            PortSelection::All => true,
            PortSelection::Listed(some) => some.contains(&(i as u32)),
            PortSelection::None => false,
        };
    let queue = serde_json::to_value(&link.queue).unwrap_or_default();
    let limit = queue["limit"].as_str().and_then(|limit| parse_size(limit).ok());
    let limit_bytes = match limit {
        Some(Size::Bytes(bytes)) => Some(bytes),
        Some(Size::NanoBdp(nano)) => Some(Size::of_bdp(nano, link.bdp_bytes)),
        _ => None,
    };
    json!({
        "port": i, "name": link.name, "node": plan.nodes[link.from as usize].name, "peer": plan.nodes[link.to as usize].name,
        "rate_bps": link.rate.0, "delay_ns": link.delay.ns(), "queue": queue, "bdp_bytes": link.bdp_bytes,
        "limit_bytes": limit_bytes, "of_switch": of_switch, "sampled": sampled,
    })
}

/// Nodes and links, with places from 0 to 1 from left to right and from top to bottom.
pub fn topology(open: &Open) -> Result<Reply, Trouble> {
    let plan = open.plan()?;
    let places = layout::places(plan);
    let node = |(i, place): (usize, &(f64, f64))| {
        let node = &plan.nodes[i];
        let kind = if matches!(node.kind, NodeKind::Host) { "host" } else { "switch" };
        let memory = if let NodeKind::Switch(switch) = &node.kind { switch.memory_bytes } else { None };
        json!({ "id": i, "name": node.name, "kind": kind, "x": place.0, "y": place.1, "memory_bytes": memory })
    };
    let nodes: Vec<Value> = places.iter().enumerate().map(node).collect();
    let once = plan.links.iter().enumerate().filter(|(i, link)| (link.reverse as usize) > *i);
    let links: Vec<Value> = once
        .map(|(i, link)| {
            json!({
                "from": link.from, "to": link.to, "ports": [i, link.reverse], "rate_bps": link.rate.0,
                "reverse_rate_bps": plan.links[link.reverse as usize].rate.0, "delay_ns": link.delay.ns(),
            })
        })
        .collect();
    Ok(Reply::of(json!({ "nodes": nodes, "links": links })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[&str]) -> Vec<String> {
        all.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn an_entry_is_called_after_the_control_that_it_has() {
        let shown = |traffic: &[&str], control: &[&str]| entries(&of(traffic), &of(control));
        assert_eq!(shown(&["reno"], &["cubic"]), ["cubic"]);
        assert_eq!(shown(&["Reno", "CUBIC"], &["reno", "cubic"]), ["Reno", "CUBIC"]);
        assert_eq!(shown(&["CUBIC", "Reno"], &["bbr", "reno"]), ["bbr", "Reno"]);
        assert_eq!(shown(&["cubic", "reno"], &["cubic", "cubic"]), ["cubic", "cubic (entry reno)"]);
        assert_eq!(shown(&["reno 1", "reno-2"], &["bbr3", "reno"]), ["bbr3 1", "reno-2"]);
        // Not after a control, of several controls, without one, of a guest.
        assert_eq!(shown(&["web"], &["cubic"]), ["web"]);
        assert_eq!(shown(&["reno", "reno"], &["cubic", "bbr"]), ["reno", "reno"]);
        assert_eq!(shown(&["fast", "none"], &["", "dcqcn"]), ["fast", "none"]);
        assert_eq!(shown(&["bbr"], &["Mine"]), ["Mine"]);
        assert_eq!(shown(&["bbr3"], &["bbr"]), ["bbr"]);
    }
}
