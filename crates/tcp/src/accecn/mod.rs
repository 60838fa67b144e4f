//! Accurate ECN feedback (AccECN, RFC 9768): the receiver counts what arrived marked, and every segment says how much.
//!
//! ```text
//! ACE        3 bits, the flags AE, CWR, ECE: CE-marked segments so far, from 5, modulo 8             section 3.2.2
//! option     24 bits each: payload bytes that arrived as ECT(0), from 1, with CE, from 0, as ECT(1), from 1   section 3.2.3
//! receiver   an ACK at the first CE after a segment without, and at the second CE since the last ACK  section 3.2.2.5.1
//! ```
//!
//! Handshake (sections 3.1, 3.2.2.1 and 3.2.2.4): SYN 111; the SYN-ACK and the client's pure ACK of it, and of each retransmitted one, say
//! how the segment that they answer was marked (010 not, 011 ECT(1), 100 ECT(0), 110 CE). The second retransmitted SYN or SYN-ACK
//! says 000: a middlebox may have dropped the others. A server that has sent or received 000 in the handshake sends no ECT. If the
//! ACK of the SYN-ACK or the first segment after the handshake says 000, the field is mangled: its receiver sends no ECT from then
//! on and believes no feedback. Neither does an end send ECT whose unmarked SYN or SYN-ACK is said to have arrived marked (section 3.2.2.3).
//!
//! The counter counts every acceptable segment but SYNs, pure ACKs too (section 3.2); three marked ACKs with nothing else to
//! acknowledge are answered by an ACK. Linux acknowledges data at once whose codepoint is another than that of the segment before.
//!
//! What the feedback means to the sender: [`feedback`]. Which counters an option carries, and when it is sent: [`option`].

mod feedback;
mod option;

use crate::options::AccEcnRule;
use crate::segment::{ECN_CE, ECN_ECT0, ECN_ECT1, ECN_NOT_ECT};
use elephan_units::Time;
pub(crate) use feedback::Progress;

/// Both packet counters begin here (section 3.2.1).
const CEP_INITIAL: u32 = 5;
/// Where the byte counters of ECT(1), ECT(0) and CE begin on the wire (section 3.2.1).
const INITIAL: [u32; 3] = [1, 1, 0];
const COUNTER_MASK: u32 = (1 << 24) - 1;
/// CE marks since the last ACK that make an ACK due, with data to acknowledge and without; under Linux with data only.
const MARKS_PER_ACK: u8 = 2;
const MARKS_PER_ACK_OF_ACKS: u8 = 3;
const MARKS_PER_ACK_OF_LINUX: u8 = 6;
/// Retransmitted SYNs or SYN-ACKs that still negotiate (sections 3.1.4.1 and 3.2.3.2.2).
pub(crate) const SYN_RETRIES: u32 = 1;
/// The ACE field of a SYN that asks for AccECN.
pub(crate) const ACE_SYN: u8 = 0b111;

/// Bits of `accecn_fail_mode` of [`crate::Info`]: the ACE field or the option does not get through, as sent or as received.
const ACE_FAIL_RECV: u8 = 2;
const OPTION_FAIL_SEND: u8 = 4;
const OPTION_FAIL_RECV: u8 = 8;

/// The place of a codepoint in what is counted by codepoint.
const fn place(ecn: u8) -> usize {
    ecn as usize - 1
}

/// The ACE field that answers a SYN or SYN-ACK whose ECN codepoint was `ecn` (tables 2 and 3).
pub(crate) const fn handshake_ace(ecn: u8) -> u8 {
    match ecn {
        ECN_ECT1 => 0b011,
        ECN_ECT0 => 0b100,
        ECN_CE => 0b110,
        _ => 0b010,
    }
}

/// What an ACK reports: segments and bytes that met congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    pub segments: u64,
    pub bytes: u64,
}

/// What the next segment's ACE field is tested for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    /// It is the handshake's own.
    Later,
    /// It is the first after the handshake.
    Now,
    Done,
}

/// The option as the peer has sent it so far (Linux `saw_accecn_opt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Heard {
    #[default]
    Nothing,
    Empty,
    Counters,
    /// A counter that begins at 1 was 0.
    Zeroed,
}

/// What AccECN adds to [`crate::Info`]. Bytes are of ECT(1), ECT(0), CE.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub received_ce: u64,
    pub delivered_ce: u64,
    pub received: [u64; 3],
    pub delivered: [u64; 3],
    pub fail_mode: u64,
    pub opt_seen: u64,
}

/// One end's counters.
#[derive(Clone, Debug)]
pub(crate) struct AccEcn {
    rule: AccEcnRule,
    /// The receiver's: segments that came marked, and bytes by codepoint: ECT(1), ECT(0), CE.
    r_cep: u32,
    received: [u32; 3],
    /// The codepoint of the last segment; marks since the last ACK.
    last: u8,
    since_ack: u8,
    /// Codepoint of the peer's SYN or SYN-ACK; whether an ACK that says it is still to be sent.
    peer_syn: u8,
    answers_syn: bool,
    /// Counters that the next option has to have; segments that have to carry it, whatever the policy.
    needs: u8,
    demand: u8,
    /// The time, and when an option was last sent; whether that segment reported a duplicate, and where this begins.
    now: Time,
    option_at: Time,
    sent_with_duplicate: Option<u32>,
    heard: Heard,
    fails: u8,
    /// The sender's picture of the peer's counters.
    s_cep: u32,
    delivered: [u32; 3],
    /// Linux: the codepoint that alone has grown of late, 0 if none; segments that an ACK delivers, on average and in 64ths.
    estimate: u8,
    ewma: u32,
    /// The path does not mangle the feedback.
    trusted: bool,
    /// Data is sent as ECN-capable.
    capable: bool,
    test: Test,
    /// The field of the present segment is that of the handshake, no counter.
    answered: bool,
}

impl AccEcn {
    /// Negotiated with a SYN (or, for the client, a SYN-ACK) whose ECN codepoint was `peer_syn`.
    pub fn new(rule: AccEcnRule, peer_syn: u8, client: bool) -> AccEcn {
        AccEcn {
            rule,
            r_cep: CEP_INITIAL + u32::from(client && peer_syn == ECN_CE),
            received: [0; 3],
            last: if client && rule == AccEcnRule::Linux { ECN_NOT_ECT } else { peer_syn },
            since_ack: 0,
            peer_syn,
            answers_syn: client,
            needs: 0,
            demand: 0,
            now: Time::ZERO,
            option_at: Time::ZERO,
            sent_with_duplicate: None,
            heard: Heard::Nothing,
            fails: 0,
            s_cep: CEP_INITIAL,
            delivered: [0; 3],
            estimate: 0,
            ewma: 0,
            trusted: true,
            capable: true,
            test: Test::Now,
            answered: false,
        }
    }

    /// The peer's SYN, or its SYN-ACK that an ACK is to `answer`, has come again: the latest is answered (section 3.1.5).
    pub fn on_repeated_syn(&mut self, ecn: u8, answer: bool) {
        self.peer_syn = ecn;
        self.answers_syn |= answer;
        // A marked SYN-ACK counts once.
        if answer && ecn == ECN_CE && self.r_cep == CEP_INITIAL {
            self.r_cep += 1;
        }
    }

    /// The handshake of a server has carried no ECN flags (section 3.1.5): the client may do without.
    pub fn stop_ect(&mut self) {
        self.capable = false;
    }

    /// Whether an ACK is still to tell how the SYN-ACK was marked.
    pub fn answers_syn(&self) -> bool {
        self.answers_syn
    }

    /// The ACE field of the SYN-ACK.
    pub fn syn_ack_ace(&self) -> u8 {
        handshake_ace(self.peer_syn)
    }

    /// The peer has answered this end's unmarked SYN or SYN-ACK with this ACE field: whether it can have arrived so (section
    /// 3.2.2.3; Linux `tcp_accecn_validate_syn_feedback`). If not, the path changes codepoints, and no ECT is sent.
    fn check_answer(&mut self, ace: u8) -> bool {
        let unchanged = !matches!(ace, 0b011 | 0b100 | 0b110);
        if !unchanged {
            self.capable = false;
            self.fails |= ACE_FAIL_RECV;
        }
        unchanged
    }

    /// The SYN-ACK of the peer has this field; `checks`: what it says of the own SYN must be right.
    pub fn on_syn_ack(&mut self, ace: u8, checks: bool) {
        if checks {
            self.check_answer(ace);
        }
    }

    /// The client's first segment after its SYN has this field; it is a pure ACK or not (table 4). `checks`: what it says of the own
    /// SYN-ACK must be right.
    pub fn on_first_ack(&mut self, ace: u8, pure: bool, checks: bool) {
        if pure {
            let believed = !checks || self.check_answer(ace) || self.rule == AccEcnRule::Rfc9768;
            self.s_cep = CEP_INITIAL + u32::from(ace == handshake_ace(ECN_CE) && believed);
            self.test = Test::Later;
            self.check(ace);
        }
    }

    /// A segment without SYN has this field: the first after the handshake must not say 0 (section 3.2.2.4).
    #[inline]
    pub fn on_field(&mut self, ace: u8) {
        self.answered = self.test == Test::Later;
        match self.test {
            Test::Done => {}
            Test::Later => self.test = Test::Now,
            Test::Now => {
                self.test = Test::Done;
                self.check(ace);
            }
        }
    }

    fn check(&mut self, ace: u8) {
        if ace == 0 {
            (self.trusted, self.capable) = (false, false);
            self.fails |= ACE_FAIL_RECV;
        }
    }

    /// What was counted, for [`crate::Info`].
    pub fn counted(&self) -> Counted {
        let since = |counter: u32| u64::from(counter.wrapping_sub(CEP_INITIAL));
        Counted {
            received_ce: since(self.r_cep),
            delivered_ce: since(self.s_cep),
            received: self.received.map(u64::from),
            delivered: self.delivered.map(u64::from),
            fail_mode: self.fails.into(),
            opt_seen: self.heard as u64,
        }
    }

    /// Whether data may be sent as ECN-capable.
    pub fn capable(&self) -> bool {
        self.capable
    }

    /// Whether every segment of this end is ECN-capable, not only new data (Linux `tcp_ecn_send`).
    pub fn marks_all(&self) -> bool {
        self.capable && self.rule == AccEcnRule::Linux
    }

    /// An acceptable segment with `bytes` of payload has arrived with the codepoint `ecn`; returns whether an ACK is due for it, where
    /// `waiting` says that something else is to be acknowledged.
    pub fn on_segment(&mut self, ecn: u8, bytes: u32, waiting: bool) -> bool {
        let ce = ecn == ECN_CE;
        let before = std::mem::replace(&mut self.last, ecn);
        if bytes > 0 && ecn != ECN_NOT_ECT {
            self.count_bytes(ecn, bytes);
        }
        if ce {
            self.r_cep = self.r_cep.wrapping_add(1);
            self.since_ack = self.since_ack.saturating_add(1);
        }
        match (self.rule, bytes) {
            (AccEcnRule::Rfc9768, 0) => {
                ce && self.since_ack >= if waiting { MARKS_PER_ACK } else { MARKS_PER_ACK_OF_ACKS }
            }
            (AccEcnRule::Rfc9768, _) => (ce && before != ECN_CE) || self.since_ack >= MARKS_PER_ACK,
            (AccEcnRule::Linux, _) => {
                if ce || before != ecn {
                    self.demand = 2;
                }
                bytes > 0 && (before != ecn || self.since_ack >= MARKS_PER_ACK_OF_LINUX)
            }
        }
    }

    /// The ACE field of the next segment.
    pub fn ace(&mut self, pure: bool) -> u8 {
        self.since_ack = 0;
        match std::mem::take(&mut self.answers_syn) && pure {
            true => handshake_ace(self.peer_syn),
            false => (self.r_cep & 7) as u8,
        }
    }
}

#[cfg(test)]
mod tests;
