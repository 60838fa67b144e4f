//! Words of the field for which this language has other words, for errors: no spelling is near enough to find those by.

/// What to write where a kind of traffic is called so.
pub(crate) fn traffic_kind(wrong: &str) -> Option<&'static str> {
    Some(match folded(wrong).as_str() {
        "permutation" => "a kind of traffic with pairing = \"permutation\"",
        "all_to_all" | "alltoall" | "all" => "a kind of traffic with pairing = \"all\"",
        "random" => "a kind of traffic with pairing = \"random\"",
        "uniform" => "kind = \"messages\" or \"frames\" with destinations = \"uniform\"",
        "tcp_bg" | "tcp_background" | "background" | "poisson" => {
            "kind = \"transfers\" (short TCP flows with Poisson arrivals) or \"onoff\" (self-similar UDP)"
        }
        "tcp" | "ftp" => "kind = \"bulk\"",
        "udp" => "kind = \"cbr\"",
        "web" | "http" => "kind = \"users\" or \"transfers\"",
        "rpc" => "kind = \"messages\"",
        _ => return None,
    })
}

/// What to write where hosts are called so; `shares` is whether the kind of traffic knows `destinations`.
pub(crate) fn hosts(wrong: &str, shares: bool) -> Option<&'static str> {
    Some(match (folded(wrong).as_str(), shares) {
        ("uniform" | "random" | "any", true) => "destinations = \"uniform\"",
        ("uniform" | "random" | "any", false) => "pairing = \"random\"",
        ("permutation", _) => "pairing = \"permutation\"",
        ("all" | "all_to_all" | "alltoall" | "*", _) => "pairing = \"all\"",
        _ => return None,
    })
}

/// The name here of a model that papers and other tools call so.
pub fn model(wrong: &str) -> Option<&'static str> {
    Some(match folded(wrong).as_str() {
        "hstcp" | "hs_tcp" | "high_speed" => "highspeed",
        "stcp" | "s_tcp" => "scalable",
        "tcp_reno" | "newreno" | "new_reno" => "reno",
        "bbrv1" | "bbr1" => "bbr",
        "bbrv3" | "bbrv2" | "bbr2" => "bbr3",
        "ctcp" => "compound",
        "tcp_lp" | "tcplp" => "lp",
        "fqcodel" => "fq_codel",
        "droptail" | "drop_tail" | "pfifo" | "bfifo" | "tail_drop" => "fifo",
        _ => return None,
    })
}

/// The key, of those that are valid here, for what other tools call so.
pub(crate) fn key<'a>(wrong: &str, valid: &[&'a str]) -> Option<&'a str> {
    let meant: &[&str] = match folded(wrong).as_str() {
        "rate" => &["load"],
        "bandwidth" | "bw" | "capacity" | "speed" | "data_rate" => &["rate", "load"],
        "latency" | "propagation" | "propagation_delay" | "one_way_delay" => &["delay"],
        "buffer" | "buffer_size" | "queue_size" | "queue_length" | "max_size" => &["limit", "queue", "memory"],
        "loss_rate" | "plr" | "packet_loss" => &["loss"],
        "recv_buffer" | "rcvbuf" | "rcv_buf" | "so_rcvbuf" => &["receive_buffer"],
        "rwnd" | "tcp_rmem" | "window" => &["receive_window"],
        "send_window" | "sndbuf" | "snd_buf" | "tcp_wmem" => &["send_buffer"],
        "initial_cwnd" | "initcwnd" | "init_cwnd" | "iw" => &["initial_window"],
        "min_rto" => &["rto_min"],
        "max_rto" => &["rto_max"],
        "cc" | "cca" | "congestion" | "congestion_algorithm" | "tcp_cc" => &["congestion_control"],
        "start_time" | "begin" => &["start"],
        "stop_time" | "end" | "end_time" => &["stop"],
        "time" | "sim_time" | "simulation_time" => &["duration"],
        "runs" | "repeat" | "replications" => &["repetitions"],
        _ => &[],
    };
    meant.iter().find_map(|meant| valid.iter().find(|valid| *valid == meant)).copied()
}

fn folded(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}
