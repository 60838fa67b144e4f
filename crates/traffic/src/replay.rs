//! `replay`: the flows of a trace, each a TCP connection that starts when the trace says and carries as many bytes.
//!
//! A trace is CSV text: a header, then one line per flow. The columns are named with their units and may stand in any order:
//!
//! ```text
//! start_s, size_bytes, pair        (or start_ms, start_us, start_ns; pair may be left out)
//! 0.0125, 48210, 0
//! ```
//!
//! Starts count from the start of the traffic entry and are kept to the picosecond; lines need not be in order, and flows
//! of one instant start 1 ps apart, in the order of the lines. `pair` counts the entry's pairs of hosts from 0; without
//! that column each flow has a uniformly random pair, from its own stream. Empty lines and lines that begin with `#` do
//! not count. Whoever reads a scenario puts the text of `file` into `trace`, so that a resolved scenario is complete by
//! itself. Not modelled: when within a flow the original application sent what, and how long it took.

use elephan_random::Stream;
use elephan_units::{InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace::Trace;
use crate::{Carrier, Generate, Offer, Setting, Spec};

/// Keys of `kind = "replay"`: exactly one of `file` and `trace`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// CSV file with a line per flow: `start_s` (or `start_ms`, `start_us`, `start_ns`), `size_bytes` and, if wanted, `pair`.
    /// Its path starts in the folder of the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub file: Option<String>,
    /// The trace itself, in place of `file`; a resolved scenario has it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub trace: Option<String>,
}

impl Replay {
    fn parsed(&self) -> Result<Trace, InvalidParameter> {
        match (&self.file, &self.trace) {
            (None, Some(text)) => Trace::parse(text).map_err(|e| InvalidParameter::new("trace", format!("line {e}"))),
            (Some(_), None) => {
                Err(InvalidParameter::new("file", "has not been read: only a scenario file can name a file"))
            }
            _ => Err(InvalidParameter::new("", "a replay needs exactly one of file, trace")),
        }
    }
}

/// The flows in the order of their starts.
#[derive(Clone, Debug)]
pub struct Source {
    trace: Trace,
    next: usize,
    /// When the last flow started, in picoseconds.
    now: u64,
    pairs: u64,
    pair_stream: Stream,
}

impl Spec for Replay {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        self.parsed().map(drop)
    }

    fn check_pairs(&self, pairs: u64) -> Result<(), InvalidParameter> {
        let Ok(trace) = self.parsed() else { return Ok(()) };
        match trace.flows.iter().find(|f| f.pair.is_some_and(|pair| pair >= pairs)) {
            Some(flow) => {
                let (line, pair) = (flow.line, flow.pair.unwrap_or(0));
                let message = format!("line {line}: pair: {pair} is not one of the {pairs} pairs, counted from 0");
                Err(InvalidParameter::new("trace", message))
            }
            None => Ok(()),
        }
    }

    fn carrier(&self) -> Carrier {
        Carrier::Transfers
    }

    fn pace(&self) -> Option<&'static str> {
        None
    }

    fn is_random(&self, pairs: u64) -> bool {
        pairs > 1 && self.parsed().is_ok_and(|trace| trace.flows.iter().any(|flow| flow.pair.is_none()))
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        let mut trace = self.parsed().unwrap_or_default();
        trace.flows.sort_by_key(|flow| flow.start);
        Source { trace, next: 0, now: 0, pairs: setting.pairs, pair_stream: (setting.stream)("pairs") }
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        let flow = self.trace.flows.get(self.next)?;
        let least = u64::from(self.next > 0);
        self.next += 1;
        let gap = flow.start.saturating_sub(self.now).max(least);
        self.now += gap;
        let pair = flow.pair.unwrap_or_else(|| self.pair_stream.index(self.pairs));
        Some(Offer { gap: Span(gap), bytes: flow.bytes, pair })
    }
}

#[cfg(test)]
mod tests;
