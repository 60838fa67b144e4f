//! What is open: runs and captures by handle, finished or not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use elephan_record::{TableData, Tables};
use elephan_scenario::Plan;
use elephan_trace::{Options, Place};
use serde_json::Value;

use crate::index::Shown;
use crate::reply::Trouble;

/// A run or a capture.
pub struct Open {
    pub tables: Mutex<Arc<Shown>>,
    /// Of a run; a capture has none.
    pub run: Option<OfRun>,
    /// Where the packets of a capture are, and how they are looked at.
    pub capture: Option<(Place, Options)>,
    /// What the run said at its end.
    pub summary: Mutex<Option<Value>>,
}

/// What is known of a run from its beginning.
pub struct OfRun {
    pub plan: Arc<Plan>,
}

impl Open {
    pub fn new(run: Option<OfRun>, tables: Tables) -> Open {
        Open { tables: Mutex::new(Arc::new(Shown::new(tables))), run, capture: None, summary: Mutex::new(None) }
    }

    /// The tables as they are now.
    pub fn tables(&self) -> Arc<Shown> {
        held(&self.tables).clone()
    }

    pub fn plan(&self) -> Result<&Plan, Trouble> {
        self.run.as_ref().map(|run| run.plan.as_ref()).ok_or_else(|| "a capture has no scenario".into())
    }

    pub fn is_done(&self) -> bool {
        held(&self.summary).is_some()
    }

    /// Where the picture over time ends.
    pub fn end_ns(&self) -> i64 {
        let last = held(&self.summary).as_ref().and_then(|summary| summary["span_ns"].as_i64());
        self.run.as_ref().map(|run| run.plan.duration.ns()).or(last).unwrap_or_default()
    }
}

/// A table by name.
pub fn table<'a>(tables: &'a Tables, name: &str) -> Result<&'a TableData, Trouble> {
    let found = tables.iter().find(|table| table.name == name);
    found.ok_or_else(|| {
        let known: Vec<&str> = tables.iter().map(|table| table.name).collect();
        format!("no table {name:?}: {}", known.join(", ")).into()
    })
}

/// A lock that a panic elsewhere cannot have left with half of a value.
pub fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that is open; of more than `most` the oldest is closed.
pub struct Shelf {
    most: usize,
    next: u64,
    open: BTreeMap<u64, (u64, Arc<Open>)>,
    used: u64,
}

impl Shelf {
    pub fn new(most: usize) -> Shelf {
        Shelf { most, next: 1, open: BTreeMap::new(), used: 0 }
    }

    /// Puts something under a handle, which a closed one may be taken for again.
    pub fn put(&mut self, handle: Option<u64>, open: Arc<Open>) -> u64 {
        let handle = handle.filter(|&handle| handle < self.next).unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.used += 1;
        self.open.insert(handle, (self.used, open));
        while self.open.len() > self.most {
            let oldest = self.open.iter().min_by_key(|(_, (used, _))| *used).map(|(&handle, _)| handle);
            oldest.map(|handle| self.open.remove(&handle));
        }
        handle
    }

    pub fn get(&mut self, handle: u64) -> Result<Arc<Open>, Trouble> {
        self.used += 1;
        let used = self.used;
        let found = self.open.get_mut(&handle).map(|(last, open)| {
            *last = used;
            open.clone()
        });
        found.ok_or_else(|| format!("nothing is open under handle {handle}; run it again").into())
    }

    pub fn close(&mut self, handle: u64) {
        self.open.remove(&handle);
    }
}
