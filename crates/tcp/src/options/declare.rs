//! How options are declared: the macro behind the table of [`mod@crate::stacks`], and what it says of each option.

use elephan_cc::{Spec, slow_start};
use serde::Serialize;

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
    /// Value and source for each stack, in the order of [`mod@crate::stacks`].
    pub cells: Vec<(String, &'static str)>,
}

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
        let congestion_control = Spec::with(kind, &more).ok().and_then(|spec| serde_json::to_value(spec).ok());
        congestion_control
            .or_else(|| slow_start::Spec::with(kind, &more).ok().and_then(|spec| serde_json::to_value(spec).ok()))
    };
    let same = |other: &Option<serde_json::Value>| other.as_ref().and_then(|o| o.as_object()) == Some(table);
    let defaults = with(serde_json::json!({}));
    if same(&defaults) {
        return kind.to_owned();
    }
    let presets = elephan_cc::describe(kind).map_or(&[][..], |congestion_control| congestion_control.presets);
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
            /// What is below the connection.
            #[serde(skip)]
            pub ip: $crate::segment::IpVersion,
            /// The MSS follows from the MTU of the host's interface and from the version of IP.
            #[serde(skip)]
            pub(crate) mss_follows: bool,
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
        #[allow(non_camel_case_types, reason = "the names are those that scenarios write")]
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
                ip: $crate::segment::IpVersion::V4,
                mss_follows: false,
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
            pub fn apply(&mut self, overrides: &Overrides) -> Result<(), elephan_units::InvalidParameter> {
                $( if let Some(value) = &overrides.$name {
                    self.$name = value.clone();
                    if !self.given.contains(&stringify!($name)) {
                        self.given.push(stringify!($name));
                    }
                } )+
                // Who sets a size does not let it grow (SO_RCVBUF).
                if overrides.receive_window.is_some() && overrides.receive_window_initial.is_none() {
                    self.receive_window_initial = self.receive_window;
                }
                self.validate()?;
                self.check_steps(overrides)
            }

            /// Every option spelled out, as a scenario would write it: what acts, so that what is written is accepted again.
            pub fn to_overrides(&self) -> Overrides {
                let recovery_steps = Some(self.steps_taken());
                Overrides { recovery_steps, ..Overrides { $( $name: Some(self.$name.clone()), )+ } }
            }

            /// Every option with its value and where that comes from, in the order of the table.
            pub fn provenance(&self) -> Vec<Provenance> {
                let taken = Options { recovery_steps: self.steps_taken(), ..self.clone() };
                vec![ $( Provenance {
                    name: stringify!($name),
                    value: text(&taken.$name),
                    origin: self.origin(stringify!($name)),
                }, )+ ]
            }

            /// Returns whether somebody has given this option.
            pub fn is_given(&self, option: &str) -> bool {
                self.given.contains(&option)
            }

            fn origin(&self, option: &'static str) -> Origin {
                let source = source(self.stack, option);
                if self.is_given(option) {
                    Origin::Given
                } else if let Some(why) = self.why_other_steps(option).or_else(|| self.why_other_mss(option)) {
                    Origin::Default(why)
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
