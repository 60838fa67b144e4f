//! What a table is, as data: its name, its columns, their types, units and descriptions.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit signed integer.
    Int,
    /// IEEE 754 double.
    Float,
    /// True or false.
    Bool,
    /// UTF-8 text.
    Text,
}

impl Kind {
    /// The name that the data dictionary uses, which is Arrow's.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Int => "int64",
            Kind::Float => "float64",
            Kind::Bool => "bool",
            Kind::Text => "string",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Kind::Int => DataType::Int64,
            Kind::Float => DataType::Float64,
            Kind::Bool => DataType::Boolean,
            Kind::Text => DataType::Utf8,
        }
    }
}

/// One column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in the file; the unit, where there is one, is its last word.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// Whether a value can be missing.
    pub nullable: bool,
    /// Unit of its values, empty for names, counts and flags.
    pub unit: &'static str,
    /// What it says, one line.
    pub description: &'static str,
}

/// One table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// The name of the table and of its file.
    pub name: &'static str,
    /// What a row is, one line.
    pub description: &'static str,
    /// The columns in their order.
    pub columns: &'static [Column],
}

impl Spec {
    /// The Arrow schema: unit and description travel as metadata of each field.
    pub fn schema(&self) -> SchemaRef {
        let fields: Vec<Field> = self.columns.iter().map(Column::field).collect();
        Arc::new(Schema::new(fields))
    }
}

impl Column {
    fn field(&self) -> Field {
        let told = [("description", self.description), ("unit", self.unit)];
        let metadata =
            told.iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key.to_string(), text.to_string()));
        Field::new(self.name, self.kind.data_type(), self.nullable).with_metadata(metadata.collect())
    }
}
