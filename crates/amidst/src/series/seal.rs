//! The seal of a series' state: a digest of every table, kept in the state itself, by which damage is told from data.
//!
//! A byte that flips in a SQLite file is mostly still a row: another class, another value, a person who was never
//! published. So each table has a sum over its rows of a hash of each row. A sum can be kept along: triggers hand every
//! row that comes or goes to [`TransactionChanges`], and the transaction that changes the rows changes the sums. A
//! batch pays for the rows that it touches. Checking a table means reading all of it, so the small tables are checked
//! whenever the state is opened, and all of them, with the database's own structure, before anything is published or
//! audited. The seal guards against damage and against files that do not belong together, not against their owner, who
//! can write whatever they like.
//!
//! [`TransactionChanges`] also counts how many rows have each value, so that the text of a value that no row has any
//! more can be erased.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};

use super::packed::unpack;
use super::trigger::{self, fields};

/// The tables, in the order of the sums. Those before [`SMALL`] have a row for each batch or version at most.
pub(super) const TABLES: &[&str] = &[
    "meta", "batch", "version", "value", "person", "record", "history", "kind", "page", "tree", "signed", "changed",
    "undo",
];

/// How many of them are small.
pub(super) const SMALL: usize = 3;

/// The fact about the series that holds the sums; the only row that is not in them.
pub(super) const NAME: &str = "seal";

/// The sums of all tables.
pub(super) type Sums = [u128; TABLES.len()];

/// What has changed since a transaction began.
#[derive(Debug, Default)]
pub(super) struct TransactionChanges {
    pub sums: Sums,
    /// By column and code, by how many rows more or fewer have a value.
    pub uses: BTreeMap<(usize, u32), i64>,
    /// Whether a row was deleted.
    pub departed: bool,
}

/// The ledger of a connection, which the triggers write to.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangeLog(Arc<Mutex<TransactionChanges>>);

impl ChangeLog {
    fn lock(&self) -> MutexGuard<'_, TransactionChanges> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has changed, which is forgotten.
    pub fn take(&self) -> TransactionChanges {
        std::mem::take(&mut self.lock())
    }

    /// The changes of the sums so far.
    pub fn sums(&self) -> Sums {
        self.lock().sums
    }

    /// Notes that a row was deleted.
    pub fn depart(&self) {
        self.lock().departed = true;
    }

    /// Forgets by how many rows more or fewer have each value.
    pub fn keep_uses(&self) {
        self.lock().uses.clear();
    }

    /// Notes changes that were taken before.
    pub fn add(&self, sums: Sums) {
        let mut ledger = self.lock();
        ledger.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
    }
}

/// The hash of a row of table `number`, from its cells.
fn hash<'c>(number: usize, cells: impl Iterator<Item = ValueRef<'c>>) -> u128 {
    let mut digest = Sha256::new();
    digest.update([number as u8]);
    for cell in cells {
        match cell {
            ValueRef::Null => digest.update([0]),
            ValueRef::Integer(n) => {
                digest.update([1]);
                digest.update(n.to_le_bytes());
            }
            ValueRef::Real(x) => {
                digest.update([2]);
                digest.update(x.to_bits().to_le_bytes());
            }
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                digest.update([if matches!(cell, ValueRef::Text(_)) { 3 } else { 4 }]);
                digest.update((bytes.len() as u64).to_le_bytes());
                digest.update(bytes);
            }
        }
    }
    let digest = digest.finalize();
    digest.iter().take(16).fold(0, |number, &byte| (number << 8) | u128::from(byte))
}

/// Makes the connection tell `shared` of every change. The triggers are the connection's own; the file has none.
pub(super) fn watch(connection: &Connection, shared: &ChangeLog) -> rusqlite::Result<()> {
    let ledger = shared.clone();
    // Arguments: 1 for a row that comes and -1 for one that goes, the number of the table, the cells.
    connection.create_scalar_function("amidst_row", -1, FunctionFlags::SQLITE_UTF8, move |context| {
        let (sign, number) = (context.get::<i64>(0)?, context.get::<i64>(1)? as usize);
        let hash = hash(number, (2..context.len()).map(|i| context.get_raw(i)));
        let mut ledger = ledger.lock();
        if let Some(sum) = ledger.sums.get_mut(number) {
            *sum = if sign > 0 { sum.wrapping_add(hash) } else { sum.wrapping_sub(hash) };
        }
        Ok(0)
    })?;
    let ledger = shared.clone();
    connection.create_scalar_function("amidst_cells", 2, FunctionFlags::SQLITE_UTF8, move |context| {
        let sign: i64 = context.get(0)?;
        let cells = unpack(context.get_raw(1).as_blob().unwrap_or_default());
        let mut ledger = ledger.lock();
        for (column, code) in cells.into_iter().enumerate() {
            *ledger.uses.entry((column, code)).or_insert(0) += sign;
        }
        ledger.departed |= sign < 0;
        Ok(0)
    })?;
    let mut triggers = String::new();
    for (number, table) in TABLES.iter().enumerate() {
        let columns = fields(connection, table)?;
        let cells = |side: &str| columns.iter().map(|c| format!(", {side}.{}", c.name)).collect::<String>();
        let row = |sign: i8, side: &str| format!("SELECT amidst_row({sign}, {number}{});", cells(side));
        let (comes, goes) = (row(1, "NEW"), row(-1, "OLD"));
        let but = |side: &str| if number == 0 { format!("WHEN {side}.name <> '{NAME}'") } else { String::new() };
        for (event, when, what) in [
            ("INSERT", but("NEW"), comes.clone()),
            ("DELETE", but("OLD"), goes.clone()),
            ("UPDATE", but("NEW"), goes + &comes),
        ] {
            triggers += &trigger::after("seal", event, table, &when, &what);
        }
    }
    let (comes, goes) = ("SELECT amidst_cells(1, NEW.cells);", "SELECT amidst_cells(-1, OLD.cells);");
    triggers += &trigger::after("uses", "INSERT", "record", "", comes);
    triggers += &trigger::after("uses", "DELETE", "record", "", goes);
    triggers += &trigger::after("uses", "UPDATE", "record", "", &format!("{goes} {comes}"));
    // Rows that are replaced are deleted rows, too, but only then their triggers run.
    connection.execute_batch("PRAGMA recursive_triggers = ON;")?;
    connection.execute_batch(&triggers)
}

/// The sum of a table, from its rows.
pub(super) fn sum(connection: &Connection, number: usize) -> rusqlite::Result<u128> {
    let table = TABLES[number];
    let columns: Vec<String> = fields(connection, table)?.into_iter().map(|field| field.name).collect();
    let but = if number == 0 { format!(" WHERE name <> '{NAME}'") } else { String::new() };
    let mut query = connection.prepare(&format!("SELECT {} FROM {table}{but}", columns.join(", ")))?;
    let mut rows = query.query([])?;
    let mut sum = 0u128;
    while let Some(row) = rows.next()? {
        sum = sum.wrapping_add(hash(number, cells(row, columns.len()).into_iter()));
    }
    Ok(sum)
}

fn cells<'r>(row: &'r Row<'_>, columns: usize) -> Vec<ValueRef<'r>> {
    // A column of the statement is always there.
    (0..columns).map(|i| row.get_ref(i).unwrap_or(ValueRef::Null)).collect()
}

/// Sums as the state holds them.
pub(super) fn written(sums: &Sums) -> String {
    sums.map(|sum| format!("{sum:032x}")).join(" ")
}

/// Sums as the state holds them; `None` when they are none.
pub(super) fn read(text: &str) -> Option<Sums> {
    let sums: Vec<u128> = text.split(' ').map(|sum| u128::from_str_radix(sum, 16).ok()).collect::<Option<_>>()?;
    sums.try_into().ok()
}
