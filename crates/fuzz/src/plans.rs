//! What the language makes of a scenario: one meaning, also when it is written out and read again.

use elephan_scenario::{Override, Plan, Resolved, Source, read};

use crate::Finding;

/// Returns everything that a plan says, for comparing plans.
fn shown(plan: &Plan) -> String {
    let options: Vec<_> = plan.options.iter().map(|options| options.to_overrides()).collect();
    let mut rest = plan.clone();
    rest.options.clear();
    format!("{options:#?}\n{rest:#?}")
}

/// Reads a scenario. Errors must be readable lines; with no error the resolved scenario must have the same meaning.
/// The result is none if the language refuses the scenario.
pub fn resolve(source: &Source) -> Result<Option<[Resolved; 2]>, Finding> {
    resolve_with(source, &[])
}

/// The same with overrides.
pub fn resolve_with(source: &Source, overrides: &[Override]) -> Result<Option<[Resolved; 2]>, Finding> {
    let first = match read(source, overrides, None) {
        Ok(first) => first,
        Err(errors) => {
            lines(errors.0.iter().map(ToString::to_string))?;
            return Ok(None);
        }
    };
    let again = read(&Source::toml("resolved.toml", first.toml()), &[], None)
        .map_err(|errors| Finding::new("the resolved scenario is refused", errors.to_string()))?;
    if let Some((a, b)) = differing(&first.toml(), &again.toml()) {
        return Err(Finding::new("the resolved scenario resolves to another text", format!("{a:?} and {b:?}")));
    }
    if let Some((a, b)) = differing(&shown(&first.plan), &shown(&again.plan)) {
        return Err(Finding::new("the resolved scenario is another plan", format!("{a:?} and {b:?}")));
    }
    Ok(Some([first, again]))
}

/// Checks that errors are there and that each is one line without control characters.
pub fn lines(errors: impl Iterator<Item = String>) -> Result<(), Finding> {
    let mut count = 0;
    for line in errors {
        count += 1;
        if line.len() <= 5 || line.chars().any(char::is_control) {
            return Err(Finding::new("an error is no readable line", format!("{line:?}")));
        }
    }
    if count > 0 { Ok(()) } else { Err(Finding::new("a scenario is refused without an error", "")) }
}

/// Returns the first lines in which two texts differ.
fn differing<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    if one == other {
        return None;
    }
    let pairs = one.lines().map(Some).chain([None]).zip(other.lines().map(Some).chain([None]));
    let (a, b) = pairs.into_iter().find(|(a, b)| a != b)?;
    Some((a.unwrap_or("the end"), b.unwrap_or("the end")))
}
