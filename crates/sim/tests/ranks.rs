//! Collectives and programs of ranks over real connections: closed forms on an empty network, who held whom back, how it ends.

mod written;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, DictionaryArray};
use elephan_record::Tables;
use elephan_scenario::{Override, Source, read};
use serde_json::Value;
use written::{column, run_text};

/// 100 Gb/s and 2 us from host to host. RoCE without limits, packets of 4096 B with 44 B of headers and no other framing.
const TEXT: &str = r#"
duration = "100 ms"

[hosts.host]
count = 8

[switches.switch]

[[links]]
between = ["host", "switch"]
rate    = "100 Gbps"
delay   = "1 us"
framing = "none"

[[traffic]]
name      = "train"
kind      = "collective"
from      = "host"
operation = "all-reduce"
algorithm = "ring"
size      = "8 MB"
transport = "roce"
roce      = { mtu = "4096 B", ack_every = 64 }
congestion_control = "none"
"#;

fn run(set: &[&str]) -> (Tables, Value) {
    run_text(TEXT, set)
}

fn refused(set: &[&str]) -> String {
    let overrides: Vec<Override> = set.iter().map(|one| Override::parse(one).unwrap()).collect();
    read(&Source::toml("ranks.toml", TEXT), &overrides, None).unwrap_err().to_string()
}

fn texts(tables: &Tables, table: &str, name: &str) -> Vec<String> {
    let batches = &tables.iter().find(|t| t.name == table).unwrap().batches;
    let of = |batch: &arrow_array::RecordBatch| -> Vec<String> {
        let column = batch.column_by_name(name).unwrap();
        match column.as_any().downcast_ref::<DictionaryArray<Int32Type>>() {
            Some(words) => {
                let values = words.values().as_string::<i32>();
                words.keys().values().iter().map(|&key| values.value(key as usize).to_owned()).collect()
            }
            None => column.as_string::<i32>().iter().map(|word| word.unwrap().to_owned()).collect(),
        }
    };
    batches.iter().flat_map(of).collect()
}

/// Seconds that the first iteration took.
fn took(set: &[&str]) -> f64 {
    let (tables, _) = run(set);
    (column(&tables, "iterations", "end_ns")[0] - column(&tables, "iterations", "begin_ns")[0]) / 1e9
}

/// n of `size` bytes one after the other, and what each waits more: two links, and a full packet on the second of them.
fn closed(messages: f64, bytes: f64, latencies: f64) -> f64 {
    let wire = |bytes: f64| (bytes + 44.0 * (bytes / 4096.0).ceil()) * 8.0 / 100e9;
    messages * wire(bytes) + latencies * (2e-6 + wire(4096.0))
}

#[test]
fn times_are_those_of_the_closed_forms_on_an_empty_network() {
    let (n, size) = (8.0, 8e6);
    let cases = [
        ("all-reduce", "ring", closed(14.0, size / n, 14.0)),
        ("all-gather", "ring", closed(7.0, size / n, 7.0)),
        ("reduce-scatter", "ring", closed(7.0, size / n, 7.0)),
        ("all-reduce", "recursive-doubling", closed(3.0, size, 3.0)),
        ("all-gather", "recursive-doubling", closed(7.0, size / n, 3.0)),
        ("all-reduce", "halving-doubling", closed(14.0, size / n, 6.0)),
        ("reduce-scatter", "halving-doubling", closed(7.0, size / n, 3.0)),
        // A rank sends to the next when the last has acknowledged: 2 us more.
        ("all-reduce", "binomial-tree", closed(6.0, size, 6.0) + 2.0 * 2e-6),
        ("broadcast", "binomial-tree", closed(3.0, size, 3.0) + 2.0 * 2e-6),
        ("all-to-all", "pairwise", closed(7.0, size / n, 7.0)),
    ];
    for (operation, algorithm, due) in cases {
        let set = [format!("traffic.train.operation={operation}"), format!("traffic.train.algorithm={algorithm}")];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let took = took(&set);
        assert!((took / due - 1.0).abs() < 0.01, "{operation} by {algorithm}: {took} for {due}");
    }
}

#[test]
fn the_ideal_is_what_an_empty_network_gives() {
    for set in [
        vec![],
        vec!["traffic.train.algorithm=halving-doubling"],
        vec!["traffic.train.algorithm=binomial-tree"],
        vec!["traffic.train.algorithm=recursive-doubling"],
        vec!["traffic.train.operation=all-to-all", "traffic.train.algorithm=pairwise"],
        vec!["traffic.train.chunks=4"],
        vec!["traffic.train.compute=50 us"],
    ] {
        let (tables, _) = run(&set);
        let slowdown = column(&tables, "iterations", "slowdown")[0];
        assert!((slowdown - 1.0).abs() < 0.01, "{set:?}: {slowdown}");
    }
}

#[test]
fn the_bus_bandwidth_is_that_of_nccl_tests() {
    let (tables, _) = run(&[]);
    let time = (column(&tables, "iterations", "end_ns")[0] - column(&tables, "iterations", "ready_ns")[0]) / 1e9;
    let bus = column(&tables, "iterations", "bus_bps")[0];
    // 2 (n - 1) / n times the size, in bits, over the time.
    assert!((bus / (1.75 * 64e6 / time) - 1.0).abs() < 1e-6);
    // The payload's share of 100 Gb/s, less the latencies.
    assert!(bus < 100e9 * 4096.0 / 4140.0 && bus > 95e9, "{bus}");
}

#[test]
fn a_slow_link_is_found_and_who_waits_for_it() {
    let text = TEXT.replace(
        "framing = \"none\"",
        "framing = \"none\"\nports   = { \"host[3]->switch\" = { rate = \"20 Gbps\" } }",
    );
    let (tables, _) = run_text(&text, &[]);
    assert_eq!(texts(&tables, "iterations", "straggler"), ["host[3]"]);
    assert_eq!(texts(&tables, "iterations", "straggler_to"), ["host[4]"]);
    assert_eq!(texts(&tables, "iterations", "straggling_link"), ["host[3]->switch"]);
    // Each of 14 steps has the slow link on somebody's way; the critical path stays on it: 4/5 of the time is excess.
    let time = column(&tables, "iterations", "end_ns")[0] - column(&tables, "iterations", "begin_ns")[0];
    assert!((time / 1e9 / (5.0 * closed(14.0, 1e6, 0.0)) - 1.0).abs() < 0.03, "{time}");
    let waited = column(&tables, "ranks", "waited_ns");
    assert!(waited[3] < 0.05 * time && (0..8).all(|rank| rank == 3 || waited[rank] > 0.4 * time), "{waited:?}");
    // The ideal knows the slow link, so nothing is slower than it must be.
    assert!((column(&tables, "iterations", "slowdown")[0] - 1.0).abs() < 0.03);
}

#[test]
fn a_rank_that_computes_longer_holds_all_up() {
    let compute = "traffic.train.compute={ uniform = [\"100 us\", \"3 ms\"] }";
    let (tables, _) = run(&[compute, "traffic.train.iterations=3"]);
    let computed = column(&tables, "ranks", "computed_ns");
    let begin = column(&tables, "iterations", "begin_ns");
    assert_eq!((computed.len(), begin.len()), (24, 3));
    for iteration in 0..3 {
        let own = &computed[8 * iteration..8 * iteration + 8];
        let longest = (0..8).max_by(|&a, &b| own[a].total_cmp(&own[b])).unwrap();
        assert_eq!(texts(&tables, "iterations", "straggler")[iteration], format!("host[{longest}]"));
        assert_eq!(texts(&tables, "iterations", "straggler_to")[iteration], "");
        let mean = own.iter().sum::<f64>() / 8.0;
        assert!((column(&tables, "iterations", "straggler_ns")[iteration] - (own[longest] - mean)).abs() < 2.0);
        let ready = column(&tables, "iterations", "ready_ns")[iteration] - begin[iteration];
        assert!((ready - own[longest]).abs() < 2.0);
    }
}

#[test]
fn groups_do_it_at_once() {
    let (tables, summary) = run(&["traffic.train.group=4", "traffic.train.stride=2", "traffic.train.iterations=2"]);
    let groups = column(&tables, "iterations", "group");
    assert_eq!((groups.iter().filter(|&&group| group == 0.0).count(), groups.len()), (2, 4));
    let (hosts, groups) = (texts(&tables, "ranks", "host"), column(&tables, "ranks", "group"));
    let first: Vec<&String> =
        hosts.iter().zip(groups).filter(|(_, group)| *group == 0.0).map(|(host, _)| host).collect();
    assert_eq!(first[..4], ["host[0]", "host[2]", "host[4]", "host[6]"]);
    assert_eq!(summary["iteration_time"]["count"], 4);
}

#[test]
fn over_tcp_iterations_follow_each_other_and_connections_close() {
    let text = TEXT.replace("roce      = { mtu = \"4096 B\", ack_every = 64 }\n", "");
    let tcp = ["traffic.train.transport=tcp", "traffic.train.congestion_control=reno"];
    let (tables, _) =
        run_text(&text, &[&tcp[..], &["traffic.train.size=800 KB", "traffic.train.iterations=4"]].concat());
    let end = column(&tables, "iterations", "end_ns");
    let begin = column(&tables, "iterations", "begin_ns");
    assert_eq!((end.len(), &end[..3]), (4, &begin[1..]));
    // Each of 8 connections carried 14 pieces of 100 KB in each iteration, and is closed.
    assert_eq!(column(&tables, "flows", "delivered_bytes"), [4.0 * 14.0 * 100e3; 8]);
    assert!(column(&tables, "flows", "end_ns").iter().all(|end| end.is_finite()));
    // The first has the handshake and slow start in it.
    assert!(end[0] - begin[0] > end[3] - begin[3] + 4e3);
}

#[test]
fn the_end_of_the_run_cuts_an_iteration_off_and_a_stop_lets_it_end() {
    let (tables, summary) = run(&["duration=1 ms"]);
    assert!(column(&tables, "iterations", "end_ns")[0].is_nan());
    assert_eq!(column(&tables, "ranks", "end_ns").len(), 8);
    assert_eq!(summary["iteration_time"], Value::Null);
    let (tables, _) = run(&["traffic.train.iterations=1000", "traffic.train.stop=1.5 ms"]);
    let end = column(&tables, "iterations", "end_ns");
    assert!(end.len() == 2 && end[1] > 1.5e6);
}

#[test]
fn a_program_in_goal_runs_as_its_text_says() {
    let program = "num_ranks 3
        rank 0 { a: calc 5000 b: send 1000b to 1 b requires a }
        rank 1 { a: recv 1000b from -1 tag -1 b: send 2000b to 2 b requires a }
        rank 2 { a: recv 2000b from 1 }";
    let text = TEXT.replace("operation = \"all-reduce\"\nalgorithm = \"ring\"\nsize      = \"8 MB\"\n", "");
    let text = text.replace("\"collective\"", &format!("\"goal\"\nprogram = '''{program}'''"));
    let text = text.replace("from      = \"host\"", "from      = \"host[0-2]\"");
    let (tables, _) = run_text(&text, &["record.operations=true"]);
    // 5 us, and each message twice over a link of 1 us, where its bytes with 44 of headers take 83.52 and 163.52 ns.
    // Before the second goes the acknowledgement of the first, of 48 B.
    let due = 5000.0 + 2.0 * (1000.0 + 83.52) + 2.0 * (1000.0 + 163.52) + 3.84;
    let end = column(&tables, "iterations", "end_ns")[0];
    assert!((end - due).abs() < 2.0, "{end} for {due}");
    assert!(column(&tables, "iterations", "bus_bps")[0].is_nan());
    assert_eq!(column(&tables, "iterations", "bytes"), [3000.0]);
    assert_eq!(texts(&tables, "operations", "kind"), ["compute", "send", "wait", "send", "wait"]);
    assert_eq!(column(&tables, "operations", "rank"), [0.0, 0.0, 1.0, 1.0, 2.0]);
    assert_eq!(column(&tables, "operations", "begin_ns")[..3], [0.0, 5000.0, 0.0]);
    assert_eq!(column(&tables, "operations", "end_ns")[..3], [5000.0, 7167.0, 7167.0]);
}

#[test]
fn a_program_that_hangs_says_who_waits_for_whom() {
    let text = TEXT.replace("operation = \"all-reduce\"\nalgorithm = \"ring\"\nsize      = \"8 MB\"\n", "");
    let text = text.replace("from      = \"host\"", "from      = \"host[0-1]\"");
    let run = |program: &str| {
        run_text(&text.replace("\"collective\"", &format!("\"goal\"\nprogram = '''{program}'''")), &[]).0
    };
    let tables = run("num_ranks 2 rank 0 { send 10b to 1 tag 3 } rank 1 { recv 10b from 0 tag 4 }");
    assert_eq!(texts(&tables, "iterations", "stuck"), ["host[1] waits for a message with tag 4 from host[0]"]);
    assert!(column(&tables, "iterations", "end_ns")[0].is_nan());
    // One that computes beyond the end of the run does not hang.
    let tables =
        run("num_ranks 2 rank 0 { a: calc 900000000 b: send 10b to 1 b requires a } rank 1 { recv 10b from 0 }");
    assert_eq!(texts(&tables, "iterations", "stuck"), [""]);
}

#[test]
fn chunks_that_wait_for_each_other_hold_nobody_back() {
    let (tables, _) = run(&["traffic.train.chunks=20"]);
    let took = column(&tables, "iterations", "end_ns")[0] - column(&tables, "iterations", "begin_ns")[0];
    let late = took - column(&tables, "iterations", "ideal_ns")[0];
    assert!(column(&tables, "iterations", "straggler_ns")[0] <= late.max(0.0) + 1.0, "{took} {late}");
}

#[test]
fn what_does_not_fit_is_told_at_its_place() {
    for (set, told) in [
        (vec!["traffic.train.operation=all-to-all"], "ring does no all-to-all; known: pairwise"),
        (vec!["traffic.train.group=3"], "groups of 3, 1 apart, do not divide 8 ranks"),
        (vec!["traffic.train.from=host[0]"], "1 ranks: at least 2"),
        (vec!["traffic.train.to=host"], "the ranks of collective are the hosts of `from`; leave this out"),
        (vec!["traffic.train.connections=2"], "collective has one connection for each pair; leave this out"),
        (vec!["traffic.train.pairing=all"], "collective says which ranks talk; leave this out"),
        (vec!["traffic.train.from=[\"host\", \"host[1]\"]"], "host[1] is there twice; a host is one rank"),
    ] {
        let refusal = refused(&set);
        assert!(refusal.contains(told) && !refusal.contains('\n'), "{set:?}: {refusal}");
    }
}
