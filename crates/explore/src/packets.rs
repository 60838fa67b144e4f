//! The packets of one flow: the run is simulated again up to the end of what is looked at, with a capture at the sender.
//!
//! A run is deterministic and a capture changes nothing, so these are the packets of the run that is open.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use elephan_link::Framing;
use elephan_record::{CapturedPacket, Direction, Recorder, Tables};
use elephan_scenario::{Captures, Plan};
use elephan_sim::Error;
use elephan_trace::{Answer, Heard, Progress, Sent, listen};
use elephan_units::{Span, Time, stop};
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::column::numbers_where;
use crate::flows::flow_ends;
use crate::open::{Open, held, table};
use crate::reply::{Reply, Trouble};

/// Packets of one answer.
const PACKETS_MAX: u64 = 200_000;
/// How a flow's number is found in the ports of its packets (`net/capture.rs`, sim).
const OPENER_PORTS: (i64, i64) = (38_000, 3_000);
const LISTENER_PORTS: (i64, i64) = (10_601, 600);

const PROTOCOL_TCP: u8 = 6;
const FLAG_SYN: u8 = 2;
const FLAG_ACK: u8 = 16;
const OPTION_WINDOW_SCALE: u8 = 3;
const OPTION_SACK: u8 = 5;

/// Kinds of segments, in the order of their numbers. Only a capture has those that came late.
const KINDS: [&str; 5] = ["first", "fast", "rto", "tlp", "late"];

/// When a segment was sent, the places of its first byte and behind its last, and its kind.
type Drawn = (f64, i64, i64, u32);

/// A segment with payload, in bytes of the stream from its first one.
struct Segment {
    at: f64,
    seq: i64,
    end: i64,
    /// Whether all of it had been sent before; and what was acknowledged then.
    again: bool,
    acked: i64,
}

struct Acknowledged {
    at: f64,
    ack: i64,
    edge: i64,
    sacks: Vec<(i64, i64)>,
}

/// What the capture has seen of the flow.
struct Seen {
    ports: (u16, u16),
    framing: Vec<Framing>,
    /// Sequence number of the first byte, and the last position, for numbers that wrap.
    isn: Option<u32>,
    highest: i64,
    acked: i64,
    scale: u8,
    from: f64,
    most: usize,
    /// When each segment of the flow was sent, and what had been sent before it.
    grown: Vec<(f64, i64)>,
    sent: Vec<Segment>,
    acks: Vec<Acknowledged>,
    cut_off: bool,
}

/// The segments of a flow from `from_ns` to `to_ns`, and the acknowledgements that its sender got.
pub fn packets(open: &Open, ask: Ask<'_>, stop: &AtomicBool) -> Result<Reply, Trouble> {
    let flow = ask.maybe_u64("flow")?.ok_or("flow is missing: the number of a flow")?;
    let (from, to) = (ask.maybe_ns("from_ns")?.unwrap_or(0), ask.maybe_ns("to_ns")?.unwrap_or(open.end_ns()));
    let most = ask.maybe_u64("limit")?.unwrap_or(20_000).min(PACKETS_MAX) as usize;
    if open.run.is_none() {
        return captured(open, flow as i64, (from as f64, to as f64), most, stop);
    }
    let plan = open.plan()?;
    let ends = flow_ends(open, flow)?;
    if ends.protocol != "tcp" {
        return Err(format!("{} is no TCP flow; only of these the packets are shown", ends.name).into());
    }
    let host = plan.nodes.iter().position(|node| node.name == ends.source).ok_or("the flow has no source")? as u32;
    let number = flow as i64;
    let seen = Arc::new(Mutex::new(Seen {
        ports: (
            (OPENER_PORTS.0 + number % OPENER_PORTS.1) as u16,
            (LISTENER_PORTS.0 + number / OPENER_PORTS.1 % LISTENER_PORTS.1) as u16,
        ),
        framing: plan.links.iter().filter(|link| link.from == host).map(|link| link.framing).collect(),
        isn: None,
        highest: 0,
        acked: 0,
        scale: 0,
        from: from as f64,
        most,
        grown: Vec::new(),
        sent: Vec::new(),
        acks: Vec::new(),
        cut_off: false,
    }));
    let tables = again(plan, host, to, seen.clone(), stop)?;
    let seen = held(&seen);
    let recoveries = recoveries(&tables, number)?;
    let drawn = seen.sent.iter().map(|sent| (sent.at, sent.seq, sent.end, kind(sent, &seen.grown, &recoveries)));
    Ok(told(&drawn.collect::<Vec<_>>(), &seen.acks, seen.cut_off))
}

/// The segments of a connection of a capture, which is read again.
fn captured(
    open: &Open,
    connection: i64,
    (from, to): (f64, f64),
    most: usize,
    stop: &AtomicBool,
) -> Result<Reply, Trouble> {
    let (place, options) =
        open.capture.as_ref().ok_or("only the tables are open: open the capture itself to see its packets")?;
    let (mut sent, mut acks): (Vec<Drawn>, Vec<Acknowledged>) = Default::default();
    let over = Cell::new(false);
    let mut cut_off = false;
    let mut heard = |heard: Heard| match heard {
        Heard::Sent(Sent { time_ns, .. }) | Heard::Answer(Answer { time_ns, .. }) if time_ns as f64 > to => {
            over.set(true)
        }
        Heard::Sent(one) if one.time_ns as f64 >= from => {
            cut_off |= sent.len() >= most;
            if !cut_off {
                let kind = KINDS.iter().position(|kind| *kind == one.kind).unwrap_or_default() as u32;
                sent.push((one.time_ns as f64, one.begin, one.end, kind));
            }
        }
        Heard::Answer(one) if one.time_ns as f64 >= from && acks.len() < most => {
            let (at, edge) = (one.time_ns as f64, one.ack + one.window as i64);
            acks.push(Acknowledged { at, ack: one.ack, edge, sacks: one.sacks });
        }
        _ => {}
    };
    let mut watch = |_: &Progress| !over.get() && !stop.load(Ordering::Relaxed) && !stop::memory_is_short();
    match listen(std::slice::from_ref(place), options, connection, &mut heard, &mut watch) {
        Err(elephan_trace::Error::Stopped) if !over.get() => return Err("stopped".into()),
        Err(error) if error != elephan_trace::Error::Stopped => return Err(error.to_string().into()),
        _ => {}
    }
    Ok(told(&sent, &acks, cut_off))
}

/// Simulates the run once more, up to an instant, and lets `seen` take the packets at `host`.
fn again(plan: &Plan, host: u32, to: i64, seen: Arc<Mutex<Seen>>, stop: &AtomicBool) -> Result<Tables, Trouble> {
    let mut plan = plan.clone();
    // What ends at this very instant is seen too.
    plan.duration = plan.duration.min(Time::ZERO + Span::from_ns(to.max(1).cast_unsigned()) + Span::from_ns(1));
    plan.warmup = plan.warmup.min(plan.duration);
    plan.record.every = None;
    plan.record.messages = false;
    plan.record.events = true;
    plan.record.datagrams = 0;
    plan.record.captures = Captures { hosts: vec![host], links: Vec::new(), snap_bytes: None };
    let listener = Arc::new(Mutex::new(move |packet: &CapturedPacket<'_>| held(&seen).take(packet)));
    let recorder = Recorder::listening(listener);
    let goes_on = |_: &elephan_sim::Progress| !stop.load(Ordering::Relaxed) && !stop::memory_is_short();
    let outcome = elephan_sim::run(plan, recorder, &mut { goes_on });
    let (_, recorder) = outcome.map_err(|error| match error {
        Error::Stopped => "stopped".to_owned(),
        other => other.to_string(),
    })?;
    recorder.finish().map_err(|error| error.to_string().into())
}

impl Seen {
    fn take(&mut self, packet: &CapturedPacket<'_>) {
        let before = match self.framing.get(packet.interface as usize) {
            Some(Framing::Ethernet) => 14,
            Some(Framing::Ppp) => 2,
            _ => 0,
        };
        let Some(ip) = packet.headers.get(before..) else { return };
        // Where the TCP header begins and the IP header says what is above it; the length there counts the header of IPv4 only.
        let (above, protocol, length, counted) =
            if ip.first().is_some_and(|byte| byte >> 4 == 6) { (40, 6, 4, 0) } else { (20, 9, 2, 20) };
        let Some(tcp) = ip.get(above..).filter(|tcp| tcp.len() >= 20 && ip[protocol] == PROTOCOL_TCP) else {
            return;
        };
        let half = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
        let word = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        let ports = (half(0), half(2));
        if ports != self.ports && (ports.1, ports.0) != self.ports {
            return;
        }
        let header = usize::from(tcp[12] >> 4) * 4;
        let whole = usize::from(u16::from_be_bytes([ip[length], ip[length + 1]]));
        let payload = whole.saturating_sub(counted + header) as i64;
        let options = tcp.get(20..header.min(tcp.len())).unwrap_or(&[]);
        let (at, syn) = (packet.time_ns as f64, tcp[13] & FLAG_SYN != 0);
        match packet.direction {
            Some(Direction::Outbound) => {
                let isn = *self.isn.get_or_insert(word(4).wrapping_add(u32::from(syn)));
                let seq = self.position(word(4), isn);
                if payload > 0 && !syn {
                    self.send(at, seq, seq + payload);
                }
            }
            Some(Direction::Inbound) if tcp[13] & FLAG_ACK != 0 => {
                if syn {
                    self.scale = option(options, OPTION_WINDOW_SCALE).first().copied().unwrap_or(0).min(14);
                }
                let scale = if syn { 0 } else { self.scale };
                self.acknowledge(at, word(8), i64::from(half(14)) << scale, option(options, OPTION_SACK));
            }
            _ => {}
        }
    }

    /// The place in the stream of a number on the wire: the one that is nearest to what was sent.
    fn position(&self, number: u32, isn: u32) -> i64 {
        let near = isn.wrapping_add(self.highest as u32);
        self.highest + i64::from(number.wrapping_sub(near).cast_signed())
    }

    fn send(&mut self, at: f64, seq: i64, end: i64) {
        let again = end <= self.highest;
        self.grown.push((at, self.highest));
        if at >= self.from {
            self.cut_off |= self.sent.len() >= self.most;
            if !self.cut_off {
                self.sent.push(Segment { at, seq, end, again, acked: self.acked });
            }
        }
        self.highest = self.highest.max(end);
    }

    fn acknowledge(&mut self, at: f64, ack: u32, window: i64, sacks: &[u8]) {
        let Some(isn) = self.isn else { return };
        let ack = self.position(ack, isn);
        self.acked = self.acked.max(ack);
        if at >= self.from && self.acks.len() < self.most {
            let word = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let block = |bytes: &[u8]| (self.position(word(bytes), isn), self.position(word(&bytes[4..]), isn));
            let sacks = sacks.chunks_exact(8).map(block).collect();
            self.acks.push(Acknowledged { at, ack, edge: ack + window, sacks });
        }
    }
}

/// The content of a TCP option; empty if it is not there.
fn option(mut rest: &[u8], wanted: u8) -> &[u8] {
    while let [kind, after @ ..] = rest {
        if *kind == 0 {
            break;
        }
        if *kind == 1 {
            rest = after;
            continue;
        }
        let Some(option) = after.first().and_then(|&bytes| rest.get(..usize::from(bytes))).filter(|o| o.len() >= 2)
        else {
            break;
        };
        if *kind == wanted {
            return &option[2..];
        }
        rest = &rest[option.len()..];
    }
    &[]
}

/// Times at which the flow began to retransmit, and whether its timer made it.
fn recoveries(tables: &Tables, flow: i64) -> Result<Vec<(f64, bool)>, Trouble> {
    let events = table(tables, "events")?;
    let (found, kinds) = numbers_where(events, &["time_ns"], "kind", ("flow", flow as f64))?;
    let both = found[0].iter().copied().zip(&kinds);
    Ok(both
        .filter(|(_, kind)| matches!(kind.as_str(), "rto" | "fast_retransmit"))
        .map(|(at, kind)| (at, kind == "rto"))
        .collect())
}

/// The number of a segment's kind. What is sent again within a recovery is of its kind, anything else is a probe.
fn kind(sent: &Segment, grown: &[(f64, i64)], recoveries: &[(f64, bool)]) -> u32 {
    if !sent.again {
        return 0;
    }
    let Some((at, timer)) = recoveries[..recoveries.partition_point(|r| r.0 <= sent.at)].last() else { return 3 };
    // What had been sent when the recovery began; it is over when that is acknowledged.
    let recover = grown.get(grown.partition_point(|other| other.0 < *at)).map_or(i64::MAX, |first| first.1);
    match (sent.acked < recover, timer) {
        (false, _) => 3,
        (true, true) => 2,
        (true, false) => 1,
    }
}

fn told(sent: &[Drawn], acks: &[Acknowledged], cut_off: bool) -> Reply {
    let mut reply = Reply::default();
    let mut best = i64::MIN;
    let so_far: Vec<i64> = acks
        .iter()
        .map(|one| {
            best = best.max(one.ack);
            best
        })
        .collect();
    let acked = |end: i64| acks.get(so_far.partition_point(|ack| *ack < end)).map_or(f64::NAN, |one| one.at);
    let segments = json!({
        "count": sent.len(),
        "t": reply.put_f64(sent.iter().map(|s| s.0)),
        "seq": reply.put_f64(sent.iter().map(|s| s.1 as f64)),
        "end": reply.put_f64(sent.iter().map(|s| s.2 as f64)),
        "acked": reply.put_f64(sent.iter().map(|s| acked(s.2))),
        "kind": reply.put_u32(sent.iter().map(|s| s.3)),
    });
    let edges = json!({
        "count": acks.len(),
        "t": reply.put_f64(acks.iter().map(|a| a.at)),
        "ack": reply.put_f64(acks.iter().map(|a| a.ack as f64)),
        "edge": reply.put_f64(acks.iter().map(|a| a.edge as f64)),
    });
    let blocks = || acks.iter().flat_map(|a| a.sacks.iter().map(|block| (a.at, *block)));
    let sacks = json!({
        "count": blocks().count(),
        "t": reply.put_f64(blocks().map(|b| b.0)),
        "left": reply.put_f64(blocks().map(|b| b.1.0 as f64)),
        "right": reply.put_f64(blocks().map(|b| b.1.1 as f64)),
    });
    let head = json!({ "segments": segments, "kinds": KINDS, "acks": edges, "sacks": sacks, "truncated": cut_off });
    if let Value::Object(head) = head {
        reply.head = head;
    }
    reply
}
