//! Memory of a switch by accounts. The caller says what an account is: an ingress port, a priority of an ingress port, or an egress
//! port.
//!
//! Part of the memory is shared; each account that must lose nothing has headroom of its own beside it. With `used` bytes of the
//! shared part in use, an account may take of it up to its limit
//!
//! ```text
//! static:    limit = XOFF
//! dynamic:   limit = alpha * (shared - used)            (Choudhury and Hahne, IEEE/ACM ToN 1998)
//! ```
//!
//! and not more than there is; what of a frame goes beyond is charged to its headroom. An account that has reached its limit, or
//! uses headroom, is to be paused. It may resume when its headroom is empty, its share of the shared part has fallen to XON
//! (dynamic: to the limit less two full frames, or to nothing) and there is room again. A frame that fits in neither is dropped. A
//! lossy account has no headroom and is never paused: it drops beyond the shared part and, if thresholds are dynamic, beyond its limit.
//! A switch with `alpha` and without flow control has one lossy account for each egress port.
//! Bytes leave the headroom first. Real chips charge whole frames or cells; here a frame may be split between both.

use elephan_units::Bytes;

/// Two full Ethernet frames: how far below its limit an account resumes unless XON says it.
pub const HYSTERESIS_BYTES: u64 = 2 * 1518;

/// How much an account may take of the shared part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    Static {
        xoff: Bytes,
        xon: Bytes,
    },
    Dynamic {
        alpha: f64,
    },
    /// Nobody is paused by this memory.
    None,
}

/// The memory of one switch; accounts are numbered from 0.
#[derive(Clone, Debug)]
pub struct AccountMemory {
    capacity: u64,
    shared: u64,
    used: u64,
    /// In headroom.
    above: u64,
    threshold: Threshold,
    accounts: Vec<Account>,
    paused: Vec<u32>,
}

/// What one account may have and has.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// None: lossy.
    headroom: Option<u64>,
    shared: u64,
    above: u64,
    paused: bool,
}

impl AccountMemory {
    /// Returns an empty memory. `headroom` has the bytes of each account beside the shared part, `None` for an account that may lose frames;
    /// `reserved` bytes of the capacity are kept for them.
    pub fn new(capacity: u64, reserved: u64, threshold: Threshold, headroom: Vec<Option<u64>>) -> AccountMemory {
        let accounts = headroom.into_iter().map(|headroom| Account { headroom, ..Account::default() }).collect();
        AccountMemory {
            capacity,
            shared: capacity.saturating_sub(reserved),
            used: 0,
            above: 0,
            threshold,
            accounts,
            paused: Vec::new(),
        }
    }

    /// What an account may have of the shared part while so much of it is in use.
    fn limit(&self, used: u64) -> u64 {
        match self.threshold {
            Threshold::Static { xoff, .. } => xoff.get(),
            Threshold::Dynamic { alpha } => (alpha * (self.shared - used) as f64) as u64,
            Threshold::None => u64::MAX,
        }
    }

    /// Charges a frame that came in for `account` and returns `true` if it fits into the shared part and pauses nobody, whatever else has been
    /// released by now: limits are higher when less is in use.
    #[inline]
    pub fn admit_easily(&mut self, account: u32, bytes: u32) -> bool {
        let bytes = u64::from(bytes);
        let used = self.used + bytes;
        if used > self.shared || used + self.above > self.capacity {
            return false;
        }
        let own = self.accounts[account as usize].shared + bytes;
        let a = &self.accounts[account as usize];
        let easy = match (a.headroom, self.threshold) {
            (Some(_), _) => own < self.limit(used) && !a.paused,
            (None, Threshold::Dynamic { .. }) => own <= self.limit(self.used),
            (None, _) => true,
        };
        if easy {
            self.used = used;
            self.accounts[account as usize].shared = own;
        }
        easy
    }

    /// Charges a frame that came in for `account`, or returns `false` if it does not fit. Appends the account if it has to pause now.
    #[inline]
    pub fn admit(&mut self, account: u32, bytes: u32, out: &mut Vec<u32>) -> bool {
        let bytes = u64::from(bytes);
        let limit = self.limit(self.used);
        let a = &mut self.accounts[account as usize];
        let room = limit.saturating_sub(a.shared).min(self.shared - self.used);
        let Some(headroom) = a.headroom else {
            let room = match self.threshold {
                Threshold::Dynamic { .. } => room,
                _ => self.shared - self.used,
            };
            if bytes > room {
                return false;
            }
            a.shared += bytes;
            self.used += bytes;
            return true;
        };
        let of_shared = bytes.min(room);
        let rest = bytes - of_shared;
        let fits = a.above + rest <= headroom && self.used + self.above + bytes <= self.capacity;
        if fits {
            a.shared += of_shared;
            a.above += rest;
            self.used += of_shared;
            self.above += rest;
        }
        let full = !fits || rest > 0 || self.accounts[account as usize].shared >= self.limit(self.used);
        // Where nothing is held nothing will be released, and nobody would ever resume.
        let held = self.used + self.above > 0;
        let a = &mut self.accounts[account as usize];
        if full && held && !a.paused && self.threshold != Threshold::None {
            a.paused = true;
            self.paused.push(account);
            out.push(account);
        }
        fits
    }

    /// Releases a frame of `account`. Appends the accounts that may resume now.
    #[inline]
    pub fn release(&mut self, account: u32, bytes: u32, out: &mut Vec<u32>) {
        let bytes = u64::from(bytes);
        let a = &mut self.accounts[account as usize];
        let of_headroom = bytes.min(a.above);
        a.above -= of_headroom;
        a.shared -= bytes - of_headroom;
        self.above -= of_headroom;
        self.used -= bytes - of_headroom;
        if !self.paused.is_empty() {
            self.resume(out);
        }
    }

    fn resume(&mut self, out: &mut Vec<u32>) {
        let mut paused = std::mem::take(&mut self.paused);
        paused.retain(|&account| {
            let resumes = self.may_resume(account);
            if resumes {
                self.accounts[account as usize].paused = false;
                out.push(account);
            }
            !resumes
        });
        self.paused = paused;
    }

    fn may_resume(&self, account: u32) -> bool {
        let a = &self.accounts[account as usize];
        a.above == 0 && self.is_low(a.shared, self.used)
    }

    /// Whether an account with so much of the shared part, of which so much is in use, is low enough to resume.
    fn is_low(&self, own: u64, used: u64) -> bool {
        let free = self.shared - used;
        match self.threshold {
            Threshold::Static { xoff, xon } => {
                own <= xon.get() && free >= (xoff.get() - xon.get()).max(1).min(self.shared)
            }
            Threshold::Dynamic { alpha } => {
                let limit = (alpha * free as f64) as u64;
                // Where all of the memory is headroom nothing is ever free.
                (free > 0 || self.shared == 0) && (own == 0 || own + HYSTERESIS_BYTES <= limit)
            }
            Threshold::None => true,
        }
    }

    /// Returns whether an account would still be paused if only `own` of its bytes, and `used` bytes of all, were left.
    pub fn stays_paused(&self, own: u64, used: u64) -> bool {
        !self.is_low(own.min(self.shared), used.min(self.shared))
    }

    /// Returns whether an account was told to pause and not yet to resume.
    pub fn is_paused(&self, account: u32) -> bool {
        self.accounts[account as usize].paused
    }
    /// Returns whether any account is paused.
    pub fn is_pausing(&self) -> bool {
        !self.paused.is_empty()
    }
    /// Returns whether the memory can pause any account.
    pub fn pauses(&self) -> bool {
        self.threshold != Threshold::None
    }
    /// Returns the bytes in use.
    pub fn used(&self) -> u64 {
        self.used + self.above
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fixed(xoff: u64, xon: u64) -> Threshold {
        Threshold::Static { xoff: Bytes(xoff), xon: Bytes(xon) }
    }

    fn admit(m: &mut AccountMemory, account: u32, bytes: u32) -> (bool, Vec<u32>) {
        let mut out = vec![];
        (m.admit(account, bytes, &mut out), out)
    }

    fn release(m: &mut AccountMemory, account: u32, bytes: u32) -> Vec<u32> {
        let mut out = vec![];
        m.release(account, bytes, &mut out);
        out
    }

    /// XOFF 3000, XON 1000, headroom 2000: the second frame of 1500 pauses; two more find 1000 + ... of headroom.
    #[test]
    fn static_thresholds_and_headroom() {
        let mut m = AccountMemory::new(20_000, 4000, fixed(3000, 1000), vec![Some(2000), Some(2000), None]);
        assert_eq!(admit(&mut m, 0, 1500), (true, vec![]));
        assert_eq!(admit(&mut m, 0, 1600), (true, vec![0]), "3100 are 100 beyond XOFF");
        assert_eq!(admit(&mut m, 0, 1900), (true, vec![]), "the headroom is full to the byte");
        assert_eq!(admit(&mut m, 0, 64), (false, vec![]));
        assert_eq!(admit(&mut m, 1, 1500), (true, vec![]), "another account has its own");
        assert_eq!(release(&mut m, 0, 1500), [0u32; 0]);
        assert_eq!(release(&mut m, 0, 1600), [0u32; 0], "1900 left");
        assert_eq!((release(&mut m, 0, 900), m.is_paused(0)), (vec![0], false));
        assert_eq!(m.used(), 2500);
    }

    /// A lossy account cannot take headroom: of 20 000 only 16 000 are shared. With the shared part full, a lossless account is
    /// paused by its first frame and loses nothing of its headroom's worth.
    #[test]
    fn lossy_accounts_leave_the_headroom() {
        let mut m = AccountMemory::new(20_000, 4000, fixed(3000, 1000), vec![Some(2000), Some(2000), None]);
        assert_eq!((0..20).filter(|_| admit(&mut m, 2, 1000).0).count(), 16);
        assert_eq!(admit(&mut m, 0, 1500), (true, vec![0]));
        assert_eq!(admit(&mut m, 0, 500), (true, vec![]));
        assert_eq!(release(&mut m, 0, 1500), [0u32; 0]);
        assert_eq!(release(&mut m, 0, 500), [0u32; 0], "its own is gone, but there is no room");
        assert_eq!(release(&mut m, 2, 1000), [0u32; 0]);
        assert_eq!(release(&mut m, 2, 1000), [0], "2000 bytes are free, as many as lie between XOFF and XON");
    }

    /// Choudhury and Hahne: n saturated accounts have alpha B / (1 + n alpha) each: with alpha 1 and B = 9000, 3000 for two.
    #[test]
    fn dynamic_threshold_in_its_steady_state() {
        for (alpha, accounts, each) in [(1.0, 2, 3000), (0.5, 2, 2250), (2.0, 4, 2000), (0.125, 1, 1000)] {
            let mut m = AccountMemory::new(9000, 0, Threshold::Dynamic { alpha }, vec![None; accounts]);
            let mut offers = 0;
            while offers < accounts {
                offers = (0..accounts as u32).filter(|&a| !admit(&mut m, a, 1).0).count();
            }
            for account in &m.accounts {
                assert!(account.shared.abs_diff(each) <= 1, "{alpha} {accounts}: {}", account.shared);
            }
        }
    }

    /// An account resumes when others have left enough for it.
    #[test]
    fn a_dynamic_threshold_rises() {
        let mut m = AccountMemory::new(100_000, 20_000, Threshold::Dynamic { alpha: 1.0 }, vec![Some(10_000); 2]);
        let mut paused = vec![];
        while paused.is_empty() {
            m.admit(0, 1000, &mut paused);
        }
        // 40 of 80 kB: the limit is 40.
        assert_eq!((m.used(), m.is_paused(0)), (40_000, true));
        paused.clear();
        while paused.is_empty() {
            m.admit(1, 1000, &mut paused);
        }
        assert_eq!((m.used(), m.is_paused(1)), (60_000, true));
        let mut resumed = vec![];
        for _ in 0..20 {
            m.release(0, 1000, &mut resumed);
        }
        // Both have 20 kB, and the limit is 40 again.
        assert_eq!(resumed, [1, 0]);
    }

    /// A frame that fits nowhere is dropped. Where nothing else is held nobody is paused for it: no release would let anybody resume.
    #[test]
    fn an_empty_memory_pauses_nobody() {
        let mut m = AccountMemory::new(100_000, 400, fixed(1000, 500), vec![Some(400)]);
        assert_eq!(admit(&mut m, 0, 1518), (false, vec![]));
        assert_eq!(admit(&mut m, 0, 900), (true, vec![]));
        assert_eq!(admit(&mut m, 0, 1518), (false, vec![0]));
        assert_eq!(release(&mut m, 0, 900), [0]);
    }

    /// All of the memory is headroom: an account is paused by each frame and resumes when it has none left.
    #[test]
    fn nothing_but_headroom() {
        for threshold in [Threshold::Dynamic { alpha: 1.0 }, fixed(3000, 1000)] {
            let mut m = AccountMemory::new(10_000, 10_000, threshold, vec![Some(5000); 2]);
            assert_eq!(admit(&mut m, 0, 1500), (true, vec![0]));
            assert_eq!(admit(&mut m, 0, 1500), (true, vec![]));
            assert_eq!(release(&mut m, 0, 1500), [0u32; 0]);
            assert_eq!((release(&mut m, 0, 1500), m.is_pausing()), (vec![0], false));
        }
    }

    proptest! {
        /// Whatever comes and goes: the sums are those of the accounts, no headroom is exceeded, the shared part neither, an empty
        /// memory pauses nobody, and a lossless account is refused only if its headroom would overflow.
        #[test]
        fn sums(
            steps in prop::collection::vec((0u32..6, 64u32..2000, any::<bool>()), 1..400),
            dynamic in any::<bool>(), xoff in 3000u64..20_000,
        ) {
            let threshold = if dynamic { Threshold::Dynamic { alpha: 0.5 } } else { fixed(xoff, xoff - 3000) };
            let headroom = vec![Some(5000), Some(5000), None, Some(3000), None, Some(5000)];
            let mut m = AccountMemory::new(60_000, 18_000, threshold, headroom.clone());
            let mut held: Vec<(u32, u32)> = vec![];
            let mut out = vec![];
            for (account, bytes, goes) in steps {
                if goes && !held.is_empty() {
                    let (account, bytes) = held.swap_remove(bytes as usize % held.len());
                    m.release(account, bytes, &mut out);
                } else if m.admit(account, bytes, &mut out) {
                    held.push((account, bytes));
                } else if let Some(most) = headroom[account as usize] {
                    prop_assert!(m.accounts[account as usize].above + u64::from(bytes) > most);
                    prop_assert!(m.is_paused(account));
                }
                prop_assert_eq!(m.used(), held.iter().map(|&(_, b)| u64::from(b)).sum::<u64>());
                prop_assert!(m.used <= m.shared);
                for (a, most) in m.accounts.iter().zip(&headroom) {
                    prop_assert!(a.above <= most.unwrap_or(0));
                }
            }
            for (account, bytes) in held {
                m.release(account, bytes, &mut out);
            }
            prop_assert!(!m.is_pausing() && m.used() == 0);
        }
    }
}
