//! Packets: 64 bytes behind a `u32` handle, their SACK blocks, congestion headers and stamps beside them.

use elephan_cc::rdma::Telemetry;
use elephan_cc::train::{Arrival, Departure};
use elephan_engine::Slab;
use elephan_link::congestion::Feedback;
use elephan_link::queue::CongestionHeader;
use elephan_tcp::{SackBlocks, Segment};
use elephan_uec::wire::Header;
use elephan_units::{Span, Time};

/// Bits of [`Packet::flags`].
pub mod flags {
    /// A UDP datagram; otherwise TCP.
    pub const UDP: u16 = 1;
    /// Carries payload.
    pub const DATA: u16 = 2;
    /// Carries payload that was sent before.
    pub const RETRANSMISSION: u16 = 4;
    /// Will be lost at the end of the link it is on.
    pub const LOST: u16 = 8;
    /// Will find the port after the link it is on full.
    pub const REFUSED: u16 = 16;
    /// The second one of a packet that a link has duplicated.
    pub const COPY: u16 = 32;
    /// Has a congestion header beside it.
    pub const HEADED: u16 = 64;
    /// Will be captured by its host at the end of the link it is on.
    pub const CAPTURED: u16 = 128;
    /// Has a stamp beside it.
    pub const STAMPED: u16 = 256;
    /// RDMA: the segment's fields are read as [`super::rdma`] says.
    pub const RDMA: u16 = 1024;
    /// Beside [`RDMA`]: has lost its payload at a queue that trims.
    pub const TRIMMED: u16 = UDP;
    /// Has telemetry beside it.
    pub const TELEMETRY: u16 = 16384;
    /// Goes before everything else at its ports, whatever the priority of its flow.
    pub const URGENT: u16 = 8192;
    /// Will be lost because the link it is on has gone down; it is [`LOST`] too.
    pub const CUT: u16 = 4096;
    /// Beside [`UDP`]: an Ethernet frame that carries no IP; `ip_bytes` is what it carries.
    pub const RAW: u16 = 2048;
    /// A notification of congestion, for the host's port whose link is its `dest`.
    pub const NOTIFICATION: u16 = 512;
    /// Says which congestion point limits its source.
    pub const TAGGED: u16 = 32768;
}

/// How a packet of RoCE uses the fields of its segment: the packet number (24 bits) of data is `seq`, that of an answer `ack`; the
/// departure of the data, which answers echo, stands in `tsval` and `tsecr`; `window` says what it is.
pub mod rdma {
    use elephan_tcp::Segment;
    use elephan_units::Time;

    pub const DATA: u16 = 0;
    /// The last packet of a work request; it asks for an acknowledgement.
    pub const LAST: u16 = 1;
    /// Another that does.
    pub const ASKING: u16 = 5;
    pub const ACK: u16 = 2;
    pub const NAK: u16 = 3;
    pub const CNP: u16 = 4;
    /// A NAK with the number of a packet that was kept out of order.
    pub const SACK: u16 = 6;
    /// Of Ultra Ethernet: what it says stands beside the packet; `seq` is the packet number of data.
    pub const UEC: u16 = 7;

    /// A segment with the time in its two fields.
    pub fn departing(at: Time) -> Segment {
        Segment { tsval: (at.0 >> 32) as u32, tsecr: at.0 as u32, ..Segment::default() }
    }

    pub fn departure(segment: &Segment) -> Time {
        Time(u64::from(segment.tsval) << 32 | u64::from(segment.tsecr))
    }
}

/// One packet on its way.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Packet {
    pub segment: Segment,
    /// Place in [`super::net::Net`]'s routes of the link that it is on.
    pub route: u32,
    /// Endpoint (TCP) or stream (UDP) that it is for.
    pub dest: u32,
    pub flow: u32,
    pub ip_bytes: u32,
    /// Bytes charged to the memory of the switch that holds it.
    pub charged: u32,
    /// Where it came in at that switch: its port, times 8, and its priority if the switch tells them apart.
    pub ingress: u32,
    pub flags: u16,
    /// Identification of the IP header: packets that its sender has sent in this flow, this one included, modulo 2^16.
    pub ident: u16,
}

const _: () = assert!(size_of::<Packet>() == 64);

/// What the packets of a connection say whose controller looks at when each arrives, or at delays of the end hosts.
#[derive(Clone, Copy, Default)]
pub struct Stamp {
    /// Of data: when it left.
    pub departure: Option<Departure>,
    /// When the packet came that this one acknowledges.
    pub arrival: Option<Arrival>,
    /// When its last bit was in at a host that does not deliver it at once.
    pub landed: Option<Time>,
    /// For how long the host held the data that this one acknowledges.
    pub held: Option<Span>,
}

/// What a notification of congestion says.
#[derive(Clone, Copy, Debug)]
pub struct Notice {
    /// The congestion point, by its number.
    pub point: u32,
    /// Whose frames were sampled: the key of a limiter.
    pub key: u32,
    pub feedback: Feedback,
}

impl Default for Notice {
    fn default() -> Notice {
        Notice { point: 0, key: 0, feedback: Feedback::Qcn(0) }
    }
}

impl Packet {
    /// Whether Ultra Ethernet carries it.
    pub fn is_uec(&self) -> bool {
        self.flags & flags::RDMA != 0 && self.segment.window == rdma::UEC
    }

    /// Its sequence number, or packet number of RDMA data; none of a datagram, a frame, or a packet that has no such number.
    pub fn sequence(&self) -> Option<u32> {
        let numbered = match self.flags & flags::RDMA {
            0 => self.flags & (flags::UDP | flags::NOTIFICATION) == 0,
            _ => self.flags & flags::DATA != 0,
        };
        numbered.then_some(self.segment.seq)
    }
}

/// All packets of a run.
#[derive(Clone, Default)]
pub struct Packets {
    slab: Slab<Packet>,
    sacks: Vec<SackBlocks>,
    /// As long as the highest packet that ever had one needs; empty in a run whose controllers ask routers nothing.
    headers: Vec<CongestionHeader>,
    /// The same for stamps, for what notifications say, for the congestion points that tags name, and for telemetry.
    stamps: Vec<Stamp>,
    notices: Vec<Notice>,
    tags: Vec<u32>,
    telemetry: Vec<Telemetry>,
    /// What packets of Ultra Ethernet say.
    uec: Vec<Header>,
}

impl Packets {
    /// A packet to be filled; whatever it held before is still there.
    #[inline]
    pub fn take(&mut self) -> u32 {
        let Packets { slab, sacks, .. } = self;
        slab.take(|| {
            sacks.push(SackBlocks::default());
            Packet {
                segment: Segment::default(),
                route: 0,
                dest: 0,
                flow: 0,
                ip_bytes: 0,
                charged: 0,
                ingress: 0,
                flags: 0,
                ident: 0,
            }
        })
    }

    /// A second packet that is equal to this one.
    pub fn copy(&mut self, handle: u32) -> u32 {
        let copy = self.take();
        self.slab[copy] = self.slab[handle];
        self.sacks[copy as usize] = self.sacks[handle as usize];
        if self.slab[handle].flags & flags::HEADED != 0 {
            *self.header_mut(copy) = *self.header(handle);
        }
        if self.slab[handle].flags & flags::STAMPED != 0 {
            *self.stamp_mut(copy) = *self.stamp(handle);
        }
        if self.slab[handle].flags & flags::NOTIFICATION != 0 {
            *self.notice_mut(copy) = *self.notice(handle);
        }
        if self.slab[handle].flags & flags::TAGGED != 0 {
            *self.tag_mut(copy) = self.tag(handle);
        }
        if self.slab[handle].flags & flags::TELEMETRY != 0 {
            *self.telemetry_mut(copy) = *self.telemetry(handle);
        }
        if self.slab[handle].is_uec() {
            *self.uec_mut(copy) = *self.uec(handle);
        }
        copy
    }

    #[inline]
    pub fn free(&mut self, handle: u32) {
        self.slab.free(handle);
    }

    pub fn live(&self) -> usize {
        self.slab.live()
    }

    #[inline]
    pub fn get(&self, handle: u32) -> (&Packet, &SackBlocks) {
        (&self.slab[handle], &self.sacks[handle as usize])
    }

    /// Asks for a packet's fields.
    #[inline]
    pub fn prefetch(&self, handle: u32) {
        self.slab.prefetch(handle);
    }

    /// The congestion header of a packet that is [`flags::HEADED`].
    pub fn header(&self, handle: u32) -> &CongestionHeader {
        &self.headers[handle as usize]
    }

    /// The congestion header of a packet that is [`flags::HEADED`], or place for one.
    pub fn header_mut(&mut self, handle: u32) -> &mut CongestionHeader {
        place_of(&mut self.headers, handle, CongestionHeader::default())
    }

    /// The stamp of a packet that is [`flags::STAMPED`].
    pub fn stamp(&self, handle: u32) -> &Stamp {
        &self.stamps[handle as usize]
    }

    /// The stamp of a packet that is [`flags::STAMPED`], or place for one.
    pub fn stamp_mut(&mut self, handle: u32) -> &mut Stamp {
        place_of(&mut self.stamps, handle, Stamp::default())
    }

    /// What a packet says that is a [`flags::NOTIFICATION`].
    pub fn notice(&self, handle: u32) -> &Notice {
        &self.notices[handle as usize]
    }

    /// What a packet says that is a [`flags::NOTIFICATION`], or place for it.
    pub fn notice_mut(&mut self, handle: u32) -> &mut Notice {
        place_of(&mut self.notices, handle, Notice::default())
    }

    /// The congestion point that limits the source of a packet that is [`flags::TAGGED`].
    pub fn tag(&self, handle: u32) -> u32 {
        self.tags[handle as usize]
    }

    /// The congestion point that limits the source of a packet that is [`flags::TAGGED`], or place for it.
    pub fn tag_mut(&mut self, handle: u32) -> &mut u32 {
        place_of(&mut self.tags, handle, 0)
    }

    /// What a packet with [`flags::TELEMETRY`] has met.
    pub fn telemetry(&self, handle: u32) -> &Telemetry {
        &self.telemetry[handle as usize]
    }

    /// The same, or place for it.
    pub fn telemetry_mut(&mut self, handle: u32) -> &mut Telemetry {
        let place = handle as usize;
        if self.telemetry.len() <= place {
            self.telemetry.resize(place + 1, Telemetry::default());
        }
        &mut self.telemetry[place]
    }

    /// What a packet of Ultra Ethernet says.
    pub fn uec(&self, handle: u32) -> &Header {
        &self.uec[handle as usize]
    }

    /// The same, or place for it.
    pub fn uec_mut(&mut self, handle: u32) -> &mut Header {
        place_of(&mut self.uec, handle, Header::default())
    }

    #[inline]
    pub fn get_mut(&mut self, handle: u32) -> (&mut Packet, &mut SackBlocks) {
        (&mut self.slab[handle], &mut self.sacks[handle as usize])
    }
}

/// The place of a packet in a list that is as long as the highest packet that ever needed one.
fn place_of<T: Copy>(list: &mut Vec<T>, handle: u32, empty: T) -> &mut T {
    let place = handle as usize;
    if list.len() <= place {
        list.resize(place + 1, empty);
    }
    &mut list[place]
}

impl std::ops::Index<u32> for Packets {
    type Output = Packet;
    #[inline]
    fn index(&self, handle: u32) -> &Packet {
        &self.slab[handle]
    }
}

impl std::ops::IndexMut<u32> for Packets {
    #[inline]
    fn index_mut(&mut self, handle: u32) -> &mut Packet {
        &mut self.slab[handle]
    }
}
