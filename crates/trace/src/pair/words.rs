//! Sentences about two captures of one transfer.

use super::offset::Offset;
use super::outcome::{FAR, NEAR, OneWay, Pair};
use crate::amount::{counted, number, time};

pub fn lines(pair: &Pair) -> Vec<String> {
    let mut lines = vec![places(pair)];
    lines.extend(clocks(pair));
    lines.extend(delays(pair));
    lines.extend(ends(pair));
    lines.extend(retransmitted(pair));
    if pair.acks_lost > 0 {
        lines.push(format!("The path lost {}.", counted(pair.acks_lost, "ACK")));
    }
    for at in [NEAR, FAR].into_iter().filter(|at| pair.missed[*at] > 0) {
        let segments = counted(pair.missed[at], "segment");
        lines.push(format!(
            "{} lacks {segments} that passed it: the capture dropped them, not the network.",
            pair.names[at]
        ));
    }
    lines
}

fn places(pair: &Pair) -> String {
    let [near, far] = &pair.names;
    format!(
        "{near} and {far} hold the same transfer, with {} in both. {near} is nearer to the sender of most data.",
        counted(pair.matched, "packet")
    )
}

fn clocks(pair: &Pair) -> Vec<String> {
    let [near, far] = &pair.names;
    let Some(offset) = &pair.offset else {
        return vec![format!(
            "How far the clocks of {near} and {far} are apart is not known: that takes packets of both directions, and clocks that \
             nobody set meanwhile."
        )];
    };
    let way = if offset.offset < 0.0 { "behind" } else { "ahead of" };
    let (apart, error) = near_to(offset.offset.abs(), offset.error);
    let drifts = drifts(offset);
    vec![
        format!("The clock of {far} is {apart} {way} that of {near} (± {error}){drifts}."),
        format!(
            "This takes the least delays there and back to be equal. Whatever they are, the offset is wrong by {} at most, half the \
             least round trip.",
            time(offset.bound as u64)
        ),
    ]
}

fn drifts(offset: &Offset) -> String {
    let [drift, error] = [offset.drift, offset.drift_error].map(|share| share * 1e6);
    let places = decimals(error);
    if drift.abs() <= error {
        return format!(", and no drift is seen (± {error:.places$} ppm)");
    }
    let way = if drift < 0.0 { "loses" } else { "gains" };
    format!(", and {way} {:.places$} ppm (± {error:.places$})", drift.abs())
}

/// Decimals that show the first digit of an error.
fn decimals(error: f64) -> usize {
    let (mut places, mut step) = (0, 1.0);
    while step > error && places < 6 {
        (places, step) = (places + 1, step / 10.0);
    }
    places
}

/// A time and its error in the same unit, with as many decimals as the error allows.
fn near_to(value: f64, error: f64) -> (String, String) {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let (factor, unit) = units.into_iter().find(|(factor, _)| value >= *factor).unwrap_or((1.0, "ns"));
    let places = decimals((error / factor).max(1.0 / factor)).max(usize::from(factor < 1e9)).min(9);
    let write = |value: f64| format!("{:.places$} {unit}", value / factor);
    (write(value), time(error.max(1.0) as u64))
}

fn delays(pair: &Pair) -> Vec<String> {
    let [Some(there), Some(back)] = &pair.delays else { return Vec::new() };
    let took = |delay: &OneWay| {
        let [least, median, p95] = [delay.least, delay.median, delay.p95].map(|ns| time(ns.max(0) as u64));
        format!("{least} at least, {median} in the median, 95 % within {p95}")
    };
    vec![
        format!("A packet took {} there, and {} back.", took(there), took(back)),
        format!("Of the least delays only the sum is certain, {}.", time((there.least + back.least).max(0) as u64)),
    ]
}

/// Who waited for whom at the ends.
fn ends(pair: &Pair) -> Option<String> {
    let took = |[median, p95]: [u64; 2]| format!("{} in the median, 95 % within {}", time(median), time(p95));
    let receiver = took(pair.receiver?);
    let sender = pair
        .sender
        .map_or(String::new(), |sender| format!(" The sender took {} from an ACK to new data.", took(sender)));
    Some(format!("The receiver of most data took {receiver} from data to its ACK.{sender}"))
}

fn retransmitted(pair: &Pair) -> Option<String> {
    if pair.retransmitted == 0 {
        return None;
    }
    let were = |count: u64| if count == 1 { "was" } else { "were" };
    let fates = [
        (pair.lost_between, "lost between the captures"),
        (pair.lost_before, "lost before the first capture"),
        (pair.lost_behind, "lost behind the second capture"),
    ];
    let mut parts: Vec<String> = fates
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, how)| format!("{} {} {how}", number(count), were(count)))
        .collect();
    if pair.needless > 0 {
        parts.push(format!("{} had arrived, so the retransmission was needless", number(pair.needless)));
    }
    let all = counted(pair.retransmitted, "retransmitted segment");
    Some(format!("Of {all} {}.", parts.join("; ")))
}
