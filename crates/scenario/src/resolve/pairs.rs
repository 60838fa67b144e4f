//! Which senders send to which receivers.

use elephan_random::Stream;
use elephan_units::stop;

use crate::written::FlowPairing;

/// Pairs of (sender, receiver).
pub(super) type Pairs = Vec<(u32, u32)>;

/// Shuffles without a fixed point are found by trying; each try succeeds with probability about 1/e.
const TRIES: usize = 10_000;

/// Pairs of (sender, receiver), in the order of the senders. `most` bounds their number.
pub(super) fn pairs(
    pairing: FlowPairing,
    from: &[u32],
    to: &[u32],
    stream: &mut Stream,
    most: usize,
) -> Result<Pairs, String> {
    let (n, m) = (from.len(), to.len());
    let pairs: Pairs = match pairing {
        FlowPairing::All => {
            if n.saturating_mul(m) > most {
                return Err(format!("{n} x {m} pairs are more than {most} flows"));
            }
            from.iter().flat_map(|&a| to.iter().filter(move |&&b| a != b).map(move |&b| (a, b))).collect()
        }
        FlowPairing::Random => from.iter().map(|&a| random(a, to, stream)).collect::<Result<_, _>>()?,
        FlowPairing::Permutation => permutation(from, to, stream)?,
        FlowPairing::Auto if n == m => from.iter().copied().zip(to.iter().copied()).collect(),
        FlowPairing::Auto if m == 1 => from.iter().map(|&a| (a, to[0])).collect(),
        FlowPairing::Auto if n == 1 => to.iter().map(|&b| (from[0], b)).collect(),
        FlowPairing::Auto => {
            return Err(format!("{n} senders and {m} receivers: say pairing = \"all\", \"random\" or \"permutation\""));
        }
    };
    if pairs.iter().any(|(a, b)| a == b) {
        return Err(
            "a host would send to itself; pairing \"all\", \"permutation\" and \"random\" leave that out".to_owned()
        );
    }
    if pairs.is_empty() {
        return Err("no sender has a receiver other than itself".to_owned());
    }
    Ok(pairs)
}

/// Drawn again while it is the sender itself.
fn random(a: u32, to: &[u32], stream: &mut Stream) -> Result<(u32, u32), String> {
    if to.iter().all(|&b| b == a) {
        return Err("a sender has no receiver other than itself".to_owned());
    }
    loop {
        let b = to[stream.index(to.len() as u64) as usize];
        if b != a {
            return Ok((a, b));
        }
    }
}

fn permutation(from: &[u32], to: &[u32], stream: &mut Stream) -> Result<Pairs, String> {
    if from.len() != to.len() {
        let (n, m) = (from.len(), to.len());
        return Err(format!("a permutation needs as many receivers as senders, not {n} and {m}"));
    }
    let mut shuffled = to.to_vec();
    for _ in 0..TRIES {
        stop::look();
        // Fisher and Yates.
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, stream.index(i as u64 + 1) as usize);
        }
        if from.iter().zip(&shuffled).all(|(a, b)| a != b) {
            return Ok(from.iter().copied().zip(shuffled).collect());
        }
    }
    Err("no permutation was found in which nobody sends to itself".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairing: FlowPairing, from: &[u32], to: &[u32]) -> Result<Pairs, String> {
        pairs(pairing, from, to, &mut Stream::new(1, "traffic.x", "pairing"), 100)
    }

    #[test]
    fn auto() {
        assert_eq!(of(FlowPairing::Auto, &[0, 1], &[2, 3]).unwrap(), [(0, 2), (1, 3)]);
        assert_eq!(of(FlowPairing::Auto, &[0, 1], &[3]).unwrap(), [(0, 3), (1, 3)]);
        assert_eq!(of(FlowPairing::Auto, &[0], &[2, 3]).unwrap(), [(0, 2), (0, 3)]);
        assert!(of(FlowPairing::Auto, &[0, 1], &[2, 3, 4]).is_err());
        assert!(of(FlowPairing::Auto, &[0, 1], &[0, 1]).is_err());
    }

    #[test]
    fn all_but_oneself() {
        assert_eq!(
            of(FlowPairing::All, &[0, 1, 2], &[0, 1, 2]).unwrap(),
            [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
        );
        assert!(of(FlowPairing::All, &[0], &[0]).is_err());
        assert!(of(FlowPairing::All, &[0; 50], &[1; 50]).unwrap_err().contains("more than 100"));
    }

    #[test]
    fn a_permutation_is_one_without_fixed_points() {
        let hosts: Vec<u32> = (0..128).collect();
        let pairs = of(FlowPairing::Permutation, &hosts, &hosts).unwrap();
        let mut seen: Vec<u32> = pairs.iter().map(|p| p.1).collect();
        seen.sort();
        assert_eq!(seen, hosts);
        assert!(pairs.iter().all(|(a, b)| a != b));
        assert!(of(FlowPairing::Permutation, &[7], &[7]).is_err());
    }

    #[test]
    fn random_receivers_are_others() {
        let hosts: Vec<u32> = (0..10).collect();
        assert!(of(FlowPairing::Random, &hosts, &hosts).unwrap().iter().all(|(a, b)| a != b));
        assert!(of(FlowPairing::Random, &[7], &[7]).is_err());
    }
}
