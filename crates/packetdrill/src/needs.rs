//! What a script needs that elephan does not have, found before it runs: a script that would fail for another reason first, or
//! pass because a thing it needs does nothing, is reported as one that cannot run.

use crate::command::Shell;
use crate::python;
use crate::script::{Action, Call, Packet, Script, TcpOption, Value};
use std::path::Path;

/// Constants of what is not modelled, with what they stand for.
const NOT_MODELLED: [(&str, &str); 13] = [
    ("MSG_OOB", "urgent data"),
    ("TCP_MD5SIG", "TCP MD5 signatures"),
    ("TCP_KEEPIDLE", "keep-alive"),
    ("TCP_KEEPINTVL", "keep-alive"),
    ("TCP_KEEPCNT", "keep-alive"),
    ("SO_KEEPALIVE", "keep-alive"),
    ("TCP_DEFER_ACCEPT", "TCP_DEFER_ACCEPT"),
    ("TCP_WINDOW_CLAMP", "TCP_WINDOW_CLAMP"),
    ("TCP_QUICKACK", "TCP_QUICKACK"),
    ("IP_TOS", "IP_TOS"),
    ("SO_RCVLOWAT", "SO_RCVLOWAT"),
    ("SO_MAX_PACING_RATE", "SO_MAX_PACING_RATE"),
    ("SO_BINDTODEVICE", "SO_BINDTODEVICE"),
];

/// The calls that [`crate::host::Host::call`] knows.
const CALLS: [&str; 27] = [
    "accept",
    "accept4",
    "bind",
    "close",
    "connect",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "fcntl",
    "getsockopt",
    "ioctl",
    "listen",
    "poll",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "send",
    "sendmsg",
    "sendto",
    "setsockopt",
    "shutdown",
    "socket",
    "write",
    "writev",
];

/// What is missing, with the first line that needs each; in order of lines.
pub fn needs(script: &Script, folder: Option<&Path>) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut shell = Shell::default();
    for event in &script.events {
        let missing: Vec<String> = match &event.action {
            Action::Unsupported(what) => vec![what.clone()],
            Action::Packet(packet) => of_packet(packet),
            Action::Call(call) => of_call(call),
            Action::Command(text) => shell.run(text, folder).err().into_iter().collect(),
            Action::Code(code) => python::program(code).err().into_iter().collect(),
        };
        for what in missing {
            if !found.iter().any(|(_, known)| *known == what) {
                found.push((event.line, what));
            }
        }
    }
    found
}

fn of_packet(packet: &Packet) -> Vec<String> {
    let crate::script::Options::These(options) = &packet.options else { return Vec::new() };
    options
        .iter()
        .filter_map(|option| match option {
            TcpOption::Other(name) => Some(name.clone()),
            _ => None,
        })
        .collect()
}

fn of_call(call: &Call) -> Vec<String> {
    let mut found = Vec::new();
    if !CALLS.contains(&call.name.as_str()) {
        found.push(format!("the call {}()", call.name));
    }
    for value in &call.args {
        walk(value, &mut |word| {
            if let Some((_, what)) = NOT_MODELLED.iter().find(|(name, _)| *name == word) {
                found.push((*what).to_owned());
            }
        });
    }
    found
}

fn walk(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::Word(name) => visit(name),
        Value::Or(items) | Value::Array(items) | Value::Apply(_, items) => {
            items.iter().for_each(|item| walk(item, visit))
        }
        Value::Fields(fields) => fields.iter().for_each(|(_, item)| walk(item, visit)),
        Value::Ellipsis | Value::Number(_) | Value::Text(_) => {}
    }
}
