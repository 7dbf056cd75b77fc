//! Tables with more distinct combinations than the driver can gather: the cluster rolls them up to nodes of the
//! lattice.
//!
//! Values are replaced by their codes once; from then on a node is an aggregate over the smallest set at hand that is
//! finer, joined with small tables that tell which code stands for which. Only sets that fit are gathered.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use amidst::Failure;
use amidst::core::frequency::rolled::representatives;
use amidst::core::hierarchy::Generalization;
use amidst::core::internal::lattice::finer;
use amidst::core::internal::partial::{MinimumClass, RemoteTable};
use amidst::core::search::Search;
use amidst::core::table::{Codes, Column, Dictionary, Table, ValueType};
use amidst::plan::task;
use amidst::policy::Policy;
use amidst::prepare::{Counted, LoadOptions, Prepared};
use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, UInt32Type};
use datafusion::prelude::SessionContext;
use tokio::runtime::Runtime;

use super::alias::Aliases;
use super::count::{Enumerated, ROWS, rows_of, single};
use super::placement::{Parts, Placement};
use super::recode::{Values, numbered, write};
use super::session::{Runner, broken, local, parquet};
use super::sql;

/// A table that stays on the cluster.
pub struct Rolled<'a> {
    pub(super) place: Place<'a>,
    /// Dictionaries and hierarchies only; counts are placeholders.
    pub(super) shape: Prepared,
    /// What is known of the rows.
    pub(super) enumerated: Enumerated,
    /// The sets that were made, by their levels: their size, and whether they are still there.
    sets: RefCell<BTreeMap<Vec<usize>, (u64, bool)>>,
    /// The parts that it is cut into.
    pub(super) parts: RefCell<Parts>,
    /// What becomes of each tuple, once it was cut.
    pub(super) placement: RefCell<Option<Placement>>,
}

/// Where a table is rolled up, and what for.
pub struct Place<'a> {
    pub policy: &'a Policy,
    pub options: LoadOptions<'a>,
    pub runtime: &'a Runtime,
    pub context: SessionContext,
    pub runner: Runner<'a>,
    /// The folder for intermediate data.
    pub folder: PathBuf,
}

impl Place<'_> {
    /// Runs a statement.
    pub fn run(&self, statement: &str) -> Result<Vec<RecordBatch>, Failure> {
        self.runtime.block_on(self.runner.run(&self.context, statement))
    }

    /// Makes a Parquet file known under a name, whatever it meant before.
    pub fn open(&self, name: &str, file: &Path) -> Result<(), Failure> {
        self.context.deregister_table(name).map_err(broken)?;
        self.runtime.block_on(parquet(&self.context, name, file))
    }
}

impl<'a> Rolled<'a> {
    /// Numbers the values of a counted table and replaces them by their numbers. Also returns where the values are.
    pub fn new(place: Place<'a>, mut enumerated: Enumerated) -> Result<(Rolled<'a>, Values), Failure> {
        place.open("f", &enumerated.frequencies)?;
        let mut files = Vec::new();
        for (i, column) in enumerated.columns.iter().enumerate() {
            let file = place.folder.join(format!("values-{i}.parquet"));
            let name = sql::name(column);
            let to = sql::text(&file.to_string_lossy());
            place.run(&format!("COPY (SELECT {name} AS v FROM f GROUP BY {name}) TO {to} STORED AS PARQUET"))?;
            files.push((column.clone(), file));
        }
        let values = Values::Listed(files);
        let listed: Result<Vec<_>, Failure> =
            enumerated.columns.iter().map(|column| place.runtime.block_on(values.of(column))).collect();
        let listed = listed?;
        let shape = shape(&place, &enumerated, &listed)?;
        let positions = 0..enumerated.columns.len();
        let aliases = Aliases::of(&shape.table, positions, &values, &place.folder);
        let aliases = place.runtime.block_on(aliases)?;
        merge(&place, &mut enumerated, &aliases)?;
        let rolled = Rolled {
            place,
            shape,
            enumerated,
            sets: RefCell::default(),
            parts: RefCell::default(),
            placement: RefCell::default(),
        };
        rolled.encode(&listed)?;
        Ok((rolled, values))
    }

    /// The file of the combinations, with one cell for each value.
    pub fn frequencies(&self) -> PathBuf {
        self.enumerated.frequencies.clone()
    }

    /// The finest set, in codes.
    fn encode(&self, listed: &[(RecordBatch, Vec<String>)]) -> Result<(), Failure> {
        let mut joins = String::new();
        let mut cells = Vec::new();
        for (i, (values, texts)) in listed.iter().enumerate() {
            let dictionary = &self.shape.table.columns[i].dictionary;
            let numbers: Vec<Option<u32>> = texts.iter().map(|text| dictionary.code(text)).collect();
            let file = self.place.folder.join(format!("codes-{i}.parquet"));
            write(&numbered(values, &numbers)?, &file)?;
            let table = format!("v{i}");
            self.place.open(&table, &file)?;
            let name = sql::name(&self.enumerated.columns[i]);
            joins += &format!(" JOIN {table} ON f.{name} IS NOT DISTINCT FROM {table}.v");
            cells.push(format!("{table}.g AS c{i}"));
        }
        let bottom = vec![0; self.shape.quasi.len()];
        let statement = format!("SELECT {}, f.{} AS n FROM f{joins}", cells.join(", "), sql::name(ROWS));
        self.make(&bottom, &statement)
    }

    /// Writes the set of a node.
    fn make(&self, levels: &[usize], statement: &str) -> Result<(), Failure> {
        let file = self.file(levels);
        let to = sql::text(&file.to_string_lossy());
        let statement = format!("COPY ({statement}) TO {to} STORED AS PARQUET");
        self.place.run(&statement)?;
        self.sets.borrow_mut().insert(levels.to_vec(), (rows_of(&file)?, true));
        Ok(())
    }

    fn file(&self, levels: &[usize]) -> PathBuf {
        let levels: Vec<String> = levels.iter().map(usize::to_string).collect();
        self.place.folder.join(format!("node-{}.parquet", levels.join("-")))
    }

    /// Makes the set of a node known under the name `s`; rolls it up first where it is not there.
    pub(super) fn register(&self, levels: &[usize]) -> Result<(), Failure> {
        let there = self.sets.borrow().get(levels).is_some_and(|&(_, there)| there);
        if !there {
            self.roll_up(levels)?;
        }
        self.place.open("s", &self.file(levels))
    }

    /// Rolls the smallest finer set up to a node.
    fn roll_up(&self, levels: &[usize]) -> Result<(), Failure> {
        let source = {
            let sets = self.sets.borrow();
            let finer = sets.iter().filter(|(from, (_, there))| *there && finer(from, levels));
            finer.min_by_key(|(_, (rows, _))| *rows).map(|(from, _)| from.clone())
        };
        let source = source.ok_or_else(|| Failure::Io("the counted table is gone".to_string()))?;
        self.place.open("s", &self.file(&source))?;
        let (mut cells, mut keys, mut joins) = (Vec::new(), Vec::new(), String::new());
        for i in 0..self.enumerated.columns.len() {
            let quasi = self.shape.quasi.iter().position(|&position| position == i);
            let cell = match quasi {
                Some(q) if levels[q] == self.shape.generalizations[q].height() => {
                    // Everything is one value at the top, and the first code stands for it.
                    cells.push(format!("arrow_cast(0, 'UInt32') AS c{i}"));
                    continue;
                }
                Some(q) if levels[q] != source[q] => {
                    let table = self.representatives(q, levels[q])?;
                    joins += &format!(" JOIN {table} ON s.c{i} = {table}.v");
                    format!("{table}.g")
                }
                _ => format!("s.c{i}"),
            };
            cells.push(format!("{cell} AS c{i}"));
            keys.push(cell);
        }
        let by = if keys.is_empty() { String::new() } else { format!(" GROUP BY {}", keys.join(", ")) };
        self.make(levels, &format!("SELECT {}, sum(s.n) AS n FROM s{joins}{by}", cells.join(", ")))
    }

    /// The table that tells which code stands for a code of a quasi column on a level.
    fn representatives(&self, q: usize, level: usize) -> Result<String, Failure> {
        let name = format!("r{q}_{level}");
        let file = self.place.folder.join(format!("{name}.parquet"));
        if !file.exists() {
            let of = representatives(&self.shape.generalizations[q], level);
            let codes = UInt32Array::from_iter_values(0..of.len() as u32);
            let arrays: Vec<ArrayRef> = vec![Arc::new(codes), Arc::new(UInt32Array::from(of))];
            let field = |name| Field::new(name, DataType::UInt32, false);
            let schema = Arc::new(Schema::new(vec![field("v"), field("g")]));
            write(&RecordBatch::try_new(schema, arrays).map_err(|e| broken(e.into()))?, &file)?;
            self.place.open(&name, &file)?;
        }
        Ok(name)
    }

    fn quasi_cells(&self) -> String {
        let cells: Vec<String> = self.shape.quasi.iter().map(|position| format!("c{position}")).collect();
        cells.join(", ")
    }
}

impl RemoteTable for Rolled<'_> {
    type Gathered = Prepared;
    type Error = Failure;

    fn search<'a>(&'a self, gathered: &'a Prepared) -> Result<Search<'a>, Failure> {
        task(self.place.policy, gathered, &self.place.options.control.quiet())
    }

    fn generalizations(&self) -> &[Generalization] {
        &self.shape.generalizations
    }

    fn combinations(&self, levels: &[usize]) -> Result<u64, Failure> {
        let known = self.sets.borrow().get(levels).map(|&(rows, _)| rows);
        if let Some(rows) = known {
            return Ok(rows);
        }
        self.roll_up(levels)?;
        Ok(self.sets.borrow().get(levels).map_or(u64::MAX, |&(rows, _)| rows))
    }

    fn lacking(&self, levels: &[usize], least: MinimumClass) -> Result<u64, Failure> {
        self.register(levels)?;
        let statement = format!(
            "SELECT coalesce(sum(t), 0) FROM (SELECT sum(n) AS t, count(*) AS v FROM s GROUP BY {}) AS c WHERE t < {} OR v < {}",
            self.quasi_cells(),
            least.rows,
            least.values
        );
        let batches = self.place.run(&statement)?;
        let lacking = single(&batches);
        let lacking = lacking.ok_or_else(|| Failure::Io("the cluster returned no count".to_string()))?;
        // What is nearly as large as the finest set saves no work later, and there may be many of them.
        let mut sets = self.sets.borrow_mut();
        let finest = sets.get(&vec![0; levels.len()]).map_or(0, |&(rows, _)| rows);
        if let Some((rows, there)) = sets.get_mut(levels)
            && *rows > finest / 2
            && levels.iter().any(|&level| level > 0)
        {
            *there = false;
            // Best effort: the whole folder goes in the end.
            let _ = std::fs::remove_file(self.file(levels));
        }
        Ok(lacking)
    }

    fn gather(&self, levels: &[usize]) -> Result<Prepared, Failure> {
        self.register(levels)?;
        let batches = self.place.runtime.block_on(async {
            let context = local()?;
            parquet(&context, "s", &self.file(levels)).await?;
            let frame = context.sql("SELECT * FROM s").await.map_err(broken)?;
            frame.collect().await.map_err(broken)
        })?;
        let broken = || Failure::Io("what the cluster rolled up cannot be read back".to_string());
        let width = self.enumerated.columns.len();
        let mut codes = vec![Vec::new(); width];
        let mut weights: Vec<u64> = Vec::new();
        for batch in &batches {
            for (i, codes) in codes.iter_mut().enumerate() {
                let column = batch.columns().get(i).and_then(|c| c.as_primitive_opt::<UInt32Type>());
                codes.extend_from_slice(column.ok_or_else(broken)?.values());
            }
            let counts = batch.columns().get(width).and_then(|c| c.as_primitive_opt::<Int64Type>());
            weights.extend(counts.ok_or_else(broken)?.values().iter().map(|&n| n.unsigned_abs()));
        }
        self.prepared(codes, weights, levels.to_vec())
    }
}

impl Rolled<'_> {
    /// A table in these codes, prepared.
    pub(super) fn prepared(
        &self,
        codes: Vec<Vec<u32>>,
        weights: Vec<u64>,
        floor: Vec<usize>,
    ) -> Result<Prepared, Failure> {
        let columns = self.shape.table.columns.iter().zip(codes);
        let columns = columns.map(|(column, codes)| Column { codes: Codes::U32(codes), ..column.clone() });
        let table = Table { columns: columns.collect(), rows: weights.len() };
        let counted = Counted {
            table,
            rows_in: self.enumerated.rows_in,
            rows_dropped_missing: self.enumerated.rows_in.saturating_sub(weights.iter().sum()),
            weights,
            header: self.enumerated.header.clone(),
            nulls: self.enumerated.nulls,
            floor,
            ..Counted::default()
        };
        Ok(Prepared::of_counts(self.place.policy, counted, &self.place.options)?)
    }
}

/// Makes one combination of those that are the same but for how values are written.
fn merge(place: &Place<'_>, enumerated: &mut Enumerated, aliases: &Aliases) -> Result<(), Failure> {
    if aliases.is_empty() {
        return Ok(());
    }
    place.open("t", &enumerated.frequencies)?;
    place.runtime.block_on(aliases.register(&place.context))?;
    let file = place.folder.join("merged.parquet");
    let list: Vec<String> = enumerated.columns.iter().map(|column| sql::name(column)).collect();
    let names = enumerated.columns.iter().map(String::as_str).chain([ROWS]);
    place.run(&format!(
        "COPY (SELECT {list}, sum({rows}) AS {rows} FROM {merged} GROUP BY {list}) TO {to} STORED AS PARQUET",
        list = list.join(", "),
        rows = sql::name(ROWS),
        merged = aliases.replaced(names, ""),
        to = sql::text(&file.to_string_lossy()),
    ))?;
    place.open("f", &file)?;
    enumerated.frequencies = file;
    Ok(())
}

/// A table in which every value of every column occurs, to bind types and hierarchies to.
fn shape(
    place: &Place<'_>,
    enumerated: &Enumerated,
    listed: &[(RecordBatch, Vec<String>)],
) -> Result<Prepared, Failure> {
    let rows = listed.iter().map(|(_, texts)| texts.len()).max().unwrap_or(0);
    let columns = enumerated.columns.iter().zip(listed).map(|(name, (_, texts))| {
        let mut dictionary = Dictionary::default();
        let codes: Vec<u32> = texts.iter().map(|text| dictionary.intern(text)).collect();
        let last = codes.last().copied().unwrap_or_default();
        let codes = (0..rows).map(|row| codes.get(row).copied().unwrap_or(last)).collect();
        Column { name: name.clone(), kind: ValueType::Text, dictionary, codes: Codes::U32(codes) }
    });
    let table = Table { columns: columns.collect(), rows };
    let counted = Counted {
        weights: vec![1; rows],
        table,
        rows_in: rows as u64,
        header: enumerated.header.clone(),
        nulls: enumerated.nulls,
        ..Counted::default()
    };
    Ok(Prepared::of_counts(place.policy, counted, &place.options)?)
}
