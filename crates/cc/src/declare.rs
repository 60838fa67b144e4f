//! What every congestion control and slow start declares about itself in the same words: its parameters and its internals.

use crate::Abe;
use elephan_units::InvalidParameter;

/// Parameters that know the ranges of their values.
pub trait Ranges {
    fn in_range(&self) -> Result<(), InvalidParameter>;

    /// ABE, if they ask for it.
    fn abe(&self) -> Option<Abe> {
        None
    }
}

/// What a range is about: a number, or one that need not be given.
pub(crate) trait Number {
    fn given(self) -> Option<f64>;
}

impl Number for f64 {
    fn given(self) -> Option<f64> {
        Some(self)
    }
}

impl Number for u32 {
    fn given(self) -> Option<f64> {
        Some(f64::from(self))
    }
}

impl<N: Number> Number for Option<N> {
    fn given(self) -> Option<f64> {
        self.and_then(N::given)
    }
}

/// Values lie below it where a range has no end of its own.
pub(crate) const LIMIT: f64 = 1e9;

/// `parameters! { /// What it means. name: type = default, "source" RANGE; ... }` declares `struct Parameters` (serde,
/// schema), its defaults and the check of its ranges. RANGE is nothing, `(min = 0, max = 1)` (both ends excluded),
/// `[min = 1]` (included), `above [min = 0, max = 1]` (the lower end excluded) or `below [...]` (the upper end); `max` may
/// be left out. Ends are whole numbers. What need not be given is an `Option` whose default is none.
macro_rules! parameters {
    ($(@abe $from:expr;)? $($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:expr, $source:literal
        $(($($open:tt)+))? $([$($closed:tt)+])? $($half:ident [$($half_open:tt)+])?;)+) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Parameters {
            $($(#[doc = $doc])+
            #[schemars(
                extend("x-source" = $source)
                $(, range($($open)+))? $(, range($($closed)+))? $(, range($($half_open)+))?
            )]
            pub $name: $type,)+
        }

        impl Default for Parameters {
            fn default() -> Parameters {
                Parameters { $($name: $default),+ }
            }
        }

        impl $crate::declare::Ranges for Parameters {
            fn in_range(&self) -> Result<(), elephan_units::InvalidParameter> {
                $($($crate::declare::range!(between self.$name, $name, $($open)+);)?
                $($crate::declare::range!(within self.$name, $name, $($closed)+);)?
                $($crate::declare::range!($half self.$name, $name, $($half_open)+);)?)+
                Ok(())
            }

            $(fn abe(&self) -> Option<$crate::Abe> {
                let from: fn(&Parameters) -> $crate::ReduceFrom = $from;
                (self.beta_ecn > 0.0).then(|| $crate::Abe { left: self.beta_ecn, from: from(self) })
            })?
        }
    };
}
pub(crate) use parameters;

/// `loss_based! { reduce_from: Cwnd, "source"; ... }` is [`parameters!`] for a congestion control that cuts its window at a loss,
/// with what all of them have: which window is cut (always `cwnd` where no default is given) and ABE, which [`crate::Controller`] applies.
macro_rules! loss_based {
    (reduce_from: $from:ident, $source:literal; $($own:tt)*) => {
        $crate::declare::loss_based! { @abe |p| p.reduce_from; $($own)*
            /// The window that is cut: `flight` (what was in flight) or `cwnd`.
            reduce_from: $crate::ReduceFrom = $crate::ReduceFrom::$from, $source;
        }
    };
    (@abe $from:expr; $($own:tt)*) => {
        $crate::declare::parameters! { @abe $from; $($own)*
            /// The share of the window that an ECN-Echo leaves (ABE; 0.8 is recommended). 0 is as at a loss.
            beta_ecn: f64 = 0.0, "RFC 8511 section 3" below [min = 0, max = 1];
        }
    };
    ($($own:tt)*) => { $crate::declare::loss_based! { @abe |_| $crate::ReduceFrom::Cwnd; $($own)* } };
}
pub(crate) use loss_based;

/// Checks one range of [`parameters!`].
macro_rules! range {
    ($kind:ident $value:expr, $name:ident, min = $low:literal) => {
        if let Some(value) = $crate::declare::Number::given($value) {
            elephan_units::InvalidParameter::$kind(stringify!($name), value, f64::from($low), $crate::declare::LIMIT)?
        }
    };
    ($kind:ident $value:expr, $name:ident, min = $low:literal, max = $high:literal) => {
        if let Some(value) = $crate::declare::Number::given($value) {
            elephan_units::InvalidParameter::$kind(stringify!($name), value, f64::from($low), f64::from($high))?
        }
    };
}
pub(crate) use range;

/// A named internal of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct State {
    pub name: &'static str,
    pub unit: &'static str,
    pub doc: &'static str,
}

/// What observers and tests see of a model's internals.
pub trait Internals {
    /// In the order in which they are observed.
    const STATES: &'static [State] = &[];

    /// Appends the internals named in [`Internals::STATES`].
    fn observe(&self, _out: &mut Vec<(&'static str, f64)>) {}

    /// Sets an internal (tests only); false if there is none of that name or it cannot have that value.
    fn poke(&mut self, _name: &str, _value: f64) -> bool {
        false
    }
}

/// `states! { Model, it, value; "name" ["unit"] "what it is": read it, where value is allowed => set it; ... }` declares
/// the internals of a model.
macro_rules! states {
    ($model:ident, $it:ident, $value:ident;
        $($name:literal [$unit:literal] $doc:literal: $get:expr, $allowed:expr => $set:expr;)+) => {
        impl $crate::declare::Internals for $model {
            const STATES: &'static [$crate::State] =
                &[$($crate::State { name: $name, unit: $unit, doc: $doc }),+];

            fn observe(&self, out: &mut Vec<(&'static str, f64)>) {
                let $it = self;
                out.extend([$(($name, $get)),+]);
            }

            fn poke(&mut self, name: &str, $value: f64) -> bool {
                let $it = self;
                match name {
                    $($name if $allowed => $set,)+
                    _ => return false,
                }
                true
            }
        }
    };
}
pub(crate) use states;
