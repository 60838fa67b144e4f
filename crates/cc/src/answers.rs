//! What a congestion control answers about itself. Whoever must know goes by these answers, never by its name, so that a new one is
//! known everywhere as soon as it is in the registry.

use serde::Serialize;

use crate::Question;
use crate::algorithm::Spec;
use crate::slow_start::{self, SlowStart};
use crate::traits::Traits;

/// The answers of one congestion control with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answers {
    #[serde(flatten)]
    pub traits: Traits,
    /// What it asks routers in a congestion header. A congestion control for TCP that asks is Reno until they answer: till then it
    /// minds losses and marks, whatever its traits say.
    pub asks: Option<Question>,
}

impl Spec {
    /// Returns what the congestion control answers about itself.
    ///
    /// ```
    /// use elephan_cc::{Question, Spec};
    ///
    /// let answers = Spec::named("xcp").unwrap().answers();
    /// assert_eq!((answers.asks, answers.traits.is_random), (Some(Question::Window), Some(false)));
    /// ```
    pub fn answers(&self) -> Answers {
        Answers { traits: self.traits(), asks: self.needs().asks() }
    }
}

impl slow_start::Spec {
    /// Returns whether it may leave slow start because the delay rises, under this congestion control.
    ///
    /// ```
    /// use elephan_cc::{Spec, slow_start};
    ///
    /// let linux = slow_start::Spec::named("linux").unwrap();
    /// let ends = |name| linux.ends_by_delay(&Spec::named(name).unwrap());
    /// assert_eq!((ends("cubic"), ends("reno"), ends("bbr")), (true, false, false));
    /// ```
    pub fn ends_by_delay(&self, congestion_control: &Spec) -> bool {
        let mut model = slow_start::Any::new(self);
        model.on_congestion_control(congestion_control);
        model.ends_by_delay() && !congestion_control.traits().own_start
    }
}

#[cfg(test)]
mod tests;
