"""The tables of runs and traces. Generated from crates/record/src/{rows,trace}.rs by `make generate`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Each table with its first columns, as many as no other table has all of.
RUN = {
    "flows": ("flow", "traffic", "source", "destination", "protocol"),
    "messages": ("flow", "enter_ns"),
    "datagrams": ("flow", "seq"),
    "flow_samples": ("time_ns", "flow", "cwnd_bytes"),
    "statistics": ("time_ns", "flow", "segs_out", "segs_in", "data_segs_out", "data_segs_in", "data_octets_out"),
    "info": ("time_ns", "flow", "state"),
    "ports": ("port", "name", "node"),
    "port_samples": ("time_ns", "port", "queue_bytes", "queue_packets", "tx_packets"),
    "switch_samples": ("time_ns", "switch"),
    "queue_delays": ("port", "name", "priority"),
    "pauses": ("pause",),
    "holds": ("episode", "root", "port", "flow"),
    "limiter_samples": ("time_ns", "host", "port", "destination"),
    "copies": ("copy", "traffic"),
    "copy_samples": ("time_ns", "copy"),
    "iterations": ("traffic", "group", "iteration", "ranks"),
    "ranks": ("traffic", "group", "iteration", "rank", "host"),
    "operations": ("traffic", "group", "iteration", "rank", "kind"),
    "hosts": ("host", "cpu", "frames"),
    "host_samples": ("time_ns", "host", "cpu"),
    "logger_gaps": ("host", "begin_ns"),
    "transmit_samples": ("time_ns", "host", "port", "qdisc_packets"),
    "events": ("time_ns", "kind", "node"),
}
TRACE = {
    "connections": ("connection", "protocol"),
    "connection_samples": ("time_ns", "span_ns", "connection"),
    "trace_events": ("time_ns", "connection", "kind"),
    "connection_stretches": ("connection", "begin_ns", "end_ns", "owner"),
    "connection_findings": ("connection", "kind", "begin_ns"),
    "pair_connections": ("connection", "far_connection"),
    "pair_delays": ("time_ns", "span_ns", "direction"),
    "pair_losses": ("time_ns", "connection", "direction"),
}


class RunTables:
    """The tables of a run, each as a property."""

    tables: Mapping[str, pa.Table]

    @property
    def flows(self) -> pa.Table:
        """A row is a connection or a UDP stream."""
        return self.tables["flows"]

    @property
    def messages(self) -> pa.Table:
        """A row is an application message or a transfer."""
        return self.tables["messages"]

    @property
    def datagrams(self) -> pa.Table:
        """A row is a datagram, or a frame without IP, as its receiver logs it (`record.datagrams`): the first of each
        stream, in the order in which they come.
        """
        return self.tables["datagrams"]

    @property
    def flow_samples(self) -> pa.Table:
        """A row is the state of a flow at a sample time."""
        return self.tables["flow_samples"]

    @property
    def statistics(self) -> pa.Table:
        """A row is what a TCP connection counts at a sample time (`record.statistics`): the instruments of RFC 4898 as
        in `flows`, where "at the end" is the sample time.
        """
        return self.tables["statistics"]

    @property
    def info(self) -> pa.Table:
        """A row is what Linux's `tcp_info` shows of the sending end of a TCP connection at a sample time
        (`record.info`), with its names and units; `received_*` and `rcv_*` are of the other way, on which no data
        flows here.
        """
        return self.tables["info"]

    @property
    def ports(self) -> pa.Table:
        """A row is one direction of a link: the port that sends into it."""
        return self.tables["ports"]

    @property
    def port_samples(self) -> pa.Table:
        """A row is the state of a port at a sample time."""
        return self.tables["port_samples"]

    @property
    def switch_samples(self) -> pa.Table:
        """A row is the state of a switch at a sample time."""
        return self.tables["switch_samples"]

    @property
    def queue_delays(self) -> pa.Table:
        """A row is a class of packets at a port that has sent some after the warm-up: with `record.queue_delays`."""
        return self.tables["queue_delays"]

    @property
    def pauses(self) -> pa.Table:
        """A row is a pause interval: the time from which a port may send nothing, or nothing of a priority, until it
        may again.
        """
        return self.tables["pauses"]

    @property
    def holds(self) -> pa.Table:
        """A row is what the pause intervals of an episode at one port did to a flow whose packets they held."""
        return self.tables["holds"]

    @property
    def limiter_samples(self) -> pa.Table:
        """A row is a limiter of a host at a sample time: there is none before the first notification about what it
        limits, nor when its rate is the line's again and nothing waits behind it.
        """
        return self.tables["limiter_samples"]

    @property
    def copies(self) -> pa.Table:
        """A row is a transfer from disk to disk, whatever streams it has."""
        return self.tables["copies"]

    @property
    def copy_samples(self) -> pa.Table:
        """A row is the state of a transfer from disk to disk at a sample time."""
        return self.tables["copy_samples"]

    @property
    def iterations(self) -> pa.Table:
        """A row is an iteration of a group of ranks: a collective operation, or a program in GOAL, done once."""
        return self.tables["iterations"]

    @property
    def ranks(self) -> pa.Table:
        """A row is a rank in an iteration."""
        return self.tables["ranks"]

    @property
    def operations(self) -> pa.Table:
        """A row is something that a rank did in an iteration that came to its end: with `record.operations`."""
        return self.tables["operations"]

    @property
    def hosts(self) -> pa.Table:
        """A row is a host with a model of its receive side or of its processor, at the end of the run."""
        return self.tables["hosts"]

    @property
    def host_samples(self) -> pa.Table:
        """A row is such a host at a sample time."""
        return self.tables["host_samples"]

    @property
    def logger_gaps(self) -> pa.Table:
        """A row is a gap of a host's logger: two of its intervals or more without a line."""
        return self.tables["logger_gaps"]

    @property
    def transmit_samples(self) -> pa.Table:
        """A row is a port of a host with a transmit side at a sample time: what waits there, the frame on the wire not."""
        return self.tables["transmit_samples"]

    @property
    def events(self) -> pa.Table:
        """A row is something rare that happened."""
        return self.tables["events"]
