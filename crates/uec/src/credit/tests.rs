use super::*;

impl Accounts for Vec<Account> {
    fn account(&mut self, number: u32) -> Option<&mut Account> {
        self.get_mut(number as usize)
    }
}

fn stream() -> Stream {
    Stream::new(1, "host", "grants")
}

fn us(us: f64) -> Time {
    Time::from_seconds(us * 1e-6)
}

/// 100 Gb/s at 0.99: four packets of 4160 B are granted each 16 640 x 8 / 99e9 s = 1.3447 us, to one sender after the other.
#[test]
fn grants_take_turns_at_less_than_the_line_rate() {
    let options = Options { credits: true, ..Options::default() };
    let mut accounts = vec![Account::new(&options, 0.0); 2];
    let mut pacer = Pacer::new(&options, 100e9, Span::from_us(12), stream());
    let mut now = us(5.0);
    for (number, account) in (0..).zip(&mut accounts) {
        pacer.on_packet(now, number, account, 40_000, false);
    }
    assert_eq!(pacer.due(), Some(now));
    let mut seen = Vec::new();
    for _ in 0..6 {
        let grant = pacer.grant(now, &mut accounts).unwrap();
        let next = pacer.due().unwrap();
        seen.push((grant.to, grant.total, (next.since(now).seconds() * 1e9).round()));
        now = next;
    }
    let full = 1345.0;
    // The last of 40 000 B are 6720 B: 543 ns.
    assert_eq!(
        seen,
        [
            (0, 16_640, full),
            (1, 16_640, full),
            (0, 33_280, full),
            (1, 33_280, full),
            (0, 40_000, 543.0),
            (1, 40_000, 543.0)
        ]
    );
}

/// Nobody wants more: four packets each until 1.5 bandwidth-delay products are beyond what was wanted.
#[test]
fn what_nobody_wants_is_granted_up_to_a_bound() {
    let options = Options { credits: true, ..Options::default() };
    let mut accounts = vec![Account::new(&options, 20_000.0)];
    let mut pacer = Pacer::new(&options, 100e9, Span::from_us(12), stream());
    pacer.on_packet(us(0.0), 0, &mut accounts[0], 1000, false);
    let mut totals = Vec::new();
    while let Some(now) = pacer.due() {
        totals.extend(pacer.grant(now, &mut accounts).map(|grant| grant.total));
    }
    assert_eq!(totals, [1000, 17_640, 34_280]);
}

#[test]
fn credit_that_was_assumed_is_void_at_the_first_grant() {
    let options = Options { credits: true, ..Options::default() };
    let mut purse = Purse::new(&options, 100_000.0);
    assert!(purse.allows());
    // 200 000 B to send, at most 150 000 B, of which it has all: a packet is asked for all the same.
    assert_eq!(purse.wants(200_000, 0, 1e9, 4160, 1), 4160);
    purse.spend(100_000);
    assert_eq!(purse.wants(100_000, 0, 1e9, 4160, 1), 50_000);
    assert_eq!(purse.wants(100_000, 0, 1e9, 4160, 2), 25_000);
    assert_eq!(purse.wants(100_000, 0, 80_000.0, 4160, 1), 34_160);
    purse.stop_speculating();
    purse.grant(16_640);
    purse.spend(16_000);
    assert!(purse.allows());
    purse.spend(4160);
    assert!(!purse.allows());
    // What was said before says nothing new.
    purse.grant(16_640);
    assert!(!purse.allows());
    assert_eq!(purse.wants(0, 8320, 1e9, 4160, 1), 16_640 + 8320 + 3520);
}

/// 10 of 100 packets trimmed inside the network: 0.9. All marked: g = 0.5, 0.9 x (1 - 0.1) = 0.81. Then g = 0.25, no cut: 0.82; then
/// 0.82 + 0.02, + 0.04.
#[test]
fn the_rate_of_grants_follows_the_network() {
    let mut a = Adaptation::new(Span::from_us(10), 0.01, stream());
    let step = |a: &mut Adaptation| {
        let period = a.next;
        a.catch_up(period);
        assert!((11.25e-6..=18.75e-6).contains(&a.next.since(period).seconds()));
        a.rate
    };
    (0..10).for_each(|_| a.count(false, Some(false)));
    (0..90).for_each(|_| a.count(false, None));
    let near = |rate: f64, expected: f64| assert!((rate - expected).abs() < 1e-12, "{rate} is not {expected}");
    near(step(&mut a), 0.9);
    (0..10).for_each(|_| a.count(true, None));
    near(step(&mut a), 0.81);
    near(step(&mut a), 0.82);
    near(step(&mut a), 0.84);
    near(step(&mut a), 0.88);
    a.catch_up(us(1e6));
    assert_eq!((a.rate, a.next > us(1e6)), (1.0, true));
}

/// A trimmed header brings its sender into the line, whatever it wants.
#[test]
fn a_receiver_that_is_gone_is_passed_over() {
    let options = Options { credits: true, ..Options::default() };
    let mut accounts = vec![Account::new(&options, 0.0); 2];
    let mut pacer = Pacer::new(&options, 100e9, Span::from_us(12), stream());
    for (number, receiver) in (0..).zip(&mut accounts) {
        pacer.on_packet(us(0.0), number, receiver, 0, true);
    }
    pacer.forget(0);
    let grant = pacer.grant(us(0.0), &mut accounts).unwrap();
    assert_eq!(grant, Grant { to: 1, total: 0 });
}
