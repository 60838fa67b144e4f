//! The tables of parallel programs.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is an iteration of a group of ranks: a collective operation, or a program in GOAL, done once.
    IterationRow, IterationColumns in "iterations" {
        /// Name of the `[[traffic]]` entry that it belongs to
        traffic: Text = "",
        /// Number of the group within the entry
        group: i64 = "",
        /// Number of the iteration, from 0
        iteration: i64 = "",
        /// Ranks of the group
        ranks: i64 = "",
        /// When it began: ranks compute first
        begin_ns: i64 = "ns",
        /// When the last rank had computed and the messages could begin
        ready_ns: i64 = "ns",
        /// When all ranks had done everything; null when the run ended first
        end_ns: Option<i64> = "ns",
        /// Payload of all messages
        bytes: i64 = "B",
        /// What it would have taken if each interface sent one message after the other at its rate, and nobody else used the network
        ideal_ns: Option<i64> = "ns",
        /// What it took, over the ideal
        slowdown: Option<f64> = "",
        /// Bus bandwidth as nccl-tests defines it, over the time from `ready_ns` to `end_ns`; null of a program in GOAL
        bus_bps: Option<f64> = "bit/s",
        /// Time on the critical path on which ranks computed
        path_computed_ns: Option<i64> = "ns",
        /// Time on the critical path on which messages were on their way
        path_messages_ns: Option<i64> = "ns",
        /// Host that held it back most: it computed longer than the mean of all, or its messages took longer than alone; empty if none did
        straggler: Text = "",
        /// To whom those messages went; empty if the host computed
        straggler_to: Text = "",
        /// By how much, on the critical path
        straggler_ns: i64 = "ns",
        /// Link on the way of those messages that was busiest in that time, by `from->to`; empty if the host computed
        straggling_link: Text = "",
        /// Why it can never end: a rank waits for a message that nobody sends; empty if it has ended or goes on
        stuck: Text = "",
    }
}

table! {
    /// A row is something that a rank did in an iteration that came to its end: with `record.operations`.
    OperationRow, OperationColumns in "operations" {
        /// Name of the `[[traffic]]` entry that it belongs to
        traffic: Text = "",
        /// Number of the group within the entry
        group: i64 = "",
        /// Number of the iteration, from 0
        iteration: i64 = "",
        /// Number of the rank within its group
        rank: i64 = "",
        /// `compute`; `send`, a message from being handed over until it is in; `wait`, for a message that was not in when it was asked for
        kind: Text = "",
        /// Rank to which the message went, or that was waited for
        peer: Option<i64> = "",
        /// Payload of the message
        bytes: i64 = "B",
        /// When it began
        begin_ns: i64 = "ns",
        /// When it was over
        end_ns: i64 = "ns",
    }
}

table! {
    /// A row is a rank in an iteration.
    RankRow, RankColumns in "ranks" {
        /// Name of the `[[traffic]]` entry that it belongs to
        traffic: Text = "",
        /// Number of the group within the entry
        group: i64 = "",
        /// Number of the iteration, from 0
        iteration: i64 = "",
        /// Number of the rank within its group
        rank: i64 = "",
        /// Its host
        host: Text = "",
        /// When it had done everything and its messages were in; null when the run ended first
        end_ns: Option<i64> = "ns",
        /// How long it computed
        computed_ns: i64 = "ns",
        /// How long, before its end, it neither computed nor had a message on the way
        waited_ns: i64 = "ns",
    }
}
