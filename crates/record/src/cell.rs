//! The types that a row may hold, and how a column of each becomes an Arrow array.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array};

use crate::names::{Names, Text};
use crate::spec::Kind;

/// A value in a row.
pub trait Cell: Copy {
    /// The type in the table.
    const KIND: Kind;
    /// Whether it can be missing.
    const NULLABLE: bool;
    /// The column of `values`.
    #[doc(hidden)]
    fn array(values: impl ExactSizeIterator<Item = Self>, words: &Words) -> ArrayRef;
}

/// The words that text cells refer to.
pub struct Words<'a>(pub(crate) &'a Names);

macro_rules! plain {
    ($($type:ty, $kind:ident, $array:ident, $builder:ident;)*) => { $(
        impl Cell for $type {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = false;
            fn array(values: impl ExactSizeIterator<Item = Self>, _: &Words) -> ArrayRef {
                Arc::new($array::from(values.collect::<Vec<_>>()))
            }
        }

        impl Cell for Option<$type> {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = true;
            fn array(values: impl ExactSizeIterator<Item = Self>, _: &Words) -> ArrayRef {
                let mut builder = $builder::with_capacity(values.len());
                values.for_each(|value| builder.append_option(value));
                Arc::new(builder.finish())
            }
        }
    )* };
}

plain! {
    i64, Int, Int64Array, Int64Builder;
    f64, Float, Float64Array, Float64Builder;
    bool, Bool, BooleanArray, BooleanBuilder;
}

impl Cell for Text {
    const KIND: Kind = Kind::Text;
    const NULLABLE: bool = false;
    fn array(values: impl ExactSizeIterator<Item = Self>, words: &Words) -> ArrayRef {
        Option::<Text>::array(values.map(Some), words)
    }
}

impl Cell for Option<Text> {
    const KIND: Kind = Kind::Text;
    const NULLABLE: bool = true;
    fn array(values: impl ExactSizeIterator<Item = Self>, words: &Words) -> ArrayRef {
        let mut builder = StringBuilder::with_capacity(values.len(), values.len() * 8);
        values.for_each(|value| builder.append_option(value.map(|text| words.0.word(text))));
        Arc::new(builder.finish())
    }
}
