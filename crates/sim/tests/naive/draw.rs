//! Random scenarios of what the naive engine covers, as text.

use std::fmt::Write;

use elephan_random::Stream;

/// Rates in bit/s; some take no whole number of picoseconds a byte.
const RATES_BPS: [u64; 9] = [
    1_000_000,
    10_000_000,
    100_000_000,
    622_080_000,
    1_000_000_000,
    2_500_000_000,
    10_000_000_000,
    9_953_280_000,
    70_000_000_000,
];
/// Packets of the fastest link in a run, about.
const PACKETS: u64 = 250;
const TCP_PACKETS: u64 = 600;
/// Bytes at which switches pause at most, and that queues hold at least where switches pause.
const XOFF_MAX: u64 = 20_000;
const FULL_BITS: u64 = 1538 * 8;
const FULL_BYTES: u64 = 1518;

/// What draws a scenario.
pub struct Draw {
    random: Stream,
    /// The rate that others lie around, in bit/s.
    rate_bps: u64,
    /// Wire time of a full packet at that rate, in picoseconds.
    packet_ps: u64,
    /// All links have one rate and one delay, so that many events fall on one instant.
    is_regular: bool,
    /// Nearly all packets are full, and thresholds are whole packets, so that they are met exactly.
    is_even: bool,
    delay_ps: u64,
    hosts: Vec<String>,
    switches: Vec<String>,
    /// Ends of the links.
    links: Vec<(String, String)>,
    /// So many hosts have one switch that elephan lets links share a lane.
    is_wide: bool,
    /// All queues drop at the tail and mark nothing, as in most networks.
    is_plain: bool,
    /// The traffic has TCP connections.
    has_tcp: bool,
    /// Switches pause, so that queues must hold more than their XOFF.
    is_paused: bool,
    /// When the run ends.
    duration_ps: u64,
}

impl Draw {
    /// Returns the draws of scenario `number` of a series.
    pub fn new(seed: u64, number: u64, has_tcp: bool) -> Draw {
        let mut random = Stream::new(seed, &format!("naive[{number}]"), if has_tcp { "tcp" } else { "udp" });
        let rate_bps = RATES_BPS[random.index(RATES_BPS.len() as u64) as usize];
        let packet_ps = FULL_BITS * 1_000_000 / (rate_bps / 1_000_000);
        let is_regular = random.bernoulli(0.4);
        let delay_ps = packet_ps * random.between(0, 8) / 4;
        let is_wide = random.bernoulli(0.15);
        let is_even = random.bernoulli(0.4);
        let is_plain = random.bernoulli(if is_wide { 0.7 } else { 0.1 });
        Draw {
            random,
            rate_bps,
            packet_ps,
            is_regular,
            is_even,
            delay_ps,
            hosts: Vec::new(),
            switches: Vec::new(),
            links: Vec::new(),
            is_wide,
            is_plain,
            has_tcp,
            is_paused: false,
            duration_ps: packet_ps * if has_tcp { TCP_PACKETS } else { PACKETS },
        }
    }

    fn chance(&mut self, p: f64) -> bool {
        self.random.bernoulli(p)
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.random.index(of.len() as u64) as usize].clone()
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        self.random.between(low, high)
    }

    /// Returns a time of so many hundredths of a full packet.
    fn packets_ps(&mut self, low: u64, high: u64) -> String {
        let hundredths = self.between(low, high);
        let hundredths = if self.is_even { hundredths.next_multiple_of(100) } else { hundredths };
        format!("{} ps", (hundredths * self.packet_ps / 100).max(1))
    }

    /// Returns a number of bytes from `low` to `high`, about.
    fn bytes(&mut self, low: u64, high: u64) -> u64 {
        let bytes = self.between(low, high);
        if self.is_even { bytes.next_multiple_of(FULL_BYTES) } else { bytes }
    }

    fn payload(&mut self) -> u64 {
        if self.is_even && self.chance(0.9) { 1472 } else { self.pick(&[1, 18, 400, 1000, 1472, 1472]) }
    }

    /// Returns the text of a scenario.
    pub fn scenario(&mut self) -> String {
        self.shape();
        let duration_ps = self.duration_ps;
        let mut text = format!("duration = \"{duration_ps} ps\"\nseed = {}\n", self.between(1, 1 << 40));
        if self.chance(0.3) {
            let warmup_ps = duration_ps * self.between(1, 90) / 100;
            writeln!(text, "warmup = \"{warmup_ps} ps\"").unwrap();
        }
        for host in self.hosts.clone() {
            writeln!(text, "[hosts.{host}]").unwrap();
            self.reaction(&mut text);
        }
        self.is_paused = !self.is_wide && self.chance(0.5);
        for switch in self.switches.clone() {
            writeln!(text, "[switches.{switch}]").unwrap();
            self.reaction(&mut text);
            self.switch(&mut text);
        }
        for (one, other) in self.links.clone() {
            self.link(&mut text, &one, &other);
        }
        for _ in 0..self.between(1, 6).max(if self.is_wide { 8 } else { 1 }) {
            self.traffic(&mut text);
        }
        self.record(&mut text);
        text
    }

    /// Draws nodes and links: a chain of one to three switches with hosts at each: a star, a dumbbell, a parking lot.
    fn shape(&mut self) {
        let count: u64 = self.pick(&[1, 1, 2, 2, 3]);
        self.switches = (0..count).map(|i| format!("s{i}")).collect();
        self.links = self.switches.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let hosts = if self.is_wide { self.between(9, 13) } else { self.between(2, 8 - count) };
        for i in 0..hosts {
            let host = format!("h{i}");
            let home = if self.is_wide { "s0".to_owned() } else { self.pick(&self.switches.clone()) };
            // Which end comes first decides about numbers of ports.
            let ends = if self.chance(0.5) { (host.clone(), home) } else { (home, host.clone()) };
            self.links.push(ends);
            self.hosts.push(host);
        }
    }

    fn reaction(&mut self, text: &mut String) {
        if self.chance(0.3) {
            let (obey, quanta) = (self.chance(0.8), self.between(0, 60));
            writeln!(text, "pause = {{ obey = {obey}, response_quanta = {quanta} }}").unwrap();
        }
    }

    fn switch(&mut self, text: &mut String) {
        let memory = self.bytes(3_000, 60_000);
        let has_memory = !self.is_wide && self.chance(0.5);
        let mut keeps_memory = has_memory;
        let mut pauses = false;
        if self.is_paused && self.chance(0.7) {
            let per = self.pick(&["memory", "egress", "ingress"]);
            keeps_memory |= per == "memory";
            pauses = true;
            let xoff = self.bytes(1_600, XOFF_MAX).min(if keeps_memory { memory } else { XOFF_MAX });
            let xon = self.bytes(0, xoff).min(xoff);
            let quanta = self.pick(&[65_535, 1000, 100, 20]);
            let words = format!("per = \"{per}\", xoff = \"{xoff} B\", xon = \"{xon} B\", quanta = {quanta}");
            writeln!(text, "flow_control = {{ kind = \"pause\", {words} }}").unwrap();
        }
        if keeps_memory {
            writeln!(text, "memory = \"{memory} B\"").unwrap();
            if self.chance(0.2) {
                writeln!(text, "cell = \"{} B\"", self.pick(&[64, 208, 1000])).unwrap();
            }
            if !pauses && self.chance(0.4) {
                let alpha = self.pick(&[0.25, 0.5, 1.0, 2.0, 8.0]);
                // One full frame fits, in whole cells too.
                writeln!(text, "alpha = {}", f64::max(alpha, 2_600.0 / memory as f64)).unwrap();
            }
        }
        if self.chance(0.3) {
            writeln!(text, "latency = \"{}\"", self.packets_ps(1, 200)).unwrap();
        }
    }

    fn link(&mut self, text: &mut String, one: &str, other: &str) {
        let rate_bps = if self.is_regular { self.rate_bps } else { self.rate_bps * self.between(1, 8) / 4 };
        let delay_ps = if self.is_regular { self.delay_ps } else { self.packet_ps * self.between(0, 600) / 100 };
        writeln!(text, "[[links]]\nbetween = [\"{one}\", \"{other}\"]").unwrap();
        writeln!(text, "rate = \"{rate_bps} bps\"\ndelay = \"{delay_ps} ps\"").unwrap();
        if self.chance(0.3) {
            writeln!(text, "framing = \"{}\"", self.pick(&["ppp", "none", "ethernet"])).unwrap();
        }
        if self.chance(0.3) {
            let data = if self.chance(0.3) { "packets = \"data\"\n" } else { "" };
            writeln!(text, "{data}loss = {}", self.loss()).unwrap();
        }
        if self.chance(0.7) {
            writeln!(text, "queue = {}", self.queue()).unwrap();
        }
        if self.chance(0.15) {
            writeln!(text, "host_queue = {}", self.queue()).unwrap();
        }
    }

    fn loss(&mut self) -> String {
        match self.between(0, 3) {
            0 => format!("{{ periodic = {} }}", self.between(1, 30)),
            1 => format!("{{ bernoulli = {} }}", self.pick(&[0.001, 0.03, 0.3])),
            2 => {
                let (to_bad, to_good, bad) = (self.pick(&[0.01, 0.2]), self.pick(&[0.1, 0.5]), self.pick(&[1.0, 0.5]));
                format!(
                    "{{ gilbert_elliott = {{ to_bad = {to_bad}, to_good = {to_good}, loss_bad = {bad}, loss_good = 0.01 }} }}"
                )
            }
            _ => format!("{{ listed = [{}, 3, {}] }}", self.between(4, 40), self.between(1, 2)),
        }
    }

    fn limit(&mut self) -> String {
        if self.is_paused {
            format!("{} B", self.bytes(XOFF_MAX, 60_000))
        } else if self.chance(0.5) {
            format!("{} p", self.between(1, 40))
        } else {
            format!("{} B", self.bytes(1_600, 60_000))
        }
    }

    fn queue(&mut self) -> String {
        let (limit, ecn) = (self.limit(), self.chance(0.5));
        match self.between(0, 3) {
            _ if self.is_plain => format!("{{ kind = \"fifo\", limit = \"{limit}\" }}"),
            0 => self.red(&limit, ecn),
            1 => {
                let (target, interval) = (self.packets_ps(20, 800), self.packets_ps(200, 6_000));
                let threshold = if self.chance(0.3) {
                    format!(", ce_threshold = \"{}\"", self.packets_ps(10, 900))
                } else {
                    String::new()
                };
                let words =
                    format!("limit = \"{limit}\", target = \"{target}\", interval = \"{interval}\", ecn = {ecn}");
                format!("{{ kind = \"codel\", {words}{threshold} }}")
            }
            _ if ecn => {
                let above = if self.chance(0.5) {
                    format!("{} p", self.between(0, 10))
                } else {
                    format!("{} B", self.bytes(0, 15_000))
                };
                format!("{{ kind = \"fifo\", limit = \"{limit}\", mark_above = \"{above}\" }}")
            }
            _ => format!("{{ kind = \"fifo\", limit = \"{limit}\" }}"),
        }
    }

    fn red(&mut self, limit: &str, ecn: bool) -> String {
        let (max, spread) = (self.between(2, 24), self.between(1, 3));
        let unit = if self.chance(0.5) { " p" } else { "000 B" };
        let weight = self.pick(&[0.002, 0.05, 0.3, 1.0]);
        let probability = self.pick(&[0.02, 0.2, 1.0]);
        let mut words = format!("limit = \"{limit}\", max = \"{max}{unit}\", min = \"{}{unit}\"", max / (spread + 1));
        write!(words, ", weight = {weight}, probability = {probability}, ecn = {ecn}").unwrap();
        for key in ["gentle", "adaptive", "harddrop"] {
            write!(words, ", {key} = {}", self.chance(0.4)).unwrap();
        }
        write!(words, ", spaced = {}, mark_only = {}", self.chance(0.7), ecn && self.chance(0.3)).unwrap();
        format!("{{ kind = \"red\", {words} }}")
    }

    fn traffic(&mut self, text: &mut String) {
        let from = self.pick(&self.hosts.clone());
        let others: Vec<String> = self.hosts.iter().filter(|host| **host != from).cloned().collect();
        let to = self.pick(&others);
        writeln!(text, "[[traffic]]\nfrom = \"{from}\"\nto = \"{to}\"").unwrap();
        if self.has_tcp && self.chance(0.7) {
            self.tcp(text)
        } else {
            self.datagrams(text)
        }
        self.times(text);
    }

    fn tcp(&mut self, text: &mut String) {
        let rate_bps = self.rate_bps * self.between(1, 20) / 20;
        match self.between(0, 2) {
            0 => writeln!(text, "kind = \"bulk\"").unwrap(),
            1 => writeln!(text, "kind = \"bulk\"\nsize = \"{} B\"", self.between(1, 300_000)).unwrap(),
            _ => {
                let size = self.between(100, 30_000);
                writeln!(text, "kind = \"messages\"\nsize = {{ exponential = \"{size} B\" }}").unwrap();
                writeln!(text, "load = \"{rate_bps} bps\"").unwrap();
            }
        }
        let control = self.pick(&["reno", "cubic", "bbr", "dctcp"]);
        let ecn = if control == "dctcp" { "dctcp" } else { self.pick(&["off", "classic"]) };
        let (least, ack) = (self.packets_ps(1_000, 8_000), self.packets_ps(10, 900));
        let timers = format!("rto_min = \"{least}\", rto_initial = \"{least}\", delayed_ack_timeout = \"{ack}\"");
        writeln!(text, "congestion_control = \"{control}\"\ntcp = {{ ecn = \"{ecn}\", {timers} }}").unwrap();
    }

    fn datagrams(&mut self, text: &mut String) {
        let rate_bps = self.rate_bps * self.between(1, 30) / 20;
        let bytes = self.payload();
        let gaps = self.pick(&["fixed", "exponential"]);
        match self.between(0, 4) {
            0 => {
                let packets = self.between(1, 120);
                writeln!(text, "kind = \"burst\"\npackets = {packets}\npacket_size = \"{bytes} B\"").unwrap();
            }
            1 => {
                let (sources, on) = (self.between(1, 8), self.packets_ps(100, 3_000));
                writeln!(text, "kind = \"onoff\"\nload = \"{rate_bps} bps\"\nsources = {sources}\non = \"{on}\"")
                    .unwrap();
                writeln!(text, "packet_size = \"{bytes} B\"\nduty = {}", self.pick(&[0.2, 0.6])).unwrap();
            }
            // Captures, from which TCP is replayed, see no frames without IP.
            2 if !self.has_tcp => {
                let frame = self.pick(&[64, 65, 512, 1518]);
                writeln!(text, "kind = \"frames\"\nrate = \"{rate_bps} bps\"\nframe_size = \"{frame} B\"").unwrap();
                writeln!(text, "gaps = \"{gaps}\"").unwrap();
            }
            _ => {
                let words = format!("rate = \"{rate_bps} bps\"\npacket_size = \"{bytes} B\"\ngaps = \"{gaps}\"");
                writeln!(text, "kind = \"cbr\"\n{words}\nconnections = {}", self.pick(&[1, 1, 3])).unwrap();
            }
        }
    }

    /// Draws when a traffic entry starts and stops.
    fn times(&mut self, text: &mut String) {
        let late = self.duration_ps * self.between(1, 60) / 100;
        if self.chance(0.3) {
            writeln!(text, "start = \"{late} ps\"").unwrap();
        } else if self.chance(0.2) {
            writeln!(text, "start = {{ uniform = [\"0 s\", \"{late} ps\"] }}").unwrap();
        }
        if self.chance(0.3) {
            writeln!(text, "stop = \"{} ps\"", self.duration_ps * self.between(61, 105) / 100).unwrap();
        }
    }

    fn record(&mut self, text: &mut String) {
        writeln!(text, "[record]\nevents = {}\ndatagrams = {}", self.chance(0.8), self.pick(&[0, 5, 1_000_000]))
            .unwrap();
        if self.chance(0.7) {
            writeln!(text, "every = \"{}\"", self.packets_ps(150, 4_000)).unwrap();
        }
        let ports = self.pick(&["all", "switches", "none"]);
        writeln!(text, "ports = \"{ports}\"").unwrap();
    }
}
