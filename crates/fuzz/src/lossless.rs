//! A lossless priority loses nothing where its headroom is the default.

use elephan_link::FlowControl;
use elephan_record::{TableData, Tables};
use elephan_scenario::{NodeKind, Plan};

use crate::Finding;
use crate::columns::{ints, table, texts, whole};

/// Switches whose lossless priorities have all the room that they need, and these priorities, a bit each.
fn promising(plan: &Plan) -> Vec<(&str, u8)> {
    let short = plan.short_rooms();
    let is_vague = |node: u32| {
        // What arrives twice, or is held back without a bound, is in no sum; nor are ways that only a failure opens.
        plan.links.iter().any(|link| link.to == node && !link.impairments.is_none()) || plan.reroute.is_some()
    };
    let promises = |(node, planned): (u32, &elephan_scenario::Node)| match &planned.kind {
        NodeKind::Switch(switch) => match &switch.flow_control {
            FlowControl::Pfc(pfc) if switch.memory_bytes.is_some() && pfc.headroom.is_none() => Some(pfc.mask()),
            _ => None,
        }
        .filter(|_| !is_vague(node) && !short.iter().any(|room| room.node == node && room.what != "queue")),
        NodeKind::Host => None,
    };
    (0u32..)
        .zip(&plan.nodes)
        .filter_map(|(i, node)| promises((i, node)).map(|mask| (node.name.as_str(), mask)))
        .collect()
}

/// Checks that the memory of no such switch was full for a frame of such a priority.
pub fn check(plan: &Plan, tables: &Tables) -> Result<(), Finding> {
    let switches = promising(plan);
    if switches.is_empty() {
        return Ok(());
    }
    let priorities = priorities(plan, table(tables, "flows"));
    let events = table(tables, "events");
    let [kinds, nodes, reasons] = ["kind", "node", "reason"].map(|name| texts(events, name));
    for (row, flow) in ints(events, "flow").into_iter().enumerate() {
        if kinds[row] != Some("drop") || reasons[row] != Some("memory_full") {
            continue;
        }
        let Some((name, mask)) = switches.iter().find(|(name, _)| nodes[row] == Some(name)) else { continue };
        let priority = flow.and_then(|flow| priorities.iter().find(|(number, _)| *number == flow)).map(|(_, p)| *p);
        if let Some(priority) = priority.filter(|priority| mask >> priority & 1 == 1) {
            let detail = format!("{name} has dropped a frame of priority {priority}, of flow {}", flow.unwrap_or(-1));
            return Err(Finding::new("a lossless priority has lost a frame", detail));
        }
    }
    Ok(())
}

/// The priority of each flow by its number.
fn priorities(plan: &Plan, flows: &TableData) -> Vec<(i64, u8)> {
    let of =
        |name: Option<&str>| plan.traffic.iter().find(|entry| Some(entry.name.as_str()) == name).map(|e| e.priority);
    let named = whole(flows, "flow").into_iter().zip(texts(flows, "traffic"));
    named.filter_map(|(number, name)| Some((number, of(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Draw, lone_kinds, repaired, source};
    use crate::plans;

    /// Scenarios drawn for a kind of traffic before it is given up.
    const DRAWS: u64 = 40;

    /// Returns whether a drawn scenario sends traffic of a kind behind a switch that promises to lose none of it.
    fn is_promised(kind: &str, seed: u64) -> bool {
        let drawn = Draw::new(elephan_scenario::schema(), seed).lossless(kind);
        let Some(scenario) = repaired(drawn, &mut |_| {}).unwrap() else { return false };
        let Some([resolved, _]) = plans::resolve(&source(&scenario)).unwrap() else { return false };
        let all = promising(&resolved.plan).iter().fold(0, |mask, (_, own)| mask | own);
        resolved.plan.traffic.iter().any(|entry| entry.kind.name() == kind && all >> entry.priority & 1 == 1)
    }

    /// The fuzz draws each kind of traffic on a lossless priority behind a switch that promises to lose nothing of it.
    #[test]
    fn every_kind_meets_the_promise() {
        for kind in lone_kinds() {
            let met = (0..DRAWS).position(|seed| is_promised(kind, seed));
            assert!(met.is_some(), "no draw of {kind} is behind such a promise");
        }
    }
}
