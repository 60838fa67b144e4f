//! Sentences about a connection, computed from its rows: every front end shows these.

use elephan_record::ConnectionRow;

use crate::amount::{at, bytes, counted, number, rate, time};
use crate::cause::{SEGMENTS_MIN, limited};
use crate::finding::{Finding, Kind, TURNS_MIN};
use crate::packet::Trouble;

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
    let (ends, others): (Vec<&Finding>, Vec<&Finding>) = own.findings.iter().partition(|one| one.kind.ends());
    let mut lines: Vec<String> = ends.into_iter().filter_map(|finding| sentence(own, finding)).collect();
    lines.extend([setup(own), place(own), limited(own.row, own.findings, own.destination)].into_iter().flatten());
    lines.extend(others.into_iter().filter_map(|finding| sentence(own, finding)));
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

fn setup(told: &Told<'_>) -> Option<String> {
    let row = told.row;
    let took = row.setup_ns?;
    let again = match row.syn_retrans {
        0 => String::new(),
        count => format!(", with {}", counted(count as u64, "retransmitted SYN")),
    };
    let is_most = told.findings.iter().any(|one| one.kind == Kind::SlowSetup)
        && 2 * took >= row.data_end_ns.unwrap_or(row.end_ns) - row.start_ns;
    let most = if is_most { ": most of its time" } else { "" };
    Some(format!("Its set-up took {}{again}{most}.", time(took as u64)))
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

fn sentence(told: &Told<'_>, finding: &Finding) -> Option<String> {
    let Finding { kind, spell, value, beside, by, .. } = *finding;
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
        Kind::DelayedAck | Kind::FixedWindow | Kind::FullLink | Kind::Pacing | Kind::Queue => steady(finding),
        // The sentence about what limited the connection says it all.
        Kind::Unasked | Kind::SlowStart | Kind::LossCuts => return None,
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

/// The sentence about what the rounds of a connection have in common.
fn steady(finding: &Finding) -> String {
    let Finding { kind, spell, value, beside, .. } = *finding;
    let shown = if spell.frame > 0 { format!(" (packet {})", spell.frame) } else { String::new() };
    match kind {
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
        Kind::FullLink => format!(
            "In {} rounds its segments left evenly at {}, while a queue made the round-trip time longer, by {} in the median: a full \
             link.",
            number(spell.count),
            rate(value),
            time(beside)
        ),
        Kind::Pacing => format!(
            "In {} rounds its segments left evenly at {}, whatever came back, and no queue stood: pacing, or the rate at which the \
             application writes.",
            number(spell.count),
            rate(value)
        ),
        _ => format!(
            "The round-trip time grew from {} to {}: a queue of up to {}.",
            time(value),
            time(beside),
            time(beside - value)
        ),
    }
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

/// How long the sender took to answer its peer: the first byte of its answers, or the next request of who asks several times.
fn turns(told: &Told<'_>) -> Option<String> {
    let row = told.row;
    let asks = row.opener == Some(true);
    let count = row.turns.filter(|&turns| turns >= if asks { TURNS_MIN as i64 } else { 1 })?;
    let (median, p90, longest) = (row.turn_median_ns?, row.turn_p90_ns?, row.turn_max_ns?);
    let each = if count > 1 { "each" } else { "it" };
    let trip = row.to_sender_ns.filter(|&trip| trip > 0).map_or(String::new(), |trip| {
        format!("; {} of {each} is the round trip to it", time((trip as u64).min(median as u64)))
    });
    let place =
        format!("at {}, packet {}", at(row.turn_max_at_ns.unwrap_or(0) as u64), row.turn_max_frame.unwrap_or(0));
    let (source, median, longest) = (told.source, time(median as u64), time(longest as u64));
    if count == 1 {
        return Some(format!("{source} answered once: the first byte came after {longest} ({place}){trip}."));
    }
    let does = if asks { "sent its next request" } else { "answered" };
    let most =
        if count < TURNS_MIN as i64 { String::new() } else { format!(", {} at the 90th percentile", time(p90 as u64)) };
    Some(format!(
        "{source} {does} {} times: after {median} in the median{most}, {longest} at worst ({place}){trip}.",
        number(count as u64),
    ))
}
