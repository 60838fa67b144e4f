//! Giving up: SYNs, SYN-ACKs, data, probes, user timeouts, connections without an application.

use crate::common::*;
use elephan_tcp::{Flags, Linger, Overrides, State};
use elephan_units::{Bytes, Span, Time};

fn lost() -> Policy {
    Box::new(|_, _| vec![])
}

/// Everything from this time on is lost.
fn until(end: Time) -> Policy {
    Box::new(move |s, _| if s.at < end { vec![DELAY] } else { vec![] })
}

/// Whole seconds at which `a` sent SYNs, and when it was over.
fn syns(stack: &str, overrides: &Overrides) -> (Vec<u64>, u64) {
    let options = options(stack, overrides);
    let mut net = Net::new(&options, &options, lost());
    net.a.connect(net.now);
    net.run_until(|net| net.a.state() == State::Closed);
    assert!(net.a.gave_up());
    (net.trace.iter().map(|s| s.at.0 / 1_000_000_000_000).collect(), net.now.0 / 1_000_000_000_000)
}

/// Linux `tcp_write_timeout`: 6 retransmissions (`tcp_syn_retries`) and the 4 of `tcp_syn_linear_timeouts`. RFC 1122 section 4.2.3.5: R2 of
/// a SYN is three minutes at least; with timeouts of 60 s at most these are 1, 2, 4, ... 32, 60, 60 s.
#[test]
fn a_client_gives_up_its_syns() {
    let linux = syns("linux", &Overrides::default());
    assert_eq!(linux, (vec![0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67], 131));
    assert_eq!(syns("rfc", &Overrides::default()), (vec![0, 1, 3, 7, 15, 31, 63, 123], 183));
    // TCP_SYNCNT 1: 3 s, the time of one retry with doubling (tcp_model_timeout).
    let one = Overrides { syn_retries: Some(1), ..Overrides::default() };
    assert_eq!(syns("linux", &one), (vec![0, 1, 2], 3));
    // A user timeout in place of the model; the timer of 1 s expires at 2 s (retransmits_timed_out).
    let user = Overrides { user_timeout: Some(Span::from_ms(1500)), ..Overrides::default() };
    assert_eq!(syns("linux", &user), (vec![0, 1], 2));
}

/// Linux `reqsk_timer_handler`: five retransmissions of the SYN-ACK, and the listener is as before.
#[test]
fn a_server_gives_up_its_syn_acks() {
    let options = options("linux", &plain());
    let policy: Policy = Box::new(|s, n| if s.way == Way::Forth && n == 0 { vec![DELAY] } else { vec![] });
    let mut net = Net::new(&options, &options, policy);
    net.b.listen();
    net.a.connect(net.now);
    net.run_until(|net| net.b.state() == State::SynReceived);
    net.run_until(|net| net.b.state() == State::Listen);
    let answers: Vec<u64> =
        net.trace.iter().filter(|s| s.way == Way::Back).map(|s| s.at.0 / 1_000_000_000_000).collect();
    assert_eq!((answers, net.now), (vec![0, 1, 3, 7, 15, 31], Time(63_010_000_000_000)));
}

/// When a connection of 10 ms each way is given up whose path breaks with 500 bytes on the way; and how often they were sent.
fn broken(stack: &str, overrides: &Overrides) -> (Span, usize) {
    let options = options(stack, &Overrides { tail_loss_probe: Some(false), ..overrides.clone() });
    let mut net = Net::new(&options, &options, until(Time(100_000_000_000)));
    net.open();
    net.run_for(Span::from_ms(200));
    net.a.supply(500);
    let begin = net.now;
    net.run_until(|net| net.a.state() == State::Closed);
    assert!(net.a.gave_up());
    (net.now.since(begin), net.data(1000).len())
}

/// Linux `tcp_model_timeout`: 924.6 s after the first retransmission with 15 retries (2^10 - 1 times 200 ms and six times 120 s), at the
/// timer that follows: 221 ms, doubled up to 120 s, in the mean of the literature 924.6 to 1,044.6 s. RFC 1122: R2 is 100 s at least, here 63 s
/// of doubled seconds and 60 s, at the timer that follows.
#[test]
fn data_is_given_up_after_r2() {
    // The handshake took 20 ms: RTO = 20 ms + 200 ms, first doubled when it expires. 0.22 (2^k - 1), k up to 10, then 120 s each: the
    // first timer past 0.22 + 924.6 s is at 0.22 * 1023 + 6 * 120 = 945.06 s.
    let (after, sent) = broken("linux", &plain());
    assert_eq!((after, sent), (Span::from_ms(945_060), 16));
    // RTO 1 s: timers at 1, 3, 7, 15, 31, 63, 123 s.
    assert_eq!(broken("rfc", &plain()), (Span::from_s(123), 7));
}

/// Linux `tcp_clamp_rto_to_user_timeout`: 3 s after the first retransmission at 0.22 s. RFC 9293 section 3.8.3: 3 s after the data was sent;
/// here the first timer of 1 s and the next, cut to end then.
#[test]
fn a_user_timeout_ends_the_wait() {
    let user = Overrides { user_timeout: Some(Span::from_s(3)), ..plain() };
    assert_eq!(broken("linux", &user), (Span::from_ms(3220), 4));
    assert_eq!(broken("rfc", &user), (Span::from_s(3), 2));
}

/// A closed window that nobody opens.
fn closed_window(overrides: &Overrides, policy: Policy) -> Net {
    let overrides = Overrides { receive_window: Some(Bytes(4000)), ..overrides.clone() };
    let options = options("linux", &overrides);
    let mut net = Net::new(&options, &options, policy);
    net.open();
    net.b.set_auto_read(false);
    net.a.supply(10_000);
    net
}

/// RFC 1122 section 4.2.2.17: a peer that answers probes is probed for ever; one that does not, `tcp_retries2` times (Linux
/// `tcp_probe_timer`).
#[test]
fn probes_are_given_up_without_answers() {
    let few = Overrides { data_retries: Some(3), rto_max: Some(Span::from_s(2)), ..plain() };
    let mut net = closed_window(&few, Box::new(|_, _| vec![DELAY]));
    net.run_for(Span::from_s(100));
    assert!(!net.a.gave_up() && net.a.state() == State::Established);
    let mut net = closed_window(&few, until(Time(150_000_000_000)));
    net.run_until(|net| net.a.state() == State::Closed);
    assert!(net.a.gave_up() && net.now < Time(10_000_000_000_000), "{:?}", net.now);
    // A user does not wait for a window that stays closed, whether probes are answered or not.
    let user = Overrides { user_timeout: Some(Span::from_s(5)), ..plain() };
    let mut net = closed_window(&user, Box::new(|_, _| vec![DELAY]));
    net.run_until(|net| net.a.state() == State::Closed);
    // The first probe is due an RTO after the window closed, within the first second.
    let seconds = net.now.seconds();
    assert!(net.a.gave_up() && (5.0..6.0).contains(&seconds), "{seconds}");
}

/// Linux `tcp_fin_timeout`: an application that is gone waits for the peer's FIN for 60 s, TCP_LINGER2 says otherwise.
#[test]
fn fin_wait_2_ends_without_an_application() {
    for (linger, seconds) in [(Linger::Default, 60), (Linger::For(Span::from_s(7)), 7)] {
        let mut net = Net::perfect(&options("linux", &plain()));
        net.open();
        net.a.set_linger(linger);
        net.a.close(net.now);
        net.a.orphan(net.now);
        net.run_until(|net| net.a.state() == State::FinWait2);
        let begin = net.now;
        net.run_until(|net| net.a.state() == State::Closed);
        assert_eq!(net.now.since(begin), Span::from_s(seconds));
        assert!(!net.a.gave_up());
    }
    let mut net = Net::perfect(&options("linux", &plain()));
    net.open();
    net.a.set_linger(Linger::Never);
    net.a.close(net.now);
    net.a.orphan(net.now);
    net.run_until(|net| net.b.state() == State::Closed);
    let reset = net.trace.iter().rfind(|s| s.way == Way::Forth).unwrap();
    assert!(reset.seg.flags.has(Flags::RST));
}

/// Linux `tcp_orphan_retries`: 8 retries of 200 ms are 102.2 s.
#[test]
fn an_orphan_is_given_up_sooner() {
    let options = options("linux", &Overrides { tail_loss_probe: Some(false), ..plain() });
    let mut net = Net::new(&options, &options, until(Time(100_000_000_000)));
    net.open();
    net.run_for(Span::from_ms(200));
    net.a.close(net.now);
    net.a.orphan(net.now);
    let begin = net.now;
    net.run_until(|net| net.a.state() == State::Closed);
    // Timers at 0.22 (2^k - 1) s: the first past 0.22 + 102.2 s is 112.42 s.
    assert_eq!((net.now.since(begin), net.a.gave_up()), (Span::from_ms(112_420), true));
}
