//! One stream: xoshiro256++ and the distributions drawn from it.
//!
//! xoshiro256++ 1.0: Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47 (2021), as
//! implemented by the `rand_xoshiro` crate; period 2^256 - 1, 32 bytes of state, about 1 ns a draw.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::{name, normal};

/// A named random stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    core: Xoshiro256PlusPlus,
}

impl Stream {
    /// The stream called (`seed`, `path`, `purpose`), e.g. `(1, "traffic.upload/client[2]", "gaps")`. Its state is
    /// FNV-1a of the three, spread by SplitMix64; the recipe is at the top of `name.rs`.
    pub fn new(seed: u64, path: &str, purpose: &str) -> Stream {
        Stream::from_state(name::state(seed, path, purpose))
    }

    fn from_state(words: [u64; 4]) -> Stream {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Stream { core: Xoshiro256PlusPlus::from_seed(bytes) }
    }

    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.core.next_u64()
    }

    /// Uniform on [0, 1): the 53 highest bits, so every value is a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on (0, 1): (k + 1/2) / 2^52. Never 0 nor 1, symmetric about 1/2; the smallest is 2^-53.
    #[inline]
    pub fn uniform_open(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Uniform on 0..n without bias; 0 when `n` is 0. Takes one draw, rarely more.
    ///
    /// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019), algorithm 5.
    #[inline]
    pub fn index(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform on `low..=high` without bias; `low` when `high` is below it.
    #[inline]
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        match high.saturating_sub(low).checked_add(1) {
            Some(n) => low + self.index(n),
            None => self.next_u64(),
        }
    }

    /// True with probability `p`: never for p <= 0, always for p >= 1.
    #[inline]
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Exponential with this mean: -mean ln u. At most 36.7 means, since u >= 2^-53.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.uniform_open())
    }

    /// Pareto (type I): P(X > x) = (scale / x)^shape for x >= scale; scale u^(-1/shape).
    #[inline]
    pub fn pareto(&mut self, shape: f64, scale: f64) -> f64 {
        scale * libm::pow(self.uniform_open(), -1.0 / shape)
    }

    /// Log-normal: exp(mu + sigma N(0,1)); median exp(mu), mean exp(mu + sigma^2 / 2).
    #[inline]
    pub fn lognormal(&mut self, mu: f64, sigma: f64) -> f64 {
        libm::exp(mu + sigma * self.normal())
    }

    /// Standard normal, by the quantile function.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        normal::quantile(self.uniform_open())
    }
}

#[cfg(test)]
mod tests;
