//! Packet memory shared by all ports of a switch (complete sharing), with IEEE 802.3x PAUSE by two thresholds.
//!
//! A frame is charged from its last bit in to its last bit out. When the occupancy reaches XOFF, every port with frames
//! in the memory is to be paused; while it stays above XON, so is each further port from which a frame arrives. When
//! it has fallen to XON, all paused ports are to resume.

use crate::spec::Pause;

/// The memory of one switch. The caller numbers the ports from 0.
///
/// ```
/// use elephan_link::SharedMemory;
///
/// let mut memory = SharedMemory::new(3000, 2, None);
/// assert!(memory.admit(0, 1500) && memory.admit(1, 1500));
/// // Full: the next frame is refused until one is released.
/// assert!(!memory.admit(1, 1500));
/// memory.release(0, 1500, &mut Vec::new());
/// assert!(memory.admit(1, 1500));
/// assert_eq!(memory.used(), 3000);
/// ```
#[derive(Clone, Debug)]
pub struct SharedMemory {
    capacity: u64,
    /// From so many bytes on a frame is refused or makes the memory pause.
    tight: u64,
    used: u64,
    pause: Option<Pause>,
    pausing: bool,
    ports: Vec<Port>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Port {
    charged: u64,
    paused: bool,
}

impl SharedMemory {
    /// Returns an empty memory of `capacity` bytes. `pause` has the thresholds of IEEE 802.3x, if the switch sends PAUSE.
    pub fn new(capacity: u64, ports: usize, pause: Option<Pause>) -> SharedMemory {
        let tight = pause.map_or(u64::MAX, |pause| pause.xoff.get()).min(capacity.saturating_add(1));
        SharedMemory { capacity, tight, used: 0, pause, pausing: false, ports: vec![Port::default(); ports] }
    }

    /// Charges a frame that came in through `port` and returns `true` if it fits and pauses nobody, whatever else has been released by now.
    #[inline]
    pub fn admit_easily(&mut self, port: u32, bytes: u32) -> bool {
        let used = self.used + u64::from(bytes);
        let easy = used < self.tight && !self.pausing;
        if easy {
            self.used = used;
            self.ports[port as usize].charged += u64::from(bytes);
        }
        easy
    }

    /// Charges a frame that came in through `port`, or returns `false` if it does not fit.
    #[inline]
    pub fn admit(&mut self, port: u32, bytes: u32) -> bool {
        if self.used + u64::from(bytes) > self.capacity {
            return false;
        }
        self.used += u64::from(bytes);
        self.ports[port as usize].charged += u64::from(bytes);
        true
    }

    /// Appends the ports that have to get a PAUSE now. Call it after an arrival through `port`, admitted or not.
    #[inline]
    pub fn ports_to_pause(&mut self, port: u32, out: &mut Vec<u32>) {
        let Some(pause) = self.pause else { return };
        if !self.pausing {
            if self.used < pause.xoff.get() {
                return;
            }
            self.pausing = true;
            for (i, p) in self.ports.iter_mut().enumerate() {
                if p.charged > 0 {
                    p.paused = true;
                    out.push(i as u32);
                }
            }
        }
        let p = &mut self.ports[port as usize];
        if !p.paused {
            p.paused = true;
            out.push(port);
        }
    }

    /// Releases a frame that had come in through `port`. Appends the ports that may resume now.
    #[inline(always)]
    pub fn release(&mut self, port: u32, bytes: u32, out: &mut Vec<u32>) {
        self.used -= u64::from(bytes);
        self.ports[port as usize].charged -= u64::from(bytes);
        let Some(pause) = self.pause else { return };
        if self.pausing && self.used <= pause.xon.get() {
            self.pausing = false;
            for (i, p) in self.ports.iter_mut().enumerate() {
                if std::mem::take(&mut p.paused) {
                    out.push(i as u32);
                }
            }
        }
    }

    /// Returns whether `port` was sent a PAUSE and has not resumed, so that its PAUSE must be refreshed.
    pub fn is_pausing_port(&self, port: u32) -> bool {
        self.ports[port as usize].paused
    }

    /// Returns whether any port is paused.
    pub fn is_pausing(&self) -> bool {
        self.pausing
    }
    /// Returns the bytes in use.
    pub fn used(&self) -> u64 {
        self.used
    }
    /// Returns the occupancy in bytes at which paused ports resume.
    pub fn xon(&self) -> u64 {
        self.pause.map_or(0, |pause| pause.xon.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::PausePer;
    use elephan_units::Bytes;

    #[test]
    fn complete_sharing() {
        // 48 KiB hold 32 frames of 1518 B (facts l2.md section 0).
        let mut m = SharedMemory::new(49_152, 3, None);
        assert_eq!((0..40).filter(|i| m.admit(i % 3, 1518)).count(), 32);
        let mut out = vec![];
        m.release(0, 1518, &mut out);
        assert!(out.is_empty() && m.admit(2, 1518) && !m.admit(2, 1518));
    }

    #[test]
    fn thresholds() {
        let pause = Pause { per: PausePer::Memory, xoff: Bytes(3000), xon: Bytes(1500), quanta: 0xFFFF };
        let mut m = SharedMemory::new(10_000, 3, Some(pause));
        let mut out = vec![];
        assert!(m.admit(0, 1500));
        m.ports_to_pause(0, &mut out);
        assert!(out.is_empty());
        assert!(m.admit(1, 1500));
        m.ports_to_pause(1, &mut out);
        assert_eq!(out, [0, 1], "both have frames in the memory");
        out.clear();
        assert!(m.admit(1, 1500));
        m.ports_to_pause(1, &mut out);
        assert!(out.is_empty(), "already paused");
        assert!(m.admit(2, 1500));
        m.ports_to_pause(2, &mut out);
        assert_eq!(out, [2], "a newcomer while above XON");
        out.clear();
        for (port, expected) in [(0, 0), (1, 0), (1, 3)] {
            m.release(port, 1500, &mut out);
            assert_eq!(out.len(), expected);
        }
        assert_eq!(out, [0, 1, 2]);
    }
}
