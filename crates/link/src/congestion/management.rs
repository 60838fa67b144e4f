//! Congestion management as a scenario chooses it: the algorithm of a network's congestion and reaction points, and how it is
//! carried out: the frames of notifications, and the limiters in the hosts.

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Rate, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fair::{FairPoint, Source};
use super::{ecm, qcn};
use ecm::Ecm;
use qcn::Qcn;

/// Congestion management of layer 2, in the whole network: a congestion point at each egress port of each switch, limiters in
/// the hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CongestionManagement {
    /// No notifications.
    #[default]
    None,
    /// Quantized Congestion Notification (IEEE 802.1Qau).
    Qcn(Box<QcnWords>),
    /// Ethernet Congestion Management, QCN's rival until 2007.
    Ecm(Box<EcmWords>),
}

/// Parameters of `qcn`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Qcn", deny_unknown_fields)]
pub struct QcnWords {
    /// A published set that fills in the keys which are not given; without it the defaults, those of 802.1Qau.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "QcnPreset")]
    pub preset: Option<QcnPreset>,
    #[serde(flatten)]
    pub parameters: Qcn,
    #[serde(flatten)]
    pub handling: Handling,
}

/// Parameters of `ecm`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Ecm", deny_unknown_fields)]
pub struct EcmWords {
    #[serde(flatten)]
    pub parameters: Ecm,
    #[serde(flatten)]
    pub handling: Handling,
}

/// A published set of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum QcnPreset {
    /// The managed objects of the standard: the defaults.
    #[serde(rename = "802.1Qau")]
    Standard,
    /// "TCP scenarios with QCN/ECM" (Geisler and Wadekar 2007).
    #[serde(rename = "seed-2007")]
    Seed2007,
    /// "Short and Fat: TCP performance in CEE datacenter networks" (Crisan et al., Hot Interconnects 2011), of its two set
    /// points the lower.
    #[serde(rename = "hoti-2011")]
    Hoti2011,
    /// `hoti-2011` with the higher set point.
    #[serde(rename = "hoti-2011-high")]
    Hoti2011High,
}

/// What the frames of one limiter have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Source and destination host.
    #[default]
    Pair,
    /// The connection or stream.
    Flow,
}

/// How notifications travel and what a host does with them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Handling {
    /// Frame of a notification, 64 B to 1518 B: 64 without a part of the sampled frame, 114 with 64 bytes of it.
    #[schemars(extend("x-source" = "assumed: nothing of the sampled frame"))]
    pub notification: Bytes,
    /// What a limiter is for.
    #[schemars(extend("x-source" = "assumed"))]
    pub per: Per,
    /// Whether frames without payload wait behind their limiter too.
    #[schemars(extend("x-source" = "assumed"))]
    pub limit_acks: bool,
    /// With more than this behind a limiter the TCP senders that feed it are stopped, until half of it is left.
    #[schemars(extend("x-source" = "assumed"))]
    pub stop_at: Bytes,
    /// Most of what cannot be stopped (datagrams, frames) that waits behind one limiter, in bytes or packets; the `host_queue` limit of
    /// the host's port unless given. What waits before the port's ordinary queue or behind another limiter does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "assumed"))]
    pub limiter_limit: Option<Size>,
    /// Bytes by which the tag of a limited flow lengthens its frames; that of 802.1Qau has 4.
    #[schemars(extend("x-source" = "assumed: it takes no room"))]
    pub tag: Bytes,
}

impl Default for Handling {
    fn default() -> Handling {
        Handling {
            notification: Bytes(64),
            per: Per::Pair,
            limit_acks: false,
            stop_at: Bytes(64_000),
            limiter_limit: None,
            tag: Bytes(0),
        }
    }
}

impl Handling {
    fn problem(&self) -> Option<InvalidParameter> {
        if !(64..=1518).contains(&self.notification.0) {
            let message = format!("\"{}\": an Ethernet frame has 64 B to 1518 B", self.notification);
            return Some(InvalidParameter::new("notification", message));
        }
        // A bandwidth-delay product belongs to a path, and a limiter to a pair of hosts or a flow.
        match self.limiter_limit {
            Some(limit @ (Size::NanoBdp(_) | Size::Packets(0))) => {
                return Some(InvalidParameter::new(
                    "limiter_limit",
                    format!("\"{limit}\": give bytes, or one packet at least"),
                ));
            }
            Some(limit @ Size::Bytes(bytes)) if bytes < 1518 => {
                return Some(InvalidParameter::new(
                    "limiter_limit",
                    format!("\"{limit}\" cannot hold one packet of 1518 B"),
                ));
            }
            _ => {}
        }
        (self.tag > Bytes(64)).then(|| InvalidParameter::new("tag", format!("\"{}\": must be at most 64 B", self.tag)))
    }
}

impl CongestionManagement {
    /// Returns whether the network has no congestion management.
    pub fn is_none(&self) -> bool {
        matches!(self, CongestionManagement::None)
    }

    /// Returns how notifications travel, if there is congestion management.
    pub fn handling(&self) -> Option<Handling> {
        match self {
            CongestionManagement::None => None,
            CongestionManagement::Qcn(words) => Some(words.handling),
            CongestionManagement::Ecm(words) => Some(words.handling),
        }
    }

    /// Returns the least rate of a limiter.
    pub fn rate_min(&self) -> Option<Rate> {
        match self {
            CongestionManagement::None => None,
            CongestionManagement::Qcn(words) => Some(words.parameters.rate_min),
            CongestionManagement::Ecm(words) => Some(words.parameters.rate_min),
        }
    }

    /// Returns the set point of the queues.
    pub fn set_point(&self) -> Option<Bytes> {
        match self {
            CongestionManagement::None => None,
            CongestionManagement::Qcn(words) => Some(words.parameters.set_point),
            CongestionManagement::Ecm(words) => Some(words.parameters.set_point),
        }
    }

    /// Returns which parameter is not possible, beyond the ranges that the schema gives.
    pub fn problem(&self) -> Option<InvalidParameter> {
        match self {
            CongestionManagement::None => None,
            CongestionManagement::Qcn(words) => words.parameters.problem().or_else(|| words.handling.problem()),
            CongestionManagement::Ecm(words) => words.parameters.problem().or_else(|| words.handling.problem()),
        }
    }

    /// Returns the congestion point of one queue.
    pub fn point(&self, stream: Stream) -> Option<Point> {
        match self {
            CongestionManagement::None => None,
            CongestionManagement::Qcn(words) => {
                let point = qcn::CongestionPoint::new(&words.parameters, stream);
                Some(Point::Qcn(Box::new(FairPoint::new(&words.parameters, point))))
            }
            CongestionManagement::Ecm(words) => {
                Some(Point::Ecm(Box::new(ecm::CongestionPoint::new(&words.parameters))))
            }
        }
    }

    /// Returns the reaction point of a source whose port runs at `line`.
    pub fn reaction(&self, line: Rate, stream: Stream) -> Option<Reaction> {
        match self {
            CongestionManagement::None => None,
            CongestionManagement::Qcn(words) => {
                Some(Reaction::Qcn(qcn::ReactionPoint::new(&words.parameters, line, stream)))
            }
            CongestionManagement::Ecm(words) => {
                Some(Reaction::Ecm(ecm::ReactionPoint::new(&words.parameters, line, stream)))
            }
        }
    }
}

/// What a notification says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feedback {
    /// QCN: from 1 to 63.
    Qcn(u8),
    Ecm(ecm::Notification),
}

impl Feedback {
    /// Returns the feedback as a number: QCN's six bits, ECM's pages (negative: slow down), 0 for a stop.
    pub fn value(self) -> f64 {
        match self {
            Feedback::Qcn(bits) => f64::from(bits),
            Feedback::Ecm(ecm::Notification::Feedback(pages)) => pages,
            Feedback::Ecm(ecm::Notification::Stop) => 0.0,
        }
    }

    /// Returns whether the feedback asks for less, so that it may create a limiter.
    pub fn slows(self) -> bool {
        match self {
            Feedback::Qcn(bits) => bits > 0,
            Feedback::Ecm(ecm::Notification::Feedback(pages)) => pages < 0.0,
            Feedback::Ecm(ecm::Notification::Stop) => true,
        }
    }
}

/// The congestion point of one queue, of either algorithm.
#[derive(Clone, Debug)]
pub enum Point {
    Qcn(Box<FairPoint>),
    Ecm(Box<ecm::CongestionPoint>),
}

impl Point {
    /// Is called when a frame of `bytes` was accepted and `queue` bytes wait with it. `tagged` says that the frame's source is limited by this
    /// point. `told` receives whom to notify, and of what.
    pub fn on_frame(
        &mut self,
        (bytes, queue): (u32, u64),
        tagged: bool,
        source: impl FnOnce() -> Source,
        told: &mut Vec<(Source, Feedback)>,
    ) {
        match self {
            Point::Qcn(point) => point.on_frame(bytes, queue, source, told),
            Point::Ecm(point) => {
                told.extend(point.on_frame(bytes, queue, tagged).map(|says| (source(), Feedback::Ecm(says))));
            }
        }
    }
}

/// The reaction point of one limiter, of either algorithm.
#[derive(Clone, Debug)]
pub enum Reaction {
    Qcn(qcn::ReactionPoint),
    Ecm(ecm::ReactionPoint),
}

impl Reaction {
    /// Returns the rate in bit/s that the source may send at, or `None` if it is not limited.
    pub fn rate(&self) -> Option<f64> {
        match self {
            Reaction::Qcn(point) => point.rate(),
            Reaction::Ecm(point) => point.rate(),
        }
    }

    /// Sets the rate of the source's port.
    pub fn set_line(&mut self, line: Rate) {
        match self {
            Reaction::Qcn(point) => point.set_line(line),
            Reaction::Ecm(point) => point.set_line(line),
        }
    }

    /// Returns the rate in bit/s that the source returns to, if the algorithm has one.
    pub fn target(&self) -> Option<f64> {
        match self {
            Reaction::Qcn(point) => Some(point.target()),
            Reaction::Ecm(_) => None,
        }
    }

    /// Returns the congestion point that the frames are tagged with.
    pub fn tag(&self) -> Option<u32> {
        match self {
            Reaction::Qcn(_) => None,
            Reaction::Ecm(point) => point.tag(),
        }
    }

    /// Returns the time before which nothing may be sent.
    pub fn stopped_until(&self) -> Time {
        match self {
            Reaction::Qcn(_) => Time::ZERO,
            Reaction::Ecm(point) => point.stopped_until(),
        }
    }

    /// Returns when [`Reaction::on_timer`] is due.
    pub fn next_timer(&self) -> Time {
        match self {
            Reaction::Qcn(point) => point.next_timer(),
            Reaction::Ecm(point) => point.next_timer(),
        }
    }

    /// Is called when a notification of congestion point `from` arrives.
    pub fn on_notification(&mut self, now: Time, from: u32, says: Feedback) {
        match (self, says) {
            (Reaction::Qcn(point), Feedback::Qcn(bits)) => point.on_feedback(now, bits),
            (Reaction::Ecm(point), Feedback::Ecm(says)) => point.on_notification(now, from, says),
            // One algorithm holds in the whole network.
            _ => {}
        }
    }

    /// Is called when a frame of `bytes` was sent.
    pub fn on_sent(&mut self, now: Time, bytes: u32) {
        if let Reaction::Qcn(point) = self {
            point.on_sent(now, bytes);
        }
    }

    /// Is called at the time that [`Reaction::next_timer`] returned.
    pub fn on_timer(&mut self, now: Time) {
        match self {
            Reaction::Qcn(point) => point.on_timer(now),
            Reaction::Ecm(point) => point.on_timer(now),
        }
    }
}
