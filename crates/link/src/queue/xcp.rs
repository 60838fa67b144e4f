//! XCP's router (Katabi, Handley and Rohrs, SIGCOMM 2002): a FIFO that tells each sender by how much to change its window.
//!
//! A packet carries a congestion header: the sender's window, its round-trip time and the change of the window that it
//! asks for, which every router on the way may lower. Once a control interval d, the mean round-trip time of the flows
//! (weighted so that each counts alike):
//!
//! ```text
//! phi   = alpha d S - beta Q                    S = capacity - input rate,  Q = the queue that did not drain
//! h     = max(0, gamma y - |phi|)                y = input of an interval:  shuffled between the flows
//! xi_p  = (h + max(phi, 0)) / (d sum(rtt s / cwnd)),    xi_n = (h + max(-phi, 0)) / (d sum(s))
//! packet: feedback = xi_p rtt^2 s / cwnd - xi_n rtt s = p - n,  header = min(header, feedback)
//! ```
//!
//! so that all flows gain alike and lose in proportion: alpha = 0.4, beta = 0.226, gamma = 0.1. What an interval may hand
//! out is bounded by what is left of (h + max(phi, 0)) / d and (h + max(-phi, 0)) / d (the residues). Q is the smallest
//! queue that packets found since it was last taken, each (d - queue / capacity) / 2 and not oftener than `queue_time_min`.
//!
//! Both timers are looked at when a packet comes, so an interval ends with the first packet after its end and its sums are
//! scaled to d. The first interval is the round-trip time of the first header. Packets without a header, or whose sender
//! knows no round-trip time yet, count as input and get nothing. Left out: the weights of the paper's service
//! differentiation and its gradual deployment.

use elephan_units::{InvalidParameter, Rate, Size, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fifo::{Fifo, FifoSpec, Limit};
use super::header::{CongestionHeader, Request, WindowRequest};
use super::{Answers, Discarded, Discipline, Item, Parameters, Tells, Verdict, positive};

/// Parameters of `xcp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct XcpSpec {
    /// Most that may wait, in bytes ("2 MB"), packets ("100 p") or bandwidth-delay products ("1 bdp"); without it nothing is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Size>,
    /// Share of the spare capacity that an interval hands out.
    #[schemars(extend("x-source" = "Katabi, Handley and Rohrs 2002"), range(min = 0, max = 1))]
    pub alpha: f64,
    /// Share of the standing queue that an interval takes back.
    #[schemars(extend("x-source" = "Katabi, Handley and Rohrs 2002"), range(min = 0, max = 1))]
    pub beta: f64,
    /// Share of the traffic that an interval shuffles between the flows.
    #[schemars(extend("x-source" = "Katabi, Handley and Rohrs 2002"), range(min = 0, max = 1))]
    pub gamma: f64,
    /// Shortest time after which the standing queue is taken again; with round trips far below it, lower it or queues stand.
    #[schemars(extend("x-source" = "draft-falk-xcp-spec-03"))]
    pub queue_time_min: Span,
}

impl Default for XcpSpec {
    fn default() -> XcpSpec {
        XcpSpec { limit: None, alpha: 0.4, beta: 0.226, gamma: 0.1, queue_time_min: Span::from_ms(2) }
    }
}

impl Parameters for XcpSpec {
    type Queue = Xcp;

    fn answers(&self) -> Answers {
        Answers { is_drop_tail: true, tells: Some(Tells::Window), once_per_priority: false, ..Answers::default() }
    }

    fn build(&self, bdp_bytes: u64) -> Xcp {
        Xcp {
            fifo: FifoSpec { limit: self.limit, mark_above: None }.build(bdp_bytes),
            spec: self.clone(),
            capacity: 0.0,
            begin: Time::NEVER,
            interval: 0.0,
            sums: Sums::default(),
            allowed: Allowed::default(),
            standing: 0,
            smallest: 0,
            queue_taken: Time::NEVER,
        }
    }

    fn problem(&self) -> Option<InvalidParameter> {
        positive("queue_time_min", self.queue_time_min)
    }
}

/// What the packets of the running interval have brought.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Wire bytes of all packets, and of those with a header.
    input: f64,
    headed: f64,
    /// Sums of rtt s / cwnd (s) and of rtt^2 s / cwnd (s^2).
    rtt: f64,
    rtt_squared: f64,
}

/// What the running interval may hand out.
#[derive(Clone, Copy, Debug, Default)]
struct Allowed {
    xi_p: f64,
    xi_n: f64,
    /// byte/s still to give and to take.
    residue_p: f64,
    residue_n: f64,
}

/// The queue with its two controllers.
#[derive(Clone, Debug)]
pub struct Xcp {
    fifo: Fifo,
    spec: XcpSpec,
    /// byte/s on the wire.
    capacity: f64,
    /// Beginning of the control interval; never before the first header.
    begin: Time,
    /// d in seconds.
    interval: f64,
    sums: Sums,
    allowed: Allowed,
    /// Q, and the smallest queue since `queue_taken`, in bytes.
    standing: u64,
    smallest: u64,
    queue_taken: Time,
}

/// What a packet asks, if it is a change of its window.
fn asked(header: &CongestionHeader) -> Option<WindowRequest> {
    match header.request {
        Request::Window(asked) => Some(asked),
        _ => None,
    }
}

impl Discipline for Xcp {
    #[inline]
    fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict {
        self.fifo.enqueue(now, item, discarded)
    }

    #[inline]
    fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)> {
        self.fifo.dequeue(now, discarded)
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    fn limit(&self) -> Limit {
        self.fifo.limit()
    }

    fn set_limits(&mut self, limit: Option<Limit>, mark_above: Option<Limit>) {
        self.fifo.set_limits(limit, mark_above);
    }

    fn set_rate(&mut self, rate: Rate) {
        self.capacity = rate.0 as f64 / 8.0;
    }

    fn on_arrival(&mut self, now: Time, wire_bytes: u32, _priority: u8, header: Option<&CongestionHeader>) {
        let header = header.and_then(asked).filter(|header| header.rtt > Span::ZERO && header.cwnd_bytes > 0.0);
        if let Some(header) = header
            && self.begin == Time::NEVER
        {
            (self.begin, self.queue_taken) = (now, now);
            self.interval = header.rtt.seconds();
        }
        self.look_at_timers(now);
        self.smallest = self.smallest.min(self.fifo.bytes());
        let bytes = f64::from(wire_bytes);
        self.sums.input += bytes;
        if let Some(header) = header {
            let rtt = header.rtt.seconds();
            self.sums.headed += bytes;
            self.sums.rtt += rtt * bytes / header.cwnd_bytes;
            self.sums.rtt_squared += rtt * rtt * bytes / header.cwnd_bytes;
        }
    }

    fn on_departure(&mut self, wire_bytes: u32, header: &mut CongestionHeader) {
        let Request::Window(header) = &mut header.request else { return };
        let rtt = header.rtt.seconds();
        if rtt == 0.0 || header.cwnd_bytes <= 0.0 {
            header.feedback_bytes = header.feedback_bytes.min(0.0);
            return;
        }
        let a = &mut self.allowed;
        let bytes = f64::from(wire_bytes);
        let give = (a.xi_p * rtt * rtt * bytes / header.cwnd_bytes).min(a.residue_p * rtt);
        let take = (a.xi_n * rtt * bytes).min(a.residue_n * rtt);
        let feedback = give - take;
        // What a router before this one has already lowered is not handed out here.
        let (given, taken) = match header.feedback_bytes {
            asked if asked > feedback => (give, take),
            asked if asked > 0.0 => (asked, feedback - asked),
            asked => (0.0, feedback.max(0.0) - asked),
        };
        header.feedback_bytes = header.feedback_bytes.min(feedback);
        a.residue_p = (a.residue_p - given / rtt).max(0.0);
        a.residue_n = (a.residue_n - taken / rtt).max(0.0);
    }
}

impl Xcp {
    fn look_at_timers(&mut self, now: Time) {
        if self.begin == Time::NEVER {
            return;
        }
        let drain = self.fifo.bytes() as f64 / self.capacity;
        let queue_time = Span::from_seconds(((self.interval - drain) / 2.0).max(0.0)).max(self.spec.queue_time_min);
        if now.since(self.queue_taken) >= queue_time {
            (self.standing, self.smallest, self.queue_taken) = (self.smallest, self.fifo.bytes(), now);
        }
        let elapsed = now.since(self.begin).seconds();
        if elapsed > 0.0 && elapsed >= self.interval {
            self.control(elapsed);
            self.begin = now;
        }
    }

    /// The end of a control interval that has lasted `elapsed` seconds.
    fn control(&mut self, elapsed: f64) {
        let sums = std::mem::take(&mut self.sums);
        if sums.rtt > 0.0 {
            self.interval = sums.rtt_squared / sums.rtt;
        }
        let (spec, d) = (&self.spec, self.interval);
        let input = sums.input / elapsed;
        let phi = spec.alpha * d * (self.capacity - input) - spec.beta * self.standing as f64;
        let shuffled = (spec.gamma * input * d - phi.abs()).max(0.0);
        let (give, take) = (shuffled + phi.max(0.0), shuffled + (-phi).max(0.0));
        // The packets of an interval to come are those of the one that is over, d / elapsed of them.
        let share = |bytes: f64, sum: f64| if sum > 0.0 { bytes / (d * sum * d / elapsed) } else { 0.0 };
        self.allowed = Allowed {
            xi_p: share(give, sums.rtt),
            xi_n: share(take, sums.headed),
            residue_p: give / d,
            residue_n: take / d,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Xcp {
        let mut q = XcpSpec::default().build(0);
        // 10^6 byte/s.
        q.set_rate(Rate(8_000_000));
        q
    }

    fn header(cwnd_bytes: f64, rtt_ms: u64) -> CongestionHeader {
        asking(cwnd_bytes, rtt_ms, f64::INFINITY)
    }

    fn asking(cwnd_bytes: f64, rtt_ms: u64, feedback_bytes: f64) -> CongestionHeader {
        let request = WindowRequest { cwnd_bytes, rtt: Span::from_ms(rtt_ms), feedback_bytes };
        CongestionHeader { request: Request::Window(request), ..CongestionHeader::default() }
    }

    fn feedback(header: &CongestionHeader) -> f64 {
        asked(header).map_or(f64::NAN, |asked| asked.feedback_bytes)
    }

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// `packets` of 1000 bytes within an interval of 100 ms from `from_ms` on, none of which waits; then the first of the
    /// next interval leaves. Window 10 000 bytes, RTT 100 ms.
    fn interval(q: &mut Xcp, from_ms: u64, packets: u64) -> CongestionHeader {
        for n in 0..packets {
            q.on_arrival(at_ms(from_ms + n), 1000, 0, Some(&header(10_000.0, 100)));
        }
        q.on_arrival(at_ms(from_ms + 100), 1000, 0, Some(&header(10_000.0, 100)));
        let mut first = header(10_000.0, 100);
        q.on_departure(1000, &mut first);
        first
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6 * expected.abs().max(1.0), "{value} is not {expected}");
    }

    /// 50 packets of 1000 bytes in 100 ms are 5 * 10^5 of 10^6 byte/s: phi = 0.4 * 0.1 * 5e5 = 20 000 bytes, h = max(0, 5000 -
    /// 20 000) = 0. sum(rtt s / cwnd) = 50 * 0.01 = 0.5 s, xi_p = 20 000 / (0.1 * 0.5) = 400 000, and a packet's
    /// feedback = 400 000 * 0.01 * 1000 / 10 000 = 400 bytes: 50 packets of a round trip bring phi.
    #[test]
    fn spare_capacity_is_handed_out_by_an_interval() {
        let mut q = queue();
        let first = interval(&mut q, 0, 50);
        near(feedback(&first), 400.0);
        // What the interval may give is 20 000 bytes / 0.1 s; at 4000 byte/s a packet the fifty-first gets nothing.
        for _ in 1..50 {
            let mut h = header(10_000.0, 100);
            q.on_departure(1000, &mut h);
            near(feedback(&h), 400.0);
        }
        let mut h = header(10_000.0, 100);
        q.on_departure(1000, &mut h);
        near(feedback(&h), 0.0);
    }

    /// A full link without a queue: phi = 0, h = 0.1 * 10^5 = 10^4 bytes. sum(rtt s / cwnd) = 1 s for 100 packets of which
    /// half come from a window of 30 000 bytes: 0.5 + 0.1667 s. xi_p = 10^4 / (0.1 * 2/3) = 150 000: 150 and 50 bytes a packet;
    /// xi_n = 10^4 / (0.1 * 10^5) = 1: 100 bytes a packet. The small flow gains 50 a packet, the large one loses 50.
    #[test]
    fn a_full_link_shuffles_towards_fairness() {
        let mut q = queue();
        for n in 0..100 {
            q.on_arrival(at_ms(n), 1000, 0, Some(&header(if n % 2 == 0 { 10_000.0 } else { 30_000.0 }, 100)));
        }
        q.on_arrival(at_ms(100), 1000, 0, None);
        let (mut small, mut large) = (header(10_000.0, 100), header(30_000.0, 100));
        q.on_departure(1000, &mut small);
        q.on_departure(1000, &mut large);
        near(feedback(&small), 50.0);
        near(feedback(&large), -50.0);
    }

    /// 50 waiting packets that never drain: phi = -0.226 * 50 000 = -11 300 bytes on a full link; 0.1 * 10^5 - 11 300 < 0.
    /// xi_n = 11 300 / (0.1 * 10^5) = 1.13: 113 bytes a packet are taken.
    #[test]
    fn a_standing_queue_is_taken_back() {
        let mut q = queue();
        for n in 0..50 {
            let item = Item { handle: n, bytes: 1000, ..Item::default() };
            q.enqueue(Time::ZERO, item, &mut Vec::new());
        }
        // The first interval notes the queue, the second one acts on it.
        interval(&mut q, 0, 99);
        let first = interval(&mut q, 100, 99);
        near(feedback(&first), -113.0);
    }

    /// A round-trip time of 200 us and a queue of 5000 bytes that is gone after 50: with 2 ms it counts as standing for ten intervals.
    /// With 20 us it is read every (200 - 0) / 2 = 100 us: the packet at 100 finds it gone, which is read with the one at 200.
    #[test]
    fn the_standing_queue_is_read_again() {
        for (least_us, forgotten_us) in [(2000, 2000), (20, 200)] {
            let mut q = XcpSpec { queue_time_min: Span::from_us(least_us), ..XcpSpec::default() }.build(0);
            q.set_rate(Rate(800_000_000));
            let at = |us| Time::ZERO + Span::from_us(us);
            let header = CongestionHeader {
                request: Request::Window(WindowRequest {
                    cwnd_bytes: 10_000.0,
                    rtt: Span::from_us(200),
                    feedback_bytes: f64::INFINITY,
                }),
                ..CongestionHeader::default()
            };
            q.on_arrival(at(0), 1000, 0, Some(&header));
            let item = Item { bytes: 5000, ..Item::default() };
            q.enqueue(at(0), item, &mut Vec::new());
            (q.smallest, q.standing, q.queue_taken) = (5000, 5000, at(0));
            q.dequeue(at(50), &mut Vec::new());
            let mut forgotten = 0;
            for us in (100..).step_by(100) {
                q.on_arrival(at(us), 1000, 0, Some(&header));
                if q.standing == 0 {
                    forgotten = us;
                    break;
                }
            }
            assert_eq!(forgotten, forgotten_us, "{least_us}");
        }
    }

    /// Only ever lower: a header that asks for less keeps what it asks for; one without a round-trip time gets nothing.
    #[test]
    fn a_router_only_lowers() {
        let mut q = queue();
        interval(&mut q, 0, 50);
        for (asked, got) in [(100.0, 100.0), (-7.0, -7.0), (500.0, 400.0)] {
            let mut h = asking(10_000.0, 100, asked);
            q.on_departure(1000, &mut h);
            near(feedback(&h), got);
        }
        let mut h = header(10_000.0, 0);
        q.on_departure(1000, &mut h);
        assert_eq!(feedback(&h), 0.0);
    }

    /// The mean over flows, each weighted alike: 50 packets of 100 ms and 50 of 300 ms at equal windows are sent by three
    /// times as many flows of 300 ms: d = (0.01 + 0.09) / (0.1 + 0.3) s = 250 ms, not 200.
    #[test]
    fn the_interval_is_the_mean_round_trip_time_of_the_flows() {
        let mut q = queue();
        for n in 0..100 {
            q.on_arrival(at_ms(n), 1000, 0, Some(&header(10_000.0, if n % 2 == 0 { 100 } else { 300 })));
        }
        q.on_arrival(at_ms(100), 1000, 0, None);
        near(q.interval, 0.25);
    }
}
