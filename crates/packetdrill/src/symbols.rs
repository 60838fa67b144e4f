//! Names of constants of Linux's socket interface, with their values on Linux.

use crate::script::Value;

const SYMBOLS: &[(&str, i64)] = &[
    ("NULL", 0),
    ("AF_UNSPEC", 0),
    ("AF_INET", 2),
    ("AF_INET6", 10),
    ("SOCK_STREAM", 1),
    ("SOCK_DGRAM", 2),
    ("SOCK_NONBLOCK", 0o4000),
    ("SOCK_CLOEXEC", 0o2_000_000),
    ("IPPROTO_IP", 0),
    ("IPPROTO_TCP", 6),
    ("IPPROTO_UDP", 17),
    ("SOL_IP", 0),
    ("SOL_SOCKET", 1),
    ("SOL_TCP", 6),
    ("SOL_IPV6", 41),
    ("O_RDONLY", 0),
    ("O_WRONLY", 1),
    ("O_RDWR", 2),
    ("O_NONBLOCK", 0o4000),
    ("F_GETFL", 3),
    ("F_SETFL", 4),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("MSG_OOB", 0x1),
    ("MSG_PEEK", 0x2),
    ("MSG_TRUNC", 0x20),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_EOR", 0x80),
    ("MSG_WAITALL", 0x100),
    ("MSG_ERRQUEUE", 0x2000),
    ("MSG_NOSIGNAL", 0x4000),
    ("MSG_MORE", 0x8000),
    ("MSG_ZEROCOPY", 0x400_0000),
    ("MSG_FASTOPEN", 0x2000_0000),
    ("SIOCINQ", 0x541B),
    ("FIONREAD", 0x541B),
    ("SIOCOUTQ", 0x5411),
    ("TIOCOUTQ", 0x5411),
    ("SIOCOUTQNSD", 0x894B),
    ("SO_REUSEADDR", 2),
    ("SO_ERROR", 4),
    ("SO_SNDBUF", 7),
    ("SO_RCVBUF", 8),
    ("SO_KEEPALIVE", 9),
    ("SO_PRIORITY", 12),
    ("SO_LINGER", 13),
    ("SO_REUSEPORT", 15),
    ("SO_RCVLOWAT", 18),
    ("SO_SNDBUFFORCE", 32),
    ("SO_RCVBUFFORCE", 33),
    ("SO_MARK", 36),
    ("SO_TIMESTAMPING", 37),
    ("SO_MAX_PACING_RATE", 47),
    ("SO_ZEROCOPY", 60),
    ("TCP_NODELAY", 1),
    ("TCP_MAXSEG", 2),
    ("TCP_CORK", 3),
    ("TCP_KEEPIDLE", 4),
    ("TCP_KEEPINTVL", 5),
    ("TCP_KEEPCNT", 6),
    ("TCP_SYNCNT", 7),
    ("TCP_LINGER2", 8),
    ("TCP_DEFER_ACCEPT", 9),
    ("TCP_WINDOW_CLAMP", 10),
    ("TCP_INFO", 11),
    ("TCP_QUICKACK", 12),
    ("TCP_CONGESTION", 13),
    ("TCP_MD5SIG", 14),
    ("TCP_USER_TIMEOUT", 18),
    ("TCP_FASTOPEN", 23),
    ("TCP_NOTSENT_LOWAT", 25),
    ("TCP_FASTOPEN_CONNECT", 30),
    ("TCP_FASTOPEN_KEY", 33),
    ("TCP_FASTOPEN_NO_COOKIE", 34),
    ("TCP_INQ", 36),
    ("TCP_CM_INQ", 36),
    ("TCP_RTO_MAX_MS", 44),
    ("IP_TOS", 1),
    ("IP_MTU_DISCOVER", 10),
    ("IP_RECVERR", 11),
    ("IP_FREEBIND", 15),
    ("IP_PMTUDISC_DONT", 0),
    ("IP_PMTUDISC_WANT", 1),
    ("IP_PMTUDISC_DO", 2),
    ("CMSG_LEVEL_IP", 0),
    ("CMSG_TYPE_RECVERR", 11),
    ("POLLIN", POLLIN),
    ("POLLPRI", 2),
    ("POLLOUT", POLLOUT),
    ("POLLERR", POLLERR),
    ("POLLHUP", POLLHUP),
    ("POLLNVAL", 0x20),
    ("POLLRDNORM", 0x40),
    ("POLLWRNORM", 0x100),
    ("POLLRDHUP", POLLRDHUP),
    ("EPOLLIN", POLLIN),
    ("EPOLLOUT", POLLOUT),
    ("EPOLLERR", POLLERR),
    ("EPOLLHUP", POLLHUP),
    ("EPOLLRDHUP", POLLRDHUP),
    ("EPOLLEXCLUSIVE", 1 << 28),
    ("EPOLLONESHOT", EPOLLONESHOT),
    ("EPOLLET", EPOLLET),
    ("EPOLL_CTL_ADD", 1),
    ("EPOLL_CTL_DEL", 2),
    ("EPOLL_CTL_MOD", 3),
    ("SOF_TIMESTAMPING_TX_SOFTWARE", 1 << 1),
    ("SOF_TIMESTAMPING_SOFTWARE", 1 << 4),
    ("SOF_TIMESTAMPING_OPT_ID", 1 << 7),
    ("SOF_TIMESTAMPING_TX_SCHED", 1 << 8),
    ("SOF_TIMESTAMPING_TX_ACK", 1 << 9),
    ("SOF_TIMESTAMPING_OPT_TSONLY", 1 << 11),
    ("SCM_TIMESTAMPING", 37),
    ("SO_EE_ORIGIN_TIMESTAMPING", 4),
    ("SO_EE_ORIGIN_ZEROCOPY", 5),
    ("SO_EE_CODE_ZEROCOPY_COPIED", 1),
    ("SCM_TSTAMP_SND", 0),
    ("SCM_TSTAMP_SCHED", 1),
    ("SCM_TSTAMP_ACK", 2),
    ("EIO", 5),
    ("EPIPE", 32),
    ("ENOMSG", 42),
    ("ECONNABORTED", 103),
    ("ECONNRESET", 104),
    ("ETIMEDOUT", 110),
    ("ECONNREFUSED", 111),
    ("EHOSTUNREACH", 113),
];

pub const POLLIN: i64 = 0x1;
pub const POLLOUT: i64 = 0x4;
pub const POLLERR: i64 = 0x8;
pub const POLLHUP: i64 = 0x10;
pub const POLLRDHUP: i64 = 0x2000;
pub const EPOLLONESHOT: i64 = 1 << 30;
pub const EPOLLET: i64 = 1 << 31;

/// The value of a constant.
pub fn symbol(name: &str) -> Option<i64> {
    SYMBOLS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// The name of the constant of `family` (such as `TCP_`) that has a value, for reports.
pub fn named(families: &[&str], value: i64) -> Option<&'static str> {
    let ours = |name: &str| families.iter().any(|family| name.starts_with(family));
    SYMBOLS.iter().find(|(name, known)| *known == value && ours(name)).map(|(name, _)| *name)
}

impl Value {
    /// The number that a value stands for. An error names what is no number or no known constant.
    pub fn number(&self) -> Result<i64, String> {
        match self {
            Value::Number(number) => Ok(*number),
            Value::Word(name) => symbol(name).ok_or_else(|| format!("the constant {name}")),
            Value::Or(parts) => parts.iter().try_fold(0, |all, part| Ok(all | part.number()?)),
            other => Err(format!("the value {other}")),
        }
    }

    /// The number of `[1]`.
    pub fn boxed(&self) -> Result<i64, String> {
        match self {
            Value::Array(items) if items.len() == 1 => items[0].number(),
            other => other.number(),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |f: &mut std::fmt::Formatter<'_>, items: &[Value], mark: &str| {
            for (i, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if i > 0 { mark } else { "" })?;
            }
            Ok(())
        };
        match self {
            Value::Ellipsis => f.write_str("..."),
            Value::Number(number) => write!(f, "{number}"),
            Value::Word(name) => f.write_str(name),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Or(items) => list(f, items, "|"),
            Value::Array(items) => {
                f.write_str("[")?;
                list(f, items, ", ")?;
                f.write_str("]")
            }
            Value::Apply(name, items) => {
                write!(f, "{name}(")?;
                list(f, items, ", ")?;
                f.write_str(")")
            }
            Value::Fields(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    match name {
                        Some(name) => write!(f, "{name}={value}")?,
                        None => write!(f, "{value}")?,
                    }
                }
                f.write_str("}")
            }
        }
    }
}
