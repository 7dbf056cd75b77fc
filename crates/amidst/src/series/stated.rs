//! What a policy may state for a series: everything that would not come true is refused, at its place in the policy.
//!
//! A series tells persons apart, and publishes everybody who is in the table in every version while they are in it. So
//! it needs a key, leaves nobody out, and knows no rows that are published unprotected: a person who waives in one
//! version and not in the next gives their value away for all of them, and that of others with it.

use amidst_core::search::MaxSuppression;

use crate::Failure;
use crate::policy::{Diagnostic, OutputOrder, OutputValues, Policy, Ranges, Role};

/// The name of the key column, of a policy that can be one of a series.
///
/// # Errors
/// All that a series cannot keep, each at its place in the policy.
pub(super) fn key_of(policy: &Policy) -> Result<&str, Failure> {
    let key = policy.with_role(Role::Key).next();
    let mut errors = Vec::new();
    if key.is_none() {
        errors.push(no_key(policy));
    }
    errors.extend(policy.with_role(Role::Key).nth(1).map(|second| {
        let message = "a series tells persons apart by one column";
        let error = policy.origin.error(&["columns", second, "role"], message).label("a second key column");
        error.help("give the data one column that numbers persons, and make it the key")
    }));
    errors.extend(waivers(policy));
    errors.extend(suppression(policy));
    errors.extend(sets(policy));
    errors.extend(ranges(policy));
    errors.extend(output(policy));
    errors.extend(labels(policy));
    match key {
        Some(key) if errors.is_empty() => Ok(key),
        _ => Err(policy.origin.errors(errors).into()),
    }
}

fn no_key(policy: &Policy) -> Diagnostic {
    let such = policy.with_role(Role::Identifying).next();
    let named = such.map(|name| format!(", such as `{name}`")).unwrap_or_default();
    let message = "a series must tell persons apart from version to version, and no column has the role \"key\"";
    let error = match such {
        Some(name) => policy.origin.error(&["columns", name, "role"], message),
        None => Diagnostic::new(message),
    };
    error.help(format!("give one column{named} the role \"key\" in the policy; it is not published"))
}

fn waivers(policy: &Policy) -> Vec<Diagnostic> {
    let consents = policy.columns.iter().chain(&policy.default).filter(|c| c.role == Role::Consent);
    let error = |name: &str| {
        let message = "a series knows no waivers: who is published unprotected in one version is known in all of them, and \
                       narrows what others may have";
        policy.origin.error(&["columns", name, "role"], message).label("says who waived").help(
            "give it the role \"identifying\", which protects everybody alike, or publish those who waived as a release of \
             their own",
        )
    };
    consents.map(|c| error(&c.name)).collect()
}

fn ranges(policy: &Policy) -> Option<Diagnostic> {
    let message = match policy.output.ranges {
        Ranges::Label => return None,
        Ranges::Bounds => "the columns of a series stay the same, and which of them have ranges may change",
        Ranges::Midpoint | Ranges::Rounded => {
            "the classes of a series stay apart, and would not where their ranges looked alike"
        }
    };
    Some(policy.origin.error(&["output", "ranges"], message).help("write `ranges = \"label\"`, or leave it out"))
}

/// Rows that stand where they stood in the table tell from version to version whose they are; and a value that stands
/// for a class is another one as soon as the class is.
fn output(policy: &Policy) -> Vec<Diagnostic> {
    let order = (policy.output.order == OutputOrder::Input).then(|| {
        let message = "rows in the order of the table are linked from version to version by their places";
        policy.origin.error(&["output", "order"], message).help("leave out `order`: versions are shuffled")
    });
    let values = (policy.output.values == OutputValues::Representative).then(|| {
        let message = "a series publishes the cells of its classes, and no values in their place";
        policy.origin.error(&["output", "values"], message).help("leave out `values` in the policy of a series")
    });
    order.into_iter().chain(values).collect()
}

fn sets(policy: &Policy) -> Option<Diagnostic> {
    (!policy.quasi_sets.is_empty()).then(|| {
        let message = "a series keeps classes of all quasi columns together, and the policy has sets of them";
        policy.origin.error_at_key(&["quasi"], message).help("leave out [[quasi]] in the policy of a series")
    })
}

fn labels(policy: &Policy) -> Vec<Diagnostic> {
    let message = "a series keeps the values that it publishes, and this column is published generalized";
    let help = "put the labels into the table in the place of the values, and leave out `level`";
    let error = |name: &str| policy.origin.error(&["columns", name, "level"], message).help(help);
    policy.columns.iter().filter(|c| c.publishes_labels()).map(|c| error(&c.name)).collect()
}

fn suppression(policy: &Policy) -> Option<Diagnostic> {
    let none = match &policy.search.max_suppression {
        MaxSuppression::Rows(rows) => *rows == 0,
        MaxSuppression::Share(share) => share.to_f64() <= 0.0,
    };
    let message = "a series leaves nobody out: who is in the table is in every version, because rows left out in one version \
                   and not in the next tell whose they are";
    let help = "write `max_suppression = 0` or leave it out; where that costs too much, a weaker requirement or fewer quasi \
                columns help";
    let error = || policy.origin.error(&["search", "max_suppression"], message);
    (!none).then(|| error().label("would leave rows out").help(help))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn told(text: &str) -> Result<String, String> {
        let policy = Policy::parse(text, Path::new("policy.toml")).unwrap();
        key_of(&policy).map(str::to_string).map_err(|e| {
            assert_eq!(e.exit_code(), 2);
            e.to_string()
        })
    }

    const KEY: &str = "[columns.id]\nrole = \"key\"\n[columns.age]\nrole = \"quasi\"\n";

    #[test]
    fn nothing_is_left_out_of_a_series() {
        for none in ["", "[search]\nmax_suppression = 0\n", "[search]\nmax_suppression = 0.0\n"] {
            assert_eq!(told(&format!("{KEY}{none}")).as_deref(), Ok("id"), "{none}");
        }
        for some in ["0.02", "3", "\"1/50\""] {
            let told = told(&format!("{KEY}[search]\nmax_suppression = {some}\n")).unwrap_err();
            assert!(told.contains("policy.toml:6:") && told.contains("`max_suppression = 0`"), "{some}: {told}");
        }
    }

    #[test]
    fn versions_are_shuffled_and_publish_cells() {
        for (line, part) in
            [("order = \"input\"", "linked from version to version"), ("values = \"representative\"", "no values")]
        {
            let told = told(&format!("{KEY}[output]\n{line}\n")).unwrap_err();
            assert!(told.contains("policy.toml:6:") && told.contains(part), "{told}");
        }
        let second = told(&format!("{KEY}[columns.name]\nrole = \"key\"\n")).unwrap_err();
        assert!(second.contains("by one column"), "{second}");
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let text = "[columns.id]\nrole = \"identifying\"\n[columns.age]\nrole = \"quasi\"\n[columns.waiver]\nrole = \
                    \"consent\"\nwaived = \"yes\"\n[search]\nmax_suppression = 0.02\n";
        let told = told(text).unwrap_err();
        for part in ["role \"key\"", "such as `id`", "knows no waivers", "leaves nobody out"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
