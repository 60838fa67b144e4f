//! `program`: what real programs send to each other (`elephan virtual`). The scenario says between which hosts, and with which TCP;
//! the programs say when and how much.

use elephan_units::InvalidParameter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, Generate, Offer, Setting, Spec};

/// Keys of `kind = "program"`: none of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {}

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
    fn has_no_keys() {
        let kind: Kind = serde_json::from_str(r#"{"kind": "program"}"#).unwrap();
        assert_eq!((kind.carrier(), kind.flow_bytes()), (Carrier::Program, None));
        assert!(serde_json::from_str::<Kind>(r#"{"kind": "program", "size": "1 MB"}"#).is_err());
    }
}
