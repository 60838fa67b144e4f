//! The world of a scenario: built from a plan, run to its end, written to tables. The one crate that knows all the others.
//!
//! The rules of the engine (ARCHITECTURE.md): one thread, no globals; events in the order of (time, class, tie, id);
//! the same plan gives the same tables to the byte; every packet and every byte is accounted for.

#![forbid(unsafe_code)]

mod apps;
mod arrivals;
mod branch;
mod change;
mod clocks;
mod copy;
mod error;
mod flow;
mod guests;
mod host;
mod ideal;
mod ids;
mod info;
mod instruments;
mod limits;
mod net;
mod observed;
mod packet;
mod pauses;
mod program;
mod ranks;
mod rdma;
mod rows;
mod sample;
mod sockets;
mod spread;
mod summary;
mod tables;
mod target;
mod world;

pub use branch::{Branches, Held};
pub use error::Error;
pub use net::{Paths, Way};
pub use program::{Address, End, Fate, Network, Report, Status};
pub use world::Progress;

use std::sync::Arc;

use elephan_record::Recorder;
use elephan_scenario::Plan;
use elephan_traffic::Spec as _;
use elephan_units::Time;
use serde_json::Value;

use world::World;

/// Runs `plan` to its end. Returns the summary, and the recorder with the rows.
///
/// `watch` is called every few thousand events and answers whether to go on.
pub fn run(
    plan: impl Into<Arc<Plan>>,
    recorder: Recorder,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Value, Recorder), Error> {
    run_on(plan, recorder, Paths::default(), watch)
}

/// For each port of `plan`, in the order of its links, how packets pass it, and in words why it needs a queue.
pub fn ways(plan: &Plan) -> Result<Vec<(Way, Vec<String>)>, Error> {
    net::ways(plan, &observed::observed_ports(plan), &net::Layout::of(plan))
}

/// As [`run`], with a choice of the paths through ports, for comparing them.
pub fn run_on(
    plan: impl Into<Arc<Plan>>,
    recorder: Recorder,
    paths: Paths,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Value, Recorder), Error> {
    let plan = plan.into();
    refuse_programs(&plan)?;
    let mut world = World::new(plan.clone(), &plan, recorder, paths)?;
    world.run(Time::ZERO, watch)?;
    world.finish()
}

/// A scenario whose programs are not there would be silent where they speak.
fn refuse_programs(plan: &Plan) -> Result<(), Error> {
    let own = plan.traffic.iter().filter_map(|traffic| Some((traffic, traffic.kind.programs()?))).next();
    match own {
        Some((traffic, own)) if own.programs.is_empty() => Err(Error::NoProgram(traffic.name.clone())),
        Some((traffic, _)) => Err(Error::NoProgramHere(traffic.name.clone())),
        None => Ok(()),
    }
}
