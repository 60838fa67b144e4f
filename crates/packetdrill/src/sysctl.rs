//! The settings of a host, as Linux's sysctls name them, and what they mean to the options of a stack.

use elephan_tcp::options::{AccEcnOptions, LossDetection, Pacing};
use elephan_tcp::{Options, congestion_control_in};
use elephan_units::{Bytes, Span};
use std::collections::BTreeMap;

/// What a host knows of its sysctls: those that a script has set.
#[derive(Clone, Debug, Default)]
pub struct Sysctls {
    set: BTreeMap<String, String>,
    /// How often what is known of peers was forgotten.
    pub flushes: u64,
    /// Queueing discipline of the device: `fq` paces.
    pub fair_queue: bool,
}

/// Settings without a meaning here: segments leave one by one and at once, routes and listeners have no limits, and what the others
/// rule is not modelled and does nothing unless a script asks for it in other ways too.
const WITHOUT_MEANING: [&str; 13] = [
    "tcp_autocorking",
    "tcp_base_mss",
    "tcp_fack",
    "tcp_limit_output_bytes",
    "tcp_max_syn_backlog",
    "tcp_min_tso_segs",
    "tcp_moderate_rcvbuf",
    "tcp_no_metrics_save",
    "tcp_no_ssthresh_metrics_save",
    "tcp_syncookies",
    "tcp_tso_rtt_log",
    "tcp_tso_win_divisor",
    "tcp_tw_reuse",
];

/// Settings that have a meaning in [`Sysctls::apply`] or elsewhere, with the largest number that they may have.
const NUMBERS: [(&str, u64); 28] = [
    ("tcp_timestamps", 1),
    ("tcp_sack", 1),
    ("tcp_dsack", 1),
    ("tcp_window_scaling", 1),
    ("tcp_ecn", 5),
    ("tcp_ecn_option", 2),
    ("tcp_ecn_option_beacon", 1000),
    ("tcp_ecn_fallback", 1),
    ("tcp_slow_start_after_idle", 1),
    ("tcp_early_retrans", 4),
    ("tcp_recovery", 1),
    ("tcp_reordering", 1000),
    ("tcp_max_reordering", 1000),
    ("tcp_frto", 2),
    ("tcp_pacing_ss_ratio", 1000),
    ("tcp_pacing_ca_ratio", 1000),
    ("tcp_mtu_probing", 0),
    ("tcp_notsent_lowat", 0xFFFF_FFFF),
    ("tcp_syn_retries", 127),
    ("tcp_synack_retries", 255),
    ("tcp_retries2", 255),
    ("tcp_orphan_retries", 255),
    ("tcp_fin_timeout", 86_400),
    ("tcp_rto_max_ms", 120_000),
    ("tcp_invalid_ratelimit", 0x7FFF_FFFF),
    ("tcp_rto_min_us", 1_000_000),
    ("tcp_fastopen", 0xFFFF_FFFF),
    ("tcp_fastopen_blackhole_timeout_sec", 86_400),
];

impl Sysctls {
    /// Sets `name`, without `net.ipv4.`; an error says what elephan does not model.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let unknown = || format!("sysctl {name}={value}");
        let known = match name {
            _ if WITHOUT_MEANING.contains(&name) => true,
            // A setting of some kernels: how many cookies are kept.
            "tcp_fastopen_cookies" => {
                self.flushes += 1;
                true
            }
            "tcp_fastopen_key" => keys(value).is_some(),
            "tcp_congestion_control" => congestion_control(value).is_some(),
            "tcp_rmem" | "tcp_wmem" => triple(value).is_some(),
            _ => NUMBERS.iter().any(|(known, most)| *known == name && number(value).is_some_and(|n| n <= *most)),
        };
        if !known {
            return Err(unknown());
        }
        self.set.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// A setting that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.set.get(name).and_then(|value| number(value))
    }

    /// The secret that cookies are made of, and the one before it.
    pub fn fast_open_keys(&self) -> [Option<[u8; 16]>; 2] {
        self.set.get("tcp_fastopen_key").and_then(|value| keys(value)).unwrap_or([Some([0; 16]), None])
    }

    /// The default and the largest size of a send buffer, if they were set.
    pub fn send_buffer(&self) -> Option<[u64; 2]> {
        self.set.get("tcp_wmem").and_then(|value| triple(value)).map(|[_, default, most]| [default, most])
    }

    /// Changes the options that the settings name. What no setting names stays as the stack has it.
    #[expect(clippy::too_many_lines, reason = "an arm for each setting of the kernel")]
    pub fn apply(&self, o: &mut Options) {
        let flag = |name: &str, option: &mut bool| {
            if let Some(value) = self.number(name) {
                *option = value != 0;
            }
        };
        flag("tcp_timestamps", &mut o.timestamps);
        flag("tcp_sack", &mut o.sack);
        flag("tcp_dsack", &mut o.dsack);
        flag("tcp_window_scaling", &mut o.window_scaling);
        flag("tcp_slow_start_after_idle", &mut o.idle_restart);
        // Linux tcp_cwnd_validate asks for it too.
        o.cwnd_validation &= self.number("tcp_slow_start_after_idle") != Some(0);
        flag("tcp_frto", &mut o.frto);
        if let Some(value) = self.number("tcp_early_retrans") {
            o.tail_loss_probe = value >= 3;
        }
        match self.number("tcp_recovery") {
            Some(0) => o.loss_detection = LossDetection::Dupack,
            Some(_) => o.loss_detection = LossDetection::Rack,
            None => {}
        }
        if let Some(value) = self.number("tcp_reordering") {
            o.dup_ack_threshold = value as u32;
        }
        if let Some(value) = self.number("tcp_max_reordering") {
            o.max_reordering = value as u32;
        }
        if let Some(policy) = self.accecn_option() {
            o.accecn_option = policy;
        }
        if let Some(value) = self.number("tcp_ecn_option_beacon") {
            o.accecn_beacon = value as u32;
        }
        if let Some(value) = self.number("tcp_ecn_fallback") {
            o.accecn_check = value != 0;
            o.ecn_syn_retries = if value != 0 { 0 } else { 255 };
        }
        if let Some(value) = self.number("tcp_pacing_ss_ratio") {
            o.pacing_ss_ratio = value as u32;
        }
        if let Some(value) = self.number("tcp_pacing_ca_ratio") {
            o.pacing_ca_ratio = value as u32;
        }
        let counts = [
            ("tcp_syn_retries", &mut o.syn_retries),
            ("tcp_synack_retries", &mut o.syn_ack_retries),
            ("tcp_retries2", &mut o.data_retries),
            ("tcp_orphan_retries", &mut o.orphan_retries),
        ];
        for (name, option) in counts {
            *option = self.number(name).map_or(*option, |value| value as u32);
        }
        if let Some(value) = self.number("tcp_fin_timeout") {
            o.fin_timeout = Span::from_s(value);
        }
        if let Some(value) = self.number("tcp_invalid_ratelimit") {
            o.invalid_ratelimit = Span::from_ms(value);
        }
        if let Some(value) = self.number("tcp_rto_max_ms") {
            o.rto_max = Span::from_ms(value.max(1000));
        }
        if let Some(value) = self.number("tcp_rto_min_us") {
            o.rto_min = Span::from_us(value.max(1));
        }
        if self.fair_queue {
            o.pacing = Pacing::Window;
        }
        if let Some([_, default, most]) = self.set.get("tcp_rmem").and_then(|value| triple(value)) {
            // Half of a buffer is window (tcp_win_from_space).
            let window = |bytes: u64| Bytes((bytes / 2).clamp(o.mss.0, elephan_tcp::options::WINDOW_MAX));
            (o.receive_window, o.receive_window_initial) = (window(most), window(default));
        }
        if let Some(congestion_control) =
            self.set.get("tcp_congestion_control").and_then(|name| congestion_control(name))
        {
            o.congestion_control = congestion_control;
        }
    }
}

/// The congestion control that Linux calls `name`, as the stack `linux` has it.
pub fn congestion_control(name: &str) -> Option<elephan_cc::Spec> {
    let name = name.trim();
    congestion_control_in("linux", &name.into()).or_else(|| elephan_cc::Spec::named(name).ok())
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// One key or two, each four words of eight hexadecimal digits.
fn keys(text: &str) -> Option<[Option<[u8; 16]>; 2]> {
    let mut keys = [None, None];
    let texts: Vec<&str> = text.split(',').collect();
    if texts.len() > keys.len() {
        return None;
    }
    for (slot, text) in keys.iter_mut().zip(texts) {
        let words: Vec<u32> =
            text.trim().split('-').map(|word| u32::from_str_radix(word, 16).ok()).collect::<Option<_>>()?;
        let words: [u32; 4] = words.try_into().ok()?;
        let mut key = [0; 16];
        for (bytes, word) in key.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        *slot = Some(key);
    }
    Some(keys)
}

fn triple(text: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = text.split_whitespace().map(number).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

impl Sysctls {
    /// Which segments carry the AccECN option.
    pub fn accecn_option(&self) -> Option<AccEcnOptions> {
        Some(match self.number("tcp_ecn_option")? {
            0 => AccEcnOptions::Off,
            1 => AccEcnOptions::Minimum,
            _ => AccEcnOptions::Full,
        })
    }

    /// TCP_NOTSENT_LOWAT of sockets that set none.
    pub fn low_water(&self) -> u64 {
        self.number("tcp_notsent_lowat").unwrap_or(u64::from(u32::MAX))
    }

    /// What an end says of ECN that opens, or is opened (`passive`), under `tcp_ecn`: 0 off, 1 RFC 3168, 2 RFC 3168 if asked, 3
    /// AccECN, 4 AccECN if asked and RFC 3168 otherwise, 5 AccECN if asked.
    pub fn ecn(&self, passive: bool, stack: elephan_tcp::options::Ecn) -> elephan_tcp::options::Ecn {
        use elephan_tcp::options::Ecn;
        match (self.number("tcp_ecn"), passive) {
            (None, _) => stack,
            (Some(0), _) | (Some(2 | 5), false) => Ecn::Off,
            (Some(1), _) | (Some(2), true) | (Some(4), false) => Ecn::Classic,
            _ => Ecn::Accurate,
        }
    }
}
