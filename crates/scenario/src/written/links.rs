//! `[[links]]`.

use elephan_link::driven::TraceWords;
use elephan_link::{Concerned, Framing, Loss, queue::QueueSpec};
use elephan_units::{Bytes, Rate, Span};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::impairments::{Jitter, Reorder};
use crate::plan::Link;
use crate::tree::{Path, at};

/// Whether a run can change a key of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum During {
    Changes,
    Stays,
}

/// Declares the keys of `[[links]]` in their order. A key with `port` is also one of a direction and of a single port. Its part after
/// `port` says whether a run can change it, where the plan of a port keeps it, what it is there, and its type. The resolver works out
/// a key without a place in the plan.
macro_rules! keys_of_links {
    ($(
        $(#[$meta:meta])* $key:ident: $of_entry:ty
        $(, port $during:ident $(=> $place:ident $(. $part:ident)?)? $(#[$own:meta])+ $of_port:ty)?;
    )+) => {
        /// Full-duplex links between two nodes or groups of nodes.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "Link")]
        pub struct Links {
            $($(#[$meta])* pub $key: $of_entry,)+
        }

        /// What one direction of a link has of its own; a queue given here counts for a host's port too.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "Direction")]
        pub struct LinkWords {
            $($(
                $(#[$own])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $key: Option<$of_port>,
            )?)+
        }

        impl LinkWords {
            /// Every key, and whether a run can change it.
            pub(crate) const KEYS: &[(&str, During)] = &[$($((stringify!($key), During::$during),)?)+];

            /// Returns these words and, where they say nothing, those of `base`.
            pub(crate) fn over(&self, base: &LinkWords) -> LinkWords {
                LinkWords { $($($key: Option::<$of_port>::or(self.$key.clone(), base.$key.clone()),)?)+ }
            }

            /// Puts what these words say into the plan of a port; what they do not say stays.
            pub(crate) fn tell(&self, port: &mut Link) {
                $($($(
                    if let Some(given) = &self.$key {
                        port.$place$(.$part)? = given.clone().into();
                    }
                )?)?)+
            }

            /// Returns whether `key` is among these words.
            pub(crate) fn gives(&self, key: &str) -> bool {
                match key {
                    $($(stringify!($key) => Option::<$of_port>::is_some(&self.$key),)?)+
                    _ => false,
                }
            }
        }

        impl Links {
            /// Returns what the entry says to all its ports, of which those of switches have `queue`.
            fn shared(&self) -> LinkWords {
                LinkWords { $($($key: Option::<$of_port>::from(self.$key.clone()),)?)+ }
            }
        }
    };
}

keys_of_links! {
    /// Both ends: a group (`"client"`: all its members), a member (`"client[2]"`, counted from 0) or some
    /// (`"client[0-3]"`, both included).
    between: [String; 2];
    /// Which members are joined.
    #[serde(default)]
    pairing: LinkPairing;
    /// Rate on the wire, each way: a rate, or `{ trace = "file" }`, which varies during the run.
    rate: LinkRate, port Changes
        /// Rate on the wire.
        #[schemars(with = "LinkRate")]
        LinkRate;
    /// Propagation delay, each way: a time, `{ linear = ["1 ms", "5 ms"] }` spread evenly over the links of this
    /// entry, `{ uniform = ["1 ms", "5 ms"] }` drawn for each, or `{ trace = "file.csv" }`, which varies during the run.
    delay: Delay, port Changes
        /// Propagation delay.
        #[schemars(with = "Delay")]
        Delay;
    /// How packets are framed: what the wire and the queues carry beside the IP packet.
    #[serde(default)]
    framing: Framing;
    /// Largest IP packet that the link carries, header included, each way. Larger packets are dropped at the port (`mtu_exceeded`).
    /// Without it the link carries every packet. That of a host's link also bounds the MSS of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    mtu: Option<Bytes>, port Stays => mtu
        /// Largest IP packet that this direction carries, header included.
        #[schemars(with = "Bytes")]
        Bytes;
    /// Whether the link carries anything. A link that goes down loses what is on the wire, drops what waits at both ports and
    /// what comes to them (`link_down`), and forgets received PAUSE. It is up or down both ways.
    #[serde(default = "up")]
    up: bool, port Changes => up
        /// Of one of `ports` only: whether its link carries anything, both ways.
        #[schemars(with = "bool")]
        bool;
    /// Which packets `loss`, `reorder`, `duplicate`, `mark` and `jitter` concern: `all`, or `data`, those that carry data.
    #[serde(default)]
    packets: Concerned, port Stays => impairments.packets
        /// Which packets `loss`, `reorder`, `duplicate`, `mark` and `jitter` concern.
        #[schemars(with = "Concerned")]
        Concerned;
    /// Packets lost by the link itself, each way.
    #[serde(default)]
    loss: Loss, port Changes => loss
        /// Packets lost by the link itself.
        #[schemars(with = "Loss")]
        Loss;
    /// Packets that the link holds back so that later ones overtake them, each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Reorder")]
    reorder: Option<Reorder>, port Stays => impairments.reorder
        /// Packets that the link holds back so that later ones overtake them.
        #[schemars(with = "Reorder")]
        Reorder;
    /// Share of the packets that arrive twice, each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0, max = 1))]
    duplicate: Option<f64>, port Stays => impairments.duplicate
        /// Share of the packets that arrive twice.
        #[schemars(with = "f64", range(min = 0, max = 1))]
        f64;
    /// ECN-capable packets that the link marks by itself (CE), each way; the same words as of `loss`.
    #[serde(default)]
    mark: Loss, port Stays => impairments.mark
        /// ECN-capable packets that the link marks by itself (CE).
        #[schemars(with = "Loss")]
        Loss;
    /// Extra delay of every packet, drawn for each, each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Jitter")]
    jitter: Option<Jitter>, port Stays => impairments.jitter
        /// Extra delay of every packet, drawn for each.
        #[schemars(with = "Jitter")]
        Jitter;
    /// Queue of the switch ports of these links (both, if both ends are switches). Without a limit it is bounded only
    /// by the switch's memory.
    #[serde(default)]
    queue: QueueSpec, port Changes => queue
        /// Queue of the port that sends in this direction.
        #[schemars(with = "QueueSpec")]
        QueueSpec;
    /// Queue of the hosts' ports: no limit unless given.
    #[serde(default)]
    host_queue: QueueSpec;
    /// The round-trip time that `"1 bdp"` refers to; without it the mean base RTT of the flows that cross the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    bdp_rtt: Option<Span>, port Changes => bdp_rtt
        /// The round-trip time that `"1 bdp"` refers to.
        #[schemars(with = "Span")]
        Span;
    /// What differs from the first end to the second.
    #[serde(default, skip_serializing_if = "LinkWords::is_empty")]
    forward: LinkWords;
    /// What differs from the second end to the first.
    #[serde(default, skip_serializing_if = "LinkWords::is_empty")]
    backward: LinkWords;
    /// What single ones of these ports have of their own, by the name that they have in tables: `{ "sw->client[0]" = { rate =
    /// "2 Gbps" } }`; members may be ranges (`"sw->client[0-3]"`). Overrides and changes may leave the entry out:
    /// `links.sw->client[0].rate`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    ports: IndexMap<String, LinkWords>;
}

fn up() -> bool {
    true
}

impl LinkWords {
    fn is_empty(&self) -> bool {
        *self == LinkWords::default()
    }
}

/// A port of an entry of `[[links]]`: which words are its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortOf<'a> {
    pub entry: usize,
    pub forward: bool,
    /// The key of `ports` that names it, if one does.
    pub single: Option<&'a str>,
    /// Whether it is a host's.
    pub host: bool,
}

impl Links {
    /// Returns whether a run can change `key` of an entry, a direction or a port.
    pub(crate) fn can_change(key: &str) -> bool {
        key == "host_queue" || LinkWords::KEYS.contains(&(key, During::Changes))
    }

    /// Returns what the entry says to all ports of hosts, or of switches.
    pub(crate) fn of_all(&self, host: bool) -> LinkWords {
        let mut words = self.shared();
        if host {
            words.queue = Some(self.host_queue.clone());
        }
        words
    }

    /// Returns the words of one direction, and their key.
    pub(crate) fn direction(&self, forward: bool) -> (&'static str, &LinkWords) {
        if forward { ("forward", &self.forward) } else { ("backward", &self.backward) }
    }

    /// Returns the words of both directions and of single ports, with their places in the entry at `at`.
    pub(crate) fn own_words(&self, at: &Path) -> Vec<(Path, &LinkWords)> {
        let directions = [true, false].map(|forward| self.direction(forward));
        let mut all: Vec<(Path, &LinkWords)> = directions.map(|(name, words)| (at.key(name), words)).into();
        all.extend(self.ports.iter().map(|(name, words)| (at.key("ports").key(name), words)));
        all
    }

    /// Returns where a key of a port is written: among its own words, else those of its direction, else those of the entry.
    pub(crate) fn place(&self, port: PortOf<'_>, key: &str) -> Path {
        let at = at!["links", port.entry];
        let single = port.single.and_then(|name| Some((at.key("ports").key(name), self.ports.get(name)?)));
        let (name, own) = self.direction(port.forward);
        let mut all = single.into_iter().chain([(at.key(name), own)]);
        match all.find(|(_, words)| words.gives(key)) {
            Some((own, _)) => own.key(key),
            None if port.host && key == "queue" => at.key("host_queue"),
            None => at.key(key),
        }
    }
}

/// A rate, or what it follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LinkRate {
    /// The same during the whole run.
    Fixed(Rate),
    Driven(DrivenRate),
}

/// What a rate follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DrivenRate {
    /// A trace in Mahimahi's format or CSV.
    Trace(TraceWords),
}

/// A propagation delay, or several over the links of one entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Delay {
    /// The same for every link.
    Fixed(Span),
    Spread(Spread),
}

/// Delays of several links, or one that varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// From the first value to the second in equal steps, to the nearest picosecond.
    Linear([Span; 2]),
    /// Drawn uniformly between both, for each link from its own random stream; both directions are equal.
    Uniform([Span; 2]),
    /// What a trace has when a transmission ends. No packet overtakes another unless the trace says `reorder`.
    Trace(TraceWords),
}

/// Which members of two groups are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkPairing {
    /// One to one if both have as many members, else each to the only member of the other.
    #[default]
    Auto,
    /// Each member to every member of the other.
    All,
    /// The larger group in equal blocks, each block to one member of the smaller: hosts 0-3 to edge 0, 4-7 to edge 1.
    Blocks,
    /// The larger group dealt out in turn to the members of the smaller: hosts 0, 4 and 8 to rail 0, 1, 5 and 9 to rail 1.
    Cyclic,
}

#[cfg(test)]
mod tests {
    /// The language with keys that it does not have.
    mod made_up {
        use super::super::{Deserialize, During, JsonSchema, Serialize};

        #[derive(Debug, Default, PartialEq)]
        pub struct Paint {
            colour: Option<String>,
        }

        /// The plan of a port.
        #[derive(Debug, Default, PartialEq)]
        pub struct Link {
            paint: Paint,
            kg: u32,
        }

        keys_of_links! {
            /// A key of the entry alone.
            pairing: String;
            /// What it is of an entry.
            colour: Option<String>, port Stays => paint.colour
                /// What it is of a port.
                String;
            /// What must be said of an entry.
            weight: u32, port Changes => kg
                /// What it is of a port.
                u32;
        }

        #[test]
        fn a_made_up_key_is_one_field() {
            let entry: Links = serde_json::from_str(r#"{ "pairing": "x", "colour": "red", "weight": 1 }"#).unwrap();
            let own: LinkWords = serde_json::from_str(r#"{ "colour": "blue" }"#).unwrap();
            let words = own.over(&entry.shared());
            assert_eq!((words.colour.as_deref(), words.weight), (Some("blue"), Some(1)));
            assert_eq!(LinkWords::KEYS, [("colour", During::Stays), ("weight", During::Changes)]);
            assert!(own.gives("colour") && !own.gives("weight") && !own.gives("pairing"));
            let mut port = Link::default();
            own.tell(&mut port);
            assert_eq!(port, Link { paint: Paint { colour: Some("blue".to_owned()) }, kg: 0 });
            words.tell(&mut port);
            assert_eq!(port.kg, 1);
        }
    }
}
