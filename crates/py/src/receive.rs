//! The receive side and the walk of SACK without a network: the stepping classes behind `elephan.host`.

use elephan_host::cpu::{SackHint, SackWalk};
use elephan_host::receive::Refused;
use elephan_host::{Alone, Receive};
use elephan_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{guard, scenario_error, scenario_errors};
use crate::{json, number};

/// The receive side of a host whose processor does nothing else, stepped by hand.
#[pyclass(module = "elephan._core")]
pub struct ReceiveSide {
    words: Receive,
    side: Alone,
    now: Time,
    frames: u32,
    served: Vec<(u32, Time)>,
    dropped: Vec<(u32, Refused)>,
}

impl ReceiveSide {
    fn pass(&mut self, now: f64) -> PyResult<()> {
        let at = number::later(&mut self.now, now)?;
        let ReceiveSide { side, served, dropped, .. } = self;
        guard(|| {
            side.advance(at, served, dropped);
            Ok(())
        })
    }
}

#[pymethods]
impl ReceiveSide {
    #[new]
    #[pyo3(signature = (packet, interrupt, **params))]
    fn new(packet: f64, interrupt: f64, params: Option<&Bound<'_, PyDict>>) -> PyResult<ReceiveSide> {
        let (packet, interrupt) = (number::span("packet", packet)?, number::span("interrupt", interrupt)?);
        let table = params.map(json::table).transpose()?.unwrap_or_default();
        let words = guard(|| elephan_scenario::receive("Receive", table).map_err(scenario_errors))?;
        let side = Alone::new(&words, interrupt, packet);
        Ok(ReceiveSide { words, side, now: Time::ZERO, frames: 0, served: Vec::new(), dropped: Vec::new() })
    }

    /// The parameters, as a scenario writes them, as JSON.
    fn parameters(&self) -> PyResult<String> {
        json::text(&self.words)
    }

    /// A frame is in; its number, from 0.
    fn frame(&mut self, now: f64) -> PyResult<u32> {
        self.pass(now)?;
        let number = self.frames;
        self.frames += 1;
        if let Err(why) = self.side.frame(number) {
            self.dropped.push((number, why));
        }
        Ok(number)
    }

    /// Lets time pass.
    fn advance(&mut self, now: f64) -> PyResult<()> {
        self.pass(now)
    }

    /// Frames served since this was asked last: (number, when it was done).
    fn served(&mut self) -> Vec<(u32, f64)> {
        self.served.drain(..).map(|(frame, at)| (frame, at.seconds())).collect()
    }

    /// Frames dropped since this was asked last: (number, reason).
    fn dropped(&mut self) -> Vec<(u32, &'static str)> {
        self.dropped.drain(..).map(|(frame, why)| (frame, why.name())).collect()
    }

    /// Frames in the ring and in the backlog.
    #[getter]
    fn waiting(&self) -> (u64, u64) {
        self.side.waiting()
    }

    /// Interrupts so far.
    #[getter]
    fn interrupts(&self) -> u64 {
        self.side.counts().interrupts
    }

    /// Seconds that the processor has worked.
    #[getter]
    fn busy(&self) -> f64 {
        self.side.busy().seconds()
    }

    fn __repr__(&self) -> String {
        let (ring, backlog) = self.side.waiting();
        format!("<receive side: ring {ring} of {}, backlog {backlog} of {}>", self.words.ring, self.words.backlog)
    }
}

/// What a sender walks through for SACK blocks, ACK by ACK.
#[pyclass(module = "elephan._core")]
pub struct SackWalker {
    walk: SackWalk,
    hint: SackHint,
}

#[pymethods]
impl SackWalker {
    #[new]
    fn new(kind: &str) -> PyResult<SackWalker> {
        let walk = serde_json::from_value(kind.into()).map_err(|error| scenario_error(format!("kind: {error}")))?;
        Ok(SackWalker { walk, hint: SackHint::default() })
    }

    /// Segments looked at for an ACK with these blocks, of `in_flight` bytes in segments of `segment` bytes.
    #[pyo3(signature = (blocks, ack, in_flight, segment=1448))]
    fn walk(&mut self, blocks: Vec<(u32, u32)>, ack: u32, in_flight: u64, segment: u32) -> u64 {
        let segment = segment.max(1);
        self.hint.walk(self.walk, &blocks, ack, (in_flight.div_ceil(u64::from(segment)), segment))
    }
}
