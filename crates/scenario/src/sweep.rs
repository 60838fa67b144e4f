//! Sweeps: `[sweep]` and `-s key=v1,v2` become variants, each a list of overrides, each run with the same seeds.

use serde_json::Value as Json;

use crate::axes::{NOT_SWEPT, axes, may_vary};
use crate::error::Errors;
use crate::read::prepare;
use crate::tree::{Node, Origin, Value};
use crate::{Override, Source, read};

const NOT_SET: &str = "a sweep is not set so: -n gives its repetitions, -s key=v1,v2 the values of a parameter";
/// Variants and runs of one sweep, at most.
const VARIANTS_MAX: u64 = 100_000;
const RUNS_MAX: u64 = 10_000_000;

/// One point of a sweep.
#[derive(Clone, Debug)]
pub struct Variant {
    /// `kind=pause, memory=48 KiB`; `base` if nothing varies.
    pub label: String,
    /// Path and value of each varied parameter.
    pub values: Vec<(String, Json)>,
    /// Everything to hand to [`read()`].
    pub overrides: Vec<Override>,
}

/// All runs of a scenario: every variant with seeds `seed`, `seed + 1` ...
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Paths of the varied parameters.
    pub parameters: Vec<String>,
    pub variants: Vec<Variant>,
    pub repetitions: u32,
    pub seed: u64,
}

impl Sweep {
    /// (variant, repetition, seed) of every run, in order.
    pub fn runs(&self) -> impl Iterator<Item = (usize, u32, u64)> + '_ {
        let of = move |v| (0..self.repetitions).map(move |i| (v, i, self.seed + u64::from(i)));
        (0..self.variants.len()).flat_map(of)
    }
}

/// `key=v1,v2,...` from the command line.
#[derive(Clone, Debug)]
pub struct AxisArgument {
    overrides: Vec<Override>,
    values: Vec<Json>,
}

impl AxisArgument {
    /// Commas within quotes, brackets or braces do not separate.
    pub fn parse(argument: &str) -> Result<AxisArgument, Errors> {
        let key = argument.split_once('=').map_or(argument, |(key, _)| key);
        let Some((_, list)) = argument.split_once('=') else {
            return Override::parse(argument).map(|o| AxisArgument { overrides: vec![o], values: Vec::new() });
        };
        let mut axis = AxisArgument { overrides: Vec::new(), values: Vec::new() };
        for value in split(list) {
            let value = value.trim();
            if value.is_empty() {
                return Err(Errors::one(format!("-s {argument}"), "", "an empty value; write key=v1,v2"));
            }
            axis.overrides.push(Override::parse(&format!("{key}={value}"))?);
            axis.values.push(match crate::toml::parse_value(value, Origin::Program) {
                Some(node) => node.to_json(),
                None => Json::from(value),
            });
        }
        Ok(axis)
    }

    /// With one value it is an ordinary override.
    pub fn single(&self) -> Option<&Override> {
        if let [one] = self.overrides.as_slice() { Some(one) } else { None }
    }

    fn key(&self) -> &str {
        self.overrides[0].key()
    }
}

fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start) = (0i32, None, 0);
    let mut parts = Vec::new();
    for (i, c) in list.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(&list[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// A parameter with the overrides that set it to each of its values.
struct Axis {
    key: String,
    points: Vec<(Json, Override)>,
    /// It goes step by step with the others that are zipped.
    zipped: bool,
}

/// Expands the scenario's `[sweep]`, with the arguments' axes instead of the file's where both name a parameter.
/// Every variant has been resolved once, so a sweep that starts is a sweep whose variants all are valid.
pub fn sweep(
    source: &Source,
    arguments: &[AxisArgument],
    repetitions: Option<u32>,
    seed: Option<u64>,
) -> Result<Sweep, Errors> {
    let fixed: Vec<Override> = arguments.iter().filter_map(AxisArgument::single).cloned().collect();
    let fail = |problems| source.errors(problems, &fixed);
    let written = prepare(source, &fixed, seed).map_err(fail)?;
    let tree = source.tree().map_err(|p| fail(vec![p]))?;
    let empty = Node::table(Origin::Program);
    let own = tree.get("sweep").unwrap_or(&empty);
    let zip = own.get("zip").is_some_and(|z| matches!(z.value, Value::Bool(true)));
    let of_file = file_axes(own, zip)?;
    if let Some(set) = fixed.iter().find(|one| one.key() == "sweep" || one.key().starts_with("sweep.")) {
        return Err(Errors::one(format!("-s {}", set.key()), "", NOT_SET));
    }
    let given = |axis: &Axis| arguments.iter().any(|a| a.key() == axis.key);
    let mut all: Vec<Axis> = Vec::new();
    for argument in arguments.iter().filter(|a| a.single().is_none()) {
        if !may_vary(argument.key()) {
            return Err(Errors::one(format!("-s {}", argument.key()), "", NOT_SWEPT));
        }
        let points = argument.values.iter().cloned().zip(argument.overrides.iter().cloned()).collect();
        // Other values for an axis of the file leave it where it is; another axis is crossed with those.
        let zipped = of_file.iter().any(|axis| axis.zipped && axis.key == argument.key());
        all.push(Axis { key: argument.key().to_owned(), points, zipped });
    }
    all.splice(0..0, of_file.into_iter().filter(|axis| !given(axis)));
    let given = own.get("repetitions").and_then(|r| r.to_json().as_u64()).map(|r| r as u32);
    let repetitions = repetitions.or(given).unwrap_or(1);
    if repetitions == 0 {
        return Err(Errors::one("--repetitions 0", "", "one repetition at least"));
    }
    let seed = written.words.seed;
    if seed.checked_add(u64::from(repetitions)).is_none_or(|last| last > i64::MAX as u64) {
        return Err(Errors::one(source.name(), "seed", format!("{seed} + {repetitions} repetitions are too large")));
    }
    let variants = variants(&all, &fixed).map_err(|message| Errors::one(source.name(), "sweep", message))?;
    if variants.len() as u64 * u64::from(repetitions) > RUNS_MAX {
        return Err(Errors::one(source.name(), "sweep", format!("more than {RUNS_MAX} runs")));
    }
    for variant in &variants {
        read(source, &variant.overrides, Some(seed))?;
    }
    Ok(Sweep { parameters: all.into_iter().map(|a| a.key).collect(), variants, repetitions, seed })
}

/// The axes of the text.
fn file_axes(own: &Node, zipped: bool) -> Result<Vec<Axis>, Errors> {
    let mut found = Vec::new();
    if let Some(table) = own.as_table() {
        axes(table, "", &mut found);
    }
    let mut all = Vec::new();
    for (key, _, node) in found {
        let points: Result<Vec<(Json, Override)>, Errors> =
            node.items().iter().map(|n| Ok((n.to_json(), Override::node(&key, n.clone())?))).collect();
        let points = points?;
        let Some(key) = points.first().map(|(_, o)| o.key().to_owned()) else { continue };
        all.push(Axis { key, points, zipped });
    }
    Ok(all)
}

/// Which axes go together, in order: those that are zipped, where the first of them stands, and every other one alone.
fn dimensions(axes: &[Axis]) -> Result<Vec<Vec<usize>>, String> {
    let zipped: Vec<usize> = (0..axes.len()).filter(|&i| axes[i].zipped).collect();
    let length = |i: usize| axes[i].points.len();
    if zipped.windows(2).any(|w| length(w[0]) != length(w[1])) {
        let each: Vec<String> = zipped.iter().map(|&i| format!("{} has {}", axes[i].key, length(i))).collect();
        return Err(format!("zip needs as many values for each parameter: {}", each.join(", ")));
    }
    let of = |i: usize| match zipped.first() {
        Some(&first) if axes[i].zipped => (i == first).then(|| zipped.clone()),
        _ => Some(vec![i]),
    };
    Ok((0..axes.len()).filter_map(of).collect())
}

fn variants(axes: &[Axis], fixed: &[Override]) -> Result<Vec<Variant>, String> {
    let dimensions = dimensions(axes)?;
    let length = |together: &[usize]| axes[together[0]].points.len();
    let total = dimensions.iter().try_fold(1u64, |n, d| n.checked_mul(length(d) as u64)).unwrap_or(u64::MAX);
    if total > VARIANTS_MAX {
        return Err(format!("more than {VARIANTS_MAX} variants"));
    }
    let names = names(axes);
    let one = |n: u64| {
        let mut rest = n as usize;
        // The last parameter varies fastest.
        let mut picks = vec![0; axes.len()];
        for together in dimensions.iter().rev() {
            for &axis in together {
                picks[axis] = rest % length(together);
            }
            rest /= length(together);
        }
        let points: Vec<&(Json, Override)> = axes.iter().zip(picks).map(|(a, pick)| &a.points[pick]).collect();
        let show = |json: &Json| json.as_str().map_or_else(|| json.to_string(), str::to_owned);
        let named = names.iter().zip(&points).filter_map(|(name, point)| Some((name.as_ref()?, point)));
        let parts: Vec<String> = named.map(|(name, (value, _))| format!("{name}={}", show(value))).collect();
        Variant {
            label: if parts.is_empty() { "base".to_owned() } else { parts.join(", ") },
            values: axes.iter().zip(&points).map(|(a, (v, _))| (a.key.clone(), v.clone())).collect(),
            overrides: fixed.iter().chain(points.iter().map(|(_, o)| o)).cloned().collect(),
        }
    };
    Ok((0..total).map(one).collect())
}

/// Names of axes: zipped ones with the same values and a common end of their paths are said once, by that end.
fn names(axes: &[Axis]) -> Vec<Option<String>> {
    let alike = |a: &Axis, b: &Axis| a.points.iter().map(|(v, _)| v).eq(b.points.iter().map(|(v, _)| v));
    let same_end = |a: &Axis, b: &Axis| a.key.rsplit('.').next() == b.key.rsplit('.').next();
    let joined = |a: &Axis, b: &Axis| a.zipped && b.zipped && alike(a, b) && same_end(a, b);
    let alone = short_names(axes);
    let names: Vec<Option<String>> = axes
        .iter()
        .enumerate()
        .map(|(i, axis)| {
            if axes[..i].iter().any(|before| joined(before, axis)) {
                return None;
            }
            let keys: Vec<&str> = axes.iter().filter(|other| joined(axis, other)).map(|a| a.key.as_str()).collect();
            Some(if keys.len() > 1 { common_end(&keys) } else { alone[i].clone() })
        })
        .collect();
    let clash = |i: usize| names[i].is_some() && names.iter().filter(|n| **n == names[i]).count() > 1;
    if (0..names.len()).any(clash) { alone.into_iter().map(Some).collect() } else { names }
}

/// The last parts that all paths have in common.
fn common_end(keys: &[&str]) -> String {
    let mut parts: Vec<Vec<&str>> = keys.iter().map(|key| key.rsplit('.').collect()).collect();
    let first = parts.swap_remove(0);
    let common = first.iter().enumerate().take_while(|(i, part)| parts.iter().all(|p| p.get(*i) == Some(part))).count();
    first[..common].iter().rev().copied().collect::<Vec<_>>().join(".").replace('"', "")
}

/// The shortest ends of the paths that tell them apart: `kind`, or `a.rate` and `b.rate`.
fn short_names(axes: &[Axis]) -> Vec<String> {
    let last = |key: &str, n: usize| {
        let parts: Vec<&str> = key.split('.').collect();
        // A path within a path, as of `change[0].set`, is in quotes.
        parts[parts.len().saturating_sub(n)..].join(".").replace('"', "")
    };
    let unique = |key: &str, n: usize| axes.iter().filter(|a| last(&a.key, n) == last(key, n)).count() == 1;
    let short = |key: &str| (1..20).find(|n| unique(key, *n)).map_or_else(|| key.to_owned(), |n| last(key, n));
    axes.iter().map(|a| short(&a.key)).collect()
}
