//! The types of the published columns: those that a release of one machine would have.
//!
//! A type must follow from the published rows and nothing else. That of the input's file would tell how the input was
//! kept, and one seen from all rows would tell of those that are left out. The labels of quasi and sensitive columns
//! are known here, so their types are decided by the code that decides them for one machine. Insensitive columns were
//! never gathered: the cluster counts for each how many of its published cells a type would not hold.

use amidst::Failure;
use amidst::io::Kind;
use amidst::policy::{Policy, Role};
use amidst::release::Released;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};

use super::sql;

/// A published column, and how its cells are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// Its name.
    pub name: String,
    /// How its cells are written.
    pub kind: Kind,
    /// How they are kept between recoding and writing.
    kept: DataType,
}

/// A cell of the input in one of the types that are kept: text, a whole number, a double, a day or truth.
pub fn kept(field: &Field, cell: &str) -> String {
    match field.data_type() {
        DataType::UInt64 => format!("CAST({cell} AS VARCHAR)"),
        kind if kind.is_integer() => cell.to_string(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Boolean | DataType::Date32 => cell.to_string(),
        DataType::Float64 => unsigned_zero(cell),
        // By its own text: as a double the same number would have more digits.
        kind if kind.is_floating() => unsigned_zero(&format!("CAST(CAST({cell} AS VARCHAR) AS DOUBLE)")),
        kind if kind.is_decimal() => {
            let text = format!("CAST({cell} AS VARCHAR)");
            let short = format!("regexp_replace({text}, '[.]?0+$', '')");
            format!("CASE WHEN strpos({text}, '.') > 0 THEN {short} ELSE {text} END")
        }
        _ => format!("CAST({cell} AS VARCHAR)"),
    }
}

/// A double whose zero has no sign, as it is published: the order of rows follows from it.
fn unsigned_zero(number: &str) -> String {
    format!("CASE WHEN abs({number}) = 0 THEN CAST(0 AS DOUBLE) ELSE {number} END")
}

/// The text of a double, as one machine writes it: the shortest that reads back as the same number.
fn double_text(cell: &str) -> String {
    format!("CASE WHEN abs({cell}) = 0 THEN '0' ELSE regexp_replace(CAST({cell} AS VARCHAR), '[.]0$', '') END")
}

/// Which cells no column of a kind can have, by what they are kept as: a condition that is true of those it can have.
fn fits(kept: &DataType, cell: &str, kind: Kind) -> Option<String> {
    let like = |pattern: &str| format!("regexp_like({cell}, '{pattern}')");
    match (kept, kind) {
        (_, Kind::Text) => None,
        (DataType::Utf8 | DataType::LargeUtf8, kind) => Some(match kind {
            Kind::Boolean => format!("{cell} IN ('true', 'false')"),
            Kind::Integer => {
                format!("{} AND TRY_CAST({cell} AS BIGINT) IS NOT NULL", like("^(0|-?[1-9][0-9]{0,18})$"))
            }
            Kind::Date => format!("{} AND TRY_CAST({cell} AS DATE) IS NOT NULL", like("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")),
            _ => format!("{} AND {} = {cell}", like("^-?[0-9]"), double_text(&format!("TRY_CAST({cell} AS DOUBLE)"))),
        }),
        (DataType::Float64, Kind::Integer) => Some(format!("trunc({cell}) = {cell} AND abs({cell}) < 1e16")),
        (DataType::Float64, Kind::Decimal) => Some(format!("abs({cell}) <= 1.7976931348623157e308")),
        (DataType::Date32, Kind::Date) => Some(format!("{cell} BETWEEN DATE '0000-01-01' AND DATE '9999-12-31'")),
        (DataType::Boolean, Kind::Boolean) => Some(format!("{cell} IS NOT NULL")),
        (whole, Kind::Integer) if whole.is_integer() => Some(format!("{cell} IS NOT NULL")),
        _ => None,
    }
}

/// The kinds that a column may turn out to be, in the order in which they are tried.
const TRIED: [Kind; 4] = [Kind::Boolean, Kind::Integer, Kind::Decimal, Kind::Date];

/// How to find out the types of a release.
pub struct Typing<'a> {
    policy: &'a Policy,
    columns: Vec<Typed>,
    /// The question for each column that was never gathered: its place, the kind, and what counts the cells that do not
    /// fit.
    asked: Vec<(usize, Kind, String)>,
}

impl<'a> Typing<'a> {
    /// Decides what can be decided here. The recoded rows have the columns `schema`, of which `published` are
    /// published.
    pub fn new(policy: &'a Policy, released: &Released, schema: &Schema, published: impl Fn(&str) -> bool) -> Self {
        let mut typing = Typing { policy, columns: Vec::new(), asked: Vec::new() };
        for field in schema.fields().iter().filter(|field| published(field.name())) {
            let place = typing.columns.len();
            let kept = field.data_type().clone();
            let role = policy.column(field.name()).map(|c| c.role);
            let gathered = released.table.position(field.name()).map(|p| &released.table.columns[p]);
            let mut kind = Kind::Text;
            match gathered {
                Some(column) if role != Some(Role::Insensitive) => {
                    let counts = released.counts(column);
                    let labels =
                        || column.dictionary.iter().zip(&counts).filter(|(_, n)| **n > 0).map(|(label, _)| label);
                    kind = Kind::of(column.kind, policy.leaves_type_open(field.name()), labels);
                }
                _ => typing.ask(place, field),
            }
            typing.columns.push(Typed { name: field.name().clone(), kind, kept });
        }
        typing
    }

    fn ask(&mut self, place: usize, field: &Field) {
        let cell = sql::name(field.name());
        let open = self.policy.leaves_type_open(field.name());
        for kind in TRIED.into_iter().filter(|&kind| open || kind == Kind::Boolean) {
            if let Some(fits) = fits(field.data_type(), &cell, kind) {
                self.asked.push((place, kind, format!("sum(CASE WHEN {fits} THEN 0 ELSE 1 END)")));
            }
        }
    }

    /// The question to the cluster, about the recoded rows `from`; none where all is decided.
    pub fn question(&self, from: &str) -> Option<String> {
        let sums = |(i, (_, _, sum)): (usize, &(usize, Kind, String))| format!("CAST({sum} AS BIGINT) AS a{i}");
        let sums: Vec<String> = self.asked.iter().enumerate().map(sums).collect();
        (!sums.is_empty()).then(|| format!("SELECT {} FROM {from}", sums.join(", ")))
    }

    /// The types, by the answer to the question.
    pub fn answered(mut self, answer: &[RecordBatch]) -> Result<Vec<Typed>, Failure> {
        let row = answer.iter().find(|batch| batch.num_rows() == 1);
        let mut decided = vec![false; self.columns.len()];
        for (i, (place, kind, _)) in self.asked.iter().enumerate() {
            let misfits =
                row.and_then(|row| row.columns().get(i)).and_then(|column| column.as_primitive_opt::<Int64Type>());
            let misfits =
                misfits.ok_or_else(|| Failure::Io("the cluster does not tell the types of columns".into()))?;
            // Without rows there is no sum, and a column without labels is text.
            if !decided[*place] && misfits.is_valid(0) && misfits.value(0) == 0 {
                self.columns[*place].kind = *kind;
                decided[*place] = true;
            }
        }
        Ok(self.columns)
    }
}

impl Typed {
    /// The cell as it is written. Texts, and truth, are never null; numbers and days may be.
    pub fn written(&self) -> String {
        let cell = sql::name(&self.name);
        let text = matches!(self.kept, DataType::Utf8 | DataType::LargeUtf8);
        let filled = if text { format!("nullif({cell}, '')") } else { cell.clone() };
        let written = match self.kind {
            Kind::Text => {
                let label = match self.kept {
                    DataType::Float64 => double_text(&cell),
                    _ => format!("CAST({cell} AS VARCHAR)"),
                };
                format!("arrow_cast(coalesce({label}, ''), 'Dictionary(Int32, Utf8)')")
            }
            Kind::Integer => format!("CAST({filled} AS BIGINT)"),
            Kind::Decimal => unsigned_zero(&format!("CAST({filled} AS DOUBLE)")),
            Kind::Date => format!("CAST({filled} AS DATE)"),
            Kind::Boolean => format!("coalesce(CAST({cell} AS VARCHAR), '') = 'true'"),
        };
        format!("{written} AS {cell}")
    }
}
