//! Stories: what may happen to a controller, drawn from a seed and shortened when it breaks a rule.

use std::fmt;

use elephan_units::{Span, Time};

use super::MSS;
use crate::draw::Draw;
use crate::rdma::{Hop, Nic, Progress, Telemetry};
use crate::train::{Arrival, Departure, Start};
use crate::{Ack, Controller, Signal};

/// Something that happens to a controller, after a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub pause: Span,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    Sent {
        bytes: u64,
        inflight: u64,
    },
    Ack {
        acked: u64,
        rtt: Option<Span>,
        app_limited: bool,
        rate_bps: Option<f64>,
    },
    Loss {
        inflight: u64,
    },
    Ecn {
        inflight: u64,
    },
    Rto {
        inflight: u64,
    },
    LocalDrop {
        inflight: u64,
    },
    Undo,
    /// Recovery is over.
    Recovered,
    Timer,
    Shrink {
        bytes: u64,
    },
    /// What routers allow a congestion control that asks them.
    Feedback {
        bytes: f64,
    },
    /// The connection begins.
    Begin {
        rtt: Option<Span>,
    },
    /// A congestion control that probes is asked for a train, whose packets arrive with delays that rise by `rise` each; one of them may be
    /// lost.
    Train {
        segments: u64,
        rise: Span,
        lost: Option<u32>,
    },
    /// A packet arrives that was no train's, before which `bases` such packets had been sent.
    Base {
        bases: u32,
        delay: Span,
    },
    FairRate {
        rate_bps: f64,
        queue_bytes: f64,
    },
    /// The interface of a sender of RDMA.
    Nic {
        rate_bps: f64,
        base_rtt: Span,
    },
    /// The receiver notifies of a marked packet.
    Notification,
    /// A port tells what it has sent and what waits there.
    Telemetry {
        tx_bytes: u64,
        queue_bytes: u64,
    },
}

impl Step {
    /// At once.
    pub fn now(what: What) -> Step {
        Step { pause: Span::ZERO, what }
    }
}

impl What {
    pub fn apply(&self, c: &mut Controller, now: Time) {
        match *self {
            What::Sent { bytes, inflight } => c.on_sent(now, bytes, inflight),
            What::Ack { acked, rtt, app_limited, rate_bps } => c.on_ack(&Ack {
                now,
                acked,
                rtt,
                inflight: acked,
                ce: acked / 2,
                app_limited,
                delivered: now.ps(),
                rate_bps,
                min_rtt: rtt,
                srtt: rtt,
                lost: now.ps() >> 6,
                ..Ack::default()
            }),
            What::Loss { inflight } => c.on_congestion(&Signal::Loss { now, lost: MSS, inflight }),
            What::Ecn { inflight } => c.on_congestion(&Signal::Ecn { now, inflight }),
            What::Rto { inflight } => c.on_congestion(&Signal::Rto { now, inflight }),
            What::LocalDrop { inflight } => c.on_congestion(&Signal::LocalDrop { now, inflight }),
            What::Undo => c.on_congestion(&Signal::Undo { now }),
            What::Recovered => c.on_recovered(),
            What::Timer => c.on_timer(now),
            What::Shrink { bytes } => c.shrink_to(bytes as f64),
            What::Feedback { bytes } => c.on_feedback(bytes),
            What::Begin { rtt } => {
                c.begin(&Start { now, rtt, packet_bytes: MSS + 52, takes_over: false, accurate_ecn: true })
            }
            What::Train { segments, rise, lost } => send_train(c, now, segments, rise, lost),
            What::Nic { rate_bps, base_rtt } => c.on_nic(&Nic { rate_bps, base_rtt }),
            What::Notification => c.on_notification(now),
            What::Telemetry { tx_bytes, queue_bytes } => {
                let mut telemetry = Telemetry::default();
                telemetry.push(Hop { port: 0, tx_bytes, queue_bytes, at: now, rate_bps: 1e11 });
                c.on_telemetry(&telemetry, Progress { acked: tx_bytes, sent: tx_bytes.saturating_add(queue_bytes) });
            }
            What::Base { bases, delay } => {
                let departure = Departure { at: Time(now.0.saturating_sub(delay.0)), bases, ..Departure::default() };
                c.on_arrival(now, &Arrival { departure, at: now });
            }
            What::FairRate { rate_bps, queue_bytes } => c.on_fair_rate(rate_bps, queue_bytes),
        }
    }

    /// Plainer forms, to be tried when a story is shortened.
    fn simpler(self) -> Vec<What> {
        match self {
            What::Ack { app_limited, rtt, acked, rate_bps } => {
                let ack = |acked, rtt, rate_bps| What::Ack { acked, rtt, app_limited, rate_bps };
                let rtt_plain = Some(Span::from_ms(100));
                vec![
                    ack(MSS, rtt_plain, None),
                    ack(acked, rtt_plain, None),
                    ack(acked, rtt, None),
                    ack(MSS, rtt, rate_bps),
                ]
            }
            What::Loss { .. } => vec![What::Loss { inflight: super::INITIAL }],
            What::Ecn { .. } => vec![What::Ecn { inflight: super::INITIAL }],
            What::Rto { .. } => vec![What::Rto { inflight: super::INITIAL }],
            What::LocalDrop { .. } => vec![What::LocalDrop { inflight: super::INITIAL }],
            What::Sent { .. }
            | What::Undo
            | What::Recovered
            | What::Timer
            | What::Shrink { .. }
            | What::Feedback { .. }
            | What::FairRate { .. }
            | What::Begin { .. }
            | What::Train { .. }
            | What::Nic { .. }
            | What::Notification
            | What::Telemetry { .. }
            | What::Base { .. } => Vec::new(),
        }
    }
}

/// The train that the congestion control wants, and what comes of it.
fn send_train(c: &mut Controller, now: Time, segments: u64, rise: Span, lost: Option<u32>) {
    let Some(train) = c.next_train(now, segments) else { return };
    for n in (0..train.packets).filter(|n| Some(*n) != lost) {
        let at = now.saturating_add(train.gap.saturating_mul(u64::from(n)));
        let departure = Departure { at, train: train.id, sent: n + 1, in_train: true, ..Departure::default() };
        let delay = Span::from_ms(10).saturating_add(rise.saturating_mul(u64::from(n)));
        c.on_arrival(now, &Arrival { departure, at: at.saturating_add(delay) });
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Sent { bytes, inflight } => write!(f, "{bytes} B sent, {inflight} B in flight"),
            What::Ack { acked, rtt, app_limited, rate_bps } => {
                write!(f, "an ACK of {acked} B")?;
                rtt.map_or(Ok(()), |rtt| write!(f, ", round-trip time {} s", rtt.seconds()))?;
                rate_bps.map_or(Ok(()), |rate| write!(f, ", rate {rate} bit/s"))?;
                f.write_str(if *app_limited { ", the application is the limit" } else { "" })
            }
            What::Loss { inflight } => write!(f, "a loss with {inflight} B in flight"),
            What::Ecn { inflight } => write!(f, "an ECN-Echo with {inflight} B in flight"),
            What::Rto { inflight } => write!(f, "a timeout with {inflight} B in flight"),
            What::LocalDrop { inflight } => write!(f, "a local drop with {inflight} B in flight"),
            What::Undo => f.write_str("the last event is undone"),
            What::Recovered => f.write_str("recovery is over"),
            What::Timer => f.write_str("a timer"),
            What::Shrink { bytes } => write!(f, "the window is lowered to {bytes} B"),
            What::Feedback { bytes } => write!(f, "routers allow {bytes} B"),
            What::Begin { rtt } => write!(f, "the connection begins, {} s", rtt.map_or(0.0, Span::seconds)),
            What::Train { segments, rise, lost } => {
                write!(f, "a train of up to {segments} packets, delays rise by {} s", rise.seconds())?;
                lost.map_or(Ok(()), |lost| write!(f, ", packet {lost} is lost"))
            }
            What::Base { bases, delay } => write!(f, "base packet {bases} arrives after {} s", delay.seconds()),
            What::FairRate { rate_bps, queue_bytes } => {
                write!(f, "routers tell {rate_bps} bit/s, of which {queue_bytes} B wait")
            }
            What::Nic { rate_bps, base_rtt } => {
                write!(f, "an interface of {rate_bps} bit/s, base round-trip time {} s", base_rtt.seconds())
            }
            What::Notification => f.write_str("a notification of a marked packet"),
            What::Telemetry { tx_bytes, queue_bytes } => {
                write!(f, "a port has sent {tx_bytes} B, {queue_bytes} B wait")
            }
        }
    }
}

/// What stories are drawn from.
pub(super) struct Random(Draw);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Draw(seed))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0.next() % limit
    }

    /// Up to 119 steps.
    pub fn story(&mut self) -> Vec<Step> {
        (0..1 + self.below(119)).map(|_| Step { pause: self.pause(), what: self.what() }).collect()
    }

    /// FlightSize of the event that is undone in the end, and whether it is a timeout.
    pub fn end(&mut self) -> (u64, bool) {
        (self.below(1 << 30), self.below(2) == 0)
    }

    /// From nothing over round trips to hours of silence.
    fn pause(&mut self) -> Span {
        let limit = [1, 1_000_000_000, 1_000_000_000_000, 20_000_000_000_000_000][self.below(4) as usize];
        Span(self.below(limit))
    }

    fn bytes(&mut self) -> u64 {
        let limit = [3 * MSS, 1_000_000, 1 << 40][self.below(3) as usize];
        self.below(limit)
    }

    fn rtt(&mut self) -> Option<Span> {
        match self.below(4) {
            0 => Some(Span(1_000_000 + self.below(1_000_000_000_000))),
            1 => Some(Span(self.below(1 << 50))),
            _ => None,
        }
    }

    fn rate(&mut self) -> Option<f64> {
        match self.below(8) {
            0 => Some(1e6 + self.below(100_000_000_000) as f64),
            1 => Some(self.below(1000) as f64),
            2 => Some(f64::MAX),
            3 => Some(f64::NAN),
            _ => None,
        }
    }

    fn what(&mut self) -> What {
        match self.below(40) {
            0..=19 => What::Ack {
                acked: self.bytes(),
                rtt: self.rtt(),
                app_limited: self.below(5) == 0,
                rate_bps: self.rate(),
            },
            20..=22 => What::Sent { bytes: self.bytes(), inflight: self.bytes() },
            23..=24 => What::Loss { inflight: self.bytes() },
            25 => What::Ecn { inflight: self.bytes() },
            26 => What::Rto { inflight: self.bytes() },
            27 => What::LocalDrop { inflight: self.bytes() },
            28 => What::Undo,
            29 => What::Timer,
            30 => self.told(),
            35 => What::Recovered,
            36 => What::Nic { rate_bps: 1e6 + self.below(400_000_000_000) as f64, base_rtt: self.pause() },
            37 => What::Notification,
            38..=39 => What::Telemetry { tx_bytes: self.bytes(), queue_bytes: self.bytes() },
            31 => What::Shrink { bytes: self.bytes() },
            32 => What::Begin { rtt: self.rtt() },
            33..=34 => What::Train {
                segments: self.below(8),
                rise: if self.below(2) == 0 { Span::ZERO } else { self.pause() },
                lost: (self.below(4) == 0).then_some(1),
            },
            _ => What::Base { bases: self.below(1 << 32) as u32, delay: self.pause() },
        }
    }

    /// What routers say.
    fn told(&mut self) -> What {
        let unknown = self.below(2) == 0;
        if self.below(2) == 0 {
            let bytes = if unknown { f64::INFINITY } else { self.below(2_000_000) as f64 - 1e6 };
            return What::Feedback { bytes };
        }
        let rate_bps = if unknown { f64::INFINITY } else { self.below(20_000_000_000) as f64 };
        What::FairRate { rate_bps, queue_bytes: self.bytes() as f64 }
    }
}

/// The story without what it does not need to break a rule: steps first, then pauses and figures.
pub(super) fn shortest(mut story: Vec<Step>, breaks: &dyn Fn(&[Step]) -> bool) -> Vec<Step> {
    let mut length = story.len();
    while length > 0 {
        let mut start = 0;
        while start < story.len() {
            let mut shorter = story.clone();
            shorter.drain(start..(start + length).min(story.len()));
            if breaks(&shorter) {
                story = shorter;
            } else {
                start += length;
            }
        }
        length /= 2;
    }
    for i in 0..story.len() {
        let mut tries: Vec<Step> = story[i].what.simpler().into_iter().map(|what| Step { what, ..story[i] }).collect();
        tries.retain(|step| *step != story[i]);
        let works = |step: Step, story: &[Step]| {
            let mut other = story.to_vec();
            other[i] = step;
            breaks(&other)
        };
        if let Some(step) = tries.into_iter().find(|step| works(*step, &story)) {
            story[i] = step;
        }
        let at_once = Step { pause: Span::ZERO, ..story[i] };
        if at_once != story[i] && works(at_once, &story) {
            story[i] = at_once;
        }
    }
    story
}
