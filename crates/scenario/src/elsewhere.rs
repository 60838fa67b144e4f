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

fn folded(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}
