//! Commands between back quotes: those that set sysctls or the queueing discipline are understood, a few are known to mean
//! nothing here, and every other one is named as missing.

use crate::sysctl::Sysctls;
use std::path::Path;

/// Deepest chain of shell files that call each other.
const DEPTH_MAX: u32 = 8;
/// Of a shell script that a script runs.
const SHELL_MAX_BYTES: u64 = 1 << 20;

/// What commands change.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    pub sysctls: Sysctls,
    /// The settings before the first command that says how to restore them.
    saved: Option<Sysctls>,
}

impl Shell {
    /// Carries out a command of a script in `folder`. An error says what elephan does not model.
    pub fn run(&mut self, text: &str, folder: Option<&Path>) -> Result<(), String> {
        self.run_at(text, folder, 0)
    }

    fn run_at(&mut self, text: &str, folder: Option<&Path>, depth: u32) -> Result<(), String> {
        for words in commands(text) {
            self.simple(&words, folder, depth)?;
        }
        Ok(())
    }

    fn simple(&mut self, words: &[String], folder: Option<&Path>, depth: u32) -> Result<(), String> {
        let Some(first) = words.first() else { return Ok(()) };
        let unknown = || Err(format!("command {:?}", words.join(" ")));
        match first.as_str() {
            "sysctl" => {
                for word in words[1..].iter().filter(|word| !word.starts_with('-')) {
                    self.assign(word)?;
                }
                Ok(())
            }
            "tc" => self.qdisc(words),
            // Of old connections Fast Open's cookies are kept, and no metrics.
            "ip" if words.get(1).is_some_and(|word| word == "tcp_metrics") => {
                self.sysctls.flushes += 1;
                Ok(())
            }
            name if name.ends_with("set_sysctls.py") => {
                self.saved.get_or_insert_with(|| self.sysctls.clone());
                words[1..].iter().try_for_each(|word| self.assign(word))
            }
            name if name.starts_with("/tmp/sysctl_restore_") => {
                if let Some(mut saved) = self.saved.take() {
                    saved.flushes = self.sysctls.flushes;
                    self.sysctls = saved;
                }
                Ok(())
            }
            name if name.ends_with(".sh") => {
                let path = folder.unwrap_or(Path::new(".")).join(name);
                // To read a pipe or a device may never end.
                if !path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= SHELL_MAX_BYTES) {
                    return Err(format!("the file {name}"));
                }
                match std::fs::read_to_string(&path) {
                    Ok(text) if depth < DEPTH_MAX => self.run_at(&text, path.parent(), depth + 1),
                    Ok(_) => unknown(),
                    Err(_) => Err(format!("the file {name}")),
                }
            }
            _ => unknown(),
        }
    }

    /// `net.ipv4.tcp_ecn=1`, with dots or slashes.
    fn assign(&mut self, word: &str) -> Result<(), String> {
        let Some((name, value)) = word.split_once('=') else { return Err(format!("sysctl {word}")) };
        let name = name.replace('/', ".");
        let name = name.trim_start_matches('.');
        let name = name.strip_prefix("proc.sys.").unwrap_or(name);
        self.sysctls.set(name.strip_prefix("net.ipv4.").unwrap_or(name), value)
    }

    /// `tc qdisc add dev tun0 root pfifo`: `fq` paces, `pfifo` does not; a limit would drop.
    fn qdisc(&mut self, words: &[String]) -> Result<(), String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["tc", "qdisc", "add" | "replace", "dev", _, "root", kind @ ("fq" | "pfifo" | "pfifo_fast")] => {
                self.sysctls.fair_queue = *kind == "fq";
                Ok(())
            }
            _ => Err(format!("command {:?}", words.join(" "))),
        }
    }
}

/// Splits the text of a shell into commands and these into words. Quotes hold words together, `$((...))` is computed, a backslash
/// joins lines, `#` begins a comment, and what is redirected is dropped.
fn commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let mut all = Vec::new();
    for line in text.lines() {
        let mut words: Vec<String> = Vec::new();
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with('#') {
            if let Some(after) = separator(rest) {
                all.push(std::mem::take(&mut words));
                rest = after.trim_start();
                continue;
            }
            let (word, after) = word(rest);
            rest = after.trim_start();
            let redirects = ["&>", "2>", ">"].iter().find_map(|mark| word.strip_prefix(mark));
            match redirects {
                // The file stands in the same word or in the next.
                Some("") => rest = self::word(rest).1.trim_start(),
                Some(_) => {}
                None => words.push(word),
            }
        }
        all.push(words);
    }
    all.retain(|words| !words.is_empty());
    all
}

/// What follows a mark between commands, if one stands here. After `||` the rest of the line is another way to do the same.
fn separator(rest: &str) -> Option<&str> {
    if rest.starts_with("||") {
        return Some("");
    }
    ["&&", ";"].iter().find_map(|mark| rest.strip_prefix(mark))
}

/// The first word and what follows it.
fn word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_whitespace() || (c == ';' && !word.is_empty()) {
            break;
        }
        if let Some(inner) = rest.strip_prefix("$((")
            && let Some(end) = inner.find("))")
        {
            word += &product(&inner[..end]).map_or_else(|| inner[..end].to_owned(), |n| n.to_string());
            rest = &inner[end + 2..];
        } else if c == '"' || c == '\'' {
            let inner = &rest[1..];
            let end = inner.find(c).unwrap_or(inner.len());
            word += &computed(&inner[..end]);
            rest = inner.get(end + 1..).unwrap_or("");
        } else {
            word.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    (word, rest)
}

/// A quoted text with its `$((...))` computed.
fn computed(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find("$((") {
        let Some(end) = rest[begin..].find("))") else { break };
        out += &rest[..begin];
        let inner = &rest[begin + 3..begin + end];
        out += &product(inner).map_or_else(|| inner.to_owned(), |n| n.to_string());
        rest = &rest[begin + end + 2..];
    }
    out + rest
}

/// Factors with `*` between.
fn product(text: &str) -> Option<u64> {
    text.split('*').try_fold(1_u64, |product, factor| product.checked_mul(factor.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let text = "sysctl -q net.ipv4.tcp_rmem=\"4096 5 $((2*1024))\" > /dev/null 2>&1 # note\n# other\na \\\n b; c=$((3*4)) && d";
        let found = commands(text);
        let shown: Vec<String> = found.iter().map(|words| words.join("|")).collect();
        assert_eq!(shown, ["sysctl|-q|net.ipv4.tcp_rmem=4096 5 2048", "a|b", "c=12", "d"]);
    }

    #[test]
    fn settings() {
        let mut shell = Shell::default();
        shell
            .run("sysctl -q net.ipv4.tcp_timestamps=0 net.ipv4.tcp_ecn=1\ntc qdisc replace dev tun0 root fq", None)
            .unwrap();
        assert_eq!((shell.sysctls.number("tcp_timestamps"), shell.sysctls.number("tcp_ecn")), (Some(0), Some(1)));
        assert!(shell.sysctls.fair_queue);
        shell.run("x/set_sysctls.py /proc/sys/net/ipv4/tcp_ecn=2", None).unwrap();
        assert_eq!(shell.sysctls.number("tcp_ecn"), Some(2));
        shell.run("/tmp/sysctl_restore_${PPID}.sh", None).unwrap();
        assert_eq!(shell.sysctls.number("tcp_ecn"), Some(1));
        for text in
            ["rm -rf /", "sysctl net.ipv4.tcp_nonsense=1", "tc qdisc add dev tun0 root pfifo limit 0", "./none.sh"]
        {
            assert!(shell.run(text, None).is_err(), "{text}");
        }
    }
}
