//! What the process uses, as Linux says it; elsewhere time is the clock's and memory is unknown.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Returns the processor time of the calling thread: unlike the clock it does not count what others use.
pub fn cpu() -> Duration {
    time_in("/proc/thread-self/schedstat")
}

/// Returns the processor time of the main thread.
pub fn main_cpu() -> Duration {
    time_in("/proc/self/schedstat")
}

fn time_in(file: &str) -> Duration {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = fs::read_to_string(file).ok();
    let ns = text.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    ns.map_or_else(|| BEGIN.elapsed(), Duration::from_nanos)
}

/// Returns the bytes of memory that the process holds, if the system says.
pub fn resident_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
