//! Recoding further rows as a release was recoded: fit on one table, transform others.
//!
//! A further row belongs to a class of the release when every quasi cell of the class covers the row's own value: the
//! same levels for full-domain recodings, the same cells for local ones. Where several classes cover it, the one that
//! covers the fewest of the further values wins. A row that no class covers, or with an unknown cell where the policy
//! drops those, is suppressed. What comes out is recoded, not released: its classes are neither counted nor checked, so
//! it is fit for a model that learned from the release, and not to be handed over.

use amidst_core::attack::{External, Published, fit, labels_of_table};
use amidst_core::table::{Column, Table, ValueType};

use crate::Failure;
use crate::external::{all_there, covers, read_input};
use crate::job::{Job, in_threads, stop};
use crate::policy::{MissingRows, Policy, Role};
use crate::prepare::LoadOptions;

/// What a quasi cell of a suppressed row says, where such rows are kept.
const MASK: &str = "*";

/// Further rows, recoded.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Recoded {
    /// The published columns, in the order of the further table; rows in its order.
    pub table: Table,
    /// For each row of the further table, whether it fits a class of the release.
    pub fits: Vec<bool>,
}

impl Recoded {
    /// How many rows fit no class.
    pub fn suppressed(&self) -> u64 {
        self.fits.iter().filter(|&&fits| !fits).count() as u64
    }
}

/// Recodes the rows at `further` as the table at `release` was recoded under `policy`. Rows that fit no class are left
/// out; with `mask` they stay, and their quasi cells say `*`.
///
/// # Errors
/// When a table cannot be read, or the further rows lack a quasi column of the release.
pub fn recode(policy: &Policy, release: &str, further: &str, mask: bool, job: &Job<'_>) -> Result<Recoded, Failure> {
    in_threads(job.threads, || {
        let load = LoadOptions { control: job.quiet(), ..LoadOptions::default() };
        let (_, prepared) = crate::audit::load(policy, release, &load)?;
        let labels = labels_of_table(&prepared.set, &prepared.table, &prepared.quasi);
        let published = Published::new(&prepared.set, &prepared.set.groups, &prepared.domains).with_labels(&labels);
        stop(job)?;

        let wanted: Vec<&str> =
            prepared.header.iter().map(String::as_str).filter(|n| role(policy, n).published()).collect();
        let input = read_input(further, &wanted, job.threads)?;
        let quasi: Vec<&str> = labels.columns.iter().map(|c| c.name.as_str()).collect();
        all_there(further, &input.table, &quasi)?;
        let covers = covers(policy, &input.table)?;
        let external = External { table: &input.table, covers: &covers };
        let fits = fit(&published, &external, &[]).map_err(|e| Failure::Usage(e.to_string()))?;
        stop(job)?;

        // The class that covers the fewest tuples is the narrowest.
        let mut covered = vec![0u64; labels.rows];
        fits.iter().flatten().for_each(|&class| covered[class as usize] += 1);
        let narrowest: Vec<Option<u32>> =
            fits.iter().map(|classes| classes.iter().copied().min_by_key(|&c| (covered[c as usize], c))).collect();
        let known = known(policy, &input);
        let class_of = |row: usize| narrowest[fits.of_row[row].index()].filter(|_| known[row]);
        let classes: Vec<Option<u32>> = (0..input.table.rows).map(class_of).collect();
        let fits: Vec<bool> = classes.iter().map(Option::is_some).collect();
        Ok(Recoded { table: table(input.table, &labels, &classes, &fits, mask), fits })
    })
}

fn role(policy: &Policy, name: &str) -> Role {
    policy.column(name).map_or(Role::Identifying, |c| c.role)
}

/// Which rows have no unknown cell, where the policy drops those that have.
fn known(policy: &Policy, input: &amidst_io::Input) -> Vec<bool> {
    let mut known = vec![true; input.table.rows];
    if policy.data.missing_rows == MissingRows::Keep {
        return known;
    }
    for (at, column) in input.table.columns.iter().enumerate() {
        let nulls = input.nulls.get(at).and_then(Option::as_ref);
        let tokens: Vec<u32> = policy.data.missing.iter().filter_map(|t| column.dictionary.code(t)).collect();
        if nulls.is_none() && tokens.is_empty() {
            continue;
        }
        for (row, known) in known.iter_mut().enumerate() {
            *known &= !tokens.contains(&column.codes.get(row)) && !nulls.is_some_and(|n| n.contains(row));
        }
    }
    known
}

/// The further table with the labels of the classes in its quasi columns.
fn table(mut table: Table, labels: &Table, classes: &[Option<u32>], fits: &[bool], mask: bool) -> Table {
    for column in &mut table.columns {
        let Some(of) = labels.column(&column.name) else { continue };
        let cell = |class: &Option<u32>| class.map_or(MASK, |class| of.value(class as usize));
        let recoded = Column::from_values(&column.name, classes.iter().map(cell));
        // Typed as the release is, so that both can be put together.
        let masked = mask && fits.contains(&false);
        let kind = if masked { ValueType::Text } else { ValueType::guess(of.dictionary.iter()) };
        *column = Column { kind, ..recoded };
    }
    if !mask {
        table.retain(fits);
    }
    table
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::anonymize::anonymize_source;
    use crate::policy::{intervals, k_anonymity, mask};

    fn policy() -> Policy {
        let builder =
            Policy::builder().quasi("age", intervals([10, 20, 40])).quasi("zip", mask(3)).sensitive("disease");
        builder.identifying("name").require(k_anonymity(2)).build().unwrap()
    }

    fn cells(table: &Table, row: usize) -> Vec<&str> {
        table.columns.iter().map(|c| c.value(row)).collect()
    }

    /// Fits on one table and recodes another; both are files.
    fn recoded(policy: &Policy, train: &str, test: &str, masked: bool) -> (String, Recoded) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(at("train.csv"), train).unwrap();
        std::fs::write(at("test.csv"), test).unwrap();
        let release = anonymize_source(policy, Some(at("train.csv")), &Job::default()).unwrap();
        std::fs::write(at("release.csv"), release.table()).unwrap();
        let found = recode(policy, &at("release.csv"), &at("test.csv"), masked, &Job::default()).unwrap();
        (release.text().unwrap().to_string(), found)
    }

    const TRAIN: &str = "name,age,zip,disease\na,21,130,flu\nb,25,131,hiv\nc,52,148,flu\nd,58,149,hiv\n";

    #[test]
    fn further_rows_get_the_levels_of_the_release_and_strangers_none() {
        let test = "name,age,zip,disease\ne,28,139,cold\nf,95,130,flu\ng,50,140,flu\nh,21,999,flu\n";
        for algorithm in ["optimal", "mondrian"] {
            let mut policy = policy();
            policy.search.algorithm = Some(algorithm.to_string());
            let (release, found) = recoded(&policy, TRAIN, test, false);
            let mut row = 0;
            for (further, fits) in found.fits.iter().enumerate() {
                if !fits {
                    continue;
                }
                let cells = cells(&found.table, row);
                let label = format!("\n{},{},", cells[0], cells[1]);
                assert!(
                    format!("\n{release}").replace('"', "").contains(&label),
                    "{algorithm}: {label} not in {release}"
                );
                assert!(![1, 3].contains(&further), "{algorithm}: a stranger fits");
                row += 1;
            }
            assert_eq!(found.table.rows as u64 + found.suppressed(), 4);
        }
    }

    #[test]
    fn every_row_of_the_table_itself_gets_a_class_of_the_release() {
        let (_, found) = recoded(&policy(), TRAIN, TRAIN, false);
        assert_eq!((found.suppressed(), found.table.rows), (0, 4));
        assert!(found.table.column("name").is_none(), "identifying columns are not even read");
    }

    #[test]
    fn rows_can_stay_masked_and_a_missing_quasi_column_is_named() {
        let test = "age,zip,disease\n95,130,flu\n25,131,\n";
        let (_, found) = recoded(&policy(), TRAIN, test, true);
        assert_eq!((found.table.rows, found.suppressed()), (2, 1));
        assert_eq!(cells(&found.table, 0)[..2], ["*", "*"]);
        let mut dropping = policy();
        dropping.data.missing = vec![String::new()];
        assert_eq!(recoded(&dropping, TRAIN, test, true).1.suppressed(), 2);

        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(at("release.csv"), "age,zip,disease\n[20-39],1**,flu\n").unwrap();
        std::fs::write(Path::new(&at("test.csv")), "age\n30\n").unwrap();
        let failed = recode(&policy(), &at("release.csv"), &at("test.csv"), false, &Job::default());
        assert!(failed.unwrap_err().to_string().contains("zip"));
    }
}
