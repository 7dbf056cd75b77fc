//! From the text of a policy to its values: the document, `[data]`, `[search]` and `[output]`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use amidst_core::parameter::Parameters;
use amidst_core::parameter::Rational;
use amidst_core::search::{MaxSuppression, Suppressed};
use amidst_core::{algorithm, metric};
use amidst_io::{Conventions, DateFormat, Formulas, Merged, TextEncoding};
use toml::de::{DeTable, DeValue};

use super::fields::{Fields, in_order, number};
use super::{
    Data, Diagnostic, MissingRows, Origin, OutputOrder, OutputPolicy, OutputValues, Policy, PolicyErrors, Ranges,
    RiskPolicy, SearchPolicy, UtilityPolicy, keys, parameters, suggestion,
};

/// Why there is no policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("cannot read the policy {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A table was given where a policy belongs.
    #[error("{} is a table, not a policy. `amidst init {}` drafts a policy for it", path.display(), path.display())]
    Table {
        /// The file.
        path: PathBuf,
    },
    /// The policy is wrong.
    #[error(transparent)]
    Wrong(#[from] PolicyErrors),
}

impl PolicyError {
    /// The process's exit code: 2 for what the user can mend, 3 for a failing disk.
    pub fn exit_code(&self) -> u8 {
        match self {
            // A file that is not there is a slip in the command, not a failure of the machine.
            PolicyError::Unreadable { error, .. } if error.kind() == std::io::ErrorKind::NotFound => 2,
            PolicyError::Unreadable { error, .. } if error.kind() == std::io::ErrorKind::InvalidData => 2,
            PolicyError::Unreadable { .. } => 3,
            PolicyError::Table { .. } => 2,
            PolicyError::Wrong(_) => 2,
        }
    }
}

/// The text of a policy, from a file or a pipe; of one without an end only the beginning is read.
fn read_capped(path: &Path) -> std::io::Result<String> {
    use std::io::{Error, ErrorKind, Read};
    let limit = amidst_io::POLICY_LIMIT;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(
            ErrorKind::InvalidData,
            format!("it is longer than {} MiB, so it is no policy", limit >> 20),
        ));
    }
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

impl Policy {
    /// Reads a policy from a file.
    pub fn read(path: &Path) -> Result<Policy, PolicyError> {
        if path.is_file() && amidst_io::Format::of_path(path).is_ok() {
            return Err(PolicyError::Table { path: path.to_path_buf() });
        }
        let text = read_capped(path).map_err(|error| PolicyError::Unreadable { path: path.to_path_buf(), error })?;
        Ok(Policy::parse(&text, path)?)
    }

    /// Reads a policy from its text; `path` is named in errors, and its folder is where relative paths start.
    pub fn parse(text: &str, path: &Path) -> Result<Policy, PolicyErrors> {
        let (document, syntax) = DeTable::parse_recoverable(text);
        if !syntax.is_empty() {
            let list = syntax.iter().map(|e| Diagnostic {
                span: Some(e.span().unwrap_or(text.len()..text.len())),
                ..Diagnostic::new(format!("this is not TOML: {}", e.message().lines().next().unwrap_or_default()))
            });
            return Err(PolicyErrors {
                path: Some(path.to_path_buf()),
                text: amidst_io::masked(text).into_owned(),
                // Past the first slip a parser sees errors that are none.
                list: list.take(1).collect(),
            });
        }
        let document = document.get_ref();
        let origin = Origin::new(path, text, document);
        let mut fields = Fields::default();
        let sections: Vec<&str> = keys::SECTIONS.iter().map(|s| s.name).collect();
        fields.only(document, "the policy", &sections);
        let data = fields.table(document, "data").map(|t| data(&mut fields, t)).unwrap_or_default();
        let columns = super::columns::parse(&mut fields, document);
        let requirements = super::requirements::parse(&mut fields, document, &columns, &origin);
        let quasi_sets = super::quasi_sets::parse(&mut fields, document, &columns);
        let search = fields.table(document, "search").map(|t| search(&mut fields, t, &origin)).unwrap_or_default();
        let risk = fields.table(document, "risk").map(|t| risk(&mut fields, t)).unwrap_or_default();
        let utility = fields.table(document, "utility").map(|t| utility(&mut fields, t)).unwrap_or_default();
        let output = fields.table(document, "output").map(|t| output(&mut fields, t)).unwrap_or_default();
        let release = super::release::parse(&mut fields, document);
        if !fields.errors.is_empty() {
            return Err(origin.errors(fields.errors));
        }
        let (columns, default) = (columns.named, columns.default);
        Ok(Policy { data, columns, default, requirements, quasi_sets, search, risk, utility, output, release, origin })
    }
}

fn data(fields: &mut Fields, table: &DeTable<'_>) -> Data {
    fields.only(table, "[data]", &keys::names("data"));
    let separator = fields.text(table, "separator").and_then(|text| {
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) => Some(c),
            _ => {
                let span = table.get("separator").map(|i| i.span()).unwrap_or_default();
                fields.push(Diagnostic::at(span, "`separator` must be one character, such as \";\" or \"\\t\""));
                None
            }
        }
    });
    Data {
        input: fields.text(table, "input"),
        separator,
        missing: fields.texts(table, "missing").unwrap_or_default(),
        missing_rows: fields
            .choice(table, "missing_rows", &[("drop", MissingRows::Drop), ("keep", MissingRows::Keep)])
            .unwrap_or_default(),
        conventions: conventions(fields, table),
    }
}

/// What merged cells mean, by the names of policies.
pub(super) const MERGED: &[(&str, Merged)] =
    &[("refuse", Merged::Refuse), ("fill", Merged::Fill), ("empty", Merged::Empty)];

/// What formulas without a result mean, by the names of policies.
pub(super) const FORMULAS: &[(&str, Formulas)] = &[("refuse", Formulas::Refuse), ("unknown", Formulas::Unknown)];

/// What the table does not say by itself.
fn conventions(fields: &mut Fields, table: &DeTable<'_>) -> Conventions {
    let span = |key: &str| table.get(key).map(|i| i.span()).unwrap_or_default();
    let encoding = fields.text(table, "encoding").and_then(|name| {
        let found = TextEncoding::named(&name);
        if found.is_none() {
            let message = format!("there is no encoding `{name}`");
            let help = "usual ones: utf-8, windows-1252 (also called latin-1), windows-1250, utf-16le, shift_jis, gbk";
            fields.push(Diagnostic::at(span("encoding"), message).label("unknown encoding").help(help));
        }
        found
    });
    let date_format = fields.text(table, "date_format").and_then(|text| match DateFormat::parse(&text) {
        Ok(format) => Some(format),
        Err(why) => {
            let message = format!("`date_format` is not understood: {why}");
            fields.push(Diagnostic::at(span("date_format"), message).label("no form of dates"));
            None
        }
    });
    Conventions {
        encoding,
        sheet: fields.text(table, "sheet"),
        merged: fields.choice(table, "merged", MERGED).unwrap_or_default(),
        formulas: fields.choice(table, "formulas", FORMULAS).unwrap_or_default(),
        no_header: fields.flag(table, "header") == Some(false),
        decimal_comma: fields.choice(table, "decimal", &[(".", false), (",", true)]).unwrap_or_default(),
        date_format,
    }
}

fn search(fields: &mut Fields, table: &DeTable<'_>, origin: &Origin) -> SearchPolicy {
    fields.only(table, "[search]", &keys::names("search"));
    let defaults = SearchPolicy::default();
    let algorithms: Vec<&str> = algorithm::ALGORITHMS.iter().map(|e| e.id).collect();
    let metrics: Vec<&str> = metric::METRICS.iter().map(|e| e.id).collect();
    let algorithm = registered(fields, table, "algorithm", &algorithms);
    SearchPolicy {
        options: options(fields, table, algorithm.as_deref(), origin),
        algorithm,
        metric: registered(fields, table, "metric", &metrics),
        max_suppression: max_suppression(fields, table).unwrap_or(defaults.max_suppression),
        suppressed: fields
            .choice(table, "suppressed", &[("drop", Suppressed::Drop), ("mask", Suppressed::Mask)])
            .unwrap_or_default(),
        seed: seed(fields, table).unwrap_or(defaults.seed),
        levels: levels(fields, table),
        time_limit: time_limit(fields, table),
    }
}

/// `levels = { age = 2, sex = 0 }`: the node that is to be published. Whether the columns are there is known with the
/// data.
fn levels(fields: &mut Fields, table: &DeTable<'_>) -> Vec<(String, usize)> {
    let Some(stated) = fields.table(table, "levels") else { return Vec::new() };
    if let Some(algorithm) = table.get("algorithm") {
        let message = "`levels` names the node that is published, so there is nothing for an algorithm to search";
        fields.push(Diagnostic::at(algorithm.span(), message).help("leave out `algorithm` or `levels`"));
    }
    let mut levels = Vec::new();
    for (name, _, item) in in_order(stated) {
        match number(item.get_ref()).and_then(|level| level.to_u64()) {
            Some(level) if level < 1 << 16 => levels.push((name.to_string(), level as usize)),
            _ => {
                let message = format!("the level of `{name}` must be a whole number from 0 on");
                fields.push(Diagnostic::at(item.span(), message).label("not a level"));
            }
        }
    }
    levels
}

/// `[search.options]`, as the chosen algorithm declares them.
fn options(fields: &mut Fields, table: &DeTable<'_>, algorithm: Option<&str>, origin: &Origin) -> Parameters {
    let Some(inner) = fields.table(table, "options") else { return Parameters::default() };
    match algorithm.and_then(algorithm::find) {
        Some(entry) => parameters::parse(fields, inner, entry.id, entry.options, &[], origin),
        None => {
            // An unknown algorithm is an error of its own.
            if table.get("algorithm").is_none() {
                let span = table.get_key_value("options").map(|(key, _)| key.span()).unwrap_or_default();
                let message = "options belong to an algorithm, and [search] names none";
                fields.push(Diagnostic::at(span, message).help("add `algorithm = …` to [search]"));
            }
            Parameters::default()
        }
    }
}

/// The name under `key`, which must be in a registry.
fn registered(fields: &mut Fields, table: &DeTable<'_>, key: &str, known: &[&str]) -> Option<String> {
    let name = fields.text(table, key)?;
    if !known.contains(&name.as_str()) {
        let span = table.get(key).map(|i| i.span()).unwrap_or_default();
        let message = format!("there is no {key} `{name}`");
        fields.push(Diagnostic::at(span, message).label(format!("unknown {key}")).help(suggestion(&name, known)));
        return None;
    }
    Some(name)
}

/// A whole number is a number of rows; a number with a point, or a fraction in quotes, is a share.
fn max_suppression(fields: &mut Fields, table: &DeTable<'_>) -> Option<MaxSuppression> {
    let item = table.get("max_suppression")?;
    let percent = item.get_ref().as_str().and_then(|text| text.trim_end().strip_suffix('%'));
    let number = match percent {
        Some(percent) => match percent.trim().parse::<Rational>() {
            Ok(percent) => percent.divided_by(100),
            Err(_) => {
                let message = "`max_suppression` must be a percentage such as \"2 %\"";
                fields.push(Diagnostic::at(item.span(), message).label("not a percentage"));
                return None;
            }
        },
        None => fields.number(table, "max_suppression")?,
    };
    if let DeValue::Integer(_) = item.get_ref() {
        let rows = number.to_u64();
        if rows.is_none() {
            let message = format!("`max_suppression` cannot be {number}");
            let help = "write a number of rows (10) or a share (0.02, or \"2 %\")";
            fields.push(Diagnostic::at(item.span(), message).label("not a number of rows").help(help));
        }
        return rows.map(MaxSuppression::Rows);
    }
    if number.is_negative() || number > Rational::from(1) {
        let message = format!("`max_suppression` is a share from 0 to 1, not {number}");
        let help = "write a share (0.02, or \"2 %\"), or a number of rows without a point (10)";
        fields.push(Diagnostic::at(item.span(), message).label("not a share").help(help));
        return None;
    }
    Some(MaxSuppression::Share(number))
}

fn seed(fields: &mut Fields, table: &DeTable<'_>) -> Option<u64> {
    let item = table.get("seed")?;
    let seed = match item.get_ref() {
        DeValue::Integer(_) => fields.number(table, "seed")?.to_u64(),
        _ => None,
    };
    if seed.is_none() {
        let message = "`seed` must be a whole number from 0 on";
        fields.push(Diagnostic::at(item.span(), message).label("not a seed"));
    }
    seed
}

fn time_limit(fields: &mut Fields, table: &DeTable<'_>) -> Option<Duration> {
    let seconds = fields.number(table, "time_limit")?;
    let limit = nanoseconds(&seconds).filter(|&n| n > 0).map(Duration::from_nanos);
    if limit.is_none() {
        let span = table.get("time_limit").map(|i| i.span()).unwrap_or_default();
        // A number of very many digits is not repeated.
        let message = match seconds.to_string() {
            text if text.len() <= 20 => format!("`time_limit` must be a number of seconds above 0, not {text}"),
            _ => format!("`time_limit` must be a number of seconds above 0 and at most {}", u64::MAX / 1_000_000_000),
        };
        fields.push(Diagnostic::at(span, message).label("not a time"));
    }
    limit
}

fn nanoseconds(seconds: &Rational) -> Option<u64> {
    use num_traits::ToPrimitive;
    let billion = Rational::from(1_000_000_000);
    (seconds.value() * billion.value()).floor().to_integer().to_u64()
}

fn risk(fields: &mut Fields, table: &DeTable<'_>) -> RiskPolicy {
    fields.only(table, "[risk]", &keys::names("risk"));
    let fraction = fields.number(table, "sampling_fraction");
    let wrong = fraction.as_ref().filter(|f| f.is_negative() || f.is_zero() || **f > Rational::from(1));
    if let Some(wrong) = wrong {
        let span = table.get("sampling_fraction").map(|i| i.span()).unwrap_or_default();
        let message = format!("`sampling_fraction` is a share above 0 and up to 1, not {wrong}");
        let help = "write the share of the population that is in the table, such as 0.05 or \"1/20\"";
        fields.push(Diagnostic::at(span, message).label("not a share").help(help));
    }
    RiskPolicy { population: fields.text(table, "population"), sampling_fraction: fraction }
}

fn utility(fields: &mut Fields, table: &DeTable<'_>) -> UtilityPolicy {
    fields.only(table, "[utility]", &keys::names("utility"));
    UtilityPolicy { target: fields.text(table, "target") }
}

fn output(fields: &mut Fields, table: &DeTable<'_>) -> OutputPolicy {
    fields.only(table, "[output]", &keys::names("output"));
    OutputPolicy {
        file: fields.text(table, "file"),
        order: fields
            .choice(table, "order", &[("shuffled", OutputOrder::Shuffled), ("input", OutputOrder::Input)])
            .unwrap_or_default(),
        ranges: fields
            .choice(
                table,
                "ranges",
                &[
                    ("label", Ranges::Label),
                    ("midpoint", Ranges::Midpoint),
                    ("bounds", Ranges::Bounds),
                    ("rounded", Ranges::Rounded),
                ],
            )
            .unwrap_or_default(),
        values: fields
            .choice(
                table,
                "values",
                &[("generalized", OutputValues::Generalized), ("representative", OutputValues::Representative)],
            )
            .unwrap_or_default(),
    }
}
