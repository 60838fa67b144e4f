//! Guests: congestion controls from outside this crate, a Python class or a program, behind a trait object.
//!
//! The rule of this layer: this crate knows how guests are named, not how they are called. A scenario names one by text ([`Spec`]); an [`Interpreter`] that the program supplies turns the text into a [`Factory`] before
//! the run, and the factory makes one [`Guest`] for each connection. Built-in congestion controls pay nothing for it.
//!
//! A guest may fail, unlike a congestion control of this crate. It then does nothing any more, and [`Guest::fault`]
//! says what happened; whoever runs the connection asks and ends the run.

use std::error::Error;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use elephan_units::{Span, Time};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::algorithm::{CongestionControl, Pacing, Timer};
use crate::traits::Traits;
use crate::{Ack, Needs, round};

/// A congestion control of the user's.
pub trait Guest: CongestionControl + Pacing + Timer + Debug + Send + Sync {
    /// What results call it.
    fn name(&self) -> &str;

    /// A copy that goes on from the same state.
    fn boxed_clone(&self) -> Box<dyn Guest>;

    /// Returns why the guest has given up. It does nothing any more.
    fn fault(&self) -> Option<&Fault> {
        None
    }

    /// Appends its named internals.
    fn observe(&self, _out: &mut Vec<(&'static str, f64)>) {}

    /// Sets an internal (tests only); false if there is none of that name.
    fn poke(&mut self, _name: &str, _value: f64) -> bool {
        false
    }
}

impl Clone for Box<dyn Guest> {
    fn clone(&self) -> Box<dyn Guest> {
        self.boxed_clone()
    }
}

/// Makes guests of one kind with the same parameters.
pub trait Factory: Debug + Send + Sync {
    /// A guest for a new connection. One that cannot be made has a fault from the start.
    fn instance(&self) -> Box<dyn Guest>;

    /// Returns what each of them needs of its connection, as the class or the program declares.
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

/// Finds guests by the text that names them.
pub trait Interpreter: Debug + Send + Sync {
    /// The factory of what `spec` names, or why there is none, in one line.
    fn load(&self, spec: &Spec) -> Result<Arc<dyn Factory>, String>;

    /// Why there is no function that a scenario names for a host to run, in one line. `params`: keywords for it.
    fn look_for(&self, function: &str, params: &Map<String, Value>) -> Result<(), String>;
}

/// Finds every guest without loading it, for questions that no run follows.
#[derive(Debug)]
pub struct Unloaded;

impl Interpreter for Unloaded {
    fn load(&self, spec: &Spec) -> Result<Arc<dyn Factory>, String> {
        Ok(Arc::new(Stand(spec.words.clone())))
    }

    fn look_for(&self, _: &str, _: &Map<String, Value>) -> Result<(), String> {
        Ok(())
    }
}

/// Makes what stands where a guest should be.
#[derive(Debug)]
struct Stand(Words);

impl Factory for Stand {
    fn instance(&self) -> Box<dyn Guest> {
        Spec { words: self.0.clone(), factory: None }.instance()
    }
}

/// Why a guest gave up.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The class or the program, and what was called in it.
    pub class: String,
    pub method: &'static str,
    pub now: Time,
    /// What the guest's own language raised.
    pub cause: Arc<dyn Error + Send + Sync>,
}

/// A congestion control written in Python.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Guest")]
pub struct Class {
    /// Where the class is: `"module:Class"`, or `"path/to/file.py:Class"` relative to the scenario.
    pub python: String,
    /// Keywords for its constructor.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// A congestion control in a program of any language, which answers lines of JSON over a pipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Path of the program, such as `"./gentle"`, relative to the scenario.
    pub program: String,
    /// How long an answer of the program may take in real time.
    #[serde(default = "Program::deadline")]
    pub deadline: Span,
    /// What the program is told at its start.
    #[serde(default)]
    pub params: Map<String, Value>,
}

impl Program {
    fn deadline() -> Span {
        Span::from_s(10)
    }
}

/// The words that name a guest in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Words {
    Class(Class),
    Program(Program),
}

/// The words that name a guest and, once it has been found, what makes it.
#[derive(Clone, Debug)]
pub struct Spec {
    pub words: Words,
    factory: Option<Arc<dyn Factory>>,
}

impl Spec {
    /// What is known of a guest: it may draw, and it begins and reacts as its class or program says.
    pub(crate) fn traits() -> Traits {
        Traits { is_random: None, own_start: true, ..Traits::default() }
    }
}

/// Two texts that say the same are the same congestion control.
impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        self.words == other.words
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.words.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Spec, D::Error> {
        let table = Map::deserialize(deserializer)?;
        let program = table.contains_key("program");
        let table = Value::Object(table);
        let words = if program {
            serde_json::from_value(table).map(Words::Program)
        } else {
            serde_json::from_value(table).map(Words::Class)
        };
        Ok(Spec { words: words.map_err(D::Error::custom)?, factory: None })
    }
}

impl Spec {
    /// The keys by which a table is known to name a guest.
    pub const KEYS: [&'static str; 2] = ["python", "program"];

    /// A class that has been found already.
    pub fn of(python: String, params: Map<String, Value>, factory: Arc<dyn Factory>) -> Spec {
        Spec { words: Words::Class(Class { python, params }), factory: Some(factory) }
    }

    /// The same words with what makes the guest.
    pub fn bound(&self, factory: Arc<dyn Factory>) -> Spec {
        Spec { factory: Some(factory), ..self.clone() }
    }

    /// The key of the table that names the guest, and what stands there.
    pub fn place(&self) -> (&'static str, &str) {
        match &self.words {
            Words::Class(class) => (Spec::KEYS[0], &class.python),
            Words::Program(program) => (Spec::KEYS[1], &program.program),
        }
    }

    /// The name of the class alone, or of the program without folder and ending.
    pub fn name(&self) -> &str {
        match &self.words {
            Words::Class(class) => {
                let class = class.python.rsplit(':').next().unwrap_or_default();
                class.rsplit('.').next().unwrap_or_default()
            }
            Words::Program(program) => {
                let stem = Path::new(&program.program).file_stem().and_then(|stem| stem.to_str());
                stem.unwrap_or(&program.program)
            }
        }
    }

    pub(crate) fn instance(&self) -> Box<dyn Guest> {
        match &self.factory {
            Some(factory) => factory.instance(),
            None => Box::new(Absent { name: self.name().to_owned(), fault: Fault::absent(self.name()) }),
        }
    }

    pub(crate) fn needs(&self) -> Needs {
        self.factory.as_ref().map_or(Needs::NOTHING, |factory| factory.needs())
    }

    pub(crate) fn schemas(generator: &mut SchemaGenerator) -> [schemars::Schema; 2] {
        [generator.subschema_for::<Class>(), generator.subschema_for::<Program>()]
    }
}

/// Nobody has looked for the guest: the program has no interpreter.
#[derive(Debug, thiserror::Error)]
#[error("code that a scenario brings along needs the Python front of elephan")]
pub struct NoInterpreter;

impl Fault {
    fn absent(class: &str) -> Fault {
        Fault { class: class.to_owned(), method: "__init__", now: Time::ZERO, cause: Arc::new(NoInterpreter) }
    }
}

/// Stands where a guest should be.
#[derive(Clone, Debug)]
struct Absent {
    name: String,
    fault: Fault,
}

impl Guest for Absent {
    fn name(&self) -> &str {
        &self.name
    }

    fn boxed_clone(&self) -> Box<dyn Guest> {
        Box::new(self.clone())
    }

    fn fault(&self) -> Option<&Fault> {
        Some(&self.fault)
    }
}

impl CongestionControl for Absent {}

impl Pacing for Absent {}

impl Timer for Absent {}

/// The sums of one round trip, for a guest that is called once a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// The ACK that ended it, for what is not summed up: `now`, `inflight`, `delivered`, `min_rtt`, `srtt`.
    pub last: Ack,
    pub began: Time,
    pub acks: u32,
    /// Bytes acknowledged, and of them those reported as having met congestion.
    pub acked: u64,
    pub ce: u64,
    /// The window was not the limit at one ACK of the round at least: no growth.
    pub app_limited: bool,
    /// Round-trip times measured: how many, the smallest, the largest, the sum in picoseconds.
    pub samples: u32,
    pub rtt_min: Option<Span>,
    pub rtt_max: Option<Span>,
    rtt_sum_ps: u128,
    /// The largest delivery rate.
    pub rate_bps: Option<f64>,
}

impl Round {
    fn add(&mut self, ack: &Ack) {
        if self.acks == 0 {
            self.began = ack.now;
        }
        self.last = *ack;
        self.acks = self.acks.saturating_add(1);
        self.acked = self.acked.saturating_add(ack.acked);
        self.ce = self.ce.saturating_add(ack.ce);
        self.app_limited |= ack.app_limited;
        if let Some(rtt) = ack.rtt {
            self.samples = self.samples.saturating_add(1);
            self.rtt_sum_ps += u128::from(rtt.ps());
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |min| min.min(rtt)));
            self.rtt_max = Some(self.rtt_max.map_or(rtt, |max| max.max(rtt)));
        }
        if let Some(rate) = ack.rate_bps {
            self.rate_bps = Some(self.rate_bps.map_or(rate, |most| most.max(rate)));
        }
    }

    /// Mean of the round-trip times measured.
    pub fn rtt_mean(&self) -> Option<Span> {
        self.rtt_sum_ps.checked_div(u128::from(self.samples)).map(|ps| Span(ps as u64))
    }
}

/// Sums up rounds. The ACK that goes beyond what was in flight when the round began ends it and is counted in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    round: round::Round,
    sums: Round,
    running: bool,
}

impl Rounds {
    /// Counts an ACK; answers the round that it ends.
    pub fn advance(&mut self, ack: &Ack) -> Option<Round> {
        let ends = self.round.advance(ack) && self.running;
        self.running = true;
        self.sums.add(ack);
        ends.then(|| std::mem::take(&mut self.sums))
    }

    /// A congestion event: the next ACK begins a round.
    pub fn restart(&mut self) {
        *self = Rounds::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm;
    use crate::testing::MSS;
    use crate::{Controller, Signal};
    use serde_json::json;

    fn read(value: Value) -> Result<algorithm::Spec, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_with_python_names_a_guest_and_reads_back() {
        let spec = read(json!({ "python": "lab/mine.py:Mine", "params": { "gain": 2 } })).unwrap();
        assert_eq!(spec.name(), "Mine");
        let written = serde_json::to_value(&spec).unwrap();
        assert_eq!(written, json!({ "python": "lab/mine.py:Mine", "params": { "gain": 2 } }));
        assert_eq!(read(written).unwrap(), spec);
        assert_ne!(read(json!({ "python": "lab/mine.py:Mine" })).unwrap(), spec);
        assert!(read(json!({ "python": "a:B", "parms": {} })).unwrap_err().contains("unknown field `parms`"));
        assert!(read(json!({ "python": 3 })).is_err());
    }

    #[test]
    fn a_table_with_program_names_a_guest_and_reads_back() {
        let spec = read(json!({ "program": "lab/mine.sh", "params": { "gain": 2 } })).unwrap();
        assert_eq!((spec.name(), spec.kind()), ("mine", "program"));
        let written = serde_json::to_value(&spec).unwrap();
        assert_eq!(written, json!({ "program": "lab/mine.sh", "deadline": "10 s", "params": { "gain": 2 } }));
        assert_eq!(read(written).unwrap(), spec);
        assert_ne!(read(json!({ "program": "lab/mine.sh" })).unwrap(), spec);
        assert!(read(json!({ "program": "./mine", "python": "a:B" })).unwrap_err().contains("unknown field `python`"));
        assert!(read(json!({ "program": "./mine", "deadline": 3 })).is_err());
    }

    /// A program without an interpreter may hold such a spec; it moves nothing and says why.
    #[test]
    fn a_guest_that_nobody_looked_for_is_a_fault() {
        let mut c = Controller::new(&read(json!({ "python": "a:B" })).unwrap(), MSS, 10 * MSS);
        c.on_congestion(&Signal::Loss { now: Time::ZERO, lost: MSS, inflight: MSS });
        assert_eq!((c.window(), c.name()), (10.0 * MSS as f64, "B"));
        let fault = c.fault().unwrap();
        assert_eq!(fault.cause.to_string(), "code that a scenario brings along needs the Python front of elephan");
        assert!(c.clone().fault().is_some());
    }

    /// Three segments in flight: the fourth ACK goes beyond them and ends the round that the first began.
    #[test]
    fn a_round_sums_up_its_acks() {
        let mut rounds = Rounds::default();
        let ack = |n: u64| Ack {
            now: Time::ZERO + Span::from_ms(n),
            acked: 1000,
            inflight: 3000,
            rtt: (n != 2).then(|| Span::from_ms(10 * n)),
            ce: if n == 3 { 500 } else { 0 },
            rate_bps: (n < 3).then_some(n as f64),
            ..Ack::default()
        };
        let ended: Vec<Option<Round>> = (1..=4).map(|n| rounds.advance(&ack(n))).collect();
        assert!(ended[..3].iter().all(Option::is_none));
        let round = ended[3].unwrap();
        assert_eq!((round.acks, round.acked, round.ce, round.samples), (4, 4000, 500, 3));
        assert_eq!((round.rtt_min, round.rtt_max), (Some(Span::from_ms(10)), Some(Span::from_ms(40))));
        // (10 + 30 + 40) / 3 ms.
        assert_eq!(round.rtt_mean(), Some(Span(80_000_000_000 / 3)));
        assert_eq!((round.rate_bps, round.app_limited, round.began), (Some(2.0), false, ack(1).now));
        rounds.restart();
        assert!(rounds.advance(&Ack { app_limited: true, ..ack(5) }).is_none());
        let limited = (6..=8).find_map(|n| rounds.advance(&ack(n))).unwrap();
        assert!(limited.app_limited && limited.acked == 4000);
    }
}
