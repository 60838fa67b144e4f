//! TCP Fast Open (RFC 7413): cookies, what a client remembers of a server, and the pause after a black hole.
//!
//! - The first connection asks for a cookie (option 34 without a value). The server's SYN-ACK grants one.
//! - Later connections send the cookie and data in the SYN. A server that finds the cookie valid hands the data to its
//!   application at once and may answer before the handshake is over.
//! - A server that does not take the data acknowledges the SYN alone; the client then retransmits the data. A SYN that is
//!   retransmitted carries neither the option nor data.
//! - A host keeps the MSS of the server beside the cookie, as it bounds the data of the next SYN, which leaves room for 40 bytes of
//!   options (section 4.1.3.1; Linux `tcp_send_syn_data`).
//! - What the option says travels in the place of the SACK blocks, which no SYN has.

use crate::segment::{Flags, SackBlocks, Segment};
use elephan_units::{Span, Time};

/// Shortest and longest cookie (RFC 7413 section 4.1.1).
pub const COOKIE_MIN_BYTES: usize = 4;
pub const COOKIE_MAX_BYTES: usize = 16;
/// Options that middleboxes may add to a SYN: data leaves room for as much as a header can hold.
pub(crate) const OPTION_SPACE_BYTES: u64 = 40;
/// `Segment::sack_len` of a SYN: the option has the experimental form (kind 254, 0xF989).
const EXPERIMENTAL: u8 = 0x20;
const LENGTH: u8 = 0x1F;

/// A Fast Open cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookie {
    bytes: [u8; COOKIE_MAX_BYTES],
    len: u8,
}

impl Cookie {
    /// A cookie of 4 to 16 bytes, an even number of them; none if `bytes` is no cookie.
    pub fn new(bytes: &[u8]) -> Option<Cookie> {
        let fits = (COOKIE_MIN_BYTES..=COOKIE_MAX_BYTES).contains(&bytes.len()) && bytes.len().is_multiple_of(2);
        fits.then(|| {
            let mut cookie = Cookie { bytes: [0; COOKIE_MAX_BYTES], len: bytes.len() as u8 };
            cookie.bytes[..bytes.len()].copy_from_slice(bytes);
            cookie
        })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The cookie that a server with the secret `key` gives the client at `source` (Linux `__tcp_fastopen_cookie_gen_cipher`:
    /// SipHash of both addresses).
    pub fn of(key: &[u8; 16], source: [u8; 4], destination: [u8; 4]) -> Cookie {
        let mut addresses = [0; 8];
        addresses[..4].copy_from_slice(&source);
        addresses[4..].copy_from_slice(&destination);
        let mut cookie = Cookie { bytes: [0; COOKIE_MAX_BYTES], len: 8 };
        cookie.bytes[..8].copy_from_slice(&siphash(key, addresses).to_le_bytes());
        cookie
    }
}

/// SipHash-2-4 of eight bytes (Aumasson and Bernstein 2012).
fn siphash(key: &[u8; 16], message: [u8; 8]) -> u64 {
    let half = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| key[at + i]));
    let (k0, k1) = (half(0), half(8));
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let rounds = |v: &mut [u64; 4], count: u32| {
        for _ in 0..count {
            v[0] = v[0].wrapping_add(v[1]);
            v[1] = v[1].rotate_left(13) ^ v[0];
            v[0] = v[0].rotate_left(32);
            v[2] = v[2].wrapping_add(v[3]);
            v[3] = v[3].rotate_left(16) ^ v[2];
            v[0] = v[0].wrapping_add(v[3]);
            v[3] = v[3].rotate_left(21) ^ v[0];
            v[2] = v[2].wrapping_add(v[1]);
            v[1] = v[1].rotate_left(17) ^ v[2];
            v[2] = v[2].rotate_left(32);
        }
    };
    // The last word holds the length of the message, eight, in its highest byte.
    for word in [u64::from_le_bytes(message), 8 << 56] {
        v[3] ^= word;
        rounds(&mut v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xFF;
    rounds(&mut v, 4);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

/// The Fast Open option of a SYN or SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenOption {
    /// None asks for a cookie.
    pub cookie: Option<Cookie>,
    /// The form of RFC 6994 (kind 254 with 0xF989) that hosts used before kind 34 was assigned.
    pub experimental: bool,
}

impl FastOpenOption {
    /// Bytes of the option, with NOPs to a multiple of four.
    pub fn bytes(&self) -> u32 {
        option_bytes(self.code())
    }

    fn code(&self) -> u8 {
        let len = self.cookie.map_or(0, |cookie| cookie.len);
        let form = if self.experimental { EXPERIMENTAL } else { 0 };
        (len + 1) | form
    }
}

/// Bytes of the option that `sack_len` of a SYN stands for.
pub(crate) fn option_bytes(code: u8) -> u32 {
    match code & LENGTH {
        0 => 0,
        length => (u32::from(length - 1) + if code & EXPERIMENTAL != 0 { 4 } else { 2 }).next_multiple_of(4),
    }
}

impl Segment {
    /// Adds the option to a SYN.
    pub fn set_fast_open(&mut self, option: &FastOpenOption, sack: &mut SackBlocks) {
        let bytes = option.cookie.map_or([0; COOKIE_MAX_BYTES], |cookie| cookie.bytes);
        let word = |at: usize| u32::from_be_bytes(std::array::from_fn(|i| bytes[4 * at + i]));
        (sack[0], sack[1]) = ((word(0), word(1)), (word(2), word(3)));
        self.sack_len = option.code();
    }

    /// The Fast Open option, if this is a SYN that has one.
    pub fn fast_open(&self, sack: &SackBlocks) -> Option<FastOpenOption> {
        if !self.flags.any(Flags::SYN) || self.sack_len & LENGTH == 0 {
            return None;
        }
        let mut bytes = [0; COOKIE_MAX_BYTES];
        for (at, word) in [sack[0].0, sack[0].1, sack[1].0, sack[1].1].into_iter().enumerate() {
            bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_be_bytes());
        }
        let len = usize::from(self.sack_len & LENGTH) - 1;
        let cookie = Cookie::new(&bytes[..len.min(COOKIE_MAX_BYTES)]);
        let option = FastOpenOption { cookie, experimental: self.sack_len & EXPERIMENTAL != 0 };
        (len == 0 || cookie.is_some()).then_some(option)
    }

    /// SACK blocks of the segment: a SYN has none.
    #[inline]
    pub fn block_count(&self) -> usize {
        if self.flags.any(Flags::SYN) { 0 } else { usize::from(self.sack_len) }
    }
}

/// Which form of the option a request has next (Linux `try_exp`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    #[default]
    Assigned,
    /// The server has not answered kind 34: the experimental form is tried once.
    Experimental,
    /// It answers neither.
    AssignedForGood,
}

/// What a host remembers of a server (Linux `tcp_fastopen_metrics`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenMemory {
    /// The MSS that the server has announced, 0 if not known.
    pub mss: u16,
    /// The cookie and whether the server gave it in the experimental form.
    pub cookie: Option<Cookie>,
    experimental: bool,
    form: Form,
    /// SYNs with data in a row that were lost.
    pub syn_losses: u16,
}

impl FastOpenMemory {
    /// Of a server that has announced `mss` and granted `cookie`.
    pub fn of(mss: u16, cookie: Cookie) -> FastOpenMemory {
        FastOpenMemory { mss, cookie: Some(cookie), ..FastOpenMemory::default() }
    }

    /// The option of the next SYN.
    pub fn option(&self) -> FastOpenOption {
        let asks_experimental = self.cookie.is_none() && self.form == Form::Experimental;
        FastOpenOption { cookie: self.cookie, experimental: self.experimental || asks_experimental }
    }

    /// Takes over what a handshake has shown.
    pub fn learn(&mut self, lesson: &FastOpenLesson) {
        if lesson.mss > 0 {
            self.mss = lesson.mss;
        }
        if let Some(FastOpenOption { cookie: Some(cookie), experimental }) = lesson.granted {
            (self.cookie, self.experimental) = (Some(cookie), experimental);
        } else if let Some(experimental) = lesson.ignored
            && self.cookie.is_none()
        {
            let next = if experimental { Form::AssignedForGood } else { Form::Experimental };
            self.form = self.form.max(next);
        }
        self.syn_losses = if lesson.syn_lost { self.syn_losses.saturating_add(1) } else { 0 };
    }
}

/// What a handshake has shown of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenLesson {
    pub mss: u16,
    /// The option of the SYN-ACK, if this end had sent one.
    pub granted: Option<FastOpenOption>,
    /// A request in this form (true: the experimental one) was not answered.
    pub ignored: Option<bool>,
    /// The SYN with data was lost, or its answer.
    pub syn_lost: bool,
}

/// Why a client's Fast Open did not carry data (Linux `tcpi_fastopen_client_fail`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastOpenFailure {
    #[default]
    None,
    NoCookie,
    DataNotAcknowledged,
    SynRetransmitted,
}

/// What an application asks for that connects with data.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastOpenRequest {
    pub memory: FastOpenMemory,
    /// Data goes without a cookie.
    pub cookieless: bool,
    /// Fast Open pauses: the SYN has neither the option nor data.
    pub paused: bool,
}

/// How a server treats SYNs with the option or with data.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastOpenListener {
    /// The cookies that are valid for this client; the first is granted.
    pub cookies: [Option<Cookie>; 2],
    /// Data is taken without a cookie.
    pub cookieless: bool,
}

/// The state of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastOpen {
    pub request: Option<FastOpenRequest>,
    pub listener: Option<FastOpenListener>,
    /// The option that this end's next SYN or SYN-ACK carries.
    pub option: Option<FastOpenOption>,
    /// A SYN of this client has carried the option, in which form.
    pub asked: Option<bool>,
    /// Bytes of data in the SYN, and when it left.
    pub data: u32,
    pub sent_at: Time,
    /// Bytes of a SYN that the other end has taken, all of them, or that this end has.
    pub taken: u32,
    pub failure: FastOpenFailure,
    pub lesson: Option<FastOpenLesson>,
    /// The path may swallow what Fast Open sends.
    pub suspect: bool,
}

impl FastOpen {
    /// Whether the client's SYN had the option or data.
    pub fn was_used(&self) -> bool {
        self.asked.is_some() || self.data > 0
    }
}

/// How long clients of a host do without Fast Open after a path has swallowed it (Linux `tcp_fastopen_active_disable`): `timeout`, doubled
/// with each further time up to 64 times.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastOpenPause {
    /// Zero: never.
    pub timeout: Span,
    times: u32,
    since: Time,
}

impl FastOpenPause {
    pub fn begin(&mut self, now: Time) {
        if self.timeout > Span::ZERO {
            self.since = now;
            self.times = self.times.saturating_add(1);
        }
    }

    /// A connection with Fast Open has received data in order.
    pub fn forget(&mut self) {
        self.times = 0;
    }

    pub fn lasts(&self, now: Time) -> bool {
        const DOUBLINGS_MAX: u32 = 6;
        self.times > 0
            && now < self.since.saturating_add(self.timeout.saturating_mul(1 << (self.times - 1).min(DOUBLINGS_MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cookies of google/packetdrill's scripts, which the kernel gives for these keys and addresses.
    #[test]
    fn cookies_of_linux() {
        let key = |words: [u32; 4]| {
            let mut key = [0; 16];
            words.iter().enumerate().for_each(|(i, word)| key[4 * i..4 * i + 4].copy_from_slice(&word.to_le_bytes()));
            key
        };
        let given = |words, source, destination| {
            let cookie = Cookie::of(&key(words), source, destination);
            cookie.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        let test_key = [0xa0bf_63f7, 0xed80_3d81, 0xcd64_1d30, 0xcebc_4a90];
        assert_eq!(given(test_key, [10, 248, 0, 2], [192, 168, 0, 2]), "00abaaabe8e954c2");
        assert_eq!(given(test_key, [10, 248, 0, 3], [192, 168, 0, 2]), "1313a2da994a0951");
        let defaults = [0xa1a1_a1a1, 0xb2b2_b2b2, 0xc3c3_c3c3, 0xd4d4_d4d4];
        assert_eq!(given(defaults, [192, 0, 2, 1], [192, 168, 0, 1]), "3021b9d889017eeb");
    }

    /// RFC 7413 section 4.1.1: 2 bytes and the cookie of 4 to 16 bytes; RFC 6994: two more.
    #[test]
    fn options_as_long_as_encoded() {
        let option = |bytes: &[u8], experimental| FastOpenOption { cookie: Cookie::new(bytes), experimental };
        for (bytes, experimental, expected) in
            [(&[][..], false, 4), (&[], true, 4), (&[1; 4], false, 8), (&[1; 8], true, 12), (&[1; 16], false, 20)]
        {
            let option = option(bytes, experimental);
            let (mut seg, mut sack) = (Segment { flags: Flags::SYN, ..Segment::default() }, SackBlocks::default());
            seg.set_fast_open(&option, &mut sack);
            assert_eq!((option.bytes(), seg.fast_open(&sack)), (expected, Some(option)));
            assert_eq!((seg.header_bytes(), seg.block_count()), (20 + expected, 0));
        }
        for wrong in [3, 5, 17, 18] {
            assert_eq!(Cookie::new(&[0; 18][..wrong]), None);
        }
    }

    /// Linux tcp_fastopen_active_should_disable: 2^6 timeouts at most.
    #[test]
    fn pauses_double() {
        let mut pause = FastOpenPause { timeout: Span::from_s(10), ..FastOpenPause::default() };
        let mut now = Time::ZERO;
        for seconds in [10, 20, 40, 80, 160, 320, 640, 640] {
            pause.begin(now);
            assert!(pause.lasts(now + Span::from_s(seconds - 1)));
            assert!(!pause.lasts(now + Span::from_s(seconds)));
            now += Span::from_s(seconds);
        }
        let mut off = FastOpenPause::default();
        off.begin(now);
        assert!(!off.lasts(now));
    }
}
