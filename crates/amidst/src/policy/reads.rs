//! The files that a release of a policy is made from.

use std::path::PathBuf;

use amidst_core::hierarchy::reads_file;
use amidst_core::parameter::Value;

use super::{ColumnPolicy, Policy};

impl ColumnPolicy {
    /// The files that its hierarchy is read from, as the policy names them.
    pub(crate) fn hierarchy_files(&self) -> impl Iterator<Item = &String> {
        self.hierarchy.iter().flatten().filter_map(|(key, value)| match value {
            Value::Text(file) if reads_file(key) => Some(file),
            _ => None,
        })
    }

    /// The same, to be named otherwise.
    pub(crate) fn hierarchy_files_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.hierarchy.iter_mut().flatten().filter_map(|(key, value)| match value {
            Value::Text(file) if reads_file(key) => Some(file),
            _ => None,
        })
    }
}

impl Policy {
    /// Every file on this machine that the policy names and that is read for a release: those of the table as they are
    /// now, of hierarchies, and of populations.
    pub fn files_read(&self) -> Vec<PathBuf> {
        let columns = self.columns.iter().chain(&self.default);
        let hierarchies = columns.flat_map(ColumnPolicy::hierarchy_files).map(|file| self.origin.resolve(file));
        let required = self.requirements.iter().filter_map(|required| {
            let population =
                required.model.parameters.iter().find(|p| p.kind == amidst_core::parameter::Kind::Population)?;
            match required.parameters.get(population.name) {
                Some(Value::Text(file)) => Some(file.clone()),
                _ => None,
            }
        });
        let tables = self.data.input.iter().chain(&self.risk.population).cloned().chain(required);
        let tables = tables.flat_map(|source| amidst_io::files_of(&self.origin.resolve_source(&source)));
        let mut files: Vec<PathBuf> = tables.chain(hierarchies).collect();
        files.sort();
        files.dedup();
        files
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use amidst_core::hierarchy::{BUILDERS, Recipe};
    use amidst_core::table::Column;

    use super::*;

    /// A builder that reads a file is known to do so: its file is copied, watched, and named without the way to it.
    #[test]
    fn every_builder_that_reads_a_file_is_known() {
        let column = Column::from_values("x", ["1", "2"]);
        for builder in BUILDERS {
            let read = Cell::new(false);
            let reader = |_: &str| {
                read.set(true);
                Err("none".to_string())
            };
            let table = [(builder.id.to_string(), Value::Text("name".to_string()))];
            let _ = (builder.build)(&Recipe { table: &table, read: &reader, missing: &[] }, &column);
            assert_eq!(read.get(), reads_file(builder.id), "{}", builder.id);
        }
    }

    #[test]
    fn every_file_that_a_policy_names_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["a", "b"] {
            fs::create_dir_all(folder.path().join("parts")).unwrap();
            fs::write(folder.path().join(format!("parts/{part}.csv")), "zip,d\n1,x\n").unwrap();
        }
        for name in ["people.csv", "census.csv"] {
            fs::write(folder.path().join(name), "zip,d\n1,x\n").unwrap();
        }
        let text = "[data]\ninput = \"parts\"\n[columns.zip]\nrole = \"quasi\"\nhierarchy = { file = \"zip.csv\" }\n\
                    [columns.job]\nrole = \"quasi\"\nhierarchy = { taxonomy = \"jobs.json\" }\n[columns.d]\nrole = \"sensitive\"\n\
                    [[require]]\nmodel = \"k-anonymity\"\nk = 2\n[[require]]\nmodel = \"k-map\"\nk = 2\npopulation = \"census.csv\"\n\
                    [risk]\npopulation = \"people.csv\"\n";
        let policy = Policy::parse(text, &folder.path().join("policy.toml")).unwrap();
        let found = policy.files_read();
        let names = ["census.csv", "jobs.json", "parts/a.csv", "parts/b.csv", "people.csv", "zip.csv"];
        assert_eq!(found, names.map(|name| folder.path().join(name)));
    }
}
