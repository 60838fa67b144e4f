//! Ranks of a parallel program without a network: the stepping class behind `elephan.ranks`.

use std::sync::Arc;

use elephan_goal::collective::{Collective, Operation};
use elephan_goal::{Execution, Program, RANKS_MAX, Stretch, Task, ideal};
use elephan_units::{Rate, Time};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::{ScenarioError, guard_long};
use crate::number;

/// A task as (`compute`, rank, operation, second at which it ends) or (`send`, rank, operation, to, bytes, awaited).
#[derive(IntoPyObject)]
enum Asked {
    Compute(&'static str, u32, u32, f64),
    Send(&'static str, u32, u32, u32, u64, bool),
}

impl From<Task> for Asked {
    fn from(task: Task) -> Asked {
        match task {
            Task::Compute { rank, op, until } => Asked::Compute("compute", rank, op, until.seconds()),
            Task::Send { rank, op, to, bytes, awaited, .. } => Asked::Send("send", rank, op, to, bytes, awaited),
        }
    }
}

/// A stretch of a critical path: rank, to whom if it is a message, bytes, begin, end.
type Row = (u32, Option<u32>, u64, f64, f64);

/// A program in GOAL under way. Times are seconds.
#[pyclass(module = "elephan._core")]
pub struct Ranks {
    program: Arc<Program>,
    execution: Execution,
    /// What each operation that was asked for is: stepped in no other order than it can be done.
    open: std::collections::BTreeSet<(u8, u32, u32)>,
    now: Time,
}

const COMPUTING: u8 = 0;
const ON_ITS_WAY: u8 = 1;
const UNACKNOWLEDGED: u8 = 2;

impl Ranks {
    fn tasks(&mut self, tasks: Vec<Task>) -> Vec<Asked> {
        for task in &tasks {
            match *task {
                Task::Compute { rank, op, .. } => {
                    self.open.insert((COMPUTING, rank, op));
                }
                Task::Send { rank, op, awaited, .. } => {
                    self.open.insert((ON_ITS_WAY, rank, op));
                    if awaited {
                        self.open.insert((UNACKNOWLEDGED, rank, op));
                    }
                }
            }
        }
        tasks.into_iter().map(Asked::from).collect()
    }

    /// Ends what an operation was at; a call that is refused changes nothing.
    fn close(&mut self, what: u8, (rank, op): (u32, u32), now: f64) -> PyResult<Time> {
        let mut later = self.now;
        let now = number::later(&mut later, now)?;
        if !self.open.remove(&(what, rank, op)) {
            let what = ["computing", "on its way", "waited for"][usize::from(what)];
            return Err(ScenarioError::new_err(format!("operation {op} of rank {rank} is not {what}")));
        }
        self.now = later;
        Ok(now)
    }
}

#[pymethods]
impl Ranks {
    #[new]
    fn new(text: &str, eager: u64) -> PyResult<Ranks> {
        guard_long(None, || {
            let program =
                Arc::new(elephan_goal::parse(text).map_err(|error| ScenarioError::new_err(error.to_string()))?);
            let execution = Execution::new(program.clone(), eager);
            Ok(Ranks { program, execution, open: Default::default(), now: Time::ZERO })
        })
    }

    #[getter]
    fn count(&self) -> usize {
        self.program.ranks.len()
    }

    #[getter]
    fn operations(&self) -> PyResult<usize> {
        guard_long(None, || Ok(self.program.ranks.iter().map(|rank| rank.ops.len()).sum()))
    }

    #[getter]
    fn bytes(&self) -> PyResult<u64> {
        guard_long(None, || Ok(self.program.bytes()))
    }

    #[getter]
    fn pairs(&self) -> PyResult<Vec<(u32, u32)>> {
        guard_long(None, || Ok(self.program.pairs()))
    }

    #[getter]
    fn done(&self) -> bool {
        self.execution.is_done()
    }

    /// Begins, also again; what is asked for.
    fn begin(&mut self, now: f64) -> PyResult<Vec<Asked>> {
        let now = number::later(&mut self.now, now)?;
        guard_long(None, || {
            let mut tasks = Vec::new();
            self.open.clear();
            self.execution.begin(now, &[], &mut tasks);
            Ok(self.tasks(tasks))
        })
    }

    fn computed(&mut self, now: f64, rank: u32, operation: u32) -> PyResult<Vec<Asked>> {
        let now = self.close(COMPUTING, (rank, operation), now)?;
        guard_long(None, || {
            let mut tasks = Vec::new();
            self.execution.computed(now, rank, operation, &mut tasks);
            Ok(self.tasks(tasks))
        })
    }

    fn arrived(&mut self, now: f64, rank: u32, operation: u32) -> PyResult<Vec<Asked>> {
        let now = self.close(ON_ITS_WAY, (rank, operation), now)?;
        guard_long(None, || {
            let mut tasks = Vec::new();
            self.execution.arrived(now, rank, operation, &mut tasks);
            Ok(self.tasks(tasks))
        })
    }

    fn acknowledged(&mut self, now: f64, rank: u32, operation: u32) -> PyResult<Vec<Asked>> {
        if self.open.contains(&(ON_ITS_WAY, rank, operation)) {
            let message = format!("operation {operation} of rank {rank} is still on its way");
            return Err(ScenarioError::new_err(message));
        }
        let now = self.close(UNACKNOWLEDGED, (rank, operation), now)?;
        guard_long(None, || {
            let mut tasks = Vec::new();
            self.execution.acknowledged(now, rank, operation, &mut tasks);
            Ok(self.tasks(tasks))
        })
    }

    /// What the end hung on: (rank, to or none, bytes, begin, end).
    fn critical_path(&self) -> PyResult<Vec<Row>> {
        guard_long(None, || {
            if !self.execution.is_done() {
                return Err(ScenarioError::new_err("the program is not done"));
            }
            let row = |Stretch { rank, message, begin, end }| {
                let (to, bytes) = message.map_or((None, 0), |(to, bytes)| (Some(to), bytes));
                (rank, to, bytes, begin.seconds(), end.seconds())
            };
            Ok(self.execution.critical_path().into_iter().map(row).collect())
        })
    }

    /// Seconds until each rank is done on links that nobody else uses.
    fn ideal(&self, py: Python<'_>, rate_bps: f64, latency: f64) -> PyResult<Vec<f64>> {
        if rate_bps.is_nan() || rate_bps < 1.0 {
            return Err(ScenarioError::new_err(format!("rate must be at least 1 bit/s, not {rate_bps}")));
        }
        let (rate, latency) = (Rate(number::rate("rate", rate_bps)? as u64), number::span("latency", latency)?);
        let (program, eager) = (self.program.clone(), self.execution.eager());
        py.detach(|| {
            guard_long(None, || {
                let mut cost = |_, _, bytes| ideal::Cost::of(bytes, rate, latency);
                let ends = ideal::completion(&program, eager, &[], &mut cost).map_err(ScenarioError::new_err)?;
                Ok(ends.into_iter().map(|end| end.since(Time::ZERO).seconds()).collect())
            })
        })
    }
}

/// The text in GOAL of a collective operation.
#[pyfunction]
fn collective(operation: &str, algorithm: &str, ranks: u32, bytes: u64, chunks: u32) -> PyResult<String> {
    guard_long(None, || {
        let operation: Operation = named("operation", operation)?;
        let algorithm = named("algorithm", algorithm)?;
        if ranks > RANKS_MAX {
            return Err(ScenarioError::new_err(format!("{ranks} ranks: at most {RANKS_MAX}")));
        }
        let collective = Collective { operation, algorithm, ranks, bytes, chunks };
        Ok(collective.program().map_err(ScenarioError::new_err)?.to_string())
    })
}

/// A word of the scenario language.
fn named<T: serde::de::DeserializeOwned>(what: &str, word: &str) -> PyResult<T> {
    serde_json::from_value(Value::String(word.to_owned()))
        .map_err(|error| ScenarioError::new_err(format!("{what}: {error}")))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Ranks>()?;
    module.add_function(wrap_pyfunction!(collective, module)?)
}
