//! The option lines of a script: tolerances, timestamps, the size of packets.

use crate::script::{OptionLine, SyntaxError};
use elephan_tcp::Options;
use elephan_units::{Bytes, Span};

/// How far the time of an event may be off: 4 ms, or this share of the time since the event before if that is more.
const TOLERANCE: Span = Span::from_us(4000);
const TOLERANCE_PERCENT: f64 = 1.0;
const MTU: u64 = 1500;
/// IP and TCP headers without options.
const IPV4_BYTES: u64 = 40;
const IPV6_BYTES: u64 = 60;
/// packetdrill's addresses.
const REMOTE: [u8; 4] = [192, 0, 2, 1];
const LOCAL: [u8; 4] = [192, 168, 0, 1];

/// Options that say where packets go and how code is called, which mean nothing here.
const WITHOUT_MEANING: [&str; 10] = [
    "bind_port",
    "code_command",
    "code_format",
    "code_sockopt",
    "connect_port",
    "debug",
    "gateway_ip",
    "netmask_ip",
    "send_omit_free",
    "verbose",
];

#[derive(Clone, Debug)]
pub struct Setup {
    pub tolerance: Span,
    percent: f64,
    /// A packet of the script is one segment.
    pub strict: bool,
    /// How long a tick of TS val is, if it is to be checked.
    pub tick: Option<Span>,
    pub scaled_echoes: bool,
    /// Longer packets that arrive are segments of so many bytes which the device has joined.
    pub joined: Option<u64>,
    mtu: u64,
    ipv6: bool,
    /// Addresses of the script's end and of the host, of which cookies are made.
    pub remote: [u8; 4],
    pub local: [u8; 4],
    /// An option that elephan does not know.
    pub missing: Option<(u32, String)>,
}

impl Setup {
    pub fn of(lines: &[OptionLine]) -> Result<Setup, SyntaxError> {
        let mut setup = Setup {
            tolerance: TOLERANCE,
            percent: TOLERANCE_PERCENT,
            strict: false,
            tick: None,
            scaled_echoes: false,
            joined: None,
            mtu: MTU,
            ipv6: false,
            remote: REMOTE,
            local: LOCAL,
            missing: None,
        };
        for line in lines {
            setup.take(line)?;
        }
        Ok(setup)
    }

    fn take(&mut self, option: &OptionLine) -> Result<(), SyntaxError> {
        let number = |most: u64| match option.value.parse::<u64>() {
            Ok(number) if number <= most => Ok(number),
            _ => Err(SyntaxError {
                line: option.line,
                message: format!("--{} is a whole number from 0 to {most}, not {:?}", option.name, option.value),
            }),
        };
        match option.name.as_str() {
            "tolerance_usecs" => self.tolerance = Span::from_us(number(1_000_000_000)?),
            "tolerance_percent" => self.percent = number(100)? as f64,
            "tcp_ts_tick_usecs" => self.tick = Some(Span::from_us(number(1_000_000)?)).filter(|tick| tick.0 > 0),
            "tcp_ts_ecr_scaled" => self.scaled_echoes = true,
            "strict_segments" => self.strict = true,
            "mss" => self.joined = Some(number(65_535)?.max(1)),
            "mtu" => self.mtu = number(65_535)?,
            "remote_ip" | "local_ip" => {
                if let Ok(address) = option.value.parse::<std::net::Ipv4Addr>() {
                    let place = if option.name == "local_ip" { &mut self.local } else { &mut self.remote };
                    *place = address.octets();
                }
            }
            "ip_version" => self.ipv6 = option.value == "ipv6",
            name if WITHOUT_MEANING.contains(&name) => {}
            name => {
                self.missing.get_or_insert((option.line, format!("the option --{name}")));
            }
        }
        Ok(())
    }

    /// The tolerance of an event so long after the one before.
    pub fn tolerance_after(&self, since: Span) -> Span {
        self.tolerance.max(Span::from_seconds(since.seconds() * self.percent / 100.0))
    }

    /// Changes what the options of a stack have to be.
    pub fn apply(&self, options: &mut Options) {
        let headers = if self.ipv6 { IPV6_BYTES } else { IPV4_BYTES };
        options.mss = Bytes(self.mtu.saturating_sub(headers).clamp(88, 65_495));
    }
}
