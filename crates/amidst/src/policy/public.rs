//! A policy as it may be handed over.
//!
//! What it asks for is public: columns, requirements, hierarchies, seed. Where its owner keeps things is not: the
//! input, the folders of hierarchies and populations, addresses and queries of databases.

use std::path::Path;

use amidst_core::parameter::Value;

use super::Policy;

impl Policy {
    /// The policy without a path, an address or a query of its owner's. It depends on nothing but what the policy says:
    /// what was taken from the data (types, say) is not in it.
    pub fn public_form(&self) -> Policy {
        let mut policy = self.clone();
        policy.data.input = None;
        policy.data.conventions = Default::default();
        for column in policy.columns.iter_mut().chain(&mut policy.default) {
            for file in column.hierarchy_files_mut() {
                *file = file_name(file);
            }
        }
        for requirement in &mut policy.requirements {
            if let Some(Value::Text(source)) = requirement.parameters.get("population").cloned() {
                requirement.parameters.set("population", Value::Text(public_source(&source)));
            }
        }
        policy.risk.population = policy.risk.population.as_deref().map(public_source);
        policy.output.file = policy.output.file.as_deref().map(file_name);
        policy
    }
}

/// The name of a table without the way to it: that of a file, or the kind of a database.
pub(crate) fn public_source(source: &str) -> String {
    match source.split_once("://") {
        Some((kind, _)) if amidst_io::is_database(source) => format!("{kind}:"),
        _ => file_name(source),
    }
}

/// The last part of a path, whatever separates the parts.
fn file_name(path: &str) -> String {
    let last = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path);
    Path::new(last).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_address_or_query_is_left() {
        let text = r#"
            [data]
            input = "sqlite:///srv/secret/ward.db?query=SELECT * FROM visits WHERE name = 'Ann'"
            sheet = "secret"
            [columns.zip]
            role = "quasi"
            hierarchy = { file = "/home/ann/secret/zip.csv" }
            [columns.job]
            role = "quasi"
            hierarchy = { taxonomy = "../secret/jobs.json" }
            [columns.disease]
            role = "sensitive"
            [[require]]
            model = "k-anonymity"
            k = 2
            [output]
            file = "secret/release.parquet"
        "#;
        let read = |text: &str| Policy::parse(text, Path::new("policy.toml")).unwrap();
        let mut policy = read(text);
        assert_eq!(read(&policy.public_form().to_toml()), policy.public_form());
        // Where these lie is looked at when a policy is read.
        policy.requirements[0].parameters.set("population", Value::Text("../secret/people.csv".into()));
        policy.risk.population = Some("postgres://ann@secret/people".into());
        let public = policy.public_form();
        let written = public.to_toml();
        for word in ["secret", "SELECT", "Ann", "ann", "/"] {
            assert!(!written.contains(word), "{word}: {written}");
        }
        for word in ["zip.csv", "jobs.json", "people.csv", "postgres:", "release.parquet"] {
            assert!(written.contains(word), "{word}: {written}");
        }
        assert_eq!(public.public_form(), public);
    }

    #[test]
    fn windows_paths_are_paths() {
        assert_eq!(file_name("C:\\data\\zip.csv"), "zip.csv");
        assert_eq!(file_name("data/"), "data");
        assert_eq!((public_source("a/*.csv"), public_source("..")), ("*.csv".into(), String::new()));
    }
}
