//! The ports that samples look at.

use elephan_scenario::{NodeKind, Plan, PortSelection};

/// Which links' queues are sampled.
pub fn observed_ports(plan: &Plan) -> Vec<bool> {
    let sampled = plan.record.every.is_some();
    let of_switch = |i: usize| matches!(plan.nodes[plan.links[i].from as usize].kind, NodeKind::Switch(_));
    (0..plan.links.len())
        .map(|i| {
            sampled
                && match &plan.record.ports {
                    PortSelection::None => false,
                    PortSelection::All => true,
                    PortSelection::Switches => of_switch(i),
                    PortSelection::Listed(list) => list.contains(&(i as u32)),
                }
        })
        .collect()
}
