//! A table beside a release, joined with its classes: read and joined once for all attacks and columns that ask for it.

use amidst_core::attack::{AttackError, External, Fits, People, Published, fit, fit_tuples, narrow};
use amidst_core::requirement::SensitiveDomain;
use amidst_core::table::{Dictionary, Table};

use crate::Failure;
use crate::external::{COUNT, all_there, covers, read, read_input, unknown_rows, weights};
use crate::policy::Policy;

/// A table, and which classes of a release its tuples fit.
pub(super) struct Joined {
    file: String,
    /// The column whose values were counted with each tuple.
    sensitive: Option<String>,
    /// Whether rows stand for as many people as their column `count` says.
    weighed: bool,
    pub table: Table,
    pub fits: Fits,
}

/// The table that was joined last. An adversary who knows the population and the original table often has one file for
/// both.
#[derive(Default)]
pub(super) struct LastJoined {
    last: Option<Joined>,
}

/// What a join needs to know of the release.
#[derive(Clone, Copy)]
pub(super) struct Release<'a> {
    pub stated: &'a Policy,
    pub published: Published<'a>,
    /// How many threads read; all cores when 0.
    pub threads: usize,
}

impl Release<'_> {
    /// The names of its quasi columns.
    pub fn quasi(&self) -> Vec<&str> {
        self.published.labels.iter().flat_map(|t| &t.columns).map(|c| c.name.as_str()).collect()
    }
}

impl LastJoined {
    /// The population in `file`, counted with its column `sensitive`.
    pub fn population(
        &mut self,
        release: &Release<'_>,
        file: &str,
        sensitive: &str,
    ) -> Result<Result<&Joined, AttackError>, Failure> {
        let same = |joined: &Joined| joined.file == file && joined.sensitive.as_deref() == Some(sensitive);
        self.get_or(same, || {
            let wanted: Vec<&str> = release.quasi().into_iter().chain([sensitive]).collect();
            let input = read_input(file, &[&wanted[..], &[COUNT]].concat(), release.threads)?;
            all_there(file, &input.table, &wanted)?;
            let unknown = unknown_rows(release.stated, &input, &wanted);
            let table = input.table;
            let at = table.position(sensitive);
            // Which row has which tuple matters only where rows stand for several people, or for nobody.
            let counted = table.position(COUNT).is_some_and(|count| Some(count) != at);
            let weighed = counted || !unknown.is_empty();
            let covers = covers(release.stated, &table)?;
            let external = External { table: &table, covers: &covers };
            let join = if weighed { fit } else { fit_tuples };
            let mut fits = match join(&release.published, &external, at.as_slice()) {
                Ok(fits) => fits,
                Err(error) => return Ok(Err(error)),
            };
            if weighed {
                // Beliefs are ratios of people, so it does not matter in which parts they are counted.
                let mut weights = weights(&table, &[sensitive])?.parts;
                unknown.iter().for_each(|&row| weights[row] = 0);
                fits.weigh(&narrow(&weights));
            }
            Ok(Ok(Joined { file: file.to_string(), sensitive: Some(sensitive.to_string()), weighed, table, fits }))
        })
    }

    /// The original table in `file`, of which every row is one.
    pub fn original(&mut self, release: &Release<'_>, file: &str) -> Result<Result<&Joined, AttackError>, Failure> {
        let same = |joined: &Joined| joined.file == file && !joined.weighed;
        self.get_or(same, || {
            let quasi = release.quasi();
            let table = read(file, &quasi, release.threads)?;
            all_there(file, &table, &quasi)?;
            let covers = covers(release.stated, &table)?;
            let external = External { table: &table, covers: &covers };
            let fits = match fit_tuples(&release.published, &external, &[]) {
                Ok(fits) => fits,
                Err(error) => return Ok(Err(error)),
            };
            Ok(Ok(Joined { file: file.to_string(), sensitive: None, weighed: false, table, fits }))
        })
    }

    /// The last one where it is the `same`; otherwise the one that `join` makes, in its place.
    fn get_or(
        &mut self,
        same: impl Fn(&Joined) -> bool,
        join: impl FnOnce() -> Result<Result<Joined, AttackError>, Failure>,
    ) -> Result<Result<&Joined, AttackError>, Failure> {
        // What is of no use goes before its successor comes: both together may take more memory than there is.
        let joined = match self.last.take().filter(same) {
            Some(joined) => joined,
            None => match join()? {
                Ok(joined) => joined,
                Err(error) => return Ok(Err(error)),
            },
        };
        Ok(Ok(self.last.insert(joined)))
    }
}

impl Joined {
    /// The people of a population by quasi tuple; `domain` is what the release knows of the column that they were
    /// counted with.
    pub fn people(&self, domain: Option<&SensitiveDomain>) -> People<'_> {
        let Some(column) = self.sensitive.as_ref().and_then(|name| self.table.column(name)) else {
            return People::default();
        };
        // Values that the release lacks get codes behind the release's own.
        let mut dictionary: Dictionary = domain.map(|d| d.dictionary.clone()).unwrap_or_default();
        let codes: Vec<u32> = column.dictionary.iter().map(|v| dictionary.intern(v)).collect();
        People::of(&self.fits.tuples, &codes)
    }
}

#[cfg(test)]
mod tests {
    use amidst_core::attack::{find, labels_of_table};
    use amidst_core::parameter::{Parameters, Value};

    use super::super::{Adversary, AdversaryTables, attack, targets};
    use crate::policy::Policy;
    use crate::prepare::LoadOptions;

    /// The release publishes overlapping ages. The people are in the release, and some of them are there twice.
    const RELEASE: &str = "age,zip,disease,diet\n[10-20],1*,flu,a\n[10-20],1*,hiv,b\n[10-20],1*,flu,a\n[15-30],12,flu,a\n\
                           [15-30],12,hiv,a\n[15-30],12,hiv,b\n[15-30],12,flu,b\n30,*,flu,a\n30,*,hiv,b\n";
    const PEOPLE: [&str; 9] = [
        "10,11,flu,a",
        "10,11,hiv,b",
        "18,12,flu,a",
        "18,12,flu,a",
        "25,12,hiv,a",
        "25,12,hiv,b",
        "30,12,flu,b",
        "30,19,flu,a",
        "30,20,hiv,b",
    ];

    /// What the attacks find one after the other, by one adversary or by one for each.
    fn found(order: &[&str], population: &str, original: &str, one: bool) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(file("release.csv"), RELEASE).unwrap();
        std::fs::write(file("people.csv"), format!("age,zip,disease,diet\n{}\n", PEOPLE.join("\n"))).unwrap();
        let counted: Vec<String> = PEOPLE.iter().zip(1..).map(|(p, n)| format!("{p},{n}")).collect();
        std::fs::write(file("counted.csv"), format!("age,zip,disease,diet,count\n{}\n", counted.join("\n"))).unwrap();
        let columns = |names: [&str; 2]| names.map(str::to_string);
        let policy = Policy::for_audit(&file("release.csv"), &columns(["age", "zip"]), &columns(["disease", "diet"]));
        let load = LoadOptions::default();
        let (_, prepared) = crate::audit::load(&policy, &file("release.csv"), &load).unwrap();
        let (population, original) = (Some(file(population)), Some(file(original)));
        let beside = AdversaryTables { population, original, ..AdversaryTables::default() };
        let labels = labels_of_table(&prepared.set, &prepared.table, &prepared.quasi);
        let targets = targets(&prepared, &labels);
        let mut adversary = Adversary::new(&policy, &prepared, &targets, &beside);
        let mut found = Vec::new();
        for &id in order {
            let (entry, mut parameters) = (find(id).unwrap(), Parameters::default());
            if id == "minimality" {
                parameters.set("distinct", Value::Number(2.into()));
            }
            let attacked = match one {
                true => adversary.attack(entry, &parameters),
                false => attack(entry, &policy, &prepared, &beside, &parameters),
            };
            found.push(attacked.unwrap().to_json().to_string());
        }
        found
    }

    #[test]
    fn one_join_tells_what_separate_joins_tell() {
        let mut told = Vec::new();
        for (population, original) in [
            ("people.csv", "people.csv"),
            ("counted.csv", "counted.csv"),
            ("counted.csv", "people.csv"),
            ("people.csv", "counted.csv"),
        ] {
            for order in [["belief", "minimality", "belief"], ["minimality", "belief", "minimality"]] {
                let apart = found(&order, population, original, false);
                assert_eq!(found(&order, population, original, true), apart, "{population} and {original}");
                told.push((population, apart[0].clone()));
            }
        }
        // Counts are people of a population, and nothing in an original table.
        let of = |at: usize| &told[at].1;
        assert_ne!(of(0), of(2));
        assert_eq!([of(1), of(3), of(5)], [of(7); 3]);
    }
}
