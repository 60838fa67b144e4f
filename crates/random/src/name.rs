//! From the name of a stream to the state of its generator.
//!
//! 1. h = FNV-1a (64 bits) of the text `elephan/stream/1`, then `seed`, the length of `path`, `path`, the length of
//!    `purpose` and `purpose`; integers are 8 bytes, little endian. The lengths separate the fields: ("ab", "c") and
//!    ("a", "bc") are two names. Changing this recipe means a new text in front.
//! 2. The four state words are the first four outputs of SplitMix64 started at h, which is how the authors of
//!    xoshiro256++ advise to seed it.
//!
//! Sources: Fowler, Noll, Vo, Eastlake, draft-eastlake-fnv; Steele, Lea, Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014 (as splitmix64.c of Vigna); Blackman, Vigna, "Scrambled linear pseudorandom number
//! generators", 2021. Two of n names share an h with probability n^2 / 2^65, 3e-8 for a million streams.

/// Domain and version of the recipe.
const DOMAIN: &str = "elephan/stream/1";
/// draft-eastlake-fnv, 64-bit parameters.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |h, &b| (h ^ u64::from(b)).wrapping_mul(FNV_PRIME))
}

/// One step of splitmix64.c (Vigna, public domain).
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The state words of the stream with this name.
pub(crate) fn state(seed: u64, path: &str, purpose: &str) -> [u64; 4] {
    let mut h = fnv1a(FNV_OFFSET, DOMAIN.as_bytes());
    h = fnv1a(h, &seed.to_le_bytes());
    for field in [path, purpose] {
        h = fnv1a(h, &(field.len() as u64).to_le_bytes());
        h = fnv1a(h, field.as_bytes());
    }
    [(); 4].map(|()| splitmix64(&mut h))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// draft-eastlake-fnv, appendix C test vectors for 64-bit FNV-1a.
    #[test]
    fn fnv_vectors() {
        assert_eq!(fnv1a(FNV_OFFSET, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(FNV_OFFSET, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(FNV_OFFSET, b"foobar"), 0x8594_4171_f739_67e8);
    }

    /// Outputs of splitmix64.c from state 1234567.
    #[test]
    fn splitmix_vectors() {
        let mut s = 1_234_567;
        let first = [(); 5].map(|()| splitmix64(&mut s));
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn fields_are_separated() {
        let names = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("c", "ab")];
        for (i, a) in names.iter().enumerate() {
            for b in &names[i + 1..] {
                assert_ne!(state(1, a.0, a.1), state(1, b.0, b.1), "{a:?} {b:?}");
            }
        }
        assert_ne!(state(1, "a", "b"), state(2, "a", "b"));
    }
    /// Worked out by an independent implementation of the recipe in Python.
    #[test]
    fn states_never_change() {
        assert_eq!(
            state(1, "traffic.upload/client[2]", "gaps"),
            [0xcc26_9ac5_13e7_d8a7, 0x5f3d_ea47_0f68_9173, 0x40be_5a6a_683d_b1e8, 0x028d_0888_0d9e_a1e4]
        );
        assert_eq!(
            state(0, "", ""),
            [0x71f6_bf57_436c_59ab, 0x4bbd_906d_8b38_a820, 0x1738_17e4_e69b_be0b, 0x3282_a491_5a28_2811]
        );
    }
}
