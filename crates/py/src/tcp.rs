//! One end of a connection without a network: the stepping class behind `elephan.tcp.Endpoint`.

use std::sync::Arc;

use elephan_tcp::{
    AccEcnOption, Cookie, Endpoint, FastOpenListener, FastOpenMemory, FastOpenOption, FastOpenRequest, Flags,
    HEADER_AE, OPTION_SACK_PERMITTED, OPTION_TIMESTAMPS, OPTION_WINDOW_SCALE, SackBlocks, Segment,
};
use elephan_units::Time;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::errors::{ScenarioError, guard, scenario_errors};
use crate::guest::{self, Loader};
use crate::{json, number};

/// Keys of a segment; those of a SYN come last.
const KEYS: [&str; 13] = [
    "seq",
    "ack",
    "len",
    "flags",
    "window",
    "sack",
    "ts",
    "ecn",
    "accecn",
    "mss",
    "wscale",
    "sack_permitted",
    "fast_open",
];
/// Those of the header's second byte; AE is the lowest bit of the first.
const FLAGS: [(&str, Flags); 8] = [
    ("FIN", Flags::FIN),
    ("SYN", Flags::SYN),
    ("RST", Flags::RST),
    ("PSH", Flags::PSH),
    ("ACK", Flags::ACK),
    ("URG", Flags::URG),
    ("ECE", Flags::ECE),
    ("CWR", Flags::CWR),
];
const AE: &str = "AE";
const AE_BIT: u16 = 0x100;
/// Counters of the AccECN option (RFC 9768 section 3.2.3), by the codepoint that they count, from ECT(1) on.
const COUNTERS: [&str; 3] = ["e1b", "e0b", "ceb"];
const COUNTER_MAX: u32 = (1 << 24) - 1;
/// RFC 7323 section 2.3.
const WSCALE_MAX: u64 = 14;

/// One end of a connection, stepped by hand. Times are seconds, sizes bytes.
#[pyclass(module = "elephan._core")]
pub struct TcpEndpoint {
    endpoint: Endpoint,
    now: Time,
    stack: String,
    /// What the last `poll_transmit` returned, as far as the host has not refused it.
    sent: Vec<Segment>,
}

#[pymethods]
impl TcpEndpoint {
    #[new]
    #[pyo3(signature = (stack="rfc", isn=0, auto_read=false, **options))]
    fn new(stack: &str, isn: u32, auto_read: bool, options: Option<&Bound<'_, PyDict>>) -> PyResult<TcpEndpoint> {
        let table = options.map(json::table).transpose()?.unwrap_or_default();
        guard(|| {
            let mut options = elephan_scenario::tcp_options("Endpoint", stack, table).map_err(scenario_errors)?;
            guest::bind(&mut options.congestion_control, &Loader::of_caller())?;
            let options = Arc::new(options);
            let mut endpoint = Endpoint::new(&options, options.controller(), isn);
            endpoint.set_auto_read(auto_read);
            endpoint.keep_times();
            guest::raise(endpoint.controller())?;
            Ok(TcpEndpoint { endpoint, now: Time::ZERO, stack: stack.to_owned(), sent: Vec::new() })
        })
    }

    /// Active open. `fast_open`: with what has been written so far in the SYN, if there is a `cookie`; without one it is asked for.
    #[pyo3(signature = (now, fast_open=false, cookie=None, mss=None))]
    fn connect(
        &mut self,
        now: f64,
        fast_open: bool,
        cookie: Option<&Bound<'_, PyAny>>,
        mss: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let cookie = cookie.map(self::cookie).transpose()?;
        let mss = mss.map_or(Ok(0), |mss| number::whole("mss", mss, u64::from(u16::MAX)))? as u16;
        if !fast_open && cookie.is_some() {
            return Err(ScenarioError::new_err("a cookie is for fast_open=True"));
        }
        let memory = cookie.map_or_else(FastOpenMemory::default, |cookie| FastOpenMemory::of(mss, cookie));
        let request = FastOpenRequest { memory, ..FastOpenRequest::default() };
        self.step(now, |endpoint, now| match fast_open {
            true => endpoint.connect_fast(now, &request),
            false => endpoint.connect(now),
        })
    }

    /// Passive open; with a `cookie` it is granted to who asks, and a SYN that carries it may carry data.
    #[pyo3(signature = (now, cookie=None))]
    fn listen(&mut self, now: f64, cookie: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let cookie = cookie.map(self::cookie).transpose()?;
        self.step(now, |endpoint, _| match cookie {
            Some(cookie) => {
                endpoint.listen_fast(&FastOpenListener { cookies: [Some(cookie), None], cookieless: false });
            }
            None => endpoint.listen(),
        })
    }

    /// The application writes `n` bytes; returns how many the send buffer took. `more`: more follows at once (MSG_MORE); `eor`:
    /// they end a record (MSG_EOR).
    #[pyo3(signature = (now, n, more=false, eor=false))]
    fn write(&mut self, now: f64, n: f64, more: bool, eor: bool) -> PyResult<u64> {
        let n = number::bytes("n", n)?;
        self.step(now, |endpoint, now| {
            let taken = endpoint.write(now, n);
            endpoint.set_more(more);
            if eor && taken == n {
                endpoint.end_record();
            }
            taken
        })
    }

    /// The application reads up to `n` bytes; returns how many there were.
    fn read(&mut self, n: f64) -> PyResult<u64> {
        let (n, now) = (number::bytes("n", n)?, self.now);
        guard(|| Ok(self.endpoint.read(now, n)))
    }

    /// The application has no more to send: a FIN follows the data.
    fn close(&mut self, now: f64) -> PyResult<()> {
        self.step(now, |endpoint, now| endpoint.close(now))
    }

    /// Gives up at once: a reset goes out if the peer knows of the connection.
    fn abort(&mut self, now: f64) -> PyResult<()> {
        self.step(now, |endpoint, now| endpoint.abort(now))
    }

    /// The host's own queue refused a segment of the last `poll_transmit`.
    fn on_local_drop(&mut self, now: f64, seg: &Bound<'_, PyDict>) -> PyResult<()> {
        let (seg, _) = segment(seg)?;
        let same = |sent: &Segment| (sent.seq, sent.len, sent.flags) == (seg.seq, seg.len, seg.flags);
        let place = self.sent.iter().position(same).ok_or_else(|| {
            ScenarioError::new_err("on_local_drop: seg is none of the segments of the last poll_transmit")
        })?;
        self.step(now, |endpoint, now| endpoint.on_local_drop(now, &seg))?;
        self.sent.remove(place);
        Ok(())
    }

    /// Changes what an application may change while the connection lives.
    #[pyo3(signature = (now, nodelay=None, cork=None, send_buffer=None, receive_buffer=None, congestion_control=None))]
    fn set(
        &mut self,
        now: f64,
        nodelay: Option<bool>,
        cork: Option<bool>,
        send_buffer: Option<f64>,
        receive_buffer: Option<f64>,
        congestion_control: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let buffer = |name: &str, given: Option<f64>| match given.map(|bytes| number::bytes(name, bytes)).transpose()? {
            Some(0) => Err(ScenarioError::new_err(format!("{name} must be at least 1 byte, not 0"))),
            bytes => Ok(bytes),
        };
        let (send, receive) = (buffer("send_buffer", send_buffer)?, buffer("receive_buffer", receive_buffer)?);
        let congestion_control = congestion_control.map(|given| self.congestion_control(given)).transpose()?;
        self.step(now, |endpoint, now| {
            if let Some(on) = nodelay {
                endpoint.set_nodelay(now, on);
            }
            if let Some(on) = cork {
                endpoint.set_cork(now, on);
            }
            if let Some(bytes) = send {
                endpoint.set_send_buffer(bytes);
            }
            if let Some(bytes) = receive {
                endpoint.set_receive_buffer(bytes);
            }
            if let Some(congestion_control) = &congestion_control {
                endpoint.switch_congestion_control(now, congestion_control);
                endpoint.begin_switched_controller(now);
            }
        })
    }

    /// A snapshot with the names and units of Linux's `tcp_info`.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (info, out) = (self.endpoint.info(self.now), PyDict::new(py));
        out.set_item("state", info.state.name())?;
        out.set_item("ca_state", info.ca_state.name())?;
        for (name, value) in info.named() {
            out.set_item(name, value)?;
        }
        Ok(out)
    }

    /// The snapshot as a line of `ss -i`.
    fn ss(&self) -> String {
        self.endpoint.info(self.now).ss(self.endpoint.controller().name())
    }

    /// A segment has arrived.
    fn on_segment(&mut self, now: f64, seg: &Bound<'_, PyDict>) -> PyResult<()> {
        let (seg, sack) = segment(seg)?;
        self.step(now, |endpoint, now| endpoint.on_segment(now, &seg, &sack))
    }

    /// Does what is due at `now`; too early a call does nothing.
    fn on_timer(&mut self, now: f64) -> PyResult<()> {
        self.step(now, |endpoint, now| endpoint.on_timer(now))
    }

    /// The segments to be sent at `now`.
    fn poll_transmit<'py>(&mut self, py: Python<'py>, now: f64) -> PyResult<Bound<'py, PyList>> {
        let mut out = Vec::new();
        self.step(now, |endpoint, now| {
            let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
            while endpoint.poll_transmit(now, &mut seg, &mut sack) {
                out.push((seg, sack));
            }
        })?;
        self.sent = out.iter().map(|(seg, _)| *seg).collect();
        let out: Vec<Bound<'py, PyDict>> =
            out.iter().map(|(seg, sack)| dict(py, seg, sack)).collect::<PyResult<_>>()?;
        PyList::new(py, out)
    }

    /// When `on_timer` is due, seconds, or None.
    fn next_timer(&self) -> Option<f64> {
        let at = self.endpoint.next_timer();
        (at != Time::NEVER).then(|| at.seconds())
    }

    /// State of RFC 9293 section 3.3.2, such as `syn_sent`.
    #[getter]
    fn state(&self) -> &'static str {
        self.endpoint.state().name()
    }

    /// What the sender is doing, such as `slow_start`.
    #[getter]
    fn phase(&self) -> &'static str {
        self.endpoint.phase().name()
    }

    #[getter]
    fn cwnd(&self) -> f64 {
        self.endpoint.controller().window()
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.endpoint.controller().ssthresh()
    }

    /// bit/s, or None when the controller does not pace.
    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        self.endpoint.controller().pacing_rate()
    }

    /// FlightSize (RFC 5681): bytes sent and not acknowledged cumulatively.
    #[getter]
    fn inflight(&self) -> u64 {
        self.endpoint.inflight()
    }

    /// Bytes believed to be in the network (RFC 6675).
    #[getter]
    fn pipe(&self) -> u64 {
        self.endpoint.pipe()
    }

    /// Payload bytes that the peer has acknowledged.
    #[getter]
    fn acked(&self) -> u64 {
        self.endpoint.acked()
    }

    /// Payload bytes received in order and read.
    #[getter]
    fn received(&self) -> u64 {
        self.endpoint.received()
    }

    /// Payload of a full segment, bytes.
    #[getter]
    fn mss(&self) -> u64 {
        self.endpoint.mss()
    }

    /// Seconds, or None before the first sample.
    #[getter]
    fn srtt(&self) -> Option<f64> {
        self.endpoint.srtt().map(|span| span.seconds())
    }

    /// Seconds, back-off included.
    #[getter]
    fn rto(&self) -> f64 {
        self.endpoint.rto().seconds()
    }

    /// The statistics of RFC 4898 as of the last call.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = PyDict::new(py);
        for (name, value) in self.endpoint.stats(self.now).named() {
            stats.set_item(name, value)?;
        }
        Ok(stats)
    }

    fn __repr__(&self) -> String {
        format!("<TCP endpoint {} cwnd={:.1} B inflight={} B>", self.state(), self.cwnd(), self.inflight())
    }
}

impl TcpEndpoint {
    /// A congestion control as a scenario writes it, with the presets of the stack.
    fn congestion_control(&self, given: &Bound<'_, PyAny>) -> PyResult<elephan_cc::Spec> {
        let table = PyDict::new(given.py());
        table.set_item("congestion_control", given)?;
        let options = elephan_scenario::tcp_options("Endpoint.set", &self.stack, json::table(&table)?);
        Ok(options.map_err(scenario_errors)?.congestion_control)
    }

    /// A call at `now`, which never goes back.
    fn step<T>(&mut self, now: f64, body: impl FnOnce(&mut Endpoint, Time) -> T) -> PyResult<T> {
        let at = number::later(&mut self.now, now)?;
        let given = guard(|| Ok(body(&mut self.endpoint, at)))?;
        guest::raise(self.endpoint.controller())?;
        Ok(given)
    }
}

fn wrong(key: &str, what: &str, given: &Bound<'_, PyAny>) -> PyErr {
    ScenarioError::new_err(format!("segment: {key} is {what}, not {}", number::shown(given)))
}

/// A hint for an unknown name, as everywhere in the package.
fn nearest(py: Python<'_>, name: &str, known: &[&str]) -> PyResult<String> {
    py.import("elephan.base.errors")?.call_method1("nearest", (name, known.to_vec()))?.extract()
}

fn whole(key: &str, value: &Bound<'_, PyAny>, most: u64) -> PyResult<u64> {
    number::whole_up_to(value, most).ok_or_else(|| wrong(key, &format!("a whole number from 0 to {most}"), value))
}

fn word(key: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole(key, value, u64::from(u32::MAX)).map(|number| number as u32)
}

/// Two sequence numbers or timestamps.
fn pair(key: &str, value: &Bound<'_, PyAny>) -> PyResult<(u32, u32)> {
    let both: (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        match value.extract::<Vec<Bound<'_, PyAny>>>().map(<[_; 2]>::try_from) {
            Ok(Ok([first, second])) => (first, second),
            _ => return Err(wrong(key, "a pair of whole numbers", value)),
        };
    Ok((word(key, &both.0)?, word(key, &both.1)?))
}

/// `"SYN|ACK"`, a list of names, or the bits of the wire; and whether AE is among them.
fn flags(value: &Bound<'_, PyAny>) -> PyResult<(Flags, bool)> {
    if let Ok(bits) = value.extract::<u16>()
        && bits < 2 * AE_BIT
    {
        return Ok((Flags(bits as u8), bits & AE_BIT != 0));
    }
    let names: Vec<String> = match value.cast::<PyString>() {
        Ok(text) => text.to_str()?.split(['|', ',', '+', ' ']).filter(|n| !n.is_empty()).map(str::to_owned).collect(),
        Err(_) => value
            .try_iter()
            .and_then(|items| items.map(|item| item?.extract::<String>()).collect())
            .map_err(|_| wrong("flags", "a text such as \"SYN|ACK\", a list of names or a number", value))?,
    };
    let (mut out, mut accurate) = (Flags::NONE, false);
    for name in names {
        if name.eq_ignore_ascii_case(AE) {
            accurate = true;
            continue;
        }
        match FLAGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some((_, bit)) => out |= *bit,
            None => {
                let mut known = vec![AE];
                known.extend(FLAGS.map(|(known, _)| known));
                let hint = nearest(value.py(), &name.to_uppercase(), &known)?;
                return Err(ScenarioError::new_err(format!("segment: no flag \"{name}\"{hint}")));
            }
        }
    }
    Ok((out, accurate))
}

/// A Fast Open cookie.
fn cookie(value: &Bound<'_, PyAny>) -> PyResult<Cookie> {
    let bytes: Option<Vec<u8>> = value.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes().to_vec());
    bytes
        .and_then(|bytes| Cookie::new(&bytes))
        .ok_or_else(|| wrong("cookie", "bytes, 4 to 16 of them and an even number", value))
}

/// An AccECN option: its order, and its counters from the first on.
fn accecn(value: &Bound<'_, PyAny>) -> PyResult<AccEcnOption> {
    let expected = format!(
        "a dict of order (0 or 1) and counters from 0 to {COUNTER_MAX}: e0b, ceb, e1b in order 0, e1b, ceb, e0b in order 1, \
         the last of which may be absent"
    );
    let refused = || wrong("accecn", &expected, value);
    let Ok(given) = value.cast::<PyDict>() else { return Err(refused()) };
    let order = match given.get_item("order")? {
        Some(order) => order.extract::<u8>().ok().filter(|order| *order < 2).ok_or_else(refused)?,
        None => 0,
    };
    let mut option = AccEcnOption { order1: order == 1, count: 0, fields: [0; 3] };
    for ecn in AccEcnOption::codepoints(option.order1) {
        let Some(counter) = given.get_item(COUNTERS[usize::from(ecn) - 1])? else { break };
        let counter = counter.extract::<u32>().ok().filter(|counter| *counter <= COUNTER_MAX).ok_or_else(refused)?;
        option.fields[usize::from(option.count)] = counter;
        option.count += 1;
    }
    let known = usize::from(option.count) + usize::from(given.contains("order")?);
    if given.len() == known { Ok(option) } else { Err(refused()) }
}

/// An AccECN option as [`accecn`] reads it.
fn accecn_dict<'py>(py: Python<'py>, option: &AccEcnOption) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("order", u8::from(option.order1))?;
    for (ecn, counter) in option.counters() {
        out.set_item(COUNTERS[usize::from(ecn) - 1], counter)?;
    }
    Ok(out)
}

fn sack_blocks(value: &Bound<'_, PyAny>, seg: &mut Segment, sack: &mut SackBlocks) -> PyResult<()> {
    let blocks: Vec<Bound<'_, PyAny>> =
        value.extract().map_err(|_| wrong("sack", "a list of pairs (left, right)", value))?;
    if blocks.len() > sack.len() {
        return Err(wrong("sack", "a list of at most four pairs", value));
    }
    for (slot, block) in sack.iter_mut().zip(&blocks) {
        *slot = pair("sack", block)?;
    }
    seg.sack_len = blocks.len() as u8;
    Ok(())
}

/// A segment from a dict; what is absent is zero or none.
fn segment(given: &Bound<'_, PyDict>) -> PyResult<(Segment, SackBlocks)> {
    let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
    let (mut counters, mut option) = (None, None);
    for (key, value) in given {
        let key: String = key.extract().map_err(|_| ScenarioError::new_err("segment: a key is a text"))?;
        if !KEYS.contains(&key.as_str()) {
            let hint = nearest(given.py(), &key, &KEYS)?;
            return Err(ScenarioError::new_err(format!("segment: unknown key \"{key}\"{hint}")));
        }
        if value.is_none() {
            continue;
        }
        match key.as_str() {
            "seq" => seg.seq = word("seq", &value)?,
            "ack" => seg.ack = word("ack", &value)?,
            "len" => seg.len = whole("len", &value, 65_535)? as u32,
            "flags" => {
                let (flags, accurate) = flags(&value)?;
                seg.flags = flags;
                seg.options |= if accurate { HEADER_AE } else { 0 };
            }
            "window" => seg.window = whole("window", &value, 65_535)? as u16,
            "sack" => sack_blocks(&value, &mut seg, &mut sack)?,
            "ts" => {
                (seg.tsval, seg.tsecr) = pair("ts", &value)?;
                seg.options |= OPTION_TIMESTAMPS;
            }
            "ecn" => seg.ecn = whole("ecn", &value, 3)? as u8,
            "accecn" => counters = Some(accecn(&value)?),
            "mss" => seg.mss = whole("mss", &value, 65_535)? as u16,
            "fast_open" => {
                let asks = value.len().is_ok_and(|len| len == 0);
                let cookie = if asks { None } else { Some(cookie(&value)?) };
                option = Some(FastOpenOption { cookie, experimental: false });
            }
            "wscale" => {
                seg.wscale = whole("wscale", &value, WSCALE_MAX)? as u8;
                seg.options |= OPTION_WINDOW_SCALE;
            }
            _ => {
                if value.extract().map_err(|_| wrong("sack_permitted", "True or False", &value))? {
                    seg.options |= OPTION_SACK_PERMITTED;
                }
            }
        }
    }
    if let Some(option) = counters {
        seg.add_accecn(&option, &mut sack);
        if seg.accecn(&sack).is_none() {
            return Err(ScenarioError::new_err("segment: accecn has no room beside the other options"));
        }
    }
    if let Some(option) = option {
        if !seg.flags.any(Flags::SYN) || seg.sack_len > 0 {
            return Err(ScenarioError::new_err("segment: fast_open is an option of SYNs, which have no sack"));
        }
        seg.set_fast_open(&option, &mut sack);
    }
    Ok((seg, sack))
}

/// A segment as a dict: the keys of a SYN only in a SYN.
fn dict<'py>(py: Python<'py>, seg: &Segment, sack: &SackBlocks) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let has = |bit: u8| seg.options & bit != 0;
    let mut names: Vec<&str> = FLAGS.iter().filter(|(_, bit)| seg.flags.has(*bit)).map(|(name, _)| *name).collect();
    if has(HEADER_AE) {
        names.push(AE);
    }
    out.set_item("seq", seg.seq)?;
    out.set_item("ack", seg.ack)?;
    out.set_item("len", seg.len)?;
    out.set_item("flags", names.join("|"))?;
    out.set_item("window", seg.window)?;
    let blocks = sack[..seg.block_count()].iter().map(|block| PyTuple::new(py, [block.0, block.1]));
    out.set_item("sack", blocks.collect::<PyResult<Vec<_>>>()?)?;
    out.set_item("ts", has(OPTION_TIMESTAMPS).then_some((seg.tsval, seg.tsecr)))?;
    out.set_item("ecn", seg.ecn)?;
    out.set_item("accecn", seg.accecn(sack).map(|option| accecn_dict(py, &option)).transpose()?)?;
    if seg.flags.has(Flags::SYN) {
        out.set_item("mss", (seg.mss != 0).then_some(seg.mss))?;
        out.set_item("wscale", has(OPTION_WINDOW_SCALE).then_some(seg.wscale))?;
        out.set_item("sack_permitted", has(OPTION_SACK_PERMITTED))?;
        let option = seg.fast_open(sack);
        let bytes = |option: &FastOpenOption| option.cookie.map_or_else(Vec::new, |cookie| cookie.as_bytes().to_vec());
        out.set_item("fast_open", option.as_ref().map(|option| PyBytes::new(py, &bytes(option))))?;
    }
    Ok(out)
}
