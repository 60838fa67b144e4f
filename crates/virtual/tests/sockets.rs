//! Sockets of programs over a dumbbell: what Linux would answer, and when it arrives.

use std::sync::Arc;

use elephan_record::Recorder;
use elephan_scenario::{Source, read};
use elephan_units::{Span, Time};
use elephan_virtual::{Errno, Fd, How, Kind, Network, READABLE, Setting, WRITABLE};

/// 10 Mb/s and 20 ms one way; access links have no delay.
const SCENARIO: &str = r#"
duration = "100 s"
[template]
kind = "dumbbell"
rate = "10 Mbps"
delay = "20 ms"
queue = { kind = "fifo", limit = "100 packets" }
[[traffic]]
kind = "program"
from = "sender"
to = "receiver"
"#;
const CLIENT: usize = 0;
const SERVER: usize = 1;

fn network(text: &str) -> Network {
    let resolved = read(&Source::toml("test.toml", text), &[], Some(1)).unwrap();
    Network::new(Arc::clone(&resolved.plan), Recorder::memory()).unwrap()
}

/// Waits for `fd` alone; answers what is ready of it.
fn wait(net: &mut Network, fd: Fd, mask: u8) -> u8 {
    net.watch(fd, mask);
    let ready = net.wait(Time::NEVER, &mut |_| true).unwrap();
    net.watch(fd, 0);
    ready.first().map_or(0, |(_, bits)| *bits)
}

/// A connection: listener, client, server.
fn connected(net: &mut Network) -> [Fd; 3] {
    let [listener, client] = [SERVER, CLIENT].map(|host| net.socket(host, Kind::Stream).unwrap());
    net.bind(listener, 80).unwrap();
    net.listen(listener, 10).unwrap();
    assert_eq!(net.connect(client, SERVER, 80), Err(Errno::InProgress));
    assert_eq!(wait(net, client, WRITABLE), WRITABLE);
    assert_eq!(net.error(client), Ok(None));
    assert_eq!(wait(net, listener, READABLE), READABLE);
    let (server, host, _) = net.accept(listener).unwrap();
    assert_eq!(host, CLIENT);
    [listener, client, server]
}

fn read_all(net: &mut Network, fd: Fd) -> Result<Vec<u8>, Errno> {
    let mut all = Vec::new();
    loop {
        assert_eq!(wait(net, fd, READABLE), READABLE, "nothing comes any more");
        let part = net.recv(fd, 1 << 20, false)?;
        if part.is_empty() {
            return Ok(all);
        }
        all.extend(part);
    }
}

fn passes(net: &mut Network, span: Span) {
    let until = net.now().saturating_add(span);
    net.wait(until, &mut |_| true).unwrap();
}

/// The SYN-ACK is back after a round trip of 40 ms and the times of 60 B and of 60 B at 10 Mb/s and 1 Gb/s.
#[test]
fn a_connection_takes_a_round_trip() {
    let mut net = network(SCENARIO);
    let [_, client, server] = connected(&mut net);
    assert_eq!((net.peer(client), net.name(server)), (Ok((SERVER, 80)), Ok((SERVER, 80))));
    assert_eq!(net.peer(server), net.name(client));
    let ms = net.now().since(Time::ZERO).seconds() * 1e3;
    assert!((60.0..60.5).contains(&ms), "{ms} ms");
}

#[test]
fn bytes_arrive_in_order_and_the_end_is_seen() {
    let mut net = network(SCENARIO);
    let [_, client, server] = connected(&mut net);
    let data: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
    let mut sent = 0;
    let mut got = Vec::new();
    net.watch(server, READABLE);
    net.watch(client, WRITABLE);
    while got.len() < data.len() {
        for (fd, _) in net.wait(Time::NEVER, &mut |_| true).unwrap() {
            if fd == server {
                got.extend(net.recv(server, 10_000, false).unwrap());
                continue;
            }
            sent += net.send(client, &data[sent..]).unwrap();
            if sent == data.len() {
                net.watch(client, 0);
                net.shutdown(client, How::Write).unwrap();
            }
        }
    }
    assert!(got == data, "the bytes differ");
    assert_eq!(read_all(&mut net, server), Ok(Vec::new()));
    assert_eq!(net.send(client, b"more"), Err(Errno::BrokenPipe));
    // The other direction is still open.
    assert_eq!(net.send(server, b"thanks"), Ok(6));
    net.close(server).unwrap();
    assert_eq!(read_all(&mut net, client), Ok(b"thanks".to_vec()));
    net.close(client).unwrap();
    passes(&mut net, Span::from_s(80));
    assert!(net.is_idle());
    let (summary, _) = net.finish().unwrap();
    assert_eq!((&summary["flows"], &summary["completed"]), (&2.into(), &2.into()));
    // 300,006 B in the 80 s and some more that the programs took, not in the 100 s of the scenario.
    let (simulated, goodput) = (summary["simulated_s"].as_f64().unwrap(), summary["goodput_bps"].as_f64().unwrap());
    assert!(simulated < 90.0 && (goodput * simulated / 8.0 - 300_006.0).abs() < 1.0, "{simulated} s, {goodput} bit/s");
}

#[test]
fn a_reader_that_stops_stops_its_writer() {
    let mut net = network(SCENARIO);
    let [_, client, server] = connected(&mut net);
    let data = vec![7; 1 << 20];
    let mut sent = 0;
    net.watch(client, WRITABLE);
    loop {
        let until = net.now().saturating_add(Span::from_s(5));
        if net.wait(until, &mut |_| true).unwrap().is_empty() {
            break;
        }
        match net.send(client, &data) {
            Ok(bytes) => sent += bytes,
            Err(error) => assert_eq!(error, Errno::Again),
        }
    }
    // Send and receive buffers of Linux, of some hundred kilobytes to some megabytes.
    assert!((100_000..12_000_000).contains(&sent), "{sent}");
    net.watch(client, 0);
    let mut got = 0;
    while got < sent {
        wait(&mut net, server, READABLE);
        got += net.recv(server, 1 << 20, false).unwrap().len();
    }
    assert_eq!(wait(&mut net, client, WRITABLE), WRITABLE);
}

#[test]
fn nobody_listens() {
    let mut net = network(SCENARIO);
    let client = net.socket(CLIENT, Kind::Stream).unwrap();
    assert_eq!(net.connect(client, SERVER, 81), Err(Errno::InProgress));
    assert_eq!(wait(&mut net, client, WRITABLE), WRITABLE);
    assert_eq!(net.error(client), Ok(Some(Errno::ConnectionRefused)));
    assert_eq!(net.error(client), Ok(None));
    assert_eq!(net.peer(client), Err(Errno::NotConnected));
}

/// RFC 2525 section 2.17: what was not read was not delivered.
#[test]
fn a_close_with_unread_data_resets() {
    let mut net = network(SCENARIO);
    let [_, client, server] = connected(&mut net);
    net.send(client, b"unread").unwrap();
    wait(&mut net, server, READABLE);
    net.close(server).unwrap();
    wait(&mut net, client, READABLE);
    assert_eq!(net.recv(client, 10, false), Err(Errno::ConnectionReset));
    assert_eq!(net.recv(client, 10, false), Ok(Vec::new()));
    assert_eq!(net.send(client, b"x"), Err(Errno::BrokenPipe));
}

#[test]
fn lingering_for_no_time_resets() {
    let mut net = network(SCENARIO);
    let [_, client, server] = connected(&mut net);
    net.send(client, b"last words").unwrap();
    passes(&mut net, Span::from_ms(100));
    net.set(client, Setting::Aborts(true)).unwrap();
    net.close(client).unwrap();
    passes(&mut net, Span::from_ms(100));
    // What came before the reset can still be read.
    assert_eq!(net.recv(server, 4, true), Ok(b"last".to_vec()));
    assert_eq!(net.recv(server, 100, false), Ok(b"last words".to_vec()));
    assert_eq!(net.recv(server, 100, false), Err(Errno::ConnectionReset));
}

/// A backlog of 1 lets two connections wait; the third SYN is lost, until somebody accepts.
#[test]
fn a_full_backlog_drops() {
    let mut net = network(SCENARIO);
    let listener = net.socket(SERVER, Kind::Stream).unwrap();
    net.bind(listener, 80).unwrap();
    net.listen(listener, 1).unwrap();
    let clients: Vec<Fd> = (0..3).map(|_| net.socket(CLIENT, Kind::Stream).unwrap()).collect();
    for &client in &clients {
        assert_eq!(net.connect(client, SERVER, 80), Err(Errno::InProgress));
    }
    passes(&mut net, Span::from_ms(500));
    let up: Vec<bool> = clients.iter().map(|&client| net.peer(client).is_ok() || net.poll(client) != 0).collect();
    assert_eq!(up, [true, true, false]);
    net.accept(listener).unwrap();
    passes(&mut net, Span::from_s(2));
    assert_eq!(net.poll(clients[2]), WRITABLE);
}

#[test]
fn a_listener_that_closes_resets_those_who_wait() {
    let mut net = network(SCENARIO);
    let listener = net.socket(SERVER, Kind::Stream).unwrap();
    net.bind(listener, 80).unwrap();
    net.listen(listener, 5).unwrap();
    let client = net.socket(CLIENT, Kind::Stream).unwrap();
    assert_eq!(net.connect(client, SERVER, 80), Err(Errno::InProgress));
    passes(&mut net, Span::from_ms(200));
    net.close(listener).unwrap();
    wait(&mut net, client, READABLE);
    assert_eq!(net.recv(client, 1, false), Err(Errno::ConnectionReset));
    let other = net.socket(SERVER, Kind::Stream).unwrap();
    assert_eq!(net.bind(other, 80), Ok(()));
    assert_eq!(net.accept(other), Err(Errno::Invalid));
}

#[test]
fn datagrams_and_ports_that_nobody_has() {
    let mut net = network(SCENARIO);
    let [client, server] = [CLIENT, SERVER].map(|host| net.socket(host, Kind::Datagram).unwrap());
    net.bind(server, 53).unwrap();
    assert_eq!(net.send_to(client, b"who?", SERVER, 53), Ok(4));
    assert_eq!(wait(&mut net, server, READABLE), READABLE);
    let (bytes, host, port) = net.recv_from(server, 2).unwrap();
    assert_eq!((&bytes[..], host), (&b"wh"[..], CLIENT));
    assert_eq!(net.recv_from(server, 2), Err(Errno::Again));
    assert_eq!(net.send_to(server, b"me", CLIENT, port), Ok(2));
    assert_eq!(wait(&mut net, client, READABLE), READABLE);
    assert_eq!(net.recv_from(client, 9), Ok((b"me".to_vec(), SERVER, 53)));
    // 1460 B of payload and 40 B of headers make 1500 B: a datagram has 1472.
    assert_eq!(net.send_to(client, &[0; 1473], SERVER, 53), Err(Errno::MessageTooLong));
    assert_eq!(net.send_to(client, &[0; 1472], SERVER, 53), Ok(1472));
    assert_eq!(net.send(client, b"to whom?"), Err(Errno::DestinationRequired));
    net.connect(client, SERVER, 99).unwrap();
    assert_eq!(net.send(client, b"x"), Ok(1));
    assert_eq!(wait(&mut net, client, READABLE), READABLE);
    assert_eq!(net.recv(client, 9, false), Err(Errno::ConnectionRefused));
}

#[test]
fn a_host_talks_to_itself() {
    let mut net = network(SCENARIO);
    let listener = net.socket(CLIENT, Kind::Stream).unwrap();
    net.bind(listener, 80).unwrap();
    let client = net.socket(CLIENT, Kind::Stream).unwrap();
    assert_eq!(net.connect(client, CLIENT, 80), Err(Errno::ConnectionRefused));
    net.listen(listener, 5).unwrap();
    net.connect(client, CLIENT, 80).unwrap();
    let (server, ..) = net.accept(listener).unwrap();
    net.send(client, b"ping").unwrap();
    assert_eq!(net.recv(server, 9, false), Ok(b"ping".to_vec()));
    net.close(server).unwrap();
    assert_eq!(net.recv(client, 9, false), Ok(Vec::new()));
    assert_eq!(net.now(), Time::ZERO);
}

#[test]
fn wrong_calls() {
    let mut net = network(SCENARIO);
    let [one, other] = [SERVER; 2].map(|host| net.socket(host, Kind::Stream).unwrap());
    net.bind(one, 80).unwrap();
    assert_eq!(net.bind(other, 80), Err(Errno::AddressInUse));
    assert_eq!(net.bind(one, 81), Err(Errno::Invalid));
    assert_eq!(net.recv(one, 1, false), Err(Errno::NotConnected));
    assert_eq!(net.shutdown(one, How::Both), Err(Errno::NotConnected));
    assert_eq!(net.connect(one, 7, 80), Err(Errno::NetworkUnreachable));
    net.close(one).unwrap();
    assert_eq!(net.close(one), Err(Errno::BadDescriptor));
    assert_eq!(net.bind(other, 80), Ok(()));
}

/// An unreachable server is given up after the retries of Linux (tcp_syn_retries), which the stack says; here by TCP_USER_TIMEOUT.
#[test]
fn a_silent_server_times_out() {
    let cut = SCENARIO.to_owned() + "[[change]]\nat = \"1 s\"\nset = { \"links.left->right.up\" = false }\n";
    let mut net = network(&cut);
    let [_, client, _] = connected(&mut net);
    passes(&mut net, Span::from_s(1));
    net.set(client, Setting::UserTimeout(3000)).unwrap();
    net.send(client, b"anybody?").unwrap();
    let before = net.now();
    wait(&mut net, client, READABLE);
    assert_eq!(net.recv(client, 1, false), Err(Errno::TimedOut));
    let waited = net.now().since(before).seconds();
    assert!((2.0..8.0).contains(&waited), "{waited} s");
}
