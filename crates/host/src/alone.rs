//! A receive side whose processor does nothing but receive: what a burst does to it, without a network.

use elephan_units::{Span, Time};

use crate::cpu::Server;
use crate::receive::{Counts, Receive, Receiver, Refused};

/// Ring, interrupts, backlog and a server that spends `interrupt` on each frame taken in hand and `packet` on each one served.
#[derive(Clone, Debug)]
pub struct Alone {
    receiver: Receiver,
    server: Server,
    interrupt: Span,
    packet: Span,
    running: Option<u32>,
    now: Time,
    refused: Vec<(u32, Refused)>,
}

impl Alone {
    pub fn new(words: &Receive, interrupt: Span, packet: Span) -> Alone {
        Alone {
            receiver: Receiver::new(words),
            server: Server::default(),
            interrupt,
            packet,
            running: None,
            now: Time::ZERO,
            refused: Vec::new(),
        }
    }

    /// Lets time pass up to `until`; frames served and the instants at which they were done go to `served`, dropped ones to `dropped`.
    pub fn advance(&mut self, until: Time, served: &mut Vec<(u32, Time)>, dropped: &mut Vec<(u32, Refused)>) {
        loop {
            let work = self.running.is_some() || self.receiver.has_work() || self.server.owes();
            let server = if work { self.server.free_at().max(self.now) } else { Time::NEVER };
            let interrupt = self.receiver.interrupt_at().max(self.now);
            let next = server.min(interrupt);
            if next > until || next == Time::NEVER {
                break;
            }
            self.now = next;
            if server <= interrupt {
                self.work(served);
            } else {
                let frames = self.receiver.on_interrupt(next, &mut self.refused);
                self.server.interrupt(self.interrupt.saturating_mul(frames));
                dropped.append(&mut self.refused);
            }
        }
        self.now = self.now.max(until);
    }

    /// The server ends what it does and begins something else.
    fn work(&mut self, served: &mut Vec<(u32, Time)>) {
        if let Some(frame) = self.running.take() {
            served.push((frame, self.now));
        }
        self.server.settle(self.now);
        if self.server.free_at() <= self.now
            && let Some(frame) = self.receiver.take()
        {
            let polled = if self.receiver.is_napi() { self.interrupt } else { Span::ZERO };
            self.server.spend(self.now, self.packet.saturating_add(polled));
            self.running = Some(frame);
        }
    }

    /// A frame is in; time must have been let pass up to then.
    pub fn frame(&mut self, frame: u32) -> Result<(), Refused> {
        self.receiver.on_frame(self.now, frame)
    }

    /// Frames in the ring and in the backlog.
    pub fn waiting(&self) -> (u64, u64) {
        self.receiver.waiting()
    }

    pub fn counts(&self) -> &Counts {
        self.receiver.counts()
    }

    /// How long the server has worked.
    pub fn busy(&self) -> Span {
        self.server.busy(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receive::BacklogFull;

    /// As in a network: 5000 (1 - 12.304/15) - 556 = 342.7 of a burst are lost; the rest takes 15 us each from the first frame on.
    #[test]
    fn a_burst() {
        let words = Receive { interrupts_per_s: 0, backlog_full: BacklogFull::Hold, ..Receive::default() };
        let mut side = Alone::new(&words, Span::ZERO, Span::from_us(15));
        let (mut served, mut dropped) = (Vec::new(), Vec::new());
        for frame in 0..5000u32 {
            side.advance(Time(12_304_000 * u64::from(frame)), &mut served, &mut dropped);
            if let Err(why) = side.frame(frame) {
                dropped.push((frame, why));
            }
        }
        side.advance(Time::from_seconds(1.0), &mut served, &mut dropped);
        assert!((dropped.len() as f64 - 342.7).abs() < 2.0, "{}", dropped.len());
        assert_eq!(served.len() + dropped.len(), 5000);
        assert_eq!(served[99], (99, Time::ZERO + Span::from_us(1500)));
        assert_eq!(side.busy(), Span::from_us(15 * served.len() as u64));
    }

    /// The cost of interrupts is paid before packets: three frames told of at 20 us cost 3 us each, then 10 us each.
    #[test]
    fn interrupts_come_first() {
        let words = Receive { coalesce: Span::from_us(20), interrupts_per_s: 0, ..Receive::default() };
        let mut side = Alone::new(&words, Span::from_us(3), Span::from_us(10));
        let mut served = Vec::new();
        (0..3).for_each(|frame| side.frame(frame).unwrap());
        side.advance(Time::from_seconds(1.0), &mut served, &mut Vec::new());
        let ends: Vec<u64> = served.iter().map(|(_, at)| at.ps() / 1_000_000).collect();
        assert_eq!(ends, [39, 49, 59]);
    }
}
