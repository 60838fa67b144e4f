//! The gate before every file that a scenario names: data, which this crate reads, and code, which Python loads.
//!
//! The rule of this layer: a scenario is the text of somebody, perhaps of a stranger. Without a word of the caller it reaches
//! files in its own folder and below, and no others. Real paths are compared, so that neither `..` nor a link leads out.

use std::collections::BTreeSet;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// What the caller agrees to.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// Real paths of files, and of folders with all that is below them.
    pub places: Vec<PathBuf>,
    /// Names of files that the caller wrote.
    pub words: BTreeSet<String>,
    /// Whether what is in the scenario's folder is taken.
    pub beside: bool,
}

impl Default for Allowed {
    /// What is in the scenario's folder, and nothing else.
    fn default() -> Allowed {
        Allowed { places: Vec::new(), words: BTreeSet::new(), beside: true }
    }
}

/// What becomes of a file, as messages say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Its text becomes part of the scenario.
    Read,
    /// Its code runs.
    Run,
}

impl Purpose {
    fn remedy(self, path: &str) -> String {
        match self {
            Purpose::Read => {
                format!("it is read only where the caller names it: --files-from {path} (in Python files_from)")
            }
            Purpose::Run => {
                format!("its code runs only where the caller names it: --python-from {path} (in Python python_from)")
            }
        }
    }

    fn none_here(self) -> &'static str {
        match self {
            Purpose::Read => "no file beside the scenario is read here",
            Purpose::Run => "no code beside the scenario is run here",
        }
    }

    fn unreachable(self, error: &Error) -> String {
        match (self, error.kind()) {
            (Purpose::Read, _) => format!("cannot be read: {error}"),
            (Purpose::Run, ErrorKind::NotFound) => "No such file or directory".to_owned(),
            (Purpose::Run, _) => error.to_string(),
        }
    }
}

/// A file that a scenario may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path as messages show it.
    pub shown: PathBuf,
    /// The path without links that was judged: this one is to be opened.
    pub real: PathBuf,
    /// The caller named it: it need not be in the scenario's folder.
    pub by_caller: bool,
}

/// Finds the files that a scenario names.
#[derive(Clone, Debug)]
pub struct Gate {
    folder: Option<PathBuf>,
    allowed: Allowed,
    purpose: Purpose,
}

impl Gate {
    /// For a scenario in `folder`; a text has none.
    pub fn new(folder: Option<PathBuf>, allowed: Allowed, purpose: Purpose) -> Gate {
        Gate { folder, allowed, purpose }
    }

    /// For the file of a scenario, or for a text, whose name begins with `<`.
    pub fn of_scenario(name: &str, allowed: Allowed) -> Gate {
        let folder = Path::new(name).parent().filter(|_| !name.starts_with('<'));
        Gate::new(folder.map(Path::to_path_buf), allowed, Purpose::Read)
    }

    /// Returns the file that `name` means, or why the scenario does not get it, in one line that names it.
    ///
    /// A relative name is of the scenario's folder. If the caller wrote or named it, and it is not there, it is of the working
    /// directory.
    pub fn find(&self, name: &str) -> Result<Found, String> {
        let wanted = Path::new(name);
        let own = self.allowed.words.contains(name) || self.is_named(wanted);
        let beside = self.folder.as_ref().map(|folder| folder.join(name));
        let shown = match beside {
            // If it is nowhere, the place beside the scenario is what the error shows.
            Some(path) if path.exists() || !wanted.exists() => path,
            _ if own => wanted.to_path_buf(),
            _ => return Err(format!("{name}: is not beside the scenario; {}", self.purpose.remedy(name))),
        };
        let real = shown.canonicalize().map_err(|error| {
            let here = if own && wanted.is_relative() { also_not_here() } else { String::new() };
            format!("{}: {}{here}", shown.display(), self.purpose.unreachable(&error))
        })?;
        let by_caller = own || self.is_named(&real);
        if !by_caller && let Some(why) = self.refusal(&real) {
            let shown = shown.display().to_string();
            return Err(format!("{shown}: {why}; {}", self.purpose.remedy(&shown)));
        }
        Ok(Found { shown, real, by_caller })
    }

    fn is_named(&self, path: &Path) -> bool {
        let within = |real: PathBuf| self.allowed.places.iter().any(|place| is_within(&real, place));
        !self.allowed.places.is_empty() && path.canonicalize().is_ok_and(within)
    }

    /// Why a file that the caller did not name is not taken.
    fn refusal(&self, real: &Path) -> Option<&'static str> {
        let folder = self.folder.as_ref().filter(|_| self.allowed.beside);
        let Some(folder) = folder else { return Some(self.purpose.none_here()) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let inside = folder.canonicalize().is_ok_and(|folder| is_within(real, &folder));
        if inside { None } else { Some("is not in the folder of the scenario") }
    }
}

fn also_not_here() -> String {
    std::env::current_dir()
        .map(|folder| format!(", nor is it in the working directory {}", folder.display()))
        .unwrap_or_default()
}

/// Whether a real path is a place or lies below it. Folders are compared, not their names: where upper and lower case are one, a
/// folder has many names.
fn is_within(real: &Path, place: &Path) -> bool {
    real.ancestors().any(|above| above == place || is_same(above, place))
}

#[cfg(unix)]
fn is_same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    number(a).is_some_and(|of_a| number(b) == Some(of_a))
}

#[cfg(not(unix))]
fn is_same(_: &Path, _: &Path) -> bool {
    false
}
