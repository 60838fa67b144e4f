//! From the ports' records of their pause intervals to rows: `pauses` and `holds`.

use elephan_record::{HoldRow, PauseRow, Recorder};
use elephan_scenario::Plan;

use crate::net::Net;
use crate::tables::Tables;

impl Tables {
    /// Moves pause intervals that are over into the `pauses` table.
    pub fn pauses(&self, net: &mut Net, plan: &Plan, recorder: &mut Recorder) {
        let Some(intervals) = &mut net.intervals else { return };
        for p in intervals.done.drain(..) {
            let link = &plan.links[p.port.index()];
            recorder.pauses.push(PauseRow {
                pause: i64::from(p.pause),
                port: i64::from(p.port),
                node: self.node(link.from),
                peer: self.node(link.to),
                priority: p.priority.map(i64::from),
                begin_ns: p.begin.ns(),
                end_ns: p.over.then_some(p.end.ns()),
                duration_ns: p.end.since(p.begin).ns(),
                refreshes: i64::from(p.refreshes),
                packets: p.packets as i64,
                bytes: p.bytes as i64,
                cause: i64::from(p.cause),
                parent: p.parent.map(i64::from),
                root: i64::from(p.root),
                depth: i64::from(p.depth),
                episode: i64::from(p.episode),
            });
        }
    }

    /// The `holds` table, and the pause intervals that the end of the run cuts off.
    pub fn holds(&self, net: &mut Net, plan: &Plan, recorder: &mut Recorder) {
        net.close_closures(plan.duration);
        self.pauses(net, plan, recorder);
        for port in net.links.ids() {
            for held in net.held(port) {
                recorder.holds.push(HoldRow {
                    episode: i64::from(held.episode),
                    root: i64::from(held.root),
                    port: i64::from(port),
                    flow: i64::from(held.flow),
                    packets: held.packets as i64,
                    bytes: held.bytes as i64,
                    held_ns: held.time.ns(),
                    longest_ns: held.longest.ns(),
                    bound_packets: held.bound as i64,
                });
            }
        }
    }
}
