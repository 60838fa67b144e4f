"""Names of the tables that results have."""

RUN = (
    "flows",
    "messages",
    "datagrams",
    "flow_samples",
    "statistics",
    "info",
    "ports",
    "port_samples",
    "switch_samples",
    "pauses",
    "holds",
    "limiter_samples",
    "copies",
    "copy_samples",
    "hosts",
    "host_samples",
    "logger_gaps",
    "transmit_samples",
    "events",
)
TRACE = ("connections", "connection_samples", "trace_events")
