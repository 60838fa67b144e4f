//! Congestion controls that the scenario brings along, put into the plan in the end, because options are merged as text on their way.

use std::sync::Arc;

use elephan_cc::Spec;
use elephan_cc::guest::{self, Factory};

use crate::Plan;

/// What was found.
#[derive(Default)]
pub(super) struct Guests(Vec<(guest::Spec, Arc<dyn Factory>)>);

impl Guests {
    pub fn add(&mut self, spec: &guest::Spec, factory: Arc<dyn Factory>) {
        self.0.push((spec.clone(), factory));
    }

    pub fn of(&self, spec: &guest::Spec) -> Option<&Arc<dyn Factory>> {
        self.0.iter().find(|(found, _)| found == spec).map(|(_, factory)| factory)
    }

    /// Lets the specifications of a plan make what they name.
    pub fn bind(&self, plan: &mut Plan) {
        if self.0.is_empty() {
            return;
        }
        let bind = |spec: &mut Spec| {
            if let Spec::Guest(guest) = spec
                && let Some(factory) = self.of(guest)
            {
                *guest = guest.bound(factory.clone());
            }
        };
        plan.traffic.iter_mut().for_each(|t| bind(&mut t.congestion_control));
        plan.options.iter_mut().for_each(|o| bind(&mut Arc::make_mut(o).congestion_control));
    }
}
