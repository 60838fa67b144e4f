//! Segments that hosts of an elephan run hand to the network, replayed by the naive engine over the same network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use elephan_record::{CapturedPacket, Direction, Recorder, TableData, Tables};
use elephan_scenario::{Captures, NodeKind, Plan};

use super::compare::{Happened, difference, elephan, first_row, rows};
use super::engine::{Delivery, Engine, route};
use super::packet::Packet;

/// Tables of the network, which do not depend on who sends.
const TABLES: [&str; 5] = ["ports", "port_samples", "switch_samples", "pauses", "holds"];
/// What ports and links log.
const KINDS: [&str; 5] = ["drop", "mark", "pause", "resume", "deadlock"];

const PROTOCOL_TCP: u8 = 6;
const IP_HEADER_BYTES: usize = 20;
const UDP_HEADERS_BYTES: u64 = 28;
/// How a flow's number stands in its ports (`crates/sim/src/net/capture.rs`).
const OPENER_PORTS: std::ops::Range<u16> = 38_000..41_000;
const LISTENER_PORT: u16 = 10_601;

/// What a host has sent or received.
#[derive(Clone, Debug)]
struct Seen {
    time: u64,
    is_sent: bool,
    nodes: (usize, usize),
    flow: usize,
    ip_bytes: u64,
    ecn: u8,
    ident: u16,
    /// Sequence number and bytes of data of a TCP segment.
    segment: Option<(u32, u32)>,
}

/// Returns the IP packet of a frame, whatever its framing.
fn ip(frame: &[u8]) -> &[u8] {
    match frame {
        [0x45, ..] => frame,
        [0, 0x21, ip @ ..] => ip,
        _ => &frame[14..],
    }
}

fn read(packet: &CapturedPacket<'_>) -> Seen {
    let ip = ip(packet.headers);
    let half = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let node = |at: usize| u32::from_be_bytes([0, ip[at + 1], ip[at + 2], ip[at + 3]]) as usize - 1;
    let inner = &ip[IP_HEADER_BYTES..];
    let ports = [half(inner, 0), half(inner, 2)];
    let opener = ports.into_iter().find(|port| OPENER_PORTS.contains(port)).expect("the port of the opener");
    let listener = ports.into_iter().find(|port| !OPENER_PORTS.contains(port)).expect("the port of the listener");
    let ip_bytes = u64::from(half(ip, 2));
    let segment = (ip[9] == PROTOCOL_TCP).then(|| {
        let sequence = u32::from_be_bytes([inner[4], inner[5], inner[6], inner[7]]);
        let header = IP_HEADER_BYTES as u64 + u64::from(inner[12] >> 4) * 4;
        (sequence, (ip_bytes - header) as u32)
    });
    Seen {
        time: packet.time_ns * 1000 + u64::from(packet.rest_ps),
        is_sent: packet.direction == Some(Direction::Outbound),
        nodes: (node(12), node(16)),
        flow: usize::from(opener - OPENER_PORTS.start) + OPENER_PORTS.len() * usize::from(listener - LISTENER_PORT),
        ip_bytes,
        ecn: ip[1] & 3,
        ident: half(ip, 4),
        segment,
    }
}

/// Runs a plan in elephan with captures at all hosts. Returns the tables and what hosts have sent and received.
fn recorded(plan: &Plan) -> (Tables, Vec<Seen>) {
    let mut plan = plan.clone();
    let hosts = (0u32..).zip(&plan.nodes).filter(|(_, node)| matches!(node.kind, NodeKind::Host));
    plan.record.captures = Captures { hosts: hosts.map(|(number, _)| number).collect(), ..Captures::default() };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = seen.clone();
    let listener = Arc::new(Mutex::new(move |packet: &CapturedPacket<'_>| into.lock().unwrap().push(read(packet))));
    let (_, recorder) = elephan_sim::run(plan, Recorder::listening(listener), &mut |_| true).unwrap();
    let tables = recorder.finish().unwrap();
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (tables, seen)
}

/// Returns what hosts have sent as packets for the naive engine.
fn packets(plan: &Plan, seen: &[Seen]) -> Vec<(u64, Packet)> {
    // By flow and sending host: the end of the highest data so far.
    let mut highest: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let mut made = Vec::new();
    for one in seen.iter().filter(|one| one.is_sent) {
        let (from, to) = one.nodes;
        let mut is_retransmission = false;
        if let Some((sequence, data)) = one.segment {
            let highest = highest.entry((one.flow, from)).or_insert(sequence);
            let end = sequence.wrapping_add(data);
            is_retransmission = data > 0 && end.wrapping_sub(*highest) as i32 <= 0;
            if data > 0 && !is_retransmission {
                *highest = end;
            }
        }
        let packet = Packet {
            flow: one.flow,
            number: u32::from(one.ident),
            payload: one.segment.map_or_else(|| one.ip_bytes - UDP_HEADERS_BYTES, |(_, data)| u64::from(data)),
            left: one.time,
            ip_bytes: one.ip_bytes,
            ecn: one.ecn,
            has_data: one.segment.is_none_or(|(_, data)| data > 0),
            is_retransmission,
            sequence: one.segment.map(|(sequence, _)| sequence),
            route: route(plan, from, to),
            hop: 0,
            ingress: 0,
            charged: 0,
            is_lost: false,
        };
        made.push((one.time, packet));
    }
    made
}

/// Returns the rows of ports and links in `events`. At one instant their order is not compared, since the naive engine does not know
/// which event made a host send.
fn logged(table: &TableData) -> Vec<Vec<String>> {
    let kind = table.schema.index_of("kind").unwrap();
    let mut rows = rows(table);
    rows.retain(|row| KINDS.iter().any(|known| row[kind].contains(&format!("\"{known}\""))));
    let time =
        |row: &[String]| row[0].lines().nth(2).and_then(|line| line.trim().trim_end_matches(',').parse::<u64>().ok());
    rows.sort_by_key(|row| (time(row), row.clone()));
    rows
}

/// Returns the first difference between elephan's run of a plan, alone or with captures, and the naive run of what its hosts sent.
/// Counts what happened there.
pub fn first_difference(plan: &Plan, happened: &mut Happened) -> Option<String> {
    let (with_captures, seen) = recorded(plan);
    let (alone, _) = elephan(plan);
    let mut engine = Engine::new(plan);
    engine.replay(packets(plan, &seen));
    engine.run();
    let received = seen.iter().filter(|one| !one.is_sent);
    let expected: Vec<Delivery> = received
        .filter_map(|one| {
            let (sequence, _) = one.segment?;
            let (host, sequence) = (one.nodes.1, Some(sequence));
            Some(Delivery { time: one.time, host, flow: one.flow, ip_bytes: one.ip_bytes, ecn: one.ecn, sequence })
        })
        .collect();
    engine.count(happened);
    let delivered = std::mem::take(&mut engine.deliveries);
    if let Some(place) = (0..expected.len().max(delivered.len())).find(|&i| expected.get(i) != delivered.get(i)) {
        let (one, other) = (expected.get(place), delivered.get(place));
        return Some(format!("delivery {place}\n  elephan: {one:?}\n  naive:   {other:?}"));
    }
    let naive = engine.finish();
    for tables in [&with_captures, &alone] {
        for (elephan, naive) in tables.iter().zip(&naive) {
            if TABLES.contains(&elephan.name)
                && let Some(found) = difference(elephan, naive)
            {
                return Some(found);
            }
            if elephan.name == "events"
                && let Some(found) = first_row(elephan, &logged(elephan), &logged(naive))
            {
                return Some(found);
            }
        }
    }
    None
}
