//! What a policy may say, told to people (docs/policy.md, `amidst explain policy`).

use std::fmt::Write;

use amidst_core::hierarchy::BUILDERS;
use amidst_core::model::MODELS;

use super::keys::{Key, SECTIONS, Section};
use super::{PRESETS, Preset, ROLES, Role};

/// What a role means.
pub fn role_meaning(role: Role) -> &'static str {
    match role {
        Role::Identifying => "names a person: never read, never published",
        Role::Quasi => "others may know it: published generalized, so that everybody is amidst others",
        Role::Sensitive => {
            "nobody should learn it: published as it is, its link to a person protected by the requirements"
        }
        Role::Insensitive => "published as it is, protected by nothing; refused where it singles people out",
        Role::Key => {
            "tells persons apart who have several rows, so that they count once; several such columns do so together; never published"
        }
        Role::Consent => "says who waived protection; never published",
    }
}

/// The reference as a page of Markdown.
pub fn markdown() -> String {
    let mut out = String::from(
        "# The policy file\n\nEvery key of a policy, made from the table that the parser reads \
         (`crates/amidst/src/policy/keys.rs`); a test holds this page to it. A policy is TOML; paths in it are relative to \
         its folder. Numbers may be written as numbers or as texts with a decimal or a fraction (`\"1/3\"`); both are exact. \
         `amidst explain policy` prints the same, `amidst schema` a JSON schema for editors.\n",
    );
    for section in SECTIONS {
        let _ = write!(out, "\n## `{}`\n\n{}\n\n", section.heading, section.help);
        out.push_str("| key | value | without it | meaning | example |\n| --- | --- | --- | --- | --- |\n");
        for key in section.keys {
            let cell = |text: &str| text.replace('|', "\\|");
            let roles = of_roles(key);
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {}{} | `{} = {}` |",
                key.name,
                cell(&key.kind.words()),
                cell(key.default),
                cell(key.help),
                roles,
                key.name,
                cell(key.example)
            );
        }
        match section.name {
            "columns" => {
                out.push_str("\n### Roles\n\n| role | meaning |\n| --- | --- |\n");
                for (name, role) in ROLES {
                    let _ = writeln!(out, "| `{name}` | {} |", role_meaning(*role));
                }
                out.push_str("\n### Hierarchies\n\n| builder | what it makes | example |\n| --- | --- | --- |\n");
                for builder in BUILDERS {
                    let _ = writeln!(out, "| `{}` | {} | `{}` |", builder.id, builder.definition, builder.example);
                }
            }
            "require" => {
                out.push_str("\n| model | parameters |\n| --- | --- |\n");
                for model in MODELS {
                    let names: Vec<String> =
                        model.parameters.iter().map(|p| format!("`{}`: {}", p.name, p.help)).collect();
                    let _ = writeln!(out, "| `{}` | {} |", model.id, names.join("; ").replace('|', "\\|"));
                }
            }
            "release" => {
                out.push_str("\n| threshold | risk | source |\n| --- | --- | --- |\n");
                for Preset { id, risk, source } in PRESETS {
                    let _ = writeln!(out, "| `{id}` | {}/{} | {source} |", risk.0, risk.1);
                }
            }
            _ => {}
        }
    }
    out
}

/// The roles of the columns that a key is for, in words; empty where it is for all.
pub(crate) fn of_roles(key: &Key) -> String {
    let names: Vec<&str> = key.roles.iter().map(|r| r.name()).collect();
    if names.is_empty() { String::new() } else { format!(" ({} columns)", names.join(" and ")) }
}

/// One section as text for a terminal.
pub fn text(section: &Section) -> String {
    let mut out = format!("{}\n  {}\n", section.heading, section.help);
    for key in section.keys {
        let words = key.kind.words().replace('`', "");
        let _ = write!(
            out,
            "\n{} = {}\n    {}{}\n    {}; without it: {}\n",
            key.name,
            key.example,
            key.help,
            of_roles(key),
            words,
            key.default
        );
    }
    if section.name == "release" {
        for Preset { id, risk, source } in PRESETS {
            let _ = write!(out, "\nthreshold = \"{id}\"\n    {}/{}: {source}\n", risk.0, risk.1);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::policy::Policy;
    use crate::policy::keys::Kind;

    /// A policy with one more line in one of its sections.
    fn with(section: &Section, key: &Key) -> String {
        let role = key.roles.first().map_or("quasi", |r| r.name());
        let mut columns = "[columns.age]\nrole = \"quasi\"\n[columns.disease]\nrole = \"sensitive\"\n".to_string();
        let line = format!("{} = {}\n", key.name, key.example);
        let mut rest = String::new();
        match section.name {
            "columns" if key.name == "role" => columns.push_str(&format!("[columns.x]\n{line}")),
            "columns" => {
                let more = if key.name == "weights" { "categories = [[\"a\"], [\"b\"]]\n" } else { "" };
                let more = if key.name == "order" { "type = \"text\"\n" } else { more };
                let more = if key.name == "level" { "hierarchy = { suppress = true }\n" } else { more };
                columns.push_str(&format!("[columns.x]\nrole = \"{role}\"\n{more}{line}"));
            }
            "require" => {
                let more = if key.name == "on" { "model = \"distinct-l-diversity\"\nl = 2\n" } else { "k = 2\n" };
                rest = format!("[[require]]\n{more}{line}");
            }
            "quasi" => {
                columns.push_str("[columns.zip]\nrole = \"quasi\"\n");
                rest = format!("[[quasi]]\n{line}");
            }
            "search" if key.name == "options" => rest = format!("[search]\nalgorithm = \"mondrian\"\n{line}"),
            _ => rest = format!("{}\n{line}", section.heading),
        }
        format!("{columns}{rest}")
    }

    #[test]
    fn every_example_is_understood() {
        for section in SECTIONS {
            for key in section.keys {
                let text = with(section, key);
                if let Err(errors) = Policy::parse(&text, Path::new("policy.toml")) {
                    panic!("{}: {errors}\n{text}", key.name);
                }
                let Kind::Choice(words) = key.kind else { continue };
                // The line stands last where others of its name stand before it.
                let line = format!("{} = {}", key.name, key.example);
                let (before, after) = text.rsplit_once(&line).unwrap();
                for word in words {
                    let text = format!("{before}{} = \"{word}\"{after}", key.name);
                    let parsed = Policy::parse(&text, Path::new("policy.toml"));
                    assert!(parsed.is_ok(), "{word}: {}\n{text}", parsed.unwrap_err());
                }
            }
        }
    }
}
