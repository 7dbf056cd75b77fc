//! The rows of a series, in memory: what a batch changes and a version is made of.

use amidst_core::table::{Codes, Column, Dictionary, Table};
use rusqlite::params;

use super::packed::{pack, unpack};
use super::store::Work;
use crate::Failure;
use crate::policy::{Policy, Role};

/// A person of the series: the number in the database, from 1.
pub type Person = u32;

/// The person of a counterfeit.
pub(super) const NOBODY: Person = 0;

/// The rows of a series. Cells are codes that mean the same for as long as the series lives.
#[derive(Debug, Default)]
pub struct State {
    /// The columns that are kept: all but the identifying ones and the key, in the order of the first table.
    pub names: Vec<String>,
    /// The values of each column.
    pub values: Vec<Dictionary>,
    /// How many of them the database knows.
    stored: Vec<usize>,
    /// Who each row is about, ascending as far as the rows were loaded.
    pub persons: Vec<Person>,
    /// The class of each row.
    pub classes: Vec<u32>,
    /// The cells, column by column.
    pub cells: Vec<Vec<u32>>,
    /// The signature under which each row was published; empty when it was not.
    pub signatures: Vec<Vec<u32>>,
}

/// The columns that a series keeps.
pub fn kept(policy: &Policy, header: &[String]) -> Vec<String> {
    let keep = |name: &&String| {
        policy.column(name).is_some_and(|c| !matches!(c.role, Role::Identifying | Role::Key | Role::Consent))
    };
    header.iter().filter(keep).cloned().collect()
}

impl State {
    /// No rows yet.
    pub fn empty(names: Vec<String>) -> Self {
        let width = names.len();
        State {
            names,
            values: vec![Dictionary::default(); width],
            stored: vec![0; width],
            cells: vec![Vec::new(); width],
            ..State::default()
        }
    }

    /// All rows, from a state that is whole.
    pub fn load(work: &Work<'_>, names: Vec<String>) -> Result<Self, Failure> {
        work.check()?;
        let mut state = State::empty(names);
        let db = &work.transaction;
        let mut load = || -> rusqlite::Result<()> {
            let mut values = db.prepare("SELECT col, text FROM value ORDER BY col, code")?;
            let mut rows = values.query([])?;
            while let Some(row) = rows.next()? {
                if let Some(dictionary) = state.values.get_mut(row.get::<_, u32>(0)? as usize) {
                    dictionary.intern(row.get_ref(1)?.as_str()?);
                }
            }
            let mut records = db.prepare(
                "SELECT record.person, class, cells, signature FROM record JOIN person ON person.id = record.person
                 ORDER BY record.person",
            )?;
            let mut rows = records.query([])?;
            while let Some(row) = rows.next()? {
                state.persons.push(row.get(0)?);
                state.classes.push(row.get(1)?);
                let cells = row.get_ref(2)?.as_blob()?;
                for (column, bytes) in state.cells.iter_mut().zip(cells.chunks_exact(4)) {
                    column.push(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
                }
                let signature = row.get_ref(3)?.as_blob_or_null()?;
                state.signatures.push(signature.map(unpack).unwrap_or_default());
            }
            Ok(())
        };
        load().map_err(|e| work.fail(e))?;
        state.stored = state.values.iter().map(Dictionary::len).collect();
        let whole = state.cells.iter().all(|c| c.len() == state.persons.len());
        let known = state.cells.iter().zip(&state.values).all(|(c, v)| c.iter().all(|&x| (x as usize) < v.len()));
        if !whole || !known {
            return Err(work.damaged("a row does not fit its columns"));
        }
        Ok(state)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.persons.len()
    }

    /// Adds a row, its cells in the order of `names`.
    pub fn add<'v>(&mut self, person: Person, class: u32, signature: Vec<u32>, cells: impl Iterator<Item = &'v str>) {
        self.persons.push(person);
        self.classes.push(class);
        self.signatures.push(signature);
        for ((column, dictionary), value) in self.cells.iter_mut().zip(&mut self.values).zip(cells) {
            column.push(dictionary.intern(value));
        }
    }

    /// Some of the rows.
    pub fn pick(&self, rows: &[usize]) -> State {
        let of = |list: &[u32]| rows.iter().map(|&row| list[row]).collect::<Vec<u32>>();
        State {
            names: self.names.clone(),
            values: self.values.clone(),
            stored: self.stored.clone(),
            persons: of(&self.persons),
            classes: of(&self.classes),
            cells: self.cells.iter().map(|column| of(column)).collect(),
            signatures: rows.iter().map(|&row| self.signatures[row].clone()).collect(),
        }
    }

    /// Adds a counterfeit.
    pub fn push_counterfeit(&mut self, cells: &[u32]) {
        self.persons.push(NOBODY);
        self.classes.push(0);
        self.signatures.push(Vec::new());
        self.cells.iter_mut().zip(cells).for_each(|(column, &code)| column.push(code));
    }

    /// The rows as a table. Values that no row has are left out, but for the columns in `whole`.
    pub fn table(&self, whole: impl Fn(&str) -> bool) -> Table {
        let columns = self.names.iter().zip(&self.values).zip(&self.cells).map(|((name, values), cells)| {
            let mut codes = Codes::for_distinct(values.len(), cells.len());
            cells.iter().for_each(|&c| codes.push(c));
            let mut column = Column { dictionary: values.clone(), codes, ..Column::new(name.clone()) };
            if !whole(name) {
                column.compact();
            }
            column
        });
        Table { columns: columns.collect(), rows: self.rows() }
    }

    /// Writes the values that are new.
    pub fn store_values(&mut self, work: &Work<'_>) -> Result<(), Failure> {
        let insert = || -> rusqlite::Result<()> {
            let mut insert = work.transaction.prepare("INSERT INTO value (col, code, text) VALUES (?1, ?2, ?3)")?;
            for (column, (dictionary, &stored)) in self.values.iter().zip(&self.stored).enumerate() {
                for code in stored..dictionary.len() {
                    insert.execute(params![column as i64, code as i64, dictionary.value(code as u32)])?;
                }
            }
            Ok(())
        };
        insert().map_err(|e| work.fail(e))?;
        self.stored = self.values.iter().map(Dictionary::len).collect();
        Ok(())
    }

    /// Writes the rows from `first` on, which are new.
    pub fn store_rows(&self, work: &Work<'_>, first: usize) -> Result<(), Failure> {
        let insert = || -> rusqlite::Result<()> {
            let mut insert =
                work.transaction.prepare("INSERT INTO record (person, class, cells) VALUES (?1, ?2, ?3)")?;
            for at in first..self.rows() {
                let cells = pack(self.cells.iter().map(|column| column[at]));
                insert.execute(params![self.persons[at], self.classes[at], cells])?;
            }
            Ok(())
        };
        insert().map_err(|e| work.fail(e))
    }
}
