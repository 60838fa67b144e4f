//! Links whose rate, delay or loss follows a trace.
//!
//! *Chances* are the format of Mahimahi (Netravali et al., USENIX ATC 2015): a line is a millisecond in which the link may carry
//! `chance` bytes. A packet takes its IP bytes, and `overhead` on top, from one chance after the other, whatever the framing of the
//! link is. A chance carries several packets.
//! What is left of a chance when nothing waits is lost. A packet that comes in the millisecond of a chance is too late for it.
//! After the last line the trace begins again, shifted by the last time stamp.
//!
//! *Courses* are CSV: values at instants, kept until the next one (steps) or joined by lines. The rate r(t) carries
//!
//! ```text
//! B(t) = integral of r from 0 to t        a frame of b bits that starts at s ends at the first t with B(t) >= B(s) + b
//! ```
//!
//! Frames that follow each other go on where the frame before them ended, so that roundings do not add up.

mod chances;
mod course;
mod read;
mod words;

pub use chances::Chances;
pub use course::Course;
pub use read::{TraceError, What};
pub use words::{After, Between, TraceTable, TraceWords};

use std::sync::Arc;

use elephan_units::{Rate, Time};

use chances::OfChances;
use course::OfCourse;

/// What a rate follows.
#[derive(Clone, Debug, PartialEq)]
pub enum RateTrace {
    Chances(Arc<Chances>),
    Course(Arc<Course>),
}

impl RateTrace {
    /// Returns the mean rate over one pass of the trace, at least 1 bit/s.
    pub fn mean(&self) -> Rate {
        let mean = match self {
            RateTrace::Chances(chances) => chances.mean(),
            RateTrace::Course(course) => course.mean(),
        };
        Rate((mean.round() as u64).max(1))
    }

    /// Returns what a packet takes of its chances beside its own bytes; `None` of a course, which carries what is on the wire.
    pub fn overhead(&self) -> Option<u32> {
        match self {
            RateTrace::Chances(chances) => Some(chances.overhead()),
            RateTrace::Course(_) => None,
        }
    }

    /// Returns the bits that the link can carry between two instants.
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        match self {
            RateTrace::Chances(chances) => chances.capacity(from, to),
            RateTrace::Course(course) => course.integral(to) - course.integral(from),
        }
    }
}

/// What of a port follows a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Driven {
    pub rate: Option<RateTrace>,
    /// Seconds.
    pub delay: Option<Arc<Course>>,
    /// Packets may overtake each other when the delay gets shorter.
    pub reorders: bool,
}

impl Driven {
    pub fn is_none(&self) -> bool {
        *self == Driven::default()
    }
}

/// A port's place in its trace.
#[derive(Clone, Debug)]
pub struct Pace(Of);

#[derive(Clone, Debug)]
enum Of {
    Chances(OfChances),
    Course(OfCourse),
}

impl Pace {
    /// Returns the pace of a port that nothing was sent through; a transmission that never ends is said to end at `never`.
    pub fn new(trace: &RateTrace, never: Time) -> Pace {
        Pace(match trace {
            RateTrace::Chances(chances) => Of::Chances(OfChances::new(chances.clone(), never)),
            RateTrace::Course(course) => Of::Course(OfCourse::new(course.clone(), never)),
        })
    }

    /// Returns when the last bit of a frame has left whose transmission begins at `start`: so many bytes on the `wire`, of which `ip`
    /// are its packet. Chances count packets, and courses what is on the wire.
    pub fn send(&mut self, start: Time, wire: u32, ip: u32) -> Time {
        match &mut self.0 {
            Of::Chances(of) => of.send(start, ip),
            Of::Course(of) => of.send(start, wire),
        }
    }

    /// Called when a transmission has ended and nothing is to be sent.
    pub fn idle(&mut self) {
        match &mut self.0 {
            Of::Chances(of) => of.idle(),
            Of::Course(of) => of.idle(),
        }
    }
}

#[cfg(test)]
mod tests;
