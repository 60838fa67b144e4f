//! What the steps of a resolution work on: what is known of the run so far, and what is wrong with it.

use std::collections::BTreeMap;

use elephan_cc::guest::Interpreter;

use super::crossing::Crossing;
use super::groups::Groups;
use super::guests::Guests;
use super::stacks::Stacks;
use crate::error::Problem;
use crate::plan::{Link, Node as PlanNode, Record, Traffic};
use crate::tree::{Node, Path};

/// Work in progress.
pub(super) struct Resolver<'a> {
    pub tree: &'a Node,
    /// The paths that a change sets; none at the start of the run.
    pub set: Option<&'a [Path]>,
    pub interpreter: Option<&'a dyn Interpreter>,
    pub problems: Vec<Problem>,
    pub nodes: Vec<PlanNode>,
    pub groups: Groups,
    pub links: Vec<Link>,
    /// For each of `links`: its `[[links]]` entry, and whether it is the forward direction.
    pub entries: Vec<(usize, bool)>,
    /// Those of `links` of which their entry's `ports` says something, and under which name.
    pub own_port: BTreeMap<u32, String>,
    pub traffic: Vec<Traffic>,
    pub stacks: Stacks,
    pub crossings: Vec<Crossing>,
    pub guests: Guests,
    pub record: Record,
}

impl<'a> Resolver<'a> {
    /// Nothing is worked out yet.
    pub fn new(tree: &'a Node, set: Option<&'a [Path]>, interpreter: Option<&'a dyn Interpreter>) -> Resolver<'a> {
        Resolver {
            tree,
            set,
            interpreter,
            problems: Vec::new(),
            nodes: Vec::new(),
            groups: Groups::default(),
            links: Vec::new(),
            entries: Vec::new(),
            own_port: BTreeMap::new(),
            traffic: Vec::new(),
            stacks: Stacks::default(),
            crossings: Vec::new(),
            guests: Guests::default(),
            record: Record::default(),
        }
    }

    /// Reports at the value of `path`.
    pub fn report(&mut self, path: Path, message: impl Into<String>) {
        let problem = Problem::at(self.tree, path, message);
        self.problems.push(problem);
    }

    /// Reports the value of `path`, which does not go with that of `other`, at the override if one of them is.
    pub fn report_between(&mut self, path: Path, other: &Path, message: impl Into<String>) {
        let problem = Problem::between(self.tree, path, other, message);
        self.problems.push(problem);
    }

    /// The value of `path` as it is written, in quotes, else `default`.
    pub fn written(&self, path: &Path, default: impl std::fmt::Display) -> String {
        self.tree.at(path).map_or_else(|| default.to_string(), Node::shown)
    }

    /// Later stages would only report consequences.
    pub fn done(&mut self) -> Result<(), Vec<Problem>> {
        if self.problems.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.problems)) }
    }
}
