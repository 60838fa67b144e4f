//! NSCC, the network-signalled congestion control of Ultra Ethernet: a window that goes by marks, delay and trimmed packets.
//!
//! The reference is `uet-htsim` at 40ccb05 (2025-08-13), whose authors say that it is not a complete implementation of the Ultra Ethernet
//! specification. mss is a full packet on the wire, R the base round-trip time of the flow (the smallest seen), R_n that of the network,
//! d = RTT - R the delay of an acknowledgement, avg its mean:
//!
//! ```text
//! a = line R_n / (100 Gb/s 12 us),  T = 0.75 R_n
//! avg += 0.0125 (x - avg),  x = d; 0.25 R if d > T without a mark; R_n for a trimmed packet
//! no mark, d < T:    inc += 4 mss a / 12 us (T - d) acked;  if d < 1 us for a whole window: cwnd += 0.25 a acked instead
//! no mark, d >= T:   inc += 5 mss a acked
//! mark, d >= T:      cwnd *= max(1 - 0.8 (avg - T) / avg, 0.5), once in R, if avg > T
//! mark, d < T:       nothing
//! after 8 mss or R_n:  cwnd += inc / cwnd, inc = 0;   once in R_n: cwnd += 0.15 mss a
//! trimmed:           cwnd -= its bytes, unless it was trimmed at its last hop and the receiver grants credits
//! quick adaptation:  each R + T, if something was trimmed or d > 4 T, and less than an eighth of the largest window arrived:
//!                    cwnd = what arrived;  marks and trims of what was in flight then are ignored
//! mss <= cwnd <= 1.5 line R;  it begins with the largest
//! ```
//!
//! Left out: the DCTCP and constant windows that the reference has beside it, its loss detection without trimming (SLEEK), and the penalty
//! that a receiver may put on windows. Where the reference has the payload of a packet in `inc`, this model has the packet with its headers.

use elephan_units::{Bytes, InvalidParameter, Rate, Span, Time};

use super::{CongestionControl, Rdma};
use crate::declare::{LIMIT, parameters, states};
use crate::rdma::Trim;
use crate::registry::Model;
use crate::{Ack, Nic, Signal, Traits, Transport, Window};

/// Until a port tells them.
const LINE_BPS: f64 = 100e9;
const NETWORK_RTT: Span = Span::from_us(12);

parameters! {
    /// Base round-trip time of the network; if not given, that of the flow.
    network_rtt: Option<Span> = None, "uet-htsim 40ccb05: the longest path of the network";
    /// Target of the queueing delay; if not given, `target_share` of the network's round-trip time.
    target: Option<Span> = None, "uet-htsim 40ccb05: target_Qdelay";
    /// Target in round-trip times of the network: 0.75 with trimming, 1 without.
    target_share: f64 = 0.75, "uet-htsim 40ccb05" (min = 0);
    /// Rate of the network that the constants were chosen for.
    reference_rate: Rate = Rate(100_000_000_000), "uet-htsim 40ccb05";
    /// Round-trip time of the network that the constants were chosen for.
    reference_rtt: Span = Span::from_us(12), "uet-htsim 40ccb05";
    /// Proportional increase, in packets.
    alpha: f64 = 4.0, "uet-htsim 40ccb05" (min = 0);
    /// Fair increase, in packets.
    fair: f64 = 5.0, "uet-htsim 40ccb05: fi" (min = 0);
    /// Increase once a round trip, in packets.
    eta: f64 = 0.15, "uet-htsim 40ccb05" [min = 0];
    /// Fast increase, as a share of what arrives.
    fast: f64 = 0.25, "uet-htsim 40ccb05: fi_scale" [min = 0];
    /// Delay below which a whole window must stay before the fast increase.
    fast_delay: Span = Span::from_us(1), "uet-htsim 40ccb05";
    /// Weight of the excess of the mean delay in a cut.
    gamma: f64 = 0.8, "uet-htsim 40ccb05" (min = 0);
    /// Least share of the window that a cut leaves.
    least_left: f64 = 0.5, "uet-htsim 40ccb05: max_md_jump" (min = 0, max = 1);
    /// Weight of the newest delay in the mean.
    weight: f64 = 0.0125, "uet-htsim 40ccb05: delay_alpha" above [min = 0, max = 1];
    /// What a late acknowledgement without a mark counts as in the mean, in base round-trip times.
    late_share: f64 = 0.25, "uet-htsim 40ccb05" [min = 0];
    /// Packets after which increases are applied, if a round trip is longer.
    adjust_packets: f64 = 8.0, "uet-htsim 40ccb05" (min = 0);
    /// Largest window in bandwidth-delay products.
    most: f64 = 1.5, "uet-htsim 40ccb05: maxwnd" (min = 0);
    /// First window; if not given, the largest.
    initial_window: Option<Bytes> = None, "uet-htsim 40ccb05: cwnd";
    /// Delay in targets from which quick adaptation looks at what arrived.
    quick_delay: f64 = 4.0, "uet-htsim 40ccb05: qa_threshold" (min = 0);
    /// Quick adaptation needs less than the largest window over two to this power; 0 needs less than the largest window.
    quick_gate: u32 = 3, "uet-htsim 40ccb05: qa_gate" [min = 0, max = 30];
    /// Whether there is quick adaptation.
    quick: bool = true, "uet-htsim 40ccb05";
}

#[derive(Clone, Debug)]
pub struct Nscc {
    p: Parameters,
    line_bps: f64,
    /// Infinite until something tells it.
    base_s: f64,
    network_s: f64,
    /// Mean queueing delay in seconds.
    average_s: f64,
    /// Increase that is not applied yet, in bytes times the window.
    increase: f64,
    /// Bytes that arrived since increases were applied, since quick adaptation looked, and in a row without delay.
    arrived: f64,
    achieved: f64,
    undelayed: f64,
    /// A whole window has met no delay.
    is_fast: bool,
    /// Bytes that arrived or were trimmed since the last quick adaptation, and how many of them are ignored.
    passed: f64,
    ignored: f64,
    /// Something was trimmed since the last quick adaptation.
    trimmed: bool,
    /// When quick adaptation looks next; none before the first acknowledgement.
    looks_at: Option<Time>,
    cut_at: Time,
    applied_at: Time,
}

impl Model for Nscc {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Nscc {
        Nscc {
            p: p.clone(),
            line_bps: LINE_BPS,
            base_s: p.network_rtt.map_or(f64::INFINITY, Span::seconds),
            network_s: p.network_rtt.unwrap_or(NETWORK_RTT).seconds(),
            average_s: 0.0,
            increase: 0.0,
            arrived: 0.0,
            achieved: 0.0,
            undelayed: 0.0,
            is_fast: false,
            passed: 0.0,
            ignored: 0.0,
            trimmed: false,
            looks_at: None,
            cut_at: Time::ZERO,
            applied_at: Time::ZERO,
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        for (key, span) in
            [("network_rtt", p.network_rtt), ("target", p.target), ("reference_rtt", Some(p.reference_rtt))]
        {
            if let Some(span) = span {
                InvalidParameter::between(key, span.seconds(), 0.0, LIMIT)?;
            }
        }
        if p.reference_rate.0 == 0 {
            return Err(InvalidParameter::new("reference_rate", "\"0 bps\": must be above zero".to_owned()));
        }
        Ok(())
    }

    fn traits(_: &Parameters) -> Traits {
        Traits {
            own_start: true,
            sets_its_window: true,
            grows_unused: true,
            transports: &[Transport::Uec],
            ..Traits::default()
        }
    }
}

states! {
    Nscc, cc, value;
    "base_rtt" ["s"] "smallest round-trip time so far, 0 until it is known":
        if cc.base_s.is_finite() { cc.base_s } else { 0.0 }, value > 0.0 => cc.base_s = value;
    "target" ["s"] "target of the queueing delay": cc.target_s(), value > 0.0 => cc.p.target = Some(Span::from_seconds(value));
    "average_delay" ["s"] "mean queueing delay": cc.average_s, value >= 0.0 => cc.average_s = value;
    "increase" ["B^2"] "increase that is not applied yet, in bytes times the window":
        cc.increase, value >= 0.0 => cc.increase = value;
    "achieved" ["B"] "bytes that arrived since quick adaptation looked": cc.achieved, value >= 0.0 => cc.achieved = value;
}

impl Nscc {
    fn target_s(&self) -> f64 {
        self.p.target.map_or(self.p.target_share * self.network_s, Span::seconds)
    }

    /// Bandwidth-delay product of the network over that of the reference (a).
    fn scale(&self) -> f64 {
        self.line_bps * self.network_s / (self.p.reference_rate.0 as f64 * self.p.reference_rtt.seconds())
    }

    fn most(&self, w: &Window) -> f64 {
        (self.p.most * self.line_bps / 8.0 * self.base_s).max(w.mss)
    }

    fn bound(&self, w: &mut Window) {
        w.cwnd = w.cwnd.min(self.most(w)).max(w.mss);
        w.leave_slow_start();
    }

    /// A delay goes into the mean; `marked` if its packet met congestion.
    fn average(&mut self, delay_s: f64, marked: bool) {
        let late = !marked && delay_s > self.target_s();
        let sample = if late { self.p.late_share * self.base_s } else { delay_s };
        self.average_s += self.p.weight * (sample - self.average_s);
    }

    /// Returns whether quick adaptation has set the window, or ignores this mark or trim.
    fn adapts(&mut self, w: &mut Window, (now, inflight): (Time, u64), marked: bool, delay_s: f64) -> bool {
        if !self.p.quick {
            return false;
        }
        let mut done = self.passed < self.ignored && marked;
        if !done && self.looks_at.is_none_or(|at| now > at) {
            let asks = self.trimmed || delay_s > self.p.quick_delay * self.target_s();
            let gate = self.most(w) / f64::from(1u32 << self.p.quick_gate);
            if self.looks_at.is_some() && asks && self.achieved < gate {
                (self.ignored, self.passed, self.trimmed) = (inflight as f64, 0.0, false);
                w.cwnd = self.achieved.max(w.mss);
                done = true;
            }
            self.achieved = 0.0;
            self.looks_at = Some(now.saturating_add(Span::from_seconds(self.base_s + self.target_s())));
        }
        if done {
            (self.increase, self.arrived) = (0.0, 0.0);
        }
        done
    }

    /// An acknowledgement without a mark and below the target.
    fn grow_in_proportion(&mut self, w: &mut Window, acked: f64, delay_s: f64) {
        if delay_s < self.p.fast_delay.seconds() {
            self.undelayed += acked;
            self.is_fast |= self.undelayed > w.cwnd;
        } else {
            (self.undelayed, self.is_fast) = (0.0, false);
        }
        if self.is_fast {
            w.cwnd += self.p.fast * self.scale() * acked;
            return;
        }
        let per_s = self.p.alpha * w.mss * self.scale() / self.p.reference_rtt.seconds();
        self.increase += per_s * (self.target_s() - delay_s) * acked;
    }

    /// A marked acknowledgement at the target or above.
    fn cut(&mut self, w: &mut Window, now: Time) {
        (self.is_fast, self.undelayed) = (false, 0.0);
        let (average, target) = (self.average_s, self.target_s());
        if average > target && now.since(self.cut_at).seconds() > self.base_s {
            w.cwnd *= (1.0 - self.p.gamma * (average - target) / average).max(self.p.least_left);
            self.cut_at = now;
        }
    }

    /// Increases are applied.
    fn apply(&mut self, w: &mut Window, now: Time) {
        let since_s = now.since(self.applied_at).seconds();
        if self.arrived <= self.p.adjust_packets * w.mss && since_s <= self.network_s {
            return;
        }
        w.cwnd += self.increase / w.cwnd;
        if since_s >= self.network_s {
            w.cwnd += self.p.eta * w.mss * self.scale();
            self.applied_at = now;
        }
        (self.increase, self.arrived) = (0.0, 0.0);
    }
}

impl CongestionControl for Nscc {
    fn on_establish(&mut self, w: &mut Window) {
        if self.base_s.is_finite() {
            w.cwnd = self.p.initial_window.map_or(self.most(w), |window| window.0 as f64);
            self.bound(w);
        }
    }

    fn grows_by_ack(&self) -> bool {
        false
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        let (acked, marked) = (ack.acked as f64, ack.ce > 0);
        self.achieved += acked;
        self.arrived += acked;
        self.passed += acked;
        let delay_s = match ack.rtt {
            Some(rtt) => {
                self.base_s = self.base_s.min(rtt.seconds());
                let delay_s = rtt.seconds() - self.base_s;
                self.average(delay_s, marked);
                delay_s
            }
            None => self.average_s,
        };
        if self.adapts(w, (ack.now, ack.left()), marked, delay_s) {
            return self.bound(w);
        }
        match (marked, delay_s >= self.target_s()) {
            (false, true) => self.increase += self.p.fair * w.mss * self.scale() * acked,
            (false, false) => self.grow_in_proportion(w, acked, delay_s),
            (true, true) => self.cut(w, ack.now),
            (true, false) => {}
        }
        self.bound(w);
        self.apply(w, ack.now);
        self.bound(w);
    }

    /// A packet was lost without a trimmed header.
    fn on_congestion(&mut self, w: &mut Window, _signal: &Signal) {
        w.cwnd -= w.mss;
        self.bound(w);
    }

    fn on_timeout_again(&mut self, w: &mut Window, _now: Time) {
        w.cwnd -= w.mss;
        self.bound(w);
    }
}

impl Rdma for Nscc {
    fn on_nic(&mut self, w: &mut Window, nic: &Nic) {
        self.line_bps = nic.rate_bps;
        self.base_s = nic.base_rtt.max(Span(1)).seconds();
        self.network_s = self.p.network_rtt.map_or(self.base_s, Span::seconds);
        // Until round trips are measured, the path counts as the longest of the network.
        self.base_s = self.base_s.max(self.network_s);
        self.on_establish(w);
    }

    fn on_trim(&mut self, w: &mut Window, trim: &Trim) {
        self.passed += trim.bytes as f64;
        if let Some(rtt) = trim.rtt {
            self.base_s = self.base_s.min(rtt.seconds());
        }
        self.average(self.network_s, true);
        self.trimmed = true;
        if !self.adapts(w, (trim.now, trim.inflight), true, 0.0) && !trim.spared {
            w.cwnd -= trim.bytes as f64;
        }
        self.bound(w);
    }
}

#[cfg(test)]
mod tests;
