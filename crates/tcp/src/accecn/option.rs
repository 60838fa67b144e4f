//! The AccECN option of a sender (RFC 9768 section 3.2.3.3): when a segment carries it, and which counters.
//!
//! All three where they fit. Where SACK blocks leave less room, the last counters of its order are left out, but not those that have
//! changed since the option before; for these a third or fourth SACK block is left out (Linux `tcp_options_fit_accecn`). Stack
//! `linux` writes order 1 (kind 174: ECT(1), CE, ECT(0)), the others order 0 (kind 172: ECT(0), CE, ECT(1)), which is shorter
//! for what they send.
//!
//! An end that gets no option goes on sending its own (section 3.2.3.2.3). Linux sends none but in the SYN-ACK before it has got one, since
//! a middlebox may strip them. It also stops when data that it has reported as a duplicate comes again, if the report carried an option.

use super::{AccEcn, COUNTER_MASK, Heard, INITIAL, OPTION_FAIL_RECV, OPTION_FAIL_SEND, place};
use crate::options::{AccEcnOptions, AccEcnRule};
use crate::segment::{AccEcnOption, accecn_bytes};
use elephan_units::{Span, Time};

/// A counter that grows over a multiple of so many bytes is told, whatever the policy (RFC 9768 section 3.2.3.3; Linux
/// `tcp_ecn_received_counters`).
const TOLD_EVERY_BYTES: u32 = 1 << 22;

impl AccEcn {
    fn is_order1(&self) -> bool {
        self.rule == AccEcnRule::Linux
    }

    /// `bytes` of payload came with this codepoint.
    pub(super) fn count_bytes(&mut self, ecn: u8, bytes: u32) {
        let counter = &mut self.received[place(ecn)];
        let before = *counter;
        *counter = before.wrapping_add(bytes);
        if (*counter ^ before) & !(TOLD_EVERY_BYTES - 1) != 0 {
            self.demand = self.demand.max(1);
        }
        let fields = AccEcnOption::codepoints(self.is_order1());
        let position = fields.iter().position(|field| *field == ecn).unwrap_or(0);
        self.needs = self.needs.max(position as u8 + 1);
    }

    /// The option of the SYN-ACK: every counter as it begins.
    pub fn syn_ack_option(&self) -> AccEcnOption {
        let fields = AccEcnOption::codepoints(self.is_order1()).map(|ecn| INITIAL[place(ecn)]);
        AccEcnOption { order1: self.is_order1(), count: 3, fields }
    }

    /// It is `now`.
    pub fn set_time(&mut self, now: Time) {
        self.now = now;
    }

    /// Whether a segment, a `pure` ACK or data, carries an option now; `beacon` after the last one it does.
    pub fn sends_option(&self, policy: AccEcnOptions, pure: bool, beacon: Option<Span>) -> bool {
        let silent = self.heard == Heard::Nothing && self.rule == AccEcnRule::Linux;
        if silent || self.fails & OPTION_FAIL_SEND != 0 {
            return false;
        }
        match policy {
            AccEcnOptions::Off => false,
            AccEcnOptions::Full => true,
            AccEcnOptions::Acks => pure || self.needs > 0 || self.demand > 0,
            AccEcnOptions::Minimum => {
                self.demand > 0 || beacon.is_some_and(|beacon| self.now.since(self.option_at) >= beacon)
            }
        }
    }

    /// How many counters fit into `room` bytes beside `blocks` SACK blocks, which do not count there; and how many of the blocks
    /// stay. None if the counters that must be told do not fit.
    pub fn fit(&self, room: u32, blocks: u8) -> Option<(u8, u8)> {
        let (mut left, mut room) = (blocks, room);
        let saving = if blocks > 0 { 2 } else { 0 };
        loop {
            if let Some(count) = (self.needs..=3).rev().find(|count| accecn_bytes(*count, saving) <= room) {
                return Some((count, left));
            }
            if left <= 2 || self.needs == 0 {
                return None;
            }
            left -= 1;
            room += 8;
        }
    }

    /// The option with `count` counters, which leaves now, with the report of a duplicate that begins at this number or without.
    pub fn option(&mut self, count: u8, duplicate: Option<u32>) -> AccEcnOption {
        let order1 = self.is_order1();
        let fields = AccEcnOption::codepoints(order1)
            .map(|ecn| self.received[place(ecn)].wrapping_add(INITIAL[place(ecn)]) & COUNTER_MASK);
        (self.needs, self.option_at) = (0, self.now);
        self.demand = self.demand.saturating_sub(1);
        self.sent_with_duplicate = duplicate;
        AccEcnOption { order1, count, fields }
    }

    /// A segment leaves without an option.
    pub fn no_option(&mut self) {
        self.sent_with_duplicate = None;
    }

    /// Segments that have to carry the option from now on, whatever the policy.
    pub fn demand_options(&mut self, segments: u8) {
        if self.rule == AccEcnRule::Linux {
            self.demand = self.demand.max(segments);
        }
    }

    /// Data that begins at this number has come a second time: if its first report carried an option, that got lost.
    pub fn on_duplicate(&mut self, seq: u32) {
        if self.rule == AccEcnRule::Linux && self.sent_with_duplicate == Some(seq) {
            self.fails |= OPTION_FAIL_SEND;
        }
    }

    /// A segment of the peer carries this option (Linux `tcp_accecn_option_init`).
    pub fn hear(&mut self, option: &AccEcnOption) {
        if self.heard >= Heard::Counters {
            return;
        }
        let zeroed = [0, 2].iter().any(|i| *i < usize::from(option.count) && option.fields[*i] == 0);
        self.heard = match option.count {
            0 => Heard::Empty,
            _ if zeroed => Heard::Zeroed,
            _ => Heard::Counters,
        };
        if self.heard == Heard::Zeroed {
            self.fails |= OPTION_FAIL_RECV;
        }
    }
}
