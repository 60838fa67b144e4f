//! Packets of the script and segments of the endpoint: how one becomes the other.
//!
//! Sequence numbers of a script begin where its SYNs say; every other packet counts from there, as packetdrill has it: a SYN is
//! taken as it stands, other numbers are added to the initial sequence number of their end. Timestamps that the endpoint sends are
//! known to the script by the numbers that it expects; what it sends back is looked up there.

use crate::host::{ISN, Sent};
use crate::script::{Options, Packet, TcpOption, flag};
use crate::verdict::Stop;
use elephan_tcp::{
    AccEcnOption, Cookie, FastOpenOption, Flags, HEADER_AE, OPTION_SACK_PERMITTED, OPTION_TIMESTAMPS,
    OPTION_WINDOW_SCALE, SackBlocks, Segment,
};
use std::collections::BTreeMap;

/// Names of AccECN's counters, by the codepoint that they count, from ECT(1) on.
const COUNTERS: [&str; 3] = ["e1b", "e0b", "ceb"];
/// Names of the ECN codepoints.
const MARKS: [&str; 4] = ["noecn", "ect1", "ect0", "ce"];

/// What the numbers of the present connection mean.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// Initial sequence numbers: of the endpoint as the script says it, and of the script's end.
    own: u32,
    peer: u32,
    /// Timestamps: what the script expected, and what the endpoint sent.
    stamps: BTreeMap<u32, u32>,
    /// The first of them.
    first: Option<(u32, u32)>,
    /// Echoes that the script did not expect are computed from the first.
    scaled: bool,
}

impl Mapping {
    /// No connection yet; `scaled` echoes are computed.
    pub fn new(scaled: bool) -> Mapping {
        Mapping { scaled, ..Mapping::default() }
    }

    /// A segment for the endpoint. Where it `awaits_syn`, a SYN says where the peer's numbers begin; elsewhere its number stands as it
    /// is and changes nothing.
    pub fn inbound(&mut self, packet: &Packet, awaits_syn: bool) -> Result<(Segment, SackBlocks), Stop> {
        let syn = packet.flags & flag::SYN != 0;
        if syn && awaits_syn {
            self.peer = packet.seq;
        }
        let mut seg = Segment {
            seq: if syn { packet.seq } else { packet.seq.wrapping_add(self.peer) },
            ack: packet.ack.map_or(0, |ack| self.to_own(ack, syn)),
            len: packet.len,
            window: packet.window.unwrap_or(0),
            flags: Flags(packet.flags as u8),
            ecn: packet.ecn.unwrap_or(0),
            options: if packet.flags & flag::AE != 0 { HEADER_AE } else { 0 },
            ..Segment::default()
        };
        let mut sack = SackBlocks::default();
        let Options::These(options) = &packet.options else {
            return Err(Stop::CannotRun("arriving packets with any options".to_owned()));
        };
        for option in options {
            self.add_option(option, &mut seg, &mut sack)?;
        }
        Ok((seg, sack))
    }

    fn to_own(&self, number: u32, syn: bool) -> u32 {
        number.wrapping_add(ISN).wrapping_sub(if syn { self.own } else { 0 })
    }

    fn add_option(&self, option: &TcpOption, seg: &mut Segment, sack: &mut SackBlocks) -> Result<(), Stop> {
        let syn = seg.flags.any(Flags::SYN);
        match option {
            TcpOption::Nop | TcpOption::End => {}
            TcpOption::Mss(mss) => seg.mss = *mss,
            TcpOption::WindowScale(shift) => {
                seg.wscale = *shift;
                seg.options |= OPTION_WINDOW_SCALE;
            }
            TcpOption::SackPermitted => seg.options |= OPTION_SACK_PERMITTED,
            TcpOption::Timestamps { val, ecr } => {
                seg.options |= OPTION_TIMESTAMPS;
                seg.tsval = *val;
                seg.tsecr = if seg.flags.any(Flags::ACK) { self.echo(*ecr)? } else { *ecr };
            }
            TcpOption::Sack(blocks) if blocks.len() <= sack.len() => {
                seg.sack_len = blocks.len() as u8;
                for (slot, (left, right)) in sack.iter_mut().zip(blocks) {
                    *slot = (self.to_own(*left, syn), self.to_own(*right, syn));
                }
            }
            TcpOption::Sack(_) => return Err(Stop::CannotRun("more than four SACK blocks".to_owned())),
            TcpOption::AccEcn(counters) => match accecn(counters) {
                Some(option) => seg.add_accecn(&option, sack),
                None => return Err(Stop::CannotRun("an AccECN option in no order of RFC 9768".to_owned())),
            },
            // In other packets, and of a wrong length, it says nothing (Linux tcp_parse_fastopen_option).
            TcpOption::FastOpen { .. } if !syn => {}
            TcpOption::FastOpen { cookie, experimental } => {
                let known = Cookie::new(cookie);
                if cookie.is_empty() || known.is_some() {
                    seg.set_fast_open(&FastOpenOption { cookie: known, experimental: *experimental }, sack);
                }
            }
            TcpOption::Other(name) => return Err(Stop::CannotRun(name.clone())),
        }
        Ok(())
    }

    /// The timestamp that the endpoint sent where the script expected this one.
    fn echo(&self, script: u32) -> Result<u32, Stop> {
        match (self.stamps.get(&script), self.first) {
            (Some(live), _) => Ok(*live),
            (None, Some((script_first, live_first))) if self.scaled => {
                Ok(script.wrapping_sub(script_first).wrapping_add(live_first))
            }
            _ => Err(Stop::differs(
                format!("TS ecr {script}"),
                "no packet before had this TS val (--tcp_ts_ecr_scaled allows it)",
            )),
        }
    }

    /// What the endpoint has sent, in the numbers of the script.
    pub fn outbound(&self, sent: &Sent, scripted: Option<&Packet>) -> Packet {
        let seg = &sent.segment;
        let syn = seg.flags.any(Flags::SYN);
        let own = |number: u32| {
            // The reset that answers where there is no connection has the number 0.
            let offset = if seg.flags.any(Flags::RST) && number == 0 { 0 } else { number.wrapping_sub(ISN) };
            if syn { offset.wrapping_add(scripted.map_or(self.own, |packet| packet.seq)) } else { offset }
        };
        let peer = if syn { 0 } else { self.peer };
        let accurate = if seg.options & HEADER_AE != 0 { flag::AE } else { 0 };
        Packet {
            outbound: true,
            ecn: Some(seg.ecn),
            flags: u16::from(seg.flags.0) | accurate,
            seq: own(seg.seq),
            len: seg.len,
            ack: seg.flags.any(Flags::ACK).then(|| seg.ack.wrapping_sub(peer)),
            window: Some(seg.window),
            options: Options::These(self.options(seg, &sent.sack)),
        }
    }

    /// The options of a segment in the order in which Linux writes them.
    fn options(&self, seg: &Segment, sack: &SackBlocks) -> Vec<TcpOption> {
        let has = |bit: u8| seg.options & bit != 0;
        let (syn, stamps) = (seg.flags.any(Flags::SYN), has(OPTION_TIMESTAMPS));
        let mut list = Vec::new();
        if syn && seg.mss != 0 {
            list.push(TcpOption::Mss(seg.mss));
        }
        if stamps {
            match syn && has(OPTION_SACK_PERMITTED) {
                true => list.push(TcpOption::SackPermitted),
                false => list.extend([TcpOption::Nop, TcpOption::Nop]),
            }
            let val = match self.first {
                Some((script, live)) => seg.tsval.wrapping_sub(live).wrapping_add(script),
                None => seg.tsval,
            };
            list.push(TcpOption::Timestamps { val, ecr: seg.tsecr });
        }
        // NOPs that stand before the next option: a rest of AccECN's takes the place of one or two.
        let mut pads = 2;
        if let Some(option) = seg.accecn(sack) {
            let names = option.counters().map(|(ecn, counter)| (COUNTERS[usize::from(ecn) - 1].to_owned(), counter));
            list.push(TcpOption::AccEcn(names.collect()));
            list.extend((option.count == 3).then_some(TcpOption::Nop));
            pads = usize::from(option.count).min(2);
        }
        if syn && has(OPTION_SACK_PERMITTED) && !stamps {
            list.extend(vec![TcpOption::Nop; std::mem::replace(&mut pads, 2)]);
            list.push(TcpOption::SackPermitted);
        }
        if syn && has(OPTION_WINDOW_SCALE) {
            list.extend((pads != 1).then_some(TcpOption::Nop));
            list.push(TcpOption::WindowScale(seg.wscale));
            pads = if pads == 1 { 2 } else { pads };
        }
        if let Some(FastOpenOption { cookie, experimental }) = seg.fast_open(sack) {
            let cookie = cookie.map_or_else(Vec::new, |cookie| cookie.as_bytes().to_vec());
            let bytes = cookie.len() + if experimental { 4 } else { 2 };
            list.push(TcpOption::FastOpen { cookie, experimental });
            list.extend(vec![TcpOption::Nop; bytes.next_multiple_of(4) - bytes]);
        }
        if seg.block_count() > 0 {
            let blocks = &sack[..seg.block_count()];
            let blocks = blocks.iter().map(|b| (b.0.wrapping_sub(self.peer), b.1.wrapping_sub(self.peer)));
            list.extend(vec![TcpOption::Nop; std::mem::replace(&mut pads, 2)]);
            list.push(TcpOption::Sack(blocks.collect()));
        }
        if pads < 2 {
            list.extend(vec![TcpOption::Nop; pads + 2]);
        }
        list
    }

    /// The endpoint has sent `sent` where the script expects `packet`.
    pub fn learn(&mut self, sent: &Sent, packet: &Packet) {
        let seg = &sent.segment;
        if seg.flags.any(Flags::SYN) {
            self.own = packet.seq;
        }
        if let (Some((val, _)), true) = (stamps(packet), seg.options & OPTION_TIMESTAMPS != 0) {
            self.stamps.insert(val, seg.tsval);
            self.first.get_or_insert((val, seg.tsval));
        }
    }

    /// A new connection begins.
    pub fn restart(&mut self) {
        *self = Mapping::new(self.scaled);
    }
}

/// An AccECN option with these counters, if they stand in an order of RFC 9768.
fn accecn(counters: &[(String, u32)]) -> Option<AccEcnOption> {
    let mut fields = [0; 3];
    for (field, (_, counter)) in fields.iter_mut().zip(counters) {
        *field = *counter;
    }
    [false, true].into_iter().find_map(|order1| {
        let names = AccEcnOption::codepoints(order1).map(|ecn| COUNTERS[usize::from(ecn) - 1]);
        let stands = counters.len() <= names.len() && counters.iter().zip(names).all(|((a, _), b)| a == b);
        stands.then_some(AccEcnOption { order1, count: counters.len() as u8, fields })
    })
}

/// TS val and ecr of a packet.
pub fn stamps(packet: &Packet) -> Option<(u32, u32)> {
    let Options::These(options) = &packet.options else { return None };
    options.iter().find_map(|option| match option {
        TcpOption::Timestamps { val, ecr } => Some((*val, *ecr)),
        _ => None,
    })
}

/// Whether `got` is what the script expects: the ECN mark and the window only where the script says them, TS val not at all.
pub fn matches(expected: &Packet, got: &Packet) -> bool {
    let same_options = match (&expected.options, &got.options) {
        (Options::These(a), Options::These(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_option(a, b)),
        _ => true,
    };
    same_options
        && expected.flags == got.flags
        && (expected.seq, expected.len) == (got.seq, got.len)
        && (expected.ack == got.ack || expected.flags & flag::ACK == 0)
        && (expected.window.is_none() || expected.window == got.window)
        && (expected.ecn.is_none() || expected.ecn == got.ecn)
}

fn same_option(expected: &TcpOption, got: &TcpOption) -> bool {
    match (expected, got) {
        (TcpOption::Timestamps { ecr: a, .. }, TcpOption::Timestamps { ecr: b, .. }) => a == b,
        _ => expected == got,
    }
}

/// A packet as the language writes it; with the window and the mark only where `like` has them.
pub fn text(packet: &Packet, like: Option<&Packet>) -> String {
    let mut out = String::new();
    if let Some(ecn) = packet.ecn.filter(|_| like.is_none_or(|like| like.ecn.is_some())) {
        out += &format!("[{}] ", MARKS[usize::from(ecn & 3)]);
    }
    let letters: String =
        flag::LETTERS.iter().filter(|(_, bit)| packet.flags & bit != 0).map(|(name, _)| *name).collect();
    out += if letters.is_empty() { "-" } else { &letters };
    out += &format!(" {}:{}({})", packet.seq, packet.seq.wrapping_add(packet.len), packet.len);
    if let Some(ack) = packet.ack {
        out += &format!(" ack {ack}");
    }
    if let Some(window) = packet.window.filter(|_| like.is_none_or(|like| like.window.is_some())) {
        out += &format!(" win {window}");
    }
    match &packet.options {
        Options::Any => out += " <...>",
        Options::These(options) if options.is_empty() => {}
        Options::These(options) => {
            let options: Vec<String> = options.iter().map(option_text).collect();
            out += &format!(" <{}>", options.join(","));
        }
    }
    out
}

fn option_text(option: &TcpOption) -> String {
    match option {
        TcpOption::Nop => "nop".to_owned(),
        TcpOption::End => "eol".to_owned(),
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(shift) => format!("wscale {shift}"),
        TcpOption::SackPermitted => "sackOK".to_owned(),
        TcpOption::Sack(blocks) => {
            let blocks: Vec<String> = blocks.iter().map(|(left, right)| format!("{left}:{right}")).collect();
            format!("sack {}", blocks.join(" "))
        }
        TcpOption::Timestamps { val, ecr } => format!("TS val {val} ecr {ecr}"),
        TcpOption::AccEcn(counters) => {
            let counters: Vec<String> = counters.iter().map(|(name, value)| format!(" {name} {value}")).collect();
            format!("ECN{}", counters.concat())
        }
        TcpOption::FastOpen { cookie, experimental } => {
            let digits: String = cookie.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{} {digits}", if *experimental { "FOEXP" } else { "FO" }).trim_end().to_owned()
        }
        TcpOption::Other(name) => name.clone(),
    }
}
