//! Encodings and their bits.

use super::*;

const LINK: u32 = 123_456;
const LINK_ID: LinkId = LinkId(LINK);

/// Each target with its id, which decides the order of events whose ties are equal.
const IDS: [(Target, Class, u32); 27] = [
    (Target::End(LinkId(LINK)), Class::End, LINK),
    (Target::Wake(LinkId(LINK)), Class::Start, LINK),
    (Target::Control(LinkId(LINK)), Class::Control, LINK),
    (Target::Arrival(u32::MAX - 5), Class::Arrival, u32::MAX - 5),
    (Target::Socket(0x0FFF_FFFF), Class::Timer, 0x0FFF_FFFF),
    (Target::Limiters(LinkId(7)), Class::Timer, 0x1000_0007),
    (Target::Host(HostTimer::Interrupt, 5), Class::Timer, 0x2800_0005),
    (Target::Host(HostTimer::Processor, 5), Class::Timer, 0x2900_0005),
    (Target::Host(HostTimer::Logger, 5), Class::Timer, 0x2A00_0005),
    (Target::Host(HostTimer::Reader, 5), Class::Timer, 0x2B00_0005),
    (Target::Host(HostTimer::Approach, 5), Class::Timer, 0x2C00_0005),
    (Target::Host(HostTimer::Departure, 0xFF_FFFF), Class::Timer, 0x2DFF_FFFF),
    (Target::Pair(7), Class::Timer, 0x4000_0007),
    (Target::Interface(LinkId(7)), Class::Timer, 0x6000_0007),
    (Target::Refresh(LinkId(7)), Class::Timer, 0x8000_0007),
    (Target::Watchdog(LinkId(7)), Class::Timer, 0xC000_0007),
    (Target::Flow(7), Class::Application, 7),
    (Target::Arrivals(7), Class::Application, 0x8000_0007),
    (Target::Clock(7), Class::Application, 0x4000_0007),
    (Target::DiskRead(7), Class::Application, 0x2000_000E),
    (Target::DiskWrite(7), Class::Application, 0x2000_000F),
    (Target::Ranks(7), Class::Application, 0xC000_0007),
    (Target::Changes, Class::Change, 0x8000_0000),
    (Target::Reroute(LinkId(7)), Class::Change, 0x4000_0007),
    (Target::Stop(7), Class::Change, 7),
    (Target::Sample, Class::Sample, 0),
    (Target::WarmUp, Class::Sample, 1),
];

#[test]
fn targets_survive_their_events() {
    for (target, class, id) in IDS {
        for event in [target.at(Time(9)), target.keyed(Time(9), 1)] {
            assert_eq!((event.time(), event.class(), event.id()), (Time(9), class, id), "{target:?}");
            assert_eq!(Target::of(event), target);
            assert_eq!(Target::arrival(event), (class == Class::Arrival).then_some(id));
        }
    }
}

#[test]
fn frames_survive() {
    assert_eq!((Frame::packet(7).is_control(), Frame::packet(7).handle()), (false, 7));
    let controls = [
        (Control::Pause { quanta: 0 }, 0x8000_0000),
        (Control::Pause { quanta: 0xFFFF }, 0x8000_FFFF),
        (Control::Pfc { about: 0, stop: 0 }, 0xC000_0000),
        (Control::Pfc { about: 0x81, stop: 0x7E }, 0xC000_817E),
    ];
    for (control, bits) in controls {
        let frame = Frame::control(control.into());
        assert_eq!((frame, frame.is_control(), frame.content().read()), (Frame(bits), true, control));
    }
}

#[test]
fn hops_and_routes_survive() {
    assert_eq!((Then::link(LINK_ID).hop(), Then::link(LINK_ID).split()), (Hop::Link(LINK_ID), (false, LINK)));
    assert_eq!((Then::host(LINK).hop(), Then::host(LINK).split()), (Hop::Host(LINK), (true, LINK)));
    let mut place = Place::of(LINK_ID);
    assert_eq!((place.link(), place.fused(), place.then(9)), (LINK_ID, None, Then::link(LINK_ID)));
    place.fuse();
    assert_eq!((place.link(), place.fused(), place.then(9)), (LINK_ID, Some(LINK_ID), Then::link(LINK_ID)));
    assert!(!place.is_end() && Place::END.is_end() && !Place::END.is_fused());
    assert_eq!(Place::END.then(9), Then::host(9));
    assert_eq!((Route::single(7).is_spread(), Route::single(7).place()), (false, 7));
    assert_eq!((Route::spread(7).is_spread(), Route::spread(7).paths()), (true, 7));
}
