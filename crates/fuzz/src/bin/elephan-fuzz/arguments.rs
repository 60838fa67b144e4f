//! The command line.

use std::path::PathBuf;
use std::time::Duration;

pub const HELP: &str = "\
Usage: elephan-fuzz [OPTIONS]        draw scenarios and judge them, without end unless told
       elephan-fuzz FILE...          judge scenario files

  --seed S       the first seed (1); each case has the next one
  --cases N      end after N cases
  --minutes N    end after N minutes
  --out DIR      folder for what is found (fuzz-findings)
  --expect RULE  end with the first finding whose rule contains RULE; not to find one is the failure";

/// What to do.
pub enum Task {
    Hunt,
    Files(Vec<PathBuf>),
    /// As a child: go through seeds, keep the text at hand in the file.
    Worker {
        current: PathBuf,
    },
    /// As a child: judge the scenario in the file, and leave there what was judged.
    Trial {
        file: PathBuf,
    },
    Help,
}

pub struct Arguments {
    pub task: Task,
    pub seed: u64,
    pub cases: u64,
    pub time: Option<Duration>,
    pub out: PathBuf,
    pub expect: Option<String>,
}

impl Arguments {
    /// Reads the arguments, or returns one line that says what is wrong with them.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let (mut files, mut task) = (Vec::new(), Task::Hunt);
        let mut arguments = Arguments {
            task: Task::Hunt,
            seed: 1,
            cases: u64::MAX,
            time: None,
            out: PathBuf::from("fuzz-findings"),
            expect: None,
        };
        while let Some(word) = words.next() {
            let mut next = || words.next().ok_or_else(|| format!("{word}: a value is missing"));
            match word.as_str() {
                "--help" | "-h" => task = Task::Help,
                "--seed" => arguments.seed = number(&word, &next()?)?,
                "--cases" => arguments.cases = number(&word, &next()?)?,
                "--minutes" => {
                    let minutes: f64 = number(&word, &next()?)?;
                    let time = Duration::try_from_secs_f64(60.0 * minutes);
                    arguments.time = Some(time.map_err(|error| format!("{word}: {error}"))?);
                }
                "--out" => arguments.out = next()?.into(),
                "--expect" => arguments.expect = Some(next()?),
                "--worker" => task = Task::Worker { current: next()?.into() },
                "--trial" => task = Task::Trial { file: next()?.into() },
                _ if word.starts_with('-') => return Err(format!("{word}: no such option; see --help")),
                _ => files.push(PathBuf::from(word)),
            }
        }
        arguments.task = if files.is_empty() { task } else { Task::Files(files) };
        Ok(arguments)
    }
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option}: {text:?} is no number"))
}
