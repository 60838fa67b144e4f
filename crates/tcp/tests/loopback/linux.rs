//! What Linux does with duplicates, late packets and the ACKs that say so: one end stepped by hand, at the handshake's round
//! trip of 10 ms, segments of 1000 bytes without timestamps. Values are those of the kernel's functions named in each test.

use crate::common::options;
use elephan_cc::Spec;
use elephan_tcp::options::{Pacing, Undo};
use elephan_tcp::{Endpoint, Flags, OPTION_TIMESTAMPS, Overrides, SackBlocks, Segment};
use elephan_units::{Bytes, Span, Time};

const MSS: u32 = 1000;
const ISN: u32 = 100;

fn ms(ms: f64) -> Time {
    Time::from_seconds(ms * 1e-3)
}

/// One end, and what the far end last had to say.
pub struct End {
    pub tcp: Endpoint,
    pub now: Time,
    window: u16,
    /// Data segments that left: number of the segment from 0 on.
    sent: Vec<u32>,
}

impl End {
    /// Established at 10 ms; `without_sack`: the peer does not allow it.
    pub fn new(stack: &str, overrides: &Overrides, sack: bool) -> End {
        let base = Overrides { mss: Some(Bytes(u64::from(MSS))), timestamps: Some(false), ..overrides.clone() };
        let o = options(stack, &base);
        let mut tcp = Endpoint::new(&o, o.controller(), ISN);
        let (mut seg, mut blocks) = (Segment::default(), SackBlocks::default());
        tcp.connect(Time::ZERO);
        assert!(tcp.poll_transmit(Time::ZERO, &mut seg, &mut blocks));
        let peer = Overrides { sack: Some(sack), ..base };
        let o = options("rfc", &peer);
        let mut b = Endpoint::new(&o, o.controller(), 300);
        b.listen();
        b.on_segment(ms(5.0), &seg, &blocks);
        assert!(b.poll_transmit(ms(5.0), &mut seg, &mut blocks));
        tcp.on_segment(ms(10.0), &seg, &blocks);
        let mut end = End { tcp, now: ms(10.0), window: seg.window, sent: Vec::new() };
        end.pump();
        end
    }

    fn pump(&mut self) -> Vec<u32> {
        let (mut seg, mut blocks) = (Segment::default(), SackBlocks::default());
        let from = self.sent.len();
        while self.tcp.poll_transmit(self.now, &mut seg, &mut blocks) {
            if seg.len > 0 {
                self.sent.push((seg.seq - ISN - 1) / MSS);
            }
        }
        self.sent[from..].to_vec()
    }

    /// Writes so many segments and returns which ones leave.
    pub fn write(&mut self, segments: u32) -> Vec<u32> {
        self.tcp.write(self.now, u64::from(segments * MSS));
        self.pump()
    }

    /// At `at` ms an ACK of segments below `ack` arrives, with these blocks of segments; returns which ones leave.
    pub fn ack(&mut self, at: f64, ack: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.now = ms(at);
        while self.tcp.next_timer() <= self.now {
            self.tcp.on_timer(self.now);
            self.pump();
        }
        let seq = |segment: u32| ISN + 1 + segment * MSS;
        let mut sack = SackBlocks::default();
        for (wire, block) in sack.iter_mut().zip(blocks) {
            *wire = (seq(block.0), seq(block.1));
        }
        let seg = Segment {
            seq: 301,
            ack: seq(ack),
            window: self.window,
            flags: Flags::ACK,
            sack_len: blocks.len() as u8,
            ..Segment::default()
        };
        self.tcp.on_segment(self.now, &seg, &sack);
        self.pump()
    }

    pub fn window(&self) -> f64 {
        self.tcp.controller().window() / f64::from(MSS)
    }
}

pub fn ten() -> Overrides {
    Overrides {
        initial_window: Some(10),
        congestion_control: Some(Spec::named("reno").unwrap()),
        ..Overrides::default()
    }
}

/// 0 of ten is lost and retransmitted; then the network's copy of segment 4, that was sent once, is reported. RFC 3708: a
/// duplicate of what was not retransmitted says nothing. Linux `tcp_sacktag_one`: it has no `TCPCB_RETRANS`.
#[test]
fn the_networks_duplicate_of_a_segment_sent_once_takes_nothing_back() {
    for stack in ["rfc", "linux", "linux-2.4"] {
        for undo in [Undo::Dsack, Undo::Both] {
            let mut end = End::new(stack, &Overrides { undo: Some(undo), ..ten() }, true);
            end.write(10);
            for upto in 2..=7 {
                end.ack(20.0, 0, &[(1, upto)]);
            }
            let (window, threshold) = (end.tcp.controller().window(), end.tcp.controller().ssthresh());
            assert!(threshold < 10_000.0, "{stack}");
            end.ack(20.5, 0, &[(4, 5), (1, 7)]);
            assert_eq!(end.tcp.phase(), elephan_tcp::Phase::Recovery, "{stack} {undo:?}");
            assert_eq!(
                (end.tcp.controller().window(), end.tcp.controller().ssthresh()),
                (window, threshold),
                "{stack}"
            );
            // The copy of what was retransmitted: the reduction was needless.
            end.ack(30.0, 10, &[]);
            end.ack(31.0, 10, &[(4, 5)]);
            let spurious = |end: &End| end.tcp.stats(end.now).spurious_fr_detected;
            // Linux `tcp_check_dsack` has forgotten the segments below; of two reports for one retransmission it ignores both
            // (`tcp_dsack_seen`: dsack_dups > total_retrans).
            assert_eq!(spurious(&end), 0, "{stack} {undo:?}");
            end.ack(32.0, 10, &[(0, 1)]);
            assert_eq!(spurious(&end), u64::from(stack == "rfc"), "{stack} {undo:?}");
        }
    }
}

/// The report of the only retransmission takes the reduction back on every stack, below the acknowledgement (RFC 3708; Linux
/// `tcp_check_dsack`) as long as no duplicate of the network came before it.
#[test]
fn the_report_of_the_retransmission_takes_the_reduction_back() {
    for stack in ["rfc", "linux", "linux-2.4"] {
        let mut end = End::new(stack, &Overrides { undo: Some(Undo::Dsack), ..ten() }, true);
        end.write(10);
        for upto in 2..=7 {
            end.ack(20.0, 0, &[(1, upto)]);
        }
        end.ack(30.0, 10, &[]);
        assert!(end.window() < 10.0, "{stack}");
        end.ack(31.0, 10, &[(0, 1)]);
        assert!(end.window() >= 10.0, "{stack}");
        assert_eq!(end.tcp.stats(end.now).spurious_fr_detected, 1, "{stack}");
    }
}

/// packetdrill `prr-ss-ack-below-snd_una-cubic`, seen with Linux 6.18 too: segments 0, 4 and 7 of ten are lost. The ACK of 4
/// delivers the retransmission of 0 and segment 3, which was lost and never retransmitted: that is reordering, the window is a
/// quarter of 10 ms, and RACK.rtt that of segment 3, 22 ms, so that segment 9 is not overdue and the ACK is a SafeACK: three
/// segments leave, not two. The late SACK of 5 and 6 lets segment 7 and new data out.
#[test]
fn a_safe_ack_by_the_round_trip_of_the_last_segment() {
    let mut end = End::new("linux", &Overrides { initial_window: Some(10), ..Overrides::default() }, true);
    end.write(10);
    end.ack(20.0, 0, &[(1, 2)]);
    end.ack(20.0, 0, &[(1, 3)]);
    assert_eq!(end.ack(20.0, 0, &[(1, 3), (8, 9)]), [0]);
    assert_eq!(end.ack(32.0, 4, &[(8, 9)]), [4, 5, 6]);
    end.write(10);
    assert_eq!(end.ack(34.0, 3, &[(5, 7)]), [7, 10]);
}

/// Without SACK, ten segments out and two duplicates: the ACK of three delivers one more (Linux `tcp_add_reno_sack`,
/// `tcp_remove_reno_sacks`), so that slow start opens the window by one; by RFC 3465 with L = 2 by two.
#[test]
fn duplicates_without_sack_count_as_delivered() {
    for (stack, window) in [("linux", 11.0), ("rfc", 12.0)] {
        let mut end = End::new(stack, &ten(), false);
        end.write(100);
        // The first ACK opens the window, which was not scaled in the handshake: no duplicate.
        end.ack(19.9, 0, &[]);
        end.ack(20.0, 0, &[]);
        end.ack(20.1, 0, &[]);
        end.ack(20.2, 3, &[]);
        assert_eq!(end.window(), window, "{stack}");
    }
}

/// After a timeout the duplicates that retransmissions bring say nothing of new data (Linux `tcp_process_loss`): of four segments
/// in slow start from one, the ACK of three after two of them opens the window by three.
#[test]
fn duplicates_after_a_timeout_deliver_nothing() {
    let mut end = End::new("linux", &Overrides { frto: Some(false), ..ten() }, false);
    end.write(10);
    end.ack(19.9, 0, &[]);
    end.ack(1000.0, 1, &[]);
    assert_eq!((end.tcp.stats(end.now).timeouts, end.window()), (1, 2.0));
    end.ack(1010.0, 1, &[]);
    end.ack(1011.0, 1, &[]);
    end.ack(1012.0, 4, &[]);
    assert_eq!(end.window(), 5.0);
}

/// Linux `tcp_update_skb_after_send`: bursts that end before the tenth data segment of a connection are not spaced, whoever
/// paces. A window of twelve segments leaves in bursts of two (2 * 12 kB in 10 ms, for 1/1024 s: 2.3), one of twenty in bursts
/// of three, of which the fourth has the tenth segment.
#[test]
fn the_first_ten_segments_leave_at_once() {
    for (cc, window, by_rfc, by_linux) in
        [("reno", 12, 2, 10), ("reno", 20, 3, 12), ("bbr", 20, 2, 10), ("bbr3", 20, 1, 10)]
    {
        for (stack, at_once) in [("linux", by_linux), ("rfc", by_rfc)] {
            let pacing = Some(Pacing::Window);
            let o = Overrides {
                initial_window: Some(window),
                congestion_control: Some(Spec::named(cc).unwrap()),
                pacing,
                ..ten()
            };
            let mut end = End::new(stack, &o, true);
            assert_eq!(end.write(100).len(), at_once, "{stack} {cc} {window}");
            // What follows waits for the tenth.
            assert!(end.tcp.next_timer() > end.now && end.tcp.next_timer() < end.now + Span::from_ms(10));
        }
    }
}

/// packetdrill `cubic-bulk-166k` as Linux 6.18 answers it, paced or not: two segments of ten every 100 ms. Rounds begin below
/// `hystart_low_window` too since 2025, the ninth sample of the round that begins at the eleventh segment is 0.4 s above the
/// smallest, and slow start ends at 36 segments. (The suite's own 48 is that of the kernels before.)
#[test]
fn hystart_of_a_slow_link_ends_at_36() {
    let mut end = End::new("linux", &Overrides { initial_window: Some(10), ..Overrides::default() }, true);
    end.write(400);
    let mut seen = Vec::new();
    for n in 1..=28 {
        end.ack(10.0 + 100.0 * f64::from(n), 2 * n, &[]);
        seen.push(end.window().floor() as u32);
    }
    let kernel: Vec<u32> = (6..=18).map(|half| 2 * half).chain([36; 9]).chain([37; 6]).collect();
    assert_eq!(seen, kernel);
    assert_eq!(end.tcp.controller().ssthresh() / f64::from(MSS), 36.0);
}

/// Linux holds ACKs of SACKs back (`__tcp_ack_snd_check`), as seen with 6.18: of 24 segments 0.1 ms apart beyond a hole three are
/// acknowledged at once and then one ACK leaves every 1.1 ms; `rfc` acknowledges each (RFC 5681 section 4.2).
#[test]
fn acks_beyond_a_hole_are_compressed() {
    for (stack, expected) in [("linux", vec![1, 2, 3, 14, 25]), ("rfc", (1..=28).collect())] {
        let o = options(stack, &Overrides { mss: Some(Bytes(1012)), ..Overrides::default() });
        let (mut a, mut b) = (Endpoint::new(&o, o.controller(), ISN), Endpoint::new(&o, o.controller(), 300));
        let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
        b.listen();
        a.connect(Time::ZERO);
        for now in [ms(0.0), ms(100.0)] {
            while a.poll_transmit(now, &mut seg, &mut sack) {
                b.on_segment(now + Span::from_ms(50), &seg, &sack);
            }
            while b.poll_transmit(now + Span::from_ms(50), &mut seg, &mut sack) {
                a.on_segment(now + Span::from_ms(100), &seg, &sack);
            }
        }
        let data = |number: u32| Segment {
            seq: ISN + 1 + number * MSS,
            ack: 301,
            len: MSS,
            window: 1000,
            flags: Flags::ACK,
            options: OPTION_TIMESTAMPS,
            tsval: 1000,
            // What the SYN-ACK said at 50 ms: the receiver's own estimate is above 20 ms.
            tsecr: 51,
            ..Segment::default()
        };
        // Quick ACKs are not held back, and at the start there are some.
        for number in 0..40 {
            b.on_segment(ms(200.0), &data(number), &sack);
            while b.poll_transmit(ms(200.0), &mut seg, &mut sack) {}
        }
        let mut highest = Vec::new();
        for number in 1..=28 {
            let now = ms(300.0) + Span::from_us(100 * u64::from(number));
            let due = b.next_timer();
            if due <= now {
                b.on_timer(due);
                while b.poll_transmit(due, &mut seg, &mut sack) {
                    highest.push((sack[0].1 - ISN - 1) / MSS - 41);
                }
            }
            b.on_segment(now, &data(40 + number), &sack);
            while b.poll_transmit(now, &mut seg, &mut sack) {
                highest.push((sack[0].1 - ISN - 1) / MSS - 41);
            }
        }
        assert_eq!(highest, expected, "{stack}");
    }
}
