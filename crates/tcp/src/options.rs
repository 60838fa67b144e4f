//! The options of a TCP stack: one macro yields the resolved [`Options`], the [`Overrides`] that a scenario writes
//! (each optional, documented, with a JSON Schema), the value of every stack, and where each value comes from.
//!
//! The law of this layer: an option is written once, in the table of [`crate::stacks`], with its documentation and
//! with a value and a source for every stack; a value without a source says "assumed".

use elephan_cc::{Controller, Spec, slow_start};
use elephan_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::stacks::{Options, Overrides, TABLE, rows};

/// How the retransmission timeout follows from round-trip samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRule {
    /// RFC 6298: max(rto_min, SRTT + max(G, 4 RTTVAR)).
    Rfc6298,
    /// Linux: SRTT + max(rto_min, 4 mdev_max): the minimum is on the variance term.
    Linux,
    /// FreeBSD: max(rto_min, SRTT + max(G, 4 RTTVAR) + 200 ms): the minimum holds 200 ms of slop.
    Freebsd,
}

/// How many round-trip samples the estimator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttSampling {
    /// Every ACK of data sent once; under `rfc6298` with the gains of RFC 7323 appendix G.
    EveryAck,
    /// One segment in each window (RFC 6298 section 3, stacks without timestamps).
    OncePerWindow,
}

/// What a sender does about losses that it detects by duplicate acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryRule {
    /// RFC 5681 section 3.2: the first ACK of new data ends fast recovery.
    Reno,
    /// RFC 6582: fast recovery lasts until everything sent before it is acknowledged.
    Newreno,
    /// RFC 6675, when both ends agreed on SACK; NewReno otherwise.
    Sack,
}

/// How a sender with SACK finds out what is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossDetection {
    /// RFC 6675 section 4: enough SACKed above.
    Dupack,
    /// RFC 8985: sent before something that was delivered, by more than a reordering window.
    Rack,
    /// Linux 2.4: too far below the highest SACKed segment.
    Fack,
}

/// What shows that a reduction was needless, which is then taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    Off,
    /// The echoed timestamp is older than the first retransmission (Eifel detection, RFC 3522).
    Timestamps,
    /// All retransmissions were reported as duplicates (RFC 3708).
    Dsack,
    Both,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 3168 with the receiver of RFC 8257: the echo follows the marks segment by segment.
    Dctcp,
    /// RFC 9768 (AccECN): the receiver counts marked packets and bytes; RFC 3168 where the peer has no more.
    Accurate,
}

/// When the receiver acknowledges segments in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayedAckRule {
    /// RFC 5681 section 4.2: every n-th segment, at the latest after the timeout.
    Fixed,
    /// Linux: quick ACKs at the start, after idle times and after duplicates; then more than n - 1 full segments or a
    /// timeout that follows the gaps between segments.
    Linux,
}

/// What a segment that the host's own transmit queue refused means to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LocalDrop {
    /// A congestion event, at most one per window of data (Linux `tcp_enter_cwr`).
    Cwr,
    /// Nothing: the segment goes out later.
    Ignore,
    /// Slow start ends; the window stays.
    SlowStartExit,
}

/// How the window comes down in SACK recovery, and at an ECN-Echo or a local drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// RFC 6675: to ssthresh at once.
    Immediate,
    /// Linux 2.4: a segment less for every second ACK, and never more than one above what is in flight.
    RateHalving,
    /// Proportional rate reduction, RFC 9937.
    PrrRfc9937,
    /// Proportional rate reduction, RFC 6937 with the slow start reduction bound.
    PrrRfc6937,
}

/// Which partial ACKs restart the retransmission timer in NewReno recovery (RFC 6582 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NewrenoTimer {
    /// The first only: many losses in one window end in a timeout and slow start.
    Impatient,
    /// All: one retransmission a round trip, however long that takes.
    SlowButSteady,
}

/// Where an option's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An override gave it.
    Given,
    /// The stack's default, with its source.
    Default(&'static str),
    /// The stack's default without a source.
    Assumed(&'static str),
}

/// One option of a resolved stack, for manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    pub name: &'static str,
    pub value: String,
    pub origin: Origin,
}

/// An option's row in the stack table, for documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: &'static str,
    pub doc: String,
    /// Value and source for each stack, in the order of [`stacks`].
    pub cells: Vec<(String, &'static str)>,
}

/// A value that a stack cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    pub option: &'static str,
    pub reason: String,
}

impl std::fmt::Display for OptionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.option, self.reason)
    }
}

impl std::error::Error for OptionError {}

/// The text of a value, as a scenario would write it without quotes around a word.
pub(crate) fn text<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(serde_json::Value::Object(table)) => model_text(&table),
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}

/// A congestion control or a slow start: its name alone with defaults, otherwise with its preset or what differs.
fn model_text(table: &serde_json::Map<String, serde_json::Value>) -> String {
    let kind = table.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default();
    let with = |more: serde_json::Value| {
        let more = more.as_object().cloned().unwrap_or_default();
        let law = Spec::with(kind, &more).ok().and_then(|spec| serde_json::to_value(spec).ok());
        law.or_else(|| slow_start::Spec::with(kind, &more).ok().and_then(|spec| serde_json::to_value(spec).ok()))
    };
    let same = |other: &Option<serde_json::Value>| other.as_ref().and_then(|o| o.as_object()) == Some(table);
    let defaults = with(serde_json::json!({}));
    if same(&defaults) {
        return kind.to_owned();
    }
    let presets = elephan_cc::describe(kind).map_or(&[][..], |law| law.presets);
    let fields = match presets.iter().find(|preset| same(&with(serde_json::json!({ "preset": preset })))) {
        Some(preset) => format!("preset = {preset:?}"),
        None => {
            let differs =
                table.iter().filter(|(key, value)| defaults.as_ref().is_some_and(|d| d[key.as_str()] != **value));
            differs.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
        }
    };
    format!("{{ kind = {kind:?}, {fields} }}")
}

/// Declares the options: documentation, name, type, and for each stack a value with its source. Stacks that share both
/// share a line: `linux | freebsd = value, "source";`.
macro_rules! options {
    (
        stacks { $($stack:ident $spelling:literal $summary:literal),+ $(,)? }
        $( $(#[doc = $doc:literal])+ $name:ident: $type:ty { $($($cell:ident)|+ = $value:expr, $source:literal;)+ } )+
    ) => {
        /// The options of one end, resolved.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct Options {
            $( $(#[doc = $doc])+ pub $name: $type, )+
            /// The stack that the defaults come from.
            #[serde(skip)]
            pub stack: &'static str,
            #[serde(skip)]
            given: Vec<&'static str>,
        }

        /// Options of a stack that a scenario overrides; what is absent stays as the stack has it.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Overrides {
            $( $(#[doc = $doc])+ #[serde(default, skip_serializing_if = "Option::is_none")] pub $name: Option<$type>, )+
        }

        /// The stacks with a line on each.
        pub const TABLE: &[(&str, &str)] = &[$(($spelling, $summary)),+];

        /// A stack by its number. A table without a value for one of them does not compile.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Stack { $($stack),+ }

        fn numbered(name: &str) -> Option<Stack> {
            match name {
                $( $spelling => Some(Stack::$stack), )+
                _ => None,
            }
        }

        pub(crate) fn by_name(name: &str) -> Option<Options> {
            numbered(name).map(build)
        }

        fn build(stack: Stack) -> Options {
            Options {
                $( $name: match stack { $( $(Stack::$cell)|+ => $value, )+ }, )+
                stack: TABLE[stack as usize].0,
                given: Vec::new(),
            }
        }

        fn source(stack: &str, option: &str) -> &'static str {
            match (option, numbered(stack)) {
                $( $( (stringify!($name), $(Some(Stack::$cell))|+) => $source, )+ )+
                _ => "assumed",
            }
        }

        impl Options {
            /// Takes over what `overrides` gives, then checks the whole.
            pub fn apply(&mut self, overrides: &Overrides) -> Result<(), OptionError> {
                $( if let Some(value) = &overrides.$name {
                    self.$name = value.clone();
                    if !self.given.contains(&stringify!($name)) {
                        self.given.push(stringify!($name));
                    }
                } )+
                self.validate()
            }

            /// Every option spelled out, as a scenario would write it.
            pub fn to_overrides(&self) -> Overrides {
                Overrides { $( $name: Some(self.$name.clone()), )+ }
            }

            /// Every option with its value and where that comes from, in the order of the table.
            pub fn provenance(&self) -> Vec<Provenance> {
                vec![ $( Provenance {
                    name: stringify!($name),
                    value: text(&self.$name),
                    origin: self.origin(stringify!($name)),
                }, )+ ]
            }

            fn origin(&self, option: &'static str) -> Origin {
                let source = source(self.stack, option);
                if self.given.contains(&option) {
                    Origin::Given
                } else if source.starts_with("assumed") {
                    Origin::Assumed(source)
                } else {
                    Origin::Default(source)
                }
            }
        }

        /// The whole stack table, for documentation.
        pub fn rows() -> Vec<Row> {
            let stacks = [$( build(Stack::$stack) ),+];
            vec![ $( Row {
                name: stringify!($name),
                doc: [$($doc),+].map(str::trim).join(" "),
                cells: stacks.iter().map(|o| (text(&o.$name), source(o.stack, stringify!($name)))).collect(),
            }, )+ ]
        }
    };
}
pub(crate) use options;

/// The stack called `name`.
pub fn stack(name: &str) -> Option<Options> {
    crate::stacks::by_name(name)
}

/// Names of the stacks with a line on each.
pub fn stacks() -> &'static [(&'static str, &'static str)] {
    TABLE
}

/// The values of all stacks as a Markdown table.
pub fn table() -> String {
    let names: Vec<&str> = TABLE.iter().map(|(name, _)| *name).collect();
    let mut out = format!("| option | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for row in rows() {
        let cells: Vec<String> = row.cells.iter().map(|(value, _)| format!("`{value}`")).collect();
        out += &format!("| `{}` | {} |\n", row.name, cells.join(" | "));
    }
    out
}

/// What every option means and where its values come from, as a Markdown list; stacks that share a value and its
/// source share a line.
pub fn sources() -> String {
    let mut out = String::new();
    for row in rows() {
        out += &format!("- **`{}`**: {}\n", row.name, row.doc);
        for (i, cell) in row.cells.iter().enumerate().filter(|(i, cell)| !row.cells[..*i].contains(cell)) {
            let stacks: Vec<&str> = (i..).zip(&row.cells[i..]).filter(|c| c.1 == cell).map(|c| TABLE[c.0].0).collect();
            out += &format!("  - {}: `{}` ({})\n", stacks.join(", "), cell.0, cell.1);
        }
    }
    out
}

/// Bytes of the timestamps option in every segment (RFC 7323 appendix A).
pub(crate) const TIMESTAMPS_BYTES: u64 = 12;
/// Smallest MSS: below it a segment could not carry one byte beside 40 bytes of options (Linux: 88).
pub(crate) const MSS_MIN: u64 = 88;
/// Largest window that RFC 7323 section 2.3 can express: 65535 << 14.
pub const WINDOW_MAX: u64 = 65_535 << 14;

/// Largest send buffer: a thousand times the largest window.
const SEND_BUFFER_MAX: u64 = 1 << 40;

impl Options {
    /// Payload of a full segment: MSS less the options that every segment carries (RFC 6691).
    pub fn segment_bytes(&self) -> u64 {
        self.mss.0 - if self.timestamps { TIMESTAMPS_BYTES } else { 0 }
    }

    /// The initial window in bytes.
    pub fn initial_window_bytes(&self) -> u64 {
        u64::from(self.initial_window) * self.segment_bytes()
    }

    /// A controller for a connection with these options. The endpoint sets segment size, initial window and initial
    /// ssthresh once the handshake has settled them.
    pub fn controller(&self) -> Controller {
        self.controller_of(&self.congestion_control)
    }

    /// The same with another law.
    pub fn controller_of(&self, law: &elephan_cc::Spec) -> Controller {
        let limit = (self.abc_limit > 0).then_some(f64::from(self.abc_limit));
        let (mss, window) = (self.segment_bytes(), self.initial_window_bytes());
        let controller = Controller::with_slow_start(law, &self.slow_start, limit, mss, window);
        if self.abc { controller } else { controller.counting_acks() }
    }

    /// Refuses values that no stack could work with.
    pub fn validate(&self) -> Result<(), OptionError> {
        let fail = |option, reason: String| Err(OptionError { option, reason });
        let mss = self.mss;
        if !(MSS_MIN..=65_495).contains(&mss.0) {
            return fail("mss", format!("must be from {MSS_MIN} B to 65495 B, not {} B", mss.0));
        }
        let windows = [("receive_window", self.receive_window), ("send_buffer", self.send_buffer)];
        for (name, Bytes(bytes)) in windows {
            if bytes < mss.0 {
                return fail(name, format!("must hold one MSS ({} B), not {bytes} B", mss.0));
            }
        }
        let largest = if self.window_scaling { WINDOW_MAX } else { 65_535 };
        if self.receive_window.0 > largest {
            let why = if self.window_scaling { "the largest window" } else { "the largest without window_scaling" };
            return fail("receive_window", format!("{} B is above {largest} B, {why}", self.receive_window.0));
        }
        if self.send_buffer.0 > SEND_BUFFER_MAX {
            return fail("send_buffer", format!("must be at most {SEND_BUFFER_MAX} B, not {} B", self.send_buffer.0));
        }
        if self.ssthresh_initial.0 < mss.0 {
            return fail("ssthresh_initial", format!("must be one MSS ({} B) at least", mss.0));
        }
        self.validate_counts()?;
        self.validate_spans()
    }

    fn validate_counts(&self) -> Result<(), OptionError> {
        let counts = [
            ("initial_window", self.initial_window, 1, 10_000),
            ("delayed_ack_segments", self.delayed_ack_segments, 1, 1000),
            ("dup_ack_threshold", self.dup_ack_threshold, 1, 1000),
            ("abc_limit", self.abc_limit, 0, 1_000_000),
        ];
        for (option, value, low, high) in counts {
            if !(low..=high).contains(&value) {
                return Err(OptionError { option, reason: format!("must be from {low} to {high}, not {value}") });
            }
        }
        Ok(())
    }

    fn validate_spans(&self) -> Result<(), OptionError> {
        let least = Span(1000);
        let most = Span::from_s(86_400);
        let spans = [
            ("rto_initial", self.rto_initial),
            ("rto_min", self.rto_min),
            ("rto_max", self.rto_max),
            ("timestamp_granularity", self.timestamp_granularity),
            ("delayed_ack_timeout", self.delayed_ack_timeout),
            ("time_wait", self.time_wait),
        ];
        for (option, value) in spans {
            if value < least || value > most {
                return Err(OptionError { option, reason: format!("must be from {least} to {most}, not {value}") });
            }
        }
        for (option, value) in [("clock_granularity", self.clock_granularity), ("max_ack_delay", self.max_ack_delay)] {
            if value > most {
                return Err(OptionError { option, reason: format!("must be at most {most}, not {value}") });
            }
        }
        for (option, value) in [("rto_min", self.rto_min), ("rto_initial", self.rto_initial)] {
            if value > self.rto_max {
                return Err(OptionError { option, reason: format!("{value} is above rto_max, {}", self.rto_max) });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stack_is_valid_and_every_cell_has_a_source() {
        for (name, summary) in stacks() {
            assert!(!summary.is_empty());
            assert_eq!(stack(name).unwrap().validate(), Ok(()));
        }
        for row in rows() {
            assert_eq!(row.cells.len(), stacks().len());
            for (value, source) in row.cells {
                let named = ["RFC", "Windows", "Linux", "FreeBSD"].iter().any(|name| source.contains(name));
                assert!(named || source.starts_with("assumed: "), "{}: {source}", row.name);
                assert!(!value.is_empty() && !row.doc.is_empty());
            }
        }
    }

    /// The stack of the first study: 64 KB windows, two duplicate ACKs, no RFC 1323 options.
    #[test]
    fn windows_xp() {
        let o = stack("winxp").unwrap();
        assert_eq!((o.mss.0, o.initial_window, o.ssthresh_initial.0, o.dup_ack_threshold), (1460, 2, 65_536, 2));
        assert_eq!((o.sack, o.timestamps, o.window_scaling, o.nagle), (true, false, false, false));
        assert_eq!((o.receive_window.0, o.receive_window.0 / o.mss.0, o.send_buffer.0), (64_240, 44, 65_536));
        assert_eq!((o.delayed_ack_segments, o.delayed_ack_timeout), (2, Span::from_ms(200)));
        assert_eq!((o.rto_initial, o.rto_min), (Span::from_s(3), Span::from_ms(300)));
    }

    /// Names as users write them, and the defaults that tell the stacks apart: Linux's TCP_DELACK_MIN, TCP_RTO_MIN,
    /// TCP_INIT_CWND, FreeBSD's 30 + 200 ms, Windows' MinRto.
    #[test]
    fn the_stacks_of_today_and_linux_2_4() {
        let names: Vec<&str> = stacks().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["rfc", "winxp", "linux-2.4", "linux", "windows", "freebsd"]);
        let of = |name: &str| stack(name).unwrap();
        let timers = |o: Options| (o.stack, o.rto_min.0 / 1_000_000_000, o.delayed_ack_timeout.0 / 1_000_000_000);
        assert_eq!(timers(of("linux-2.4")), ("linux-2.4", 200, 40));
        assert_eq!(timers(of("linux")), ("linux", 200, 40));
        assert_eq!(timers(of("windows")), ("windows", 300, 40));
        assert_eq!(timers(of("freebsd")), ("freebsd", 230, 40));
        let windows = |o: Options| (o.initial_window, o.congestion_control.kind(), o.reduction);
        assert_eq!(windows(of("linux-2.4")), (2, "reno", Reduction::RateHalving));
        assert_eq!(windows(of("linux")), (10, "cubic", Reduction::PrrRfc9937));
        assert_eq!(windows(of("windows")), (10, "cubic", Reduction::PrrRfc6937));
        assert_eq!(windows(of("freebsd")), (10, "cubic", Reduction::PrrRfc6937));
        assert!(of("linux-2.4").cwnd_moderation && !of("linux").cwnd_moderation);
        assert_eq!(stack("linux_2_4"), None);
    }

    /// A law with a preset or with parameters of its own is shown as a scenario would write it.
    #[test]
    fn laws_are_shown_as_they_are_written() {
        let shown = |name: &str| {
            let rows = stack(name).unwrap().provenance();
            rows.iter().find(|row| row.name == "congestion_control").unwrap().value.clone()
        };
        assert_eq!(shown("rfc"), "reno");
        assert_eq!(shown("linux"), r#"{ kind = "cubic", preset = "linux" }"#);
        assert_eq!(shown("linux-2.4"), r#"{ kind = "reno", reduce_from = "cwnd" }"#);
        assert_eq!(shown("freebsd"), "cubic");
    }

    #[test]
    fn overrides_are_remembered_and_spelled_out() {
        let overrides: Overrides =
            serde_json::from_str(r#"{ "rto_min": "10 ms", "recovery": "newreno", "congestion_control": "cubic" }"#)
                .unwrap();
        let mut o = stack("winxp").unwrap();
        o.apply(&overrides).unwrap();
        assert_eq!((o.rto_min, o.recovery), (Span::from_ms(10), RecoveryRule::Newreno));
        let rows = o.provenance();
        let origin = |name: &str| rows.iter().find(|row| row.name == name).unwrap().origin;
        assert_eq!((origin("rto_min"), origin("congestion_control")), (Origin::Given, Origin::Given));
        assert_eq!(origin("initial_window"), Origin::Default("RFC 2581 section 3.1"));
        assert!(matches!(origin("rto_max"), Origin::Assumed(_)));
        // Spelled out and read again, nothing changes.
        let text = serde_json::to_string(&o.to_overrides()).unwrap();
        let mut again = stack("rfc").unwrap();
        again.apply(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(again.to_overrides(), o.to_overrides());
        let unknown = serde_json::from_str::<Overrides>(r#"{ "rto_minimum": "10 ms" }"#).unwrap_err().to_string();
        assert!(unknown.contains("rto_minimum"), "{unknown}");
    }

    #[test]
    fn the_schema_knows_units_and_meanings() {
        let schema = serde_json::to_value(schemars::schema_for!(Overrides)).unwrap();
        let text = schema.to_string();
        assert!(text.contains("x-quantity") && text.contains("Smallest retransmission timeout"));
        assert_eq!(schema["additionalProperties"], serde_json::Value::Bool(false));
    }

    #[test]
    fn abc_limits() {
        let window_after = |abc, limit, acked| {
            let mut o = stack("rfc").unwrap();
            o.apply(&Overrides { abc: Some(abc), abc_limit: Some(limit), ..Overrides::default() }).unwrap();
            let mut cc = o.controller();
            let before = cc.window();
            cc.on_ack(&elephan_cc::Ack { acked, ..elephan_cc::Ack::default() });
            (cc.window() - before) / 1448.0
        };
        // RFC 3465: cwnd += min(N, L * SMSS); without byte counting one segment an ACK.
        assert_eq!(window_after(true, 2, 5 * 1448), 2.0);
        assert_eq!(window_after(true, 0, 5 * 1448), 5.0);
        assert_eq!(window_after(false, 2, 5 * 1448), 1.0);
    }

    /// RFC 2581 equation 2 for the stacks of its time, RFC 3465 for those of today: an ACK of two segments at ten.
    #[test]
    fn congestion_avoidance_counts_acks_or_bytes() {
        for (name, growth) in [("winxp", 0.1), ("linux-2.4", 0.1), ("rfc", 0.2), ("freebsd", 0.2)] {
            let mut o = stack(name).unwrap();
            o.apply(&Overrides {
                congestion_control: Some(elephan_cc::Spec::named("reno").unwrap()),
                ..Overrides::default()
            })
            .unwrap();
            let mut cc = o.controller();
            let mss = cc.mss();
            assert!(cc.poke("cwnd", 10.0 * mss) && cc.poke("ssthresh", 10.0 * mss));
            cc.on_ack(&elephan_cc::Ack { acked: 2 * mss as u64, ..elephan_cc::Ack::default() });
            assert!((cc.window() / mss - 10.0 - growth).abs() < 1e-9, "{name}: {}", cc.window() / mss);
        }
    }
}
