//! `setsockopt` and `getsockopt`.

use super::calls::{is_open, number};
use super::{Host, Outcome, Role};
use crate::script::Value;
use crate::symbols::{named, symbol};
use crate::sysctl;
use crate::verdict::Stop;
use elephan_tcp::SEND_BUFFER_MIN;
use elephan_units::Span;

const SOL_IP: i64 = 0;
const SOL_SOCKET: i64 = 1;
const SOL_TCP: i64 = 6;
/// What `TCP_RTO_MAX_MS` may be (Linux TCP_RTO_MAX_MIN_SEC, TCP_RTO_MAX).
const RTO_MAX_MS: std::ops::RangeInclusive<i64> = 1000..=120_000;
/// Smallest receive buffer, as a window (Linux SOCK_MIN_RCVBUF, half of it).
const RECEIVE_MIN: u64 = 1152;

fn missing<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::CannotRun(what.into()))
}

fn option_name(level: i64, option: i64) -> String {
    let family = match level {
        SOL_SOCKET => "SO_",
        SOL_TCP => "TCP_",
        SOL_IP => "IP_",
        _ => "",
    };
    named(&[family], option).map_or_else(|| format!("socket option {level}/{option}"), str::to_owned)
}

impl Host {
    #[expect(clippy::too_many_lines, reason = "an arm for each option of a socket")]
    pub(super) fn set_option(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let index = self.stream(args)?;
        let (level, option) = (number(args, 1)?, number(args, 2)?);
        let Some(value) = args.get(3) else { return missing("setsockopt without a value") };
        if (level, option) == (SOL_TCP, 13) {
            return self.set_congestion_control(index, value);
        }
        if (level, option) == (SOL_SOCKET, 13) {
            return self.set_linger(index, value);
        }
        if (level, option) == (SOL_TCP, 33) {
            return self.set_fast_open_key(index, value, number(args, 4)?);
        }
        let given = value.boxed().map_err(Stop::CannotRun)?;
        let size = given.clamp(0, 1 << 30) as u64;
        let (now, buffer_max, client) = (self.now, 1 << 30, self.fast_open_connects());
        let socket = &mut self.sockets[index];
        match (level, option) {
            // Without a meaning here: addresses, marks, priorities, fragments.
            (SOL_SOCKET, 2 | 12 | 15 | 36) | (SOL_IP, 10 | 15) => {}
            (SOL_SOCKET, 7 | 32) => {
                socket.queue.limit = (2 * size).clamp(SEND_BUFFER_MIN, buffer_max);
                socket.queue.locked = true;
            }
            (SOL_SOCKET, 8 | 33) => {
                let bytes = size.max(RECEIVE_MIN);
                socket.receive_buffer = Some(bytes);
                if let Some(endpoint) = &mut socket.endpoint {
                    endpoint.set_receive_buffer(bytes);
                }
            }
            (SOL_SOCKET, 60) => socket.errors.zerocopy = given != 0,
            (SOL_SOCKET, 37) => {
                let acked = socket.queue.acked();
                if !socket.errors.stamp(given, acked) {
                    return missing(format!("SO_TIMESTAMPING {given:#x}"));
                }
            }
            (SOL_TCP, 1) => {
                socket.nodelay = given != 0;
                if let Some(endpoint) = &mut socket.endpoint {
                    endpoint.set_nodelay(now, given != 0);
                }
                self.settle(index);
            }
            (SOL_TCP, 2) => {
                if !(88..=32_767).contains(&given) {
                    return Ok(Outcome::Fail("EINVAL"));
                }
                socket.mss = Some(size);
            }
            (SOL_TCP, 3) => {
                socket.cork = given != 0;
                if let Some(endpoint) = &mut socket.endpoint {
                    endpoint.set_cork(now, given != 0);
                }
                self.settle(index);
            }
            (SOL_TCP, 23) => {
                if given < 0 || socket.role == Role::Stream {
                    return Ok(Outcome::Fail("EINVAL"));
                }
                socket.fast.queue = Some(size);
            }
            (SOL_TCP, 30) => {
                if !(0..=1).contains(&given) || socket.role != Role::Fresh {
                    return Ok(Outcome::Fail("EINVAL"));
                }
                if !client {
                    return Ok(Outcome::Fail("EOPNOTSUPP"));
                }
                socket.fast.connect = given != 0;
            }
            (SOL_TCP, 34) => socket.fast.no_cookie = given != 0,
            (SOL_TCP, 7) => {
                if !(1..=127).contains(&given) {
                    return Ok(Outcome::Fail("EINVAL"));
                }
                socket.syn_count = Some(given as u32);
                if let Some(endpoint) = &mut socket.endpoint {
                    endpoint.set_syn_retries(given as u32);
                }
            }
            (SOL_TCP, 8) => {
                socket.linger = given.max(-1);
                let linger = socket.linger_of();
                if let Some(endpoint) = &mut socket.endpoint {
                    endpoint.set_linger(linger);
                }
            }
            (SOL_TCP, 18) => {
                if given < 0 {
                    return Ok(Outcome::Fail("EINVAL"));
                }
                socket.user_timeout = size;
                if let Some(endpoint) = &mut socket.endpoint {
                    endpoint.set_user_timeout(Span::from_ms(size));
                }
            }
            (SOL_TCP, 25) => {
                socket.low_water = Some(u64::from(given as u32)).filter(|bytes| *bytes != 0);
                socket.queue.low_water = socket.low_water.unwrap_or(self.sysctls.low_water());
            }
            (SOL_TCP, 36) => socket.reports_inq = given != 0,
            (SOL_TCP, 44) => {
                if !RTO_MAX_MS.contains(&given) {
                    return Ok(Outcome::Fail("EINVAL"));
                }
                socket.rto_max = Some(Span::from_ms(size));
                if let Some(endpoint) = &mut socket.endpoint {
                    endpoint.set_rto_max(Span::from_ms(size));
                }
            }
            _ => return missing(option_name(level, option)),
        }
        Ok(Outcome::Done(0))
    }

    /// The secret of this listener's cookies: 16 bytes.
    fn set_fast_open_key(&mut self, index: usize, value: &Value, len: i64) -> Result<Outcome, Stop> {
        let Value::Text(text) = value else { return missing(format!("TCP_FASTOPEN_KEY {value}")) };
        let key = bytes(text).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()).filter(|_| len == 16);
        let Some(key) = key else { return Ok(Outcome::Fail("EINVAL")) };
        self.sockets[index].fast.key = Some(key);
        Ok(Outcome::Done(0))
    }

    fn set_congestion_control(&mut self, index: usize, value: &Value) -> Result<Outcome, Stop> {
        let name = match value {
            Value::Text(name) => name.clone(),
            other => return missing(format!("TCP_CONGESTION {other}")),
        };
        let Some(congestion_control) = sysctl::congestion_control(&name) else {
            return missing(format!("congestion control {name}"));
        };
        let now = self.now;
        let socket = &mut self.sockets[index];
        if let Some(endpoint) = &mut socket.endpoint {
            endpoint.switch_congestion_control(now, &congestion_control);
            endpoint.begin_switched_controller(now);
        }
        socket.congestion_control = Some(congestion_control);
        Ok(Outcome::Done(0))
    }

    /// `{onoff=1, linger=0}`: close resets. To wait in close is not modelled.
    fn set_linger(&mut self, index: usize, value: &Value) -> Result<Outcome, Stop> {
        let value = match value {
            Value::Array(items) if items.len() == 1 => &items[0],
            other => other,
        };
        let field = |name: &str| value.field(name).map(Value::number).transpose().map_err(Stop::CannotRun);
        match (field("onoff")?, field("linger")?) {
            (Some(0), _) => self.sockets[index].aborts = false,
            (Some(_), Some(0)) => self.sockets[index].aborts = true,
            _ => return missing("SO_LINGER with a time"),
        }
        Ok(Outcome::Done(0))
    }

    pub(super) fn get_option(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let index = self.stream(args)?;
        let (level, option) = (number(args, 1)?, number(args, 2)?);
        let socket = &mut self.sockets[index];
        let got = match (level, option) {
            (SOL_SOCKET, 4) => socket.error.take().and_then(symbol).unwrap_or(0),
            (SOL_SOCKET, 7) => socket.queue.limit as i64,
            (SOL_SOCKET, 8) => match socket.receive_buffer {
                Some(bytes) => 2 * bytes as i64,
                None => return missing("SO_RCVBUF that was not set"),
            },
            (SOL_TCP, 1) => i64::from(socket.nodelay),
            (SOL_TCP, 2) => match (&socket.endpoint, socket.mss) {
                (Some(endpoint), _) if !socket.is_over() => endpoint.mss() as i64,
                (_, Some(mss)) => mss as i64,
                _ => 536,
            },
            (SOL_TCP, 3) => i64::from(socket.cork),
            (SOL_TCP, 25) => socket.low_water.map_or(0, |bytes| bytes as i64),
            (SOL_TCP, 36) => i64::from(socket.reports_inq),
            (SOL_TCP, 18) => socket.user_timeout as i64,
            _ => return missing(option_name(level, option)),
        };
        let Some(expected) = args.get(3).filter(|value| !is_open(value)) else { return Ok(Outcome::Done(0)) };
        if expected.boxed().map_err(Stop::CannotRun)? != got {
            return Err(Stop::differs(expected.to_string(), format!("[{got}]")));
        }
        Ok(Outcome::Done(0))
    }
}

/// The bytes of a text with `\\x41` for such as no letter stands for.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some(digits) = rest.strip_prefix("\\x") {
            out.push(u8::from_str_radix(digits.get(..2)?, 16).ok()?);
            rest = &digits[2..];
        } else {
            out.extend(letter.to_string().as_bytes());
            rest = &rest[letter.len_utf8()..];
        }
    }
    Some(out)
}
