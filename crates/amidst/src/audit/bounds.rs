//! Releases with `ranges = "bounds"`: two columns of numbers are read as the ranges whose bounds they are, under the
//! name that the policy knows. The rows that look alike are the same either way.

use amidst_core::table::Column;
use amidst_io::{Input, ReadOptions};

use crate::policy::{Policy, Ranges, Role};
use crate::prepare::{BOUNDS, LoadOptions, PrepareError, read_options};

/// Whether a table may have two columns in the place of one of the policy's. Of a stream nothing is known before it is
/// read.
pub(super) fn may_be_parted(policy: &Policy, header: Option<&[String]>) -> bool {
    policy.output.ranges == Ranges::Bounds && header.is_none_or(|header| !parted(policy, header).is_empty())
}

/// The quasi columns of the policy that the table has as two.
fn parted(policy: &Policy, header: &[String]) -> Vec<String> {
    let has = |name: &String| header.contains(name);
    let quasi = policy.columns.iter().filter(|c| c.role == Role::Quasi && !has(&c.name));
    quasi.filter(|c| of(&c.name).iter().all(has)).map(|c| c.name.clone()).collect()
}

/// The names of the two columns of a column.
fn of(name: &str) -> [String; 2] {
    BOUNDS.map(|ending| format!("{name}{ending}"))
}

/// Reads a table, with one column in the place of two bounds.
pub(super) fn read(policy: &Policy, data: &str, options: &LoadOptions<'_>) -> Result<Input, PrepareError> {
    let bounds: Vec<String> = policy.columns.iter().flat_map(|c| of(&c.name)).collect();
    let keep = |name: &str| {
        bounds.iter().any(|b| b == name) || policy.column(name).is_some_and(|c| c.role != Role::Identifying)
    };
    let (threads, cancel) = (options.control.threads, Some(options.control.cancel));
    let mut input =
        amidst_io::read(data, &ReadOptions { keep: Some(&keep), threads, cancel, ..read_options(policy)? })?;
    for name in parted(policy, &input.header) {
        join(&mut input, &name);
    }
    Ok(input)
}

/// Makes one column of two. What stands in both is no range.
fn join(input: &mut Input, name: &str) {
    let [low, high] = of(name);
    let (Some(at), Some(other)) = (input.table.position(&low), input.table.position(&high)) else { return };
    let mut joined = Column::new(name);
    for row in 0..input.table.rows {
        let (from, to) = (input.table.columns[at].value(row), input.table.columns[other].value(row));
        match from == to {
            true => joined.push(from),
            false => joined.push(&format!("[{from}-{to}]")),
        }
    }
    input.table.columns[at] = joined;
    input.table.columns.remove(other);
    if other < input.nulls.len() {
        input.nulls.remove(other);
    }
    input.header.retain(|column| *column != high);
    input.header.iter_mut().filter(|column| **column == low).for_each(|column| *column = name.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::ColumnPolicy;

    #[test]
    fn two_bounds_are_one_range_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("release.csv");
        std::fs::write(&file, "zip,age_min,age_max\n1*,20,39\n1*,40,40\n2*,*,*\n").unwrap();
        let columns = vec![ColumnPolicy::new("age", Role::Quasi), ColumnPolicy::new("zip", Role::Quasi)];
        let mut policy = Policy { columns, ..Policy::default() };
        assert!(!may_be_parted(&policy, None));
        policy.output.ranges = Ranges::Bounds;
        let raw = ["zip", "age"].map(String::from);
        assert!(may_be_parted(&policy, None) && !may_be_parted(&policy, Some(&raw)));
        let input = read(&policy, file.to_str().unwrap(), &LoadOptions::default()).unwrap();
        assert_eq!(input.header, ["zip", "age"]);
        let ages = &input.table.columns[1];
        assert_eq!((0..3).map(|row| ages.value(row)).collect::<Vec<_>>(), ["[20-39]", "40", "*"]);
    }
}
