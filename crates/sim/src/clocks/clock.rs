//! A generator that several flows have together, and the rounds that they answer.

use std::collections::VecDeque;

use elephan_traffic::{Offer, Source};
use elephan_units::Time;

/// A generator and its flows.
#[derive(Clone)]
pub struct Clock {
    pub traffic: u32,
    pub source: Source,
    /// The next offer and when it is due.
    pub next: Option<(Time, Offer)>,
    /// Places and numbers of the flows.
    pub flows: Vec<(u32, u32)>,
    pub rounds: Option<Rounds>,
    pub key: u32,
    pub stopped: bool,
}

/// Rounds that have begun and are not complete. Each flow answers them in order, so that they end in order.
#[derive(Clone)]
pub struct Rounds {
    /// The next round waits for the end of the one before.
    pub closed: bool,
    /// Number of the first of them.
    pub first: u64,
    /// When each began, and how many answers are missing.
    pub open: VecDeque<(Time, u32)>,
}
