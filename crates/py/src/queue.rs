//! A queue discipline without a network: the stepping class behind `elephan.queue.new`.

use elephan_link::queue::{Discarded, Discipline, Item, Parameters, Queue, QueueSpec, Verdict};
use elephan_random::Stream;
use elephan_units::{Rate, Time};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{ScenarioError, guard, scenario_errors};
use crate::{json, number};

/// A drop: which packet, why and when.
struct Drop {
    id: Py<PyAny>,
    reason: &'static str,
    at: Time,
}

/// A queue discipline, stepped by hand. Times are seconds, sizes bytes.
#[pyclass(name = "Queue", module = "elephan._core")]
pub struct PyQueue {
    queue: Queue,
    spec: QueueSpec,
    now: Time,
    /// What the caller calls the waiting packets, by handle, and the handles that are free.
    waiting: Vec<Option<Py<PyAny>>>,
    free: Vec<u32>,
    discarded: Discarded,
    drops: Vec<Drop>,
    enqueued: u64,
    dequeued: u64,
    marked: u64,
    /// Packets offered, by which one without a name is called.
    offered: u64,
}

#[pymethods]
impl PyQueue {
    #[new]
    #[pyo3(signature = (kind, link_rate=1e9, bdp=0.0, seed=1, **params))]
    fn new(kind: &str, link_rate: f64, bdp: f64, seed: u64, params: Option<&Bound<'_, PyDict>>) -> PyResult<PyQueue> {
        if !(1.0..=1e14).contains(&link_rate) {
            return Err(ScenarioError::new_err(format!("link_rate must be from 1 to 1e14 bit/s, not {link_rate}")));
        }
        let bdp_bytes = number::bytes("bdp", bdp)?;
        let table = params.map(json::table).transpose()?.unwrap_or_default();
        guard(|| {
            let spec = elephan_scenario::queue("Queue", kind, table, bdp_bytes).map_err(scenario_errors)?;
            let mut queue = spec.build(bdp_bytes);
            queue.set_rate(Rate(link_rate.round() as u64));
            queue.set_stream(Stream::new(seed, "queue", "queue"));
            Ok(PyQueue {
                queue,
                spec,
                now: Time::ZERO,
                waiting: Vec::new(),
                free: Vec::new(),
                discarded: Vec::new(),
                drops: Vec::new(),
                enqueued: 0,
                dequeued: 0,
                marked: 0,
                offered: 0,
            })
        })
    }

    /// The kind of the discipline.
    #[getter]
    fn kind(&self) -> &'static str {
        self.spec.name()
    }

    /// Its parameters, as a scenario writes them, as JSON.
    fn parameters(&self) -> PyResult<String> {
        json::text(&self.spec)
    }

    /// Offers a packet: "accepted", "marked" or "dropped".
    #[pyo3(signature = (now, size, flow=0, ect=0, id=None, priority=0, weight=1))]
    #[expect(clippy::too_many_arguments, reason = "the stepping interface names each quantity")]
    fn enqueue(
        &mut self,
        py: Python<'_>,
        now: f64,
        size: f64,
        flow: i64,
        ect: i64,
        id: Option<Py<PyAny>>,
        priority: i64,
        weight: i64,
    ) -> PyResult<&'static str> {
        let now = number::later(&mut self.now, now)?;
        let size = number::bytes("size", size)?.try_into().unwrap_or(i64::MAX);
        let bytes = within("size", size, 1, u32::MAX)?;
        let flow = within("flow", flow, 0, u32::MAX)?;
        let ecn = within("ect", ect, 0, 3)?;
        let priority = within("priority", priority, 0, 7)?;
        let weight = within("weight", weight, 1, u16::MAX)?;
        let id = match id {
            Some(id) => id,
            None => self.offered.into_pyobject(py)?.into_any().unbind(),
        };
        self.offered += 1;
        let handle = self.keep(id);
        let item = Item { handle, flow, bytes, ecn, priority, weight, at: now };
        let PyQueue { queue, discarded, .. } = self;
        let verdict = guard(|| {
            queue.on_arrival(now, bytes, 0, None);
            Ok(queue.enqueue(now, item, discarded))
        })?;
        let said = match verdict {
            Verdict::Accepted => "accepted",
            Verdict::Marked => {
                self.marked += 1;
                "marked"
            }
            Verdict::Dropped(reason) => {
                self.lose(handle, reason);
                "dropped"
            }
        };
        self.enqueued += u64::from(said != "dropped");
        self.take_discarded();
        Ok(said)
    }

    /// The next packet as (id, whether it is marked now), or None.
    fn dequeue(&mut self, now: f64) -> PyResult<Option<(Py<PyAny>, bool)>> {
        let now = number::later(&mut self.now, now)?;
        let PyQueue { queue, discarded, .. } = self;
        let sent = guard(|| Ok(queue.dequeue(now, discarded)))?;
        self.take_discarded();
        let Some((item, marked)) = sent else { return Ok(None) };
        self.dequeued += 1;
        self.marked += u64::from(marked);
        Ok(self.release(item.handle).map(|id| (id, marked)))
    }

    /// When a shaper has tokens for the packet that `dequeue` has just held back, or None.
    fn ready_at(&self) -> Option<f64> {
        let at = self.queue.ready_at();
        (at != Time::NEVER && self.queue.packets() > 0).then(|| at.seconds())
    }

    /// Waiting bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// Waiting packets.
    #[getter]
    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    /// Counters, and `drops`: a list of dicts with `id`, `reason` and `at` in the order in which they were dropped.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = PyDict::new(py);
        stats.set_item("offered", self.offered)?;
        stats.set_item("enqueued", self.enqueued)?;
        stats.set_item("dequeued", self.dequeued)?;
        stats.set_item("marked", self.marked)?;
        stats.set_item("dropped", self.drops.len())?;
        stats.set_item("bytes", self.queue.bytes())?;
        stats.set_item("packets", self.queue.packets())?;
        let drops = PyList::empty(py);
        for lost in &self.drops {
            let one = PyDict::new(py);
            one.set_item("id", lost.id.clone_ref(py))?;
            one.set_item("reason", lost.reason)?;
            one.set_item("at", lost.at.seconds())?;
            drops.append(one)?;
        }
        stats.set_item("drops", drops)?;
        Ok(stats)
    }

    /// The state of the discipline as text, for eyes only.
    fn debug(&self) -> String {
        format!("{:?}", self.queue)
    }

    fn __repr__(&self) -> String {
        format!("<{} {} p {} B>", self.spec.name(), self.queue.packets(), self.queue.bytes())
    }
}

/// A whole number from `low` to `high`, in the type of `high`.
fn within<T: Copy + Into<i64> + TryFrom<i64>>(name: &str, value: i64, low: i64, high: T) -> PyResult<T> {
    let most = high.into();
    let given = T::try_from(value).ok().filter(|_| (low..=most).contains(&value));
    given.ok_or_else(|| ScenarioError::new_err(format!("{name} must be from {low} to {most}, not {value}")))
}

impl PyQueue {
    fn keep(&mut self, id: Py<PyAny>) -> u32 {
        match self.free.pop() {
            Some(handle) => {
                self.waiting[handle as usize] = Some(id);
                handle
            }
            None => {
                self.waiting.push(Some(id));
                (self.waiting.len() - 1) as u32
            }
        }
    }

    fn release(&mut self, handle: u32) -> Option<Py<PyAny>> {
        self.free.push(handle);
        self.waiting[handle as usize].take()
    }

    fn lose(&mut self, handle: u32, reason: &'static str) {
        if let Some(id) = self.release(handle) {
            self.drops.push(Drop { id, reason, at: self.now });
        }
    }

    fn take_discarded(&mut self) {
        for (item, reason) in std::mem::take(&mut self.discarded) {
            self.lose(item.handle, reason);
        }
    }
}
