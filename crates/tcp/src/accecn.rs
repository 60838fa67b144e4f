//! Accurate ECN feedback (AccECN, RFC 9768): the receiver counts what arrived marked, and every segment says how much.
//!
//! ```text
//! ACE        3 bits, the flags AE, CWR, ECE: CE-marked segments so far, from 5, modulo 8             section 3.2.2
//! ECEB       24 bits of the AccECN option: payload bytes that met CE, from 0                         section 3.2.3
//! EE0B       24 bits of it: payload bytes that arrived as ECT(0), from 1
//! sender     d.cep = (ACE - s.cep) mod 8, d.ceb = (ECEB - s.ceb) mod 2^24, of ACKs that report progress
//! safety     more than 7 segments acknowledged and no option: the most that ACE allows,             section 3.2.2.5.2
//!            n - ((n - d.cep) mod 8) of n; the next option corrects the bytes
//! receiver   an ACK at the first CE after a segment without, and at the second CE since the last ACK  section 3.2.2.5.1
//! ```
//!
//! Handshake (sections 3.1, 3.2.2.1 and 3.2.2.4): SYN 111; the SYN-ACK and the client's pure ACK of it, and of each repeated one, say
//! how the segment that they answer was marked (010 not, 011 ECT(1), 100 ECT(0), 110 CE). The second retransmitted SYN or SYN-ACK
//! says 000: a middlebox may have dropped the others. A server that has sent or received 000 in the handshake sends no ECT. If the
//! ACK of the SYN-ACK or the first segment after the handshake says 000, the field is mangled: its receiver sends no ECT from then
//! on and believes no feedback.
//!
//! The counter counts every acceptable segment but SYNs, pure ACKs too (section 3.2); three marked ACKs with nothing else to
//! acknowledge are answered by an ACK.
//!
//! The option is AccECN0 (kind 172) of length 8 on every ACK without data where SACK blocks leave room for it; SACK comes first.
//! Data is sent as ECT(0), so EE1B never changes and is omitted; senders do not look at EE0B, which
//! would only tell a mangled path. Left out: the option on SYN-ACKs and data, ECT on control packets and retransmissions.

use crate::segment::{ECN_CE, ECN_ECT0, ECN_ECT1};

/// Both packet counters begin here (section 3.2.1).
const CEP_INITIAL: u32 = 5;
/// The byte counter of ECT(0) begins here (section 3.2.1), that of CE at 0.
const E0B_INITIAL: u32 = 1;
const CEB_MASK: u32 = (1 << 24) - 1;
/// CE marks since the last ACK that make an ACK due, with data to acknowledge and without.
const MARKS_PER_ACK: u8 = 2;
const MARKS_PER_ACK_OF_ACKS: u8 = 3;
/// Retransmitted SYNs or SYN-ACKs that still negotiate (sections 3.1.4.1 and 3.2.3.2.2).
pub(crate) const SYN_RETRIES: u32 = 1;
/// The ACE field of a SYN that asks for AccECN.
pub(crate) const ACE_SYN: u8 = 0b111;

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

/// One end's counters.
#[derive(Clone, Debug)]
pub(crate) struct AccEcn {
    /// The receiver's: segments and bytes that came marked, bytes that came as ECT(0).
    r_cep: u32,
    r_ceb: u32,
    r_e0b: u32,
    last_was_ce: bool,
    since_ack: u8,
    /// Codepoint of the peer's SYN or SYN-ACK; whether an ACK that says it is still to be sent.
    peer_syn: u8,
    answers_syn: bool,
    /// The sender's picture of the peer's counters.
    s_cep: u32,
    s_ceb: u32,
    /// The path does not mangle the feedback.
    trusted: bool,
    /// Data is sent as ECN-capable.
    capable: bool,
    test: Test,
}

impl AccEcn {
    /// Negotiated with a SYN (or, for the client, a SYN-ACK) whose ECN codepoint was `peer_syn`.
    pub fn new(peer_syn: u8, client: bool) -> AccEcn {
        AccEcn {
            r_cep: CEP_INITIAL + u32::from(client && peer_syn == ECN_CE),
            r_ceb: 0,
            r_e0b: E0B_INITIAL,
            last_was_ce: false,
            since_ack: 0,
            peer_syn,
            answers_syn: client,
            s_cep: CEP_INITIAL,
            s_ceb: 0,
            trusted: true,
            capable: true,
            test: Test::Now,
        }
    }

    /// The peer's SYN, or for the `client` its SYN-ACK, has come again: the latest is answered (section 3.1.5).
    pub fn on_repeated_syn(&mut self, ecn: u8, client: bool) {
        self.peer_syn = ecn;
        self.answers_syn |= client;
        // A marked SYN-ACK counts once.
        if client && ecn == ECN_CE && self.r_cep == CEP_INITIAL {
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

    /// The client's first segment after its SYN has this field; it is a pure ACK or not (table 4).
    pub fn on_first_ack(&mut self, ace: u8, pure: bool) {
        if pure {
            self.s_cep = CEP_INITIAL + u32::from(ace == handshake_ace(ECN_CE));
            self.test = Test::Later;
            self.check(ace);
        }
    }

    /// A segment without SYN has this field: the first after the handshake must not say 0 (section 3.2.2.4).
    #[inline]
    pub fn on_field(&mut self, ace: u8) {
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
        }
    }

    /// Segments that came here marked; segments and bytes that the peer reported as marked.
    pub fn counted(&self) -> (u64, u64, u64) {
        let since = |counter: u32| u64::from(counter.wrapping_sub(CEP_INITIAL));
        (since(self.r_cep), since(self.s_cep), u64::from(self.s_ceb))
    }

    /// Whether data may be sent as ECN-capable.
    pub fn capable(&self) -> bool {
        self.capable
    }

    /// An acceptable segment without payload has arrived with the codepoint `ecn`; whether an ACK is due for it, where `waiting` says
    /// that something else is to be acknowledged.
    pub fn on_control(&mut self, ecn: u8, waiting: bool) -> bool {
        self.last_was_ce = ecn == ECN_CE;
        if ecn != ECN_CE {
            return false;
        }
        self.r_cep = self.r_cep.wrapping_add(1);
        self.since_ack = self.since_ack.saturating_add(1);
        self.since_ack >= if waiting { MARKS_PER_ACK } else { MARKS_PER_ACK_OF_ACKS }
    }

    /// `bytes` have arrived with the codepoint `ecn`; whether an ACK is due for it.
    pub fn on_data(&mut self, ecn: u8, bytes: u32) -> bool {
        let ce = ecn == ECN_CE;
        if ecn == ECN_ECT0 {
            self.r_e0b = self.r_e0b.wrapping_add(bytes) & CEB_MASK;
        }
        let changed = ce && !self.last_was_ce;
        self.last_was_ce = ce;
        if ce {
            self.r_cep = self.r_cep.wrapping_add(1);
            self.r_ceb = self.r_ceb.wrapping_add(bytes) & CEB_MASK;
            self.since_ack = self.since_ack.saturating_add(1);
        }
        changed || self.since_ack >= MARKS_PER_ACK
    }

    /// The ACE field of the next segment, and EE0B and ECEB.
    pub fn feedback(&mut self, pure: bool) -> (u8, (u32, u32)) {
        self.since_ack = 0;
        let ace = match std::mem::take(&mut self.answers_syn) && pure {
            true => handshake_ace(self.peer_syn),
            false => (self.r_cep & 7) as u8,
        };
        (ace, (self.r_e0b, self.r_ceb))
    }

    /// An ACK that delivered `delivered` bytes in segments of `mss` has this ACE field and, with the option, this ECEB.
    pub fn take(&mut self, ace: u8, ceb: Option<u32>, delivered: u64, mss: u64) -> Marked {
        if !self.trusted || delivered == 0 {
            return Marked::default();
        }
        let least = u64::from(u32::from(ace).wrapping_sub(self.s_cep) & 7);
        let acked = delivered.div_ceil(mss);
        let marked = match ceb {
            None => {
                let segments = if acked > 7 { acked - (acked.wrapping_sub(least) & 7) } else { least };
                Marked { segments, bytes: segments * mss }
            }
            Some(ceb) => {
                let ahead = ceb.wrapping_sub(self.s_ceb) & CEB_MASK;
                // What was estimated without the option was too much.
                let bytes = if ahead > CEB_MASK / 2 { 0 } else { u64::from(ahead) };
                let turns = bytes.div_ceil(mss).saturating_sub(least).div_ceil(8);
                Marked { segments: least + 8 * turns, bytes }
            }
        };
        self.s_cep = self.s_cep.wrapping_add(marked.segments as u32);
        self.s_ceb = ceb.unwrap_or(self.s_ceb.wrapping_add(marked.bytes as u32) & CEB_MASK);
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::ECN_NOT_ECT;

    const MSS: u64 = 1000;

    /// Tables 2 and 3 of RFC 9768.
    #[test]
    fn the_handshake_says_how_the_syn_arrived() {
        let table = [(ECN_NOT_ECT, 0b010), (ECN_ECT1, 0b011), (ECN_ECT0, 0b100), (ECN_CE, 0b110)];
        for (ecn, ace) in table {
            assert_eq!(AccEcn::new(ecn, false).syn_ack_ace(), ace);
            let mut client = AccEcn::new(ecn, true);
            assert_eq!(client.feedback(true).0, ace);
            // Then the counter: 5, or 6 if the SYN-ACK was marked.
            assert_eq!(client.feedback(true).0, if ecn == ECN_CE { 6 } else { 5 });
            // With data the counter counts at once.
            assert_eq!(AccEcn::new(ecn, true).feedback(false).0, if ecn == ECN_CE { 6 } else { 5 });
        }
    }

    /// Table 4: 110 tells of a marked SYN-ACK, 000 of a mangled header; data has the counter.
    #[test]
    fn what_the_server_reads_in_the_first_ack() {
        let after = |ace, pure| {
            let mut server = AccEcn::new(ECN_NOT_ECT, false);
            server.on_first_ack(ace, pure);
            (server.s_cep, server.trusted)
        };
        for ace in [0b001, 0b010, 0b011, 0b100, 0b101, 0b111] {
            assert_eq!(after(ace, true), (5, true));
        }
        assert_eq!(after(0b110, true), (6, true));
        assert_eq!(after(0b000, true), (5, false));
        assert_eq!(after(0b000, false), (5, true));
    }

    /// Section 3.2.2.4: the first field after the handshake, not the handshake's own; a server that has seen 000 only sends no ECT.
    #[test]
    fn a_zeroed_field_is_found_in_the_first_segment_after_the_handshake() {
        let after = |fields: &[u8]| {
            let mut client = AccEcn::new(ECN_NOT_ECT, true);
            fields.iter().for_each(|ace| client.on_field(*ace));
            (client.trusted, client.capable)
        };
        assert_eq!(after(&[0]), (false, false));
        assert_eq!(after(&[5, 0]), (true, true));
        let mut server = AccEcn::new(ECN_NOT_ECT, false);
        server.on_first_ack(0b010, true);
        server.on_field(0b010);
        assert!(server.trusted);
        server.on_field(0);
        assert!(!server.trusted);
        let mut server = AccEcn::new(ECN_NOT_ECT, false);
        server.stop_ect();
        assert_eq!((server.trusted, server.capable), (true, false));
    }

    /// Section 3.2: marked pure ACKs count; section 3.2.2.5.1: the third is acknowledged, with data that waits the second.
    #[test]
    fn marked_acks_count() {
        for (waiting, expected) in [(false, [false, false, true]), (true, [false, true, true])] {
            let mut r = AccEcn::new(ECN_NOT_ECT, false);
            assert_eq!([0; 3].map(|_| r.on_control(ECN_CE, waiting)), expected);
            assert_eq!(r.feedback(true), (0, (1, 0)));
            assert!(!r.on_control(ECN_NOT_ECT, waiting));
        }
    }

    /// Section 3.2.2.1: the ACK of a repeated SYN-ACK has the handshake's encoding again, of the latest; a mark counts once.
    #[test]
    fn a_repeated_syn_ack_is_answered_as_the_first() {
        let mut client = AccEcn::new(ECN_NOT_ECT, true);
        assert_eq!(client.feedback(true).0, 0b010);
        for _ in 0..2 {
            client.on_repeated_syn(ECN_CE, true);
            assert_eq!((client.feedback(true).0, client.feedback(true).0), (0b110, 6));
        }
    }

    /// From 5: 6, 7, 0, 1, ...; bytes of payload.
    #[test]
    fn the_receiver_counts_modulo_eight() {
        let mut r = AccEcn::new(ECN_NOT_ECT, false);
        let aces: Vec<(u8, (u32, u32))> = (0..5)
            .map(|_| {
                r.on_data(ECN_CE, 1000);
                r.feedback(true)
            })
            .collect();
        assert_eq!(aces, [(6, (1, 1000)), (7, (1, 2000)), (0, (1, 3000)), (1, (1, 4000)), (2, (1, 5000))]);
        r.on_data(ECN_ECT0, 1000);
        assert_eq!(r.feedback(true), (2, (1001, 5000)));
        r.on_data(ECN_NOT_ECT, 1000);
        assert_eq!(r.feedback(true), (2, (1001, 5000)));
    }

    /// Section 3.2.2.5.1: the first mark after an unmarked segment, then every second.
    #[test]
    fn changes_and_pairs_of_marks_are_acknowledged() {
        let mut r = AccEcn::new(ECN_NOT_ECT, false);
        let mut due = Vec::new();
        for ce in [false, true, true, true, true, false, true] {
            due.push(r.on_data(if ce { ECN_CE } else { ECN_ECT0 }, 1000));
            if due.last() == Some(&true) {
                r.feedback(true);
            }
        }
        assert_eq!(due, [false, true, false, true, false, false, true]);
    }

    /// The option gives bytes exactly; the packet counter follows it over whole turns.
    #[test]
    fn the_option_is_exact_across_turns() {
        let mut s = AccEcn::new(ECN_NOT_ECT, false);
        // 3 of 3 segments: ACE 5 + 3 = 8 = 0.
        assert_eq!(s.take(0, Some(3000), 3 * MSS, MSS), Marked { segments: 3, bytes: 3000 });
        // 20 more of 40: 8 + 20 = 28 = 4 modulo 8.
        assert_eq!(s.take(4, Some(23_000), 40 * MSS, MSS), Marked { segments: 20, bytes: 20_000 });
        // Nothing new, and an ACK without progress says nothing.
        assert_eq!(s.take(4, Some(23_000), 40 * MSS, MSS), Marked::default());
        assert_eq!(s.take(7, Some(99_000), 0, MSS), Marked::default());
    }

    /// ECEB turns over at 2^24 = 16 777 216.
    #[test]
    fn the_byte_counter_wraps() {
        let mut s = AccEcn::new(ECN_NOT_ECT, false);
        s.s_ceb = 16_777_000;
        assert_eq!(s.take(6, Some(784), 2 * MSS, MSS).bytes, 1000);
        let mut r = AccEcn::new(ECN_NOT_ECT, false);
        r.r_ceb = 16_777_000;
        r.on_data(ECN_CE, 1000);
        assert_eq!(r.feedback(true).1.1, 784);
    }

    /// Section 3.2.2.5.2 without the option: 2 of 5 are 2; with 10 acknowledged a difference of 2 may be 10, and is
    /// taken for it; of 20 acknowledged, 18; of 9, 2.
    #[test]
    fn without_the_option_the_safest_likely_case_counts() {
        for (acked, expected) in [(5, 2), (7, 2), (9, 2), (10, 10), (17, 10), (20, 18)] {
            let mut s = AccEcn::new(ECN_NOT_ECT, false);
            let marked = s.take(7, None, acked * MSS, MSS);
            assert_eq!((marked.segments, marked.bytes), (expected, expected * 1000), "{acked}");
        }
    }

    /// An estimate that was too high is corrected by the next option, and is not counted twice when it was right.
    #[test]
    fn the_next_option_corrects_an_estimate() {
        let mut s = AccEcn::new(ECN_NOT_ECT, false);
        assert_eq!(s.take(7, None, 10 * MSS, MSS).bytes, 10_000);
        // There had been two marks: 5 + 2 = 7. One more: 8 = 0, 3000 bytes.
        assert_eq!(s.take(0, Some(3000), MSS, MSS), Marked { segments: 1, bytes: 0 });
        assert_eq!(s.take(1, Some(4000), MSS, MSS), Marked { segments: 1, bytes: 1000 });
        let mut s = AccEcn::new(ECN_NOT_ECT, false);
        assert_eq!(s.take(7, None, 2 * MSS, MSS).bytes, 2000);
        assert_eq!(s.take(0, Some(3000), MSS, MSS), Marked { segments: 1, bytes: 1000 });
    }
}
