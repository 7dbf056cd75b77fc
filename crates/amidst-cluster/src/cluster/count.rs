//! Counting: the distinct combinations of the quasi and sensitive columns, by a GROUP BY on the cluster.
//!
//! The result is written to the work folder before it is read here, so that its size is known before anything is
//! gathered. Cells become text by the same code as those of a local table, so both engines see the same values.

use std::path::{Path, PathBuf};

use amidst::Failure;
use amidst::io::ReadOptions;
use amidst::job::Stage;
use amidst::policy::{Policy, Role};
use amidst::prepare::{Counted, DISTINCT_LIMIT, LoadOptions, PrepareError};
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::parquet::file::reader::{FileReader, SerializedFileReader};
use datafusion::prelude::SessionContext;

use super::session::Runner;
use super::source::Source;
use super::sql;

/// The column that holds the number of rows.
pub const ROWS: &str = "__amidst_rows";

/// Everything that counting needs.
pub struct Counting<'a> {
    pub policy: &'a Policy,
    pub source: &'a Source,
    pub context: &'a SessionContext,
    pub runner: Runner<'a>,
}

/// What was counted.
pub enum Counts {
    /// The combinations themselves.
    Gathered(Counted),
    /// They are too many to gather.
    TooMany(Enumerated),
}

/// What is known of a table that was counted, but not gathered.
#[derive(Debug, Clone)]
pub struct Enumerated {
    /// The counted columns, in the order of the input.
    pub columns: Vec<String>,
    /// The file with the combinations.
    pub frequencies: PathBuf,
    /// The rows of the input.
    pub rows_in: u64,
    /// The names of all columns of the input.
    pub header: Vec<String>,
    /// Whether some cell is null where the policy keeps unknown cells and does not say that an empty text is one.
    pub nulls: bool,
}

impl Counting<'_> {
    /// Counts into the file `to`, and gathers it when it has at most `limit` rows.
    pub async fn count(&self, to: &Path, limit: u64, options: &LoadOptions<'_>) -> Result<Counts, Failure> {
        let tell = |share: f64| options.control.tell(Stage::Read, share);
        let all: Vec<usize> = (0..self.source.files.len()).collect();
        self.source.register(self.context, "t", &all)?;
        let rows_in = self.number("SELECT count(*) FROM t").await?;
        if rows_in == 0 {
            return Err(Failure::Usage("the input has no rows".to_string()));
        }
        let nulls = match self.source.nulls(self.policy) {
            Some(question) => self.number(&question).await? > 0,
            None => false,
        };
        tell(0.1);
        let known = sql::filter(&self.source.known(self.policy));
        let key = self.repeating_key(&known).await?;
        tell(0.3);
        let columns: Vec<String> = self.columns(key.as_deref()).iter().map(|name| sql::name(name)).collect();
        let list = columns.join(", ");
        // Persons are numbered as they come, and attacks deal them out by their numbers: an order makes runs agree.
        let order = if key.is_some() { format!(" ORDER BY {list}") } else { String::new() };
        let statement = format!(
            "COPY (SELECT {list}, count(*) AS {rows} FROM t{known} GROUP BY {list}{order}) TO {to} STORED AS PARQUET",
            rows = sql::name(ROWS),
            to = sql::text(&to.to_string_lossy()),
        );
        self.runner.run(self.context, &statement).await?;
        tell(0.8);
        let entries = rows_of(to)?;
        if entries > limit {
            if key.is_some() {
                return Err(Failure::Usage(format!(
                    "the table has {entries} distinct combinations of persons, quasi and sensitive values, more than the \
                     {limit} that are gathered; say --gather {entries} if this machine has the memory (about 200 bytes each)"
                )));
            }
            return Ok(Counts::TooMany(Enumerated {
                columns: self.columns(None),
                frequencies: to.to_path_buf(),
                rows_in,
                header: self.source.header(),
                nulls,
            }));
        }
        let mut counted = if entries == 0 { self.nothing(key.as_deref()) } else { self.gather(to, options)? };
        counted.rows_in = rows_in;
        counted.rows_dropped_missing = rows_in.saturating_sub(counted.weights.iter().sum());
        counted.header = self.source.header();
        counted.nulls = nulls;
        tell(1.0);
        Ok(Counts::Gathered(counted))
    }

    /// The columns that are counted, in the order of the input.
    fn columns(&self, key: Option<&str>) -> Vec<String> {
        let counted = |name: &String| match self.policy.column(name).map(|c| c.role) {
            Some(Role::Quasi | Role::Sensitive) => true,
            Some(Role::Key) => key == Some(name.as_str()),
            _ => false,
        };
        self.source.header().into_iter().filter(counted).collect()
    }

    /// The key column, if somebody has several rows. Otherwise counting rows is counting persons.
    async fn repeating_key(&self, known: &str) -> Result<Option<String>, Failure> {
        let header = self.source.header();
        let is_key = |name: &&String| self.policy.column(name).is_some_and(|c| c.role == Role::Key);
        let Some(key) = header.iter().find(is_key) else { return Ok(None) };
        let rows = self.number(&format!("SELECT count(*) FROM t{known}")).await?;
        let person = format!("t.{}", sql::name(key));
        let people = format!("SELECT count(*) FROM (SELECT {person} FROM t{known} GROUP BY {person})");
        Ok((self.number(&people).await? < rows).then(|| key.clone()))
    }

    async fn number(&self, statement: &str) -> Result<u64, Failure> {
        let batches = self.runner.run(self.context, statement).await?;
        single(&batches).ok_or_else(|| Failure::Io("the cluster returned no count".to_string()))
    }

    /// A table without rows, for the error that says so.
    fn nothing(&self, key: Option<&str>) -> Counted {
        use amidst::core::table::{Column, Table};
        let column = |name: String| Column { name, ..Column::default() };
        let table = Table { columns: self.columns(key).into_iter().map(column).collect(), rows: 0 };
        Counted { table, ..Counted::default() }
    }

    /// Reads what was counted.
    fn gather(&self, from: &Path, options: &LoadOptions<'_>) -> Result<Counted, Failure> {
        let limit = |name: &str| (name != ROWS).then_some(DISTINCT_LIMIT);
        let read = ReadOptions {
            threads: options.control.threads,
            cancel: Some(options.control.cancel),
            distinct_limit: Some(&limit),
            ..ReadOptions::default()
        };
        let input = amidst::io::read(&from.to_string_lossy(), &read).map_err(PrepareError::from)?;
        let mut table = input.table;
        let broken = || Failure::Io("what the cluster counted cannot be read back".to_string());
        let counts = table.columns.pop().filter(|c| c.name == ROWS).ok_or_else(broken)?;
        let number: Vec<u64> =
            counts.dictionary.iter().map(|v| v.parse().ok()).collect::<Option<_>>().ok_or_else(broken)?;
        let mut weights = Vec::with_capacity(table.rows);
        counts.codes.for_each(|code| weights.push(number[code as usize]));
        Ok(Counted { table, weights, ..Counted::default() })
    }
}

/// The only number of a result.
pub fn single(batches: &[RecordBatch]) -> Option<u64> {
    let batch = batches.iter().find(|b| b.num_rows() == 1)?;
    let column = batch.columns().first()?;
    match column.data_type() {
        DataType::Int64 if column.is_valid(0) => u64::try_from(column.as_primitive::<Int64Type>().value(0)).ok(),
        _ => None,
    }
}

/// The rows of a Parquet file, by its footer.
pub fn rows_of(file: &Path) -> Result<u64, Failure> {
    let broken = |e: String| Failure::Io(format!("cannot read what the cluster wrote: {e}; does it see this folder?"));
    let opened = std::fs::File::open(file).map_err(|e| broken(e.to_string()))?;
    let reader = SerializedFileReader::new(opened).map_err(|e| broken(e.to_string()))?;
    Ok(reader.metadata().file_metadata().num_rows().max(0) as u64)
}
