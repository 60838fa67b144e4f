//! The nearest valid name, for "did you mean".

use std::collections::BTreeSet;

use elephan_units::stop;

use crate::elsewhere;

/// A beginning that says enough about a word: so many letters, and most of it.
const STEM_LEAST: usize = 5;
/// Letters of a word beyond which nobody has misspelt it: the distance of two words takes the product of their lengths.
const WORD_MAX: usize = 100;

/// The candidate nearest to `wrong` in edit distance (optimal string alignment, so that a swapped pair counts one),
/// if it is near enough to be what was meant: at most a third of the letters, and at least two, may differ. Else the only one that
/// begins as `wrong` does: `priorities` for `priority`.
pub(crate) fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(wrong);
    let length = wrong.chars().count();
    let allowed = (length / 3).max(2);
    let candidates: Vec<&str> = candidates.into_iter().inspect(|_| stop::look()).collect();
    let similar = |c: &str| length <= WORD_MAX && c.chars().count().abs_diff(length) <= allowed;
    let near = candidates
        .iter()
        .filter(|c| similar(c))
        .inspect(|_| stop::look())
        .map(|&c| (strsim::osa_distance(&folded, &fold(c)), c))
        .filter(|&(d, c)| d <= allowed && d < c.chars().count().max(2))
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c);
    near.or_else(|| {
        let common = |c: &str| folded.chars().zip(fold(c).chars()).take_while(|(a, b)| a == b).count();
        let mut alike = candidates.iter().filter(|c| common(c) >= STEM_LEAST && 4 * common(c) >= 3 * length);
        alike.next().copied().filter(|_| alike.next().is_none())
    })
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// `; did you mean "x"?`, or the list of what is valid.
pub(crate) fn hint(wrong: &str, candidates: &[&str]) -> String {
    let mut seen = BTreeSet::new();
    let different: Vec<&str> = candidates.iter().copied().filter(|one| seen.insert(*one)).collect();
    let meant = elsewhere::model(wrong).filter(|name| different.contains(name));
    match meant.or_else(|| nearest(wrong, different.iter().copied())) {
        Some(name) => format!("; did you mean \"{name}\"?"),
        None if different.is_empty() => String::new(),
        None if different.len() <= 24 => format!("; valid here: {}", different.join(", ")),
        None => format!("; valid here: {} and {} more", different[..24].join(", "), different.len() - 24),
    }
}

/// The same for a key, which other tools may call otherwise.
pub(crate) fn key_hint(wrong: &str, candidates: &[&str]) -> String {
    match elsewhere::key(wrong, candidates) {
        Some(name) => format!("; did you mean \"{name}\"?"),
        None => hint(wrong, candidates),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_papers_come_before_what_is_spelt_alike() {
        let congestion_controls = ["reno", "htcp", "highspeed", "scalable"];
        assert_eq!(hint("HSTCP", &congestion_controls), "; did you mean \"highspeed\"?");
        assert_eq!(hint("stcp", &congestion_controls), "; did you mean \"scalable\"?");
        assert_eq!(hint("htpc", &congestion_controls), "; did you mean \"htcp\"?");
        assert_eq!(hint("hstcp", &["htcp"]), "; did you mean \"htcp\"?");
    }

    #[test]
    fn what_was_meant() {
        assert_eq!(nearest("clinet", ["client", "server"]), Some("client"));
        assert_eq!(nearest("Gbs", ["Gbps", "Mbps"]), Some("Gbps"));
        assert_eq!(nearest("congestion-control", ["congestion_control", "name"]), Some("congestion_control"));
        assert_eq!(nearest("pause", ["none"]), None);
        assert_eq!(nearest("zz", ["ab"]), None);
        assert_eq!(nearest("priority", ["xoff", "priorities", "per"]), Some("priorities"));
        assert_eq!(nearest("delayed_ack", ["delayed_ack_timeout", "delayed_ack_segments"]), None);
    }
}
