//! What holds for every congestion control, whatever happens to it; for the congestion controls of this crate and for guests alike.
//!
//! A congestion control is put through drawn stories (ACKs, losses, timeouts, pauses from nothing to hours) and through ten simulated
//! days without a loss. After every step: the window is from one segment to the largest, `ssthresh` two segments at
//! least, every internal finite, a pacing rate positive; an ACK adds at most what it acknowledges, and nothing while the
//! application is the limit; a congestion event raises nothing; what is undone at once leaves no trace; a second congestion control that
//! gets the same calls does the same. A story that breaks a rule is shortened before it is reported.

mod story;

use std::fmt;

use elephan_units::{Span, Time, stop};

pub use story::{Step, What};

use crate::guest::Fault;
use crate::{Controller, MAX_WINDOW_BYTES, Spec, slow_start};
use story::Random;

/// Segment size of the congestion controls that are tested, and their initial window, in bytes.
pub const MSS: u64 = 1448;
pub const INITIAL: u64 = 10 * MSS;

const SEGMENT: f64 = MSS as f64;
const TWO_SEGMENTS: f64 = 2.0 * SEGMENT;

/// What a congestion control may do that others may not.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// It sets its window itself: an ACK may give back at once what it lowered on purpose for a while, and `ssthresh` is
    /// only what it leaves for others to see.
    pub sets_its_window: bool,
    /// It grows while something else than the window is the limit.
    pub grows_unused: bool,
    /// A congestion event may raise a window that is below what the path is known to carry.
    pub raises_on_events: bool,
    /// It grows once a round, by up to what the round acknowledged.
    pub by_round: bool,
    /// How many times as fast as slow start it may grow.
    pub slow_start_times: f64,
    /// Whether undo also restores its internals.
    pub undoes_internals: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            sets_its_window: false,
            grows_unused: false,
            raises_on_events: false,
            by_round: false,
            slow_start_times: 1.0,
            undoes_internals: true,
        }
    }
}

impl Rules {
    /// The rules of a built-in congestion control.
    pub fn of(cc: &Spec) -> Rules {
        let traits = cc.traits();
        Rules {
            sets_its_window: traits.sets_its_window,
            grows_unused: traits.grows_unused,
            raises_on_events: traits.raises_on_events,
            undoes_internals: traits.undoes_internals,
            slow_start_times: traits.slow_start_times,
            ..Rules::default()
        }
    }
}

/// A rule that was broken, with the shortest story found that breaks it.
#[derive(Debug)]
pub struct Failure {
    pub cc: String,
    pub rule: String,
    /// Of the story as it was drawn; none for the ten days.
    pub seed: Option<u64>,
    pub story: Vec<Step>,
    /// The window after each step.
    pub windows: Vec<f64>,
    /// What a guest raised.
    pub fault: Option<Fault>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.cc, self.rule)?;
        let Some(seed) = self.seed else { return write!(f, " (ten days without a loss)") };
        write!(f, "\nseed {seed}; the shortest story, from a window of {INITIAL} B, segments of {MSS} B:")?;
        let mut now = Time::ZERO;
        for (step, window) in self.story.iter().zip(&self.windows) {
            now = now.saturating_add(step.pause);
            write!(f, "\n  at {} s: {}; then cwnd {window} B", now.seconds(), step.what)?;
        }
        Ok(())
    }
}

/// A congestion control under test and its twin, which gets the same calls.
struct Pair<'a> {
    one: Controller,
    twin: Controller,
    rules: &'a Rules,
    now: Time,
    /// Bytes acknowledged that have not grown the window.
    credit: f64,
}

impl<'a> Pair<'a> {
    fn new(make: &dyn Fn() -> Controller, rules: &'a Rules) -> Pair<'a> {
        Pair { one: make(), twin: make(), rules, now: Time::ZERO, credit: 0.0 }
    }

    /// A step of the congestion control alone, and the rule that it breaks.
    fn step_alone(&mut self, step: &Step) -> Result<(), String> {
        stop::look();
        self.now = self.now.saturating_add(step.pause);
        let before = (self.one.window(), self.one.ssthresh());
        step.what.apply(&mut self.one, self.now);
        self.check(before, &step.what)
    }

    /// A step of both.
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let outcome = self.step_alone(step);
        step.what.apply(&mut self.twin, self.now);
        outcome?;
        let (one, twin) = (&self.one, &self.twin);
        if one.window().to_bits() != twin.window().to_bits() || one.observe() != twin.observe() {
            let (a, b) = (one.window(), twin.window());
            return Err(format!("two that were told the same differ: windows of {a} B and {b} B, or their internals"));
        }
        Ok(())
    }

    /// What holds after every step.
    fn check(&mut self, before: (f64, f64), what: &What) -> Result<(), String> {
        let c = &self.one;
        if let Some(fault) = c.fault() {
            return Err(format!("{} failed: {}", fault.method, fault.cause));
        }
        let (cwnd, ssthresh) = (c.window(), c.ssthresh());
        let must = |holds: bool, rule: String| if holds { Ok(()) } else { Err(rule) };
        must((SEGMENT..=MAX_WINDOW_BYTES).contains(&cwnd), format!("a window of {cwnd} B"))?;
        must(ssthresh >= TWO_SEGMENTS, format!("an ssthresh of {ssthresh} B, below two segments"))?;
        for (name, value) in c.observe() {
            must(value.is_finite(), format!("its internal {name} is {value}"))?;
        }
        let rate = c.pacing_rate().unwrap_or(1.0);
        must(rate.is_finite() && rate > 0.0, format!("a pacing rate of {rate} bit/s"))?;
        let grown = cwnd - before.0;
        match what {
            What::Ack { app_limited: true, .. } if !self.rules.grows_unused => {
                must(grown <= 0.0, format!("the window grew by {grown} B while the application was the limit"))
            }
            What::Ack { .. } if self.rules.sets_its_window => Ok(()),
            What::Ack { acked, .. } => {
                self.credit = if self.rules.by_round { self.credit } else { 0.0 } + *acked as f64;
                let most = self.rules.slow_start_times * self.credit;
                must(grown <= most + 1.0, format!("the window grew by {grown} B where slow start adds {most} B"))?;
                self.credit -= grown.clamp(0.0, self.credit);
                // A slow start that ends by itself leaves the threshold where the window was, a congestion control that looks at delay
                // at the window that it sets; neither raises it.
                let lowered = ssthresh < before.1 && ssthresh <= before.0.max(cwnd).max(TWO_SEGMENTS);
                must(ssthresh == before.1 || lowered, format!("an ACK raised ssthresh to {ssthresh} B"))
            }
            What::Loss { .. } | What::Ecn { .. } | What::LocalDrop { .. } if self.rules.raises_on_events => Ok(()),
            What::Loss { .. } | What::Ecn { .. } | What::Rto { .. } | What::LocalDrop { .. } => {
                must(cwnd <= before.0.max(TWO_SEGMENTS), format!("a congestion event raised the window by {grown} B"))
            }
            What::Shrink { .. } => must(grown <= 0.0, format!("lowering the window raised it by {grown} B")),
            What::Undo
            | What::Timer
            | What::Feedback { .. }
            | What::FairRate { .. }
            | What::Nic { .. }
            | What::Notification
            | What::Telemetry { .. }
            | What::Sent { .. }
            | What::Begin { .. }
            | What::Train { .. }
            | What::Recovered
            | What::Base { .. } => Ok(()),
        }
    }

    /// An event that is undone at once leaves no trace.
    fn undo(&mut self, end: (u64, bool)) -> Result<(), String> {
        let [calm, event, undo] = ending(end);
        self.step(&calm)?;
        let before = (self.one.window(), self.one.ssthresh(), self.one.observe());
        self.step(&event)?;
        let lowered = self.one.window() < before.0;
        self.step(&undo)?;
        let after = (self.one.window(), self.one.ssthresh(), self.one.observe());
        if after.1 != before.1 || after.0 < before.0 || (lowered && after.0 != before.0) {
            return Err(format!("an event undone at once leaves cwnd {} B where it was {} B", after.0, before.0));
        }
        if lowered && self.rules.undoes_internals && after.2 != before.2 {
            return Err(format!("an event undone at once leaves {:?} where it was {:?}", after.2, before.2));
        }
        Ok(())
    }
}

/// The end of every story, by bytes in flight and whether a timer expires: an ACK, so that a timer after it is not one that expires
/// again, and limited, so that nothing grows; an event, which is undone.
fn ending((inflight, rto): (u64, bool)) -> [Step; 3] {
    let calm = What::Ack { acked: MSS, rtt: None, app_limited: true, rate_bps: None };
    let event = if rto { What::Rto { inflight } } else { What::Loss { inflight } };
    [calm, event, What::Undo].map(Step::now)
}

/// The rule that a story breaks, if any.
fn judge(make: &dyn Fn() -> Controller, rules: &Rules, story: &[Step], end: (u64, bool)) -> Result<(), String> {
    let mut pair = Pair::new(make, rules);
    story.iter().try_for_each(|step| pair.step(step))?;
    pair.undo(end)
}

/// Puts the congestion controls that `make` makes through `cases` drawn stories from `seed` on, each with one of the slow starts in
/// turn, then, with `acks`, through ten days of so many ACKs.
pub fn all(
    make: &dyn Fn(&slow_start::Spec) -> Controller,
    rules: &Rules,
    seed: u64,
    cases: u32,
    acks: u64,
) -> Result<(), Box<Failure>> {
    let slow_starts = slow_start::Spec::all();
    for case in 0..u64::from(cases) {
        let seed = seed.wrapping_add(case);
        let slow = &slow_starts[(seed % slow_starts.len() as u64) as usize];
        stories(&|| make(slow), rules, seed, 1)?;
    }
    if acks > 0 { ten_days(&|| make(&slow_starts[0]), rules, acks) } else { Ok(()) }
}

/// Puts the congestion controls that `make` makes through `cases` drawn stories.
pub fn stories(make: &dyn Fn() -> Controller, rules: &Rules, seed: u64, cases: u32) -> Result<(), Box<Failure>> {
    for seed in (0..u64::from(cases)).map(|case| seed.wrapping_add(case)) {
        let mut random = Random::new(seed);
        let story = random.story();
        let end = random.end();
        if judge(make, rules, &story, end).is_err() {
            let story = story::shortest(story, &|story| judge(make, rules, story, end).is_err());
            return Err(failure(make, rules, seed, story, end));
        }
    }
    Ok(())
}

/// Tells a story that fails.
fn failure(
    make: &dyn Fn() -> Controller,
    rules: &Rules,
    seed: u64,
    mut story: Vec<Step>,
    end: (u64, bool),
) -> Box<Failure> {
    let found = judge(make, rules, &story, end).err();
    story.extend(ending(end));
    let mut pair = Pair::new(make, rules);
    let mut windows = Vec::new();
    for step in &story {
        let outcome = pair.step(step);
        windows.push(pair.one.window());
        if outcome.is_err() {
            break;
        }
    }
    story.truncate(windows.len());
    let rule = found.unwrap_or_else(|| "not the same when tried again: it is not deterministic".to_owned());
    let (cc, fault) = (pair.one.name().to_owned(), pair.one.fault().cloned());
    Box::new(Failure { cc, rule, seed: Some(seed), story, windows, fault })
}

/// Ten simulated days with `acks` ACKs of a GiB and no loss, then a loss, then a timeout: nothing overflows.
pub fn ten_days(make: &dyn Fn() -> Controller, rules: &Rules, acks: u64) -> Result<(), Box<Failure>> {
    const DAYS: Span = Span::from_s(864_000);
    let ack = What::Ack { acked: 1 << 30, rtt: Some(Span::from_s(1)), app_limited: false, rate_bps: Some(8.6e9) };
    let mut pair = Pair::new(make, rules);
    let pause = Span(DAYS.ps() / acks.max(1));
    let mut run = || {
        pair.step_alone(&Step::now(What::Loss { inflight: INITIAL }))?;
        (0..acks).try_for_each(|_| pair.step_alone(&Step { pause, what: ack }))?;
        pair.step_alone(&Step::now(What::Loss { inflight: 1 << 40 }))?;
        pair.step_alone(&Step::now(What::Ack { acked: MSS, rtt: None, app_limited: false, rate_bps: None }))?;
        pair.step_alone(&Step::now(What::Rto { inflight: MSS }))
    };
    let Err(rule) = run() else { return Ok(()) };
    let (cc, fault) = (pair.one.name().to_owned(), pair.one.fault().cloned());
    let rule = format!("after {} s: {rule}", pair.now.seconds());
    Err(Box::new(Failure { cc, rule, seed: None, story: Vec::new(), windows: Vec::new(), fault }))
}

#[cfg(test)]
mod tests;
