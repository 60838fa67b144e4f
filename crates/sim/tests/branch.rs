//! A branch has the rows of a run of its plan from the start.

mod common;

use std::sync::Arc;

use common::draw::{add_changes, changes, symmetric};
use common::run;
use elephan_record::Tables;
use elephan_scenario::{Change, Plan, PortSelection};
use elephan_sim::Held;
use elephan_units::{Span, Time};
use proptest::prelude::*;
use serde_json::Value;

fn held(plan: &Plan, announced: &[Change], at: Time) -> Held {
    Held::new(Arc::new(plan.clone()), announced, at, &mut |_| true).unwrap()
}

fn branch(held: &Held, plan: &Plan) -> (Tables, Value) {
    assert!(held.leads_to(plan));
    let (summary, recorder) = held.branch(Arc::new(plan.clone()), None, &mut |_| true).unwrap();
    (recorder.finish().unwrap(), summary)
}

/// The first table in which two runs differ, or that their summaries do.
fn difference(one: &(Tables, Value), other: &(Tables, Value)) -> Option<String> {
    let mut pairs = one.0.iter().zip(&other.0);
    // Where batches end is the recorder's business, and told by the files.
    let table = pairs.find(|(a, b)| a.rows != b.rows || a.batches != b.batches).map(|(a, _)| a.name.to_owned());
    // The number of events tells which ports could change.
    let summaries = [one, other].map(|(_, summary)| {
        Value::from_iter(summary.as_object().unwrap().clone().into_iter().filter(|(key, _)| key != "events"))
    });
    table.or_else(|| (summaries[0] != summaries[1]).then(|| format!("{} and {}", summaries[0], summaries[1])))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// What changes from an instant on can be taken up there, and again from there at a later instant; without it the run goes on as it would have.
    #[test]
    fn a_branch_is_a_run_of_its_plan(
        shape in (1usize..4, 1usize..5),
        rate in prop::sample::select(vec![1_000_000_000u64, 622_080_000, 10_000_000_000]),
        delay in prop::sample::select(vec![0u64, 1_000_000, 20_000_000]),
        limit in 0usize..5,
        kinds in prop::collection::vec((0usize..4, 0usize..9, 0usize..9), 1..7),
        faults in (any::<bool>(), any::<bool>()),
        changes in changes(),
        at_us in 0u64..8_000,
        events in any::<bool>(),
    ) {
        let mut plan = symmetric(shape, (rate, delay, limit), kinds, faults);
        (plan.record.events, plan.record.datagrams) = (events, 50);
        plan.record.every = events.then_some(Span::from_us(37));
        plan.record.ports = PortSelection::All;
        plan.warmup = Time(1_777_000_000);
        add_changes(&mut plan, changes);
        let at = Time(at_us * 1_000_000);
        let mut base = plan.clone();
        base.changes.retain(|change| change.at < at);
        let (plain, whole) = (run(&base, false), run(&plan, false));
        let mut begun = held(&base, &plan.changes, Time(at.0 / 2));
        for early in [true, false] {
            if !early {
                begun.advance(at, &mut |_| true).unwrap();
            }
            prop_assert_eq!(difference(&branch(&begun, &base), &plain), None, "without, early: {}", early);
            prop_assert_eq!(difference(&branch(&begun, &plan), &whole), None, "with, early: {}", early);
        }
    }
}
