//! Programs as GOAL has them.

use std::fmt;

use crate::program::{Action, Op, Program};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "num_ranks {}", self.ranks.len())?;
        for (number, rank) in self.ranks.iter().enumerate() {
            writeln!(f, "rank {number} {{")?;
            for (place, op) in rank.ops.iter().enumerate() {
                writeln!(f, "l{place}: {op}")?;
            }
            for wait in &rank.waits {
                let verb = if wait.start { "irequires" } else { "requires" };
                writeln!(f, "l{} {verb} l{}", wait.of, wait.on)?;
            }
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let any = |value: Option<u32>| value.map_or_else(|| "-1".to_owned(), |value| value.to_string());
        match self.action {
            Action::Calc { ns } => write!(f, "calc {ns}")?,
            Action::Send { bytes, to, tag } => write!(f, "send {bytes}b to {to} tag {tag}")?,
            Action::Recv { bytes, from, tag } => write!(f, "recv {bytes}b from {} tag {}", any(from), any(tag))?,
        }
        for (key, value) in [("cpu", self.cpu), ("nic", self.nic)] {
            if value != 0 {
                write!(f, " {key} {value}")?;
            }
        }
        Ok(())
    }
}
