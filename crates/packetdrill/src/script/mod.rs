//! The script: what packetdrill's language says, as values. [`parse::script`] reads it.
//!
//! The rule of this layer: a line that elephan understands but cannot carry out is not an error here. It becomes
//! [`Action::Unsupported`] or a value that [`crate::needs`] reports, so that the verdict is "cannot run".

mod call;
mod cursor;
mod packet;
mod parse;

pub use parse::script;

/// Microseconds of script time.
pub type Micros = i64;

/// A whole script.
#[derive(Clone, Debug)]
pub struct Script {
    pub options: Vec<OptionLine>,
    pub events: Vec<Event>,
}

/// A line such as `--tolerance_usecs=10000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionLine {
    pub line: u32,
    pub name: String,
    pub value: String,
}

/// What happens when.
#[derive(Clone, Debug)]
pub struct Event {
    pub line: u32,
    /// The text of the event's first line, for reports.
    pub text: String,
    pub at: At,
    pub action: Action,
}

/// When an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Since the script began.
    Absolute(Micros),
    /// Since the event before.
    Relative(Micros),
    /// At any time.
    Any,
    /// Between two times, both counted from the start or both from the event before.
    Range { relative: bool, from: Micros, to: Micros },
}

#[derive(Clone, Debug)]
pub enum Action {
    Packet(Box<Packet>),
    Call(Box<Call>),
    /// A command of the shell, between back quotes.
    Command(String),
    /// Python between `%{` and `}%`.
    Code(String),
    /// Something that elephan does not model, by name.
    Unsupported(String),
}

/// Bits of [`Packet::flags`]: those of the TCP header, AE above them.
pub mod flag {
    pub const FIN: u16 = 0x01;
    pub const SYN: u16 = 0x02;
    pub const RST: u16 = 0x04;
    pub const PSH: u16 = 0x08;
    pub const ACK: u16 = 0x10;
    pub const URG: u16 = 0x20;
    pub const ECE: u16 = 0x40;
    pub const CWR: u16 = 0x80;
    pub const AE: u16 = 0x100;
    /// The letters of the language.
    pub const LETTERS: [(char, u16); 9] =
        [('S', SYN), ('F', FIN), ('R', RST), ('P', PSH), ('.', ACK), ('U', URG), ('E', ECE), ('W', CWR), ('A', AE)];
}

/// A TCP packet of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The endpoint under test sends it.
    pub outbound: bool,
    /// The ECN codepoint of the IP header, if the script says one.
    pub ecn: Option<u8>,
    pub flags: u16,
    pub seq: u32,
    pub len: u32,
    pub ack: Option<u32>,
    pub window: Option<u16>,
    pub options: Options,
}

/// The TCP options of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Options {
    /// `<...>`: whatever they are.
    Any,
    These(Vec<TcpOption>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    Nop,
    End,
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    Sack(Vec<(u32, u32)>),
    Timestamps {
        val: u32,
        ecr: u32,
    },
    /// RFC 9768: which byte counters, in the order of the script: "e0b", "ceb", "e1b".
    AccEcn(Vec<(String, u32)>),
    /// RFC 7413: the cookie, empty in a request; whether the form is the experimental one.
    FastOpen {
        cookie: Vec<u8>,
        experimental: bool,
    },
    /// One that elephan does not model, by name.
    Other(String),
}

/// A system call with the result that the script expects.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    pub args: Vec<Value>,
    /// The call blocks until this time, counted as its start is.
    pub end: Option<Micros>,
    pub result: Value,
    /// The error that the script expects, such as `EAGAIN`.
    pub errno: Option<String>,
}

/// An expression of a system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `...`: whatever it is.
    Ellipsis,
    Number(i64),
    Word(String),
    Text(String),
    /// `A|B`.
    Or(Vec<Value>),
    Array(Vec<Value>),
    /// `{...}`: with names, as `{fd=4, events=POLLIN}`, or without.
    Fields(Vec<(Option<String>, Value)>),
    /// `htons(8080)`.
    Apply(String, Vec<Value>),
}

impl Value {
    /// The value of a field of `{...}`.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Fields(fields) => {
                fields.iter().find(|(key, _)| key.as_deref() == Some(name)).map(|(_, value)| value)
            }
            _ => None,
        }
    }
}

/// A place that the language does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub line: u32,
    pub message: String,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for SyntaxError {}
