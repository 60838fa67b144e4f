//! Branches: a run is held at an instant, and copies of it go on, each under changes of its own.
//!
//! A held run has done all that comes before the changes of its instant. A branch goes on under a plan that differs from the held one only
//! in changes from that instant on. So a branch has the rows of a run of its plan from the start, to the byte.

use std::path::Path;
use std::sync::Arc;

use elephan_engine::Event;
use elephan_record::Recorder;
use elephan_scenario::{Captures, Change, Plan};
use elephan_units::{Time, stop};
use serde_json::Value;

use crate::Error;
use crate::net::Paths;
use crate::target::Target;
use crate::world::{Progress, World};

/// Branches of one plan, which share the run up to the latest instant from which one began.
pub struct Branches {
    base: Arc<Plan>,
    held: Option<Held>,
    /// What branches have changed so far, and what those to come will.
    announced: Vec<Change>,
}

impl Branches {
    /// Begins nothing yet.
    pub fn of(base: Arc<Plan>) -> Branches {
        Branches { base, held: None, announced: Vec::new() }
    }

    /// Returns when the runs end.
    pub fn duration(&self) -> Time {
        self.base.duration
    }

    /// Runs the branch `plan` from `at` on, and before it what is not yet simulated. `siblings` are plans of other branches to come. Returns
    /// the summary, the recorder with the rows from the start, and up to when the run is a shared one: a branch that begins otherwise, or
    /// that captures packets, is run from its start.
    pub fn run(
        &mut self,
        at: Time,
        plan: Arc<Plan>,
        siblings: &[Arc<Plan>],
        folder: Option<&Path>,
        watch: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Value, Recorder, Time), Error> {
        let captures = folder.is_some() && plan.record.captures != Captures::default();
        if !captures && self.hold(at, &plan, siblings, watch)? {
            let Some(held) = &self.held else { unreachable!("a run that leads to the branch") };
            let (summary, recorder) = held.branch(plan, folder, watch)?;
            return Ok((summary, recorder, at));
        }
        let recorder = folder.map_or_else(|| Ok(Recorder::memory()), Recorder::to_folder)?;
        let (summary, recorder) = crate::run(plan, recorder, watch)?;
        Ok((summary, recorder, Time::ZERO))
    }

    /// Brings the held run to `at`; answers whether it leads to the branch. One that is beyond it, or whose ports cannot change as this
    /// branch asks, begins anew.
    fn hold(
        &mut self,
        at: Time,
        plan: &Arc<Plan>,
        siblings: &[Arc<Plan>],
        watch: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<bool, Error> {
        let changes = siblings.iter().chain([plan]).flat_map(|plan| &plan.changes);
        for change in changes.filter(|change| change.at == at) {
            if !self.announced.contains(change) {
                self.announced.push(change.clone());
            }
        }
        let held = match self.held.take().filter(|held| held.at() <= at && held.leads_to(plan)) {
            Some(mut early) => {
                early.advance(at, watch)?;
                early
            }
            None => Held::new(self.base.clone(), &self.announced, at, watch)?,
        };
        Ok(self.held.insert(held).leads_to(plan))
    }
}

/// A run that stands still at an instant.
pub struct Held {
    world: World,
    at: Time,
}

impl Held {
    /// Runs `plan` up to `at`, with its rows in memory. What the `announced` changes concern is made such that it can change.
    pub fn new(
        plan: Arc<Plan>,
        announced: &[Change],
        at: Time,
        watch: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Held, Error> {
        crate::refuse_programs(&plan)?;
        let mut all = Plan::clone(&plan);
        all.changes.extend_from_slice(announced);
        let mut world = World::new(plan, &all, Recorder::memory(), Paths::default())?;
        world.run_until(Time::ZERO, before_changes(at), watch)?;
        Ok(Held { world, at })
    }

    /// The instant at which the run stands still.
    pub fn at(&self) -> Time {
        self.at
    }

    /// Returns whether a run of `plan` would be where this one is at its instant, so that `plan` can be taken up here.
    pub fn leads_to(&self, plan: &Plan) -> bool {
        until(self.at, &self.world.plan) == until(self.at, plan) && self.world.net.suits(plan)
    }

    /// Runs on to an instant if it is later, and stands still there.
    pub fn advance(&mut self, at: Time, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Error> {
        if at > self.at {
            self.world.run_until(self.at, before_changes(at), watch)?;
            self.at = at;
        }
        Ok(())
    }

    /// Takes up `plan`, to which this run leads, and runs it to its end; the run stays where it is. Returns the summary, and the recorder
    /// with the rows from the start, in memory or in an existing folder.
    pub fn branch(
        &self,
        plan: Arc<Plan>,
        folder: Option<&Path>,
        watch: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Value, Recorder), Error> {
        let recorder = self.world.recorder.branch(folder, &stop::look)?;
        let mut world = self.world.taken_up(plan, recorder);
        world.run(self.at, watch)?;
        world.finish()
    }
}

/// A plan without the changes from an instant on.
fn until(at: Time, plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.changes.retain(|change| change.at < at);
    plan
}

/// What comes before the changes of an instant comes before this event.
fn before_changes(at: Time) -> Event {
    Target::Changes.at(at)
}
