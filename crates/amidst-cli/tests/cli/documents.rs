//! The documents are true: their commands run and print what is shown, and pages name the keys that are printed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::test_folder::TestFolder;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The code blocks of a page with their languages, in order.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(language) if !inside => {
                blocks.push((language, String::new()));
                inside = true;
            }
            Some(_) => inside = false,
            None if inside => {
                if let Some((_, text)) = blocks.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            None => {}
        }
    }
    blocks
}

/// Runs a block of commands in a shell; returns its output, or why it failed.
fn run(scratch: &TestFolder, block: &str) -> Result<String, String> {
    let command = PathBuf::from(env!("CARGO_BIN_EXE_amidst"));
    let folders = command.parent().into_iter().map(Path::to_path_buf);
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&rest))).unwrap();
    let script = format!("set -eu\n{block}");
    let done =
        Command::new("bash").args(["-c", &script]).current_dir(scratch.root()).env("PATH", path).output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    if done.status.success() { Ok(told) } else { Err(told) }
}

/// Checks that the lines of `shown` occur in `told` in this order; `…` stands for any text, and on its own line for any
/// lines.
fn shows(told: &str, shown: &str) -> Result<(), String> {
    let mut lines = told.lines();
    for wanted in shown.lines().filter(|line| line.trim() != "…") {
        let fits = |line: &str| {
            let mut rest = line;
            wanted.split('…').enumerate().all(|(i, part)| match rest.find(part) {
                Some(at) if i > 0 || at == 0 => {
                    rest = &rest[at + part.len()..];
                    true
                }
                _ => false,
            }) && (wanted.ends_with('…') || rest.is_empty())
        };
        if !lines.any(fits) {
            return Err(format!("`{wanted}` is not in:\n{told}"));
        }
    }
    Ok(())
}

#[test]
fn lines_with_gaps_are_found_in_order() {
    assert!(shows("a b c\nd\ne", "a…c\n…\ne").is_ok());
    assert!(shows("a b c\nd", "d\na…").is_err());
    assert!(shows("a b c", "a b").is_err() && shows("x a b", "a b").is_err());
}

#[test]
fn the_guide_runs_as_it_is_written_and_prints_what_it_shows() {
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        println!("skipped: no ssh-keygen");
        return;
    }
    let scratch = TestFolder::new();
    let (mut told, mut ran) = (String::new(), 0);
    for (language, text) in blocks(&document("docs/guide.md")) {
        match language {
            "sh" => {
                told = run(&scratch, &text).unwrap_or_else(|told| panic!("{text}\n{told}"));
                ran += 1;
            }
            "text" => shows(&told, &text).unwrap_or_else(|why| panic!("{why}")),
            other => panic!("a block of `{other}` that nothing tries"),
        }
    }
    assert!(ran >= 10, "only {ran} blocks");
}

/// Every command in the README exists; those that need only a table are run.
#[test]
fn the_commands_of_the_readme_are_commands() {
    let page = document("README.md");
    let scratch = TestFolder::with_sample(300);
    scratch.file("data.csv", &scratch.read("patients.csv"));
    let mut seen = 0;
    for (_, text) in blocks(&page).into_iter().filter(|(language, _)| *language == "sh") {
        for line in text.lines().filter(|line| line.starts_with("amidst ")) {
            let line = line.split(" #").next().unwrap_or_default().trim();
            let name = line.split(' ').nth(1).unwrap_or_default();
            // Commands that need a browser, other tables or minutes are only asked for their help.
            let line = match name {
                "studio" | "series" | "attack" | "reproduce" => format!("amidst {name} --help"),
                "init" => "amidst init data.csv --out draft.toml --force".to_string(),
                _ => line.replace("--sensitive disease", "--sensitive diagnosis"),
            };
            run(&scratch, &line).unwrap_or_else(|told| panic!("{line}\n{told}"));
            seen += 1;
        }
    }
    assert!(seen >= 8, "only {seen} commands");
}

/// The pages of the documentation, by name.
fn pages() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| format!("docs/{}", name.to_string_lossy())).collect();
    names.retain(|name| name.ends_with(".md"));
    names.push("README.md".to_string());
    names.sort();
    names
}

/// The policies in a block: the block, or each line if several lines set the same key.
fn policies(block: &str) -> Vec<String> {
    let data = "[data]\ninput = \"data.csv\"\n";
    match block.lines().filter(|line| line.starts_with("input = ")).collect::<Vec<_>>()[..] {
        ref lines if !block.starts_with('[') => lines.iter().map(|line| format!("[data]\n{line}\n")).collect(),
        _ if block.contains("[data]") => vec![block.to_string()],
        _ => vec![format!("{data}{block}")],
    }
}

/// Every key and value of a policy in the documents is one that the parser knows.
#[test]
fn policies_in_the_documents_are_read() {
    let scratch = TestFolder::new();
    scratch.file("data.csv", "age\n1\n");
    let mut seen = 0;
    for name in pages() {
        for (_, block) in blocks(&document(&name)).into_iter().filter(|(language, _)| *language == "toml") {
            for policy in policies(&block) {
                scratch.file("policy.toml", &policy);
                let run = scratch.amidst(&["check", "policy.toml"]);
                // Errors at a place in the file count; a column that the table lacks does not.
                let wrong = ["unknown key", "expected", "must be", "is not a ", "TOML"];
                let told = wrong.iter().find(|part| run.stderr.contains(**part));
                assert!(told.is_none() && run.code <= 2, "{name}:\n{policy}\n{}", run.stderr);
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "only {seen} policies");
}

/// Every command in the documents exists, with the options that it is given.
#[test]
fn commands_in_the_documents_are_understood() {
    let scratch = TestFolder::new();
    let mut seen = 0;
    for name in pages() {
        let page = document(&name);
        let shown = blocks(&page).into_iter().filter(|(language, _)| ["sh", "text", ""].contains(language));
        for line in shown.flat_map(|(_, text)| text.lines().map(str::to_string).collect::<Vec<_>>()) {
            let command = line.split(" #").next().unwrap_or_default().trim();
            if command.starts_with("amidst ") && !command.contains(['|', '>', '…']) {
                // Help is printed only if everything before it was understood.
                run(&scratch, &format!("{command} --help")).unwrap_or_else(|told| panic!("{name}: {command}\n{told}"));
                seen += 1;
            }
        }
    }
    assert!(seen >= 30, "only {seen} commands");
}

/// The keys that a page lists under a heading, and those of them that are printed only sometimes.
fn documented(page: &str, heading: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let section = page.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no section {heading}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let (mut all, mut sometimes) = (BTreeSet::new(), BTreeSet::new());
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let key = cells.next().unwrap_or_default().trim_matches('`').to_string();
        if cells.next().is_some_and(|meaning| meaning.starts_with("sometimes")) {
            sometimes.insert(key.clone());
        }
        all.insert(key);
    }
    (all, sometimes)
}

#[test]
fn the_page_on_json_names_the_keys_that_are_printed() {
    let page = document("docs/json.md");
    let scratch = TestFolder::with_sample(60);
    let keyed = scratch.read("policy.toml").replacen("role = \"identifying\"", "role = \"key\"", 1);
    let keyed = keyed.replace("max_suppression = 0.02", "max_suppression = 0").replace("k = 5", "k = 3");
    scratch.file("series.toml", &keyed.replace("l = 3", "l = 2"));
    let table = scratch.read("patients.csv");
    let (header, last) = (table.lines().next().unwrap(), table.lines().last().unwrap());
    scratch.file("gone.csv", &format!("id\n{}\n", last.split(',').next().unwrap()));
    assert!(header.starts_with("id,"));
    let keys =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(scratch.path("owner")).output();
    let calls: [(&str, &str, &[i32]); 13] = [
        ("`amidst check`", "check policy.toml", &[0]),
        ("`amidst anonymize`", "anonymize policy.toml --out release", &[0]),
        ("Failures", "anonymize policy.toml --out release", &[2]),
        ("`amidst explore`", "explore policy.toml", &[0]),
        (
            "`amidst explore --node`",
            "explore policy.toml --node age=0 --node sex=0 --node zip=0 --node nationality=0 --node occupation=0 --node education=0",
            &[1],
        ),
        ("`amidst audit`", "audit patients.csv --policy policy.toml", &[0, 1]),
        ("`amidst attack`", "attack homogeneity release", &[0]),
        ("`amidst verify`", "verify release", &[0]),
        ("`amidst sign`", "sign release --key owner", &[0]),
        ("`amidst series publish`", "series init ward --policy series.toml --mode maintain", &[0]),
        ("", "series delete ward gone.csv", &[0]),
        ("`amidst series plan`", "series plan ward", &[0]),
        ("`amidst series audit`", "series audit ward", &[0]),
    ];
    for (heading, call, codes) in calls {
        if call.starts_with("sign") && keys.as_ref().is_ok_and(|run| !run.status.success()) {
            println!("skipped: no ssh-keygen");
            continue;
        }
        let run = scratch.amidst(&call.split(' ').chain(["--json"]).collect::<Vec<_>>());
        assert!(codes.contains(&run.code), "{call}: {} {}", run.code, run.stderr);
        if heading.is_empty() {
            continue;
        }
        let told: Value = serde_json::from_str(&run.stdout).unwrap();
        let printed: BTreeSet<String> = told.as_object().unwrap().keys().cloned().collect();
        let (all, sometimes) = documented(&page, heading);
        let (new, gone): (Vec<_>, Vec<_>) = (
            printed.difference(&all).collect(),
            all.difference(&printed).filter(|k| !sometimes.contains(*k)).collect(),
        );
        assert!(new.is_empty() && gone.is_empty(), "docs/json.md, {heading}: not there {new:?}, not printed {gone:?}");
    }
}
