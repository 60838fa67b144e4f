//! What a congestion control in Python sees: the base class with the window, and the events it is told.

use elephan_cc::guest::Round;
use elephan_cc::{Ack, MAX_WINDOW_BYTES, Signal, Window};
use elephan_units::{Span, Time};
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The window that a class steers, all in bytes, and what else it may ask for. The base of `elephan.CongestionControl`.
#[pyclass(module = "elephan._core", subclass)]
pub struct Guest {
    pub window: Window,
    pub pacing: Option<f64>,
    /// Absolute, in seconds.
    pub timer: Option<f64>,
    pub now: f64,
    /// The connection is there: segment size and window are known.
    pub open: bool,
}

impl Guest {
    fn opened(&self, name: &str) -> PyResult<()> {
        if self.open {
            return Ok(());
        }
        Err(PyAttributeError::new_err(format!("{name} is not known in __init__, before there is a connection")))
    }
}

fn wrong(name: &str, what: &str, value: f64) -> PyErr {
    PyValueError::new_err(format!("{name} must be {what}, not {value}"))
}

/// A size may be infinite, as `ssthresh` is at first, and below the least that is taken for it; NaN and -inf are no sizes.
fn refuse_nonsense(name: &str, bytes: f64) -> PyResult<()> {
    if bytes.is_nan() || bytes == f64::NEG_INFINITY {
        return Err(wrong(name, "a number of bytes", bytes));
    }
    Ok(())
}

#[pymethods]
impl Guest {
    #[new]
    #[pyo3(signature = (*_args, **_named))]
    fn new(_args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Guest {
        let window = Window { cwnd: 0.0, ssthresh: f64::INFINITY, mss: 0.0 };
        Guest { window, pacing: None, timer: None, now: 0.0, open: false }
    }

    /// Congestion window, bytes. Below one segment it is taken for one segment; an infinite one is the largest there is, 2^40.
    #[getter]
    fn cwnd(&self) -> PyResult<f64> {
        self.opened("cwnd").map(|()| self.window.cwnd)
    }

    #[setter]
    fn set_cwnd(&mut self, bytes: f64) -> PyResult<()> {
        self.opened("cwnd")?;
        refuse_nonsense("cwnd", bytes)?;
        self.window.cwnd = bytes.min(MAX_WINDOW_BYTES);
        Ok(())
    }

    /// Slow-start threshold, bytes; infinite before the first congestion event. Below two segments it is taken for two.
    #[getter]
    fn ssthresh(&self) -> PyResult<f64> {
        self.opened("ssthresh").map(|()| self.window.ssthresh)
    }

    #[setter]
    fn set_ssthresh(&mut self, bytes: f64) -> PyResult<()> {
        self.opened("ssthresh")?;
        refuse_nonsense("ssthresh", bytes)?;
        self.window.ssthresh = bytes;
        Ok(())
    }

    /// Payload of a full segment, bytes.
    #[getter]
    fn mss(&self) -> PyResult<f64> {
        self.opened("mss").map(|()| self.window.mss)
    }

    #[getter]
    fn in_slow_start(&self) -> PyResult<bool> {
        self.opened("in_slow_start").map(|()| self.window.in_slow_start())
    }

    /// bit/s of payload, without headers, or None: not paced.
    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        self.pacing
    }

    #[setter]
    fn set_pacing_rate(&mut self, rate: Option<f64>) -> PyResult<()> {
        match rate {
            Some(rate) if !(rate > 0.0 && rate.is_finite()) => {
                Err(wrong("pacing_rate", "None or a positive number of bit/s", rate))
            }
            _ => {
                self.pacing = rate;
                Ok(())
            }
        }
    }

    /// When `on_timer` is to be called, in seconds of simulated time, or None.
    #[getter]
    fn timer(&self) -> Option<f64> {
        self.timer
    }

    #[setter]
    fn set_timer(&mut self, at: Option<f64>) -> PyResult<()> {
        match at {
            Some(at) if !(at > self.now && at.is_finite()) => {
                Err(wrong("timer", &format!("None or a time after now, {} s", self.now), at))
            }
            _ => {
                self.timer = at;
                Ok(())
            }
        }
    }

    /// Seconds of simulated time.
    #[getter]
    fn now(&self) -> f64 {
        self.now
    }
}

fn seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::seconds)
}

/// A rate that can be: a sample over no time says nothing.
fn rate(bps: Option<f64>) -> Option<f64> {
    const RATE_MAX_BPS: f64 = 1e18;
    bps.filter(|bps| *bps > 0.0 && *bps < RATE_MAX_BPS)
}

/// An acknowledgement of new data. Times are seconds, sizes bytes, rates bit/s.
#[pyclass(module = "elephan._core", name = "Ack", frozen, get_all)]
pub struct AckView {
    now: f64,
    acked: u64,
    rtt: Option<f64>,
    inflight: u64,
    ce: u64,
    app_limited: bool,
    delivered: u64,
    rate: Option<f64>,
    min_rtt: Option<f64>,
    srtt: Option<f64>,
    in_recovery: bool,
}

impl AckView {
    pub fn of(ack: &Ack, in_recovery: bool) -> AckView {
        AckView {
            now: ack.now.seconds(),
            acked: ack.acked,
            rtt: seconds(ack.rtt),
            inflight: ack.inflight,
            ce: ack.ce,
            app_limited: ack.app_limited,
            delivered: ack.delivered,
            rate: rate(ack.rate_bps),
            min_rtt: seconds(ack.min_rtt),
            srtt: seconds(ack.srtt),
            in_recovery,
        }
    }
}

/// The sums of one round trip. Times are seconds, sizes bytes, rates bit/s.
#[pyclass(module = "elephan._core", name = "Round", frozen, get_all)]
pub struct RoundView {
    now: f64,
    duration: f64,
    acks: u32,
    acked: u64,
    ce: u64,
    samples: u32,
    rtt: Option<f64>,
    rtt_min: Option<f64>,
    rtt_max: Option<f64>,
    inflight: u64,
    app_limited: bool,
    delivered: u64,
    rate: Option<f64>,
    min_rtt: Option<f64>,
    srtt: Option<f64>,
}

impl RoundView {
    pub fn of(round: &Round) -> RoundView {
        let last = &round.last;
        RoundView {
            now: last.now.seconds(),
            duration: last.now.since(round.began).seconds(),
            acks: round.acks,
            acked: round.acked,
            ce: round.ce,
            samples: round.samples,
            rtt: seconds(round.rtt_mean()),
            rtt_min: seconds(round.rtt_min),
            rtt_max: seconds(round.rtt_max),
            inflight: last.inflight,
            app_limited: round.app_limited,
            delivered: last.delivered,
            rate: rate(round.rate_bps),
            min_rtt: seconds(last.min_rtt),
            srtt: seconds(last.srtt),
        }
    }
}

/// A congestion event. Times are seconds, sizes bytes.
#[pyclass(module = "elephan._core", name = "Congestion", frozen, get_all)]
pub struct CongestionView {
    kind: &'static str,
    now: f64,
    lost: u64,
    inflight: u64,
}

impl CongestionView {
    /// None for what is undone, which is not an event.
    pub fn of(signal: &Signal) -> Option<CongestionView> {
        let (kind, lost) = match *signal {
            Signal::Loss { lost, .. } => ("loss", lost),
            Signal::Ecn { .. } => ("ecn", 0),
            Signal::Rto { .. } => ("rto", 0),
            Signal::LocalDrop { .. } => ("local_drop", 0),
            Signal::Undo { .. } => return None,
        };
        let now: Time = signal.now();
        Some(CongestionView { kind, now: now.seconds(), lost, inflight: signal.inflight() })
    }
}
