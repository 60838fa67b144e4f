//! What the time of a direction went to: its owners, and the findings that explain parts of their time.
//!
//! A finding takes the time that it explains from the owners that `explains` names, each instant once. What costs most is
//! named first.

use elephan_record::ConnectionRow;

use crate::amount::{counted, number, rate, share};
use crate::division::{Owner, Shares};
use crate::finding::{Finding, Kind};
use crate::half::Half;

/// A share of the time that is named, at least.
const SHARE_MIN: f64 = 0.05;
/// A rate means something from so many segments and round trips on.
pub const SEGMENTS_MIN: i64 = 10;
const ROUNDS_MIN: i64 = 2;

/// Whose time a finding of this kind explains, in the order in which it takes it.
fn explains(kind: Kind) -> &'static [Owner] {
    match kind {
        Kind::BlackHole | Kind::Stuck | Kind::Outage => {
            &[Owner::Timer, Owner::Recovery, Owner::Unknown, Owner::Path, Owner::Rate]
        }
        Kind::Silence => &[Owner::Unknown],
        Kind::Closed => &[Owner::Closed],
        Kind::Timer => &[Owner::Timer],
        Kind::Lossy => &[Owner::Recovery],
        Kind::DelayedAck => &[Owner::Application, Owner::Path],
        Kind::Unasked => &[Owner::Application],
        Kind::FullLink => &[Owner::Rate, Owner::Path, Owner::Recovery],
        Kind::Pacing => &[Owner::Path, Owner::Recovery],
        Kind::FixedWindow | Kind::SlowStart | Kind::LossCuts | Kind::Marks => &[Owner::Path],
        Kind::Queue => &[Owner::Rate],
        Kind::Refused | Kind::Unanswered | Kind::SlowSetup | Kind::Reset | Kind::AccEcn | Kind::Icmp(_) => &[],
    }
}

/// Whether only time between the begin and the end of such a finding is its own.
fn is_bounded(kind: Kind) -> bool {
    matches!(kind, Kind::BlackHole | Kind::Stuck | Kind::Outage | Kind::SlowStart | Kind::LossCuts | Kind::Marks)
}

/// Gives each finding the time that it explains. Those come first that ended the connection, then those that explain most.
pub fn price(found: &mut [Finding], half: &Half, shares: &Shares) {
    let mut left = Owner::ALL.map(|owner| shares.of(owner));
    for one in found.iter_mut() {
        let mut most = match one.kind {
            Kind::DelayedAck => one.beside,
            Kind::Unasked => one.value,
            _ => u64::MAX,
        };
        for &owner in explains(one.kind) {
            let there = match is_bounded(one.kind) {
                true => half.division.stretches.within(owner, one.spell.begin, one.spell.end),
                false => u64::MAX,
            };
            let taken = there.min(left[owner as usize]).min(most);
            left[owner as usize] -= taken;
            most -= taken;
            one.taken[owner as usize] += taken;
        }
    }
    found.sort_by_key(|one| std::cmp::Reverse((one.kind.ends(), one.cost_ns())));
}

fn held(row: &ConnectionRow) -> [u64; 8] {
    [
        row.held_closed_ns,
        row.held_window_ns,
        row.held_application_ns,
        row.held_recovery_ns,
        row.held_timer_ns,
        row.held_rate_ns,
        row.held_path_ns,
        row.held_unknown_ns,
    ]
    .map(|time| time.unwrap_or(0) as u64)
}

fn owned(owner: Owner) -> &'static str {
    match owner {
        Owner::Closed => "the receiver's closed window",
        Owner::Window => "the receiver's full window",
        Owner::Application => "the sender, which had nothing to send",
        Owner::Recovery => "losses that were being repaired",
        Owner::Timer => "waiting for a timer after a loss",
        Owner::Rate => "the rate of a full link, where a queue stood",
        Owner::Path => "the path or the congestion window",
        Owner::Unknown => "what the capture does not show",
    }
}

/// What a finding is called that explains time; one that only tells more about an owner has the name of that owner.
fn named(one: &Finding, destination: &str) -> Option<String> {
    let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{} times", number(count)) };
    Some(match one.kind {
        Kind::Closed | Kind::Timer | Kind::Lossy | Kind::Queue | Kind::Silence => return None,
        Kind::BlackHole => "a black hole of the path's MTU".to_owned(),
        Kind::Stuck => "a segment that nobody acknowledged".to_owned(),
        Kind::Outage => "an outage".to_owned(),
        Kind::DelayedAck => "small segments that waited for delayed ACKs".to_owned(),
        Kind::Unasked => format!("waiting for {destination} to send its part"),
        Kind::FixedWindow => "a fixed window of the sender, such as its send buffer".to_owned(),
        Kind::FullLink => owned(Owner::Rate).to_owned(),
        Kind::Pacing => format!("a steady rate that the sender kept, {}", rate(one.value)),
        Kind::SlowStart => "slow start: the congestion window was still growing".to_owned(),
        Kind::LossCuts => format!("the congestion window, which losses cut {}", times(one.value)),
        Kind::Marks => format!("the congestion window, which marks (ECN) cut {}", times(one.spell.count)),
        Kind::Refused | Kind::Unanswered | Kind::SlowSetup | Kind::Reset | Kind::AccEcn | Kind::Icmp(_) => return None,
    })
}

/// The sentence about what limited a direction, what cost most first.
pub fn limited(row: &ConnectionRow, findings: &[Finding], destination: &str) -> Option<String> {
    // Nobody acknowledged anything: the capture may have one direction only.
    row.goodput_bps?;
    let mut left = held(row);
    let whole: u64 = left.iter().sum();
    let round = row.handshake_rtt_ns.max(row.min_rtt_ns).unwrap_or(0);
    if row.data_segs_out < SEGMENTS_MIN || (whole as i64) < ROUNDS_MIN * round || whole == 0 {
        return None;
    }
    let is_large = |time: u64| time as f64 >= SHARE_MIN * whole as f64;
    let mut all: Vec<(u64, String)> = Vec::new();
    // How the window moved is told once: with what cut it, else with the link or with the path.
    let mut is_told =
        findings.iter().any(|one| matches!(one.kind, Kind::LossCuts | Kind::Marks) && is_large(one.cost_ns()));
    let mut told = |name: &str| {
        let seen = if std::mem::replace(&mut is_told, true) { String::new() } else { format!(", {}", seen(row)) };
        format!("{name}{seen}")
    };
    for one in findings {
        if let Some(name) = named(one, destination) {
            left.iter_mut().zip(one.taken).for_each(|(left, taken)| *left -= taken);
            let name = if one.kind == Kind::FullLink { told(&name) } else { name };
            all.push((one.cost_ns(), name));
        }
    }
    let mut owners = Owner::ALL;
    owners.sort_by_key(|&owner| std::cmp::Reverse(left[owner as usize]));
    for owner in owners {
        let name = owned(owner);
        let name = if matches!(owner, Owner::Rate | Owner::Path) { told(name) } else { name.to_owned() };
        all.push((left[owner as usize], name));
    }
    all.retain(|(time, _)| is_large(*time));
    all.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let said: Vec<String> =
        all.iter().map(|(time, name)| format!("{name} ({} of the time)", share(*time, whole))).collect();
    let unscaled = match row.max_rwin_rcvd {
        None => "; the scale of the receiver's window is not known, so a full window is not seen",
        Some(_) => "",
    };
    (!said.is_empty()).then(|| format!("It was limited by {}{unscaled}.", said.join(", then by ")))
}

fn seen(row: &ConnectionRow) -> String {
    match (row.cong_signals, row.segs_retrans) {
        (0, 0) => "no loss seen".to_owned(),
        (0, _) => "no cut of the window".to_owned(),
        (cuts, _) => format!("{} of the window", counted(cuts as u64, "cut")),
    }
}
