//! How the window of stack `linux` comes down (`tcp_cwnd_reduction`), and how far its segments are found reordered
//! (`tcp_check_sack_reordering`). Values are worked out by hand from those functions of Linux 6.12.

use crate::linux::{End, ten};
use elephan_tcp::Overrides;
use elephan_tcp::options::Reduction;

/// A window of 20 of which 19 are out; 0 is lost, the others are SACKed one by one. Window 20, ssthresh 10: of n segments delivered
/// since recovery began ceil(n / 2) leave, the first at once. RFC 9937 counts bytes over the 17 that were in flight: 3 segments
/// delivered give 1,765 bytes, which is no second segment.
#[test]
fn the_share_is_of_the_window_and_in_segments() {
    for (reduction, expected) in [
        (Reduction::PrrLinux, [vec![0], vec![], vec![19], vec![], vec![20], vec![], vec![21]]),
        (Reduction::PrrRfc9937, [vec![0], vec![], vec![], vec![19], vec![], vec![20], vec![]]),
    ] {
        let twenty = Overrides { initial_window: Some(20), reduction: Some(reduction), ..ten() };
        let mut end = End::new("linux", &twenty, true);
        end.write(19);
        assert_eq!(end.ack(20.0, 0, &[(1, 2)]), [0; 0]);
        assert_eq!(end.ack(20.0, 0, &[(1, 3)]), [0; 0]);
        let mut left = vec![end.ack(20.0, 0, &[(1, 4)])];
        assert_eq!(end.write(20), [0; 0]);
        left.extend((5..=10).map(|upto| end.ack(20.0, 0, &[(1, upto)])));
        assert_eq!(left, expected, "{reduction:?}");
    }
}

/// An ACK that delivers nothing leaves the window as it is: what it let out and the application had not written may still leave.
#[test]
fn room_that_was_not_used_stays() {
    let mut end = End::new("linux", &ten(), true);
    end.write(10);
    assert_eq!(end.ack(20.0, 0, &[(1, 4)]), [0]);
    // 10 - 6 SACKed - 1 lost + 1 retransmitted = 4 are in flight, ssthresh is 5: one more may leave.
    assert_eq!(end.ack(20.5, 0, &[(1, 7)]), [0; 0]);
    assert_eq!(end.ack(20.6, 0, &[(1, 7)]), [0; 0]);
    assert_eq!(end.tcp.info(end.now).snd_cwnd, 5);
    assert_eq!(end.write(3), [10]);
}

/// Seven of ten are SACKed before 3: 9 - 3 segments lie between, and it was sent once only. Segment 6, SACKed then, lies nearer.
#[test]
fn the_distance_of_a_late_segment_is_the_degree() {
    let mut end = End::new("linux", &ten(), true);
    end.write(10);
    let info = |end: &End| (end.tcp.info(end.now).reordering, end.tcp.info(end.now).reord_seen);
    end.ack(20.0, 0, &[(7, 9)]);
    assert_eq!(info(&end), (3, 0));
    end.ack(20.1, 0, &[(3, 4), (7, 9)]);
    assert_eq!(info(&end), (6, 1));
    end.ack(20.2, 0, &[(6, 9), (3, 4)]);
    assert_eq!(info(&end), (6, 2));
    // 0 comes late and is acknowledged cumulatively: 9 segments.
    end.ack(20.3, 1, &[(6, 9), (3, 4)]);
    assert_eq!(info(&end), (9, 3));
    // Other stacks see it and keep their threshold.
    let rack = Overrides { loss_detection: Some(elephan_tcp::options::LossDetection::Rack), ..ten() };
    let mut end = End::new("rfc", &rack, true);
    end.write(10);
    end.ack(20.0, 0, &[(7, 9)]);
    end.ack(20.1, 0, &[(3, 4), (7, 9)]);
    assert_eq!(info(&end), (3, 1));
}

/// `tcp_max_reordering` bounds it.
#[test]
fn the_degree_has_a_bound() {
    let mut end = End::new("linux", &Overrides { max_reordering: Some(5), ..ten() }, true);
    end.write(10);
    end.ack(20.0, 0, &[(8, 9)]);
    end.ack(20.1, 0, &[(1, 2), (8, 9)]);
    assert_eq!(end.tcp.info(end.now).reordering, 5);
}

/// `tcp_may_raise_cwnd`: with a degree above `tcp_reordering` what is SACKed opens the window in slow start.
#[test]
fn what_is_sacked_opens_the_window_of_a_path_that_reorders() {
    for (most, window) in [(300, 13.0), (0, 11.0)] {
        let mut end = End::new("linux", &Overrides { max_reordering: Some(most), ..ten() }, true);
        end.write(10);
        end.ack(20.0, 0, &[(8, 9)]);
        // 0 comes late, 8 segments below; then two are SACKed.
        end.ack(20.1, 1, &[(8, 9)]);
        end.ack(20.2, 1, &[(7, 9)]);
        end.ack(20.3, 1, &[(6, 9)]);
        assert_eq!(end.window(), window, "{most}");
    }
}
