//! The congestion controls: growth in congestion avoidance and the cut at a congestion event. One file and one line each.

use crate::declare::Internals;
use crate::delay::OneWay;
use crate::guest::{self, Fault, Guest};
use crate::rdma::{Nic, Progress, Telemetry, Transport};
use crate::registry::registry;
use crate::train::{Arrival, Memory, Start, Train};
use crate::{Ack, Question, Signal, Window};
use elephan_units::Time;

registry! {
    ($) each_algorithm "congestion control"
    "A congestion control: its name, a table with `kind` and its parameters, a class written in Python, or a program.";
    reno: Reno(reno::Reno) = "Reno (RFC 5681): one segment more a round trip, half the window on loss",
    cubic: Cubic(cubic::Cubic) = "CUBIC (RFC 9438): a cubic function of the time since the last loss, cut to 0.7",
    highspeed: Highspeed(highspeed::Highspeed) = "HighSpeed TCP (RFC 3649): growth and cut depend on the window",
    scalable: Scalable(scalable::Scalable) = "Scalable TCP (Kelly 2003): growth and cut are shares of the window",
    griddt: Griddt(griddt::Griddt) = "GridDT (Ravot 2003): Reno with the increase and decrease set by the user",
    bic: Bic(bic::Bic) = "BIC (Xu 2004): a binary search for the window that met congestion",
    hybla: Hybla(hybla::Hybla) = "Hybla (Caini 2004): grows in time as Reno does with a round trip of 25 ms",
    htcp: Htcp(Box<htcp::Htcp>) = "H-TCP (Leith and Shorten): growth by the time since the last loss, cut by the delay",
    westwood: Westwood(westwood::Westwood) = "Westwood+ (Grieco and Mascolo): as Reno, cut to the bandwidth measured",
    vegas: Vegas(Box<vegas::Vegas>) = "Vegas (Brakmo and Peterson): keeps two to four segments in the queue",
    veno: Veno(Box<veno::Veno>) = "Veno (Fu and Liew): Reno that cuts to 0.8 when its queue is short",
    illinois: Illinois(Box<illinois::Illinois>) = "TCP-Illinois (Liu, Basar and Srikant): growth and cut by the queueing delay",
    yeah: Yeah(Box<yeah::Yeah>) = "YeAH (Baiocchi, Castellani and Vacirca): Scalable with a short queue, Reno with a long one",
    compound: Compound(Box<compound::Compound>) = "Compound TCP (draft-sridharan-tcpm-ctcp): Reno and a window that looks at delay",
    dctcp: Dctcp(dctcp::Dctcp) = "DCTCP (RFC 8257): the window is cut by half the share of bytes that met congestion",
    prague: Prague(Box<prague::Prague>) = "Prague (draft-briscoe-iccrg-prague-congestion-control): DCTCP for the Internet, over ECT(1) and Accurate ECN",
    bbr: Bbr(Box<bbr::Bbr>) = "BBR version 1 (Linux): paces by the bandwidth and round-trip time that it measures",
    bbr3: Bbr3(Box<bbr3::Bbr3>) = "BBR version 3 (draft-ietf-ccwg-bbr): the model of version 1, with bounds that losses set",
    ledbat: Ledbat(ledbat::Ledbat) = "LEDBAT (RFC 6817): a background flow that keeps the queueing delay at a target",
    fast: Fast(Box<fast::Fast>) = "FAST TCP (Jin, Wei and Low 2004): keeps alpha segments in the queues",
    swift: Swift(Box<swift::Swift>) = "Swift (Kumar et al. 2020): keeps the delay at a target, below one segment too",
    lp: Lp(lp::Lp) = "TCP-LP (Kuzmanovic and Knightly 2003): a background flow that leaves at the first sign of a queue",
    xcp: Xcp(xcp::Xcp) = "XCP (Katabi, Handley and Rohrs 2002): routers with queue `xcp` say how the window changes",
    explicit_rate: ExplicitRate(explicit_rate::ExplicitRate) = "Explicit rate (the reference of Anderson et al. 2006): routers with queue `fq` say the fair rate",
    copa: Copa(Box<copa::Copa>) = "Copa (Arun and Balakrishnan 2018): a rate that falls with the queueing delay",
    pcp: Pcp(Box<pcp::Pcp>) = "PCP (Anderson et al. 2006): probes by trains of packets whether the path has more rate",
    dcqcn: Dcqcn(Box<dcqcn::Dcqcn>) = "DCQCN (Zhu et al. 2015), for RoCE: a rate that notifications of marked packets cut",
    timely: Timely(Box<timely::Timely>) = "TIMELY (Mittal et al. 2015), for RoCE: a rate that follows the gradient of the round-trip time",
    hpcc: Hpcc(Box<hpcc::Hpcc>) = "HPCC (Li et al. 2019), for RoCE: a window that follows the load of links as packets report it",
    none: None(none::None) = "No congestion control, for RoCE: the line rate",
    ; guest Guest(Box<dyn Guest>) from guest::Spec
}

/// What a controller wants besides its window. The methods of [`CongestionControl`] with these names say what each is.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    pub pacing_rate: Option<f64>,
    pub paces_packets: bool,
    pub burst_segments: f64,
    pub timer: Option<Time>,
}

/// A congestion control: how the window grows in congestion avoidance and what a congestion event takes from it.
///
/// Every method gets the window that the algorithm steers. [`crate::Controller`] keeps that window between one segment and
/// [`crate::MAX_WINDOW_BYTES`] afterwards. Every method has a default, so an algorithm writes only what it needs.
pub trait CongestionControl {
    /// Is called when `bytes` leave while `inflight` bytes were in flight before them.
    fn on_sent(&mut self, _w: &mut Window, _now: Time, _bytes: u64, _inflight: u64) {}

    /// Returns the transports that the algorithm is for.
    fn transports(&self) -> &'static [Transport] {
        &[Transport::Tcp]
    }

    /// Returns whether slow start and [`CongestionControl::on_ack`] grow the window. An algorithm that returns `false` sets the window in
    /// [`CongestionControl::on_delivery`]. An algorithm for RDMA alone has no slow start.
    fn grows_by_ack(&self) -> bool {
        self.transports().contains(&Transport::Tcp)
    }

    /// Returns whether the growth follows single ACKs, so that a stack without byte counting shows one segment an ACK at most. An algorithm that
    /// grows by a fixed amount per round trip, or by a clock, returns `false`.
    fn counts_acks(&self) -> bool {
        true
    }

    /// Is called when the stack begins to count in whole segments, or ceases to ([`crate::Traits::counts_segments`]). An algorithm whose growth
    /// follows from the numbers of Linux computes with whole segments then.
    fn on_counting(&mut self, _segments: bool) {}

    /// Returns whether an ECN-Echo reduces the window as much as a loss, so that a loss in the same window of data reduces it no further (RFC
    /// 3168 section 6.1.2). An algorithm that yields less to a mark returns `false`.
    fn ecn_is_loss(&self) -> bool {
        true
    }

    /// Returns whether new data leaves as ECT(1), the codepoint of L4S (RFC 9331).
    fn sends_ect1(&self) -> bool {
        false
    }

    /// Returns whether nothing is ECN-capable unless Accurate ECN was negotiated (Linux `TCP_CONG_NEEDS_ACCECN`).
    fn needs_accurate_ecn(&self) -> bool {
        false
    }

    /// Returns whether the algorithm acts upon the delay of single ACKs, so that means over a round trip say too little ([`crate::rounds`]).
    fn reads_each_delay(&self) -> bool {
        false
    }

    /// Returns where one-way delays go, if the algorithm reads them. Each delay is reported before the ACK that shows it.
    fn one_way(&mut self) -> Option<&mut OneWay> {
        None
    }

    /// Returns whether [`CongestionControl::on_ack`] also grows the window below `ssthresh`, instead of the slow start of the stack.
    fn has_slow_start(&self) -> bool {
        false
    }

    /// Returns whether the algorithm reads [`Ack::rate_bps`]. Measuring it costs memory for every segment in flight.
    fn measures_rate(&self) -> bool {
        false
    }

    /// Returns what the packets of the flow ask routers in a congestion header, if anything.
    fn asks_routers(&self) -> Option<Question> {
        None
    }

    /// Is called when feedback has come back: the window may change by `bytes`, which is infinite if no router has answered.
    fn on_feedback(&mut self, _bytes: f64) {}

    /// Returns whether the algorithm sends trains of packets and looks at when each packet arrived (see [`crate::train`]). Its packets say when
    /// they left, and its receiver acknowledges each at once.
    fn probes(&self) -> bool {
        false
    }

    /// Returns whether the receiver acknowledges each segment at once. An algorithm that takes every delay for the network's needs this.
    fn acknowledged_each(&self) -> bool {
        self.probes()
    }

    /// Returns whether [`CongestionControl::on_nic`] has to be called over TCP.
    fn reads_nic(&self) -> bool {
        self.probes()
    }

    /// Sets the seed of what the algorithm draws at random. It is 0 if nobody calls this.
    fn set_seed(&mut self, _seed: u64) {}

    /// Is called before [`CongestionControl::begin`] with what the last connection to the same destination has left.
    fn recall(&mut self, _memory: &Memory) {}

    /// Returns what the next connection to the same destination may start from.
    fn remember(&self) -> Option<Memory> {
        None
    }

    /// Is called once after the handshake. [`Start::takes_over`] says whether the algorithm replaces a running one.
    fn begin(&mut self, _w: &mut Window, _start: &Start) {}

    /// Is called when a packet of an algorithm that probes has arrived, before its ACK.
    fn on_arrival(&mut self, _w: &mut Window, _now: Time, _arrival: &Arrival) {}

    /// Returns the train to send from `now` on, if the algorithm wants one while `segments` of new data are waiting. It is called whenever data
    /// may leave.
    fn next_train(&mut self, _now: Time, _segments: u64) -> Option<Train> {
        None
    }

    /// Is called when only `packets` packets of the last train could be sent.
    fn on_train_cut(&mut self, _w: &mut Window, _now: Time, _packets: u32) {}

    /// Is called when routers report the fair rate, in bit/s of packets with their IP headers, and how many of the flow's bytes wait there. It may
    /// be called before the handshake is over.
    fn on_fair_rate(&mut self, _w: &mut Window, _rate_bps: f64, _queue_bytes: f64) {}

    /// Is called with the sender's network interface when the algorithm begins to steer a sender of RDMA, or begins to probe.
    fn on_nic(&mut self, _w: &mut Window, _nic: &Nic) {}

    /// Is called when the receiver has notified the sender of a marked packet.
    fn on_notification(&mut self, _w: &mut Window, _now: Time) {}

    /// Is called with what a packet has met at each port, before the ACK that brings it.
    fn on_telemetry(&mut self, _w: &mut Window, _telemetry: &Telemetry, _progress: Progress) {}

    /// Is called when the handshake is over and the window is the initial one.
    fn on_establish(&mut self, _w: &mut Window) {}

    /// Is called with every ACK of new data, in slow start and in recovery too, before it grows the window. Measurements belong here.
    fn on_delivery(&mut self, _w: &mut Window, _ack: &Ack) {}

    /// Is called with each ACK of new data in fast recovery.
    fn on_ack_in_recovery(&mut self, w: &mut Window, ack: &Ack) {
        self.on_delivery(w, ack);
    }

    /// Is called with each ACK in congestion avoidance, or with what slow start left of one. The window must not grow when `ack.app_limited`.
    /// An algorithm that sets its window elsewhere does nothing here.
    fn on_ack(&mut self, _w: &mut Window, _ack: &Ack) {}

    /// Is called at each congestion event other than [`Signal::Undo`], and sets `cwnd` and `ssthresh`. An algorithm to which losses mean nothing
    /// does nothing. [`CongestionControl::on_timeout_again`] reports a timer that expires again for the same segment.
    fn on_congestion(&mut self, _w: &mut Window, _signal: &Signal) {}

    /// Is called when the retransmission timer has expired again without progress in between. The window is one segment then (RFC 5681 section 3.1).
    fn on_timeout_again(&mut self, w: &mut Window, _now: Time) {
        w.cwnd = w.mss;
    }

    /// Is called when recovery, or what followed a timeout, is over, before the ACK that ends it.
    fn on_recovered(&mut self, _w: &mut Window) {}

    /// Returns whether the window applies in recovery too (Linux `cong_control`). Proportional rate reduction and the like then do nothing.
    fn steers_recovery(&self) -> bool {
        false
    }

    /// Is called when the last event was spurious. `cwnd` and `ssthresh` are restored already; the algorithm restores its own state.
    fn on_undo(&mut self, _w: &mut Window, _now: Time) {}

    /// Is called when the window was lowered without a congestion event (restart after idle, burst moderation).
    fn on_shrink(&mut self, _w: &Window) {}

    /// Returns when [`CongestionControl::on_timer`] is due, if ever.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Is called at the time that [`CongestionControl::next_timer`] returned.
    fn on_timer(&mut self, _w: &mut Window, _now: Time) {}

    /// Returns the rate of an algorithm that paces, in bit/s of payload as delivery rates are.
    fn pacing_rate(&self, _w: &Window) -> Option<f64> {
        None
    }

    /// Returns whether [`CongestionControl::pacing_rate`] counts whole packets with their IP and TCP headers, as routers report it.
    fn paces_packets(&self) -> bool {
        false
    }

    /// Returns how many segments leave together when pacing lets something out.
    fn burst_segments(&self) -> f64 {
        1.0
    }

    /// Returns pacing and timer at once, because every ACK asks for both. No algorithm needs its own version.
    #[inline]
    fn wishes(&self, w: &Window) -> Wishes {
        Wishes {
            pacing_rate: self.pacing_rate(w),
            paces_packets: self.paces_packets(),
            burst_segments: self.burst_segments(),
            timer: self.next_timer(),
        }
    }

    /// Returns why a guest has given up. It does nothing any more.
    fn fault(&self) -> Option<&Fault> {
        None
    }
}

impl CongestionControl for Any {
    #[inline]
    fn on_sent(&mut self, w: &mut Window, now: Time, bytes: u64, inflight: u64) {
        each_algorithm!(self, cc => cc.on_sent(w, now, bytes, inflight))
    }

    #[inline]
    fn grows_by_ack(&self) -> bool {
        each_algorithm!(self, cc => cc.grows_by_ack())
    }

    #[inline]
    fn counts_acks(&self) -> bool {
        each_algorithm!(self, cc => cc.counts_acks())
    }

    fn ecn_is_loss(&self) -> bool {
        each_algorithm!(self, cc => cc.ecn_is_loss())
    }

    fn sends_ect1(&self) -> bool {
        each_algorithm!(self, cc => cc.sends_ect1())
    }

    fn needs_accurate_ecn(&self) -> bool {
        each_algorithm!(self, cc => cc.needs_accurate_ecn())
    }

    fn reads_each_delay(&self) -> bool {
        each_algorithm!(self, cc => cc.reads_each_delay())
    }

    fn one_way(&mut self) -> Option<&mut OneWay> {
        each_algorithm!(self, cc => cc.one_way())
    }

    fn has_slow_start(&self) -> bool {
        each_algorithm!(self, cc => cc.has_slow_start())
    }

    fn measures_rate(&self) -> bool {
        each_algorithm!(self, cc => cc.measures_rate())
    }

    fn on_counting(&mut self, segments: bool) {
        each_algorithm!(self, cc => cc.on_counting(segments))
    }

    fn asks_routers(&self) -> Option<Question> {
        each_algorithm!(self, cc => cc.asks_routers())
    }

    fn transports(&self) -> &'static [Transport] {
        each_algorithm!(self, cc => cc.transports())
    }

    fn on_nic(&mut self, w: &mut Window, nic: &Nic) {
        each_algorithm!(self, cc => cc.on_nic(w, nic))
    }

    fn on_notification(&mut self, w: &mut Window, now: Time) {
        each_algorithm!(self, cc => cc.on_notification(w, now))
    }

    fn on_telemetry(&mut self, w: &mut Window, telemetry: &Telemetry, progress: Progress) {
        each_algorithm!(self, cc => cc.on_telemetry(w, telemetry, progress))
    }

    fn on_fair_rate(&mut self, w: &mut Window, rate_bps: f64, queue_bytes: f64) {
        each_algorithm!(self, cc => cc.on_fair_rate(w, rate_bps, queue_bytes))
    }

    fn on_establish(&mut self, w: &mut Window) {
        each_algorithm!(self, cc => cc.on_establish(w))
    }

    fn on_feedback(&mut self, bytes: f64) {
        each_algorithm!(self, cc => cc.on_feedback(bytes))
    }

    fn acknowledged_each(&self) -> bool {
        each_algorithm!(self, cc => cc.acknowledged_each())
    }

    fn reads_nic(&self) -> bool {
        each_algorithm!(self, cc => cc.reads_nic())
    }

    fn probes(&self) -> bool {
        each_algorithm!(self, cc => cc.probes())
    }

    fn set_seed(&mut self, seed: u64) {
        each_algorithm!(self, cc => cc.set_seed(seed))
    }

    fn recall(&mut self, memory: &Memory) {
        each_algorithm!(self, cc => cc.recall(memory))
    }

    fn remember(&self) -> Option<Memory> {
        each_algorithm!(self, cc => cc.remember())
    }

    fn begin(&mut self, w: &mut Window, start: &Start) {
        each_algorithm!(self, cc => cc.begin(w, start))
    }

    fn on_arrival(&mut self, w: &mut Window, now: Time, arrival: &Arrival) {
        each_algorithm!(self, cc => cc.on_arrival(w, now, arrival))
    }

    fn next_train(&mut self, now: Time, segments: u64) -> Option<Train> {
        each_algorithm!(self, cc => cc.next_train(now, segments))
    }

    fn on_train_cut(&mut self, w: &mut Window, now: Time, packets: u32) {
        each_algorithm!(self, cc => cc.on_train_cut(w, now, packets))
    }

    #[inline]
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        each_algorithm!(self, cc => cc.on_delivery(w, ack))
    }

    fn on_timeout_again(&mut self, w: &mut Window, now: Time) {
        each_algorithm!(self, cc => cc.on_timeout_again(w, now))
    }

    fn on_recovered(&mut self, w: &mut Window) {
        each_algorithm!(self, cc => cc.on_recovered(w))
    }

    fn steers_recovery(&self) -> bool {
        each_algorithm!(self, cc => cc.steers_recovery())
    }

    fn on_ack_in_recovery(&mut self, w: &mut Window, ack: &Ack) {
        each_algorithm!(self, cc => cc.on_ack_in_recovery(w, ack))
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        each_algorithm!(self, cc => cc.on_ack(w, ack))
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        each_algorithm!(self, cc => cc.on_congestion(w, signal))
    }

    fn on_undo(&mut self, w: &mut Window, now: Time) {
        each_algorithm!(self, cc => cc.on_undo(w, now))
    }

    fn on_shrink(&mut self, w: &Window) {
        each_algorithm!(self, cc => cc.on_shrink(w))
    }

    #[inline]
    fn next_timer(&self) -> Option<Time> {
        each_algorithm!(self, cc => cc.next_timer())
    }

    fn on_timer(&mut self, w: &mut Window, now: Time) {
        each_algorithm!(self, cc => cc.on_timer(w, now))
    }

    #[inline]
    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        each_algorithm!(self, cc => cc.pacing_rate(w))
    }

    fn paces_packets(&self) -> bool {
        each_algorithm!(self, cc => cc.paces_packets())
    }

    fn burst_segments(&self) -> f64 {
        each_algorithm!(self, cc => cc.burst_segments())
    }

    #[inline]
    fn wishes(&self, w: &Window) -> Wishes {
        each_algorithm!(self, cc => cc.wishes(w))
    }

    fn fault(&self) -> Option<&Fault> {
        each_algorithm!(self, cc => cc.fault())
    }
}

impl Spec {
    /// Returns whether the congestion control is for this transport. Classes of the user's are for TCP.
    pub fn suits(&self, transport: Transport) -> bool {
        match self {
            Spec::Guest(_) => transport == Transport::Tcp,
            _ => Any::new(self).transports().contains(&transport),
        }
    }
}

impl Any {
    pub(crate) fn observe(&self, out: &mut Vec<(&'static str, f64)>) {
        each_algorithm!(self, cc => cc.observe(out))
    }

    pub(crate) fn poke(&mut self, name: &str, value: f64) -> bool {
        each_algorithm!(self, cc => cc.poke(name, value))
    }
}
