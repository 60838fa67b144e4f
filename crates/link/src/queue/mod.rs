//! Queue disciplines. The registry: a discipline is one file here and one line in `queues!`.

mod answers;
mod header;
pub mod part;

pub use answers::{Answers, Reads, Tells, title};
pub use dualpi2::Dualpi2Preset;
pub use fifo::Limit;
pub use header::{Answer, CongestionHeader, RateRequest, Request, WindowRequest};
pub use trim::{CONTROL_PRIORITY, TRIMMED};

use elephan_random::Stream;
use elephan_units::{Bytes, InvalidParameter, Rate, Span, Time, dispatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a discipline needs to know of a waiting packet; `handle` is the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub handle: u32,
    pub flow: u32,
    /// Bytes charged to the queue.
    pub bytes: u32,
    /// IP ECN codepoint, 0..3.
    pub ecn: u8,
    /// IEEE 802.1Q priority of its flow, 0..7; 7 goes first.
    pub priority: u8,
    /// Weight of its flow, at least 1.
    pub weight: u16,
    /// When it was offered.
    pub at: Time,
}

impl Default for Item {
    fn default() -> Item {
        Item { handle: 0, flow: 0, bytes: 0, ecn: 0, priority: 0, weight: 1, at: Time::ZERO }
    }
}

/// Returns whether a packet with this codepoint may be marked instead of dropped: ECT(0), ECT(1) or CE.
#[inline]
pub fn is_ect(ecn: u8) -> bool {
    ecn & 3 != 0
}

/// Waiting packets that a discipline has dropped, each with its reason. The caller takes them out.
pub type Discarded = Vec<(Item, &'static str)>;

/// Objects to a time of zero where the model needs one.
fn positive(key: &'static str, span: Span) -> Option<InvalidParameter> {
    (span == Span::ZERO).then(|| InvalidParameter::new(key, format!("\"{span}\": must be above zero")))
}

/// Objects to a period so short that a run would do nothing else.
fn at_least_1_us(key: &'static str, span: Span) -> Option<InvalidParameter> {
    (span < Span::from_us(1)).then(|| InvalidParameter::new(key, format!("\"{span}\": must be at least 1 us")))
}

/// What became of a packet that was offered to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// Accepted, and the packet must carry Congestion Experienced.
    Marked,
    Dropped(&'static str),
}

/// Declares the closed set of disciplines, `"name" => file: State(Spec);`: their modules, the scenario's `queue = { kind = ... }`, the enum
/// of the hot loop and the list of names. The macros `each_spec!` and `each_queue!` match the two enums, for [`dispatch!`].
macro_rules! queues {
    (($d:tt) $($(#[doc = $doc:literal])+ $name:literal => $module:ident: $variant:ident($spec:ident);)+) => {
        $(mod $module;
        pub use $module::{$spec, $variant};)+

        /// A port's queue: its kind and that kind's parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum QueueSpec {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant($spec),)+
        }

        /// The state of a port's queue.
        #[derive(Clone, Debug)]
        pub enum Queue {
            $($variant($variant),)+
        }

        impl QueueSpec {
            pub fn name(&self) -> &'static str {
                match self { $(QueueSpec::$variant(_) => $name,)+ }
            }
        }

        macro_rules! each_spec {
            ($d spec:expr, $d held:ident => $d Made:ident: $d body:expr) => {
                match $d spec { $(QueueSpec::$variant($d held) => $d Made::$variant($d body),)+ }
            };
            ($d spec:expr, $d held:ident => $d body:expr) => {
                match $d spec { $(QueueSpec::$variant($d held) => $d body,)+ }
            };
        }

        macro_rules! each_queue {
            ($d queue:expr, $d held:ident => $d body:expr) => {
                match $d queue { $(Queue::$variant($d held) => $d body,)+ }
            };
        }

        /// Every discipline's name and its one line.
        pub const QUEUES: &[(&str, &str)] = &[$(($name, concat!($($doc),+)),)+];
    };
}

queues! {
    ($)
    /// First in, first out, drop-tail: a packet that does not fit in the limit is dropped
    "fifo" => fifo: Fifo(FifoSpec);
    /// CoDel (RFC 8289): a FIFO that drops or marks at departure when packets have waited for too long
    "codel" => codel: Codel(CodelSpec);
    /// PIE (RFC 8033): a FIFO that drops or marks at random, with a probability that a controller of its delay sets
    "pie" => pie: Pie(PieSpec);
    /// RED (Floyd and Jacobson 1993): a FIFO that drops or marks at random, the likelier the longer the queue on the average
    "red" => red: Red(RedSpec);
    /// PI2 (De Schepper et al. 2016): a FIFO that drops or marks with the square of what a controller of its delay says
    "pi2" => pi2: Pi2(Pi2Spec);
    /// DualPI2 (RFC 9332): a queue of low latency for scalable senders beside a classic one, coupled so that both share alike
    "dualpi2" => dualpi2: Dualpi2(Dualpi2Spec);
    /// BLUE (Feng et al. 2002): a FIFO that drops or marks with a probability that losses raise and an idle link lowers
    "blue" => blue: Blue(BlueSpec);
    /// FQ-CoDel (RFC 8290): flows are hashed to queues that take turns, new ones first, each with a CoDel
    "fq_codel" => fq_codel: FqCodel(FqCodelSpec);
    /// FQ-PIE as Linux's fq_pie: flows are hashed to queues that take turns, new ones first, each with a PIE
    "fq_pie" => fq_pie: FqPie(FqPieSpec);
    /// The core of CAKE as Linux's cake: queues of flows in sets of eight, each with CoDel and BLUE, behind a shaper
    "cake" => cake: Cake(CakeSpec);
    /// XCP (Katabi, Handley and Rohrs 2002): a FIFO that tells senders with congestion control `xcp` how to change their windows
    "xcp" => xcp: Xcp(XcpSpec);
    /// Fair queueing (Demers, Keshav and Shenker 1989): packets in the order in which bit-by-bit round robin would finish them
    "fq" => fq: Fq(FqSpec);
    /// Self-clocked fair queueing (Golestani 1994): its virtual time is the finish of the packet in service
    "scfq" => scfq: Scfq(ScfqSpec);
    /// Deficit round robin (Shreedhar and Varghese 1995): a quantum for each flow in turn
    "drr" => drr: Drr(DrrSpec);
    /// Stochastic fair queueing as Linux's sfq: flows are hashed to queues that are served round robin
    "sfq" => sfq: Sfq(SfqSpec);
    /// Strict priority between bands, by the `priority` of the traffic
    "prio" => prio: Prio(PrioSpec);
    /// Enhanced transmission selection (IEEE 802.1Qaz): classes of priorities, strict ones first, the others by percentages
    "ets" => ets: Ets(EtsSpec);
    /// Weighted round robin by packets between classes of priorities
    "wrr" => wrr: Wrr(WrrSpec);
    /// Token bucket as Linux's tbf: a FIFO shaped to a rate with a burst
    "tbf" => tbf: Tbf(TbfSpec);
    /// Trimming (Handley et al. 2017): a packet that does not fit loses its payload, and its header goes first
    "trim" => trim: Trim(TrimSpec);
}

dispatch! {
    /// The parameters of a queue discipline.
    pub trait Parameters for QueueSpec by each_spec {
        type Queue;

        /// Returns the empty queue. `bdp_bytes` is what a limit in BDP refers to.
        fn build(&self, bdp_bytes: u64) -> Self::Queue;

        /// Returns which parameter is not possible, beyond the ranges that the schema gives.
        fn problem(&self) -> Option<InvalidParameter> {
            None
        }

        /// Returns what the discipline answers to those who would otherwise go by its name. A discipline writes only what differs.
        fn answers(&self) -> Answers {
            Answers::default()
        }

        /// Returns priorities, as bits, and queues of its classes, if it has any.
        fn classes(&self) -> Vec<(u8, &QueueSpec)> {
            Vec::new()
        }

        /// Returns the size that packets are trimmed to, if the discipline trims them.
        fn trims_to(&self) -> Option<Bytes> {
            None
        }

        /// Returns what a packet has to fit into beside the limit, by its key.
        fn depths(&self) -> Vec<(&'static str, Bytes)> {
            Vec::new()
        }
    }
}

dispatch! {
    /// One queue discipline. Time never runs backwards between calls.
    ///
    /// ```
    /// use elephan_link::queue::{Discipline, Item, Parameters, QueueSpec, Verdict};
    /// use elephan_units::Time;
    ///
    /// let spec: QueueSpec = serde_json::from_str(r#"{ "kind": "fifo", "limit": "2 p" }"#).unwrap();
    /// let (mut queue, mut discarded) = (spec.build(0), Vec::new());
    /// for handle in 0..3 {
    ///     let packet = Item { handle, bytes: 1500, ..Item::default() };
    ///     let verdict = queue.enqueue(Time::ZERO, packet, &mut discarded);
    ///     // Drop-tail: the third packet finds the queue full.
    ///     assert_eq!(matches!(verdict, Verdict::Dropped(_)), handle == 2);
    /// }
    /// let (first, is_marked) = queue.dequeue(Time::ZERO, &mut discarded).unwrap();
    /// assert_eq!((first.handle, is_marked, queue.packets()), (0, false, 1));
    /// ```
    pub trait Discipline for Queue by each_queue {
        /// Offers a packet; the verdict says what became of it. Packets that it pushes out go to `discarded`.
        fn enqueue(&mut self, now: Time, item: Item, discarded: &mut Discarded) -> Verdict;

        /// Returns the next packet to send and whether it must be marked. Packets that the discipline drops on the way go to `discarded`.
        fn dequeue(&mut self, now: Time, discarded: &mut Discarded) -> Option<(Item, bool)>;

        /// Returns whether a packet that finds nothing waiting leaves at once and unmarked, and counts it as [`Discipline::enqueue`] and
        /// [`Discipline::dequeue`] would. If it does not, or the discipline cannot say, nothing changes and the result is `false`.
        #[inline]
        fn pass(&mut self, priority: u8, bytes: u32) -> bool {
            false
        }

        /// Returns the handle of the packet that leaves next, as far as the discipline can tell at no cost: good enough for asking for it
        /// in advance.
        #[inline]
        fn next_handle(&self) -> Option<u32> {
            None
        }

        /// Returns the waiting bytes.
        fn bytes(&self) -> u64;

        /// Returns the waiting packets.
        fn packets(&self) -> u64;

        /// Returns when to ask again if packets wait and [`Discipline::dequeue`] has returned none: the next token of a shaper.
        fn ready_at(&self) -> Time {
            Time::NEVER
        }

        /// Returns whether the discipline must be asked for a packet when the link has nothing more to send, because it notes that time.
        fn minds_idle(&self) -> bool {
            false
        }

        /// Returns whether the discipline keeps priorities apart, so that one can be paused without the others.
        fn has_priorities(&self) -> bool {
            false
        }

        /// Sets the priorities, one bit each, of which nothing may leave from now on (PFC). Everything of all others may leave.
        fn set_paused(&mut self, mask: u8) {}

        /// Returns the priorities, one bit each, of which nothing leaves while nothing of `mask` may.
        fn stopped_by(&self, mask: u8) -> u8 {
            mask
        }

        /// Drops the waiting packets of these priorities, if the discipline keeps priorities apart.
        fn drain(&mut self, now: Time, mask: u8, reason: &'static str, discarded: &mut Discarded) {}

        /// Returns how many queues it has that a switch would look at one by one.
        fn parts(&self) -> u8 {
            1
        }

        /// Returns which of these queues packets of this priority wait in, and the bytes that wait there.
        fn part_of(&self, priority: u8) -> (u8, u64) {
            (0, self.bytes())
        }

        /// Sets the stream of random draws before the run.
        fn set_stream(&mut self, stream: Stream) {}

        /// Sets other limits, if they are given. Packets that wait stay.
        fn set_limits(&mut self, limit: Option<Limit>, mark_above: Option<Limit>) {}

        /// Returns how much may wait; a discipline whose classes have limits of their own has none.
        #[inline]
        fn limit(&self) -> Limit {
            Limit::NONE
        }

        /// Takes out the waiting packets that `of` names, in their order, and returns them. A discipline that cannot do so returns none.
        fn extract(&mut self, of: &mut dyn FnMut(&Item) -> bool) -> Vec<Item> {
            Vec::new()
        }

        /// Is called with the rate of the link that the queue feeds, at the beginning and whenever the rate changes.
        fn set_rate(&mut self, rate: Rate) {}

        /// Is called when a packet of `wire_bytes` has come, before it is offered. Only disciplines that read congestion headers are called.
        #[inline]
        fn on_arrival(&mut self, now: Time, wire_bytes: u32, priority: u8, header: Option<&CongestionHeader>) {}

        /// Is called when the packet that [`Discipline::dequeue`] has returned last leaves, with a congestion header.
        #[inline]
        fn on_departure(&mut self, wire_bytes: u32, header: &mut CongestionHeader) {}
    }
}

impl Default for QueueSpec {
    fn default() -> Self {
        QueueSpec::Fifo(FifoSpec::default())
    }
}
