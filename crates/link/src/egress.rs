//! Link flow control by what waits in each egress queue of a switch.
//!
//! A queue that has reached XOFF holds the ingress ports that have sent to it within the last refresh period, and from then
//! on each further port from which a frame for it arrives, until it has fallen to XON. A port is to be paused while any
//! queue holds it. With PFC every queue is one priority's share of a port, and holds that priority only.

use elephan_units::{Bytes, Span, Time};

/// The egress queues of one switch. Ports are numbered from 0, and so are the classes that are paused apart: one for IEEE
/// 802.3x, eight for PFC. An account, of ingress or egress, is `port * classes + class`.
#[derive(Clone, Debug)]
pub struct EgressControl {
    xoff: u64,
    xon: u64,
    classes: u32,
    /// Classes that may be paused, a bit each.
    lossless: u8,
    /// By egress account.
    queues: Vec<Queue>,
    /// By ingress account: how many queues hold it.
    holders: Vec<u32>,
    /// By port: how long a frame counts as recent.
    periods: Vec<Span>,
    stopped: u32,
}

#[derive(Clone, Debug)]
struct Queue {
    bytes: u64,
    stopped: bool,
    sources: Vec<Source>,
}

/// An ingress port as one queue sees it.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// When its last frame came.
    last: Time,
    held: bool,
}

impl EgressControl {
    /// Returns the queues without frames. `periods` has the refresh period of each port's PAUSE.
    pub fn new((xoff, xon): (Bytes, Bytes), classes: u32, periods: Vec<Span>) -> EgressControl {
        let ports = periods.len();
        let sources = vec![Source { last: Time::NEVER, held: false }; ports];
        let accounts = ports * classes as usize;
        EgressControl {
            xoff: xoff.get(),
            xon: xon.get(),
            classes,
            lossless: 0xFF,
            queues: vec![Queue { bytes: 0, stopped: false, sources }; accounts],
            holders: vec![0; accounts],
            periods,
            stopped: 0,
        }
    }

    /// Restricts pauses to these classes, one bit each.
    pub fn only(mut self, lossless: u8) -> EgressControl {
        self.lossless = lossless;
        self
    }

    /// Is called when a frame from ingress account `from` begins to wait in queue `to`, or was refused there (0 bytes). Appends the ingress
    /// accounts that have to pause now.
    #[inline]
    pub fn queued(&mut self, now: Time, to: u32, from: u32, bytes: u32, out: &mut Vec<u32>) {
        let queue = &mut self.queues[to as usize];
        queue.bytes += u64::from(bytes);
        let port = (from / self.classes) as usize;
        queue.sources[port].last = now;
        if queue.stopped {
            if !queue.sources[port].held {
                self.hold(to, port, out);
            }
        } else if queue.bytes >= self.xoff && self.lossless >> (to % self.classes) & 1 == 1 {
            self.stop(now, to, out);
        }
    }

    #[cold]
    fn stop(&mut self, now: Time, to: u32, out: &mut Vec<u32>) {
        self.queues[to as usize].stopped = true;
        self.stopped += 1;
        for port in 0..self.periods.len() {
            let last = self.queues[to as usize].sources[port].last;
            if last != Time::NEVER && now.since(last) <= self.periods[port] {
                self.hold(to, port, out);
            }
        }
    }

    fn hold(&mut self, to: u32, port: usize, out: &mut Vec<u32>) {
        self.queues[to as usize].sources[port].held = true;
        let account = port as u32 * self.classes + to % self.classes;
        let holders = &mut self.holders[account as usize];
        *holders += 1;
        if *holders == 1 {
            out.push(account);
        }
    }

    /// Is called when a frame has left queue `to`. Appends the ingress accounts that may resume now.
    #[inline]
    pub fn left(&mut self, to: u32, bytes: u32, out: &mut Vec<u32>) {
        let queue = &mut self.queues[to as usize];
        queue.bytes -= u64::from(bytes);
        if queue.stopped && queue.bytes <= self.xon {
            self.go(to, out);
        }
    }

    #[cold]
    fn go(&mut self, to: u32, out: &mut Vec<u32>) {
        let queue = &mut self.queues[to as usize];
        queue.stopped = false;
        self.stopped -= 1;
        for (port, source) in queue.sources.iter_mut().enumerate() {
            if std::mem::take(&mut source.held) {
                let account = port as u32 * self.classes + to % self.classes;
                let holders = &mut self.holders[account as usize];
                *holders -= 1;
                if *holders == 0 {
                    out.push(account);
                }
            }
        }
    }

    /// Returns whether an ingress account was told to pause and not yet to resume.
    pub fn is_paused(&self, account: u32) -> bool {
        self.holders[account as usize] > 0
    }

    /// Returns whether any queue is above its thresholds.
    pub fn is_pausing(&self) -> bool {
        self.stopped > 0
    }

    /// Returns whether queue `to` holds the ingress account `from`.
    pub fn holds(&self, to: u32, from: u32) -> bool {
        to % self.classes == from % self.classes
            && self.queues[to as usize].sources[(from / self.classes) as usize].held
    }

    /// Returns the bytes that wait in the queue of an egress account.
    pub fn bytes(&self, to: u32) -> u64 {
        self.queues[to as usize].bytes
    }

    /// Returns the bytes at which an account resumes.
    pub fn xon(&self) -> u64 {
        self.xon
    }

    /// Sets the refresh period of a port.
    pub fn set_period(&mut self, port: u32, period: Span) {
        self.periods[port as usize] = period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span(1000);

    fn control(classes: u32) -> EgressControl {
        EgressControl::new((Bytes(3000), Bytes(1500)), classes, vec![PERIOD; 4])
    }

    /// Offers frames (time, from, bytes) for one queue; who is paused by each.
    fn offer(control: &mut EgressControl, to: u32, frames: &[(u64, u32, u32)]) -> Vec<Vec<u32>> {
        let one = |&(at, from, bytes): &(u64, u32, u32)| {
            let mut out = vec![];
            control.queued(Time(at), to, from, bytes, &mut out);
            out
        };
        frames.iter().map(one).collect()
    }

    /// Port 0 sent longer ago than a refresh period: only who comes after the crossing, refused or not, is paused with it.
    #[test]
    fn who_has_contributed_lately_and_who_comes_later() {
        let mut c = control(1);
        let paused = offer(&mut c, 3, &[(0, 0, 500), (500, 1, 1500), (1500, 2, 1000), (1600, 0, 0), (1700, 0, 100)]);
        assert_eq!(paused, [vec![], vec![], vec![1, 2], vec![0], vec![]]);
        let mut out = vec![];
        c.left(3, 1500, &mut out);
        assert!(out.is_empty() && c.is_paused(1), "1600 are above XON");
        c.left(3, 100, &mut out);
        assert_eq!(out, [0, 1, 2]);
        assert!(!c.is_pausing() && !c.is_paused(1));
    }

    /// A port that two queues hold is told once, and resumes when the second lets it go.
    #[test]
    fn a_port_held_by_two_queues() {
        let mut c = control(1);
        assert_eq!(offer(&mut c, 2, &[(0, 0, 3000)]), [[0]]);
        assert_eq!(offer(&mut c, 3, &[(10, 1, 2000), (10, 0, 1000)]), [vec![], vec![1]]);
        let mut out = vec![];
        c.left(2, 3000, &mut out);
        assert!(out.is_empty() && c.is_paused(0) && c.holds(3, 0) && !c.holds(2, 0));
        c.left(3, 3000, &mut out);
        assert_eq!(out, [0, 1]);
    }

    /// With eight classes a queue is a priority of a port, and pauses that priority.
    #[test]
    fn priorities_apart() {
        let mut c = control(8);
        assert_eq!(
            offer(&mut c, 3 * 8 + 5, &[(0, 5, 2000), (0, 8 + 5, 999), (0, 16 + 5, 1)]),
            [vec![], vec![], vec![5, 13, 21]]
        );
        assert!(offer(&mut c, 3 * 8 + 2, &[(0, 2, 2999)])[0].is_empty());
        assert!(!c.is_paused(2) && c.bytes(26) == 2999 && c.holds(29, 5) && !c.holds(29, 2));
        let mut c = control(8).only(1 << 3);
        assert!(offer(&mut c, 3 * 8 + 5, &[(0, 5, 9000)])[0].is_empty(), "5 is lossy");
        assert_eq!(offer(&mut c, 3 * 8 + 3, &[(0, 3, 9000)]), [[3]]);
    }
}
