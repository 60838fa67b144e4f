//! The congestion controls: growth in congestion avoidance and the cut at a congestion event. One file and one line each.

use crate::declare::Internals;
use crate::guest::{self, Fault, Guest};
use crate::rdma::{Nic, Progress, Telemetry, Transport, Trim};
use crate::registry::{capability, registry};
use crate::train::{Arrival, Memory, Start, Train};
use crate::{Ack, Signal, Window};
use elephan_units::{Span, Time, dispatch};

registry! {
    ($) each_algorithm algorithms "congestion control"
    "A congestion control: its name, a table with `kind` and its parameters, a class written in Python, or a program.";
    reno: Reno(reno::Reno) = "Reno (RFC 5681): one segment more a round trip, half the window on loss",
    cubic: Cubic(cubic::Cubic) + WholeSegments = "CUBIC (RFC 9438): a cubic function of the time since the last loss, cut to 0.7",
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
    prague: Prague(Box<prague::Prague>) + Pacing = "Prague (draft-briscoe-iccrg-prague-congestion-control): DCTCP for the Internet, over ECT(1) and Accurate ECN",
    bbr: Bbr(Box<bbr::Bbr>) + Pacing + Drawing = "BBR version 1 (Linux): paces by the bandwidth and round-trip time that it measures",
    bbr3: Bbr3(Box<bbr3::Bbr3>) + Pacing + Drawing = "BBR version 3 (draft-ietf-ccwg-bbr): the model of version 1, with bounds that losses set",
    ledbat: Ledbat(ledbat::Ledbat) + OneWayDelays = "LEDBAT (RFC 6817): a background flow that keeps the queueing delay at a target",
    fast: Fast(Box<fast::Fast>) = "FAST TCP (Jin, Wei and Low 2004): keeps alpha segments in the queues",
    swift: Swift(Box<swift::Swift>) + Pacing + EndpointDelays + Rdma = "Swift (Kumar et al. 2020): keeps the delay at a target, below one segment too",
    lp: Lp(lp::Lp) + OneWayDelays = "TCP-LP (Kuzmanovic and Knightly 2003): a background flow that leaves at the first sign of a queue",
    xcp: Xcp(xcp::Xcp) + Routers = "XCP (Katabi, Handley and Rohrs 2002): routers with queue `xcp` say how the window changes",
    explicit_rate: ExplicitRate(explicit_rate::ExplicitRate) + Pacing + Routers = "Explicit rate (the reference of Anderson et al. 2006): routers with queue `fq` say the fair rate",
    copa: Copa(Box<copa::Copa>) + Pacing = "Copa (Arun and Balakrishnan 2018): a rate that falls with the queueing delay",
    pcp: Pcp(Box<pcp::Pcp>) + Pacing + Timer + Drawing + Rdma + Probing = "PCP (Anderson et al. 2006): probes by trains of packets whether the path has more rate",
    dcqcn: Dcqcn(Box<dcqcn::Dcqcn>) + Pacing + Timer + Rdma = "DCQCN (Zhu et al. 2015), for RoCE: a rate that notifications of marked packets cut",
    timely: Timely(Box<timely::Timely>) + Pacing + Rdma = "TIMELY (Mittal et al. 2015), for RoCE: a rate that follows the gradient of the round-trip time",
    hpcc: Hpcc(Box<hpcc::Hpcc>) + Pacing + Routers + Rdma = "HPCC (Li et al. 2019), for RoCE: a window that follows the load of links as packets report it",
    nscc: Nscc(Box<nscc::Nscc>) + Rdma = "NSCC (Ultra Ethernet), for UEC: a window that goes by marks, delay and trimmed packets",
    none: None(none::None) = "No congestion control, for RDMA: the line rate",
    ; guest Guest(Box<dyn Guest>) from guest::Spec + Pacing + Timer
}

dispatch! {
    /// A congestion control: how the window grows in congestion avoidance and what a congestion event takes from it.
    ///
    /// Every method gets the window that the algorithm steers. [`crate::Controller`] keeps that window between one segment and
    /// [`crate::MAX_WINDOW_BYTES`] afterwards. Every method has a default, so an algorithm writes only what it needs. What few algorithms
    /// do is a trait of its own below; the line of an algorithm in the registry names those that it has.
    pub trait CongestionControl for Any by each_algorithm {
        /// Is called when the handshake is over and the window is the initial one.
        fn on_establish(&mut self, w: &mut Window) {}

        /// Is called once after the handshake. [`Start::takes_over`] says whether the algorithm replaces a running one.
        fn begin(&mut self, w: &mut Window, start: &Start) {}

        /// Is called when `bytes` leave while `inflight` bytes were in flight before them.
        #[inline]
        fn on_sent(&mut self, w: &mut Window, now: Time, bytes: u64, inflight: u64) {}

        /// Is called with every ACK of new data, in slow start and in recovery too, before it grows the window. Measurements belong here.
        #[inline]
        fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {}

        /// Returns whether slow start and [`CongestionControl::on_ack`] grow the window by the ACK that
        /// [`CongestionControl::on_delivery`] has seen. An algorithm that returns `false` sets the window there.
        #[inline]
        fn grows_by_ack(&self) -> bool {
            true
        }

        /// Is called with each ACK in congestion avoidance, or with what slow start left of one. The window must not grow when
        /// `ack.app_limited`. An algorithm that sets its window elsewhere does nothing here.
        #[inline]
        fn on_ack(&mut self, w: &mut Window, ack: &Ack) {}

        /// Is called with each ACK of new data in fast recovery.
        fn on_ack_in_recovery(&mut self, w: &mut Window, ack: &Ack) {
            self.on_delivery(w, ack);
        }

        /// Is called at each congestion event other than [`Signal::Undo`], and sets `cwnd` and `ssthresh`. An algorithm to which losses mean
        /// nothing does nothing. [`CongestionControl::on_timeout_again`] reports a timer that expires again for the same segment.
        fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {}

        /// Is called when the retransmission timer has expired again without progress in between. The window is one segment then (RFC 5681
        /// section 3.1).
        fn on_timeout_again(&mut self, w: &mut Window, now: Time) {
            w.cwnd = w.mss;
        }

        /// Is called when recovery, or what followed a timeout, is over, before the ACK that ends it.
        fn on_recovered(&mut self, w: &mut Window) {}

        /// Is called when the last event was spurious. `cwnd` and `ssthresh` are restored already; the algorithm restores its own state.
        fn on_undo(&mut self, w: &mut Window, now: Time) {}

        /// Is called when the window was lowered without a congestion event (restart after idle, burst moderation).
        fn on_shrink(&mut self, w: &Window) {}
    }
}

capability! {
    ($) algorithms
    /// An algorithm that says at which rate packets leave.
    pub trait Pacing for Any by each_algorithm {
        /// Returns the rate in bit/s of payload as delivery rates are, or of whole packets ([`crate::Needs::PACES_PACKETS`]). ACKs alone
        /// drive an algorithm that returns `None`.
        #[inline]
        fn pacing_rate(&self, w: &Window) -> Option<f64> {
            None
        }

        /// Returns how many segments leave together when pacing lets something out.
        #[inline]
        fn burst_segments(&self) -> f64 {
            1.0
        }
    }
}

capability! {
    ($) algorithms
    /// An algorithm that acts at times of its own.
    pub trait Timer for Any by each_algorithm {
        /// Returns when [`Timer::on_timer`] is due, if ever.
        #[inline]
        fn next_timer(&self) -> Option<Time> {
            None
        }

        /// Is called at the time that [`Timer::next_timer`] returned.
        fn on_timer(&mut self, w: &mut Window, now: Time) {}
    }
}

capability! {
    ($) algorithms
    /// An algorithm that draws at random ([`crate::Traits::is_random`]).
    pub trait Drawing for Any by each_algorithm {
        /// Sets the seed of the draws. It is 0 if nobody calls this.
        fn set_seed(&mut self, seed: u64) {}
    }
}

capability! {
    ($) algorithms
    /// An algorithm whose growth follows from the numbers of Linux, which counts in whole segments.
    pub trait WholeSegments for Any by each_algorithm {
        /// Is called when the stack begins to count in whole segments, or ceases to ([`crate::Traits::counts_segments`]).
        fn on_counting(&mut self, segments: bool) {}
    }
}

capability! {
    ($) algorithms
    /// An algorithm that reads one-way delays ([`crate::Needs::ONE_WAY_DELAY`]).
    pub trait OneWayDelays for Any by each_algorithm {
        /// Is called with the one-way delay that the next ACK shows. Only differences count, so the two clocks need not agree.
        fn on_one_way_delay(&mut self, delay: Span) {}
    }
}

capability! {
    ($) algorithms
    /// An algorithm that reads delays of the end hosts ([`crate::Needs::ENDPOINT_DELAY`]).
    pub trait EndpointDelays for Any by each_algorithm {
        /// Is called with the delay of the end hosts in the round-trip time of the next ACK: from the last bit of the data segment to its
        /// acknowledgement, and from the last bit of the ACK until the sender reads it.
        fn on_endpoint_delay(&mut self, delay: Span) {}
    }
}

capability! {
    ($) algorithms
    /// An algorithm that routers help ([`crate::Needs::asks`]).
    pub trait Routers for Any by each_algorithm {
        /// Is called when feedback has come back: the window may change by `bytes`, which is infinite if no router has answered.
        fn on_feedback(&mut self, bytes: f64) {}

        /// Is called when routers report the fair rate, in bit/s of packets with their IP headers, and how many of the flow's bytes wait
        /// there. It may be called before the handshake is over.
        fn on_fair_rate(&mut self, w: &mut Window, rate_bps: f64, queue_bytes: f64) {}

        /// Is called with what a packet has met at each port, before the ACK that brings it.
        fn on_telemetry(&mut self, w: &mut Window, telemetry: &Telemetry, progress: Progress) {}
    }
}

capability! {
    ($) algorithms
    /// An algorithm for RDMA, or one for TCP that reads the network interface of its sender ([`crate::Needs::NIC`]).
    pub trait Rdma for Any by each_algorithm {
        /// Is called with the sender's network interface when the algorithm begins to steer a sender of RDMA, or a connection of TCP
        /// where [`crate::Needs::NIC`] asks for it.
        fn on_nic(&mut self, w: &mut Window, nic: &Nic) {}

        /// Is called when the receiver has notified the sender of a marked packet.
        fn on_notification(&mut self, w: &mut Window, now: Time) {}

        /// Is called when a packet has lost its payload on the way (Ultra Ethernet).
        fn on_trim(&mut self, w: &mut Window, trim: &Trim) {}
    }
}

capability! {
    ($) algorithms
    /// An algorithm that sends trains of packets and looks at when each packet arrived ([`crate::Needs::TRAINS`]).
    pub trait Probing for Any by each_algorithm {
        /// Is called before [`CongestionControl::begin`] with what the last connection to the same destination has left.
        fn recall(&mut self, memory: &Memory) {}

        /// Returns what the next connection to the same destination may start from.
        fn remember(&self) -> Option<Memory> {
            None
        }

        /// Is called when a packet has arrived, before its ACK.
        fn on_arrival(&mut self, w: &mut Window, now: Time, arrival: &Arrival) {}

        /// Returns the train to send from `now` on, if the algorithm wants one while `segments` of new data are waiting. It is called
        /// whenever data may leave.
        fn next_train(&mut self, now: Time, segments: u64) -> Option<Train> {
            None
        }

        /// Is called when only `packets` packets of the last train could be sent.
        fn on_train_cut(&mut self, w: &mut Window, now: Time, packets: u32) {}
    }
}

/// What a controller wants besides its window: the answers of [`Pacing`] and [`Timer`].
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    pub pacing_rate: Option<f64>,
    pub burst_segments: f64,
    pub timer: Option<Time>,
}

impl Any {
    /// Returns pacing and timer at once, because every ACK asks for both.
    #[inline]
    pub(crate) fn wishes(&self, w: &Window) -> Wishes {
        each_algorithm!(self, cc => Wishes {
            pacing_rate: cc.pacing_rate(w),
            burst_segments: cc.burst_segments(),
            timer: cc.next_timer(),
        })
    }

    /// Returns why a guest has given up. It is `None` for every congestion control of this crate.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        let Any::Guest(guest) = self else { return None };
        guest.fault()
    }

    pub(crate) fn observe(&self, out: &mut Vec<(&'static str, f64)>) {
        each_algorithm!(self, cc => cc.observe(out))
    }

    pub(crate) fn poke(&mut self, name: &str, value: f64) -> bool {
        each_algorithm!(self, cc => cc.poke(name, value))
    }
}

impl Spec {
    /// Returns whether the congestion control is for this transport. Classes of the user's are for TCP.
    pub fn suits(&self, transport: Transport) -> bool {
        self.traits().transports.contains(&transport)
    }

    /// Returns the congestion control of a transport where nobody says one; that of TCP is its stack's.
    pub fn of_transport(transport: Transport) -> Option<Spec> {
        match transport {
            Transport::Tcp => None,
            Transport::Roce => Some(Spec::Dcqcn(Default::default())),
            Transport::Uec => Some(Spec::Nscc(Default::default())),
        }
    }
}
