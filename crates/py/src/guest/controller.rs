//! A Python object as a controller: the window goes in before a call and comes back after it, an exception ends it.
//!
//! The interpreter lock is taken for each call and for no longer; hooks that the class does not have are never called.

use std::fmt;
use std::sync::Arc;

use elephan_cc::guest::{self, Factory, Fault, Rounds};
use elephan_cc::{Ack, CongestionControl, Needs, Pacing, Signal, Timer, Window};
use elephan_units::{Span, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use super::base::{AckView, CongestionView, Guest, RoundView};

/// A class with its parameters, looked at once.
#[derive(Debug)]
pub struct Class {
    /// Called without arguments, gives an instance.
    pub make: Py<PyAny>,
    /// Of the class itself, for errors.
    pub class: String,
    /// As the scenario calls it, in tables: a factory has a name of its own.
    pub name: String,
    pub hooks: Hooks,
    pub slow_start: bool,
    pub measures_rate: bool,
    /// Attributes that are observed.
    pub states: Vec<&'static str>,
    /// What a run takes for the nearest sense is a fault: for tests of the class.
    pub strict: bool,
}

/// What the class has of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hooks {
    pub on_sent: bool,
    pub on_delivery: bool,
    pub on_ack: bool,
    pub on_round: bool,
    pub on_undo: bool,
    pub on_timer: bool,
}

/// Makes guests of one class.
#[derive(Clone, Debug)]
pub struct Maker(pub Arc<Class>);

impl Factory for Maker {
    fn instance(&self) -> Box<dyn guest::Guest> {
        let class = self.0.clone();
        let made = Python::attach(|py| {
            let object = class.make.bind(py).call0()?;
            let mut base = object.cast::<Guest>().map_err(PyErr::from)?.try_borrow_mut()?;
            if base.open {
                return Err(PyTypeError::new_err(
                    "the factory gave the same object twice; each connection needs its own",
                ));
            }
            base.open = true;
            drop(base);
            Ok(object.unbind())
        });
        let mut congestion_control =
            Object { class, object: None, fault: None, rounds: Rounds::default(), pacing: None, timer: None };
        match made {
            Ok(object) => congestion_control.object = Some(object),
            Err(error) => congestion_control.fail("__init__", Time::ZERO, error),
        }
        Box::new(congestion_control)
    }

    /// A class is told what was acknowledged, and counts by itself.
    fn needs(&self) -> Needs {
        Needs::ALL_ACKED.and_if(!self.0.slow_start, Needs::OWN_SLOW_START).and_if(self.0.measures_rate, Needs::RATE)
    }
}

/// What Python raised, with its place, as one line.
#[derive(Debug)]
pub struct Raised {
    pub error: PyErr,
    line: String,
}

impl Raised {
    fn new(error: PyErr) -> Raised {
        let line = Python::attach(|py| {
            let value = error.clone_ref(py).into_value(py);
            let told = py.import("elephan.scenario.guest").and_then(|module| module.call_method1("told", (value,)));
            told.and_then(|line| line.extract()).unwrap_or_else(|_| error.to_string())
        });
        Raised { error, line }
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl std::error::Error for Raised {}

/// One connection's object.
#[derive(Debug)]
struct Object {
    class: Arc<Class>,
    /// None when it could not be made.
    object: Option<Py<PyAny>>,
    fault: Option<Fault>,
    rounds: Rounds,
    pacing: Option<f64>,
    timer: Option<Time>,
}

impl Object {
    #[cold]
    fn fail(&mut self, method: &'static str, now: Time, error: PyErr) {
        let class = self.class.class.clone();
        self.fault.get_or_insert_with(|| Fault { class, method, now, cause: Arc::new(Raised::new(error)) });
        self.timer = None;
    }

    /// Calls the object with the window in place and takes the window back.
    fn call(
        &mut self,
        method: &'static str,
        now: Time,
        w: &mut Window,
        body: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        let Some(object) = self.object.as_ref().filter(|_| self.fault.is_none()) else { return };
        let outcome = Python::attach(|py| {
            let object = object.bind(py);
            let base = object.cast::<Guest>().map_err(PyErr::from)?;
            {
                let mut base = base.try_borrow_mut()?;
                (base.window, base.now) = (*w, now.seconds());
            }
            body(py, object)?;
            let base = base.try_borrow()?;
            Ok((base.window, base.pacing, base.timer))
        });
        match outcome.and_then(|(window, pacing, timer)| self.sense(window).map(|window| (window, pacing, timer))) {
            Ok((window, pacing, timer)) => {
                *w = window;
                self.pacing = pacing;
                let at = timer.map(Time::from_seconds);
                // A time that rounds to this instant would ring for ever.
                self.timer = at.map(|at| at.max(now.saturating_add(Span(1))));
            }
            Err(error) => self.fail(method, now, error),
        }
    }

    /// One segment and two segments are the least that a window and `ssthresh` can be.
    fn sense(&self, w: Window) -> PyResult<Window> {
        let least = Window { cwnd: w.mss, ssthresh: 2.0 * w.mss, mss: w.mss };
        if self.class.strict {
            let below = |name: &str, bytes: f64, least: f64| {
                let line = format!("{name} was set to {bytes} B; it can be {least} B at least");
                if bytes < least { Err(PyValueError::new_err(line)) } else { Ok(()) }
            };
            below("cwnd", w.cwnd, least.cwnd)?;
            below("ssthresh", w.ssthresh, least.ssthresh)?;
        }
        Ok(Window { cwnd: w.cwnd.max(least.cwnd), ssthresh: w.ssthresh.max(least.ssthresh), mss: w.mss })
    }

    fn deliver(&mut self, w: &mut Window, ack: &Ack, in_recovery: bool) {
        if self.class.hooks.on_delivery {
            self.call("on_delivery", ack.now, w, |py, object| {
                object.call_method1(intern!(py, "on_delivery"), (AckView::of(ack, in_recovery),)).map(drop)
            });
        }
    }
}

impl guest::Guest for Object {
    fn name(&self) -> &str {
        &self.class.name
    }

    fn boxed_clone(&self) -> Box<dyn guest::Guest> {
        let mut fault = self.fault.clone();
        let object = self.object.as_ref().and_then(|object| {
            let copy = Python::attach(|py| {
                let object = object.bind(py);
                let copy = py.import("elephan.scenario.copying")?.call_method1("copy", (object,))?;
                let from = object.cast::<Guest>().map_err(PyErr::from)?.try_borrow()?;
                let mut to = copy.cast::<Guest>().map_err(PyErr::from)?.try_borrow_mut()?;
                (to.window, to.pacing, to.timer, to.now, to.open) =
                    (from.window, from.pacing, from.timer, from.now, from.open);
                drop(to);
                Ok(copy.unbind())
            });
            copy.map_err(|error: PyErr| {
                let (class, cause) = (self.class.class.clone(), Arc::new(Raised::new(error)));
                fault.get_or_insert(Fault { class, method: "__deepcopy__", now: Time::ZERO, cause });
            })
            .ok()
        });
        let (pacing, timer) = (self.pacing, self.timer);
        Box::new(Object { class: self.class.clone(), object, fault, rounds: self.rounds, pacing, timer })
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// What is not a number is told as NaN.
    fn observe(&self, out: &mut Vec<(&'static str, f64)>) {
        let Some(object) = self.object.as_ref().filter(|_| !self.class.states.is_empty()) else { return };
        Python::attach(|py| {
            for name in &self.class.states {
                let value = object.bind(py).getattr(*name).and_then(|value| value.extract());
                out.push((name, value.unwrap_or(f64::NAN)));
            }
        });
    }

    fn poke(&mut self, name: &str, value: f64) -> bool {
        let known = self.class.states.contains(&name);
        let Some(object) = self.object.as_ref().filter(|_| known) else { return false };
        Python::attach(|py| object.bind(py).setattr(name, value).is_ok())
    }
}

impl CongestionControl for Object {
    fn on_sent(&mut self, w: &mut Window, now: Time, bytes: u64, inflight: u64) {
        if !self.class.hooks.on_sent {
            return;
        }
        let mut after = *w;
        self.call("on_sent", now, &mut after, |py, object| {
            object.call_method1(intern!(py, "on_sent"), (now.seconds(), bytes, inflight)).map(drop)
        });
        if after != *w {
            let line = "a segment that is sent does not change cwnd or ssthresh; set them in on_ack or on_delivery";
            self.fail("on_sent", now, PyValueError::new_err(line));
        }
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.deliver(w, ack, false);
    }

    fn on_ack_in_recovery(&mut self, w: &mut Window, ack: &Ack) {
        self.deliver(w, ack, true);
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if self.class.hooks.on_ack {
            self.call("on_ack", ack.now, w, |py, object| {
                object.call_method1(intern!(py, "on_ack"), (AckView::of(ack, false),)).map(drop)
            });
        }
        if self.class.hooks.on_round
            && let Some(round) = self.rounds.advance(ack)
        {
            self.call("on_round", ack.now, w, |py, object| {
                object.call_method1(intern!(py, "on_round"), (RoundView::of(&round),)).map(drop)
            });
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let now = signal.now();
        self.rounds.restart();
        let Some(event) = CongestionView::of(signal) else { return };
        self.call("on_congestion", now, w, |py, object| {
            object.call_method1(intern!(py, "on_congestion"), (event,)).map(drop)
        });
    }

    fn on_undo(&mut self, w: &mut Window, now: Time) {
        self.rounds.restart();
        if self.class.hooks.on_undo {
            self.call("on_undo", now, w, |py, object| {
                object.call_method1(intern!(py, "on_undo"), (now.seconds(),)).map(drop)
            });
        }
    }
}

impl Pacing for Object {
    fn pacing_rate(&self, _: &Window) -> Option<f64> {
        self.pacing
    }
}

impl Timer for Object {
    fn next_timer(&self) -> Option<Time> {
        self.timer.filter(|_| self.class.hooks.on_timer)
    }

    fn on_timer(&mut self, w: &mut Window, now: Time) {
        if self.next_timer().is_none_or(|at| now < at) {
            return;
        }
        self.timer = None;
        self.call("on_timer", now, w, |py, object| {
            // It has rung; it rings again only if the class sets it again.
            object.setattr(intern!(py, "timer"), py.None())?;
            object.call_method1(intern!(py, "on_timer"), (now.seconds(),)).map(drop)
        });
    }
}
