//! Congestion controls that the scenario brings along: looked for once each, where they are written.

use elephan_cc::Spec;
use elephan_cc::guest;

use super::guests::Guests;
use super::resolver::Resolver;
use crate::tree::{Path, at};
use crate::written::Scenario;

impl Resolver<'_> {
    /// Looks for every guest that the scenario names.
    pub(super) fn guests(&mut self, words: &Scenario) {
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
            let found = match self.interpreter {
                Some(interpreter) => interpreter.load(spec),
                None => Err(guest::NoInterpreter.to_string()),
            };
            match found {
                Ok(factory) => guests.add(spec, factory),
                Err(message) => {
                    let (key, named) = spec.place();
                    self.report(place.key(key), format!("{named:?}: {message}"));
                }
            }
        }
        self.guests = guests;
    }
}
