//! Static dispatch: an enum answers as whatever its variant holds.

/// Declares a trait and implements it for an enum whose variants hold values with that trait.
///
/// The trait and the `impl` for the enum come from one list of signatures, so nobody can forget to forward a method. `by` names a macro
/// that matches the enum: `each!(it, held => EXPRESSION)`. A method has a block as its default, or ends with `;`. Its attributes stand on
/// the method of the trait and on the one that forwards. Only a method with a default can have `#[inline]`, since Rust wants a body for
/// it; the forwarding of a method without one is always `#[inline]`.
///
/// If every value makes something of a type of its own, the trait has `type Made;` and a method that returns `Self::Made`. The enum then
/// makes a value of the enum `Made`: `each!(it, held => Made: EXPRESSION)` puts it into the variant of the same name.
///
/// ```
/// use elephan_units::dispatch;
///
/// struct Square(f64);
/// struct Circle(f64);
/// enum Shape {
///     Square(Square),
///     Circle(Circle),
/// }
///
/// macro_rules! each_shape {
///     ($shape:expr, $held:ident => $body:expr) => {
///         match $shape {
///             Shape::Square($held) => $body,
///             Shape::Circle($held) => $body,
///         }
///     };
/// }
///
/// dispatch! {
///     /// What a shape can tell.
///     trait Measured for Shape by each_shape {
///         fn area(&self) -> f64;
///         /// Returns the corners; a shape has none unless it says so.
///         fn corners(&self) -> u32 {
///             0
///         }
///         fn scale(&mut self, factor: f64);
///     }
/// }
///
/// impl Measured for Square {
///     fn area(&self) -> f64 {
///         self.0 * self.0
///     }
///     fn corners(&self) -> u32 {
///         4
///     }
///     fn scale(&mut self, factor: f64) {
///         self.0 *= factor;
///     }
/// }
///
/// impl Measured for Circle {
///     fn area(&self) -> f64 {
///         3.0 * self.0 * self.0
///     }
///     fn scale(&mut self, factor: f64) {
///         self.0 *= factor;
///     }
/// }
///
/// let mut shapes = [Shape::Square(Square(2.0)), Shape::Circle(Circle(1.0))];
/// shapes.iter_mut().for_each(|shape| shape.scale(2.0));
/// let told: Vec<_> = shapes.iter().map(|shape| (shape.area(), shape.corners())).collect();
/// assert_eq!(told, [(16.0, 4), (12.0, 0)]);
/// ```
#[macro_export]
macro_rules! dispatch {
    ($(#[$attribute:meta])* $vis:vis trait $Trait:ident for $Enum:ident by $each:ident { $($methods:tt)* }) => {
        $(#[$attribute])*
        #[allow(unused_variables, reason = "a default may ignore its arguments")]
        $vis trait $Trait {
            $($methods)*
        }

        impl $Trait for $Enum {
            $crate::dispatch! { @forward $each $($methods)* }
        }
    };
    (@forward $each:ident) => {};
    (@forward $each:ident $(#[$attribute:meta])* type $Made:ident $(: $Bound:path)?; $($rest:tt)*) => {
        type $Made = $Made;
        $crate::dispatch! { @forward $each $($rest)* }
    };
    (@forward $each:ident $(#[$attribute:meta])*
        fn $name:ident(&$self:ident $(, $argument:ident: $Type:ty)* $(,)?) -> Self::$Made:ident; $($rest:tt)*) => {
        $(#[$attribute])*
        fn $name(&$self $(, $argument: $Type)*) -> Self::$Made {
            $each!($self, held => $Made: held.$name($($argument),*))
        }
        $crate::dispatch! { @forward $each $($rest)* }
    };
    (@forward $each:ident $(#[$attribute:meta])*
        fn $name:ident(&mut $self:ident $(, $argument:ident: $Type:ty)* $(,)?) $(-> $Result:ty)? $default:block $($rest:tt)*) => {
        $(#[$attribute])*
        fn $name(&mut $self $(, $argument: $Type)*) $(-> $Result)? {
            $each!($self, held => held.$name($($argument),*))
        }
        $crate::dispatch! { @forward $each $($rest)* }
    };
    (@forward $each:ident $(#[$attribute:meta])*
        fn $name:ident(&mut $self:ident $(, $argument:ident: $Type:ty)* $(,)?) $(-> $Result:ty)?; $($rest:tt)*) => {
        $(#[$attribute])*
        #[inline]
        fn $name(&mut $self $(, $argument: $Type)*) $(-> $Result)? {
            $each!($self, held => held.$name($($argument),*))
        }
        $crate::dispatch! { @forward $each $($rest)* }
    };
    (@forward $each:ident $(#[$attribute:meta])*
        fn $name:ident(&$self:ident $(, $argument:ident: $Type:ty)* $(,)?) $(-> $Result:ty)? $default:block $($rest:tt)*) => {
        $(#[$attribute])*
        fn $name(&$self $(, $argument: $Type)*) $(-> $Result)? {
            $each!($self, held => held.$name($($argument),*))
        }
        $crate::dispatch! { @forward $each $($rest)* }
    };
    (@forward $each:ident $(#[$attribute:meta])*
        fn $name:ident(&$self:ident $(, $argument:ident: $Type:ty)* $(,)?) $(-> $Result:ty)?; $($rest:tt)*) => {
        $(#[$attribute])*
        #[inline]
        fn $name(&$self $(, $argument: $Type)*) $(-> $Result)? {
            $each!($self, held => held.$name($($argument),*))
        }
        $crate::dispatch! { @forward $each $($rest)* }
    };
}
