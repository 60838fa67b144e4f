//! Which drop a sender has noticed: drops and retransmissions of the table `events`, with the phases of the samples between them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::column::{numbers, numbers_where};
use crate::events::{Row, Story};
use crate::flows::flow_ends;
use crate::open::table;
use crate::ways::some;

/// What was looked up so far, by flow: where its packets go, and when it was not repairing losses.
#[derive(Default)]
pub struct Ways {
    ends: RefCell<BTreeMap<i64, Rc<Route>>>,
    calm: RefCell<BTreeMap<i64, Rc<Vec<i64>>>>,
}

/// The ports that packets of a flow may go through, and from when on it sends data.
#[derive(Default)]
struct Route {
    source: String,
    there: BTreeSet<u32>,
    back: BTreeSet<u32>,
    /// When a TCP connection was made, in ns; 0 while nobody knows.
    connected: Option<i64>,
}

/// A segment without data: Ethernet 18 B, IP and TCP 20 B each, time stamps 12 B (RFC 7323).
const BARE_BYTES: f64 = 70.0;

impl Story<'_> {
    /// Whether a packet of a row was data on its way to the flow's destination: no ACK, and no part of a handshake.
    pub fn is_data(&self, row: &Row) -> bool {
        let Some(flow) = row.flow else { return false };
        let known = self.ways.ends.borrow().get(&flow).cloned();
        let route = known.unwrap_or_else(|| {
            let route = Rc::new(self.route(flow).unwrap_or_default());
            self.ways.ends.borrow_mut().insert(flow, route.clone());
            route
        });
        if route.connected.is_some_and(|at| row.at < at || row.bytes <= BARE_BYTES) {
            return false;
        }
        match row.port {
            // After a change of routes packets may go where no shortest way leads.
            Some(port) => !route.back.contains(&(port as u32)) || route.there.contains(&(port as u32)),
            None => row.node != route.source,
        }
    }

    fn route(&self, flow: i64) -> Option<Route> {
        let (plan, ends) = (self.open.plan().ok()?, flow_ends(self.open, flow as u64).ok()?);
        let node = |name: &str| plan.nodes.iter().position(|node| node.name == name).map(|i| i as u32);
        let (from, to) = (node(&ends.source)?, node(&ends.destination)?);
        let connected = (ends.protocol == "tcp").then(|| self.connected(flow));
        Some(Route { source: ends.source, there: some(plan, from, to), back: some(plan, to, from), connected })
    }

    /// When a connection was made; the end of time if it never was.
    fn connected(&self, flow: i64) -> i64 {
        let tables = self.open.tables();
        let found = table(&tables, "flows")
            .and_then(|flows| Ok((numbers(flows, "flow")?, numbers(flows, "established_ns")?)))
            .unwrap_or_default();
        let place = found.0.iter().position(|&number| number == flow as f64);
        place.map_or(0, |i| if found.1[i].is_nan() { i64::MAX } else { found.1[i] as i64 })
    }

    /// The first sample after an instant at which a flow repaired no loss.
    fn calm_after(&self, flow: i64, at: i64) -> Option<i64> {
        let known = self.ways.calm.borrow().get(&flow).cloned();
        let times = known.unwrap_or_else(|| {
            let times = Rc::new(self.calm(flow).unwrap_or_default());
            self.ways.calm.borrow_mut().insert(flow, times.clone());
            times
        });
        times.get(times.partition_point(|&time| time <= at)).copied()
    }

    /// The times of samples at which a flow repaired no loss.
    fn calm(&self, flow: i64) -> Option<Vec<i64>> {
        let tables = self.open.tables();
        let samples = table(&tables, "flow_samples").ok()?;
        let (found, phases) = numbers_where(samples, &["time_ns"], "phase", ("flow", flow as f64)).ok()?;
        let calm = |phase: &String| !matches!(phase.as_str(), "recovery" | "loss");
        Some(found[0].iter().zip(&phases).filter(|(_, phase)| calm(phase)).map(|(time, _)| *time as i64).collect())
    }

    /// The retransmissions of a flow.
    fn repairs(&self, flow: i64) -> impl Iterator<Item = &Row> {
        let of = move |row: &&Row| row.flow == Some(flow) && matches!(row.kind.as_str(), "fast_retransmit" | "rto");
        self.rows.iter().filter(of)
    }

    /// The row that says how a flow noticed a loss. A flow that was repairing losses before may have noticed it without a row.
    pub fn noticed(&self, flow: i64, lost: i64) -> Option<&Row> {
        let before = self.repairs(flow).take_while(|row| row.at <= lost).last();
        let calm = before.is_none_or(|before| self.calm_after(flow, before.at).is_some_and(|at| at <= lost));
        self.repairs(flow).find(|row| row.at > lost).filter(|_| calm)
    }

    /// The drop because of which a flow has retransmitted: the first one of its data since it had repaired what was lost before, or
    /// the last one if no sample shows when that was.
    pub fn cause(&self, row: &Row) -> Option<&Row> {
        let flow = row.flow?;
        let before = self.repairs(flow).take_while(|other| other.at < row.at).last();
        let since = before.map_or(i64::MIN, |before| before.at);
        let own = |other: &&Row| {
            other.flow == row.flow
                && other.kind == "drop"
                && since < other.at
                && other.at <= row.at
                && self.is_data(other)
        };
        let drops: Vec<&Row> = self.rows.iter().filter(own).collect();
        let calm = before.map_or(Some(i64::MIN), |before| self.calm_after(flow, before.at));
        drops.iter().find(|drop| calm.is_some_and(|at| drop.at >= at)).or(drops.last()).copied()
    }
}
