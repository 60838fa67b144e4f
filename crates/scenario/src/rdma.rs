//! What carries a stream in place of TCP.

use std::sync::Arc;

use elephan_cc::{Spec, Transport};
use elephan_roce::wire;
use elephan_units::{InvalidParameter, Span};

/// A transport of RDMA with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Rdma {
    Roce(Arc<elephan_roce::Options>),
    Uec(Arc<elephan_uec::Options>),
}

impl Rdma {
    /// Returns which transport it is.
    pub fn transport(&self) -> Transport {
        match self {
            Rdma::Roce(_) => Transport::Roce,
            Rdma::Uec(_) => Transport::Uec,
        }
    }

    /// Returns what cannot be, if anything.
    pub fn problem(&self) -> Option<InvalidParameter> {
        match self {
            Rdma::Roce(options) => options.problem(),
            Rdma::Uec(options) => options.problem(),
        }
    }

    /// Returns the payload of a full packet.
    pub fn mtu_bytes(&self) -> u64 {
        match self {
            Rdma::Roce(options) => options.mtu.0,
            Rdma::Uec(options) => options.mtu.0,
        }
    }

    /// Returns the bytes of IP packets beside their payload, under this congestion control.
    pub fn headers_bytes(&self, congestion_control: &Spec) -> u32 {
        match self {
            Rdma::Roce(_) if congestion_control.needs().has(elephan_cc::Needs::TELEMETRY) => {
                wire::HEADERS_BYTES + wire::TELEMETRY_BYTES
            }
            Rdma::Roce(_) => wire::HEADERS_BYTES,
            Rdma::Uec(options) => options.headers.0 as u32,
        }
    }

    /// Returns the bytes of the IP packet that answers one, under this congestion control.
    pub fn answer_bytes(&self, congestion_control: &Spec) -> u32 {
        match self {
            Rdma::Roce(_) => self.headers_bytes(congestion_control) + wire::AETH_BYTES,
            Rdma::Uec(options) => options.control.0 as u32,
        }
    }

    /// Returns the bytes of the largest IP packet under any congestion control.
    pub fn largest_bytes(&self) -> u64 {
        self.mtu_bytes()
            + match self {
                Rdma::Roce(_) => u64::from(wire::HEADERS_BYTES + wire::TELEMETRY_BYTES),
                Rdma::Uec(options) => options.headers.0,
            }
    }

    /// Returns after how long a packet without an answer is repeated, where the scenario says it.
    pub fn timeout(&self) -> Option<Span> {
        match self {
            Rdma::Roce(options) => Some(options.timeout),
            Rdma::Uec(options) => options.timeout,
        }
    }

    /// Returns whether data is ECN-capable.
    pub fn ecn(&self) -> bool {
        match self {
            Rdma::Roce(options) => options.ecn,
            Rdma::Uec(options) => options.ecn,
        }
    }
}
