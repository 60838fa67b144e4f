//! Congestion controls that the scenario brings along: looked for once each, where they are written, and put into the
//! plan in the end, because options are merged as text on their way.

use std::sync::Arc;

use elephan_cc::Spec;
use elephan_cc::guest::{self, Factory, Interpreter};

use super::Resolver;
use crate::Plan;
use crate::tree::{Path, at};
use crate::written::Scenario;

/// What was found.
#[derive(Default)]
pub(super) struct Guests(Vec<(guest::Spec, Arc<dyn Factory>)>);

impl Guests {
    fn of(&self, spec: &guest::Spec) -> Option<&Arc<dyn Factory>> {
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

impl Resolver<'_> {
    /// Looks for every guest that the scenario names.
    pub(super) fn guests(&mut self, words: &Scenario, interpreter: Option<&dyn Interpreter>) -> Guests {
        let mut places: Vec<(Path, &Option<Spec>)> =
            vec![(at!["tcp", "congestion_control"], &words.tcp.congestion_control)];
        for (name, host) in &words.hosts {
            places.push((at!["hosts", name, "tcp", "congestion_control"], &host.tcp.congestion_control));
        }
        for (i, traffic) in words.traffic.iter().enumerate() {
            places.push((at!["traffic", i, "congestion_control"], &traffic.congestion_control));
            places.push((at!["traffic", i, "tcp", "congestion_control"], &traffic.tcp.congestion_control));
        }
        let mut guests = Guests::default();
        for (place, spec) in places {
            let Some(Spec::Guest(spec)) = spec else { continue };
            if guests.of(spec).is_some() {
                continue;
            }
            let found = match interpreter {
                Some(interpreter) => interpreter.load(spec),
                None => Err(guest::NoInterpreter.to_string()),
            };
            match found {
                Ok(factory) => guests.0.push((spec.clone(), factory)),
                Err(message) => {
                    let (key, named) = spec.place();
                    self.report(place.key(key), format!("{named:?}: {message}"));
                }
            }
        }
        guests
    }
}
