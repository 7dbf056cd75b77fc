//! The certificate: the claims of a release, as JSON with a fixed order of keys and a digest over all of it.
//!
//! It holds no time stamp and no path, so equal releases have equal certificates. The digest is not a signature: it can
//! be recomputed after a change, so it detects damage only. The claims are recomputed from the release by
//! [`crate::verify`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::commitment::Commitment;
use crate::digest::sha256_hex;
use crate::problem::{Problem, ProblemKind};

/// The version of the format that this crate writes and reads.
pub const FORMAT: u32 = 2;

/// A sealed certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of the format.
    pub format: u32,
    /// The program that made the release, such as `amidst 0.2.0`.
    pub tool: String,
    /// The resolved policy as TOML text.
    pub policy: String,
    /// SHA-256 of `policy`.
    pub policy_digest: String,
    /// The files of the release.
    pub outputs: Vec<Output>,
    /// Rows of the input table.
    pub rows_in: u64,
    /// Rows dropped because a value was missing.
    pub rows_dropped_missing: u64,
    /// Rows of the release.
    pub rows_out: u64,
    /// Number of suppressed rows.
    pub suppressed: u64,
    /// How suppressed rows are published.
    pub suppressed_as: SuppressedAs,
    /// Number of classes of the release.
    pub classes: u64,
    /// Names of the quasi columns.
    pub quasi: Vec<String>,
    /// The sensitive columns.
    pub sensitive: Vec<SensitiveColumn>,
    /// Whether sizes and counts are of persons instead of rows.
    pub persons: bool,
    /// Rows of the release (from 0, over all files in the order of `outputs`) that are published unchanged with the
    /// person's consent and belong to no class.
    pub waived: Vec<u64>,
    /// Number of counterfeit rows, which stand for no person; only in a series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterfeits: Option<u64>,
    /// The position of the release in a series, if it is a version of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Link>,
    /// The commitment to the rows of the input, if the owner asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commitment: Option<Commitment>,
    /// Numbers of rows that no other row equals.
    pub unique_rows: UniqueRows,
    /// Insensitive columns that are published although they may single people out, with reasons.
    pub accepted: Vec<Accepted>,
    /// What the release satisfies.
    pub requirements: Vec<Requirement>,
    /// SHA-256 of the canonical JSON of everything above.
    pub digest: String,
}

/// Number of rows of a release that no other row equals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniqueRows {
    /// On all published columns.
    pub published: u64,
    /// On the insensitive columns alone.
    pub insensitive: u64,
}

/// The position of a version in its series. Each certificate carries the digest of the previous one, so no version can
/// be removed, inserted or replaced without changing all later ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its number, from 1.
    pub version: u64,
    /// The digest of the previous version's certificate; absent for the first version, and where the previous version
    /// was made by an older program and its certificate is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}

/// An insensitive column that is published unchanged, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The column.
    pub column: String,
    /// The reason stated in the policy.
    pub reason: String,
}

/// One file of the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Path relative to the folder of the certificate, with `/` between its parts.
    pub file: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
}

/// How suppressed rows are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuppressedAs {
    /// They are not in the release.
    Drop,
    /// They form a class of their own, every quasi column generalized to the top.
    Mask,
}

/// What the checker must know of a sensitive column beyond the release. It follows from the policy and the published
/// values alone: it neither counts nor names values of the input that the release does not contain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitiveColumn {
    /// The column's name.
    pub name: String,
    /// For ordered distances, the rank order: all values that the policy's order lists, or else the published ones
    /// ascending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// For hierarchical distances, the groups of each published value in the column's hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<Leveled>>,
    /// The categories of the (l,α) family, the most sensitive first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<Vec<String>>>,
    /// Their weights as decimals or fractions; a single `sensitivity β` where they are irrational.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<String>>,
}

/// A published value and its groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leveled {
    /// The value as released.
    pub value: String,
    /// Its group numbers at the levels 1 … h of the column's hierarchy.
    pub groups: Vec<u32>,
}

/// The sensitive columns that a requirement names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum On {
    /// One column.
    One(String),
    /// Several columns together (Definition 4.6 of the ℓ-diversity article).
    Many(Vec<String>),
}

impl On {
    /// The names.
    pub fn names(&self) -> &[String] {
        match self {
            On::One(name) => std::slice::from_ref(name),
            On::Many(names) => names,
        }
    }
}

/// A requirement in a draft.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The model's id.
    pub model: String,
    /// Its sensitive columns; none for a model that looks at sizes only.
    pub on: Option<On>,
    /// The quasi columns whose classes are meant, where a policy has several sets; `None`: all quasi columns.
    pub quasi: Option<Vec<String>>,
    /// Its parameters, numbers as JSON numbers or as strings holding a decimal or a fraction.
    pub parameters: Map<String, Value>,
}

/// A requirement with the figures that the release reaches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The model's id.
    pub model: String,
    /// Its sensitive columns.
    pub on: Option<On>,
    /// The quasi columns whose classes are meant, where a policy has several sets; absent: all quasi columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quasi: Option<Vec<String>>,
    /// Its parameters.
    pub parameters: Map<String, Value>,
    /// Whether every class satisfies it.
    pub holds: bool,
    /// The strongest parameters that the release satisfies; null where there is none. Where the definition is strict
    /// (c, c1, delta), the infimum of those parameters.
    pub measured: Map<String, Value>,
    /// The class closest to the bound, or the furthest beyond it.
    pub worst: Option<Worst>,
}

/// A class and its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// Its published quasi cells; for a requirement on several sensitive columns also the cells of the others, which
    /// join the quasi-identifier (Definition 4.6).
    pub cells: Map<String, Value>,
    /// Its size.
    pub size: u64,
    /// The model's figures for this class.
    #[serde(flatten)]
    pub figures: Map<String, Value>,
}

/// The statements of the maker of a release; the checker computes the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct CertificateDraft {
    /// The program, such as `amidst 0.2.0`.
    pub tool: String,
    /// The resolved policy as TOML text.
    pub policy: String,
    /// The files of the release, relative to the folder given to [`crate::issue`], in the order of their rows.
    /// Files that are not tables (a report, the policy) may be listed too; they are only digested.
    pub outputs: Vec<String>,
    /// Rows of the input table.
    pub rows_in: u64,
    /// Rows dropped because a value was missing.
    pub rows_dropped_missing: u64,
    /// Number of suppressed rows.
    pub suppressed: u64,
    /// How suppressed rows are published.
    pub suppressed_as: SuppressedAs,
    /// Names of the quasi columns.
    pub quasi: Vec<String>,
    /// The sensitive columns.
    pub sensitive: Vec<SensitiveColumn>,
    /// Whether sizes and counts are of persons.
    pub persons: bool,
    /// Numbers of the rows published unchanged by consent, ascending from 0 over all files.
    pub waived: Vec<u64>,
    /// Number of counterfeit rows, which stand for no person.
    pub counterfeits: Option<u64>,
    /// The position in a series.
    pub series: Option<Link>,
    /// The commitment to the rows of the input.
    pub commitment: Option<Commitment>,
    /// Insensitive columns that may single people out, with reasons.
    pub accepted: Vec<Accepted>,
    /// What must hold.
    pub requirements: Vec<Claim>,
}

impl CertificateDraft {
    /// A draft with no columns, rows or requirements yet.
    pub fn new(tool: impl Into<String>, policy: impl Into<String>) -> CertificateDraft {
        CertificateDraft {
            tool: tool.into(),
            policy: policy.into(),
            outputs: Vec::new(),
            rows_in: 0,
            rows_dropped_missing: 0,
            suppressed: 0,
            suppressed_as: SuppressedAs::Drop,
            quasi: Vec::new(),
            sensitive: Vec::new(),
            persons: false,
            waived: Vec::new(),
            counterfeits: None,
            series: None,
            commitment: None,
            accepted: Vec::new(),
            requirements: Vec::new(),
        }
    }
}

impl Certificate {
    /// Reads a certificate. Except for white space, the text must be what [`Certificate::to_json`] writes: otherwise
    /// two texts could carry the same digest, such as numbers that differ beyond the precision of a double.
    ///
    /// # Errors
    /// When the text is not a certificate of this format, or not in canonical form.
    pub fn parse(text: &str) -> Result<Certificate, Problem> {
        let wrong = |message: String| Problem::violation(ProblemKind::Certificate, message);
        let certificate: Certificate = serde_json::from_str(text)
            .map_err(|e| wrong(older(text).unwrap_or(format!("the certificate cannot be read: {e}"))))?;
        let canonical = certificate.compact().map_err(|e| wrong(format!("the certificate cannot be read: {e}")))?;
        if !same_but_space(text, &canonical) {
            return Err(wrong("the certificate is not in its canonical form: its text was altered".into()));
        }
        Ok(certificate)
    }

    /// Reads a certificate from a file.
    ///
    /// # Errors
    /// When the file cannot be read or is not UTF-8; otherwise as [`Certificate::parse`].
    pub fn read(path: &std::path::Path) -> Result<Certificate, Problem> {
        let bytes = std::fs::read(path).map_err(|e| {
            Problem::violation(
                ProblemKind::MissingFile,
                format!("the certificate {} cannot be read: {e}", path.display()),
            )
        })?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Problem::violation(
                ProblemKind::Certificate,
                format!("the certificate {} is not UTF-8 text", path.display()),
            )
        })?;
        Certificate::parse(&text)
    }

    /// The certificate as the JSON text to write to a file.
    ///
    /// # Errors
    /// When it cannot be serialized.
    pub fn to_json(&self) -> Result<String, Problem> {
        let mut text = serde_json::to_string_pretty(self).map_err(|e| {
            Problem::violation(ProblemKind::Certificate, format!("the certificate cannot be written: {e}"))
        })?;
        text.push('\n');
        Ok(text)
    }

    fn compact(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The digest of the certificate's present content, its own field `digest` excepted.
    ///
    /// # Errors
    /// When the certificate cannot be serialized.
    pub fn computed_digest(&self) -> Result<String, Problem> {
        let mut open = self.clone();
        open.digest.clear();
        let text = open.compact().map_err(|e| {
            Problem::violation(ProblemKind::Certificate, format!("the certificate cannot be written: {e}"))
        })?;
        // The digest is the last field, so everything before it is covered.
        Ok(sha256_hex(text.strip_suffix(",\"digest\":\"\"}").unwrap_or(&text).as_bytes()))
    }
}

/// The message for a certificate of another format; `None` when the text is not one.
fn older(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let found: Format = serde_json::from_str(text).ok()?;
    (found.format != FORMAT).then(|| other_format(found.format))
}

/// The message for a certificate of another format than this checker's.
pub(crate) fn other_format(found: u32) -> String {
    match found < FORMAT {
        true => format!(
            "the certificate has format {found}, made by an older version; its claims cannot be checked any more: \
             make the release again"
        ),
        false => format!("the certificate has format {found}, this checker reads {FORMAT}: use a newer version"),
    }
}

/// Whether `text` is `canonical` with white space between tokens.
fn same_but_space(text: &str, canonical: &str) -> bool {
    let mut expected = canonical.bytes();
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        if !quoted && matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        }
        if expected.next() != Some(byte) {
            return false;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
    }
    expected.next().is_none()
}

/// A figure as JSON: integers without a point, numbers that are not finite as null.
pub(crate) fn number(figure: Option<f64>) -> Value {
    match figure {
        Some(x) if x.is_finite() && x.fract() == 0.0 && x.abs() < 9e15 => Value::from(x as i64),
        Some(x) => serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_free_and_nothing_else() {
        assert!(same_but_space("{ \"a b\" :\n1 }", "{\"a b\":1}"));
        assert!(!same_but_space("{\"ab\":1}", "{\"a b\":1}"));
        assert!(!same_but_space("{\"a\":1.0}", "{\"a\":1}"));
        assert!(same_but_space("[\"\\\" \"]", "[\"\\\" \"]"));
        assert!(!same_but_space("[1", "[1]"));
    }

    #[test]
    fn a_certificate_reads_back_whatever_its_figures_are() {
        for divisor in 1..400u32 {
            for share in (1..divisor).map(|n| f64::from(n) / f64::from(divisor)) {
                let text = number(Some(share)).to_string();
                let read: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(read.to_string(), text);
            }
        }
    }

    #[test]
    fn figures_are_json_numbers() {
        assert_eq!(number(Some(5.0)).to_string(), "5");
        assert_eq!(number(Some(0.5)).to_string(), "0.5");
        assert_eq!(number(Some(f64::INFINITY)), Value::Null);
        assert_eq!(number(None), Value::Null);
    }
}
