//! Checks the first sentences of a release against the released file: every number and every column in them.
//!
//! The sentences are parsed, and each figure is recounted from the cells alone. A sentence about rows that the parser
//! does not recognize is a failure, too: it could claim anything.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::corpus::dress::csv_rows;
use crate::test_folder::{Run, TestFolder};

/// A released table.
struct Release {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    waived: Vec<usize>,
    quasi: Vec<String>,
    /// Whether sizes count persons, whom the released file does not identify.
    persons: bool,
}

/// The kind of a sentence, `None` for one that makes no claim about rows; or what is wrong with it.
type Judged = Result<Option<&'static str>, String>;

fn same<T: PartialEq + std::fmt::Debug>(said: T, counted: T) -> Result<(), String> {
    if said == counted { Ok(()) } else { Err(format!("said {said:?}, counted {counted:?}")) }
}

fn number(text: &str) -> Result<usize, String> {
    text.replace(',', "").parse().map_err(|_| format!("`{text}` is no number"))
}

impl Release {
    fn of(scratch: &TestFolder, folder: &str) -> Release {
        let mut rows = csv_rows(&scratch.read(&format!("{folder}/public/release.csv")));
        let certificate: Value =
            serde_json::from_str(&scratch.read(&format!("{folder}/public/certificate.json"))).unwrap();
        let waived = certificate["waived"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap() as usize).collect();
        let quasi = certificate["quasi"].as_array().unwrap().iter().map(|q| q.as_str().unwrap().to_string()).collect();
        let persons = scratch.read(&format!("{folder}/public/policy.toml")).contains("role = \"key\"");
        Release { header: rows.remove(0), rows, waived, quasi, persons }
    }

    /// The columns in a list such as "age, date of birth and zip", split with the help of the header.
    fn named(&self, mut list: &str) -> Result<Vec<usize>, String> {
        let mut found = Vec::new();
        loop {
            let fits = (0..self.header.len()).filter(|&c| list.starts_with(&self.header[c]));
            let Some(column) = fits.max_by_key(|&c| self.header[c].len()) else {
                return Err(format!("`{list}` begins with no column"));
            };
            found.push(column);
            list = &list[self.header[column].len()..];
            match list.strip_prefix(", ").or_else(|| list.strip_prefix(" and ")) {
                Some(rest) => list = rest,
                None if list.is_empty() => return Ok(found),
                None => return Err(format!("`{list}` after a column")),
            }
        }
    }

    /// The sizes of the groups of rows that agree in these columns.
    fn groups(&self, columns: &[usize], protected: bool) -> Vec<usize> {
        let mut groups: BTreeMap<Vec<&String>, usize> = BTreeMap::new();
        for (row, cells) in self.rows.iter().enumerate() {
            if !(protected && self.waived.contains(&row)) {
                *groups.entry(columns.iter().map(|&c| &cells[c]).collect()).or_default() += 1;
            }
        }
        groups.into_values().collect()
    }

    fn unique(&self, columns: &[usize]) -> usize {
        self.groups(columns, false).into_iter().filter(|&n| n == 1).count()
    }

    fn all(&self) -> Vec<usize> {
        (0..self.header.len()).collect()
    }

    fn is_quasi(&self, column: usize) -> bool {
        self.quasi.contains(&self.header[column])
    }

    /// Checks a phrase such as "12 of 400 rows (3 %) are".
    fn says(&self, found: &str, unique: usize) -> Result<(), String> {
        let rows = self.rows.len();
        match found {
            "no row is" => same(0, unique),
            "the only row is" => same((1, 1), (unique, rows)),
            all if all.starts_with("all ") => {
                let said = number(all.trim_start_matches("all ").trim_end_matches(" rows are"))?;
                same((said, said), (unique, rows))
            }
            some => {
                let (part, rest) = some.split_once(" of ").ok_or("no share")?;
                same((number(part)?, number(rest.split_once(" rows").ok_or("no rows")?.0)?), (unique, rows))
            }
        }
    }

    /// Checks a sentence against the rows.
    fn judge(&self, sentence: &str) -> Judged {
        let plain = sentence.strip_suffix('.').unwrap_or(sentence);
        if let Some((who, rest)) = plain.split_once(" shares their ") {
            return self.company(who, rest).map(Some);
        }
        if let Some((who, columns)) = plain.split_once(" alone: nobody else has ") {
            let (_, columns) = columns.split_once(" combination of ").ok_or("no combination")?;
            let who = number(who.trim_start_matches("Of the others ").split(' ').next().unwrap_or(""))?;
            let columns = self.named(columns)?;
            same(columns.len(), self.quasi.len())?;
            same(who, self.groups(&columns, true).into_iter().filter(|&n| n == 1).count())?;
            return Ok(Some("columns"));
        }
        if let Some((columns, found)) = plain.strip_prefix("Beside them ").and_then(|s| s.split_once(": with ")) {
            let columns =
                columns.trim_end_matches(" are published as they are").trim_end_matches(" is published as it is");
            let others: Vec<usize> = self.all().into_iter().filter(|&c| !self.is_quasi(c)).collect();
            same(self.named(columns)?, others)?;
            let found = found.split_once(' ').ok_or("no share")?.1.trim_end_matches(" unique");
            self.says(found, self.unique(&self.all()))?;
            return Ok(Some("beside"));
        }
        if let Some((columns, found)) = plain.strip_prefix("On ").and_then(|s| s.split_once(" alone ")) {
            self.says(found.trim_end_matches(" unique"), self.unique(&self.named(columns)?))?;
            return Ok(Some("raw"));
        }
        if let Some((rows, _)) = plain.split_once(" published unprotected") {
            same(number(rows.split(' ').next().unwrap_or(""))?, self.waived.len())?;
            return Ok(Some("waived"));
        }
        match plain.contains("the reason given") {
            true => Ok(None),
            false => Err("nobody knows what it says".to_string()),
        }
    }

    /// Checks "Every person shares their age and zip with at least 4 others".
    fn company(&self, who: &str, rest: &str) -> Result<&'static str, String> {
        let (list, others) = rest.rsplit_once(" with at least ").ok_or("no number")?;
        let others = number(others.split(' ').next().unwrap_or(""))?;
        let protected = match who {
            "Every person" => false,
            "Everyone else" => true,
            _ => return Err(format!("who is {who}?")),
        };
        same(protected, !self.waived.is_empty())?;
        let columns = if list == "row" { self.all() } else { self.named(list)? };
        if list != "row" {
            same(columns.len(), self.quasi.len())?;
            columns.iter().try_for_each(|&c| same(self.is_quasi(c), true))?;
        }
        let smallest = self.groups(&columns, protected).into_iter().min().unwrap_or(0);
        // A person has at least one row, so at least as many rows as persons agree.
        match self.persons {
            true => same(smallest > others, true)?,
            false => same(others + 1, smallest)?,
        }
        Ok(if list == "row" { "row" } else { "columns" })
    }
}

/// A sentence as escaped in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// Checks the first sentences of a release against its file, wherever they occur: both reports in their three forms,
/// and the output of `anonymize` as text or JSON. Returns the kinds of sentences found, or what is wrong.
pub fn judged(scratch: &TestFolder, folder: &str, run: &Run) -> Result<Vec<&'static str>, String> {
    let release = Release::of(scratch, folder);
    let mut met = Vec::new();
    for part in ["public", "internal"] {
        let report: Value = serde_json::from_str(&scratch.read(&format!("{folder}/{part}/report.json"))).unwrap();
        // Markdown characters are escaped by a backslash.
        let page = scratch.read(&format!("{folder}/{part}/report.md")).replace('\\', "");
        let html = scratch.read(&format!("{folder}/{part}/report.html"));
        let summary = report["summary"].as_array().unwrap().iter().filter_map(Value::as_str);
        let first: Vec<&str> = summary.take(report["leading"].as_u64().unwrap() as usize).collect();
        let mut kinds = Vec::new();
        for &said in &first {
            kinds.extend(release.judge(said).map_err(|wrong| format!("{part}: \"{said}\": {wrong}"))?);
            let markdown = page.contains(&format!("- {said}\n"));
            let shown = html.contains(&escaped(said));
            let told = match serde_json::from_str::<Value>(&run.stdout) {
                Ok(json) => json["summary"].as_array().is_some_and(|all| all.iter().any(|s| s == said)),
                Err(_) => run.stdout.contains(said),
            };
            same((markdown, shown, told), (true, true, true))
                .map_err(|wrong| format!("{part}: \"{said}\": {wrong}"))?;
        }
        // Either about whole rows, or about columns and then about the other columns.
        let others = release.header.len() > release.quasi.len();
        if !kinds.contains(&"row") && !(kinds.contains(&"columns") && (!others || kinds.contains(&"beside"))) {
            return Err(format!("{part}: something is left unsaid: {first:?}"));
        }
        met.extend(kinds);
    }
    Ok(met)
}
