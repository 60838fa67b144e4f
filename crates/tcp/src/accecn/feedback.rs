//! What the feedback of a peer means to the sender.
//!
//! RFC 9768 (sections 3.2.2.5.2 and A.2):
//!
//! ```text
//! d.cep = (ACE - s.cep) mod 8, d.ceb = (ECEB - s.ceb) mod 2^24, of ACKs that report progress
//! more than 7 segments acknowledged and no option: the most that ACE allows, n - ((n - d.cep) mod 8) of n; the next option
//! corrects the bytes
//! ```
//!
//! Linux (`tcp_accecn_process`): a newer timestamp is progress too. Of more than 7 segments the least that ACE allows, d.cep, if ACKs
//! cover more than 4 segments on average or the option says that no byte more was marked, or fewer than half of what the most would
//! make; else the most. Where one counter alone grows, what an ACK without an option delivers is added to it.

use super::{AccEcn, COUNTER_MASK, Heard, INITIAL, Marked, OPTION_FAIL_RECV, place};
use crate::options::AccEcnRule;
use crate::segment::{AccEcnOption, ECN_CE};

/// Linux `PKTS_ACKED_PREC` and `PKTS_ACKED_WEIGHT`, `ACK_COMP_THRESH`, `TCP_ACCECN_SAFETY_SHIFT`.
const EWMA_SHIFT: u32 = 6;
const COMPRESSED_SEGMENTS: u32 = 4;
const SAFETY_SHIFT: u32 = 1;
/// Bytes after which Linux takes no option any more if none has come: counters may have turned over.
const LATE_BYTES: u64 = (1 << 23) - 1;

/// What an ACK did, as far as the feedback depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Newly acknowledged, cumulatively or by SACK.
    pub segments: u64,
    pub bytes: u64,
    /// Its timestamp is newer than the last.
    pub newer: bool,
    pub mss: u64,
    /// The peer sends SACK blocks, or nothing recovers.
    pub reliable: bool,
    /// Payload sent so far.
    pub sent: u64,
}

/// The wire's `counter` of 24 bits brings `known` up to date; returns by how much it has grown, or shrunk.
fn update(known: &mut u32, counter: u32, initial: u32) -> i32 {
    let grown = counter.wrapping_sub(initial).wrapping_sub(*known) & COUNTER_MASK;
    // Of 24 bits the highest is the sign: an estimate was too much.
    let delta = (grown << 8).cast_signed() >> 8;
    *known = known.wrapping_add_signed(delta);
    delta
}

impl AccEcn {
    /// An ACK has this ACE field and, perhaps, an option.
    pub fn take(&mut self, ace: u8, option: Option<&AccEcnOption>, p: &Progress) -> Marked {
        if !self.trusted || self.answered {
            return Marked::default();
        }
        match self.rule {
            AccEcnRule::Rfc9768 if p.bytes == 0 => Marked::default(),
            AccEcnRule::Rfc9768 => self.take_rfc(ace, option, p),
            AccEcnRule::Linux if p.bytes == 0 && p.segments == 0 && !p.newer => Marked::default(),
            AccEcnRule::Linux => self.take_linux(ace, option, p),
        }
    }

    fn take_rfc(&mut self, ace: u8, option: Option<&AccEcnOption>, p: &Progress) -> Marked {
        let least = u64::from(u32::from(ace).wrapping_sub(self.s_cep) & 7);
        let acked = p.bytes.div_ceil(p.mss);
        let before = self.delivered[place(ECN_CE)];
        let told = option.filter(|_| self.fails & OPTION_FAIL_RECV == 0).is_some_and(|option| {
            self.update_bytes(option);
            option.counter(ECN_CE).is_some()
        });
        let marked = if told {
            // What was estimated without the option was too much.
            let bytes =
                u64::from(self.delivered[place(ECN_CE)].wrapping_sub(before).cast_signed().max(0).cast_unsigned());
            let turns = bytes.div_ceil(p.mss).saturating_sub(least).div_ceil(8);
            Marked { segments: least + 8 * turns, bytes }
        } else {
            let segments = if acked > 7 { acked - (acked.wrapping_sub(least) & 7) } else { least };
            let bytes = segments * p.mss;
            self.delivered[place(ECN_CE)] = before.wrapping_add(bytes as u32);
            Marked { segments, bytes }
        };
        self.s_cep = self.s_cep.wrapping_add(marked.segments as u32);
        marked
    }

    fn update_bytes(&mut self, option: &AccEcnOption) {
        for (ecn, counter) in option.counters() {
            update(&mut self.delivered[place(ecn)], counter, INITIAL[place(ecn)]);
        }
    }

    fn take_linux(&mut self, ace: u8, option: Option<&AccEcnOption>, p: &Progress) -> Marked {
        let before = self.delivered[place(ECN_CE)];
        let valid = self.take_option(option, p);
        if p.segments > 0 {
            let now = (p.segments << EWMA_SHIFT) as u32;
            let ewma = match self.ewma {
                0 => now,
                old => ((old << EWMA_SHIFT) - old + now) >> EWMA_SHIFT,
            };
            self.ewma = ewma.min(0xFFFF);
        }
        let grown = u64::from(self.delivered[place(ECN_CE)].wrapping_sub(before));
        let segments = self.estimate_segments(ace, valid.then_some(grown), p);
        self.s_cep = self.s_cep.wrapping_add(segments as u32);
        let bytes = if valid { grown } else { segments * p.mss };
        Marked { segments, bytes: if segments > 0 { bytes } else { 0 } }
    }

    /// `__tcp_accecn_process`: how many segments met congestion, of whose bytes the option says `grown`.
    fn estimate_segments(&self, ace: u8, grown: Option<u64>, p: &Progress) -> u64 {
        let least = u64::from(u32::from(ace).wrapping_sub(self.s_cep) & 7);
        let acked = p.segments;
        if acked <= 7 {
            return least;
        }
        let most = acked - (acked.wrapping_sub(least) & 7);
        let Some(grown) = grown else {
            return if self.ewma > COMPRESSED_SEGMENTS << EWMA_SHIFT { least } else { most };
        };
        if grown == 0 {
            return least;
        }
        if acked >= 16 && p.reliable {
            if p.bytes <= grown {
                return most;
            }
            let estimate = (grown * acked).div_ceil(p.bytes);
            return most.min(least + (estimate & !7));
        }
        if grown > least * p.mss {
            most
        } else if grown < (most * p.mss) >> SAFETY_SHIFT {
            least
        } else {
            most
        }
    }

    /// `tcp_accecn_process_option`: the counters; returns whether the bytes with CE are known.
    fn take_option(&mut self, option: Option<&AccEcnOption>, p: &Progress) -> bool {
        if self.fails & OPTION_FAIL_RECV != 0 {
            return false;
        }
        let Some(option) = option else {
            if self.heard == Heard::Nothing {
                if p.sent >= LATE_BYTES {
                    self.heard = Heard::Zeroed;
                    self.fails |= OPTION_FAIL_RECV;
                }
                return false;
            }
            if self.estimate != 0 {
                let counter = &mut self.delivered[place(self.estimate)];
                *counter = counter.wrapping_add(p.bytes as u32);
            }
            return self.estimate != 0;
        };
        let estimate = self.estimate;
        let (mut known, mut ambiguous, mut changed) = (estimate != 0, false, false);
        for (ecn, counter) in option.counters() {
            let delta = update(&mut self.delivered[place(ecn)], counter, INITIAL[place(ecn)]);
            if delta < 0 {
                (known, ambiguous) = (false, true);
            }
            if delta != 0 && ecn != estimate {
                if changed {
                    (known, ambiguous) = (false, true);
                } else {
                    (self.estimate, changed) = (ecn, true);
                }
            }
        }
        if ambiguous {
            self.estimate = 0;
        }
        known
    }
}
