//! Opening: an owner shows single rows of the input to an auditor, who holds the public part of a release.
//!
//! The tree is made again from the input and the secret in `internal/`, so the table must be what it was. What is
//! opened is held against the release by the checker before anybody sees it.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use amidst_check::{Certificate, ColumnLabels, Opened, OpenedRow, Opening, Options, Problem, SCHEME, explain_labels};

use crate::checker_input::labels;
use crate::commit::{COMMITMENT, Secret, Tree};
use crate::folder::{CERTIFICATE, INTERNAL, POLICY, public_part};
use crate::policy::Policy;
use crate::prepare::{LoadOptions, Prepared};
use crate::{Failure, files, saved};

/// More than any opening that somebody looks at.
const LONGEST: u64 = 256 << 20;

/// Which rows to open.
#[derive(Debug, Clone, Default)]
pub struct RowSelection {
    /// Rows of the input, from 1, without those that were left out for a missing value.
    pub rows: Vec<u64>,
    /// Values of the key column: all rows that have one of them.
    pub keys: Vec<String>,
    /// The policy that the release was made with; the owner's copy when absent.
    pub policy: Option<PathBuf>,
    /// Another input than the one that the policy names.
    pub input: Option<String>,
}

/// What was opened.
#[derive(Debug)]
pub struct OpenedRows {
    /// The file for the auditor.
    pub opening: Opening,
    /// What the auditor will find.
    pub found: Opened,
}

/// Opens rows of the release in `folder`, the one that holds the public and the internal part.
///
/// # Errors
/// When the release has no commitment, the secret or the input is not at hand, or the input is not what it was.
pub fn open(folder: &Path, chosen: &RowSelection) -> Result<OpenedRows, Failure> {
    let usage = |what: String| Failure::Usage(what);
    let public = public_part(folder).ok_or_else(|| usage(format!("{} has no {CERTIFICATE}", folder.display())))?;
    let certificate = Certificate::read(&public.join(CERTIFICATE)).map_err(|p| usage(p.to_string()))?;
    let commitment = certificate.commitment.as_ref().ok_or_else(|| uncommitted(folder))?;
    let internal = folder.join(INTERNAL);
    let secret = secret(&internal.join(COMMITMENT))?;
    if secret.root != commitment.root {
        return Err(usage(format!("{} belongs to another release", internal.join(COMMITMENT).display())));
    }
    let policy = policy(&internal, chosen)?;
    let load = LoadOptions { input: chosen.input.clone(), ..LoadOptions::default() };
    let prepared = Prepared::load(&policy, &load)?;
    let tree = Tree::again(&prepared, &secret)?;
    if tree.commitment() != *commitment {
        return Err(usage(
            "the input is not what it was when the release was made, so none of its rows can be opened; name the table of \
             that day"
                .to_string(),
        ));
    }
    let rows = tree.open(&prepared, &places(chosen, &prepared)?);
    disclosed(&public, &certificate, &labels::of_columns(&prepared.generalizations), rows)
}

/// What is said of a release that was made without a commitment.
pub(crate) fn uncommitted(folder: &Path) -> Failure {
    let what = "does not commit to the rows of its input: it was made without a commitment";
    Failure::Usage(format!("{} {what}", folder.display()))
}

/// Rows that were opened, as the auditor will see them: with the owner's word on labels, and held against the release
/// in the folder `public` before anybody else does.
pub(crate) fn disclosed(
    public: &Path,
    certificate: &Certificate,
    meanings: &HashMap<String, ColumnLabels>,
    mut rows: Vec<OpenedRow>,
) -> Result<OpenedRows, Failure> {
    let release = amidst_check::Location::from(public);
    let unopened = |what: String| Failure::Impossible(format!("no row was opened: {what}").into());
    explain_labels(&release, certificate, meanings, &mut rows).map_err(|p| unopened(p.to_string()))?;
    let opening = Opening { scheme: SCHEME.to_string(), certificate: certificate.digest.clone(), rows };
    let options = Options { opening: Some(&opening), ..Options::default() };
    let verdict = amidst_check::verify(public, certificate, &options);
    let refused = || verdict.problems.iter().filter(|p| p.is_violation()).map(Problem::to_string);
    if !verdict.stands() {
        return Err(unopened(refused().collect::<Vec<_>>().join("; ")));
    }
    let found = verdict.opened.clone().unwrap_or_default();
    Ok(OpenedRows { opening, found })
}

/// The policy of the release: the one that was named, or the owner's copy of it. Paths in the copy are as they were
/// written, relative to the folder of the policy that was copied, which is taken to be the working directory.
fn policy(internal: &Path, chosen: &RowSelection) -> Result<Policy, Failure> {
    if let Some(named) = &chosen.policy {
        return Ok(Policy::read(named)?);
    }
    let copy = internal.join(POLICY);
    let text = fs::read_to_string(&copy).map_err(|e| Failure::Io(format!("cannot read {}: {e}", copy.display())))?;
    Ok(Policy::parse(&text, Path::new(POLICY))?)
}

/// The places in the table of the rows that were asked for.
fn places(chosen: &RowSelection, prepared: &Prepared) -> Result<Vec<usize>, Failure> {
    let mut places = Vec::new();
    for &row in &chosen.rows {
        let place = usize::try_from(row).ok().and_then(|row| row.checked_sub(1)).filter(|&at| at < prepared.table.rows);
        places.push(place.ok_or_else(|| {
            Failure::Usage(format!("there is no row {row}: the table has the rows 1 to {}", prepared.table.rows))
        })?);
    }
    if !chosen.keys.is_empty() {
        let Some(key) = prepared.key.and_then(|key| prepared.table.columns.get(key)) else {
            return Err(Failure::Usage("the policy has no key column; name rows by their numbers".to_string()));
        };
        for (at, value) in chosen.keys.iter().enumerate() {
            let missing = || no_such_key(at);
            let code = key.dictionary.code(value).ok_or_else(missing)?;
            let before = places.len();
            places.extend((0..prepared.table.rows).filter(|&row| key.codes.get(row) == code));
            if places.len() == before {
                return Err(missing());
            }
        }
    }
    if places.is_empty() {
        return Err(Failure::Usage("say which rows to open, by their numbers or their keys".to_string()));
    }
    Ok(places)
}

/// What is said of a key that no row has. The value is somebody's, so the message counts instead of quoting it.
pub(crate) fn no_such_key(at: usize) -> Failure {
    Failure::Usage(format!("no row has the key that was given as number {}", at + 1))
}

fn secret(path: &Path) -> Result<Secret, Failure> {
    let text = fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Failure::Usage(format!(
            "there is no {}: rows are opened by the owner, with the folder that the release was published into",
            path.display()
        )),
        _ => Failure::Io(format!("cannot read {}: {e}", path.display())),
    })?;
    serde_json::from_str(&text).map_err(|_| Failure::Usage(format!("{} is damaged", path.display())))
}

/// Writes an opening where only its owner can read it: it holds rows of the input.
///
/// # Errors
/// When a file is there and `force` is not given, or it cannot be written.
pub fn save(opening: &Opening, path: &Path, force: bool) -> Result<(), Failure> {
    saved::vacant(path, force)?;
    let text = opening.to_json().map_err(|p| Failure::Io(p.to_string()))?;
    if saved::is_stream(path) {
        return saved::save(path, &text, force);
    }
    let failed = |e: std::io::Error| Failure::Io(format!("cannot write {}: {e}", path.display()));
    let scratch = files::private_folder_in(files::parent(path), ".amidst-").map_err(failed)?;
    let made = scratch.path().join("opening.json");
    files::write_private(&made, text.as_bytes()).map_err(failed)?;
    saved::move_to(&made, path, force)
}

/// Reads an opening that somebody gave.
///
/// # Errors
/// When the file cannot be read, or is no opening.
pub fn read(path: &Path) -> Result<Opening, Failure> {
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => Failure::Usage(format!("there is no opening {}", path.display())),
        std::io::ErrorKind::InvalidData => Failure::Usage(format!("{} is no opening: it is no text", path.display())),
        _ => Failure::Io(format!("cannot read {}: {e}", path.display())),
    };
    let mut text = String::new();
    fs::File::open(path).map_err(failed)?.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
    Opening::parse(&text).map_err(|problem| Failure::Usage(format!("{}: {problem}", path.display())))
}
