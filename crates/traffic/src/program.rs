//! `program`: what real programs send to each other (`elephan virtual`). The scenario says between which hosts, and with which TCP;
//! the programs say when and how much.

use std::collections::BTreeMap;

use elephan_units::{InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Carrier, Generate, Offer, Setting, Spec};

/// Keys of `kind = "program"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program of each host, by the name of the host or of its group: a coroutine function in Python. Without it the programs are
    /// those that `elephan virtual` is given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Coroutine>,
    /// How long each function takes, in simulated time, that one of these programs gives to an executor.
    #[serde(default)]
    pub executor_time: Span,
}

/// A program that a host runs: a coroutine function of Python.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coroutine {
    /// Where the function is: `"path/to/file.py:function"` relative to the scenario, or `"module:function"`. If it takes an argument,
    /// that is the name of the host.
    pub python: String,
    /// Keywords for it.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// Offers nothing: the programs do.
#[derive(Clone, Debug)]
pub struct Source;

impl Spec for Program {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        Ok(())
    }

    fn carrier(&self) -> Carrier {
        Carrier::Program
    }

    fn pace(&self) -> Option<&'static str> {
        None
    }

    fn is_random(&self, _pairs: u64) -> bool {
        false
    }

    fn source(&self, _: &Setting<'_>) -> Source {
        Source
    }

    fn programs(&self) -> Option<&Program> {
        Some(self)
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn names_a_function_for_each_host() {
        let kind: Kind = serde_json::from_str(r#"{"kind": "program"}"#).unwrap();
        assert_eq!((kind.carrier(), kind.flow_bytes()), (Carrier::Program, None));
        let text = r#"{"kind": "program", "programs": {"client": {"python": "app.py:client", "params": {"size": 3}}}}"#;
        let kind: Kind = serde_json::from_str(text).unwrap();
        let program = &kind.programs().unwrap().programs["client"];
        assert_eq!((program.python.as_str(), program.params["size"].as_u64()), ("app.py:client", Some(3)));
        assert!(serde_json::from_str::<Kind>(r#"{"kind": "program", "size": "1 MB"}"#).is_err());
    }
}
