//! The files that a release of a policy is made from.

use std::path::PathBuf;

use amidst_core::parameter::Value;

use super::Policy;

impl Policy {
    /// Every file on this machine that the policy names and that is read for a release: those of the table as they are
    /// now, of hierarchies, and of populations. Whatever else a hierarchy states as a text is taken for the name of a
    /// file, too: one that is not there changes nothing.
    pub fn files_read(&self) -> Vec<PathBuf> {
        let recipes = self.columns.iter().chain(&self.default).filter_map(|column| column.hierarchy.as_ref());
        let named = recipes.flatten().map(|(_, value)| value);
        let hierarchies = named.filter_map(|value| match value {
            Value::Text(file) => Some(self.origin.resolve(file)),
            _ => None,
        });
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
    use std::fs;

    use super::*;

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
