//! `amidst init`: a commented first policy for a table that nobody has described yet.
//!
//! Roles are guessed from names and values, hierarchies from values, unknowns from the usual tokens. Every guess says why,
//! because only the owner of the data knows what its columns mean. The draft fits the data as it stands.

mod roles;

use std::fmt::Write;
use std::path::Path;

use amidst_check::singles_out;
use amidst_core::hierarchy;
use amidst_core::shared::Shared;
use amidst_core::table::{Column, Table, ValueType};
use amidst_io::{Input, ReadError, ReadOptions};
use rayon::prelude::*;

use crate::policy::write::{key, text, texts};
use crate::policy::{Policy, Role};
use crate::prepare::PrepareError;
use roles::Guess;

/// Cells that usually mean "unknown".
const UNKNOWN: &[&str] = &["?", "", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "-"];

/// The rows by which columns that name persons are found, so that their values need not all be read.
const SAMPLE: u64 = 50_000;

/// More guessed quasi columns than this leave nothing of the data; the others are left for the owner to judge.
const QUASI_COLUMNS: usize = 8;

/// Drafts a policy for `input`, to be kept in `folder` (the working directory when `None`): a relative input is written
/// so that it is found from there.
///
/// # Errors
/// Whatever is wrong with the input.
pub fn draft(input: &str, folder: Option<&Path>) -> Result<String, PrepareError> {
    let mut binary: Vec<String> = Vec::new();
    let names_persons: Vec<String> = match input {
        // A stream is read only once.
        "-" => Vec::new(),
        _ => {
            let mut sample = read_but(&mut binary, input, Some(SAMPLE))?.table;
            let missing = unknown_tokens(&sample);
            settle(&mut sample, &missing);
            let named = |c: &&Column| roles::guess(c, sample.rows, &missing).role == Role::Identifying;
            // A sample of a table that has no more rows is the table.
            sample
                .columns
                .iter()
                .filter(named)
                .filter(|_| sample.rows as u64 == SAMPLE)
                .map(|c| c.name.clone())
                .collect()
        }
    };
    let mut unread = [names_persons, binary.clone()].concat();
    let read = read_but(&mut unread, input, None)?;
    let (header, mut table) = (read.header, read.table);

    let missing = unknown_tokens(&table);
    settle(&mut table, &missing);
    let mut guesses: Vec<Guess> = table.columns.iter().map(|c| roles::guess(c, table.rows, &missing)).collect();
    limit(&mut guesses, &table);
    let unknown_rows = unknown_rows(&table, &guesses, &missing);
    // Leaving out a fifth of the people would say something else about the rest.
    let drop = unknown_rows * 5 <= table.rows && unknown_rows < table.rows;
    if drop && unknown_rows > 0 {
        retain_known(&mut table, &guesses, &missing);
    }
    single_nobody_out(&mut guesses, &table);

    let mut out = String::new();
    head(&mut out, input, folder, table.rows + if drop { unknown_rows } else { 0 }, header.len());
    unknowns(&mut out, &missing, drop, unknown_rows);
    let sections: Vec<String> =
        table.columns.par_iter().zip(&guesses).map(|(column, guess)| section(column, guess, &missing)).collect();
    for name in &header {
        match table.position(name) {
            Some(position) => out.push_str(&sections[position]),
            None => {
                let why = match binary.contains(name) {
                    true => "binary data, which has no text",
                    false => "names persons in the first rows, so the rest was not read",
                };
                let _ = write!(out, "\n[columns.{}]\nrole = \"identifying\"   # {why}\n", key(name));
            }
        }
    }
    requirements(&mut out, &table, &guesses, &missing);
    Ok(out)
}

/// Reads a table without the columns `but`, to which those are added that turn out to be binary data.
fn read_but(but: &mut Vec<String>, input: &str, max_rows: Option<u64>) -> Result<Input, PrepareError> {
    loop {
        let keep = |name: &str| !but.iter().any(|n| n == name);
        match amidst_io::read(input, &ReadOptions { keep: Some(&keep), max_rows, ..ReadOptions::default() }) {
            Err(ReadError::Binary { column: Some(column), .. }) if !but.contains(&column) => but.push(column),
            read => return Ok(read?),
        }
    }
}

/// The usual tokens that some column holds.
fn unknown_tokens(table: &Table) -> Vec<String> {
    let held = |token: &&&str| table.columns.iter().any(|c| c.dictionary.code(token).is_some());
    UNKNOWN.iter().filter(held).map(|t| t.to_string()).collect()
}

/// Gives every column the type of its known values.
fn settle(table: &mut Table, missing: &[String]) {
    table.columns.par_iter_mut().for_each(|column| {
        column.kind = ValueType::guess(column.dictionary.iter().filter(|v| !missing.iter().any(|m| m == v)));
    });
}

/// Leaves out what would be published as it is and would single people out, alone or together with the rest.
fn single_nobody_out(guesses: &mut [Guess], table: &Table) {
    loop {
        let raw: Vec<usize> = (0..guesses.len()).filter(|&i| guesses[i].role == Role::Insensitive).collect();
        let columns: Vec<&Column> = raw.iter().map(|&i| &table.columns[i]).collect();
        if columns.is_empty() || !singles_out(Shared::of(&columns, table.rows).unique(), table.rows as u64) {
            return;
        }
        let most = raw.iter().max_by_key(|&&i| table.columns[i].dictionary.len());
        if let Some(guess) = most.and_then(|&i| guesses.get_mut(i)) {
            guess.role = Role::Identifying;
            guess.why = format!("would single people out; as quasi it would be generalized; {}", guess.why);
        }
    }
}

/// Keeps the number of quasi columns within what a release can bear, and sees to it that there is one.
fn limit(guesses: &mut [Guess], table: &Table) {
    let by_name = |g: &Guess| g.role == Role::Quasi && g.why.starts_with("others");
    let mut room = QUASI_COLUMNS.saturating_sub(guesses.iter().filter(|g| by_name(g)).count());
    for guess in guesses.iter_mut().filter(|g| g.role == Role::Quasi && !by_name(g)) {
        match room {
            0 => {
                guess.role = Role::Insensitive;
                guess.why = format!(
                    "make it quasi if others may know it; there are {QUASI_COLUMNS} quasi columns or more already"
                );
            }
            _ => room -= 1,
        }
    }
    if guesses.iter().all(|g| g.role != Role::Quasi) {
        // Of columns that name nobody, the one with the fewest values is the one that others most probably know.
        let free = |&i: &usize| guesses[i].role == Role::Insensitive;
        let fewest = |&i: &usize| table.columns[i].dictionary.len();
        let chosen = (0..guesses.len()).filter(free).min_by_key(fewest).or((!guesses.is_empty()).then_some(0));
        if let Some(guess) = chosen.and_then(|i| guesses.get_mut(i)) {
            guess.role = Role::Quasi;
            guess.why = format!("a policy needs a quasi column; {}", guess.why);
        }
    }
}

/// The codes that mean "unknown" in each column that a policy would read.
fn unknown_codes<'a>(table: &'a Table, guesses: &'a [Guess], missing: &[String]) -> Vec<(&'a Column, Vec<u32>)> {
    let read = table.columns.iter().zip(guesses).filter(|(_, g)| g.role != Role::Identifying);
    read.map(|(c, _)| (c, missing.iter().filter_map(|m| c.dictionary.code(m)).collect::<Vec<u32>>()))
        .filter(|(_, codes)| !codes.is_empty())
        .collect()
}

/// Which rows have no unknown cell in a column that a policy would read.
fn known(table: &Table, guesses: &[Guess], missing: &[String]) -> Vec<bool> {
    let mut known = vec![true; table.rows];
    for (column, codes) in unknown_codes(table, guesses, missing) {
        let mut row = 0;
        column.codes.for_each(|code| {
            if codes.contains(&code) {
                known[row] = false;
            }
            row += 1;
        });
    }
    known
}

fn unknown_rows(table: &Table, guesses: &[Guess], missing: &[String]) -> usize {
    known(table, guesses, missing).iter().filter(|&&k| !k).count()
}

fn retain_known(table: &mut Table, guesses: &[Guess], missing: &[String]) {
    let keep = known(table, guesses, missing);
    table.retain(&keep);
    settle(table, missing);
}

fn head(out: &mut String, input: &str, folder: Option<&Path>, rows: usize, columns: usize) {
    let _ = write!(
        out,
        "# A first policy, drafted from {rows} rows and {columns} columns.\n\
         # Every role is a guess: read them all. Roles: identifying and key (never published), quasi (known to others,\n\
         # published generalized), sensitive (protected), insensitive (published as it is).\n\n\
         [data]\ninput = {}\n",
        text(&from_folder(input, folder))
    );
}

/// `input`, as it is found from `folder`.
fn from_folder(input: &str, folder: Option<&Path>) -> String {
    let here = folder.is_none_or(|f| f.as_os_str().is_empty() || f == Path::new("."));
    if here || input == "-" || (input.contains("://") && amidst_io::local_path(input).is_none()) {
        // A password is not for a file; it is asked for in the environment.
        return amidst_io::without_password(input).into_owned();
    }
    if let Some(database) = input.strip_prefix("sqlite://") {
        let (file, settings) = database.split_at(database.find('?').unwrap_or(database.len()));
        return format!("sqlite://{}{settings}", from_folder(file, folder));
    }
    if let Some(inside) = folder.and_then(|f| Path::new(input).strip_prefix(f).ok()) {
        return inside.to_string_lossy().into_owned();
    }
    std::path::absolute(input).map_or_else(|_| input.to_string(), |path| path.to_string_lossy().into_owned())
}

fn unknowns(out: &mut String, missing: &[String], drop: bool, rows: usize) {
    if missing.is_empty() {
        let _ = writeln!(out, "missing = []             # no unknown cells seen");
        return;
    }
    let _ = writeln!(out, "missing = {}   # cells that seem to mean \"unknown\"", texts(missing));
    match drop {
        true => {
            let _ = writeln!(out, "missing_rows = \"drop\"    # {rows} rows have an unknown cell");
        }
        false => {
            let why = "too many to drop, so unknown is a value of its own";
            let _ = writeln!(out, "missing_rows = \"keep\"    # {rows} rows have an unknown cell: {why}");
        }
    }
}

fn section(column: &Column, guess: &Guess, missing: &[String]) -> String {
    let mut out = String::new();
    let _ = write!(out, "\n[columns.{}]\n", key(&column.name));
    let _ = writeln!(out, "{:<24} # {}", format!("role = {}", text(guess.role.name())), guess.why);
    if matches!(guess.role, Role::Quasi | Role::Sensitive) {
        let _ = writeln!(out, "type = {}", text(column.kind.name()));
    }
    if guess.role == Role::Quasi {
        // Unknown cells keep to themselves in every hierarchy, so the guess is made without them.
        let mut values = Column { name: column.name.clone(), kind: column.kind, ..Column::default() };
        values.dictionary = column.dictionary.iter().filter(|v| !missing.iter().any(|m| m == v)).collect();
        values.sort(&[]);
        let suggestion = hierarchy::guess(&values);
        let _ = writeln!(out, "hierarchy = {}   # {}", suggestion.toml(), suggestion.reason);
    }
    out
}

fn requirements(out: &mut String, table: &Table, guesses: &[Guess], missing: &[String]) {
    let k = 5.min(table.rows.max(1));
    let _ = write!(
        out,
        "\n# What every class of rows that look alike must satisfy.\n[[require]]\nmodel = \"k-anonymity\"\nk = {k}\n"
    );
    for (column, _) in table.columns.iter().zip(guesses).filter(|(_, g)| g.role == Role::Sensitive) {
        let counts = column.counts();
        let values = counts.iter().filter(|&&n| n > 0).count() - unknown_values(column, missing);
        let effective = effective_values(&counts);
        let (model, l, why) = match (values, effective) {
            (0 | 1, _) => continue,
            (8.., 6.0..) => ("entropy-l-diversity", 3, format!("the table itself has {effective:.1}")),
            (2, _) => ("distinct-l-diversity", 2, "there are only two values".to_string()),
            _ => ("distinct-l-diversity", 3, format!("of {values} values")),
        };
        let on = text(&column.name);
        let _ = write!(out, "\n[[require]]\nmodel = {}\non = {on}\nl = {l}   # {why}\n", text(model));
    }
    let _ = write!(
        out,
        "\n[search]\nmax_suppression = 0.02   # at most this share of the rows may be left out\nseed = 1\n\n\
         [output]\nfile = \"release.csv\"\n"
    );
}

fn unknown_values(column: &Column, missing: &[String]) -> usize {
    missing.iter().filter(|m| column.dictionary.code(m).is_some()).count()
}

/// exp of the entropy: how many equally frequent values would be as diverse.
fn effective_values(counts: &[u64]) -> f64 {
    let total: f64 = counts.iter().map(|&n| n as f64).sum();
    let share = |&n: &u64| n as f64 / total;
    let entropy: f64 = counts.iter().filter(|&&n| n > 0).map(share).map(|p| -p * p.ln()).sum();
    entropy.exp()
}

/// The draft of `input`, read as a policy that stands in `folder`.
///
/// # Errors
/// As [`draft`]; a draft always parses.
pub fn policy(input: &str, folder: &Path) -> Result<Policy, PrepareError> {
    let text = draft(input, Some(folder))?;
    Ok(Policy::parse(&text, &folder.join("policy.toml"))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::{Finding, LoadOptions, check};

    /// The draft parses and fits the data; the findings hold no error.
    fn fits(input: &Path) -> Policy {
        let input = input.to_str().unwrap();
        let policy = policy(input, Path::new("")).unwrap_or_else(|e| panic!("{e}\n{}", draft(input, None).unwrap()));
        let findings = check(&policy, &LoadOptions::default());
        for finding in &findings {
            if let Finding::Wrong(errors) = finding {
                panic!("{errors}");
            }
            assert!(!finding.is_error(), "{finding:?}");
        }
        policy
    }

    fn with_role(policy: &Policy, role: Role) -> Vec<&str> {
        policy.with_role(role).collect()
    }

    #[test]
    fn a_draft_fits_its_table() {
        let folder = tempfile::tempdir().unwrap();
        let mut data = "patient id,Name,born,sex,zip code,diagnosis,weight,note\n".to_string();
        for i in 0..60 {
            let sex = if i % 7 == 0 { "?" } else { ["f", "m"][i % 2] };
            let (year, zip, weight) = (1950 + i % 40, 10_000 + i * 13, 50 + i % 30);
            let diagnosis = ["flu", "hiv", "cold"][i % 3];
            let row =
                format!("{i},Person {i},{year}-03-0{},{sex},{zip},{diagnosis},{weight}.5,\"n, {i}\"\n", i % 9 + 1);
            data.push_str(&row);
        }
        let file = folder.path().join("data.csv");
        std::fs::write(&file, data).unwrap();
        let policy = fits(&file);
        assert_eq!(with_role(&policy, Role::Identifying), ["patient id", "Name", "note"]);
        assert_eq!(with_role(&policy, Role::Quasi), ["born", "sex", "zip code", "weight"]);
        assert_eq!(with_role(&policy, Role::Sensitive), ["diagnosis"]);
        assert_eq!(policy.data.missing, ["?"]);
        assert_eq!(policy.requirements.len(), 2);
        let text = draft(file.to_str().unwrap(), Some(folder.path())).unwrap();
        assert!(text.contains("input = \"data.csv\""), "{text}");
        assert!(text.contains("others may know this; 2 distinct values"), "{text}");
    }

    #[test]
    fn awkward_tables_get_a_draft_too() {
        let folder = tempfile::tempdir().unwrap();
        let cases = [
            "a\n1\n",
            "a,b\n,\nx,\n",
            "name\nAnn\nBob\n",
            "\"we \"\"quote\"\"\",é.x\n1,2\n3,4\n",
            "income,c\n1,?\n2,?\n3,?\n",
        ];
        for (i, case) in cases.iter().enumerate() {
            let file = folder.path().join(format!("{i}.csv"));
            std::fs::write(&file, case).unwrap();
            fits(&file);
        }
    }

    #[test]
    fn real_tables_get_a_draft() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        for (file, quasi, sensitive) in [
            ("adult/adult.csv", "native-country", vec!["salary-class"]),
            ("cmc/cmc.csv", "age", vec!["religion"]),
            ("nist-acs/ma2019.csv", "AGEP", vec!["PINCP", "PINCP_DECILE"]),
        ] {
            let file = data.join(file);
            if !file.exists() {
                println!("skipped: {} is absent", file.display());
                continue;
            }
            let policy = fits(&file);
            assert!(with_role(&policy, Role::Quasi).contains(&quasi));
            assert_eq!(with_role(&policy, Role::Sensitive), sensitive);
        }
    }
}
