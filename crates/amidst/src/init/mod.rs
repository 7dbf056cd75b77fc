//! `amidst init`: a commented first policy for a table without one.
//!
//! Roles are guessed from values and names (`roles`), then held against each other (`plan`); hierarchies come from
//! values, unknowns from the usual tokens. Every guess says why, because only the owner of the data knows what its
//! columns mean; and every guess errs towards protection, because a draft is often used as it stands. What the draft
//! releases as it is, alone or together, singles out hardly any person. The draft fits the data.
//!
//! May use: `job`, `policy`, `prepare`, and what those use.

mod conventions;
mod detect;
mod names;
mod person;
mod plan;
mod profile;
mod roles;
mod unknown;
mod write;

use std::borrow::Cow;
use std::path::Path;

use amidst_core::hierarchy::Suggestion;
use amidst_core::table::{Column, Table, ValueType};
use amidst_io::{Input, ReadError, ReadOptions};
use rayon::prelude::*;

use crate::job::{Job, Stage};
use crate::policy::{Data, Policy, Role};
use crate::prepare::PrepareError;
use conventions::Guessed;
pub use conventions::needed as needed_conventions;
use plan::Plan;
use profile::Profile;
use unknown::{nobody, unknown_tokens};

/// The rows by which columns of long texts are found, so that they need not all be read.
const SAMPLE: u64 = 50_000;

/// Texts longer than any number of a person.
const PROSE: usize = 24;

/// A table that was looked at.
#[derive(Debug)]
pub(crate) struct InspectedTable {
    /// All columns of the input, in its order.
    pub header: Vec<String>,
    /// The columns that were read.
    pub table: Table,
    /// The columns that were not read, with the reason.
    unread: Vec<(String, &'static str)>,
    /// Tokens that mean "unknown".
    pub missing: Vec<String>,
    /// What must be stated for the table to be read so.
    guessed: Guessed,
    plan: Plan,
}

impl InspectedTable {
    /// Reads a table and guesses what its columns are. With `skip`, columns that hold long texts in the first rows are
    /// not read to the end.
    ///
    /// # Errors
    /// Whatever is wrong with the input, or that the job was stopped.
    pub fn watched(input: &str, skip: bool, job: &Job<'_>) -> Result<InspectedTable, PrepareError> {
        InspectedTable::stated(input, None, skip, job)
    }

    /// As [`InspectedTable::watched`], with the table read as a policy says, where there is one.
    ///
    /// # Errors
    /// As [`InspectedTable::watched`].
    pub fn stated(
        input: &str,
        stated: Option<&Data>,
        skip: bool,
        job: &Job<'_>,
    ) -> Result<InspectedTable, PrepareError> {
        let mut binary: Vec<String> = Vec::new();
        let mut prose: Vec<String> = Vec::new();
        let mut guessed = stated.map_or_else(Guessed::default, Guessed::from);
        let unknown_tokens = |table: &Table| stated.map_or_else(|| unknown_tokens(table), |data| data.missing.clone());
        // A stream is read only once.
        if input != "-" {
            let mut first = read_but(&mut binary, input, Some(SAMPLE), &mut guessed, job)?;
            if guessed.finds_no_header(&first) {
                first = read_but(&mut binary, input, Some(SAMPLE), &mut guessed, job)?;
            }
            let mut sample = first.table;
            let missing = unknown_tokens(&sample);
            guess_types(&mut sample, &missing);
            guessed.look(&sample, &missing);
            guessed.conventions.convert(&mut sample);
            // A sample of a table that has no more rows is the table.
            if skip && sample.rows as u64 == SAMPLE {
                guess_types(&mut sample, &missing);
                // Whatever may tell apart persons who have several rows must be read to the end, wherever those rows
                // are.
                let is_prose = |c: &&Column| {
                    let profile = Profile::of(c, &missing);
                    let guess = roles::guess(&profile);
                    let stands_for_nobody = guess.strength == 0 && !guess.several_rows;
                    guess.role == Role::Identifying && stands_for_nobody && profile.share(|v| v.len() >= PROSE) >= 0.5
                };
                prose = sample.columns.iter().filter(is_prose).map(|c| c.name.clone()).collect();
            }
        }
        let mut but = [prose.clone(), binary.clone()].concat();
        let read = read_but(&mut but, input, None, &mut guessed, job)?;
        let mut table = read.table;
        let mut missing = unknown_tokens(&table);
        guess_types(&mut table, &missing);
        let mut plan = plan::plan(&table, &missing);
        let nobody = nobody(&table, &plan);
        if !nobody.is_empty() && stated.is_none() {
            missing.extend(nobody);
            plan = plan::plan(&table, &missing);
        }
        let why = |name: &String| match prose.contains(name) {
            true => "long texts of their own in the first rows, so the rest was not read",
            false => "binary data, which has no text",
        };
        let unread = but.iter().map(|name| (name.clone(), why(name))).collect();
        Ok(InspectedTable { header: read.header, table, unread, missing, guessed, plan })
    }

    /// The columns that were not read, with the reason.
    pub fn unread(&self) -> &[(String, &'static str)] {
        &self.unread
    }

    /// The hierarchy that fits a column of the table that was read, whatever its role.
    pub fn suggestion(&self, column: usize) -> Suggestion {
        plan::suggest(&self.table.columns[column], &self.plan.guesses[column], &self.missing)
    }

    /// The role of a column of the table that was read, and why.
    pub fn role(&self, column: usize) -> (Role, &str) {
        let guess = &self.plan.guesses[column];
        (guess.role, &guess.why)
    }
}

/// Drafts a policy for `input`, to be kept in `folder` (the working directory when `None`): a relative input is written
/// so that it is found from there.
///
/// # Errors
/// Whatever is wrong with the input.
pub fn draft(input: &str, folder: Option<&Path>) -> Result<String, PrepareError> {
    draft_watched(input, folder, &Job::default())
}

/// The same, told how far the reading is and whether it is to go on.
///
/// # Errors
/// Whatever is wrong with the input, or that the job was stopped.
pub fn draft_watched(input: &str, folder: Option<&Path>, job: &Job<'_>) -> Result<String, PrepareError> {
    Ok(drafted(&InspectedTable::watched(input, true, job)?, input, folder))
}

/// The draft for a table that was looked at.
pub(crate) fn drafted(inspected: &InspectedTable, input: &str, folder: Option<&Path>) -> String {
    let rows = inspected.table.rows;
    let keep = known(&inspected.table, &inspected.plan, &inspected.missing);
    let unknown_rows = keep.iter().filter(|&&k| !k).count();
    // Leaving out a fifth of the people would say something else about the rest.
    let drop = unknown_rows * 5 <= rows && unknown_rows < rows;
    let mut table = Cow::Borrowed(&inspected.table);
    if drop && unknown_rows > 0 {
        let known = table.to_mut();
        known.retain(&keep);
        guess_types(known, &inspected.missing);
    }

    let mut out = String::new();
    write::head(&mut out, input, folder, rows, inspected.header.len());
    write::conventions(&mut out, &inspected.guessed.lines);
    write::unknowns(&mut out, &inspected.missing, drop, unknown_rows);
    for name in &inspected.header {
        let unread = inspected.unread.iter().find(|(n, _)| n == name);
        match (table.position(name), unread) {
            (Some(i), _) => {
                let hierarchy = inspected.plan.hierarchies[i].as_ref();
                let column = &table.columns[i];
                // An unknown cell lies in no range.
                let unknown = inspected.missing.iter().any(|m| column.dictionary.code(m).is_some());
                out.push_str(&write::section(column, &inspected.plan.guesses[i], hierarchy, !unknown));
            }
            (None, unread) => {
                let why = unread.map_or("not read", |(_, why)| why);
                out.push_str(&write::unread(name, Role::Identifying, why));
            }
        }
    }
    write::requirements(&mut out, &table, &inspected.plan, &inspected.missing);
    out
}

/// Reads the first rows of a table, as a policy says or as it must be read.
///
/// # Errors
/// Whatever is wrong with the input.
pub(crate) fn first_of(input: &str, stated: Option<&Data>, most: u64) -> Result<Table, PrepareError> {
    let mut guessed = stated.map_or_else(Guessed::default, Guessed::from);
    let options = ReadOptions { max_rows: Some(most), threads: 1, ..ReadOptions::default() };
    Ok(guessed.read(input, &options)?.table)
}

/// Reads a table without the columns `but`, to which those are added that turn out to be binary data.
fn read_but(
    but: &mut Vec<String>,
    input: &str,
    max_rows: Option<u64>,
    guessed: &mut Guessed,
    job: &Job<'_>,
) -> Result<Input, PrepareError> {
    let progress = |done: u64, total: Option<u64>| {
        // A sample is read in no time.
        if let (None, Some(total)) = (max_rows, total.filter(|&t| t > 0)) {
            (job.progress)(Stage::Read, (done as f64 / total as f64).min(1.0));
        }
    };
    loop {
        let keep = |name: &str| !but.iter().any(|n| n == name);
        let (cancel, threads) = (Some(job.cancel), job.threads);
        let progress: Option<&(dyn Fn(u64, Option<u64>) + Sync)> = Some(&progress);
        let options = ReadOptions { keep: Some(&keep), max_rows, cancel, progress, threads, ..ReadOptions::default() };
        match guessed.read(input, &options) {
            Err(ReadError::Binary { column: Some(column), .. }) if !but.contains(&column) => but.push(column),
            read => return Ok(read?),
        }
    }
}

/// Gives every column the type of its known values.
fn guess_types(table: &mut Table, missing: &[String]) {
    table.columns.par_iter_mut().for_each(|column| {
        column.kind = ValueType::guess(column.dictionary.iter().filter(|v| !missing.iter().any(|m| m == v)));
    });
}

/// Which rows have no unknown cell in a column that a policy would read.
fn known(table: &Table, plan: &Plan, missing: &[String]) -> Vec<bool> {
    let mut known = vec![true; table.rows];
    let read = table.columns.iter().zip(&plan.guesses).filter(|(_, guess)| guess.role != Role::Identifying);
    for (column, _) in read {
        let codes: Vec<u32> = missing.iter().filter_map(|m| column.dictionary.code(m)).collect();
        let mut row = 0;
        if !codes.is_empty() {
            column.codes.for_each(|code| {
                known[row] &= !codes.contains(&code);
                row += 1;
            });
        }
    }
    known
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
    use crate::policy_check::{Finding, check};
    use crate::prepare::LoadOptions;

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
            "a\n1\n2\n",
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
    fn a_province_is_not_unknown() {
        let codes = ["RM", "MI", "NA", "TO", "PA", "GE", "BO"].repeat(9);
        let [provinces, answers] = [codes, ["yes", "no", "NA"].repeat(21)];
        let columns = vec![profile::tests::column("provincia", provinces), profile::tests::column("answer", answers)];
        let mut table = Table { rows: 63, columns };
        assert_eq!(unknown_tokens(&table), ["NA"]);
        table.columns.pop();
        assert!(unknown_tokens(&table).is_empty());
    }

    #[test]
    fn what_stands_in_the_place_of_a_key_is_nobody() {
        let number =
            |i: usize| if i.is_multiple_of(20) { "Unknown".to_string() } else { (4000 + i % 60 * 7).to_string() };
        let columns = vec![
            profile::tests::column("patient_no", (0..240).map(number)),
            profile::tests::column("sex", (0..240).map(|i| ["f", "m"][i % 60 * 13 / 7 % 2])),
            profile::tests::column("age", (0..240).map(|i| (20 + i % 60 * 31 % 53).to_string())),
        ];
        let table = Table { rows: 240, columns };
        assert_eq!(nobody(&table, &plan::plan(&table, &[])), ["Unknown"]);
    }

    #[test]
    fn a_single_row_is_never_released() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("one.csv");
        std::fs::write(&file, "name,age\nAnn,30\n").unwrap();
        let policy = policy(file.to_str().unwrap(), Path::new("")).unwrap();
        let findings = check(&policy, &LoadOptions::default());
        assert!(findings.iter().any(|f| matches!(f, Finding::Impossible(_))), "{findings:?}");
    }

    #[test]
    fn real_tables_get_a_draft() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        for (file, quasi, sensitive) in [
            ("adult/adult.csv", "native-country", vec!["salary-class"]),
            ("cmc/cmc.csv", "age", vec!["religion"]),
            ("nist-acs/ma2019.csv", "AGEP", vec![]),
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
