//! The desk: what its owner hands in, and what is open on it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use elephan_record::Tables;
use elephan_scenario::{Source, read};
use elephan_trace::{Options, Place};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::Ask;
use crate::open::{OfRun, Open, Shelf, held};
use crate::reply::{Reply, Trouble};

/// A scenario of the library.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Entry {
    pub name: String,
    pub text: String,
}

/// What a request may cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Simulated seconds of a run.
    pub simulated_s: f64,
    /// Events of a run.
    pub events: u64,
    /// Seconds that a run may take.
    pub wall_s: f64,
    /// Bytes of the tables of a run.
    pub table_bytes: u64,
    /// Bytes of a scenario's text.
    pub text_bytes: usize,
    /// Runs and captures that are open.
    pub open: usize,
}

impl Default for Limits {
    /// Far beyond what a page draws at once, and no burden on a usual machine.
    fn default() -> Limits {
        Limits {
            simulated_s: 86_400.0,
            events: 2_000_000_000,
            wall_s: 600.0,
            table_bytes: 2 << 30,
            text_bytes: 16 << 20,
            open: 32,
        }
    }
}

/// What the owner of a desk hands in.
pub struct Setup {
    /// What errors call the text of a page; files that it names are beside the file of this name, if they are read.
    pub name: String,
    pub library: Vec<Entry>,
    pub limits: Limits,
    /// Seconds of a clock that only goes forward.
    pub clock: fn() -> f64,
    /// `native` or `wasm`.
    pub engine: &'static str,
    /// What a scenario's text may bring along: interpreter of guests, files.
    pub admit: Box<dyn Fn(Source) -> Source + Send + Sync>,
}

/// Answers requests. It may be asked by several threads at once.
pub struct Desk {
    pub(crate) setup: Setup,
    shelf: Mutex<Shelf>,
}

/// What a method has of a request.
pub(crate) struct Call<'a> {
    pub ask: Ask<'a>,
    pub stop: &'a AtomicBool,
    pub emit: &'a mut dyn FnMut(Reply) -> bool,
}

impl Desk {
    pub fn new(setup: Setup) -> Desk {
        let shelf = Mutex::new(Shelf::new(setup.limits.open));
        Desk { setup, shelf }
    }

    /// Opens tables of a run that is over, with its scenario, or of a capture, without; answers their handle. `capture`: where its packets are.
    pub fn load(
        &self,
        text: Option<&str>,
        summary: Value,
        tables: Tables,
        capture: Option<Place>,
    ) -> Result<u64, Trouble> {
        let run = match text {
            None => None,
            Some(text) => {
                let source = self.source(text)?;
                let resolved = read(&source, &[], None).map_err(|errors| Trouble::of(source.name(), &errors))?;
                Some(OfRun { plan: resolved.plan })
            }
        };
        let mut open = Open::new(run, tables);
        open.capture = capture.map(|place| (place, Options::default()));
        *held(&open.summary) = Some(summary);
        Ok(self.put(None, Arc::new(open)))
    }

    pub(crate) fn open(&self, ask: Ask<'_>) -> Result<Arc<Open>, Trouble> {
        let handle = ask.handle()?;
        held(&self.shelf).get(handle)
    }

    pub(crate) fn close(&self, handle: u64) {
        held(&self.shelf).close(handle);
    }

    pub(crate) fn put(&self, handle: Option<u64>, open: Arc<Open>) -> u64 {
        held(&self.shelf).put(handle, open)
    }

    /// The source of a scenario's text, with what it may bring along.
    pub(crate) fn source(&self, text: &str) -> Result<Source, Trouble> {
        let most = self.setup.limits.text_bytes;
        if text.len() > most {
            return Err(format!("the scenario has {} bytes; at most {most} are read", text.len()).into());
        }
        let source = match text.trim_start().starts_with('{') {
            true => Source::json(&self.setup.name, text),
            false => Source::toml(&self.setup.name, text),
        };
        Ok((self.setup.admit)(source))
    }
}
