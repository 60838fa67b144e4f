//! `users`: a closed loop. Each of so many users thinks for a time drawn from `think`, makes a transfer of a size drawn from
//! `size` over a new connection, and begins to think again when its last byte is with the receiver.
//!
//! A closed loop cannot be overloaded: with N users, a mean response time R and a mean think time Z the throughput X is
//!
//! ```text
//! N = X (R + Z)
//! ```
//!
//! the interactive response time law, which is Little's law for users (Denning and Buzen, The operational analysis of
//! queueing network models, ACM Computing Surveys 10(3), 1978). User k belongs to pair k mod pairs of the traffic entry and
//! has random streams of its own, so a further user shifts nobody's draws. Not modelled: several transfers over one connection.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;
use crate::{Carrier, Distribution, Generate, Offer, Sampler, Setting, Spec};

const USERS_MAX: u32 = 10_000_000;

/// Keys of `kind = "users"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Users {
    /// Size of a transfer.
    pub size: Distribution<Bytes>,
    /// How long a user thinks before each transfer, the first included.
    pub think: Distribution<Span>,
    /// Users on all pairs together; user k is on pair k mod pairs.
    #[serde(default = "users")]
    #[schemars(range(min = 1))]
    pub users: u32,
}

fn users() -> u32 {
    1
}

/// Sizes and thoughts of one user.
#[derive(Clone, Debug)]
pub struct Source {
    sizes: Sampler,
    size_stream: Stream,
    thoughts: Sampler,
    think_stream: Stream,
}

impl Spec for Users {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        self.size.validate("size")?;
        match &self.think {
            Distribution::Fixed(Span::ZERO) => {}
            think => think.validate("think")?,
        }
        if !(1..=USERS_MAX).contains(&self.users) {
            return Err(InvalidParameter::new("users", format!("must be from 1 to {USERS_MAX}, not {}", self.users)));
        }
        Ok(())
    }

    fn carrier(&self) -> Carrier {
        Carrier::Users(self.users)
    }

    fn pace(&self) -> Option<&'static str> {
        Some("think")
    }

    fn is_random(&self, _pairs: u64) -> bool {
        self.size.is_random() || self.think.is_random()
    }

    fn source(&self, setting: &Setting<'_>) -> Source {
        Source {
            sizes: self.size.sampler(),
            size_stream: (setting.stream)("sizes"),
            thoughts: self.think.sampler(),
            think_stream: (setting.stream)("gaps"),
        }
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        let bytes = self.sizes.sample(&mut self.size_stream, Bytes::RANGE);
        let gap = Span(self.thoughts.sample(&mut self.think_stream, Span::RANGE));
        Some(Offer { gap, bytes, pair: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn kind(text: &str) -> Kind {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn thinks_then_transfers() {
        let text = r#"{"kind": "users", "size": "10 KB", "think": "2 s", "users": 7}"#;
        let users = kind(text);
        assert_eq!((users.validate(), users.carrier(), users.offered_bps()), (Ok(()), Carrier::Users(7), None));
        let setting = Setting {
            part: crate::Part::Whole,
            stream: &|p| Stream::new(2, "u", p),
            pairs: 3,
            wire_bytes: &|b| b,
            full_wire_bytes: 1538,
            rate: elephan_units::Rate(10_000_000_000),
            lasts: Span::MAX,
        };
        let mut source = users.source(&setting);
        let offer = Offer { gap: Span::from_s(2), bytes: 10_000, pair: 0 };
        assert_eq!([source.next_offer(), source.next_offer()], [Some(offer); 2]);
    }

    /// Users that never think are allowed; sizes and thoughts come from streams of their own.
    #[test]
    fn no_thought() {
        let eager = kind(r#"{"kind": "users", "size": {"exponential": "1 KB"}, "think": "0 s"}"#);
        let slow = kind(r#"{"kind": "users", "size": {"exponential": "1 KB"}, "think": {"exponential": "1 s"}}"#);
        let setting = Setting {
            part: crate::Part::Whole,
            stream: &|p| Stream::new(2, "u", p),
            pairs: 1,
            wire_bytes: &|b| b,
            full_wire_bytes: 1538,
            rate: elephan_units::Rate(10_000_000_000),
            lasts: Span::MAX,
        };
        let (mut a, mut b) = (eager.source(&setting), slow.source(&setting));
        for _ in 0..100 {
            let (a, b) = (a.next_offer().unwrap(), b.next_offer().unwrap());
            assert_eq!((a.gap, a.bytes), (Span::ZERO, b.bytes));
        }
    }

    #[test]
    fn refused() {
        for (text, message) in [
            (
                r#"{"kind": "users", "size": "1 KB", "think": "1 s", "users": 0}"#,
                "users: must be from 1 to 10000000, not 0",
            ),
            (
                r#"{"kind": "users", "size": "1 KB", "think": {"exponential": "0 s"}}"#,
                "think.exponential: a time here must be above zero",
            ),
            (r#"{"kind": "users", "size": "0 B", "think": "1 s"}"#, "size: a size here must be above zero"),
        ] {
            assert_eq!(kind(text).validate().unwrap_err().to_string(), message);
        }
    }
}
