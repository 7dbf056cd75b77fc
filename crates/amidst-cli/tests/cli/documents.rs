//! The documents are true: their commands run and print what is shown, and pages name the keys that are printed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::test_folder::TestFolder;

/// The folder of the project.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn document(name: &str) -> String {
    std::fs::read_to_string(project().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A block of a page: of code, or a comment that the reader does not see and that prepares what follows.
#[derive(Debug, Default)]
struct Block {
    /// The first word behind the fence; `prepare` for a comment.
    language: String,
    /// The file as which the reader is to save it: `toml (saved as policy.toml)`.
    saved_as: Option<String>,
    /// Why it cannot be run by a test: `sh (not run: needs a browser)`.
    not_run: Option<String>,
    text: String,
}

/// The blocks of a page, in order.
fn blocks(page: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut open: Option<(Block, &str)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(said)) => open = Some((opened(said)?, "```")),
            (None, None) if line == "<!-- prepare" => {
                open = Some((Block { language: "prepare".to_string(), ..Block::default() }, "-->"));
            }
            (None, None) => {}
            (Some((_, end)), _) if line == *end => blocks.extend(open.take().map(|(block, _)| block)),
            (Some((block, _)), _) => block.text.extend([line, "\n"]),
        }
    }
    if open.is_some() { Err("a block without an end".to_string()) } else { Ok(blocks) }
}

/// The block that a line with a fence opens: its language, and what stands behind it in parentheses.
fn opened(said: &str) -> Result<Block, String> {
    let (language, remark) = said.split_once(" (").unwrap_or((said, ""));
    let remark = remark.trim_end_matches(')');
    let mut block = Block { language: language.to_string(), ..Block::default() };
    match (remark.strip_prefix("saved as "), remark.strip_prefix("not run: ")) {
        (Some(file), _) => block.saved_as = Some(file.to_string()),
        (_, Some(why)) if !why.is_empty() => block.not_run = Some(why.to_string()),
        _ if remark.is_empty() => {}
        _ => return Err(format!("`{said}`: neither `saved as FILE` nor `not run: WHY`")),
    }
    Ok(block)
}

/// Runs commands in a shell; returns their output, or why they failed. They find `amidst` as users do, the project in
/// `$PROJECT`, and a home that is the folder itself.
fn run(scratch: &TestFolder, commands: &str) -> Result<String, String> {
    let command = PathBuf::from(env!("CARGO_BIN_EXE_amidst"));
    let folders = command.parent().into_iter().map(Path::to_path_buf);
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&rest))).unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("set -eu\n{commands}")]).current_dir(scratch.root());
    shell.env("PATH", path).env("HOME", scratch.root()).env("PROJECT", project());
    let done = shell.output().unwrap();
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

/// The steps of a pipeline that call `amidst`, as commands.
fn steps(pipeline: &str) -> String {
    let steps = pipeline.lines().map(|line| line.trim_start_matches([' ', '-']).trim_start_matches("run: "));
    steps.filter(|step| step.starts_with("amidst ")).map(|step| format!("{step}\n")).collect()
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

/// Whether every key and value of a policy is one that the parser knows.
fn reads(policy: &str) -> Result<(), String> {
    let scratch = TestFolder::new();
    scratch.file("data.csv", "age\n1\n");
    scratch.file("policy.toml", policy);
    let run = scratch.amidst(&["check", "policy.toml"]);
    // Errors at a place in the file count; a column that the table lacks does not.
    let wrong = ["unknown key", "expected", "must be", "is not a ", "TOML"];
    let refused = run.code > 2 || wrong.iter().any(|part| run.stderr.contains(part));
    if refused { Err(format!("{policy}\n{}", run.stderr)) } else { Ok(()) }
}

/// Whether every `amidst` command among lines that are not run exists, with the options that it is given.
fn understood(scratch: &TestFolder, lines: &str) -> Result<(), String> {
    for line in lines.lines() {
        let command = line.split(" #").next().unwrap_or_default().trim();
        if command.starts_with("amidst ") && !command.contains(['|', '>', '…']) {
            // Help is printed only if everything before it was understood.
            run(scratch, &format!("{command} --help"))?;
        }
    }
    Ok(())
}

/// The test that runs the blocks of a language on a page, where that is not this one.
fn runs_elsewhere(page: &str, language: &str) -> bool {
    let named = |file: &str, text: &str| document(file).contains(text);
    match language {
        "rust" => named("crates/amidst/src/lib.rs", &format!("include_str!(\"../../../{page}\")")),
        "python" => {
            let parts: Vec<String> = page.split('/').map(|part| format!("\"{part}\"")).collect();
            named("python/tests/test_documents.py", &parts.join(" / "))
        }
        "layers" => page == "ARCHITECTURE.md",
        _ => false,
    }
}

/// Runs the blocks of a page in their order, in a folder of its own; returns how many ran.
fn run_page(name: &str, page: &str) -> Result<usize, String> {
    let scratch = TestFolder::new();
    let (mut told, mut ran) = (None, 0);
    for block in blocks(page)? {
        let failed = |why: String| format!("{name}:\n{}\n{why}", block.text);
        let kind = block.language.split(' ').next().unwrap_or_default();
        if let Some(file) = &block.saved_as {
            scratch.file(file, &block.text);
        }
        if block.not_run.is_some() {
            understood(&scratch, &block.text).map_err(failed)?;
            continue;
        }
        match kind {
            "sh" | "prepare" | "yaml" => {
                let commands = if kind == "yaml" { steps(&block.text) } else { block.text.clone() };
                if commands.is_empty() {
                    return Err(failed("no command that runs".to_string()));
                }
                told = Some(run(&scratch, &commands).map_err(failed)?);
            }
            "text" => {
                let told = told.as_ref().ok_or_else(|| failed("no command before it has printed it".to_string()))?;
                shows(told, &block.text).map_err(failed)?;
            }
            "toml" => policies(&block.text).iter().try_for_each(|policy| reads(policy)).map_err(failed)?,
            "csv" if block.saved_as.is_some() => {}
            other if runs_elsewhere(name, other) => {}
            other => return Err(failed(format!("a block of `{other}` that nothing runs, and that does not say why"))),
        }
        ran += 1;
    }
    Ok(ran)
}

/// The pages of the documentation and those in the project's own folder, by name.
fn pages() -> Vec<String> {
    let listed = |folder: &str| {
        let entries = std::fs::read_dir(project().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let names = entries.map(|name| format!("{folder}{}", name.to_string_lossy()));
        names.filter(|name| name.ends_with(".md")).collect::<Vec<String>>()
    };
    let mut names = [listed(""), listed("docs/")].concat();
    names.sort();
    names
}

#[test]
fn every_block_of_the_documents_runs_and_prints_what_is_shown() {
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        println!("skipped: no ssh-keygen");
        return;
    }
    let names = pages();
    let run = |name: &String| run_page(name, &document(name));
    let runs: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = names.iter().map(|name| scope.spawn(move || run(name))).collect();
        started.into_iter().map(|page| page.join().unwrap()).collect()
    });
    let failed: Vec<&String> = runs.iter().filter_map(|run| run.as_ref().err()).collect();
    assert!(failed.is_empty(), "{}", failed.iter().map(|why| why.as_str()).collect::<Vec<_>>().join("\n\n"));
    let ran: usize = runs.iter().flatten().sum();
    assert!(ran >= 60, "only {ran} blocks");
}

#[test]
fn a_block_that_does_not_run_is_found_unless_it_says_why() {
    let page = |block: &str| run_page("docs/none.md", block);
    assert_eq!(page("```sh\namidst models >models.txt\ngrep -c k-map models.txt\n```\n```text\n1\n```\n"), Ok(2));
    assert_eq!(page("<!-- prepare\necho 1 >a\n-->\n```sh\ncat a\n```\n"), Ok(2));
    assert_eq!(page("```sh (not run: needs a browser)\namidst studio\n```\n"), Ok(0));
    for wrong in [
        "```sh\nfalse\n```\n",
        "```sh\namidst modells\n```\n",
        "```sh\necho 1\n```\n```text\n2\n```\n",
        "```text\n2\n```\n",
        "```\namidst models\n```\n",
        "```rust\nfn main() {}\n```\n",
        "```python\nimport amidst\n```\n",
        "```sh (not run:)\namidst models\n```\n",
        "```sh (later)\namidst models\n```\n",
        "```sh (not run: needs a browser)\namidst studio --colour\n```\n",
        "```toml\n[serch]\nseed = 1\n```\n",
        "```yaml\nsteps: []\n```\n",
        "```sh\necho 1\n",
    ] {
        assert!(page(wrong).is_err(), "{wrong}");
    }
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
