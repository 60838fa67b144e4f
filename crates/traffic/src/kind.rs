//! The registry of kinds, and the words in which a kind answers.

use elephan_random::Stream;
use elephan_units::{Rate, Span};
use schemars::{Schema, SchemaGenerator};

use crate::{Interval, WhenFull};

/// What a generator asks for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Since the previous offer (of a user: since its end); the first: since the start.
    pub gap: Span,
    /// Payload bytes, at least 1; `u64::MAX` is an endless stream.
    pub bytes: u64,
    /// Which of the entry's pairs, or of the flows of a sender (0 unless the carrier is [`Carrier::Transfers`] or the
    /// generator [`Shared::Sender`]'s).
    pub pair: u64,
}

/// How offers are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// TCP, one generator per connection: each offer lengthens the connection's stream by its bytes. When the
    /// generator ends, the connection is closed after its data.
    Stream,
    /// TCP, one generator per connection: each offer is a message with boundaries, through a
    /// [`MessageQueue`](crate::MessageQueue).
    Messages(WhenFull),
    /// TCP, one generator per traffic entry: each offer is a new connection of its `pair` that carries its bytes and
    /// closes.
    Transfers,
    /// TCP, one generator per user, so many of them: each offer is a new connection, on the pair `user % pairs`, that carries
    /// its bytes and closes; its gap counts from the end of the user's transfer before.
    Users(u32),
    /// TCP, several connections of one transfer from disk to disk: a [`Program`](elephan_host::copy::Program) says when and how much, not a generator.
    Copy,
    /// TCP, a connection for each pair of ranks of a parallel program that talk: [`Parallel`](crate::Parallel) says when and how much, not a generator.
    Ranks,
    /// TCP and UDP, as programs outside the simulation open connections and send datagrams.
    Program,
    /// UDP, one generator per flow: each offer is one datagram of so many payload bytes, at most these.
    Datagrams(u64),
    /// Ethernet frames without IP, one generator per flow: each offer is one frame that carries so many bytes, at most these.
    Frames(u64),
}

/// IP and UDP headers.
pub(crate) const UDP_HEADERS_BYTES: u64 = 28;

impl Carrier {
    /// Whether it is connections that carry.
    pub fn is_tcp(self) -> bool {
        self.protocol().is_none()
    }

    /// What carries it instead of connections.
    pub fn protocol(self) -> Option<&'static str> {
        match self {
            Carrier::Datagrams(_) => Some("UDP"),
            Carrier::Frames(_) => Some("raw Ethernet"),
            Carrier::Stream
            | Carrier::Messages(_)
            | Carrier::Transfers
            | Carrier::Users(_)
            | Carrier::Copy
            | Carrier::Ranks
            | Carrier::Program => None,
        }
    }

    /// Whether its connections come one by one during the run, so that their number is not the scenario's.
    pub fn arrives(self) -> bool {
        matches!(self, Carrier::Transfers | Carrier::Users(_) | Carrier::Program)
    }

    /// Bytes of headers before the payload of a datagram, or before what a frame carries; `None` where the connections have headers
    /// of their own.
    pub fn headers_bytes(self) -> Option<u64> {
        match self {
            Carrier::Datagrams(_) => Some(UDP_HEADERS_BYTES),
            Carrier::Frames(_) => Some(0),
            Carrier::Stream
            | Carrier::Messages(_)
            | Carrier::Transfers
            | Carrier::Users(_)
            | Carrier::Copy
            | Carrier::Ranks
            | Carrier::Program => None,
        }
    }

    /// IP bytes of its largest packet, or what its largest frame carries; `None` where the connections cut the packets.
    pub fn packet_bytes(self) -> Option<u64> {
        match self {
            Carrier::Datagrams(payload) | Carrier::Frames(payload) => Some(payload + self.headers_bytes()?),
            Carrier::Stream
            | Carrier::Messages(_)
            | Carrier::Transfers
            | Carrier::Users(_)
            | Carrier::Copy
            | Carrier::Ranks
            | Carrier::Program => None,
        }
    }
}

/// Flows that have one generator together, which says when; how large each message is, the flows' own generators say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// The flows of a sender: each offer is for one of them.
    Sender,
    /// The flows to a receiver: each offer is for all of them, a round. Gaps of a `closed` loop count from the instant at
    /// which the round before is complete.
    Receiver { closed: bool },
}

/// What of its offers a generator is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    Whole,
    /// Gaps and pairs, of flows that have one generator together.
    Clock,
    /// Sizes, of one of those flows.
    Sizes,
}

/// What a generator is told about its place.
pub struct Setting<'a> {
    pub part: Part,
    /// The named stream for a purpose ("sizes", "gaps", "pairs").
    pub stream: &'a dyn Fn(&str) -> Stream,
    /// Source-destination pairs of the traffic entry, or flows that have the generator together.
    pub pairs: u64,
    /// Bytes on the wire of a datagram with this payload: all headers, framing, preamble and gap.
    pub wire_bytes: &'a dyn Fn(u64) -> u64,
    /// Bytes on the wire of a full packet of a connection.
    pub full_wire_bytes: u64,
    /// Rate of the first link.
    pub rate: Rate,
    /// Length of the run: a search for the next offer that has passed it may end.
    pub lasts: Span,
}

impl Setting<'_> {
    /// The length of a slot: given, or the wire time of so many bytes.
    pub(crate) fn slot(&self, given: Option<Span>, wire_bytes: u64) -> Interval {
        match given {
            Some(slot) => Interval::ratio(u128::from(slot.0), 1),
            None => Interval::of_bytes(wire_bytes, self.rate),
        }
    }
}

/// A kind whose key `file` names a file: its text takes the file's place, under another key.
#[derive(Clone, Copy)]
pub struct TextOfFile {
    pub key: &'static str,
    /// What is wrong with the text, after the path of the file: the line and a message.
    pub check: fn(&str) -> Result<(), String>,
}

/// A row of the list of kinds.
#[derive(Clone, Copy)]
pub struct KindInfo {
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// The schema of the kind's own keys.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The text of its file, if it may name one.
    pub texts: &'static [TextOfFile],
}

impl std::fmt::Debug for KindInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KindInfo").field("name", &self.name).field("about", &self.about).finish_non_exhaustive()
    }
}

/// The name of a kind: that of its module with hyphens.
pub(crate) const fn hyphened<const N: usize>(module: &str) -> [u8; N] {
    let (from, mut name, mut i) = (module.as_bytes(), [0; N], 0);
    while i < N {
        name[i] = if from[i] == b'_' { b'-' } else { from[i] };
        i += 1;
    }
    name
}

/// The name of the kind of a module, as a text.
macro_rules! name {
    ($module:ident) => {{
        const MODULE: &str = stringify!($module);
        const NAME: [u8; MODULE.len()] = $crate::kind::hyphened(MODULE);
        match std::str::from_utf8(&NAME) {
            Ok(name) => name,
            Err(_) => MODULE,
        }
    }};
}
pub(crate) use name;

/// One line `module::Type, "what it is";` per kind; the kind is called like its module, `_` written `-`. A kind that may name a file adds
/// `, text "key" check;` ([`TextOfFile`]). The macros `each_kind!` and
/// `each_source!` match the enums of all specifications and of all generators, for [`elephan_units::dispatch!`].
macro_rules! registry {
    (($d:tt) $($module:ident :: $kind:ident, $about:literal $(, text $key:literal $check:path)?;)+) => {
        $(mod $module; pub use $module::$kind;)+

        /// What a traffic entry sends: a table with the key `kind` and the kind's own keys.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum Kind {
            $(#[doc = $about] $kind($kind),)+
        }

        /// The generator of any kind.
        #[derive(Clone, Debug)]
        pub enum Source {
            $($kind(<$kind as Spec>::Source),)+
        }

        macro_rules! each_source {
            ($d source:expr, $d held:ident => $d body:expr) => {
                match $d source { $(Source::$kind($d held) => $d body,)+ }
            };
        }

        macro_rules! each_kind {
            ($d spec:expr, $d held:ident => $d Made:ident: $d body:expr) => {
                match $d spec { $(Kind::$kind($d held) => $d Made::$kind($d body),)+ }
            };
            ($d spec:expr, $d held:ident => $d body:expr) => {
                match $d spec { $(Kind::$kind($d held) => $d body,)+ }
            };
        }

        impl Kind {
            /// Every kind, in the order of the registry.
            pub const ALL: &'static [KindInfo] = &[
                $(KindInfo {
                    name: $crate::kind::name!($module),
                    about: $about,
                    schema: <$kind as schemars::JsonSchema>::json_schema,
                    texts: &[$($crate::TextOfFile { key: $key, check: $check })?],
                },)+
            ];

            pub fn name(&self) -> &'static str {
                match self { $(Kind::$kind(_) => $crate::kind::name!($module),)+ }
            }
        }
    };
}
pub(crate) use registry;

#[cfg(test)]
mod tests;
