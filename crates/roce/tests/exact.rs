//! Both ends over a channel that loses, duplicates and reorders: what is posted is read, each byte once and in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use elephan_cc::{Nic, Spec};
use elephan_roce::{Acknowledgement, Answer, Data, Options, Path, Receiver, Recovery, Sender};
use elephan_units::{Bytes, Span, Time};
use proptest::prelude::*;

fn path() -> Path {
    Path { nic: Nic { rate_bps: 8e9, base_rtt: Span::from_us(10) }, overhead_bytes: 82, least_bytes: 84 }
}

fn sender(options: &Options, congestion_control: &str) -> Sender {
    Sender::new(Arc::new(options.clone()), &Spec::named(congestion_control).unwrap(), path())
}

fn us(us: f64) -> Time {
    Time::from_seconds(us * 1e-6)
}

fn ack(answer: Answer, departure: Time) -> Acknowledgement<'static> {
    Acknowledgement { answer, departure, telemetry: None }
}

/// 2500 bytes are packets of 1000, 1000 and 500, then a request of 1: 1082 bytes take 1.082 us at 8 Gb/s, 582 0.582 us.
#[test]
fn work_becomes_packets_at_the_line_rate() {
    let mut s = sender(&Options::default(), "none");
    assert_eq!((s.next_send(), s.poll_transmit(us(1.0))), (None, None));
    s.post(2500);
    s.post(2501);
    let data = |psn, len, last| Some(Data { psn, len, last, asks: last, again: false });
    assert_eq!(s.poll_transmit(us(1.0)), data(0, 1000, false));
    for (at, packet) in [(2.082, data(1, 1000, false)), (3.164, data(2, 500, true))] {
        assert_eq!((s.next_send(), s.poll_transmit(us(at - 0.001))), (Some(us(at)), None));
        assert_eq!(s.poll_transmit(us(at)), packet);
    }
    assert_eq!(s.poll_transmit(us(3.746)), data(3, 1, true));
    assert_eq!((s.inflight(), s.next_send()), (2501, None));
    s.on_answer(us(11.0), &ack(Answer::Ack(2), us(1.0)));
    assert_eq!((s.acked(), s.inflight(), s.counters().srtt), (2000, 501, Some(Span::from_us(10))));
    s.on_answer(us(12.0), &ack(Answer::Ack(4), us(1.0)));
    assert_eq!((s.acked(), s.next_timer()), (2501, None));
}

/// One ACK for 16 packets, and a window of four: the fourth asks for one, and so does each of what that lets out.
#[test]
fn the_last_of_a_window_asks() {
    let mut s = sender(&Options { ack_every: 16, window: Some(Bytes(4000)), ..Options::default() }, "none");
    s.post(100_000);
    let sent = |s: &mut Sender| {
        let mut asks = vec![];
        while let Some(at) = s.next_send() {
            asks.extend(s.poll_transmit(at.max(us(1.0))).map(|data| data.asks));
        }
        asks
    };
    assert_eq!(sent(&mut s), [false, false, false, true]);
    s.on_answer(us(11.0), &ack(Answer::Ack(4), us(1.0)));
    assert_eq!(sent(&mut s), [false, false, false, true]);
}

/// A NAK of packet 1 acknowledges packet 0 and sends 1 and 2 again; so does a timer 4 ms after the last progress.
#[test]
fn it_goes_back() {
    let mut s = sender(&Options::default(), "none");
    s.post(3000);
    for n in 0..3 {
        s.poll_transmit(us(f64::from(n) * 2.0)).unwrap();
    }
    s.on_answer(us(10.0), &ack(Answer::Nak(1), us(4.0)));
    assert_eq!((s.acked(), s.inflight(), s.counters().naks), (1000, 0, 1));
    assert_eq!(s.poll_transmit(us(10.0)), Some(Data { psn: 1, len: 1000, last: false, asks: false, again: true }));
    assert_eq!(s.next_timer(), Some(us(4010.0)));
    s.on_timer(us(4010.0));
    assert_eq!((s.counters().timeouts, s.inflight()), (1, 0));
    for psn in [1, 2] {
        let data = s.poll_transmit(us(5000.0 + f64::from(psn) * 2.0)).unwrap();
        assert_eq!((data.psn, data.again, data.last), (psn, true, psn == 2));
    }
    // What was lost has arrived after all: an ACK beyond what is out again.
    s.on_timer(us(9010.0));
    s.on_answer(us(9011.0), &ack(Answer::Ack(3), us(4.0)));
    assert_eq!((s.acked(), s.inflight(), s.next_timer(), s.counters().packets_again), (3000, 0, None, 3));
}

/// Packet 1 of five is lost: the ACK of packet 2 has it repeated, and nothing else, at once; 4 is out already and is not repeated.
#[test]
fn selective_repeat_sends_what_is_lost_once_more() {
    let mut s = sender(&Options { recovery: Recovery::SelectiveRepeat, ..Options::default() }, "none");
    s.post(6000);
    for n in 0..5 {
        s.poll_transmit(us(f64::from(n) * 2.0)).unwrap();
    }
    s.on_answer(us(10.0), &ack(Answer::Ack(1), us(0.0)));
    s.on_answer(us(12.0), &ack(Answer::Sack { expected: 1, got: 2 }, us(4.0)));
    let data = s.poll_transmit(us(12.0)).unwrap();
    assert_eq!((data.psn, data.len, data.again, s.counters().naks), (1, 1000, true, 1));
    s.on_answer(us(14.0), &ack(Answer::Sack { expected: 1, got: 3 }, us(6.0)));
    let data = s.poll_transmit(us(14.0)).unwrap();
    assert_eq!((data.psn, data.again, data.last), (5, false, true));
    assert_eq!((s.poll_transmit(us(16.0)), s.next_send()), (None, None));
    s.on_answer(us(22.0), &ack(Answer::Ack(6), us(12.0)));
    assert_eq!((s.acked(), s.inflight(), s.next_timer(), s.counters().naks), (6000, 0, None, 1));
}

/// A window of 2500 bytes holds two packets; `hpcc` of 8 Gb/s and 10 us 10 000 bytes on the wire: a tenth packet of 1082 follows
/// nine, which are less.
#[test]
fn windows_hold() {
    for (window, congestion_control, most) in [(Some(Bytes(2500)), "none", 2), (None, "hpcc", 10)] {
        let mut s = sender(&Options { window, ..Options::default() }, congestion_control);
        s.post(100_000);
        let sent = (0..50).filter(|&n| s.poll_transmit(us(f64::from(n) * 2.0)).is_some()).count();
        assert_eq!((sent, s.next_send()), (most, None), "{congestion_control}");
    }
}

/// Half of what is posted is out when the rest is taken back.
#[test]
fn unsent_work_can_be_taken_back() {
    let mut s = sender(&Options::default(), "none");
    s.post(u64::MAX);
    s.poll_transmit(us(0.0)).unwrap();
    s.poll_transmit(us(2.0)).unwrap();
    assert_eq!((s.cut(), s.posted(), s.next_send()), (2000, 2000, None));
    let mut s = sender(&Options::default(), "none");
    s.post(1500);
    s.post(9000);
    s.poll_transmit(us(0.0)).unwrap();
    assert_eq!(s.cut(), 1000);
}

/// A channel: each packet arrives as many times as `fate` says, each time after a delay of its own.
struct Channel {
    fates: Vec<(u8, [u16; 2])>,
    used: usize,
}

impl Channel {
    /// Delays in ns of the copies of the next packet; all is well when the drawn fates are used up.
    fn carry(&mut self) -> Vec<u64> {
        self.used += 1;
        match self.fates.get(self.used - 1) {
            Some(&(fate, delays)) => {
                let copies = [1, 1, 1, 1, 1, 0, 0, 2][usize::from(fate)];
                delays[..copies].iter().map(|&d| 1000 + u64::from(d)).collect()
            }
            None => vec![1000],
        }
    }
}

enum Carried {
    Data(Data, Time),
    Answer(Answer, Time),
}

proptest! {
    #[test]
    fn every_byte_is_read_once_and_in_order(
        fates in prop::collection::vec((0u8..8, [0u16..20_000, 0u16..20_000]), 0..400),
        work in prop::collection::vec(1u64..9000, 1..20),
        ack_every in 1u32..9,
        congestion_control in prop::sample::select(vec!["none", "dcqcn", "timely", "hpcc", "swift"]),
        recovery in prop::sample::select(vec![Recovery::GoBackN, Recovery::SelectiveRepeat]),
        reordering in 0u32..20,
    ) {
        let options = Options { ack_every, recovery, reordering, ..Options::default() };
        let mut s = sender(&options, congestion_control);
        let mut r = Receiver::new(Arc::new(options));
        let (mut total, mut offsets) = (0, vec![]);
        for bytes in &work {
            for begin in (total..total + bytes).step_by(1000) {
                offsets.push((begin, (total + bytes - begin).min(1000) as u32));
            }
            total += bytes;
            s.post(total);
        }
        let mut channel = Channel { fates, used: 0 };
        let mut flying: BTreeMap<(Time, u64), Carried> = BTreeMap::new();
        let (mut id, mut read, mut steps) = (0, 0, 0);
        while s.acked() < total {
            steps += 1;
            prop_assert!(steps < 100_000, "no progress");
            let arrival = flying.keys().next().map(|(time, _)| *time);
            let now = [arrival, s.next_send(), s.next_timer()].into_iter().flatten().min().unwrap();
            if arrival == Some(now) {
                match flying.pop_first().unwrap().1 {
                    Carried::Data(data, left) => {
                        let reply = r.on_data(now, data.psn, data.len, data.asks, false);
                        let mut taken = reply.taken;
                        while taken > 0 {
                            // The next packets in order, as the work was cut: one, or under selective repeat those kept behind it.
                            let (begin, len) = offsets[read];
                            prop_assert_eq!(r.received() - u64::from(taken), begin);
                            prop_assert!(len <= taken && (len == taken || recovery == Recovery::SelectiveRepeat));
                            (taken, read) = (taken - len, read + 1);
                        }
                        if let Some(answer) = reply.answer {
                            for delay in channel.carry() {
                                id += 1;
                                flying.insert((now + Span::from_ns(delay), id), Carried::Answer(answer, left));
                            }
                        }
                    }
                    Carried::Answer(answer, left) => s.on_answer(now, &ack(answer, left)),
                }
            } else if s.next_timer().is_some_and(|at| at <= now) {
                s.on_timer(now);
            } else if let Some(data) = s.poll_transmit(now) {
                for delay in channel.carry() {
                    id += 1;
                    flying.insert((now + Span::from_ns(delay), id), Carried::Data(data, now));
                }
            }
            prop_assert!(s.acked() <= r.received() && r.received() <= total);
        }
        prop_assert_eq!((r.received(), read), (total, offsets.len()));
    }
}
