//! What a host's interface decides: the version of IP, and with its MTU the MSS.
//!
//! ```text
//! MSS = MTU - IP header - TCP header        20 and 20 bytes over IPv4, 40 and 20 over IPv6 (RFC 9293 section 3.7.1)
//! ```
//!
//! The headers are those without options: a sender takes options from the MSS (RFC 6691).

use elephan_units::{Bytes, InvalidParameter};

use super::{MSS_MIN, Options};
use crate::segment::IpVersion;

/// MTU of Ethernet, where nobody says another.
const MTU_DEFAULT: Bytes = Bytes(1500);

const FROM_MTU: &str = "RFC 9293 section 3.7.1: the MTU of the host's link less 40 bytes";
const FROM_MTU_V6: &str = "RFC 9293 section 3.7.1: the MTU of the host's link, or 1500, less 60 bytes";

impl Options {
    /// Takes the version of IP, and the MTU of the host's interface if it is known. An MSS that nobody has given follows from both.
    ///
    /// An MSS that was given and that the MTU has no room for is an error.
    pub fn attach(&mut self, ip: IpVersion, mtu: Option<Bytes>) -> Result<(), InvalidParameter> {
        self.ip = ip;
        let headers = u64::from(ip.tcp_headers_bytes());
        let room = Bytes(mtu.unwrap_or(MTU_DEFAULT).0.saturating_sub(headers).max(MSS_MIN));
        if !self.is_given("mss") {
            if mtu.is_some() || ip != IpVersion::V4 {
                (self.mss, self.mss_follows) = (room, true);
            }
            return self.validate();
        }
        match mtu {
            Some(mtu) if self.mss > room => {
                let (mss, mtu, room) = (self.mss.0, mtu.0, room.0);
                let reason = format!(
                    "{mss} B: with {headers} B of headers more than the host's link carries, mtu = \"{mtu} B\"; {room} B at most"
                );
                Err(InvalidParameter::new("mss", reason))
            }
            _ => self.validate(),
        }
    }

    /// Why an MSS that nobody gave is not that of the stack, if it is not.
    pub(crate) fn why_other_mss(&self, option: &str) -> Option<&'static str> {
        let why = if self.ip == IpVersion::V6 { FROM_MTU_V6 } else { FROM_MTU };
        (option == "mss" && self.mss_follows).then_some(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Origin, Overrides};

    /// RFC 9293 section 3.7.1: 1500 - 40 and 1500 - 60, 9000 - 40 and 1280 - 60.
    #[test]
    fn the_mss_follows_from_the_mtu() {
        for (ip, mtu, mss) in [
            (IpVersion::V4, None, 1460),
            (IpVersion::V6, None, 1440),
            (IpVersion::V4, Some(9000), 8960),
            (IpVersion::V6, Some(1280), 1220),
            (IpVersion::V4, Some(1400), 1360),
        ] {
            let mut options = crate::stack("linux").unwrap();
            options.attach(ip, mtu.map(Bytes)).unwrap();
            assert_eq!((options.mss, options.ip), (Bytes(mss), ip));
            let origin = options.provenance().into_iter().find(|row| row.name == "mss").unwrap().origin;
            let Origin::Default(source) = origin else { panic!("{origin:?}") };
            assert_eq!(source.contains("MTU of the host"), mss != 1460, "{source}");
        }
    }

    #[test]
    fn a_given_mss_stays_or_is_refused() {
        let mut options = crate::stack("rfc").unwrap();
        options.apply(&Overrides { mss: Some(Bytes(1460)), ..Overrides::default() }).unwrap();
        options.attach(IpVersion::V6, None).unwrap();
        assert_eq!(options.mss, Bytes(1460));
        options.attach(IpVersion::V4, Some(Bytes(1500))).unwrap();
        let error = options.attach(IpVersion::V6, Some(Bytes(1500))).unwrap_err();
        assert_eq!(
            (error.parameter.as_ref(), error.reason.as_str()),
            ("mss", "1460 B: with 60 B of headers more than the host's link carries, mtu = \"1500 B\"; 1440 B at most")
        );
    }
}
