//! TCP Fast Open (RFC 7413): what a cookie buys, and what happens when the path or the server does not play along.

use crate::common::*;
use elephan_tcp::{
    Cookie, FastOpenFailure, FastOpenListener, FastOpenMemory, FastOpenOption, FastOpenRequest, Flags, Overrides, State,
};
use elephan_units::{Span, Time};

const MS: u64 = 1_000_000_000;
const SYN_ACK: Flags = Flags(Flags::SYN.0 | Flags::ACK.0);

fn cookie() -> Cookie {
    Cookie::new(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap()
}

fn server() -> FastOpenListener {
    FastOpenListener { cookies: [Some(cookie()), None], cookieless: false }
}

/// A client that has the cookie, and the MSS of 1000 that the server announced with it.
fn knows() -> FastOpenRequest {
    FastOpenRequest { memory: FastOpenMemory::of(1000, cookie()), ..FastOpenRequest::default() }
}

/// A connection of stack `name` that begins with 500 bytes to send, or the end of it.
fn begin(name: &str, overrides: &Overrides, request: &FastOpenRequest, policy: Policy) -> Net {
    let options = options(name, overrides);
    let mut net = Net::new(&options, &options, policy);
    net.b.listen_fast(&server());
    net.a.supply(500);
    net.a.connect_fast(Time::ZERO, request);
    net
}

fn intact() -> Policy {
    Box::new(|_, _| vec![DELAY])
}

/// RFC 7413 section 1: data in the SYN saves one round trip. 10 ms each way: the request is there after 10 ms instead of 30, and the
/// answer after 20 instead of 40.
#[test]
fn a_cookie_saves_one_round_trip() {
    let times = |fast: bool| {
        let mut net = begin("rfc", &plain(), &knows(), intact());
        if !fast {
            let options = options("rfc", &plain());
            net = Net::perfect(&options);
            net.b.listen();
            net.a.supply(500);
            net.a.connect(net.now);
        }
        net.run_until(|net| net.b.received() == 500);
        let request = net.now;
        net.b.supply(2000);
        net.run_until(|net| net.a.received() == 2000);
        (request, net.now)
    };
    assert_eq!(times(false), (Time(30 * MS), Time(40 * MS)));
    assert_eq!(times(true), (Time(10 * MS), Time(20 * MS)));
}

/// RFC 7413 section 3: the first connection asks, the SYN-ACK grants, and the data goes after the handshake.
#[test]
fn the_first_connection_earns_a_cookie() {
    for stack in ["rfc", "linux"] {
        let mut net = begin(stack, &plain(), &FastOpenRequest::default(), intact());
        net.run_until(|net| net.b.received() == 500);
        assert_eq!(net.now, Time(30 * MS), "{stack}");
        let (syn, answer) = (&net.trace[0], &net.trace[1]);
        let asks = FastOpenOption { cookie: None, experimental: false };
        assert_eq!((syn.seg.len, syn.seg.fast_open(&syn.sack)), (0, Some(asks)));
        let grants = FastOpenOption { cookie: Some(cookie()), experimental: false };
        assert_eq!(answer.seg.fast_open(&answer.sack), Some(grants));
        let mut memory = FastOpenMemory::default();
        memory.learn(&net.a.take_fast_open_lesson().unwrap());
        assert_eq!((memory.mss, memory.option()), (1000, grants));
        assert_eq!(net.a.fast_open_failure(), FastOpenFailure::NoCookie);
        assert_eq!(net.a.take_fast_open_lesson(), None);
    }
}

/// RFC 7413 section 4.1.3.1: the MSS that the server announced bounds the data, and 40 bytes of it are left to options: 960. The rest
/// follows the handshake.
#[test]
fn data_of_the_syn_leaves_room_for_options() {
    let mut net = begin("linux", &plain(), &knows(), intact());
    net.a.supply(3000);
    net.run_until(|net| net.b.received() == 3000);
    let sent: Vec<(u32, u32)> = net.data(1000).iter().map(|(_, offset, len)| (offset.wrapping_add(1), *len)).collect();
    assert_eq!(sent, [(0, 960), (961, 1000), (1961, 1000), (2961, 40)]);
    assert_eq!((net.a.fast_open_data(), net.b.fast_open_data()), (960, 960));
    // The window is the initial one: the data of the SYN does not open it.
    assert_eq!(net.trace[1].seg.ack, 1000 + 961);
}

/// RFC 7413 section 4.2.2: a server whose cookie differs acknowledges the SYN alone and grants the right one; the data is retransmitted
/// at once, and nothing says congestion.
#[test]
fn a_wrong_cookie_costs_a_round_trip() {
    for stack in ["rfc", "linux"] {
        let mut request = knows();
        request.memory.cookie = Cookie::new(&[9; 8]);
        let mut net = begin(stack, &plain(), &request, intact());
        net.run_until(|net| net.a.acked() == 500);
        let data = net.data(1000);
        assert_eq!(data.iter().map(|d| (d.0, d.2)).collect::<Vec<_>>(), [(Time(0), 500), (Time(20 * MS), 500)]);
        assert_eq!(net.trace[1].seg.ack, 1001);
        let granted = net.trace[1].seg.fast_open(&net.trace[1].sack).unwrap();
        assert_eq!(granted.cookie, Some(cookie()));
        assert_eq!(net.a.fast_open_failure(), FastOpenFailure::DataNotAcknowledged);
        assert_eq!((net.a.fast_open_data(), net.b.fast_open_data()), (0, 0));
        let stats = net.a.stats(net.now);
        assert_eq!((stats.cong_signals, stats.segs_retrans, stats.timeouts), (0, 1, 0), "{stack}");
        assert!(net.a.controller().window() >= 10_000.0);
    }
}

/// RFC 7413 section 4.2.1: a SYN that is retransmitted, here after 1 s (RFC 6298 section 2.1), has neither option nor data.
#[test]
fn a_lost_syn_is_retransmitted_bare() {
    for stack in ["rfc", "linux"] {
        let policy: Policy = Box::new(|s, n| if s.way == Way::Forth && n == 0 { vec![] } else { vec![DELAY] });
        let mut net = begin(stack, &plain(), &knows(), policy);
        net.run_until(|net| net.b.received() == 500);
        assert_eq!(net.now, Time(1030 * MS), "{stack}");
        let again = &net.trace[1];
        assert_eq!((again.at, again.seg.flags, again.seg.len), (Time(1000 * MS), Flags::SYN, 0));
        assert_eq!(again.seg.fast_open(&again.sack), None);
        assert_eq!(net.a.fast_open_failure(), FastOpenFailure::SynRetransmitted);
        let mut memory = knows().memory;
        memory.learn(&net.a.take_fast_open_lesson().unwrap());
        assert_eq!((memory.syn_losses, memory.cookie), (1, Some(cookie())));
    }
}

/// RFC 7413 section 4.2.2: the server may send before the handshake is over. Until its SYN-ACK is acknowledged it retransmits that
/// alone (Linux `tcp_fastopen_synack_timer`); the cookie is not granted again.
#[test]
fn an_early_server_retransmits_its_syn_ack_alone() {
    for stack in ["rfc", "linux"] {
        // Whatever the server sends in the first half second is lost.
        let policy: Policy =
            Box::new(|s, _| if s.way == Way::Back && s.at < Time(500 * MS) { vec![] } else { vec![DELAY] });
        let mut net = begin(stack, &plain(), &knows(), policy);
        net.run_until(|net| net.b.received() == 500);
        assert_eq!((net.now, net.b.state(), net.b.sends_early()), (Time(10 * MS), State::SynReceived, true));
        net.b.supply(2000);
        net.b.end_stream(net.now);
        net.run_until(|net| net.a.received() == 2000 && net.a.peer_closed());
        let back: Vec<(u64, Flags, u32)> =
            net.trace.iter().filter(|s| s.way == Way::Back).map(|s| (s.at.0 / MS, s.seg.flags, s.seg.len)).collect();
        let push = Flags::ACK | Flags::PSH | Flags::FIN;
        assert_eq!(back[..4], [(10, SYN_ACK, 0), (10, Flags::ACK, 1000), (10, push, 1000), (1010, SYN_ACK, 0)]);
        assert!(!net.b.sends_early(), "{stack}");
        net.a.end_stream(net.now);
        net.run_until(|net| net.a.state() == State::Closed && net.b.state() >= State::TimeWait);
    }
}

/// The peer's reset ends an early connection, what it brought stays (Linux `tcp_check_req`).
#[test]
fn a_reset_ends_an_early_connection() {
    let mut net = begin("linux", &plain(), &knows(), intact());
    net.b.set_auto_read(false);
    net.run_until(|net| net.b.arrived() == 500);
    let mut reset = net.trace[0].seg;
    (reset.seq, reset.len, reset.flags, reset.sack_len) = (1501, 0, Flags::RST, 0);
    net.b.on_segment(net.now, &reset, &Default::default());
    assert_eq!((net.b.state(), net.b.unread()), (State::Closed, 500));
}

/// Linux `tcp_fastopen_active_detect_blackhole`: the third timeout in a row puts the path under suspicion.
#[test]
fn a_black_hole_is_suspected_at_the_third_timeout() {
    let policy: Policy = Box::new(|s, _| if s.way == Way::Forth { vec![] } else { vec![DELAY] });
    let mut net = begin("linux", &plain(), &knows(), policy);
    // 1 s, 1 s, 1 s: Linux sends the first SYNs at equal times.
    for (seconds, suspected) in [(1, false), (1, false), (1, true), (1, false)] {
        net.run_for(Span::from_s(seconds) + Span::from_ms(1));
        assert_eq!(net.a.take_fast_open_doubt(), suspected, "{:?}", net.now);
    }
}

/// Bytes of a SYN that nobody has answered yet are sent ones: by RFC 4898 (SndLimBytes*) every byte falls in one of the states, and the
/// first is the sender's.
#[test]
fn bytes_of_a_lone_syn_have_a_limit() {
    let policy: Policy = Box::new(|s, _| if s.way == Way::Forth { vec![] } else { vec![DELAY] });
    let mut net = begin("rfc", &plain(), &knows(), policy);
    net.run_for(Span::from_ms(100));
    let of = |net: &Net| {
        let stats = net.a.stats(net.now);
        [stats.data_octets_out, stats.snd_lim_bytes_snd, stats.snd_lim_bytes_cwnd + stats.snd_lim_bytes_rwin]
    };
    assert_eq!(of(&net), [500, 500, 0]);
    let mut net = begin("rfc", &plain(), &knows(), intact());
    net.run_until(|net| net.b.received() == 500);
    net.run_for(Span::from_ms(100));
    assert_eq!(of(&net), [500, 500, 0]);
}

/// Linux `TFO_SERVER_COOKIE_NOT_REQD` and `TFO_CLIENT_NO_COOKIE`: data without an option.
#[test]
fn without_cookies_data_goes_alone() {
    let options = options("linux", &plain());
    let mut net = Net::perfect(&options);
    net.b.listen_fast(&FastOpenListener { cookieless: true, ..FastOpenListener::default() });
    net.a.supply(500);
    net.a.connect_fast(Time::ZERO, &FastOpenRequest { cookieless: true, ..FastOpenRequest::default() });
    net.run_until(|net| net.b.received() == 500);
    assert_eq!((net.now, net.trace[0].seg.sack_len), (Time(10 * MS), 0));
}
