use super::*;

fn data(division: &mut Division, now: u64, to: u64, silence: Silence) {
    division.sent(now, silence, |view| {
        (view.highest, view.segment, view.scale_known) = (to, 1000, true);
    });
}

fn ack(acked: u64, window: u64) -> Answer {
    Answer { acked, window: Some(window), ..Answer::default() }
}

/// 10 of path, 90 idle, 20 full, 30 closed, 10 of path: by hand.
#[test]
fn each_instant_has_one_owner() {
    let mut division = Division::default();
    division.answered(0, 0, ack(0, 4000));
    data(&mut division, 100, 1000, Silence::Application);
    division.answered(110, 0, ack(1000, 1000));
    data(&mut division, 200, 2000, Silence::Application);
    division.answered(220, 0, ack(2000, 0));
    division.answered(250, 0, ack(2000, 5000));
    data(&mut division, 250, 3000, Silence::Application);
    division.answered(260, 0, ack(3000, 5000));
    let shares = division.finish(1000);
    let of = |owner| shares.of(owner);
    assert_eq!([of(Owner::Path), of(Owner::Application), of(Owner::Window), of(Owner::Closed)], [20, 90, 20, 30]);
    assert_eq!(shares.total(), 260 - 100);
}

/// At the receiver the sender learns of each answer 20 later: nothing of the 30 before the third segment is idle but 10.
#[test]
fn answers_reach_the_sender_later() {
    let mut division = Division::default();
    division.answered(0, 20, ack(0, 9000));
    data(&mut division, 100, 1000, Silence::Unclear);
    division.answered(100, 20, ack(1000, 9000));
    data(&mut division, 120, 2000, Silence::Unclear);
    division.answered(120, 20, ack(2000, 9000));
    data(&mut division, 150, 3000, Silence::Unclear);
    division.answered(150, 20, ack(3000, 9000));
    let shares = division.finish(150);
    assert_eq!([shares.of(Owner::Path), shares.of(Owner::Unknown), shares.total()], [60, 10, 70]);
}

/// Behind a link that spaces segments by 10, an ACK lets four in. If they come one behind the other, the window was full all the time;
/// if the last comes 10 later, the sender may have waited with it for something else.
#[test]
fn a_window_that_a_train_fills_was_full_when_it_left() {
    let shares = |late: u64| {
        let mut division = Division::default();
        division.answered(0, 1, ack(0, 4000));
        for round in 1..=10 {
            let (now, to) = (round * 60, round * 4000);
            for (segment, after) in (1..).zip([0, 10, 20, 30 + late]) {
                data(&mut division, now + after, to - 4000 + 1000 * segment, Silence::Application);
            }
            division.answered(now + 59, 1, ack(to, 4000));
        }
        let shares = division.finish(660);
        [shares.of(Owner::Window), shares.of(Owner::Path), shares.total()]
    };
    assert_eq!((shares(0), shares(10)), ([600, 0, 600], [200, 400, 600]));
}

/// A message of four segments that comes in one train, at a receiver 50 from the sender and back, and 10 ms later another one: all of the
/// time between them is the application's. If the train lasts longer than a round trip, ACKs may have let out its end.
#[test]
fn a_message_in_one_train_was_written_at_once() {
    let shares = |round_trip: u64| {
        let mut division = Division::default();
        division.answered(0, round_trip, ack(0, 90_000));
        for segment in 1..=4 {
            division.sent(100 + 10 * segment, Silence::Application, |view| {
                (view.highest, view.segment, view.scale_known) = (1000 * segment, 1000, true);
                view.drained = segment == 4;
            });
        }
        division.answered(140, round_trip, ack(4000, 90_000));
        data(&mut division, 10_000_000, 5000, Silence::Application);
        let shares = division.finish(10_000_000);
        [shares.of(Owner::Application), shares.of(Owner::Path), shares.total()]
    };
    assert_eq!((shares(50), shares(20)), ([9_999_890, 0, 9_999_890], [9_999_860, 30, 9_999_890]));
}

/// A short segment, and 1 ms later an ACK. What follows the ACK at once was let out by it; what comes 1 ms later was written then.
#[test]
fn what_an_ack_lets_out_waited_for_it() {
    let shares = |later: u64| {
        let mut division = Division::default();
        division.answered(0, 0, ack(0, 90_000));
        division.sent(100, Silence::Application, |view| {
            (view.highest, view.segment, view.scale_known, view.drained) = (1000, 1000, true, true);
        });
        division.answered(1_000_100, 0, ack(1000, 90_000));
        data(&mut division, 1_000_100 + later, 2000, Silence::Application);
        let shares = division.finish(1_000_100 + later);
        [shares.of(Owner::Application), shares.of(Owner::Path)]
    };
    assert_eq!((shares(1000), shares(1_000_000)), ([1000, 1_000_000], [2_000_000, 0]));
}

/// The peer asks 500 after the ACK: the segment was on its way before.
#[test]
fn what_is_on_its_way_before_the_peer_asks_is_the_paths() {
    let mut division = Division::default();
    division.answered(0, 0, ack(0, 90_000));
    division.sent(100, Silence::Application, |view| {
        (view.highest, view.segment, view.scale_known, view.drained) = (1000, 1000, true, true);
    });
    division.answered(300, 0, ack(1000, 90_000));
    division.answered(800, 0, Answer { asks: true, ..ack(1000, 90_000) });
    assert_eq!(division.asked(), Some(300));
    data(&mut division, 2_000_000, 2000, Silence::Application);
    let shares = division.finish(2_000_000);
    assert_eq!([shares.of(Owner::Path), shares.of(Owner::Application)], [200, 1_999_700]);
}

#[test]
fn a_timer_owns_the_silence_before_it() {
    let mut division = Division::default();
    division.answered(0, 0, ack(0, 9000));
    data(&mut division, 100, 2000, Silence::Application);
    division.answered(110, 0, ack(1000, 9000));
    data(&mut division, 310, 2000, Silence::Timer(200));
    division.answered(320, 0, ack(2000, 9000));
    let shares = division.finish(320);
    assert_eq!([shares.of(Owner::Path), shares.of(Owner::Timer), shares.total()], [20, 200, 220]);
}
