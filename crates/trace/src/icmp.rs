//! Errors that routers and hosts report by ICMP about a segment that they got (RFC 792, RFC 1191, RFC 4443).

use std::net::IpAddr;

use crate::decode::Ip;
use crate::link::View;
use crate::packet::{Complaint, End, Trouble};

/// Bytes of ICMP before the packet that it quotes.
const HEADER_BYTES: usize = 8;

/// The error in a packet of ICMP; nothing if it is no error. `quoted` reads the IP header of the packet that the error quotes.
pub fn complaint<'a>(ip: &Ip<'a>, tcp: u8, quoted: impl Fn(View<'a>) -> Option<Ip<'a>>) -> Option<Complaint> {
    let (kind, code) = (ip.payload.byte(0)?, ip.payload.byte(1)?);
    let version_4 = matches!(ip.from, IpAddr::V4(_));
    let (trouble, mtu) = match (version_4, kind, code) {
        (true, 3, 4) => (Trouble::TooBig, u64::from(ip.payload.word(6)?)),
        (false, 2, _) => (Trouble::TooBig, u64::from(ip.payload.long(4)?)),
        (true, 3, 3) | (false, 1, 4) => (Trouble::NoPort, 0),
        (true, 3, 9 | 10 | 13) | (false, 1, 1 | 5 | 6) => (Trouble::Prohibited, 0),
        (true, 3, _) | (false, 1, _) => (Trouble::Unreachable, 0),
        (true, 11, _) | (false, 3, _) => (Trouble::Expired, 0),
        (true, 12, _) | (false, 4, _) => (Trouble::BadHeader, 0),
        _ => return None,
    };
    let packet = quoted(ip.payload.after(HEADER_BYTES)?).filter(|packet| packet.carries(tcp))?;
    let port = |at: usize, address: IpAddr| -> Option<End> { Some((address, packet.payload.word(at)?)) };
    Some(Complaint { by: ip.from, from: port(0, packet.from)?, to: port(2, packet.to)?, trouble, mtu, frame: 0 })
}
