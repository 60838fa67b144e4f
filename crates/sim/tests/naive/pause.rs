//! PAUSE: the gate of a station that receives it, and the switch that decides when to send it (docs/models/ports.md).

use elephan_link::{Pause, PausePer};
use elephan_units::PS_PER_S;

/// The bytes of wire time of a PAUSE frame.
pub const PAUSE_WIRE_BYTES: u64 = 84;
/// Bits of a quantum.
const QUANTUM_BITS: u128 = 512;

/// Returns the picoseconds of so many quanta at a rate.
pub fn quanta_ps(rate_bps: u64, quanta: u16) -> u64 {
    (u128::from(quanta) * QUANTUM_BITS * u128::from(PS_PER_S) / u128::from(rate_bps)) as u64
}

/// When a station may not begin a frame.
#[derive(Default)]
pub struct Gate {
    /// The pause that came last: it begins after the response and ends when its time is over.
    from: u64,
    until: u64,
    /// The parts of earlier pauses that no later PAUSE has cut off.
    past: Vec<(u64, u64)>,
}

impl Gate {
    /// A PAUSE of so many picoseconds has come, or with 0 a resumption.
    pub fn receive(&mut self, now: u64, pause: u64, response: u64) {
        let is_running = now < self.until;
        if self.from < now.min(self.until) {
            self.past.push((self.from, now.min(self.until)));
        }
        // A station that is closed stays so; one that is about to close does so when it would have.
        let from = if is_running { self.from.min(now + response).max(now) } else { now + response };
        self.until = now + pause;
        self.from = from.min(self.until);
    }

    /// Returns the end of the pause that holds the port at `now`.
    pub fn closed_until(&self, now: u64) -> Option<u64> {
        (self.from <= now && now < self.until).then_some(self.until)
    }

    /// Returns from when to when the pause that came last holds the port.
    pub fn window(&self) -> (u64, u64) {
        (self.from, self.until)
    }

    /// Returns for how long the port was held up to `now`.
    pub fn closed_ps(&self, now: u64) -> u64 {
        let last = (self.from, self.until.min(now));
        self.past.iter().chain([&last]).map(|(from, until)| until.saturating_sub(*from)).sum()
    }
}

/// What a switch counts, and whom it pauses.
pub struct Switch {
    /// Of all ports together; `u64::MAX` if the scenario sets no bound.
    pub capacity: u64,
    pub cell: u64,
    /// The dynamic threshold of what leaves through one port.
    pub alpha: Option<f64>,
    pub latency: u64,
    pub pause: Option<Pause>,
    /// By port: the link that leaves there.
    pub egress: Vec<usize>,
    /// By port: within which time a frame counts as recent.
    pub recent: Vec<u64>,
    /// By port of ingress: what has come in there and not yet left.
    pub held: Vec<u64>,
    /// By port of egress: what is to leave there and has not yet left.
    pub leaving: Vec<u64>,
    /// By port of ingress: when it was last told to pause.
    pub since: Vec<u64>,
    /// By port of egress: what waits there, when something last came for it from each port, and whether it is above its thresholds.
    waiting: Vec<u64>,
    last: Vec<Vec<Option<u64>>>,
    above: Vec<bool>,
    /// By port of egress: the ports of ingress that it holds.
    pub holds: Vec<Vec<bool>>,
    /// Ports of ingress that were told to pause, in the order in which they were.
    pub paused: Vec<usize>,
    /// The whole memory is above its thresholds.
    is_pausing: bool,
}

impl Switch {
    pub fn new(capacity: u64, pause: Option<Pause>, egress: Vec<usize>, recent: Vec<u64>) -> Switch {
        let ports = egress.len();
        Switch {
            capacity,
            cell: 1,
            alpha: None,
            latency: 0,
            pause,
            egress,
            recent,
            held: vec![0; ports],
            leaving: vec![0; ports],
            since: vec![0; ports],
            waiting: vec![0; ports],
            last: vec![vec![None; ports]; ports],
            above: vec![false; ports],
            holds: vec![vec![false; ports]; ports],
            paused: Vec::new(),
            is_pausing: false,
        }
    }

    fn per(&self) -> Option<(PausePer, u64, u64)> {
        self.pause.map(|pause| (pause.per, pause.xoff.0, pause.xon.0))
    }

    pub fn used(&self) -> u64 {
        self.held.iter().sum()
    }

    pub fn pauses_anybody(&self) -> bool {
        match self.per() {
            Some((PausePer::Egress, ..)) => self.above.contains(&true),
            Some((PausePer::Memory, ..)) => self.is_pausing,
            Some((PausePer::Ingress, ..)) => !self.paused.is_empty(),
            None => false,
        }
    }

    fn tell(&mut self, ports: impl Iterator<Item = usize>) -> Vec<usize> {
        let told: Vec<usize> = ports.filter(|port| !self.paused.contains(port)).collect();
        self.paused.extend(&told);
        told
    }

    /// What is free of the memory in the sense of `per = "ingress"`: each port counts up to XOFF.
    fn free_below(&self, xoff: u64) -> u64 {
        self.capacity - self.held.iter().map(|held| held.min(&xoff)).sum::<u64>()
    }

    /// Returns whether a frame for port `to` exceeds what this port may hold of what is free.
    fn is_beyond_its_share(&self, to: usize, charged: u64) -> bool {
        let free = self.capacity - self.used();
        self.alpha.is_some_and(|alpha| (self.leaving[to] + charged) as f64 > alpha * free as f64)
    }

    /// A frame has come in at a port for port `to`. Returns whether there is room for it, and the ports to pause.
    pub fn admit(&mut self, port: usize, to: usize, charged: u64) -> (bool, Vec<usize>) {
        let fits = charged <= self.capacity - self.used() && !self.is_beyond_its_share(to, charged);
        if fits {
            self.held[port] += charged;
            self.leaving[to] += charged;
        }
        let used = self.used();
        let told = match self.per() {
            Some((PausePer::Memory, xoff, _)) if self.is_pausing || used >= xoff => {
                let first = !std::mem::replace(&mut self.is_pausing, true);
                let held = self.held.clone();
                let all = (0..held.len()).filter(move |&one| first && held[one] > 0);
                self.tell(all.chain([port]).collect::<std::collections::BTreeSet<_>>().into_iter())
            }
            Some((PausePer::Ingress, xoff, _)) if used > 0 && (!fits || self.held[port] >= xoff) => {
                self.tell([port].into_iter())
            }
            _ => Vec::new(),
        };
        (fits, told)
    }

    /// A frame that came in at a port for port `to` has left the memory. Returns the ports that may go on.
    pub fn release(&mut self, port: usize, to: usize, charged: u64) -> Vec<usize> {
        self.held[port] -= charged;
        self.leaving[to] -= charged;
        match self.per() {
            Some((PausePer::Memory, _, xon)) if self.is_pausing && self.used() <= xon => {
                self.is_pausing = false;
                let mut all = std::mem::take(&mut self.paused);
                all.sort_unstable();
                all
            }
            Some((PausePer::Ingress, xoff, xon)) => {
                let room = (xoff - xon).max(1).min(self.capacity);
                let has_room = self.free_below(xoff) >= room;
                let (go_on, stay) =
                    std::mem::take(&mut self.paused).into_iter().partition(|&port| has_room && self.held[port] <= xon);
                self.paused = stay;
                go_on
            }
            _ => Vec::new(),
        }
    }

    /// A frame from port `from` waits for port `to`, or with 0 bytes was refused there. Returns the ports to pause.
    pub fn queued(&mut self, now: u64, from: usize, to: usize, bytes: u64) -> Vec<usize> {
        let Some((PausePer::Egress, xoff, _)) = self.per() else { return Vec::new() };
        self.waiting[to] += bytes;
        self.last[to][from] = Some(now);
        let held: Vec<usize> = if self.above[to] {
            vec![from]
        } else if self.waiting[to] >= xoff {
            self.above[to] = true;
            let recently = |port: &usize| self.last[to][*port].is_some_and(|last| now - last <= self.recent[*port]);
            (0..self.held.len()).filter(recently).collect()
        } else {
            Vec::new()
        };
        held.iter().for_each(|&port| self.holds[to][port] = true);
        self.tell(held.into_iter())
    }

    /// A frame waits for port `to` no more. Returns the ports that may go on.
    pub fn left(&mut self, to: usize, bytes: u64) -> Vec<usize> {
        let Some((PausePer::Egress, _, xon)) = self.per() else { return Vec::new() };
        self.waiting[to] -= bytes;
        if !self.above[to] || self.waiting[to] > xon {
            return Vec::new();
        }
        self.above[to] = false;
        self.holds[to].fill(false);
        let holds = &self.holds;
        let is_free = |port: &usize| !holds.iter().any(|of_queue| of_queue[*port]);
        let (mut go_on, stay): (Vec<usize>, Vec<usize>) =
            std::mem::take(&mut self.paused).into_iter().partition(is_free);
        self.paused = stay;
        go_on.sort_unstable();
        go_on
    }
}
