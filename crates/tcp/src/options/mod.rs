//! The options of a TCP stack: one macro yields the resolved [`Options`], the [`Overrides`] that a scenario writes
//! (each optional, documented, with a JSON Schema), the value of every stack, and where each value comes from.
//!
//! The rule of this layer: an option is written once, in the table of [`mod@crate::stacks`], with its documentation and
//! with a value and a source for every stack; a value without a source says "assumed".

use elephan_cc::{Controller, Spec};
use elephan_units::{Bytes, InvalidParameter, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

mod declare;
mod interface;
mod steps;

pub use self::declare::{Origin, Provenance, Row};
pub(crate) use self::declare::{options, text};
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

/// Which reported duplicates count when a reduction is taken back by D-SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DsackRule {
    /// RFC 3708: those of segments that were retransmitted; each of them once for a retransmission.
    #[default]
    Rfc3708,
    /// Linux: those of retransmitted segments, and below the cumulative acknowledgement all; reports of more duplicates than
    /// there were retransmissions are ignored.
    Linux,
}

/// What RACK goes by where Linux differs from RFC 8985.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RackRule {
    /// RFC 8985: RACK.rtt is that of the segment sent last of those that an ACK delivers; every D-SACK widens the window.
    #[default]
    Rfc8985,
    /// Linux: RACK.rtt is that of the segment looked at last, in the order of sequence; a D-SACK widens the window once
    /// reordering was seen; a packet that was only late shows reordering though its segment was retransmitted.
    Linux,
}

/// Which steps an ACK takes in loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecoverySteps {
    /// Those of RFC 5681, RFC 6582, RFC 6675 and RFC 5682.
    #[default]
    Rfc,
    /// Linux: one machine with and without SACK, in whole segments. It needs `reduction = "prr-linux"`, `loss_detection = "rack"` and
    /// `recovery = "sack"`.
    Linux,
}

/// Which arriving segments are acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// RFC 9293 section 3.10.7.4 and RFC 7323 section 5.3.
    Rfc9293,
    /// Linux: what ends at or after the last acknowledgement sent is in the window, and a timestamp may be a tick too old.
    Linux,
}

/// What a segment takes of the receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveCharge {
    /// Its payload: the buffer is the window.
    Payload,
    /// Linux: the memory that it lies in, of which its payload is a part.
    Memory,
}

/// When a reader tells the sender of the room that it has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowUpdate {
    /// When the window grows by two segments or half the buffer (RFC 1122 section 4.2.3.3).
    TwoSegments,
    /// Linux: when the window is at least twice what it was, and that was at most half the buffer.
    Doubled,
}

/// How a closed window is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowProbe {
    /// RFC 9293 section 3.8.6.1: with one byte of new data.
    Byte,
    /// Linux: without data, with the number before the first that is not acknowledged.
    Old,
}

/// Which segments keep small ones back under Nagle's algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NagleRule {
    /// RFC 9293 section 3.7.4: any that is not acknowledged.
    Rfc9293,
    /// Minshall's modification: a small one that is not acknowledged.
    Minshall,
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

/// Which ends may use TCP Fast Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastOpen {
    Off,
    /// Those that connect.
    Client,
    /// Those that listen.
    Server,
    Both,
}

/// What AccECN goes by where Linux differs from RFC 9768.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccEcnRule {
    /// RFC 9768: new data alone is ECN-capable, marks are acknowledged, an ACK of many segments may hide the most that ACE allows.
    #[default]
    Rfc9768,
    /// Linux: every segment is ECN-capable, changes of the codepoint are acknowledged, options are of order 1; a newer timestamp is
    /// progress, and ACKs that cover many segments as a rule hide nothing.
    Linux,
}

/// Which segments of AccECN carry its option, once the peer has sent one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccEcnOptions {
    /// None.
    Off,
    /// The two after a change of the codepoint, and some in each round trip (Linux `tcp_ecn_option` 1, `tcp_ecn_option_beacon`).
    Minimum,
    /// All without data, and data if a counter has changed since the option before.
    Acks,
    /// All (Linux `tcp_ecn_option` 2).
    Full,
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
    /// A congestion event, at most one per window of data (Linux `tcp_enter_cwr`). Also `reno_like`.
    #[serde(alias = "reno_like")]
    #[schemars(extend("x-aliases" = ["reno_like"]))]
    Cwr,
    /// Nothing: the segment goes out later.
    Ignore,
    /// Slow start ends; the window stays. Also `slowstart_exit_only`.
    #[serde(alias = "slowstart_exit_only")]
    #[schemars(extend("x-aliases" = ["slowstart_exit_only"]))]
    SlowStartExit,
}

/// Whose segments are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Those of a controller that paces by itself. Also `law`, the name of earlier versions.
    #[serde(alias = "law")]
    #[schemars(extend("x-aliases" = ["law"]))]
    Controller,
    /// Everybody's: under a congestion control that has a window only, at a multiple of a window a round trip (Linux over `fq`).
    Window,
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
    /// Proportional rate reduction as Linux counts it: whole segments, in proportion to the window before.
    PrrLinux,
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

/// The stack of a scenario, comparison or path that names none: what most hosts run.
pub const DEFAULT_STACK: &str = "linux";

/// Returns the options of the stack called `name`, or `None` if there is no such stack.
///
/// ```
/// use elephan_tcp::{Overrides, stack};
///
/// let mut linux = stack("linux").unwrap();
/// assert_eq!((linux.initial_window, linux.congestion_control.name()), (10, "cubic"));
/// linux.apply(&Overrides { initial_window: Some(3), ..Overrides::default() }).unwrap();
/// assert_eq!(linux.initial_window_bytes(), 3 * 1448);
/// assert!(stack("plan9").is_none());
/// ```
pub fn stack(name: &str) -> Option<Options> {
    crate::stacks::by_name(name)
}

/// Returns the stack's own form of a congestion control that is written as a name, or as a table without `preset`. It is `None` if the stack
/// has no preset for it.
pub fn congestion_control_in(stack: &str, written: &Value) -> Option<Spec> {
    let mut table = match written {
        Value::String(kind) => Map::from_iter([("kind".to_owned(), Value::from(kind.as_str()))]),
        Value::Object(table) if !table.contains_key("preset") => table.clone(),
        _ => return None,
    };
    let preset = crate::stacks::preset_in(stack, table.get("kind")?.as_str()?)?;
    table.insert("preset".to_owned(), preset.into());
    serde_json::from_value(Value::Object(table)).ok()
}

/// Returns the names of the stacks, each with one line.
pub fn stacks() -> &'static [(&'static str, &'static str)] {
    TABLE
}

/// Returns the values of all stacks as a Markdown table.
pub fn table() -> String {
    let names: Vec<&str> = TABLE.iter().map(|(name, _)| *name).collect();
    let mut out = format!("| option | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for row in rows() {
        let cells: Vec<String> = row.cells.iter().map(|(value, _)| format!("`{value}`")).collect();
        out += &format!("| `{}` | {} |\n", row.name, cells.join(" | "));
    }
    out
}

/// Returns what every option means and where its values come from, as a Markdown list. Stacks that share a value and its source share a line.
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
/// The largest window that RFC 7323 section 2.3 can express: 65535 << 14.
pub const WINDOW_MAX: u64 = 65_535 << 14;

/// Largest send buffer: a thousand times the largest window.
const SEND_BUFFER_MAX: u64 = 1 << 40;

impl Options {
    /// Returns the payload of a full segment: MSS less the options that every segment carries (RFC 6691).
    pub fn segment_bytes(&self) -> u64 {
        self.mss.0 - if self.timestamps { TIMESTAMPS_BYTES } else { 0 }
    }

    /// Returns the initial window in bytes.
    pub fn initial_window_bytes(&self) -> u64 {
        u64::from(self.initial_window) * self.segment_bytes()
    }

    /// Returns a controller for a connection with these options. The endpoint sets segment size, initial window and initial ssthresh once the
    /// handshake has settled them.
    pub fn controller(&self) -> Controller {
        self.controller_of(&self.congestion_control)
    }

    /// Returns a controller as [`Options::controller`] does, but with another congestion control.
    pub fn controller_of(&self, congestion_control: &elephan_cc::Spec) -> Controller {
        let limit = (self.abc_limit > 0).then_some(f64::from(self.abc_limit));
        let (mss, window) = (self.segment_bytes(), self.initial_window_bytes());
        let controller = Controller::with_slow_start(congestion_control, &self.slow_start, limit, mss, window);
        let controller = match self.pacing {
            Pacing::Controller => controller,
            Pacing::Window => controller.pacing(self.pacing_ss_ratio as u16, self.pacing_ca_ratio as u16),
        };
        let controller = if self.abc { controller } else { controller.counting_acks() };
        if self.whole_segments { controller.counting_segments(congestion_control) } else { controller }
    }

    /// Refuses values that no stack could work with.
    pub fn validate(&self) -> Result<(), InvalidParameter> {
        let fail = |option: &'static str, reason: String| Err(InvalidParameter::new(option, reason));
        let mss = self.mss;
        if !(MSS_MIN..=65_495).contains(&mss.0) {
            return fail("mss", format!("must be from {MSS_MIN} B to 65495 B, not {} B", mss.0));
        }
        let windows = [
            ("receive_window", self.receive_window),
            ("receive_window_initial", self.receive_window_initial),
            ("send_buffer", self.send_buffer),
        ];
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
        let Bytes(buffer) = self.receive_buffer;
        if buffer > 0 && !(mss.0..=WINDOW_MAX).contains(&buffer) {
            let reason = format!("must be 0 or from one MSS ({} B) to {WINDOW_MAX} B, not {buffer} B", mss.0);
            return fail("receive_buffer", reason);
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

    fn validate_counts(&self) -> Result<(), InvalidParameter> {
        for (option, value, low, high) in self.counts() {
            if !(low..=high).contains(&value) {
                return Err(InvalidParameter::new(option, format!("must be from {low} to {high}, not {value}")));
            }
        }
        Ok(())
    }

    /// Options that count: name, value, least and greatest value.
    fn counts(&self) -> [(&'static str, u32, u32, u32); 16] {
        [
            ("initial_window", self.initial_window, 1, 10_000),
            ("delayed_ack_segments", self.delayed_ack_segments, 1, 1000),
            ("dup_ack_threshold", self.dup_ack_threshold, 1, 1000),
            ("max_reordering", self.max_reordering, 0, 1000),
            ("abc_limit", self.abc_limit, 0, 1_000_000),
            ("sack_compression_acks", self.sack_compression_acks, 0, 255),
            ("unpaced_segments", self.unpaced_segments, 0, 1_000_000),
            ("ecn_syn_retries", self.ecn_syn_retries, 0, 255),
            ("accecn_beacon", self.accecn_beacon, 0, 1000),
            ("syn_linear_timeouts", self.syn_linear_timeouts, 0, 255),
            ("syn_retries", self.syn_retries, 0, 255),
            ("syn_ack_retries", self.syn_ack_retries, 0, 255),
            ("data_retries", self.data_retries, 0, 255),
            ("orphan_retries", self.orphan_retries, 0, 255),
            ("pacing_ss_ratio", self.pacing_ss_ratio, 1, 1000),
            ("pacing_ca_ratio", self.pacing_ca_ratio, 1, 1000),
        ]
    }

    /// Returns the least and the greatest value of an option that counts; `None` for any other name.
    ///
    /// ```
    /// assert_eq!(elephan_tcp::options::stack("linux").unwrap().range("initial_window"), Some((1, 10_000)));
    /// ```
    pub fn range(&self, option: &str) -> Option<(u32, u32)> {
        self.counts().into_iter().find(|count| count.0 == option).map(|(_, _, low, high)| (low, high))
    }

    fn validate_spans(&self) -> Result<(), InvalidParameter> {
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
                return Err(InvalidParameter::new(option, format!("must be from {least} to {most}, not {value}")));
            }
        }
        let waits = [
            ("clock_granularity", self.clock_granularity),
            ("max_ack_delay", self.max_ack_delay),
            ("timer_slack", self.timer_slack),
            ("invalid_ratelimit", self.invalid_ratelimit),
            ("sack_compression_delay", self.sack_compression_delay),
            ("sack_compression_slack", self.sack_compression_slack),
            ("user_timeout", self.user_timeout),
            ("fin_timeout", self.fin_timeout),
            ("fast_open_blackhole_timeout", self.fast_open_blackhole_timeout),
        ];
        for (option, value) in waits {
            if value > most {
                return Err(InvalidParameter::new(option, format!("must be at most {most}, not {value}")));
            }
        }
        for (option, value) in [("rto_min", self.rto_min), ("rto_initial", self.rto_initial)] {
            if value > self.rto_max {
                return Err(InvalidParameter::new(option, format!("{value} is above rto_max, {}", self.rto_max)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
