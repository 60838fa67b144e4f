//! Sentences about a connection, computed from its rows: every front end shows these.

use elephan_record::ConnectionRow;

use crate::amount::{at, bytes, counted, number, share, time};
use crate::finding::{Finding, Kind};
use crate::packet::Trouble;

/// A share of the time that is named, at least.
const SHARE_MIN: f64 = 0.05;
/// A rate means something from so many segments and round trips on.
const SEGMENTS_MIN: i64 = 10;
const ROUNDS_MIN: i64 = 2;
const LINK: &str = "the rate of a full link, where a queue stood";
const PATH: &str = "the path or the congestion window";
/// Turns from which on the traffic is requests and answers.
const TURNS_MIN: i64 = 3;

/// One direction: its row, its two ends, where the capture stands, and what was found.
pub struct Told<'a> {
    pub row: &'a ConnectionRow,
    pub source: &'a str,
    pub destination: &'a str,
    pub place: &'a str,
    pub findings: &'a [Finding],
}

/// Sentences about a direction and, where something is wrong with it, about the other one.
pub fn lines(own: &Told<'_>, peer: Option<&Told<'_>>) -> Vec<String> {
    let mut lines: Vec<String> = [setup(own.row), place(own), limited(own)].into_iter().flatten().collect();
    lines.extend(own.findings.iter().filter_map(|finding| sentence(own, finding)));
    lines.extend(closed(own));
    lines.extend(retransmissions(own.row));
    if let Some(peer) = peer {
        let mut other: Vec<String> = peer.findings.iter().filter_map(|finding| sentence(peer, finding)).collect();
        other.extend(closed(peer));
        other.extend(retransmissions(peer.row));
        lines.extend(other.into_iter().map(|line| format!("From {} to {}: {line}", peer.source, peer.destination)));
    }
    lines.extend([Some(own), peer].into_iter().flatten().filter_map(turns));
    lines
}

fn setup(row: &ConnectionRow) -> Option<String> {
    let took = row.setup_ns?;
    let again = match row.syn_retrans {
        0 => String::new(),
        count => format!(", with {}", counted(count as u64, "retransmitted SYN")),
    };
    Some(format!("Its set-up took {}{again}.", time(took as u64)))
}

/// Where the capture was made, and how that is known.
fn place(told: &Told<'_>) -> Option<String> {
    let trips = told.row.to_sender_ns.zip(told.row.to_receiver_ns);
    let evidence = trips.map_or(String::new(), |(sender, receiver)| {
        let (sender, receiver) = (time(sender as u64), time(receiver as u64));
        format!(": in the handshake the sender's end answered within {sender}, the receiver's within {receiver}")
    });
    match told.place {
        "sender" => None,
        "receiver" => Some(format!("The capture was made at the receiver{evidence}.")),
        "between" => Some(format!("The capture was made between both ends{evidence}.")),
        _ if told.row.data_segs_out >= SEGMENTS_MIN && told.row.goodput_bps.is_some() => {
            Some("Where the capture was made is not known: the handshake does not show it; --at says it.".to_owned())
        }
        _ => None,
    }
}

fn held(row: &ConnectionRow) -> [Option<i64>; 8] {
    [
        row.held_application_ns,
        row.held_closed_ns,
        row.held_window_ns,
        row.held_recovery_ns,
        row.held_timer_ns,
        row.held_rate_ns,
        row.held_path_ns,
        row.held_unknown_ns,
    ]
}

fn limited(told: &Told<'_>) -> Option<String> {
    let row = told.row;
    // Nobody acknowledged anything: the capture may have one direction only.
    row.goodput_bps?;
    let times = held(row).map(|time| time.unwrap_or(0) as u64);
    let whole: u64 = times.iter().sum();
    let round = row.handshake_rtt_ns.max(row.min_rtt_ns).unwrap_or(0);
    if row.data_segs_out < SEGMENTS_MIN || (whole as i64) < ROUNDS_MIN * round || whole == 0 {
        return None;
    }
    let seen = match (row.cong_signals, row.segs_retrans) {
        (0, 0) => "no loss seen".to_owned(),
        (0, _) => "no cut of the window".to_owned(),
        (cuts, _) => format!("{} of the window", counted(cuts as u64, "cut")),
    };
    let names = [
        "the sender, which had nothing in flight",
        "the receiver's closed window",
        "the receiver's full window",
        "losses that were being repaired",
        "waiting for a timer after a loss",
        LINK,
        PATH,
        "what the capture does not show",
    ];
    let mut named: Vec<(u64, &str)> = times.into_iter().zip(names).collect();
    named.retain(|(time, _)| *time as f64 >= SHARE_MIN * whole as f64);
    named.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    // How the window moved is told once, with the link or with the path.
    let first = named.iter().position(|(_, words)| [LINK, PATH].contains(words));
    let said: Vec<String> = named
        .iter()
        .enumerate()
        .map(|(at, (time, words))| {
            let seen = if first == Some(at) { format!(", {seen}") } else { String::new() };
            format!("{words}{seen} ({} of the time)", share(*time, whole))
        })
        .collect();
    let unscaled = match row.max_rwin_rcvd {
        None => "; the scale of the receiver's window is not known, so a full window is not seen",
        Some(_) => "",
    };
    (!said.is_empty()).then(|| format!("It was limited by {}{unscaled}.", said.join(", then by ")))
}

fn sentence(told: &Told<'_>, finding: &Finding) -> Option<String> {
    let Finding { kind, spell, value, beside, by } = *finding;
    let span = format!("{} to {}", at(spell.begin), at(spell.end));
    let shown = if spell.frame > 0 { format!(" (packet {})", spell.frame) } else { String::new() };
    Some(match kind {
        Kind::Refused => format!("{} refused the connection at {}{shown}.", told.destination, at(spell.end)),
        Kind::Unanswered => {
            format!("Nobody answered {} from {span}{shown}.", counted(spell.count, "SYN"))
        }
        // The set-up has its own sentence.
        Kind::SlowSetup => return None,
        Kind::Reset => format!("The connection was reset at {}{shown}.", at(spell.end)),
        Kind::BlackHole => format!(
            "A segment of {} never passed: it was sent {} times from {span}{shown}. Segments of up to {} passed: a black hole \
             of the path's MTU.",
            bytes_of(value),
            number(spell.count),
            bytes_of(beside)
        ),
        Kind::Stuck => {
            format!("From {span} the sender sent the same segment {} times without an ACK{shown}.", number(spell.count))
        }
        Kind::Outage => format!(
            "From {span} nothing {} (an outage); then {} came again{shown}.",
            if told.place == "sender" { "came back" } else { "arrived" },
            counted(spell.count, "segment")
        ),
        Kind::Silence => format!(
            "From {span} nothing arrived{shown}: an outage, or a pause of the sender. The capture does not show which."
        ),
        // The total has a sentence that names the longest.
        Kind::Closed => return None,
        Kind::Timer => format!(
            "After a loss the sender waited for its timer, {} in all; the longest wait was from {span}{shown}.",
            time(value)
        ),
        Kind::Lossy => return None,
        Kind::DelayedAck => format!(
            "{} times a small segment waited for the ACK of the one before it, {} in the median and {} in all: Nagle's algorithm \
             and a delayed ACK (first at {}{shown}).",
            number(spell.count),
            time(value),
            time(beside),
            at(spell.begin)
        ),
        Kind::FixedWindow => format!(
            "In {} rounds {} were in flight at most, though the receiver offered {}, and the round-trip time stayed constant: a \
             fixed window at the sender, such as its send buffer.",
            number(spell.count),
            bytes(value),
            bytes(beside)
        ),
        Kind::Queue => format!(
            "The round-trip time grew from {} to {}: a queue of up to {}.",
            time(value),
            time(beside),
            time(beside - value)
        ),
        Kind::Marks => format!(
            "{} of {} were by ECN: the receiver reported marks in {}.",
            number(spell.count),
            format_args!("{} of the window", counted(beside, "cut")),
            counted(value, "segment")
        ),
        Kind::Icmp(trouble) => {
            let by = by.map_or("A router".to_owned(), |by| by.to_string());
            let times = if spell.count > 1 { format!(", {} times", number(spell.count)) } else { String::new() };
            format!("{by} reported by ICMP at {}{shown}{times}: {}.", at(spell.begin), reported(trouble, value))
        }
        Kind::AccEcn => format!("Both ends use AccECN: the receiver counted {}.", counted(value, "marked packet")),
    })
}

/// What an ICMP error means; `mtu` is what it names.
fn reported(trouble: Trouble, mtu: u64) -> String {
    match trouble {
        Trouble::TooBig if mtu > 0 => {
            return format!("a packet was larger than the MTU of the next link, {}", bytes_of(mtu));
        }
        Trouble::TooBig => "a packet was larger than the MTU of the next link",
        Trouble::NoPort => "nobody listens at that port",
        Trouble::Prohibited => "a filter forbids the packet",
        Trouble::Unreachable => "the destination cannot be reached",
        Trouble::Expired => "the packet's time to live ran out",
        Trouble::BadHeader => "the header of the packet is wrong",
    }
    .to_owned()
}

/// Bytes of a segment, in full.
fn bytes_of(bytes: u64) -> String {
    format!("{} bytes", number(bytes))
}

fn closed(told: &Told<'_>) -> Option<String> {
    let row = told.row;
    let longest = told.findings.iter().find(|finding| finding.kind == Kind::Closed).map_or(String::new(), |finding| {
        let spell = finding.spell;
        format!(" It stayed closed longest from {} to {} (packet {}).", at(spell.begin), at(spell.end), spell.frame)
    });
    let times =
        if row.zero_rwin_rcvd < 2 { String::new() } else { format!(" ({} times)", number(row.zero_rwin_rcvd as u64)) };
    let probes = match row.window_probes {
        0 => String::new(),
        count => format!("; the sender sent {}", counted(count as u64, "probe")),
    };
    let all = row.rwin_closed_ns as u64;
    (all > 0).then(|| format!("The receiver's window was closed for {} in all{times}{probes}.{longest}", time(all)))
}

fn retransmissions(row: &ConnectionRow) -> Option<String> {
    let named: Vec<String> = [
        (row.segs_retrans_fast, "fast"),
        (row.segs_retrans_timeout, "after a timeout"),
        (row.segs_retrans_probe, "as a tail probe"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, words)| format!("{} {words}", number(count as u64)))
    .collect();
    let kinds = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    let needless = match row.segs_retrans_needless {
        0 => String::new(),
        count => format!("; {} of them needless, as D-SACK shows", number(count as u64)),
    };
    let all = row.segs_retrans as u64;
    (all > 0).then(|| format!("{}{kinds}{needless}.", counted(all, "retransmission")))
}

/// How long the sender took to answer its peer, if that happened several times.
fn turns(told: &Told<'_>) -> Option<String> {
    let row = told.row;
    let count = row.turns.filter(|&turns| turns >= TURNS_MIN)?;
    let (median, p90, longest) = (row.turn_median_ns?, row.turn_p90_ns?, row.turn_max_ns?);
    let does = if row.opener == Some(true) { "sent its next request" } else { "answered" };
    let trip = row.to_sender_ns.filter(|&trip| trip > 0).map_or(String::new(), |trip| {
        format!("; {} of each is the round trip to it", time((trip as u64).min(median as u64)))
    });
    Some(format!(
        "{} {does} {} times: after {} in the median, {} at the 90th percentile, {} at worst (at {}, packet {}){trip}.",
        told.source,
        number(count as u64),
        time(median as u64),
        time(p90 as u64),
        time(longest as u64),
        at(row.turn_max_at_ns.unwrap_or(0) as u64),
        row.turn_max_frame.unwrap_or(0),
    ))
}
