//! What a kind of traffic has to say, and how its generator answers.

use elephan_host::copy::Program;
use elephan_units::{Bytes, InvalidParameter, Span, dispatch};

use crate::{Carrier, Kind, Offer, Setting, Shared, Source};

dispatch! {
    /// A generator: a pure state machine.
    pub trait Generate for Source by each_source {
        /// Returns the next offer, or `None` when there is no more.
        fn next_offer(&mut self) -> Option<Offer>;
    }
}

dispatch! {
    /// The specification of a kind: the keys that a scenario may give.
    pub trait Spec for Kind by each_kind {
        type Source: Generate;

        /// Returns what is wrong, if anything is.
        fn validate(&self) -> Result<(), InvalidParameter>;

        /// Returns how its offers are carried.
        fn carrier(&self) -> Carrier;

        /// Returns the key, of those that are given, that says how often it offers something.
        fn pace(&self) -> Option<&'static str>;

        /// Returns whether its generators draw anything at random for this number of source-destination pairs.
        fn is_random(&self, pairs: u64) -> bool;

        /// Returns a generator in its initial state. The specification must be valid.
        fn source(&self, setting: &Setting<'_>) -> Self::Source;

        /// Returns which of its flows have one generator together, if any have.
        fn shared(&self) -> Option<Shared> {
            None
        }

        /// Returns what is wrong with it for this number of source-destination pairs, if anything is.
        fn check_pairs(&self, pairs: u64) -> Result<(), InvalidParameter> {
            Ok(())
        }

        /// Writes out defaults that depend on other keys, for the resolved scenario.
        fn resolve(&mut self) {}

        /// Returns the payload bytes of a flow that ends by itself, if they are known beforehand.
        fn flow_bytes(&self) -> Option<u64> {
            None
        }

        /// Returns the mean payload rate in bit/s that one generator offers, if it has one.
        fn offered_bps(&self) -> Option<f64> {
            None
        }

        /// Returns the mean number of flows that come within `span` and the key that says so, if flows come one by one.
        fn expected_flows(&self, span: Span) -> Option<(f64, &'static str)> {
            None
        }

        /// Returns the program that copies from disk to disk, if one does.
        fn copy(&self) -> Option<Program> {
            None
        }

        /// Returns the parallel program whose ranks its hosts are, if they are.
        fn parallel(&self) -> Option<crate::Parallel> {
            None
        }

        /// Returns the programs that send, if it is programs that do.
        fn programs(&self) -> Option<&crate::Program> {
            None
        }

        /// Returns the socket buffers that its connections ask for at both ends.
        fn window(&self) -> Option<Bytes> {
            None
        }
    }
}
