//! Makes a scenario smaller while it still does what it did.

use serde_json::{Number, Value as Json};

/// A step to a key or an index.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

type Path = Vec<Step>;

/// Returns the smallest scenario found. `test` is given a smaller one and returns it, perhaps with more left out, if it still
/// does what is looked for. At most `trials` are made.
pub fn shrink(mut scenario: Json, mut trials: usize, test: &mut dyn FnMut(&Json) -> Option<Json>) -> Json {
    let mut attempt = |scenario: &mut Json, smaller: Json| -> bool {
        if trials == 0 || smaller == *scenario {
            return false;
        }
        trials -= 1;
        match test(&smaller) {
            Some(smaller) if smaller != *scenario => {
                *scenario = smaller;
                true
            }
            _ => false,
        }
    };
    loop {
        let mut any = false;
        for pass in [halves, removals, simpler] {
            // The list is made anew after each success, and goes on where it was.
            let mut at = 0;
            loop {
                let candidates = pass(&scenario);
                let Some(smaller) = candidates.into_iter().nth(at) else { break };
                if attempt(&mut scenario, smaller) {
                    any = true;
                } else {
                    at += 1;
                }
            }
        }
        if !any {
            return scenario;
        }
    }
}

/// Returns the scenario without one half of one of its lists or tables.
fn halves(scenario: &Json) -> Vec<Json> {
    let mut out = Vec::new();
    for path in paths(scenario) {
        let count = match get(scenario, &path) {
            Json::Array(items) => items.len(),
            Json::Object(map) => map.len(),
            _ => 0,
        };
        if count < 4 {
            continue;
        }
        for range in [count / 2..count, 0..count / 2] {
            let mut smaller = scenario.clone();
            match get_mut(&mut smaller, &path) {
                Json::Array(items) => drop(items.drain(range)),
                Json::Object(map) => {
                    let keys: Vec<String> = map.keys().skip(range.start).take(range.len()).cloned().collect();
                    keys.iter().for_each(|key| drop(map.shift_remove(key)));
                }
                _ => {}
            }
            out.push(smaller);
        }
    }
    out
}

/// Returns the scenario without one of its keys or elements, the shallow ones first.
fn removals(scenario: &Json) -> Vec<Json> {
    let mut paths = paths(scenario);
    paths.sort_by_key(Vec::len);
    let without = |path: Path| {
        let (last, above) = path.split_last()?;
        let mut smaller = scenario.clone();
        match (get_mut(&mut smaller, above), last) {
            (Json::Object(map), Step::Key(key)) => drop(map.shift_remove(key)),
            (Json::Array(items), Step::Index(index)) => drop(items.remove(*index)),
            _ => return None,
        }
        Some(smaller)
    };
    paths.into_iter().filter_map(without).collect()
}

/// Returns the scenario with one of its values plainer.
fn simpler(scenario: &Json) -> Vec<Json> {
    let mut out = Vec::new();
    for path in paths(scenario) {
        for value in plainer(get(scenario, &path)) {
            let mut smaller = scenario.clone();
            *get_mut(&mut smaller, &path) = value;
            out.push(smaller);
        }
    }
    out
}

/// Returns plainer values in place of one, each of them shorter or nearer to zero, so that there is an end.
fn plainer(value: &Json) -> Vec<Json> {
    match value {
        Json::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => [0, 1, whole / 2].into_iter().filter(|n| *n < whole).map(Json::from).collect(),
            (None, Some(float)) => {
                let rounded =
                    [0.0, 1.0, 0.5, rounded(float)].into_iter().filter_map(Number::from_f64).map(Json::Number);
                rounded.filter(|n| n.to_string().len() < value.to_string().len()).collect()
            }
            _ => Vec::new(),
        },
        Json::String(text) => quantity(text).unwrap_or_default().into_iter().map(Json::from).collect(),
        _ => Vec::new(),
    }
}

/// Returns a number with one significant digit.
fn rounded(value: f64) -> f64 {
    format!("{value:.0e}").parse().unwrap_or(value)
}

/// Returns shorter forms of a quantity with a unit, and its half.
fn quantity(text: &str) -> Option<Vec<String>> {
    const UNITS: [&[&str]; 3] =
        [&["ps", "ns", "us", "ms", "s"], &["bps", "kbps", "Mbps", "Gbps", "Tbps"], &["B", "KB", "MB", "GB", "TB"]];
    let (number, unit) = text.split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    let family = UNITS.into_iter().find(|family| family.contains(&unit))?;
    let at = family.iter().position(|name| *name == unit)?;
    let written = |number: f64| {
        let (mut number, mut at) = (number, at);
        while number >= 1000.0 && at + 1 < family.len() {
            (number, at) = (number / 1000.0, at + 1);
        }
        format!("{number} {}", family[at])
    };
    let mut out = vec![written(rounded(number)), written(number)];
    out.retain(|shorter| shorter.len() < text.len());
    if number >= 2.0 {
        out.push(written(rounded(number / 2.0)));
    }
    Some(out)
}

/// Returns the paths of everything in a tree but its root.
fn paths(tree: &Json) -> Vec<Path> {
    fn walk(tree: &Json, here: &mut Path, out: &mut Vec<Path>) {
        let mut visit = |step: Step, inner: &Json| {
            here.push(step);
            out.push(here.clone());
            walk(inner, here, out);
            here.pop();
        };
        match tree {
            Json::Object(map) => map.iter().for_each(|(key, inner)| visit(Step::Key(key.clone()), inner)),
            Json::Array(items) => items.iter().enumerate().for_each(|(n, inner)| visit(Step::Index(n), inner)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(tree, &mut Vec::new(), &mut out);
    out
}

fn get<'a>(tree: &'a Json, path: &[Step]) -> &'a Json {
    path.iter().fold(tree, |here, step| match step {
        Step::Key(key) => &here[key],
        Step::Index(index) => &here[index],
    })
}

fn get_mut<'a>(tree: &'a mut Json, path: &[Step]) -> &'a mut Json {
    path.iter().fold(tree, |here, step| match step {
        Step::Key(key) => &mut here[key],
        Step::Index(index) => &mut here[index],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn leaves_only_what_matters() {
        let large = json!({
            "title": "x", "duration": "123456789 ps", "seed": 77,
            "links": [{ "rate": "98765 bps" }, { "rate": "5000000 bps", "queue": { "kind": "red", "limit": "12 p" } }],
        });
        let mut test = |scenario: &Json| {
            let red = scenario["links"].as_array()?.iter().any(|link| link["queue"]["kind"] == "red");
            (red && scenario.get("duration").is_some()).then(|| scenario.clone())
        };
        let small = shrink(large, 1000, &mut test);
        assert_eq!(small, json!({ "duration": "1 us", "links": [{ "queue": { "kind": "red" } }] }));
    }
}
