//! Several versions of a release, with the persons of each class: what `intersection` and `difference` work on.
//!
//! Versions that others published are told apart by who fits which class: rosters of persons with their quasi values,
//! one for all versions or one for each. A series that Amidst keeps knows them itself.

use std::path::Path;

use amidst_core::attack::{Entry, External, Extra, Published, Target, fit, labels_of_table};
use amidst_core::frequency::{FrequencySet, Groups};
use amidst_core::internal::worlds::{Version, VersionClass};
use amidst_core::parameter::Parameters;
use amidst_core::table::{Dictionary, Table};

use super::{AdversaryTables, Attacked, WorstClass, failed};
use crate::external::{all_there, covers, read};
use crate::job::Control;
use crate::policy::Policy;
use crate::prepare::{LoadOptions, Prepared};
use crate::series::Series;
use crate::{Failure, Remedy};

/// Whether `data` is the folder of a series.
pub fn is_series(data: &str) -> bool {
    Path::new(data).join("private").is_dir() && Series::open(Path::new(data)).is_ok()
}

/// Runs an attack on all versions of the series in `folder`.
///
/// # Errors
/// When the state cannot be read, or the attack does not apply.
pub fn attack_series(entry: &'static Entry, folder: &str, parameters: &Parameters) -> Result<Attacked, Failure> {
    let mut attacked = Attacked { entry, columns: Vec::new(), skipped: Vec::new() };
    // The versions are all that these attacks look at.
    let (set, groups) = (FrequencySet::default(), Groups::default());
    for (column, versions) in Series::open(Path::new(folder))?.versions()? {
        let target = Target::new(Published::new(&set, &groups, &[]), 0);
        let extra = Extra { versions: Some(&versions), ..Extra::default() };
        match entry.run(&target, &extra, parameters) {
            Err(error) => attacked.skipped.push((column, failed(error)?)),
            Ok(findings) => {
                let newest = versions.last().map_or([].as_slice(), |v| v.classes.as_slice());
                let size = |&class: &usize| newest.get(class).map_or(0, |c| c.persons.len() as u64);
                let worst = findings.worst.iter().map(|class| WorstClass { cells: None, size: size(class) }).collect();
                attacked.columns.push((column, findings, worst));
            }
        }
    }
    attacked.or_why()
}

/// Earlier versions and the rosters of all, the newest last.
pub(super) struct Versions {
    earlier: Vec<Prepared>,
    /// For each version the persons who fit exactly one class, by class.
    persons: Vec<Vec<Vec<u32>>>,
}

impl Versions {
    pub fn load(stated: &Policy, newest: &Prepared, beside: &AdversaryTables) -> Result<Versions, Failure> {
        let mut earlier = Vec::new();
        let options = LoadOptions {
            control: Control { threads: beside.threads, ..Control::default() },
            ..LoadOptions::default()
        };
        for file in &beside.earlier {
            earlier.push(crate::audit::load(stated, file, &options)?.1);
        }
        let versions = earlier.len() + 1;
        if ![1, versions].contains(&beside.external.len()) {
            let problem = format!("there are {} tables of persons for {versions} versions", beside.external.len());
            return Err(Failure::usage(problem, Remedy::GivePersons(versions)));
        }
        if beside.external.len() > 1 && beside.person.is_none() {
            let problem = "several tables of persons are told apart by a column";
            return Err(Failure::usage(problem, Remedy::NamePersonColumn));
        }
        let quasi: Vec<&str> = newest.quasi.iter().map(|&c| newest.table.columns[c].name.as_str()).collect();
        let wanted: Vec<&str> = quasi.iter().copied().chain(beside.person.as_deref()).collect();
        let mut rosters = Vec::new();
        let mut names = Dictionary::default();
        for file in &beside.external {
            let table = read(file, &wanted, beside.threads)?;
            all_there(file, &table, &beside.person.as_deref().into_iter().collect::<Vec<_>>())?;
            let ids: Vec<u32> = match beside.person.as_deref().and_then(|name| table.column(name)) {
                None => (0..table.rows as u32).collect(),
                Some(column) => {
                    let of_code: Vec<u32> = column.dictionary.iter().map(|name| names.intern(name)).collect();
                    (0..table.rows).map(|row| of_code[column.codes.get(row) as usize]).collect()
                }
            };
            rosters.push((table, ids));
        }
        let mut persons = Vec::new();
        for (at, prepared) in earlier.iter().chain([newest]).enumerate() {
            let Some((roster, ids)) = rosters.get(at).or(rosters.first()) else { continue };
            persons.push(members(stated, prepared, roster, ids)?);
        }
        Ok(Versions { earlier, persons })
    }

    /// The versions as they speak of one sensitive column.
    pub fn of_column(&self, newest: &Prepared, name: &str) -> Result<Vec<Version>, Failure> {
        let mut values = Dictionary::default();
        let mut versions = Vec::new();
        for (prepared, persons) in self.earlier.iter().chain([newest]).zip(&self.persons) {
            let column = prepared.domains.iter().position(|d| d.name == name);
            let column = column.ok_or_else(|| Failure::Usage(format!("an earlier version lacks the column {name}")))?;
            let target = Target::new(Published::new(&prepared.set, &prepared.set.groups, &prepared.domains), column);
            let codes: Vec<u32> = prepared.domains[column].dictionary.iter().map(|v| values.intern(v)).collect();
            let class = |(class, persons): (usize, &Vec<u32>)| {
                let counts = target.class(class).1.iter().map(|&(code, n)| (codes[code as usize], n));
                let mut histogram: Vec<(u32, u64)> = counts.collect();
                histogram.sort_unstable();
                VersionClass { persons: persons.clone(), histogram }
            };
            versions.push(Version { classes: persons.iter().enumerate().map(class).collect() });
        }
        Ok(versions)
    }
}

/// The persons of a roster by the one class they fit; of those who fit several, nobody knows.
fn members(stated: &Policy, prepared: &Prepared, roster: &Table, ids: &[u32]) -> Result<Vec<Vec<u32>>, Failure> {
    let labels = labels_of_table(&prepared.set, &prepared.table, &prepared.quasi);
    let published = Published::new(&prepared.set, &prepared.set.groups, &prepared.domains).with_labels(&labels);
    let covers = covers(stated, roster)?;
    let external = External { table: roster, covers: &covers };
    let fits = fit(&published, &external, &[]).map_err(|e| Failure::Usage(e.to_string()))?;
    let mut members = vec![Vec::new(); prepared.set.groups.len()];
    for (tuple, &person) in fits.of_row.iter().zip(ids) {
        if let [class] = *fits.classes(tuple.index()) {
            members[class as usize].push(person);
        }
    }
    for persons in &mut members {
        persons.sort_unstable();
        persons.dedup();
    }
    Ok(members)
}
