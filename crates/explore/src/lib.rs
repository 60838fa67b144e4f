//! What a page asks of a run: one desk that answers messages, the same over a socket and in WebAssembly.
//!
//! The rule of this layer: a request is a method with parameters in JSON, an answer is a head in JSON and a body of typed arrays. Nothing
//! is simulated or drawn here: scenarios are checked by `scenario`, run by `sim`, captures read by `trace`; what is answered are the values
//! of their tables. There is no file, no thread and no clock here but those that the owner of the desk hands in.

#![forbid(unsafe_code)]

mod ask;
mod capture;
mod causes;
mod chance;
mod check;
mod column;
mod describe;
mod desk;
mod digest;
mod events;
mod flows;
mod index;
mod layout;
mod lives;
mod methods;
mod open;
mod packets;
mod reply;
mod rows;
mod run;
mod series;
mod shut;
mod thin;
mod totals;
mod ways;
mod why;
mod words;

pub use desk::{Desk, Entry, Limits, Setup};
pub use flows::names as flow_names;
pub use reply::{Reply, Trouble};
pub use shut::without_files_and_code;
