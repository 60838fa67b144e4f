//! The registry: one line per model yields its module, its place in the dispatch enum and in the `Spec` enum, its
//! text form (`"name"` or `{ kind = "name", parameter = ... }`), its JSON Schema and its row in the documentation.

use crate::declare::{Internals, Ranges, State};
use crate::needs::Needs;
use crate::traits::Traits;
use elephan_units::InvalidParameter;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What the registry needs of a model.
pub trait Model: Internals + Sized {
    /// Its parameters: every field documented, with a default and its source as schema extension `x-source`.
    type Parameters: Clone + Default + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned + JsonSchema + Ranges;

    /// Named sets of parameters, where sources differ.
    const PRESETS: &'static [&'static str] = &[];

    /// What a congestion control needs of its connection, whatever its parameters are.
    const NEEDS: Needs = Needs::NOTHING;

    fn new(parameters: &Self::Parameters) -> Self;

    /// The parameters of one of [`Model::PRESETS`].
    fn preset(_name: &str) -> Self::Parameters {
        Self::Parameters::default()
    }

    /// Returns what a congestion control with these parameters says of itself to those who would otherwise go by its name.
    fn traits(_: &Self::Parameters) -> Traits {
        Traits::default()
    }

    /// Returns what a congestion control with these parameters needs of its connection.
    fn needs(_: &Self::Parameters) -> Needs {
        Self::NEEDS
    }

    /// Refuses values that the model is not defined for beyond the ranges of its parameters.
    fn check(_: &Self::Parameters) -> Result<(), InvalidParameter> {
        Ok(())
    }
}

/// A parameter of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    pub name: String,
    pub default: Value,
    pub doc: String,
    pub source: String,
}

/// A model as the documentation shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    pub name: &'static str,
    pub summary: &'static str,
    pub presets: &'static [&'static str],
    pub parameters: Vec<Parameter>,
    pub states: &'static [State],
}

/// Why a text does not say which model to use. `given` and `known` serve a nearest-name hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error("unknown {axis} `{given}`; known: {}", known.join(", "))]
    UnknownKind { axis: &'static str, given: String, known: Vec<String> },
    #[error("`{kind}` has no parameter `{given}`; {}", if known.is_empty() { "it has none".to_string() } else { format!("known: {}", known.join(", ")) })]
    UnknownParameter { kind: &'static str, given: String, known: Vec<String> },
    #[error("`{parameter}` of `{kind}`: {reason}")]
    BadParameter { kind: &'static str, parameter: String, reason: String },
    #[error("a {axis} is a name or a table with `kind` as a string")]
    NoKind { axis: &'static str },
}

/// Reads the parameters of model `kind` from a table (without `kind`), one by one so that an error names its key.
pub(crate) fn parameters<M: Model>(kind: &'static str, table: &Map<String, Value>) -> Result<M::Parameters, SpecError> {
    let known = describe_parameters::<M>();
    let mut full = table_of(&base::<M>(kind, table)?);
    for (name, value) in table.iter().filter(|(name, _)| *name != PRESET) {
        if !known.iter().any(|parameter| parameter.name == *name) {
            let known = known.into_iter().map(|parameter| parameter.name).collect();
            return Err(SpecError::UnknownParameter { kind, given: name.clone(), known });
        }
        full.insert(name.clone(), value.clone());
        if let Err(error) = serde_json::from_value::<M::Parameters>(Value::Object(full.clone())) {
            return Err(SpecError::BadParameter { kind, parameter: name.clone(), reason: error.to_string() });
        }
    }
    let bad = |parameter: String, reason| SpecError::BadParameter { kind, parameter, reason };
    let parameters: M::Parameters = serde_json::from_value(Value::Object(full))
        .map_err(|error| bad("parameters".to_string(), error.to_string()))?;
    parameters
        .in_range()
        .and_then(|()| M::check(&parameters))
        .map_err(|invalid| bad(invalid.parameter.to_string(), invalid.reason))?;
    Ok(parameters)
}

/// The key that names a set of parameters.
const PRESET: &str = "preset";

/// The parameters that a table starts from: a preset's or the defaults.
fn base<M: Model>(kind: &'static str, table: &Map<String, Value>) -> Result<M::Parameters, SpecError> {
    let Some(preset) = table.get(PRESET) else { return Ok(M::Parameters::default()) };
    if let Some(name) = M::PRESETS.iter().find(|name| preset.as_str() == Some(name)) {
        return Ok(M::preset(name));
    }
    let known = if M::PRESETS.is_empty() { "there is none".to_owned() } else { M::PRESETS.join(", ") };
    let given = preset.as_str().map_or(preset.to_string(), str::to_owned);
    Err(SpecError::BadParameter { kind, parameter: PRESET.into(), reason: format!("no preset `{given}`; {known}") })
}

/// Reads `kind` and the rest from a table.
pub(crate) fn split_kind(
    axis: &'static str,
    mut table: Map<String, Value>,
) -> Result<(String, Map<String, Value>), SpecError> {
    match table.remove("kind") {
        Some(Value::String(kind)) => Ok((kind, table)),
        _ => Err(SpecError::NoKind { axis }),
    }
}

pub(crate) fn table_of<P: Serialize>(parameters: &P) -> Map<String, Value> {
    match serde_json::to_value(parameters) {
        // What is not given has no value that a scenario could spell.
        Ok(Value::Object(mut table)) => {
            table.retain(|_, value| !value.is_null());
            table
        }
        _ => Map::new(),
    }
}

pub(crate) fn table_with_kind<P: Serialize>(kind: &str, parameters: &P) -> Map<String, Value> {
    let mut table = Map::new();
    table.insert("kind".to_string(), kind.into());
    table.extend(table_of(parameters));
    table
}

pub(crate) fn describe_parameters<M: Model>() -> Vec<Parameter> {
    let schema = SchemaGenerator::default().into_root_schema_for::<M::Parameters>();
    let defaults = table_of(&M::Parameters::default());
    let Some(Value::Object(properties)) = schema.get("properties") else { return Vec::new() };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_string();
    properties
        .iter()
        .map(|(name, property)| Parameter {
            name: name.clone(),
            default: defaults.get(name).cloned().unwrap_or(Value::Null),
            doc: text(property.get("description")),
            source: text(property.get("x-source")),
        })
        .collect()
}

/// The schema of one model's table: its parameters and `kind`.
pub(crate) fn table_schema<M: Model>(kind: &str, summary: &str, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = M::Parameters::json_schema(generator);
    let mut properties = Map::new();
    properties.insert("kind".to_string(), serde_json::json!({ "type": "string", "const": kind }));
    if !M::PRESETS.is_empty() {
        let doc = "Set of parameters to start from.";
        properties.insert(
            PRESET.to_string(),
            serde_json::json!({ "type": "string", "enum": M::PRESETS, "description": doc }),
        );
    }
    if let Some(Value::Object(own)) = schema.remove("properties") {
        properties.extend(own);
    }
    json_schema!({
        "type": "object",
        "description": summary,
        "properties": properties,
        "required": ["kind"],
        "additionalProperties": false,
    })
}

/// `registry! { ($) each lines "axis" "description"; module: Variant(Type) + Capability = "summary", ... }` declares, where it
/// stands: the modules, `enum Any` (the models), `enum Spec` (their parameters), `list()`, `describe(name)` and the macro
/// `each!(any, m => ...)` for static dispatch. A model is called like its variant; `Type` is how it is stored, boxed if it is large. The
/// macro `lines!(take)` gives each line to `take!`, for [`capability!`]. At its end `; guest Variant(Type) from Spec` admits models
/// from outside, which have no name in the registry.
macro_rules! registry {
    (
        ($d:tt) $each:ident $lines:ident $axis:literal $doc:literal;
        $($module:ident: $Variant:ident($Storage:ty) $(+ $Capability:ident)* = $summary:literal,)+
        $(; guest $Guest:ident($GuestStorage:ty) from $GuestSpec:ident::$GuestName:ident $(+ $GuestCapability:ident)*)?
    ) => {
        $(pub mod $module;)+

        /// A model with its state.
        #[derive(Clone, Debug)]
        pub enum Any { $($Variant($Storage),)+ $($Guest($GuestStorage))? }

        impl Any {
            pub fn new(spec: &Spec) -> Any {
                match spec {
                    $(Spec::$Variant(parameters) => Any::$Variant(<$module::$Variant as $crate::Model>::new(parameters).into()),)+
                    $(Spec::$Guest(spec) => Any::$Guest(spec.instance()))?
                }
            }

            pub fn name(&self) -> &str {
                match self {
                    $(Any::$Variant(_) => stringify!($module),)+
                    $(Any::$Guest(guest) => guest.name())?
                }
            }
        }

        macro_rules! $each {
            ($d any:expr, $d model:ident => $d body:expr) => {
                match $d any {
                    $(Any::$Variant($d model) => $d body,)+
                    $(Any::$Guest($d model) => $d body)?
                }
            };
        }

        #[allow(unused_macros, reason = "slow starts have no capabilities")]
        macro_rules! $lines {
            ($d take:ident) => {
                $($d take! { $module::$Variant: $($Capability)* })+
                $($d take! { $GuestStorage: $($GuestCapability)* })?
            };
        }

        // The compiler refuses a capability that is misspelt or that the model lacks.
        $($(const _: fn() = {
            fn has<M: $Capability>() {}
            has::<$module::$Variant>
        };)*)+

        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq)]
        pub enum Spec { $($Variant(<$module::$Variant as $crate::Model>::Parameters),)+ $($Guest($GuestSpec::$GuestName))? }

        impl Spec {
            /// Returns the model called `kind` with its defaults.
            pub fn named(kind: &str) -> Result<Spec, $crate::SpecError> {
                Spec::with(kind, &serde_json::Map::new())
            }

            /// Returns the model called `kind` with the parameters in `table`, and defaults for the rest.
            ///
            /// ```
            /// use elephan_cc::{Controller, Spec};
            ///
            /// let table = serde_json::json!({ "beta": 0.5 });
            /// let spec = Spec::with("cubic", table.as_object().unwrap()).unwrap();
            /// assert_eq!((spec.name(), spec.table()["beta"].as_f64()), ("cubic", Some(0.5)));
            /// assert!(Spec::with("cubic", serde_json::json!({ "beta": 2 }).as_object().unwrap()).is_err());
            /// ```
            pub fn with(
                kind: &str,
                table: &serde_json::Map<String, serde_json::Value>,
            ) -> Result<Spec, $crate::SpecError> {
                match kind {
                    $(stringify!($module) => {
                        $crate::registry::parameters::<$module::$Variant>(stringify!($module), table).map(Spec::$Variant)
                    })+
                    _ => Err($crate::SpecError::UnknownKind {
                        axis: $axis,
                        given: kind.to_string(),
                        known: list().iter().map(|(name, _)| name.to_string()).collect(),
                    }),
                }
            }

            pub fn name(&self) -> &str {
                match self {
                    $(Spec::$Variant(_) => stringify!($module),)+
                    $(Spec::$Guest(spec) => spec.name())?
                }
            }

            /// Returns the name in the registry, or the key that names a guest.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Spec::$Variant(_) => stringify!($module),)+
                    $(Spec::$Guest(spec) => spec.place().0)?
                }
            }

            /// Returns every model with its defaults: the matrix for tests and comparisons.
            pub fn all() -> Vec<Spec> {
                vec![$(Spec::$Variant(Default::default())),+]
            }

            /// Returns what the model says of itself; of a guest nobody knows whether it draws.
            pub fn traits(&self) -> $crate::Traits {
                match self {
                    $(Spec::$Variant(parameters) => <$module::$Variant as $crate::Model>::traits(parameters),)+
                    $(Spec::$Guest(_) => $GuestSpec::$GuestName::traits())?
                }
            }

            /// Returns what the model needs of its connection.
            pub fn needs(&self) -> $crate::Needs {
                match self {
                    $(Spec::$Variant(parameters) => <$module::$Variant as $crate::Model>::needs(parameters),)+
                    $(Spec::$Guest(spec) => spec.needs())?
                }
            }

            /// Returns alternative backoff (RFC 8511), if the parameters ask for it.
            pub fn abe(&self) -> Option<$crate::Abe> {
                match self {
                    $(Spec::$Variant(parameters) => $crate::Ranges::abe(parameters),)+
                    $(Spec::$Guest(_) => None)?
                }
            }

            /// Returns the parameters as a table, `kind` first, with every default spelled out.
            pub fn table(&self) -> serde_json::Map<String, serde_json::Value> {
                match self {
                    $(Spec::$Variant(parameters) => $crate::registry::table_with_kind(stringify!($module), parameters),)+
                    $(Spec::$Guest(spec) => $crate::registry::table_of(spec))?
                }
            }
        }

        impl serde::Serialize for Spec {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.table().serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for Spec {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Spec, D::Error> {
                use serde::de::Error;
                let spec = match serde_json::Value::deserialize(deserializer)? {
                    serde_json::Value::String(kind) => Spec::named(&kind),
                    $(serde_json::Value::Object(table) if $GuestSpec::$GuestName::KEYS.iter().any(|key| table.contains_key(*key)) => {
                        let spec = serde_json::from_value(serde_json::Value::Object(table));
                        return spec.map(Spec::$Guest).map_err(D::Error::custom);
                    })?
                    serde_json::Value::Object(table) => $crate::registry::split_kind($axis, table)
                        .and_then(|(kind, table)| Spec::with(&kind, &table)),
                    _ => Err($crate::SpecError::NoKind { axis: $axis }),
                };
                spec.map_err(D::Error::custom)
            }
        }

        impl schemars::JsonSchema for Spec {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                concat!("registry of ", $axis).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let names: Vec<&str> = list().iter().map(|(name, _)| *name).collect();
                let tables =
                    vec![$($crate::registry::table_schema::<$module::$Variant>(stringify!($module), $summary, generator)),+];
                let forms = [
                    serde_json::json!({ "type": "string", "enum": names }),
                    serde_json::json!({ "oneOf": tables }),
                ];
                let forms = forms.into_iter();
                $(let forms = forms.chain($GuestSpec::$GuestName::schemas(generator).map(schemars::Schema::to_value));)?
                let forms: Vec<serde_json::Value> = forms.collect();
                schemars::json_schema!({ "description": $doc, "anyOf": forms })
            }
        }

        /// Returns the names in the registry, each with one line.
        pub fn list() -> &'static [(&'static str, &'static str)] {
            &[$((stringify!($module), $summary)),+]
        }

        /// Returns the model called `name` as the documentation shows it.
        pub fn describe(name: &str) -> Option<$crate::Description> {
            match name {
                $(stringify!($module) => Some($crate::Description {
                    name: stringify!($module),
                    summary: $summary,
                    presets: <$module::$Variant as $crate::Model>::PRESETS,
                    parameters: $crate::registry::describe_parameters::<$module::$Variant>(),
                    states: <$module::$Variant as $crate::declare::Internals>::STATES,
                }),)+
                _ => None,
            }
        }
    };
}
pub(crate) use registry;

/// `capability! { ($) lines pub trait NAME for Any by each { ... } }` declares what few models of a registry can do, as
/// [`elephan_units::dispatch!`] does. Every method has a default, and each model whose line does not name the trait gets an empty `impl`.
/// A model with an `impl` of its own that its line does not name therefore does not compile, nor does a line without that `impl`.
macro_rules! capability {
    (($d:tt) $lines:ident $(#[$attribute:meta])* $vis:vis trait $Trait:ident for $Any:ident by $each:ident $methods:tt) => {
        elephan_units::dispatch! { $(#[$attribute])* $vis trait $Trait for $Any by $each $methods }

        macro_rules! unless_named {
            ($d Model:ty:) => { impl $Trait for $d Model {} };
            ($d Model:ty: $Trait $d($d other:ident)*) => {};
            ($d Model:ty: $d first:ident $d($d other:ident)*) => { unless_named! { $d Model: $d($d other)* } };
        }
        $lines!(unless_named);
    };
}
pub(crate) use capability;

#[cfg(test)]
mod tests;
