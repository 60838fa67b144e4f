//! Templates: common topologies as a few parameters. The registry: a template is one file here and one line below.
//!
//! A template writes hosts, switches and links into the tree, each value with the origin of the parameter that it comes
//! from; what the scenario writes itself in `[hosts.NAME]` or `[switches.NAME]` wins, and its links follow the template's.

mod builder;

pub use path::Hop;

use elephan_units::dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use builder::Builder;

use crate::tree::{Entry, Node, Table, Value, at};
use crate::types::typed;

/// Declares the templates: the scenario's `template = { kind = ... }`, and `each_template!`, which matches it, for [`dispatch!`].
macro_rules! templates {
    (($d:tt) $($(#[doc = $doc:literal])+ $name:literal => $module:ident: $variant:ident($spec:ident);)+) => {
        $(mod $module;
        pub use $module::$spec;)+

        /// A common topology and its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Template {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant($spec),)+
        }

        macro_rules! each_template {
            ($d template:expr, $d held:ident => $d body:expr) => {
                match $d template { $(Template::$variant($d held) => $d body,)+ }
            };
        }

        /// Every template's name and its one line.
        pub const TEMPLATES: &[(&str, &str)] = &[$(($name, concat!($($doc),+)),)+];
    };
}

templates! {
    ($)
    /// Pairs of hosts on both sides of one bottleneck link between two switches
    "dumbbell" => dumbbell: Dumbbell(Dumbbell);
    /// Clients and servers around one switch
    "star" => star: Star(Star);
    /// Two hosts joined by a chain of links with switches between them
    "path" => path: Path(PathOfHops);
    /// A chain of bottlenecks: one pair of hosts across all of them, and one pair across each
    "parking-lot" => parking_lot: ParkingLot(ParkingLot);
    /// A k-ary fat-tree: k pods of edge and aggregation switches under a core
    "fat-tree" => fat_tree: FatTree(FatTree);
    /// Leaf switches with hosts, each joined to every spine switch
    "leaf-spine" => leaf_spine: LeafSpine(LeafSpine);
}

dispatch! {
    /// A topology that follows from a few parameters.
    trait Topology for Template by each_template {
        /// Writes hosts, switches and links.
        fn build(&self, out: &mut Builder<'_>);
    }
}

/// Replaces `[template]` by what it stands for. The table has passed the schema.
pub(crate) fn expand(tree: &mut Node) -> Result<(), Vec<Problem>> {
    let Some(entry) = tree.as_table_mut().and_then(|t| t.shift_remove("template")) else { return Ok(()) };
    let given = entry.node;
    let template: Template = typed(&given, &at!["template"])?;
    let table = || Node::table(given.origin);
    let mut out = Builder { given: &given, hosts: table(), switches: table(), links: Vec::new() };
    template.build(&mut out);
    let (hosts, switches, mut links) = (out.hosts, out.switches, out.links);
    let mut problems = Vec::new();
    for (section, built) in [("hosts", hosts), ("switches", switches)] {
        problems.extend(merge(tree, section, built));
    }
    if let Some(table) = tree.as_table_mut() {
        let entry = table
            .entry("links".to_owned())
            .or_insert_with(|| Entry { key: given.origin, node: Node::array(Vec::new(), given.origin) });
        if let Value::Array(own) = &mut entry.node.value {
            links.append(own);
            *own = links;
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The template's groups first, in its order, refined by what the scenario has under the same names.
fn merge(tree: &mut Node, section: &str, mut built: Node) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Some(table) = tree.as_table_mut() else { return problems };
    let own = table.get(section).map(|e| e.node.clone()).unwrap_or_else(|| Node::table(built.origin));
    let Some(own) = own.as_table() else { return problems };
    for (name, entry) in own {
        if let (Some(count), true) = (entry.node.get("count"), built.get(name).is_some()) {
            let message = format!("the template sets the number of {name}; change its parameters instead");
            problems.push(Problem::new(at![section, name, "count"], count.origin, message));
        }
        let mut refined = entry.node.clone();
        if let Some(below) = built.get(name) {
            refined.fill_from(&below.clone())
        }
        if let Some(groups) = built.as_table_mut() {
            let kept: &mut Table = groups;
            kept.insert(name.clone(), Entry { key: entry.key, node: refined });
        }
    }
    let key = table.get(section).map_or(built.origin, |e| e.key);
    table.insert(section.to_owned(), Entry { key, node: built });
    problems
}
