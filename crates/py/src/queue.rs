//! A queue discipline without a network: the stepping class behind `elephan.queue.new`.

use elephan_link::queue::{Discarded, Discipline, Item, Queue, QueueSpec, Verdict};
use elephan_random::Stream;
use elephan_units::{Rate, Time};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{ScenarioError, guard, scenario_errors};
use crate::{json, number};

/// A packet that waits: what its caller calls it.
struct Waiting {
    id: Py<PyAny>,
}

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
    /// Waiting packets by handle, and the handles that are free.
    waiting: Vec<Option<Waiting>>,
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
            let spec = elephan_scenario::queue("Queue", kind, table).map_err(scenario_errors)?;
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
        flow: u32,
        ect: u8,
        id: Option<Py<PyAny>>,
        priority: u8,
        weight: u16,
    ) -> PyResult<&'static str> {
        let now = self.at(now)?;
        let bytes = u32::try_from(number::bytes("size", size)?).unwrap_or(0);
        in_range("size", u64::from(bytes), 1, u64::from(u32::MAX))?;
        in_range("ect", u64::from(ect), 0, 3)?;
        in_range("priority", u64::from(priority), 0, 7)?;
        in_range("weight", u64::from(weight), 1, u64::from(u16::MAX))?;
        let id = match id {
            Some(id) => id,
            None => self.offered.into_pyobject(py)?.into_any().unbind(),
        };
        self.offered += 1;
        let handle = self.keep(Waiting { id });
        let item = Item { handle, flow, bytes, ecn: ect, priority, weight, at: now };
        let PyQueue { queue, discarded, .. } = self;
        let verdict = guard(|| {
            queue.on_arrival(now, bytes, None);
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
        let now = self.at(now)?;
        let PyQueue { queue, discarded, .. } = self;
        let sent = guard(|| Ok(queue.dequeue(now, discarded)))?;
        self.take_discarded();
        let Some((item, marked)) = sent else { return Ok(None) };
        self.dequeued += 1;
        self.marked += u64::from(marked);
        Ok(self.release(item.handle).map(|packet| (packet.id, marked)))
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

fn in_range(name: &str, value: u64, low: u64, high: u64) -> PyResult<()> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(ScenarioError::new_err(format!("{name} must be from {low} to {high}, not {value}")))
}

impl PyQueue {
    /// The time of a call, which never goes back.
    fn at(&mut self, now: f64) -> PyResult<Time> {
        let at = number::time("now", now)?;
        if at < self.now {
            let before = self.now.seconds();
            return Err(ScenarioError::new_err(format!("now must not go back: {now} s is before {before} s")));
        }
        self.now = at;
        Ok(at)
    }

    fn keep(&mut self, packet: Waiting) -> u32 {
        match self.free.pop() {
            Some(handle) => {
                self.waiting[handle as usize] = Some(packet);
                handle
            }
            None => {
                self.waiting.push(Some(packet));
                (self.waiting.len() - 1) as u32
            }
        }
    }

    fn release(&mut self, handle: u32) -> Option<Waiting> {
        self.free.push(handle);
        self.waiting[handle as usize].take()
    }

    fn lose(&mut self, handle: u32, reason: &'static str) {
        if let Some(packet) = self.release(handle) {
            self.drops.push(Drop { id: packet.id, reason, at: self.now });
        }
    }

    fn take_discarded(&mut self) {
        for (item, reason) in std::mem::take(&mut self.discarded) {
            self.lose(item.handle, reason);
        }
    }
}
