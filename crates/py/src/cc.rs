//! A congestion control without a network: the stepping class behind `elephan.cc.new`.

use elephan_cc::fuzz::{self, Rules};
use elephan_cc::rdma::{Hop, Progress, Telemetry};
use elephan_cc::train::{Arrival, Departure, Memory, Start};
use elephan_cc::{Ack, Controller, Nic, Signal, Spec, slow_start};
use elephan_units::{Span, Time};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::errors::{ScenarioError, guard, guard_long, scenario_error};
use crate::guest;
use crate::json;
use crate::number;

/// A congestion control, stepped by hand. Times are seconds, sizes bytes, rates bit/s.
#[pyclass(module = "elephan._core")]
pub struct Cc {
    controller: Controller,
    delivered: u64,
    /// Sum of what `on_loss` and `on_ack` have told, and what of it `on_loss` has told since the last `on_ack`.
    lost: u64,
    lost_before: u64,
    min_rtt: Option<Span>,
    /// Of the last call.
    last: Time,
}

#[pymethods]
impl Cc {
    #[new]
    #[pyo3(signature = (kind, mss=1448, initial_window=10.0, *, slow_start=None, abc_limit=None, **params))]
    fn new(
        kind: &Bound<'_, PyAny>,
        mss: u64,
        initial_window: f64,
        slow_start: Option<&Bound<'_, PyDict>>,
        abc_limit: Option<f64>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Cc> {
        if mss == 0 {
            return Err(ScenarioError::new_err("mss must be at least 1 byte"));
        }
        // A window below one segment is none; not a number is for the next line to say.
        if initial_window < 1.0 {
            return Err(ScenarioError::new_err(format!(
                "initial_window must be at least 1 segment, not {initial_window}"
            )));
        }
        let window = number::bytes("initial_window", initial_window * mss as f64)?;
        if let Some(limit) = abc_limit.filter(|limit| !(limit.is_finite() && *limit >= 1.0)) {
            return Err(ScenarioError::new_err(format!("abc_limit must be at least 1 segment, not {limit}")));
        }
        let table = params.map(json::table).transpose()?.unwrap_or_default();
        let begins = slow_start.map(json::table).transpose()?;
        guard(|| {
            let spec = guest::congestion_control(kind, &table)?;
            let begins = begins.map_or(Ok(slow_start::Spec::default()), |words| {
                serde_json::from_value(Value::Object(words))
                    .map_err(|error| ScenarioError::new_err(format!("slow_start: {error}")))
            })?;
            let controller = Controller::with_slow_start(&spec, &begins, abc_limit, mss, window);
            guest::raise(&controller)?;
            Ok(Cc { controller, delivered: 0, lost: 0, lost_before: 0, min_rtt: None, last: Time::ZERO })
        })
    }

    /// The name of the controller, or of the class.
    #[getter]
    fn name(&self) -> &str {
        self.controller.name()
    }

    /// `bytes` are sent while `inflight` bytes are in flight before them.
    fn on_sent(&mut self, now: f64, bytes: f64, inflight: f64) -> PyResult<()> {
        let (sent, inflight) = (number::bytes("bytes", bytes)?, number::bytes("inflight", inflight)?);
        let now = number::later(&mut self.last, now)?;
        self.step(|controller| controller.on_sent(now, sent, inflight))
    }

    /// `acked` bytes are newly acknowledged, outside fast recovery; `inflight` is counted before. `delivered` is
    /// cumulative and by default the sum of `acked`; the smallest round-trip time is kept from the calls. `prior_delivered` is what
    /// `delivered` was when the newest segment of those was sent. `newly_lost` bytes are lost by what this ACK shows, those included
    /// that `on_loss` has told since the ACK before. `one_way` is the delay of the way there, by clocks of which only differences say
    /// something, for controllers that go by it.
    #[pyo3(signature = (now, acked, rtt, inflight, ce=0.0, app_limited=false, delivered=None, rate=None, *, prior_delivered=None,
        newly_lost=0.0, one_way=None))]
    #[expect(clippy::too_many_arguments, reason = "the stepping interface names each quantity")]
    fn on_ack(
        &mut self,
        now: f64,
        acked: f64,
        rtt: Option<f64>,
        inflight: f64,
        ce: f64,
        app_limited: bool,
        delivered: Option<f64>,
        rate: Option<f64>,
        prior_delivered: Option<f64>,
        newly_lost: f64,
        one_way: Option<f64>,
    ) -> PyResult<()> {
        let rtt = rtt.map(|rtt| number::span("rtt", rtt)).transpose()?;
        let acked = number::bytes("acked", acked)?;
        let sum = self.delivered.saturating_add(acked);
        let delivered = delivered.map(|bytes| number::bytes("delivered", bytes)).transpose()?.unwrap_or(sum);
        let min_rtt = [self.min_rtt, rtt].into_iter().flatten().min();
        let (inflight, ce) = (number::bytes("inflight", inflight)?, number::bytes("ce", ce)?);
        let prior_delivered = prior_delivered.map(|bytes| number::bytes("prior_delivered", bytes)).transpose()?;
        let newly_lost = number::bytes("newly_lost", newly_lost)?;
        let rate_bps = rate.map(|rate| number::rate("rate", rate)).transpose()?;
        let one_way = one_way.map(|delay| number::span("one_way", delay)).transpose()?;
        let lost = self.lost.saturating_add(newly_lost.saturating_sub(self.lost_before));
        let ack = Ack {
            now: number::later(&mut self.last, now)?,
            acked,
            rtt,
            inflight,
            outstanding: None,
            ce,
            app_limited,
            delivered,
            rate_bps,
            rate_app_limited: app_limited,
            prior_delivered,
            min_rtt,
            srtt: None,
            lost,
            newly_lost,
            // How they lay is not told: each segment for itself.
            lost_ranges: lost.div_ceil(self.controller.mss() as u64) as u16,
        };
        (self.delivered, self.min_rtt, self.lost, self.lost_before) = (delivered, min_rtt, lost, 0);
        self.step(|controller| {
            if let Some(delay) = one_way {
                controller.on_one_way_delay(delay);
            }
            controller.on_ack(&ack);
        })
    }

    /// One whole congestion event: afterwards `cwnd` is the value after recovery.
    fn on_loss(&mut self, now: f64, lost: f64, inflight: f64) -> PyResult<()> {
        let (lost, inflight) = (number::bytes("lost", lost)?, number::bytes("inflight", inflight)?);
        let now = number::later(&mut self.last, now)?;
        self.lost = self.lost.saturating_add(lost);
        self.lost_before = self.lost_before.saturating_add(lost);
        self.signal(Signal::Loss { now, lost, inflight })
    }

    /// An ECN-Echo.
    fn on_ecn(&mut self, now: f64, inflight: f64) -> PyResult<()> {
        let (inflight, now) = (number::bytes("inflight", inflight)?, number::later(&mut self.last, now)?);
        self.signal(Signal::Ecn { now, inflight })
    }

    /// The retransmission timer expired.
    fn on_rto(&mut self, now: f64, inflight: f64) -> PyResult<()> {
        let (inflight, now) = (number::bytes("inflight", inflight)?, number::later(&mut self.last, now)?);
        self.signal(Signal::Rto { now, inflight })
    }

    /// The host's own transmit queue refused a segment.
    fn on_local_drop(&mut self, now: f64, inflight: f64) -> PyResult<()> {
        let (inflight, now) = (number::bytes("inflight", inflight)?, number::later(&mut self.last, now)?);
        self.signal(Signal::LocalDrop { now, inflight })
    }

    /// The interface of the sender: its rate and the base round-trip time of its path. For controllers of RoCE and `pcp`.
    fn nic(&mut self, rate: f64, base_rtt: f64) -> PyResult<()> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(ScenarioError::new_err(format!("rate must be above 0 bit/s, not {rate}")));
        }
        let nic = Nic { rate_bps: rate, base_rtt: number::span("base_rtt", base_rtt)? };
        self.step(|controller| controller.on_nic(&nic))
    }

    /// The receiver has notified of a marked packet (CNP).
    fn on_cnp(&mut self, now: f64) -> PyResult<()> {
        let now = number::later(&mut self.last, now)?;
        self.step(|controller| controller.on_notification(now))
    }

    /// An ACK has brought what its packet met at the ports of its way, `(tx_bytes, queue_bytes, time, rate)` each; `acked` bytes of
    /// the stream are acknowledged with it, `sent` are sent. To be told before its `on_ack`.
    fn on_telemetry(&mut self, hops: Vec<(f64, f64, f64, f64)>, acked: f64, sent: f64) -> PyResult<()> {
        let mut telemetry = Telemetry::default();
        for (tx_bytes, queue_bytes, at, rate_bps) in hops {
            if !(rate_bps.is_finite() && rate_bps > 0.0) {
                return Err(ScenarioError::new_err(format!("the rate of a hop must be above 0 bit/s, not {rate_bps}")));
            }
            let (tx_bytes, at) = (number::bytes("tx_bytes", tx_bytes)?, number::time("time", at)?);
            telemetry.push(Hop {
                port: telemetry.hops().len() as u32,
                tx_bytes,
                queue_bytes: number::bytes("queue_bytes", queue_bytes)?,
                at,
                rate_bps,
            });
        }
        let progress = Progress { acked: number::bytes("acked", acked)?, sent: number::bytes("sent", sent)? };
        self.step(|controller| controller.on_telemetry(&telemetry, progress))
    }

    /// Recovery is over: all that had been sent at the last `on_loss` or `on_rto` is acknowledged. To be told before the ACK that
    /// ends it; BBR then returns to its window of before, other controllers do nothing.
    fn on_recovered(&mut self) -> PyResult<()> {
        self.step(Controller::on_recovered)
    }

    /// The last congestion event was spurious.
    fn on_undo(&mut self, now: f64) -> PyResult<()> {
        let now = number::later(&mut self.last, now)?;
        self.signal(Signal::Undo { now })
    }

    /// The connection begins: for controllers that probe. `rtt` is that of the handshake, `packet` a full packet with its headers.
    #[pyo3(signature = (now, rtt=None, packet=None))]
    fn begin(&mut self, now: f64, rtt: Option<f64>, packet: Option<f64>) -> PyResult<()> {
        let headers = 40.0;
        let rtt = rtt.map(|rtt| number::span("rtt", rtt)).transpose()?;
        let packet_bytes = number::bytes("packet", packet.unwrap_or(self.controller.mss() + headers))?;
        let start = Start {
            now: number::later(&mut self.last, now)?,
            rtt,
            packet_bytes,
            takes_over: false,
            accurate_ecn: true,
        };
        self.step(|controller| controller.begin(&start))
    }

    /// The train of packets that the controller wants sent now, when `segments` of new data are there, or None.
    fn next_train<'py>(&mut self, py: Python<'py>, now: f64, segments: u64) -> PyResult<Option<Bound<'py, PyDict>>> {
        let now = number::later(&mut self.last, now)?;
        let Some(train) = guard(|| Ok(self.controller.next_train(now, segments)))? else { return Ok(None) };
        let out = PyDict::new(py);
        out.set_item("id", train.id)?;
        out.set_item("packets", train.packets)?;
        out.set_item("gap", train.gap.seconds())?;
        Ok(Some(out))
    }

    /// Of the last train only `packets` could be sent.
    fn on_train_cut(&mut self, now: f64, packets: u32) -> PyResult<()> {
        let now = number::later(&mut self.last, now)?;
        self.step(|controller| controller.on_train_cut(now, packets))
    }

    /// A packet that `left` has come at `came`, by the receiver's clock; until it left, `bases` packets outside trains and
    /// `sent` of the last train, number `train`, had been sent, itself included, and it is one of the train if `in_train`.
    #[pyo3(signature = (now, left, came, train=0, sent=0, in_train=false, bases=0))]
    #[expect(clippy::too_many_arguments, reason = "the stepping interface names each quantity")]
    fn on_arrival(
        &mut self,
        now: f64,
        left: f64,
        came: f64,
        train: u32,
        sent: u32,
        in_train: bool,
        bases: u32,
    ) -> PyResult<()> {
        let (left, came) = (number::time("left", left)?, number::time("came", came)?);
        let now = number::later(&mut self.last, now)?;
        let departure = Departure { at: left, bases, train, sent, in_train };
        self.step(|controller| controller.on_arrival(now, &Arrival { departure, at: came }))
    }

    /// What the controller draws by chance, it draws from here.
    fn set_seed(&mut self, seed: u64) {
        self.controller.set_seed(seed);
    }

    /// What the controller leaves for the next connection to the same destination, or None: `rate` in bit/s and `trust`.
    fn remember<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(memory) = self.controller.remember() else { return Ok(None) };
        let out = PyDict::new(py);
        out.set_item("rate", memory.rate_bps)?;
        out.set_item("trust", memory.trust)?;
        Ok(Some(out))
    }

    /// What the last connection to the same destination has left; to be told before `begin`.
    #[pyo3(signature = (rate, trust=1.0))]
    fn recall(&mut self, rate: f64, trust: f64) -> PyResult<()> {
        if !(rate.is_finite() && rate > 0.0 && trust > 0.0 && trust <= 1.0) {
            return Err(ScenarioError::new_err(format!(
                "rate must be above 0 and trust above 0 and at most 1, not {rate} and {trust}"
            )));
        }
        self.step(|controller| controller.recall(&Memory { rate_bps: rate, trust }))
    }

    /// When the controller wants `on_timer`, or None.
    fn next_timer(&self) -> Option<f64> {
        self.controller.next_timer().map(|at| at.seconds())
    }

    fn on_timer(&mut self, now: f64) -> PyResult<()> {
        let now = number::later(&mut self.last, now)?;
        self.step(|controller| controller.on_timer(now))
    }

    /// Congestion window, bytes.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.controller.window()
    }

    /// Slow-start threshold, bytes; infinite before the first congestion event.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.controller.ssthresh()
    }

    /// bit/s, or None when the controller does not pace.
    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        self.controller.pacing_rate()
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.controller.in_slow_start()
    }

    /// The controller's internals by name.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = PyDict::new(py);
        for (name, value) in guard(|| Ok(self.controller.observe()))? {
            state.set_item(name, value)?;
        }
        Ok(state)
    }

    /// Sets `cwnd`, `ssthresh` or internals by name; for tests.
    #[pyo3(signature = (**values))]
    fn poke(&mut self, values: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        for (name, value) in values.into_iter().flatten() {
            let name: String =
                name.extract().map_err(|_| ScenarioError::new_err("poke: the name of a value is a text"))?;
            let value = number::real(&name, &value, "its unit")?;
            if !guard(|| Ok(self.controller.poke(&name, value)))? {
                let kind = self.controller.name();
                return Err(ScenarioError::new_err(format!("{kind} has no value `{name}` that can be set to {value}")));
            }
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        let (cwnd, ssthresh) = (self.controller.window(), self.controller.ssthresh());
        format!("<{} cwnd={cwnd:.1} B ssthresh={ssthresh:.1} B>", self.controller.name())
    }
}

impl Cc {
    fn signal(&mut self, signal: Signal) -> PyResult<()> {
        self.step(|controller| controller.on_congestion(&signal))
    }

    fn step(&mut self, body: impl FnOnce(&mut Controller)) -> PyResult<()> {
        guard(|| {
            body(&mut self.controller);
            Ok(())
        })?;
        guest::raise(&self.controller)
    }
}

/// Puts a built-in congestion control, named by a table with `kind`, through drawn stories as `check_guest` does a guest. None, or the
/// failure as text, with None for what it raised.
#[pyfunction]
pub fn check_built_in(
    py: Python<'_>,
    words: &Bound<'_, PyDict>,
    seed: u64,
    cases: u32,
    acks: u64,
) -> PyResult<Option<(String, Option<Py<PyAny>>)>> {
    let spec: Spec = serde_json::from_value(Value::Object(json::table(words)?)).map_err(scenario_error)?;
    let rules = Rules::of(&spec);
    let make = |slow: &slow_start::Spec| Controller::with_slow_start(&spec, slow, Some(2.0), fuzz::MSS, fuzz::INITIAL);
    let outcome = py.detach(|| guard_long(None, || Ok(fuzz::all(&make, &rules, seed, cases, acks))))?;
    Ok(outcome.err().map(|failure| (failure.to_string(), None)))
}
