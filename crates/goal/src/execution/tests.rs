//! Programs step by step.

use super::history::*;
use super::*;
use crate::parse;

const EAGER: u64 = 1000;

fn begun(text: &str) -> (Execution, Vec<Task>) {
    let (mut execution, mut tasks) = (Execution::new(Arc::new(parse(text).unwrap()), EAGER), Vec::new());
    execution.begin(Time::ZERO, &[], &mut tasks);
    (execution, tasks)
}

#[test]
fn the_critical_path_goes_from_rank_to_rank() {
    let text = "num_ranks 3
        rank 0 { a: calc 5 b: send 100b to 1 b requires a c: calc 7 c requires b }
        rank 1 { a: recv 100b from 0 b: calc 1 c: send 9b to 2 c requires a c requires b }
        rank 2 { a: recv 9b from 1 }";
    let (mut execution, tasks) = begun(text);
    let ns = |ns| Time::ZERO + Span::from_ns(ns);
    let compute = |rank, op, until| Task::Compute { rank, op, until: ns(until) };
    assert_eq!(tasks, [compute(0, 0, 5), compute(1, 1, 1)]);
    let mut tasks = Vec::new();
    execution.computed(ns(1), 1, 1, &mut tasks);
    execution.computed(ns(5), 0, 0, &mut tasks);
    assert_eq!(tasks, [Task::Send { rank: 0, op: 1, to: 1, bytes: 100, nic: 0, awaited: false }, compute(0, 2, 12)]);
    execution.computed(ns(12), 0, 2, &mut tasks);
    execution.arrived(ns(30), 0, 1, &mut tasks);
    assert_eq!(tasks[2..], [Task::Send { rank: 1, op: 2, to: 2, bytes: 9, nic: 0, awaited: false }]);
    assert!(!execution.is_done());
    execution.arrived(ns(44), 1, 2, &mut tasks);
    assert!(execution.is_done());
    let path = execution.critical_path();
    let stretch = |rank, message, begin, end| Stretch { rank, message, begin: ns(begin), end: ns(end) };
    assert_eq!(path, [stretch(0, None, 0, 5), stretch(0, Some((1, 100)), 5, 30), stretch(1, Some((2, 9)), 30, 44)]);
    // Rank 1 computed for 1 ns, waited until 30 ns, and was over when its message was in.
    let account = execution.account(1, ns(44));
    assert_eq!(account, Account { end: ns(44), computed: Span::from_ns(1), waited: Span::from_ns(29) });
}

#[test]
fn messages_wait_for_receives_with_their_tag() {
    let text = "num_ranks 2 rank 0 { a: send 1b to 1 tag 1 b: send 2b to 1 tag 2 }
                rank 1 { a: recv 2b from 0 tag 2 b: recv 1b from -1 tag -1 b requires a c: calc 3 c requires b }";
    let (mut execution, tasks) = begun(text);
    assert_eq!(tasks.len(), 2);
    let mut tasks = Vec::new();
    execution.arrived(Time(1), 0, 0, &mut tasks);
    assert_eq!(execution.awaited(1), Some((Some(0), Some(2))));
    assert_eq!((execution.left(1), tasks.len()), (3, 0));
    execution.arrived(Time(2), 0, 1, &mut tasks);
    assert_eq!(tasks, [Task::Compute { rank: 1, op: 2, until: Time(3002) }]);
}

#[test]
fn one_processor_computes_one_after_the_other() {
    let (_, tasks) = begun("num_ranks 1 rank 0 { a: calc 9 b: calc 4 c: calc 2 cpu 1 }");
    let until: Vec<u64> = tasks
        .iter()
        .filter_map(|task| if let Task::Compute { until, .. } = task { Some(until.ps() / 1000) } else { None })
        .collect();
    assert_eq!(until, [9, 13, 2]);
}

#[test]
fn a_large_message_is_sent_when_it_is_acknowledged() {
    let text = "num_ranks 2 rank 0 { a: send 1001b to 1 b: calc 5 b requires a c: send 1001b to 1 tag 1 }
                rank 1 { recv 1001b from 0 recv 1001b from 0 tag 1 }";
    let (mut execution, tasks) = begun(text);
    let send = |op, awaited| Task::Send { rank: 0, op, to: 1, bytes: 1001, nic: 0, awaited };
    assert_eq!(tasks, [send(0, true), send(2, false)]);
    let mut tasks = Vec::new();
    execution.arrived(Time(10), 0, 0, &mut tasks);
    execution.arrived(Time(20), 0, 2, &mut tasks);
    assert_eq!((tasks.len(), execution.left(0), execution.left(1)), (0, 1, 0));
    execution.acknowledged(Time(30), 0, 0, &mut tasks);
    assert_eq!(tasks, [Task::Compute { rank: 0, op: 1, until: Time(5030) }]);
    execution.computed(Time(5030), 0, 1, &mut tasks);
    assert!(execution.is_done());
    let sent = Stretch { rank: 0, message: Some((1, 1001)), begin: Time(0), end: Time(30) };
    let computed = Stretch { rank: 0, message: None, begin: Time(30), end: Time(5030) };
    assert_eq!(execution.critical_path(), [sent, computed]);
}

#[test]
fn begins_again() {
    let (mut execution, tasks) = begun("num_ranks 2 rank 0 { send 1b to 1 } rank 1 { recv 1b from 0 }");
    assert_eq!(tasks.len(), 1);
    let mut tasks = Vec::new();
    execution.arrived(Time(5), 0, 0, &mut tasks);
    assert!(execution.is_done());
    execution.begin(Time(7), &[Span(3)], &mut tasks);
    // This time the sender computes first.
    assert_eq!(tasks, [Task::Compute { rank: 0, op: LEAD, until: Time(10) }]);
    execution.computed(Time(10), 0, LEAD, &mut tasks);
    assert_eq!((tasks.len(), execution.is_done()), (2, false));
    execution.arrived(Time(12), 0, 0, &mut tasks);
    assert_eq!((execution.is_done(), execution.account(1, Time(12)).waited), (true, Span(5)));
    let account = Account { end: Time(12), computed: Span(3), waited: Span::ZERO };
    assert_eq!(execution.account(0, Time(12)), account);
    let path = execution.critical_path();
    assert_eq!(path[0], Stretch { rank: 0, message: None, begin: Time(7), end: Time(10) });
    assert_eq!(path[1], Stretch { rank: 0, message: Some((1, 1)), begin: Time(10), end: Time(12) });
}

/// What waits for the start of an operation (`irequires`) does not wait for its end: the path goes on from that start, and is no longer than
/// the iteration.
#[test]
fn the_critical_path_of_irequires_begins_with_a_start() {
    let text = "num_ranks 2
        rank 0 { l1: calc 500000 l2: send 1000b to 1 l2 irequires l1 }
        rank 1 { l1: recv 1000b from 0 l2: calc 450000 l2 requires l1 }";
    let ns = |ns| Time::ZERO + Span::from_ns(ns);
    let (mut execution, _) = begun(text);
    let mut tasks = Vec::new();
    execution.arrived(ns(87_646), 0, 1, &mut tasks);
    execution.computed(ns(500_000), 0, 0, &mut tasks);
    execution.computed(ns(537_646), 1, 1, &mut tasks);
    let message = Stretch { rank: 0, message: Some((1, 1000)), begin: ns(0), end: ns(87_646) };
    let computed = Stretch { rank: 1, message: None, begin: ns(87_646), end: ns(537_646) };
    assert_eq!(execution.critical_path(), [message, computed]);
}

/// Two ranks that wait for each other and send as soon as they wait: no path in circles.
#[test]
fn the_critical_path_of_two_that_wait_while_they_send_ends() {
    let text = "num_ranks 2
        rank 0 { l1: recv 10b from 1 l2: send 10b to 1 l2 irequires l1 }
        rank 1 { l1: recv 10b from 0 l2: send 10b to 0 l2 irequires l1 }";
    let (mut execution, tasks) = begun(text);
    assert_eq!(tasks.len(), 2);
    let mut tasks = Vec::new();
    execution.arrived(Time(7), 0, 1, &mut tasks);
    execution.arrived(Time(9), 1, 1, &mut tasks);
    assert!(execution.is_done());
    let message = Stretch { rank: 1, message: Some((0, 10)), begin: Time(0), end: Time(9) };
    assert_eq!(execution.critical_path(), [message]);
}
