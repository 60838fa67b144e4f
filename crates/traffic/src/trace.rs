//! The text of a trace: CSV with units in the names of its columns.

use elephan_units::PS_PER_S;

const PS_PER_MS: u64 = PS_PER_S / 1000;
const PS_PER_US: u64 = PS_PER_MS / 1000;
const PS_PER_NS: u64 = PS_PER_US / 1000;
const UNITS: [(&str, u64); 4] = [("s", PS_PER_S), ("ms", PS_PER_MS), ("us", PS_PER_US), ("ns", PS_PER_NS)];
const COLUMNS: &str = "start_s (or start_ms, start_us, start_ns), size_bytes, pair";
/// The longest run.
const LATEST_S: u64 = 210 * 86_400;
/// As the largest drawn size.
const LARGEST_BYTES: u64 = 1 << 53;

/// A flow of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Picoseconds since the start of the traffic entry.
    pub start: u64,
    pub bytes: u64,
    pub pair: Option<u64>,
    /// Where it stands, from 1.
    pub line: usize,
}

/// The flows of a trace in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub flows: Vec<Line>,
}

/// What is wrong with a line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {message}")]
pub struct TraceError {
    /// From 1.
    pub line: usize,
    pub message: String,
    /// The columns that there are, if it is the first line that is wrong.
    header: Option<&'static str>,
}

impl TraceError {
    pub(crate) fn new(line: usize, message: String) -> TraceError {
        TraceError { line, message, header: None }
    }

    pub(crate) fn of_header(line: usize, message: String, columns: &'static str) -> TraceError {
        TraceError { line, message, header: Some(columns) }
    }

    /// The same of a file. It may be any file that a scenario names, so nothing of it is repeated before its first line has
    /// said what it is.
    pub fn of_file(&self) -> String {
        match self.header {
            Some(columns) => format!("{}: not the header of such a file; the columns are {columns}", self.line),
            None => self.to_string(),
        }
    }
}

/// Which column holds what.
struct Columns {
    start: usize,
    unit_ps: u64,
    size: usize,
    pair: Option<usize>,
    count: usize,
}

impl Trace {
    /// Reads CSV text.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((line, header)) = lines.next() else {
            return Err(TraceError::of_header(1, format!("no header; the columns are {COLUMNS}"), COLUMNS));
        };
        let columns = Columns::named(header).map_err(|message| TraceError::of_header(line, message, COLUMNS))?;
        let flows: Result<Vec<Line>, TraceError> = lines
            .map(|(line, row)| columns.read(line, row).map_err(|message| TraceError::new(line, message)))
            .collect();
        let flows = flows?;
        if flows.is_empty() {
            return Err(TraceError::new(line, "no flow after the header".into()));
        }
        Ok(Trace { flows })
    }
}

/// What is wrong with the text of a file, if anything is.
pub(crate) fn check(text: &str) -> Result<(), String> {
    Trace::parse(text).map(drop).map_err(|error| error.of_file())
}

/// Picoseconds in the unit that a column's name ends with, if it is `prefix` and a unit of time.
pub(crate) fn units_of_time(column: &str, prefix: &str) -> Option<u64> {
    let unit = column.strip_prefix(prefix)?;
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ps)| *ps)
}

pub(crate) fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.split(',').map(|cell| cell.trim().trim_matches('"').trim())
}

impl Columns {
    fn named(header: &str) -> Result<Columns, String> {
        let (mut start, mut size, mut pair, mut count) = (None, None, None, 0);
        for (i, name) in cells(header).enumerate() {
            count += 1;
            let twice = match (name, units_of_time(name, "start_")) {
                (_, Some(unit)) => start.replace((i, unit)).is_some(),
                ("size_bytes", _) => size.replace(i).is_some(),
                ("pair", _) => pair.replace(i).is_some(),
                _ => return Err(format!("no column is called {name:?}; they are {COLUMNS}")),
            };
            if twice {
                return Err(format!("{name}: a second column for the same"));
            }
        }
        let (start, unit_ps) = start.ok_or("no column start_s (or start_ms, start_us, start_ns)")?;
        Ok(Columns { start, unit_ps, size: size.ok_or("no column size_bytes")?, pair, count })
    }

    fn read(&self, line: usize, row: &str) -> Result<Line, String> {
        let cells: Vec<&str> = cells(row).collect();
        if cells.len() != self.count {
            return Err(format!("{} values under {} columns", cells.len(), self.count));
        }
        let start = picoseconds(cells[self.start], self.unit_ps).map_err(|e| format!("start: {e}"))?;
        let bytes = whole(cells[self.size]).map_err(|e| format!("size_bytes: {e}"))?;
        if !(1..=LARGEST_BYTES).contains(&bytes) {
            return Err(format!("size_bytes: {bytes} is not from 1 to 2^53"));
        }
        let pair = self.pair.map(|i| whole(cells[i]).map_err(|e| format!("pair: {e}"))).transpose()?;
        Ok(Line { start, bytes, pair, line })
    }
}

fn whole(cell: &str) -> Result<u64, String> {
    cell.parse().map_err(|_| format!("{cell:?} is not a whole number from 0"))
}

/// A time; whole numbers are kept exactly, others to the nearest picosecond.
pub(crate) fn picoseconds(cell: &str, unit_ps: u64) -> Result<u64, String> {
    let latest = LATEST_S * PS_PER_S;
    let time = match cell.parse::<u64>() {
        Ok(units) => units.saturating_mul(unit_ps),
        Err(_) => {
            let units: f64 = cell.parse().map_err(|_| format!("{cell:?} is not a time from 0"))?;
            if !(units.is_finite() && units >= 0.0) {
                return Err(format!("{cell:?} is not a time from 0"));
            }
            libm::round(units * unit_ps as f64) as u64
        }
    };
    if time > latest { Err(format!("{cell} is beyond 210 days")) } else { Ok(time) }
}
