//! A leader replicates its log to four followers. One packet in a hundred is lost: how long does an entry take until two of them have
//! it, and until all have?
//!
//!     cargo run --release -p elephan-virtual --example replicas

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use std::collections::BTreeMap;
use std::error::Error;

use elephan_record::Recorder;
use elephan_scenario::{Source, read};
use elephan_units::{Span, Time};
use elephan_virtual::{Errno, Fd, Kind, Network, READABLE, Setting};

const ENTRY_BYTES: usize = 400;
const EVERY: Span = Span::from_ms(5);
const ENTRIES: usize = 2000;
const PORT: u16 = 7000;

fn scenario(loss: f64) -> String {
    let lossy = if loss > 0.0 { format!("forward.loss = {{ bernoulli = {loss} }}\n") } else { String::new() };
    format!(
        "duration = \"60 s\"\n\
         [hosts.leader]\n[hosts.follower]\ncount = 4\n[switches.switch]\n\
         [[links]]\nbetween = [\"leader\", \"switch\"]\nrate = \"100 Mbps\"\ndelay = \"2 ms\"\n{lossy}\
         [[links]]\nbetween = [\"switch\", \"follower\"]\nrate = \"100 Mbps\"\ndelay = \"2 ms\"\n\
         [[traffic]]\nkind = \"program\"\nfrom = \"leader\"\nto = \"follower\"\n"
    )
}

/// Sends an entry each 5 ms; returns how long each took until so many followers had acknowledged it.
fn replicate(loss: f64, needed: usize) -> Result<Vec<Span>, Box<dyn Error>> {
    let resolved = read(&Source::toml("replicas.toml", scenario(loss)), &[], Some(1))?;
    let mut net = Network::new(resolved.plan.clone(), Recorder::memory())?;
    let host = |name: &str| net.hosts().iter().position(|host| host.name == name).ok_or("no such host");
    let leader = host("leader")?;
    let followers = (0..4).map(|i| host(&format!("follower[{i}]"))).collect::<Result<Vec<_>, _>>()?;
    let mut links = Vec::new();
    for follower in followers {
        let listener = net.socket(follower, Kind::Stream)?;
        net.bind(listener, PORT)?;
        net.listen(listener, 1)?;
        net.watch(listener, READABLE);
        let link = net.socket(leader, Kind::Stream)?;
        net.set(link, Setting::NoDelay(true))?;
        match net.connect(link, follower, PORT) {
            Ok(()) | Err(Errno::InProgress) => net.watch(link, READABLE),
            Err(error) => return Err(error.into()),
        }
        links.push(link);
    }
    let mut next = Time::ZERO.saturating_add(Span::from_ms(100));
    let (mut sent, mut commits) = (Vec::new(), Vec::new());
    let mut acknowledged: BTreeMap<Fd, usize> = BTreeMap::new();
    while commits.len() < ENTRIES && net.now() < net.end() {
        for (fd, _) in net.wait(next, &mut |_| true)? {
            if let Ok((peer, ..)) = net.accept(fd) {
                net.set(peer, Setting::NoDelay(true))?;
                net.watch(peer, READABLE);
                continue;
            }
            let bytes = net.recv(fd, 1 << 16, false)?.len();
            if links.contains(&fd) {
                *acknowledged.entry(fd).or_default() += bytes;
            } else {
                // A follower answers each entry that it has whole by a byte.
                let whole = acknowledged.entry(fd).or_default();
                let before = *whole / ENTRY_BYTES;
                *whole += bytes;
                net.send(fd, &vec![1; *whole / ENTRY_BYTES - before])?;
            }
        }
        let mut counts: Vec<usize> = links.iter().map(|fd| acknowledged.get(fd).copied().unwrap_or(0)).collect();
        counts.sort_unstable();
        while commits.len() < counts[counts.len() - needed] {
            commits.push(net.now().since(sent[commits.len()]));
        }
        if net.now() >= next && sent.len() < ENTRIES {
            for &link in &links {
                net.send(link, &[7; ENTRY_BYTES])?;
            }
            sent.push(net.now());
            next = if sent.len() == ENTRIES { Time::NEVER } else { net.now().saturating_add(EVERY) };
        }
    }
    Ok(commits)
}

fn main() -> Result<(), Box<dyn Error>> {
    for (loss, needed) in [(0.0, 2), (0.01, 2), (0.01, 4)] {
        let mut commits = replicate(loss, needed)?;
        commits.sort_unstable();
        let at = |share: f64| commits[(commits.len() as f64 * share) as usize].seconds() * 1e3;
        println!(
            "loss {:.0} %, {needed} followers: {} entries, median {:.1} ms, 99th percentile {:.1} ms, longest {:.1} ms",
            loss * 100.0,
            commits.len(),
            at(0.5),
            at(0.99),
            at(0.9999)
        );
    }
    Ok(())
}
