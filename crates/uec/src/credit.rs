//! Credits: the receiving host grants what its senders may send, at less than its line rate, in turns (`uet-htsim` at 40ccb05, RCCC).
//!
//! ```text
//! a sender begins with 1.5 bandwidth-delay products of credit, which are void at the first grant or NACK
//! it wants:        what it has to send, at most its window and a packet, at most 1.5 bandwidth-delay products; less its credit, divided
//!                  by the connections that share its interface; on top of what was granted
//! a host grants:   four packets to the next sender that wants more, then to the one after it; between two grants pass the bytes of the
//!                  grant over 0.99 of the line rate
//! when nobody wants more, senders in turn get four packets each beyond what they want, up to 1.5 bandwidth-delay products
//! ```
//!
//! With `grant_least` the rate of grants is that times r. Each 1.125 to 1.875 base round-trip times, drawn anew, of n packets of which t were trimmed at other than
//! their last hop and a share f of those untrimmed was marked: r -= t / n; g = (g + f) / 2; r *= 1 - 0.5 (g - 0.3) if g > 0.3; if neither
//! lowered it, r += 0.01, or without a mark 0.01 x 2^k after k such times in a row. r stays between `grant_least` and 1.

use std::collections::VecDeque;

use elephan_random::Stream;
use elephan_units::{Span, Time};

use crate::Options;

/// The credit of a sender; without credits it always has some.
#[derive(Clone, Debug)]
pub struct Purse {
    used: bool,
    /// Bytes on the wire. A packet may leave as long as it is above 0, and so bring it below.
    credit: i64,
    granted: u64,
    most: i64,
    speculating: bool,
}

impl Purse {
    pub fn new(options: &Options, bdp_bytes: f64) -> Purse {
        let most = (options.credit_most * bdp_bytes).max((options.mtu.0 + options.headers.0) as f64) as i64;
        Purse { used: options.credits, credit: most, granted: 0, most, speculating: true }
    }

    pub fn allows(&self) -> bool {
        !self.used || self.credit > 0
    }

    pub fn spend(&mut self, bytes: u64) {
        self.credit -= bytes as i64;
    }

    /// What a sender assumed that it may send is void.
    pub fn stop_speculating(&mut self) {
        if std::mem::take(&mut self.speculating) {
            self.credit = self.credit.min(0);
        }
    }

    pub fn grant(&mut self, total: u64) {
        let more = total.saturating_sub(self.granted);
        self.granted += more;
        self.credit = self.credit.saturating_add(more as i64).min(self.most);
    }

    /// All credit since the beginning that a sender would have now, with so many bytes to send and to repeat.
    pub fn wants(&self, fresh: u64, lost: u64, window: f64, packet: u64, rivals: usize) -> u64 {
        if !self.used {
            return 0;
        }
        let to_send = fresh.saturating_add(lost).min(window as u64 + packet).min(self.most as u64) as i64;
        let mut wants = to_send - self.credit;
        if self.speculating && fresh > 0 {
            wants = wants.max(packet as i64);
        }
        self.granted.saturating_add_signed(wants / rivals.max(1) as i64)
    }
}

/// What a receiver has granted to its sender.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// Credit beyond what the sender wants, at most.
    most: u64,
    wanted: u64,
    granted: u64,
    /// It is in line for a grant, and in line for what nobody wants.
    in_line: bool,
    is_idle: bool,
}

impl Account {
    /// Returns the account of a receiver at the end of a path with this bandwidth-delay product.
    pub fn new(options: &Options, bdp_bytes: f64) -> Account {
        let most = (options.credit_most * bdp_bytes) as u64;
        Account { most, wanted: 0, granted: 0, in_line: false, is_idle: false }
    }
}

/// A grant that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Whom the host grants it to, by the number that it joined with.
    pub to: u32,
    /// All credit since the connection began.
    pub total: u64,
}

/// Whoever has the accounts of the receivers of a host, by the numbers that they joined with.
pub trait Accounts {
    /// Returns the account of this number, or `None` if its receiver is gone.
    fn account(&mut self, number: u32) -> Option<&mut Account>;
}

/// Shares the credits of one host between its receivers.
#[derive(Clone, Debug)]
pub struct Pacer {
    rate_bps: f64,
    /// Bytes of a full grant.
    full: u64,
    line: VecDeque<u32>,
    idle: VecDeque<u32>,
    /// When the next grant is due; none while nobody is in line.
    due: Option<Time>,
    adaptation: Option<Adaptation>,
}

impl Pacer {
    /// Returns the pacer of a host whose interface has this line rate, on a network of this base round-trip time.
    pub fn new(options: &Options, line_bps: f64, base_rtt: Span, stream: Stream) -> Pacer {
        Pacer {
            rate_bps: line_bps * options.grant_share,
            full: u64::from(options.grant) * (options.mtu.0 + options.headers.0),
            line: VecDeque::new(),
            idle: VecDeque::new(),
            due: None,
            adaptation: options.grant_least.map(|least| Adaptation::new(base_rtt, least, stream)),
        }
    }

    /// Returns when [`Pacer::grant`] is due.
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// A packet with or without its payload is in, which says what its sender wants.
    pub fn on_packet(&mut self, now: Time, number: u32, account: &mut Account, wants: u64, is_needed: bool) {
        account.wanted = account.wanted.max(wants);
        if account.in_line || !(is_needed || account.wanted > account.granted) {
            return;
        }
        account.in_line = true;
        if std::mem::take(&mut account.is_idle) {
            self.idle.retain(|&other| other != number);
        }
        self.line.push_back(number);
        self.due.get_or_insert(now);
    }

    /// What a packet of data has met.
    pub fn on_met(&mut self, now: Time, marked: bool, trimmed: Option<bool>) {
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.catch_up(now);
            adaptation.count(marked, trimmed);
        }
    }

    /// Grants what is due.
    pub fn grant(&mut self, now: Time, accounts: &mut dyn Accounts) -> Option<Grant> {
        while let Some(to) = self.line.pop_front() {
            let Some(account) = accounts.account(to) else { continue };
            let more = account.wanted.saturating_sub(account.granted).min(self.full);
            account.granted += more;
            account.in_line = account.wanted > account.granted;
            if account.in_line {
                self.line.push_back(to);
            } else {
                account.is_idle = true;
                self.idle.push_back(to);
            }
            let total = account.granted;
            // Some time passes even if nothing is granted.
            self.wait(now, more.max(1024));
            return Some(Grant { to, total });
        }
        while let Some(to) = self.idle.pop_front() {
            let Some(account) = accounts.account(to) else { continue };
            account.granted += self.full;
            account.is_idle = account.granted - account.wanted.min(account.granted) < account.most;
            if account.is_idle {
                self.idle.push_back(to);
            }
            let total = account.granted;
            self.wait(now, self.full);
            return Some(Grant { to, total });
        }
        self.due = None;
        None
    }

    /// A receiver is gone.
    pub fn forget(&mut self, number: u32) {
        self.line.retain(|&other| other != number);
        self.idle.retain(|&other| other != number);
    }

    fn wait(&mut self, now: Time, bytes: u64) {
        let share = self.adaptation.as_mut().map_or(1.0, |adaptation| {
            adaptation.catch_up(now);
            adaptation.rate
        });
        self.due = Some(now.saturating_add(Span::from_seconds(bytes as f64 * 8.0 / (self.rate_bps * share))));
    }
}

/// Steps of the rate of grants, and the share of marked packets that is taken.
const INCREASE: f64 = 0.01;
const DECREASE: f64 = 0.5;
const MARKED: f64 = 0.3;
const WEIGHT: f64 = 0.5;
/// Base round-trip times from one step to the next: least, and how many more at most.
const PERIOD: (f64, f64) = (1.125, 0.75);
/// Steps that can matter: after these the rate is 1.
const STEPS_MAX: u32 = 16;

/// The rate of grants as the network allows.
#[derive(Clone, Debug)]
struct Adaptation {
    base_rtt: Span,
    least: f64,
    stream: Stream,
    next: Time,
    rate: f64,
    marked: f64,
    increases: u32,
    packets: u64,
    marks: u64,
    trims: u64,
    trims_inside: u64,
}

impl Adaptation {
    fn new(base_rtt: Span, least: f64, stream: Stream) -> Adaptation {
        let mut made = Adaptation {
            base_rtt: base_rtt.max(Span::from_ns(1)),
            least,
            stream,
            next: Time::ZERO,
            rate: 1.0,
            marked: 0.0,
            increases: 0,
            packets: 0,
            marks: 0,
            trims: 0,
            trims_inside: 0,
        };
        made.next = Time::ZERO.saturating_add(made.period());
        made
    }

    fn period(&mut self) -> Span {
        let (least, more) = PERIOD;
        Span::from_seconds(self.base_rtt.seconds() * (least + more * self.stream.uniform()))
    }

    fn count(&mut self, marked: bool, trimmed: Option<bool>) {
        self.packets += 1;
        self.marks += u64::from(marked && trimmed.is_none());
        self.trims += u64::from(trimmed.is_some());
        self.trims_inside += u64::from(trimmed == Some(false));
    }

    fn catch_up(&mut self, now: Time) {
        let mut steps = 0;
        while self.next <= now {
            if steps > STEPS_MAX {
                self.next = now.saturating_add(self.period());
                return;
            }
            self.step();
            let period = self.period();
            self.next = self.next.saturating_add(period);
            steps += 1;
        }
    }

    fn step(&mut self) {
        let untrimmed = self.packets - self.trims;
        let share = if untrimmed > 0 { self.marks as f64 / untrimmed as f64 } else { 0.0 };
        let mut lowered = false;
        if self.trims_inside > 0 {
            self.rate -= self.trims_inside as f64 / self.packets as f64;
            lowered = true;
        }
        self.marked += WEIGHT * (share - self.marked);
        if self.marked > MARKED {
            self.rate *= 1.0 - (self.marked - MARKED) * DECREASE;
            lowered = true;
        }
        if lowered {
            self.increases = 0;
        } else {
            let doubled = if self.marks == 0 { self.increases.min(STEPS_MAX) } else { 0 };
            self.rate += INCREASE * f64::from(1u32 << doubled);
            self.increases += 1;
        }
        self.rate = self.rate.clamp(self.least, 1.0);
        (self.packets, self.marks, self.trims, self.trims_inside) = (0, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests;
