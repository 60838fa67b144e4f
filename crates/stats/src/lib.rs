//! Statistics of repeated runs: means, their intervals, and what so many repetitions can see.
//!
//! The rule of this layer: numbers in, numbers out. The reports in Python and the page of `elephan explore` take their intervals
//! from here, so that both say the same of the same runs. Repetitions are independent runs with other seeds.
//! Sources: Student's t interval (any textbook); Cohen, Statistical Power Analysis (1988), for power.

#![forbid(unsafe_code)]

mod interval;
mod quantity;
mod student;

pub use interval::{Interval, differences, interval};
pub use quantity::Quantity;
pub use student::{detectable, student};
