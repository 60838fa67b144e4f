//! The scenario language: text in, a resolved plain [`Plan`] out.
//!
//! The rule of this layer: what is written is checked before anything is built, every error names its place in one
//! line, and every default is a value that the resolved scenario spells out. The way of a text:
//! TOML or JSON -> tree with positions -> overrides, template, presets -> schema -> types -> meaning -> [`Plan`].

#![forbid(unsafe_code)]

mod axes;
mod brief;
mod controls;
mod disks;
mod drawn;
mod edit;
mod elsewhere;
mod error;
mod from_tree;
mod gate;
mod json;
mod near;
mod options;
mod output;
mod overrides;
mod plan;
mod preset;
mod quantity;
mod rdma;
mod read;
mod resolve;
mod rooms;
mod schema;
mod shape;
mod sweep;
pub mod template;
mod toml;
mod toml_text;
mod traces;
mod tree;
mod types;
mod walk;
pub mod written;

pub use brief::brief;
pub use controls::{Control, Form, When, controls, templates};
pub use disks::disk;
pub use edit::{edit, written};
pub use elsewhere::model as model_known_as;
pub use error::{ERRORS_MAX, Error, Errors};
pub use gate::{Allowed, Found, Gate, Purpose};
pub use options::{congestion_management, queue, receive, tcp_options, transmit};
pub use output::{Origin, Provenance, to_toml};
pub use overrides::Override;
pub use plan::*;
pub use preset::Preset;
pub use quantity::Quantity;
pub use read::{Resolved, Source, read};
pub use rooms::{Advice, Room};
pub use schema::schema;
pub use sweep::{AxisArgument, Sweep, Variant, sweep};
pub use toml_text::TomlText;
pub use tree::Step;
