//! Values that the input writes in several ways: 1 as 01, a day with and without dashes, unknown as null and as `?`.
//!
//! A class counts such cells as one value, and one text is published for all of them. So they are replaced where rows
//! or combinations enter a statement, each by the cell that is written as the value is published: every counted column
//! of combinations, and the sensitive ones of rows, whose quasi values are looked up as numbers and not published.

use std::path::{Path, PathBuf};

use amidst::Failure;
use amidst::core::table::{Column, Table};
use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::prelude::SessionContext;

use super::recode::{Values, places, write};
use super::session::{broken, parquet};
use super::sql;

/// The columns whose values are written in several ways, each with the table that tells what takes their place.
#[derive(Debug, Default)]
pub struct Aliases {
    columns: Vec<Replaced>,
}

/// A column, and the table with its values `v` and the values `w` that take their place.
#[derive(Debug)]
struct Replaced {
    column: String,
    table: String,
    file: PathBuf,
}

impl Aliases {
    /// Those of some columns of a prepared table, by their positions. Their tables are written into `folder`.
    pub async fn of(
        table: &Table,
        positions: impl IntoIterator<Item = usize>,
        values: &Values,
        folder: &Path,
    ) -> Result<Aliases, Failure> {
        let mut columns = Vec::new();
        for position in positions {
            let column = &table.columns[position];
            if !possible(column) {
                continue;
            }
            let (values, texts) = values.of(&column.name).await?;
            let places = places(column, &texts);
            let place = |text: &String| places.get(&column.dictionary.code(text)?).copied();
            let (from, to): (Vec<u32>, Vec<u32>) =
                (0u32..).zip(&texts).filter_map(|(at, text)| Some((at, place(text)?))).unzip();
            if from == to {
                continue;
            }
            let table = format!("alias{position}");
            let file = folder.join(format!("{table}.parquet"));
            let taken = |places| take(values.column(0), &UInt32Array::from(places), None);
            let of_both = [("v", from), ("w", to)].map(|(name, places)| taken(places).map(|array| (name, array, true)));
            let of_both: Result<Vec<_>, _> = of_both.into_iter().collect();
            let batch = of_both.and_then(RecordBatch::try_from_iter_with_nullable).map_err(|e| broken(e.into()))?;
            write(&batch, &file)?;
            columns.push(Replaced { column: column.name.clone(), table, file });
        }
        Ok(Aliases { columns })
    }

    /// Whether every value is written in one way.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Makes the tables known.
    pub async fn register(&self, context: &SessionContext) -> Result<(), Failure> {
        for replaced in &self.columns {
            parquet(context, &replaced.table, &replaced.file).await?;
        }
        Ok(())
    }

    /// The columns `names` of the table `t` with one cell for each value, of the rows that a condition lets pass.
    pub fn replaced<'a>(&self, names: impl Iterator<Item = &'a str>, filter: &str) -> String {
        let cell = |name: &str| match self.columns.iter().find(|replaced| replaced.column == name) {
            Some(replaced) => format!("{}.w AS {}", replaced.table, sql::name(name)),
            None => format!("t.{0} AS {0}", sql::name(name)),
        };
        let cells: Vec<String> = names.map(cell).collect();
        let join = |replaced: &Replaced| {
            format!(" JOIN {0} ON t.{1} IS NOT DISTINCT FROM {0}.v", replaced.table, sql::name(&replaced.column))
        };
        let joins: String = self.columns.iter().map(join).collect();
        format!("(SELECT {} FROM t{joins}{filter}) AS t", cells.join(", "))
    }
}

/// Whether a column may have values that are written in several ways: as other texts, as null beside the empty text, or
/// as zero with a sign.
fn possible(column: &Column) -> bool {
    let dictionary = &column.dictionary;
    !dictionary.aliases().is_empty() || dictionary.code("").is_some() || dictionary.code("0").is_some()
}
